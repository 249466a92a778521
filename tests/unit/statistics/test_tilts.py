"""The tilted set: its half-widths are never too small, and it is the set, but for blocks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.statistics import tilts
from discreet.statistics.tilts import reach_of, reach_of_scaled, tilted_range

LEVEL = Fraction(95, 100)
SCALES = ["0.3", "1", "1.01", "3", "12"]


def masses(law, most=260):
    values = np.arange(-most, most + 1)
    return values, np.array([law.pmf(int(abs(value)))[1] for value in values])


def beyond(sums, count, t, half):
    """P(|noise of S − tN| > half), from the exact masses of the whole numbers."""
    total, mass = np.zeros(1), np.ones(1)
    for noise, factor in [*sums, (count, -t)]:
        values, own = masses(noise.independent)
        total = (total[:, None] + factor * values).ravel()
        mass = (mass[:, None] * own).ravel()
        kept = mass > 1e-12
        total, mass = total[kept], mass[kept]
    return mass[np.abs(total) > half].sum()


@pytest.mark.one_in(36)
@pytest.mark.parametrize("kind", [GaussianNoise, LaplaceNoise])
@pytest.mark.parametrize("of_sum", SCALES)
@pytest.mark.parametrize("of_count", SCALES)
def test_the_half_width_of_a_tilted_noise_is_never_too_small(kind, of_sum, of_count):
    noise, count = kind(Fraction(of_sum)), kind(Fraction(of_count))
    at = np.array([0.0, 0.25, 0.5, 1, 1.5, 3])
    halves = reach_of([(noise, 1)], [(count, 1)], LEVEL)(at)
    assert all(np.diff(halves) >= 0)
    for t, half in zip(at, halves, strict=True):
        assert beyond([(noise, 1)], count, t, half) <= 0.05 + 1e-9


@pytest.mark.parametrize("kind", [GaussianNoise, LaplaceNoise])
def test_a_sum_of_two_parts_with_factors_is_covered_too(kind):
    parts = [(kind(Fraction(1)), 2), (kind(Fraction(2)), 1)]
    halves = reach_of(parts, [(kind(Fraction(1)), 1)], LEVEL)(np.array([0.5, 2.0]))
    for t, half in zip((0.5, 2.0), halves, strict=True):
        assert beyond(parts, kind(Fraction(1)), t, half) <= 0.05 + 1e-9


def test_without_the_slack_of_rounding_half_widths_would_be_too_small(monkeypatch):
    monkeypatch.setattr(tilts, "_rounding_of", lambda *_: 0)
    for kind, scale in ((GaussianNoise, "0.5"), (LaplaceNoise, "0.2")):
        noise, count = kind(Fraction("0.3")), kind(Fraction(scale))
        (half,) = reach_of([(noise, 1)], [(count, 1)], LEVEL)(np.array([0.5]))
        assert beyond([(noise, 1)], count, 0.5, half) > 0.06


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", [GaussianNoise, LaplaceNoise])
def test_many_noises_with_any_factors_are_covered(kind):
    """Two noises have the closed form, nine Laplace noises Chernoff's bound; against draws of 40,000 sums."""
    rng = np.random.default_rng(1)
    for many in (2, 9):
        factors = np.linspace(0.3, 2.0, many)
        noises = [kind(Fraction(4 + place)) for place in range(many)]
        (half,) = reach_of_scaled([(one, np.array([at])) for one, at in zip(noises, factors, strict=True)], LEVEL)
        drawn = sum(at * masses_drawn(one, rng) for one, at in zip(noises, factors, strict=True))
        missed = float((np.abs(drawn) > half).mean())
        assert 0.0 < missed <= 0.05 + 4 * (0.05 * 0.95 / 40_000) ** 0.5


def masses_drawn(noise, rng):
    """40,000 draws from the law of a noise, by its masses."""
    values = np.arange(-400, 401)
    chances = np.array([noise.independent.pmf(abs(int(value)))[0] for value in values])
    return rng.choice(values, 40_000, p=chances / chances.sum())


def test_noises_without_a_common_closed_form_have_none():
    assert reach_of([(GaussianNoise(Fraction(1)), 1)], [(LaplaceNoise(Fraction(1)), 1)], LEVEL) is None


def brute(s, n, reach, most):
    at = np.linspace(-most, most, 200_001)
    inside = at[np.abs(s - at * n) <= reach(np.abs(at))]
    return (inside.min(), inside.max()) if len(inside) else (-most, most)


def test_the_range_holds_the_set_and_little_more():
    reach = reach_of([(GaussianNoise(Fraction(900)), 1)], [(GaussianNoise(Fraction(4)), 1)], LEVEL)
    most = 50.0
    sums = np.array([0, 500, -2000, 4900, 30, -7000, 0, 5000], dtype=float)
    counts = np.array([100, 100, 100, 100, 0, 3, -5, -40], dtype=float)
    low, high = tilted_range(sums, counts, reach, (-most, most))
    for place, pair in enumerate(zip(sums, counts, strict=True)):
        wanted = brute(*pair, reach, most)
        assert low[place] <= wanted[0] + 1e-9
        assert high[place] >= wanted[1] - 1e-9
        if pair[1] >= 100:
            assert low[place] >= wanted[0] - 0.05
            assert high[place] <= wanted[1] + 0.05


def test_the_near_end_of_a_block_would_be_too_narrow():
    """The mutant that takes h at the end of a block that is nearer to 0."""
    reach = reach_of([(GaussianNoise(Fraction(1)), 1)], [(GaussianNoise(Fraction(400)), 1)], LEVEL)

    def near(at):
        return reach(np.maximum(at - 2 * 50.0 / 256, 0))

    sums, counts = np.array([800.0]), np.array([60.0])
    right, wrong = (tilted_range(sums, counts, one, (-50.0, 50.0)) for one in (reach, near))
    wanted = brute(800.0, 60.0, reach, 50.0)
    assert right[1][0] >= wanted[1] - 1e-9
    assert wrong[1][0] < wanted[1] - 1e-9


@pytest.mark.parametrize("scale", SCALES)
def test_a_discrete_laplace_number_is_coupled_to_a_continuous_one_within_1(scale):
    """O1: P(X ≥ k) ≤ P(Y ≥ k) ≤ P(X ≥ k − 1), the first inequality in this direction and no other."""
    law = LaplaceNoise(Fraction(scale)).independent
    masses_from_0 = [law.pmf(k)[1] for k in range(600)]
    for k in range(1, 30):
        discrete = sum(masses_from_0[k:])
        continuous = [np.exp(-j / float(Fraction(scale))) / 2 for j in (k, k - 1)]
        assert continuous[0] < discrete * (1 + 1e-9)
        assert discrete <= continuous[1] * (1 + 1e-9)
