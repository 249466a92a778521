"""The weighted mean of a column (Hájek): the weighted sum over the sum of the weights, within the bounds of the column.

W8 of docs/proofs/samples.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.cube.queries import PairSum, Query
from discreet.domain.steps import TableFacts
from discreet.exact.numbers import Amount, float_up
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Free, Keys, Reads, Shape, Statistic
from discreet.statistics.common import OneNumber
from discreet.statistics.counted import NoisyCount
from discreet.statistics.estimate import Estimate
from discreet.statistics.means import mean_estimate
from discreet.statistics.possible import Possible, column_value
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
from discreet.statistics.survey_weights import (
    WEIGHT_KEYS,
    Weight,
    WeightedColumn,
    product_sum,
    read_weighted,
    spans_of,
    weight_of,
    weighted,
    weighted_title,
    whole_weights,
)
from discreet.statistics.totals import Total, total_of
from discreet.statistics.widest import quotient_width

__all__ = ["WeightedMean", "WeightedMeanRecipe", "weighted_mean"]


def weighted_mean(column: str, by: Weight, *, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The sum of weight · value over the sum of the weights, in each group, over the rows where both are known.

    Args:
        column: a column of numbers.
        by: the weights, such as `Weight("w", most=10)`. The interval is for the weighted file: noise, not the sample.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip", or left out.
    """
    return weighted(WeightedMean(weight_of(by)), column, weight, nulls)


@dataclass(frozen=True, slots=True)
class WeightedMean:
    """The weighted mean of the column, within its bounds."""

    by: Weight

    word: ClassVar = "weighted_mean"
    noun: ClassVar = "Weighted mean"
    keys: ClassVar[Keys] = WEIGHT_KEYS
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(column_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = WeightedColumn()
    shape: ClassVar[Shape] = OneNumber()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return read_weighted(weighted_mean, columns, options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return weighted_title(WeightedMean.noun, shown, part)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return spans_of(one, facts, free, (0, 1))

    def recipe(self, one: Statistic, asked: Asked) -> WeightedMeanRecipe:
        values, weights = total_of(asked.facts, one.column, centred=True), whole_weights(asked.facts, self.by)
        sums = product_sum(asked.facts, values, weights, 1)
        return WeightedMeanRecipe(values, weights.reach, sums, product_sum(asked.facts, values, weights, 0))


@dataclass(frozen=True, slots=True, eq=False)
class WeightedMeanRecipe:
    """origin + unit · products/weights, with values taken from the midpoint of their range.

    Args:
        values: the whole numbers of the column.
        weights: the least and the greatest whole number of a weight.
        products: the query for the sum of their products.
        sizes: the query for the sum of the weights, over the same rows.
    """

    whole: ClassVar = False
    values: Total
    weights: tuple[int, int]
    products: PairSum
    sizes: PairSum

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return (self.sizes, Fraction(1)), (self.products, Fraction(1))

    def error(self, noises: Noises, rows: int) -> float:
        """In a group whose weights are in the middle of their range on average."""
        size = Fraction(rows * sum(self.weights), 2)
        return add_errors(noises, ((self.products,), self.values.unit / size))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        """The error of a mean, with the least possible sum of weights in the place of the rows."""
        low, high = self.values.reach
        most = Fraction(high - low, 2)
        fewest = size.rows * self.weights[0]
        asked = self.products, max(abs(low), abs(high))
        width = quotient_width(noises, asked, NoisyCount(self.sizes), fewest) if fewest else None
        return float_up((most if width is None else min(width, most)) * abs(self.values.unit))

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (self.products, self.sizes))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        sums, sizes, total = answers.of(self.products), answers.of(self.sizes), self.values
        return (mean_estimate(*sums, *sizes, unit=total.unit, origin=total.origin, bounds=total.bounds),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}
