"""The semi-adjacency parameter a(t), from schema and published totals alone.

Beside exact totals a row cannot always change alone: the totals must stay what they are. a(t) is the number of rows that
may have to change, over all tables with these totals, for one row to take a value it can take. Tables with equal totals that
differ in at most a(t) rows are the neighbours of semi-differential privacy. Any larger number is safe, a smaller one is not,
and a number that depends on the table itself would tell about it (docs/proofs/semi-adjacency.md, A0).

Totals of another table, such as the housing units of each block beside persons, leave it as it is (A16).

It is computed with a free attribute in addition to the columns of the invariants (soundness 19), so it is at least 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from discreet.domain.origins import covers
from discreet.domain.schema import Schema
from discreet.errors import PlanError
from discreet.totals.classes import Classes, are_within_classes, classes_of, existence_of
from discreet.totals.components import Component, Split, components_of, exists, possible_cells, splits_of
from discreet.totals.description import Description
from discreet.totals.disclosure import disclosures, is_vacuous
from discreet.totals.general import FEW_CLASSES, crossing_bound, decomposable, graver_bound, product_bound
from discreet.totals.magnitudes import Magnitude, rows_of_sums, sums_within_groups
from discreet.totals.overlaps import Block, blocks_of, rows_of_blocks
from discreet.totals.published import PublishedTotals
from discreet.totals.ranges import facts_of, rows_of_ranges
from discreet.totals.statements import has_ranges, statements_by_kind

__all__ = ["SemiAdjacency", "disclosures", "is_vacuous", "semi_adjacency"]


class SemiAdjacency(int):
    """The number of rows in which the neighbours of semi-differential privacy differ: an integer that says why.

    It is an `int`, because it was one before it said more: it prints, adds and compares as one.
    """

    def __new__(cls, a: int, exact: bool, reason: str) -> Self:  # noqa: D102, FBT001 (the call is public)
        found = super().__new__(cls, a)
        found.__dict__.update(_exact=exact, _reason=reason)
        return found

    @property
    def a(self) -> int:
        """The parameter, or a proved upper bound of it, as a plain integer."""
        return int(self)

    @property
    def exact(self) -> bool:
        """Whether it is attained: by some table with the published totals, or, without totals, by some table."""
        return bool(self.__dict__["_exact"])

    @property
    def reason(self) -> str:
        """Which theorem says so, in a few words."""
        return str(self.__dict__["_reason"])

    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"SemiAdjacency: '{name}' cannot be changed; ask for the semi-adjacency of other totals")

    def __getnewargs__(self) -> tuple[int, bool, str]:  # type: ignore[override]  # what `__new__` takes, for copies
        return int(self), self.exact, self.reason

    def __str__(self) -> str:
        return str(int(self))

    def __repr__(self) -> str:
        return f"SemiAdjacency({int(self)}, exact={self.exact}, reason={self.reason!r})"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A component on its own.

    Args:
        a: its parameter or a bound.
        exact: whether it is attained.
        reason: in a few words.
        least: for the totals of one partition into at least two classes the rows of its smallest class that has any (1
            before they are published); 0 for a partition that tells nothing apart; None for everything else.
    """

    a: int
    exact: bool
    reason: str
    least: int | None


def semi_adjacency(
    invariants: Description, schema: Schema, totals: PublishedTotals | None = None, rows: int | None = None
) -> SemiAdjacency:
    """a(t) for these totals; without totals an upper bound over all of them, which `rows` = n can only lower.

    Raises:
        SchemaError, ArgumentError: as `Description.check`.
        PlanError: no cell is possible, totals that contradict each other, or no closed form and a domain too large for
            the general case.
    """
    invariants.check(schema)
    known = rows if totals is None or totals.rows is None else totals.rows
    pieces = [_piece(component, invariants, schema, totals, known) for component in components_of(invariants, schema)]
    attributes = [piece for piece in pieces if piece.least is not None]
    if not pieces or (len(attributes) == len(pieces) and totals is not None):
        found = _disjoint_margins([piece.least for piece in attributes if piece.least], known)
    elif len(pieces) == 1:
        found = SemiAdjacency(pieces[0].a, pieces[0].exact, pieces[0].reason)
    else:
        found = _join(pieces, known)
    return _cap(found, known)


def _cap(found: SemiAdjacency, rows: int | None) -> SemiAdjacency:
    """No more rows can change than there are (A0)."""
    if rows is None or found.a <= rows:
        return found
    return SemiAdjacency(max(rows, 1), rows <= 1, f"{found.reason}; at most the {rows} rows of the table")


def _disjoint_margins(least: Sequence[int], rows: int | None) -> SemiAdjacency:
    """Totals of K disjoint sets of columns (A2), from the smallest positive totals of each.

    The K + 1 rows are needed by some table if and only if these totals together are at most n - 1.
    """
    k = len(least)
    if k <= 1:
        return SemiAdjacency(
            1 + k, rows is not None or not k, "the totals of one partition" if k else "the totals tell nothing apart"
        )
    if rows is None or sum(least) <= rows - 1:
        return SemiAdjacency(k + 1, rows is not None, f"{k} disjoint margins: {k} + 1")
    attained = sum(sorted(least)[:-1]) <= rows - 1
    return SemiAdjacency(k, attained, f"{k} disjoint margins whose smallest totals fill the table: {k}")


