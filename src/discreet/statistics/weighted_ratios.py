"""The weighted ratio of two columns: one weighted sum over another, over the rows in which all is known.

W9 of docs/proofs/samples.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.domain.steps import TableFacts
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Reads, Shape, Statistic
from discreet.statistics.common import check_column_name, check_weight, option_string, skipped_words, skips_nulls
from discreet.statistics.designs import Design, design_of_quotient
from discreet.statistics.possible import Possible, quotient_value, quotient_values
from discreet.statistics.recipe import (
    Recipe,
)
from discreet.statistics.survey_weights import (
    WEIGHT_KEYS,
    WEIGHTED_NUMBER,
    RatioColumns,
    Weight,
    for_population,
    read_weighted,
    spans_of_ratio,
    triple_sum,
    weight_of,
    weights_less,
    whole_weights,
)
from discreet.statistics.totals import total_of
from discreet.statistics.weighted_quotients import WeightedQuotientRecipe

__all__ = ["WeightedRatio", "weighted_ratio"]

Floats = NDArray[np.float64]


def weighted_ratio(
    column: str, over: str, by: Weight, *, design: Design | None = None, weight: Amount = 1, nulls: str | None = None
) -> Statistic:
    """The sum of weight · column over the sum of weight · over, in each group, over the rows where all three are known.

    Args:
        column: the column of the numerator.
        over: the column of the denominator, whose lower bound is above 0.
        by: the weights, such as `Weight("w", most=10)`. The interval is for the weighted file: noise, not the sample.
        design: how the rows were drawn, for a second interval, for the population.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip", or left out.
    """
    kind = WeightedRatio(weight_of(by), check_column_name(over), design_of_quotient(design))
    name = f"weighted_ratio_{check_column_name(column)}_{over}"
    return Statistic(kind, column, name, check_weight(weight), skips_nulls(nulls))


@dataclass(frozen=True, slots=True)
class WeightedRatio:
    """One weighted sum over another."""

    by: Weight
    over: str
    design: Design | None = None

    word: ClassVar = "weighted_ratio"
    noun: ClassVar = "Weighted ratio"
    keys: ClassVar[Keys] = Keys(
        WEIGHT_KEYS.value,
        {"over": option_string, **WEIGHT_KEYS.needed},
        WEIGHT_KEYS.allowed,
        lacks="needs two columns and their weight: write { … = 'column', over = 'other', by = 'weight', most = 10 }",
    )
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(quotient_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = RatioColumns()
    shape: ClassVar[Shape] = WEIGHTED_NUMBER
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        others = {name: value for name, value in options.items() if name != "over"}

        def make(column: str, by: Weight, **rest: Any) -> Statistic:
            return weighted_ratio(column, options["over"], by, **rest)

        return read_weighted(make, columns, others)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        skipped = skipped_words(shown)
        column, over, by = (shown_name(shown[key]) for key in ("column", "over", "by"))
        return for_population(f"{WeightedRatio.noun} of {column} to {over}{skipped}, by {by}", part)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return spans_of_ratio(one, facts, free)

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        facts = asked.facts
        totals = total_of(facts, one.column, centred=False), total_of(facts, self.over, centred=False)
        weights = whole_weights(facts, self.by)
        sums, others = (triple_sum(facts, (*totals, weights), powers) for powers in ((1, 0, 1), (0, 1, 1)))
        (low, high), (least, greatest) = (one.reach for one in totals)
        inner = WeightedQuotientRecipe(
            sums,
            others,
            totals[0].unit / totals[1].unit,
            Fraction(0),
            quotient_values((Fraction(low), Fraction(high)), (Fraction(least), Fraction(greatest))),
            weights.reach[0] * least,
            Fraction(sum(weights.reach) * (least + greatest), 4),
        )
        if self.design is None:
            return inner
        less = weights_less(facts, self.by, self.design.less)
        second, first, none = (triple_sum(facts, (*totals, less), powers) for powers in ((2, 0, 2), (1, 1, 2), (0, 2, 2)))
        return inner.for_population(self.design, (second, first, none), less.unit / weights.unit)
