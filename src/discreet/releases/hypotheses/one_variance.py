"""Equal means of normal values with one variance, from noisy sums, counts and sums of squares: F where there is no noise.

Every quantity that is not known, the numbers of rows, the mean of all and the variance, is bounded but for a part of the
level. Within these bounds the statistic has a χ² law, or with Laplace noise a mixture of such (theorem T10 of
docs/proofs/tests.md).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.releases.derived.linear import Linear

__all__ = ["NOISES", "OneVariance", "Sample"]

Floats = NDArray[np.float64]

_ROWS, _MEAN, _SQUARES, _CHI = 0.02, 0.02, 0.02, 0.02  # parts of a level for what is not known
_PIECES = 8  # of the interval of the mean of all
_STEPS, _RATIO = 12, 1.25  # of the variance of a value: so many steps down by this ratio, and all below
_GRID = np.exp(np.linspace(0.0, np.log(120.0), 300))  # of the largest variance given the exponential numbers
_APART = 1.02  # two scales are widened so far apart, where the closed form would cancel
_UP = 1 + 1e-9
_ERROR = 1e-13


@dataclass(frozen=True, slots=True)
class Sample:
    """A group, in steps of the column from the middle of its bounds.

    Args:
        total: the noisy sum of the values.
        count: the noisy or exact number of rows.
        squares: the noisy sum of the squared values, of which `shift` was subtracted from each.
        shift: what was subtracted.
    """

    total: Linear
    count: Linear
    squares: Linear
    shift: float

    def rows(self, failing: float) -> tuple[float, float]:
        """The least and the greatest number of rows, but for this probability."""
        half = self.count.half_width(1 - Fraction(failing)) if self.count.terms else Fraction(0)
        return float(self.count.value - half), float(self.count.value + half)

    @property
    def middle(self) -> float:
        """The published mean."""
        return float(self.total.value / max(self.count.value, Fraction(1)))


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What holds but for a part of the level.

    Args:
        rows: for each group the least and the greatest number of rows.
        means: the least and the greatest mean of all.
        variance: at least the variance of a value.
    """

    rows: Sequence[tuple[float, float]]
    means: tuple[float, float]
    variance: float


