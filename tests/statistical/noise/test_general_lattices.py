"""Noise on general lattices against the exact law of small ones. Every acceptance errs below 1e-9; mutants are rejected."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.noise import DiscreteLaplace
from discreet.noise._lazy import LazyUniform
from discreet.noise.bits import Bits, system_bits
from discreet.noise.lattice import cones, k_norm, klein
from discreet.noise.lattice.cones import KNorm
from discreet.noise.lattice.k_norm import k_norm_noise
from discreet.noise.lattice.klein import Lattice, lattice_gaussian, lattice_of
from discreet.noise.single import _reference

LATTICES = {
    "one total": [[1, 1, 1]],
    "total and mean": [[1, 1, 1, 1], [0, 1, 2, 3]],
    "weighted": [[1, 0, 2, 3], [1, 0, 3, 2]],
    "2x2x2 margins": [[int((cell >> bit & 1) == value) for cell in range(8)] for bit in range(3) for value in range(2)],
}
SUM_OF_THREE = [(1, -1, 0), (-1, 1, 0), (1, 0, -1), (-1, 0, 1), (0, 1, -1), (0, -1, 1)]

Fits = Callable[[np.ndarray, np.ndarray], bool]


def three_by_three() -> list[tuple[int, ...]]:
    """What up to three records can change in a table of fixed margins: the tables with margins 0 and l1 norm at most 6."""
    free = np.array(list(product(range(-1, 2), repeat=4))).reshape(-1, 2, 2)
    rows = np.concatenate([free, -free.sum(axis=2, keepdims=True)], axis=2)
    tables = np.concatenate([rows, -rows.sum(axis=1, keepdims=True)], axis=1).reshape(-1, 9)
    return [tuple(table) for table in tables.tolist() if 0 < sum(map(abs, table)) <= 6]


def grid(rank: int, reach: int) -> np.ndarray:
    """All integer points within ±reach."""
    return np.array(list(product(range(-reach, reach + 1), repeat=rank)))


def tally(sample: np.ndarray, vectors: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counts and probabilities of the likelier listed vectors and of everything else."""
    weights = weights / weights.sum()
    likely = weights > 1e-9
    vectors, rest = vectors[likely], max(weights[~likely].sum(), 1e-30)
    place = {tuple(vector): i for i, vector in enumerate(vectors.tolist())}
    counts = np.zeros(len(vectors) + 1)
    for vector, count in Counter(map(tuple, sample.tolist())).items():
        counts[place.get(vector, -1)] += count
    return counts, np.append(weights[likely], rest)


