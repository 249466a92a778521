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


def p_value_at(one, rows, mean, variance, offs):
    """The p-value of T10 at one point of what is not known, the noise `offs` away from the continuous one."""
    apart, spread, shares = [], [], []
    for group, n, (off, of_count) in zip(one.groups, rows, offs, strict=True):
        numbers = float(group.total.value) + off, float(group.count.value) + of_count
        noise = [*one_variance._variances(group.total, 1.0), *one_variance._variances(group.count, mean**2)]
        whole = n * variance + sum(size for size, _ in noise)
        apart.append((numbers[0] - mean * numbers[1]) / n)
        spread.append(whole / n**2)
        mixed = tuple(size / whole for size, is_mixed in noise if is_mixed)
        shares.append(one_variance._Shares(1 - sum(mixed), mixed))
    apart, weights = np.array(apart), 1 / np.array(spread)
    centre = (weights * apart).sum() / weights.sum()
    return one_variance._tail(len(rows) - 1, float((weights * (apart - centre) ** 2).sum()), shares)


BOXES = {
    "a point": ((40, 40), (6, 6), (100, 100)),
    "rows": ((30, 50), (6, 6), (100, 100)),
    "more rows than are counted, and the mean": ((60, 60), (2, 10), (100, 100)),
    "the variance": ((40, 40), (6, 6), (60, 160)),
    "everything": ((37, 43), (5, 7), (90, 110)),
}


@pytest.mark.parametrize("laws", [LAPLACE, GAUSSIAN], ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("box", BOXES)
def test_no_point_of_a_box_has_a_larger_p_value(box, laws):
    """At the corners and within, with the noise moved by as much as it is rounded."""
    draw, (rows, means, variances) = np.random.default_rng(13), BOXES[box]
    one = groups_of([[150, 30, 0], [260, 41, 0], [420, 52, 0]], laws)
    said = one._p_value(one_variance._Bounds([rows] * 3, means, variances[1]), means, variances)
    off = [(one_variance._off(group.total), one_variance._off(group.count)) for group in one.groups]
    assert min(min(pair) for pair in off) >= 0.5
    for _ in range(300):
        at = [draw.choice([low, high, draw.uniform(low, high)]) for low, high in (rows, rows, rows, means, variances)]
        moved = [(draw.choice([-1, 1]) * of_total, draw.choice([-1, 1]) * of_count) for of_total, of_count in off]
        assert p_value_at(one, at[:3], at[3], at[4], moved) <= said * (1 + 1e-6)


def test_what_is_not_known_has_its_part_of_the_level(monkeypatch):
    """Four parts of 0.02, so that 0.92 is left for the statistic."""
    one = groups_of(drawn(np.random.default_rng(14), LAPLACE), LAPLACE)
    for part, rejected in ((0.919, True), (0.921, False)):
        monkeypatch.setattr(OneVariance, "_p_value", lambda *_given, part=part: part * 0.1)
        assert one.rejects(0.1) == rejected


def test_squares_within_groups_are_bounded_with_the_noise_of_their_sums():
    """Sums that are as far too large as their noise goes make the published squares too small, by twice the mean of each."""
    laws = (DiscreteLaplace(Fraction(60)), *NONE[1:])
    values = np.rint(np.random.default_rng(15).normal(20, 10, (3, ROWS)))
    wide = float(linear(0, laws[0], "").half_width(1 - Fraction(0.01 / 9)))
    one = groups_of([[own.sum() + wide, ROWS, (own**2 - SHIFT).sum()] for own in values], laws)
    true = sum(((own - own.mean()) ** 2).sum() for own in values)
    assert one._squares_within() < 0.8 * true <= true <= one._most_within(0.01)
