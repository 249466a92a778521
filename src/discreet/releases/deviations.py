"""How far whole numbers of areas are from the unbiased counts: what a view changes, and where, in numbers.

A view is biased: noise that is cut off from empty cells is taken from others. A table of deviations says by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "Deviations"]

COLUMNS = ("table", "count", "cells", "mean_deviation", "mean_size")
"""The columns of a table of deviations."""

_CLASSES = ("up to its half-width", "up to 5 half-widths", "above 5 half-widths", "exact")
_ENDS = (1.0, 5.0)

Floats = NDArray[np.float64]


class Deviations:
    """Sums over the cells of some tables, by the size of a count beside the half-width of its interval."""

    def __init__(self) -> None:
        self._found: dict[str, Floats] = {}

    def add(self, table: str, ends: Sequence[Floats], whole: NDArray[np.int64]) -> None:
        """Takes cells of a table into account.

        Args:
            table: its name.
            ends: counts, low and high ends.
            whole: the whole numbers of the same cells.
        """
        count, low, high = (one.ravel() for one in ends)
        half, moved = (high - low) / 2, whole.ravel() - count
        place = np.where(half > 0, np.searchsorted(_ENDS, count / np.where(half > 0, half, 1)), len(_CLASSES) - 1)
        own = self._found.setdefault(table, np.zeros((3, len(_CLASSES))))
        for row, values in enumerate((np.ones_like(moved), moved, np.abs(moved))):
            own[row] += np.bincount(place, weights=values, minlength=len(_CLASSES))

    def frame(self) -> pl.DataFrame:
        """For each table and class of counts that occurs: the cells, the mean deviation, and the mean of its size."""
        import polars as pl

        rows = [
            (table, _CLASSES[place], int(cells), moved / cells, size / cells)
            for table, own in self._found.items()
            for place, (cells, moved, size) in enumerate(own.T.tolist())
            if cells
        ]
        types = [pl.String, pl.String, pl.Int64, pl.Float64, pl.Float64]
        return pl.DataFrame(rows, schema=dict(zip(COLUMNS, types, strict=True)), orient="row")
