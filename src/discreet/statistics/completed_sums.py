"""The sum of a column with any answer of those who gave none (O10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.cube.cells import Integers
from discreet.cube.queries import Query
from discreet.exact.numbers import common_denominator, float_up
from discreet.statistics.completions import BEYOND, Missing, Terms, half_width_of, queries_of_parts, wide
from discreet.statistics.estimate import Estimate, outward
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Statements
from discreet.statistics.totals import Parts

__all__ = ["CompletedSumRecipe"]


@dataclass(frozen=True, slots=True, eq=False)
class CompletedSumRecipe:
    """From Σx + L·M + min(L, 0)·B to Σx + U·M + max(U, 0)·B, with M rows without a value and B that lack a label.

    Args:
        total: the parts of the sum of the known values, which the number of rows with a value moves to its place.
        missing: the rows without a value, and those that lack a label.
        beside: the weight of the number of rows with a value.
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

    @property
    def _scale(self) -> int:
        return common_denominator([self.total.unit, self.total.origin, *self.total.bounds])

    @property
    def _ends(self) -> tuple[Fraction, Fraction]:
        return self.total.bounds

    def error(self, noises: Noises, rows: int) -> float:
        widest = max(self._half_width(noises, end) for end in self._ends)
        return float_up(Fraction(widest, self._scale))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows) * 2  # the noise of an end, and what the interval allows for

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return BEYOND

    def statements(self, noises: Noises) -> Statements:
        return Statements({}, noises.cells, 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        known = answers.values[self.missing.known]
        nulls, others = self.missing.counts(answers, known)
        sums, counts = self.total.added(answers), wide(known[answers.cells])
        recorded = self._scaled(self.total.unit) * _exact(sums) + self._scaled(self.total.origin) * _exact(counts)
        low, high = self._ends
        least = self._scaled(low) * _exact(nulls) + self._scaled(min(low, Fraction(0))) * _exact(others)
        most = self._scaled(high) * _exact(nulls) + self._scaled(max(high, Fraction(0))) * _exact(others)
        first = outward(recorded + least - self._half_width(answers.noises, low), self._scale, -np.inf)
        last = outward(recorded + most + self._half_width(answers.noises, high), self._scale, np.inf)
        value = recorded.astype(np.float64) / self._scale
        return (Estimate(value, np.minimum(first, value), np.maximum(last, value)),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}

    def _scaled(self, amount: Fraction) -> int:
        return int(amount * self._scale)

    def _half_width(self, noises: Noises, end: Fraction) -> int:
        """A half-width of the noise at one end, in steps of one over the scale; it fails half as often on either side."""
        lacking = min(end, Fraction(0)) if end == self._ends[0] else max(end, Fraction(0))
        return half_width_of(noises, self._terms(end, lacking), 1 - noises.level)

    def _terms(self, nulls: Fraction, others: Fraction) -> Terms:
        unit = self._scaled(self.total.unit)
        sums = [(query, factor * unit) for query, factor, _ in self.total.parts]
        return [*sums, *self.missing.terms(*map(self._scaled, (self.total.origin, nulls, others)))]


def _exact(values: Integers) -> Integers:
    return np.asarray(values).astype(np.object_)
