"""Noise with two variances under general equations: chains of lists, all pairs of columns, weighted sums."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.mechanisms import exchanges
from discreet.mechanisms.correlated_lattice import CorrelatedLattice
from discreet.mechanisms.exchanges import moves_of_sums
from discreet.noise.bits import system_bits
from discreet.noise.lattice import nearest_plane
from discreet.noise.lattice.klein import lattice_of
from discreet.privacy import GDP
from discreet.totals.enumerate import differences
from discreet.totals.structure import Kernel

from .correlated import fits, least_by_programme, names, offered, parts_of
from .mutants import Mutant

pytestmark = pytest.mark.one_in(4)  # the others run with make test-slow


def lists_of(columns: int, *lists: tuple[int, int]) -> np.ndarray:
    """The totals of pairs of columns of two levels, as equations of the places."""
    places = list(product((0, 1), repeat=columns))
    found = [[one[a] * 2 + one[b] == level for one in places] for a, b in lists for level in range(4)]
    return np.array(found, dtype=np.int64)


SUMS = {
    "all pairs of three columns": (lists_of(3, (0, 1), (0, 2), (1, 2)), 2, 4),
    "a chain of three lists": (lists_of(4, (0, 1), (1, 2), (2, 3)), 2, 2),
    "a weighted sum": (np.array([[1] * 4, [0, 1, 2, 3]]), 2, 3),
    "three cells": (np.array([[1] * 3, [0, 1, 2]]), 3, 2),
}
"""Equations of the places, cells at each place, a."""


def kernel_of(name: str) -> tuple[Kernel, int, int]:
    equations, depth, a = SUMS[name]
    repeated = np.repeat(equations, depth, axis=1)
    return Kernel(repeated.shape[1], np.arange(repeated.shape[1]), repeated), depth, a


@pytest.mark.parametrize("name", SUMS)
def test_equations_have_the_noise_of_their_own_worst_change(name):
    kernel, depth, a = kernel_of(name)
    assert kernel.depth == depth
    noise = offered(kernel, a, GDP(1))
    changes = differences(kernel.equations, a)
    assert changes is not None
    moved = parts_of(changes, depth)
    assert (moved @ [1 / float(noise.within), 1 / float(noise.between)]).max() == pytest.approx(1, rel=1e-9)
    free = kernel.rank - kernel.size // depth * (depth - 1)
    weights = (kernel.rank - free, free)
    least = least_by_programme(moved[moved.any(axis=1)], np.array(weights))
    assert float(noise.within) * weights[0] + float(noise.between) * weights[1] <= least * 1.001
    assert names(kernel, a, GDP(1))[0] == noise.words.name


@pytest.mark.parametrize("name", SUMS)
def test_draws_under_equations_keep_them_and_have_the_stated_variance(name):
    kernel, _, a = kernel_of(name)
    noise, bits = offered(kernel, a, GDP(1)), system_bits()
    sample = np.array([noise.sample(bits) for _ in range(120)])
    assert not (sample @ kernel.equations.T).any()
    assert 0.5 * noise.variance() < sample.var() < 2 * noise.variance()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("within", "between"), [("2", "1/2"), ("1/3", "1/9"), ("1/20", "1/80")])
def test_what_is_said_of_cells_under_equations_is_true(within, between):
    """Places with the weights 0, 1, 2: their sums are multiples of (1, -2, 1), and every coordinate is written down."""
    variances = Fraction(within), Fraction(between)
    line = np.kron([1, -2, 1], [1, 1]) / 2
    pairs = np.kron(np.eye(3), [1, -1])
    steps = np.array(list(product(range(-4, 5), *[range(-7, 8)] * 3)))
    points = steps @ np.array([np.kron([1, -2, 1], [1, 0]), *pairs]).astype(int)
    vectors = np.array([line, *pairs])
    norms = (vectors**2).sum(axis=1)
    deviation = np.sqrt(np.array([float(variances[1]), *[float(variances[0])] * 3]) / norms)
    at = points @ vectors.T / norms
    chances = (ndtr((0.5 - np.abs(at)) / deviation) - ndtr((-0.5 - np.abs(at)) / deviation)).prod(axis=1)
    assert chances.sum() == pytest.approx(1, abs=1e-4)
    equations = np.repeat(np.array([[1] * 3, [0, 1, 2]]), 2, axis=1)
    noise = CorrelatedLattice(Kernel(6, np.arange(6), equations), *variances, listed=True)
    true = float((chances[:, None] * points**2).sum(axis=0).mean())
    assert true * (1 - 1e-4) <= noise.variance() <= 1.2 * true + 0.02
    for level in (Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)):
        missed = (chances[:, None] * (np.abs(points) > noise.half_widths(level))).sum(axis=0)
        assert (missed <= 1 - float(level) + 1e-9).all()
    if variances[0] == 2:
        bits = system_bits()
        assert fits(np.array([noise.sample(bits) for _ in range(1500)]), points, chances)


def test_equations_that_leave_no_two_parts_are_left_to_other_noise():
    line = np.array([[1, 1, 1, 1], [0, 1, 8, 60]])  # two rows cannot go elsewhere
    alike = np.array([[1, 1, 1, 1], [0, 1, 2, 2]])  # all rows can move alike between the last two places
    for equations in (
        np.array([[1, 1, 1], [0, 1, 2]]),
        *(np.repeat(one, 2, axis=1) for one in (line, alike, np.eye(3, dtype=int))),
    ):
        structure = Kernel(equations.shape[1], np.arange(equations.shape[1]), equations)
        assert "correlated Gaussian on the lattice" not in names(structure, 2, GDP(1))


def test_many_draws_together_are_those_one_by_one():
    """The same fine numbers, rounded row by row and all at once; so the copies that an audit draws have the law of one."""
    draw = np.random.default_rng(5)
    for name in SUMS:
        kernel, depth, _ = kernel_of(name)
        lattice, scale = lattice_of(kernel.equations[:, ::depth]), 1 << 20
        fine = draw.integers(-(1 << 24), 1 << 24, size=(40, lattice.dimension))
        nearest = partial(nearest_plane._nearest, bits=system_bits())
        together = nearest_plane._move_many(lattice, fine, scale, nearest)
        assert [nearest_plane.move_to_lattice(lattice, row, scale, nearest).tolist() for row in fine] == together.tolist()


def test_an_audit_draws_copies_under_equations():
    kernel, _, a = kernel_of("all pairs of three columns")
    copied = offered(kernel, a, GDP(1)).prepare_audit().copied(np.arange(kernel.size), 50)
    drawn = copied.apply(np.zeros(50 * kernel.size, dtype=np.int64), system_bits()).reshape(50, -1)
    assert not (drawn @ kernel.equations.T).any()
    assert len(np.unique(drawn, axis=0)) == 50


RATIOS = (0.01, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0)


def random_lists(draw, lists, places):
    """Whole lists of totals of some places, each place in one level of each; a hole is a place that is left out."""
    labels = draw.integers(0, 3, size=(lists, places))
    return np.concatenate([[(own == level) for level in np.unique(own)] for own in labels]).astype(np.int64)


def shortfalls(equations, depth, a):
    """By how much each bound of the moves is below the largest form over all changes, for each ratio of the variances."""
    bound = moves_of_sums(equations, depth, a)
    if bound is None:
        return []
    assert not bound.listed
    changes = differences(np.repeat(equations, depth, axis=1), a)
    assert changes is not None
    moved, known = parts_of(changes, depth), np.array(bound.energies, dtype=float)
    return [(moved @ [1, 1 / ratio]).max() - (known @ [1, 1 / ratio]).max() for ratio in RATIOS]


def all_shortfalls():
    draw, found = np.random.default_rng(3), []
    for lists, places, a in [(2, 5, 2), (2, 5, 3), (3, 6, 2), (3, 5, 3), (3, 6, 3), (2, 4, 4)] * 4:
        found += shortfalls(random_lists(draw, lists, places), 2, a)
    for pairs in ([(0, 1), (1, 2)], [(0, 1), (0, 2), (1, 2)]):
        found += shortfalls(lists_of(3, *pairs), 2, 2)
    margins = [[one[axis] == level for one in product((0, 1), repeat=3)] for axis in range(3) for level in (0, 1)]
    found += shortfalls(np.array(margins, dtype=np.int64), 2, 3)
    return found + shortfalls(np.eye(3, dtype=np.int64)[[0, 1]], 2, 2)


def test_the_bound_for_whole_lists_is_one(monkeypatch):
    monkeypatch.setattr(exchanges, "_listed_of_sums", lambda *_: None)
    found = all_shortfalls()
    assert len(found) > 50
    assert max(found) <= 1e-9


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "planted",
    [
        Mutant(exchanges, "_whole_lists", "return len(numbers)\n", "return min(2, len(numbers))\n"),
        Mutant(exchanges, "_bounded", "(a - b + u) ** 2", "(a - b) ** 2"),
        Mutant(exchanges, "_whole_lists", "or len(np.unique(np.stack(numbers), axis=1).T) < equations.shape[1]", "or False"),
    ],
)
def test_a_bound_for_whole_lists_that_is_too_small_is_noticed(monkeypatch, planted):
    planted.plant(monkeypatch)
    monkeypatch.setattr(exchanges, "_listed_of_sums", lambda *_: None)
    assert max(all_shortfalls()) > 1e-3


def test_tables_with_holes_keep_their_margins_at_any_number_of_rows_that_change():
    """Too many changes to list: margins of 8 x 8 places but one, 20 cells at each, more than a thousand in all."""
    places = np.array([[i, 8 + j] for i, j in product(range(8), repeat=2) if (i, j) != (0, 0)])
    equations = np.array([(places == level).any(axis=1) for level in range(16)]).astype(np.int64)
    repeated = np.repeat(equations, 20, axis=1)
    kernel = Kernel(repeated.shape[1], np.arange(repeated.shape[1]), repeated)
    noise = offered(kernel, 9, GDP(1))
    assert kernel.size == 1260
    assert not noise.listed
    assert noise.between < noise.within
    assert not (kernel.equations @ noise.sample(system_bits())).any()
