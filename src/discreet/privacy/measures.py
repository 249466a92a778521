"""Privacy guarantees as exact values: how strong they are, how they add up, what they mean in (ε, δ).

::

    PureDP(ε)        P(M(x) ∈ S) ≤ e^ε P(M(x') ∈ S)
    ApproxDP(ε, δ)   P(M(x) ∈ S) ≤ e^ε P(M(x') ∈ S) + δ
    ZCDP(ρ)          D_α(M(x) ‖ M(x')) ≤ ρα for every order α > 1
    GDP(μ)           telling M(x) from M(x') is at least as hard as telling N(0, 1) from N(μ, 1)
    RDP(curve)       D_α(M(x) ‖ M(x')) ≤ τ for each (α, τ) of the curve

for all neighbouring x, x' and all sets S of outputs; who is a neighbour is said elsewhere. Parameters are Fractions.
Equal measures add (sequential, also adaptive composition) and scale by integers; different ones are converted first, by
name. Theorems M1 (composition) and M2 (groups) in docs/proofs/privacy.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TypeVar

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, decimal_up, exact, float_down, sqrt_up, text
from discreet.privacy import _gaussian, _profiles, _zcdp, convert
from discreet.privacy._checks import checked_delta, not_negative
from discreet.privacy._digits import digits_down, shown_up

__all__ = ["GDP", "RDP", "ZCDP", "ApproxDP", "Measure", "PureDP"]

_HINT = (
    "guarantees of different measures do not add; convert both first, with g.to_approx(delta) or g.to_zcdp(), "
    "or plan with one measure from the start: ZCDP.for_approx(epsilon, delta)"
)


@dataclass(frozen=True, slots=True)
class PureDP:
    """ε-differential privacy, exact at δ = 0."""

    epsilon: Fraction

    def __init__(self, epsilon: Amount) -> None:
        object.__setattr__(self, "epsilon", not_negative(epsilon, "epsilon"))

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε' such that every ε-DP mechanism is (ε', δ)-DP, rounded up. Theorem P1."""
        return _profiles.approx_epsilon(self.epsilon, Fraction(0), checked_delta(delta))

    def delta_at(self, epsilon: Amount) -> float:
        """The smallest δ such that every ε-DP mechanism is (epsilon, δ)-DP, rounded up. Theorem P1."""
        return _profiles.approx_delta(self.epsilon, Fraction(0), not_negative(epsilon, "epsilon"))

    def to_approx(self, delta: Amount) -> ApproxDP:
        """(ε, delta)-DP with the ε of `epsilon_at`, taken exactly. Needs delta > 0 unless nothing was released."""
        return _to_approx(self, delta)

    def to_zcdp(self) -> ZCDP:
        """ε-DP implies (ε²/2)-zCDP (Bun and Steinke, Proposition 1.4)."""
        return ZCDP(self.epsilon**2 / 2)

    def group(self, a: int) -> PureDP:
        """The guarantee for a records at once: aε."""
        return PureDP(_group_size(a) * self.epsilon)

    def __add__(self, other: object) -> PureDP:
        return PureDP(self.epsilon + _same(self, other).epsilon)

    def __rmul__(self, k: int) -> PureDP:
        return PureDP(_times(k) * self.epsilon)

    def explain(self) -> str:
        """The guarantee in plain words."""
        return (
            f"Whatever is concluded from the results, one record changes its probability by a factor of at most "
            f"{_profiles.exp_text(self.epsilon)} (ε = {decimal_up(self.epsilon)}), without exception."
        )


