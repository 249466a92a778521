"""What the commands print: text for people, or one JSON object with the same facts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import typer

from discreet.exact import decimal_up, exact, text
from discreet.privacy import GDP, ZCDP, ApproxDP, Budget, PureDP

__all__ = ["Answer", "aligned", "amount", "busy", "number", "write"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command has found out: lines for people, and facts for programs."""

    lines: Sequence[str]
    facts: Mapping[str, Any]


def write(answer: Answer, *, as_json: bool) -> None:
    """The answer is on stdout."""
    typer.echo(json.dumps(answer.facts, indent=2, ensure_ascii=False) if as_json else "\n".join(answer.lines))


def amount(measure: Budget) -> str:
    """The parameters of a measure, such as "ε = 1, δ = 1e-9"; "≤" stands where a long number was rounded up."""
    match measure:
        case PureDP(epsilon=epsilon):
            return _stated("ε", epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"{_stated('ε', epsilon)}, {_stated('δ', delta)}"
        case ZCDP(rho=rho):
            return _stated("ρ", rho)
        case GDP(mu=mu):
            return _stated("μ", mu)


def _stated(symbol: str, value: Fraction) -> str:
    return f"{symbol} {'=' if exact(number(value), symbol) == value else '≤'} {number(value)}"


def number(value: Fraction) -> str:
    """The exact text of a number ≥ 0 where that is short, else six digits, rounded up."""
    written, rounded = text(value), decimal_up(value)
    if len(written) <= 8 or (len(written) <= 12 and exact(rounded, "rounded") != value):
        return written
    return rounded


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
