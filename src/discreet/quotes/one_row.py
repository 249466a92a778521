"""The one row that differs between compared tables: what it does to each query, and all of them beside exact totals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn

from discreet.cube.queries import Query, Row, RowCount
from discreet.domain.neighbours import Neighbours, person_of
from discreet.errors import InternalError
from discreet.mechanisms import Change, Sensitivity, change_of, change_of_vector, intervals_change, quantiles_change
from discreet.quotes.persons import one_person
from discreet.quotes.primitives import Asked
from discreet.quotes.space import Space, smaller
from discreet.quotes.view import counts_every_row

__all__ = ["Apart", "Norms", "bound_with_totals", "differing", "row_of"]

Norms = tuple[int, int]
Apart = Callable[[frozenset[str]], Norms]


def row_of(asked: Asked) -> _OneRow:
    """The one row of a request: replaced by any other, or added, or both where rows were drawn (W5)."""
    plan, compared = asked.plan, asked.facts.compared
    # A row that vanishes from a sample changes the answers as one that counts nowhere afterwards.
    skipped = compared.vanishes or not counts_every_row(plan)
    return _OneRow(cells=plan.layout.cells, skipped=skipped, neighbours=compared.neighbours, kept=frozenset())


def differing(asked: Asked) -> Row[Change]:
    """What differs between the compared tables of a request: one row, or all rows of one person."""
    neighbours = asked.plan.neighbours
    return row_of(asked) if person_of(neighbours) is None else one_person(neighbours)


@dataclass(frozen=True, slots=True)
class _OneRow:
    """The row that differs, in a request of this many cells, where it may count nowhere: its change by each rule.

    What it is replaced by has the same values in the columns `kept`.
    """

    cells: int
    skipped: bool
    neighbours: Neighbours
    kept: frozenset[str]

    def adds(self, least: int, most: int, *, at_once: int, parts: int, nullable: bool) -> Change:
        return change_of(
            least,
            most,
            at_once=at_once,
            parts=parts,
            cells=self.cells,
            nullable=nullable,
            skipped=self.skipped,
            neighbours=self.neighbours,
        )

    def spreads(self, alone: Norms, apart: Apart, *, parts: int, nullable: bool) -> Change:  # noqa: ARG002
        return change_of_vector(
            Sensitivity(*alone),
            Sensitivity(*apart(self.kept)),
            cells=self.cells,
            nullable=nullable,
            skipped=self.skipped,
            neighbours=self.neighbours,
        )

    def is_person(self, _alone: Norms, _apart: Callable[[], Norms]) -> NoReturn:
        raise InternalError("a total over persons, on a table of rows")

    def replaces(self, most: int) -> Change:
        return Change(Sensitivity(most, most**2), Sensitivity(0, 0), Sensitivity(0, 0))

    def chooses(self, _size: int, at: tuple[Fraction, ...], *, nullable: bool) -> Change:
        skipped = self.skipped or nullable
        return quantiles_change(len(at), cells=self.cells, skipped=skipped, neighbours=self.neighbours)

    def surrounds(self, _size: int, at: tuple[Fraction, ...], *, nullable: bool) -> Change:
        skipped = self.skipped or nullable
        return intervals_change(len(at), cells=self.cells, skipped=skipped, neighbours=self.neighbours)


def bound_with_totals(asked: Asked, space: Space, query: Query, change: Change) -> Sensitivity:
    """The changes between semi-adjacent tables: all a rows together, but nothing that the totals forbid."""
    if isinstance(query, RowCount):
        return space.of_rows()
    moved = _moved(space, change)
    for table in space.tables:  # the changed rows can be matched by the cells of any one table of totals (V3)
        own = query.change(replace(row_of(asked), kept=table), asked.facts)
        moved = smaller(moved, _moved(space.matched_by(table), own))
    counted = space.counting(query)
    return moved if counted is None or counted.structure is None else smaller(moved, counted.of_rows())


def _moved(space: Space, change: Change) -> Sensitivity:
    return space.of_moves(*((move.l1, move.l2_squared) for move in (change.within, change.across, change.leaves)))
