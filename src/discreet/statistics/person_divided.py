"""The recipes of statistics for which each person is divided among values by her rows: histograms and quantiles (U5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.cube.queries import PersonBins, PersonLevels, Query
from discreet.errors import InternalError
from discreet.mechanisms import law_of_cell
from discreet.statistics.base import CLIPPED, UNBIASED
from discreet.statistics.estimate import Estimate
from discreet.statistics.person_moments import BOUNDED, OF_BOUNDED, total_estimate
from discreet.statistics.quantile_intervals import Codes
from discreet.statistics.quantile_trees import levels_of
from discreet.statistics.ranks import quantile_estimates, rank_half_width
from discreet.statistics.recipe import RANKS, Answers, CountTable, GroupSize, Noises, Statements, noise_statements

__all__ = ["PersonHistogramRecipe", "PersonQuantileRecipe"]


@dataclass(frozen=True, slots=True, eq=False)
class PersonHistogramRecipe:
    """The rows that persons count for in each bin, in a frame of their own."""

    whole: ClassVar = False
    asked: PersonBins

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.asked, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        return float(Fraction(noises.largest(self.asked), self.asked.unit))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return OF_BOUNDED

    def statements(self, noises: Noises) -> Statements:
        return Statements(noise_statements(noises, (self.asked,)).shared, 0, 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return ()

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        every = Answers(answers.noises, answers.values, slice(0, answers.noises.cells * self.asked.places))
        counts = total_estimate(*every.of(self.asked), Fraction(1, self.asked.unit), counted=True)
        return (CountTable(self.asked.groups, counts, {}),)

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {"counts": "rows of bounded persons", "view": f"{UNBIASED} {BOUNDED}"}


@dataclass(frozen=True, slots=True, eq=False)
class PersonQuantileRecipe:
    """The quantiles of the rows that persons count for, values and intervals from a tree of noisy counts.

    Args:
        at: the requested q.
        asked: the tree.
        grid: the values of the codes.
    """

    whole: ClassVar = False
    at: tuple[Fraction, ...]
    asked: PersonLevels
    grid: Codes

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.asked, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        tree, law = self._shaped(noises).tree, law_of_cell(noises.law(self.asked))
        return max(rank_half_width(tree, law, q, level=noises.level) for q in self.at) / self.asked.unit

    def _shaped(self, noises: Noises) -> PersonLevels:
        shaped = noises.choose_shape(self.asked)
        if not isinstance(shaped, PersonLevels):
            raise InternalError("quantiles need a tree")
        return shaped

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return RANKS

    def accuracy(self, noises: Noises) -> str:
        return f" {RANKS}{OF_BOUNDED}"

    def statements(self, noises: Noises) -> Statements:
        # The two tests of an interval fail with half of the probability each.
        return Statements({}, noises.cells * len(self.at), 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        noises, shown = answers.noises, self.grid.values
        tree, law = self._shaped(noises).tree, law_of_cell(noises.law(self.asked))
        # A row is `unit` units, which are counted as rows are: a quantile does not depend on what a row is worth.
        noisy = [level[answers.cells] for level in levels_of(tree, answers.values[self.asked], noises.cells)]
        found = quantile_estimates(tree, noisy, law, self.at, level=noises.level)
        return tuple(Estimate(shown(one.value), shown(one.low), shown(one.high)) for one in found)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {"view": f"{CLIPPED}, {BOUNDED}"}
