"""Tables of areas in files recomputed from the measured numbers in files, some areas at a time.

A reader needs the document and its files: the tree, the noise and the numbers say every cell and every interval. Nobody has
to trust the program that wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet.cube.cells import Integers
from discreet.domain.groups import Label
from discreet.errors import ArgumentError
from discreet.exact.numbers import exact
from discreet.releases.areas.known import check_known
from discreet.releases.areas.ordered import chunks
from discreet.releases.areas.passes import Passes
from discreet.releases.areas.printing import COUNTS, AreaRows, Estimates
from discreet.releases.areas.reading import AreasInFiles, read_areas_in_files
from discreet.releases.described import frames_in_files
from discreet.releases.files import RowsInFiles, TableFile
from discreet.releases.recomputed import refuse_made_up
from discreet.statistics.tree_cells import AreaTable, solving_of
from discreet.statistics.trees import Floats

__all__ = ["verify_files"]


def verify_files(document: Mapping[str, Any], folder: Path) -> tuple[int, int, int]:
    """The numbers of tables, cells and sums of a statistic of areas in files that follow from its measured integers.

    Args:
        document: of a release.
        folder: the folder with its files, which are as the document describes them.

    Raises:
        ArgumentError: a number differs; the message names its table. Or the document was made up.
    """
    with refuse_made_up():
        areas = read_areas_in_files(document, folder)
    with TemporaryDirectory(prefix="discreet-") as scratch:
        with refuse_made_up():
            checked = _Verifying(areas, Path(scratch))
            checked.climb()
        try:
            return checked.descend()
        finally:
            checked.close()


class _Verifying:
    """The two passes over the measured numbers of a release, and its tables beside what follows from them."""

    def __init__(self, areas: AreasInFiles, scratch: Path) -> None:
        self._areas = areas
        solving = solving_of(areas.tables, areas.behind)
        level = exact(areas.block["level"], "level")
        self._estimates = Estimates(solving, areas.asked, areas.behind, level)
        self._passes = Passes(solving, scratch)
        self._sums = 0

    def close(self) -> None:
        self._passes.close()

    def climb(self) -> None:
        for level in reversed(range(len(self._areas.measured))):
            for first, numbers in self._areas.numbers(level):
                self._passes.climb(level, first, numbers)

    def descend(self) -> tuple[int, int, int]:
        cells, last = 0, len(self._areas.measured) - 1
        with refuse_made_up():
            in_files = frames_in_files(self._areas.document)
        for level in range(last + 1):
            tables = [table for table in self._areas.asked if table.level == level]
            with refuse_made_up():
                checks = [self._check_of(table, in_files) for table in tables]
            for first, numbers in self._numbers(level, last):
                for table, check in zip(tables, checks, strict=True):
                    with refuse_made_up():
                        ends = self._estimates.of(table, first, numbers)
                    check.compare(first, ends)
            cells += sum(check.finish() for check in checks)
            self._sums += check_known(self._areas, level)
        return len(self._areas.asked), cells, self._sums

    def _numbers(self, level: int, last: int) -> Iterator[tuple[int, Integers]]:
        """The numbers of the areas of a level that add up, some at a time."""
        if level == last:
            for first, measured in self._areas.numbers(level):
                yield first, self._passes.descend(level, first, first + len(measured), measured)
            return
        for first, stop in chunks(0, self._areas.tables.tree.sizes[level], self._areas.columns.width):
            yield first, self._passes.descend(level, first, stop)

    def _check_of(self, table: AreaTable, in_files: Mapping[str, Sequence[TableFile]]) -> _InFiles | _InDocument:
        frame = self._areas.frames[table]
        if "table" in frame:
            return _InFiles(frame["name"], self._areas.rows(table), RowsInFiles(in_files[frame["name"]], self._areas.folder))
        return _InDocument(self._areas, table)


class _InFiles:
    """A table in files beside what follows from the measured numbers."""

    def __init__(self, name: str, rows: AreaRows, files: RowsInFiles) -> None:
        self._name, self._rows, self._files = name, rows, files

    def compare(self, first: int, ends: Sequence[Floats]) -> None:
        with refuse_made_up():
            wanted = self._rows.frame(first, ends)
            same = not wanted.height or self._files.take(wanted.height).equals(wanted)
        if not same:
            raise ArgumentError(f"release: '{self._name}' does not follow from the measured integers")

    def finish(self) -> int:
        if not self._files.is_over:
            raise ArgumentError(f"release: '{self._name}' has more rows than areas")
        return self._rows.rows


class _InDocument:
    """A table in the document beside what follows from the measured numbers: cells in which nobody can be are 0."""

    def __init__(self, areas: AreasInFiles, table: AreaTable) -> None:
        self._frame = areas.frames[table]
        self._ends: list[tuple[Floats, Floats, Floats]] = []
        self._places = _printed_cells(areas, table)

    def compare(self, first: int, ends: tuple[Floats, Floats, Floats]) -> None:  # noqa: ARG002
        self._ends.append(ends)

    def finish(self) -> int:
        with refuse_made_up():
            columns = {one["name"]: np.array(one["values"]) for one in self._frame["columns"]}
            there = self._places >= 0
            every = (np.concatenate([one.ravel() for one in own]) for own in zip(*self._ends, strict=True))
            wanted = {name: np.where(there, one[self._places], 0.0) for name, one in zip(COUNTS, every, strict=True)}
        for name, numbers in wanted.items():
            if not np.array_equal(numbers, columns[name]):
                raise ArgumentError(
                    f"release: '{name}' of '{self._frame['name']}' does not follow from the measured integers"
                )
        return len(self._places)


def _printed_cells(areas: AreasInFiles, table: AreaTable) -> Integers:
    """For each printed row of a frame in the document its place among the cells that can have rows, or -1."""
    columns = [one["values"] for one in areas.frames[table]["columns"] if one["name"] not in COUNTS]
    rows = len(areas.frames[table]["columns"][-1]["values"])
    places: Integers = np.zeros(rows, dtype=np.int64)
    there = np.ones(rows, dtype=bool)
    known: list[tuple[dict[tuple[Label, ...], int], int]] = []
    if table.level:
        codes = areas.codes[table.level - 1]
        known.append(({(code,): place for place, code in enumerate(codes)}, 1))
    for axis in (areas.block["axes"][axis] for axis in table.axes):
        labels = [*zip(*axis["labels"], strict=True)]
        known.append(({labels[alive]: place for place, alive in enumerate(axis["alive"])}, len(axis["labels"])))
    for own, many in known:
        taken, columns = columns[:many], columns[many:]
        found = np.array([own.get(one, -1) for one in zip(*taken, strict=True)], dtype=np.int64).reshape(rows)
        there &= found >= 0
        places = places * len(own) + np.maximum(found, 0)
    return np.where(there, places, -1)
