"""Tables of DuckDB and SQLite files: what a cell means, what is refused, and that nothing is written or left open."""

from __future__ import annotations

import datetime as dt
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import count as numbers
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.builders import cube_of, session_over

import discreet as dp
from discreet.audit.engines import conformance
from discreet.audit.engines.conformance import ConformanceError, check_engine, check_table
from discreet.audit.engines.hostile import HostileTable, hostile_tables
from discreet.audit.engines.persons import check_persons
from discreet.cube.cube import Cube
from discreet.domain.columns import Category, Date, Number
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines import open_source, sources
from discreet.engines.base import ColumnType, Engine, Header
from discreet.engines.duckdb.dialect import quote_name
from discreet.engines.files import has_content
from discreet.engines.resources import NO_LIMITS
from discreet.engines.sqlite import driver as sqlite_module
from discreet.errors import SourceError
from discreet.plan.plan import Plan
from discreet.plan.table import Table
from discreet.statistics import count, sum_of

Rows = Sequence[Sequence[object]]
ANY = ColumnType("any", "BLOB cells of SQLite")
SCHEMA = Schema(x=Number(0, 10))
TOTAL = Table(SCHEMA, AddRemove()).agg(sum_of("x", nulls="skip"))


def cube(source: object, plan: Plan = TOTAL) -> Cube:
    (wanted,) = plan.layout.scans
    return cube_of(source, plan.schema, wanted)


def sqlite_table(path: Path, header: Sequence[str], rows: Rows, **pragmas: str) -> str:
    """A table of columns without a type, so that every cell keeps its own."""
    with closing(sqlite3.connect(path)) as connection:
        for name, value in pragmas.items():
            connection.execute(f"PRAGMA {name} = {value}")
        connection.execute(f"CREATE TABLE \"a 'table'\" ({', '.join(map(quote_name, header))})")
        marks = ", ".join("?" * len(header))
        connection.executemany(f"INSERT INTO \"a 'table'\" VALUES ({marks})", rows)
        connection.commit()
    return f"{path}::a 'table'"


@pytest.fixture
def sqlite_opener(tmp_path: Path) -> Callable[[Header, Rows], Engine]:
    place = numbers()

    def opened(header: Header, rows: Rows) -> Engine:
        return sources.open_known(sqlite_table(tmp_path / f"{next(place)}.db", [*header], rows), (), NO_LIMITS).engine

    return opened


# Cells of all kinds in one column; what SQLite cannot hold is left out: 128 bits, and NaN, which it makes null.
KINDS = {"text", "float", "integer"}
MIXED_SCHEMA = Schema(
    n=Number(0, 100),
    third=Number(-100, 100, "1/3"),
    odd=Number("-0.3", "0.3", "0.1"),
    large=Number(2**63 - 10, 2**63 + 6),
    words=Category(["F", "é", "7", "true", "x"]),
    whole=Category([0, 7, -7, 1, 2**53, 2**63 - 1, -(2**63)]),
    day=Date("2000-01-01", "2020-12-31"),
)


def mixed() -> HostileTable:
    values: dict[str, object] = {}
    for table in hostile_tables():
        if (
            {kind.kind for kind in table.header.values()} <= KINDS
            and "128" not in table.name
            and table.name != "column names"
        ):
            picked = [row[0] for row in table.rows if row[0] == row[0]]
            values |= {repr(value): value for value in picked if not isinstance(value, int) or -(2**63) <= value < 2**63}
    values |= {repr(value): value for value in (b"", b"7", b"\xff\xfe", b"F" * 100)}
    columns = list(MIXED_SCHEMA.columns)
    rows = tuple((value,) * len(columns) for value in values.values())
    return HostileTable("cells of any kind", MIXED_SCHEMA, dict.fromkeys(columns, ANY), rows)


def test_cells_of_any_kind_mean_what_they_mean_to_the_reference(sqlite_opener: Callable[[Header, Rows], Engine]) -> None:
    table = mixed()
    assert {type(row[0]) for row in table.rows} == {int, float, str, bytes, type(None)}
    assert check_table(sqlite_opener, table) > 50


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("texts are read by their affinity", lambda cell: int(cell) if isinstance(cell, str) and cell.isdecimal() else cell),
        ("integers are doubles", lambda cell: float(cell) if type(cell) is int else cell),
        ("integers are texts", lambda cell: str(cell) if type(cell) is int else cell),
        ("bytes are texts", lambda cell: cell.decode(errors="replace") if isinstance(cell, bytes) else cell),
    ],
)
def test_other_meanings_would_be_seen(
    sqlite_opener: Callable[[Header, Rows], Engine], name: str, change: Callable[[Any], object]
) -> None:
    def mutant(header: Header, rows: Rows) -> Engine:
        return sqlite_opener(header, [[change(cell) for cell in row] for row in rows])

    with pytest.raises(ConformanceError):
        check_table(mutant, mixed())


