"""The measured integers of agreeing areas: what a document holds of them, and the tables recomputed from them alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.domain.groups import CategoryGroup
from discreet.errors import ArgumentError
from discreet.exact.numbers import exact, text
from discreet.mechanisms.effects import Axes, Effects
from discreet.noise.single.laws import RoundedGaussian
from discreet.quotes.quote import Line, Quote
from discreet.releases.assemble import Noisy, answers_of
from discreet.releases.recomputed import axis_json, check_columns, law_of, places_of, refuse_made_up
from discreet.statistics.agreeing_areas import AreasRecipe, ends_of_areas
from discreet.statistics.counted import APART
from discreet.statistics.tree_cells import (
    AreaTable,
    MeasuredArea,
    MeasuredAreas,
    TreeTables,
    cells_of_areas,
    errors_of_areas,
)
from discreet.statistics.trees import Tree

__all__ = ["Printed", "areas_json", "printed_places", "read_areas", "tables_of", "verify_areas"]


def areas_json(quote: Quote, line: Line, recipe: AreasRecipe, noisy: Noisy) -> dict[str, Any]:
    """The measured integers of the agreeing areas of a statistic, as a document holds them."""
    places = {one.asked: place for place, one in enumerate(quote.measured)}
    effects = [
        {
            "level": part[0],
            "axes": list(part[1]),
            "times": one.times,
            "noise": places[recipe.noisy[part]] if part in recipe.noisy else None,
            "values": one.values.ravel().tolist() if one.values is not None else [],
        }
        for part, one in recipe.measured(answers_of(quote, line, noisy)).items()
    ]
    levels = [
        {**axis_json(quote, CategoryGroup(level), there), "parents": list(parents)}
        for level, there, parents in zip(recipe.levels, recipe.there, recipe.tree.parents, strict=True)
    ]
    return {
        "statistic": line.statistic.name,
        "level": text(line.level),
        "levels": levels,
        "axes": [axis_json(quote, group, alive) for group, alive in zip(recipe.groups, recipe.alive, strict=True)],
        "tables": [[one.level, list(one.axes)] for one in recipe.asked],
        "effects": effects,
    }


# Recomputed -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The printed cells of a frame: their columns, their numerators and the denominator of each."""

    columns: Mapping[str, list[float]]
    values: Integers
    denominators: Integers


def verify_areas(
    block: Mapping[str, Any], frames: Sequence[Mapping[str, Any]], noise: Sequence[Mapping[str, str]]
) -> tuple[int, int, int]:
    """The numbers of tables, cells and sums of one statistic of areas that follow from its measured integers.

    Every area is the sum of the areas in it, as fractions.

    Raises:
        ArgumentError: a number differs; the message names its table. Or the document was made up.
    """
    with refuse_made_up():
        tables, measured = read_areas(block, noise)
        asked = tables_of(block)
        values = cells_of_areas(tables, asked, measured)
        halves = errors_of_areas(tables, asked, measured, exact(block["level"], "level"))
        both = zip(asked, frames, strict=True)
        found = [_recompute(block, table, frame, (*values[table], halves[table])) for table, frame in both]
        within = [_adds_up(block, table, values) for table in asked if table.level]
    for frame, one in zip(frames, found, strict=True):
        check_columns(frame, one.columns)
    sums = sum(_check_sums(frame, one) for frame, one in zip(frames, found, strict=True))
    if not all(within):
        raise ArgumentError("release: areas do not add up to the ones that they lie in")
    return len(asked), sum(len(one.values) for one in found), sums


def tables_of(block: Mapping[str, Any]) -> list[AreaTable]:
    """The tables of the statistic of a block, in the order of their frames."""
    return [AreaTable(level, tuple(axes)) for level, axes in block["tables"]]


def read_areas(block: Mapping[str, Any], noise: Sequence[Mapping[str, str]]) -> tuple[TreeTables, MeasuredAreas]:
    """The tree and the measured integers of a block."""
    sizes = tuple(len(axis["alive"]) for axis in block["axes"])
    tree = Tree(tuple(tuple(level["parents"]) for level in block["levels"]))
    measured: MeasuredAreas = {}
    parts: dict[Axes, None] = {}
    for one in block["effects"]:
        part, law = tuple(one["axes"]), None if one["noise"] is None else law_of(noise[one["noise"]])
        if law is not None and not isinstance(law, RoundedGaussian):
            raise KeyError
        shape = [tree.sizes[one["level"]], *(sizes[axis] for axis in part)]
        values: Integers = np.array(one["values"], dtype=np.object_).reshape(shape)
        measured[one["level"], part] = MeasuredArea(values, one["times"], law)
        parts[part] = None
    return TreeTables(tree, Effects(sizes, tuple(parts))), measured


