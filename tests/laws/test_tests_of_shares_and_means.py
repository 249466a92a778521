"""The size of the tests of a share and of means, by enumeration of rows and noise; planted errors that it must notice."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from discreet.noise.single.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.releases.derived.linear import Cell, Linear, constant
from discreet.releases.hypotheses.bounded_means import MOMENTS, Group, MeansApart
from discreet.releases.hypotheses.estimated_margins import Part
from discreet.releases.hypotheses.proportions import Share, single_p_value
from discreet.releases.hypotheses.search import Box, rejects

LAWS = [DiscreteLaplace(Fraction(3, 2)), DiscreteGaussian(Fraction(2)), RoundedGaussian(Fraction(3))]
SMALL = DiscreteLaplace(Fraction(1, 2))
REACH = 12


def masses_of(law, reach=REACH):
    return {k: law.pmf(k)[0] for k in range(-reach, reach + 1)}


def binomial(rows, share):
    return [comb(rows, h) * share**h * (1 - share) ** (rows - h) for h in range(rows + 1)]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_share_of_a_public_number_of_rows_keeps_every_level(law, alternative):
    """P(p ≤ α) ≤ α at each p-value that occurs."""
    masses = masses_of(law, 40)
    for rows, share in ((1, Fraction(1, 2)), (7, Fraction(1, 10)), (9, Fraction(1, 3))):
        chances = {}
        for h, chance in enumerate(binomial(rows, float(share))):
            for k, mass in masses.items():
                chances[h + k] = chances.get(h + k, 0.0) + chance * mass
        found = sorted((single_p_value(y, rows, share, law, alternative), chance) for y, chance in chances.items())
        total = 0.0
        for p, chance in found:
            total += chance
            assert total <= p + 1e-8 or any(q == p for q, _ in found[found.index((p, chance)) + 1 :])


def share_size(level, law, used, *, rows, share, plugged=False):
    """P(rejected at the level), by a sum over the rows with the label and both noises."""
    masses = masses_of(law, 6)
    total = 0.0
    decided = {}
    for h, chance in enumerate(binomial(rows, share)):
        for k, mass in masses.items():
            for j, other in masses.items():
                inside, outside = h + k, rows - h + j
                if (inside, outside) not in decided:
                    one = Share(Part(inside, (used,)), Part(outside, (used,)), share, None, "two-sided")
                    if plugged:
                        point = (max(inside + outside, 0),)
                        decided[inside, outside] = one.above(Box(point, point), 1e-9, level) <= level
                    else:
                        decided[inside, outside] = rejects(one, level, 20)
                total += chance * mass * other * decided[inside, outside]
    return total


@pytest.mark.slow
def test_a_share_of_a_noisy_number_of_rows_keeps_its_level():
    assert 0.02 < share_size(0.3, SMALL, SMALL, rows=7, share=0.5) <= 0.3
    assert share_size(0.05, SMALL, SMALL, rows=7, share=0.2) <= 0.05


def test_the_size_of_a_share_notices_ignored_noise():
    assert share_size(0.05, LAWS[0], DiscreteLaplace(Fraction(1, 5)), rows=5, share=0.5, plugged=True) > 0.08


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_moments_of_noise_are_bounded_from_above(law):
    masses = masses_of(law, 200)
    rates = np.array([0.01, 0.1, 0.3, 0.6])
    true = [np.log(sum(mass * np.exp(rate * k) for k, mass in masses.items())) for rate in rates]
    bound = MOMENTS[type(law)](law, rates)
    assert (bound >= np.array(true) - 1e-9).all()
    assert (bound <= np.array(true) + rates / 2 + 0.1 * rates**2 + 1e-6).all()


def group(total, rows, law=SMALL, name="a"):
    """A noisy sum over an exact number of rows."""
    return Group(Linear(Fraction(total), ((Fraction(1), Cell("d", name, 0, law, tied=False)),)), constant(Fraction(rows)))


def means_size(level, mean, rows, *, deviation=float("inf"), beyond=3):
    """P(rejected) for values 0 and 1, which have the largest variance of all with this mean."""
    masses = masses_of(SMALL, 4)
    sums = {}
    for h, chance in enumerate(binomial(rows, mean)):
        for k, mass in masses.items():
            sums[h + k] = sums.get(h + k, 0.0) + chance * mass
    total = 0.0
    for one, chance in sums.items():
        for other, also in sums.items():
            if abs(one - other) > beyond:
                found = MeansApart(0.0, 1.0, group(one, rows), group(other, rows, name="b"), (1, -1), deviation)
                total += chance * also * found.rejects(level)
    return total


@pytest.mark.slow
def test_equal_means_keep_their_level():
    assert 0 < means_size(0.4, 0.5, 8) <= 0.4


@pytest.mark.slow
def test_a_deviation_that_is_too_small_is_noticed():
    assert means_size(0.2, 0.5, 8, deviation=0.01, beyond=1) > 0.2


def test_a_count_that_may_be_of_nobody_rejects_nothing():
    noisy = Group(group(90, 1).total, Linear(Fraction(2), ((Fraction(1), Cell("d", "n", 0, LAWS[0], tied=False)),)))
    assert not MeansApart(0.0, 1.0, noisy, group(0, 50, name="b"), (1, -1), float("inf")).rejects(0.4)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_of_a_noisy_number_of_rows_both_counts_have_noise(alternative):
    """The p-value at a number of rows against the sum over the count and both noises."""
    law, rows, share = DiscreteLaplace(Fraction(3, 2)), 6, 0.7
    masses, side = masses_of(law, 25), {"two-sided": abs, "greater": lambda s: s, "less": lambda s: -s}[alternative]
    for inside, outside in ((9, -3), (1, 5), (5, 4)):
        one = Share(Part(inside, (law,)), Part(outside, (law,)), share, None, alternative)
        seen = side((1 - share) * inside - share * outside) - 1e-9
        true = sum(
            chance * mass * other
            for h, chance in enumerate(binomial(rows, share))
            for k, mass in masses.items()
            for j, other in masses.items()
            if side((1 - share) * (h + k) - share * (rows - h + j)) >= seen
        )
        assert true - 1e-6 <= one.at((rows,)) / 0.99 <= true + 2e-3
