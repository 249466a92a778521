"""The two Laplace noises that keep exact totals: their laws by enumeration, what is said of a cell, and their losses."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil, log, log1p

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.exact.lattices import independent_rows, kernel_basis
from discreet.mechanisms.base import Lattice, Vector, trials_text
from discreet.mechanisms.lattice_laplace import LatticeLaplace
from discreet.mechanisms.one_sign_laplace import OneSignLaplace
from discreet.mechanisms.projected_laplace import ProjectedLaplace
from discreet.mechanisms.registry import candidates
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.noise.bits import system_bits
from discreet.noise.lattice import margin_laplace, projected_laplace
from discreet.noise.lattice.klein import lattice_of
from discreet.noise.lattice.margin_laplace import expected_cells, margins_laplace
from discreet.noise.lattice.margin_laplace_laws import MarginLaplaceCell
from discreet.noise.lattice.projected_laplace import projected_lattice, projected_margins
from discreet.noise.lattice.projected_laplace_laws import (
    ProjectedCell,
    cells_of_lattice,
    lattice_variance,
    margins_half_widths,
    margins_variance,
)
from discreet.noise.single.laws import DiscreteLaplace
from discreet.noise.single.sums import SumOfNoises
from discreet.privacy import PureDP
from discreet.totals.structure import Blocks, Kernel, Table, Tables, margin_equations

pytestmark = pytest.mark.one_in(4)  # the others run with make test-slow

ALPHA = 1e-9
DRAWS = 4000
HALF = Fraction(1, 2)


def table_of(*order_shape: int) -> Table:
    return Table(np.arange(int(np.prod(order_shape))).reshape(order_shape), None)


@cache
def enumerated(shape: tuple[int, int], depth: int, scale: Fraction) -> tuple[np.ndarray, np.ndarray]:
    """The tables with both margins 0 near 0, flattened, and their chances: exp(-|v|₁/scale), written down again."""
    equations = margin_equations(table_of(*shape, depth))
    rows = equations[independent_rows(equations.tolist())].tolist()
    basis = np.array(kernel_basis(rows, equations.shape[1]))
    reach = {2: 12, 3: 10, 4: 7, 5: 5}[len(basis)]
    points = np.array(list(product(range(-reach, reach + 1), repeat=len(basis)))) @ basis
    weights = np.exp(-np.abs(points).sum(axis=1) / float(scale))
    return points, weights / weights.sum()


def p_value(points: np.ndarray, chances: np.ndarray, drawn: np.ndarray) -> float:
    """Chi-square of draws against a law; points that expect less than 10 are one cell."""
    seen = Counter(map(tuple, drawn.reshape(len(drawn), -1).tolist()))
    expected = chances * len(drawn)
    often = np.flatnonzero(expected >= 10)
    counts = np.array([seen[tuple(one)] for one in points[often].tolist()], dtype=float)
    both = np.append(counts, len(drawn) - counts.sum()), np.append(expected[often], len(drawn) - expected[often].sum())
    return float(chi2.sf(((both[0] - both[1]) ** 2 / both[1]).sum(), len(often)))


CASES = [((3, 3), 1, Fraction(1)), ((2, 3), 1, Fraction(2)), ((4, 2), 1, Fraction(1)), ((2, 2), 2, Fraction(1))]


@pytest.mark.parametrize(("shape", "depth", "scale"), CASES)
def test_draws_have_the_law(shape: tuple[int, int], depth: int, scale: Fraction) -> None:
    drawn = margins_laplace(scale, shape, system_bits(), depth=depth, blocks=DRAWS)
    assert drawn.shape == (DRAWS, *shape, depth)
    assert not drawn.sum(axis=(1, 3)).any()
    assert not drawn.sum(axis=(2, 3)).any()
    assert p_value(*enumerated(shape, depth, scale), drawn) > ALPHA


@pytest.mark.parametrize("wrong", ["odd differences are drawn too often", "rows have another scale"])
def test_another_law_is_noticed(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = margin_laplace.sum_zero_laplace
    if wrong == "rows have another scale":
        monkeypatch.setattr(margin_laplace, "sum_zero_laplace", lambda scale, sizes, bits: whole(scale * 2, sizes, bits))
    else:
        monkeypatch.setattr(margin_laplace, "_accept_odd", lambda _scale, many, _bits: np.ones(many.size, dtype=bool))
    drawn = margins_laplace(Fraction(1), (3, 3), system_bits(), depth=1, blocks=DRAWS)
    assert p_value(*enumerated((3, 3), 1, Fraction(1)), drawn) < ALPHA


def test_another_law_of_places_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = margin_laplace._log_chances
    monkeypatch.setattr(margin_laplace, "_log_chances", lambda scale, depth, sums: whole(scale, depth, sums) / 4)
    drawn = margins_laplace(Fraction(1), (2, 2), system_bits(), depth=2, blocks=DRAWS)
    assert p_value(*enumerated((2, 2), 2, Fraction(1)), drawn) < ALPHA


@pytest.mark.parametrize("scale", [Fraction(1, 16), Fraction(6), Fraction(10**6)])
@pytest.mark.parametrize("depth", [1, 2, 7, 200])
def test_chances_of_sums_in_doubles_are_those_in_balls(scale: Fraction, depth: int) -> None:
    sums = np.array([[0, 0], [1, 3], [int(20 * scale) + 1, 2], [int(300 * scale), 5]])
    for near, row in zip(margin_laplace._log_chances(scale, depth, sums), sums, strict=True):
        assert near == pytest.approx(float(margin_laplace._chance(scale, depth, row).log().mid()), abs=1e-7, rel=1e-9)


def test_doubles_that_do_not_decide_are_followed_by_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(margin_laplace, "_MARGIN", 50.0)
    drawn = margins_laplace(Fraction(1), (2, 2), system_bits(), depth=2, blocks=DRAWS // 4)
    assert p_value(*enumerated((2, 2), 2, Fraction(1)), drawn) > ALPHA


@pytest.mark.parametrize(("shape", "depth"), [((3, 1), 3), ((1, 3), 3)])
def test_a_table_with_one_row_is_places_that_add_up_to_nothing(shape: tuple[int, int], depth: int) -> None:
    drawn = margins_laplace(Fraction(3), shape, system_bits(), depth=depth, blocks=40)
    assert drawn.shape == (40, *shape, depth)
    assert drawn.any()
    assert not drawn.sum(axis=3).any()


@pytest.mark.parametrize(("shape", "depth", "scale"), [*CASES, ((3, 3), 1, HALF), ((2, 2), 2, HALF)])
def test_what_is_said_of_a_cell_is_true_and_near(shape: tuple[int, int], depth: int, scale: Fraction) -> None:
    points, chances = enumerated(shape, depth, scale)
    cells = shape[0] * shape[1] * depth
    law = MarginLaplaceCell(scale, Fraction(cells + 1 - sum(shape), cells))
    first = points[:, 0]
    mean, square = float(chances @ np.abs(first)), float(chances @ first**2)
    assert mean <= float(law.mean)
    assert square <= law.variance() <= DiscreteLaplace(scale).variance()
    if scale >= 1:
        assert law.variance() < 2 * square + 1
    for level in (HALF, Fraction(9, 10), Fraction(99, 100)):
        assert chances @ (np.abs(first) <= law.half_width(level)) >= float(level) - 1e-9


@pytest.mark.parametrize(("shape", "depth", "scale"), CASES)
def test_the_law_of_a_cell_is_log_concave(shape: tuple[int, int], depth: int, scale: Fraction) -> None:
    """Lemma 3, on which half-widths rest; nearer to 0 than the box is wide."""
    points, chances = enumerated(shape, depth, scale)
    masses = [float(chances @ (points[:, 0] == k)) for k in range(6)]
    assert all(masses[k] ** 2 >= masses[k - 1] * masses[k + 1] * (1 - 1e-6) for k in range(1, 5))
    assert masses == sorted(masses, reverse=True)


def test_a_mean_that_is_too_small_is_noticed() -> None:
    points, chances = enumerated((3, 3), 1, Fraction(1))
    law = MarginLaplaceCell(Fraction(1), Fraction(1, 9))
    assert float(chances @ points[:, 0] ** 2) > law.variance()


@pytest.mark.parametrize(
    ("shape", "depth", "accepted"), [((3, 3), 1, 0.216), ((5, 5), 1, 0.0255), ((3, 3), 2, 0.253), ((5, 5), 2, 0.0206)]
)
def test_trials_are_as_many_as_expected(shape: tuple[int, int], depth: int, accepted: float) -> None:
    """Acceptance as measured in 10^5 trials (docs/proofs/lattice-l1.md); the estimate is within a factor of 2 of it."""
    drawn = (shape[0] - (depth == 1)) * shape[1] * depth / accepted
    assert drawn / 2 < expected_cells(shape, depth) < 2 * drawn


LINE = lattice_of([[1, 1, 1], [1, 2, 3]])


@cache
def projected_on_a_line(scale: Fraction) -> tuple[np.ndarray, np.ndarray]:
    """Multiples z of (1, -2, 1), and P(z): the mean of the share of (Z₁ - 2Z₂ + Z₃)/6 that is rounded to z."""
    near = np.arange(-90, 91)
    masses = np.exp(-np.abs(near) / float(scale))
    twice = np.zeros(2 * near.size - 1)
    twice[::2] = masses
    sums = np.convolve(np.convolve(masses, masses), twice)
    at, z = (np.arange(sums.size) - sums.size // 2) / 6, np.arange(-30, 31)
    chances = np.array([(sums * np.maximum(0, 1 - np.abs(at - one))).sum() for one in z]) / sums.sum()
    return z, chances


def test_a_projection_on_a_line_has_its_law() -> None:
    z, chances = projected_on_a_line(Fraction(3))
    drawn = np.array([projected_lattice(LINE, Fraction(3), system_bits()) for _ in range(DRAWS // 2)])
    assert p_value(z[:, None] * np.array([1, -2, 1]), chances, drawn) > ALPHA


def test_a_projection_of_two_by_two_has_its_law() -> None:
    """Its only coordinate is (Z₁ - Z₂ - Z₃ + Z₄)/4, rounded at random."""
    near = np.arange(-30, 31)
    masses = np.exp(-np.abs(near) / 2)
    two = np.convolve(masses, masses)
    sums = np.convolve(two, two) / masses.sum() ** 4
    at, z = (np.arange(sums.size) - sums.size // 2) / 4, np.arange(-20, 21)
    chances = np.array([(sums * np.maximum(0, 1 - np.abs(at - one))).sum() for one in z])
    points = z[:, None] * np.array([1, -1, -1, 1])
    drawn = projected_margins(Fraction(2), (2, 2), system_bits(), depth=1, blocks=DRAWS)
    assert p_value(points, chances, drawn) > ALPHA


def test_rounding_to_the_nearest_has_another_law(monkeypatch: pytest.MonkeyPatch) -> None:
    nearest = lambda numerators, denominator, bits: (2 * numerators + denominator) // (2 * denominator)  # noqa: E731
    monkeypatch.setattr(projected_laplace, "_round_at_random", nearest)
    z, chances = projected_on_a_line(HALF)
    drawn = np.array([projected_lattice(LINE, HALF, system_bits()) for _ in range(DRAWS)])
    assert p_value(z[:, None] * np.array([1, -2, 1]), chances, drawn) < ALPHA


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(3)])
def test_a_projection_hides_every_move_as_its_scale_says(scale: Fraction) -> None:
    """A move by k(1, -2, 1) changes cells by 4|k| in all: the log-ratio is at most 4|k|/scale, and nearly that much."""
    _, chances = projected_on_a_line(scale)
    middle = slice(15, 46)
    for k in (1, 2, 5):
        ratios = np.abs(np.log(chances[middle] / np.roll(chances, k)[middle]))
        assert ratios.max() <= 4 * k / float(scale) * (1 + 1e-9)
    assert np.abs(np.diff(np.log(chances[middle]))).max() > 4 / float(scale) / 2


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(3)])
def test_a_projection_has_the_mean_variance_and_the_widths_of_its_law(scale: Fraction) -> None:
    z, chances = projected_on_a_line(scale)
    square = float(chances @ z**2)
    assert 2 * square <= lattice_variance(LINE, scale) <= 2 * square + 0.2
    for level in (Fraction(9, 10), Fraction(99, 100)):
        for cell, times in zip(cells_of_lattice(LINE, scale), (1, 2, 1), strict=True):
            width = cell.half_width(level)
            assert chances @ (np.abs(z) * times <= width) >= float(level)
            assert chances @ (np.abs(z) * times <= width - 3) < float(level)


@pytest.mark.parametrize("level", [Fraction(95, 100), Fraction(9995, 10000)])
def test_the_series_of_a_cell_is_its_law(level: Fraction) -> None:
    """Without rounding a cell of 5 x 5 is (16 Z - 4 ΣZ + ΣZ)/25, of which the convolution knows the exact half-width."""
    law = DiscreteLaplace(Fraction(6))
    row = ((Fraction(16, 25), 1), (Fraction(4, 25), 8), (Fraction(1, 25), 16))
    exact = SumOfNoises(tuple((int(25 * p), law) for p, many in row for _ in range(many))).half_width(level)
    found = ProjectedCell(Fraction(6), row, 0.0).half_width(level)
    assert exact <= 25 * (found + 1)  # so that |cell| ≤ found holds where |sum| < 25 (found + 1)
    assert 25 * (found - 1) < exact
    moments = ProjectedCell(Fraction(6), row, 0.0)._by_moments(float(1 - level))
    assert found <= moments <= 2 * found


def test_a_cell_under_general_equations_takes_few_sines(monkeypatch: pytest.MonkeyPatch) -> None:
    """All entries of the projector differ; without leaving terms out a quote of 128 such cells took minutes."""
    row = tuple((Fraction(64 if i == 63 else i + 1, 256), 1) for i in range(64))
    sine, taken = np.sin, []
    monkeypatch.setattr(np, "sin", lambda x: taken.append(np.size(x)) or sine(x))
    cell = ProjectedCell(Fraction(6), row, 1.0)
    width = cell.half_width(Fraction(95, 100))
    assert 0 < sum(taken) < 8 * max(taken), "each of the 64 factors has that many terms"
    taken.clear()
    assert cell.half_width(Fraction(95, 100)) == width
    assert not taken, "and is known afterwards"


@pytest.mark.parametrize(("shape", "depth"), [((3, 3), 2), ((2, 2, 2), 1), ((1, 4), 2)])
def test_projected_tables_keep_their_margins_and_are_no_wider_than_said(shape: tuple[int, ...], depth: int) -> None:
    drawn = projected_margins(Fraction(3), shape, system_bits(), depth=depth, blocks=DRAWS)
    for axis in range(len(shape)):
        assert not drawn.sum(axis=tuple(1 + other for other in range(len(shape) + 1) if other != axis)).any()
    square = float(np.square(drawn.astype(float)).mean())
    assert 0.7 * margins_variance(Fraction(3), shape, depth) < square < 1.15 * margins_variance(Fraction(3), shape, depth)
    outside = (np.abs(drawn) > margins_half_widths(Fraction(3), shape, depth, Fraction(1, 2))).mean(axis=0)
    assert outside.max() < 0.5 + 7 * 0.5 / DRAWS**0.5  # a binomial is 7 deviations off with a chance below 1e-11


def test_numbers_beyond_64_bits_are_drawn_too() -> None:
    for draw in (margins_laplace, projected_margins):
        drawn = draw(Fraction(10**17), (3, 3), system_bits(), depth=1, blocks=4)
        assert not drawn.sum(axis=(1, 3)).any()
        assert int(np.abs(drawn).max()) > 10**15


def offered(structure: Tables | Kernel, epsilon: int | str = 1) -> list[str]:
    found = candidates(Vector(structure.cells, None, Lattice(structure, 3)), Sensitivity(6, 6), PureDP(epsilon))
    return [noise.words.name for _, noise in found]


def of_tables(*shapes: tuple[int, ...]) -> Tables:
    tables, first = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        tables.append(Table(first + np.arange(size).reshape(shape), None))
        first += size
    return Tables(first, tuple(tables))


def test_the_noise_with_the_least_stated_error_is_chosen() -> None:
    on_lattice, projected, hull = "Laplace on the lattice", "projected Laplace on the lattice", "K-norm of the hull"
    assert offered(of_tables((5, 5, 1))) == [on_lattice, projected, "discrete Laplace"]
    assert offered(of_tables((10, 10, 1))) == [on_lattice, projected, "discrete Laplace"]
    assert offered(of_tables((3, 3, 2), (2, 3, 1), (4, 4, 1)))[0] == on_lattice
    assert offered(of_tables((3, 3, 1)))[:2] == [hull, on_lattice]
    assert offered(of_tables((50, 50, 1))) == [projected, "discrete Laplace"]  # too many trials
    assert offered(of_tables((2, 2, 2, 2, 1))) == [projected, "discrete Laplace"]  # more than two axes
    assert offered(of_tables((5, 5, 1)), 10**6) == ["discrete Laplace", projected]
    equations = Kernel(27, np.arange(27), margin_equations(table_of(3, 3, 3, 1)))
    assert offered(equations) == [projected, "discrete Laplace"]
    assert offered(Kernel(200, np.arange(200), np.ones((1, 200), dtype=np.int64))) == ["discrete Laplace"]


def test_noises_keep_totals_where_they_are_offered() -> None:
    tables = of_tables((3, 3, 2), (2, 3, 1))
    for noise in (LatticeLaplace(tables, Fraction(4)), ProjectedLaplace(tables, Fraction(4))):
        drawn = noise.sample(system_bits())
        for table in tables.tables:
            assert not (margin_equations(table) @ drawn[table.order.ravel()]).any()
        assert drawn.any()


def of_one_sign(points: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum(points, 0).sum(axis=1), np.maximum(-points, 0).sum(axis=1))


@pytest.mark.slow
def test_sums_of_one_sign_have_their_law() -> None:
    near = np.arange(-40, 41)
    points = np.array(list(product(near, near)))
    weights = np.exp(-2 * of_one_sign(points) / 6)
    noise = OneSignLaplace(Blocks(7, np.array([5, 2, 0, 4]), np.array([2, 2]), None), Fraction(6))
    drawn = np.array([noise.sample(system_bits()) for _ in range(3 * DRAWS)])
    assert not drawn[:, [1, 3, 6]].any()
    assert noise.held is not None
    assert noise.held.tolist() == [0, 2, 4, 5]
    for pair in ([5, 2], [0, 4]):
        assert p_value(points, weights / weights.sum(), drawn[:, pair]) > ALPHA
    assert p_value(points, weights / weights.sum(), drawn[:, [5, 0]]) < ALPHA  # cells of different blocks are independent


def test_the_hull_of_sums_is_the_ball_of_the_norm() -> None:
    """All changes by two rows with values 0 to 2, in one block of three cells: the largest norm is 4, in every direction."""
    rows = [(0, 0, 0), *(tuple(y * np.eye(3, dtype=int)[cell]) for cell in range(3) for y in (1, 2))]
    one = {tuple(np.subtract(new, old)) for new in rows for old in rows}
    changes = np.array([np.add(first, second) for first in one for second in one])
    assert of_one_sign(changes).max() == 4
    extreme = [(4, 0, 0), (4, -4, 0), (0, 4, -4)]
    assert {tuple(change) for change in changes.tolist()} >= set(extreme)
    both = [(0, 0, 0), *(tuple(y * np.eye(3, dtype=int)[cell]) for cell in range(3) for y in (-2, 2))]
    single = {tuple(np.subtract(new, old)) for new in both for old in both}
    assert max(sum(map(abs, change)) for change in single) == 4
    assert (4, 0, 0) in single  # with both signs the hull is the ball of the sum of sizes


@pytest.mark.parametrize(
    ("scale", "share"), [(Fraction(6), Fraction(16, 25)), (Fraction(2), Fraction(4, 9)), (Fraction(1), Fraction(1))]
)
def test_a_half_width_of_a_cell_is_the_least_that_is_proved(scale: Fraction, share: Fraction) -> None:
    """The smaller of two: (w + 1) log(1 + (1 - β)/a) ≥ log(1/β), and that of an independent cell. One more is too much."""
    cell, alone = MarginLaplaceCell(scale, share), DiscreteLaplace(scale)
    for failing in (Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000)):
        by_mean = ceil(log(1 / failing) / log1p(float((1 - failing) / (scale * share)))) - 1
        assert cell.half_width(1 - failing) == min(by_mean, alone.half_width(1 - failing))


def test_a_quote_says_when_most_trials_fail() -> None:
    square = np.arange(100).reshape(10, 10, 1)
    (said,) = trials_text(LatticeLaplace(Tables(100, (Table(square, None),)), Fraction(6)))
    assert "by rejection: about 60,000 numbers" in said
    assert not trials_text(LatticeLaplace(Tables(9, (Table(np.arange(9).reshape(3, 3, 1), None),)), Fraction(6)))
