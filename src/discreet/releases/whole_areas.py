"""Whole numbers of rows in the areas of all levels: not negative, adding up, near the unbiased estimates. A biased view.

A function of the document alone; `dividing` says how one level follows from the one above (docs/proofs/areas.md, K5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.axes import in_order
from discreet.mechanisms.effects import Axes
from discreet.releases.dividing import Areas, Dividing
from discreet.releases.measured_areas import printed_places, read_areas, tables_of
from discreet.statistics.tree_cells import (
    AreaTable,
    MeasuredArea,
    MeasuredAreas,
    TreeTables,
    cells_of_areas,
    variances_of_areas,
)

__all__ = ["dividing_of", "whole_areas", "whole_numbers"]

Whole = NDArray[np.int64]


def whole_areas(document: Mapping[str, Any], block: Mapping[str, Any], frames: Sequence[Mapping[str, Any]]) -> list[Whole]:
    """For each frame of a statistic of areas the whole numbers of its printed rows.

    All areas add up to the ones that they lie in, tables whose columns are among those of another one are its sums, and
    everything has the public sums.

    Raises:
        ArgumentError: public sums that cross, of which no whole numbers were found.
    """
    tables, measured = read_areas(block, document["noise"])
    every = whole_numbers(tables, measured, [table.axes for table in tables_of(block)])
    found = []
    for table, frame in zip(tables_of(block), frames, strict=True):
        ascending = sorted(table.axes)
        counts = every[AreaTable(table.level, tuple(ascending))]
        turned = in_order(counts, ascending, table.axes, after=1)
        found.append(printed_places(block, table, frame).of(turned, 0))
        _check(frame, found[-1])
    return found


def _check(frame: Mapping[str, Any], counts: Whole) -> None:
    """Checks that the counts have the public sums.

    Raises:
        ArgumentError: they do not.
    """
    for key, wrong in (("known_sums", np.not_equal), ("known_most", np.greater)):
        for one in frame.get(key, ()):
            labels = np.zeros(len(counts), np.int64) if one["labels"] is None else np.array(one["labels"], np.int64)
            sums = np.zeros(len(one["totals"]), np.int64)
            np.add.at(sums, labels[labels >= 0], counts[labels >= 0])
            if wrong(sums, one["totals"]).any():
                raise ArgumentError(
                    f"consistent(): no whole numbers of '{frame['name']}' were found that add up over areas and have all "
                    "public sums, because exact totals cross each other or the tables; read its unbiased counts"
                )


def whole_numbers(tables: TreeTables, measured: MeasuredAreas, asked: Sequence[Axes]) -> dict[AreaTable, Whole]:
    """The whole numbers of the tables by these axes on all levels, shape (areas, levels of the axes in ascending order)."""
    tree, levels = tables.tree, range(len(tables.tree.sizes))
    dividing = dividing_of(tables, measured, asked)
    axes = dividing.tables
    every = [AreaTable(level, one) for one in axes for level in levels]
    variances = {
        table: own[tree.shapes.of[table.level]] for table, own in variances_of_areas(tables, every, measured).items()
    }
    cells = cells_of_areas(tables, every, measured)
    found = dict[AreaTable, Whole]()
    above: Mapping[Axes, Whole] = {}
    for level in levels:
        parents = tree.above[level - 1] if level else None
        order = np.argsort(parents, kind="stable") if parents is not None else np.zeros(1, dtype=np.int64)
        wanted, deviations = {}, {}
        for one in axes:
            numerators, denominator = cells[AreaTable(level, one)]
            wanted[one] = np.asarray(numerators[order] / denominator, np.float64)
            deviations[one] = np.sqrt(variances[AreaTable(level, one)][order])
        areas = Areas(level, None if parents is None else parents[order], wanted, deviations, above)
        back = np.argsort(order)
        above = {table: own[back] for table, own in dividing.divide(areas).items()}
        found |= {AreaTable(level, one): dividing.of(one, above) for one in axes}
    return found


def dividing_of(tables: TreeTables, measured: Mapping[tuple[int, Axes], MeasuredArea], asked: Sequence[Axes]) -> Dividing:
    """The tables that are divided together: those by these axes, that of all persons, and sums of them that are public."""
    levels = range(len(tables.tree.sizes))
    sums = [AreaTable(level, part) for part in tables.effects.parts for level in levels]
    public = {table.axes for table, own in variances_of_areas(tables, sums, measured).items() if not own.any()}
    axes = dict.fromkeys([(), *(tuple(sorted(one)) for one in asked), *sorted(public)])
    return Dividing(tables.effects.sizes, tuple(axes), frozenset(public), tables.empty)