@pytest.mark.slow
@pytest.mark.parametrize(
    "some",
    [
        ("control characters in text", "column names"),
        pytest.param(("numbers as text", "words", "dates as text", "64-bit integers"), marks=pytest.mark.exhaustive),
    ],
)
def test_sqlite_files_conform_column_by_column(
    sqlite_opener: Callable[[Header, Rows], Engine], some: tuple[str, ...]
) -> None:
    """The tables of the shipped suite in which a cell of SQLite can stand for a value, names included."""
    kept = {table.name for table in hostile_tables() if table.name in some}
    assert len(kept) == len(some)
    without = [table.name for table in hostile_tables() if table.name not in kept]
    assert check_engine(sqlite_opener, without=without) > 20


def test_texts_that_are_not_utf8_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    sqlite_table(path, ["x"], [(1,)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO \"a 'table'\" VALUES (CAST(x'37ff' AS TEXT)), (CAST(x'ff' AS TEXT))")
        connection.commit()
    assert cube(f"{path}::a 'table'").nonnull.tolist() == [[1]]
    words = Table(Schema(x=Category(["7\ufffd"])), AddRemove()).group_by("x").agg(count())
    assert cube(f"{path}::a 'table'", words).rows.tolist() == [2, 1]
    sqlite_table(tmp_path / "16.db", ["x"], [("é",)], encoding="'UTF-16'")
    words = Table(Schema(x=Category(["é"])), AddRemove()).group_by("x").agg(count())
    assert cube(f"{tmp_path / '16.db'}::a 'table'", words).keys.tolist() == [[0]]


def test_many_rows_are_read_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = sqlite_table(tmp_path / "a.db", ["x"], [(k % 11,) for k in range(1000)])
    whole = cube(source)
    assert whole.rows.tolist() == [1000]
    monkeypatch.setattr(sqlite_module, "_ROWS", 300)
    assert cube(source).sums.tolist() == whole.sums.tolist() == [[sum(k % 11 for k in range(1000))]]
    assert cube(source, Table(SCHEMA, AddRemove()).agg(count())).rows.tolist() == [1000]


def test_a_log_or_a_link_that_goes_while_it_is_looked_at_was_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever closes a database last removes its log: what was there at one look may be gone at the next."""
    source = sqlite_table(tmp_path / "a.db", ["x"], [(1,)], journal_mode="wal")
    with closing(open_source(source, SCHEMA)) as engine, monkeypatch.context() as patch:
        first = engine.snapshot()
        patch.setattr(Path, "exists", lambda _: True)
        patch.setattr(Path, "is_symlink", lambda _: True)
        assert engine.snapshot() == first
        (wanted,) = TOTAL.layout.scans
        assert engine.aggregate(wanted.axes, wanted.moments).sums.tolist() == [[1]]
    assert not has_content(tmp_path / "a.db-wal")
    assert has_content(tmp_path / "a.db")
    (tmp_path / "a.db-wal").touch()
    assert not has_content(tmp_path / "a.db-wal")


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_reading_sqlite_leaves_nothing_behind(tmp_path: Path, mode: str) -> None:
    source = sqlite_table(tmp_path / "a.db", ["x"], [(1,)], journal_mode=mode)
    before = (tmp_path / "a.db").read_bytes(), (tmp_path / "a.db").stat().st_mtime_ns
    engine = open_source(source, SCHEMA)
    first = engine.snapshot()
    (wanted,) = TOTAL.layout.scans
    assert engine.aggregate(wanted.axes, wanted.moments).sums.tolist() == [[1]]
    assert engine.snapshot() == first
    engine.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
    assert ((tmp_path / "a.db").read_bytes(), (tmp_path / "a.db").stat().st_mtime_ns) == before


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_row_that_is_added_changes_the_snapshot(tmp_path: Path, mode: str) -> None:
    source = sqlite_table(tmp_path / "a.db", ["x"], [(1,)], journal_mode=mode)
    engine = open_source(source, SCHEMA)
    (wanted,) = TOTAL.layout.scans
    seen = [engine.snapshot()]
    with closing(sqlite3.connect(tmp_path / "a.db")) as writer:
        for x in (2, 3):
            writer.execute("INSERT INTO \"a 'table'\" VALUES (?)", (x,))
            writer.commit()
            seen.append(engine.snapshot())
        assert engine.aggregate(wanted.axes, wanted.moments).sums.tolist() == [[6]]
        assert engine.snapshot() == seen[-1]
    assert len(set(seen)) == 3
    assert engine.aggregate(wanted.axes, wanted.moments).sums.tolist() == [[6]]


def test_names_in_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "a?b#c%20[1]'.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE persons (x INTEGER, b BOOLEAN, later GENERATED ALWAYS AS (x + 1), kept AS (x) STORED);"
            "INSERT INTO persons (x, b) VALUES (7, 1), (-9223372036854775808, 0);"
            "CREATE VIEW looked AS SELECT * FROM persons; CREATE TABLE cased (é, É);"
        )
    assert cube(f"{path}::persons").sums.tolist() == [[7]]
    assert cube(Path(f"{path}::persons")).sums.tolist() == [[7]]
    for table in ("Looked", "Persons", "person", "sqlite_master", "", "main.persons"):
        with pytest.raises(SourceError, match="there is no such table"):
            open_source(f"{path}::{table}", SCHEMA)
    with pytest.raises(SourceError, match="did you mean 'persons'"):
        open_source(f"{path}::person", SCHEMA)
    with pytest.raises(SourceError, match="differ only in case"):
        open_source(f"{path}::cased", SCHEMA)
    for name in ("later", "kept"):
        with pytest.raises(SourceError, match="holds a generated column"):
            open_source(f"{path}::persons", Schema({name: Number(0, 1)}))
    with pytest.raises(SourceError, match=r"BOOLEAN cells of SQLite, .* read from boolean, text columns"):
        open_source(f"{path}::persons", Schema(b=Category([False, True])))
    assert cube(f"{path}::persons", Table(Schema(b=Category([0, 1])), AddRemove()).group_by("b").agg(count())).rows.size == 2


def test_what_needs_too_many_bits_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    source = sqlite_table(tmp_path / "a.db", ["x"], [(1,)])
    with pytest.raises(SourceError, match="more than 128 bits"):
        open_source(source, Schema(x=Number(2**100, 2**100 + 1, f"1/{2**40}")))


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    def refused(message: str, source: object) -> None:
        with pytest.raises(SourceError, match=message):
            open_source(source, SCHEMA)

    (tmp_path / "a.txt").write_text("x\n1\n")
    (tmp_path / "short.db").write_bytes(b"SQLite format 3\0")
    (tmp_path / "short.duckdb").write_bytes(b"12345678DUCK" + b"\0" * 10_000)
    sqlite_table(tmp_path / "a.db", ["x"], [(1,)])
    refused("neither a DuckDB database nor an SQLite database nor an Excel workbook", tmp_path / "a.txt::t")
    refused("cannot be opened", tmp_path / "none.db::t")
    refused("is a directory", f"{tmp_path}::t")
    refused("cannot be read as an SQLite database", tmp_path / "short.db::t")
    refused("cannot be opened as a DuckDB database", tmp_path / "short.duckdb::t")
    refused("is a database; name one of its tables", tmp_path / "a.db")
    for source in (tmp_path / "a.db", tmp_path / "a.txt"):
        source.chmod(0)
        if not os.access(source, os.R_OK):
            refused("cannot be read", f"{source}::t")


# DuckDB files ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "sur'vey.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE persons (x INTEGER, word VARCHAR, later INTEGER GENERATED ALWAYS AS (x + 1))")
        connection.execute("INSERT INTO persons VALUES (1, 'F'), (2, 'M'), (NULL, NULL)")
        connection.execute("CREATE VIEW looked AS SELECT * FROM persons")
        connection.execute('CREATE SCHEMA "o\'ther"; CREATE TABLE "o\'ther"."t.\'1" AS SELECT 5 AS x')
        connection.execute("CREATE SCHEMA second; CREATE TABLE second.twice (x INT); CREATE TABLE twice (x INT)")
    return path


def test_tables_of_duckdb_files(survey: Path) -> None:
    before = survey.read_bytes(), survey.stat().st_mtime_ns
    assert cube(f"{survey}::persons").sums.tolist() == [[3]]
    assert cube(f"{survey}::main.persons").nonnull.tolist() == [[2]]
    assert cube(f"{survey}::t.'1").sums.tolist() == cube(f"{survey}::o'ther.t.'1").sums.tolist() == [[5]]
    assert cube(f"{survey}::second.twice").rows.tolist() == []
    assert (survey.read_bytes(), survey.stat().st_mtime_ns) == before
    assert [path.name for path in survey.parent.iterdir()] == [survey.name]


def test_tables_that_are_refused(survey: Path) -> None:
    for table in ("Looked", "Persons", "none", "information_schema.tables", "duckdb_tables"):
        with pytest.raises(SourceError, match="there is no such table"):
            open_source(f"{survey}::{table}", SCHEMA)
    with pytest.raises(SourceError, match=r"is in several schemas; write 'main[.]twice' or another"):
        open_source(f"{survey}::twice", SCHEMA)
    with pytest.raises(SourceError, match="holds a generated column"):
        open_source(f"{survey}::persons", Schema(later=Number(0, 1)))


def test_a_duckdb_file_is_free_between_two_readings(survey: Path) -> None:
    engine = open_source(f"{survey}::persons", SCHEMA)
    (wanted,) = TOTAL.layout.scans
    first = engine.snapshot()
    assert engine.aggregate(wanted.axes, wanted.moments).sums.tolist() == [[3]]
    with duckdb.connect(survey) as writer:
        with pytest.raises(SourceError, match="cannot be opened as a DuckDB database"):
            open_source(f"{survey}::persons", SCHEMA)
        with pytest.raises(SourceError, match="could not be read to its end"):
            engine.aggregate(wanted.axes, wanted.moments)
        writer.execute("INSERT INTO persons VALUES (10, 'x')")
        assert engine.snapshot() != first  # in the log beside the file
    assert engine.snapshot() != first
    assert engine.aggregate(wanted.axes, wanted.moments).sums.tolist() == [[13]]


@pytest.mark.parametrize(
    "some", [{"booleans as text"}, pytest.param({"words", "doubles", "column names"}, marks=pytest.mark.exhaustive)]
)
def test_duckdb_files_conform(tmp_path: Path, some: set[str]) -> None:
    place = numbers()

    def opened(header: Header, rows: Rows) -> Engine:
        path = tmp_path / f"{next(place)}.duckdb"
        with duckdb.connect(path) as connection:
            columns = ", ".join(f"{quote_name(name)} {kind.shown}" for name, kind in header.items())
            connection.execute(f"CREATE TABLE t ({columns})")
            if rows:
                marks = ", ".join(f"CAST(? AS {kind.shown})" for kind in header.values())
                texts = [[None if cell is None else str(cell) for cell in row] for row in rows]
                connection.executemany(f"INSERT INTO t VALUES ({marks})", texts)
        return sources.open_known(f"{path}::t", (), NO_LIMITS).engine

    assert check_engine(opened, without=[t.name for t in hostile_tables() if t.name not in some]) > 10


def test_whole_releases(survey: Path, tmp_path: Path) -> None:
    lite = sqlite_table(tmp_path / "a.db", ["x"], [(1,)] * 9)
    for number, source in enumerate((f"{survey}::persons", lite)):
        session = session_over(source, SCHEMA, ledger=tmp_path / f"{number}.ledger", budget=dp.PureDP(10))
        with session:
            release = session.release(session.table.agg(dp.count()), spend=5, name="r")
            assert session.release(session.table.agg(dp.count()), spend=5, name="r").document == release.document
            assert session.spent == dp.PureDP(5)


def test_sums_of_vectors_are_in_the_suite(sqlite_opener: Callable[[Header, Rows], Engine]) -> None:
    """Two numbers and a category, whose codes together are the cells that regressions rest on."""
    schema = Schema(n=Number(0, 20), m=Number(-3, 3), s=Category(["x", "y"]))
    cells: list[Any] = [3, 7.0, "11", None, "20", -5, 100, 0]
    rows = tuple((cells[i % 8], cells[(3 * i) % 8], ["x", "y", "z", None][i % 4]) for i in range(60))
    table = HostileTable("vectors", schema, dict.fromkeys(("n", "m", "s"), ANY), rows)
    assert "a vector of sums" in dict(conformance._requests(table))
    assert check_table(sqlite_opener, table) > 10


def test_sqlite_adds_up_persons(sqlite_opener: Callable[[Header, Rows], Engine]) -> None:
    def opened(header: Header, rows: Rows) -> Engine:
        return sqlite_opener(header, [[str(cell) if isinstance(cell, dt.date) else cell for cell in row] for row in rows])

    assert check_persons(opened) == 153
