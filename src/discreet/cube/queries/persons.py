"""Totals over persons: how many there are in each cell, and their rows, each person with a weight that is bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.cube.cells import Codes, Integers
from discreet.cube.cube import Cube
from discreet.cube.persons import column_of_total
from discreet.cube.queries.base import Changed, Row
from discreet.cube.scans import Scan
from discreet.cube.weights import Weighting, norms_of, unit_of
from discreet.domain.steps import TableFacts
from discreet.exact.figures import number

__all__ = ["PersonTotal"]


@dataclass(frozen=True, slots=True)
class PersonTotal:
    """The sum over the persons of a cell of weight · min(n, rows), n ≥ 1 being their rows there; of the weight for None.

    Args:
        rows: R; None to count persons.
        groups: L, in how many cells a person counts fully.
        cells: how many cells the request has.
        weighting: what of the weights of a person stays bounded.
    """

    rows: int | None
    groups: int
    cells: int
    weighting: Weighting

    @property
    def unit(self) -> int:
        """W: the answer is in units of 1/W."""
        return unit_of(self.weighting, self.groups, self.cells)

    @property
    def most(self) -> int:
        """The most that a person of weight 1 adds to a cell."""
        return 1 if self.rows is None else self.rows

    def words(self) -> str:
        counted = "persons" if self.rows is None else f"rows, up to {number(self.rows)} of a person in a group"
        if self.unit == 1:
            return counted
        return (
            f"{counted}, each person fully in up to {number(self.groups)} groups, with bounded {self.weighting} of weights, "
            f"in units of 1/{number(self.unit)}"
        )

    def contribution(self) -> str:
        return (
            f"each person adds a whole number from 0 to {self.unit * self.most} to each group with rows of this person, the "
            "smaller the more groups these are"
        )

    def columns(self) -> tuple[str, ...]:
        return ()

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def nullable(self, facts: TableFacts) -> bool:
        return False

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        norms = norms_of(self.weighting, self.groups, self.cells, self.most)
        return row.is_person(norms.l1, norms.l2_squared)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> PersonTotal:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return False  # the rows of a scan say nothing of persons

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        values = np.zeros(brought.cells, dtype=np.int64)
        values[cells] = cube.sums[:, column_of_total(self.weighting, of_rows=self.rows is not None)]
        return values
