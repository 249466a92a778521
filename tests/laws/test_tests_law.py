"""The size of the tests, by enumeration of rows and noise; and planted errors that it must notice.

Under the hypothesis P(p ≤ α) ≤ α for every α. It is enough to look at each p-value that can occur as a level.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from discreet.noise.bits import system_bits
from discreet.noise.single.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.releases.hypotheses import estimated_margins
from discreet.releases.hypotheses.estimated_margins import Association, Part
from discreet.releases.hypotheses.given_margins import Corner, drawn_p_value, largest_association
from discreet.releases.hypotheses.masses import Term, hypergeometric, spread
from discreet.releases.hypotheses.search import Box, smallest_level
from discreet.releases.hypotheses.tables import hypergeometric_tables

from .mutants import Mutant

LAWS = [DiscreteLaplace(Fraction(3, 2)), DiscreteGaussian(Fraction(2)), RoundedGaussian(Fraction(3))]
SIDES = ["two-sided", "greater", "less"]
REACH = 40
MASSES = {law: {k: law.pmf(k)[1] for k in range(-REACH, REACH + 1)} for law in LAWS}


def worst_excess(p_values):
    """The largest P(p ≤ α) - α over all α, of pairs of a p-value and its probability."""
    total, worst = 0.0, -1.0
    ordered = sorted(p_values)
    for place, (p, chance) in enumerate(ordered):
        total += chance
        if place + 1 == len(ordered) or ordered[place + 1][0] > p:
            worst = max(worst, total - p)
    return worst


def corner_excess(rows, first, second, law, alternative, *, used=None):
    corner = Corner(rows, first, second, used or law)
    found = {y: corner.p_value(y, alternative) for y in range(-REACH, rows + REACH + 1)}
    masses = MASSES[law]
    pairs = []
    for h in range(max(0, first + second - rows), min(first, second) + 1):
        chance = comb(first, h) * comb(rows - first, second - h) / comb(rows, second)
        pairs += [(found[h + k], chance * mass) for k, mass in masses.items()]
    return worst_excess(pairs)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("alternative", SIDES)
def test_beside_exact_margins_no_table_of_few_rows_exceeds_its_level(law, alternative):
    for rows in (1, 3, 6):
        for first, second in product(range(rows + 1), repeat=2):
            assert corner_excess(rows, first, second, law, alternative) < 1e-8  # beyond 40 the noise has less


def test_the_size_notices_a_test_that_ignores_noise():
    ignoring = DiscreteLaplace(Fraction(1, 40))
    assert corner_excess(8, 4, 4, LAWS[0], "two-sided", used=ignoring) > 0.1


def test_tables_under_the_hypothesis_have_their_law():
    """Chi-square over all tables with the margins, at an error rate of one in a million (20 tables)."""
    rows, columns, times = np.array([3, 2, 2]), np.array([4, 3]), 60_000
    drawn = hypergeometric_tables(rows, columns, times, system_bits())
    keys, seen = np.unique(drawn[:, :, 0], axis=0, return_counts=True)
    whole = comb(7, 4)
    expected = np.array([comb(3, a) * comb(2, b) * comb(2, c) / whole * times for a, b, c in keys])
    assert expected.sum() == pytest.approx(times)
    assert ((seen - expected) ** 2 / expected).sum() < 60
    assert (drawn.sum(axis=2) == rows).all()
    assert (drawn.sum(axis=1) == columns).all()


@pytest.mark.slow
def test_draws_keep_their_level_and_a_count_without_the_table_itself_is_noticed():
    """At the level 1/19 of 19 draws: rejected with probability 1/20, and with 1/10 if the table itself is not counted.

    Of 4,000 tables fewer than 295, and at least 295, but for a probability below 1e-8.
    """
    rows, columns = np.array([30, 20]), np.array([20, 15, 15])
    statistic, bits = largest_association(rows, columns, 1.0), system_bits()

    def null(times, more):
        return hypergeometric_tables(rows, columns, times, more)

    drawn = [drawn_p_value(one, statistic, null, 19, bits) for one in null(4000, bits)]
    assert sum(one.p_value <= Fraction(1, 19) for one in drawn) < 295
    assert sum(Fraction(one.as_large, one.draws) <= Fraction(1, 19) for one in drawn) >= 295


# Noisy margins ------------------------------------------------------------------------------------------------------------


def table_of(values, law, alternative="two-sided", whole=None):
    """The first cell of a 2 x 2 table with independent noise."""
    values = np.array(values)
    inside = [(law, i == 0, j == 0) for i in range(2) for j in range(2)]
    total = Part(int(values.sum()), (law,) * 4) if whole is None else Part(whole, ())
    row, column = Part(int(values[0].sum()), (law,) * 2), Part(int(values[:, 0].sum()), (law,) * 2)
    return Association(Part(int(values[0, 0]), (law,)), row, column, total, inside, alternative)


def brute_force(published, law, margins, alternative):
    """P(a statistic as large as the published one) at these margins, by a sum over counts and four noises."""
    rows, first, second = margins
    r, c = first / rows, second / rows
    (ya, yb), (yc, yd) = published
    seen = (1 - r) * (1 - c) * ya - (1 - r) * c * yb - r * (1 - c) * yc + r * c * yd
    reach = np.arange(-12, 13)
    mass = np.array([law.pmf(int(k))[0] for k in reach])
    noise = np.zeros(1)
    weight = np.ones(1)
    for factor in ((1 - r) * (1 - c), -(1 - r) * c, -r * (1 - c), r * c):
        noise = (noise[:, None] + factor * reach).ravel()
        weight = (weight[:, None] * mass).ravel()
    total = 0.0
    for h in range(max(0, first + second - rows), min(first, second) + 1):
        chance = comb(first, h) * comb(rows - first, second - h) / comb(rows, second)
        drawn = h - rows * r * c + noise
        far = {"two-sided": np.abs(drawn) >= abs(seen) + 1e-7, "greater": drawn >= seen + 1e-7, "less": drawn <= seen - 1e-7}
        total += chance * float(weight[far[alternative]].sum())
    return total


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("alternative", SIDES)
def test_no_margins_of_a_box_have_a_larger_p_value_than_its_bound(alternative):
    law = DiscreteLaplace(Fraction(1, 2))
    apart = 0.002
    checked = 0
    for published in ([[14, 6], [5, 15]], [[9, 1], [3, 7]]):
        rows = int(np.sum(published))
        one = table_of(published, law, alternative)
        first, second = sum(published[0]), published[0][0] + published[1][0]
        for wide, tall in ((1, 0), (2, 0), (1, 1), (3, 2)):
            box = Box((rows - tall, first - wide, second - wide), (rows + tall, first + wide, second + wide))
            bound = one.above(box, apart, 0.99)
            for margins in (
                (n, a, b)
                for n in (rows - tall, rows + tall)
                for a in (box.lows[1], box.highs[1])
                for b in (box.lows[2], first)
            ):
                if box.lows[2] <= margins[2] <= box.highs[2]:
                    assert brute_force(published, law, margins, alternative) <= bound + apart + 1e-9
                    checked += 1
    assert checked >= 24


def test_the_bound_notices_boxes_that_are_not_widened(monkeypatch):
    """Without the distance of coupled draws and of noise a bound is below some p-value of its box."""
    published, law = [[14, 6], [5, 15]], DiscreteLaplace(Fraction(1, 2))
    one, box = table_of(published, law), Box((40, 10, 9), (40, 30, 29))
    p_values = [brute_force(published, law, (40, a, b), "two-sided") for a in (10, 20, 30) for b in (9, 19, 29)]
    assert one.above(box, 0.002, 0.99) + 0.002 >= max(p_values)
    monkeypatch.setattr(Association, "_least", lambda self, _shares: abs(self._statistic(0.5, 0.475)))
    monkeypatch.setattr(Association, "_moved_noise", lambda *_: 0.0)
    monkeypatch.setattr(estimated_margins, "moved_count", lambda *_: 0.0)
    assert one.above(box, 0.002, 0.99) + 0.002 < max(p_values)


def test_the_bound_notices_noise_that_moves_with_the_margins(monkeypatch):
    """Few rows and wide noise: at the corner the noise of the statistic is wider than at the centre of the box."""
    law, box, corner = DiscreteLaplace(Fraction(9, 4)), Box((12, 6, 1), (12, 10, 5)), (12, 10, 1)
    published = [[7, 2], [-2, 5]]
    true = brute_force(published, law, corner, "greater")
    assert table_of(published, law, "greater").above(box, 0.002, 0.99) + 0.002 >= true
    Mutant(Association, "above", "- self._moved_noise((r, c), shares, apart / 2)", "").plant(monkeypatch)
    assert table_of(published, law, "greater").above(box, 0.002, 0.99) + 0.002 < true


@pytest.mark.slow
def test_the_p_value_is_never_below_the_one_at_the_true_margins():
    """So it is valid wherever the margins are in the box: drawn tables, the p-value against the brute force at the truth."""
    law, draw = DiscreteLaplace(Fraction(1, 2)), np.random.default_rng(7)
    checked = 0
    for _ in range(4):
        table = draw.multinomial(40, [0.4, 0.15, 0.15, 0.3]).reshape(2, 2)
        noise = np.array([int(law.sample(1, system_bits())[0]) for _ in range(4)]).reshape(2, 2)
        published = (table + noise).tolist()
        truth = 40, int(table[0].sum()), int(table[:, 0].sum())
        at_truth = brute_force(published, law, truth, "two-sided")
        for whole in (40, None):
            one = table_of(published, law, whole=whole)
            level = smallest_level(one, 24)
            box = one.box(0.1 * level)
            if box and all(low <= true <= high for low, true, high in zip(box.lows, truth, box.highs, strict=True)):
                assert level >= min(at_truth, 0.45) * 0.999
                checked += 1
    assert checked


def test_spreads_enclose_sums_of_noises():
    """Tails of a sum with factors that are no integers, against the enumeration of two noises."""
    law = DiscreteLaplace(Fraction(2))
    found = spread([Term(0.3, law), Term(-0.55, law)])
    reach = np.arange(-70, 71)
    mass = np.array([law.pmf(int(k))[0] for k in reach])
    sums = 0.3 * reach[:, None] - 0.55 * reach[None, :]
    weights = mass[:, None] * mass[None, :]
    for x in (-1.0, 0.0, 0.4, 2.0, 5.0):
        true = float(weights[sums >= x - 1e-9].sum())
        bound = float(found.at_least(np.array([x]))[0])
        assert true - 1e-9 <= bound <= true + 0.03
    assert float(weights[np.abs(sums) > found.half_width(0.01)].sum()) <= 0.01


def test_masses_of_counts_are_hypergeometric():
    for rows, first, second in ((0, 0, 0), (5, 0, 3), (7, 7, 3), (40, 11, 30)):
        count = hypergeometric(rows, first, second)
        for place, mass in enumerate(count.masses):
            h = count.first + place
            assert mass == pytest.approx(comb(first, h) * comb(rows - first, second - h) / comb(rows, second), abs=1e-12)
