"""Tables of databases through Arrow streams, and streams that a function opens: what is asked, read, refused and closed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from tests.builders import session_over
from tests.unit.engines.conftest import arrow_table

import discreet as dp
from discreet.audit.engines.conformance import check_engine
from discreet.audit.engines.hostile import hostile_tables
from discreet.domain.columns import Category, Number
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines import open_source
from discreet.engines.base import Engine, Header, cubes_of, rows_of
from discreet.engines.duckdb import streams as module
from discreet.engines.duckdb.streams import DatabaseTable, open_streamed
from discreet.engines.resources import NO_LIMITS
from discreet.errors import ArgumentError, SourceError
from discreet.plan.table import Table
from discreet.statistics import count, sum_of

SCHEMA = Schema(x=Number(0, 10), word=Category(["F", "M"]))
(TOTAL,) = Table(SCHEMA, AddRemove()).agg(sum_of("x", nulls="skip")).layout.scans
SECRET = "738291"  # noqa: S105 - what no error may show


class Database:
    """A database of one table with an ADBC DB-API connection, as far as it is used; it remembers what was done with it.

    Args:
        table: its rows.
        lost_after: the batch after which a connection is lost, of every reading or of those from `lost_from` on.
    """

    def __init__(self, table: pa.Table, lost_after: int | None = None, lost_from: int = 0) -> None:
        self.table, self.lost_after, self.lost_from = table, lost_after, lost_from
        self.asked: list[str] = []
        self.open = 0

    def connect(self) -> Connection:
        self.open += 1
        return Connection(self)


class Connection:
    def __init__(self, database: Database) -> None:
        self.database = database

    def cursor(self) -> Connection:
        self.database.open += 1
        return self

    def execute(self, statement: str) -> None:
        self.database.asked.append(statement)

    def fetchone(self) -> tuple[int]:
        if self.database.lost_after == 0:
            raise ConnectionError(f"server closed the connection near value {SECRET}")
        return (self.database.table.num_rows,)

    def fetch_record_batch(self) -> pa.RecordBatchReader:
        database, statement = self.database, self.database.asked[-1]
        columns, place = statement.removeprefix("SELECT ").split(" FROM ")
        table = database.table if columns == "*" else database.table.select([c.strip('"') for c in columns.split(", ")])
        reading = len(database.asked)
        lost = database.lost_after if reading > database.lost_from else None

        def batches() -> Iterator[pa.RecordBatch]:
            assert "WHERE" not in place, "a header needs no rows"
            for number, batch in enumerate(table.to_batches(max_chunksize=2)):
                if number == lost:
                    raise ConnectionError(f"server closed the connection near value {SECRET}")
                yield batch

        return pa.RecordBatchReader.from_batches(table.schema, batches())

    def close(self) -> None:
        self.database.open -= 1


def persons(**more: Any) -> pa.Table:
    return pa.table({"x": [1, 2, None, 99, int(SECRET)], "word": ["F", "M", None, "?", SECRET], "note": ["…"] * 5, **more})


def test_a_database_counts_its_rows_itself_and_no_error_shows_a_value() -> None:
    database = Database(persons())
    engine = open_source(DatabaseTable(database.connect, 's.per"sons'), SCHEMA)
    assert rows_of(engine) == 5
    assert database.asked[-1] == 'SELECT COUNT(*) FROM "s"."per""sons"'
    database.lost_after = 0
    with pytest.raises(SourceError, match="could not be read to its end") as failed:
        rows_of(engine)
    assert SECRET not in repr(failed.value)
    assert database.open == 0


def test_a_stream_is_read_once_more_to_count_its_rows() -> None:
    opened = []
    engine = open_source(lambda: (opened.append(1), persons())[1], SCHEMA)
    assert (rows_of(engine), len(opened)) == (5, 2)


def total(engine: Engine) -> list[list[int]]:
    return engine.aggregate(TOTAL.axes, TOTAL.moments).sums.tolist()


def test_a_table_is_asked_for_the_columns_that_are_used() -> None:
    database = Database(persons())
    engine = open_source(DatabaseTable(database.connect, 'public.per"sons'), SCHEMA)
    assert list(engine.header) == ["note", "x", "word"]
    assert engine.header["note"].kind == "other"
    assert total(engine) == [[23]]
    assert engine.snapshot() == ""
    (counted,) = Table(SCHEMA, AddRemove()).agg(count()).layout.scans
    assert engine.aggregate(counted.axes, counted.moments).rows.tolist() == [5]
    place = '"public"."per""sons"'
    assert database.asked == [
        f"SELECT * FROM {place} WHERE 1 = 0",
        f'SELECT "x" FROM {place}',
        f'SELECT "x" FROM {place}',
    ]
    assert database.open == 0
    engine.close()


def test_functions_that_open_a_stream() -> None:
    opened = []

    def stream() -> pa.RecordBatchReader:
        opened.append(1)
        return persons(odd=pa.array([{}] * 5)).to_reader(max_chunksize=2)

    for source in (stream, lambda: pl.DataFrame(persons())):
        engine = open_source(source, SCHEMA)
        assert total(engine) == [[23]]
        assert engine.snapshot() == ""
    assert len(opened) == 2  # the header, the count


def test_streams_conform() -> None:
    some = {"words", "booleans as text"}

    def opened(header: Header, rows: Sequence[Sequence[object]]) -> Engine:
        table = arrow_table(header, rows)
        return open_streamed(lambda: table.to_reader(max_chunksize=7), tuple(header), NO_LIMITS)

    assert check_engine(opened, without=[table.name for table in hostile_tables() if table.name not in some]) > 20


@pytest.mark.parametrize("together", [1, 4, 100])
def test_scans_of_one_release_are_answered_from_one_stream(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stream has other rows: two streams would give two scans of different tables."""
    monkeypatch.setattr(module, "_TOGETHER", together)
    opened = []

    def stream() -> pa.RecordBatchReader:
        opened.append(len(opened))
        return pa.table({"x": [len(opened)] * 5, "word": ["F"] * 5}).to_reader(max_chunksize=2)

    engine = open_source(stream, SCHEMA)
    scan = (TOTAL.axes, TOTAL.moments)
    cubes = list(cubes_of(engine, [scan, scan, ((), ())]))
    assert [cube.rows.tolist() for cube in cubes] == [[5]] * 3
    sums = [cube.sums.tolist() for cube in cubes[:2]]
    assert sums == [[[10]], [[10]]]  # of the second stream: the first had a header
    assert len(opened) == 2
    assert [cube.sums.tolist() for cube in (engine.aggregate(*scan), engine.aggregate(*scan))] == [[[15]], [[20]]]


