"""Quantiles of a column with any answer of those who gave none: from the tree that today's intervals invert (O11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.cube.queries import Query
from discreet.mechanisms import law_of_cell
from discreet.statistics.completions import BEYOND, Missing, wide
from discreet.statistics.estimate import Estimate
from discreet.statistics.quantile_trees import QuantileRecipe
from discreet.statistics.ranks import MissingRanks, completed_estimates
from discreet.statistics.recipe import RANKS, Answers, CountTable, GroupSize, Noises, Statements

__all__ = ["CompletedQuantileRecipe"]


@dataclass(frozen=True, slots=True, eq=False)
class CompletedQuantileRecipe:
    """Codes of the known values, with intervals that hold the quantile of every completion.

    Args:
        recorded: the recipe of the known values alone.
        missing: the rows without a value; the number of those with one is the sum of the tree.
    """

    whole: ClassVar = False
    recorded: QuantileRecipe
    missing: Missing

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        # A row is in the tree, or is without a value, so that the count of these costs nothing beside it.
        return (*self.recorded.queries, *((query, self.recorded.interval) for query in self.missing.asked))

    def error(self, noises: Noises, rows: int) -> float:
        return self.recorded.error(noises, rows)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.recorded.widest(noises, size)

    def unit(self, rows: int) -> str:
        return RANKS

    def accuracy(self, noises: Noises) -> str:
        return f"{self.recorded.accuracy(noises)},{BEYOND}"

    def statements(self, noises: Noises) -> Statements:
        return self.recorded.statements(noises)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        shown = self.recorded.grid.values
        found = []
        for one, (low, high) in zip(self.recorded.codes(answers), self._ends(answers), strict=True):
            least, greatest = np.minimum(low, one.value), np.maximum(high, one.value)
            found.append(Estimate(shown(one.value), shown(least), shown(greatest)))
        return tuple(found)

    def _ends(self, answers: Answers) -> list[tuple[np.ndarray, np.ndarray]]:
        tree, levels = self.recorded.levels(answers)
        (query,), noises = self.recorded.trees, answers.noises
        known = wide(levels[0]).sum(axis=1)
        nulls, others = self.missing.counts(answers, known)
        law, missing = law_of_cell(noises.law(query)), (nulls + others).astype(np.float64)
        # The number of known rows of another cell is the sum of all nodes at the top of its tree.
        own = (
            (law,) * tree.top if one == self.missing.known else (law_of_cell(noises.law(one)),)
            for one in self._lacking_counts()
        )
        ranks = MissingRanks(missing, self.missing.rows is not None, tuple(one for laws in own for one in laws))
        noisy = [counts[answers.cells] for counts in levels]
        return completed_estimates(tree, noisy, ranks, law, self.recorded.at, level=noises.level)

    def _lacking_counts(self) -> list[Query]:
        """The counts whose sum is the number of rows without a value, where it is not the rest of a public one."""
        public = self.missing.rows is not None
        return [] if public else [query for query, factor in self.missing.terms(0, 1, 1) if factor]

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}
