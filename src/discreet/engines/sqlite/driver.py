"""A table or view of an SQLite database file, read through a cursor. The only engine that imports `sqlite3`.

The type of an SQLite column binds none of its cells: each is an integer, a double, a text, bytes or null by itself. So
a cell means what its own value means to the reference, and bytes are null. Each column is staged as up to three, integers,
doubles and texts, of which at most one has a value in a row (kind "any" of `sql`). Every cell is looked at as often,
whatever it is, so that a column of invalid cells takes no longer. Expressions of a query see a cell by the type of its
column, and null where the cell is of another kind. An id is an integer or a text, and no integer is a text.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from discreet.cube.cube import Cube
from discreet.cube.keys import KeyScan
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.cube.value_paths import Path as ValuePath
from discreet.engines.base import ColumnType, CountedCells, CubeRequest, Engine, Header, PersonReading, unreadable
from discreet.engines.duckdb.chosen import read_by, table_of
from discreet.engines.duckdb.database import Database
from discreet.engines.duckdb.dialect import DUCKDB, quote_name
from discreet.engines.duckdb.driver import STAGED, cells_of_parts, count_scans
from discreet.engines.duckdb.keys import keys_of_frames
from discreet.engines.duckdb.persons import add_persons_of_frames, collect_frames
from discreet.engines.files import database_snapshot, has_content
from discreet.engines.person_scans import PartReading, parts_sql
from discreet.engines.resources import Limits
from discreet.engines.sql import PARTS, aggregate_sql, part_name, parts_of
from discreet.engines.texts import KeyTable
from discreet.errors import SourceError, did_you_mean
from discreet.exact.processes import check_polars

if TYPE_CHECKING:
    from discreet.engines.rowwise import Rowwise

__all__ = ["is_sqlite_view", "open_sqlite_table"]

_ROWS = 50_000
_ID, _IDS = "id", ColumnType("text", "ids of SQLite")
_UNKNOWN = "\ufffd"
_BESIDE = ("-wal", "-journal")
_WAL_MODE = b"\x02\x02"  # bytes 18 and 19 of the file
# Bytes that are not UTF-8 are replaced, as in CSV; the default of the module is to raise.
_TEXT = partial(str, encoding="utf-8", errors="replace")

_USUAL = tuple(
    (re.compile(names, re.IGNORECASE), kind)
    for names, kind in (
        ("INT|BOOL", "integer"),
        ("CHAR|CLOB|TEXT|TIME", "text"),
        ("DATE", "date"),
        ("REAL|FLOA|DOUB|NUM|DEC", "float"),
    )
)
"""The kind of cells that a column usually holds, by parts of the name of its type; the first part that occurs counts.

