"""Cells of groups in which nobody can be, in whatever area: the estimates of tables that are 0 there, and still agree.

A table by the columns of such cells is moved within its own effect alone, by an exact linear function of what the estimates
are in these cells. So no table of fewer columns moves, areas add up, and estimates stay unbiased (docs/proofs/areas.md, K7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.exact.axes import in_order, margin_of
from discreet.exact.cached import cached_property
from discreet.exact.integers import has_room, narrow, times
from discreet.mechanisms.effects import Axes

__all__ = ["Empty", "Move", "can_move", "cells_without_rows", "emptied", "linear_map", "moves_of", "scale_of"]

_ROOM = 60  # bits of sums of products
_MOST_CELLS, _MOST_EMPTY = 2048, 128
"""Of a table whose cells are moved, and in which nobody can be."""

Empty = tuple[tuple[Axes, tuple[int, ...]], ...]
"""For some sets of axes, ascending, the positions of their cells in which nobody can be, in any area; the fewest first."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Move:
    """Within its effect a table is moved by -weights/scale · its numbers in some cells.

    Args:
        axes: of the table.
        cells: the positions of these cells.
        weights: integers of Python, shape (cells of the table, these cells).
        scale: what they are over.
    """

    axes: Axes
    cells: tuple[int, ...]
    weights: Integers
    scale: int

    @cached_property
    def most(self) -> int:
        """A cell moves by at most so many times the largest of these numbers, times the scale."""
        return max(int(np.abs(self.weights).sum(axis=1).max(initial=0)), 1)


def can_move(sizes: Sequence[int], tables: Sequence[Axes], empty: Empty) -> Empty:
    """Those sets of cells for which no table that would move has too many cells."""
    most = {axes: max(prod(sizes[axis] for axis in one) for one in tables if {*axes} <= {*one}) for axes, _ in empty}
    return tuple((axes, cells) for axes, cells in empty if most[axes] <= _MOST_CELLS and len(cells) <= _MOST_EMPTY)


@lru_cache(maxsize=64)
def moves_of(sizes: tuple[int, ...], empty: Empty) -> tuple[Move, ...]:
    """The moves after which cells in which nobody can be are 0, tables of fewer columns first.

    Sets of cells for which tables of fewer columns would have to move are left as they are.
    """
    found: list[Move] = []
    for axes, cells in empty:
        move = _move(sizes, axes, cells)
        if len(move.cells) == len(cells) or _empties(sizes, (*found, move), axes, cells):
            found.append(move)
    return tuple(found)


def cells_without_rows(sizes: tuple[int, ...], empty: Empty, table: Axes) -> NDArray[np.bool_]:
    """Which cells of a table are 0 after the moves, because nobody can be in them; of the shape of its axes."""
    axes = tuple(sorted(table))
    found = np.zeros([sizes[axis] for axis in axes], dtype=bool)
    if any(move.axes == axes for move in moves_of(sizes, empty)):
        found.ravel()[list(dict(empty)[axes])] = True
    return in_order(found, axes, table)


def scale_of(sizes: tuple[int, ...], empty: Empty, table: Axes) -> int:
    """`emptied` gives so many times the estimates."""
    return prod(_scale(sizes, table, move) for move in _moves_within(moves_of(sizes, empty), table))


def emptied(sizes: tuple[int, ...], empty: Empty, table: Axes, values: Integers) -> Integers:
    """`scale_of` times the estimates of a table after the moves, from those before.

    Args:
        sizes: of the axes.
        empty: the cells in which nobody can be.
        table: the axes of the table.
        values: shape (areas, levels of these axes).
    """
    for move in _moves_within(moves_of(sizes, empty), table):
        by = _spread(table, move.axes, _moved(sizes, table, move, values))
        values = narrow(times(values, _scale(sizes, table, move)) - by)
    return values


def linear_map(sizes: tuple[int, ...], empty: Empty, table: Axes) -> Floats:
    """The matrix of `emptied` over `scale_of`, in doubles: row c says how the numbers of all cells make that of cell c."""
    many = prod(sizes[axis] for axis in table)
    units = np.eye(many, dtype=np.int64).reshape(many, *(sizes[axis] for axis in table))
    own = emptied(sizes, empty, table, units).reshape(many, many) / scale_of(sizes, empty, table)
    return np.asarray(own, dtype=np.float64).T


def _moves_within(moves: Sequence[Move], table: Axes) -> list[Move]:
    """The moves of tables by axes of this one."""
    return [move for move in moves if {*move.axes} <= {*table}]


def _scale(sizes: Sequence[int], table: Axes, move: Move) -> int:
    """What the numbers of a table are over after a move."""
    return move.scale * _outside(sizes, table, move)


