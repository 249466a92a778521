"""The weighted ratio of two columns: one weighted sum over another, over the rows in which all is known.

W9 of docs/proofs/samples.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import ProductSum, Query
from discreet.domain.steps import TableFacts
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount, float_down, float_up
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Free, Keys, Reads, Shape, Statistic
from discreet.statistics.common import OneNumber, check_column_name, check_weight, option_string, skips_nulls
from discreet.statistics.estimate import Estimate, quotient_range
from discreet.statistics.possible import Possible, quotient_value, quotient_values
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
    RatioColumns,
    Weight,
    read_weighted,
    spans_of_ratio,
    triple_sum,
    weight_of,
    whole_weights,
)
from discreet.statistics.tilts import reach_of, tilted_range
from discreet.statistics.totals import Total, total_of

__all__ = ["WeightedRatio", "WeightedRatioRecipe", "weighted_ratio"]

Floats = NDArray[np.float64]


def weighted_ratio(column: str, over: str, by: Weight, *, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The sum of weight · column over the sum of weight · over, in each group, over the rows where all three are known.

    Args:
        column: the column of the numerator.
        over: the column of the denominator, whose lower bound is above 0.
        by: the weights, such as `Weight("w", most=10)`. The interval is for the weighted file: noise, not the sample.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip", or left out.
    """
    kind = WeightedRatio(weight_of(by), check_column_name(over))
    name = f"weighted_ratio_{check_column_name(column)}_{over}"
    return Statistic(kind, column, name, check_weight(weight), skips_nulls(nulls))


@dataclass(frozen=True, slots=True)
class WeightedRatio:
    """One weighted sum over another."""

    by: Weight
    over: str

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
    shape: ClassVar[Shape] = OneNumber()
    completed: ClassVar[tuple[Completed, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        others = {name: value for name, value in options.items() if name != "over"}

        def make(column: str, by: Weight, **rest: Any) -> Statistic:
            return weighted_ratio(column, options["over"], by, **rest)

        return read_weighted(make, columns, others)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        skipped = ", where all are known" if shown.get("nulls") == "skip" else ""
        column, over, by = (shown_name(shown[key]) for key in ("column", "over", "by"))
        return f"{part or WeightedRatio.noun} of {column} to {over}{skipped}, by {by}"

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return spans_of_ratio(one, facts, free)

    def recipe(self, one: Statistic, asked: Asked) -> WeightedRatioRecipe:
        facts = asked.facts
        totals = total_of(facts, one.column, centred=False), total_of(facts, self.over, centred=False)
        weights = whole_weights(facts, self.by)
        sums = [triple_sum(facts, (*totals, weights), powers) for powers in ((1, 0, 1), (0, 1, 1))]
        return WeightedRatioRecipe(totals, weights.reach, sums[0], sums[1])


@dataclass(frozen=True, slots=True, eq=False)
class WeightedRatioRecipe:
    """unit · sums/others, within what is possible.

    Args:
        totals: the whole numbers of the two columns.
        weights: the least and the greatest whole number of a weight.
        sums: the query for the sum of the products of the numerator.
        others: the same of the denominator, over the same rows.
    """

    whole: ClassVar = False
    totals: tuple[Total, Total]
    weights: tuple[int, int]
    sums: ProductSum
    others: ProductSum

    @property
    def unit_of(self) -> Fraction:
        """What a quotient of both whole numbers is worth."""
        return self.totals[0].unit / self.totals[1].unit

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest quotient of whole numbers."""
        (low, high), (least, greatest) = (one.reach for one in self.totals)
        return quotient_values((Fraction(low), Fraction(high)), (Fraction(least), Fraction(greatest)))

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return (self.others, Fraction(1)), (self.sums, Fraction(1))

    def error(self, noises: Noises, rows: int) -> float:
        """In a group whose weights and denominators are in the middle of their ranges on average."""
        size = Fraction(rows * sum(self.weights) * sum(self.totals[1].reach), 4)
        return add_errors(noises, ((self.sums,), self.unit_of / size))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        # As that of a tilted mean: the set is at most 2h/r wide, r = the least denominator less the half-width of its noise.
        low, high = self.ends
        half = (high - low) / 2
        fewest = size.rows * self.weights[0] * self.totals[1].reach[0] - noises.largest(self.others)
        reach = self._reach(noises)
        if reach is not None and fewest >= 1:
            half = min(half, Fraction(float(reach(np.array([float_up(max(abs(low), abs(high)))]))[0])) / fewest)
        return float_up(half * self.unit_of)

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        if self._reach(noises) is None:
            return noise_statements(noises, (self.sums, self.others))
        return Statements({}, noises.cells, 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        (sums, s), (others, n) = (
            [part.astype(np.float64) for part in answers.of(query)] for query in (self.sums, self.others)
        )
        least, greatest = self.ends
        ends, reach = (float_down(least), float_up(greatest)), self._reach(answers.noises)
        if reach is None:
            low, high = quotient_range(sums, s, others, n)
            some = others - n >= 1
            low, high = np.where(some, low, ends[0]), np.where(some, high, ends[1])
        else:
            low, high = tilted_range(sums, others, reach, ends)
        value = np.clip(sums / np.maximum(others, 1.0), *ends)
        return (_scaled(value, (low, high), self.unit_of, ends),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}

    def _reach(self, noises: Noises) -> Callable[[Floats], Floats] | None:
        """The half-widths of the noise of numerator − t · denominator; None where there is no closed form."""
        return reach_of([(noises.law(self.sums), 1)], [(noises.law(self.others), 1)], noises.level)


def _scaled(value: Floats, ends: tuple[Floats, Floats], unit: Fraction, most: tuple[float, float]) -> Estimate:
    """The quotients in units, the ends of the intervals moved outwards by what rounding may do."""
    low, high = (np.clip(end, *most) for end in ends)
    slack = 1e-12 * (np.abs(low) + np.abs(high))
    low, high = np.minimum(np.maximum(low - slack, most[0]), value), np.maximum(np.minimum(high + slack, most[1]), value)
    step = float(unit)
    # One rounding of the unit and one of the product: each 2**-53.
    return Estimate(
        value * step, *(end * step + side * 2.0**-50 * np.abs(end * step) for end, side in ((low, -1), (high, 1)))
    )
