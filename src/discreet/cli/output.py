"""What the commands print: text for people, or one JSON object with the same facts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import typer

__all__ = ["Answer", "aligned", "busy", "write"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command has found out: lines for people, and facts for programs."""

    lines: Sequence[str]
    facts: Mapping[str, Any]


def write(answer: Answer, *, as_json: bool) -> None:
    """The answer is on stdout."""
    typer.echo(json.dumps(answer.facts, indent=2, ensure_ascii=False) if as_json else "\n".join(answer.lines))


def aligned(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> list[str]:
    """The rows as lines whose columns begin at the same place."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [f"{indent}{line}".rstrip() for line in padded]


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner with `what` turns while the work inside goes on, if stdout is a terminal."""
    if not sys.stdout.isatty():
        yield
        return
    from rich.console import Console
    from rich.markup import escape

    with Console().status(escape(what)):
        yield
