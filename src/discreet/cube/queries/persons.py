"""Totals over persons: how many there are in each cell, their rows and their values, each person with a bounded weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.cube.cells import Codes, Integers
from discreet.cube.cube import Cube
from discreet.cube.persons import column_of_total, column_of_value
from discreet.cube.queries.base import Changed, Row
from discreet.cube.scans import Scan
from discreet.cube.weights import Weighting, norms_apart, norms_of, unit_of
from discreet.domain.steps import TableFacts
from discreet.exact.figures import number, plural

__all__ = ["PersonQuery", "PersonTotal", "PersonValues", "PersonsKnown", "Weighed"]


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a person weighs in a request.

    Args:
        groups: L, in how many cells a person counts fully.
        cells: how many cells the request has.
        weighting: what of the weights of a person stays bounded.
    """

    groups: int
    cells: int
    weighting: Weighting

    @property
    def unit(self) -> int:
        """W: answers are in units of 1/W."""
        return unit_of(self.weighting, self.groups, self.cells)

    def words(self, counted: str) -> str:
        """What is counted so, in words."""
        if self.unit == 1:
            return counted
        groups = f"{number(self.groups)} {plural('group', self.groups)}"
        return (
            f"{counted}, each person fully in up to {groups}, with bounded {self.weighting} of weights, "
            f"in units of 1/{number(self.unit)}"
        )

    def change(self, row: Row[Changed], low: int, high: int) -> Changed:
        """The change by a person who adds an integer from `low` to `high`, times the weight, to each cell (U2 and U4)."""
        least, most = min(low, 0), max(high, 0)
        alone = norms_of(self.weighting, self.groups, self.cells, max(-least, most))

        def apart() -> tuple[int, int]:
            norms = norms_apart(self.weighting, self.groups, self.cells, least, most)
            return norms.l1, norms.l2_squared

        return row.is_person((alone.l1, alone.l2_squared), apart)


@dataclass(frozen=True, slots=True)
class PersonTotal:
    """The sum over the persons of a cell of weight · min(n, rows), n ≥ 1 being their rows there; of the weight for None.

    Args:
        rows: R; None to count persons.
        groups, cells, weighting: as in `Weighed`.
    """

    rows: int | None
    groups: int
    cells: int
    weighting: Weighting

    @property
    def weighed(self) -> Weighed:
        """What a person weighs."""
        return Weighed(self.groups, self.cells, self.weighting)

    @property
    def unit(self) -> int:
        """W: the answer is in units of 1/W."""
        return self.weighed.unit

    @property
    def most(self) -> int:
        """The most that a person of weight 1 adds to a cell."""
        return 1 if self.rows is None else self.rows

    def words(self) -> str:
        counted = "persons" if self.rows is None else f"rows, up to {number(self.rows)} of a person in a group"
        return self.weighed.words(counted)

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
        return self.weighed.change(row, 0, self.most)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> PersonTotal:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return False  # the rows of a scan say nothing of persons

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        return _spread(cube.sums[:, column_of_total(self.weighting, of_rows=self.rows is not None)], brought, cells)


@dataclass(frozen=True, slots=True)
class PersonsKnown:
    """The sum over the persons of a cell with a value of a column there of their weights.

    Args:
        column: the column.
        place: of the column among the values of the scan.
        weighed: what a person weighs.
    """

    column: str
    place: int
    weighed: Weighed

    @property
    def unit(self) -> int:
        """W: the answer is in units of 1/W."""
        return self.weighed.unit

    def words(self) -> str:
        return self.weighed.words(f"persons with a value of '{self.column}'")

    def contribution(self) -> str:
        return (
            f"each person adds a whole number from 0 to {self.unit} to each group with a value of this person, the smaller "
            "the more groups this person is in"
        )

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def nullable(self, facts: TableFacts) -> bool:
        return True

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return self.weighed.change(row, 0, 1)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> PersonsKnown:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return False

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        return _spread(cube.sums[:, column_of_value(self.weighed.weighting, self.place, of_totals=False)], brought, cells)


@dataclass(frozen=True, slots=True)
class PersonValues:
    """The sum over the persons of a cell of weight · (slope · t + origin), t in [low, high] being their totals of a column.

    A person without a value there adds nothing. (1, 0) are the totals themselves; (2, -(low + high)) takes them from the
    middle of their range, which halves what one person can add, and needs the number of persons with a value to go back.

    Args:
        column: the column.
        place: of the column and its bounds among the values of the scan.
        about: the column and its bounds, in words.
        low, high: the least and the greatest total of a person in a cell, in steps.
        slope, origin: how a total is taken.
        weighed: what a person weighs.
    """

    column: str
    place: int
    about: str
    low: int
    high: int
    slope: int
    origin: int
    weighed: Weighed

    @property
    def unit(self) -> int:
        """W: the answer is in units of 1/W."""
        return self.weighed.unit

    def reach(self) -> tuple[int, int]:
        """The least and the greatest integer that a person of weight 1 with a value adds to a cell."""
        return self.slope * self.low + self.origin, self.slope * self.high + self.origin

    @property
    def most(self) -> int:
        """The most that a person of weight 1 adds to a cell, in absolute value."""
        return max(abs(end) for end in self.reach())

    def words(self) -> str:
        taken = ", taken from the middle" if self.origin else ""
        return self.weighed.words(f"totals of {self.about}{taken}")

    def contribution(self) -> str:
        least, most = (self.unit * end for end in self.reach())
        return (
            f"each person adds a whole number from {least} to {most} to each group with a value of this person, the nearer "
            "to 0 the more groups this person is in"
        )

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def nullable(self, facts: TableFacts) -> bool:
        return True

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return self.weighed.change(row, *self.reach())

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> PersonValues:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return False

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        known, totals = (
            cube.sums[:, column_of_value(self.weighed.weighting, self.place, of_totals=each)] for each in (False, True)
        )
        return _spread(self.slope * totals + self.origin * known, brought, cells)


PersonQuery = PersonTotal | PersonsKnown | PersonValues


def _spread(totals: Integers, brought: Scan, cells: Codes) -> Integers:
    """The totals in the cells of the release, 0 elsewhere."""
    values: Integers = np.zeros(brought.cells, dtype=totals.dtype)
    values[cells] = totals
    return values
