"""Intervals of quantiles hold the quantile of the table that was asked at least as often as they say.

Two kinds of tables: random ones of every size, and those on which the two tests that can err do so as often as they may,
where the coverage is the level and hardly more; there an interval of a lower level is noticed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.cube.trees import Tree, choose_tree, level_counts
from discreet.noise import DiscreteLaplace, RoundedGaussian
from discreet.noise.bits import system_bits
from discreet.statistics.ranks import quantile_estimates

LEVEL = Fraction(95, 100)
LAWS = {
    "laplace": lambda depth: DiscreteLaplace(2 * depth),
    "little laplace": lambda depth: DiscreteLaplace(Fraction(depth, 4)),
    "gaussian": lambda depth: RoundedGaussian(10 * depth),
    "little gaussian": lambda depth: RoundedGaussian(Fraction(depth, 5)),
}
AT = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10), Fraction(1)]


def coverage(tree, law, counts, at, *, level=LEVEL, totals=None, repetitions=1):
    """(held, pairs) over all groups with records, for each q, of intervals that claim `level`."""
    exact = level_counts(tree, np.add.reduceat(counts, np.arange(0, tree.size, tree.width), axis=1))
    rows, bits = counts.sum(axis=1), system_bits()
    held = np.zeros((len(at), 2), dtype=np.int64)
    for _ in range(repetitions):
        noisy = [one + law.sample(one.size, bits).reshape(one.shape) for one in exact]
        found = quantile_estimates(tree, noisy, law, at, level=level, totals=rows if totals else None)
        for i, (q, estimate) in enumerate(zip(at, found, strict=True)):
            # The smallest code with at least max(q·N, 1) records up to it, in integers.
            wanted = np.maximum(-(-rows * q.numerator // q.denominator), 1)
            truth = (np.cumsum(counts, axis=1) < wanted[:, None]).sum(axis=1)
            inside = (estimate.low <= truth) & (truth <= estimate.high)
            held[i] += (int(inside[rows > 0].sum()), int((rows > 0).sum()))
    return held


def random_tables(size, groups):
    """Groups of 0 to 300 records, many below 10: anywhere, near one end, on a few codes, at both ends."""
    drawn = np.random.default_rng(11)
    counts = np.zeros((groups, size), dtype=np.int64)
    for group in range(groups):
        rows = int(drawn.choice([0, 1, 2, 3, 5, 9, 20, 60, 300]))
        codes = [
            drawn.integers(0, size, rows),
            np.minimum(drawn.geometric(8 / size, rows) - 1, size - 1),
            drawn.integers(0, 4, rows) * (size - 1) // 3,
            np.where(drawn.random(rows) < 0.5, 0, size - 1),
        ][group % 4]
        np.add.at(counts[group], codes, 1)
    return counts


def worst_tables(size, groups, q, side):
    """Thousand records of which `q` are just enough at the quantile, or one less before it, and no others near there."""
    counts = np.zeros((groups, size), dtype=np.int64)
    place = np.arange(groups) * (size - 1) // groups
    first = int(q * 1000) - (0 if side == "low" else 1)
    counts[np.arange(groups), place] = first
    counts[np.arange(groups), place + 1] = 1000 - first
    return counts


def enough(inside, pairs, level=0.95):
    """At least the level less 6 standard deviations, which a true level misses once in 10^9."""
    return inside >= level * pairs - 6 * (level * (1 - level) * pairs) ** 0.5


@pytest.mark.one_in(3)
@pytest.mark.parametrize("totals", [False, True], ids=["private", "public"])
@pytest.mark.parametrize("noise", LAWS)
def test_random_tables_are_covered(noise, totals):
    tree = Tree(100, 7, 2) if "laplace" in noise else Tree(100, 4, 3)
    held = coverage(tree, LAWS[noise](tree.depth), random_tables(100, 400), AT, totals=totals)
    assert all(enough(inside, pairs) for inside, pairs in held.tolist())


@pytest.mark.parametrize("side", ["low", "high"])
@pytest.mark.parametrize("tree", [Tree(100, 10, 2), Tree(100, 3, 4), Tree(30, 30, 1)], ids=str)
def test_where_only_one_side_can_err_it_errs_half_as_often_as_both_may(tree, side):
    tables = worst_tables(tree.size, 6_000, Fraction(1, 2), side)
    inside, pairs = coverage(tree, RoundedGaussian(200), tables, [Fraction(1, 2)])[0]
    assert enough(inside, pairs, level=0.975)
    assert inside <= 0.99 * pairs


def test_intervals_of_a_lower_level_would_be_noticed():
    tables = worst_tables(100, 6_000, Fraction(1, 2), "low")
    inside, pairs = coverage(Tree(100, 10, 2), RoundedGaussian(200), tables, [Fraction(1, 2)], level=Fraction(90, 100))[0]
    assert not enough(inside, pairs, level=0.975)


@pytest.mark.exhaustive
@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize(("size", "rows"), [(100, None), (1000, None), (1000, 60)], ids=["100", "1000", "wide"])
def test_a_hundred_thousand_pairs_are_covered(noise, size, rows, capsys):
    """Each of the twelve runs pools more than 10^5 pairs of a group with records and a quantile."""
    tree = choose_tree(size, lambda depth: LAWS[noise](depth).variance(), rows=rows)
    law, counts = LAWS[noise](tree.depth), random_tables(size, 500)
    held = coverage(tree, law, counts, AT, repetitions=50)
    few = coverage(tree, law, counts[counts.sum(axis=1) < 10], AT, repetitions=50)
    assert all(enough(inside, pairs) for inside, pairs in (*held.tolist(), *few.tolist()))
    assert held[:, 1].sum() > 100_000
    shares = [(one[:, 0] / one[:, 1]).round(4).tolist() for one in (held, few)]
    with capsys.disabled():
        print(f"\n{noise}, {tree}: all groups {shares[0]}, below 10 records {shares[1]}")


@pytest.mark.exhaustive
@pytest.mark.parametrize("side", ["low", "high"])
@pytest.mark.parametrize("q", [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2)])
@pytest.mark.parametrize("noise", LAWS)
def test_the_worst_tables_are_covered_at_every_quantile(noise, q, side):
    tree = Tree(100, 5, 3)
    inside, pairs = coverage(tree, LAWS[noise](3), worst_tables(100, 20_000, q, side), [q], repetitions=4)[0]
    assert enough(inside, pairs, level=0.975)
