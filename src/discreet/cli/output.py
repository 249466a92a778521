"""The output of the commands: text for people, or one JSON object with the same facts."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import typer

if TYPE_CHECKING:
    from rich.status import Status

__all__ = ["Answer", "Grid", "Spinner", "align", "write"]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table for people: drawn and fitted to the width of a terminal, aligned text anywhere else.

    Args:
        header: the titles of the columns.
        rows: as many cells each.
        right: titles of columns of numbers, which a terminal shows flush right.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a command: lines and tables for people, and facts for programs."""

    lines: Sequence[str | Grid]
    facts: Mapping[str, Any]


def write(answer: Answer, *, as_json: bool) -> None:
    """Prints the answer on stdout."""
    if as_json:
        typer.echo(json.dumps(answer.facts, indent=2, ensure_ascii=False))
        return
    for line in answer.lines:
        if isinstance(line, Grid) and sys.stdout.isatty():
            _draw(line)
        else:
            typer.echo("\n".join(align([line.header, *line.rows])) if isinstance(line, Grid) else line)


def _draw(grid: Grid) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in grid.header:
        table.add_column(Text(title), justify="right" if title in grid.right else "left", overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(cell) for cell in row))  # as Text, no cell is read as markup
    Console().print(Padding(table, (0, 0, 0, 2)))


def align(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> list[str]:
    """The rows as lines whose columns begin at the same place."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [f"{indent}{line}".rstrip() for line in padded]


class Spinner:
    """Turns next to `what` while the work inside goes on, if a stream is a terminal; `tell` adds the current stage."""

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self._what = what
        self._stream = stream or sys.stdout
        self._status: Status | None = None

    def __enter__(self) -> Spinner:
        if self._stream.isatty():
            from rich.console import Console
            from rich.text import Text

            self._status = Console(file=self._stream).status(Text(self._what))
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def tell(self, stage: str) -> None:
        """The stage is shown after `what`, if the spinner turns."""
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(f"{self._what}: {stage}"))  # as Text, no name is read as markup
