"""A table or view of a DuckDB database file, which is opened for reading, anew for each statement and under a separate name.

Threads share the private database to which the file is attached, so that the same name in two threads would collide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from discreet.cube.cube import Cube
from discreet.cube.keys import KeyScan
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.engines.base import ColumnType, CountedCells, CubeRequest, Engine, Header, PersonReading, columns_of
from discreet.engines.duckdb.chosen import table_of
from discreet.engines.duckdb.database import Database
from discreet.engines.duckdb.dialect import DUCKDB, quote_name
from discreet.engines.duckdb.driver import cells_of, cube_of, read_header
from discreet.engines.duckdb.keys import keys_of_statement
from discreet.engines.duckdb.persons import add_persons_sql
from discreet.engines.files import database_snapshot
from discreet.engines.person_scans import PartReading, answer_cube, parts_sql
from discreet.engines.persons import key_rows_sql
from discreet.engines.resources import NO_LIMITS, Limits
from discreet.engines.sql import aggregate_sql
from discreet.engines.texts import KeyTable
from discreet.errors import SourceError, did_you_mean

if TYPE_CHECKING:
    from discreet.engines.rowwise import Rowwise

__all__ = ["is_duckdb_view", "open_duckdb_table"]

# Computed while it is read, by an expression that may fail on a value.
_GENERATED = ColumnType("other", "a generated column")


@dataclass(frozen=True, slots=True)
class _Place:
    """A table or view of a file."""

    schema: str
    name: str
    is_view: bool

    def within(self, file: str) -> str:
        """Its name in a statement, where the file is attached under this name."""
        return f"{file}.{quote_name(self.schema)}.{quote_name(self.name)}"


def open_duckdb_table(path: Path, table: str, limits: Limits) -> Engine:
    """An engine over a table or view of a DuckDB file; `table` is its name, or "schema.table".

    Between two readings the file is closed, so that the programs that write it go on.

    Raises:
        SourceError: the file cannot be opened for reading, or has no such table, or several, or the view cannot be computed.
    """
    database, place = Database(limits), None
    try:
        with _attach(database, path) as (cursor, file):
            place = _place(cursor, file, path, table)
            header = _header(cursor, file, place)
    except SourceError as error:
        database.close()
        if str(error).startswith(f"source '{path}"):
            raise
        if place is not None and place.is_view:
            raise SourceError(
                f"source '{path}::{table}': the view cannot be computed; check that its tables and files are there, and "
                "that it names tables with their schema"
            ) from None
        raise SourceError(
            f"source '{path}': cannot be opened as a DuckDB database; close the program that has it open for writing, or "
            "bring it to a version of DuckDB that this one reads"
        ) from None
    engine = _DuckdbFileEngine(database, path, place, header)
    return _DuckdbViewEngine(engine, database, path) if place.is_view else engine


def is_duckdb_view(path: Path, table: str) -> bool:
    """True if it is the name of a view. A file that cannot be read has none."""
    database = Database(NO_LIMITS)
    try:
        with _attach(database, path) as (cursor, file):
            return _place(cursor, file, path, table).is_view
    except SourceError:
        return False
    finally:
        database.close()


class _DuckdbFileEngine:
    """One table of a file; each statement has the file attached while it runs."""

    def __init__(self, database: Database, path: Path, place: _Place, header: Header) -> None:
        self._database, self._path, self._place, self._header = database, path, place, header
        self._chosen: Rowwise | None = None

    @property
    def header(self) -> Header:
        return self._header if self._chosen is None else self._chosen.header

    def select(self, chosen: Rowwise) -> None:
        self._chosen = chosen

    def snapshot(self) -> str:
        return database_snapshot(self._path, (".wal",))

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        with _attach(self._database, self._path) as (cursor, file):
            table = self.table(file, columns_of([(axes, moments)]))
            statement = aggregate_sql(DUCKDB, table, self.header, axes, moments)
            return cube_of(cursor.execute(statement).fetchnumpy(), axes, moments)

    def can_add_persons(self) -> bool:
        return True

    def add_persons(self, scan: PersonReading) -> Cube:
        with _attach(self._database, self._path) as (cursor, file):
            statement = add_persons_sql(DUCKDB, self.table(file, scan.columns), self.header, scan)
            return answer_cube(cursor.execute(statement).fetchnumpy(), scan)

    def can_collect(self) -> bool:
        return True

    def collect(self, cursor: Any, table: str, scan: PartReading) -> None:
        with _attached(cursor, self._path) as file:
            statement = parts_sql(DUCKDB, self.table(file, scan.columns), self.header, scan)
            cursor.execute(f"CREATE TEMP TABLE {table} AS {statement}")

    def can_keep_keys(self) -> bool:
        return True

    @contextmanager
    def open_keys(self, scan: KeyScan) -> Iterator[KeyTable]:
        with _attach(self._database, self._path) as (cursor, file):
            statement = key_rows_sql(DUCKDB, self.table(file, scan.columns), self.header, scan)
            with keys_of_statement(cursor, statement, scan) as table:
                yield table

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        with _attach(self._database, self._path) as (cursor, file):
            yield from cells_of(cursor, self.table(file, names), self.header, names)

    def table(self, file: str, names: Sequence[str]) -> str:
        """These columns, where the file is attached under this name."""
        return table_of(self._chosen, names, self._place.within(file))

    def close(self) -> None:
        self._database.close()


class _DuckdbViewEngine:
    """One view of a file, read once for a release: it may be computed from other files, or differ the next time."""

    def __init__(self, engine: _DuckdbFileEngine, database: Database, path: Path) -> None:
        self._engine, self._database, self._path = engine, database, path

    @property
    def header(self) -> Header:
        return self._engine.header

    def select(self, chosen: Rowwise) -> None:
        self._engine.select(chosen)

    def snapshot(self) -> str:
        return ""

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        return self._engine.aggregate(axes, moments)

    def aggregate_all(self, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        """One statement computes the columns; the database spills what is too large for memory."""
        names = columns_of(scans)
        columns = ", ".join(map(quote_name, names)) or "1"
        with _attach(self._database, self._path) as (cursor, file):
            kept = f"{file}_rows"
            cursor.execute(f"CREATE TEMP TABLE {kept} AS SELECT {columns} FROM {self._engine.table(file, names)}")
            statements = (aggregate_sql(DUCKDB, kept, self.header, *scan) for scan in scans)
            answers = (cursor.execute(statement).fetchnumpy() for statement in statements)
            cubes = [cube_of(answer, *scan) for answer, scan in zip(answers, scans, strict=True)]
            cursor.execute(f"DROP TABLE {kept}")
        yield from cubes

    def can_add_persons(self) -> bool:
        return True

    def add_persons(self, scan: PersonReading) -> Cube:
        return self._engine.add_persons(scan)

    def can_collect(self) -> bool:
        return True

    def collect(self, cursor: Any, table: str, scan: PartReading) -> None:
        self._engine.collect(cursor, table, scan)

    def can_keep_keys(self) -> bool:
        return True

    def open_keys(self, scan: KeyScan) -> AbstractContextManager[KeyTable]:
        """Read once, into a table."""
        return self._engine.open_keys(scan)

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        return self._engine.cells(names)

    def close(self) -> None:
        self._engine.close()


@contextmanager
def _attach(database: Database, path: Path) -> Iterator[tuple[Any, str]]:
    """A cursor, and the name that the file has while it is attached."""
    try:
        with database.cursor() as cursor, _attached(cursor, path) as file:
            yield cursor, file
    except BaseException:
        database.retire()  # and with it the file
        raise


@contextmanager
def _attached(cursor: Any, path: Path) -> Iterator[str]:
    """The name that the file has on a cursor; it stays attached where anything fails, until its database is gone."""
    literal, file = "'" + str(path).replace("'", "''") + "'", f"discreet_{uuid4().hex}"
    cursor.execute(f"ATTACH {literal} AS {file} (TYPE duckdb, READ_ONLY)")
    yield file
    cursor.execute(f"DETACH {file}")


def _place(cursor: Any, file: str, path: Path, table: str) -> _Place:
    where = f"database_name = '{file}' AND NOT internal"
    tables = f"SELECT schema_name, table_name, false FROM duckdb_tables() WHERE {where}"
    views = f"SELECT schema_name, view_name, true FROM duckdb_views() WHERE {where}"
    places = [_Place(*row) for row in cursor.execute(f"{tables} UNION ALL {views} ORDER BY ALL").fetchall()]
    found = [place for place in places if table in {place.name, f"{place.schema}.{place.name}"}]
    if len(found) == 1:
        return found[0]
    if found:
        shown = f"{found[0].schema}.{found[0].name}"
        raise SourceError(f"source '{path}::{table}': is in several schemas; write '{shown}' or another")
    raise SourceError(
        f"source '{path}::{table}': there is no such table or view; names are compared exactly"
        f"{did_you_mean(table, [f'{place.schema}.{place.name}' for place in places])}"
    )


def _header(cursor: Any, file: str, place: _Place) -> Header:
    if place.is_view:  # the file knows the types that its columns had when it was made
        return read_header(cursor.execute(f"DESCRIBE SELECT * FROM {place.within(file)}").fetchall())
    columns = cursor.execute(
        "SELECT column_name, data_type, is_generated FROM duckdb_columns() "
        f"WHERE database_name = '{file}' AND schema_name = $1 AND table_name = $2 ORDER BY column_index",
        [place.schema, place.name],
    ).fetchall()
    return {**read_header(columns), **{name: _GENERATED for name, _, generated in columns if generated}}