def _outside(sizes: Sequence[int], table: Axes, move: Move) -> int:
    """How many cells of a table make one of the moved table."""
    return prod(sizes[axis] for axis in table if axis not in move.axes)


def _moved(sizes: Sequence[int], table: Axes, move: Move, values: Integers) -> Integers:
    """By how much a move changes the margin of a table, times its scale, shape (areas, levels of its axes)."""
    room = has_room(values, _outside(sizes, table, move))
    margin = margin_of(values if room else values.astype(np.object_), table, move.axes, after=1)
    inside = margin.reshape(len(values), -1)[:, list(move.cells)]
    return narrow(_product(inside, move)).reshape(len(values), *(sizes[axis] for axis in move.axes))


def _product(values: Integers, move: Move) -> Integers:
    """The weights of a move · numbers of its cells, shape (areas, cells of the table): in parts of few bits, which fit."""
    bits = _ROOM - move.most.bit_length()
    if bits < _ROOM // 4 or values.dtype != np.int64:
        return np.asarray(values.astype(np.object_) @ move.weights.T)
    weights, found, place = move.weights.T.astype(np.int64), np.zeros((), dtype=np.int64), 0
    while values.any():
        part = values if has_room(values, move.most) else values & ((1 << bits) - 1)
        found, values, place = narrow(times(part @ weights, 1 << place) + found), (values - part) >> bits, place + bits
    return np.broadcast_to(found, (len(values), len(move.weights)))


def _spread(table: Axes, axes: Axes, values: Integers) -> Integers:
    """Numbers by some axes of a table, for each of its cells."""
    own = in_order(values, axes, [axis for axis in table if axis in axes], after=1)
    places = tuple(1 + place for place, axis in enumerate(table) if axis not in axes)
    return np.asarray(np.expand_dims(own, places))


def _move(sizes: tuple[int, ...], axes: Axes, cells: tuple[int, ...]) -> Move:
    """The least move within an effect that makes as many of the cells 0 as it can without the others."""
    shape = [sizes[axis] for axis in axes]
    columns = _projected(shape, cells)
    kept, adjugate, scale = _inverse(columns[list(cells)])
    weights = columns[:, kept] @ adjugate
    common = gcd(scale, *map(int, weights.ravel()))
    return Move(axes, tuple(cells[place] for place in kept), weights // common, scale // common)


def _projected(shape: Sequence[int], cells: Sequence[int]) -> Integers:
    """The columns ⊗(n·I - J) of these cells, shape (cells of the table, these cells)."""
    found = np.ones((1, len(cells)), dtype=np.object_)
    for size, place in zip(shape, np.unravel_index(np.array(cells, dtype=np.int64), shape), strict=True):
        own = size * (np.arange(size)[:, np.newaxis] == place).astype(np.object_) - 1
        found = (found[:, np.newaxis] * own).reshape(-1, len(cells))
    return found


def _inverse(matrix: Integers) -> tuple[list[int], Integers, int]:
    """Independent rows of a positive semidefinite matrix, and the adjugate and the determinant of the matrix of these.

    A row more has the Schur complement rest/determinant, 0 where it depends on those before; all divisions are exact.
    """
    kept: list[int] = []
    adjugate, determinant = np.zeros((0, 0), dtype=np.object_), 1
    for place in range(len(matrix)):
        column = matrix[kept, place]
        solved = adjugate @ column
        rest = determinant * matrix[place, place] - column @ solved
        if rest:
            first = (rest * adjugate + np.multiply.outer(solved, solved)) // determinant
            last = np.append(-solved, determinant)
            adjugate = np.vstack([np.hstack([first, -solved[:, np.newaxis]]), last])
            determinant = rest
            kept.append(place)
    return kept, adjugate, determinant


def _empties(sizes: tuple[int, ...], moves: Sequence[Move], axes: Axes, cells: Sequence[int]) -> bool:
    """True if the moves make these cells of a table 0, whatever its estimates are: exact rows of the linear map are 0."""
    shape = [sizes[axis] for axis in axes]
    rows = np.zeros((len(cells), *shape), dtype=np.object_)
    rows.reshape(len(cells), -1)[np.arange(len(cells)), list(cells)] = 1
    for move in reversed(_moves_within(moves, axes)):
        margin = margin_of(rows, axes, move.axes, after=1)
        taken = np.zeros(margin.shape, dtype=np.object_)
        taken.reshape(len(cells), -1)[:, list(move.cells)] = margin.reshape(len(cells), -1) @ move.weights
        rows = rows * _scale(sizes, axes, move) - _spread(axes, move.axes, taken)
    return not rows.any()
