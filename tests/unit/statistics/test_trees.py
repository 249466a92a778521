"""Least squares on trees: numbers add up exactly, are the dense estimate, and have no more variance than is said."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from discreet.statistics import trees
from discreet.statistics.trees import Tree, fall, gains_of, rise, roundings_of, solve_tree, split_of, squares_of

LARGE = 1 << 16  # of a measured number: what is rounded is small beside it


def made(seed, most=3):
    """An unbalanced tree, variances of which some levels have none, the numbers of its areas, and measured ones."""
    drawn = random.Random(seed)  # noqa: S311 (small trees)
    parents, size = [], 1
    for _ in range(drawn.randint(0, most)):
        above = [area for area in range(size) for _ in range(drawn.randint(1, 4))]
        drawn.shuffle(above)
        parents.append(tuple(above))
        size = len(above)
    tree = Tree(tuple(parents))
    known = drawn.randint(0, len(parents)) if seed % 3 == 1 else -1
    variances = [Fraction(drawn.randint(1, 50), drawn.randint(1, 9)) * (level > known) for level in range(len(parents) + 1)]
    exact = [np.array([[drawn.randint(0, 100 * LARGE)] for _ in range(size)])]
    for above, many in zip(reversed(parents), reversed(tree.sizes[:-1]), strict=True):
        sums = np.zeros((many, 1), dtype=np.int64)
        np.add.at(sums, list(above), exact[0])
        exact.insert(0, sums)
    noisy = [
        one + np.array([[drawn.randint(-9 * LARGE, 9 * LARGE) * (level > known)] for _ in one])
        for level, one in enumerate(exact)
    ]
    return tree, variances, exact, noisy


def listed(levels):
    return [[int(row[0]) for row in one] for one in levels]


def literal(tree, gains, measured):
    """The two passes as fractions: nothing is rounded, area by area."""
    of, levels = tree.shapes.of, len(tree.parents)
    own = [[Fraction(value) for value in one] for one in measured]
    up, sums = [own[levels]], []
    for level in range(levels - 1, -1, -1):
        below = [Fraction(0)] * tree.sizes[level]
        for area, parent in enumerate(tree.parents[level]):
            below[parent] += up[0][area]
        rates = [Fraction(int(gains.own[level][of[level][area]]), 1 << 20) for area in range(tree.sizes[level])]
        up.insert(0, [rate * z + (1 - rate) * s for rate, z, s in zip(rates, own[level], below, strict=True)])
        sums.insert(0, below)
    found = [up[0]]
    for level in range(1, levels + 1):
        values = []
        for area, parent in enumerate(tree.parents[level - 1]):
            part = Fraction(
                int(gains.parts[level - 1][of[level][area]]), int(gains.wholes[level - 1][of[level - 1][parent]])
            )
            values.append(up[level][area] + part * (found[level - 1][parent] - sums[level - 1][parent]))
        found.append(values)
    return found


@pytest.mark.parametrize("seed", range(30))
def test_areas_add_up_exactly_and_what_is_known_stays(seed):
    tree, variances, exact, noisy = made(seed)
    found = listed(solve_tree(tree, gains_of(tree.shapes, variances), noisy))
    for level, above in enumerate(tree.parents, start=1):
        for area, value in enumerate(found[level - 1]):
            assert value == sum(one for one, parent in zip(found[level], above, strict=True) if parent == area)
    for level, variance in enumerate(variances):
        if not variance:
            assert found[level] == [int(row[0]) for row in exact[level]]


@pytest.mark.parametrize("seed", range(30))
def test_rounding_moves_no_number_by_more_than_is_said(seed):
    """Small numbers, of which rounding is a large part."""
    tree, variances, _, noisy = made(seed)
    gains, small = gains_of(tree.shapes, variances), [one // LARGE for one in noisy]
    bounds = roundings_of(tree.shapes, gains)
    every = zip(listed(solve_tree(tree, gains, small)), literal(tree, gains, listed(small)), strict=True)
    for level, (found, exact) in enumerate(every):
        for area, (one, other) in enumerate(zip(found, exact, strict=True)):
            assert abs(one - other) <= bounds[level][tree.shapes.of[level][area]]


def test_rounding_reaches_most_of_what_is_said():
    """The bound is of the right size: some number of some tree is moved by a third of it."""
    most = 0
    for seed in range(30):
        tree, variances, _, noisy = made(seed)
        gains, small = gains_of(tree.shapes, variances), [one // LARGE for one in noisy]
        bounds = roundings_of(tree.shapes, gains)
        every = zip(listed(solve_tree(tree, gains, small)), literal(tree, gains, listed(small)), bounds, strict=True)
        for level, (found, exact, said) in enumerate(every):
            moved = [abs(one - other) for one, other in zip(found, exact, strict=True)]
            most = max([most, *(m / s for m, s in zip(moved, said[tree.shapes.of[level]], strict=True) if s)])
    assert most > 1 / 3


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
    for level, (own, values) in enumerate(zip(above, listed(solve_tree(tree, gains, noisy)), strict=True)):
        assert values == pytest.approx((own @ best).tolist(), abs=1e-3 * LARGE)
        said = squares[level][tree.shapes.of[level]] @ [float(one) for one in variances]
        assert said == pytest.approx(np.diag(own @ inverse @ own.T), abs=1e-4)


def moved(tree, gains):
    """For each level and area, by level the sum of the squares of the answers to one more in one of its numbers."""
    found = [[[Fraction(0)] * len(tree.sizes) for _ in range(size)] for size in tree.sizes]
    for level, size in enumerate(tree.sizes):
        for area in range(size):
            unit = [[0] * many for many in tree.sizes]
            unit[level][area] = 1
            for at, values in enumerate(literal(tree, gains, unit)):
                for place, one in enumerate(values):
                    found[at][place][level] += one**2
    return [[*map(tuple, one)] for one in found]


def said(tree, gains):
    squares = squares_of(tree.shapes, gains)
    return [
        [tuple(map(Fraction, squares[level][shape].tolist())) for shape in of] for level, of in enumerate(tree.shapes.of)
    ]


def differ(mine, exact):
    """By how much squares that are said are above and below those of the weights, relative to these."""
    pairs = [
        pair for one in zip(mine, exact, strict=True) for row in zip(*one, strict=True) for pair in zip(*row, strict=True)
    ]
    return [float((own - other) / (other or 1)) for own, other in pairs]


@pytest.mark.parametrize("seed", range(12))
def test_squares_are_those_of_the_weights(seed):
    """Never below them, and above by a millionth of a millionth; exactly 0 where a number has no weight."""
    tree, variances, _, _ = made(seed)
    gains = gains_of(tree.shapes, variances)
    exact = moved(tree, gains)
    found = differ(said(tree, gains), exact)
    assert min(found) >= 0
    assert max(found) <= 1e-11


def test_a_variance_that_forgets_the_siblings_is_noticed(monkeypatch):
    tree, variances, _, _ = made(3)
    gains = gains_of(tree.shapes, variances)
    monkeypatch.setattr(trees, "_siblings", lambda below, _own, _many: below)
    assert max(differ(said(tree, gains), moved(tree, gains))) > 1e-3


def test_an_only_child_has_no_noise_of_siblings():
    """What is known of its parent is known of it, and no rounding makes a width of that."""
    tree = Tree(((0, 0), (0, 1)))
    gains = gains_of(tree.shapes, [Fraction(0), Fraction(0), Fraction(3)])
    assert squares_of(tree.shapes, gains)[2].tolist() == [[0, 1 + 2**-40, 0]]


def test_areas_of_one_shape_are_worked_out_once():
    tree = Tree(((0,) * 50, tuple(area for area in range(50) for _ in range(1 + area % 2))))
    assert tree.shapes.sizes == (1, 2, 2)
    assert tree.forks == (1, 2)
    assert Tree(((0,), (0,))).forks == ()


# Whole numbers --------------------------------------------------------------------------------------------------------


def test_large_numbers_are_as_exact_as_small_ones():
    """Where 64 bits do not suffice, integers of Python have the same result."""
    tree, variances, _, noisy = made(5)
    gains = gains_of(tree.shapes, variances)
    small = solve_tree(tree, gains, noisy)
    large = solve_tree(tree, gains, [one.astype(object) * 1 for one in noisy])
    assert listed(small) == listed(large)
    huge = solve_tree(tree, gains, [one.astype(object) << 60 for one in noisy])
    for level, above in enumerate(tree.parents, start=1):
        sums = np.zeros((tree.sizes[level - 1], 1), dtype=object)
        np.add.at(sums, list(above), huge[level])
        assert (sums == huge[level - 1]).all()
    for own, other in zip(
        listed(huge), literal(tree, gains, [[int(v) << 60 for v in row] for row in listed(noisy)]), strict=True
    ):
        assert all(abs(one - two) <= 100 for one, two in zip(own, other, strict=True))


def test_what_is_divided_is_divided_without_a_rest():
    drawn = np.random.default_rng(1)
    above = np.repeat(np.arange(5), [1, 2, 3, 40, 1])
    parts = drawn.integers(0, 9, len(above))
    parts[[0, 1, 3, 6, 46]] = 1
    wholes = np.bincount(above, weights=parts).astype(np.int64)
    more = drawn.integers(-1000, 1000, (5, 7))
    found = fall(np.zeros((len(above), 7), np.int64), more[above], split_of(parts, above, wholes))
    assert (np.add.reduceat(found, [0, 1, 3, 6, 46], axis=0) == more).all()
    assert (np.abs(found - more[above] * (parts / wholes[above])[:, np.newaxis]) < 1).all()


def test_an_own_number_that_is_known_is_taken_as_it_is():
    own, below = np.array([[7, -3]]), np.array([[1 << 40, 12]])
    assert (rise(own, below, np.array([1 << 20])) == own).all()
    assert (rise(own, below, np.array([0])) == below).all()
