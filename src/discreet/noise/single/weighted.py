"""The sum of many independent noises with rational weights: a half-width in closed form.

A rounded Gaussian is a normal number plus the error of rounding it, which is symmetric and at most 1/2. The normal parts add
up to a normal number; by Hoeffding's inequality the errors add up to at most √(ln(2/δ)/2)·‖c‖ but with probability δ. Sums
of discrete Laplace noises have Chernoff's bound. Proofs: docs/proofs/noise.md, "Weighted sums of noises".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, log, log1p, sinh, sqrt

from discreet.errors import InternalError
from discreet.exact.balls import ball, enclose, upper_rational
from discreet.exact.numbers import float_down, float_up, sqrt_up
from discreet.noise.single.laws import DiscreteLaplace, Law, RoundedGaussian

__all__ = ["Weighted", "factors_of_rounded", "half_width_of_rounded", "half_width_of_weighted", "variance_of_weighted"]

_ROUNDING = Fraction(1, 1000)  # of the probability of a miss, for what rounding adds
_UP = 1 + 1e-9  # covers the rounding of a few thousand operations, none of which cancels
_TRIES = 60
_MOST = 100.0  # sinh is beyond every double from 700 on


@dataclass(frozen=True, slots=True)
class Weighted:
    """Independent noises of one law with the weights of a sum.

    Args:
        law: a rounded Gaussian or a discrete Laplace.
        weights: the sizes of the weights, each with the number of noises that have it.
    """

    law: Law
    weights: tuple[tuple[Fraction, int], ...]

    @property
    def squares(self) -> Fraction:
        """Σ c²."""
        return sum((many * one * one for one, many in self.weights), Fraction(0))


def variance_of_weighted(parts: Sequence[Weighted]) -> float:
    """The variance of the sum, rounded up."""
    return float_up(sum((Fraction(one.law.variance()) * one.squares for one in parts), Fraction(0)))


def half_width_of_weighted(parts: Sequence[Weighted], level: Fraction) -> Fraction:
    """An h with P(|Σ c Y| ≤ h) ≥ level; 0 for no noise.

    Raises:
        InternalError: another law.
    """
    normal = [one for one in parts if isinstance(one.law, RoundedGaussian)]
    laplace = [one for one in parts if isinstance(one.law, DiscreteLaplace)]
    if len(normal) + len(laplace) < len(parts):
        raise InternalError("weighted sums are of rounded Gaussian or discrete Laplace noise")
    beyond = (1 - level) / (2 if normal and laplace else 1)  # Boole's inequality
    return (_normal(normal, beyond) if normal else Fraction(0)) + (_laplace(laplace, beyond) if laplace else Fraction(0))


def _normal(parts: Sequence[Weighted], beyond: Fraction) -> Fraction:
    variance = sum((one.law.sigma2 * one.squares for one in parts if isinstance(one.law, RoundedGaussian)), Fraction(0))
    return half_width_of_rounded(variance, sum((one.squares for one in parts), Fraction(0)), 1 - beyond)


def half_width_of_rounded(variance: Fraction, squares: Fraction, level: Fraction) -> Fraction:
    """`half_width_of_weighted` of rounded Gaussians with Σ c² σ² = variance and Σ c² = squares."""
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


def _laplace(parts: Sequence[Weighted], beyond: Fraction) -> Fraction:
    """The least of Chernoff's bounds over a grid of t: each of them is one."""
    found = [(_UP * one.law.variance(), [(float_up(c), many) for c, many in one.weights]) for one in parts]
    spread = sum(variance * many * c * c for variance, weights in found for c, many in weights)
    wanted = _UP * (log(2) - log(float_down(beyond)))
    middle = sqrt(2 * wanted / spread)
    return Fraction(min(_chernoff(found, wanted, middle * 2.0 ** ((step - _TRIES) / 10)) for step in range(2 * _TRIES)))


def _chernoff(found: Sequence[tuple[float, Sequence[tuple[float, int]]]], wanted: float, t: float) -> float:
    """(Σ ln M(ct) + ln(2/β))/t, where E e^(tY) = 1/(1 - variance·(cosh t - 1)) and cosh t - 1 = 2 sinh²(t/2)."""
    total = wanted
    for variance, weights in found:
        for c, many in weights:
            if c * t > _MOST:
                return inf
            part = _UP * variance * 2 * sinh(c * t / 2) ** 2
            if part >= 1:
                return inf
            total -= many * log1p(-part)
    return _UP * total / t
