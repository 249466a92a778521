"""The rows of a release, and how they compare with its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.files import replace_file
from discreet.releases.document import Release
from discreet.releases.measured import blocks_of, frames_of
from discreet.releases.recomputed import places_of
from discreet.releases.rows.fit import sweep_rows
from discreet.releases.rows.start import start_rows
from discreet.releases.rows.targets import Targets, targets_of
from discreet.releases.rows.words import words_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Compared", "Rows", "check_suffix", "fit_rows"]


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


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that are fitted to the agreeing tables of a release: nothing else is known of them, and nothing is charged.

    Whoever has the release can recompute them, row by row, on any machine.

    Args:
        frame: the rows. Columns of bins hold the labels of the bins.
        digest: of the release.
        compared: each table beside the rows.
    """

    frame: pl.DataFrame = field(repr=False)
    digest: str
    compared: tuple[Compared, ...]

    @cached_property
    def share(self) -> float:
        """The share of all cells whose number of rows lies in their interval."""
        return sum(one.within for one in self.compared) / sum(one.cells for one in self.compared)

    def check(self) -> pl.DataFrame:
        """Each table with the share of its cells whose number of rows lies in their interval."""
        import polars as pl

        return pl.DataFrame(
            {
                "table": [" × ".join(one.columns) for one in self.compared],
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
        noisy = [" × ".join(one.columns) for one in self.compared if one.noisy]
        told = [f"{len(self.frame):,} rows, fitted to {len(self.compared):,} tables; {self.share:.1%} of their cells fit"]
        if noisy:
            more = f" and {len(noisy) - 5:,} more" if len(noisy) > 5 else ""
            told.append(
                f"noise dominates in {', '.join(noisy[:5])}{more}: what rows say of these is hardly more than chance"
            )
        told.append("what no table counts by together is independent in them; numbers computed from rows have no interval")
        return "\n".join(told)


def check_suffix(path: Path) -> None:
    """Raises ArgumentError for another suffix than .parquet and .csv."""
    if path.suffix not in {".parquet", ".csv"}:
        raise ArgumentError(f"rows '{path}': must end in .parquet or .csv")


def fit_rows(release: Release, *, tell: Callable[[int, int], None] | None = None) -> Rows:
    """Rows that agree with what a release has published, as far as whole persons can.

    A function of the document alone, and the same on every machine: the draws are keyed with its digest, so that they tell
    nothing that the release does not tell. Exact totals hold to the last row.

    Args:
        release: with one statistic of agreeing tables.
        tell: is told how many sweeps are done, and of how many.

    Raises:
        ArgumentError: a release without agreeing tables, or with facts that rows cannot be fitted to yet: overlapping lists
            of totals, totals of some groups alone, areas and derived columns.
    """
    document = release.document  # a copy each time
    targets, words = targets_of(document), words_of(document["digest"])
    found = sweep_rows(targets, start_rows(targets, words), words, tell or _tell_nobody)
    return Rows(_frame(targets, found), document["digest"], tuple(_compare(document, found)))


def _tell_nobody(_done: int, _every: int) -> None:
    pass


def _frame(targets: Targets, levels: NDArray[np.int64]) -> pl.DataFrame:
    import polars as pl

    columns = {}
    for place, axis in enumerate(targets.axes):
        labels = pl.Series(axis.column, axis.labels, strict=True)
        columns[axis.column] = labels.gather(levels[:, place])
    return pl.DataFrame(columns)


def _compare(document: Mapping[str, Any], levels: NDArray[np.int64]) -> Iterator[Compared]:
    (block,) = blocks_of(document)
    for table, frame in zip(block["tables"], frames_of(block, document), strict=True):
        yield _compare_one([block["axes"][axis] for axis in table], table, frame, levels)


def _compare_one(
    axes: Sequence[Mapping[str, Any]], table: Sequence[int], frame: Mapping[str, Any], levels: NDArray[np.int64]
) -> Compared:
    shape = [len(axis["labels"][0]) for axis in axes]
    own = [np.asarray(axis["alive"])[levels[:, place]] for axis, place in zip(axes, table, strict=True)]
    flat = np.ravel_multi_index(own, shape) if own else np.zeros(len(levels), np.int64)
    counts = np.bincount(flat, minlength=prod(shape))[places_of(axes, frame["columns"])]
    columns = {one["name"]: np.array(one["values"]) for one in frame["columns"] if one["name"].startswith("count")}
    low, high = columns["count_low"], columns["count_high"]
    noisy = bool(4 * np.median(columns["count"]) < np.median(high - low))
    within = int(((counts >= low) & (counts <= high)).sum())
    return Compared(tuple(axis["column"] for axis in axes), len(counts), within, noisy)
