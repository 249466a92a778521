"""Calibration: the returned noise meets the target, and a little less noise does not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.privacy import GDP, ZCDP, ApproxDP, PureDP
from discreet.privacy.calculus.calibrate import achieved, gaussian_sigma2, laplace_scale, least_noise
from discreet.privacy.calculus.profile import DiscreteGaussian, DiscreteLaplace, RoundedGaussian

KINDS = [DiscreteLaplace, RoundedGaussian, DiscreteGaussian]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6, deadline=None)
@given(
    epsilon=st.fractions(Fraction(1, 100), 4, max_denominator=100),
    delta=st.sampled_from(["1e-2", "1e-6", "1e-12", "1e-100"]),
    change=st.integers(1, 5),
)
def test_least_noise_is_verified_and_least(kind: Any, epsilon: Fraction, delta: str, change: int) -> None:
    target = ApproxDP(epsilon, delta)
    found = least_noise(kind, target, change)
    assert found.guarantee == achieved(found.noise, target)
    assert found.guarantee.delta <= target.delta  # type: ignore[union-attr]
    size = found.noise.scale if isinstance(found.noise, DiscreteLaplace) else found.noise.sigma2
    smaller = kind(size * (1 - Fraction(1, 10**9)), change)
    assert Fraction(smaller.delta_at(epsilon)) > target.delta


def test_exact_targets_have_exact_noise() -> None:
    assert gaussian_sigma2(GDP("0.5"), 2) == 8
    assert gaussian_sigma2(ZCDP("0.5"), 2) == 2
    assert laplace_scale(PureDP("0.5"), 3) == 6
    assert least_noise(DiscreteLaplace, PureDP("0.5"), 3).guarantee == PureDP("0.5")
    assert least_noise(RoundedGaussian, GDP("0.5"), 3).guarantee == GDP("0.5")
    assert least_noise(DiscreteGaussian, ZCDP("0.5"), 3).guarantee == ZCDP("0.5")
    assert least_noise(DiscreteLaplace, ZCDP("0.5"), 1).guarantee.rho <= Fraction(1, 2)  # type: ignore[union-attr]
    assert least_noise(DiscreteLaplace, ApproxDP("0.5", 0), 1).guarantee == ApproxDP("0.5", 0)


def test_the_gaussian_for_one_and_a_millionth() -> None:
    # Analytic 4.2247, by zCDP 4.5309, and the classical formula 5.2988, which is unsound for larger ε.
    assert math.sqrt(gaussian_sigma2(ApproxDP(1, "1e-6"), 1)) == pytest.approx(4.2247, abs=1e-4)
    assert math.sqrt(gaussian_sigma2(ZCDP.for_approx(1, "1e-6"), 1)) == pytest.approx(4.5309, abs=1e-4)
    classical = math.sqrt(2 * math.log(1.25e6)) / 10
    assert classical < math.sqrt(gaussian_sigma2(ApproxDP(10, "1e-6"), 1))


def test_targets_that_cannot_be_met_are_refused() -> None:
    for kind, target in (
        (RoundedGaussian, PureDP(1)),
        (DiscreteGaussian, GDP(1)),
        (DiscreteLaplace, GDP(1)),
        (DiscreteLaplace, ApproxDP(0, 0)),
        (RoundedGaussian, ApproxDP(1, 0)),
        (DiscreteGaussian, ZCDP(0)),
        (int, ApproxDP(1, "1e-6")),
    ):
        with pytest.raises(ArgumentError):
            least_noise(kind, target, 1)  # type: ignore[arg-type]
    for bad in (0, -1, math.nan, True):
        with pytest.raises(ArgumentError, match="l1="):
            laplace_scale(PureDP(1), bad)
        with pytest.raises(ArgumentError, match="l2_squared="):
            gaussian_sigma2(GDP(1), bad)
    with pytest.raises(ArgumentError, match="target="):
        gaussian_sigma2(PureDP(1), 1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="target="):
        laplace_scale(GDP(1), 1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="noise="):
        achieved(DiscreteGaussian(1), PureDP(1))