def test_a_stream_without_rows_answers_every_scan() -> None:
    engine = open_source(lambda: persons().slice(0, 0), SCHEMA)
    scan = (TOTAL.axes, TOTAL.moments)
    assert [len(cube.rows) for cube in cubes_of(engine, [scan, scan])] == [0, 0]


@pytest.mark.parametrize("changed", [pa.table({"x": [1.5], "word": ["F"]}), pa.table({"word": ["F"]})])
def test_a_stream_of_other_types_is_not_read(changed: pa.Table) -> None:
    """The driver reads bytes by the types that it was told first."""
    tables = [persons()]
    engine = open_source(lambda: tables[-1], SCHEMA)
    tables.append(changed)
    with pytest.raises(SourceError, match="could not be read to its end"):
        total(engine)


@pytest.mark.parametrize("batch", [0, 1, 2])
def test_a_connection_that_is_lost(batch: int) -> None:
    database = Database(persons(), lost_after=batch)
    engine = open_source(DatabaseTable(database.connect, "t"), SCHEMA)
    scan = (TOTAL.axes, TOTAL.moments)
    for call in (lambda: total(engine), lambda: list(cubes_of(engine, [scan, scan]))):
        with pytest.raises(SourceError, match="could not be read to its end") as failed:
            call()
        assert SECRET not in str(failed.value)
        assert failed.value.__suppress_context__
    assert database.open == 0
    database.lost_after = None
    assert total(engine) == [[23]]


def test_what_cannot_be_opened() -> None:
    def refused(message: str, source: object) -> None:
        with pytest.raises(SourceError, match=message) as failed:
            open_source(source, SCHEMA)
        assert SECRET not in str(failed.value)
        assert failed.value.__suppress_context__ or failed.value.__context__ is None

    def without_driver() -> None:
        import no_such_driver  # noqa: F401

    def with_password() -> None:
        raise ConnectionError(f"postgresql://me:{SECRET}@host")

    refused(r"needs the package 'no_such_driver'; install the extra: pip install 'discreet\[adbc\]'", without_driver)
    refused(r"pip install 'discreet\[adbc\]'", DatabaseTable(without_driver, "t"))
    refused(r"the table cannot be opened \(ConnectionError\); open it without discreet", DatabaseTable(with_password, "t"))
    refused(r"the stream cannot be opened \(TypeError\)", lambda: 7)
    refused(
        "'x': declared in the schema, but not in the stream, where names are compared exactly; did you mean 'X'",
        lambda: pa.table({"X": [1]}).to_reader(),
    )
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    refused("two columns of this name", twice.to_reader)
    refused("holds STRUCT", lambda: pa.table({"x": [{"a": 1}], "word": ["F"]}).to_reader())


def test_arguments_of_a_table() -> None:
    for connect, table in ((None, "t"), ("postgresql://", "t"), (print, ""), (print, "a..b"), (print, 7), (print, "a\0")):
        with pytest.raises(ArgumentError, match=r"connect=|table="):
            DatabaseTable(connect, table)  # type: ignore[arg-type]


def test_a_missing_pyarrow_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SourceError, match=r"discreet\[adbc\]"):
        open_source(DatabaseTable(lambda: None, "t"), SCHEMA)


def test_types_that_follow_rows_are_refused(tmp_path: Path) -> None:
    """The ADBC driver of SQLite: one cell decides whether a stream can be read to its end, or is opened."""
    driver = pytest.importorskip("adbc_driver_sqlite.dbapi")
    path = str(tmp_path / "a.db")
    with driver.connect(path) as connection:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE t (x INTEGER, word TEXT)")
            cursor.execute("INSERT INTO t VALUES (1, 'F'), (2, 'M')")
        connection.commit()
    with pytest.raises(SourceError, match=r"name the file and the table instead, as in 'survey.sqlite::persons'"):
        open_source(DatabaseTable(lambda: driver.connect(path), "t"), SCHEMA)
    assert total(open_source(f"{path}::t", SCHEMA)) == [[3]]


def test_a_release_from_a_database_that_is_lost() -> None:
    database = Database(persons(), lost_after=1, lost_from=1)
    session = session_over(DatabaseTable(database.connect, "t"), SCHEMA)
    request = session.table.group_by("word").agg(dp.count())
    with pytest.raises(dp.ReleaseFailed) as failed:
        session.release(request, spend="0.5", name="r")
    assert len(database.asked) == 2
    assert session.spent == dp.PureDP("0.5")
    assert (str(failed.value), failed.value.__context__) == (dp.ReleaseFailed.UNFINISHED, None)
    database.lost_after = None
    assert session.release(request, spend="0.5", name="s").table.height == 3
    assert database.open == 0
