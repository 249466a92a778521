"""Noise with two variances beside exact margins: least among all Gaussians, hidden moves, its law, and mutants.

Oracles: all changes of a rows one by one; a convex programme over every covariance that the symmetries leave, and over all
covariances in one case; the law of the boxes around the vectors of the lattice.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import gamma, pi, prod

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr

from discreet.mechanisms import Lattice, Sensitivity, SomeChanges, Vector, correlated_lattice, exchanges
from discreet.mechanisms.correlated_lattice import CORRELATED_LATTICE, CorrelatedLattice
from discreet.mechanisms.exchanges import moves_of_margins
from discreet.mechanisms.part_costs import advertised_part
from discreet.mechanisms.shares import best_shares, mu_squared
from discreet.noise.bits import system_bits
from discreet.noise.lattice import nearest_plane
from discreet.noise.lattice.margin_laws import correlated_cell
from discreet.noise.lattice.nearest_plane import correlated_margins
from discreet.noise.lattice.nearest_plane_laws import margins_half_widths, margins_variance
from discreet.privacy import GDP, ZCDP
from discreet.totals.enumerate import differences
from discreet.totals.structure import Blocks, Kernel, Table, Tables, margin_equations

from .correlated import fits, least_by_programme, names, offered, parts_of, table_of
from .mutants import Mutant, mutant

pytestmark = pytest.mark.one_in(4)  # the others run with make test-slow

SMALL = {"2 x 2, 2 cells": ((2, 2), 2, 2), "2 x 2, 3 cells": ((2, 2), 3, 2), "3 x 3, 2 cells": ((3, 3), 2, 3)}
"""Shape of the places, cells at each place, a."""


def all_changes(shape: tuple[int, ...], depth: int, a: int) -> np.ndarray:
    found = differences(margin_equations(table_of(shape, depth).tables[0]), a)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("shape", "depth", "a"),
    [*SMALL.values(), ((2, 3), 2, 3), ((2, 2), 2, 3), ((2, 2, 2), 2, 2), ((3, 2), 3, 3), ((2, 2, 2), 2, 3), ((2, 2), 2, 4)],
)
def test_the_moves_are_those_of_all_changes(shape, depth, a):
    """The largest form over the listed moves is the largest over all changes, for every pair of variances."""
    listed = moves_of_margins(shape, depth, a)
    assert listed.listed
    moved, known = parts_of(all_changes(shape, depth, a), depth), np.array(listed.energies, dtype=float)
    for ratio in (0.001, 0.1, 0.2, 0.3, 0.5, 1, 2, 100):
        assert (known @ [1, 1 / ratio]).max() == pytest.approx((moved @ [1, 1 / ratio]).max(), rel=1e-12)


@pytest.mark.parametrize(
    ("shape", "a"),
    [((2, 2), 2), ((3, 3), 3), ((3, 4), 4), ((2, 2, 2), 4), ((3, 3, 3), 4), ((3, 3), 5), ((4, 4), 5), ((3, 3), 6)],
)
def test_a_bound_of_the_moves_is_one_and_near(shape, a, monkeypatch):
    exact = moves_of_margins(shape, 2, a)
    monkeypatch.setattr(exchanges, "_listed", lambda _shape, _a: None)
    bound = moves_of_margins(shape, 2, a)
    assert (exact.listed, bound.listed) == (True, False)
    for ratio in (Fraction(1, 100), *(Fraction(k, 20) for k in range(1, 41)), Fraction(50)):
        assert mu_squared(exact.energies, (Fraction(1), ratio)) <= mu_squared(bound.energies, (Fraction(1), ratio))
    weights = (prod(shape), prod(shape) - 1 - sum(shape) + len(shape))
    costs = [
        sum(float(s) * w for s, w in zip(best_shares(one.energies, weights).variances, weights, strict=True))
        for one in (exact, bound)
    ]
    assert costs[1] <= costs[0] * 1.05


@pytest.mark.parametrize(("shape", "depth"), [((3, 3), 2), ((2, 4), 3), ((2, 3, 2), 2)])
def test_the_variance_of_a_cell_is_that_of_dense_projectors(shape, depth):
    """Intervals stand on it; one that is a little too small would not show in draws."""
    places = prod(shape)
    rows = margin_equations(table_of(shape, 1).tables[0]).astype(float)
    between = np.kron(np.eye(places) - np.linalg.pinv(rows) @ rows, np.full((depth, depth), 1 / depth))
    within = np.kron(np.eye(places), np.eye(depth) - 1 / depth)
    projected, _ = correlated_cell(Fraction(7), shape, depth, Fraction(1, 5))
    assert np.diag(within + between / 5) == pytest.approx(float(projected), rel=1e-9)


def test_shares_are_certified_and_exact():
    generator = np.random.default_rng(5)
    for parts in (2, 3, 5):
        energies = [tuple(Fraction(int(k), 7) for k in row) for row in generator.integers(1, 60, (40, parts))]
        weights = generator.integers(1, 30, parts).tolist()
        found = best_shares(energies, weights)
        assert mu_squared(energies, found.variances) == 1
        cost = sum(weight * float(one) for weight, one in zip(weights, found.variances, strict=True))
        assert found.least <= cost <= found.least * 1.0005
        assert least_by_programme(np.array(energies, dtype=float), np.array(weights)) == pytest.approx(cost, rel=1e-3)


def interactions(shape: tuple[int, ...], depth: int) -> list[np.ndarray]:
    """The projectors on every interaction of axes and the free column that the margins leave free, over the cells."""
    axes = (*shape, depth)
    found = []
    for size in range(1, len(axes) + 1):
        for chosen in combinations(range(len(axes)), size):
            if len(axes) - 1 not in chosen and len(chosen) < 2:
                continue  # a margin
            matrix = np.ones((1, 1))
            for axis, levels in enumerate(axes):
                mean = np.full((levels, levels), 1 / levels)
                matrix = np.kron(matrix, np.eye(levels) - mean if axis in chosen else mean)
            found.append(matrix)
    return found


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("shape", "depth", "a"),
    [((3, 3), 2, 3), ((2, 2), 3, 2), ((2, 3), 2, 3), ((4, 3), 2, 3), ((2, 2, 2), 2, 3), ((2, 2), 5, 2)],
)
def test_no_gaussian_has_less_noise(shape, depth, a):
    """One variance for each interaction, the best of them by a convex programme: the general optimum by symmetry."""
    changes = all_changes(shape, depth, a)
    projectors = interactions(shape, depth)
    energies = np.unique(np.round([((changes @ one) * changes).sum(axis=1) for one in projectors], 9), axis=1).T
    least = least_by_programme(energies[energies.any(axis=1)], np.array([round(np.trace(one)) for one in projectors]))
    noise = offered(table_of(shape, depth), a, GDP(1))
    free = prod(shape) - 1 - sum(shape) + len(shape)
    trace = float(noise.within) * prod(shape) * (depth - 1) + float(noise.between) * free
    assert trace <= least * 1.001
    assert noise.variance() ** 0.5 <= 1.01 * (least / (prod(shape) * depth)) ** 0.5, "rounded, too"
    white = 2 * a * a * (prod(shape) * (depth - 1) + free)
    assert trace < white * 0.97


def test_no_covariance_at_all_has_less_noise():
    """2 x 2 places of two cells: all covariances of the five free directions, without a word about symmetry."""
    changes = all_changes((2, 2), 2, 2)
    changes = changes[changes.any(axis=1)]
    _, _, rows = np.linalg.svd(margin_equations(table_of((2, 2), 2).tables[0]).astype(float))
    basis = rows[-5:]  # orthonormal, of the kernel
    inside = np.unique(np.round(changes @ basis.T, 9), axis=0)
    low = np.tril_indices(5)

    def covariance_trace(lower: np.ndarray) -> float:
        factor = np.zeros((5, 5))
        factor[low] = lower
        return float(np.trace(np.linalg.inv(factor @ factor.T)))  # of the inverse of the form

    def room(lower: np.ndarray) -> np.ndarray:
        factor = np.zeros((5, 5))
        factor[low] = lower
        return 1 - ((inside @ factor) ** 2).sum(axis=1)

    start = (np.eye(5) + np.random.default_rng(1).normal(size=(5, 5)) * 0.05)[low] * 0.3
    found = minimize(
        lambda x: covariance_trace(x) / 30,
        start,
        constraints=[{"type": "ineq", "fun": room}],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    noise = offered(table_of((2, 2), 2), 2, GDP(1))
    assert room(found.x).min() > -1e-6
    assert float(noise.within) * 4 + float(noise.between) <= covariance_trace(found.x) * 1.001


def points_and_chances(within: float, between: float, reach: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """2 x 2 places of two cells: coordinates, vectors and chances; each coordinate is written down by hand."""
    steps = np.array(list(product(range(-reach, reach + 1), repeat=3)))
    exchange = np.array([1, 1, -1, -1, -1, -1, 1, 1]) / 2
    pairs = np.kron(np.eye(4), [1, -1])
    half = np.array([1, 0, -1, 0, -1, 0, 1, 0])
    # Two places are enough to see every dependence; the other two repeat them.
    points = steps @ np.array([half, pairs[0], pairs[1]]).astype(int)
    vectors = np.array([exchange, pairs[0], pairs[1]])
    norms = (vectors**2).sum(axis=1)
    at, deviation = points @ vectors.T / norms, np.sqrt(np.array([between, within, within]) / norms)
    chances = (ndtr((0.5 - np.abs(at)) / deviation) - ndtr((-0.5 - np.abs(at)) / deviation)).prod(axis=1)
    return points[:, :4], points, chances


def drawn(within: Fraction, between: Fraction, size: int) -> np.ndarray:
    return np.asarray(correlated_margins(within, between, (2, 2), system_bits(), depth=2, blocks=size)).reshape(size, 8)


@pytest.mark.parametrize(("within", "between"), [(Fraction(2), Fraction(1, 2)), (Fraction(1, 3), Fraction(1, 9))])
def test_draws_have_the_law(within, between):
    shown, _, chances = points_and_chances(float(within), float(between))
    assert chances.sum() == pytest.approx(1, abs=1e-6)
    assert fits(drawn(within, between, 40_000)[:, :4], shown, chances)


def five_coordinates(within: float, between: float, reach: int) -> tuple[np.ndarray, np.ndarray]:
    steps = np.array(list(product(range(-reach, reach + 1), repeat=5)))
    exchange, pairs = np.array([1, 1, -1, -1, -1, -1, 1, 1]) / 2, np.kron(np.eye(4), [1, -1])
    points = steps @ np.array([np.array([1, 0, -1, 0, -1, 0, 1, 0]), *pairs]).astype(int)
    vectors = np.array([exchange, *pairs])
    norms = (vectors**2).sum(axis=1)
    at, deviation = points @ vectors.T / norms, np.sqrt(np.array([between, *[within] * 4]) / norms)
    return points, (ndtr((0.5 - np.abs(at)) / deviation) - ndtr((-0.5 - np.abs(at)) / deviation)).prod(axis=1)


def largest_excess(within: Fraction, between: Fraction, mu: Fraction) -> float:
    """The most by which δ(ε) of the enumerated law exceeds that of μ-GDP, over changes of two rows of every kind."""
    points, chances = five_coordinates(float(within), float(between), 5)
    points, chances = points[chances > 1e-8], chances[chances > 1e-8]
    known = dict(zip(map(tuple, points.tolist()), chances.tolist(), strict=True))
    changes = all_changes((2, 2), 2, 2)
    kinds = {tuple(np.round(part, 6)): change for part, change in zip(parts_of(changes, 2), changes.tolist(), strict=True)}
    worst = -1.0
    for move in kinds.values():
        moved = np.array([known.get(tuple(point), 0.0) for point in (points + np.array(move)).tolist()])
        for epsilon in (Fraction(1, 4), Fraction(1), Fraction(5, 2)):
            delta = np.maximum(chances - np.exp(float(epsilon)) * moved, 0)[moved > 0].sum()
            worst = max(worst, delta - GDP(mu).delta_at(epsilon))
    return worst


def test_every_move_is_hidden_as_mu_says():
    """At μ = 3 numbers are small enough to enumerate, and narrower noise in either part does not hide every move."""
    mu = Fraction(3)
    noise = offered(table_of((2, 2), 2), 2, GDP(mu))
    assert largest_excess(noise.within, noise.between, mu) <= 1e-9
    assert largest_excess(noise.within * Fraction(6, 10), noise.between, mu) > 1e-3
    assert largest_excess(noise.within, noise.between * Fraction(2, 10), mu) > 1e-3


def charge_by_enumeration(noise: CorrelatedLattice, shape: tuple[int, ...], depth: int, a: int) -> float:
    moved = parts_of(all_changes(shape, depth, a), depth)
    return float((moved @ [1 / float(noise.within), 1 / float(noise.between)]).max())


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("guarantee", [GDP(2), ZCDP("1/8")], ids=str)
def test_the_charge_is_that_of_the_worst_change(case, guarantee):
    shape, depth, a = SMALL[case]
    noise = offered(table_of(shape, depth), a, guarantee)
    owed = guarantee.mu**2 if isinstance(guarantee, GDP) else 2 * guarantee.rho
    assert charge_by_enumeration(noise, shape, depth, a) == pytest.approx(float(owed), rel=1e-9)


UNDERCHARGED = {
    "shares a tenth smaller": Mutant(correlated_lattice, "_candidates", "between * unit,", "between * unit * 9 / 10,"),
    "a factor 4 for margins that are not nested": Mutant(
        correlated_lattice, "_candidates", "_moves_of_tables(structure, answer.lattice.a)", "_moves_of_tables(structure, 2)"
    ),
}

FEWER_MOVES = {
    "moves outside all margins alone": ("in sorted(found.items())", "in sorted(found.items())[:2]"),
    "no common rows at a place": ("max(found.get(between, 0), cells)", "min(found.get(between, 999), cells)"),
    "margins that are not equal in P and N": (
        "(equal := _pairs(first, first), equal, equal)",
        "(_pairs(first, first),) * 2 + (0,)",
    ),
}


@pytest.mark.parametrize("name", UNDERCHARGED)
def test_noise_that_hides_less_than_it_charges_is_noticed(name, monkeypatch):
    UNDERCHARGED[name].plant(monkeypatch)
    answer = Vector(18, None, Lattice(table_of((3, 3), 2), 3))
    (noise,) = correlated_lattice._candidates(answer, Sensitivity(6, 18), GDP(1))
    assert charge_by_enumeration(noise, (3, 3), 2, 3) > 1.001


@pytest.mark.parametrize("name", FEWER_MOVES)
def test_a_list_of_other_moves_is_noticed(name, monkeypatch):
    monkeypatch.setattr(exchanges, "_listed", mutant(exchanges._listed.__wrapped__, *FEWER_MOVES[name]))
    moved = parts_of(all_changes((3, 3), 2, 3), 2)
    known = np.array(moves_of_margins((3, 3), 2, 3).energies, dtype=float)
    assert any((known @ [1, 1 / ratio]).max() != pytest.approx((moved @ [1, 1 / ratio]).max()) for ratio in (0.1, 0.2, 1, 5))


ANOTHER_LAW = {
    "halves to even": Mutant(
        nearest_plane,
        "_nearest",
        "whole = (2 * numerators + denominator) // (2 * denominator)",
        "whole = numerators // denominator",
    ),
    "the places have the noise of cells": Mutant(
        nearest_plane, "correlated_margins", "MOST_SIGMA2) * depth", "MOST_SIGMA2) * 1"
    ),
    "the cells of a place are not told apart": Mutant(nearest_plane, "_split_cells", "(-h, every)", "(0, every)"),
}


@pytest.mark.parametrize("name", ANOTHER_LAW)
def test_another_law_is_noticed(name, monkeypatch):
    ANOTHER_LAW[name].plant(monkeypatch)
    shown, _, chances = points_and_chances(2, 0.5)
    sample = nearest_plane.correlated_margins(Fraction(2), Fraction(1, 2), (2, 2), system_bits(), depth=2, blocks=40_000)
    assert not fits(np.asarray(sample).reshape(-1, 8)[:, :4], shown, chances)


def test_a_whole_number_of_the_grid_is_a_multiple_of_the_cells_of_a_place():
    """Else the mean of a place moves by a part of a step, and its noise is not that of a Gaussian mechanism."""
    for depth in (2, 3, 5, 7, 12):
        for within, between in ((Fraction(18), Fraction(18, 5)), (Fraction(1, 3), Fraction(1, 900))):
            scale = nearest_plane._scale_between(within, between, depth)
            assert scale % depth == 0
            assert scale**2 * min(within, between * depth) >= 2**60


@pytest.mark.parametrize("shape", [(2, 2, 10), (3, 3, 2), (2, 2, 3000)])
def test_whatever_is_offered_can_be_drawn(shape):
    """A failure in the sampler would come after the charge."""
    *places, depth = shape
    structure = table_of(tuple(places), depth)
    refused = 0
    for exponent in (*range(-34, -25), *range(20, 30)):
        answer, rho = Vector(structure.cells, None, Lattice(structure, 3)), ZCDP(Fraction(10) ** exponent)
        found = list(CORRELATED_LATTICE.candidates(answer, Sensitivity(6, 18), rho))
        refused += not found
        for noise in found:
            noise.apply(np.zeros(structure.cells, dtype=np.int64), system_bits())
            assert noise.variance() > 0
    assert refused, "independent noise reaches further"


WIDE = [
    ((3, 3), 2, "18", "1/5"),
    ((2, 2), 3, "8", "1/4"),
    ((2, 2, 2), 2, "32", "1/3"),
    ((4, 3), 5, "0.4", "1/20"),
    ((2, 3), 40, "2", "1/10"),
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("shape", "depth", "within", "ratio"), WIDE)
def test_what_is_said_of_a_cell_is_true_and_near(shape, depth, within, ratio):
    variance, times = Fraction(within), Fraction(ratio)
    sample = np.asarray(correlated_margins(variance, variance * times, shape, system_bits(), depth=depth, blocks=20_000))
    axes = tuple(range(1, 1 + len(shape)))
    for axis in axes:
        assert not sample.sum(axis=tuple(other for other in (*axes, len(axes) + 1) if other != axis)).any()
    stated = margins_variance(variance, shape, depth, times)
    assert sample.var() <= stated * 1.03
    assert stated <= sample.var() * (1.03 if variance > 1 else 1.3)
    for level in (Fraction(95, 100), Fraction(999, 1000)):
        wide = margins_half_widths(variance, shape, depth, level, times)
        assert ((np.abs(sample) <= wide).mean(axis=0) >= float(level) - 6 * 0.5 / 20_000**0.5).all()
        assert variance < 1 or ((np.abs(sample) <= wide - 2).mean(axis=0) < float(level)).all()


def test_small_laws_are_covered_exactly():
    for within, between in (
        (Fraction(1), Fraction(1, 5)),
        (Fraction(1, 4), Fraction(1, 12)),
        (Fraction(1, 20), Fraction(1, 80)),
    ):
        points, chances = five_coordinates(float(within), float(between), 5)
        assert chances.sum() == pytest.approx(1, abs=1e-4)
        true = float((chances[:, None] * points**2).sum(axis=0).mean())
        assert true * (1 - 1e-4) <= margins_variance(within, (2, 2), 2, between / within) <= 1.3 * true + 0.02
        for level in (Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)):
            wide = margins_half_widths(within, (2, 2), 2, level, between / within).ravel()
            assert ((chances[:, None] * (np.abs(points) > wide)).sum(axis=0) <= 1 - float(level) + 1e-9).all()


def test_it_is_chosen_where_it_has_the_least_noise_and_offered_nowhere_else():
    best, plain = "correlated Gaussian on the lattice", "rounded Gaussian"
    for guarantee in (GDP(1), ZCDP("1/2")):
        assert names(table_of((3, 3), 2), 3, guarantee)[0] == best
        for structure in (
            table_of((3, 3), 1),
            table_of((1, 3), 2),
            Blocks(6, np.arange(6), np.array([3, 3]), None),
            Kernel(6, np.arange(6), np.array([[1] * 6, [0, 1, 2, 3, 1, 2]])),
        ):
            found = names(structure, 3, guarantee)
            assert best not in found
            assert plain in found
    assert names(table_of((2, 2), 3), 2, ZCDP(8))[0] == "Gaussian on the lattice"  # rounding would cost more
    assert best not in names(table_of((3, 3), 2), 1, GDP(1))


def test_tables_of_several_shapes_have_the_noise_of_the_largest():
    cells = np.arange(8 + 18)
    tables = (Table(cells[:8].reshape(2, 2, 2), None), Table(cells[8:].reshape(3, 3, 2), None))
    both, one = offered(Tables(26, tables), 3, GDP(1)), offered(table_of((3, 3), 2), 3, GDP(1))
    assert (both.within, both.between) == (one.within, one.between)
    drawn_once = both.apply(np.zeros(26, dtype=np.int64), system_bits())
    assert not drawn_once[:8].reshape(2, 2, 2).sum(axis=(0, 2)).any()
    assert not drawn_once[8:].reshape(3, 3, 2).sum(axis=(1, 2)).any()
    assert set(both.half_widths(Fraction(95, 100)).tolist()) <= {6, 7}


def test_six_axes_and_many_rows_are_offered_by_a_bound_at_once():
    noise = offered(table_of((2,) * 6, 2), 6, GDP(1))
    assert not noise.listed
    assert noise.to_json()["changes"] == "bounded"
    assert noise.between < noise.within == 72


@pytest.mark.parametrize("guarantee", [GDP(1), ZCDP("0.5")])
def test_what_is_advertised_holds_for_a_row_that_goes_to_another_place(guarantee):
    """The form of every e_x - e_y, written down here, is at most what is advertised, and that of some is as much."""
    noise = offered(table_of((3, 3), 2), 3, guarantee)
    moves = np.array([one - other for one, other in combinations(np.eye(18, dtype=np.int64), 2)])
    within, between = parts_of(moves, 2).T
    forms = within / float(noise.within) + between / float(noise.between)
    ordinary, most = Sensitivity(2, 2), Sensitivity(6, 18)
    assert float(advertised_part(noise, ordinary, most, guarantee)) == pytest.approx(forms.max(), rel=1e-12)
    assert forms.max() > 1.05 * 2 / float(noise.within)  # the ratio of the norms would be too little
    stays = forms[between == 0].max()
    within_places = SomeChanges(ordinary, most, keeps_places=True)
    assert float(noise.part_of_guarantee(within_places, guarantee)) == pytest.approx(stays, rel=1e-12)


def test_no_rounding_of_the_best_gaussian_is_within_one_percent_in_the_smallest_table():
    """The second moment of a ball of the lattice's volume, on top of the best Gaussian; and what the code adds."""
    noise = offered(table_of((2, 2), 2), 2, GDP(1))
    pairs = np.kron(np.eye(4), [1, -1])
    basis = np.vstack([pairs, np.kron([1, -1, -1, 1], [1, 0])])
    volume, rank = np.sqrt(np.linalg.det(basis @ basis.T)), len(basis)
    ball = rank * gamma(rank / 2 + 1) ** (2 / rank) / ((rank + 2) * pi) * volume ** (2 / rank)
    best = 4 * float(noise.within) + float(noise.between)
    least = np.sqrt(1 + ball / best)
    assert 1.0100 < least < np.sqrt(8 * noise.variance() / best) < 1.0125
    narrow = offered(table_of((2, 2), 2), 2, GDP("0.3"))
    assert np.sqrt(8 * narrow.variance() / (4 * float(narrow.within) + float(narrow.between))) < 1.002


