"""A table of a DuckDB database file, which is opened for reading, anew for each statement and under a separate name.

Threads share the private database to which the file is attached, so that the same name in two threads would collide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from discreet.cube.cube import Cube
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.engines.base import ColumnType, CountedCells, Engine, Header
from discreet.engines.duckdb.database import Database
from discreet.engines.duckdb.dialect import DUCKDB, quote_name
from discreet.engines.duckdb.driver import cells_of, cube_of, read_header
from discreet.engines.files import database_snapshot
from discreet.engines.resources import Limits
from discreet.engines.sql import aggregate_sql
from discreet.errors import SourceError, did_you_mean

__all__ = ["open_duckdb_table"]

# Computed while it is read, by an expression that may fail on a value.
_GENERATED = ColumnType("other", "a generated column")


def open_duckdb_table(path: Path, table: str, limits: Limits) -> Engine:
    """An engine over a table of a DuckDB file; `table` is its name, or "schema.table".

    Between two readings the file is closed, so that the programs that write it go on. Views are not accepted as tables: a
    view may let one row change others.

    Raises:
        SourceError: the file cannot be opened for reading, or has no such table, or several.
    """
    database = Database(limits)
    try:
        with _attach(database, path) as (cursor, file):
            place = _place(cursor, file, path, table)
            header = _header(cursor, file, *place)
    except SourceError as error:
        database.close()
        if str(error).startswith(f"source '{path}"):
            raise
        raise SourceError(
            f"source '{path}': cannot be opened as a DuckDB database; close the program that has it open for writing, or "
            "bring it to a version of DuckDB that this one reads"
        ) from None
    return _DuckdbFileEngine(database, path, place, header)


class _DuckdbFileEngine:
    """One table of a file; each statement has the file attached while it runs."""

    def __init__(self, database: Database, path: Path, place: tuple[str, str], header: Header) -> None:
        self._database, self._path, self._place, self._header = database, path, place, header

    @property
    def header(self) -> Header:
        return self._header

    def snapshot(self) -> str:
        return database_snapshot(self._path, (".wal",))

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        with _attach(self._database, self._path) as (cursor, file):
            statement = aggregate_sql(DUCKDB, self._table(file), self._header, axes, moments)
            return cube_of(cursor.execute(statement).fetchnumpy(), axes, moments)

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        with _attach(self._database, self._path) as (cursor, file):
            yield from cells_of(cursor, self._table(file), self._header, names)

    def _table(self, file: str) -> str:
        return f"{file}.{quote_name(self._place[0])}.{quote_name(self._place[1])}"

    def close(self) -> None:
        self._database.close()


@contextmanager
def _attach(database: Database, path: Path) -> Iterator[tuple[Any, str]]:
    """A cursor, and the name that the file has while it is attached."""
    literal, file = "'" + str(path).replace("'", "''") + "'", f"discreet_{uuid4().hex}"
    with database.cursor() as cursor:
        cursor.execute(f"ATTACH {literal} AS {file} (TYPE duckdb, READ_ONLY)")
        try:
            yield cursor, file
        except BaseException:
            database.retire()  # and with it the file
            raise
        cursor.execute(f"DETACH {file}")


def _place(cursor: Any, file: str, path: Path, table: str) -> tuple[str, str]:
    """The schema and name of the table."""
    where = f"database_name = '{file}' AND NOT internal"
    query = f"SELECT schema_name, table_name FROM duckdb_tables() WHERE {where} ORDER BY ALL"
    places: list[tuple[str, str]] = cursor.execute(query).fetchall()
    found = [(schema, name) for schema, name in places if table in {name, f"{schema}.{name}"}]
    if len(found) == 1:
        return found[0]
    known = [f"{schema}.{name}" for schema, name in places]
    if found:
        raise SourceError(f"source '{path}::{table}': is in several schemas; write '{'.'.join(found[0])}' or another")
    raise SourceError(
        f"source '{path}::{table}': there is no such table; names are compared exactly, and a view is not a table"
        f"{did_you_mean(table, known)}"
    )


def _header(cursor: Any, file: str, schema: str, table: str) -> Header:
    columns = cursor.execute(
        "SELECT column_name, data_type, is_generated FROM duckdb_columns() "
        f"WHERE database_name = '{file}' AND schema_name = $1 AND table_name = $2 ORDER BY column_index",
        [schema, table],
    ).fetchall()
    return {**read_header(columns), **{name: _GENERATED for name, _, generated in columns if generated}}
