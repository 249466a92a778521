"""The cells that a view of counts is made for, with everything that is public about them.

For a column of the main table, and for frames of 0.1.0, these are the printed cells. Tables that agree are seen with all
levels that were measured, so that they agree in rows that are not printed too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact.axes import in_order
from discreet.mechanisms.effects import Axes
from discreet.releases.read_tables import ReadTables, read_tables
from discreet.releases.recomputed import places_of
from discreet.statistics.effects import parts_of

if TYPE_CHECKING:
    from discreet.releases.consistent import Constraint

__all__ = ["Seen", "printed_cells", "tables_seen"]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Cells of a table.

    Args:
        numbers: what a view starts from.
        levels: for each group of the table, int64, the number of the level that a cell is in.
        exact: sums that are public.
        most: sums that can be at most so large.
        ranges: sums of which a range is published, and how many rows there may be at least and at most.
        shown: the positions of the printed rows.
    """

    numbers: NDArray[Any]
    levels: tuple[NDArray[np.int64], ...]
    exact: tuple[Constraint, ...]
    most: tuple[Constraint, ...]
    ranges: tuple[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], ...]
    shown: NDArray[np.int64]


def printed_cells(source: Mapping[str, Any], column: str, groups: int) -> Seen:
    """The printed cells of a part of a document."""
    columns = {one["name"]: one["values"] for one in source["columns"]}
    numbers = np.array(columns[column])
    levels = tuple(map(_numbered, [one["values"] for one in source["columns"][:groups]]))
    every = np.arange(len(numbers), dtype=np.int64)
    return _seen(source, numbers, levels, every)


def _numbered(values: Sequence[Any]) -> NDArray[np.int64]:
    number = {value: position for position, value in enumerate(dict.fromkeys(values))}
    return np.array([number[value] for value in values], dtype=np.int64)


def _seen(
    source: Mapping[str, Any],
    numbers: NDArray[Any],
    levels: tuple[NDArray[np.int64], ...],
    shown: NDArray[np.int64],
    further: Sequence[Constraint] = (),
) -> Seen:
    """The cells with what the document says of the printed ones, at the positions `shown`, and with further sums."""

    def among(labels: Sequence[int] | None) -> NDArray[np.int64]:
        found = np.full(len(numbers), -1, dtype=np.int64)
        found[shown] = 0 if labels is None else labels
        return found

    sums = [[(among(one["labels"]), np.array(one["totals"], np.int64)) for one in source.get(key, ())] for key in _SUMS]
    ranges = tuple(
        (among(one["labels"]), np.array(one["least"], np.int64), _ends(one["most"]))
        for one in source.get("known_ranges", ())
    )
    return Seen(numbers, levels, (*sums[0], *further), tuple(sums[1]), ranges, shown)


_SUMS = ("known_sums", "known_most")


def _ends(most: Sequence[int | None]) -> NDArray[np.int64]:
    from discreet.totals.rules import NO_LIMIT

    return np.array([NO_LIMIT if end is None else end for end in most], np.int64)


def tables_seen(
    block: Mapping[str, Any], noise: Sequence[Mapping[str, str]], frames: Sequence[Mapping[str, Any]]
) -> list[Seen]:
    """The cells of tables that agree, all of their measured levels, from the block of a document and its frames."""
    read = read_tables(block, noise)
    cells = read.cells(read.tables)
    found = []
    for table, frame, (values, denominator) in zip(read.tables, frames, cells, strict=True):
        axes = [block["axes"][axis] for axis in table]
        sizes = [len(axis["labels"][0]) for axis in axes]
        numbers = np.zeros(sizes)
        there = np.zeros(sizes, dtype=bool)
        inside = np.ix_(*(axis["alive"] for axis in axes))
        numbers[inside], there[inside] = (values / denominator).astype(np.float64), True
        levels = tuple(one.ravel() for one in np.indices(sizes, dtype=np.int64)) if sizes else ()
        shown = np.array(places_of(axes, frame["columns"]), dtype=np.int64)
        further = [(np.where(there.ravel(), -1, 0), np.zeros(1, dtype=np.int64))] if not there.all() else []
        further += [*_public_margins(read, table, there), *_public_sums(read, table, there)]
        found.append(_seen(frame, numbers.ravel(), levels, shown, further))
    return found


def _public_sums(read: ReadTables, table: Axes, there: NDArray[np.bool_]) -> list[Constraint]:
    """The public sums of cells that the estimates meet, those of disjoint cells together; nothing of filled levels."""
    own = [] if read.given is None or any(axis in read.fills for axis in table) else read.given.conditions
    alive, found = np.flatnonzero(there), list[tuple[NDArray[np.int64], list[int]]]()
    for single in (one for each in own if each.table == table for one in each.sums if one.factors is None):
        cells = alive[single.cells]
        free = next((one for one in found if (one[0][cells] < 0).all()), None)
        if free is None:
            free = np.full(there.size, -1, dtype=np.int64), list[int]()
            found.append(free)
        labels, totals = free
        labels[cells] = len(totals)
        totals.append(single.total)
    return [(labels, np.array(totals, dtype=np.int64)) for labels, totals in found]


def _public_margins(read: ReadTables, table: Axes, there: NDArray[np.bool_]) -> list[Constraint]:
    """The margins of a table that are public, of the largest sets of its axes, over all cells that can have rows."""
    known = [
        part
        for part in parts_of(read.effects, table)
        if not any(axis in read.fills for axis in part)
        and all(one in read.measured and one not in read.variances for one in parts_of(read.effects, part))
    ]
    largest = [part for part in known if not any(set(part) < set(other) for other in known)]
    found = []
    for part, (values, denominator) in zip(largest, read.cells(largest), strict=True):
        margin = np.asarray(values // denominator, dtype=np.int64).ravel()
        own = [read.effects.sizes[axis] for axis in part]
        number = np.arange(prod(own), dtype=np.int64).reshape(own)
        spread = np.broadcast_to(
            in_order(number, sorted(part), [axis for axis in table if axis in part]).reshape(
                [read.effects.sizes[axis] if axis in part else 1 for axis in table]
            ),
            [read.effects.sizes[axis] - (axis in read.fills) for axis in table],
        )
        labels = np.full(there.shape, -1, dtype=np.int64)
        labels[there] = spread.ravel()
        found.append((labels.ravel(), margin))
    return found
