"""Sums over rows: of values, of their squares, and the squared distances of all pairs of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.cube.cells import Codes, Integers, codes_of
from discreet.cube.cube import Cube, fits_int64
from discreet.cube.queries.base import Changed, Row, add_up, change_of_sum, numbers_added
from discreet.cube.scans import Scan
from discreet.domain.codes import NULL
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError

__all__ = ["Dispersion", "Squares", "WeightedSum"]

Dtype = type[np.int64] | type[np.object_]


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """first + slope·(code - low) for every row whose `column` is not null, with codes from low to low + width."""

    column: str
    first: int
    slope: int
    width: int

    def words(self) -> str:
        return f"sum of {self.column}"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one place"

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def reach(self) -> tuple[int, int]:
        """The least and the greatest integer, whichever way the slope goes."""
        ends = self.first, self.first + self.slope * self.width
        return min(ends), max(ends)

    def nullable(self, facts: TableFacts) -> bool:
        return facts[self.column].nullable

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return change_of_sum(self, row, facts)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> WeightedSum:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return part.moment(self.column) is not None or part.has_codes(self.column)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        moment = brought.moment(self.column)
        kind: Dtype = np.int64 if fits_int64(abs(self.first) + abs(self.slope) * self.width) else np.object_

        def summed(some: Cube) -> Integers:
            if moment is None:
                return np.asarray(_rows(self.column, some, brought, kind) * _integers(self, some, brought, kind))
            count: Integers = some.nonnull[:, moment].astype(kind)
            total: Integers = some.sums[:, moment].astype(kind)
            return np.asarray(np.add(self.first * count, self.slope * total))

        return add_up(summed, cube, brought, cells)


@dataclass(frozen=True, slots=True)
class Squares:
    """(first + slope·(code - low))² - shift for every row whose `column` is not null, with codes from low to low + width."""

    column: str
    first: int
    slope: int
    width: int
    shift: int

    def words(self) -> str:
        return f"sum of squares of {self.column}"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one place"

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def reach(self) -> tuple[int, int]:
        """A square is largest at an end, and least at the code nearest to 0 (at an end where all have one sign)."""
        low, high = sorted((self.first, self.first + self.slope * self.width))
        nearest = 0 if low <= 0 <= high else min(abs(low), abs(high))
        return nearest**2 - self.shift, max(low**2, high**2) - self.shift

    def nullable(self, facts: TableFacts) -> bool:
        return facts[self.column].nullable

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return change_of_sum(self, row, facts)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> Squares:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return part.has_codes(self.column)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        largest = abs(self.first) + abs(self.slope) * self.width
        kind: Dtype = np.int64 if fits_int64(2 * largest**2) else np.object_

        def summed(some: Cube) -> Integers:
            integers = _integers(self, some, brought, kind)
            return np.asarray(_rows(self.column, some, brought, kind) * (integers * integers - self.shift))

        return add_up(summed, cube, brought, cells)


@dataclass(frozen=True, slots=True)
class Dispersion:
    """(rows · Σ code² - (Σ code)²) // `coarse` over all rows: rows² times the variance of the codes, which span `width`."""

    column: str
    width: int
    rows: int

    @property
    def coarse(self) -> int:
        """A power of 2 that leaves 40 bits of what one row can change, so that its noise is not beyond all integers."""
        return 1 << max(0, (self.width**2 * self.rows).bit_length() - 40)

    @property
    def most(self) -> int:
        """The most by which one replaced row can change the answer.

        It is the sum of (x - y)² over all pairs of rows, of which one row is in rows - 1; rounding down adds less than 1.
        """
        return -(-(self.width**2) * (self.rows - 1) // self.coarse)

    def words(self) -> str:
        return f"squared distances of {self.column} from its mean"

    def contribution(self) -> str:
        worst = f"which one replaced row changes by at most {self.most}"
        return f"(rows · Σ code² − (Σ code)²) / {self.coarse}, rounded down, {worst}"

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def nullable(self, facts: TableFacts) -> bool:
        return facts[self.column].nullable

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return row.replaces(self.most)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> Dispersion:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return part.has_codes(self.column)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        """In Python integers, which cannot overflow."""
        inside = cells >= 0
        codes = codes_of(brought, cube, self.column)[inside].astype(np.object_)
        rows = cube.rows[inside].astype(np.object_)
        spread = self.rows * int((rows * codes * codes).sum()) - int((rows * codes).sum()) ** 2
        return np.array([spread // self.coarse], dtype=np.object_)


def _integers(query: WeightedSum | Squares, cube: Cube, brought: Scan, kind: Dtype) -> Integers:
    """For every cell of the cube the integer first + slope·(code - low)."""
    path = brought.axes[_position(query.column, brought)].path
    low = getattr(path, "low", 0)
    offsets: Integers = (cube.keys[:, _position(query.column, brought)] - low).astype(kind)
    return np.asarray(query.first + query.slope * offsets)


def _rows(column: str, cube: Cube, brought: Scan, kind: Dtype) -> Integers:
    """The rows of every cell of the cube, 0 where the key is null."""
    return np.where(cube.keys[:, _position(column, brought)] == NULL, 0, cube.rows).astype(kind)


def _position(column: str, brought: Scan) -> int:
    """The axis of the column.

    Raises:
        InternalError: the cube does not distinguish the values of the column.
    """
    position = brought.axis(column)
    if position is None:
        raise InternalError(f"the cube does not distinguish the values of '{column}'")
    return position
