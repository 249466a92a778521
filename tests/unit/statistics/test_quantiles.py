"""Quantiles of trees: what they are without noise, an executable reference, the law of the tests, and odd counts."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.cube.trees import Tree, consistent_leaves, level_counts
from discreet.errors import ArgumentError
from discreet.noise import DiscreteLaplace, RoundedGaussian, SumOfNoises
from discreet.statistics import ranks as quantiles
from discreet.statistics.ranks import quantile_estimates, rank_half_width

LEVEL = Fraction(95, 100)
SILENT = DiscreteLaplace("1e-3")  # 0 but for one draw in e^1000
LAW = DiscreteLaplace(3)
TREES = [Tree(1, 2, 1), Tree(6, 6, 1), Tree(8, 2, 3), Tree(9, 4, 2), Tree(20, 3, 3), Tree(50, 2, 4, width=3)]
AT = [
    Fraction(0),
    Fraction(1, 10),
    Fraction(1, 4),
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(3, 4),
    Fraction(99, 100),
    Fraction(1),
]


def true_quantile(counts: list[int], q: Fraction) -> int:
    """The definition: the smallest code with at least max(q·N, 1) records up to it."""
    wanted = max(q * sum(counts), 1)
    return next(code for code in range(len(counts)) if sum(counts[: code + 1]) >= wanted)


def noisy_of(tree: Tree, counts: np.ndarray) -> list[np.ndarray]:
    binned = np.add.reduceat(counts, np.arange(0, tree.size, tree.width), axis=1)
    return level_counts(tree, binned)


@st.composite
def tables(draw):
    tree = draw(st.sampled_from(TREES))
    few = st.lists(st.sampled_from([0, 0, 0, 1, 2, 7]), min_size=tree.size, max_size=tree.size)
    return tree, draw(few.filter(any))


@settings(max_examples=40)
@given(table=tables(), public=st.booleans())
@example(table=(TREES[2], [0, 0, 0, 0, 0, 0, 0, 1]), public=False)
@example(table=(TREES[3], [1, 0, 0, 0, 0, 0, 0, 0, 0]), public=True)
@example(table=(TREES[1], [1, 1, 0, 0, 0, 1]), public=False)
def test_without_noise_values_and_intervals_are_the_quantiles(table, public):
    tree, counts = table
    totals = np.array([sum(counts)]) if public else None
    found = quantile_estimates(tree, noisy_of(tree, np.array([counts])), SILENT, AT, level=LEVEL, totals=totals)
    for q, estimate in zip(AT, found, strict=True):
        truth = true_quantile(counts, q)
        first = truth - truth % tree.width  # a leaf is all that is known of the codes in it
        assert estimate.low[0] == first
        assert estimate.high[0] == min(first + tree.width, tree.size) - 1
        assert estimate.low[0] <= estimate.value[0] <= estimate.high[0]


def reference(tree: Tree, nodes: list[list[int]], half: list[float], q: Fraction) -> tuple[int, int, int]:
    """Value and interval of one group by their definitions, leaf by leaf, with exact tests."""
    leaves = consistent_leaves(tree, [np.array([level]) for level in nodes])[0].tolist()
    records, greatest = sum(leaves), tree.size - 1
    if records < 1:
        return greatest // 2, 0, greatest
    prefix = [min(max(sum(leaves[: c + 1]), 0.0), records) for c in range(len(leaves) - 1)] + [records]
    monotone = [(max(prefix[: c + 1]) + min(prefix[c:])) / 2 for c in range(len(prefix))]
    wanted = min(max(float(q) * records, 0.5), max(records - 0.5, 0.5)) * (1 - 2**-40)
    leaf = min(next(c for c in range(len(monotone)) if monotone[c] >= wanted), tree.bins - 1)
    before = monotone[leaf - 1] if leaf else 0.0
    inside = 0
    while inside < tree.width - 1 and before + (monotone[leaf] - before) * (inside + 1) / tree.width < wanted:
        inside += 1
    value = min(leaf * tree.width + inside, greatest)

    def tested(leaf: int) -> Fraction:
        path = [leaf // tree.branching ** (tree.depth - 1 - level) for level in range(tree.depth)]
        total = sum(nodes[0][: path[0]]) + Fraction(nodes[0][path[0]], 2)
        for level, node in zip(nodes[1:], path[1:], strict=True):
            first = node - node % tree.branching
            total += Fraction(sum(level[first:node]) - sum(level[node + 1 : first + tree.branching]), 2)
        return total + Fraction(nodes[-1][leaf], 2) - q * sum(nodes[0])

    least, most = (Fraction(0), Fraction(-1, q.denominator)) if q else (Fraction(1), Fraction(0))
    width = [half[leaf // tree.branching ** (tree.depth - 1)] for leaf in range(tree.level_sizes[-1])]
    low = next((c for c in range(len(leaves)) if tested(c) + Fraction(width[c]) >= least), len(leaves) - 1)
    high = next((c + 1 for c in reversed(range(len(leaves))) if tested(c) - Fraction(width[c]) <= most), 0)
    low, high = min(low * tree.width, greatest), min((high + 1) * tree.width - 1, greatest)
    return value, min(low, value), max(high, value)


@st.composite
def noisy_tables(draw):
    tree = draw(st.sampled_from(TREES))
    node = st.one_of(st.integers(-4, 12), st.integers(-100, 100))
    return tree, [draw(st.lists(node, min_size=nodes, max_size=nodes)) for nodes in tree.level_sizes]


@settings(max_examples=40)
@given(table=noisy_tables())
@example(table=(Tree(8, 2, 3), [[3, 3], [3, 0, 0, 3], [9, -9, 9, -9, 9, -9, 9, -9]]))
@example(table=(Tree(6, 6, 1), [[3, -1, 1, 0, 0, 0]]))
@example(table=(Tree(1, 2, 1), [[1]]))
@example(table=(Tree(1, 2, 1), [[0]]))
def test_values_and_intervals_are_those_of_the_reference(table):
    tree, nodes = table
    found = quantile_estimates(tree, [np.array([level]) for level in nodes], LAW, AT, level=LEVEL)
    for q, estimate in zip(AT, found, strict=True):
        half = quantiles._half_widths(tree, LAW, q, LEVEL).tolist()
        assert (estimate.value[0], estimate.low[0], estimate.high[0]) == reference(tree, nodes, half, q)


@settings(max_examples=40)
@given(table=noisy_tables(), total=st.one_of(st.none(), st.integers(0, 1000)), scale=st.sampled_from([1, 2**40, 2**70]))
@example(table=(Tree(6, 6, 1), [[0, 0, 0, 0, 0, 0]]), total=0, scale=1)
def test_values_are_monotone_in_q_and_inside_the_bounds(table, total, scale):
    """Whatever the noise was, also beyond 64 bits."""
    tree, nodes = table
    noisy = [np.array([[scale * count for count in level]], dtype=object) for level in nodes]
    totals = None if total is None else np.array([total])
    found = quantile_estimates(tree, noisy, LAW, AT, level=LEVEL, totals=totals)
    for estimate in found:
        assert {part.dtype for part in (estimate.value, estimate.low, estimate.high)} == {np.dtype(np.int64)}
        assert 0 <= estimate.low[0] <= estimate.value[0] <= estimate.high[0] < tree.size
    assert all(first.value[0] <= second.value[0] for first, second in pairwise(found))


@pytest.mark.parametrize("totals", [None, [0, 0]])
def test_a_group_without_records_has_the_middle_and_everything(totals):
    tree = Tree(9, 3, 2)
    noisy = [np.array([[-5, 0, 0], [0, 0, 0]]), np.array([[-3] * 9, [0] * 9])]
    (found,) = quantile_estimates(
        tree, noisy, LAW, [Fraction(1, 2)], level=LEVEL, totals=None if totals is None else np.array(totals)
    )
    assert (found.value.tolist(), found.low.tolist(), found.high.tolist()) == ([4, 4], [0, 0], [8, 8])


def factors_of(tree: Tree, q: Fraction) -> np.ndarray:
    """The factor of every node (columns) in D at every leaf (rows), by putting 1 in one node at a time."""
    levels = np.split(np.eye(sum(tree.level_sizes)), np.cumsum(tree.level_sizes)[:-1], axis=1)
    prefix = quantiles._test_prefixes(tree, levels)
    return (prefix - float(q) * levels[0].sum(axis=1)[:, None, None]).reshape(len(prefix), -1).T


@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(5, 7)])
@pytest.mark.parametrize("tree", TREES[1:], ids=str)
def test_the_tests_are_unbiased_and_their_half_widths_are_of_the_law_of_their_noise(tree, q):
    halves, factors, leaves = quantiles._half_widths(tree, LAW, q, LEVEL), factors_of(tree, q), tree.level_sizes[-1]
    counts = np.concatenate([np.kron(np.eye(nodes), np.ones(leaves // nodes)) for nodes in tree.level_sizes])
    np.testing.assert_allclose(factors @ counts, np.tril(np.ones((leaves, leaves))) - float(q), atol=1e-12)
    for row, half in zip(factors, np.repeat(halves, leaves // tree.top), strict=True):
        whole = np.rint(row * 28).astype(int)  # q, 1 - q, 1/2 - q and 1/2 are multiples of 1/28
        np.testing.assert_allclose(whole / 28, row, atol=1e-12)
        terms = tuple((int(factor), LAW) for factor in sorted(np.abs(whole)) if factor)
        expected = SumOfNoises(terms).half_width(LEVEL) / 28 if terms else 0
        assert half == pytest.approx(expected, rel=1e-3)


def test_the_greatest_half_width_is_what_a_quote_says():
    tree = Tree(1000, 4, 5)
    law = RoundedGaussian(50)
    median = rank_half_width(tree, law, Fraction(1, 2), level=LEVEL)
    assert median == SumOfNoises(((1, law),) * 16).half_width(LEVEL) / 2  # 3 siblings on each of 5 levels, and the leaf
    assert rank_half_width(tree, law, Fraction(1, 4), level=LEVEL) > median


def test_many_groups_are_done_in_parts(monkeypatch):
    tree = Tree(20, 3, 3)
    counts = np.random.default_rng(5).integers(0, 4, (50, 20))
    noisy = [level + 1 for level in noisy_of(tree, counts)]
    totals = counts.sum(axis=1)
    whole = quantile_estimates(tree, noisy, LAW, AT, level=LEVEL, totals=totals)
    monkeypatch.setattr(quantiles, "_LEAVES_AT_ONCE", 200)
    parts = quantile_estimates(tree, noisy, LAW, AT, level=LEVEL, totals=totals)
    for one, other in zip(whole, parts, strict=True):
        assert (one.value == other.value).all()
        assert (one.low == other.low).all()
        assert (one.high == other.high).all()


@pytest.mark.parametrize("q", [Fraction(-1, 2), Fraction(3, 2)])
def test_quantiles_outside_0_and_1_are_refused(q):
    tree = Tree(6, 6, 1)
    with pytest.raises(ArgumentError, match=r"at: .* must lie in \[0, 1\]"):
        quantile_estimates(tree, [np.zeros((1, 6), np.int64)], LAW, [q], level=LEVEL)


@pytest.mark.parametrize("shapes", [[], [(1, 2)], [(1, 2), (1, 3)], [(2, 3), (1, 9)]])
def test_counts_of_another_shape_are_refused(shapes):
    tree = Tree(9, 3, 2)
    with pytest.raises(ArgumentError, match="noisy: must have the shapes"):
        quantile_estimates(tree, [np.zeros(shape, np.int64) for shape in shapes], LAW, AT, level=LEVEL)


def test_totals_of_another_shape_are_refused():
    tree = Tree(6, 6, 1)
    with pytest.raises(ArgumentError, match="totals: must be one number for each of the 2 groups"):
        quantile_estimates(tree, [np.zeros((2, 6), np.int64)], LAW, AT, level=LEVEL, totals=np.array([3]))
