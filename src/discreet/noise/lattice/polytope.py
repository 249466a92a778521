"""The convex hull of a finite symmetric set of integer points, exactly: vertices, facets, norm, triangulation, volume.

Facets come from the double description method (Motzkin and others 1953; neighbours by Fukuda and Prodon 1996) in integers,
so that nothing has to be certified afterwards. Proofs: docs/proofs/lattice-general.md, "The hull".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.lattices import determinant, independent_rows, solution

__all__ = ["Point", "Polytope", "hull", "scaled_inverse"]

Point = tuple[int, ...]
_Face = frozenset[int]

_MOST_DIMENSION = 8
_MOST_FACETS = 1 << 12  # also on the way, when only some of the points have been looked at
_MOST_PIECES = 1 << 15
_INSIDE = 1 << 61


@dataclass(frozen=True, slots=True)
class Polytope:
    """conv(vertices) of full dimension, symmetric about the origin.

    Attributes:
        vertices: integer points, sorted; none lies in the hull of the others.
        facets: all normals n with <n, u> ≤ 1 on the polytope and equality on a facet, as rationals.
        simplices: a triangulation of the boundary, each simplex by the places of its vertices.
        pieces: the absolute determinants of all simplices, added up: the volume times the factorial of the dimension.
    """

    vertices: tuple[Point, ...]
    facets: tuple[tuple[Fraction, ...], ...]
    simplices: tuple[tuple[int, ...], ...]
    pieces: int

    @property
    def dimension(self) -> int:
        """The dimension of the space, and of the polytope."""
        return len(self.vertices[0])

    def norm(self, u: Sequence[int]) -> Fraction:
        """The least c ≥ 0 with u in c times the polytope: the largest <n, u> over the facets."""
        return max(sum((n * x for n, x in zip(normal, u, strict=True)), Fraction(0)) for normal in self.facets)

    def corners(self, simplex: tuple[int, ...]) -> list[Point]:
        """The vertices of a simplex of the boundary."""
        return [self.vertices[place] for place in simplex]


def hull(points: Sequence[Sequence[int]]) -> Polytope:
    """The convex hull of integer points that span their space, each with its negative. The origin may be among them.

    Raises:
        ArgumentError: if the points do not span, are not symmetric, or their hull is too large: more than 8 dimensions,
            4096 facets or 2**15 unit simplices.
    """
    given = sorted({tuple(int(entry) for entry in point) for point in points if any(point)})
    _check_points(given)
    normals, tight = _facets(given)
    faces = [frozenset(np.flatnonzero(row).tolist()) for row in tight]
    places = _vertices(faces, len(given))
    number = {place: i for i, place in enumerate(places)}
    simplices = _triangulate_boundary([frozenset(number[place] for place in face & number.keys()) for face in faces])
    vertices = tuple(given[place] for place in places)
    pieces = sum(abs(determinant([vertices[place] for place in simplex])) for simplex in simplices)
    if pieces > _MOST_PIECES:
        raise _too_large(f"{_MOST_PIECES} unit simplices")
    return Polytope(vertices, normals, simplices, pieces)


def _check_points(points: list[Point]) -> None:
    if not points:
        raise ArgumentError("points: must contain a point other than the origin")
    if len(points[0]) > _MOST_DIMENSION:
        raise _too_large(f"{_MOST_DIMENSION} dimensions")
    known = set(points)
    if any(tuple(-entry for entry in point) not in known for point in points):
        raise ArgumentError("points: must be symmetric; add the negative of every point")
    if len(independent_rows(points)) < len(points[0]):
        raise ArgumentError("points: must span their space; use coordinates of their span")


def _too_large(limit: str) -> ArgumentError:
    return ArgumentError(
        f"points: their hull has more than {limit}; use fewer cells, a coarser grid of values, or the lattice Gaussian"
    )


def _facets(given: list[Point]) -> tuple[tuple[tuple[Fraction, ...], ...], NDArray[np.bool_]]:
    """The normals of all facets, and per facet which points lie on it.

    A normal n with bound t is an extreme ray (t, n) of the cone {t ≥ <n, u> for every point u}. The extreme rays of more
    and more of its inequalities are kept, as integers without a common factor.
    """
    points, first = np.array(given, dtype=object), independent_rows(given)
    start = [*first, *(len(given) - 1 - place for place in first)]  # sorted and symmetric: -u stands opposite of u
    order = [*start, *sorted(set(range(len(given))) - set(start))]
    dtype = np.int64 if _fits(given) else object
    rows = np.hstack([np.ones((len(given), 1), dtype=object), -points[order]]).astype(dtype)
    rays = _parallelepiped([given[place] for place in first]).astype(dtype)
    for place in range(len(start), len(given)):
        rays = _cut(rays, rows[:place], rows[place])
    tight = np.empty((len(rays), len(given)), dtype=bool)
    tight[:, order] = rays @ rows.T == 0
    normals = tuple(tuple(Fraction(int(n), int(ray[0])) for n in ray[1:]) for ray in rays)
    return normals, tight


def _fits(points: list[Point]) -> bool:
    """True if all of the method stays in int64: rays consist of minors of the points, and two are combined at a time."""
    size = len(points[0])
    longest = max(1 + sum(entry * entry for entry in point) for point in points)
    minor2: int = longest**size  # Hadamard: the square of every minor is at most that
    return 4 * (size + 1) ** 2 * minor2 * minor2 * longest < _INSIDE**2


def _parallelepiped(points: list[Point]) -> NDArray[Any]:
    """The 2^k rays (t, n) with |<n, u>| = t at k independent points u."""
    inverse, divisor = scaled_inverse(points)
    signs = np.array(list(product((1, -1), repeat=len(points))), dtype=object)
    return _primitive(np.hstack([np.full((len(signs), 1), divisor, dtype=object), signs @ inverse.T]))


def _primitive(rays: NDArray[Any]) -> NDArray[Any]:
    divided: NDArray[Any] = rays // np.gcd.reduce(rays, axis=1)[:, None]
    return divided


def _cut(rays: NDArray[Any], before: NDArray[Any], row: NDArray[Any]) -> NDArray[Any]:
    """The extreme rays after one more inequality: those that satisfy it, and one between neighbours that it parts."""
    slack = rays @ row
    outside = np.flatnonzero(slack < 0)
    if not outside.size:
        return rays
    tight = np.packbits(rays @ before.T == 0, axis=1)
    new = [rays[slack >= 0]]
    for place in np.flatnonzero(slack > 0).tolist():
        beyond = outside[_neighbours(tight, tight[place], tight[outside], least=len(row) - 2)]
        new.append(_primitive(rays[beyond] * slack[place] - rays[place] * slack[beyond, None]))
        if sum(map(len, new)) > _MOST_FACETS:
            raise _too_large(f"{_MOST_FACETS} facets")
    return np.concatenate(new)


def _neighbours(
    tight: NDArray[np.uint8], one: NDArray[np.uint8], others: NDArray[np.uint8], *, least: int
) -> NDArray[np.intp]:
    """The other rays that span a face of dimension 2 with the one: no third ray is tight wherever both are.

    A set of inequalities is a row of bits. Neighbours are tight together at `least` inequalities or more.
    """
    common = others & one
    possible = np.flatnonzero(np.bitwise_count(common).sum(axis=1) >= least)
    both = common[possible]
    on_all = ((both[:, None, :] & ~tight[None, :, :]) == 0).all(axis=2).sum(axis=1)
    chosen: NDArray[np.intp] = possible[on_all == 2]
    return chosen


def _vertices(faces: list[_Face], size: int) -> list[int]:
    """The places of the points that are alone on all facets that they lie on."""
    everything = frozenset(range(size))
    smallest = (everything.intersection(*(face for face in faces if place in face)) for place in range(size))
    return [place for place, face in enumerate(smallest) if face == {place}]


def _triangulate_boundary(facets: list[_Face]) -> tuple[tuple[int, ...], ...]:
    """Every facet cut into simplices: its first vertex joined with the simplices of its faces that do not contain it."""
    known: dict[_Face, list[tuple[int, ...]]] = {}

    def cut(face: _Face) -> list[tuple[int, ...]]:
        if face not in known:
            first = min(face)
            opposite = [part for part in _maximal_faces(face, facets) if first not in part]
            known[face] = [(first, *simplex) for part in opposite for simplex in cut(part)] or [(first,)]
            if len(known[face]) > _MOST_PIECES:
                raise _too_large(f"{_MOST_PIECES} unit simplices")
        return known[face]

    return tuple(simplex for facet in facets for simplex in cut(facet))


def _maximal_faces(face: _Face, facets: list[_Face]) -> list[_Face]:
    """The facets of a face: the maximal intersections with facets of the polytope that do not contain it."""
    parts = {face & facet for facet in facets if not face <= facet} - {frozenset()}
    return [part for part in parts if not any(part < other for other in parts)]


def scaled_inverse(corners: Sequence[Point]) -> tuple[NDArray[Any], int]:
    """An integer matrix M such that x has the coordinates (x M)/D with respect to the corners, D > 0 their determinant."""
    unit = np.eye(len(corners), dtype=np.int64).tolist()
    numerators, divisor = solution(corners, unit)
    whole = abs(determinant(corners))
    return np.array(numerators, dtype=object) * (whole // divisor), whole
