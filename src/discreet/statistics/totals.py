"""The integer query behind a sum: where its values are taken from, and what a step of it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.cube.queries import Query, Squares, WeightedSum
from discreet.domain.steps import TableFacts
from discreet.exact.numbers import rational_gcd
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import Free, Statistic
from discreet.statistics.common import number_of
from discreet.statistics.recipe import Answers, Noises

__all__ = ["Parts", "Total", "sums_apart", "total_of", "values_apart", "whole_total"]


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


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Σx = unit·Σ factor·(sum of a query) + origin·(number of rows).

    Args:
        parts: the queries, each with its whole factor and its weight in a request.
        unit: what one step of the sum is worth.
        origin: the value that is added for every row.
        bounds: the bounds of the values.
        weight: of all parts together: what one row can do to all of them costs as much.
    """

    parts: tuple[tuple[Query, int, Fraction], ...]
    unit: Fraction
    origin: Fraction
    bounds: tuple[Fraction, Fraction]
    weight: Fraction

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries alone."""
        return tuple(query for query, _, _ in self.parts)

    @property
    def largest(self) -> Fraction:
        """The most by which a value is away from the origin, in steps of the sum."""
        return max(abs(bound - self.origin) for bound in self.bounds) / self.unit

    def added(self, answers: Answers) -> Integers:
        """The noisy sums of the parts, in integers that cannot overflow."""
        if len(self.parts) == 1 and self.parts[0][1] == 1:
            return answers.of(self.parts[0][0])[0]
        found: Integers = np.zeros(answers.count, dtype=np.object_)
        for query, factor, _ in self.parts:
            found = found + factor * answers.of(query)[0].astype(np.object_)
        return found

    def half_width(self, noises: Noises) -> Fraction:
        """The sum of the half-widths of the parts, in the worst cell."""
        return Fraction(sum(factor * noises.largest(query) for query, factor, _ in self.parts))

    def half_widths(self, answers: Answers) -> NDArray[np.float64]:
        """The sums of the half-widths of the parts."""
        found: NDArray[np.float64] = np.zeros(answers.count)
        for query, factor, _ in self.parts:
            found = found + factor * answers.of(query)[1].astype(np.float64)
        return found


def whole_total(total: Total) -> Parts:
    """The same as one part."""
    one = Fraction(1)
    return Parts(tuple((query, 1, one) for query in total.queries), total.unit, total.origin, total.bounds, one)


def values_apart(one: Statistic, facts: TableFacts) -> tuple[int, int]:
    """The least and the greatest value of the column in steps of its grid, rounded outwards."""
    known, grid = number_of(facts, one.column)
    return floor(grid.value(known.low) / grid.step), ceil(grid.value(known.high) / grid.step)


def sums_apart(one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
    """The sensitivity of sums of the column with exact totals, in steps of its grid."""
    return free.of_values(*values_apart(one, facts), may_skip=True)
