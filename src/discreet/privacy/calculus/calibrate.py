"""The least noise that meets a target, and what a given noise achieves: always the side that was verified.

A root is not a bound: half of the scales that a root finder returns miss their target by a rounding. Here the scale is
rounded up to a short decimal and the guarantee is then computed from that very scale with the certified profiles (V1).
The class of a measure has the closed forms for its noise; releases use the same forms.

    gaussian_sigma2(target, l2_squared)   any dimension, rounded Gaussian (GDP) or any Gaussian law (ZCDP)
    laplace_scale(target, l1)             any dimension
    least_noise(kind, target, change)     one number, exact profile: less noise for ApproxDP targets
    achieved(noise, target)               the reverse: what this noise guarantees, in the measure of the target
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, float_down, float_up, sqrt_down, text
from discreet.privacy._checks import positive
from discreet.privacy._digits import digits_up
from discreet.privacy._search import first_below
from discreet.privacy.calculus.profile import (
    MOST_EPSILON,
    DiscreteGaussian,
    DiscreteLaplace,
    IntegerNoise,
    RoundedGaussian,
    check_sensitivity,
)
from discreet.privacy.measures import GDP, ZCDP, ApproxDP, Measure, PureDP

__all__ = ["Calibrated", "achieved", "gaussian_sigma2", "laplace_scale", "least_noise"]

_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A noise and the guarantee that was computed from its exact parameters; the guarantee meets the target."""

    noise: IntegerNoise
    guarantee: Measure


def gaussian_sigma2(target: GDP | ZCDP | ApproxDP, l2_squared: Amount) -> Fraction:
    """The least σ² of Gaussian noise for a query that moves by √l2_squared in L2, in any dimension.

    Exact for GDP (l2²/μ²) and ZCDP (l2²/2ρ). For ApproxDP it is the variance of the largest verified μ, rounded up.
    """
    change = positive(l2_squared, "l2_squared")
    match target:
        case GDP(mu=amount) | ZCDP(rho=amount) if _require_positive(amount):
            return target.gaussian_variance(change)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return digits_up(gaussian_sigma2(GDP.for_approx(epsilon, delta), change), _DIGITS)
    raise ArgumentError(f"target={type(target).__name__}: Gaussian noise meets GDP, ZCDP or ApproxDP; use Laplace noise")


def laplace_scale(target: PureDP | ZCDP | ApproxDP, l1: Amount) -> Fraction:
    """The least scale of discrete Laplace noise for a query that moves by `l1` in L1, in any dimension.

    Exact for PureDP (l1/ε); for ZCDP with ε = √(2ρ), rounded; for ApproxDP the pure scale, which uses no δ
    (`least_noise` does use it, for integers).
    """
    change = positive(l1, "l1")
    match target:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            return PureDP(_require_positive(epsilon)).laplace_scale(change)
        case ZCDP(rho=rho):
            return digits_up(change / sqrt_down(2 * _require_positive(rho)), _DIGITS)
    raise ArgumentError(f"target={type(target).__name__}: Laplace noise meets PureDP, ApproxDP or ZCDP")


def least_noise(kind: type[IntegerNoise], target: Measure, sensitivity: int) -> Calibrated:
    """The least noise of this kind for one integer that moves by at most `sensitivity`, and what it achieves.

    Raises:
        ArgumentError: when the kind cannot meet the measure of the target (Gaussian noise is never pure, a discrete
            Gaussian is not GDP), and for targets of 0.
    """
    check_sensitivity(sensitivity)
    match target:
        case ApproxDP():
            noise = _least_by_profile(kind, target, sensitivity)
        case PureDP() | ZCDP() if kind is DiscreteLaplace:
            noise = DiscreteLaplace(laplace_scale(target, sensitivity), sensitivity)
        case ZCDP() if kind in (RoundedGaussian, DiscreteGaussian):
            noise = _gaussian_kind(kind)(gaussian_sigma2(target, sensitivity**2), sensitivity)
        case GDP() if kind is RoundedGaussian:
            noise = RoundedGaussian(gaussian_sigma2(target, sensitivity**2), sensitivity)
        case _:
            name = getattr(kind, "__name__", kind)
            raise ArgumentError(f"kind={name}: does not meet a target in {type(target).__name__}; see docs on noise")
    return Calibrated(noise, achieved(noise, target))


