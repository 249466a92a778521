"""Parquet files as a source: one file, the files that a glob matches, or a folder whose sub-folders name partitions.

No cell of a file can end its reading: bytes that are not UTF-8 are read as question marks, and timestamps in milliseconds,
which the driver cannot all hold, come from `parquet_days`. That its pages can be decoded is declared public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cube.cube import Cube
from discreet.cube.keys import KeyScan
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.engines.base import ColumnType, CountedCells, Engine, Header, PersonReading, check_same
from discreet.engines.duckdb.chosen import read_by, table_of
from discreet.engines.duckdb.database import Database
from discreet.engines.duckdb.dialect import PARQUET, quote_name
from discreet.engines.duckdb.driver import TEXT, cells_of, cube_of, file_literal, read_header
from discreet.engines.duckdb.folders import Partitions, parquet_files, partitions_of
from discreet.engines.duckdb.keys import keys_of_statement
from discreet.engines.duckdb.parquet_days import days_of, millisecond_columns
from discreet.engines.duckdb.partitions import file_axis, with_partitions
from discreet.engines.duckdb.persons import add_persons_sql
from discreet.engines.files import Listing, file_snapshot, listed_snapshot
from discreet.engines.person_scans import PartReading, answer_cube, parts_sql
from discreet.engines.persons import key_rows_sql
from discreet.engines.resources import Limits
from discreet.engines.sql import aggregate_sql
from discreet.engines.texts import KeyTable
from discreet.errors import SourceError
from discreet.exact.processes import check_polars

if TYPE_CHECKING:
    from discreet.engines.rowwise import Rowwise

__all__ = ["open_folder", "open_parquet"]

_DAYS = "discreet_days"
_MILLISECONDS = ColumnType("date", "TIMESTAMP in milliseconds")
_FILE, _PLACE = "file_index", ColumnType("integer", "UBIGINT")  # the driver's own column: the file of a row in the list


def open_parquet(paths: Sequence[Path], listing: Listing, partitions: Partitions, limits: Limits) -> Engine:
    """An engine over Parquet files.

    Args:
        paths: the files, at least one.
        listing: finds the files again, to notice files that came or went.
        partitions: the values that the folders give to the rows of each file, in the order of `paths`.
        limits: the resources that the driver may use.

    Raises:
        SourceError: a file is not a Parquet file, differs from the first in columns or types, or has a column that a folder
            names.
    """
    return _ParquetEngine(paths, listing, partitions, limits)


def open_folder(folder: Path, limits: Limits) -> Engine:
    """An engine over all Parquet files of a folder.

    Raises:
        SourceError: as `open_parquet`, `parquet_files` and `partitions_of`, or one file is there under two names.
    """
    paths = parquet_files(folder)
    file_snapshot(paths)
    return open_parquet(paths, partial(parquet_files, folder), partitions_of(folder, paths), limits)


class _ParquetEngine:
    """Parquet files, read by the driver; only columns of milliseconds come from elsewhere, row by row."""

    def __init__(self, paths: Sequence[Path], listing: Listing, partitions: Partitions, limits: Limits) -> None:
        self._paths, self._listing, self._partitions = paths, listing, partitions
        self._database = Database(limits)
        self._chosen: Rowwise | None = None
        header = _parquet_header(self._database, paths[0])
        for path in _other_schemas(self._database, paths):
            check_same(path, _parquet_header(self._database, path), paths[0], header)
        _check_partitions(partitions.names, header, paths[0])
        self._header = {**header, **dict.fromkeys(partitions.names, TEXT)}

    @property
    def header(self) -> Header:
        return self._header if self._chosen is None else self._chosen.header

    def select(self, chosen: Rowwise) -> None:
        for name in chosen.reads([*chosen.header]):
            if name in self._partitions.names:
                raise SourceError(
                    f"query: column '{name}' comes from the names of folders, and not from the rows that a query sees; "
                    "leave the query out, or write the column into the files"
                )
        self._chosen = chosen

    def snapshot(self) -> str:
        return listed_snapshot(self._paths, self._listing)

    def check_ready(self) -> None:
        if _MILLISECONDS in self._header.values():
            check_polars()

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        names = self._partitions.names
        asked = {axis.name for axis in axes} | {moment.name for moment in moments}
        if self._chosen is not None or asked.isdisjoint(names):
            return self._count(axes, moments)
        own_axes = [axis for axis in axes if axis.name not in names]
        own_moments = [moment for moment in moments if moment.name not in names]
        by_file = self._count([file_axis(_FILE, len(self._paths)), *own_axes], own_moments)
        return with_partitions(by_file, self._partitions, axes, moments)

    def can_add_persons(self) -> bool:
        return not self._partitions.names  # values that come from the names of folders are joined to cubes of rows

    def add_persons(self, scan: PersonReading) -> Cube:
        with self._reading(list(scan.columns)) as (cursor, table):
            statement = add_persons_sql(PARQUET, table, self.header, scan)
            return answer_cube(cursor.execute(statement).fetchnumpy(), scan)

    def can_collect(self) -> bool:
        return self.can_add_persons()

    def collect(self, cursor: Any, table: str, scan: PartReading) -> None:
        with self._days(cursor, list(scan.columns)) as read:
            cursor.execute(f"CREATE TEMP TABLE {table} AS {parts_sql(PARQUET, read, self.header, scan)}")

    def can_keep_keys(self) -> bool:
        return self.can_add_persons()

    @contextmanager
    def open_keys(self, scan: KeyScan) -> Iterator[KeyTable]:
        with self._reading(list(scan.columns)) as (cursor, table):
            statement = key_rows_sql(PARQUET, table, self.header, scan)
            with keys_of_statement(cursor, statement, scan) as keys:
                yield keys

    def _count(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        wanted = list(dict.fromkeys([axis.name for axis in axes] + [moment.name for moment in moments]))
        header = {_FILE: _PLACE, **self.header}
        with self._reading(read_by(self._chosen, wanted)) as (cursor, read):
            statement = aggregate_sql(PARQUET, table_of(self._chosen, wanted, read), header, axes, moments)
            return cube_of(cursor.execute(statement).fetchnumpy(), axes, moments)

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        header, folders = {_FILE: _PLACE, **self.header}, self._partitions
        for name in names:
            asked = _FILE if self._chosen is None and name in folders.names else name
            with self._reading(read_by(self._chosen, [name])) as (cursor, read):
                for _, some in cells_of(cursor, table_of(self._chosen, [asked], read), header, [asked]):
                    yield name, some if asked == name else folders.cells(name, some)

    @contextmanager
    def _reading(self, wanted: Sequence[str]) -> Iterator[tuple[Any, str]]:
        """A cursor, and the table of these columns for it: milliseconds are read apart, as days."""
        with self._database.cursor() as cursor, self._days(cursor, wanted) as table:
            yield cursor, table

    @contextmanager
    def _days(self, cursor: Any, wanted: Sequence[str]) -> Iterator[str]:
        """The table of these columns for a cursor."""
        apart = [name for name in wanted if self._header.get(name) is _MILLISECONDS]
        if apart:
            cursor.register(_DAYS, days_of(self._paths, apart))
        yield self._table(wanted, apart)
        if apart:
            cursor.unregister(_DAYS)

    def _table(self, wanted: Sequence[str], apart: Sequence[str]) -> str:
        if not apart:
            return _parquet(self._paths)
        if len(apart) == len(wanted):
            return _DAYS
        columns = [f"{'d' if name in apart else 'p'}.{quote_name(name)}" for name in wanted]
        # Both sides give the rows in the order of the files.
        return f"(SELECT {', '.join(columns)} FROM {_parquet(self._paths)} AS p POSITIONAL JOIN {_DAYS} AS d)"

    def close(self) -> None:
        self._database.close()


def _check_partitions(names: Sequence[str], header: Header, path: Path) -> None:
    """Checks that no file has a column that a folder names too."""
    there = {name.casefold() for name in header}
    for name in names:
        if name.casefold() in there:
            raise SourceError(
                f"source '{path}': the column '{name}' is in the file and in the name of its folder; "
                "name the files by a glob such as 'folder/**/*.parquet', in which folders name no columns"
            )
    if names and _FILE in there:
        raise SourceError(f"source '{path}': with partition folders no column can be called '{_FILE}'; rename it")


def _parquet(paths: Sequence[Path]) -> str:
    # A folder name such as age=3 must not become a column, or replace one. One text that is not UTF-8 must not fail.
    files = ", ".join(file_literal(path) for path in paths)
    return f"read_parquet([{files}], hive_partitioning = false, utf8_validation = 'replace')"


def _other_schemas(database: Database, paths: Sequence[Path]) -> Sequence[Path]:
    """The files whose schema differs in any element from the schema of the first; all others, when one cannot be read."""
    if len(paths) == 1:
        return ()
    files = ", ".join(file_literal(path) for path in paths)
    fields = "file_name, name, type, type_length, num_children, converted_type, scale, precision, logical_type"
    try:
        with database.cursor() as cursor:
            rows = cursor.execute(f"SELECT {fields} FROM parquet_schema([{files}])").fetchall()
    except SourceError:
        return paths[1:]
    schemas: dict[str, list[object]] = {}
    for row in rows:
        schemas.setdefault(row[0], []).append(row[1:])
    first = schemas.get(str(paths[0]))
    return [path for path in paths[1:] if first is None or schemas.get(str(path)) != first]


def _parquet_header(database: Database, path: Path) -> Header:
    try:
        with database.cursor() as cursor:
            header = read_header(cursor.execute(f"DESCRIBE SELECT * FROM {_parquet([path])}").fetchall())
            fields = "name, num_children, converted_type, logical_type"
            elements = cursor.execute(f"SELECT {fields} FROM parquet_schema({file_literal(path)})").fetchall()
    except SourceError:
        raise SourceError(
            f"source '{path}': is not a readable Parquet file; restore it from a copy, or write it again"
        ) from None
    names = {element[0] for element in elements}
    renamed = [name for name in header if name not in names]
    if renamed:
        # The driver ignores case and renames the second of two equal names; reading on could take one for another.
        raise SourceError(f"source '{path}': has two columns whose names differ only in case; rename one of the two")
    apart = [name for name in millisecond_columns(elements) if header[name].kind == "timestamp"]
    return {**header, **dict.fromkeys(apart, _MILLISECONDS)}
