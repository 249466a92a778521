"""Profiles δ(ε) after sampling: BBG18 Theorems 8 and 9 (S1) for any profile, R1 and R2 for Gaussian and Laplace noise.

R1 and R2 bound δ by sums Σ w_k δ_k(α_k) over how many copies k are in the sample, for *every* choice of slopes α_k that
meets a linear condition. The search for good slopes may therefore be approximate; the sum over the chosen ones, with the
condition met exactly, is evaluated in interval arithmetic and is a bound. See docs/proofs/privacy.md, R1 and R2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from discreet.errors import unreachable
from discreet.exact.balls import Ball, ball, enclose, lower_rational, upper
from discreet.exact.numbers import Amount, float_down, float_up
from discreet.privacy import _gaussian, _slopes
from discreet.privacy._checks import check_delta, not_negative
from discreet.privacy._copies import Law, epsilon_up
from discreet.privacy._search import first_below
from discreet.privacy.calculus.profile import DiscreteLaplace
from discreet.privacy.measures import GDP, ApproxDP, PureDP

__all__ = ["GaussianSample", "Profile", "Resampled", "Sampled", "largest_mu"]

_MOST_EPSILON = Fraction(10**6)  # beyond, δ(ε) is replaced by δ(10⁶), which is larger


class Profile(Protocol):
    """Anything with a certified upper bound of δ(ε) and its inverse."""

    def delta_at(self, epsilon: Amount) -> float:
        """An upper bound of δ."""

    def epsilon_at(self, delta: Amount) -> float:
        """An upper bound of ε."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """The profile of a mechanism on a sample of the given rate: δ'(log(1 + rate(e^ε − 1))) = rate·δ(ε)."""

    inner: Profile
    rate: Fraction

    def delta_at(self, epsilon: Amount) -> float:
        """δ' at this ε', rounded up."""
        at = not_negative(epsilon, "epsilon")
        if self.rate == 0:
            return 0.0
        return float_up(self.rate * Fraction(self.inner.delta_at(self._inner_epsilon(at))))

    def _inner_epsilon(self, at: Fraction) -> Fraction:
        """log(1 + (e^ε' − 1)/rate), rounded down; beyond 1000 it is replaced by ε' itself, which is smaller."""
        if at == 0 or at >= 1000:
            return at

        def compute() -> Ball:
            odds = ball(at).expm1() / ball(self.rate)
            return odds.log1p()

        return lower_rational(enclose(compute))

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε' at this δ', rounded up."""
        chance = check_delta(delta)
        if chance >= self.rate:
            return 0.0
        inner = self.inner.epsilon_at(chance / self.rate)
        if inner == float("inf"):
            return inner
        return float_up(epsilon_up((1 - self.rate, self.rate), Fraction(inner)))


@dataclass(frozen=True, slots=True)
class GaussianSample:
    """The exact profile of a μ-GDP Gaussian mechanism on a Poisson sample, for adding or removing a record.

    Removing a record compares the mixture (1 − rate)N(0, 1) + rate·N(μ, 1) with N(0, 1), adding it the reverse.
    """

    mu: Fraction
    rate: Fraction

    def delta_at(self, epsilon: Amount) -> float:
        """δ at this ε, rounded up: the δ of removing a record, which is never smaller than the δ of adding one."""
        return self.remove_delta_at(epsilon)

    def remove_delta_at(self, epsilon: Amount) -> float:
        """δ for data with the record against data without it, rounded up."""
        at = min(not_negative(epsilon, "epsilon"), _MOST_EPSILON)
        if self.mu == 0 or self.rate == 0:
            return 0.0

        def compute() -> Ball:
            q, m = ball(self.rate), ball(self.mu)
            odds = (ball(at).expm1() + q) / q  # the mixture's likelihood ratio exceeds e^ε where e^{μx−μ²/2} exceeds this
            place = odds.log() / m + m / 2
            return q * (_gaussian.upper_tail(place - m) - odds * _gaussian.upper_tail(place))

        return min(1.0, upper(enclose(compute)))

    def add_delta_at(self, epsilon: Amount) -> float:
        """δ for data without the record against data with it, rounded up."""
        at = min(not_negative(epsilon, "epsilon"), _MOST_EPSILON)
        if self.mu == 0 or self.rate == 0:
            return 0.0

        def compute() -> Ball:
            q, m = ball(self.rate), ball(self.mu)
            odds = (ball(-at).exp() - ball(1 - self.rate)) / q
            if odds <= 0:
                return ball(0)
            place = odds.log() / m + m / 2
            # Φ(x)(1 − e^ε(1 − q)) − e^ε q Φ(x − μ), and 1 − e^ε(1 − q) = e^ε q·odds.
            return ball(at).exp() * q * (odds * _gaussian.upper_tail(-place) - _gaussian.upper_tail(m - place))

        return min(1.0, upper(enclose(compute)))

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε at this δ, rounded up and verified."""
        return Sampled(GDP(self.mu), self.rate).epsilon_at(delta)


