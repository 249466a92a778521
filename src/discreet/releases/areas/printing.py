"""The rows of tables of areas, some areas at a time: labels of the cells that can have rows, counts and their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Codes, Integers
from discreet.domain.groups import Label
from discreet.mechanisms.effects import Axes
from discreet.releases.areas.ordered import Columns
from discreet.releases.frames import column_json, frame_of
from discreet.statistics.area_recipe import decimals_of_areas
from discreet.statistics.printed_cells import ends_of_rows
from discreet.statistics.tree_cells import AreaTable, MeasuredArea, Solving, clear_ends, compose_areas, errors_of_areas
from discreet.statistics.trees import Floats

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COUNTS", "AreaRows", "Estimates", "LabelSet", "series_of"]

COUNTS = ("count", "count_low", "count_high")
"""The columns with the numbers of a table."""


class Estimates:
    """The counts of tables with their intervals, from the numbers of areas that add up.

    Args:
        solving: the tree, the effects and the units.
        asked: the tables.
        behind: the noise of each effect of each level.
        level: of the intervals.
    """

    def __init__(
        self,
        solving: Solving,
        asked: Sequence[AreaTable],
        behind: Mapping[tuple[int, Axes], MeasuredArea],
        level: Fraction,
    ) -> None:
        self._solving, self._columns = solving, Columns(solving.tables.effects)
        self._halves = errors_of_areas(solving.tables, asked, behind, level)
        self._decimals = {table: decimals_of_areas(halves) for table, halves in self._halves.items()}

    def numerators(self, table: AreaTable, found: Integers) -> Integers:
        """The numerators of the cells, shape (areas, levels of the axes), of numbers as `Columns` has them."""
        parts = self._solving.tables.parts_of(table.axes)
        return compose_areas(self._solving, table.axes, {part: self._columns.of(part, found) for part in parts})

    def of(self, table: AreaTable, first: int, found: Integers) -> tuple[Floats, Floats, Floats]:
        """Counts, low and high ends of consecutive areas of the level, of which the first is given; shape (areas, cells)."""
        values = self.numerators(table, found)
        shapes = self._solving.tables.tree.shapes.of[table.level][first : first + len(values)]
        denominator = self._solving.denominator(table.axes)
        flat = values.reshape(len(values), -1)
        ends = ends_of_rows(flat, denominator, self._halves[table][shapes], self._decimals[table])
        return clear_ends(self._solving.tables, table.axes, ends)


@dataclass(frozen=True, slots=True, eq=False)
class LabelSet:
    """The labels of one group, in every column that shows it, and those that are printed.

    Args:
        columns: by their names; all of one length.
        alive: the positions of those that can have rows.
        shown: of these the places that are printed.
    """

    columns: Mapping[str, Sequence[Label]]
    alive: Codes
    shown: Codes


def series_of(labels: Sequence[Label]) -> pl.Series:
    """The labels in the type that a document gives them."""
    return frame_of([column_json("labels", labels)]).to_series()


class AreaRows:
    """The rows of the table of some areas: one for each area and each of its cells that can have rows and is printed.

    Args:
        area: the labels of the level; None for all areas together. Its `alive` are the areas in order.
        axes: the labels of the further groups.
    """

    def __init__(self, area: LabelSet | None, axes: Sequence[LabelSet]) -> None:
        self._area, self._axes = area, axes
        self._sizes = [len(one.shown) for one in axes]
        self._labels = {name: series_of(own) for one in self._sets for name, own in one.columns.items()}
        self._printed = np.zeros(len(area.alive) if area is not None else 1, dtype=bool)
        self._printed[area.shown if area is not None else slice(None)] = True

    @property
    def _sets(self) -> list[LabelSet]:
        return [*([] if self._area is None else [self._area]), *self._axes]

    @property
    def columns(self) -> list[dict[str, str]]:
        """The names and kinds of the columns, as documents have them."""
        labels = [(name, column_json(name, own)["kind"]) for one in self._sets for name, own in one.columns.items()]
        return [{"name": name, "kind": kind} for name, kind in (*labels, *((name, "real") for name in COUNTS))]

    @property
    def rows(self) -> int:
        """How many rows there are for all areas."""
        return int(self._printed.sum()) * prod(self._sizes)

    def frame(self, first: int, numbers: Sequence[NDArray[Any]], names: Sequence[str] = COUNTS) -> pl.DataFrame:
        """The rows of consecutive areas, of which the first is given; numbers of shape (areas, cells that can have rows)."""
        import polars as pl

        printed = self._printed[first : first + len(numbers[0])]
        labels = [self._labels[name].gather(place).alias(name) for name, place in self._places(first, printed)]
        return pl.DataFrame(
            [*labels, *(pl.Series(name, self._kept(own, printed)) for name, own in zip(names, numbers, strict=True))]
        )

    def _kept(self, numbers: NDArray[Any], printed: NDArray[np.bool_]) -> NDArray[Any]:
        """The numbers of the cells that are printed, row by row."""
        found = numbers.reshape(len(numbers), *(len(one.alive) for one in self._axes))
        found = found if printed.all() else found[printed]
        for axis, one in enumerate(self._axes, start=1):
            if len(one.shown) < len(one.alive):
                found = np.take(found, one.shown, axis=axis)
        return np.ascontiguousarray(found.ravel())

    def _places(self, first: int, printed: NDArray[np.bool_]) -> list[tuple[str, NDArray[np.uint32]]]:
        """For each label column the position of the label in each row."""
        areas, cells = int(printed.sum()), prod(self._sizes)
        found = []
        if self._area is not None:
            own = self._area.alive[first : first + len(printed)][printed].astype(np.uint32)
            found += [(name, np.repeat(own, cells)) for name in self._area.columns]
        inner = cells
        for one, size in zip(self._axes, self._sizes, strict=True):
            inner //= size
            pattern = np.tile(np.repeat(one.alive[one.shown].astype(np.uint32), inner), cells // (inner * size))
            found += [(name, np.tile(pattern, areas)) for name in one.columns]
        return found
