"""Sums that tell a prepared column from the column as recorded: what a clamp cuts off, and what is imputed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.cube.cells import Codes, Integers
from discreet.cube.cube import Cube
from discreet.cube.queries.base import Changed, Row, numbers_added
from discreet.cube.queries.sums import WeightedSum
from discreet.cube.scans import Scan
from discreet.domain.steps import TableFacts

__all__ = ["Excess", "ImputedSum"]


@dataclass(frozen=True, slots=True)
class Excess:
    """The integer of `recorded` less the integer of `clamped`, for every row in which the column is not null.

    Args:
        recorded: of the column as recorded.
        clamped: of the same column after its clamp, in the same units.
        least: the least difference.
        most: the greatest.
    """

    recorded: WeightedSum
    clamped: WeightedSum
    least: int
    most: int

    def words(self) -> str:
        return f"excess of {self.recorded.column} over {self.clamped.column}"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one place"

    def columns(self) -> tuple[str, ...]:
        return self.recorded.column, self.clamped.column

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def reach(self) -> tuple[int, int]:
        return self.least, self.most

    def nullable(self, facts: TableFacts) -> bool:
        return facts[self.recorded.column].nullable

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return row.adds(self.least, self.most, at_once=1, parts=1, nullable=self.nullable(facts))

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> Excess:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return self.recorded.is_answered_by(part) and self.clamped.is_answered_by(part)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        recorded, clamped = (one.answer(cube, brought, cells, facts) for one in (self.recorded, self.clamped))
        return np.asarray(np.subtract(recorded, clamped))


@dataclass(frozen=True, slots=True)
class ImputedSum:
    """The integer of `filled` for every row in which the column was null and a drawn value takes its place.

    Args:
        filled: of the column after its imputation.
        known: of the same column before it, in the same units; the rows in which it is not null have the same value in both.
    """

    filled: WeightedSum
    known: WeightedSum

    def words(self) -> str:
        return f"sum of what is imputed for {self.filled.column}"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one place, or nothing where nothing is imputed"

    def columns(self) -> tuple[str, ...]:
        return self.filled.column, self.known.column

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def reach(self) -> tuple[int, int]:
        return self.filled.reach()

    def nullable(self, facts: TableFacts) -> bool:
        return True

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        least, most = self.reach() if facts[self.known.column].nullable else (0, 0)
        return row.adds(least, most, at_once=1, parts=1, nullable=True)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> ImputedSum:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return self.filled.is_answered_by(part) and self.known.is_answered_by(part)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        # Both are of one cube, so that both have the same draws.
        filled, known = (one.answer(cube, brought, cells, facts) for one in (self.filled, self.known))
        return np.asarray(np.subtract(filled, known))
