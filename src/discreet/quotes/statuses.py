"""The cost of the queries of a request together, where what a row does to a column is told apart by its nulls.

A row that stays in its cell either keeps a column known, or it makes it null or known. A centred sum then changes by its
whole range and the count of known values not at all, or both change by what one row adds (O2 of docs/proofs/original.md).
Requests with `original` are calibrated to this cost, in exact fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from discreet.cube.queries import Query
from discreet.domain.neighbours import Neighbours
from discreet.domain.steps import TableFacts
from discreet.mechanisms import Change, Sensitivity, change_of, worst

__all__ = ["factor_by_status"]

Size = Callable[[Sensitivity], int]


@dataclass(frozen=True, slots=True)
class _Stays:
    """The change of a query by a row that stays in its cell: with its columns known before and after, or once null."""

    known: Sensitivity
    once_null: Sensitivity


def factor_by_status(
    queries: Sequence[Query],
    changes: Sequence[Change],
    shares: Sequence[Fraction],
    size: Size,
    of: tuple[TableFacts, Neighbours],
) -> Fraction:
    """By how much the queries cost less together than one by one, in (0, 1]; `changes` are theirs, in their order.

    The loss is the largest over three moves of a row of Σ sᵢ cᵢ/Δᵢ, as for `joint_factor`. Where it stays, that is at most
    the sum, over the sets of columns that queries read, of the larger of the two things that the row can do to such a set.
    """
    facts, neighbours = of
    stays: dict[tuple[str, ...], list[Fraction]] = {}
    across = leaves = Fraction(0)
    for query, change, share in zip(queries, changes, shares, strict=True):
        part = share / max(1, size(worst(change)))
        across += part * size(change.across)
        leaves += part * size(change.leaves)
        found, sums = _stays(query, change, facts, neighbours), stays.setdefault(query.columns(), [Fraction(0)] * 2)
        sums[0] += part * size(found.known)
        sums[1] += part * size(found.once_null)
    return max(sum(map(max, stays.values()), Fraction(0)), across, leaves)


def _stays(query: Query, change: Change, facts: TableFacts, neighbours: Neighbours) -> _Stays:
    """The two changes of a query to which null adds nothing and every known value something; else twice the larger one."""
    known = _without_nulls(facts, query.columns())
    if not query.nullable(facts) or query.nullable(known) or sum(query.widths()) > 1 or neighbours.appears:
        return _Stays(change.within, change.within)
    return query.change(_Staying(change.within, neighbours), known)


def _without_nulls(facts: TableFacts, columns: Sequence[str]) -> TableFacts:
    """The facts if none of these columns could be null."""
    known = {name: replace(facts[name], nullable=False) for name in columns}
    return replace(facts, columns=MappingProxyType({**facts.columns, **known}))


@dataclass(frozen=True, slots=True)
class _Staying:
    """A row that stays in its cell, `otherwise` with the change that is known of it."""

    otherwise: Sensitivity
    neighbours: Neighbours

    def adds(self, least: int, most: int, *, at_once: int, parts: int, nullable: bool) -> _Stays:
        alone = change_of(
            least,
            most,
            at_once=at_once,
            parts=parts,
            cells=1,
            nullable=nullable,
            skipped=True,
            neighbours=self.neighbours,
        )
        return _Stays(alone.within, alone.leaves)

    def replaces(self, _most: int) -> _Stays:
        return _Stays(self.otherwise, self.otherwise)

    def chooses(self, _size: int, at: tuple[Fraction, ...], *, nullable: bool) -> _Stays:  # noqa: ARG002
        return _Stays(self.otherwise, self.otherwise)

    def surrounds(self, _size: int, at: tuple[Fraction, ...], *, nullable: bool) -> _Stays:  # noqa: ARG002
        return _Stays(self.otherwise, self.otherwise)
