"""Exact privacy profiles δ(ε) of integer noise, rounded up: discrete Laplace, rounded Gaussian, discrete Gaussian.

The noise X has a log-concave law on the integers and is added to an integer whose value differs by at most `sensitivity`
between neighbours. Then the likelihood ratio of X + s and X is monotone, the best test is a threshold, and the largest
shift is the worst (Theorem D1 in docs/proofs/privacy.md):

    δ(ε) = max over integers m of P(X ≥ m − sensitivity) − e^ε P(X ≥ m).

Every m gives a lower bound and the maximum is attained next to a closed-form place, so both sides are certain.

What the sensitivity measures: for the Laplace law the change in the L1 norm, in any dimension (a vector that moves by k
in L1 is dominated by one number that moves by k, Theorem D2). For the two Gaussian laws one number; in more dimensions
use GDP or ZCDP (`guarantee`), because the profile of a discrete Gaussian vector is not a function of its L2 norm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from discreet.errors import ArgumentError
from discreet.exact.balls import Ball, ball, enclose, upper
from discreet.exact.gaussian_sums import gaussian_sum, gaussian_tail_sum
from discreet.exact.numbers import Amount, decimal_up, exact, float_down, float_up, sqrt_up, text
from discreet.privacy import convert
from discreet.privacy._checks import not_negative, positive
from discreet.privacy._search import first_below
from discreet.privacy.measures import GDP, ZCDP, PureDP

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "IntegerNoise", "RoundedGaussian"]

MOST_EPSILON = Fraction(10**6)
_WIDEST = Fraction(10**100)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """P(X = k) ∝ exp(−|k|/scale), added to integers that move by at most `sensitivity` in L1: (sensitivity/scale)-DP."""

    scale: Fraction
    sensitivity: int

    def __init__(self, scale: Amount, sensitivity: int = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", check_sensitivity(sensitivity))

    @property
    def guarantee(self) -> PureDP:
        """The pure guarantee ε = sensitivity/scale."""
        return PureDP(self.sensitivity / self.scale)

    def delta_at(self, epsilon: Amount) -> float:
        """The exact δ at this ε, rounded up; exactly 0 from ε = sensitivity/scale on."""
        at = not_negative(epsilon, "epsilon")
        if at >= self.sensitivity / self.scale:
            return 0.0
        # The loss at y is (2y − sensitivity)/scale between the two ends: it exceeds ε first at this integer.
        first = (at * self.scale + self.sensitivity) / 2 // 1 + 1
        return _largest(self._tail, self.sensitivity, at, [int(first)])

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε at this δ, rounded up and verified."""
        return _smallest_epsilon(self.delta_at, delta, float_up(self.guarantee.epsilon))

    def _tail(self, m: int) -> Ball:
        """P(X ≥ m) = r^m/(1 + r) for m ≥ 0, r = e^(−1/scale)."""
        r = (-1 / ball(self.scale)).exp()
        power = (-abs(m if m > 0 else 1 - m) / ball(self.scale)).exp() / (1 + r)
        return power if m > 0 else 1 - power


