"""Parquet files as a source: one, those that a glob matches, or those of a folder whose sub-folders name partitions.

No cell of a file can end its reading: bytes that are no UTF-8 are read as question marks, and timestamps in milliseconds,
which the driver cannot all hold, come from `parquet_days`. That its pages can be decoded is declared public.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.cube import Cube
from discreet.engines.base import ColumnType, Engine, Header
from discreet.engines.duckdb import TEXT, Database, cube_of, described, file_literal
from discreet.engines.duckdb_sql import DUCKDB, quoted
from discreet.engines.files import Listing, listed_snapshot
from discreet.engines.folders import Partitions
from discreet.engines.frames import ArrowOnly
from discreet.engines.limits import Limits
from discreet.engines.parquet_days import days_of, millisecond_columns
from discreet.engines.sql import aggregate_sql
from discreet.errors import SourceError
from discreet.paths import KeyAxis, Moment

__all__ = ["open_parquet"]

_DAYS, _PARTS = "discreet_days", "discreet_parts"
_MILLISECONDS = ColumnType("date", "TIMESTAMP in milliseconds")
_FILE = "file_index"  # the driver's own column: the place of a row's file in the list


def open_parquet(paths: Sequence[Path], listing: Listing, partitions: Partitions, limits: Limits) -> Engine:
    """An engine over Parquet files.

    Args:
        paths: the files, at least one.
        listing: finds the files again, to notice those that came or went.
        partitions: what the folders say about the rows of each file, in the order of `paths`.
        limits: what the driver may take.

    Raises:
        SourceError: a file is no Parquet, differs from the first in columns or types, or has a column that a folder names.
    """
    return _ParquetEngine(paths, listing, partitions, limits)


class _ParquetEngine:
    """Parquet files, read by the driver; only columns of milliseconds come from elsewhere, row beside row."""

    def __init__(self, paths: Sequence[Path], listing: Listing, partitions: Partitions, limits: Limits) -> None:
        self._paths, self._listing, self._partitions = paths, listing, partitions
        self._database = Database(limits)
        headers = [_parquet_header(self._database, path) for path in paths]
        for path, header in zip(paths, headers, strict=True):
            if header != headers[0]:
                raise SourceError(f"source '{path}': its columns and types differ from those of '{paths[0]}'")
        _check_partitions(partitions.names, headers[0], paths[0])
        self._header = {**headers[0], **dict.fromkeys(partitions.names, TEXT)}

    @property
    def header(self) -> Header:
        return self._header

    def snapshot(self) -> str:
        return listed_snapshot(self._paths, self._listing)

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        wanted = list(dict.fromkeys([axis.name for axis in axes] + [moment.name for moment in moments]))
        apart = [name for name in wanted if self._header[name] is _MILLISECONDS]
        named = [name for name in wanted if name in self._partitions.names]
        statement = aggregate_sql(DUCKDB, self._table(wanted, apart, named), self._header, axes, moments)
        with self._database.cursor() as cursor:
            if apart:
                cursor.register(_DAYS, days_of(self._paths, apart))
            if named:
                cursor.register(_PARTS, _parts(self._partitions, named))
            return cube_of(cursor.execute(statement).fetchnumpy(), axes, moments)

    def _table(self, wanted: Sequence[str], apart: Sequence[str], named: Sequence[str]) -> str:
        if not apart and not named:
            return _parquet(self._paths)
        if len(apart) == len(wanted):
            return _DAYS
        table = f"{_parquet(self._paths)} AS p"
        if apart:
            table += f" POSITIONAL JOIN {_DAYS} AS d"  # both sides give the rows in the order of the files
        if named:
            table += f" LEFT JOIN {_PARTS} AS f ON p.{_FILE} = f.i"  # each i is there once: no row is lost or doubled
        sides = {**dict.fromkeys(wanted, "p"), **dict.fromkeys(apart, "d")}
        columns = [f"{side}.{quoted(name)}" for name, side in sides.items() if name not in named]
        columns += [f"f.v{place} AS {quoted(name)}" for place, name in enumerate(named)]
        return f"(SELECT {', '.join(columns)} FROM {table})"

    def close(self) -> None:
        self._database.close()


def _parts(partitions: Partitions, named: Sequence[str]) -> ArrowOnly:
    """The values of these partition columns by the place of the file."""
    import polars as pl

    columns: dict[str, Any] = {"i": pl.Series(range(len(partitions.values)), dtype=pl.Int64)}
    for place, name in enumerate(named):
        position = partitions.names.index(name)
        columns[f"v{place}"] = pl.Series([values[position] for values in partitions.values], dtype=pl.String)
    return ArrowOnly(pl.DataFrame(columns))


def _check_partitions(names: Sequence[str], header: Header, path: Path) -> None:
    """Nothing, when no file has a column that a folder names too."""
    there = {name.casefold() for name in header}
    for name in names:
        if name.casefold() in there:
            raise SourceError(
                f"source '{path}': the column '{name}' is in the file and in the name of its folder; "
                "name the files by a glob such as 'folder/**/*.parquet', in which folders name no columns"
            )
    if names and _FILE in there:
        raise SourceError(f"source '{path}': beside partition folders no column can be called '{_FILE}'; rename it")


def _parquet(paths: Sequence[Path]) -> str:
    # A folder name such as age=3 must not become a column, or replace one. One text that is not UTF-8 must not fail.
    files = ", ".join(file_literal(path) for path in paths)
    return f"read_parquet([{files}], hive_partitioning = false, utf8_validation = 'replace')"


def _parquet_header(database: Database, path: Path) -> Header:
    try:
        with database.cursor() as cursor:
            header = described(cursor.execute(f"DESCRIBE SELECT * FROM {_parquet([path])}").fetchall())
            fields = "name, num_children, converted_type, logical_type"
            elements = cursor.execute(f"SELECT {fields} FROM parquet_schema({file_literal(path)})").fetchall()
    except SourceError:
        raise SourceError(f"source '{path}': is no readable Parquet file") from None
    names = {element[0] for element in elements}
    renamed = [name for name in header if name not in names]
    if renamed:
        # The driver ignores case and renames the second of two equal names; reading on could take one for another.
        raise SourceError(f"source '{path}': has two columns whose names differ only in case; rename one of the two")
    apart = [name for name in millisecond_columns(elements) if header[name].kind == "timestamp"]
    return {**header, **dict.fromkeys(apart, _MILLISECONDS)}
