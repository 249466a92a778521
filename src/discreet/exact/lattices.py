"""Exact linear algebra over the integers (python-flint): ranks, kernels, normal forms, solutions, products.

python-flint is imported inside the functions, so that importing discreet stays light.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError

__all__ = [
    "determinant",
    "eliminate",
    "eliminate_with",
    "exact_product",
    "gram",
    "hermite",
    "independent_rows",
    "kernel_basis",
    "narrow",
    "rank",
    "solution",
]

Rows = Sequence[Sequence[int]]

_INSIDE = 1 << 61


def rank(rows: Rows) -> int:
    """The dimension of the space that the rows span."""
    return int(_matrix(rows).rank())


def determinant(rows: Rows) -> int:
    """The determinant of a square matrix."""
    return int(_matrix(rows).det())


def independent_rows(rows: Rows) -> list[int]:
    """The places of rows that form a basis of the space that all rows span, chosen from the front."""
    reduced, _, many = _matrix(rows).transpose().rref()
    table = reduced.tolist()
    return [next(place for place, entry in enumerate(table[i]) if entry != 0) for i in range(many)]


def hermite(rows: Rows) -> list[list[int]]:
    """The Hermite normal form: the one triangular basis of the lattice that linearly independent rows generate."""
    return [[int(entry) for entry in row] for row in _matrix(rows).hnf().tolist()]


def kernel_basis(rows: Rows, columns: int) -> tuple[tuple[int, ...], ...]:
    """A reduced basis of all integer vectors orthogonal to the rows, which are linearly independent.

    The d unit vectors, each preceded by its products with the rows times a large factor, are reduced by unimodular steps
    (Lenstra, Lenstra and Lovász 1982). Of the result U, d - m vectors have all products 0 once the factor is large
    enough. Since |det U| = 1, which is checked, and the other m vectors have linearly independent products, these d - m
    vectors generate all of the kernel: docs/proofs/lattice-general.md, "The whole kernel".
    """
    m, factor = len(rows), 1 << 10
    while True:
        unit = [[int(i == j) for j in range(columns)] for i in range(columns)]
        stacked = [[factor * row[i] for row in rows] + unit[i] for i in range(columns)]
        reduced = _matrix(stacked).lll().tolist()
        kernel = [row[m:] for row in reduced if not any(row[:m])]
        if len(kernel) == columns - m:
            break
        factor **= 2
    if abs(determinant([row[m:] for row in reduced])) != 1:
        raise InternalError("the reduction of a lattice basis was not unimodular")
    return tuple(tuple(int(entry) for entry in row) for row in kernel)


def eliminate(basis: Rows) -> list[list[int]]:
    """The Gram matrix of linearly independent rows after fraction-free elimination: u_ii are its leading minors."""
    order, _, _, upper = _matrix(gram(basis)).fflu()
    if not order.is_one():
        raise InternalError("the Gram matrix of a lattice basis is not positive definite")
    return [[int(entry) for entry in row] for row in upper.tolist()]


def eliminate_with(basis: Rows, column: Sequence[int]) -> list[list[int]]:
    """The same with one more column, that goes through the same steps; it stands at the end of each row."""
    order, _, _, upper = _matrix([[*row, right] for row, right in zip(gram(basis), column, strict=True)]).fflu()
    if not order.is_one():
        raise InternalError("the Gram matrix of a lattice basis is not positive definite")
    return [[int(entry) for entry in row] for row in upper.tolist()]


def gram(rows: Rows) -> list[list[int]]:
    """The products of the rows with each other."""
    matrix = _matrix(rows)
    return [[int(entry) for entry in row] for row in (matrix * matrix.transpose()).tolist()]


def solution(matrix: Rows, right: Rows) -> tuple[list[list[int]], int]:
    """Integers N and d > 0 without a common factor such that matrix · (N/d) = right, for an invertible matrix."""
    found: Any = _matrix(matrix).solve(_matrix(right))  # rational; its type stub says integer
    numerators, divisor = found.numer_denom()
    return [[int(entry) for entry in row] for row in numerators.tolist()], int(divisor)


def exact_product(rows: NDArray[Any], matrix: NDArray[Any]) -> NDArray[Any]:
    """The matrix product of integer arrays: in int64 where no step can overflow, else in Python integers."""
    largest = max((abs(int(end)) for end in (rows.min(), rows.max())), default=0) if rows.size else 0
    widest = int(np.abs(matrix).sum(axis=0).max()) if matrix.size else 0
    if max(largest, 1) * widest < _INSIDE:
        product: NDArray[Any] = rows.astype(np.int64) @ matrix.astype(np.int64)
        return product
    return narrow(rows.astype(object) @ matrix.astype(object))


def narrow(array: NDArray[Any]) -> NDArray[Any]:
    """An array of Python integers as int64, if all of them lie inside ±2**61."""
    fits = all(-_INSIDE <= int(end) <= _INSIDE for end in (array.min(), array.max())) if array.size else True
    return array.astype(np.int64) if fits else array


def _matrix(rows: Rows) -> Any:
    from flint import fmpz_mat

    return fmpz_mat([list(row) for row in rows])
