"""General lattices: the basis generates the whole kernel, its geometry is exact, and what cannot be drawn is refused."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.exact import lattices
from discreet.exact.lattices import exact_product
from discreet.noise.bits import system_bits
from discreet.noise.lattice import klein
from discreet.noise.lattice.klein import Lattice, cell_projections, distortion, lattice_gaussian, lattice_of

matrices = st.integers(2, 6).flatmap(
    lambda width: st.lists(st.lists(st.integers(-6, 6), min_size=width, max_size=width), min_size=1, max_size=4)
)


def margins(*levels: int) -> list[list[int]]:
    """One row for every one-way total of a table."""
    cells = list(product(*map(range, levels)))
    return [[int(cell[j] == level) for cell in cells] for j, n in enumerate(levels) for level in range(n)]


KNOWN = {
    "one total": [[1, 1, 1]],
    "total and mean": [[1, 1, 1, 1], [0, 1, 2, 3]],
    "2x2x2 margins": margins(2, 2, 2),
    "3x4 margins": margins(3, 4),
    "weighted": [[1, 0, 2, 3], [1, 0, 3, 2]],
    "multiples": [[2, 4, 6], [3, 6, 9]],
}


def is_saturated(basis) -> bool:
    """Whether integer vectors generate all integer vectors of their span: all invariant factors are 1."""
    diagonal = np.diagonal(np.array(fmpz_mat([list(row) for row in basis]).snf().tolist(), dtype=object))
    return all(abs(int(entry)) == 1 for entry in diagonal)


def is_kernel(rows, basis) -> bool:
    """Whether the basis is one of all integer vectors orthogonal to the rows."""
    width, rank = len(rows[0]), fmpz_mat(rows).rank()
    orthogonal = not (np.array(rows, dtype=object) @ np.array(basis, dtype=object).T).any()
    return orthogonal and len(basis) == width - rank and fmpz_mat([list(b) for b in basis]).rank() == len(basis)


@pytest.mark.parametrize("rows", KNOWN.values(), ids=KNOWN)
def test_the_basis_generates_the_whole_kernel(rows) -> None:
    basis = lattice_of(rows).basis
    assert is_kernel(rows, basis)
    assert is_saturated(basis)
    sparser = [tuple(2 * entry for entry in basis[0]), *basis[1:]]
    assert is_kernel(rows, sparser)
    assert not is_saturated(sparser)


@given(matrices)
@settings(max_examples=60)
def test_the_basis_generates_the_whole_kernel_of_any_matrix(rows) -> None:
    assume(fmpz_mat(rows).rank() < len(rows[0]))
    lattice = lattice_of(rows)
    assert is_kernel(rows, lattice.basis)
    assert is_saturated(lattice.basis)


def test_a_wide_table_is_reduced_to_short_vectors() -> None:
    lattice = lattice_of(margins(2, 2, 2, 2, 2, 2))
    assert (lattice.rank, lattice.dimension) == (57, 64)
    assert max(sum(entry**2 for entry in vector) for vector in lattice.basis) <= 8
    assert max(step.norm2 for step in lattice.steps) <= 4


@given(matrices, st.data())
@settings(max_examples=40)
def test_the_steps_split_the_square_of_every_vector(rows, data) -> None:
    assume(fmpz_mat(rows).rank() < len(rows[0]))
    lattice = lattice_of(rows)
    z = data.draw(st.lists(st.integers(-9, 9), min_size=lattice.rank, max_size=lattice.rank))
    vector = np.array(z, dtype=object) @ np.array(lattice.basis, dtype=object)
    parts = [
        (z[i] + Fraction(sum(n * later for n, later in zip(step.multiples, z[i + 1 :], strict=True)), step.divisor)) ** 2
        * step.norm2
        for i, step in enumerate(lattice.steps)
    ]
    assert sum(parts) == sum(int(entry) ** 2 for entry in vector)


@given(matrices)
@settings(max_examples=40)
def test_projections_are_those_of_the_span(rows) -> None:
    assume(fmpz_mat(rows).rank() < len(rows[0]))
    lattice = lattice_of(rows)
    basis = fmpz_mat([list(row) for row in lattice.basis])
    projector = basis.transpose() * (basis * basis.transpose()).inv() * basis
    expected = [Fraction(int(projector[i, i].p), int(projector[i, i].q)) for i in range(lattice.dimension)]
    assert cell_projections(lattice) == expected
    assert sum(expected) == lattice.rank


def test_known_projections() -> None:
    assert cell_projections(lattice_of([[1] * 5])) == [Fraction(4, 5)] * 5
    assert cell_projections(lattice_of(margins(3, 4))) == [Fraction(2, 3) * Fraction(3, 4)] * 12
    assert cell_projections(lattice_of([[1, 0, 0], [0, 1, 1]])) == [0, Fraction(1, 2), Fraction(1, 2)]


def listed(lattice: Lattice, sigma2: float, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """All vectors with coefficients within ±reach, and their probabilities up to what lies outside."""
    z = np.array(list(product(range(-reach, reach + 1), repeat=lattice.rank)))
    vectors = z @ np.array(lattice.basis)
    weights = np.exp((vectors**2).sum(axis=1) / (-2 * sigma2))
    return vectors, weights / weights.sum()


@pytest.mark.parametrize(
    ("name", "sigma2", "reach"), [("one total", "0.4", 8), ("one total", "1", 12), ("2x2x2 margins", "1", 7)]
)
def test_a_cell_is_a_discrete_gaussian_up_to_the_distortion(name, sigma2, reach) -> None:
    lattice = lattice_of(KNOWN[name])
    eta = distortion(lattice, sigma2)
    assert 0 < eta < 0.2
    vectors, probabilities = listed(lattice, float(sigma2), reach)
    for cell, projected in enumerate(cell_projections(lattice)):
        masses = {k: probabilities[vectors[:, cell] == k].sum() for k in range(-2, 3)}
        factors = np.array([mass * np.exp(k * k / (2 * float(Fraction(sigma2) * projected))) for k, mass in masses.items()])
        assert factors.min() >= (1 - eta) * factors.max() - 1e-12
        assert factors.min() < (1 - 1e-6) * factors.max()  # it is no discrete Gaussian
        assert probabilities @ vectors[:, cell] ** 2 <= float(Fraction(sigma2) * projected)


def test_the_distortion_vanishes_with_much_noise_and_says_nothing_with_little() -> None:
    lattice = lattice_of(margins(2, 2, 2))
    assert distortion(lattice, 100) < 1e-100
    assert distortion(lattice, "0.1") == 1
    assert distortion(lattice_of([[3, -2]]), 100) == 1  # multiples of (2, 3): no vector has 1 in a cell
    assert distortion(lattice_of([[1, 0, 0], [0, 1, 1]]), 100) < 1e-100  # the first cell is always 0


@pytest.mark.parametrize(
    ("constraints", "reason"),
    [
        ([], "matrix of integers"),
        ([[]], "matrix of integers"),
        ([[1, 1], [1]], "all of one length"),
        ([[0.5, 1]], "matrix of integers"),
        (np.ones((1, 3)), "matrix of integers"),
        (["ab"], "matrix of integers"),
        ([1, 2], "matrix of integers"),
        ([[1 << 40, 1]], "within"),
        ([[1] * 513], "at most 512"),
        ([[1, 0], [1, 1]], "determine every cell"),
    ],
)
def test_what_is_no_matrix_of_constraints_is_refused(constraints, reason) -> None:
    with pytest.raises(ArgumentError, match=reason):
        lattice_of(constraints)


def test_too_little_noise_is_refused_with_what_would_work() -> None:
    lattice, bits = lattice_of(margins(2, 2, 2, 2)), system_bits()
    for sigma2 in ("1e-300", "0.01", "0.2"):
        with pytest.raises(ArgumentError, match="it must be at least") as error:
            lattice_gaussian(lattice, sigma2, 1, bits)
    least = str(error.value).rsplit(" ", 1)[1]
    assert 0.2 < float(least) < 1
    assert lattice_gaussian(lattice, least, 3, bits).shape == (3, 16)


@pytest.mark.parametrize("sigma2", [0, -1, "nan", True, "1e35"])
def test_bad_variances_are_refused(sigma2) -> None:
    with pytest.raises(ArgumentError, match="sigma2"):
        lattice_gaussian(lattice_of([[1, 1]]), sigma2, 1, system_bits())


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33])
def test_vectors_satisfy_the_constraints_exactly(size) -> None:
    for rows in KNOWN.values():
        drawn = lattice_gaussian(lattice_of(rows), "7/2", size, system_bits())
        assert drawn.shape == (size, len(rows[0]))
        assert drawn.dtype == np.int64
        assert not (np.array(rows) @ drawn.T).any()


def test_the_widest_noise_satisfies_the_constraints() -> None:
    rows = np.array(margins(3, 3))
    for size in (3, 40):
        drawn = lattice_gaussian(lattice_of(rows), 10**34, size, system_bits())
        assert not (rows @ drawn.T).any()
        assert 1e16 < np.abs(drawn.astype(float)).mean() < 1e18


def test_numbers_that_might_not_fit_are_python_integers(monkeypatch) -> None:
    monkeypatch.setattr(klein, "_INSIDE", 100)
    monkeypatch.setattr(lattices, "_INSIDE", 100)
    drawn = lattice_gaussian(lattice_of(margins(3, 3)), 10**6, 40, system_bits())
    assert drawn.dtype == object
    assert not (np.array(margins(3, 3)) @ drawn.T).any()


@given(st.integers(0, 63), st.integers(0, 63))
def test_products_never_overflow(left, right) -> None:
    rows, matrix = np.array([[1 << left, -3]], dtype=object), np.array([[1 << right, 1], [5, -(1 << right)]], dtype=object)
    assert (exact_product(rows, matrix) == rows @ matrix).all()


def test_a_lattice_is_computed_once() -> None:
    assert lattice_of([[1, 1, 1]]) is lattice_of(np.ones((1, 3), dtype=np.int64))
    assert klein._lattice_of.cache_info().maxsize is not None
