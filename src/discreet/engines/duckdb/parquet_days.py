"""The days of timestamps that a Parquet file holds in milliseconds, read so that no value can raise.

The driver turns them into microseconds while it reads, which fails beyond the year 294,246: one cell would end a release
(soundness 9). So these columns are read as the integers that they are. Which columns they are is decided by the schema of
the file, never by its contents.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.engines.base import unreadable
from discreet.engines.duckdb.frames import ArrowOnly
from discreet.errors import SourceError

__all__ = ["SchemaRow", "days_of", "millisecond_columns"]

SchemaRow = tuple[str, int | None, str | None, str | None]
"""One element of a Parquet schema, in the file's depth-first order: name, number of children, converted and logical type."""

_DAY = 86_400_000
_EPOCH = dt.date(1970, 1, 1)
# Days beyond Python's calendar are beyond all declared bounds; its nearest day has the same code.
_FIRST, _LAST = (dt.date.min - _EPOCH).days, (dt.date.max - _EPOCH).days
_INFINITE = 2**63 - 1  # with either sign, what the driver writes for infinity, which is null in every source


def millisecond_columns(elements: Sequence[SchemaRow]) -> list[str]:
    """The names of the top-level columns that are timestamps in milliseconds. The first element is the schema's root."""
    found, place = [], 1
    while place < len(elements):
        name, _, converted, logical = elements[place]
        if "MILLIS=MilliSeconds" in logical if logical else converted == "TIMESTAMP_MILLIS":
            found.append(name)
        open_elements = 1
        while open_elements and place < len(elements):  # past the column and everything in it
            open_elements += (elements[place][1] or 0) - 1
            place += 1
    return found


def days_of(paths: Sequence[Path], names: Sequence[str]) -> ArrowOnly:
    """These columns of all rows of the files, in their order, as dates; four bytes a row and column.

    Raises:
        SourceError: a file cannot be read.
    """
    import polars as pl

    try:
        return ArrowOnly(pl.concat([_days(path, names) for path in paths]))
    except (pl.exceptions.PolarsError, OSError):
        raise unreadable() from None


def _days(path: Path, names: Sequence[str]) -> Any:
    import polars as pl

    columns = []
    for name in names:
        raw = pl.selectors.by_name(name).cast(pl.Int64)  # for `pl.col`, `*` and `^x$` are patterns
        finite = pl.when((raw != _INFINITE) & (raw != -_INFINITE)).then(raw)
        columns.append((finite // _DAY).clip(_FIRST, _LAST).cast(pl.Int32).cast(pl.Date).alias(name))
    # One file at a time, because files of one source may have their columns in different orders.
    scan = pl.scan_parquet(path, glob=False, hive_partitioning=False, use_statistics=False)
    types = scan.collect_schema()
    if any(types[name] != pl.Datetime("ms") for name in names):
        raise SourceError(f"source '{path}': its timestamps in milliseconds cannot be read; write them in microseconds")
    return scan.select(columns).collect(engine="streaming")