def achieved(noise: IntegerNoise, target: Measure) -> Measure:
    """The guarantee of the noise in the measure of `target`; for ApproxDP, the δ at the target's ε, rounded up."""
    match target, noise:
        case ApproxDP(epsilon=epsilon), _:
            return ApproxDP(epsilon, Fraction(noise.delta_at(epsilon)))
        case PureDP(), DiscreteLaplace():
            return noise.guarantee
        case ZCDP(), DiscreteLaplace():
            return noise.guarantee.to_zcdp()
        case ZCDP(), RoundedGaussian() | DiscreteGaussian():
            return ZCDP(noise.sensitivity**2 / (2 * noise.sigma2))
        case GDP(), RoundedGaussian():
            return noise.guarantee
    raise ArgumentError(f"noise={type(noise).__name__}: has no guarantee in {type(target).__name__}")


def _least_by_profile(kind: type[IntegerNoise], target: ApproxDP, sensitivity: int) -> IntegerNoise:
    """Search for the scale (Laplace) or σ (Gaussian) on the exact profile, then round up and verify."""
    if target.epsilon > MOST_EPSILON:
        raise ArgumentError(f"epsilon={text(target.epsilon)}: promises nothing; take at most 1e6")
    chance = float_down(target.delta)
    if kind is DiscreteLaplace:
        make: Callable[[Fraction], IntegerNoise] = lambda size: DiscreteLaplace(size, sensitivity)  # noqa: E731
        # Both suffice: no δ is used at sensitivity/ε, and the whole distance is at most sensitivity/2·scale ≤ δ.
        ends = [sensitivity / bound for bound in (target.epsilon, target.delta) if bound > 0]
        if not ends:
            raise ArgumentError("target: nothing meets (0, 0); allow some ε or δ")
        high = min(ends)
        if chance == 0:
            return DiscreteLaplace(high, sensitivity)
    else:
        kind = _gaussian_kind(kind)
        make = lambda size: kind(size**2, sensitivity)  # noqa: E731
        high = _gaussian_start(kind, target, sensitivity)

    def value(size: float) -> float:
        return make(Fraction(size)).delta_at(target.epsilon)

    found = Fraction(first_below(value, chance, float_up(high) / 10**4, float_up(high) * (1 + 1e-12)))
    digits = _DIGITS
    while Fraction(make(rounded := digits_up(found, digits)).delta_at(target.epsilon)) > target.delta:
        found, digits = found * (1 + Fraction(1, 10**13)), _DIGITS
    return make(rounded)


def _gaussian_start(kind: type[IntegerNoise], target: ApproxDP, sensitivity: int) -> Fraction:
    """A σ that certainly suffices: by GDP for the rounded law, by zCDP for the discrete one."""
    if kind is RoundedGaussian:
        return sensitivity / _require_positive(GDP.for_approx(target.epsilon, target.delta).mu)
    rho = _require_positive(ZCDP.for_approx(target.epsilon, target.delta).rho)
    return sensitivity / sqrt_down(2 * rho)


def _gaussian_kind(kind: type[IntegerNoise]) -> type[RoundedGaussian] | type[DiscreteGaussian]:
    if kind is RoundedGaussian:
        return RoundedGaussian
    if kind is DiscreteGaussian:
        return DiscreteGaussian
    raise ArgumentError(
        f"kind={getattr(kind, '__name__', kind)}: must be DiscreteLaplace, RoundedGaussian or DiscreteGaussian"
    )


def _require_positive(value: Fraction) -> Fraction:
    """A parameter of the target by which something is divided."""
    if not value > 0:
        raise ArgumentError("target: a guarantee of 0 would need infinite noise; spend something")
    return value
