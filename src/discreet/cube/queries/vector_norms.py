"""The joint norms of the vector that a row adds to several sums: of one row, and between two rows.

Every part is linear in each factor while the others stand still, or is one square. So a norm is greatest where each factor
is at an end of its range, and the corners are tried one by one (V1 and V2 in docs/proofs/vectors.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

__all__ = ["Added", "Norms", "Product", "Square", "norms_alone", "norms_apart"]

Norms = tuple[int, int]
"""Upper bounds of ‖·‖₁ and of ‖·‖₂²."""

_MOST_CORNERS = 2**10
_MOST_SIZE = 2**62
_KEPT = 512

Corners = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Product:
    """times · the product of some factors of different columns: for each the name of the column and its number there."""

    times: int
    factors: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Square:
    """A part that is a square of a factor.

    Args:
        column: the column.
        alone: the largest size of what a row adds.
        apart: the largest difference between what two rows add.
        covered: whether a pair of rows that is farthest apart in ‖·‖₂ without the square is farthest apart with it (V2).
    """

    column: str
    alone: int
    apart: int
    covered: bool


@dataclass(frozen=True, slots=True)
class Added:
    """The vector that a row adds, as far as its norms depend on it.

    Args:
        places: for each column the integers of its factors at each place where a norm can be greatest.
        products: the parts that are products.
        squares: the parts that are squares.
    """

    places: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]
    products: tuple[Product, ...]
    squares: tuple[Square, ...]


@lru_cache(maxsize=_KEPT)
def norms_alone(added: Added) -> Norms:
    """The largest norms of the vector of one row."""
    sizes = [one.alone for one in added.squares]
    if _count(added) > _MOST_CORNERS:
        ends = [max(map(abs, _ends(one, dict(added.places)))) for one in added.products]
        return sum(ends) + sum(sizes), sum(size**2 for size in (*ends, *sizes))
    unit, found = _vectors(added, {})
    l1, l2_squared = _largest(found, unit)
    return l1 + sum(sizes), l2_squared + sum(size**2 for size in sizes)


@lru_cache(maxsize=_KEPT)
def norms_apart(added: Added, kept: frozenset[str]) -> Norms:
    """The largest norms of the difference of the vectors of two rows with the same values in the columns `kept`."""
    squares = [one for one in added.squares if one.column not in kept]
    l1 = sum(one.apart for one in squares)
    l2_squared = sum(one.apart**2 for one in squares if not one.covered)
    if _count(added) > _MOST_CORNERS:
        # Without its corners, each part is as far apart as it can be by itself.
        free = [one for one in added.products if any(column not in kept for column, _ in one.factors)]
        spans = [high - low for low, high in (_ends(one, dict(added.places)) for one in free)]
        return l1 + sum(spans), sum(one.apart**2 for one in squares) + sum(span**2 for span in spans)
    pairs = [_farthest(added, fixed) for fixed in _shared(added, kept)]
    return l1 + max(one for one, _ in pairs), l2_squared + max(one for _, one in pairs)


def _count(added: Added) -> int:
    return prod(len(places) for _, places in added.places)


def _ends(one: Product, places: Mapping[str, tuple[tuple[int, ...], ...]]) -> tuple[int, int]:
    """The least and the greatest integer of a part."""
    values = [[place[number] for place in places[column]] for column, number in one.factors]
    corners = [one.times * prod(corner) for corner in product(*values)]
    return min(corners), max(corners)


def _shared(added: Added, kept: frozenset[str]) -> Iterator[dict[str, tuple[int, ...]]]:
    """The places of the columns in which two rows agree."""
    own = [(column, places) for column, places in added.places if column in kept]
    for chosen in product(*(places for _, places in own)):
        yield dict(zip((column for column, _ in own), chosen, strict=True))


def _vectors(added: Added, fixed: Mapping[str, tuple[int, ...]]) -> tuple[int, Corners]:
    """A unit, and the vector of each corner in this unit, rounded down: shape (corners, parts)."""
    free = [(column, (fixed[column],) if column in fixed else places) for column, places in added.places]
    rows = []
    for corner in product(*(places for _, places in free)):
        at = dict(zip((column for column, _ in free), corner, strict=True))
        rows.append([one.times * prod(at[column][number] for column, number in one.factors) for one in added.products])
    largest = max((abs(value) for row in rows for value in row), default=0)
    unit = 1
    while (2 * (largest // unit + 2)) ** 2 * max(1, len(added.products)) >= _MOST_SIZE:
        unit *= 2
    return unit, np.array([[value // unit for value in row] for row in rows], dtype=np.int64).reshape(len(rows), -1)


def _largest(vectors: Corners, unit: int) -> Norms:
    """The largest norms of some vectors; what was rounded down is less than one unit away."""
    sizes = np.abs(vectors) + (unit > 1)
    return unit * int(sizes.sum(axis=1).max(initial=0)), unit**2 * int((sizes**2).sum(axis=1).max(initial=0))


def _farthest(added: Added, fixed: Mapping[str, tuple[int, ...]]) -> Norms:
    """The largest norms between two corners that agree in the fixed columns."""
    unit, vectors = _vectors(added, fixed)
    found = [_largest(vectors[place:] - one, unit) for place, one in enumerate(vectors)]
    return max(l1 for l1, _ in found), max(l2_squared for _, l2_squared in found)
