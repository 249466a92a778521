"""The mean of a column with any answer of those who gave none: both ends from one statement about noise each (O10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query
from discreet.exact.numbers import float_up
from discreet.statistics.completions import BEYOND, Missing, queries_of_parts, wide
from discreet.statistics.estimate import Estimate
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Statements, in_a_group
from discreet.statistics.tilted_means import placed
from discreet.statistics.tilts import least_completed, reach_of_scaled
from discreet.statistics.totals import Parts

__all__ = ["CompletedMeanRecipe"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class CompletedMeanRecipe:
    """From (S − aK)/(N + K) to (S + aK)/(N + K): all K rows without a value at the least or at the greatest value.

    Args:
        total: the parts of the sum S, of values that are at most a away from the origin.
        missing: the rows without a value.
        beside: the weight of the number N of rows with one.
        nulls: the weight of the number of rows without one.
    """

    whole: ClassVar = False
    total: Parts
    missing: Missing
    beside: Fraction
    nulls: Fraction

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return queries_of_parts(self.total, self.missing, known=self.beside, nulls=self.nulls)

    def error(self, noises: Noises, rows: int) -> float:
        return float_up(self._largest(noises) * abs(self.total.unit) / rows)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        # At the true end t₀ the statistic is noise, at most h, and at the printed one, t, it is h: (t₀ − t)·(noisy T) ≤ 2h.
        fewest, half = size.rows - self._width_of_rows(noises), self.total.largest
        if fewest >= 1:
            half = min(half, 2 * self._largest(noises) / fewest)
        return float_up(half * abs(self.total.unit))

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return BEYOND

    def statements(self, noises: Noises) -> Statements:
        if self._is_closed(noises):
            return Statements({}, noises.cells, 1)
        every = len(self._scale(noises, np.zeros(1)))
        return Statements({}, noises.cells * every, every)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        total, noises = self.total, answers.noises
        sums = total.added(answers).astype(np.float64)
        known = answers.values[self.missing.known]
        nulls, others = self.missing.counts(answers, known)
        counts, missing = (part.astype(np.float64) for part in (wide(known[answers.cells]), nulls + others))
        every, most = counts + missing, float_up(total.largest)

        def reach(starts: Floats, stops: Floats) -> Floats:
            return np.maximum(self._halves(noises, starts, stops), 0.0)

        low = least_completed(sums, missing, every, reach, most)
        high = -least_completed(-sums, missing, every, reach, most)
        value = np.clip(sums / np.maximum(counts, 1.0), -most, most)
        return (placed(value, (np.minimum(low, high), np.maximum(low, high)), total),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}

    def _scale(self, noises: Noises, at: Floats) -> list[tuple[Query, Floats]]:
        """The noises of S − aK − t(N + K) with their factors at each t."""
        most = float_up(self.total.largest)
        sums = [(query, np.full(at.shape, float(factor))) for query, factor, _ in self.total.parts]
        return [*sums, *self.missing.terms(-at, -at - most, -at - most)]

    def _is_closed(self, noises: Noises) -> bool:
        """True if the noises have a closed form together."""
        one = [(noises.law(query), at) for query, at in self._scale(noises, np.zeros(1))]
        return reach_of_scaled(one, noises.level) is not None

    def _halves(self, noises: Noises, starts: Floats, stops: Floats) -> Floats:
        """For each block the largest half-width in it: the factors are linear in t, and largest at an end."""
        ends = zip(self._scale(noises, starts), self._scale(noises, stops), strict=True)
        scaled = [(query, np.maximum(np.abs(first), np.abs(last))) for (query, first), (_, last) in ends]
        found = reach_of_scaled([(noises.law(query), factors) for query, factors in scaled], noises.level)
        if found is not None:
            return found
        return np.asarray(sum(factors * float(noises.largest(query)) for query, factors in scaled))

    def _largest(self, noises: Noises) -> Fraction:
        """The largest half-width at any t, where both ends of the range are in one block."""
        most = float_up(self.total.largest)
        return Fraction(float(self._halves(noises, np.array([-most]), np.array([most]))[0]))

    def _width_of_rows(self, noises: Noises) -> int:
        """The half-width of the noise in the number of all rows, with or without a value."""
        return sum(abs(int(factor)) * noises.largest(query) for query, factor in self.missing.terms(1, 1, 1))
