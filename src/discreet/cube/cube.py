"""The cube: integer counts and sums per cell of public codes. What is left of the rows once the engine has seen them.

A cube is sparse and may name a cell more than once; `compact` adds such cells up and sorts them, so that two cubes of the
same data are equal arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError

__all__ = ["ROW_LIMIT", "Cube", "blocks", "compact", "empty_cube", "fits_int64", "join", "order_of", "row_count"]

ROW_LIMIT = 2**40
"""No table has as many rows. Sums are proved against this bound before anything is read."""


@dataclass(frozen=True, slots=True, eq=False)
class Cube:
    """Counts per cell.

    Args:
        keys: int64, shape (cells, axes): final codes or labels of each axis, and the negative targets of its path.
        rows: int64, shape (cells,): the number of rows.
        nonnull: int64, shape (cells, moments): the number of rows whose value is not null.
        sums: shape (cells, moments): the exact sum of (code - low) over those rows; int64 where `fits_int64` proves it,
            else Python integers in an object array.
    """

    keys: NDArray[np.int64]
    rows: NDArray[np.int64]
    nonnull: NDArray[np.int64]
    sums: NDArray[Any]


_BLOCK = 2**18


def blocks(cells: int) -> Iterator[slice]:
    """All cells, block by block: intermediate results of arrays of millions then take a few MB."""
    for start in range(0, cells, _BLOCK):
        yield slice(start, min(start + _BLOCK, cells))


def fits_int64(magnitude: int) -> bool:
    """True if a sum of at most `ROW_LIMIT` terms, each of at most `magnitude`, stays below 2**62."""
    return magnitude * ROW_LIMIT < 2**62


def empty_cube(axes: int, widths: Sequence[int]) -> Cube:
    """A cube without cells, for value columns whose codes span `widths`."""
    sums = np.zeros((0, len(widths)), dtype=sum_dtype(widths))
    return Cube(np.zeros((0, axes), np.int64), np.zeros(0, np.int64), np.zeros((0, len(widths)), np.int64), sums)


def sum_dtype(widths: Sequence[int]) -> type[np.int64] | type[np.object_]:
    """The type in which sums of codes that span `widths` cannot overflow."""
    return np.int64 if all(fits_int64(width) for width in widths) else np.object_


def row_count(cube: Cube) -> int:
    """The number of rows that the cube counts."""
    return int(cube.rows.sum())


def join(cubes: Sequence[Cube]) -> Cube:
    """One cube for the rows of all of them.

    Raises:
        InternalError: no cube at all, or more rows than `ROW_LIMIT`, to which every overflow proof refers.
    """
    if not cubes:
        raise InternalError("no cube to join")
    keys = np.concatenate([cube.keys for cube in cubes])
    rows = np.concatenate([cube.rows for cube in cubes])
    nonnull = np.concatenate([cube.nonnull for cube in cubes])
    sums = np.concatenate([cube.sums for cube in cubes])
    if sum(int(cube.rows.sum()) for cube in cubes) >= ROW_LIMIT:
        raise InternalError("more rows than any table has")
    return compact(Cube(keys, rows, nonnull, sums))


def compact(cube: Cube) -> Cube:
    """The same cube with every cell once, in the order of its keys, without cells of no rows; itself if it is so."""
    places = _places(list(cube.keys.T), len(cube.keys))
    if places is not None and bool((places[1:] > places[:-1]).all()) and bool((cube.rows > 0).all()):
        return cube
    order, starts = _sort(cube.keys) if places is None else _sort_places(places)
    del places
    first = np.flatnonzero(starts)
    if not len(first):
        return cube
    rows = np.add.reduceat(cube.rows[order], first)
    nonnull = np.add.reduceat(cube.nonnull[order], first, axis=0)
    sums = np.add.reduceat(cube.sums[order], first, axis=0)
    there = rows > 0
    return Cube(cube.keys[order[first[there]]], rows[there], nonnull[there], sums[there])


_Order = tuple[NDArray[np.intp], NDArray[np.bool_]]
"""The cells in the order of their keys, and which of them have other keys than the one before."""


def order_of(keys: Sequence[NDArray[np.int64]], cells: int) -> NDArray[np.intp]:
    """The cells in the order of their keys, which are given axis by axis."""
    places = _places(keys, cells)
    return np.lexsort(keys[::-1]) if places is None else _order(places)


def _order(places: NDArray[np.int64]) -> NDArray[np.intp]:
    """The cells in the order of their places: sorted as one number with them where both fit, which takes half the time."""
    bits = len(places).bit_length()
    if not len(places) or int(places.max()) >> (62 - bits):
        return np.argsort(places, kind="stable")
    both = places << bits
    both |= np.arange(len(places), dtype=np.int64)
    both.sort()
    both &= (1 << bits) - 1
    return both.astype(np.intp, copy=False)


def _places(keys: Sequence[NDArray[np.int64]], cells: int) -> NDArray[np.int64] | None:
    """A number for each cell, in the order of the keys; None where they are too far apart for 64 bits together."""
    places = np.zeros(cells, dtype=np.int64)
    if not cells:
        return places
    least = [int(column.min()) for column in keys]
    sizes = [int(column.max()) - low + 1 for column, low in zip(keys, least, strict=True)]
    if prod(sizes) >= 2**62:
        return None
    for column, low, size in zip(keys, least, sizes, strict=True):
        places *= size
        places += column
        places -= low
    return places


def _sort_places(places: NDArray[np.int64]) -> _Order:
    order = _order(places)
    places = places[order]
    starts = np.ones(len(places), dtype=bool)
    starts[1:] = places[1:] != places[:-1]
    return order, starts


def _sort(keys: NDArray[np.int64]) -> _Order:
    """The same for any keys, column by column."""
    order = np.lexsort(keys.T[::-1]) if keys.shape[1] else np.arange(len(keys))
    keys = keys[order]
    starts = np.ones(len(keys), dtype=bool)
    starts[1:] = (keys[1:] != keys[:-1]).any(axis=1) if keys.shape[1] else False
    return order, starts