@dataclass(frozen=True, slots=True)
class ApproxDP:
    """(ε, δ)-differential privacy."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Amount, delta: Amount) -> None:
        object.__setattr__(self, "epsilon", not_negative(epsilon, "epsilon"))
        object.__setattr__(self, "delta", checked_delta(delta))

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε' such that every (ε, δ)-DP mechanism is (ε', delta)-DP, rounded up; ∞ below δ. Theorem P1."""
        return _profiles.approx_epsilon(self.epsilon, self.delta, checked_delta(delta))

    def delta_at(self, epsilon: Amount) -> float:
        """The smallest δ' such that every (ε, δ)-DP mechanism is (epsilon, δ')-DP, rounded up. Theorem P1."""
        return _profiles.approx_delta(self.epsilon, self.delta, not_negative(epsilon, "epsilon"))

    def group(self, a: int) -> ApproxDP:
        """The guarantee for a records at once: (aε, δ(1 + e^ε + … + e^((a−1)ε))), rounded up to a rational."""
        factor = _profiles.group_factor(self.epsilon, _group_size(a)) if self.delta else Fraction(a)
        return ApproxDP(a * self.epsilon, _total_delta(self.delta * factor))

    def __add__(self, other: object) -> ApproxDP:
        same = _same(self, other)
        return ApproxDP(self.epsilon + same.epsilon, _total_delta(self.delta + same.delta))

    def __rmul__(self, k: int) -> ApproxDP:
        return ApproxDP(_times(k) * self.epsilon, _total_delta(k * self.delta))

    def explain(self) -> str:
        """The guarantee in plain words."""
        return (
            f"Whatever is concluded from the results, one record changes its probability by a factor of at most "
            f"{_profiles.exp_text(self.epsilon)} (ε = {decimal_up(self.epsilon)}), apart from an additive "
            f"δ = {decimal_up(self.delta)}: think of it as the chance that the factor is exceeded."
        )


@dataclass(frozen=True, slots=True)
class ZCDP:
    """ρ-zero-concentrated differential privacy (Bun and Steinke 2016)."""

    rho: Fraction

    def __init__(self, rho: Amount) -> None:
        object.__setattr__(self, "rho", not_negative(rho, "rho"))

    @classmethod
    def for_approx(cls, epsilon: Amount, delta: Amount) -> ZCDP:
        """The largest ρ (to 16 digits, rounded down, verified) whose zCDP implies (ε, δ)-DP. Theorem C1."""
        target, chance = _target(epsilon, delta)
        return cls(_short_down(_zcdp.zcdp_rho(target, chance)))

    def epsilon_at(self, delta: Amount) -> float:
        """An ε such that ρ-zCDP implies (ε, delta)-DP, rounded up; ∞ at delta = 0 unless ρ = 0. Theorem C1."""
        return shown_up(convert.zcdp_epsilon(self.rho, checked_delta(delta)))

    def delta_at(self, epsilon: Amount) -> float:
        """A δ such that ρ-zCDP implies (epsilon, δ)-DP, rounded up. Theorem C1."""
        return shown_up(convert.zcdp_delta(self.rho, not_negative(epsilon, "epsilon")))

    def to_approx(self, delta: Amount) -> ApproxDP:
        """(ε, delta)-DP with the ε of `epsilon_at`, taken exactly. Needs delta > 0 unless nothing was released."""
        return _to_approx(self, delta)

    def to_rdp(self, orders: Sequence[Amount]) -> RDP:
        """The line τ = ρα at the given orders."""
        return RDP([(order, exact(order, "order") * self.rho) for order in orders])

    def group(self, a: int) -> ZCDP:
        """The guarantee for a records at once: a²ρ (Bun and Steinke, Proposition 1.9)."""
        return ZCDP(_group_size(a) ** 2 * self.rho)

    def __add__(self, other: object) -> ZCDP:
        return ZCDP(self.rho + _same(self, other).rho)

    def __rmul__(self, k: int) -> ZCDP:
        return ZCDP(_times(k) * self.rho)

    def explain(self) -> str:
        """The guarantee in plain words."""
        return (
            f"The evidence that the results carry about one record behaves at worst like that of Gaussian noise with "
            f"ρ = {decimal_up(self.rho)}; {_in_a_million(self.epsilon_at('1e-6'))}"
        )


