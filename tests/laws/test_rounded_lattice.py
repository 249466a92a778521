"""The Gaussian on the span of exact totals, rounded to the lattice: its law, its guarantee for every move, and mutants.

The law is enumerated from its definition: the chance that a Gaussian of the span lies in the box around a lattice vector.
Boxes are those of the orthogonal vectors below, written down by hand for each lattice.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.exact.lattices import independent_rows, kernel_basis
from discreet.noise.bits import system_bits
from discreet.noise.lattice import nearest_plane, nearest_plane_laws
from discreet.noise.lattice.klein import lattice_of
from discreet.noise.lattice.nearest_plane import rounded_lattice, rounded_margins, rounded_sum_zero
from discreet.privacy import GDP
from discreet.totals.enumerate import differences
from discreet.totals.structure import Table, margin_equations

from .mutants import Mutant

ALPHA = 1e-9
PATHS = {
    1: [],
    2: [[1, -1]],
    3: [[1 / 2, 1 / 2, -1], [1, -1, 0]],
    4: [[1, -1 / 3, -1 / 3, -1 / 3], [0, 1, -1 / 2, -1 / 2], [0, 0, 1, -1]],
}
"""Vectors of sum 0: one cell against the mean of those that are left, from the end at which the sampler begins."""

CASES = {
    "2 x 2": ((2, 2), 1, 3, 4),
    "2 x 3": ((2, 3), 1, 3, 4),
    "3 x 3": ((3, 3), 1, 3, 6),
    "a block of 3": ((1,), 3, 2, 8),
    "a block of 4": ((1,), 4, 2, 8),
    "2 x 2, two cells at each place": ((2, 2), 2, 3, 18),
}
"""Shape, depth, a, and the largest squared length of a move of a rows."""


def vectors_of(shape, depth):
    """The orthogonal vectors along which is rounded, as rows over the cells."""
    found = (
        [np.multiply.outer(np.array(one), np.array(other)) / depth for one in PATHS[shape[0]] for other in PATHS[shape[-1]]]
        if len(shape) == 2
        else []
    )
    whole = [np.repeat(one[..., None], depth, axis=-1).ravel() for one in found]
    for place in range(int(np.prod(shape))):
        for within in PATHS[depth]:
            cells = np.zeros((int(np.prod(shape)), depth))
            cells[place] = within
            whole.append(cells.ravel())
    return np.array(whole)


def equations(shape, depth):
    return margin_equations(Table(np.arange(int(np.prod(shape)) * depth).reshape(*shape, depth), None))


def basis_of(shape, depth):
    rows = equations(shape, depth)
    return np.array(kernel_basis(rows[independent_rows(rows.tolist())].tolist(), rows.shape[1]))


def enumerated(case, sigma2):
    """The likely vectors of the lattice with their chances; these add up to nearly 1, which no constant has made them."""
    shape, depth, _, _ = CASES[case]
    vectors, basis = vectors_of(shape, depth), basis_of(shape, depth)
    reach = {1: 60, 2: 25, 3: 16, 4: 9, 5: 7}[len(basis)]
    points = np.array(list(product(range(-reach, reach + 1), repeat=len(basis)))) @ basis
    norms = (vectors**2).sum(axis=1)
    at, deviation = points @ vectors.T / norms, np.sqrt(float(sigma2) / norms)
    chances = (ndtr((0.5 - np.abs(at)) / deviation) - ndtr((-0.5 - np.abs(at)) / deviation)).prod(axis=1)
    return points, chances


@pytest.mark.one_in(10)
@pytest.mark.parametrize("case", CASES)
def test_the_boxes_fill_the_span(case):
    _, chances = enumerated(case, 1)
    assert chances.sum() == pytest.approx(1, abs=2e-4)


def largest_excess(case, sigma2, mu):
    """The most by which δ(ε) of the enumerated law, over all moves of a rows, exceeds that of μ-GDP."""
    shape, depth, a, _ = CASES[case]
    points, chances = enumerated(case, sigma2)
    known = dict(zip(map(tuple, points.tolist()), chances.tolist(), strict=True))
    worst = -1.0
    for move in differences(equations(shape, depth), a)[:40].tolist():
        moved = np.array([known.get(tuple(point), 0.0) for point in (points + np.array(move)).tolist()])
        for epsilon in (Fraction(1, 4), Fraction(1), Fraction(5, 2)):
            delta = np.maximum(chances - np.exp(float(epsilon)) * moved, 0)[moved > 0].sum()
            worst = max(worst, delta - GDP(mu).delta_at(epsilon))
    return worst


@pytest.mark.parametrize("case", ["2 x 2", "2 x 3", "a block of 3"])
@pytest.mark.parametrize("mu", [Fraction(1), Fraction(2)])
def test_every_move_is_hidden_as_mu_says(case, mu):
    l2_squared = CASES[case][3]
    assert largest_excess(case, l2_squared / mu**2, mu) <= 1e-9
    assert largest_excess(case, l2_squared / mu**2 / 2, mu) > 1e-3, "half of the variance does not hide it"


def fits(sample, points, chances):
    """Pearson's chi-square of a sample beside its law, with cells that expect at least 10."""
    expected = chances * len(sample)
    likely = expected >= 10
    place = {point: i for i, point in enumerate(map(tuple, points[likely].tolist()))}
    counts = np.zeros(int(likely.sum()) + 1)
    for point, many in Counter(map(tuple, sample.tolist())).items():
        counts[place.get(point, -1)] += many
    expected = np.append(expected[likely], max(len(sample) - expected[likely].sum(), 1e-9))
    from flint import arb

    statistic = ((counts - expected) ** 2 / expected).sum()
    return float((arb(statistic) / 2).gamma_upper(arb(len(counts) - 1) / 2, regularized=1)) > ALPHA