SQLite itself has the words INT, CHAR, CLOB, TEXT, REAL, FLOA and DOUB. It has no days and no truth values: programs write
days as texts, 2026-01-31, and truth values as 0 and 1.
"""


def open_sqlite_table(path: Path, table: str, limits: Limits) -> Engine:
    """An engine over a table or view of an SQLite file. Nothing is written, neither into the file nor next to it.

    Virtual tables are not accepted as tables: a module of a virtual table is code.

    Raises:
        SourceError: the file cannot be opened for reading, or has no such table, or columns that differ only in case.
    """
    try:
        with _open(path) as connection:
            header = _header(connection, path, table)
    except sqlite3.Error:
        raise SourceError(
            f"source '{path}': cannot be read as an SQLite database; close the program that is writing it, and check that "
            "it is complete"
        ) from None
    return _SqliteEngine(path, table, header, limits)


class _SqliteEngine:
    """One table, one batch of rows after the other; memory stays flat."""

    def __init__(self, path: Path, table: str, header: Header, limits: Limits) -> None:
        self._path, self._table, self._header, self._database = path, table, header, Database(limits)
        self._parts = {part_name(name, kind): (name, kind) for name in header for kind in [*PARTS, _ID]}
        self._chosen: Rowwise | None = None
        self._staged: Rowwise | None = None

    @property
    def header(self) -> Header:
        return self._header if self._chosen is None else self._chosen.header

    def select(self, chosen: Rowwise) -> None:
        from discreet.engines.rowwise import over_parts  # loaded for a query only

        self._chosen, self._staged = chosen, over_parts(chosen)

    def snapshot(self) -> str:
        return database_snapshot(self._path, _BESIDE)

    def check_ready(self) -> None:
        check_polars()

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        return next(self.aggregate_all([(axes, moments)]))

    def aggregate_all(self, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        """The rows are read once: a view may give others the next time."""
        columns = [self._columns_of(scan) for scan in scans]
        tables = [table_of(self._staged, some, STAGED) for some in columns]
        statements = [aggregate_sql(DUCKDB, table, self.header, *scan) for table, scan in zip(tables, scans, strict=True)]
        names = list(dict.fromkeys(name for some in columns for name in some))
        try:
            with _open(self._path) as connection:
                frames = self._frames(connection, read_by(self._staged, names))
                cubes = count_scans(self._database, statements, frames, scans)
        except sqlite3.Error:
            raise unreadable() from None
        yield from cubes

    def _columns_of(self, scan: CubeRequest) -> list[str]:
        """The expressions that a scan needs: the parts of plain columns that can have a code, and computed columns."""
        axes, moments = scan
        names: list[str] = []
        for path in [axis.path for axis in axes] + [moment.path for moment in moments]:
            in_parts = self._is_in_parts(path.name)
            names += [part_name(path.name, part) for part in parts_of(path)] if in_parts else [path.name]
        return list(dict.fromkeys(names))

    def _is_in_parts(self, name: str) -> bool:
        return self._chosen is None or name in self._chosen.taken

    def can_add_persons(self) -> bool:
        """True of a table as it is; the ids of a query are not told apart by the kinds of cells."""
        return self._chosen is None

    def add_persons(self, scan: PersonReading) -> Cube:
        """The totals over persons, added up in the private database."""
        ids = part_name(scan.person, _ID)
        statement = parts_sql(DUCKDB, STAGED, {**self._header, ids: _IDS}, _staged(scan, ids))
        try:
            with _open(self._path) as connection, self._database.cursor() as cursor:
                frames = self._frames(connection, [ids, *_parts_for(scan.read)])
                return add_persons_of_frames(cursor, statement, STAGED, frames, scan)
        except sqlite3.Error:
            raise unreadable() from None

    def can_collect(self) -> bool:
        """True of a table as it is."""
        return self._chosen is None

    def collect(self, cursor: Any, table: str, scan: PartReading) -> None:
        """The parts of persons, counted in the database of the cursor."""
        rest = scan.rest if isinstance(scan, KeyScan) else scan
        ids = part_name(rest.person, _ID)
        staged, texts = _staged(scan, ids), [part_name(scan.column, "text")] if isinstance(scan, KeyScan) else []
        statement = parts_sql(DUCKDB, STAGED, {**self._header, ids: _IDS}, staged)
        try:
            with _open(self._path) as connection:
                frames = self._frames(connection, [ids, *texts, *_parts_for(rest.read)])
                collect_frames(cursor, statement, STAGED, frames, (table, scan))
        except sqlite3.Error:
            raise unreadable() from None

    def can_keep_keys(self) -> bool:
        """True of a table as it is."""
        return self._chosen is None

    @contextmanager
    def open_keys(self, scan: KeyScan) -> Iterator[KeyTable]:
        """The texts of the cells that are texts, kept in the private database."""
        ids, texts = part_name(scan.rest.person, _ID), part_name(scan.column, "text")
        statement = parts_sql(DUCKDB, STAGED, {**self._header, ids: _IDS}, _staged(scan, ids))
        try:
            with _open(self._path) as connection, self._database.cursor() as cursor:
                frames = self._frames(connection, [ids, texts, *_parts_for(scan.rest.read)])
                with keys_of_frames(cursor, statement, STAGED, frames, scan) as kept:
                    yield kept
        except sqlite3.Error:
            raise unreadable() from None

    def count_rows(self) -> int:
        try:
            with _open(self._path) as connection:
                (found,) = connection.execute(f"SELECT count(*) FROM main.{quote_name(self._table)}").fetchone()
        except sqlite3.Error:
            raise unreadable() from None
        return int(found)

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        try:
            with _open(self._path) as connection:
                for name in names:
                    if self._is_in_parts(name):
                        yield from self._cells(connection, name)
                    else:
                        frames = partial(self._frames, connection)
                        yield from cells_of_parts(self._database, self._staged, self.header, frames, [name])
        except sqlite3.Error:
            raise unreadable() from None

    def _cells(self, connection: sqlite3.Connection, name: str) -> Iterator[CountedCells]:
        """The cells of a column that is taken as it is."""
        place = name if self._chosen is None else self._chosen.taken[name]
        column, table = quote_name(place), quote_name(self._table)
        # By type and bytes: SQLite itself takes 1 for 1.0, and ignores case where a column says so.
        grouped = f"typeof({column}), {column} COLLATE BINARY"
        cursor = connection.execute(f"SELECT {column}, count(*) FROM main.{table} GROUP BY {grouped}")
        while some := cursor.fetchmany(_ROWS):
            yield name, some

    def _frames(self, connection: sqlite3.Connection, parts: Sequence[str]) -> Iterator[Any]:
        """These parts of columns."""
        wanted: dict[str, list[str]] = {}
        for part in parts:
            name, kind = self._parts[part]
            wanted.setdefault(name, []).append(kind)
        columns = ", ".join(quote_name(name) for name in wanted) or "1"
        cursor = connection.execute(f"SELECT {columns} FROM main.{quote_name(self._table)}")
        while rows := cursor.fetchmany(_ROWS):
            yield _frame(rows, wanted)

    def close(self) -> None:
        self._database.close()


def _frame(rows: Sequence[Sequence[object]], wanted: Mapping[str, Iterable[str]]) -> Any:
    """A column for each name and kind of cell; a request without columns still counts rows."""
    import polars as pl

    kinds = {"integer": (int, pl.Int64), "float": (float, pl.Float64), "text": (str, pl.String)}
    if not wanted:
        return pl.DataFrame({"row": pl.Series([True]).new_from_index(0, len(rows))})
    series = []
    for (name, parts), cells in zip(wanted.items(), zip(*rows, strict=True), strict=True):
        for part in dict.fromkeys(parts):
            if part == _ID:
                series.append(pl.Series(part_name(name, _ID), [_id_of(cell) for cell in cells], dtype=pl.String))
                continue
            kind, dtype = kinds[part]
            own = [cell if type(cell) is kind else None for cell in cells]
            series.append(pl.Series(part_name(name, part), own, dtype=dtype))
    return pl.DataFrame(series)


def _staged(scan: PartReading, ids: str) -> PartReading:
    """The scan over the staged columns: its identifier has this name, and texts that are kept are those among the cells."""
    if isinstance(scan, KeyScan):
        return replace(scan, column=part_name(scan.column, "text"), rest=replace(scan.rest, person=ids))
    return replace(scan, person=ids)


def _parts_for(paths: Sequence[ValuePath]) -> list[str]:
    """The parts of columns that can have a code."""
    return list(dict.fromkeys(part_name(path.name, part) for path in paths for part in parts_of(path)))


def _id_of(cell: object) -> str | None:
    """A text for each id, different for different ones; None for a double, for bytes, and for a text that was not UTF-8."""
    if isinstance(cell, str):
        return None if _UNKNOWN in cell else f"t{cell}"
    return f"i{cell}" if isinstance(cell, int) else None


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection on which nothing can be written, in one transaction: all reading sees the same rows."""
    with closing(sqlite3.connect(_uri(path), uri=True, isolation_level=None)) as connection:
        connection.text_factory = _TEXT
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("BEGIN")
        yield connection


