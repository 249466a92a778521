"""Sums over pairs of columns: of products, of the values or squares of one where the other is known, and of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet.cube.cells import Codes, Integers, codes_of
from discreet.cube.cube import Cube, fits_int64
from discreet.cube.queries.base import Changed, Row, add_up, change_of_sum, numbers_added
from discreet.cube.scans import Scan
from discreet.domain.codes import NULL
from discreet.domain.steps import TableFacts

__all__ = ["Factor", "PairSum"]


@dataclass(frozen=True, slots=True)
class Factor:
    """(first + slope·(code - low)) ** power of the codes of a column, which go from low to low + width."""

    column: str
    low: int
    first: int
    slope: int
    width: int
    power: int

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest integer before it is raised to the power, whichever way the slope goes."""
        ends = self.first, self.first + self.slope * self.width
        return min(ends), max(ends)

    @property
    def reach(self) -> tuple[int, int]:
        """An even power is largest at an end, and least at the code nearest to 0; an odd one rises from end to end."""
        low, high = self.ends
        if self.power % 2:
            return low**self.power, high**self.power
        nearest = 0 if low <= 0 <= high else min(abs(low), abs(high))
        return nearest**self.power, max(abs(low), abs(high)) ** self.power

    @property
    def largest(self) -> int:
        """No intermediate integer of `integers` is larger."""
        # The parts of an integer, |first| and |slope|·width, are at most this before they cancel.
        found: int = max(1, abs(self.first) + abs(self.slope) * self.width) ** max(1, self.power)
        return found

    def words(self) -> str:
        """The numbers of the column that are added up."""
        return {1: self.column, 2: f"squares of {self.column}"}.get(self.power, f"{self.column} to the {self.power}")

    def integers(self, codes: Codes, kind: type[np.int64] | type[np.object_]) -> Integers:
        """The integer of every code; a null counts as the lowest one, so that nothing can overflow."""
        offsets: Integers = np.where(codes == NULL, 0, codes - self.low).astype(kind)
        return np.asarray((self.first + self.slope * offsets) ** self.power)


@dataclass(frozen=True, slots=True)
class PairSum:
    """The product of a factor of `x` and one of `y`, less `shift`, for every row in which neither is null.

    A factor of power 0 is 1: with two of them the rows are counted, with one the other column is added up.
    """

    x: Factor
    y: Factor
    shift: int

    def words(self) -> str:
        known = f"where {self.x.column} and {self.y.column} are known"
        added = [factor.words() for factor in (self.x, self.y) if factor.power]
        return f"sum of {' times '.join(added)} {known}" if added else f"rows {known}"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one place"

    def columns(self) -> tuple[str, ...]:
        return self.x.column, self.y.column

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def reach(self) -> tuple[int, int]:
        """A product of two ranges is least and greatest at a corner, and a row may be in any of them (B1)."""
        corners = [one * other for one, other in product(self.x.reach, self.y.reach)]
        return min(corners) - self.shift, max(corners) - self.shift

    def nullable(self, facts: TableFacts) -> bool:
        return any(facts[column].nullable for column in self.columns())

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return change_of_sum(self, row, facts)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> PairSum:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return all(part.has_codes(column) for column in self.columns())

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        kind: type[np.int64] | type[np.object_] = np.int64 if fits_int64(self._largest) else np.object_

        def summed(some: Cube) -> Integers:
            codes = [codes_of(brought, some, column) for column in self.columns()]
            known = np.logical_and(*(one != NULL for one in codes))
            product_of = self.x.integers(codes[0], kind) * self.y.integers(codes[1], kind)
            return np.asarray(np.where(known, some.rows, 0).astype(kind) * (product_of - self.shift))

        return add_up(summed, cube, brought, cells)

    @property
    def _largest(self) -> int:
        """No intermediate integer of a row is larger: a factor, a power, a product, or the remainder less the shift."""
        return self.x.largest * self.y.largest + abs(self.shift)