@dataclass(frozen=True, slots=True)
class GDP:
    """μ-Gaussian differential privacy (Dong, Roth and Su 2019)."""

    mu: Fraction

    def __init__(self, mu: Amount) -> None:
        object.__setattr__(self, "mu", not_negative(mu, "mu"))

    @classmethod
    def for_approx(cls, epsilon: Amount, delta: Amount) -> GDP:
        """The largest μ (to 16 digits, rounded down, verified) whose GDP implies (ε, δ)-DP. Theorem G1."""
        target, chance = _target(epsilon, delta)
        return cls(_short_down(_gaussian.mu(target, chance)))

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε such that μ-GDP implies (ε, delta)-DP, rounded up; ∞ at delta = 0 unless μ = 0. Theorem G1."""
        return shown_up(convert.gaussian_epsilon(self.mu, checked_delta(delta)))

    def delta_at(self, epsilon: Amount) -> float:
        """The smallest δ such that μ-GDP implies (epsilon, δ)-DP, rounded up. Theorem G1."""
        return shown_up(convert.gaussian_delta(self.mu, not_negative(epsilon, "epsilon")))

    def to_approx(self, delta: Amount) -> ApproxDP:
        """(ε, delta)-DP with the ε of `epsilon_at`, taken exactly. Needs delta > 0 unless nothing was released."""
        return _to_approx(self, delta)

    def to_zcdp(self) -> ZCDP:
        """μ-GDP implies (μ²/2)-zCDP: post-processing of a Gaussian pair, whose Rényi divergence is αμ²/2."""
        return ZCDP(self.mu**2 / 2)

    def group(self, a: int) -> GDP:
        """The guarantee for a records at once: aμ (Dong, Roth and Su, Theorem 2.14)."""
        return GDP(_group_size(a) * self.mu)

    def __add__(self, other: object) -> GDP:
        """√(μ₁² + μ₂²), rounded up to a rational where it is none (relative excess 2⁻⁸⁰)."""
        return GDP(sqrt_up(self.mu**2 + _same(self, other).mu ** 2))

    def __rmul__(self, k: int) -> GDP:
        return GDP(sqrt_up(_times(k) * self.mu**2))

    def explain(self) -> str:
        """The guarantee in plain words."""
        advantage = _profiles.percent_up(self.delta_at(0))
        return (
            f"Deciding from the results whether one record is in the data is at least as hard as telling apart two "
            f"normal distributions whose means lie {decimal_up(self.mu)} standard deviations apart: no test detects "
            f"it with a chance that is more than {advantage} above its false alarms."
        )


@dataclass(frozen=True, slots=True)
class RDP:
    """Rényi differential privacy at finitely many orders (Mironov 2017): D_α ≤ τ for each pair (α, τ) of the curve.

    For conversion and accounting, not as a budget. Orders are greater than 1 and strictly increasing.
    """

    curve: tuple[tuple[Fraction, Fraction], ...]

    def __init__(self, curve: Sequence[tuple[Amount, Amount]]) -> None:
        object.__setattr__(self, "curve", _curve(curve))

    def epsilon_at(self, delta: Amount) -> float:
        """An ε such that the curve implies (ε, delta)-DP, rounded up. Theorem T1."""
        return shown_up(convert.rdp_epsilon([a for a, _ in self.curve], [t for _, t in self.curve], checked_delta(delta)))

    def delta_at(self, epsilon: Amount) -> float:
        """A δ such that the curve implies (epsilon, δ)-DP, rounded up. Theorem T1."""
        at = not_negative(epsilon, "epsilon")
        return shown_up(convert.rdp_delta([a for a, _ in self.curve], [t for _, t in self.curve], at))

    def to_approx(self, delta: Amount) -> ApproxDP:
        """(ε, delta)-DP with the ε of `epsilon_at`, taken exactly. Needs delta > 0 unless nothing was released."""
        return _to_approx(self, delta)

    def group(self, a: int) -> RDP:
        """For 2^c ≥ a records at once: (α/2^c, 3^c τ) for every order α ≥ 2^(c+1) (Mironov 2017, Proposition 2)."""
        halvings = (_group_size(a) - 1).bit_length()
        kept = [(order / 2**halvings, 3**halvings * tau) for order, tau in self.curve if order >= 2 ** (halvings + 1)]
        if halvings and not kept:
            raise ArgumentError(f"a={a}: group privacy needs an order of at least {2 ** (halvings + 1)} in the curve")
        return RDP(kept) if halvings else self

    def __add__(self, other: object) -> RDP:
        """Pointwise, at the orders that both curves have."""
        theirs = dict(_same(self, other).curve)
        common = [(order, tau + theirs[order]) for order, tau in self.curve if order in theirs]
        if not common:
            raise ArgumentError("RDP + RDP: the curves have no order in common; evaluate both at the same orders")
        return RDP(common)

    def __rmul__(self, k: int) -> RDP:
        return RDP([(order, _times(k) * tau) for order, tau in self.curve])

    def explain(self) -> str:
        """The guarantee in plain words."""
        return (
            f"The evidence that the results carry about one record is bounded in {len(self.curve)} averages; "
            f"{_in_a_million(self.epsilon_at('1e-6'))}"
        )


def _to_approx(measure: PureDP | ZCDP | GDP | RDP, delta: Amount) -> ApproxDP:
    epsilon = measure.epsilon_at(delta)
    if epsilon == inf:
        raise ArgumentError(f"delta={delta!r}: no finite ε follows from {type(measure).__name__}; take a larger delta")
    return ApproxDP(Fraction(epsilon), delta)


def _in_a_million(epsilon: float) -> str:
    if epsilon == inf:
        return "no bound of any use follows at a chance of one in a million (δ = 1e-6)."
    return (
        f"up to a chance of one in a million (δ = 1e-6) it changes a probability by a factor of at most "
        f"{_profiles.exp_text(epsilon)} (ε = {decimal_up(epsilon, 4)})."
    )


Measure = PureDP | ApproxDP | ZCDP | GDP | RDP
_M = TypeVar("_M", PureDP, ApproxDP, ZCDP, GDP, RDP)


def _total_delta(delta: Fraction) -> Fraction:
    if not delta < 1:
        raise ArgumentError(f"delta={decimal_up(delta)}: the result would be no guarantee at all, because δ reaches 1")
    return delta


def _target(epsilon: Amount, delta: Amount) -> tuple[float, float]:
    """A target in doubles, rounded down: what implies the rounded target implies the target."""
    return float_down(not_negative(epsilon, "epsilon")), float_down(checked_delta(delta))


def _short_down(value: float) -> Fraction:
    """`value` rounded down to 16 significant digits, so that its text is short."""
    if not 0 < value < inf:
        return Fraction(0) if value == 0 else exact(value, "value")
    return digits_down(Fraction(value), 16)


def _group_size(a: int) -> int:
    if isinstance(a, bool) or not isinstance(a, int) or a < 1:
        raise ArgumentError(f"a={a!r}: the size of a group must be an integer of at least 1")
    return a


def _times(k: int) -> int:
    if isinstance(k, bool) or not isinstance(k, int) or k < 0:
        raise ArgumentError(f"k={k!r}: the number of repetitions must be an integer of at least 0")
    return k


def _same(guarantee: _M, other: object) -> _M:
    if not isinstance(other, type(guarantee)):
        raise ArgumentError(f"{type(guarantee).__name__} + {type(other).__name__}: {_HINT}")
    return other


def _curve(curve: object) -> tuple[tuple[Fraction, Fraction], ...]:
    if not isinstance(curve, tuple | list) or not curve:
        raise ArgumentError("curve: must be a sequence of pairs (order, divergence) with at least one pair")
    pairs: list[tuple[Fraction, Fraction]] = []
    for pair in curve:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ArgumentError("curve: every element must be a pair (order, divergence)")
        order, tau = exact(pair[0], "order"), not_negative(pair[1], "tau")
        if not order > 1:
            raise ArgumentError(f"order={text(order)}: every order must be greater than 1")
        if pairs and not order > pairs[-1][0]:
            raise ArgumentError(f"order={text(order)}: the orders must be strictly increasing")
        pairs.append((order, tau))
    return tuple(pairs)
