"""Profiles of integer noise against a summation over all outcomes, and their refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from discreet.errors import ArgumentError
from discreet.privacy import GDP, ZCDP, PureDP
from discreet.privacy.calculus.profile import DiscreteGaussian, DiscreteLaplace, IntegerNoise, RoundedGaussian

small_scale = st.fractions(Fraction(1, 5), 9, max_denominator=20)
shifts = st.integers(1, 4)
epsilons = st.fractions(0, 4, max_denominator=50)
KINDS = [DiscreteLaplace, RoundedGaussian, DiscreteGaussian]


def masses(noise: IntegerNoise, reach: int) -> dict[int, mpf]:
    """The law, from its definition, cut at ±reach and normalised where the definition is a proportionality."""
    places = range(-reach, reach + 1)
    if isinstance(noise, RoundedGaussian):
        sigma = mp.sqrt(mpf(noise.sigma2.numerator) / noise.sigma2.denominator)
        return {k: mp.ncdf((k + mpf(0.5)) / sigma) - mp.ncdf((k - mpf(0.5)) / sigma) for k in places}
    if isinstance(noise, DiscreteLaplace):
        weights = {k: mp.exp(-abs(k) * mpf(noise.scale.denominator) / noise.scale.numerator) for k in places}
    else:
        weights = {k: mp.exp(-k * k * mpf(noise.sigma2.denominator) / (2 * noise.sigma2.numerator)) for k in places}
    total = sum(weights.values())
    return {k: w / total for k, w in weights.items()}


def reference_delta(noise: IntegerNoise, epsilon: Fraction) -> mpf:
    """The hockey-stick divergence by its definition: the sum of the positive parts, over every shift up to the largest."""
    mp.dps = 50
    width = noise.scale * 90 if isinstance(noise, DiscreteLaplace) else 14 * max(1, math.isqrt(math.ceil(noise.sigma2)) + 1)
    law = masses(noise, int(width) + 4 + noise.sensitivity)
    factor = mp.exp(mpf(epsilon.numerator) / epsilon.denominator)
    return max(
        sum(max(mpf(0), p - factor * law.get(k - shift, mpf(0))) for k, p in law.items() if k - shift in law)
        for shift in range(1, noise.sensitivity + 1)
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(scale=small_scale, shift=shifts, epsilon=epsilons)
@example(scale=Fraction(1), shift=1, epsilon=Fraction(1))
@example(scale=Fraction(1, 5), shift=4, epsilon=Fraction(0))
def test_the_profile_is_the_sum_over_all_outcomes(
    kind: Callable[[Fraction, int], IntegerNoise], scale: Fraction, shift: int, epsilon: Fraction
) -> None:
    noise = kind(scale, shift)
    truth = reference_delta(noise, epsilon)
    got = mpf(noise.delta_at(epsilon))
    assert got >= truth - mpf(10) ** -35
    assert got <= truth * (1 + mpf(10) ** -12) + mpf(10) ** -35


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(scale=small_scale, shift=shifts, delta=st.sampled_from([0.3, 1e-3, 1e-9, 1e-100, 1e-300]))
def test_epsilon_is_verified_and_nearly_the_smallest(
    kind: Callable[[Fraction, int], IntegerNoise], scale: Fraction, shift: int, delta: float
) -> None:
    noise = kind(scale, shift)
    epsilon = noise.epsilon_at(Fraction(delta))
    assert noise.delta_at(Fraction(epsilon)) <= delta
    if epsilon > 1e-9:
        assert noise.delta_at(Fraction(epsilon) * (1 - Fraction(1, 10**11))) > delta * (1 - 1e-9)


@pytest.mark.parametrize("sigma2", [1, 100, 10_000, 10_001, 10**8, 10**14])
def test_wide_noise_is_the_gaussian_in_the_limit(sigma2: int) -> None:
    epsilon = Fraction(2) / Fraction(math.isqrt(sigma2))
    gaussian = RoundedGaussian(sigma2, 1).guarantee.delta_at(epsilon)
    rounded = RoundedGaussian(sigma2, 1).delta_at(epsilon)
    discrete = DiscreteGaussian(sigma2, 1).delta_at(epsilon)
    assert rounded <= gaussian
    if sigma2 >= 10_000:
        assert rounded == pytest.approx(gaussian, rel=20 / math.sqrt(sigma2))
        assert discrete == pytest.approx(gaussian, rel=20 / math.sqrt(sigma2))


def test_the_discrete_gaussian_is_not_gaussian_dp() -> None:
    # The reason why its profile is summed and never taken from Φ: 7.1 times the Gaussian's δ at its worst.
    worst = 0.0
    for sigma2, epsilon in (("0.1", 1), ("0.1", 4), (1, 1), (1, 4), (5, 1)):
        gaussian = RoundedGaussian(sigma2).guarantee.delta_at(epsilon)
        worst = max(worst, DiscreteGaussian(sigma2).delta_at(epsilon) / gaussian)
    assert worst > 1.1


def test_guarantees_of_the_laws() -> None:
    assert DiscreteLaplace(2, 3).guarantee == PureDP("1.5")
    assert DiscreteGaussian(2, 3).guarantee == ZCDP("2.25")
    assert RoundedGaussian(4, 3).guarantee == GDP("1.5")
    assert DiscreteLaplace(2).delta_at("0.5") == 0
    assert DiscreteLaplace(2).epsilon_at(0) == 0.5
    assert DiscreteGaussian(2).epsilon_at(0) == math.inf


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_noise_is_refused(kind: Callable[..., IntegerNoise]) -> None:
    for bad in (0, -1, math.nan, math.inf, True, "x"):
        with pytest.raises(ArgumentError, match=r"(scale|sigma2)="):
            kind(bad)
    for bad in (0, -1, 1.5, True, "2"):
        with pytest.raises(ArgumentError, match="sensitivity="):
            kind(1, bad)
    with pytest.raises(ArgumentError, match="epsilon="):
        kind(1).delta_at(-1)
    for bad in (1, -1, math.nan):
        with pytest.raises(ArgumentError, match="delta="):
            kind(1).epsilon_at(bad)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", ["1e-300", "0.001", 1, "1e9", "1e30"])
def test_extremes_give_a_probability(kind: Callable[..., IntegerNoise], size: object) -> None:
    noise = kind(size)
    for epsilon in (0, "1e-300", 1, "1e6", "1e300"):
        assert 0 <= noise.delta_at(epsilon) <= 1
    assert noise.delta_at(0) > 0
