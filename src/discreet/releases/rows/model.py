"""Everything that rows are fitted to, in integers: the columns that are drawn, tables, exact lists and empty cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.effects import Axes

__all__ = ["PARTS", "Integers", "Listed", "Root", "Start", "Target", "Targets", "Void", "nearest"]

Integers = NDArray[np.int64]

PARTS = 64
"""Targets are whole multiples of 1 over this."""

_MOST_LOOKED_UP = 1 << 27


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """What is drawn at once: a column, with everything that is a public function of it.

    Args:
        name: of the column, for messages.
        axes: the positions of its axes. The first one is its own level; the others are functions of it.
        codes: int64, shape (levels, axes): for each level of the root its level on each of these axes.
        alone: int64, shape (levels,): the numbers of rows that the tables say of it alone, times `PARTS`.
    """

    name: str
    axes: Axes
    codes: Integers
    alone: Integers

    @property
    def levels(self) -> int:
        """The number of its levels."""
        return len(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """One table.

    Args:
        axes: the positions of its axes, in any order.
        counts: int64, of the shape of their levels: the numbers of rows that it says, times `PARTS`.
        weights: int64, of this shape: how much each cell counts; 0 for all cells of a table that is not fitted.
    """

    axes: Axes
    counts: Integers
    weights: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Exact numbers of rows that every row file has.

    Args:
        axes: the positions of their axes.
        counts: int64, of the shape of their levels.
        named: what they are, for messages.
    """

    axes: Axes
    counts: Integers
    named: str


@dataclass(frozen=True, slots=True, eq=False)
class Void:
    """Cells in which no row can be.

    Args:
        axes: the positions of their axes.
        empty: of the shape of their levels: True for such a cell.
        named: what says so, for messages.
    """

    axes: Axes
    empty: NDArray[np.bool_]
    named: str


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Everything that rows are fitted to.

    Args:
        roots: what is drawn.
        sizes: the number of levels of each axis.
        rows: how many rows there are.
        tables: what they are fitted to.
        lists: the exact numbers of rows that they have. An axis of a list keeps its level whenever its root is drawn.
        voids: where none of them can be.
        unit: the precision, per squared row, of a table of weight 1.
        each: how many rows one of them may stand for.
    """

    roots: tuple[Root, ...]
    sizes: tuple[int, ...]
    rows: int
    tables: tuple[Target, ...]
    lists: tuple[Listed, ...]
    voids: tuple[Void, ...]
    unit: Fraction
    each: int = 1

    def is_wide(self, root: Root) -> bool:
        """True if a root has too many levels to look up all of them for every row: it is exchanged, and never drawn."""
        return 2 * self.rows // (1 + self.each) * root.levels > _MOST_LOOKED_UP

    def root_of(self, axis: int) -> Root:
        """The root that an axis is a function of."""
        return next(root for root in self.roots if axis in root.axes)

    @property
    def held(self) -> frozenset[int]:
        """The axes of the lists."""
        return frozenset(axis for one in self.lists for axis in one.axes)

    def shape(self, axes: Sequence[int]) -> tuple[int, ...]:
        """The numbers of levels of some axes."""
        return tuple(self.sizes[axis] for axis in axes)


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Rows that have all exact lists and are in no empty cell.

    Args:
        rows: int64, shape (rows, axes): the level of each row on each axis.
        each: int64, shape (rows,): how many rows it stands for.
    """

    rows: Integers
    each: Integers


def nearest(counts: Integers, times: int, of: int) -> Integers:
    """counts·times/of, each next to the exact fraction: floor(x + 1/2)."""
    return np.asarray((2 * times * counts.astype(np.object_) + of) // (2 * of), dtype=np.int64)
