"""Least squares on trees: numbers add up exactly, are the dense estimate, and have exactly the variance that is said."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from discreet.statistics import trees
from discreet.statistics.trees import Tree, gains_of, solve_tree, squares_of


def made(seed):
    """An unbalanced tree, variances of which some levels have none, the numbers of its areas, and measured ones."""
    drawn = random.Random(seed)  # noqa: S311 (small trees)
    parents, size = [], 1
    for _ in range(drawn.randint(0, 3)):
        above = [area for area in range(size) for _ in range(drawn.randint(1, 4))]
        drawn.shuffle(above)
        parents.append(tuple(above))
        size = len(above)
    tree = Tree(tuple(parents))
    known = drawn.randint(0, len(parents)) if seed % 3 == 1 else -1
    variances = [Fraction(drawn.randint(1, 50), drawn.randint(1, 9)) * (level > known) for level in range(len(parents) + 1)]
    exact = [np.array([[drawn.randint(0, 100)] for _ in range(size)], dtype=np.object_)]
    for above, many in zip(reversed(parents), reversed(tree.sizes[:-1]), strict=True):
        sums = np.zeros((many, 1), dtype=np.object_)
        np.add.at(sums, list(above), exact[0])
        exact.insert(0, sums)
    noisy = [
        one + np.array([[drawn.randint(-9, 9) * (level > known)] for _ in one], dtype=np.object_)
        for level, one in enumerate(exact)
    ]
    return tree, variances, exact, noisy


def solved(tree, gains, measured):
    found = solve_tree(tree, gains, measured)
    return [[Fraction(int(row[0]), int(denominator)) for row, denominator in zip(*one, strict=True)] for one in found]


@pytest.mark.parametrize("seed", range(30))
def test_areas_add_up_exactly_and_what_is_known_stays(seed):
    tree, variances, exact, noisy = made(seed)
    found = solved(tree, gains_of(tree.shapes, variances), noisy)
    for level, above in enumerate(tree.parents, start=1):
        for area, value in enumerate(found[level - 1]):
            assert value == sum(one for one, parent in zip(found[level], above, strict=True) if parent == area)
    for level, variance in enumerate(variances):
        if not variance:
            assert found[level] == [int(row[0]) for row in exact[level]]


@pytest.mark.parametrize("seed", range(30))
def test_it_is_the_least_squares_estimate_with_the_least_variance(seed):
    tree, variances, _, noisy = made(seed)
    gains = gains_of(tree.shapes, variances)
    squares = squares_of(tree.shapes, gains)
    above = [np.eye(tree.sizes[-1])]
    for parents, many in zip(reversed(tree.parents), reversed(tree.sizes[:-1]), strict=True):
        sums = np.zeros((many, tree.sizes[-1]))
        np.add.at(sums, list(parents), above[0])
        above.insert(0, sums)
    small = np.concatenate([[max(float(one), 1e-6)] * size for one, size in zip(variances, tree.sizes, strict=True)])
    matrix = np.concatenate(above)
    inverse = np.linalg.inv(matrix.T @ (matrix / small[:, None]))
    best = inverse @ matrix.T @ (np.concatenate(noisy)[:, 0].astype(float) / small)
    for level, (own, values) in enumerate(zip(above, solved(tree, gains, noisy), strict=True)):
        assert [float(one) for one in values] == pytest.approx((own @ best).tolist(), abs=1e-2)
        said = [float(sum(map(Fraction.__mul__, squares[level][shape], variances))) for shape in tree.shapes.of[level]]
        assert said == pytest.approx(np.diag(own @ inverse @ own.T).tolist(), abs=1e-4)


def moved(tree, gains):
    """For each level and area, by level the sum of the squares of the answers to one more in one of its numbers."""
    found = [[[Fraction(0)] * len(tree.sizes) for _ in range(size)] for size in tree.sizes]
    for level, size in enumerate(tree.sizes):
        for area in range(size):
            unit = [np.zeros((many, 1), dtype=np.object_) for many in tree.sizes]
            unit[level][area, 0] = 1
            for at, values in enumerate(solved(tree, gains, unit)):
                for place, one in enumerate(values):
                    found[at][place][level] += one**2
    return found


def said(tree, gains):
    squares = squares_of(tree.shapes, gains)
    return [[list(squares[level][shape]) for shape in of] for level, of in enumerate(tree.shapes.of)]


@pytest.mark.parametrize("seed", range(12))
def test_squares_are_those_of_the_weights(seed):
    """As fractions, not nearly."""
    tree, variances, _, _ = made(seed)
    gains = gains_of(tree.shapes, variances)
    assert said(tree, gains) == moved(tree, gains)


def test_a_variance_that_forgets_the_siblings_is_noticed(monkeypatch):
    tree, variances, _, _ = made(3)
    gains = gains_of(tree.shapes, variances)
    right = trees._beside
    monkeypatch.setattr(trees, "_beside", lambda unit, own, part, rest, beside: right(unit, own, part, rest, beside[:1] * 2))
    assert said(tree, gains) != moved(tree, gains)


def test_areas_of_one_shape_are_worked_out_once():
    tree = Tree(((0,) * 50, tuple(area for area in range(50) for _ in range(1 + area % 2))))
    assert [len(set(of)) for of in tree.shapes.of] == [1, 2, 2]
    assert tree.forks == (1, 2)
    assert Tree(((0,), (0,))).forks == ()
