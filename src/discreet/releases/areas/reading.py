"""What a document and its files say of areas: the tree, the noise, the tables, and the measured numbers, some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.cube.cells import Integers
from discreet.domain.groups import Label
from discreet.mechanisms.effects import Axes, Effects
from discreet.noise.single.laws import RoundedGaussian
from discreet.releases.areas.measuring import AREA, WITHIN, numbers_of
from discreet.releases.areas.ordered import Columns, chunks
from discreet.releases.areas.printing import COUNTS, AreaRows, LabelSet
from discreet.releases.described import measured_in
from discreet.releases.files import RowsInFiles, TableFile
from discreet.releases.measured_areas import read_nobody
from discreet.releases.recomputed import law_of
from discreet.statistics.tree_cells import AreaTable, MeasuredArea, TreeTables
from discreet.statistics.trees import Tree

if TYPE_CHECKING:
    import polars as pl

__all__ = ["AreasInFiles", "read_areas_in_files"]


@dataclass(frozen=True, slots=True, eq=False)
class AreasInFiles:
    """What a document and its files say of areas, without their numbers.

    Args:
        document: all of it.
        block: the part that describes the measured numbers.
        folder: the folder with the files.
        codes: for each level below all areas together the code of each area in order.
        tables: the tree and the effects.
        behind: the noise of each effect of each level.
        asked: the tables.
        names: the column of each effect in the files of measured numbers.
        measured: the files of each level.
    """

    document: Mapping[str, Any]
    block: Mapping[str, Any]
    folder: Path
    codes: tuple[list[Label], ...]
    tables: TreeTables
    behind: Mapping[tuple[int, Axes], MeasuredArea]
    asked: tuple[AreaTable, ...]
    names: Mapping[Axes, str]
    measured: Sequence[Sequence[TableFile]]

    @property
    def columns(self) -> Columns:
        """How the numbers of an area stand side by side."""
        return Columns(self.tables.effects)

    @property
    def frames(self) -> dict[AreaTable, Mapping[str, Any]]:
        """The frame of each table, in the document."""
        return dict(zip(self.asked, self.document["frames"], strict=True))

    def numbers(self, level: int) -> Iterator[tuple[int, Integers]]:
        """The measured numbers of the areas of a level, some at a time, with the number of the first area."""
        rows = RowsInFiles(self.measured[level], self.folder)
        for first, last in chunks(0, self.tables.tree.sizes[level], self.columns.width):
            yield first, self.take(rows, last - first)

    def take(self, rows: RowsInFiles, areas: int) -> Integers:
        """The measured numbers of the next areas in files."""
        return numbers_of(rows.take(areas), self.columns, self.names)

    def rows(self, table: AreaTable) -> AreaRows:
        """The rows of a table that is in files."""
        shown = [one["name"] for one in self.frames[table]["columns"] if one["name"] not in COUNTS]
        sets, level = [], table.level
        if level:
            codes = self.codes[level - 1]
            nulls = self.block["levels"][level - 1]["nulls"]
            own = np.array([place for place, code in enumerate(codes) if nulls or code is not None])
            sets.append(LabelSet({shown.pop(0): codes}, np.arange(len(codes)), own))
        for axis in (self.block["axes"][axis] for axis in table.axes):
            alive = np.array(axis["alive"])
            labels = {shown.pop(0): own for own in axis["labels"]}
            sets.append(LabelSet(labels, alive, np.flatnonzero(~np.isin(alive, axis["hidden"]))))
        return AreaRows(sets[0] if level else None, sets[1:] if level else sets)


def read_areas_in_files(document: Mapping[str, Any], folder: Path) -> AreasInFiles:
    """The areas of a document whose statistic of areas is in files in this folder."""
    (block,) = document["measured"]
    measured = measured_in(document)
    codes: list[list[Label]] = []
    parents: list[tuple[int, ...]] = []
    above: dict[Label, int] = {None: 0}
    for level in range(1, len(measured)):
        rows = _codes(measured[level], folder)
        codes.append(rows[AREA].to_list())
        parents.append(tuple(above[one] for one in rows[WITHIN].to_list()))
        above = {code: place for place, code in enumerate(codes[-1])}
        if len(above) < len(codes[-1]) or (np.diff(parents[-1]) < 0).any():
            raise KeyError
    sizes = tuple(len(axis["alive"]) for axis in block["axes"])
    behind: dict[tuple[int, Axes], MeasuredArea] = {}
    names: dict[Axes, str] = {}
    for one in block["effects"]:
        part, law = tuple(one["axes"]), None if one["noise"] is None else law_of(document["noise"][one["noise"]])
        if law is not None and not isinstance(law, RoundedGaussian):
            raise KeyError
        behind[one["level"], part] = MeasuredArea(None, one["times"], law)
        names[part] = one["column"]
    tables = TreeTables(Tree(tuple(parents)), Effects(sizes, tuple(names)), read_nobody(block))
    asked = tuple(AreaTable(level, tuple(axes)) for level, axes in block["tables"])
    return AreasInFiles(document, block, folder, tuple(codes), tables, behind, asked, names, measured)


def _codes(parts: Sequence[TableFile], folder: Path) -> pl.DataFrame:
    import polars as pl

    files = [pl.read_parquet(folder / Path(part.file).name, columns=[AREA, WITHIN]) for part in parts]
    return pl.concat(files)
