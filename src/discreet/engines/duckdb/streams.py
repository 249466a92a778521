"""Rows that arrive as Arrow streams: the table of a database, through ADBC, or whatever a function opens anew.

A stream can be read once, and a session makes more than one release. So a source is not a stream but a way to open one. A
release opens one stream, whatever it counts: two could have different rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from discreet.cube.cube import Cube, empty_cube, join, row_count
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.engines.base import ColumnType, CountedCells, CubeRequest, Engine, Header, columns_of, unreadable
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.chosen import read_by, table_of
from discreet.engines.duckdb.database import Database
from discreet.engines.duckdb.dialect import COUNTED, DUCKDB, quote_name
from discreet.engines.duckdb.driver import STAGED, UNREAD, cells_of, cube_of, read_header
from discreet.engines.duckdb.frames import ArrowOnly, keep_declared
from discreet.engines.resources import Limits
from discreet.engines.sql import aggregate_sql
from discreet.errors import ArgumentError, SourceError, printed

if TYPE_CHECKING:
    from discreet.engines.rowwise import Rowwise

__all__ = ["DatabaseTable", "Grouping", "open_streamed", "place_of"]

_TOGETHER = 2**20  # rows that are counted at once, where a stream is counted for several scans
_EXTRA = "install the extra: pip install 'discreet[adbc]', and the ADBC driver of your database"

Opening = Callable[[Sequence[str]], AbstractContextManager[Any]]
"""Opens a stream of at least these columns, of all of them when there are none; the reader is of pyarrow."""


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """A table of a database with an ADBC driver, read as Arrow batches.

    Args:
        connect: gives a new ADBC DB-API connection each time it is called, such as
            `lambda: adbc_driver_postgresql.dbapi.connect(uri)`. A release opens one, and closes it.
        table: the name of the table, or "schema.table", as it is spelled in the database.

    Raises:
        ArgumentError: `connect` is not a function, or `table` is not a name.
    """

    connect: Callable[[], Any]
    table: str

    def __post_init__(self) -> None:
        if not callable(self.connect):
            raise ArgumentError(f"connect={printed(self.connect)}: must be a function that gives a new connection each time")
        if not isinstance(self.table, str) or "\0" in self.table or not all(self.table.split(".")):
            raise ArgumentError(f"table={printed(self.table)}: must be the name of a table, or 'schema.table'")


def open_streamed(
    source: DatabaseTable | Callable[[], Any],
    columns: Sequence[str],
    limits: Limits,
    grouping: Callable[[], Grouping] | None = None,
) -> Engine:
    """An engine over a `DatabaseTable`, or over a function that gives a new Arrow stream each time it is called.

    Where there is a `grouping`, the database counts equal rows when that serves.

    Raises:
        SourceError: it cannot be opened, a driver is missing, or its header cannot be read.
    """
    named = "the table" if isinstance(source, DatabaseTable) else "the stream"
    opening = partial(_of_table, source) if isinstance(source, DatabaseTable) else partial(_of_function, source)
    count = partial(_count_of_table, source) if isinstance(source, DatabaseTable) else None
    try:
        with opening(()) as reader:
            schema = reader.schema
        grouped = None if grouping is None else grouping()
    except SourceError:
        raise
    except ImportError as missing:
        raise SourceError(f"source: {named} needs the package '{missing.name}'; {_EXTRA}") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever a driver raises; its text may show a password)
        shown = type(error).__name__
        raise SourceError(f"source: {named} cannot be opened ({shown}); open it without discreet to see why") from None
    return _StreamEngine(opening, schema, columns, limits, count=count, grouping=grouped)


class Grouping(Protocol):
    """A database that can count the equal rows of its table itself, and knows which of its texts are decimals."""

    @property
    def decimals(self) -> Mapping[str, ColumnType]:
        """The columns that arrive as texts, whatever they hold, and are decimals of this type."""

    def serves(self, scans: Sequence[CubeRequest]) -> bool:
        """True where it shall, which depends on nothing but the requests and the types of the columns."""

    def groups(self, scans: Sequence[CubeRequest]) -> Iterator[Any]:
        """For each scan its different rows as an Arrow table, with their numbers as `COPIES`; all in one transaction."""


class _StreamEngine:
    """One table expression, read from a new stream for each statement."""

    def __init__(
        self,
        opening: Opening,
        schema: Any,
        columns: Sequence[str],
        limits: Limits,
        *,
        count: Callable[[], int] | None,
        grouping: Grouping | None,
    ) -> None:
        self._count, self._grouping = count, grouping
        self._chosen: Rowwise | None = None
        columns = columns or _readable(schema)
        frame, others = _keep_declared(schema, columns)
        self._columns = [name for name in columns if name in schema.names]
        self._opening, self._fields = opening, {name: schema.field(name).type for name in self._columns}
        self._database = Database(limits)
        try:
            with self._database.cursor() as cursor:
                known = _describe(cursor, frame) if self._columns else {}
        except SourceError:
            raise SourceError("source: the stream cannot be read as a table") from None
        self._decimals = (
            {} if grouping is None else {name: grouping.decimals[name] for name in known if name in grouping.decimals}
        )
        self._header = {**dict.fromkeys(others, UNREAD), **known, **self._decimals}

    @property
    def header(self) -> Header:
        return self._header if self._chosen is None else self._chosen.header

    def select(self, chosen: Rowwise) -> None:
        self._chosen = chosen

    def snapshot(self) -> str:
        return ""

    def count_rows(self) -> int:
        if self._count is None:
            return row_count(self.aggregate((), ()))
        try:
            return self._count()
        except (Exception, SystemExit):  # noqa: BLE001 (as in `_read`)
            raise unreadable() from None

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        if self._grouping_of([(axes, moments)]) is not None:
            return next(self.aggregate_all([(axes, moments)]))
        with self._read(columns_of([(axes, moments)])) as (cursor, rows):
            cursor.register(STAGED, rows)
            return cube_of(cursor.execute(self._statement(axes, moments)).fetchnumpy(), axes, moments)

    def aggregate_all(self, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        """Some batches after the others are counted for every scan; the rows are kept nowhere."""
        grouping = self._grouping_of(scans)
        if grouping is not None:
            yield from self._cubes_of_groups(grouping, scans)
            return
        cubes = [
            empty_cube(len(axes), [moment.path.high - moment.path.low for moment in moments]) for axes, moments in scans
        ]
        statements = [self._statement(axes, moments) for axes, moments in scans]
        with self._read(columns_of(scans)) as (cursor, rows):
            for table in rows.tables():
                cursor.register(STAGED, table)
                for place, (statement, scan) in enumerate(zip(statements, scans, strict=True)):
                    counted = cube_of(cursor.execute(statement).fetchnumpy(), *scan)
                    cubes[place] = join([cubes[place], counted])
                cursor.unregister(STAGED)
        yield from cubes

    def _grouping_of(self, scans: Sequence[CubeRequest]) -> Grouping | None:
        """The counter of equal rows for these scans; a query has columns of its own, which the database does not know."""
        grouping = self._grouping if self._chosen is None else None
        return grouping if grouping is not None and grouping.serves(scans) else None

    def _cubes_of_groups(self, grouping: Grouping, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        cubes = []
        try:
            for scan, groups in zip(scans, grouping.groups(scans), strict=True):
                self._check_types(groups.schema, columns_of([scan]))
                with self._database.cursor() as cursor:
                    cursor.register(STAGED, ArrowOnly(groups))
                    cubes.append(cube_of(cursor.execute(self._statement(*scan, COUNTED)).fetchnumpy(), *scan))
        except (Exception, SystemExit):  # noqa: BLE001 (as in `_read`)
            raise unreadable() from None
        yield from cubes

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        with self._read(names) as (cursor, rows):
            for table in rows.tables():
                cursor.register(STAGED, table)
                yield from cells_of(cursor, self._table(names), self.header, names)
                cursor.unregister(STAGED)

    def close(self) -> None:
        self._database.close()

    def _check_types(self, schema: Any, names: Sequence[str]) -> None:
        """The columns have the types that they had when the source was opened: another one would be read differently."""
        if any(schema.field(name).type != self._fields[name] for name in names):
            raise unreadable()

    def _statement(self, axes: Sequence[KeyAxis], moments: Sequence[Moment], dialect: Dialect = DUCKDB) -> str:
        table = self._table(columns_of([(axes, moments)]))
        return aggregate_sql(dialect, table, self.header, axes, moments)

    def _table(self, names: Sequence[str]) -> str:
        """These columns of a request over what is staged. A decimal that is not a number is null."""
        read, staged = read_by(self._chosen, names), STAGED
        cast = [
            f"TRY_CAST({quote_name(name)} AS {self._decimals[name].shown}) AS {quote_name(name)}"
            for name in read
            if name in self._decimals
        ]
        if cast:
            staged = f"(SELECT * REPLACE ({', '.join(cast)}) FROM {STAGED})"
        return table_of(self._chosen, names, staged)

    @contextmanager
    def _read(self, columns: Sequence[str]) -> Iterator[tuple[Any, _Once]]:
        """A cursor, and what these columns need, or any one, in a stream that was opened for them."""
        names = read_by(self._chosen, columns) or self._columns[:1]
        try:
            with self._opening(names) as reader, self._database.cursor() as cursor:
                yield cursor, _Once(reader, {name: self._fields[name] for name in names})
        except (Exception, SystemExit):  # noqa: BLE001 (whatever raised it, its text may quote a value)
            raise unreadable() from None


def _readable(schema: Any) -> list[str]:
    """The columns that a plan can declare, for whoever declares nothing yet: all whose type has values in pyarrow."""
    import pyarrow as pa

    found = []
    for field in schema:
        with suppress(NotImplementedError):
            pa.schema([field]).empty_table()
            found.append(field.name)
    return found


def _describe(cursor: Any, frame: ArrowOnly) -> Header:
    cursor.register(STAGED, frame)
    return read_header(cursor.execute(f"DESCRIBE {STAGED}").fetchall())


def _keep_declared(schema: Any, columns: Sequence[str]) -> tuple[ArrowOnly, list[str]]:
    """The declared columns of a stream without rows, and the names of the others, whatever their types are.

    Raises:
        SourceError: two of the declared columns have one name, or pyarrow has no values of the type of one.
    """
    import pyarrow as pa

    declared = [field for field in schema if field.name in columns]
    try:
        frame, _ = keep_declared(pa.schema(declared).empty_table(), columns)
    except NotImplementedError:
        raise SourceError("source: a declared column has a type that cannot be read; convert it in a view") from None
    return frame, [name for name in schema.names if name not in columns]


class _Once:
    """These columns of a stream, for one reading, which does not begin with its schema: that is passed separately."""

    def __init__(self, reader: Any, fields: dict[str, Any]) -> None:
        import pyarrow as pa

        found = {name: reader.schema.field(name).type for name in fields}
        if found != fields:  # the driver expects other types, and would read the wrong bytes
            raise unreadable()
        names = list(fields)
        self._schema = pa.schema([pa.field(name, kind) for name, kind in fields.items()])
        arrays = ([batch[name] for name in names] for batch in reader)
        batches = (pa.RecordBatch.from_arrays(columns, schema=self._schema) for columns in arrays)
        self._reader = pa.RecordBatchReader.from_batches(self._schema, batches)

    def tables(self) -> Iterator[Any]:
        """All batches, some together as a table: at least `_TOGETHER` rows, but for the last."""
        import pyarrow as pa

        some: list[Any] = []
        rows = 0
        for batch in self._reader:
            some.append(batch)
            rows += batch.num_rows
            if rows >= _TOGETHER:
                yield ArrowOnly(pa.Table.from_batches(some))
                some, rows = [], 0
        if some:
            yield ArrowOnly(pa.Table.from_batches(some))

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._reader.__arrow_c_stream__(requested_schema)


@contextmanager
def _of_function(source: Callable[[], Any], names: Sequence[str]) -> Iterator[Any]:  # noqa: ARG001 (all columns come)
    import pyarrow as pa

    reader = pa.RecordBatchReader.from_stream(source())
    try:
        yield reader
    finally:
        with suppress(Exception):
            reader.close()


@contextmanager
def _of_table(source: DatabaseTable, names: Sequence[str]) -> Iterator[Any]:
    """The header alone when no names are given."""
    import_module("pyarrow")  # what the readers of ADBC are made of
    columns = ", ".join(quote_name(name) for name in names) or "*"
    with _select(source, columns, "" if names else " WHERE 1 = 0") as cursor:
        yield cursor.fetch_record_batch()


def _count_of_table(source: DatabaseTable) -> int:
    """The number of rows, as the database counts them."""
    with _select(source, "COUNT(*)") as cursor:
        return int(cursor.fetchone()[0])


@contextmanager
def _select(source: DatabaseTable, columns: str, condition: str = "") -> Iterator[Any]:
    """A cursor with the answer to a SELECT of the table, on a connection that is closed afterwards."""
    connection = source.connect()
    opened = [connection]
    try:
        _check_types(connection)
        cursor = connection.cursor()
        opened.insert(0, cursor)
        cursor.execute(f"SELECT {columns} FROM {place_of(source)}{condition}")
        yield cursor
    finally:
        for one in opened:
            with suppress(Exception):  # a connection that was lost cannot be closed
                one.close()


def place_of(source: DatabaseTable) -> str:
    """The table as SQL names it."""
    return ".".join(quote_name(part) for part in source.table.split("."))


def _check_types(connection: Any) -> None:
    """Checks that the types of the columns come from the database and not from the first rows."""
    info: dict[str, Any] = connection.adbc_get_info() if hasattr(connection, "adbc_get_info") else {}
    if info.get("vendor_name") == "SQLite":
        # One cell decides there whether a stream can be read to its end.
        raise SourceError(
            "source: the ADBC driver of SQLite takes the types of columns from rows, so that one cell could end a release; "
            "name the file and the table instead, as in 'survey.sqlite::persons'"
        )
