"""Whole numbers of areas in files: level by level, all areas in some wider areas at a time, never all cells in memory.

`dividing` says how one level follows from the one above (docs/proofs/areas.md, K5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.exact.axes import in_order
from discreet.exact.files import sync_folder
from discreet.exact.numbers import exact
from discreet.mechanisms.effects import Axes
from discreet.releases.areas.ordered import families
from discreet.releases.areas.passes import Passes
from discreet.releases.areas.printing import Estimates
from discreet.releases.areas.reading import AreasInFiles, read_areas_in_files
from discreet.releases.areas.scratch import Scratch
from discreet.releases.deviations import Deviations
from discreet.releases.dividing import Areas
from discreet.releases.files import PartWriter, RowsInFiles
from discreet.releases.recomputed import refuse_made_up
from discreet.releases.whole_areas import dividing_of
from discreet.statistics.tree_cells import AreaTable, solving_of, variances_of_areas

if TYPE_CHECKING:
    import polars as pl

__all__ = ["write_files"]

Whole = NDArray[np.int64]

_SHARE = 4  # of the numbers that are in memory at once, so many arrays more are needed for whole ones

ROWS = 2**19
"""The rows of a file, but for the last one and for areas of more cells."""


def write_files(document: Mapping[str, Any], folder: Path, to: Path) -> pl.DataFrame:
    """The folder `to` has the whole numbers of all tables of areas in files; how far these are from the counts.

    Args:
        document: of the release.
        folder: with the files that it describes.
        to: a folder for the files `whole-K-00000.parquet`, … of the frame number K of the document.

    Raises:
        ArgumentError: the document was made up, or has exact totals that cross the tables and no whole numbers.
        OSError: the disk is full.
    """
    with refuse_made_up():
        areas = read_areas_in_files(document, folder)
    with TemporaryDirectory(prefix="discreet-") as scratch:
        found = _Writing(areas, to, Path(scratch)).write()
    sync_folder(to)
    return found


class _Writing:
    """The whole numbers of one release on their way into files."""

    def __init__(self, areas: AreasInFiles, folder: Path, scratch: Path) -> None:
        self._areas, self._folder = areas, folder
        self._solving = solving_of(areas.tables, areas.behind)
        self._estimates = Estimates(self._solving, areas.asked, areas.behind, exact(areas.block["level"], "level"))
        self._passes = Passes(self._solving, scratch)
        self._tree = areas.tables.tree
        self._dividing = dividing_of(areas.tables, areas.behind, [one.axes for one in areas.asked])
        every = [AreaTable(level, one) for one in self._dividing.tables for level in range(len(self._tree.sizes))]
        self._variances = variances_of_areas(areas.tables, every, areas.behind)
        widths = [int(np.prod([areas.tables.effects.sizes[axis] for axis in one])) for one in self._dividing.finest]
        self._ends = np.cumsum([0, *widths])
        inner = range(len(self._tree.parents))
        self._found = [Scratch(scratch / f"whole-{level}", int(self._ends[-1])) for level in inner]
        self._deviations = Deviations()

    def write(self) -> pl.DataFrame:
        try:
            for level in reversed(range(len(self._areas.measured))):
                for first, numbers in self._areas.numbers(level):
                    self._passes.climb(level, first, numbers)
            for level in range(len(self._areas.measured)):
                self._write_level(level)
        finally:
            self._passes.close()
            for one in self._found:
                one.close()
        return self._deviations.frame()

    def _write_level(self, level: int) -> None:
        places = {table: place for place, table in enumerate(self._areas.asked)}
        tables = [table for table in self._areas.asked if table.level == level]
        writers = {table: PartWriter(self._folder, f"whole-{places[table]}", ROWS) for table in tables}
        rows = {table: self._areas.rows(table) for table in tables}
        for first, numbers in self._numbers(level):
            last = first + len(numbers)
            finest = self._divided(level, first, last, numbers)
            if level < len(self._found):
                self._found[level].append(np.concatenate([one.reshape(last - first, -1) for one in finest.values()], axis=1))
            for table in tables:
                ascending = tuple(sorted(table.axes))
                whole = in_order(self._dividing.of(ascending, finest), ascending, table.axes, after=1)
                frame = rows[table].frame(first, [whole], ["count_consistent"])
                if frame.height:
                    writers[table].append(frame)
                ends = self._estimates.of(table, first, numbers)
                self._deviations.add(self._areas.frames[table]["name"], ends, whole.reshape(ends[0].shape))
        for writer in writers.values():
            writer.close()

    def _numbers(self, level: int) -> Iterator[tuple[int, Integers]]:
        """The numbers of the areas that add up, all areas in some wider areas at a time."""
        width = _SHARE * max(self._areas.columns.width, int(self._ends[-1]))
        last = len(self._areas.measured) - 1
        rows = RowsInFiles(self._areas.measured[level], self._areas.folder) if level == last else None
        for first, stop in families(self._tree, level, width):
            own = None if rows is None else self._areas.take(rows, stop - first)
            yield first, self._passes.descend(level, first, stop, own)

    def _divided(self, level: int, first: int, last: int, numbers: Integers) -> dict[Axes, Whole]:
        shapes = self._tree.shapes.of[level][first:last]
        wanted, deviations = {}, {}
        for one in self._dividing.tables:
            table = AreaTable(level, one)
            values = self._estimates.numerators(table, numbers)
            wanted[one] = np.asarray(values / self._solving.denominator(one), np.float64)
            deviations[one] = np.sqrt(self._variances[table][shapes])
        if not level:
            return self._dividing.divide(Areas(level, None, wanted, deviations, {}))
        parents = self._tree.above[level - 1][first:last]
        start, stop = int(parents[0]), int(parents[-1]) + 1
        above = self._found[level - 1].read(start, stop)
        sizes = self._areas.tables.effects.sizes
        wide = {
            one: above[:, low:high].reshape(-1, *(sizes[axis] for axis in one))
            for one, low, high in zip(self._dividing.finest, self._ends, self._ends[1:], strict=False)
        }
        return self._dividing.divide(Areas(level, parents - start, wanted, deviations, wide))
