"""The integer vectors in the span of a sensitivity space, and the K-norm on them, linear on each of finitely many cones.

K is the convex hull of a finite symmetric set S of integer vectors. A pulling triangulation of its boundary cuts the span
into simplicial cones. They are made half-open, so that every integer vector belongs to exactly one of them, where it is
one of finitely many offsets plus generators in non-negative numbers. Proofs: docs/proofs/lattice-general.md, "Cones".
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import count, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.lattices import hermite, independent_rows, kernel_basis, solution
from discreet.noise.lattice.polytope import Point, Polytope, hull, scaled_inverse

__all__ = ["Cone", "KNorm", "Points", "half_open_cones", "k_norm"]

Points = Sequence[Sequence[int]] | NDArray[np.integer[Any]]

_MOST_CELLS = 512
_INSIDE = 1 << 61


@dataclass(frozen=True, slots=True)
class Cone:
    """One half-open simplicial cone: its integer points are offset + Σ n_i generators[i], each once, for integers n_i ≥ 0.

    Attributes:
        generators: vertices of one facet; the norm is linear on the cone and 1 at each of them.
        offsets: as many integer points as the determinant of the generators says.
        heights: the norms of the offsets.
    """

    generators: tuple[Point, ...]
    offsets: tuple[Point, ...]
    heights: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class KNorm:
    """The norm whose unit ball is conv(points), on all integer vectors of their span. Equal for equal points.

    Attributes:
        points: the sensitivity space S, sorted, without 0.
        basis: a reduced basis of the integer vectors in the span of S.
        polytope: conv(S) in coordinates of the basis.
        generators: per cone its generators in these coordinates, shape (cones, rank, rank).
        cone_of, offsets, height_of: per offset its cone, its coordinates, and the place of its norm in `heights`.
        heights: the norms that offsets have, increasing from 0.
    """

    points: tuple[Point, ...]
    basis: NDArray[Any] = field(compare=False)
    polytope: Polytope = field(compare=False)
    generators: NDArray[Any] = field(compare=False)
    cone_of: NDArray[np.intp] = field(compare=False)
    offsets: NDArray[Any] = field(compare=False)
    height_of: NDArray[np.intp] = field(compare=False)
    heights: tuple[Fraction, ...] = field(compare=False)

    @property
    def rank(self) -> int:
        """The dimension of the span of S."""
        return len(self.basis)

    @property
    def dimension(self) -> int:
        """The number of cells."""
        return len(self.points[0])

    def norm(self, v: Sequence[int]) -> Fraction:
        """The least c ≥ 0 with v in c · conv(points), for an integer vector v in the span of S."""
        return self.polytope.norm(_coordinates(self.basis, [tuple(v)])[0])


def k_norm(points: Points) -> KNorm:
    """The K-norm of a sensitivity space: integer vectors, each with its negative, with or without 0.

    Raises:
        ArgumentError: if they are not such vectors, or have more than 512 cells, or if their hull is too large for exact
            computation: more than 8 dimensions, 4096 facets or 2**15 unit simplices (tables with fixed margins up to 3 × 4,
            or 2 × 9, are below).
    """
    return _k_norm(_check_points(points))


@lru_cache(maxsize=16)
def _k_norm(points: tuple[Point, ...]) -> KNorm:
    dimension = len(points[0])
    normals = kernel_basis([points[i] for i in independent_rows(points)], dimension)
    basis = np.array(kernel_basis(normals, dimension), dtype=object)
    polytope = hull(_coordinates(basis, points))
    cones = half_open_cones(polytope)
    heights = sorted({height for cone in cones for height in cone.heights})
    place = {height: i for i, height in enumerate(heights)}
    return KNorm(
        points=points,
        basis=_freeze(basis),
        polytope=polytope,
        generators=_freeze([cone.generators for cone in cones]),
        cone_of=_freeze([i for i, cone in enumerate(cones) for _ in cone.offsets]),
        offsets=_freeze([offset for cone in cones for offset in cone.offsets]),
        height_of=_freeze([place[height] for cone in cones for height in cone.heights]),
        heights=tuple(heights),
    )


def _check_points(points: Points) -> tuple[Point, ...]:
    try:
        given = {tuple(operator.index(entry) for entry in point) for point in points}
    except TypeError:
        raise ArgumentError("points: must be vectors of integers") from None
    if len({len(point) for point in given}) > 1:
        raise ArgumentError("points: must all have the same number of cells")
    nonzero = sorted(point for point in given if any(point))
    if not nonzero:
        raise ArgumentError("points: contain only 0, so the exact totals determine the statistic; publish it as it is")
    if len(nonzero[0]) > _MOST_CELLS:
        raise ArgumentError(f"points: have {len(nonzero[0])} cells, more than {_MOST_CELLS}; use the lattice Gaussian")
    return tuple(nonzero)


def _coordinates(basis: NDArray[Any], vectors: Sequence[Point]) -> list[Point]:
    """The coordinates of integer vectors in the span of the basis, which are integers."""
    gram, products = basis @ basis.T, basis @ np.array(vectors, dtype=object).T
    numerators, divisor = solution(gram.tolist(), products.tolist())
    found = np.array(numerators, dtype=object).T
    if divisor != 1 or (found @ basis != np.array(vectors, dtype=object)).any():
        raise ArgumentError("vectors: must be integer vectors in the span of the points")
    return [tuple(row) for row in found.tolist()]


def _freeze(values: Any) -> NDArray[Any]:
    """A read-only array, of int64 if all values lie inside ±2**61, else of Python integers."""
    array = np.array(values, dtype=object)
    if array.max() < _INSIDE and array.min() > -_INSIDE:
        array = array.astype(np.int64)
    array.flags.writeable = False
    return array


def half_open_cones(polytope: Polytope) -> tuple[Cone, ...]:
    """Cones over the simplices of the boundary such that every integer point belongs to exactly one of them.

    A point of several closed cones belongs to the one that it enters when it moves a little in a fixed general direction.
    """
    inverses = [scaled_inverse(polytope.corners(simplex)) for simplex in polytope.simplices]
    direction = _general_direction([inverse for inverse, _ in inverses])
    return tuple(
        _cone(polytope.corners(simplex), inverse, divisor, direction)
        for simplex, (inverse, divisor) in zip(polytope.simplices, inverses, strict=True)
    )


def _general_direction(inverses: list[NDArray[Any]]) -> NDArray[Any]:
    """A vector with no coordinate 0 with respect to the corners of any simplex: the first such (1, b, b², …).

    Its coordinates are polynomials in b other than 0, so that only finitely many b fail.
    """
    together = np.hstack(inverses)
    directions = (np.array([base**i for i in range(len(together))], dtype=object) for base in count(2))
    return next(direction for direction in directions if (direction @ together).all())


def _cone(corners: list[Point], inverse: NDArray[Any], divisor: int, direction: NDArray[Any]) -> Cone:
    """The offsets are the integer points with coordinates in [0, 1), or in (0, 1] where the direction leaves the cone."""
    # One point of every class of integer points modulo the corners, by their Hermite normal form.
    sides = [range(row[i]) for i, row in enumerate(hermite(corners))]
    coordinates = (np.array(list(product(*sides)), dtype=object) @ inverse) % divisor
    coordinates[(coordinates == 0) & (direction @ inverse < 0)] = divisor
    offsets = coordinates @ np.array(corners, dtype=object) // divisor
    return Cone(
        generators=tuple(corners),
        offsets=tuple(tuple(int(entry) for entry in offset) for offset in offsets),
        heights=tuple(Fraction(int(total), divisor) for total in coordinates.sum(axis=1)),
    )
