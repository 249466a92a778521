"""Composition: brackets the exact sum over all outcomes, closed forms, and mutants that must be caught."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from discreet.errors import ArgumentError
from discreet.privacy import GDP, RDP, ZCDP, ApproxDP, PureDP
from discreet.privacy.calculus import _contour
from discreet.privacy.calculus import compose as compose_module
from discreet.privacy.calculus.compose import Part, compose
from discreet.privacy.calculus.profile import DiscreteGaussian, DiscreteLaplace, RoundedGaussian


def losses(part: Part) -> list[tuple[mpf, mpf]]:
    """(loss, probability) by definition, from the law of the noise; narrow laws only."""
    mp.dps = 40
    if isinstance(part, PureDP):
        part = DiscreteLaplace(1 / part.epsilon)
    if isinstance(part, DiscreteLaplace):
        rate = mpf(part.scale.denominator) / part.scale.numerator
        shift, reach = part.sensitivity, 60 + int(60 / rate)
        weight = {k: mp.exp(-abs(k) * rate) for k in range(-reach - shift, reach + shift + 1)}
        loss = {k: (abs(k) - abs(k - shift)) * rate for k in range(-reach, reach + 1)}
    else:
        assert isinstance(part, DiscreteGaussian)
        rate = mpf(part.sigma2.denominator) / (2 * part.sigma2.numerator)
        shift, reach = part.sensitivity, 12 + int(12 / mp.sqrt(rate))
        weight = {k: mp.exp(-k * k * rate) for k in range(-reach - shift, reach + shift + 1)}
        loss = {k: (k * k - (k - shift) ** 2) * rate for k in range(-reach, reach + 1)}
    total = sum(weight.values())
    merged: dict[mpf, mpf] = {}
    for k, value in loss.items():
        merged[value] = merged.get(value, mpf(0)) + weight[k - shift] / total
    return list(merged.items())


def reference_delta(parts: list[Part], epsilon: Fraction) -> mpf:
    """E (1 − e^{ε − T})⁺ over all combinations of outcomes."""
    at = mpf(epsilon.numerator) / epsilon.denominator
    total = mpf(0)
    for combination in itertools.product(*(losses(part) for part in parts)):
        sum_of_losses = sum(loss for loss, _ in combination)
        if sum_of_losses > at:
            total += (1 - mp.exp(at - sum_of_losses)) * mp.fprod(p for _, p in combination)
    return total


laplaces = st.builds(DiscreteLaplace, st.fractions(Fraction(1, 2), 6, max_denominator=12), st.integers(1, 3))
gaussians = st.builds(DiscreteGaussian, st.fractions(Fraction(1, 4), Fraction(9, 2), max_denominator=6), st.integers(1, 2))
pures = st.builds(PureDP, st.fractions(Fraction(1, 10), 2, max_denominator=20))


@settings(max_examples=25, deadline=None)
@given(
    few=st.lists(st.one_of(laplaces, pures), min_size=1, max_size=4),
    one=st.lists(gaussians, max_size=1),
    epsilon=st.fractions(0, 4, max_denominator=12),
)
def test_the_bounds_bracket_the_sum_over_all_outcomes(few: list[Part], one: list[Part], epsilon: Fraction) -> None:
    parts = few + one
    truth = reference_delta(parts, epsilon)
    bounds = compose(parts).delta_at(epsilon)
    assert bounds.lower <= truth + mpf(10) ** -20
    assert bounds.upper >= truth - mpf(10) ** -20
    assert bounds.upper - bounds.lower <= 0.2 * truth + mpf(10) ** -9


@pytest.mark.one_in(3)
@settings(max_examples=8, deadline=None)
@given(parts=st.lists(st.tuples(st.one_of(laplaces, gaussians, pures), st.integers(1, 30)), min_size=1, max_size=5))
@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-14, 1e-100])
def test_epsilon_and_delta_bounds_agree(parts: list[tuple[Part, int]], delta: float) -> None:
    total = compose(parts)
    low, high = total.epsilon_at(Fraction(delta))
    assert 0 <= low <= high
    if high == math.inf:
        return
    assert total.delta_at(Fraction(high)).upper <= delta * 1.02
    assert total.delta_at(Fraction(low)).lower >= delta * 0.9 or low == 0
    # Never more than the simplest sum of all.
    most = sum(count * losses_most(part) for part, count in parts)
    assert high <= most * (1 + 1e-12)


def losses_most(part: Part) -> float:
    if isinstance(part, PureDP):
        return float(part.epsilon)
    return float(part.guarantee.epsilon) if isinstance(part, DiscreteLaplace) else math.inf


def test_gaussians_compose_in_closed_form() -> None:
    for count in (1, 7, 1000):
        total = compose([(GDP("0.05"), count)])
        exact = count * GDP("0.05")
        for delta in ("0.1", "1e-6", "1e-14", "1e-200"):
            low, high = total.epsilon_at(delta)
            assert low <= exact.epsilon_at(delta) * (1 + 1e-15)
            assert high == pytest.approx(exact.epsilon_at(delta), rel=1e-10)
            assert low == pytest.approx(high, rel=1e-10)
    mixed = compose([GDP("0.3"), RoundedGaussian(100, 4)])
    assert mixed.epsilon_at("1e-6").upper == pytest.approx(GDP("0.5").epsilon_at("1e-6"), rel=1e-12)


@pytest.mark.parametrize("place", range(40))
def test_the_delta_of_gaussians_alone_is_never_below_the_truth_by_one_rounding(place: int) -> None:
    variance, epsilon = Fraction(7919 * place + 3, 104729), Fraction(place, 8)
    mp.dps = 60
    mu, e = mp.sqrt(mpf(variance.numerator) / variance.denominator), mpf(epsilon.numerator) / epsilon.denominator
    truth = mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)
    found = compose([(RoundedGaussian(1 / variance, 1), 1)]).delta_at(epsilon)
    assert found.lower <= truth <= found.upper


def test_identical_lattices_are_exact_to_rounding() -> None:
    bounds = compose([(DiscreteLaplace(100), 1000)]).delta_at(1)
    assert bounds.lower <= 1.083117e-4 <= bounds.upper or bounds.upper == pytest.approx(1.083117e-4, rel=1e-6)
    assert bounds.upper - bounds.lower < 1e-9 * bounds.upper
    for delta in ("1e-6", "1e-14", "1e-250"):
        low, high = compose([(DiscreteGaussian(40), 50)]).epsilon_at(delta)
        assert low <= high <= low * (1 + 1e-9)


def test_a_thousand_heterogeneous_mechanisms() -> None:
    parts: list[tuple[Part, int]] = [(DiscreteLaplace(Fraction(100 + 7 * i, 10)), 10) for i in range(50)]
    parts += [(DiscreteGaussian(Fraction(2000 + 937 * i, 10)), 10) for i in range(50)]
    total = compose(parts)
    for delta in ("1e-6", "1e-14", "1e-100"):
        low, high = total.epsilon_at(delta)
        assert low <= high <= low * 1.001
    gaussians = compose([(GDP(part.guarantee.epsilon), n) for part, n in parts if isinstance(part, DiscreteLaplace)])
    assert compose(parts[:50]).epsilon_at("1e-6").upper < gaussians.epsilon_at("1e-6").upper * 1.01


def test_a_heterogeneous_mix_against_a_fine_grid() -> None:
    # An independent accountant: losses rounded to the nearest point of a grid, tilted, convolved by FFT. Its errors
    # cancel at random, and stay far below the width allowed here.
    grid, tilt, size = 1e-4, 3.0, 1 << 18
    parts: list[tuple[Part, int]] = [(DiscreteLaplace(Fraction(150 + 71 * i, 10)), 50) for i in range(10)]
    parts += [(DiscreteGaussian(Fraction(3000 + 8377 * i, 10)), 50) for i in range(10)]
    spectrum, cumulant = np.ones(size // 2 + 1, dtype=complex), 0.0
    for part, count in parts:
        pairs = coarse_losses(part)
        weights = pairs[1] * np.exp(tilt * pairs[0])
        mass = weights.sum()
        cumulant += count * math.log(mass)
        row = np.zeros(size)
        np.add.at(row, np.rint(pairs[0] / grid).astype(int) % size, weights / mass)
        spectrum *= np.fft.rfft(row) ** count
    masses, places = np.fft.irfft(spectrum, size), np.arange(size)
    values = np.where(places < size // 2, places, places - size) * grid
    for delta in (1e-3, 1e-6, 1e-10):
        low, high = compose(parts).epsilon_at(Fraction(delta))
        for epsilon, side in ((low * 0.999, 1), (high * 1.001, -1)):
            beyond = values > epsilon
            found = float((masses * np.exp(cumulant - tilt * values) * (1 - np.exp(epsilon - values)))[beyond].sum())
            assert side * (found - delta) > 0


def coarse_losses(part: Part) -> np.ndarray[Any, Any]:
    """Losses and probabilities, in doubles."""
    if isinstance(part, DiscreteLaplace):
        rate = float(1 / part.scale)
        return np.array([[-rate, rate], [1 / (1 + math.exp(rate)), 1 / (1 + math.exp(-rate))]])
    assert isinstance(part, DiscreteGaussian)
    s2 = float(part.sigma2)
    x = np.arange(-int(12 * math.sqrt(s2)), int(12 * math.sqrt(s2)) + 5)
    weights = np.exp(-x * x / (2 * s2))
    return np.array([x / s2 + 1 / (2 * s2), weights / weights.sum()])


def test_infinite_losses_are_kept_apart() -> None:
    total = compose([(ApproxDP(1, "1e-3"), 3)])
    revealed = 1 - (1 - Fraction(1, 1000)) ** 3
    assert total.delta_at(3).upper == pytest.approx(float(revealed), rel=1e-15)
    assert total.delta_at(3).upper >= revealed
    assert total.epsilon_at(revealed / 2) == (math.inf, math.inf)
    assert total.epsilon_at(revealed).upper == 3
    assert compose([PureDP(0)]).epsilon_at("1e-6") == (0, 0)
    assert compose([PureDP(0), PureDP(1)]).epsilon_at(0) == (1, 1)
    assert compose([ApproxDP(0, "0.1")]).delta_at(0).upper == 0.1


def test_one_mechanism_is_its_own_profile() -> None:
    for noise in (DiscreteLaplace(3, 2), DiscreteGaussian(9, 2), DiscreteGaussian("0.3")):
        for epsilon in (0, "0.1", "0.4", 2):
            bounds = compose([noise]).delta_at(epsilon)
            exact = noise.delta_at(epsilon)
            assert bounds.lower <= exact
            assert bounds.upper >= exact * (1 - 1e-15)
            assert bounds.upper <= exact * (1 + 1e-9) + 1e-300


@pytest.mark.parametrize("bad", [ZCDP(1), RDP([(2, 1)]), 1, "x", None])
def test_averages_have_no_exact_composition(bad: object) -> None:
    with pytest.raises(ArgumentError, match="no exact composition"):
        compose([bad])  # type: ignore[list-item]


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_counts_are_positive_integers(count: object) -> None:
    with pytest.raises(ArgumentError, match="repetitions"):
        compose([(PureDP(1), count)])  # type: ignore[list-item]


def test_bad_targets_are_refused() -> None:
    total = compose([PureDP(1)])
    for bad in (-1, math.nan, True):
        with pytest.raises(ArgumentError, match="epsilon"):
            total.delta_at(bad)
    for bad in (1, -1, math.nan):
        with pytest.raises(ArgumentError, match="delta"):
            total.epsilon_at(bad)


PARTS: list[Part] = [DiscreteLaplace(2), DiscreteLaplace(3, 2), PureDP("0.7")]


def violations() -> int:
    """How many bounds lie on the wrong side of the sum over all outcomes."""
    wrong = 0
    for epsilon in (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(3, 2)):
        truth = reference_delta(PARTS, epsilon)
        bounds = compose(PARTS).delta_at(epsilon)
        wrong += (bounds.lower > truth) + (bounds.upper < truth)
    return wrong


def test_coarse_settings_widen_the_bounds_and_never_break_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_contour, "_MOST_LATTICE", 0)
    for points in (64, 300):
        monkeypatch.setattr(_contour, "_MOST_POINTS", points)
        for margin in (0.5, 3.0, 30.0):
            monkeypatch.setattr(_contour, "_MARGIN", margin)
            assert violations() == 0


def test_a_mutant_that_forgets_the_truncated_part_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_contour, "_MOST_LATTICE", 0)
    monkeypatch.setattr(_contour, "_MOST_POINTS", 64)

    def forgetful(*arguments: Any, **keywords: Any) -> _contour.Contour:
        return replace(_contour.integrate(*arguments, **keywords), truncated=0.0)

    monkeypatch.setattr(compose_module, "integrate", forgetful)
    assert violations() > 0


def test_a_mutant_that_forgets_the_aliases_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_contour, "_MARGIN", 0.5)
    monkeypatch.setattr(_contour.Contour, "_aliases", lambda self, epsilon: 0.0)
    assert violations() > 0