def theta(within: float, between: float, shift: np.ndarray, deepest: int) -> tuple[float, float]:
    """Σ exp(-Q(v - shift)/2) and Σ Q₁(v) exp(-Q(v)/2) over the lattice of 2 x 2 places with 2 cells, Q₁ = |v|²."""
    first, total, second = np.arange(-deepest, deepest + 1), 0.0, 0.0
    shifts = shift.reshape(4, 2)
    for places in range(-6, 7):
        sums = places * np.array([1, -1, -1, 1])
        # Within a place |v|² is (x - y)²/2 + (x + y)²/2, where y = sum - x.
        apart = [2 * first - one - (two[0] - two[1]) for one, two in zip(sums, shifts, strict=True)]
        moved = sums - shifts.sum(axis=1)
        weights = [np.exp(-(one**2) / (4 * within)) for one in apart]
        weight = np.exp(-float(moved @ moved) / (4 * between)) * np.prod([one.sum() for one in weights])
        spread = sum(float(w @ (a**2 / 2)) / w.sum() for w, a in zip(weights, apart, strict=True))
        total, second = total + weight, second + weight * (spread + float(moved @ moved) / 2)
    return total, second


def test_under_rho_the_law_on_the_lattice_has_no_more_than_the_best_gaussian():
    """What the bound for roundings does not stop: the exact law with the best form, by enumeration, and its guarantee."""
    noise = offered(table_of((2, 2), 2), 2, GDP(1))
    within, between = float(noise.within), float(noise.between)
    whole, second = theta(within, between, np.zeros(8), 24)
    best = 4 * within + between
    assert 0.999 * best < second / whole <= best
    moved = all_changes((2, 2), 2, 2)
    for u in moved[:: max(1, len(moved) // 40)]:
        (inside, outside), alpha = parts_of(u[None], 2)[0], 1.5
        form = inside / within + outside / between
        assert form <= 1 + 1e-12
        renyi = alpha * form / 2 + np.log(theta(within, between, (1 - alpha) * u, 24)[0] / whole) / (alpha - 1)
        assert renyi <= alpha / 2 * (1 + 1e-9)