@dataclass(frozen=True, eq=False)
class OneVariance:
    """Groups of independent normal values with one variance, and one mean under the hypothesis.

    Args:
        groups: two or more.
        reach: no value is farther from the middle of the bounds.
        most: at least the variance of a value, where that is publicly known; infinite where it is not.
    """

    groups: Sequence[Sample]
    reach: float
    most: float = inf

    def rejects(self, level: float) -> bool:
        """True if the means are farther apart than anything that the release leaves possible explains at this level."""
        bounds = self._bounds(level)
        if bounds is None:
            return False
        needed = (1 - _ROWS - _MEAN - _SQUARES - _CHI) * level
        steps = [bounds.variance * _RATIO**-step for step in range(_STEPS)]
        variances = [*itertools.pairwise(reversed(steps)), (0.0, steps[-1])]
        return all(
            self._p_value(bounds, means, variance) <= needed
            for variance in reversed(variances)
            for means in itertools.pairwise(np.linspace(*bounds.means, _PIECES + 1).tolist())
        )

    def statistic(self) -> float:
        """About F: the mean square of the groups over that of the values in them and of the noise."""
        rows = [max(1.0, float(one.count.value)) for one in self.groups]
        spread = min(self.most, max(self._squares_within() / max(1.0, sum(rows) - len(rows)), 0.0))
        variances = [
            spread / n + (float(one.total.variance()) + one.middle**2 * float(one.count.variance())) / n**2
            for n, one in zip(rows, self.groups, strict=True)
        ]
        means = np.array([one.middle for one in self.groups])
        weights = 1 / np.maximum(variances, 1e-300)
        centre = float((weights * means).sum() / weights.sum())
        return float((weights * (means - centre) ** 2).sum() / (len(rows) - 1))

    def _squares_within(self) -> float:
        """The published sum of squared distances from the published means."""
        return sum(
            float(one.squares.value)
            + (one.shift + one.middle**2) * float(one.count.value)
            - 2 * one.middle * float(one.total.value)
            for one in self.groups
        )

    def _bounds(self, level: float) -> _Bounds | None:
        """None where there may be too few rows."""
        groups = len(self.groups)
        rows = [one.rows(_ROWS * level / groups) for one in self.groups]
        free = sum(least for least, _ in rows) - groups
        if min(least for least, _ in rows) < 1 or free < 1:
            return None
        variance = min(self.most, self._most_within(_SQUARES * level) / _chi_low(free, _CHI * level))
        half = self._pooled(variance, sum(most for _, most in rows), _MEAN * level)
        whole = sum(float(one.count.value) for one in self.groups)
        if whole <= 0:
            return None
        centre = sum(float(one.total.value) for one in self.groups) / whole
        means = max(-self.reach, centre - half / whole), min(self.reach, centre + half / whole)
        return None if means[0] > means[1] else _Bounds(rows, means, variance)

    def _most_within(self, failing: float) -> float:
        """At least the sum of squared distances from the means of the groups, but for this probability."""
        groups = len(self.groups)
        noise = _whole([one.squares.plus(Fraction(one.shift), one.count) for one in self.groups])
        found = self._squares_within() + float(noise.half_width(1 - Fraction(failing / 3)))
        for one in self.groups:
            wide = [float(part.half_width(1 - Fraction(failing / (3 * groups)))) for part in (one.total, one.count)]
            found += 2 * abs(one.middle) * wide[0] + one.middle**2 * wide[1]
        return max(found, 0.0) * _UP + 1e-9

    def _pooled(self, variance: float, rows: float, failing: float) -> float:
        """How far the sum of all may be from the mean times the count, but for this probability."""
        z = NormalDist().inv_cdf(1 - failing / 4)
        sums, counts = _whole([one.total for one in self.groups]), _whole([one.count for one in self.groups])
        noise = sum(
            factor * float(part.half_width(1 - Fraction(failing / 4)))
            for factor, part in ((1.0, sums), (self.reach, counts))
        )
        return (z * sqrt(variance * rows) + noise) * _UP

    def _p_value(self, bounds: _Bounds, means: tuple[float, float], variance: tuple[float, float]) -> float:
        """At least the probability of means so far apart, for every mean and variance in these intervals."""
        centre, half = (means[0] + means[1]) / 2, (means[1] - means[0]) / 2  # what all means have in common changes nothing
        far, near = max(map(abs, means)), max(0.0, means[0], -means[1])
        ends, weights, shares = [], [], []
        for one, (least, most) in zip(self.groups, bounds.rows, strict=True):
            off = _off(one.total) + far * _off(one.count)
            rows = float(one.count.value)
            side, slack = float(one.total.value) - centre * rows, half * max(abs(rows / n - 1) for n in (least, most))
            lowest, highest = side - off, side + off
            ends.append((min(lowest / least, lowest / most) - slack, max(highest / least, highest / most) + slack))
            noise, less = ([*_variances(one.total, 1.0), *_variances(one.count, mean**2)] for mean in (far, near))
            whole = variance[1] * least + sum(size for size, _ in noise)
            weights.append(least**2 / (whole * _UP + 1e-300))
            shares.append(_Shares(_fixed(less, variance[1] * most), _mixed(noise, less, variance[0] * least)))
        return _tail(len(self.groups) - 1, _least_squares(np.array(ends), np.array(weights)), shares)


def _whole(parts: Sequence[Linear]) -> Linear:
    found = parts[0]
    for one in parts[1:]:
        found = found.plus(Fraction(1), one)
    return found


def _least_squares(ends: Floats, weights: Floats) -> float:
    """The least Σ w·(distance of m from the interval)² over all m: convex in m, and quadratic between the ends."""
    places = np.sort(ends.ravel())
    best = min(_squared(ends, weights, place) for place in places)
    for low, high in itertools.pairwise(places):
        middle = (low + high) / 2
        near = np.clip(middle, ends[:, 0], ends[:, 1])
        on = (near != middle) * weights
        if on.sum() > 0:
            lowest = float((on * near).sum() / on.sum())
            if low < lowest < high:
                best = min(best, _squared(ends, weights, lowest))
    return best * (1 - 1e-9)


