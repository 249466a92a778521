"""The laws as the block-envelope sampler sees them: weights in floating point, as balls, and how they fall.

A `Weights` describes a law on the integers by numbers p(x) proportional to its masses, p(x) ≤ 1, non-increasing in |x|:

* `rough(x)`: p(x) in double precision for every x of the blocks, with a relative error below 2^-41 where p(x) ≥ 2^-1000
  (docs/proofs/noise.md, "Rounding errors"; assuming only that np.exp errs by less than 64 units in the last place);
* `ball(x)`: p(x) enclosed, at any integer x;
* `fall(t)`: a rational r with p(x + 1) ≤ p(x) exp(-1/r) for all |x| ≥ t, away from 0;
* `shift`, `reach`: blocks have width 2^shift and cover [-reach, reach) · 2^shift, or [0, reach) · 2^shift if one-sided.

One table can serve a family of laws: `most` and `least` bound their weights at x (in double precision, as `rough`), and
`tail_most` at the start of a tail. For a single law all of them are p.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, factorial, isqrt

import numpy as np
from numpy.typing import NDArray

from discreet.exact.balls import Ball, ball, enclosure, pi_ball
from discreet.noise._parameters import cap_rate

__all__ = ["Weights", "centred_weights", "gaussian", "geometric", "laplace", "rounded_weights"]

Reals = NDArray[np.float64]

_GAUSSIAN_REACH = Fraction(6)  # in σ: the tail cells beyond hold 2e-9 of the mass
_GAUSSIAN_BLOCKS = 48  # at least this many blocks per σ, once σ is this large
_LAPLACE_REACH = 15  # in scales: the tail cells beyond hold 3e-7 of the mass
_LAPLACE_BLOCKS = 32
_SERIES_FROM = 64  # σ² from which the midpoint series stands for the rounded Gaussian
_SERIES_TERMS = 7


@dataclass(frozen=True, slots=True)
class Weights:
    """One law or one family of laws, unnormalised. See the module."""

    rough: Callable[[Reals], Reals]
    ball: Callable[[int | Fraction], Ball]
    fall: Callable[[int], Fraction]
    shift: int
    reach: int
    sides: int = 2
    family: Family | None = None

    def most(self, x: Reals) -> Reals:
        """An upper bound of the weights at x, up to the error of `rough`."""
        return self.rough(x) if self.family is None else self.family.most(x)

    def least(self, x: Reals) -> Reals:
        """A lower bound of the weights at x, up to the error of `rough`."""
        return self.rough(x) if self.family is None else self.family.least(x)

    def tail_most(self, start: int) -> Ball:
        """An upper bound of the weights at ±start."""
        return self.ball(start) if self.family is None else self.family.tail_most(start)


@dataclass(frozen=True, slots=True)
class Family:
    """Bounds of the weights of all members of a family of laws."""

    most: Callable[[Reals], Reals]
    least: Callable[[Reals], Reals]
    tail_most: Callable[[int], Ball]


def laplace(scale: Fraction) -> Weights:
    """p(x) = exp(-|x|/scale)."""
    rate = cap_rate(1 / scale)
    shift = _shift(scale / _LAPLACE_BLOCKS)

    def exact(x: int | Fraction) -> Ball:
        return (-ball(_size(x)) / ball(scale)).exp()

    return Weights(
        rough=lambda x: np.exp(np.abs(x) * -rate),
        ball=exact,
        fall=lambda _t: scale,
        shift=shift,
        reach=max(1, ceil(_LAPLACE_REACH * scale / (1 << shift))),
    )


def geometric(scale: Fraction) -> Weights:
    """p(x) = exp(-x/scale) for x ≥ 0."""
    return replace(laplace(scale), sides=1)


def gaussian(sigma2: Fraction) -> Weights:
    """p(x) = exp(-x²/(2 sigma2)). From x to x + 1 it falls by exp(-(2x + 1)/(2 sigma2)) ≤ exp(-x/sigma2)."""
    curvature = cap_rate(1 / (2 * sigma2))
    shift, reach = _gaussian_blocks(sigma2)
    return Weights(
        rough=lambda x: np.exp(x * x * -curvature),
        ball=lambda x: (-ball(x * x) / (2 * ball(sigma2))).exp(),
        fall=lambda t: sigma2 / t,
        shift=shift,
        reach=reach,
    )


def centred_weights(sigma2: Fraction, low: float, high: float) -> Weights:
    """The family p_f(x) = exp(-((x - f)² - f²)/(2 sigma2)), -1/2 ≤ low ≤ f ≤ high ≤ 1/2: discrete Gaussians about f.

    `rough` and `ball` take q = x(x - 2f) in the place of x. From x to x + 1, x ≥ 0, the weights fall by
    exp(-(2x + 1 - 2f)/(2 sigma2)) ≤ exp(-x/sigma2), and likewise to the left. So p_f(0) = 1 is the largest.
    """
    curvature = cap_rate(1 / (2 * sigma2))
    shift, reach = _gaussian_blocks(sigma2)

    def exact(q: int | Fraction) -> Ball:
        return (-ball(q) / (2 * ball(sigma2))).exp()

    return Weights(
        rough=lambda q: np.exp(q * -curvature),
        ball=exact,
        fall=lambda t: sigma2 / t,
        shift=shift,
        reach=reach + 1,
        family=Family(
            most=lambda x: np.exp(x * (x - 2 * np.where(x > 0, high, low)) * -curvature),
            least=lambda x: np.exp(x * (x - 2 * np.where(x > 0, low, high)) * -curvature),
            tail_most=lambda start: exact(start * (start - 1)),
        ),
    )


def rounded_weights(sigma2: Fraction) -> Weights:
    """p(x) = ∫ exp(-u²/(2 sigma2)) du over [x - 1/2, x + 1/2]; where the weights are listed, divided by σ√(2π).

    Over this interval the integrand falls from u to u + 1 by exp(-(2u + 1)/(2 sigma2)) ≤ exp(-x/sigma2), so p does.
    """
    shift, reach = _gaussian_blocks(sigma2)
    listed = sigma2 < _SERIES_FROM

    def exact(x: int | Fraction) -> Ball:
        root, twice = (8 * ball(sigma2)).sqrt(), 2 * _size(x)
        edges = (ball(twice - 1) / root).erfc() - (ball(twice + 1) / root).erfc()
        return edges / 2 if listed else edges * (pi_ball() * ball(sigma2) / 2).sqrt()

    rough = _list_weights(exact, reach) if listed else _midpoint_series(sigma2)
    return Weights(rough, exact, lambda t: sigma2 / t, shift, reach)


def _list_weights(exact: Callable[[int | Fraction], Ball], reach: int) -> Callable[[Reals], Reals]:
    """If blocks are single integers and few, every weight is computed once from its enclosure."""
    values = np.array([enclosure(lambda x=x: exact(x))[1] for x in range(reach + 1)])  # type: ignore[misc]
    return lambda x: values[np.abs(x).astype(np.intp)]


def _midpoint_series(sigma2: Fraction) -> Callable[[Reals], Reals]:
    """∫ exp(-(x+y)²/2s) dy over [-1/2, 1/2] as exp(-x²/2s) times a polynomial in x²: no difference of nearly equal Φ.

    With t = x/σ and h = 1/σ it is Σ_j He_2j(t) h^2j / ((2j+1)! 4^j). The terms left out are below 2^-60 for |t| ≤ 6.6 and
    sigma2 ≥ 64 (docs/proofs/noise.md, "The midpoint series"). The coefficient of x^2i is an exact rational.
    """
    exact = [Fraction(0)] * _SERIES_TERMS
    for j in range(_SERIES_TERMS):
        for i, hermite in enumerate(_even_hermite(j)):
            exact[i] += hermite / (factorial(2 * j + 1) * 4**j) / sigma2 ** (j + i)
    scaled = [float(c) for c in exact]
    curvature = cap_rate(1 / (2 * sigma2))

    def rough(x: Reals) -> Reals:
        square = x * x
        series = np.full_like(x, scaled[-1])
        for coefficient in reversed(scaled[:-1]):
            series *= square
            series += coefficient
        square *= -curvature
        return np.exp(square, out=square) * series

    return rough


def _even_hermite(j: int) -> list[Fraction]:
    """The coefficients of 1, t², t⁴, … in He_2j."""
    n = 2 * j
    return [
        Fraction((-1) ** (j - i) * factorial(n), factorial(j - i) * factorial(2 * i) * 2 ** (j - i)) for i in range(j + 1)
    ]


def _gaussian_blocks(sigma2: Fraction) -> tuple[int, int]:
    shift = _shift(Fraction(isqrt(int(sigma2 * 10**12)), 10**6 * _GAUSSIAN_BLOCKS))
    # Any reach is exact: it only moves mass between blocks and tail cells.
    return shift, max(1, isqrt(int(_GAUSSIAN_REACH**2 * sigma2 / (1 << 2 * shift))) + 1)


def _shift(width: Fraction) -> int:
    """The largest k ≥ 0 with 2^k ≤ width, or 0."""
    return max(0, int(width).bit_length() - 1)


def _size(x: int | Fraction) -> int | Fraction:
    return x if x >= 0 else -x
