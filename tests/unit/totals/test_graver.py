"""Graver bases against their definition: complete, minimal, and known where the literature knows them."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.exact.lattices import independent_rows, kernel_basis
from discreet.totals.graver import MOST_CELLS, graver_basis


def margins(shape, sets):
    cells = list(product(*map(range, shape)))
    keys = [(axes, key) for axes in sets for key in product(*(range(shape[axis]) for axis in axes))]
    return [[int(tuple(cell[axis] for axis in axes) == key) for cell in cells] for axes, key in keys]


def within(inner, outer):
    return all(g * h >= 0 and abs(g) <= abs(h) for g, h in zip(inner, outer, strict=True))


def by_definition(matrix, most):
    """The vectors of the kernel with entries up to `most` within which no other lies."""
    cells = len(matrix[0])
    kernel = [
        v
        for v in product(range(-most, most + 1), repeat=cells)
        if any(v) and not any(sum(a * b for a, b in zip(row, v, strict=True)) for row in matrix)
    ]
    minimal = [v for v in kernel if not any(w != v and within(w, v) for w in kernel)]
    return {max(v, tuple(-e for e in v)) for v in minimal}


def found(matrix):
    return {max(tuple(v), tuple(-e for e in v)) for v in graver_basis(matrix).tolist()}


@pytest.mark.parametrize(
    ("matrix", "vectors", "longest"),
    [
        (margins((2, 2), [(0,), (1,)]), 1, 4),
        (margins((3, 3), [(0,), (1,)]), 9 + 6, 6),
        (margins((4, 4), [(0,), (1,)]), 36 + 96 + 72, 8),
        (margins((2, 2, 2), combinations(range(3), 2)), 1, 8),
        (margins((2, 3, 3), combinations(range(3), 2)), 9 + 6, 12),
        pytest.param(margins((3, 3, 3), combinations(range(3), 2)), 795, 24, marks=pytest.mark.exhaustive),
        ([[1, 1, 1, 1], [0, 1, 2, 3]], 5, 6),
        ([[1, 1, 1, 1], [1, 0, 2, 3], [1, 0, 3, 2]], 1, 10),
        ([[1, 0], [0, 1]], 0, 0),
    ],
)
def test_known_bases(matrix, vectors, longest):
    """3 x 3 x 3: 795 vectors (Sturmfels 1996, chapter 14); two-way tables: the cycles of a complete graph."""
    basis = graver_basis(matrix)
    assert len(basis) == vectors
    assert np.abs(basis).sum(axis=1).max(initial=0) == longest
    assert not (np.array(matrix) @ basis.T).any()


@settings(max_examples=15)
@given(st.lists(st.lists(st.integers(-2, 3), min_size=4, max_size=4), min_size=1, max_size=2))
def test_the_basis_is_what_its_definition_says(rows):
    """Every vector of the kernel in a box is there exactly if nothing lies within it."""
    matrix = [[1, 1, 1, 1], *rows]
    basis = found(matrix)
    listed = by_definition(matrix, 3)
    assert {v for v in basis if max(map(abs, v)) <= 3} == listed


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(-9, 9), min_size=5, max_size=5), min_size=1, max_size=3))
def test_the_kernel_is_a_whole_lattice(rows):
    """Every basis vector is in the kernel, and the basis is saturated: its maximal minors have no common divisor."""
    basis = kernel_basis([rows[i] for i in independent_rows(rows)], 5)
    array = np.array(basis, dtype=object).reshape(len(basis), 5)
    assert not (np.array(rows, dtype=object) @ array.T).any()
    assert len(basis) == 5 - np.linalg.matrix_rank(np.array(rows, dtype=float))
    minors = [minor(array[:, list(columns)].tolist()) for columns in combinations(range(5), len(basis))]
    assert np.gcd.reduce(np.array(minors, dtype=object)) == 1


def minor(square):
    """A determinant by expansion, in exact integers."""
    if not square:
        return 1
    return sum(
        (-1) ** column * entry * minor([row[:column] + row[column + 1 :] for row in square[1:]])
        for column, entry in enumerate(square[0])
    )


def test_what_is_too_large_is_not_cut():
    assert graver_basis(margins((5, 5), [(0,), (1,)])) is None
    assert graver_basis([[1] * (MOST_CELLS + 1)]) is None
    assert graver_basis([[1, 2**40, 3**30]]) is None
