"""The one sentence on the tables that a guarantee compares alongside exact totals, for quotes, commands and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exact.figures import number, plural

if TYPE_CHECKING:
    from discreet.totals.adjacency import SemiAdjacency

__all__ = ["compared_tables", "comparison_words"]


def compared_tables(a: int, *, attained: bool = False) -> str:
    """The tables that a guarantee compares: "tables with the same totals that differ in at most a = 2 rows".

    Without "at most" where some table with the published totals attains a.
    """
    return f"tables with the same totals that differ in {'' if attained else 'at most '}a = {number(a)} {plural('row', a)}"


def comparison_words(adjacency: SemiAdjacency, *, published: bool) -> str:
    """The sentence about these tables, with the reason for a; before the totals are `published`, a is only a bound."""
    tables = compared_tables(adjacency.a, attained=adjacency.exact and published)
    return f"the guarantee compares {tables} ({adjacency.reason})"
