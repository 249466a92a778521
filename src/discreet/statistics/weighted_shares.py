"""The weighted share of each group: the sum of its weights over the sum of the weights of all groups.

W9 of docs/proofs/samples.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.cube.queries import Query, Squares
from discreet.domain.steps import TableFacts
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount, float_up
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Reads, Shape, Statistic
from discreet.statistics.common import check_weight, skips_nulls
from discreet.statistics.counted import NoisyCount
from discreet.statistics.designs import Design, design_of_quotient
from discreet.statistics.estimate import Estimate
from discreet.statistics.population import DrawnShare, PopulationRecipe
from discreet.statistics.possible import Possible, fix_bounds
from discreet.statistics.recipe import (
    Answers,
    CountTable,
    GroupSize,
    Noises,
    Recipe,
    Statements,
    add_errors,
    in_a_group,
    noise_statements,
)
from discreet.statistics.shares import share_estimate
from discreet.statistics.survey_weights import (
    DESIGN_KEYS,
    SHARE_KEYS,
    WEIGHTED_NUMBER,
    Weight,
    WeightColumn,
    design_in,
    for_population,
    spans_of_weights,
    weight_of,
    weights_less,
    whole_weights,
)

__all__ = ["WeightedShare", "WeightedShareRecipe", "weighted_share"]


def weighted_share(by: Weight, *, design: Design | None = None, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The sum of the weights of each group over the sum of the weights of all groups, between 0 and 1.

    Args:
        by: the weights, such as `Weight("w", most=10)`. The interval is for the weighted file: noise, not the sample.
        design: how the rows were drawn, for a second interval, for the population.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip" lets rows without a weight count as 0, or left out.
    """
    kind = WeightedShare(weight_of(by), design_of_quotient(design))
    return Statistic(kind, None, f"weighted_share_{by.column}", check_weight(weight), skips_nulls(nulls))


@dataclass(frozen=True, slots=True)
class WeightedShare:
    """The sum of the weights of the group over the sum of the weights of all groups."""

    by: Weight
    design: Design | None = None

    word: ClassVar = "weighted_share"
    noun: ClassVar = "Weighted share of rows"
    keys: ClassVar[Keys] = SHARE_KEYS
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(fix_bounds(0, 1))
    counts: ClassVar = False
    reads: ClassVar[Reads] = WeightColumn()
    shape: ClassVar[Shape] = WEIGHTED_NUMBER
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        others = {name: value for name, value in options.items() if name not in {"most", *DESIGN_KEYS}}
        return weighted_share(Weight(columns[0], options["most"]), design=design_in(options), **others)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return for_population(f"{WeightedShare.noun}, by {shown_name(shown['by'])}", part)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return spans_of_weights(one, facts, free)

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        weights = whole_weights(asked.facts, self.by)
        (sizes,) = weights.queries
        inner = WeightedShareRecipe(weights.reach, NoisyCount(sizes))
        if self.design is None:
            return inner
        less = weights_less(asked.facts, self.by, self.design.less)
        (own,) = less.queries
        squares = Squares(own.column, own.first, own.slope, own.width, 0)
        drawn = DrawnShare(sizes, squares, less.unit / weights.unit)
        return PopulationRecipe(inner, self.design, drawn, ((sizes, Fraction(1)), (squares, Fraction(3, 5))))


@dataclass(frozen=True, slots=True, eq=False)
class WeightedShareRecipe:
    """weights of the cell / weights of all cells.

    Args:
        weights: the least and the greatest whole number of a weight.
        sizes: the sums of the weights.
    """

    whole: ClassVar = False
    weights: tuple[int, int]
    sizes: NoisyCount

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.sizes.query, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        """Among rows whose weights are in the middle of their range on average."""
        return add_errors(noises, (self.sizes.queries, Fraction(2, rows * sum(self.weights))))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        """As that of a share, with the greatest weights in the group and the least ones in all groups."""
        every = size.every * self.weights[0]
        own = min(size.rows * self.weights[1], every)
        ds, dn = noises.largest(self.sizes.query), self._width_of_all(noises)
        fewest = every - 2 * dn
        if fewest < 1:
            return 0.5
        parts = Fraction((own + ds) * dn, fewest * every), Fraction(ds, 2) * (Fraction(1, fewest) + Fraction(1, every))
        return min(0.5, float_up(sum(parts, Fraction(0))))

    def _width_of_all(self, noises: Noises) -> int:
        """The half-width of the noise in the sum of all weights."""
        nothing = {self.sizes.query: np.zeros(noises.cells, dtype=np.int64)}
        return int(self.sizes.total(Answers(noises, nothing, slice(0, 1)))[1])

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        shared = {**noise_statements(noises, self.sizes.queries).shared, ("all rows", self.sizes.query): 1}
        return Statements(shared, 0, len(shared))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return (share_estimate(self.sizes.counts(answers), self.sizes.total(answers)),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}
