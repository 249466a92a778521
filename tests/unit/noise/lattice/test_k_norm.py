"""K-norm noise: the cones cut the lattice exactly, the law is that of the norm, and intervals and variances are its own."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from flint import ctx

from discreet.errors import ArgumentError
from discreet.exact.balls import ball
from discreet.noise import DiscreteLaplace
from discreet.noise.bits import system_bits
from discreet.noise.lattice import cones, k_norm
from discreet.noise.lattice.cones import KNorm, half_open_cones
from discreet.noise.lattice.k_norm import KNormCell, half_widths, k_norm_noise, mean_variance


def sum_zero(cells: int) -> list[tuple[int, ...]]:
    """e_i - e_j: one record changes, and the total stays. The norm is half the l1 norm."""
    return [
        tuple((i == plus) - (i == minus) for i in range(cells))
        for plus in range(cells)
        for minus in range(cells)
        if plus != minus
    ]


def moves(rows: int, columns: int) -> list[tuple[int, ...]]:
    """All that up to three records can change in a table while both margins stay."""
    found = set()
    for n in (2, 3):
        for r, c in product(combinations(range(rows), n), permutations(range(columns), n)):
            table = np.zeros((rows, columns), dtype=int)
            table[list(r), list(c)] += 1
            table[list(r), [*c[1:], c[0]]] -= 1
            found |= {tuple(table.ravel().tolist()), tuple((-table).ravel().tolist())}
    return sorted(found)


SPACES = {
    "2x2": moves(2, 2),
    "sum of three": sum_zero(3),
    "sum of four": sum_zero(4),
    "2x4": moves(2, 4),
    "3x3": moves(3, 3),
    "up to 3": [(k,) for k in range(-3, 4)],
    "skew": [(2, 1, 0), (-2, -1, 0), (1, 3, 0), (-1, -3, 0), (5, 0, 0), (-5, 0, 0)],
}


def representations(norm: KNorm, coordinates: tuple[int, ...]) -> list[Fraction]:
    """height + Σ n for every offset of every cone from which non-negative integers n of its generators lead there."""
    found = []
    for place, cone in enumerate(norm.cone_of.tolist()):
        missing = np.array(coordinates) - norm.offsets[place].astype(int)
        steps = np.linalg.solve(norm.generators[cone].astype(float).T, missing)
        rounded = np.rint(steps).astype(int)
        if (rounded >= 0).all() and (rounded @ norm.generators[cone].astype(int) == missing).all():
            found.append(norm.heights[norm.height_of[place]] + int(rounded.sum()))
    return found


@pytest.mark.parametrize("name", ["2x2", "sum of three", "up to 3", "skew"])
def test_every_lattice_vector_is_drawn_in_one_way_and_with_its_norm(name) -> None:
    norm = cones.k_norm(SPACES[name])
    for z in product(range(-3, 4), repeat=norm.rank):
        assert representations(norm, z) == [norm.polytope.norm(z)]


def test_small_three_by_three_tables_are_drawn_in_one_way() -> None:
    norm = cones.k_norm(SPACES["3x3"])
    assert norm.cone_of.size == norm.polytope.pieces == 126
    for z in [*product(range(2), repeat=4), (2, -1, 0, 1), (-3, 2, 1, -1)]:
        assert representations(norm, z) == [norm.polytope.norm(z)]


def test_closed_cones_would_count_their_common_vectors_more_than_once(monkeypatch) -> None:
    monkeypatch.setattr(cones, "_general_direction", lambda inverses: np.zeros(len(inverses[0]), dtype=object))
    closed = half_open_cones(cones.k_norm(SPACES["sum of three"]).polytope)
    assert sum(not any(offset) for cone in closed for offset in cone.offsets) == len(closed) > 1


@pytest.mark.parametrize("name", SPACES)
def test_the_loss_is_epsilon_for_every_vector_and_change(name) -> None:
    """P(v)/P(v + u) = exp(ε(‖v + u‖ - ‖v‖)): the exponents are exact, and the bound 1 is attained."""
    norm = cones.k_norm(SPACES[name])
    rng = np.random.default_rng(5)
    changes = [np.array(u) for u in norm.points]
    largest = Fraction(0)
    for z in rng.integers(-4, 5, (4, norm.rank)):
        v = z @ norm.basis
        losses = [norm.norm(tuple((v + u).tolist())) - norm.norm(tuple(v.tolist())) for u in changes]
        largest = max(largest, *losses)
    assert largest == 1
    assert all(norm.norm(u) <= 1 for u in norm.points)


def test_known_norms() -> None:
    totals = cones.k_norm(SPACES["sum of four"])
    assert totals.norm((3, -1, -2, 0)) == 3
    table = cones.k_norm(SPACES["2x4"])
    assert table.norm((3, -1, -2, 0, -3, 1, 2, 0)) == 3
    assert cones.k_norm(SPACES["up to 3"]).norm((7,)) == Fraction(7, 3)
    with pytest.raises(ArgumentError, match="span"):
        totals.norm((1, 0, 0, 0))


def test_the_lattice_is_that_of_the_span_also_where_the_points_generate_less() -> None:
    norm = cones.k_norm([(2, -2, 0), (-2, 2, 0), (0, 4, -4), (0, -4, 4)])
    assert norm.rank == 2
    assert norm.norm((1, -1, 0)) == Fraction(1, 2)
    # It is one draw in 165: 5,000 have none of it with a probability below 1e-13.
    drawn = {tuple(v) for v in k_norm_noise(norm.points, "0.5", 5000, system_bits()).tolist()}
    assert (1, -1, 0) in drawn


@pytest.mark.parametrize("epsilon", ["0.01", "1", "7/3", "40", "1e17", "1e-17"])
def test_offsets_are_chosen_and_accepted_in_proportion_to_their_weight(epsilon) -> None:
    norm, rate = cones.k_norm(SPACES["3x3"]), Fraction(epsilon)
    choice = k_norm._choice(norm, rate)
    weights = np.diff(choice.upto, prepend=0)
    assert weights.min() >= 1
    with ctx.workprec(200):
        for place, height in enumerate(norm.heights):
            target = (-ball(rate * height)).exp() * 2**40
            (weight,) = set(weights[norm.height_of == place].tolist())
            assert not target > weight
            assert weight < target + 1 + 2.0**-10
            assert not int(choice.surely[place]) * weight > target * 2**64
            assert abs(choice.acceptance[place]() * weight / target - 1) < 1e-30


@pytest.mark.parametrize("size", [0, 1, 1000])
@pytest.mark.parametrize("name", SPACES)
def test_noise_lies_in_the_span_and_comes_in_integers(name, size) -> None:
    points = np.array(SPACES[name])
    drawn = k_norm_noise(points, "0.7", size, system_bits())
    assert drawn.shape == (size, points.shape[1])
    assert drawn.dtype == np.int64
    if size:
        together = np.concatenate([points, drawn])
        assert np.linalg.matrix_rank(together) == np.linalg.matrix_rank(points)


def test_the_widest_noise_does_not_overflow() -> None:
    drawn = k_norm_noise(SPACES["3x3"], "1e-17", 50, system_bits())
    tables = drawn.reshape(50, 3, 3)
    assert not tables.sum(axis=1).any()
    assert not tables.sum(axis=2).any()
    assert 1e16 < np.abs(drawn.astype(float)).mean() < 1e19
    assert not k_norm_noise(SPACES["3x3"], "1e17", 50, system_bits()).any()


def test_two_by_two_tables_have_the_discrete_laplace_law() -> None:
    for epsilon in (Fraction(1, 100), Fraction(1), Fraction(3)):
        law, cell = DiscreteLaplace(1 / epsilon), KNormCell(cones.k_norm(SPACES["2x2"]), epsilon, 0)
        assert cell.variance() == pytest.approx(law.variance(), rel=1e-14)
        for coverage in ("0", "0.5", "0.95", "0.999"):
            assert cell.half_width(coverage) == law.half_width(coverage)
        for k in (0, 1, 10):
            low, high = cell.tail(k)
            assert low <= law.tail(k)[0] <= law.tail(k)[1] <= high
            assert high - low < 2**-26


@pytest.mark.parametrize(
    ("cells", "epsilon", "variance"), [(2, 1, 1.841347), (3, 1, 3.162992), (4, 2, 0.876211), (5, 1, 4.629)]
)
def test_known_variances_of_cells_that_sum_to_zero(cells, epsilon, variance) -> None:
    assert mean_variance(sum_zero(cells), epsilon) == pytest.approx(variance, abs=6e-4 if cells == 5 else 6e-7)


def listed(norm: KNorm, epsilon: float, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """All vectors with coordinates within ±reach, and their probabilities up to what lies outside."""
    z = np.array(list(product(range(-reach, reach + 1), repeat=norm.rank)))
    normals = np.array([[float(entry) for entry in normal] for normal in norm.polytope.facets])
    weights = np.exp(-epsilon * (z @ normals.T).max(axis=1))
    return z @ norm.basis.astype(int), weights / weights.sum()


@pytest.mark.parametrize(
    ("name", "epsilon", "reach"), [("sum of three", 1, 45), ("3x3", 6, 6), ("up to 3", 1, 120), ("skew", 3, 60)]
)
def test_the_law_of_a_cell_is_that_of_the_vectors(name, epsilon, reach) -> None:
    norm = cones.k_norm(SPACES[name])
    vectors, probabilities = listed(norm, epsilon, reach)
    for cell in range(norm.dimension):
        law, entries = KNormCell(norm, Fraction(epsilon), cell), vectors[:, cell]
        assert law.variance() == pytest.approx(probabilities @ entries.astype(float) ** 2, rel=1e-9)
        for k in range(4):
            low, high = law.tail(k)
            assert low <= probabilities[np.abs(entries) > k].sum() <= high
        for coverage in (0.5, 0.9, 0.999):
            w = law.half_width(coverage)
            assert probabilities[np.abs(entries) <= w].sum() >= coverage
            assert w == 0 or probabilities[np.abs(entries) < w].sum() < coverage


@pytest.mark.one_in(2)
@pytest.mark.parametrize("epsilon", ["0.02", "0.0005", "1e-9"])
def test_wide_laws_are_covered_and_only_a_little_too_wide(epsilon) -> None:
    size = 40_000
    drawn = np.sort(np.abs(k_norm_noise(SPACES["3x3"], epsilon, size, system_bits())[:, 4]))
    for coverage in (0.5, 0.95):
        within = np.searchsorted(drawn, half_widths(SPACES["3x3"], epsilon, coverage)[4], side="right") / size
        error = 6.5 * (coverage * (1 - coverage) / size) ** 0.5  # exceeded with probability below 1e-10
        assert coverage - error <= within <= coverage + error + 0.01


def test_intervals_exist_up_to_certainty() -> None:
    law = KNormCell(cones.k_norm(SPACES["3x3"]), Fraction(1), 0)
    widths = [law.half_width(1 - Fraction(1, 10**n)) for n in (1, 3, 6, 9, 30, 300)]
    assert widths == sorted(widths)
    assert widths[-1] < 2000
    near, far = law.half_width("0.999"), k_norm._far(law, Fraction(1, 1000))
    assert near <= far


def test_a_cell_that_never_changes_has_no_noise() -> None:
    law = KNormCell(cones.k_norm(SPACES["skew"]), Fraction(1), 2)
    assert law.variance() == law.half_width("0.9999") == 0
    assert half_widths(SPACES["skew"], 1, "0.9")[2] == 0


def test_an_empty_offset_is_the_most_likely() -> None:
    drawn = Counter(map(tuple, k_norm_noise(SPACES["sum of three"], 1, 20_000, system_bits()).tolist()))
    assert drawn.most_common(1)[0][0] == (0, 0, 0)


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ([], "contain only 0"),
        ([(0, 0)], "contain only 0"),
        ([(1, -1)], "symmetric"),
        ([(1, -1), (-1, 1, 0)], "the same number of cells"),
        ([(0.5, -0.5), (-0.5, 0.5)], "vectors of integers"),
        (["ab"], "vectors of integers"),
        ([1, 2], "vectors of integers"),
        (moves(4, 4), "more than 8 dimensions"),
        ([(1, *[0] * 512), (-1, *[0] * 512)], "more than 512"),
    ],
)
def test_what_is_no_sensitivity_space_is_refused(points, reason) -> None:
    with pytest.raises(ArgumentError, match=reason):
        k_norm_noise(points, 1, 1, system_bits())


@pytest.mark.parametrize("epsilon", [0, -1, "nan", "1e-18", "1e18", True])
def test_bad_epsilons_are_refused(epsilon) -> None:
    with pytest.raises(ArgumentError, match="epsilon"):
        k_norm_noise(SPACES["2x2"], epsilon, 1, system_bits())


def test_cells_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ArgumentError, match="cell=4"):
        KNormCell(cones.k_norm(SPACES["2x2"]), Fraction(1), 4)