def _squared(ends: Floats, weights: Floats, place: float) -> float:
    return float((weights * (np.clip(place, ends[:, 0], ends[:, 1]) - place) ** 2).sum())


# Noise --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Noise:
    """A law: each noise is within `off` of a number that is normal, or that is so given an exponential number.

    Args:
        off: how far.
        variance: of that number.
        mixed: whether it is a Laplace number, which is normal of E times its variance, E exponential.
    """

    off: float
    variance: Callable[[Any], float]
    mixed: bool


NOISES: Mapping[type, _Noise] = {
    DiscreteLaplace: _Noise(1.0, lambda law: 2 * float(law.scale) ** 2, mixed=True),
    RoundedGaussian: _Noise(0.5, lambda law: float(law.sigma2), mixed=False),
}
"""The noises of which this is known."""


def _off(part: Linear) -> float:
    """How far the noise is at most from the continuous one."""
    return sum(abs(float(factor)) * NOISES[type(cell.law)].off for factor, cell in part.terms)


def _variances(part: Linear, factor: float) -> list[tuple[float, bool]]:
    """For each noise its variance, times a factor, and whether it is a Laplace number."""
    found = [(NOISES[type(cell.law)], cell.law, float(size)) for size, cell in part.terms]
    return [(factor * size**2 * one.variance(law) * _UP, one.mixed) for one, law, size in found]


@dataclass(frozen=True, slots=True)
class _Shares:
    """A variance given the exponential numbers, in units of its mean: at most `fixed` + Σ mixed·E."""

    fixed: float
    mixed: tuple[float, ...]

    def above(self, x: Floats) -> Floats:
        """P(fixed + Σ mixed·E > x), or more."""
        if not self.mixed:
            return (x < self.fixed).astype(np.float64)
        far = np.maximum(x - self.fixed, 0.0)
        large, *rest = sorted(self.mixed, reverse=True)
        if not rest:
            return np.asarray(np.exp(-far / large))
        (small,) = rest
        large = max(large, small * _APART)
        found = (large * np.exp(-far / large) - small * np.exp(-far / small)) / (large - small)
        return np.asarray(np.minimum(found * _UP, 1.0))


def _fixed(noise: Sequence[tuple[float, bool]], rows: float) -> float:
    """At most this share is not mixed, if the noise is at least this and the variance of rows at most that."""
    whole, mixed = sum(size for size, _ in noise), sum(size for size, is_mixed in noise if is_mixed)
    return (1 - mixed / (rows + whole + 1e-300)) * _UP


def _mixed(far: Sequence[tuple[float, bool]], near: Sequence[tuple[float, bool]], rows: float) -> tuple[float, ...]:
    """The largest shares of Laplace noises between two lists of variances, if the variance of rows is at least this."""
    others = rows + sum(size for size, _ in near)
    pairs = [(most, least) for (most, is_mixed), (least, _) in zip(far, near, strict=True) if is_mixed and most > 0]
    return tuple(most / (others - least + most) * _UP for most, least in pairs)


def _tail(free: int, apart: float, shares: Sequence[_Shares]) -> float:
    """At least P(χ²·(the largest of the variances) ≥ apart), χ² and exponential numbers independent (T10)."""
    from scipy.special import gammaincc

    if not any(one.mixed for one in shares):
        return float(gammaincc(free / 2, apart / 2 / max(one.fixed for one in shares))) * _UP + _ERROR
    beyond = np.minimum(np.sum([one.above(_GRID) for one in shares], axis=0), 1.0)
    masses = np.append(1.0, beyond[:-1]) - beyond  # between a point of the grid and the one before
    tails = gammaincc(free / 2, apart / 2 / _GRID)
    return float((np.maximum(masses, 0.0) * tails).sum() + beyond[-1]) * _UP + _ERROR


def _chi_low(free: float, failing: float) -> float:
    """A number that χ² with so many degrees of freedom is below with at most this probability."""
    from scipy.special import gammaincinv

    return float(2 * gammaincinv(free / 2, failing)) * (1 - 1e-6)
