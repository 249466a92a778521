"""The weighted sum of a column: the total that a sample estimates for its population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.cube.queries import PairSum, Query
from discreet.domain.steps import TableFacts
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import UNBIASED, Asked, Completed, Extended, Free, Keys, Reads, Shape, Statistic
from discreet.statistics.designs import Design, design_of
from discreet.statistics.estimate import Estimate
from discreet.statistics.population import SUMS, PopulationRecipe
from discreet.statistics.possible import Possible, any_value
from discreet.statistics.recipe import (
    Answers,
    CountTable,
    GroupSize,
    Noises,
    Recipe,
    Statements,
    add_errors,
    noise_statements,
)
from discreet.statistics.sums import sum_estimate
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

__all__ = ["WeightedSum", "WeightedSumRecipe", "weighted_sum"]


def weighted_sum(
    column: str, by: Weight, *, design: Design | None = None, weight: Amount = 1, nulls: str | None = None
) -> Statistic:
    """The sum of weight · value in each group; `nulls="skip"` lets nulls contribute 0 in a column that has them.

    Args:
        column: a column of numbers.
        by: the weights, such as `Weight("w", most=10)`. The interval is for the weighted file: noise, not the sample.
        design: how the rows were drawn, for a second interval, for the population.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip", or left out.
    """
    return weighted(WeightedSum(weight_of(by), design_of(design)), column, weight, nulls)


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """The sum of weight · value."""

    by: Weight
    design: Design | None = None

    word: ClassVar = "weighted_sum"
    noun: ClassVar = "Weighted sum"
    keys: ClassVar[Keys] = WEIGHT_KEYS
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(any_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = WeightedColumn()
    shape: ClassVar[Shape] = WEIGHTED_NUMBER
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return read_weighted(weighted_sum, columns, options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return weighted_title(WeightedSum.noun, shown, part)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return spans_of(one, facts, free, (1,))

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        values, weights = total_of(asked.facts, one.column, centred=False), whole_weights(asked.facts, self.by)
        sums = product_sum(asked.facts, values, weights, 1)
        inner = WeightedSumRecipe(sums, values.unit * weights.unit)
        if self.design is None:
            return inner
        less = weights_less(asked.facts, self.by, self.design.less)
        squares = product_sum(asked.facts, values, less, 2, 2)
        drawn = SUMS[self.design.tail](sums, squares, inner.step, less.unit / weights.unit)
        return PopulationRecipe(inner, self.design, drawn, ((sums, Fraction(1)), (squares, Fraction(3, 5))))


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSumRecipe:
    """unit · Σ of products of whole numbers."""

    whole: ClassVar = False
    products: PairSum
    step: Fraction

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.products, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        return add_errors(noises, ((self.products,), self.step))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (self.products,))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        sums, half = answers.of(self.products)
        none = np.zeros(answers.count, dtype=np.int64)
        whole = np.asarray(half, dtype=np.object_) * self.step.numerator  # in steps of one over the denominator of the unit
        return (sum_estimate(sums, none, whole, unit=self.step, origin=Fraction(0)),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}
