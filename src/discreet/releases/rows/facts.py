"""What a document says exactly, as facts about the axes of rows: lists of totals, ranges, sums, and cells with no row.

A fact about some cells only, or about sums, becomes one about a partition of the rows: each such cell is a class, and all
others are the last class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain.columns import Category
from discreet.domain.origins import root_of
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError
from discreet.mechanisms.effects import Axes
from discreet.releases.rows.axes import Axis, listed_axis, partition_axis
from discreet.releases.rows.model import Integers, Listed, Void
from discreet.totals.cells import level_of

__all__ = ["Facts", "Wanted", "read_facts"]

_MOST_CELLS = 1 << 22
_PREPARING = {"clamp", "impute"}
"""Steps that change values and leave all rows in the table."""

Cells = Sequence[tuple[Sequence[Any], int]]


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """Numbers of rows that are not stated, but must be within ranges and have sums: they are chosen, and then held.

    Args:
        axes: the positions of the axes.
        low, high: int64, of the shape of their levels: the ends of the range of each cell.
        sums: the coefficients of the cells of each sum, as integers of Python, and what it is.
        named: what they are, for messages.
    """

    axes: Axes
    low: Integers
    high: Integers
    sums: tuple[tuple[NDArray[np.object_], int], ...]
    named: str


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """All facts of a document that are about its rows as they are counted.

    Args:
        rows: how many rows there are: as the tables say, or more where a list of some cells says so.
        lists: exact numbers of rows.
        wanted: those that are chosen.
        voids: cells in which no row can be.
        kept: all of these facts in words, each with its columns.
        left: facts about rows that steps have changed or left out, or about columns that the tables do not have, in words.
    """

    rows: int
    lists: tuple[Listed, ...]
    wanted: tuple[Wanted, ...]
    voids: tuple[Void, ...]
    kept: Mapping[str, frozenset[str]]
    left: tuple[str, ...]


def read_facts(document: Mapping[str, Any], schema: Schema, axes: list[Axis], rows: int) -> Facts:
    """The facts of a document of about so many rows; `axes` gets those that only facts know.

    Raises:
        ArgumentError: a fact of too many cells, of a column that the document does not describe, or one that contradicts the
            tables.
    """
    published = document.get("invariants")
    parts = [*(published["totals"]["parts"] if published else ()), *document.get("domain", {}).get("rules", ())]
    kept = [one for one in parts if _is_of_rows(one, document["plan"]["steps"], schema)]
    totals = [one for one in kept if one["part"] == "totals"]
    reading = _Reading(schema, axes, max([rows, *(sum(cell[-1] for cell in one["cells"]) for one in totals)]))
    left = [_named(one) for one in parts if one not in kept]
    told: dict[str, frozenset[str]] = {}
    for part in [*totals, *(one for one in kept if one not in totals)]:
        roots = {root_of(name, schema) for name in part["columns"]}
        if part in totals or roots <= {root_of(axis.column, schema) for axis in axes if axis.column}:
            _READERS[part["part"]](reading, part)
            told[_named(part)] = frozenset(part["columns"])
        else:
            left.append(_named(part))
    found = tuple(reading.lists), tuple(reading.wanted), tuple(reading.voids)
    return Facts(reading.rows, *found, told, tuple(dict.fromkeys(left)))


def _is_of_rows(part: Mapping[str, Any], steps: Sequence[Mapping[str, Any]], schema: Schema) -> bool:
    """True if a fact about the source is one about the rows that its steps leave.

    Raises:
        ArgumentError: a column of the fact is derived, and the document does not hold its map.
    """
    unknown = next((name for name in part["columns"] if name not in schema.columns), None)
    if unknown is not None:
        raise ArgumentError(
            f"release: it publishes {_named(part)}, and its document does not hold the map of '{unknown}', as releases "
            "without agreeing tables and older ones do not; release the tables again"
        )
    changed = {root_of(one["column"], schema) for one in steps if one["step"] in _PREPARING}
    fewer = any(one["step"] not in _PREPARING for one in steps)
    named = {root_of(name, schema) for name in part["columns"]}
    return not changed & named and not (fewer and part["part"] != "impossible")


def _named(part: Mapping[str, Any]) -> str:
    return f"{_WORDS[part['part']]} of {', '.join(part['columns'])}"


_WORDS = {
    "totals": "totals",
    "occupied": "occupied cells",
    "ranges": "ranges",
    "at least": "lower bounds",
    "linear": "sums",
    "impossible": "impossible cells",
}


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """Facts while they are read.

    Args:
        schema: the columns.
        axes: all axes so far.
        rows: how many rows there are.
    """

    schema: Schema
    axes: list[Axis]
    rows: int
    lists: list[Listed] = field(default_factory=list)
    wanted: list[Wanted] = field(default_factory=list)
    voids: list[Void] = field(default_factory=list)

    def axis_of(self, name: str) -> int:
        """The axis of a column by all of its values."""
        if isinstance(self.schema[name], Category):
            place = next(
                (place for place, axis in enumerate(self.axes) if axis.column == name and len(axis.known) == axis.size), None
            )
        else:
            whole = self.schema[name].size + 1
            place = next((place for place, axis in enumerate(self.axes) if axis.column == name and axis.size == whole), None)
        return self.added(listed_axis(name, self.schema)) if place is None else place

    def added(self, axis: Axis) -> int:
        """The position of one more axis."""
        self.axes.append(axis)
        return len(self.axes) - 1

    def whole(self, part: Mapping[str, Any]) -> Axes:
        """The axes of the columns of a fact about all of their cells."""
        return tuple(map(self.axis_of, part["columns"]))

    def levels(self, axes: Sequence[int], cell: Sequence[Any]) -> tuple[int, ...]:
        """The levels of a cell; -1 where a column has no level for its value."""
        return tuple(self.level(self.axes[axis], label) for axis, label in zip(axes, cell, strict=True))

    def level(self, axis: Axis, label: Any) -> int:
        """The level of a value."""
        column = self.schema[axis.column]
        if isinstance(column, Category) or label is None:
            return axis.level(label)
        code = level_of(column, label, axis.column)
        return next((level for low, high, level in axis.ranges if low <= code < high), -1)

    def known(self, part: Mapping[str, Any], told: Iterable[tuple[Sequence[Any], Any]]) -> list[Any]:
        """What is told of each listed cell, None where nothing is: a number may be written as 0 or as "0"."""
        codes = {self.codes(part, cell): one for cell, one in told}
        return [codes.get(self.codes(part, cell)) for cell in part["only"]]

    def codes(self, part: Mapping[str, Any], cell: Sequence[Any]) -> tuple[int, ...]:
        """The codes of a cell, null last."""
        return tuple(level_of(self.schema[name], label, name) for name, label in zip(part["columns"], cell, strict=True))

    def filled(self, part: Mapping[str, Any], axes: Axes, cells: Cells, other: int) -> Integers:
        """The numbers of cells, and another one in all others.

        Raises:
            ArgumentError: too many cells; a number that is not 0 in a cell that the tables do not have.
        """
        shape = [self.axes[axis].size for axis in axes]
        if prod(shape) > _MOST_CELLS:
            raise ArgumentError(f"release: {_named(part)} have {prod(shape):,} cells, and rows can keep {_MOST_CELLS:,}")
        found = np.full(shape, other, dtype=np.int64)
        for cell, number in cells:
            levels = self.levels(axes, cell)
            if min(levels) >= 0:
                found[levels] = number
            elif number:
                raise ArgumentError(
                    f"release: {_named(part)} have rows in cells that its tables do not have; discreet did not write it"
                )
        return found

    def partition(self, part: Mapping[str, Any], cells: Sequence[Sequence[Any]]) -> Axes:
        """An axis of classes, each of these cells one in their order, and all others the last one."""
        names = part["columns"]
        if len(names) == 1:
            codes = [level_of(self.schema[names[0]], cell[0], names[0]) for cell in cells]
            return (self.added(partition_axis(names[0], codes, self.schema)),)
        own = tuple(self.among(name, {cell[place] for cell in cells}) for place, name in enumerate(names))
        hidden = self.added(Axis("", len(cells) + 1, {}))
        there = [(cell, place) for place, cell in enumerate(cells) if min(self.levels(own, cell)) >= 0]
        classes = self.filled(part, own, there, len(cells))
        of = np.arange(len(cells) + 1).reshape(-1, *(1,) * len(own))
        self.voids.append(Void((hidden, *own), of != classes, _named(part)))
        return (hidden,)

    def among(self, name: str, values: Iterable[Any]) -> int:
        """An axis of a column that tells these values apart."""
        column = self.schema[name]
        if isinstance(column, Category):
            return self.axis_of(name)
        return self.added(partition_axis(name, sorted({level_of(column, one, name) for one in values}), self.schema))


# Each kind of fact ----------------------------------------------------------------------------------------------------


def _totals(reading: _Reading, part: Mapping[str, Any]) -> None:
    cells = [(cell, number) for *cell, number in part["cells"]]
    if part["only"] is None:
        axes = reading.whole(part)
        counts = reading.filled(part, axes, cells, 0)
    else:
        axes = reading.partition(part, part["only"])
        numbers = [number or 0 for number in reading.known(part, cells)]
        counts = np.array([*numbers, max(0, reading.rows - sum(numbers))], dtype=np.int64)
    reading.lists.append(Listed(axes, counts, _named(part)))


def _occupied(reading: _Reading, part: Mapping[str, Any]) -> None:
    if part["only"] is None:
        axes = reading.whole(part)
        low = reading.filled(part, axes, [(cell, 1) for *cell, _ in part["cells"]], 0)
        high = np.where(low > 0, reading.rows, 0)
    else:
        axes = reading.partition(part, part["only"])
        known = [one or 0 for one in reading.known(part, [(cell, 1) for *cell, _ in part["cells"]])]
        low = np.array([*known, 0], dtype=np.int64)
        high = np.array([*(reading.rows * one for one in known), reading.rows], dtype=np.int64)
    reading.wanted.append(Wanted(axes, low, high, (), _named(part)))


def _ranges(reading: _Reading, part: Mapping[str, Any]) -> None:
    limits = [(cell, least, reading.rows if most is None else most) for *cell, _, least, most in part["cells"]]
    if part["only"] is None:
        axes = reading.whole(part)
        # a range from 0 on may be of a cell that the tables do not have, such as one of null where totals say that none is
        there = [one for one in limits if one[1] or min(reading.levels(axes, one[0])) >= 0]
        low = reading.filled(part, axes, [(cell, least) for cell, least, _ in there], 0)
        high = reading.filled(part, axes, [(cell, most) for cell, _, most in there], 0)
    else:
        axes = reading.partition(part, part["only"])
        ends = [one or (0, 0) for one in reading.known(part, [(cell, (least, most)) for cell, least, most in limits])]
        low = np.array([*(least for least, _ in ends), 0], dtype=np.int64)
        high = np.array([*(most for _, most in ends), reading.rows], dtype=np.int64)
    reading.wanted.append(Wanted(axes, low, high, (), _named(part)))


def _floor(reading: _Reading, part: Mapping[str, Any]) -> None:
    if part["only"] is None:
        axes = reading.whole(part)
        low = np.full([reading.axes[axis].size for axis in axes], part["rows"], dtype=np.int64)
        for place, axis in enumerate(axes):
            null = reading.level(reading.axes[axis], None)
            if null >= 0:
                low[(slice(None),) * place + (null,)] = 0
    else:
        axes = reading.partition(part, part["only"])
        low = np.array([*[part["rows"]] * len(part["only"]), 0], dtype=np.int64)
    reading.wanted.append(Wanted(axes, low, np.full_like(low, reading.rows), (), _named(part)))


def _linear(reading: _Reading, part: Mapping[str, Any]) -> None:
    axes = reading.whole(part)
    sums = []
    for name, row in part["coefficients"].items():
        there = [(cell, value) for *cell, value in row if min(reading.levels(axes, cell)) >= 0]
        coefficients = reading.filled(part, axes, there, 0).astype(np.object_)
        sums.append((coefficients, int(part["values"][name])))
    low = np.zeros([reading.axes[axis].size for axis in axes], dtype=np.int64)
    reading.wanted.append(Wanted(axes, low, np.full_like(low, reading.rows), tuple(sums), _named(part)))


def _impossible(reading: _Reading, part: Mapping[str, Any]) -> None:
    names = part["columns"]
    own = tuple(reading.among(name, {cell[place] for cell in part["cells"]}) for place, name in enumerate(names))
    empty = reading.filled(part, own, [(cell, 1) for cell in part["cells"] if min(reading.levels(own, cell)) >= 0], 0) > 0
    if empty.any():
        reading.voids.append(Void(own, empty, _named(part)))


_READERS = {
    "totals": _totals,
    "occupied": _occupied,
    "ranges": _ranges,
    "at least": _floor,
    "linear": _linear,
    "impossible": _impossible,
}
