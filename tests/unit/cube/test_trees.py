"""Trees: one node a level for every record, least squares as a dense solver finds it, and the shape with the least error."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.cube.trees import Tree, choose_tree, consistent_leaves, interval_variance, level_counts, prefix_variance
from discreet.errors import ArgumentError
from discreet.noise.single.laws import DiscreteLaplace

SMALL = [Tree(1, 2, 1), Tree(7, 7, 1), Tree(8, 2, 3), Tree(9, 4, 2), Tree(20, 3, 3), Tree(26, 2, 4, width=2)]


def rows_of(tree: Tree) -> np.ndarray:
    """The 0/1 matrix that gives all nodes, from the top to the leaves, from the leaves."""
    units = np.eye(tree.level_sizes[-1], dtype=np.int64)[:, : tree.bins]
    inside = np.concatenate(level_counts(tree, units), axis=1).T
    beyond = [np.kron(np.eye(nodes), np.ones(tree.level_sizes[-1] // nodes)) for nodes in tree.level_sizes]
    dense = np.concatenate(beyond)
    assert (inside[:, : tree.bins] == dense[:, : tree.bins]).all()
    return dense


def split(tree: Tree, nodes: np.ndarray) -> list[np.ndarray]:
    return np.split(nodes, np.cumsum(tree.level_sizes)[:-1], axis=1)


@pytest.mark.parametrize("tree", SMALL, ids=str)
def test_every_record_is_in_one_node_of_every_level(tree):
    counts = np.arange(3 * tree.bins).reshape(3, tree.bins)
    levels = level_counts(tree, counts)
    assert [level.shape for level in levels] == [(3, nodes) for nodes in tree.level_sizes]
    for level in levels:
        assert level.sum(axis=1).tolist() == counts.sum(axis=1).tolist()
    assert (levels[-1][:, : tree.bins] == counts).all()
    assert tree.top * tree.branching ** (tree.depth - 1) >= tree.bins >= tree.size / tree.width


@pytest.mark.parametrize("tree", SMALL, ids=str)
def test_consistent_leaves_are_the_least_squares(tree):
    nodes = np.random.default_rng(1).normal(50, 30, (4, sum(tree.level_sizes)))
    expected = np.linalg.lstsq(rows_of(tree), nodes.T, rcond=None)[0].T
    np.testing.assert_allclose(consistent_leaves(tree, split(tree, nodes)), expected, atol=1e-9)


@pytest.mark.parametrize("tree", SMALL, ids=str)
def test_with_public_totals_they_are_the_constrained_least_squares(tree):
    """A weight of 10^4 on the total is the constraint, up to about 10^-8."""
    nodes = np.random.default_rng(2).normal(50, 30, (4, sum(tree.level_sizes)))
    totals = np.array([0, 100, 1000, 7])
    dense = np.concatenate([rows_of(tree), 1e4 * np.ones((1, tree.level_sizes[-1]))])
    expected = np.linalg.lstsq(dense, np.concatenate([nodes, 1e4 * totals[:, None]], axis=1).T, rcond=None)[0].T
    found = consistent_leaves(tree, split(tree, nodes), totals)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_allclose(found.sum(axis=1), totals, atol=1e-9)


@pytest.mark.parametrize("tree", SMALL, ids=str)
def test_counts_without_noise_stay_what_they_are(tree):
    counts = np.random.default_rng(3).integers(0, 1000, (5, tree.bins))
    found = consistent_leaves(tree, level_counts(tree, counts))
    np.testing.assert_allclose(found[:, : tree.bins], counts, atol=1e-9)
    np.testing.assert_allclose(found[:, tree.bins :], 0, atol=1e-9)


@pytest.mark.parametrize("tree", [tree for tree in SMALL if tree.width == 1], ids=str)
def test_prefix_variance_is_that_of_the_dense_estimate(tree):
    leaves = tree.level_sizes[-1]
    covariance = np.linalg.inv(rows_of(tree).T @ rows_of(tree))
    prefix = np.tril(np.ones((leaves, leaves))) - np.arange(1, leaves + 1)[:, None] / leaves
    assert prefix_variance(tree) == pytest.approx(np.diag(prefix @ covariance @ prefix.T).mean(), abs=1e-12)


def error_of(tree, size, variance, rows):
    held = float(rows) * tree.width / size if tree.width > 1 else 0
    return variance(tree.depth) * (prefix_variance(tree) + interval_variance(tree)) + held**2 / 3


def shapes(size, width):
    for depth, branching in product(range(1, 9), range(2, size + 2)):
        bins = -(-size // width)
        if depth == 1 or branching ** (depth - 1) < bins:
            yield Tree(size, branching, depth, width)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 17, 64, 76, 145, 257])
@pytest.mark.parametrize("power", [1, 2])
def test_no_other_branching_or_depth_is_better(size, power):
    chosen = choose_tree(size, lambda depth: float(depth**power))
    best = min(error_of(tree, size, lambda depth: depth**power, 0) for tree in shapes(size, 1))
    assert error_of(chosen, size, lambda depth: depth**power, 0) == pytest.approx(best)
    assert chosen.width == 1


def test_the_shapes_for_grids_of_a_thousand_steps():
    assert choose_tree(1000, lambda depth: 2.0 * depth**2) == Tree(1000, 10, 3)  # Laplace
    assert choose_tree(1000, lambda depth: 1.0 * depth) == Tree(1000, 4, 5)  # Gaussian
    assert choose_tree(1_000_000, lambda depth: 2.0 * depth**2).branching == 15
    # 1,000 records under the same noise do not fill 1,000 leaves, a million do.
    assert choose_tree(1000, lambda depth: 2.0 * depth**2, rows=1000).width == 8
    assert choose_tree(1000, lambda depth: 2.0 * depth**2, rows=10**6).width == 1
    assert choose_tree(1000, lambda depth: 2.0 * depth**2, rows=Fraction(1, 10)).bins <= 4


@pytest.mark.parametrize("size", [1501, 100_000])
def test_next_to_no_noise_does_not_make_the_top_wide(size):
    """Every top node needs the law of a sum of its own for its interval; thousands of them would take minutes."""
    assert choose_tree(size, lambda depth: DiscreteLaplace(Fraction(depth, 20)).variance()).top <= 128


@given(
    size=st.integers(1, 10**6),
    power=st.sampled_from([1, 2]),
    noise=st.floats(1e-3, 1e6),
    rows=st.one_of(st.none(), st.integers(1, 10**9)),
)
@example(size=1, power=2, noise=1.0, rows=None)
@example(size=10**6, power=1, noise=1.0, rows=5)
def test_every_choice_reaches_all_codes(size, power, noise, rows):
    tree = choose_tree(size, lambda depth: noise * depth**power, rows=rows)
    assert tree.size == size
    assert tree.level_sizes[-1] * tree.width >= size
    assert tree.depth == 1 or tree.top >= 2
    assert rows is not None or tree.width == 1


@pytest.mark.parametrize("arguments", [(0, 2, 1), (5, 1, 1), (5, 2, 0), (5, 2, 1, 0), (8, 2, 4), (8, 9, 2)])
def test_other_shapes_are_refused(arguments):
    with pytest.raises(ArgumentError, match=r"must be at least|one node would hold everything"):
        Tree(*arguments)