@dataclass(frozen=True, slots=True)
class RoundedGaussian:
    """X = round(N(0, sigma2)), added to one integer that moves by at most `sensitivity`."""

    sigma2: Fraction
    sensitivity: int

    def __init__(self, sigma2: Amount, sensitivity: int = 1) -> None:
        object.__setattr__(self, "sigma2", positive(sigma2, "sigma2"))
        object.__setattr__(self, "sensitivity", check_sensitivity(sensitivity))

    @property
    def guarantee(self) -> GDP:
        """μ-GDP with μ = sensitivity/σ, by post-processing of the Gaussian; true in every dimension for the L2 norm."""
        return GDP(sqrt_up(self.sensitivity**2 / self.sigma2))

    def delta_at(self, epsilon: Amount) -> float:
        """The exact δ at this ε, rounded up; below the δ of the unrounded Gaussian."""
        at = not_negative(epsilon, "epsilon")
        # P(X ≥ m) is the Gaussian tail at m − 1/2, whose best threshold is εσ²/sensitivity + sensitivity/2.
        best = at * self.sigma2 / self.sensitivity + Fraction(self.sensitivity + 1, 2)
        if _is_far(best - self.sensitivity - 2, self.sigma2):
            return 5e-324
        return _largest(self._tail, self.sensitivity, at, [int(best // 1), int(best // 1) + 1])

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε at this δ, rounded up and verified."""
        return _smallest_epsilon(self.delta_at, delta, _epsilon_of(self.guarantee, delta))

    def _tail(self, m: int) -> Ball:
        return (ball(Fraction(2 * m - 1, 2)) / ball(2 * self.sigma2).sqrt()).erfc() / 2


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """P(X = k) ∝ exp(−k²/2 sigma2), added to one integer that moves by at most `sensitivity`. Not μ-GDP."""

    sigma2: Fraction
    sensitivity: int

    def __init__(self, sigma2: Amount, sensitivity: int = 1) -> None:
        object.__setattr__(self, "sigma2", positive(sigma2, "sigma2"))
        object.__setattr__(self, "sensitivity", check_sensitivity(sensitivity))

    @property
    def guarantee(self) -> ZCDP:
        """ρ-zCDP with ρ = sensitivity²/2 sigma2; true in every dimension for the L2 norm."""
        return ZCDP(self.sensitivity**2 / (2 * self.sigma2))

    def delta_at(self, epsilon: Amount) -> float:
        """The exact δ at this ε, rounded up."""
        at = not_negative(epsilon, "epsilon")
        if self.sigma2 > _WIDEST:
            raise ArgumentError(
                f"sigma2={decimal_up(self.sigma2)}: the exact profile is computed up to 1e100; use the zCDP guarantee"
            )
        # The loss at y is (2y − sensitivity)·sensitivity/2σ².
        first = at * self.sigma2 / self.sensitivity + Fraction(self.sensitivity, 2)
        if _is_far(first - self.sensitivity - 1, self.sigma2):
            return 5e-324
        return _largest(self._tail, self.sensitivity, at, [int(first // 1) + 1])

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε at this δ, rounded up and verified."""
        return _smallest_epsilon(self.delta_at, delta, _epsilon_of(self.guarantee, delta))

    def _tail(self, m: int) -> Ball:
        beyond = gaussian_tail_sum(self.sigma2, m if m > 0 else 1 - m) / gaussian_sum(self.sigma2)
        return beyond if m > 0 else 1 - beyond


IntegerNoise = DiscreteLaplace | RoundedGaussian | DiscreteGaussian


def check_sensitivity(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ArgumentError(f"sensitivity={value!r}: must be an integer of at least 1")
    return value


def _is_far(place: Fraction, sigma2: Fraction) -> bool:
    """True if P(X ≥ place) ≤ exp(−place²/2σ²) is below every double; both Gaussian laws have this bound."""
    return place > 0 and place**2 > 1600 * sigma2


def _largest(tail: Callable[[int], Ball], shift: int, epsilon: Fraction, places: list[int]) -> float:
    """Max P(X ≥ m − shift) − e^ε P(X ≥ m) over the thresholds m of which one is the best for ε, rounded up."""
    epsilon = min(epsilon, MOST_EPSILON)  # far beyond any useful ε; every threshold gives more for a smaller ε

    def at(m: int) -> float:
        return upper(enclose(lambda: tail(m - shift) - ball(epsilon).exp() * tail(m)))

    return min(1.0, max(map(at, places)))


def _epsilon_of(guarantee: GDP | ZCDP, delta: Amount) -> float:
    chance = exact(delta, "delta")
    if isinstance(guarantee, GDP):
        return convert.gaussian_epsilon(guarantee.mu, chance)
    return convert.zcdp_epsilon(guarantee.rho, chance)


def _smallest_epsilon(profile: Callable[[Amount], float], delta: Amount, most: float) -> float:
    chance = exact(delta, "delta")
    if not 0 <= chance < 1:
        raise ArgumentError(f"delta={text(chance)}: must be at least 0 and less than 1")
    target = float_down(chance)
    if target == 0 or most == inf or profile(Fraction(most)) > target:
        return most  # sound by the guarantee, also where ε is so large that the profile no longer follows
    return first_below(lambda epsilon: profile(Fraction(epsilon)), target, 0.0, most)
