"""The Graver basis of a small integer matrix: the exchanges out of which all differences of equal totals are made.

A vector g lies *within* h when g_c·h_c ≥ 0 and |g_c| ≤ |h_c| for every cell c. The Graver basis of A holds the vectors of
ker_Z A other than 0 within which no other such vector lies. Every vector of the kernel is a sum of basis vectors that lie
within it.

`graver_basis` projects and lifts (Hemmecke 2002; Pottier 1991): it completes the basis of the projection of the lattice to
the first coordinates, one more coordinate at a time. Everything is an exact integer; the basis is complete or not given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.exact.lattices import hermite, independent_rows, kernel_basis

__all__ = ["MOST_CELLS", "graver_basis"]

MOST_CELLS = 62
"""Signs are kept as bits of one machine word."""

_MOST_VECTORS = 1_000
_MOST_PAIRS = 100_000
_LARGEST = 2**31

_Ints = NDArray[np.int64]


def graver_basis(matrix: Sequence[Sequence[int]]) -> _Ints | None:
    """The Graver basis, one vector of each pair ±g; None where it is too large to complete here.

    Gives:
        int64, shape (vectors, cells).
    """
    cells = len(matrix[0])
    kernel = kernel_basis([matrix[i] for i in independent_rows(matrix)], cells)
    if not kernel:
        return np.zeros((0, cells), dtype=np.int64)
    basis = hermite(kernel)
    if cells > MOST_CELLS or any(abs(value) >= _LARGEST for row in basis for value in row):
        return None
    # Pivots first: on them the basis is triangular, mostly the identity, and nothing has to be completed.
    pivots = [next(cell for cell, value in enumerate(row) if value) for row in basis]
    order = pivots + [cell for cell in range(cells) if cell not in pivots]
    ordered = [[row[cell] for cell in order] for row in basis]
    found = _lift(np.array(hermite(ordered), dtype=np.int64))
    if found is None:
        return None
    back = np.empty_like(found)
    back[:, order] = found
    return back


def _lift(basis: _Ints) -> _Ints | None:
    """The Graver basis of the lattice of a triangular basis, coordinate by coordinate."""
    vectors = basis[:0]
    pairs = 0
    for cell in range(basis.shape[1]):
        if cell < len(basis):
            vectors = np.concatenate([vectors, basis[cell : cell + 1]])
        completed = _complete(vectors, cell, _MOST_PAIRS - pairs)
        if completed is None:
            return None
        vectors, used = completed
        pairs += used
    return vectors


class _Signed:
    """Vectors of the lattice with both signs, and their signs on the first `width` coordinates as bits."""

    def __init__(self, vectors: _Ints, width: int) -> None:
        self.width = width
        self.powers = np.left_shift(np.int64(1), np.arange(width, dtype=np.int64))
        self.vectors = np.concatenate([vectors, -vectors])
        self.plus, self.minus = self._bits(self.vectors)

    def _bits(self, vectors: _Ints) -> tuple[_Ints, _Ints]:
        head = vectors[:, : self.width]
        return (head > 0).astype(np.int64) @ self.powers, (head < 0).astype(np.int64) @ self.powers

    def add(self, vector: _Ints) -> None:
        """Also `vector` and its negative."""
        pair = np.stack([vector, -vector])
        plus, minus = self._bits(pair)
        self.vectors = np.concatenate([self.vectors, pair])
        self.plus, self.minus = np.concatenate([self.plus, plus]), np.concatenate([self.minus, minus])

    def within(self, vector: _Ints) -> NDArray[np.intp]:
        """The positions of the vectors that lie within `vector` on the first coordinates."""
        head = vector[: self.width]
        plus, minus = int((head > 0) @ self.powers), int((head < 0) @ self.powers)
        signs = np.flatnonzero(((self.plus & ~plus) | (self.minus & ~minus)) == 0)
        small = (np.abs(self.vectors[signs, : self.width]) <= np.abs(head)).all(axis=1)
        there = (self.plus[signs] | self.minus[signs]) != 0
        return np.asarray(signs[small & there])

    def remainder(self, vector: _Ints) -> _Ints:
        """`vector` without the vectors that lie within it: 0 on the first coordinates, or nothing lies within it."""
        while vector[: self.width].any():
            inner = self.within(vector)
            if not inner.size:
                break
            vector = vector - self.vectors[inner[0]]
        return vector


def _complete(vectors: _Ints, cell: int, most_pairs: int) -> tuple[_Ints, int] | None:
    """From the basis of the projection before `cell`, the basis up to `cell`, and the number of pairs that it took.

    Vectors that agree in sign before `cell` can only cancel at `cell`; so the pairs to be completed agree before it and have
    opposite signs at it (docs/proofs/semi-adjacency.md, A8).
    """
    signed = _Signed(vectors, cell + 1)
    before = np.int64((1 << cell) - 1)
    done, used = 0, 0
    while done < len(signed.vectors):
        fresh = np.arange(done, len(signed.vectors))
        done = len(signed.vectors)
        sums = _critical_sums(signed, fresh, cell, before)
        if sums is None or (used := used + len(sums)) > most_pairs:
            return None
        for vector in sums:
            rest = signed.remainder(vector)
            if rest[: cell + 1].any():
                signed.add(rest)
                if len(signed.vectors) > 2 * _MOST_VECTORS or int(np.abs(rest).max()) >= _LARGEST:
                    return None
    return _minimal(signed), used


def _critical_sums(signed: _Signed, fresh: NDArray[np.intp], cell: int, before: np.int64) -> _Ints | None:
    """The sums f + g of all critical pairs with f or g fresh, f_cell > 0 > g_cell, shortest first; None for too many."""
    upper = np.flatnonzero(signed.vectors[:, cell] > 0)
    lower = np.flatnonzero(signed.vectors[:, cell] < 0)
    first = fresh[0]
    found = []
    total = 0
    for left in upper:
        clash = (signed.plus[left] & signed.minus[lower]) | (signed.minus[left] & signed.plus[lower])
        agree = lower[(clash & before) == 0]
        if left < first:
            agree = agree[agree >= first]
        total += len(agree)
        if total > _MOST_PAIRS:
            return None
        found.append(signed.vectors[left] + signed.vectors[agree])
    sums = np.concatenate(found) if found else signed.vectors[:0]
    # One of ±s is enough: the other gives the negative of the same remainder.
    sums = np.unique(np.where(_leading_sign(sums)[:, None] < 0, -sums, sums), axis=0)
    return sums[np.argsort(np.abs(sums[:, : cell + 1]).sum(axis=1), kind="stable")]


def _leading_sign(vectors: _Ints) -> _Ints:
    first = (vectors != 0).argmax(axis=1)
    return np.asarray(np.sign(vectors[np.arange(len(vectors)), first]))


def _minimal(signed: _Signed) -> _Ints:
    """The vectors within which no other one lies, one of each sign."""
    kept = [
        vector
        for position, vector in enumerate(signed.vectors)
        if _leading_sign(vector[None])[0] > 0 and signed.within(vector).tolist() == [position]
    ]
    return np.array(kept, dtype=np.int64).reshape(len(kept), signed.vectors.shape[1])