def _join(pieces: Sequence[_Piece], rows: int | None) -> SemiAdjacency:
    """The semi-adjacency of independent components: each needs further rows in addition to the one that all share (A3)."""
    apart = [piece for piece in pieces if piece.a > 1]
    if len(apart) <= 1:
        only = apart[0] if apart else pieces[0]
        return SemiAdjacency(only.a, only.exact, only.reason)
    a = 1 + sum(piece.a - 1 for piece in apart)
    if all(piece.least is not None for piece in apart):
        return SemiAdjacency(a, rows is None or rows >= a, f"{len(apart)} disjoint margins: {len(apart)} + 1")
    return SemiAdjacency(
        a, exact=False, reason="independent parts, 1 + the further rows of each: " + "; ".join(p.reason for p in apart)
    )


def _piece(
    component: Component, invariants: Description, schema: Schema, totals: PublishedTotals | None, rows: int | None
) -> _Piece:
    possible = possible_cells(component, invariants, schema, totals)
    splits = splits_of(component, possible, schema, totals, rows)
    classes = classes_of(splits, int(possible.sum()), rows)
    if has_ranges(component.parts):
        facts = facts_of(component, possible, splits, schema, totals)
        return _Piece(*rows_of_ranges(component, facts, splits, classes, rows), least=None)
    lists = exists(component, possible, schema)
    if classes.settled:
        held = np.ones(len(classes.owner), dtype=bool) if classes.totals is None else classes.totals[classes.owner] > 0
        told = [numbers[held] for numbers in lists]
        existence = existence_of(told, classes.owner[held])
        if existence is not None:
            return _partition(classes, existence.sets, rest=existence.rest, rows=rows)
        blocks = blocks_of(told, classes.owner[held], classes.totals)
        if blocks is not None:
            return _crossed(blocks, rows)
    if _has_only_occupied(component, schema):
        attained = not statements_by_kind(component.parts).linear
        return _Piece(2, attained, "the occupied cells of all its columns are published: exchange two rows", None)
    if not are_within_classes(lists, classes.owner):
        raise PlanError(
            f"invariants: the occupied cells and the totals of {', '.join(component.columns)} overlap in a way that has no "
            f"closed form; publish the occupied cells of all these columns together: Occupied({_quote_columns(component)})"
        )
    # Few classes keep the answer of the basis: releases alongside such totals stay as they were.
    sums = None if lists or classes.size <= FEW_CLASSES else sums_within_groups(splits, int(possible.sum()), rows)
    if sums is not None:
        return _sums(sums)
    return _crossing(component, splits, classes, schema, may_be_empty=bool(lists) and totals is None)


def _sums(groups: Sequence[Magnitude]) -> _Piece:
    """Sums of a magnitude over all rows, or within the groups of a partition (A10)."""
    a, exact = rows_of_sums(groups)
    where = "the sums of a magnitude within groups" if len(groups) > 1 else "the sum of a magnitude"
    return _Piece(a, exact, where if exact else f"{where}: at most {a}", None)


def _crossed(blocks: Sequence[Block], rows: int | None) -> _Piece:
    """Totals of one partition and occupied cells that cross it (A11)."""
    a = rows_of_blocks(blocks)
    exact = blocks[0].rows is not None or rows is None or rows >= a
    return _Piece(a, exact, "the totals of one partition, and which cells are occupied across it", None)


def _partition(classes: Classes, sets: int, *, rest: bool, rows: int | None) -> _Piece:
    """Totals of the classes and the existence of rows in `sets` disjoint sets, each within a class (A1)."""
    rows_of = np.ones(classes.size, dtype=np.int64) if classes.totals is None else classes.totals
    there = rows_of[rows_of > 0]
    if len(there) > 1:
        words = "the totals of one partition" + (" and which cells are occupied" if sets else "")
        return _Piece(2, exact=True, reason=words, least=None if sets else int(there.min()))
    if not sets:
        return _Piece(1, exact=True, reason="the totals tell nothing apart", least=0)
    # One required cell alone can be left only if somebody outside of it can come in.
    moves = sets > 1 or (rest and (rows is None or rows > 1))
    return _Piece(2 if moves else 1, exact=True, reason="which cells are occupied", least=None)


def _has_only_occupied(component: Component, schema: Schema) -> bool:
    """True if the component publishes which of all its joint cells are occupied (A1)."""
    lists = statements_by_kind(component.parts).occupied
    return any(part.only is None and covers(part.columns, component.columns, schema) for part in lists)


def _crossing(
    component: Component, splits: Sequence[Split], classes: Classes, schema: Schema, *, may_be_empty: bool
) -> _Piece:
    """Sums that overlap, and sets of cells within their classes of which it is published whether a row is there (A12).

    A set that `may_be_empty` would leave a table that is not full, so what is said of full ones does not hold yet.
    """
    a = None if may_be_empty else product_bound(splits, classes)
    if a is not None:
        return _Piece(
            a, exact=False, reason=f"{a - 1} partitions that cross in full tables: at most {a - 1} + 1", least=None
        )
    if decomposable(component, schema):
        k = len(splits)  # tables that tell nothing apart are not among the splits
        return _Piece(k + 1, exact=False, reason=f"{k} decomposable margins: at most {k} + 1", least=None)
    a = graver_bound(component, splits, classes)
    if a == crossing_bound(splits, classes):
        return _Piece(a, exact=False, reason=f"two crossing partitions: at most {a}", least=None)
    return _Piece(a, exact=False, reason=f"the longest exchange of the Graver basis: at most {a}", least=None)


def _quote_columns(component: Component) -> str:
    return ", ".join(f'"{name}"' for name in component.columns)
