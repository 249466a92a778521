"""The mean of a column with the tilted interval: the form that requests with `original` have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query
from discreet.exact.numbers import float_up
from discreet.statistics.estimate import Estimate, quotient_range
from discreet.statistics.recipe import (
    Answers,
    Counted,
    CountTable,
    GroupSize,
    Noises,
    Statements,
    in_a_group,
    noise_statements,
)
from discreet.statistics.tilts import reach_of, tilted_range
from discreet.statistics.totals import Parts

__all__ = ["TiltedMeanRecipe", "placed"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TiltedMeanRecipe:
    """origin + unit · S/N, with S the sum of the parts.

    Args:
        total: the parts of the sum.
        count: the number of rows.
        beside: the weights of what the count is made of.
    """

    whole: ClassVar = False
    total: Parts
    count: Counted
    beside: tuple[Fraction, ...]

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        counts = tuple(zip(self.count.queries, self.beside, strict=True))
        return (*counts, *((query, weight) for query, _, weight in self.total.parts))

    def error(self, noises: Noises, rows: int) -> float:
        return float_up(self._largest(noises) * abs(self.total.unit) / rows)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        # With a noise Z of the sum within h of the widest quotient and a count of at least r = rows − dn, the set is at most
        # 2h/r wide: (S − tN) = (t₀ − t)·(noisy count) + (noise of S − t₀N), and both are within h there.
        fewest = size.rows - sum(noises.largest(query) for query in self.count.queries)
        half = self.total.largest
        if fewest >= 1:
            half = min(half, self._largest(noises) / fewest)
        return float_up(half * abs(self.total.unit))

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        if self._reach(noises) is None:
            return noise_statements(noises, (*self.total.queries, *self.count.queries))
        return Statements({}, noises.cells, 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        total, noises = self.total, answers.noises
        sums, counts = total.added(answers).astype(np.float64), self.count.counts(answers)
        noisy, reach = counts[0].astype(np.float64), self._reach(noises)
        most = float_up(total.largest)
        if reach is None:
            ends = _range_of_box(sums, total.half_widths(answers), noisy, counts[1].astype(np.float64), most)
        else:
            ends = tilted_range(sums, noisy, reach, (-most, most))
        value = np.clip(sums / np.maximum(noisy, 1.0), -most, most)
        return (placed(value, ends, total),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}

    def _reach(self, noises: Noises) -> Any:
        """The half-widths of the noise of S − tN; None where there is no such closed form, or one noise alone."""
        sums = [(noises.law(query), factor) for query, factor, _ in self.total.parts]
        counts = [(noises.law(query), 1) for query in self.count.queries]
        # One noise alone has an exact half-width.
        return reach_of(sums, counts, noises.level) if len(sums) + len(counts) > 1 and sums else None

    def _largest(self, noises: Noises) -> Fraction:
        """The largest half-width of the noise of S − tN."""
        reach, most = self._reach(noises), self.total.largest
        if reach is None:
            return self.total.half_width(noises)
        return Fraction(float(reach(np.array([float_up(most)]))[0]))


def _range_of_box(sums: Floats, s: Floats, counts: Floats, n: Floats, most: float) -> tuple[Floats, Floats]:
    """The range of the quotient over both half-widths; all that is possible where the count may be below 1."""
    least, greatest = quotient_range(sums, s, counts, n)
    some = counts - n >= 1
    return np.where(some, least, -most), np.where(some, greatest, most)


def placed(value: Floats, ends: tuple[Floats, Floats], total: Parts) -> Estimate:
    """Origin + unit · quotient, clipped into the bounds, the ends of the interval moved outwards by what rounding may do."""
    step, middle = float(total.unit), float(total.origin)
    low, high = (float(bound) for bound in total.bounds)
    shown = np.clip(middle + step * value, low, high)
    first, last = (middle + step * end for end in ends)
    slack = 1e-12 * (np.abs(first) + np.abs(last) + 2 * abs(middle))
    bottom, top = np.clip(first - slack, low, high), np.clip(last + slack, low, high)
    return Estimate(shown, np.minimum(bottom, shown), np.maximum(top, shown))
