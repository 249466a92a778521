"""Sums over rows of a product of several columns, each to a power."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod

import numpy as np

from discreet.cube.cells import Codes, Integers, codes_of
from discreet.cube.cube import Cube, fits_int64
from discreet.cube.queries.base import Changed, Row, add_up, change_of_sum, numbers_added
from discreet.cube.queries.pairs import Factor
from discreet.cube.scans import Scan
from discreet.domain.codes import NULL
from discreet.domain.steps import TableFacts

__all__ = ["ProductSum"]


@dataclass(frozen=True, slots=True)
class ProductSum:
    """The product of factors of different columns, for every row in which none of these columns is null.

    A factor of power 0 is 1: its column says which rows count, and no more.
    """

    factors: tuple[Factor, ...]

    def words(self) -> str:
        *others, last = self.columns()
        known = f"where {', '.join(others)} and {last} are known"
        return f"sum of {' times '.join(one.words() for one in self.factors if one.power)} {known}"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one place"

    def columns(self) -> tuple[str, ...]:
        return tuple(one.column for one in self.factors)

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def reach(self) -> tuple[int, int]:
        """A product of ranges is least and greatest at a corner, and a row may be in any of them (B1)."""
        corners = [prod(ends) for ends in product(*(one.reach for one in self.factors))]
        return min(corners), max(corners)

    def nullable(self, facts: TableFacts) -> bool:
        return any(facts[column].nullable for column in self.columns())

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return change_of_sum(self, row, facts)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> ProductSum:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return all(part.has_codes(column) for column in self.columns())

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        kind: type[np.int64] | type[np.object_] = np.int64 if fits_int64(self._largest) else np.object_

        def summed(some: Cube) -> Integers:
            codes = [codes_of(brought, some, column) for column in self.columns()]
            known = np.logical_and.reduce([one != NULL for one in codes])
            numbers = (one.integers(own, kind) for one, own in zip(self.factors, codes, strict=True))
            return np.asarray(np.where(known, some.rows, 0).astype(kind) * reduce(np.multiply, numbers))

        return add_up(summed, cube, brought, cells)

    @property
    def _largest(self) -> int:
        """No intermediate integer of a row is larger."""
        return prod(one.largest for one in self.factors)