@dataclass(frozen=True, slots=True)
class Resampled:
    """The profile of a mechanism on resampled data, seen from the original data.

    `law` is the law of K, the number of protected copies in the sample. With a private size (`both`) data with and without
    the record are compared in both directions (R2) and the larger δ counts; with a public one the law is R1's.
    """

    inner: GDP | PureDP | ApproxDP | DiscreteLaplace
    law: Law
    both: bool

    def delta_at(self, epsilon: Amount) -> float:
        """δ at this ε, rounded up."""
        if self.both:
            return max(self.forward_delta_at(epsilon), self.reverse_delta_at(epsilon))
        at = not_negative(epsilon, "epsilon")
        return _slopes.public_size(self._family(), self.law, at)

    def forward_delta_at(self, epsilon: Amount) -> float:
        """R2 for data with the record against data without it, rounded up."""
        return _slopes.forward(self._family(), self.law, not_negative(epsilon, "epsilon"))

    def reverse_delta_at(self, epsilon: Amount) -> float:
        """R2 for data without the record against data with it, rounded up; 0 for one copy, where forward is larger."""
        return _slopes.reverse(self._family(), self.law, not_negative(epsilon, "epsilon")) if len(self.law) > 2 else 0.0

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε at this δ, rounded up and verified."""
        target = float_down(check_delta(delta))
        most = len(self.law) - 1
        if isinstance(self.inner, GDP):
            high = GDP(most * self.inner.mu).epsilon_at(Fraction(target))
        else:
            worst = self.inner.guarantee if isinstance(self.inner, DiscreteLaplace) else self.inner
            high = float_up(epsilon_up(self.law, worst.epsilon))
            if isinstance(worst, ApproxDP) and self.delta_at(Fraction(high)) > target:
                return float("inf")  # no ε is promised below the δ of the closed form
        if target == 0 or high == float("inf") or high == 0 or self.delta_at(Fraction(high)) > target:
            return high  # sound by the closed form, also where ε is so large that `delta_at` no longer follows
        return first_below(lambda at: self.delta_at(Fraction(at)), target, 0.0, high)

    def _family(self) -> _slopes.Family:
        match self.inner:
            case GDP(mu=mu):
                return _slopes.Normal(mu)
            case PureDP(epsilon=epsilon):
                return _slopes.Chain(epsilon, Fraction(0))
            case ApproxDP(epsilon=epsilon, delta=delta):
                return _slopes.Chain(epsilon, delta)
            case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
                return _slopes.Steps(scale, sensitivity)
        raise unreachable(self.inner)


def largest_mu(law: Law, target: ApproxDP, *, both: bool) -> Fraction:
    """The largest μ found whose Gaussian noise on the sample meets the target; verified."""
    chance, most = float_down(target.delta), len(law) - 1
    plain = _gaussian.mu(float_down(target.epsilon), chance)
    if most == 0 or chance == 0 or plain == 0:
        return Fraction(plain)
    high = float_up(Fraction(most) / Fraction(plain) * (1 + Fraction(1, 2**40)))

    def value(sigma: float) -> float:
        return Resampled(GDP(1 / Fraction(sigma)), law, both).delta_at(target.epsilon)

    if value(high) > chance:  # at losses so large that the profile no longer follows; the whole group is always sound
        return Fraction(plain) / most
    return 1 / Fraction(first_below(value, chance, high / 10**4, high))
