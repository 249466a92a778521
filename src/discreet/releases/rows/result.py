"""The rows of a release, how they compare with its tables, and what its tables do not say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, printed
from discreet.exact.files import replace_file
from discreet.releases.measured import blocks_of, frames_of
from discreet.releases.recomputed import Published, places_of
from discreet.releases.rows.fit import sweep_rows
from discreet.releases.rows.start import start_rows
from discreet.releases.rows.targets import Targets, scaled, targets_of
from discreet.releases.rows.words import words_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Compared", "Rows", "check_suffix", "fit_rows"]

_MOST_ROWS = 10**8


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


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that are fitted to the agreeing tables of a release: nothing else is known of them, and nothing is charged.

    Whoever has the release can recompute them, row by row, on any machine.

    Args:
        frame: the rows. Columns of bins hold the labels of the bins.
        name: of the release.
        dataset: of the release.
        digest: of the release.
        published: the number of rows that the release says, exactly or as an estimate. Where the frame has another number
            of rows, they have the same shares, and exact totals hold as shares.
        compared: each table beside the rows.
    """

    frame: pl.DataFrame = field(repr=False)
    name: str
    dataset: str
    digest: str
    published: int
    compared: tuple[Compared, ...]

    @cached_property
    def share(self) -> float:
        """The share of all cells whose number of rows lies in their interval."""
        return sum(one.within for one in self.compared) / sum(one.cells for one in self.compared)

    @property
    def noisy(self) -> tuple[str, ...]:
        """The tables in which noise dominates."""
        return tuple(one.named for one in self.compared if one.noisy)

    @property
    def apart(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns that no table counts by together: nothing is known of what hangs together in them."""
        together = {pair for one in self.compared for pair in combinations(sorted(one.columns), 2)}
        return tuple(pair for pair in combinations(self.frame.columns, 2) if tuple(sorted(pair)) not in together)

    def check(self) -> pl.DataFrame:
        """Each table with the share of its cells whose number of rows lies in their interval."""
        import polars as pl

        return pl.DataFrame(
            {
                "table": [one.named for one in self.compared],
                "cells": [one.cells for one in self.compared],
                "within": [one.within / one.cells for one in self.compared],
                "noisy": [one.noisy for one in self.compared],
            }
        )

    def save(self, path: str | Path) -> Path:
        """The rows as a file, complete or not at all.

        Raises:
            ArgumentError: another suffix than .parquet and .csv, or a path that cannot be written.
        """
        place = Path(path)
        check_suffix(place)
        write = self.frame.write_parquet if place.suffix == ".parquet" else self.frame.write_csv
        try:
            replace_file(place, lambda draft: write(draft))  # noqa: PLW0108 (types)
        except OSError as wrong:
            raise ArgumentError(f"rows '{place}': cannot be written ({wrong.strerror})") from None
        return place

    def __str__(self) -> str:
        told = [f"{len(self.frame):,} rows, fitted to {len(self.compared):,} tables; {self.share:.1%} of their cells fit"]
        if len(self.frame) != self.published:
            told.append(
                f"the release says {self.published:,} rows; these have the same shares, and exact totals hold as shares"
            )
        if self.noisy:
            told.append(f"noise dominates in {_first(self.noisy)}: what rows say of these is hardly more than chance")
        if self.apart:
            told.append(f"no table has {_first([f'{one} × {other}' for one, other in self.apart])}")
        told.append(
            "columns that no table counts by together hang together only as the tables imply; numbers computed from rows "
            "have no interval"
        )
        return "\n".join(told)


def _first(names: Sequence[str]) -> str:
    """The first five names, and how many there are beside them."""
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def check_suffix(path: Path) -> None:
    """Raises ArgumentError for another suffix than .parquet and .csv."""
    if path.suffix not in {".parquet", ".csv"}:
        raise ArgumentError(f"rows '{path}': must end in .parquet or .csv")


def fit_rows(
    release: Published,
    *,
    rows: int | None = None,
    strict: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> Rows:
    """Rows that agree with what a release has published, as far as whole persons can.

    A function of the document alone, and the same on every machine: the draws are keyed with its digest, so that they tell
    nothing that the release does not tell. Exact totals hold to the last row.

    Args:
        release: with one statistic of agreeing tables.
        rows: how many rows; None is the published number of rows, or its estimate. Another number of rows has the same
            shares, and lists of exact totals are divided among it by the largest remainders.
        strict: refuse a release in which noise dominates in a table, before anything is fitted. Otherwise such tables are
            named by what comes back.
        tell: is told how many sweeps are done, and of how many.

    Raises:
        ArgumentError: a release without agreeing tables, or with facts that rows cannot be fitted to yet: overlapping lists
            of totals, totals of some groups alone, areas and derived columns; a number of rows that is not from 1 to 10^8;
            with `strict`, tables in which noise dominates.
    """
    document = release.document  # a copy each time
    if rows is not None and not (type(rows) is int and 1 <= rows <= _MOST_ROWS):
        raise ArgumentError(f"rows={printed(rows)}: must be a whole number from 1 to {_MOST_ROWS:,}")
    published, tables = targets_of(document), tuple(_tables_in(document))
    noisy = [one.named for one in tables if one.noisy]
    if strict and noisy:
        raise ArgumentError(
            f"strict=True: noise dominates in {_first(noisy)}; ask for larger groups or a larger spend, or leave strict out"
        )
    targets, words = scaled(published, published.rows if rows is None else rows), words_of(document["digest"])
    found = sweep_rows(targets, start_rows(targets, words), words, tell or _tell_nobody)
    compared = tuple(one.beside(found, published.rows) for one in tables)
    told = (document["name"], document["dataset"], document["digest"])
    return Rows(_frame(targets, found), *told, published.rows, compared)


def _tell_nobody(_done: int, _every: int) -> None:
    pass


def _frame(targets: Targets, levels: NDArray[np.int64]) -> pl.DataFrame:
    import polars as pl

    columns = {}
    for place, axis in enumerate(targets.axes):
        labels = pl.Series(axis.column, axis.labels, strict=True)
        columns[axis.column] = labels.gather(levels[:, place])
    return pl.DataFrame(columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A published table.

    Args:
        columns: what it counts by.
        axes: the positions of its axes among the columns of the rows.
        alive: for each axis the position of its label, for every level of the rows.
        shape: the numbers of labels.
        places: of the printed cells among all.
        low, high: the ends of their intervals.
        noisy: whether noise dominates.
    """

    columns: tuple[str, ...]
    axes: tuple[int, ...]
    alive: tuple[NDArray[np.int64], ...]
    shape: tuple[int, ...]
    places: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    noisy: bool

    @property
    def named(self) -> str:
        """The table in words."""
        return " × ".join(self.columns) or "all rows"

    def beside(self, levels: NDArray[np.int64], published: int) -> Compared:
        """How many cells have a number of rows that lies in their interval; of scaled rows, next to it by half a row."""
        own = [alive[levels[:, axis]] for alive, axis in zip(self.alive, self.axes, strict=True)]
        flat = np.ravel_multi_index(own, self.shape) if own else np.zeros(len(levels), np.int64)
        counts = np.bincount(flat, minlength=prod(self.shape))[self.places]
        times, more = (1.0, 0.0) if len(levels) == published else (len(levels) / published, 0.5)
        within = (counts >= self.low * times - more) & (counts <= self.high * times + more)
        return Compared(self.columns, len(counts), int(within.sum()), self.noisy)


def _tables_in(document: Mapping[str, Any]) -> Iterator[_Table]:
    (block,) = blocks_of(document)
    for table, frame in zip(block["tables"], frames_of(block, document), strict=True):
        yield _table([block["axes"][axis] for axis in table], tuple(table), frame)


def _table(axes: Sequence[Mapping[str, Any]], places: tuple[int, ...], frame: Mapping[str, Any]) -> _Table:
    columns = {one["name"]: np.array(one["values"]) for one in frame["columns"] if one["name"].startswith("count")}
    low, high = columns["count_low"], columns["count_high"]
    return _Table(
        columns=tuple(axis["column"] for axis in axes),
        axes=places,
        alive=tuple(np.asarray(axis["alive"]) for axis in axes),
        shape=tuple(len(axis["labels"][0]) for axis in axes),
        places=np.array(places_of(axes, frame["columns"]), dtype=np.int64),
        low=low,
        high=high,
        noisy=bool(4 * np.median(columns["count"]) < np.median(high - low)),
    )
