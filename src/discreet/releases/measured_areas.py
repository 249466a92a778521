"""The measured integers of agreeing areas: what a document holds of them, and the tables recomputed from them alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from discreet.statistics.area_recipe import AreasRecipe, ends_of_areas
from discreet.statistics.counted import APART
from discreet.statistics.emptied import Empty, can_move
from discreet.statistics.tree_cells import (
    AreaTable,
    MeasuredArea,
    MeasuredAreas,
    TreeTables,
    cells_of_areas,
    clear_ends,
    errors_of_areas,
)
from discreet.statistics.trees import Floats, Tree, sums_of

__all__ = [
    "Printed",
    "areas_json",
    "nobody_json",
    "printed_places",
    "read_areas",
    "read_nobody",
    "tables_of",
    "verify_areas",
]


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
        for level, there, parents in zip(recipe.levels.columns, recipe.levels.there, recipe.tree.parents, strict=True)
    ]
    return {
        "statistic": line.statistic.name,
        "level": text(line.level),
        "levels": levels,
        "axes": [axis_json(quote, group, alive) for group, alive in zip(recipe.groups, recipe.alive, strict=True)],
        "tables": [[one.level, list(one.axes)] for one in recipe.asked],
        "effects": effects,
        **nobody_json(recipe.nobody),
    }


def nobody_json(empty: Empty) -> dict[str, Any]:
    """The cells of groups in which nobody can be in any area, as a document holds them; nothing where there are none."""
    return {"nobody": [[list(axes), list(cells)] for axes, cells in empty]} if empty else {}


def read_nobody(block: Mapping[str, Any]) -> Empty:
    """The same from a block of measured numbers.

    Raises:
        KeyError: there are more than this library makes 0, or some twice: to work out what they move could take hours.
    """
    empty = tuple((tuple(axes), tuple(cells)) for axes, cells in block.get("nobody", ()))
    sizes, tables = [len(axis["alive"]) for axis in block["axes"]], [tuple(axes) for _, axes in block["tables"]]
    once = len({frozenset(axes) for axes, _ in empty}) == len(empty) and all(len({*own}) == len(own) for _, own in empty)
    if not once or can_move(sizes, tables, empty) != empty:
        raise KeyError
    return empty


# Recomputed -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The printed cells of a frame: their columns, their numerators and the denominator of all of them."""

    columns: Mapping[str, list[float]]
    values: Integers
    denominator: int


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
        of = tables.tree.shapes.of
        found = [
            _recompute((block, tables), table, frame, (*values[table], halves[table][of[table.level]]))
            for table, frame in both
        ]
        within = [_adds_up(tables.tree, table, values) for table in asked if table.level]
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
    return TreeTables(tree, Effects(sizes, tuple(parts)), read_nobody(block)), measured


def _recompute(
    source: tuple[Mapping[str, Any], TreeTables],
    table: AreaTable,
    frame: Mapping[str, Any],
    cells: tuple[Integers, int, Floats],
) -> _Cells:
    """The columns of a frame as they follow from its cells, and these; 0 where nobody can be."""
    (block, tables), (values, denominator, _) = source, cells
    own = printed_places(block, table, frame)
    names, ends = ("count", "count_low", "count_high"), clear_ends(tables, table.axes, ends_of_areas(*cells))
    columns = {name: own.of(one, 0.0).tolist() for name, one in zip(names, ends, strict=True)}
    return _Cells(columns, own.of(values, 0), denominator)


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
        labels = np.zeros(len(cells.values), np.int64) if one["labels"] is None else np.array(one["labels"], np.int64)
        found: Integers = np.zeros(len(one["totals"]), dtype=np.object_)
        np.add.at(found, labels[labels >= 0], cells.values[labels >= 0])
        if (found != np.array(one["totals"], dtype=np.object_) * cells.denominator).any():
            raise ArgumentError(f"release: sums of '{frame['name']}' are not the public ones")
    return sum(len(one["totals"]) for one in sums)


def _adds_up(tree: Tree, table: AreaTable, found: Mapping[AreaTable, tuple[Integers, int]]) -> bool:
    """True if every cell of every area of the level above is the sum of those of the areas in it, as fractions."""
    (values, _), (wide, _) = found[table], found[AreaTable(table.level - 1, table.axes)]
    above = tree.above[table.level - 1]
    return bool((sums_of(values.reshape(len(values), -1), above, len(wide)) == wide.reshape(len(wide), -1)).all())
