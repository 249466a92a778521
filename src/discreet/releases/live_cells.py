"""The cells of several tables in which somebody can be, side by side: none where all wider areas together have nobody.

In tables of small areas nearly all cells are empty, and most of them are known to be, because the wider area has nobody
there. Only the others are divided; they are listed for each table area by area (docs/proofs/areas.md, K5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.effects import Axes

__all__ = ["LiveCells"]

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LiveCells:
    """The cells of some tables, each a sum of the finest one.

    Args:
        sizes: the number of levels of each axis.
        keys: for each table its cells, as positions among those of all areas, ascending.
        parents: for each area the place of its wider area.
    """

    sizes: tuple[int, ...]
    keys: Mapping[Axes, Codes]
    parents: Codes

    @classmethod
    def within(
        cls, sizes: tuple[int, ...], tables: Sequence[Axes], finest: Axes, there: NDArray[np.bool_], parents: Codes
    ) -> LiveCells:
        """The cells of tables of which one has all columns.

        Args:
            sizes: the number of levels of each axis.
            tables: the axes of each table.
            finest: the one of which the others are sums.
            there: True for the cells of the finest table in which somebody can be, shape (areas, levels of its axes).
            parents: for each area the place of its wider area.
        """
        beside = {one: tuple(1 + place for place, axis in enumerate(finest) if axis not in one) for one in tables}
        return cls(sizes, {one: np.flatnonzero(there.any(axis=over)) for one, over in beside.items()}, parents)

    def of(self, table: Axes, values: NDArray[Any]) -> NDArray[Any]:
        """The numbers of these cells; `values` has shape (areas, levels of the axes)."""
        taken: NDArray[Any] = values.reshape(-1)[self.keys[table]]
        return taken

    def of_areas(self, table: Axes, values: NDArray[Any]) -> NDArray[Any]:
        """A number of each area at these cells."""
        taken: NDArray[Any] = values[self.keys[table] // self._many(table)]
        return taken

    def spread(self, table: Axes, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The whole table, 0 in all other cells: the inverse of `of`."""
        found = np.zeros((len(self.parents), *(self.sizes[axis] for axis in table)), dtype=np.int64)
        found.reshape(-1)[self.keys[table]] = values
        return found

    def cells(self, table: Axes, coarse: Axes) -> Codes:
        """For each cell of a table the cell of a coarser one, whatever the area is."""
        own = np.arange(self._many(coarse)).reshape([self.sizes[axis] if axis in coarse else 1 for axis in table])
        every = np.broadcast_to(own, [self.sizes[axis] for axis in table]).reshape(-1)
        return np.asarray(every[self.keys[table] % self._many(table)])

    def places(self, table: Axes, coarse: Axes) -> Codes:
        """For each cell of a table the place of the coarser one, among the cells of that."""
        keys = self.keys[table] // self._many(table) * self._many(coarse) + self.cells(table, coarse)
        return np.searchsorted(self.keys[coarse], keys)

    def wide(self, table: Axes) -> Codes:
        """For each cell of a table the same cell of the wider area, as a position among those of all wider areas."""
        return self.of_areas(table, self.parents) * self._many(table) + self.cells(table, table)

    def _many(self, table: Sequence[int]) -> int:
        return prod(self.sizes[axis] for axis in table)
