"""The sum of many independent noises with real weights: a half-width in closed form.

A rounded Gaussian is a normal number plus the error of rounding it, which is symmetric and at most 1/2. The normal parts add
up to a normal number; by Hoeffding's inequality the errors add up to at most √(ln(2/δ)/2)·‖c‖ but with probability δ. Sums
of discrete Laplace noises have a bound from their moments, in which one of them may have its own tail. Proofs:
docs/proofs/noise.md, "Weighted sums of noises".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log

import numpy as np
from numpy.typing import NDArray

from discreet.exact.balls import ball, enclose, upper_rational
from discreet.exact.numbers import float_down, sqrt_up
from discreet.noise.single.laws import DiscreteLaplace

__all__ = [
    "Alone",
    "Bounded",
    "factors_of_rounded",
    "half_width_of_laplace",
    "half_width_of_rounded",
    "half_width_within",
]

_ROUNDING = Fraction(1, 1000)  # of the probability of a miss, for what rounding adds
_UP = 1 + 1e-9  # covers the rounding of a few thousand operations, none of which cancels
_NEAR = 1e-11  # the same for sums that may be near 0
_STEPS = 60
_LEAST = 1e-200  # a variance below it is that of noise that is hardly ever there
_MOST = 100.0  # sinh is beyond every double from 700 on

Floats = NDArray[np.float64]


# Rounded Gaussians --------------------------------------------------------------------------------------------------------


def half_width_of_rounded(variance: Fraction, squares: Fraction, level: Fraction) -> Fraction:
    """An h with P(|Σ c Y| ≤ h) ≥ level for independent rounded Gaussians with Σ c² σ² ≤ variance and Σ c² ≤ squares."""
    beyond = 1 - level
    rounding = beyond * _ROUNDING
    return sqrt_up(variance) * _normal_quantile(beyond - rounding) + sqrt_up(squares * _log_up(2 / rounding) / 2)


def factors_of_rounded(level: Fraction) -> tuple[Fraction, Fraction]:
    """The z and h with which z·√(Σ c² σ²) + h·√(Σ c²) is `half_width_of_rounded`, rounded up."""
    beyond = 1 - level
    rounding = beyond * _ROUNDING
    return _normal_quantile(beyond - rounding), sqrt_up(_log_up(2 / rounding) / 2)


@lru_cache(maxsize=256)
def _normal_quantile(beyond: Fraction) -> Fraction:
    """At least the z with P(|N(0, 1)| > z) = beyond."""
    return upper_rational(enclose(lambda: ball(2).sqrt() * (1 - ball(beyond)).erfinv()))


@lru_cache(maxsize=256)
def _log_up(value: Fraction) -> Fraction:
    return upper_rational(enclose(lambda: ball(value).log()))


# Discrete Laplace ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bounded:
    """Independent noises of one law with weights c.

    Args:
        law: the law.
        largest: at least every |c|.
        squares: at least Σ c².
    """

    law: DiscreteLaplace
    largest: float
    squares: float


@dataclass(frozen=True, slots=True)
class Alone:
    """One further noise, whose weight is positive.

    Args:
        law: its law.
        least: its weight is at least this, but for the rounding of doubles.
        most: at most this, but for the rounding of doubles.
    """

    law: DiscreteLaplace
    least: float
    most: float


def half_width_of_laplace(parts: Sequence[Bounded], alone: Alone | None, level: Fraction) -> Fraction:
    """An h with P(|Σ c Y| ≤ h) ≥ level; 0 for no noise.

    It is the least over a grid of t > 0 of (ln B + Σ ln M(ct) + ln(1/β))/t, each of which is one: M(s) = E e^(sY), and B is
    2, or 2 sup e^(tx) P(cY > x) of the noise that is alone.
    """
    some = [one for one in parts if one.largest > 0 and one.squares > 0]
    squares = np.array([one.squares for one in some])
    variances = np.array([_UP * one.law.variance() for one in some])
    largest = np.minimum([one.largest for one in some], _UP * np.sqrt(squares))
    if not some and alone is None:
        return Fraction(0)

    def moments(t: Floats) -> Floats:
        return np.asarray((_UP * squares / largest**2) @ _log_moments(variances, largest, t))

    return _least(moments, alone, float((variances * squares).sum()), float(largest.max(initial=0)), level)


def half_width_within(
    parts: Sequence[tuple[DiscreteLaplace, float]], variance: float, alone: Alone | None, level: Fraction
) -> Fraction:
    """An h with P(|Σ c Y| ≤ h) ≥ level, where of many noises only the sum of their variances is known.

    Args:
        parts: laws, each with at least the size of every weight of its noises.
        variance: at least Σ 2 scale² c² of all these.
        alone: a further noise.
        level: of the interval.
    """
    variances = np.array([_UP * law.variance() for law, _ in parts])
    spreads = np.array([2 * float(law.scale) ** 2 for law, _ in parts])
    largest = np.minimum([one for _, one in parts], _UP * np.sqrt(variance / spreads))
    largest = np.maximum(largest, _LEAST)

    def moments(t: Floats) -> Floats:
        # All of the variance is where it adds the most.
        each = _log_moments(variances, largest, t) / (spreads * largest**2)[:, None]
        return np.asarray(_UP * variance * each.max(axis=0))

    return _least(moments, alone, variance, float(largest.max()), level)


def _least(
    moments: Callable[[Floats], Floats], alone: Alone | None, variance: float, largest: float, level: Fraction
) -> Fraction:
    """The least bound over a grid of t.

    Args:
        moments: at least Σ ln M(ct).
        alone: a further noise.
        variance: about that of the others.
        largest: of their weights.
        level: of the interval.
    """
    beyond = float_down(1 - level)
    spread = variance + (0.0 if alone is None else alone.law.variance() * alone.most**2)
    t = np.sqrt(-2 * np.log(beyond / 2) / max(spread, _LEAST)) * 2.0 ** (np.arange(-_STEPS, _STEPS) / 10)
    t = np.minimum(t, _MOST / 2 / max(largest, _LEAST))
    tail = np.full(len(t), log(2))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        if alone is not None:
            most = float_down(1 / Fraction(alone.most) / alone.law.scale) / _UP
            t = np.concatenate([np.minimum(t, most), most * np.arange(1, _STEPS + 1) / _STEPS])
            tail = _tails(alone, t)
        found = _UP * (tail + moments(t) - np.log(beyond) + _NEAR) / t
    return Fraction(float(np.min(found[np.isfinite(found)])))


def _log_moments(variances: Floats, largest: Floats, t: Floats) -> Floats:
    """At least ln M(ct) of each law at its largest weight, for each t; ∞ where it is not finite.

    M(s) = 1/(1 - variance·(cosh s - 1)), and cosh s - 1 = 2 sinh²(s/2). ln M(ct) is convex in c², so that weights of at
    most m have together at most Σ c²/m² times the one of m.
    """
    reach = largest[:, None] * t
    parts = _UP * variances[:, None] * 2 * np.sinh(np.minimum(reach, _MOST) / 2) ** 2
    found = np.where((reach < _MOST) & (parts < 1), -np.log1p(-np.minimum(parts, 0.5 + parts / 2)), np.inf)
    return np.asarray(_UP * found)


def _tails(alone: Alone, t: Floats) -> Floats:
    """At least ln(2 sup over x of e^(tx) P(cY > x)), for t up to 1/(c·scale).

    With q = e^(-1/scale) and s = t·c·scale ≤ 1 it is 2/(1 + q); or 2 z^s/(1 + s) at z = s(1 + q)/((1 + s) q) below 1. It
    falls with s, so that the least weight bounds it.
    """
    q = float(np.exp(-1 / float(alone.law.scale)))
    s = np.minimum(t * (alone.least * float(alone.law.scale)), 1.0)
    z = np.minimum(s * (1 + q) / ((1 + s) * q), 1.0)
    inside = np.log(2) - np.log1p(s) + s * np.log(z)
    return np.asarray(np.where(z < 1, inside, np.log(2) - np.log1p(q)))