def gaussian_tally(lattice: Lattice, sigma2: float, sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sample beside P(v) ∝ exp(-|v|²/(2 sigma2))."""
    vectors = grid(lattice.rank, 6 + int(4 * sigma2**0.5)) @ np.array(lattice.basis)
    return tally(sample, vectors, np.exp((vectors**2).sum(axis=1) / (-2 * sigma2)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "sigma2"),
    [("one total", "0.25"), ("one total", "5"), ("total and mean", "1"), ("weighted", "6"), ("2x2x2 margins", "0.6")],
)
def test_the_lattice_gaussian_follows_its_law(name, sigma2, counts_fit) -> None:
    lattice = lattice_of(LATTICES[name])
    sample = lattice_gaussian(lattice, sigma2, 15_000, system_bits())
    assert counts_fit(*gaussian_tally(lattice, float(sigma2), sample))
    assert not counts_fit(*gaussian_tally(lattice, float(sigma2) * 1.2, sample))


@pytest.mark.exhaustive
@pytest.mark.parametrize("sigma2", ["0.25", "0.7", "2"])
@pytest.mark.parametrize("name", LATTICES)
def test_the_lattice_gaussian_follows_its_law_in_many_draws(name, sigma2, counts_fit) -> None:
    lattice = lattice_of(LATTICES[name])
    if name == "weighted":
        sigma2 = str(4 * float(sigma2))
    sample = lattice_gaussian(lattice, sigma2, 200_000, system_bits())
    assert counts_fit(*gaussian_tally(lattice, float(sigma2), sample))
    assert not counts_fit(*gaussian_tally(lattice, float(sigma2) * 1.2, sample))


def test_one_draw_at_a_time_follows_the_law_too(counts_fit, monkeypatch) -> None:
    monkeypatch.setattr(klein, "_TABLE_PAYS", 1 << 40)
    lattice = lattice_of(LATTICES["one total"])
    sample = lattice_gaussian(lattice, "0.5", 600, system_bits())
    assert counts_fit(*gaussian_tally(lattice, 0.5, sample))
    assert not counts_fit(*gaussian_tally(lattice, 1.0, sample))


@pytest.mark.parametrize("name", ["one total", "2x2x2 margins"])
def test_the_law_is_wrong_when_acceptance_is_skipped(name, counts_fit, monkeypatch) -> None:
    monkeypatch.setattr(klein, "_accept", lambda lattice, plan, proposed, bits: np.arange(len(proposed)))
    lattice = lattice_of(LATTICES[name])
    sample = lattice_gaussian(lattice, "0.3", 60_000 if name == "one total" else 30_000, system_bits())
    assert not counts_fit(*gaussian_tally(lattice, 0.3, sample))


def test_the_law_is_wrong_when_v_is_drawn_again(counts_fit, monkeypatch) -> None:
    """V is open above the bound that holds for all centres: drawn again it accepts too often.

    Of 30,000 draws one sample in fifty would fit; of 100,000 hardly one in 10^12.
    """
    monkeypatch.setattr(klein, "LazyUniform", lambda bits, value, known: LazyUniform(bits))
    lattice = lattice_of(LATTICES["one total"])
    sample = lattice_gaussian(lattice, "0.3", 100_000, system_bits())
    assert not counts_fit(*gaussian_tally(lattice, 0.3, sample))


def test_the_law_is_wrong_on_a_part_of_the_lattice(counts_fit) -> None:
    lattice = lattice_of(LATTICES["one total"])
    first, second = lattice.basis
    part = Lattice(
        (first, tuple(2 * x for x in second)), klein._steps((first, tuple(2 * x for x in second))), lattice.projections
    )
    sample = lattice_gaussian(part, 5, 8000, system_bits())
    assert not counts_fit(*gaussian_tally(lattice, 5.0, sample))


def k_norm_tally(norm: KNorm, epsilon: float, sample: np.ndarray, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """The sample beside P(v) ∝ exp(-ε‖v‖), the norm by the facets alone."""
    z = grid(norm.rank, reach)
    normals = np.array([[float(entry) for entry in normal] for normal in norm.polytope.facets])
    return tally(sample, z @ norm.basis.astype(int), np.exp(-epsilon * (z @ normals.T).max(axis=1)))


def test_two_by_two_tables_get_discrete_laplace_noise(fits) -> None:
    drawn = k_norm_noise([(1, -1, -1, 1), (-1, 1, 1, -1)], "0.3", 200_000, system_bits())
    assert (drawn == drawn[:, :1] * np.array([1, -1, -1, 1])).all()
    assert fits(drawn[:, 0], DiscreteLaplace("10/3"))
    assert not fits(drawn[:, 0], DiscreteLaplace(Fraction(10, 3) * Fraction(21, 20)))


def test_three_cells_of_one_total_get_noise_by_half_the_l1_norm(counts_fit) -> None:
    norm = cones.k_norm(SUM_OF_THREE)
    sample = k_norm_noise(SUM_OF_THREE, 1, 100_000, system_bits())
    vectors = grid(2, 40) @ norm.basis.astype(int)
    for rate, right in ((0.5, True), (0.525, False)):
        assert counts_fit(*tally(sample, vectors, np.exp(-rate * np.abs(vectors).sum(axis=1)))) is right


@pytest.mark.slow
def test_three_by_three_tables_follow_the_law_of_the_hull(counts_fit) -> None:
    points = three_by_three()
    assert len(points) == 30
    norm = cones.k_norm(points)
    sample = k_norm_noise(points, 3, 40_000, system_bits())
    assert counts_fit(*k_norm_tally(norm, 3.0, sample, 6))
    assert not counts_fit(*k_norm_tally(norm, 3.15, sample, 6))


def test_certified_arithmetic_decides_what_coarse_weights_leave_open(counts_fit, monkeypatch) -> None:
    norm, choice, points = cones.k_norm(SUM_OF_THREE), k_norm._choice, SUM_OF_THREE
    monkeypatch.setattr(k_norm, "_UNIT", 4)  # weights of 2 bits: many proposals are rejected, each by its own V
    monkeypatch.setattr(k_norm, "_choice", choice.__wrapped__)
    sample = k_norm_noise(points, "1.1", 2500, system_bits())
    assert counts_fit(*k_norm_tally(norm, 1.1, sample, 40))
    assert not counts_fit(*k_norm_tally(norm, 1.5, sample, 40))
    monkeypatch.setattr(k_norm, "LazyUniform", lambda bits, value, known: LazyUniform(bits))  # V drawn again
    assert not counts_fit(*k_norm_tally(norm, 1.1, k_norm_noise(points, "1.1", 20_000, system_bits()), 40))


def by_rejection(norm: KNorm, epsilon: Fraction, bits: Bits) -> np.ndarray:
    """One vector without any cone: discrete Laplace coordinates of κ‖z‖₁ ≤ ‖v‖, accepted with what is missing."""
    kappa = 1 / Fraction(max(sum(map(abs, vertex)) for vertex in norm.polytope.vertices))
    while True:
        z = [_reference.discrete_laplace(1 / (epsilon * kappa), bits) for _ in range(norm.rank)]
        if _reference.bernoulli_exp(epsilon * (norm.polytope.norm(z) - kappa * sum(map(abs, z))), bits):
            return np.array(z) @ norm.basis.astype(int)


def test_rejection_by_coordinates_gives_the_same_law(counts_fit) -> None:
    norm, bits = cones.k_norm(SUM_OF_THREE), system_bits()
    sample = np.array([by_rejection(norm, Fraction(2), bits) for _ in range(400)])
    assert counts_fit(*k_norm_tally(norm, 2.0, sample, 20))
    assert not counts_fit(*k_norm_tally(norm, 3.0, sample, 20))
