"""Totals over persons in each cell: of a number of each person, with a weight that is bounded over all cells (U2 and U3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.cube.cells import Codes, Integers
from discreet.cube.cube import Cube
from discreet.cube.persons import column_of
from discreet.cube.queries.base import Changed, Query, Row
from discreet.cube.scans import Scan
from discreet.cube.weights import Weighting, norms_apart, norms_of, unit_of
from discreet.domain.steps import TableFacts
from discreet.exact.figures import number, plural

__all__ = ["PersonQuery", "PersonSum", "PersonsInFull", "Weighed", "spread_over"]


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


class PersonQuery(Query, Protocol):
    """A query of a table of persons."""

    @property
    def part(self) -> int:
        """The part of the cube that answers it: 0 for totals of numbers, then one for each column that divides persons."""

    @property
    def unit(self) -> int:
        """The number of units of an answer that are one person, row or step."""


@dataclass(frozen=True, slots=True)
class PersonSum:
    """The sum over the persons of a cell of weight · Σ factor · x, the x being numbers of what a person has there.

    Args:
        counted: what is added up, in words.
        where: what a person has in a cell to which something is added, in words.
        terms: the places of the numbers among those of the scan, each with its factor.
        low, high: the least and the greatest Σ factor · x of a person.
        of: the columns that the numbers read.
        weighed: what a person weighs.
    """

    counted: str
    where: str
    terms: tuple[tuple[int, int], ...]
    low: int
    high: int
    of: tuple[str, ...]
    weighed: Weighed

    @property
    def part(self) -> int:
        return 0

    @property
    def unit(self) -> int:
        """W: the answer is in units of 1/W."""
        return self.weighed.unit

    @property
    def most(self) -> int:
        """The most that a person of weight 1 adds to a cell, in absolute value."""
        return max(abs(self.low), abs(self.high))

    def words(self) -> str:
        return self.weighed.words(self.counted)

    def contribution(self) -> str:
        least, most = (self.unit * min(self.low, 0), self.unit * self.high)
        return (
            f"each person adds a whole number from {least} to {most} to each group with {self.where} of this person, the "
            "nearer to 0 the more groups this person is in"
        )

    def columns(self) -> tuple[str, ...]:
        return self.of

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def nullable(self, facts: TableFacts) -> bool:
        return bool(self.of)

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return self.weighed.change(row, self.low, self.high)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> PersonSum:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return False  # the rows of a scan say nothing of persons

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        totals = np.zeros(len(cube.rows), dtype=cube.sums.dtype)
        for place, factor in self.terms:
            totals = totals + factor * cube.sums[:, column_of(place, self.weighed.weighting)]
        return spread_over(totals, brought.cells, cells)


@dataclass(frozen=True, slots=True)
class PersonsInFull:
    """Two numbers for the whole request: the persons who count with all that they have, and the others.

    Args:
        part: the part of the cube that has both.
        cells: of the request; the numbers stand in the first one, and every other one has 0.
    """

    part: int
    cells: int

    @property
    def unit(self) -> int:
        return 1

    def words(self) -> str:
        return "persons who are counted in full, and persons who are not"

    def contribution(self) -> str:
        return "each person adds 1 to one of two numbers"

    def columns(self) -> tuple[str, ...]:
        return ()

    def widths(self) -> tuple[int, ...]:
        return (2,)

    def nullable(self, facts: TableFacts) -> bool:
        return False

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        # One person is in one of both; two states of her may be in either (U4).
        return row.is_person((1, 1), lambda: (2, 2))

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> PersonsInFull:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return False

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        return spread_over(cube.rows, 2 * brought.cells, cells)


def spread_over(totals: Integers, size: int, cells: Codes) -> Integers:
    """The totals in their cells among so many, 0 elsewhere."""
    values: Integers = np.zeros(size, dtype=totals.dtype)
    values[cells] = totals
    return values
