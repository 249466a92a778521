"""A quote of areas carried out on its cubes and written down in files: no level is ever in memory as a whole.

Upwards every slice is counted, measured and written, and what follows from it is handed on to the areas above. Downwards the
measured numbers of the last level are read again, and the rows of all tables are written level by level. Tables of few rows
are in the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.cube.cells import Integers
from discreet.cube.cube import Cube
from discreet.domain.groups import Group, group_labels
from discreet.errors import InternalError
from discreet.exact.files import in_draft, sync_folder
from discreet.exact.numbers import text
from discreet.noise.bits import Bits
from discreet.plan.in_files import MOST_WHOLE_CELLS
from discreet.plan.shown import hidden_labels
from discreet.quotes.public_sums import sums_of_counts
from discreet.quotes.quote import Quote
from discreet.releases.areas.counting import AreaCells, AreaCounts
from discreet.releases.areas.measuring import MeasuredFiles, Measuring, names_of_effects, numbers_of
from discreet.releases.areas.ordered import Columns, chunks, ordered
from discreet.releases.areas.passes import Passes
from discreet.releases.areas.printing import AreaRows, Estimates, LabelSet, series_of
from discreet.releases.assemble import frame_names, frame_of_table, shown_groups
from discreet.releases.files import PartWriter, RowsInFiles, TableFile, table_json
from discreet.releases.measured_areas import nobody_json
from discreet.releases.recomputed import axis_json
from discreet.releases.tabled import frame_json, list_sums
from discreet.statistics.area_recipe import AreasRecipe
from discreet.statistics.tree_cells import AreaTable, solving_of
from discreet.statistics.trees import Floats

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ROWS", "area_files"]

ROWS = 2**19
"""The rows of a file of a table, but for the last one and for areas of more cells."""


def area_files(quote: Quote, cubes: Iterator[Cube], bits: Bits, draft: Path) -> dict[str, Any]:
    """The tables of a quote of areas in files in the draft folder, durably, and what its document says of them.

    Args:
        quote: of a statistic of areas alone.
        cubes: for each slice of its reading, in order.
        bits: where the noise comes from.
        draft: the folder.
    """
    with in_draft(draft) as scratch:
        found = _Publishing(quote, draft, scratch).publish(cubes, bits)
    sync_folder(draft)
    return found


class _Publishing:
    """One release on its way into files."""

    def __init__(self, quote: Quote, draft: Path, scratch: Path) -> None:
        (line,) = quote.lines
        reading = quote.plan.layout.areas
        if not isinstance(line.recipe, AreasRecipe) or reading is None:
            raise InternalError("areas alone are written to files area by area")
        self._quote, self._line, self._recipe, self._reading, self._draft = quote, line, line.recipe, reading, draft
        self._noises = quote.noises(line)
        self._tree = ordered(line.recipe.levels)
        behind = line.recipe.noise_behind(self._noises)
        self._solving = solving_of(line.recipe.tables_of(self._tree.tree), behind)
        self._estimates = Estimates(self._solving, line.recipe.asked, behind, self._noises.level)
        self._passes = Passes(self._solving, scratch)
        self._columns = Columns(line.recipe.effects)
        groups = tuple(group.column for group in line.recipe.groups)
        self._names = names_of_effects(groups, line.recipe.effects.parts)
        self._measured: dict[int, list[TableFile]] = {}
        self._files: list[TableFile] = []
        names = frame_names([(line, line.recipe.groups_of(one)) for one in line.recipe.asked])
        self._frames = dict(zip(line.recipe.asked, names, strict=True))

    def publish(self, cubes: Iterator[Cube], bits: Bits) -> dict[str, Any]:
        try:
            self._climb(cubes, bits)
            frames = self._descend()
        finally:
            self._passes.close()
        known = list_sums(sums_of_counts(self._quote.plan, self._quote.beside), [], self._quote.plan)
        told = {"format": "parquet", "files": len(self._files), "bytes": sum(one.size for one in self._files)}
        return {**known, "files": told, "frames": frames, "measured": [self._block()]}

    # Upwards ----------------------------------------------------------------------------------------------------------

    def _climb(self, cubes: Iterator[Cube], bits: Bits) -> None:
        measuring = Measuring(self._quote, self._recipe, self._tree, self._noises, bits)
        slices = zip(self._reading.slices, cubes, strict=True)
        for level, own in groupby(slices, key=lambda one: one[0].level):
            names = {part: name for part, name in self._names.items() if (level, part) in self._recipe.parts}
            files = MeasuredFiles(self._draft, f"measured-{level}", self._columns, names)
            for one, cube in own:
                counts = AreaCounts(self._quote.plan, cube, self._reading.scan(one), self._cells(), by_area=bool(level))
                ranks = self._tree.ranks[level - 1] if level else np.zeros(1, dtype=np.int64)
                first, last = np.searchsorted(ranks, (one.first, one.last))
                for start, stop in chunks(int(first), int(last), self._width):
                    numbers = measuring.measure(level, start, counts.of(ranks[start:stop] - one.first))
                    files.append(*self._codes(level, start, stop), numbers)
                    self._passes.climb(level, start, numbers)
            self._measured[level] = files.close()
            self._files += self._measured[level]

    def _cells(self) -> AreaCells:
        return AreaCells(self._recipe.groups, self._recipe.sizes, self._recipe.alive)

    @property
    def _width(self) -> int:
        """The numbers of an area that are in memory at once: of its cells, or of its effects."""
        return max(self._columns.width, self._reading.cells)

    def _codes(self, level: int, first: int, last: int) -> tuple[pl.Series, pl.Series]:
        """The codes of some areas of a level, and those of the areas that they lie in; null for all areas together."""
        import polars as pl

        def of(level: int, areas: Integers) -> pl.Series:
            if not level:
                return pl.Series([None] * len(areas), dtype=pl.String)
            labels = group_labels(self._group(level), self._quote.plan.facts)
            return series_of(labels).gather(self._tree.places[level - 1][areas].astype(np.uint32))

        areas = np.arange(first, last)
        return of(level, areas), of(level - 1, self._tree.tree.above[level - 1][areas]) if level else of(0, areas)

    def _group(self, level: int) -> Group:
        return self._recipe.groups_of(AreaTable(level, ()))[0]

    # Downwards --------------------------------------------------------------------------------------------------------

    def _descend(self) -> list[dict[str, Any]]:
        last = len(self._tree.tree.parents)
        found: dict[AreaTable, dict[str, Any]] = {}
        small = self._in_document()
        for level, size in enumerate(self._tree.tree.sizes):
            tables = [table for table in self._recipe.asked if table.level == level]
            writers = {table: self._writer(table) for table in tables if table not in small}
            kept: dict[AreaTable, list[tuple[Floats, Floats, Floats]]] = {table: [] for table in tables if table in small}
            measured = RowsInFiles(self._measured[level], self._draft) if level == last else None
            for start, stop in chunks(0, size, self._width):
                own = None if measured is None else numbers_of(measured.take(stop - start), self._columns, self._names)
                numbers = self._passes.descend(level, start, stop, own)
                for table in tables:
                    ends = self._estimates.of(table, start, numbers)
                    if table in small:
                        kept[table].append(ends)
                    else:
                        writers[table].append(start, ends)
            found |= {table: self._frame(table, own) for table, own in kept.items()}
            found |= {table: self._stub(table, one) for table, one in writers.items()}
        return [found[table] for table in self._recipe.asked]

    def _in_document(self) -> set[AreaTable]:
        """The tables that the document holds: those of the fewest rows, as many as a document takes together."""
        rows = sorted((self._cells_of(table), place) for place, table in enumerate(self._recipe.asked))
        total, found = 0, set()
        for many, place in rows:
            total += many
            if total <= MOST_WHOLE_CELLS:
                found.add(self._recipe.asked[place])
        return found

    def _cells_of(self, table: AreaTable) -> int:
        every = 1
        for group in self._recipe.groups_of(table):
            every *= len(group_labels(group, self._quote.plan.facts))
        return every

    def _rows(self, table: AreaTable) -> AreaRows:
        sets = []
        groups = shown_groups(self._quote.plan, self._recipe.groups_of(table))
        places = [*self._tree.places[table.level - 1 : table.level], *(self._recipe.alive[axis] for axis in table.axes)]
        for (columns, hidden), own in zip(groups, map(np.array, places), strict=True):
            sets.append(LabelSet(columns, own, np.flatnonzero(~np.isin(own, list(hidden)))))
        return AreaRows(sets[0] if table.level else None, sets[1:] if table.level else sets)

    def _writer(self, table: AreaTable) -> _Writer:
        return _Writer(self._draft, f"counts-{self._recipe.asked.index(table)}", self._rows(table))

    def _frame(self, table: AreaTable, ends: Sequence[tuple[Floats, Floats, Floats]]) -> dict[str, Any]:
        """A frame that the document holds: its areas in the order of their labels, those without rows among them."""
        whole = [np.concatenate(one) for one in zip(*ends, strict=True)]
        if table.level:
            order = np.argsort(self._tree.places[table.level - 1])
            whole = [one[order] for one in whole]
        own = self._recipe.count_table(table, whole)
        return frame_json(self._quote, frame_of_table(self._quote, self._frames[table], own), self._recipe.groups_of(table))

    def _stub(self, table: AreaTable, writer: _Writer) -> dict[str, Any]:
        """A frame that is in files: its columns without numbers, and the files."""
        parts = writer.close()
        self._files += parts
        columns = [{**one, "values": []} for one in writer.rows.columns]
        told = {} if self._quote.beside is None else self._recipe.words_of(table)
        return {"name": self._frames[table], **told, "columns": columns, "table": table_json(parts)}

    # The document -----------------------------------------------------------------------------------------------------

    def _block(self) -> dict[str, Any]:
        """The measured numbers of the statistic, as a document describes them."""
        places = {one.asked: place for place, one in enumerate(self._quote.measured)}
        behind = self._recipe.noise_behind(self._noises)
        effects = [
            {
                "level": key[0],
                "axes": list(key[1]),
                "times": one.times,
                "noise": places[self._recipe.noisy[key]] if key in self._recipe.noisy else None,
                "column": self._names[key[1]],
            }
            for key, one in behind.items()
        ]
        plan = self._quote.plan
        levels = [
            {"column": column, "nulls": not hidden_labels(plan, self._group(level))}
            for level, column in enumerate(self._recipe.levels.columns, start=1)
        ]
        axes = [
            {**axis_json(self._quote, group, alive), "hidden": sorted(hidden_labels(plan, group))}
            for group, alive in zip(self._recipe.groups, self._recipe.alive, strict=True)
        ]
        return {
            "statistic": self._line.statistic.name,
            "level": text(self._line.level),
            "levels": levels,
            "axes": axes,
            "tables": [[one.level, list(one.axes)] for one in self._recipe.asked],
            "effects": effects,
            **nobody_json(self._recipe.nobody),
            "files": [table_json(self._measured[level]) for level in sorted(self._measured)],
            "charge": self._quote.charge,
        }


class _Writer:
    """The files of one table."""

    def __init__(self, draft: Path, stem: str, rows: AreaRows) -> None:
        self.rows = rows
        self._parts = PartWriter(draft, stem, ROWS)

    def append(self, first: int, ends: tuple[Floats, Floats, Floats]) -> None:
        frame = self.rows.frame(first, ends)
        if frame.height:  # the areas of a chunk may all be hidden
            self._parts.append(frame)

    def close(self) -> list[TableFile]:
        return self._parts.close()
