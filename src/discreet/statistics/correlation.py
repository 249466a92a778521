"""The correlation of two columns, over the rows in which both are known: their covariance over both standard deviations.

Beside what the covariance needs it has a noisy sum of squares of each column. Its interval follows from the intervals of the
covariance and of both variances, which hold together; where a variance may be 0 it is everything from -1 to 1
(B3 in docs/proofs/pairs.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.cube.queries import Query
from discreet.domain.steps import TableFacts
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Reads, Shape, Statistic
from discreet.statistics.common import OneNumber, check_weight, largest_of, skips_nulls
from discreet.statistics.covariance import (
    Covariance,
    CovarianceRecipe,
    TwoColumns,
    alone,
    pair_keys,
    pair_title,
    sum_of_powers,
    two_columns,
)
from discreet.statistics.estimate import Estimate
from discreet.statistics.possible import Possible, fix_bounds
from discreet.statistics.recipe import (
    Answers,
    CountTable,
    GroupSize,
    Noises,
    Statements,
    add_errors,
    in_a_group,
    noise_statements,
)
from discreet.statistics.variances import Variance, variance_estimate

__all__ = ["Correlation", "CorrelationRecipe", "correlation", "correlation_estimate"]

_LEAST = 1e-100
"""A variance below this counts as 0, so that no quotient overflows; one of whole numbers over n rows is at least 1/n²."""


def correlation(x: str, y: str, *, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The correlation (Pearson's) of two numeric columns in each group, from -1 to 1.

    Args:
        x: a column.
        y: another column.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip" leaves out the rows in which one of the columns is null, or both.

    Raises:
        PlanError: not the names of two different columns.
    """
    pair = two_columns("correlation", x, y)
    return Statistic(Correlation(pair), None, f"correlation_{x}_{y}", check_weight(weight), skips_nulls(nulls))


@dataclass(frozen=True, slots=True)
class Correlation:
    """The covariance over the product of both standard deviations; 0 where one of them seems to be 0."""

    pair: tuple[str, str]

    word: ClassVar = "correlation"
    noun: ClassVar = "Correlation"
    keys: ClassVar = pair_keys("correlation")
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(fix_bounds(-1, 1))
    counts: ClassVar = False
    reads: ClassVar[Reads] = TwoColumns()
    shape: ClassVar[Shape] = OneNumber()
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return correlation(*two_columns("correlation", *columns), **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return pair_title(part or Correlation.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        variances = (Variance().span(each, facts, free) for each in alone(one))
        return largest_of(Covariance(self.pair).span(one, facts, free), *variances)

    def recipe(self, one: Statistic, asked: Asked) -> CorrelationRecipe:
        facts, (x, y) = asked.facts, self.pair
        covariance = Covariance(self.pair).recipe(one, asked)
        totals = covariance.totals
        # Where the other column is always known, a variance needs the same squares, and they are asked once.
        squares = (
            sum_of_powers(facts, totals, (2, 0), totals[0].shift) if facts[y].nullable else totals[0].squares[0],
            sum_of_powers(facts, totals, (0, 2), totals[1].shift) if facts[x].nullable else totals[1].squares[0],
        )
        return CorrelationRecipe(covariance, squares)


@dataclass(frozen=True, slots=True, eq=False)
class CorrelationRecipe:
    """The covariance over both roots of squares/count + shift - (sum/count)²."""

    whole: ClassVar = False
    covariance: CovarianceRecipe
    squares: tuple[Query, Query]

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return (*self.covariance.queries, *((query, Fraction(1)) for query in self.squares))

    def error(self, noises: Noises, rows: int) -> float:
        """The error of the covariance, and half of the errors of the variances, where both columns vary like uniform ones.

        The variance of these is range²/12. A correlation, at most 1, is multiplied by half the relative error of a variance.
        """
        factors: dict[Query, Fraction] = {}
        (low_x, high_x), (low_y, high_y) = self.covariance.reaches
        ranges, inner = (high_x - low_x, high_y - low_y), self.covariance
        each = Fraction(12, rows * ranges[0] * ranges[1])
        most = [max(map(abs, reach)) for reach in inner.reaches]
        factors[inner.products] = each
        for query, square, other, own, width in zip(inner.sums, self.squares, reversed(most), most, ranges, strict=True):
            half = Fraction(6, rows * width**2)
            factors[query], factors[square] = other * each + 2 * own * half, half
        return min(1.0, add_errors(noises, *(((query,), factor) for query, factor in factors.items())))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        """Half of the interval of a group whose rows are spread evenly over both bounds, uncorrelated, which is the widest.

        Whatever the rows are there is no bound below 1: where a column hardly varies nothing is known of the correlation.
        """
        inner = self.covariance
        exact: dict[Query, int] = dict.fromkeys(inner.count.queries, size.rows)
        exact |= dict.fromkeys((inner.products, *inner.sums), 0)
        for square, total in zip(self.squares, inner.totals, strict=True):
            low, high = total.reach
            exact[square] = round(size.rows * (Fraction((high - low) ** 2, 12) - total.shift))
        values = {query: np.array([answer], dtype=np.object_) for query, answer in exact.items()}
        (found,) = self.estimates(Answers(noises, values, slice(0, 1)))
        return float(found.high[0] - found.low[0]) / 2

    def unit(self, rows: int) -> str:
        return f"{in_a_group(rows)} spread evenly over the bounds"

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        inner = self.covariance
        return noise_statements(noises, (*inner.sums, *inner.count.queries, inner.products, *self.squares))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        inner, one = self.covariance, Fraction(1)
        counts = inner.count.counts(answers)
        variances = [
            variance_estimate(answers.of(sums), answers.of(squares), counts, shift=total.shift, unit=one, reach=total.reach)
            for sums, squares, total in zip(inner.sums, self.squares, inner.totals, strict=True)
        ]
        return (correlation_estimate(inner.in_units(answers, one), variances[0], variances[1]),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def correlation_estimate(covariance: Estimate, one: Estimate, other: Estimate) -> Estimate:
    """The correlation of two columns in [-1, 1], from their covariance and their variances, each with its interval.

    Its value is 0 where a variance is, and its interval is [-1, 1] where a variance may be.
    """
    varies = (one.value > _LEAST) & (other.value > _LEAST)
    spread = np.sqrt(np.where(varies, one.value, 1.0)) * np.sqrt(np.where(varies, other.value, 1.0))
    value = np.where(varies, np.clip(covariance.value / spread, -1.0, 1.0), 0.0)
    known = (one.low > _LEAST) & (other.low > _LEAST)
    least, most = (
        np.sqrt(np.where(known, first, 1.0)) * np.sqrt(np.where(known, second, 1.0))
        for first, second in ((one.low, other.low), (one.high, other.high))
    )
    # A quotient is nearest to 0 over the greatest deviations and furthest from it over the least. The roundings of two
    # roots, a product and a quotient are less than 2**-50 of it.
    low = covariance.low / np.where(covariance.low < 0, least, most)
    high = covariance.high / np.where(covariance.high > 0, least, most)
    low, high = low - 2.0**-50 * np.abs(low), high + 2.0**-50 * np.abs(high)
    low, high = np.where(known, np.clip(low, -1.0, 1.0), -1.0), np.where(known, np.clip(high, -1.0, 1.0), 1.0)
    return Estimate(value, np.minimum(low, value), np.maximum(high, value))
