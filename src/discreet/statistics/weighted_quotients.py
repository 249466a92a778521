"""The recipe of a quotient of two weighted sums over the same rows: weighted means and ratios.

W8 and W9 of docs/proofs/samples.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query
from discreet.exact.numbers import float_down, float_up
from discreet.statistics.designs import Design
from discreet.statistics.estimate import Estimate, quotient_range
from discreet.statistics.population import DrawnQuotient, PopulationRecipe, quotient_weights
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
from discreet.statistics.tilts import reach_of, tilted_range

__all__ = ["WeightedQuotientRecipe"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WeightedQuotientRecipe:
    """origin + step · sums/counts, within what is possible.

    Args:
        sums: the query for the numerator.
        counts: the query for the denominator, to which a row adds a whole number of at least 0.
        step: what a quotient of both whole numbers is worth.
        origin: what a quotient of 0 is worth.
        possible: the least and the greatest quotient of whole numbers.
        least: the least whole number that a known row adds to the denominator.
        usual: the same in the middle of the ranges.
    """

    whole: ClassVar = False
    sums: Query
    counts: Query
    step: Fraction
    origin: Fraction
    possible: tuple[Fraction, Fraction]
    least: int
    usual: Fraction

    def for_population(self, design: Design, moments: tuple[Query, Query, Query], per: Fraction) -> PopulationRecipe:
        """The same with a second interval; see `DrawnQuotient` for its moments and what they are worth."""
        drawn = DrawnQuotient(self.sums, self.counts, moments, per, self.step, self.origin, self.possible)
        return PopulationRecipe(self, design, drawn, quotient_weights(self.sums, self.counts, moments))

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return (self.counts, Fraction(1)), (self.sums, Fraction(1))

    def error(self, noises: Noises, rows: int) -> float:
        """In a group whose weights, and denominators, are in the middle of their ranges on average."""
        return add_errors(noises, ((self.sums,), self.step / (rows * self.usual)))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        # As that of a tilted mean: the set is at most 2h/r wide, r = the least denominator less the half-width of its noise.
        low, high = self.possible
        half = (high - low) / 2
        fewest = size.rows * self.least - noises.largest(self.counts)
        reach = self._reach(noises)
        if reach is not None and fewest >= 1:
            half = min(half, Fraction(float(reach(np.array([float_up(max(abs(low), abs(high)))]))[0])) / fewest)
        return float_up(half * self.step)

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        if self._reach(noises) is None:
            return noise_statements(noises, (self.sums, self.counts))
        return Statements({}, noises.cells, 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        (sums, s), (counts, n) = (
            [part.astype(np.float64) for part in answers.of(query)] for query in (self.sums, self.counts)
        )
        least, greatest = self.possible
        ends, reach = (float_down(least), float_up(greatest)), self._reach(answers.noises)
        if reach is None:
            low, high = quotient_range(sums, s, counts, n)
            some = counts - n >= 1
            low, high = np.where(some, low, ends[0]), np.where(some, high, ends[1])
        else:
            low, high = tilted_range(sums, counts, reach, ends)
        value = np.clip(sums / np.maximum(counts, 1.0), *ends)
        return (self._place(value, (low, high), ends),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}

    def _reach(self, noises: Noises) -> Callable[[Floats], Floats] | None:
        """The half-widths of the noise of numerator − t · denominator; None where there is no closed form."""
        return reach_of([(noises.law(self.sums), 1)], [(noises.law(self.counts), 1)], noises.level)

    def _place(self, value: Floats, ends: tuple[Floats, Floats], most: tuple[float, float]) -> Estimate:
        """In units from the origin, the ends of the intervals moved outwards by what rounding may do."""
        step, start = float(self.step), float(self.origin)
        shown, low, high = (start + step * np.clip(one, *most) for one in (value, *ends))
        slack = 1e-12 * (np.abs(low) + np.abs(high) + 2 * abs(start))
        first, last = (self.origin + self.step * end for end in self.possible)
        least, greatest = float_down(first), float_up(last)
        shown = np.clip(shown, least, greatest)
        return Estimate(
            shown,
            np.minimum(np.maximum(low - slack, least), shown),
            np.maximum(np.minimum(high + slack, greatest), shown),
        )
