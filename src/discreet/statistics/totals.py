"""The integer query behind a sum: where its values are taken from, and what a step of it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from discreet.cube.queries import Query, Squares, WeightedSum
from discreet.domain.steps import TableFacts
from discreet.exact.numbers import rational_gcd
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import Free, Statistic
from discreet.statistics.common import number_of

__all__ = ["Total", "sums_apart", "total_of", "values_apart"]


@dataclass(frozen=True, slots=True)
class Total:
    """Σx = unit·(sum of the query) + origin·(number of rows); without a query every value is the origin.

    Args:
        queries: the query, none where it is always 0.
        unit: what one step of the sum is worth.
        origin: the value that is added for every row.
        bounds: the bounds of the values.
    """

    queries: tuple[WeightedSum, ...]
    unit: Fraction
    origin: Fraction
    bounds: tuple[Fraction, Fraction]

    @property
    def reach(self) -> tuple[int, int]:
        """The least and the greatest integer that a row adds."""
        return self.queries[0].reach() if self.queries else (0, 0)

    @property
    def squares(self) -> tuple[Query, ...]:
        """The squares of the same integers, less the middle of their range, which halves their reach once more."""
        return tuple(Squares(one.column, one.first, one.slope, one.width, self.shift) for one in self.queries)

    @property
    def shift(self) -> int:
        """The integer that is subtracted from every square."""
        low, high = self.reach
        return max(abs(low), abs(high)) ** 2 // 2


def total_of(facts: TableFacts, column: str | None, *, centred: bool) -> Total:
    """The query behind the sum of a column.

    Centred at the midpoint of the bounds, which halves the reach of a record (soundness 7), when a count is at hand to
    move it back; otherwise taken from 0.
    """
    known, grid = number_of(facts, column)
    lower, upper = bounds = grid.value(known.low), grid.value(known.high)
    origin = (lower + upper) / 2 if centred else Fraction(0)
    step = grid.step if known.high > known.low else Fraction(0)
    unit = rational_gcd(lower - origin, step)
    if unit == 0:
        return Total((), Fraction(1), origin, bounds)
    query = WeightedSum(str(column), int((lower - origin) / unit), int(step / unit), known.high - known.low)
    return Total((query,), unit, origin, bounds)


def values_apart(one: Statistic, facts: TableFacts) -> tuple[int, int]:
    """The least and the greatest value of the column in steps of its grid, rounded outwards."""
    known, grid = number_of(facts, one.column)
    return floor(grid.value(known.low) / grid.step), ceil(grid.value(known.high) / grid.step)


def sums_apart(one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
    """The sensitivity of sums of the column with exact totals, in steps of its grid."""
    return free.of_values(*values_apart(one, facts), may_skip=True)