def _recompute(
    block: Mapping[str, Any],
    table: AreaTable,
    frame: Mapping[str, Any],
    cells: tuple[Integers, Integers, Sequence[Fraction]],
) -> _Cells:
    """The columns of a frame as they follow from its cells, and these; 0 where nobody can be."""
    values, denominators, halves = cells
    own = printed_places(block, table, frame)
    ends = ends_of_areas(values, denominators, halves)
    names = ("count", "count_low", "count_high")
    columns = {name: own.of(one, 0.0).tolist() for name, one in zip(names, ends, strict=True)}
    every = np.repeat(denominators, values.size // len(values))
    return _Cells(columns, own.of(values, 0), own.of(every, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Printed:
    """The printed rows of a frame among the cells of its table.

    Args:
        cells: how many cells there are, in which nobody can be or somebody.
        there: the positions of those that can have rows.
        rows: for each printed row the position of its cell.
    """

    cells: int
    there: NDArray[np.int64]
    rows: Sequence[int]

    def of(self, values: NDArray[Any], other: float) -> NDArray[Any]:
        """The values of the cells that can have rows for each printed row, and another number for other cells."""
        every = np.full(self.cells, other, dtype=values.dtype)
        every[self.there] = values.ravel()
        return np.asarray(every[list(self.rows)])


def printed_places(block: Mapping[str, Any], table: AreaTable, frame: Mapping[str, Any]) -> Printed:
    """The rows of the frame of a table."""
    axes = [*block["levels"][table.level - 1 : table.level], *(block["axes"][axis] for axis in table.axes)]
    sizes, alive = [len(axis["labels"][0]) for axis in axes], [axis["alive"] for axis in axes]
    there = np.ravel(np.arange(prod(sizes)).reshape(sizes)[np.ix_(*alive)])
    return Printed(prod(sizes), there, places_of(axes, frame["columns"]))


def _check_sums(frame: Mapping[str, Any], cells: _Cells) -> int:
    """Compares the public sums of a frame as fractions; how many of these there are.

    Raises:
        ArgumentError: they differ.
    """
    sums = () if frame.get("totals") == APART["totals"] else frame.get("known_sums", ())
    for one in sums:
        labels = [0] * len(cells.values) if one["labels"] is None else one["labels"]
        found = _added(zip(labels, cells.values.tolist(), cells.denominators.tolist(), strict=True))
        if any(found.get(label, 0) != total for label, total in enumerate(one["totals"])):
            raise ArgumentError(f"release: sums of '{frame['name']}' are not the public ones")
    return sum(len(one["totals"]) for one in sums)


def _adds_up(block: Mapping[str, Any], table: AreaTable, found: Mapping[AreaTable, tuple[Integers, Integers]]) -> bool:
    """True if every cell of every area of the level above is the sum of those of the areas in it, as fractions."""
    (values, own), (wide, above) = found[table], found[AreaTable(table.level - 1, table.axes)]
    flat, wider = values.reshape(len(values), -1), wide.reshape(len(wide), -1)
    parents = block["levels"][table.level - 1]["parents"]
    for cell in range(flat.shape[1]):
        added = _added(zip(parents, flat[:, cell].tolist(), own.tolist(), strict=True))
        if any(added[area] != Fraction(wider[area, cell], above[area]) for area in range(len(wider))):
            return False
    return True


def _added(rows: Iterable[tuple[int, int, int]]) -> dict[int, Fraction]:
    """The sums of fractions by their labels: those of one denominator first."""
    sums: dict[int, dict[int, int]] = {}
    for label, value, denominator in rows:
        own = sums.setdefault(label, {})
        own[denominator] = own.get(denominator, 0) + value
    return {
        label: sum((Fraction(value, denominator) for denominator, value in own.items()), Fraction(0))
        for label, own in sums.items()
        if label >= 0
    }
