"""Equality of the means of bounded values in two groups, from noisy sums and counts, for every number of rows.

Nothing is assumed of the law of the values but their bounds: tails by Chernoff's bound, with the largest variance that a
mean between the bounds allows. Theorem T8 of docs/proofs/tests.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise.single.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.releases.derived.linear import Cell, Linear

__all__ = ["MOMENTS", "Group", "MeansApart"]

Floats = NDArray[np.float64]

_COUNTS, _MEAN = 0.05, 0.05  # parts of a level: for numbers of rows and for means outside their sets
_DEPTH = 9  # how often an interval of means is halved
_RATES = np.exp(np.linspace(np.log(0.02), np.log(50.0), 80))


@dataclass(frozen=True, slots=True)
class Group:
    """The noisy sum of the values of a group, and the noisy or exact number of its rows."""

    total: Linear
    count: Linear

    def rows(self, failing: float) -> tuple[float, float]:
        """The least and the greatest number of rows, but for this probability."""
        half = self.count.half_width(1 - Fraction(failing)) if self.count.terms else Fraction(0)
        return float(self.count.value - half), float(self.count.value + half)

    def apart(self, mean: float) -> float:
        """The published sum less so many times the published number of rows."""
        return float(self.total.value - Fraction(mean) * self.count.value)

    def factors(self, low: float, high: float) -> dict[Cell, float]:
        """For each noise the largest size of its factor in `apart`, over means from low to high."""
        found: dict[Cell, float] = {}
        for mean in (low, high):
            for factor, cell in self.total.plus(-Fraction(mean), self.count).terms:
                found[cell] = max(found.get(cell, 0.0), abs(float(factor)) * (1 + 1e-12))
        return found


@dataclass(frozen=True, eq=False)
class MeansApart:
    """Two groups of independent values between two bounds, with one mean under the hypothesis.

    Args:
        low: the least value.
        high: the greatest value.
        first: a group.
        second: the other.
        sides: 1 for a first mean above the second, -1 for one below, and both for either.
        deviation: at least the standard deviation of the values; infinite where only the bounds are known.
    """

    low: float
    high: float
    first: Group
    second: Group
    sides: tuple[int, ...]
    deviation: float

    def rejects(self, level: float) -> bool:
        """True if no mean that the sums leave possible explains their difference at this level."""
        rows = [group.rows(_COUNTS / 2 * level) for group in (self.first, self.second)]
        if min(least for least, _ in rows) < 1:
            return False
        needed = (1 - _COUNTS - _MEAN) * level / len(self.sides)
        ends = np.linspace(self.low, self.high, 33)
        left = list(zip(ends[:-1].tolist(), ends[1:].tolist(), [0] * 32, strict=True))
        while left:
            below, above, depth = left.pop()
            if self._is_excluded(below, above, rows, _MEAN * level):
                continue
            if all(self._p_value(below, above, rows, side) <= needed for side in self.sides if self._is_on(side)):
                continue
            if depth == _DEPTH:
                return False
            middle = (below + above) / 2
            left += [(below, middle, depth + 1), (middle, above, depth + 1)]
        return self._seen() != 0

    def estimate(self) -> float:
        """The difference of the published means on the side that is looked for."""
        return max(side * self._seen() for side in self.sides)

    def _seen(self) -> float:
        return float(
            self.first.total.value / max(self.first.count.value, Fraction(1))
            - self.second.total.value / max(self.second.count.value, Fraction(1))
        )

    def _is_on(self, side: int) -> bool:
        """Of both sides only the one that is seen has to be explained; the level is halved for it."""
        return len(self.sides) == 1 or side * self._seen() > 0

    def _is_excluded(self, below: float, above: float, rows: Sequence[tuple[float, float]], failing: float) -> bool:
        """True if no mean of the interval explains the sum over both groups."""
        ends = [self.first.apart(mean) + self.second.apart(mean) for mean in (below, above)]
        if min(ends) <= 0 <= max(ends):
            return False
        side = 1 if ends[0] > 0 else -1
        least = min(map(abs, ends)) * (1 - 1e-9)
        groups = [(self.first, most, 1.0, side) for _, most in rows[:1]] + [
            (self.second, most, 1.0, side) for _, most in rows[1:]
        ]
        return self._chernoff(below, above, groups, least) <= failing / 2

    def _p_value(self, below: float, above: float, rows: Sequence[tuple[float, float]], side: int) -> float:
        """An upper bound of the probability of a difference as large as the published one, for means in the interval."""
        (least_1, most_1), (least_2, most_2) = rows
        first = [side * self.first.apart(mean) / n for mean in (below, above) for n in (least_1, most_1)]
        second = [side * self.second.apart(mean) / n for mean in (below, above) for n in (least_2, most_2)]
        seen = min(first) - max(second)
        seen -= 1e-9 * (abs(min(first)) + abs(max(second)))
        groups = [(self.first, least_1, 1 / least_1, side), (self.second, least_2, 1 / least_2, -side)]
        return self._chernoff(below, above, groups, seen)

    def _chernoff(self, below: float, above: float, groups: Sequence[tuple[Group, float, float, int]], seen: float) -> float:
        """The least exp(-λ·seen) E exp(λ·sum) over a grid of λ; each group has rows, a factor and a sign."""
        if seen <= 0:
            return 1.0
        spread = min(_largest_variance(below, above, self.low, self.high), self.deviation**2)
        noises = [(group.factors(below, above), factor) for group, _, factor, _ in groups]
        variance = sum(rows * factor**2 * spread for _, rows, factor, _ in groups) + sum(
            (factor * size) ** 2 * cell.law.variance() for found, factor in noises for cell, size in found.items()
        )
        rates = _RATES * seen / max(variance, 1e-300)
        logs = -rates * seen
        for _, rows, factor, sign in groups:
            reach = self.high - below if sign > 0 else above - self.low
            with np.errstate(over="ignore"):
                logs = logs + rows * spread * _bennett(rates * factor, reach)
        for cell, size in _joined(noises).items():
            logs = logs + MOMENTS[type(cell.law)](cell.law, rates * size)
        best = float(np.min(np.where(np.isnan(logs), 0.0, logs)))
        return min(1.0, float(np.exp(min(0.0, best))) * (1 + 1e-9))


def _joined(noises: Sequence[tuple[Mapping[Cell, float], float]]) -> dict[Cell, float]:
    """The largest factor of each noise; one that is in both groups counts with both."""
    found: dict[Cell, float] = {}
    for sizes, factor in noises:
        for cell, size in sizes.items():
            found[cell] = found.get(cell, 0.0) + size * factor
    return found


def _largest_variance(below: float, above: float, low: float, high: float) -> float:
    """The largest (μ - low)(high - μ) for μ from `below` to `above`: no variance between the bounds is larger."""
    at = min(max((low + high) / 2, below), above)
    return (at - low) * (high - at)


def _bennett(rates: Floats, reach: float) -> Floats:
    """(exp(λb) - 1 - λb)/b²: times the variance it bounds log E exp(λ(x - μ)) for x - μ ≤ b (Bennett 1962)."""
    steps = rates * max(reach, 1e-300)
    with np.errstate(over="ignore"):
        exact = (np.expm1(steps) - steps) / max(reach, 1e-300) ** 2
    series = rates**2 / 2 * (1 + steps)  # above the series for steps up to 1
    found: Floats = np.where(steps < 1e-4, series, exact * (1 + 1e-9))
    return found


def _laplace(law: Any, rates: Floats) -> Floats:
    """((1 - q)² / ((1 - q e^λ)(1 - q e^-λ))), q = exp(-1/scale), for λ below 1/scale."""
    rate = float(1 / law.scale)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        apart = -np.expm1(rates - rate) * -np.expm1(-rates - rate)
        found: Floats = np.where(rates < rate * (1 - 1e-9), 2 * np.log(-np.expm1(-rate)) - np.log(apart), np.inf)
    return found


def _gaussian(law: Any, rates: Floats) -> Floats:
    """The discrete Gaussian is sub-Gaussian with its parameter (Canonne, Kamath and Steinke 2020)."""
    found: Floats = rates**2 * float(law.sigma2) / 2
    return found


def _rounded(law: Any, rates: Floats) -> Floats:
    """Rounding adds at most 1/2."""
    found: Floats = rates**2 * float(law.sigma2) / 2 + rates / 2
    return found


MOMENTS: Mapping[type, Callable[[Any, Floats], Floats]] = {
    DiscreteLaplace: _laplace,
    DiscreteGaussian: _gaussian,
    RoundedGaussian: _rounded,
}
"""For each law an upper bound of log E exp(λY) for λ ≥ 0; infinite where there is none."""
