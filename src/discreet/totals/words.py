"""The one sentence on the tables that a guarantee compares alongside exact totals, for quotes, commands and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import unreachable
from discreet.exact.figures import enumerate_texts, number, plural
from discreet.totals.rules import printed_counts
from discreet.totals.statements import (
    ExactStatement,
    FloorStatement,
    ImpossibleStatement,
    LinearStatement,
    OccupiedStatement,
    RangesStatement,
    TotalsStatement,
    has_ranges,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.totals.adjacency import SemiAdjacency

__all__ = ["compared_tables", "comparison_words", "published_words", "statement_words"]


def published_words(parts: Sequence[ExactStatement]) -> str:
    """What is published exactly: "totals of state, sex", or "totals of gender and sums of age by gender"."""
    if has_ranges(parts):
        return "; ".join(map(statement_words, parts))
    sums = [words for part in parts if (words := _sums_words(part))]
    named = dict.fromkeys(name for part in parts if not _sums_words(part) for name in part.columns)
    return enumerate_texts([*([f"totals of {', '.join(named)}"] if named else []), *sums])


def _sums_words(part: ExactStatement) -> str:
    """The sums of a column as `Sums` makes them; empty for anything else."""
    *groups, summed = part.columns
    if isinstance(part, LinearStatement) and all(name.startswith(f"sum of {summed}") for name in part.names):
        return f"sums of {summed}{' by ' if groups else ''}{', '.join(groups)}"
    return ""


def compared_tables(a: int, *, attained: bool = False) -> str:
    """The tables that a guarantee compares: "tables with the same totals that differ in at most a = 2 rows".

    Without "at most" where some table with the published totals attains a.
    """
    return f"tables with the same totals that differ in {'' if attained else 'at most '}a = {number(a)} {plural('row', a)}"


def comparison_words(adjacency: SemiAdjacency, *, published: bool) -> str:
    """The sentence about these tables, with the reason for a; before the totals are `published`, a is only a bound."""
    tables = compared_tables(adjacency.a, attained=adjacency.exact and published)
    return f"the guarantee compares {tables} ({adjacency.reason})"


def statement_words(part: ExactStatement) -> str:
    """What is exact, or known to everybody, in a few words: "counts of county, suppressed below 10"."""
    columns = ", ".join(part.columns)
    match part:
        case TotalsStatement():
            return f"totals of {columns}"
        case OccupiedStatement():
            return f"occupied of {columns}"
        case LinearStatement():
            return f"linear of {columns}"
        case ImpossibleStatement():
            return f"impossible of {columns}"
        case RangesStatement(rule=rule):
            return f"counts of {columns}, {printed_counts(rule)}"
        case FloorStatement(rows=rows):
            return f"at least {number(rows)} {plural('row', rows)} in each cell of {columns} (a public rule)"
    raise unreachable(part)
