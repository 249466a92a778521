"""The variance with an interval from the joint law of its noises (`interval = "joint"`): narrower at the same spend.

With m = S/N the mean and V the variance of the rows, Q - 2mS + (m² + shift - V)·N = 0 for the true sums. So the noisy sums
give the combination e_Q - 2m·e_S + (m² + shift - V)·e_N of the noises alone, which is much smaller than the sum of their
half-widths. docs/proofs/variances.md proves that the interval holds with the stated probability.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query
from discreet.exact.numbers import float_up
from discreet.statistics.estimate import Estimate
from discreet.statistics.joint_noise import half_width_of_combination
from discreet.statistics.recipe import Answers, Counted, CountTable, GroupSize, Noises, Statements, in_a_group
from discreet.statistics.totals import Total
from discreet.statistics.widest import quotient_width, sum_width

__all__ = ["JointVarianceRecipe", "joint_variance"]

_STATEMENTS = 3
_ENDS = Fraction(1, 8)
"""The noise of S and of N each fail with this part of a statement's probability; the combination has the rest of three."""
_ROUNDS = 4
_SLACK = 1e-12

Floats = NDArray[np.float64]
Widths = Callable[[Floats, Floats], Floats]
"""The half-width of e_Q - 2m·e_S + k·e_N, from upper bounds of |m| and |k|."""


@dataclass(frozen=True, slots=True, eq=False)
class JointVarianceRecipe:
    """unit²·(squares/count + shift - (total/count)²); the total has a query."""

    whole: ClassVar = False
    total: Total
    count: Counted

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        every = (*self.count.queries, *self.total.queries, *self.total.squares)
        return tuple((query, Fraction(1)) for query in every)

    def error(self, noises: Noises, rows: int) -> float:
        """The error of the combination where the mean is at an end of the bounds."""
        return float(self._furthest(noises)) / rows * float(self.total.unit**2)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        """Half of 2W/N + D², with W the half-width at the ends of the bounds and D the width of the interval of the mean."""
        low, high = self.total.reach
        most, reach = Fraction((high - low) ** 2, 8), max(abs(low), abs(high))
        ends = _at_ends(noises)
        mean = quotient_width(ends, (self.total.queries[0], reach), self.count, size.rows)
        fewest = size.rows - sum_width(self.count.queries, ends)
        if mean is None or fewest < 1:
            return float_up(most * self.total.unit**2)
        found = Fraction(float(self._furthest(noises))) / fewest + 2 * mean**2
        return float_up(min(most, found * (1 + Fraction(1, 10**9))) * self.total.unit**2)

    def _furthest(self, noises: Noises) -> Any:
        reach = float(max(map(abs, self.total.reach)))
        return self._widths(noises)(np.array([reach]), np.array([self.total.shift + reach**2]))[0]

    def _widths(self, noises: Noises) -> Widths:
        failing = (1 - noises.level) * (_STATEMENTS - 2 * _ENDS)
        (squares,), (sums,) = self.total.squares, self.total.queries

        def widths(mean: Floats, factor: Floats) -> Floats:
            parts = [(squares, np.ones_like(mean)), (sums, 2 * mean), *((query, factor) for query in self.count.queries)]
            return half_width_of_combination(noises, parts, failing)

        return widths

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        return Statements({}, _STATEMENTS * noises.cells, _STATEMENTS)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        ends = replace(answers, noises=_at_ends(answers.noises))
        (squares,) = self.total.squares
        sums, counts = ends.of(self.total.queries[0]), self.count.counts(ends)
        return (
            joint_variance(sums, answers.values[squares][answers.cells], counts, self.total, self._widths(answers.noises)),
        )

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def _at_ends(noises: Noises) -> Noises:
    """The noises of S and of N at the level at which they bound the mean."""
    return replace(noises, level=1 - (1 - noises.level) * _ENDS)


def joint_variance(
    sums: tuple[NDArray[Any], NDArray[Any]],
    squares: NDArray[Any],
    counts: tuple[NDArray[Any], NDArray[Any]],
    total: Total,
    widths: Widths,
) -> Estimate:
    """The variance, clipped into [0, a quarter of the squared range], with the enclosure of its joint confidence set.

    Where the count may be below 1, the interval is everything that is possible.

    Args:
        sums: the noisy sums of f, and the half-widths of their noise.
        squares: the noisy sums of f² - shift.
        counts: the counts, noisy or public, and the half-widths of their noise.
        total: the shift, the unit, and the least and the greatest f.
        widths: the half-width of the combination.
    """
    (s, ds), (n, dn) = ([part.astype(np.float64) for part in pair] for pair in (sums, counts))
    q, shift, (low, high) = squares.astype(np.float64), float(total.shift), map(float, total.reach)
    most, reach = (high - low) ** 2 / 4, max(abs(low), abs(high))
    open_range, size = n - dn < 1, np.maximum(n, 1.0)
    fewest, largest = np.maximum(n - dn, 1.0), np.maximum(n + dn, 1.0)
    # c is between these ends of the mean, so that the least of Q/N + shift - 2mc + m² there is at c.
    c = s / size
    least, greatest = np.minimum((s - ds) / fewest, (s - ds) / largest), np.maximum((s + ds) / fewest, (s + ds) / largest)
    mean, smallest = _sizes(least, greatest, reach)
    centre = q / size - c**2 + shift
    away = np.maximum(greatest - c, c - least) ** 2
    slack = _SLACK * (np.abs(q) / size + c**2 + abs(shift) + away)
    bottom, top = np.zeros_like(c), np.full_like(c, most)
    # Each round encloses the same set, with a factor of the noise of N from the enclosure before it.
    for _ in range(_ROUNDS):
        factor = np.maximum(mean**2 + shift - bottom, top - smallest**2 - shift)
        width = widths(mean, np.clip(factor, 0.0, shift + reach**2)) / size
        bottom, top = np.clip(centre - width - slack, 0.0, most), np.clip(centre + away + width + slack, 0.0, most)
    value = np.clip(centre, 0.0, most)
    bottom, top = np.where(open_range, 0.0, bottom), np.where(open_range, most, top)
    scale = float(total.unit**2)  # three roundings at most, each 2**-53
    ends = np.minimum(bottom, value) * (1 - 2.0**-50), np.maximum(top, value) * (1 + 2.0**-50)
    return Estimate(scale * value, scale * ends[0], scale * ends[1])


def _sizes(least: Floats, greatest: Floats, reach: float) -> tuple[Floats, Floats]:
    """The largest and the smallest size of a mean between these ends that is within the bounds."""
    largest = np.minimum(np.maximum(np.abs(least), np.abs(greatest)), reach)
    inside = (least <= 0) & (greatest >= 0)
    return largest, np.where(inside, 0.0, np.minimum(np.minimum(np.abs(least), np.abs(greatest)), reach))
