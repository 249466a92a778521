"""The cost of the queries of a request together, where what a row does to a column is told apart by its nulls.

A row that stays in its cell keeps a column known, or keeps it null, or makes it null or known. A centred sum then changes by
its whole range and the count of known values not at all, or both change by what one row adds; and a sum of imputed values
changes where the column is null (O2 of docs/proofs/original.md). Requests with `original` are calibrated to this cost, in
exact fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from discreet.cube.queries import Query
from discreet.domain.schema import Schema
from discreet.domain.steps import TableFacts
from discreet.mechanisms import Change, Sensitivity, worst
from discreet.plan.recorded import plain_name

__all__ = ["factor_by_status"]

Size = Callable[[Sensitivity], int]
Changing = Callable[[Query, TableFacts], Change]

_NOTHING = Sensitivity(0, 0)
_NONE = Change(_NOTHING, _NOTHING, _NOTHING)


@dataclass(frozen=True, slots=True)
class _ByStatus:
    """The change of a query by one row, told apart by its columns.

    Args:
        known: with its columns known wherever the row counts.
        null: with one of them null wherever the row counts.
        once_null: where the row stays, and they are known on one side alone.
    """

    known: Change
    null: Change
    once_null: Sensitivity


def factor_by_status(
    queries: Sequence[Query], shares: Sequence[Fraction], size: Size, table: tuple[TableFacts, Schema], change_by: Changing
) -> Fraction:
    """By how much the queries cost less together than one by one, in (0, 1].

    The loss is the largest over three moves of a row of Σ sᵢ cᵢ/Δᵢ, as for `joint_factor`. In each move that is at most the
    sum, over the sets of columns that queries read, of the largest over what can be null in such a set.

    Args:
        queries: the queries.
        shares: their shares of the guarantee.
        size: the size of a change, as the measure of the guarantee sees it.
        table: the facts of the prepared table, and the columns that are declared.
        change_by: the change of a query by one row of a table with other facts.
    """
    facts, schema = table
    sums: dict[frozenset[str], dict[str, Fraction]] = {}
    for query, share in zip(queries, shares, strict=True):
        change = change_by(query, facts)
        part, found = share / max(1, size(worst(change))), _by_status(query, change, facts, change_by)
        # A column as recorded or as clamped is null where the column of the schema is.
        own = sums.setdefault(frozenset(plain_name(name, schema) for name in query.columns()), {})
        for name, one in _sizes(found).items():
            own[name] = own.get(name, Fraction(0)) + part * size(one)
    moves = (("stays known", "stays null", "once null"), ("moves known", "moves null"), ("leaves known", "leaves null"))
    return max(sum((max(own[name] for name in names) for own in sums.values()), Fraction(0)) for names in moves)


def _sizes(found: _ByStatus) -> Mapping[str, Sensitivity]:
    return {
        "stays known": found.known.within,
        "stays null": found.null.within,
        "once null": found.once_null,
        "moves known": found.known.across,
        "moves null": found.null.across,
        "leaves known": found.known.leaves,
        "leaves null": found.null.leaves,
    }


def _by_status(query: Query, change: Change, facts: TableFacts, change_by: Changing) -> _ByStatus:
    """The changes of a query to which only known values add something, or only null ones; else the same in each case."""
    known, alone = _without_nulls(facts, query.columns()), query.change(_Alone(), facts)
    where_known = change_by(query, known)
    if alone is None or sum(query.widths()) > 1:
        return _ByStatus(change, change, change.within)
    once = _NOTHING if facts.compared.neighbours.appears else alone
    if query.nullable(facts) and not query.nullable(known):
        return _ByStatus(where_known, _NONE, once)
    if not worst(where_known).l1:
        return _ByStatus(_NONE, change, once)
    return _ByStatus(change, change, change.within)


def _without_nulls(facts: TableFacts, columns: Sequence[str]) -> TableFacts:
    """The facts if none of these columns could be null."""
    known = {name: replace(facts[name], nullable=False) for name in columns}
    return replace(facts, columns=MappingProxyType({**facts.columns, **known}))


@dataclass(frozen=True, slots=True)
class _Alone:
    """A row that counts on one side alone: the size of what it adds; None where it does not add."""

    def adds(self, least: int, most: int, *, at_once: int, parts: int, nullable: bool) -> Sensitivity | None:  # noqa: ARG002
        largest = max(abs(least), abs(most))
        return Sensitivity(at_once * largest, at_once * largest**2)

    def spreads(
        self,
        _alone: tuple[int, int],
        _apart: Callable[[frozenset[str]], tuple[int, int]],
        *,
        parts: int,  # noqa: ARG002
        nullable: bool,  # noqa: ARG002
    ) -> Sensitivity | None:
        return None

    def replaces(self, _most: int) -> Sensitivity | None:
        return None

    def chooses(self, _size: int, _at: tuple[Fraction, ...], *, nullable: bool) -> Sensitivity | None:  # noqa: ARG002
        return None

    def surrounds(self, _size: int, _at: tuple[Fraction, ...], *, nullable: bool) -> Sensitivity | None:  # noqa: ARG002
        return None

    def is_person(self, _alone: tuple[int, int], _apart: Callable[[], tuple[int, int]]) -> Sensitivity | None:
        return None