def drawn(case, sigma2, size):
    shape, depth, _, _ = CASES[case]
    if shape == (1,):
        return rounded_sum_zero(sigma2, np.full(size, depth), system_bits()).reshape(size, depth)
    return rounded_margins(sigma2, shape, system_bits(), depth=depth, blocks=size).reshape(size, -1)


@pytest.mark.one_in(15)
@pytest.mark.parametrize("sigma2", [Fraction(1, 3), Fraction(2)])
@pytest.mark.parametrize("case", CASES)
def test_draws_have_the_law(case, sigma2):
    assert fits(drawn(case, sigma2, 40_000), *enumerated(case, sigma2))


MUTANTS = {
    "a coordinate is forgotten": Mutant(nearest_plane, "_split_rows", "(n * m, t), (-h * m, e)", "(n * m, t), (0, e)"),
    "the centre is forgotten": Mutant(nearest_plane, "_split_rows", "(scale * h * m, p)", "(0, p)"),
    "slices are split without their sum": Mutant(nearest_plane, "_split_slices", "parents - drawn", "-drawn"),
    "numbers are cut and not rounded": Mutant(
        nearest_plane, "_nearest", "(2 * numerators + denominator) //", "(2 * numerators) //"
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", MUTANTS)
def test_another_law_is_noticed(name, monkeypatch):
    MUTANTS[name].plant(monkeypatch)
    assert not fits(drawn("3 x 3", Fraction(2), 40_000), *enumerated("3 x 3", Fraction(2)))


def enumerated_lattice(lattice, sigma2):
    """The same of a lattice of one or two vectors."""
    basis = np.array(lattice.basis)
    first = basis[0].astype(float)
    vectors = np.array([first, *(other - first * (other @ first) / (first @ first) for other in basis[1:])])
    norms = (vectors**2).sum(axis=1)
    points = np.array(list(product(range(-25, 26), repeat=len(basis)))) @ basis
    at, deviation = points @ vectors.T / norms, np.sqrt(float(sigma2) / norms)
    return points, (ndtr((0.5 - np.abs(at)) / deviation) - ndtr((-0.5 - np.abs(at)) / deviation)).prod(axis=1)


@pytest.mark.slow
def test_a_general_lattice_has_the_law_of_its_basis():
    """Two cells that differ: the basis of one vector is the same in any order, and of the weights no other is reduced."""
    lattice = lattice_of([[1, 1, 1, 1], [0, 1, 2, 3]])
    points, chances = enumerated_lattice(lattice, 3)
    assert chances.sum() == pytest.approx(1, abs=1e-6)
    bits = system_bits()
    sample = np.array([rounded_lattice(lattice, Fraction(3), bits) for _ in range(4000)])
    assert fits(sample, points, chances)
    assert not fits(sample * np.array([1, 1, 1, -1]), points, chances)


@pytest.mark.parametrize("start", [0, 1, 7])
def test_a_half_is_rounded_up_as_often_as_down_wherever_it_lies(start):
    """Half to even would round 2k + 1/2 down and 2k + 3/2 up: not the same number for a vector that is added."""
    halves = np.full(4000, 2 * start + 1, dtype=np.int64)
    up = (nearest_plane._nearest(halves, 2, system_bits()) == start + 1).mean()
    assert abs(up - 0.5) < 0.1


def test_numbers_beyond_64_bits_stay_exact():
    sigma2 = Fraction(10**30)
    found = rounded_margins(sigma2, (2, 3), system_bits(), depth=2, blocks=50)
    assert not np.asarray(found.sum(axis=(2, 3))).any()
    assert not np.asarray(found.sum(axis=(1, 3))).any()
    assert float(np.abs(found).max()) > 1e14


@pytest.mark.parametrize(
    ("shape", "depth"), [((2, 2), 1), ((3, 3), 1), ((5, 5), 1), ((3, 3), 2), ((4, 3, 2), 1), ((1,), 40)]
)
def test_the_mean_variance_is_that_of_the_coordinates(shape, depth):
    """σ² P and 1/12 Σ b², as published: 1.083, 2.780 and 3.963 for μ = 1 on 2 x 2, 3 x 3 and 5 x 5 tables."""
    sigma2 = {2: 4, 3: 6, 5: 6}.get(shape[0], 8)
    stated = nearest_plane_laws.margins_variance(Fraction(sigma2), shape, depth)
    sample = rounded_margins(Fraction(sigma2), shape, system_bits(), depth=depth, blocks=20_000).astype(float)
    assert stated == pytest.approx(sample.var(), rel=0.06)
    if depth == 1 and len(shape) == 2:
        assert stated == pytest.approx({2: 1.0833, 3: 2.7801, 5: 3.9634}[shape[0]], abs=1e-4)


@pytest.mark.one_in(10)
@pytest.mark.parametrize(
    ("shape", "depth", "sigma2"),
    [((3, 3), 1, "6"), ((2, 2), 1, "0.25"), ((5, 4), 2, "3"), ((1,), 40, "8"), ((3, 3), 1, "0.1"), ((40, 3), 1, "2")],
)
@pytest.mark.parametrize("level", ["0.95", "0.999"])
def test_half_widths_cover_and_few_are_wider_than_need_be(shape, depth, sigma2, level):
    wide = nearest_plane_laws.margins_half_widths(Fraction(sigma2), shape, depth, Fraction(level))
    sample = np.abs(rounded_margins(Fraction(sigma2), shape, system_bits(), depth=depth, blocks=20_000))
    assert ((sample <= wide).mean(axis=0) >= float(level) - 6 * (0.25 * (1 - float(level)) / 20_000) ** 0.5 - 1e-3).all()
    if Fraction(sigma2) >= 1:
        assert ((sample <= wide - 2).mean(axis=0) < float(level)).all()


@pytest.mark.one_in(35)
@pytest.mark.parametrize("sigma2", ["0.02", "0.1", "0.25", "0.5", "1"])
@pytest.mark.parametrize("case", CASES)
def test_what_is_said_of_narrow_noise_is_true_and_near(case, sigma2):
    """A variance that is above the truth by more than a quarter and 0.02 makes independent noise look better."""
    shape, depth, _, _ = CASES[case]
    points, chances = enumerated(case, Fraction(sigma2))
    true = (chances[:, None] * points**2).sum(axis=0).mean()
    stated = nearest_plane_laws.margins_variance(Fraction(sigma2), shape, depth)
    assert true * (1 - 1e-6) <= stated <= 1.25 * true + 0.02
    for level in ("0.5", "0.8", "0.95", "0.999"):
        wide = nearest_plane_laws.margins_half_widths(Fraction(sigma2), shape, depth, Fraction(level)).ravel()
        missed = (chances[:, None] * (np.abs(points) > wide)).sum(axis=0)
        assert (missed <= 1 - float(level) + 1e-9).all()
        assert not wide.any() or float(sigma2) > 0.02 or level == "0.999"


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 2, 2), (1,)])
def test_noise_that_no_double_tells_from_none_has_width_0(shape):
    sigma2 = Fraction(1, 10**400)
    assert not nearest_plane_laws.margins_half_widths(sigma2, shape, 2, Fraction(95, 100)).any()
    assert 0 < nearest_plane_laws.margins_variance(sigma2, shape, 2) < 1e-300
    lattice = lattice_of([[1, 1, 1, 1], [0, 1, 2, 3]])
    assert not nearest_plane_laws.lattice_half_widths(lattice, sigma2, Fraction(95, 100)).any()


