"""Where the cells of all tables lie in memory, so that all values of a column are looked up at once.

Every table is there once for each of its roots, with the axes of this root last: what one more row would cost stands side by
side for all levels of the root.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact.axes import in_order
from discreet.mechanisms.effects import Axes
from discreet.releases.rows.model import PARTS, Integers, Root, Targets

__all__ = ["Column", "Part", "State", "count", "state_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Cells that a root looks up together: those of the tables that know it by the same axes.

    Args:
        start: where they begin.
        end: one past the last.
        width: how many levels these axes have together.
        own: for each level of the root its place among them.
        plain: True if these are the levels themselves.
        strides: shape (axes, tables): by how many rows of such levels a table moves with each axis of a row.
        first: the first row of each table.
    """

    start: int
    end: int
    width: int
    own: Integers
    plain: bool
    strides: Integers
    first: Integers

    def at(self, rows: Integers) -> Integers:
        """Shape (rows, tables): the row of levels where the other axes of a row are."""
        return self.first + rows @ self.strides

    def places(self, at: Integers, levels: Integers) -> Integers:
        """Shape (rows, tables): the cells with these levels of the root, one for each row."""
        return self.start + at * self.width + self.own[levels][:, None]

    def seen(self, values: Integers, at: Integers) -> Integers:
        """Shape (rows, levels of the root): the sums over the tables of the values of each level."""
        sums = values[self.start : self.end].reshape(-1, self.width)[at].sum(axis=1)
        return np.asarray(sums if self.plain else sums[:, self.own])


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A root among the tables.

    Args:
        root: the root.
        parts: its tables.
        voids: the cells in which no row can be.
        strides: shape (axes, cells): by how many places every cell that a row of these tables counts in moves.
        first: the first of these places.
        classes: for each level of the root its class: exact lists let it go to another level of the same class only.
        wide: True if the root has too many levels to be drawn.
    """

    root: Root
    parts: tuple[Part, ...]
    voids: tuple[Part, ...]
    strides: Integers
    first: Integers
    classes: Integers
    wide: bool

    @property
    def bound(self) -> bool:
        """True if a list says where the root may go."""
        return bool(self.classes.any())

    @property
    def drawn(self) -> bool:
        """True if it can be drawn anew: some level may become another one, and a table or an empty cell knows it."""
        told = bool(self.parts or self.voids)
        return told and not self.wide and len(np.unique(self.classes)) < self.root.levels


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The rows, and what one more of them would cost in every cell; both change with every draw.

    Args:
        rows: the level of each row on each axis.
        each: how many rows it stands for.
        bundled: True if some stand for several.
        costs: weight · (PARTS · rows + PARTS/2 - target) in every cell of every table, once for each of its roots.
        weights: PARTS · weight in these cells.
        empty: 1 in the cells in which no row can be.
    """

    rows: Integers
    each: Integers
    bundled: bool
    costs: Integers
    weights: Integers
    empty: Integers

    def move(self, column: Column, moved: Integers, levels: Integers) -> None:
        """Some rows get other levels of a root, and the costs follow."""
        before = column.first + self.rows[moved] @ column.strides
        self.rows[moved[:, None], list(column.root.axes)] = column.root.codes[levels]
        after = column.first + self.rows[moved] @ column.strides
        each = self.each[moved][:, None]
        np.subtract.at(self.costs, before.ravel(), (self.weights[before] * each).ravel())
        np.add.at(self.costs, after.ravel(), (self.weights[after] * each).ravel())


def state_of(targets: Targets, rows: Integers, each: Integers) -> tuple[State, tuple[Column, ...]]:
    """The rows with the costs of all tables, and the columns in the order of their roots.

    Args:
        targets: the tables.
        rows: int64, shape (rows, axes); they are changed where the state is.
        each: how many rows each of them stands for.
    """
    tables = [one for one in targets.tables if one.weights.any()]
    copies = _copies(targets, [one.axes for one in tables])
    costs, weights = _room(copies), _room(copies)
    for one in copies:
        table = tables[one.table]
        found = PARTS * count(rows, table.axes, targets.sizes, each) + PARTS // 2 - table.counts
        costs[one.start : one.end] = one.seen(table.weights * found)
        weights[one.start : one.end] = PARTS * one.seen(table.weights)
    voids = _copies(targets, [one.axes for one in targets.voids])
    empty = _room(voids)
    for one in voids:
        empty[one.start : one.end] = one.seen(targets.voids[one.table].empty)
    columns = (_column(targets, root, copies, voids) for root in targets.roots)
    return State(rows, each, bool((each > 1).any()), costs, weights, empty), tuple(columns)


