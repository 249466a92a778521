"""Hulls: known polytopes, an independent certificate that the facets are complete, and brute force on small ones."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial, lcm

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.noise.lattice import polytope
from discreet.noise.lattice.polytope import Polytope, hull


def unit(rows: int, columns: int, *cells: tuple[int, int, int]) -> tuple[int, ...]:
    """A table with the given (row, column, value), without its last row and column, which the margins determine."""
    table = np.zeros((rows, columns), dtype=int)
    for row, column, value in cells:
        table[row, column] += value
    assert not table.sum(axis=0).any()
    assert not table.sum(axis=1).any()
    return tuple(table[:-1, :-1].ravel().tolist())


def squares(rows: int, columns: int) -> list[tuple[int, ...]]:
    """All moves of two records between four cells, in coordinates of the free cells."""
    return [
        unit(rows, columns, (a, c, 1), (b, d, 1), (a, d, -1), (b, c, -1))
        for a, b in permutations(range(rows), 2)
        for c, d in combinations(range(columns), 2)
    ]


def hexagons(rows: int, columns: int) -> list[tuple[int, ...]]:
    """All moves of three records between six cells."""
    return [
        unit(rows, columns, *((r[i], c[i], 1) for i in range(3)), *((r[i], c[(i + turn) % 3], -1) for i in range(3)))
        for turn in (1, 2)
        for r in combinations(range(rows), 3)
        for c in permutations(range(columns), 3)
    ]


KNOWN = {  # points; dimension, vertices, facets, volume
    "2x2": (squares(2, 2), (1, 2, 2, 2)),
    "3x3 squares": (squares(3, 3), (4, 18, 30, Fraction(11, 4))),
    "3x3": (squares(3, 3) + hexagons(3, 3), (4, 30, 18, Fraction(21, 4))),
    "2x4": (squares(2, 4), (3, 12, 14, Fraction(10, 3))),
    "interval": ([(3,), (-3,), (1,), (-1,), (0,)], (1, 2, 2, 6)),
    "cross": ([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], (3, 6, 8, Fraction(8, 6))),
    "cube": (list(product((-1, 0, 1), repeat=3)), (3, 8, 6, 8)),
    "4-cube": (list(product((-1, 1), repeat=4)), (4, 16, 8, 16)),
}


@pytest.mark.parametrize(("points", "expected"), KNOWN.values(), ids=KNOWN)
def test_known_hulls(points, expected) -> None:
    found = hull(points)
    volume = Fraction(found.pieces, factorial(found.dimension))
    assert (found.dimension, len(found.vertices), len(found.facets), volume) == expected


@pytest.mark.exhaustive
def test_the_hull_of_three_by_four_tables() -> None:
    found = hull(squares(3, 4) + hexagons(3, 4))
    assert (found.dimension, len(found.vertices), len(found.facets), found.pieces) == (6, 84, 42, 3624)
    assert_complete(found)


def test_norms_of_moves_in_the_hull_of_the_others() -> None:
    of_squares = hull(squares(3, 3))
    assert {of_squares.norm(move) for move in hexagons(3, 3)} == {2}
    points = squares(3, 3) + hexagons(3, 3)
    one = squares(3, 3)[0]
    rest = [point for point in points if point not in {one, tuple(-x for x in one)}]
    assert hull(rest).norm(one) == Fraction(4, 3)
    whole = hull(points)
    assert {whole.norm(point) for point in points} == {1}
    assert whole.norm((0, 0, 0, 0)) == 0


def is_closed(simplices) -> bool:
    """Whether every side of every simplex belongs to exactly one other: then nothing of the boundary is missing."""
    sides = Counter(frozenset(simplex) - {corner} for simplex in simplices for corner in simplex)
    return set(sides.values()) == {2}


def assert_complete(found: Polytope) -> None:
    """Every normal is that of a facet, every simplex lies on a facet and is one, and they close up to a sphere."""
    tight = []
    for normal in found.facets:
        values = [sum(n * x for n, x in zip(normal, vertex, strict=True)) for vertex in found.vertices]
        assert max(values) == 1
        tight.append(frozenset(i for i, value in enumerate(values) if value == 1))
        assert fmpz_mat([list(found.vertices[i]) for i in tight[-1]]).rank() == found.dimension
    assert len(set(tight)) == len(tight)
    for simplex in found.simplices:
        assert any(facet >= set(simplex) for facet in tight)
        assert fmpz_mat([list(corner) for corner in found.corners(simplex)]).det() != 0
    assert is_closed(found.simplices)


@pytest.mark.parametrize(("points", "expected"), KNOWN.values(), ids=KNOWN)
def test_the_facets_are_complete(points, expected) -> None:
    found = hull(points)
    assert_complete(found)
    if found.dimension > 1:
        assert not is_closed(found.simplices[1:])


@pytest.mark.parametrize("name", ["3x3", "3x3 squares", "2x4", "4-cube"])
def test_the_hull_of_the_normals_has_the_vertices_as_normals(name) -> None:
    found = hull(KNOWN[name][0])
    scale = lcm(*(entry.denominator for normal in found.facets for entry in normal))
    polar = hull([[int(scale * entry) for entry in normal] for normal in found.facets])
    assert len(polar.vertices) == len(found.facets)
    assert sorted(tuple(scale * entry for entry in normal) for normal in polar.facets) == list(found.vertices)


def by_brute_force(points) -> set[tuple[Fraction, ...]]:
    """The normals n with <n, u> = 1 at as many independent points as dimensions and ≤ 1 at all."""
    normals = set()
    for chosen in combinations(points, len(points[0])):
        matrix = fmpz_mat([list(point) for point in chosen])
        if matrix.det() == 0:
            continue
        solution = matrix.inv() * fmpz_mat([[1]] * len(chosen))
        normal = tuple(Fraction(int(entry.p), int(entry.q)) for entry in solution.entries())
        if all(sum(n * x for n, x in zip(normal, point, strict=True)) <= 1 for point in points):
            normals.add(normal)
    return normals


def symmetric_points(dimension: int, most: int, size: int):
    entry = st.integers(-most, most)
    return st.lists(st.tuples(*[entry] * dimension), min_size=dimension, max_size=size).map(
        lambda points: sorted({sign for point in points for sign in (point, tuple(-x for x in point)) if any(point)})
    )


@given(st.one_of(symmetric_points(2, 9, 6), symmetric_points(3, 3, 6), symmetric_points(3, 10**6, 4)))
@settings(max_examples=30)
def test_small_hulls_agree_with_brute_force(points) -> None:
    assume(points and fmpz_mat([list(point) for point in points]).rank() == len(points[0]))
    normals, _ = polytope._facets(points)
    assert len(set(normals)) == len(normals)
    assert set(normals) == by_brute_force(points)


@given(symmetric_points(3, 4, 6))
@settings(max_examples=15)
def test_hulls_of_small_points_are_complete(points) -> None:
    assume(points and fmpz_mat([list(point) for point in points]).rank() == 3)
    found = hull(points)
    assert_complete(found)
    assert all(found.norm(point) <= 1 for point in points)
    assert {point for point in points if point not in found.vertices} == {
        point for point in points if is_in_hull_of_others(point, points)
    }


def is_in_hull_of_others(point, points) -> bool:
    others = [other for other in points if other not in {point, tuple(-x for x in point)}]
    if not others or fmpz_mat([list(other) for other in others]).rank() < len(point):
        return False
    return hull(others).norm(point) <= 1


def test_python_integers_give_the_same_hull(monkeypatch) -> None:
    points = KNOWN["3x3"][0]
    expected = hull(points)
    monkeypatch.setattr(polytope, "_fits", lambda points: False)
    assert hull(points) == expected
    assert not polytope._fits([(10**6, 0, 0), (-(10**6), 0, 0)])


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ([], "other than the origin"),
        ([(0, 0)], "other than the origin"),
        ([(1, 0), (0, 1)], "symmetric"),
        ([(1, 0), (-1, 0)], "span"),
        ([tuple(int(i == j) * sign for j in range(9)) for i in range(9) for sign in (1, -1)], "more than 8 dimensions"),
        ([(300, 1), (-300, -1), (1, 300), (-1, -300)], "unit simplices"),
    ],
)
def test_hulls_that_cannot_be_are_refused(points, reason) -> None:
    with pytest.raises(ArgumentError, match=reason):
        hull(points)


def test_hulls_of_too_many_facets_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(polytope, "_MOST_FACETS", 17)
    with pytest.raises(ArgumentError, match="17 facets"):
        hull(KNOWN["3x3"][0])
