"""The one sentence on the tables that a guarantee compares alongside exact totals, for quotes, commands and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exact.figures import enumerate_texts, number, plural
from discreet.totals.statements import ExactStatement, LinearStatement, OccupiedStatement, TotalsStatement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.totals.adjacency import SemiAdjacency

__all__ = ["compared_tables", "comparison_words", "published_words"]


def published_words(parts: Sequence[ExactStatement]) -> str:
    """What is published exactly: "totals of gender and sums of age by gender"."""
    named = [name for part in parts if isinstance(part, TotalsStatement) for name in part.columns]
    found = [f"totals of {', '.join(dict.fromkeys(named))}"] if named else []
    found += [f"occupied cells of {', '.join(part.columns)}" for part in parts if isinstance(part, OccupiedStatement)]
    found += [_sums_words(part) for part in parts if isinstance(part, LinearStatement)]
    return enumerate_texts(found or [f"facts about {', '.join(dict.fromkeys(n for part in parts for n in part.columns))}"])


def _sums_words(part: LinearStatement) -> str:
    """The sums as `Sums` names them, or by their columns."""
    *groups, summed = part.columns
    if all(name.startswith(f"sum of {summed}") for name in part.names):
        return f"sums of {summed}{' by ' if groups else ''}{', '.join(groups)}"
    return f"sums over {', '.join(part.columns)}"


def compared_tables(a: int, *, attained: bool = False) -> str:
    """The tables that a guarantee compares: "tables with the same totals that differ in at most a = 2 rows".

    Without "at most" where some table with the published totals attains a.
    """
    return f"tables with the same totals that differ in {'' if attained else 'at most '}a = {number(a)} {plural('row', a)}"


def comparison_words(adjacency: SemiAdjacency, *, published: bool) -> str:
    """The sentence about these tables, with the reason for a; before the totals are `published`, a is only a bound."""
    tables = compared_tables(adjacency.a, attained=adjacency.exact and published)
    return f"the guarantee compares {tables} ({adjacency.reason})"