def count(rows: Integers, axes: Sequence[int], sizes: Sequence[int], each: Integers) -> Integers:
    """The number of rows in each cell of some axes, of the shape of their levels; each one stands for several."""
    shape = [sizes[axis] for axis in axes]
    flat = np.ravel_multi_index(tuple(rows[:, axis] for axis in axes), shape) if axes else np.zeros(len(rows), np.int64)
    found = np.zeros(prod(shape), dtype=np.int64)
    np.add.at(found, flat, each)
    return found.reshape(shape)


# Copies of tables -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Copy:
    """The cells of a table for one of its roots.

    Args:
        table: which of the tables.
        own: the axes of the root, which are the last ones here.
        order: all axes of the table, as they are here.
        axes: the same as they are in the table.
        sizes: of all axes of a row.
        start: the place of the first cell.
    """

    table: int
    own: Axes
    order: Axes
    axes: Axes
    sizes: tuple[int, ...]
    start: int

    @property
    def end(self) -> int:
        return self.start + prod(self.sizes[axis] for axis in self.order)

    def seen(self, values: NDArray[Any]) -> NDArray[Any]:
        """The cells of the table in this order, flat."""
        return in_order(values, self.axes, self.order).ravel()

    def strides(self) -> Integers:
        """By how many places a cell moves with each axis of a row."""
        found, step = np.zeros(len(self.sizes), dtype=np.int64), 1
        for axis in reversed(self.order):
            found[axis], step = step, step * self.sizes[axis]
        return found


def _copies(targets: Targets, tables: Sequence[Axes]) -> list[_Copy]:
    """For each root its tables, those that know it by the same axes one after the other."""
    found: list[_Copy] = []
    for root in targets.roots:
        own = [(tuple(axis for axis in root.axes if axis in axes), place) for place, axes in enumerate(tables)]
        for mine, place in sorted(one for one in own if one[0]):
            axes = tables[place]
            order = (*(one for one in axes if one not in mine), *mine)
            found.append(_Copy(place, mine, order, axes, targets.sizes, found[-1].end if found else 0))
    return found


def _room(copies: Sequence[_Copy]) -> Integers:
    return np.zeros(copies[-1].end if copies else 0, dtype=np.int64)


def _column(targets: Targets, root: Root, copies: Sequence[_Copy], voids: Sequence[_Copy]) -> Column:
    counted = [one for one in copies if set(root.axes) & set(one.axes)]
    held = [axis for axis in root.axes if axis in targets.held]
    return Column(
        root=root,
        parts=tuple(_parts(root, copies)),
        voids=tuple(_parts(root, voids)),
        strides=np.stack([one.strides() for one in counted], axis=1) if counted else np.zeros((len(targets.sizes), 0), int),
        first=np.array([one.start for one in counted], dtype=np.int64),
        classes=_flat(root, held, targets.sizes),
        wide=targets.is_wide(root),
    )


def _parts(root: Root, copies: Sequence[_Copy]) -> Iterable[Part]:
    mine = [one for one in copies if one.own == tuple(axis for axis in root.axes if axis in one.axes) and one.own]
    for own, group in groupby(mine, key=lambda one: one.own):
        together = [*group]
        width, start = prod(together[0].sizes[axis] for axis in own), together[0].start
        codes = _flat(root, own, together[0].sizes)
        strides = np.stack([one.strides() for one in together], axis=1) // width
        strides[list(own)] = 0
        yield Part(
            start=start,
            end=together[-1].end,
            width=width,
            own=codes,
            plain=len(codes) == width and bool((codes == np.arange(width)).all()),
            strides=strides,
            first=np.array([(one.start - start) // width for one in together], dtype=np.int64),
        )


def _flat(root: Root, axes: Sequence[int], sizes: Sequence[int]) -> Integers:
    """For each level of the root its place among the levels of some of its axes together; 0 for no axes."""
    found = np.zeros(root.levels, dtype=np.int64)
    for axis in axes:
        found = found * sizes[axis] + root.codes[:, root.axes.index(axis)]
    return found
