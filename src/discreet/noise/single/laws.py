"""The exact laws of the noises: masses, tails and the smallest symmetric intervals, certified.

Masses and tails are enclosures (low, high) in doubles, low ≤ truth ≤ high. A half-width is decided, not approximated:
it is the smallest integer w with P(|Y| ≤ w) ≥ coverage, proved by ball arithmetic of as many bits as the decision
needs. All of it depends on public parameters alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.balls import Ball, around, ball, enclosure, negligible, pi_ball, sign
from discreet.exact.gaussian_sums import gaussian_sum, gaussian_tail_sum
from discreet.exact.numbers import Amount, exact
from discreet.exact.precision import with_precision
from discreet.noise._parameters import MOST_SCALE, MOST_SIGMA2, cap_rate, positive
from discreet.noise.bits import Bits
from discreet.noise.single._rough_tails import rough_erfc, rough_gaussian_tails

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Geometric",
    "Law",
    "RoundedGaussian",
    "cdf",
    "check_coverage",
    "check_probability",
    "smallest",
    "tail",
]


class Law(Protocol):
    """The law of one noise Y: integer, symmetric about 0, its mass falling on both sides."""

    def pmf(self, k: int) -> tuple[float, float]:
        """Doubles around P(Y = k)."""

    def tail(self, k: int) -> tuple[float, float]:
        """Doubles around P(|Y| > k), for k ≥ 0."""

    def cdf(self, k: int) -> tuple[float, float]:
        """Doubles around P(Y ≤ k)."""

    def quantile(self, probability: Amount) -> int:
        """The smallest k with P(Y ≤ k) ≥ probability."""

    def half_width(self, coverage: Amount) -> int:
        """The smallest w with P(|Y| ≤ w) ≥ coverage."""

    def rough_tails(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(|Y| > k) in double precision, for k ≥ 0: the error is below 2^-44 P(|Y| > k) + 2^-60."""

    def variance(self) -> float:
        """The variance of Y, rounded up."""

    def sample(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """`size` independent draws."""


class Tailed(Protocol):
    """A law that is symmetric about 0: masses below a number follow from its tails."""

    def tail_ball(self, k: int) -> Ball:
        """P(|Y| > k) as a ball of the working precision, for k ≥ 0."""


class Symmetric(Tailed, Protocol):
    """One whose quantiles are known well enough to be looked for nearby."""

    def quantile_ball(self, beyond: Ball) -> Ball:
        """A real k with a tail of about `beyond`: where to start looking, nothing more."""

    def __hash__(self) -> int:
        """Half-widths are remembered by law."""


def tail(self: Tailed, k: int) -> tuple[float, float]:
    """Doubles around P(|Y| > k), for k ≥ 0."""
    if k < 0:
        raise ArgumentError(f"k={k}: must not be negative")
    return enclosure(lambda: self.tail_ball(k), at_most=1.0)


def cdf(self: Tailed, k: int) -> tuple[float, float]:
    """Doubles around P(Y ≤ k)."""
    return enclosure(lambda: _cdf_ball(self, k), at_most=1.0)


def quantile(self: Symmetric, probability: Amount) -> int:
    """The smallest k with P(Y ≤ k) ≥ probability, for 0 < probability < 1."""
    return _quantile(self, check_probability(probability))


def half_width(self: Symmetric, coverage: Amount) -> int:
    """The smallest w with P(|Y| ≤ w) ≥ coverage, for 0 ≤ coverage < 1."""
    return _half_width(self, check_coverage(coverage))


def _cdf_ball(law: Tailed, k: int) -> Ball:
    return 1 - law.tail_ball(k) / 2 if k >= 0 else law.tail_ball(-k - 1) / 2


def _quantile(law: Symmetric, p: Fraction) -> int:
    """The p-quantile, from the tails by symmetry: left of 0 the first k no longer enough, otherwise the first k enough."""

    def enough(k: int) -> bool:
        return sign(lambda: _cdf_ball(law, k) - ball(p)) > 0

    guess = _nearest(lambda: law.quantile_ball(2 * ball(min(p, 1 - p))))
    if enough(-1):
        return -smallest(lambda j: not enough(-j), max(1, guess)) + 1
    return smallest(enough, max(0, guess))


@lru_cache(maxsize=4096)
def _half_width(law: Symmetric, coverage: Fraction) -> int:
    """The smallest w with tail(w) ≤ 1 - coverage, by an estimate, a bracket around it and certified bisection.

    The tail at an integer is never rational (it is transcendental for the laws at hand), so every comparison is decided
    by enough bits; should one not be by 20,000, it counts as "too large" and the interval is wider, never narrower.
    """
    beyond = 1 - coverage

    def enough(w: int) -> bool:
        return sign(lambda: ball(beyond) - law.tail_ball(w)) > 0

    guess = max(0, _nearest(lambda: law.quantile_ball(ball(beyond))))
    return smallest(enough, guess)


# What a law has by its tails alone is written once, above, and stands in each class by its name.


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """P(Y = k) = (1-q)/(1+q) q^|k| with q = exp(-1/scale); P(|Y| > k) = 2 q^(k+1)/(1+q)."""

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale", most=MOST_SCALE))

    tail, cdf, quantile, half_width = tail, cdf, quantile, half_width

    def pmf(self, k: int) -> tuple[float, float]:
        """Doubles around P(Y = k)."""
        scale = self.scale
        return enclosure(lambda: (1 / (2 * ball(scale))).tanh() * (-ball(abs(k)) / ball(scale)).exp(), at_most=1.0)

    def variance(self) -> float:
        """The variance 1/(2 sinh²(1/(2 scale))), rounded up."""
        return enclosure(lambda: 1 / (2 * (1 / (2 * ball(self.scale))).sinh() ** 2))[1]

    def rough_tails(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(|Y| > k) in double precision; see `Law`."""
        rate = cap_rate(1 / self.scale)
        tails: NDArray[np.float64] = 2 / (1 + np.exp(-rate)) * np.exp((k + 1.0) * -rate)
        return tails

    def sample(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """`size` independent draws."""
        from discreet.noise.single import scalar

        return scalar.discrete_laplace(self.scale, size, bits)

    def tail_ball(self, k: int) -> Ball:
        """P(|Y| > k) as a ball of the working precision."""
        return 2 * (-ball(k + 1) / ball(self.scale)).exp() / (1 + (-1 / ball(self.scale)).exp())

    def quantile_ball(self, beyond: Ball) -> Ball:
        """A real k with a tail of about `beyond`: where to start looking, nothing more."""
        return -ball(self.scale) * beyond.log()


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """P(Y = k) proportional to exp(-k²/(2 sigma2))."""

    sigma2: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma2", positive(self.sigma2, "sigma2", most=MOST_SIGMA2))

    tail, cdf, quantile, half_width = tail, cdf, quantile, half_width

    def pmf(self, k: int) -> tuple[float, float]:
        """Doubles around P(Y = k)."""
        s = self.sigma2
        return enclosure(lambda: (-ball(k * k) / (2 * ball(s))).exp() / gaussian_sum(s), at_most=1.0)

    def variance(self) -> float:
        """The variance Σ k² exp(-k²/(2 sigma2)) / Σ exp(-k²/(2 sigma2)), rounded up."""
        return enclosure(lambda: gaussian_sum(self.sigma2, power=2) / gaussian_sum(self.sigma2))[1]

    def rough_tails(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(|Y| > k) in double precision; see `Law`."""
        return rough_gaussian_tails(self.sigma2, k)

    def sample(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """`size` independent draws."""
        from discreet.noise.single import scalar

        return scalar.discrete_gaussian(self.sigma2, size, bits)

    def tail_ball(self, k: int) -> Ball:
        """P(|Y| > k) as a ball of the working precision."""
        return 2 * gaussian_tail_sum(self.sigma2, k + 1) / gaussian_sum(self.sigma2)

    def quantile_ball(self, beyond: Ball) -> Ball:
        """A real k with a tail of about `beyond`: where to start looking, nothing more."""
        return (2 * ball(self.sigma2)).sqrt() * (1 - beyond).erfinv()


@dataclass(frozen=True, slots=True)
class RoundedGaussian:
    """Y = round(N(0, sigma2)): P(|Y| > k) = erfc((k + 1/2)/sqrt(2 sigma2))."""

    sigma2: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma2", positive(self.sigma2, "sigma2", most=MOST_SIGMA2))

    tail, cdf, quantile, half_width = tail, cdf, quantile, half_width

    def pmf(self, k: int) -> tuple[float, float]:
        """Doubles around P(Y = k) = Φ((|k| + 1/2)/σ) - Φ((|k| - 1/2)/σ)."""
        size = abs(k)
        if size == 0:
            return enclosure(lambda: self._edge(0).erf(), at_most=1.0)
        return enclosure(lambda: (self._edge(size - 1).erfc() - self._edge(size).erfc()) / 2, at_most=1.0)

    def variance(self) -> float:
        """The variance of the rounded value, rounded up.

        For s = sigma2 ≥ 1 as s + 1/12 + Σ_{m≥1} (-1)^m e^{-2π²m²s} (4s + 1/(π²m²)), by Poisson summation;
        for s < 1 as Σ_{k≥0} (2k+1) P(|Y| > k).
        """
        return enclosure(self._variance)[1]

    def rough_tails(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(|Y| > k) in double precision; see `Law`."""
        return rough_erfc((2.0 * k + 1) * cap_rate(1 / (8 * self.sigma2)) ** 0.5)

    def sample(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """`size` independent draws."""
        from discreet.noise.single import scalar

        return scalar.rounded_gaussian(self.sigma2, size, bits)

    def _edge(self, k: int) -> Ball:
        return ball(2 * k + 1) / (8 * ball(self.sigma2)).sqrt()

    def tail_ball(self, k: int) -> Ball:
        """P(|Y| > k) as a ball of the working precision."""
        return self._edge(k).erfc()

    def quantile_ball(self, beyond: Ball) -> Ball:
        """A real k with a tail of about `beyond`: where to start looking, nothing more."""
        return (2 * ball(self.sigma2)).sqrt() * (1 - beyond).erfinv()

    def _variance(self) -> Ball:
        return _rounded_variance(self)


def _rounded_variance(law: RoundedGaussian) -> Ball:
    """See `RoundedGaussian.variance`. From `falling` on a term is below half of the last: so is all that is left out."""
    s = ball(law.sigma2)
    total = ball(0) if law.sigma2 < 1 else s + ball(Fraction(1, 12))
    small = negligible()
    m, falling = (0, 2) if law.sigma2 < 1 else (1, 1)
    while True:
        if law.sigma2 < 1:
            term = (2 * m + 1) * law.tail_ball(m)
        else:
            square = (pi_ball() * m) ** 2
            term = (-1) ** m * (-2 * square * s).exp() * (4 * s + 1 / square)
        if m >= falling and not abs(term) >= small * abs(total):  # also where both are too small to tell from 0
            return total + around(0, 2 * abs(term).upper())
        total += term
        m += 1


@dataclass(frozen=True, slots=True)
class Geometric:
    """P(Y = k) = (1 - q) q^k for k ≥ 0, with q = exp(-1/scale); P(Y > k) = q^(k+1)."""

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale", most=MOST_SCALE))

    def pmf(self, k: int) -> tuple[float, float]:
        """Doubles around P(Y = k)."""
        if k < 0:
            return 0.0, 0.0
        rate = 1 / self.scale
        return enclosure(lambda: -(-ball(rate)).expm1() * (-ball(k * rate)).exp(), at_most=1.0)

    def cdf(self, k: int) -> tuple[float, float]:
        """Doubles around P(Y ≤ k)."""
        if k < 0:
            return 0.0, 0.0
        return enclosure(lambda: self._cdf_ball(k), at_most=1.0)

    def quantile(self, probability: Amount) -> int:
        """The smallest k with P(Y ≤ k) ≥ probability, for 0 < probability < 1."""
        p = check_probability(probability)
        guess = _nearest(lambda: -ball(self.scale) * ball(1 - p).log())
        return smallest(lambda k: sign(lambda: self._cdf_ball(k) - ball(p)) > 0, max(0, guess))

    def variance(self) -> float:
        """The variance 1/(4 sinh²(1/(2 scale))), rounded up."""
        return enclosure(lambda: 1 / (4 * (1 / (2 * ball(self.scale))).sinh() ** 2))[1]

    def sample(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """`size` independent draws."""
        from discreet.noise.single import scalar

        return scalar.geometric(self.scale, size, bits)

    def _cdf_ball(self, k: int) -> Ball:
        return -(-ball((k + 1) / self.scale)).expm1()


def smallest(enough: Callable[[int], bool], guess: int) -> int:
    """The smallest w ≥ 0 with `enough(w)`, which is monotone in w, starting from `guess`."""
    step = 1
    if enough(guess):
        high, low = guess, guess - step
        while low >= 0 and enough(low):
            high, step = low, 2 * step
            low = high - step
        low = max(low, -1)
    else:
        low, high = guess, guess + step
        while not enough(high):
            low, step = high, 2 * step
            high = low + step
    while high - low > 1:  # low is not enough (or -1), high is
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _nearest(real: Callable[[], Ball]) -> int:
    """An integer near the number `real()` encloses."""

    def below() -> int:
        x = real()
        return int(x.mid().floor().unique_fmpz()) if x.is_finite() else 0

    return with_precision(160, below)


def check_coverage(coverage: Amount) -> Fraction:
    """The exact coverage, which is in [0, 1)."""
    value = exact(coverage, "coverage")
    if not 0 <= value < 1:
        raise ArgumentError(f"coverage={coverage!r}: must lie in [0, 1); no finite interval covers everything")
    return value


def check_probability(probability: Amount) -> Fraction:
    """The exact probability, which is strictly between 0 and 1."""
    value = exact(probability, "probability")
    if not 0 < value < 1:
        raise ArgumentError(f"probability={probability!r}: must lie strictly between 0 and 1")
    return value
