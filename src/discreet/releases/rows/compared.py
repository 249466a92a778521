"""How rows compare with the tables that they were fitted to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.releases.measured import blocks_of, frames_of
from discreet.releases.recomputed import places_of, refuse_made_up
from discreet.releases.rows.layout import count
from discreet.releases.rows.model import Integers

__all__ = ["Compared", "PublishedTable", "percent_within", "tables_in"]


@dataclass(frozen=True, slots=True)
class Compared:
    """How the rows compare with one table.

    Args:
        columns: what the table counts by.
        cells: how many cells it has.
        within: how many of them have a number of rows that lies in their interval.
        noisy: True where noise dominates: half of the cells have an estimate below half of their half-width.
    """

    columns: tuple[str, ...]
    cells: int
    within: int
    noisy: bool

    @property
    def named(self) -> str:
        """The table in words."""
        return " × ".join(self.columns) or "all rows"


def percent_within(tables: Sequence[Compared]) -> float:
    """How many of 100 cells of these tables have a number of rows that lies in their interval.

    With one decimal, rounded down: it is 100 only where all of them have.
    """
    return 1000 * sum(one.within for one in tables) // sum(one.cells for one in tables) / 10


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTable:
    """A published table.

    Args:
        columns: what it counts by.
        axes: the positions of its axes among those of the rows.
        alive: for each axis the position of its label, for every level of the rows.
        shape: the numbers of labels.
        places: of the printed cells among all.
        low, high: the ends of their intervals.
        noisy: whether noise dominates.
    """

    columns: tuple[str, ...]
    axes: tuple[int, ...]
    alive: tuple[Integers, ...]
    shape: tuple[int, ...]
    places: Integers
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    noisy: bool

    @property
    def named(self) -> str:
        """The table in words."""
        return " × ".join(self.columns) or "all rows"

    def beside(self, rows: Integers, each: Integers, published: int) -> Compared:
        """How many cells have a number of rows that lies in their interval; of scaled rows, next to it by half a row.

        Args:
            rows: int64, shape (rows, axes).
            each: how many rows each of them stands for.
            published: the number of rows that the release says.
        """
        own = np.empty((len(rows), len(self.axes)), dtype=np.int64)
        for place, (alive, axis) in enumerate(zip(self.alive, self.axes, strict=True)):
            own[:, place] = alive[rows[:, axis]]
        every = count(own, range(len(self.axes)), self.shape, each).ravel()
        counts, many = every[self.places], int(each.sum())
        times, more = (1.0, 0.0) if many == published else (many / published, 0.5)
        within = (counts >= self.low * times - more) & (counts <= self.high * times + more)
        return Compared(self.columns, len(counts), int(within.sum()), self.noisy)


def tables_in(document: Mapping[str, Any]) -> Iterator[PublishedTable]:
    """The agreeing tables of a document, in the order of their frames.

    Raises:
        ArgumentError: the document was made up.
    """
    with refuse_made_up():
        (block,) = blocks_of(document)
        every = [*block.get("levels", ()), *block["axes"]]
        for axes, frame in zip(_axes_of(block), frames_of(block, document), strict=True):
            yield _table([every[axis] for axis in axes], axes, frame)


def _axes_of(block: Mapping[str, Any]) -> Iterator[tuple[int, ...]]:
    """For each table the positions of its axes, those of the levels of areas first."""
    levels = len(block.get("levels", ()))
    for one in block["tables"]:
        level, axes = one if "levels" in block else (0, one)
        yield (*([level - 1] if level else []), *(levels + axis for axis in axes))


def _table(axes: Sequence[Mapping[str, Any]], places: tuple[int, ...], frame: Mapping[str, Any]) -> PublishedTable:
    columns = {one["name"]: np.array(one["values"]) for one in frame["columns"] if one["name"].startswith("count")}
    low, high = columns["count_low"], columns["count_high"]
    return PublishedTable(
        columns=tuple(axis["column"] for axis in axes),
        axes=places,
        alive=tuple(np.asarray(axis["alive"]) for axis in axes),
        shape=tuple(len(axis["labels"][0]) for axis in axes),
        places=np.array(places_of(axes, frame["columns"]), dtype=np.int64),
        low=low,
        high=high,
        noisy=_is_noisy(columns["count"], high - low),
    )


def _is_noisy(counts: NDArray[np.float64], widths: NDArray[np.float64]) -> bool:
    """True if half of the cells that have noise have an estimate below half of their half-width."""
    some = widths > 0
    return bool(some.any()) and bool(4 * np.median(counts[some]) < np.median(widths[some]))