@pytest.mark.parametrize("sigma2", ["0.1", "0.33", "1", "3"])
def test_what_is_said_of_a_general_lattice_is_true(sigma2):
    for rows in ([[1, 1, 1], [0, 1, 2]], [[1, 1, 1, 1], [0, 1, 2, 3]], [[1, 1, 1, 1], [0, 1, 1, 3]]):
        lattice = lattice_of(rows)
        points, chances = enumerated_lattice(lattice, Fraction(sigma2))
        assert chances.sum() == pytest.approx(1, abs=1e-5)
        true = (chances[:, None] * points**2).sum(axis=0).mean()
        assert true * (1 - 1e-6) <= nearest_plane_laws.lattice_variance(lattice, Fraction(sigma2)) <= 1.1 * true + 0.01
        for level in ("0.5", "0.8", "0.95"):
            wide = nearest_plane_laws.lattice_half_widths(lattice, Fraction(sigma2), Fraction(level))
            assert ((chances[:, None] * (np.abs(points) > wide)).sum(axis=0) <= 1 - float(level) + 1e-9).all()


def test_a_cell_of_three_axes_depends_on_all_nodes_of_those_taken_apart_first():
    """2 x 3 x 3: in the sum over the first axis f is 2 · 2/3 or 2 · 1/2 times the same; a slice of nine falls into 8 | 1."""
    summed = 2 * (Fraction(2, 3) + Fraction(1, 2)) ** 2
    path = Fraction(1, 2) * (Fraction(8, 9) + sum(Fraction(k, k + 1) for k in range(1, 8)))
    least = 4 * (summed + path) / nearest_plane.scale_of(Fraction(6))
    assert nearest_plane_laws._fine_grid(Fraction(6), (2, 3, 3), 1) >= least


def test_intervals_cover_whatever_the_level():
    assert (nearest_plane_laws.margins_half_widths(Fraction(3), (3, 3), 1, 1 - Fraction(1, 10**12)) > 8).all()