def _uri(path: Path) -> str:
    """A database in WAL mode without a log is opened as one that does not change: reading it otherwise leaves files behind.

    A change would be a log with something in it, or another time of the file, and the snapshots before and after differ.
    """
    with path.open("rb") as file:
        wal_mode = file.read(20)[18:] == _WAL_MODE
    still = wal_mode and not has_content(Path(f"{path}-wal"))
    return f"file:{quote(str(path.absolute()))}?{'immutable=1' if still else 'mode=ro'}"


def is_sqlite_view(path: Path, table: str) -> bool:
    """True if it is the name of a view. A file that cannot be read has none."""
    try:
        with _open(path) as connection:
            return table in _names(connection, "view")
    except (sqlite3.Error, OSError):
        return False


def _names(connection: sqlite3.Connection, kind: str) -> list[str]:
    listed = connection.execute("SELECT name, sql FROM main.sqlite_master WHERE type = ?", (kind,)).fetchall()
    begins = f"CREATE {kind.upper()}"
    return [name for name, sql in listed if sql and sql.startswith(begins) and not name.startswith("sqlite_")]


def _header(connection: sqlite3.Connection, path: Path, table: str) -> Header:
    tables, views = _names(connection, "table"), _names(connection, "view")
    if table not in [*tables, *views]:
        raise SourceError(
            f"source '{path}::{table}': there is no such table or view; names are compared exactly, and virtual tables are "
            f"not tables{did_you_mean(table, [*tables, *views])}"
        )
    try:
        found = connection.execute("SELECT name, type, hidden FROM pragma_table_xinfo(?)", (table,)).fetchall()
    except sqlite3.Error:
        if table in tables:
            raise
        raise SourceError(
            f"source '{path}::{table}': the view cannot be computed; check that its tables are there, and that it "
            "uses nothing that SQLite itself does not have"
        ) from None
    header = {name: _column_type(type_, hidden) for name, type_, hidden in found}
    if len({name.casefold() for name in header}) < len(found):
        raise SourceError(f"source '{path}::{table}': has two columns whose names differ only in case; rename one of them")
    return header


def _column_type(declared: str, hidden: int) -> ColumnType:
    """Generated columns are hidden; they are computed while they are read, by an expression that may fail on a value."""
    if hidden:
        return ColumnType("other", "a generated column")
    usual = next((kind for names, kind in _USUAL if names.search(declared)), "")
    return ColumnType("any", f"{declared or 'untyped'} cells of SQLite", usual=usual)
