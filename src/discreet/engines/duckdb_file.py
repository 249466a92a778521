"""A table of a DuckDB database file, which is opened for reading, for each statement anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.engines.base import ColumnType, Engine, Header
from discreet.engines.duckdb import Answer, Database, TableEngine, described
from discreet.engines.duckdb_sql import quoted
from discreet.engines.files import database_snapshot
from discreet.engines.limits import Limits
from discreet.errors import SourceError, did_you_mean

__all__ = ["open_duckdb_table"]

_FILE = "discreet_file"
# Computed while it is read, by an expression that may fail on a value.
_GENERATED = ColumnType("other", "a generated column")


def open_duckdb_table(path: Path, table: str, limits: Limits) -> Engine:
    """An engine over a table of a DuckDB file; `table` is its name, or "schema.table".

    Between two readings the file is closed, so that the programs that write it go on. Views are no tables: a view may let
    one row change others.

    Raises:
        SourceError: the file cannot be opened for reading, or has no such table, or several.
    """
    database = Database(limits)
    try:
        with _attached(database, path) as cursor:
            place = _place(cursor, path, table)
            header = _header(cursor, *place)
    except SourceError as error:
        database.close()
        if str(error).startswith(f"source '{path}"):
            raise
        raise SourceError(
            f"source '{path}': cannot be opened as a DuckDB database; close the program that has it open for writing, or "
            "bring it to a version of DuckDB that this one reads"
        ) from None

    def run(statement: str) -> Answer:
        with _attached(database, path) as cursor:
            answer: Answer = cursor.execute(statement).fetchnumpy()
            return answer

    named = f"{_FILE}.{quoted(place[0])}.{quoted(place[1])}"
    return TableEngine(run, named, header, lambda: database_snapshot(path, (".wal",)), database.close)


@contextmanager
def _attached(database: Database, path: Path) -> Iterator[Any]:
    """A cursor while the file is attached."""
    literal = "'" + str(path).replace("'", "''") + "'"
    with database.cursor() as cursor:
        cursor.execute(f"ATTACH {literal} AS {_FILE} (TYPE duckdb, READ_ONLY)")
        try:
            yield cursor
        except BaseException:
            database.close()  # and with it the file
            raise
        cursor.execute(f"DETACH {_FILE}")


def _place(cursor: Any, path: Path, table: str) -> tuple[str, str]:
    """The schema and name of the table."""
    where = f"database_name = '{_FILE}' AND NOT internal"
    query = f"SELECT schema_name, table_name FROM duckdb_tables() WHERE {where} ORDER BY ALL"
    places: list[tuple[str, str]] = cursor.execute(query).fetchall()
    found = [(schema, name) for schema, name in places if table in {name, f"{schema}.{name}"}]
    if len(found) == 1:
        return found[0]
    known = [f"{schema}.{name}" for schema, name in places]
    if found:
        raise SourceError(f"source '{path}::{table}': is in several schemas; write '{'.'.join(found[0])}' or another")
    raise SourceError(
        f"source '{path}::{table}': there is no such table; names are compared exactly, and views are no tables"
        f"{did_you_mean(table, known)}"
    )


def _header(cursor: Any, schema: str, table: str) -> Header:
    columns = cursor.execute(
        "SELECT column_name, data_type, is_generated FROM duckdb_columns() "
        f"WHERE database_name = '{_FILE}' AND schema_name = $1 AND table_name = $2 ORDER BY column_index",
        [schema, table],
    ).fetchall()
    return {**described(columns), **{name: _GENERATED for name, _, generated in columns if generated}}
