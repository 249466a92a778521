"""The weighted mean of a column (Hájek): the weighted sum over the sum of the weights, within the bounds of the column.

W8 of docs/proofs/samples.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.domain.steps import TableFacts
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Reads, Shape, Statistic
from discreet.statistics.designs import Design, design_of_quotient
from discreet.statistics.possible import Possible, column_value
from discreet.statistics.recipe import Recipe
from discreet.statistics.survey_weights import (
    WEIGHT_KEYS,
    WEIGHTED_NUMBER,
    Weight,
    WeightedColumn,
    product_sum,
    read_weighted,
    spans_of,
    weight_of,
    weighted,
    weighted_title,
    weights_less,
    whole_weights,
)
from discreet.statistics.totals import total_of
from discreet.statistics.weighted_quotients import WeightedQuotientRecipe

__all__ = ["WeightedMean", "weighted_mean"]


def weighted_mean(
    column: str, by: Weight, *, design: Design | None = None, weight: Amount = 1, nulls: str | None = None
) -> Statistic:
    """The sum of weight · value over the sum of the weights, in each group, over the rows where both are known.

    Args:
        column: a column of numbers.
        by: the weights, such as `Weight("w", most=10)`. The interval is for the weighted file: noise, not the sample.
        design: how the rows were drawn, for a second interval, for the population.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip", or left out.
    """
    return weighted(WeightedMean(weight_of(by), design_of_quotient(design)), column, weight, nulls)


@dataclass(frozen=True, slots=True)
class WeightedMean:
    """The weighted mean of the column, within its bounds."""

    by: Weight
    design: Design | None = None

    word: ClassVar = "weighted_mean"
    noun: ClassVar = "Weighted mean"
    keys: ClassVar[Keys] = WEIGHT_KEYS
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(column_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = WeightedColumn()
    shape: ClassVar[Shape] = WEIGHTED_NUMBER
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return read_weighted(weighted_mean, columns, options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return weighted_title(WeightedMean.noun, shown, part)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return spans_of(one, facts, free, (0, 1))

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        facts = asked.facts
        values, weights = total_of(facts, one.column, centred=True), whole_weights(facts, self.by)
        sums, sizes = (product_sum(facts, values, weights, power) for power in (1, 0))
        low, high = map(Fraction, values.reach)
        usual = Fraction(sum(weights.reach), 2)
        inner = WeightedQuotientRecipe(sums, sizes, values.unit, values.origin, (low, high), weights.reach[0], usual)
        if self.design is None:
            return inner
        less = weights_less(facts, self.by, self.design.less)
        second, first, none = (product_sum(facts, values, less, power, 2) for power in (2, 1, 0))
        return inner.for_population(self.design, (second, first, none), less.unit / weights.unit)
