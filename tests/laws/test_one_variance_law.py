"""Analysis of variance with noise: its size in simulations with a declared error rate, its parts, and planted errors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.releases.derived.linear import Cell, Linear
from discreet.releases.hypotheses import one_variance
from discreet.releases.hypotheses.one_variance import OneVariance, Sample

ROWS, REACH, SHIFT = 40, 50.0, 1250.0
LAPLACE = tuple(DiscreteLaplace(Fraction(scale)) for scale in (60, 2, 2000))
GAUSSIAN = tuple(RoundedGaussian(Fraction(variance)) for variance in (7200, 8, 8_000_000))
NONE = tuple(DiscreteLaplace(Fraction(1, 50)) for _ in range(3))


def linear(value, law, name):
    return Linear(Fraction(int(value)), ((Fraction(1), Cell("d", name, 0, law, tied=False)),))


def groups_of(released, laws):
    parts = [[linear(one[kind], laws[kind], f"{kind} {i}") for kind in range(3)] for i, one in enumerate(released)]
    return OneVariance([Sample(*one, SHIFT) for one in parts], REACH)


def drawn(draw, laws, means=(5, 5, 5), rows=ROWS, deviation=10):
    """Sum, count and sum of squares of three groups of rounded normal values, with noise."""
    found = []
    for mean in means:
        values = np.rint(draw.normal(mean, deviation, rows))
        exactly = values.sum(), rows, (values**2 - SHIFT).sum()
        noise = (_sample(draw, law) for law in laws)
        found.append([one + more for one, more in zip(exactly, noise, strict=True)])
    return found


def _sample(draw, law):
    if isinstance(law, RoundedGaussian):
        return round(draw.normal(0, float(law.sigma2) ** 0.5))
    q = np.exp(-1 / float(law.scale))
    return draw.geometric(1 - q) - draw.geometric(1 - q)


@pytest.mark.parametrize("laws", [LAPLACE, GAUSSIAN], ids=["Laplace", "Gaussian"])
def test_equal_means_are_rejected_no_more_often_than_the_level(laws):
    """200 simulations at the level 0.2: more than 75 with a probability below one in a million."""
    draw = np.random.default_rng(5)
    assert sum(groups_of(drawn(draw, laws), laws).rejects(0.2) for _ in range(200)) <= 75


@pytest.mark.slow
def test_the_size_notices_noise_that_is_ignored():
    """At the level 0.02 more than 14 of 120 would have a probability below one in a million."""
    draw, wide = np.random.default_rng(6), tuple(DiscreteLaplace(law.scale * 4) for law in LAPLACE)
    assert sum(groups_of(drawn(draw, wide), NONE).rejects(0.02) for _ in range(120)) > 14


@pytest.mark.slow
def test_the_size_notices_a_variance_that_is_plugged_in(monkeypatch):
    """With much noise in the squares the published variance may be far too small; the same bound."""
    draw, laws = np.random.default_rng(7), tuple(DiscreteLaplace(Fraction(scale)) for scale in (1, Fraction(1, 9), 2500))
    monkeypatch.setattr(OneVariance, "_most_within", lambda self, _failing: max(self._squares_within(), 1.0))
    monkeypatch.setattr(one_variance, "_chi_low", lambda free, _failing: free)
    assert sum(groups_of(drawn(draw, laws, rows=12), laws).rejects(0.02) for _ in range(120)) > 14


@pytest.mark.parametrize("laws", [LAPLACE, GAUSSIAN], ids=["Laplace", "Gaussian"])
def test_means_far_apart_are_found(laws):
    draw = np.random.default_rng(8)
    one = groups_of(drawn(draw, laws, means=(-10, 5, 20), rows=400), laws)
    assert one.rejects(0.001)
    assert one.statistic() > 10
    # What is rejected at a level is rejected at every higher one: the smallest level is a p-value.
    assert all(one.rejects(level) for level in (0.01, 0.1, 0.4))


def test_nothing_is_rejected_where_a_group_may_be_empty():
    one = groups_of([[4000, 3, -3000], [0, 400, -450_000]], LAPLACE)
    assert not one.rejects(0.4)


def test_the_least_distance_is_the_least_of_all_means():
    draw = np.random.default_rng(9)
    for _ in range(40):
        lows = draw.normal(0, 3, 4)
        ends, weights = np.stack([lows, lows + draw.exponential(1, 4)], axis=1), draw.exponential(1, 4)
        places = np.linspace(-15, 15, 20_001)[:, None]
        near = np.clip(places, ends[:, 0], ends[:, 1])
        true = float(((near - places) ** 2 * weights).sum(axis=1).min())
        assert one_variance._least_squares(ends, weights) == pytest.approx(true, abs=1e-4)


def test_the_tail_is_above_the_law_of_mixed_normal_numbers():
    """Three groups with normal rows and two Laplace noises each, against 200,000 draws; not far above."""
    draw, times = np.random.default_rng(10), 200_000
    shares = [(0.6, (0.3, 0.1)), (0.8, (0.2,)), (1.0, ())]
    numbers = np.zeros((times, 3))
    for place, (fixed, mixed) in enumerate(shares):
        variance = fixed + sum(size * draw.exponential(1, times) for size in mixed)
        numbers[:, place] = draw.standard_normal(times) * np.sqrt(variance)
    apart = ((numbers - numbers.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    said = [one_variance._Shares(fixed, mixed) for fixed, mixed in shares]
    for edge in (3.0, 6.0, 10.0):
        true = float((apart >= edge).mean())
        bound = one_variance._tail(2, edge, said)
        assert true <= bound + 6 * (true / times) ** 0.5
        assert bound <= 4 * true


def test_shares_are_the_largest_between_their_ends():
    noise, less, rows = [(4.0, True), (3.0, True)], [(4.0, True), (1.0, True)], (10.0, 12.0)
    fixed, mixed = one_variance._fixed(less, rows[1]), one_variance._mixed(noise, less, rows[0])
    for own in np.linspace(*rows, 9):
        for count in np.linspace(1, 3, 9):
            whole = own + 4 + count
            assert own / whole <= fixed
            assert 4 / whole <= mixed[0]
            assert count / whole <= mixed[1]
