"""Noise of the cells of a structure, and its half-widths, in the places of the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.totals.structure import Blocks, Structure, Tables

__all__ = [
    "by_block",
    "by_table",
    "draw_tables",
    "into",
    "is_paired",
    "mean_of_blocks",
    "mean_of_tables",
    "order_of",
    "put_in_place",
    "two_rows",
]


def put_in_place(cells: int, order: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    """The values at their positions among this many cells, 0 elsewhere."""
    return into(np.zeros(cells, dtype=np.int64), order, values)


def into(noise: NDArray[Any], order: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    """`noise` with the values at their positions; Python integers where the values are."""
    if values.dtype == object:
        noise = noise.astype(np.object_)
    noise[order] = values
    return noise


def by_block(structure: Blocks, of_size: Callable[[int], int]) -> NDArray[Any]:
    """For each cell what follows from the size of its block."""
    widths = {int(size): of_size(int(size)) for size in np.unique(structure.sizes)}
    each = np.array([widths[int(size)] for size in structure.sizes], dtype=np.int64)
    return put_in_place(structure.cells, structure.order, np.repeat(each, structure.sizes))


def mean_of_blocks(structure: Blocks, of_size: Callable[[int], float]) -> float:
    """The mean over the cells of what follows from the size of their blocks."""
    sizes, times = np.unique(structure.sizes, return_counts=True)
    total = sum(int(times[i]) * int(size) * of_size(int(size)) for i, size in enumerate(sizes))
    return float(total / max(1, structure.size))


def draw_tables(structure: Tables, draw: Callable[[tuple[int, ...], int, int], NDArray[Any]]) -> NDArray[Any]:
    """The noise of all cells; tables of equal shape are drawn together, by their shape, depth and number."""
    shapes: dict[tuple[int, ...], list[NDArray[np.int64]]] = {}
    for table in structure.tables:
        shapes.setdefault(table.order.shape, []).append(table.order)
    noise: NDArray[Any] = np.zeros(structure.cells, dtype=np.int64)
    for (*shape, depth), orders in shapes.items():
        noise = into(noise, np.stack(orders).ravel(), draw(tuple(shape), depth, len(orders)).ravel())
    return noise


def by_table(structure: Tables, of_shape: Callable[[tuple[int, ...], int], NDArray[Any]]) -> NDArray[np.int64]:
    """For each cell what follows, for each cell of a table, from the shape and depth of its table; 0 elsewhere."""
    found = {
        (*shape, depth): of_shape(tuple(shape), depth) for *shape, depth in {one.order.shape for one in structure.tables}
    }
    each = np.zeros(structure.cells, dtype=np.int64)
    for table in structure.tables:
        each[table.order] = found[table.order.shape]
    return each


def mean_of_tables(structure: Tables, of_shape: Callable[[tuple[int, ...], int], float]) -> float:
    """The mean over the cells of what follows from the shape and depth of their tables."""
    found = {
        (*shape, depth): of_shape(tuple(shape), depth) for *shape, depth in {one.order.shape for one in structure.tables}
    }
    return sum(table.order.size * found[table.order.shape] for table in structure.tables) / max(1, structure.size)


def is_paired(structure: Tables) -> bool:
    """True if all tables have two rows or two columns and no depth: one row is minus the other."""
    orders = [table.order for table in structure.tables]
    return all(order.ndim == 3 and order.shape[2] == 1 and 2 in order.shape[:2] for order in orders)


def two_rows(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of a 2 x J table, shape (2, J)."""
    table = order[..., 0]
    return table if table.shape[0] == 2 else table.T


def order_of(structure: Structure) -> NDArray[np.int64]:
    """The positions of the cells of a structure of one part."""
    if isinstance(structure, Tables):
        if len(structure.tables) != 1:
            raise InternalError("the hull belongs to a single table")
        return structure.tables[0].order.ravel()
    return structure.order
