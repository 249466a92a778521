"""Tables of a PostgreSQL server, named by a URL whose password is in the environment. The server is a real one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count as numbers
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.builders import plan_text, run
from tests.unit.engines.conftest import arrow_table
from tests.unit.engines.duckdb.conftest import PASSWORD, carry_out

import discreet as dp
from discreet.audit.engines.conformance import ConformanceError, check_engine, check_table
from discreet.audit.engines.hostile import hostile_tables
from discreet.engines import header_of, open_source
from discreet.engines.base import ColumnType, CubeRequest, Engine, Header, cubes_of
from discreet.engines.duckdb import postgresql as module
from discreet.engines.duckdb.dialect import COPIES, quote_name
from discreet.engines.duckdb.postgresql import Server, grouped_statement
from discreet.engines.duckdb.streams import DatabaseTable, open_streamed
from discreet.engines.reference import ReferenceEngine
from discreet.engines.resources import NO_LIMITS
from discreet.engines.sources import is_view
from discreet.engines.urls import fill_in
from discreet.errors import SourceError

pytestmark = pytest.mark.usefixtures("one_artist")

pytest.importorskip("adbc_driver_postgresql")

TABLE = """
CREATE TABLE persons
 (sex TEXT, wage NUMERIC, points DOUBLE PRECISION, years SMALLINT, born DATE, at TIMESTAMP, "a ""b" BIGINT);
INSERT INTO persons VALUES
 ('F', 120, 1.5, 7, '1990-01-31', '1990-01-31 23:59', 1), ('M', 99.5, 'NaN', -8, 'infinity', 'infinity', 2),
 (NULL, 'NaN', 'Infinity', NULL, '-infinity', '-infinity', NULL), ('é', 1e300, -1e300, 32767, '0044-03-15 BC', NULL, 3),
 ('F', -8, 2.5, 0, '9999-12-31', '9999-12-31 12:00', 9223372036854775807);
CREATE VIEW seen AS SELECT sex, wage FROM persons;
CREATE SCHEMA "other.one";
"""
ROWS = [("F", 120, 1.5), ("M", 99.5, None), (None, None, None), ("é", 1e300, -1e300), ("F", -8, 2.5)]
SCHEMA = dp.Schema(
    sex=dp.Category(["F", "M", "é"]), wage=dp.Number(0, 2000, "0.5", missing=[-8]), points=dp.Number(0, 10, "0.5")
)


@pytest.fixture(scope="module")
def filled(server: str) -> str:
    carry_out(server, *TABLE.strip().removesuffix(";").split(";\n"))
    return server


def test_a_table_is_read_as_the_reference_reads_it(filled: str) -> None:
    plan = (
        dp.Table(SCHEMA, dp.AddRemove())
        .group_by("sex")
        .agg(dp.count(), dp.sum("wage", nulls="skip"), dp.sum("points", nulls="skip"))
    )
    (scan,) = plan.layout.scans
    header = {
        "sex": ColumnType("text", "text"),
        "wage": ColumnType("float", "DOUBLE"),
        "points": ColumnType("float", "DOUBLE"),
    }
    expected = ReferenceEngine(header, ROWS).aggregate(scan.axes, scan.moments)
    for table in ("persons", "public.persons"):
        found = open_source(f"{filled}::{table}", SCHEMA).aggregate(scan.axes, scan.moments)
        assert all((getattr(found, part) == getattr(expected, part)).all() for part in ("keys", "rows", "nonnull", "sums"))


def test_hostile_cells_end_no_reading(filled: str) -> None:
    schema = dp.Schema(
        {
            "born": dp.Date("1900-01-01", "2000-01-01"),
            "at": dp.Date("1900-01-01", "2000-01-01", missing=["9999-12-31"]),
            "years": dp.Number(0, 9, missing=[-8]),
            'a "b': dp.Number(0, 9),
        }
    )
    plan = dp.Table(schema, dp.AddRemove()).agg(*(dp.count(name) for name in schema.columns))
    engine = open_source(f"{filled}::persons", schema)
    cubes = [engine.aggregate(scan.axes, scan.moments) for scan in plan.layout.scans]
    assert {int(cube.rows.sum()) for cube in cubes} == {5}


def test_a_plan_is_released_from_a_server(filled: str, tmp_path: Path) -> None:
    plan = plan_text("one-key").replace("a.txt", f"{filled}::persons").replace("rows = 4", "rows = 5").replace("g]", "sex]")
    plan = plan.replace('["ä", "b"]', '["F", "M"]').replace('["g"]', '["sex"]')
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    for command in (["check"], ["release", "--out", str(tmp_path / "out")]):
        done = run(command[0], str(tmp_path / "plan.toml"), *command[1:])
        assert done.exit_code == 0, done.output
        assert PASSWORD not in done.output
    assert dp.Release.load(tmp_path / "out").table["count"].to_list() == [2, 1, 2]
    assert not [one for one in tmp_path.rglob("*") if one.is_file() and PASSWORD.encode() in one.read_bytes()]


def test_a_server_that_refuses_or_a_table_that_is_missing_is_reported_without_the_words_of_the_driver(filled: str) -> None:
    for source in (f"{filled}::no such", filled.replace("reader:", "nobody:") + "::persons", f"{filled}x::persons"):
        with pytest.raises(SourceError, match="source: the table cannot be opened") as caught:
            header_of(source)
        assert PASSWORD not in str(caught.value)
        assert "nobody" not in str(caught.value)


def test_a_url_without_a_table_is_refused(filled: str) -> None:
    with pytest.raises(SourceError, match="names no table"):
        header_of(filled)


def test_a_name_is_a_name(filled: str) -> None:
    with pytest.raises(SourceError):
        header_of(f'{filled}::persons"; DROP TABLE persons; --')
    assert "sex" in header_of(f"{filled}::persons")


def test_a_lost_connection_is_the_constant_error(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_source(f"{filled}::persons", SCHEMA)
    monkeypatch.setenv("DISCREET_TEST_PG", "changed")
    (scan,) = dp.Table(SCHEMA, dp.AddRemove()).agg(dp.count()).layout.scans
    with pytest.raises(SourceError, match="could not be read to its end"):
        engine.aggregate(scan.axes, scan.moments)


Rows = Sequence[Sequence[object]]
TYPES = {
    "TINYINT": "smallint",
    "SMALLINT": "smallint",
    "INTEGER": "integer",
    "BIGINT": "bigint",
    "VARCHAR": "text",
    "DOUBLE": "double precision",
    "FLOAT": "real",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
}
"""What PostgreSQL calls the types of the hostile tables. It has no unsigned and no 128-bit integers, and no character 0."""
ALL_TABLES = {table.name for table in hostile_tables()}
ALL = {name for name in ALL_TABLES if not re.search("unsigned|128-bit|control characters", name)}
EVERYTHING, NOTHING = 2**400, 0  # how many different rows are few


def opener_of(server: str) -> Any:
    """Opens a table of the server with the rows, a new one each time."""
    from adbc_driver_postgresql import dbapi

    number = numbers()

    def opened(header: Header, rows: Rows) -> Engine:
        table = f"hostile{next(number)}"
        kinds = {name: TYPES.get(kind.shown, kind.shown.replace("DECIMAL", "numeric")) for name, kind in header.items()}
        columns = ", ".join(f"{quote_name(name)} {kind}" for name, kind in kinds.items())
        staged = arrow_table(header, rows).rename_columns([f"x{place}" for place in range(len(header))])
        with dbapi.connect(fill_in(server)) as connection:
            with connection.cursor() as cursor:
                cursor.adbc_ingest("staged", staged, mode="create", temporary=True)
                cursor.execute(f"DROP TABLE IF EXISTS {table}")
                cursor.execute(f"CREATE TABLE {table} ({columns})")
                values = ", ".join(f"x{place}::{kind}" for place, kind in enumerate(kinds.values()))
                cursor.execute(f"INSERT INTO {table} SELECT {values} FROM pg_temp.staged")
            connection.commit()
        return module.open_url(f"{server}::{table}", tuple(header), NO_LIMITS)

    return opened


FEW = {"booleans"}
SOME = {"words", "booleans"}
FIRST, SECOND = (set(sorted(ALL - SOME)[place::4]) for place in (0, 2))  # all of them in both ways take about 10 minutes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("few", "some"),
    [
        (EVERYTHING, FEW),
        pytest.param(EVERYTHING, SOME, marks=pytest.mark.slow),
        pytest.param(EVERYTHING, FIRST, marks=pytest.mark.slow),
        pytest.param(NOTHING, SECOND, marks=pytest.mark.slow),
        pytest.param(EVERYTHING, ALL, marks=pytest.mark.exhaustive),
        pytest.param(NOTHING, ALL, marks=pytest.mark.exhaustive),
    ],
    ids=["few grouped", "grouped", "others grouped", "streamed", "all grouped", "all streamed"],
)
def test_postgresql_conforms(server: str, few: int, some: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEW", few)
    assert check_engine(opener_of(server), without=ALL_TABLES - some) > 10 * len(some)


class Grouped:
    """A server that needs none: it counts the equal rows of an Arrow table, with Python's equality of texts and numbers."""

    def __init__(self, table: pa.Table) -> None:
        self._table, self.decimals = table, dict[str, ColumnType]()

    def serves(self, scans: Sequence[CubeRequest]) -> bool:
        return len(scans) > 0

    def groups(self, scans: Sequence[CubeRequest]) -> Iterator[pa.Table]:
        for axes, moments in scans:
            names = list(dict.fromkeys(one.name for one in (*axes, *moments)))
            counted = Counter(tuple(row[name] for name in names) for row in self._table.to_pylist())
            columns = [pa.array([row[i] for row in counted], type=self._table.field(n).type) for i, n in enumerate(names)]
            copies = pa.array([*counted.values()], type=pa.int64())
            yield pa.Table.from_arrays([*columns, copies], names=[*names, COPIES])


@pytest.mark.slow
def test_counted_rows_mean_what_the_rows_mean() -> None:
    def opened(header: Header, rows: Rows) -> Engine:
        table = arrow_table(header, rows)
        return open_streamed(table.to_reader, tuple(header), NO_LIMITS, lambda: Grouped(table))

    some = {
        "words",
        "doubles",
        "missing codes in 64-bit integers",
    }
    assert check_engine(opened, without=ALL_TABLES - some) > 40


def test_numbers_of_rows_that_are_forgotten_are_noticed() -> None:
    def opened(header: Header, rows: Rows) -> Engine:
        table = arrow_table(header, rows)
        return open_streamed(table.to_reader, tuple(header), NO_LIMITS, lambda: Grouped(table.slice(0, len(rows) // 2)))

    (table,) = [table for table in hostile_tables() if table.name == "booleans"]
    with pytest.raises(ConformanceError):
        check_table(opened, table)


def test_the_statement_compares_texts_by_their_bytes() -> None:
    types = {"a": "text", 'b"': "integer", "c": "character varying(7)"}
    assert grouped_statement('"t"', list(types), types) == (
        'SELECT "a" COLLATE "C" AS "a", "b""" AS "b""", "c" COLLATE "C" AS "c", count(*) AS "discreet_copies" '
        'FROM "t" GROUP BY 1, 2, 3'
    )
    assert grouped_statement('"t"', ["w"], {"w": "numeric"}).endswith(' GROUP BY 1, "w"::text')
    assert grouped_statement('"t"', [], types) == 'SELECT count(*) AS "discreet_copies" FROM "t"'


def scan_of(schema: dp.Schema, *names: str) -> CubeRequest:
    (scan,) = dp.Table(schema, dp.AddRemove()).group_by(*names).agg(dp.count()).layout.scans
    return scan.axes, scan.moments


def test_the_server_counts_where_few_rows_are_declared_of_types_that_can_be_compared() -> None:
    many = dp.Schema(g=dp.Category(["F", "M"]), n=dp.Number(0, 2**20))
    of_group = scan_of(many, "g")
    (wide,) = dp.Table(many, dp.AddRemove()).group_by("g").agg(dp.sum("n", nulls="skip")).layout.scans
    of_both = wide.axes, wide.moments
    table = DatabaseTable(print, "t")
    assert Server(table, {"g": "text"}).serves([of_group])
    assert not Server(table, {"g": "text", "n": "integer"}).serves([of_both])
    assert not Server(table, {"g": "text", "n": "integer"}).serves([of_group, of_both])
    for other in (
        "character(3)",
        "citext",
        "double precision",
        "timestamp with time zone",
        "mood",
        "text[]",
        "numeric(3,1)[]",
        "",
    ):
        assert not Server(table, {"g": other}).serves([of_group])
    assert not Server(table, {"g": "text", COPIES: "integer"}).serves([of_group])


def test_texts_that_a_collation_takes_for_equal_are_counted_apart(server: str) -> None:
    carry_out(
        server,
        "CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TABLE collated (g text COLLATE no_case)",
        "INSERT INTO collated VALUES ('F'), ('f'), ('f'), ('M')",
    )
    schema = dp.Schema(g=dp.Category(["F", "f"]))
    cube = open_source(f"{server}::collated", schema).aggregate(*scan_of(schema, "g"))
    assert sorted(cube.rows.tolist()) == [1, 1, 2]


@pytest.mark.slow
def test_decimals_that_are_written_differently_are_counted_apart(server: str) -> None:
    """1.0 and 1.00 are equal to the server. If it answered one of them for both, one row could move the others."""
    carry_out(server, "CREATE TABLE written (g numeric)", "INSERT INTO written VALUES (1.00), (1.0), (1.0), (2)")
    schema = dp.Schema(g=dp.Category(["1.0", "2"]))
    for few in (NOTHING, EVERYTHING):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_FEW", few)
            cube = open_source(f"{server}::written", schema).aggregate(*scan_of(schema, "g"))
        assert dict(zip(cube.keys[:, 0].tolist(), cube.rows.tolist(), strict=True)) == {-1: 1, 0: 2, 1: 1}


def test_a_column_of_another_type_than_at_the_opening_is_not_grouped(server: str) -> None:
    """The texts of both types arrive alike, and are compared differently."""
    carry_out(server, "CREATE TABLE retyped (g text)", "INSERT INTO retyped VALUES ('F')")
    schema = dp.Schema(g=dp.Category(["F"]))
    engine = open_source(f"{server}::retyped", schema)
    carry_out(server, "ALTER TABLE retyped ALTER COLUMN g TYPE bpchar")
    with pytest.raises(SourceError, match="could not be read to its end"):
        engine.aggregate(*scan_of(schema, "g"))


@pytest.mark.slow
def test_texts_come_in_utf8_or_the_source_is_refused(server: str) -> None:
    """In another encoding a text would be read as another one, or as null."""
    schema = dp.Schema(g=dp.Category(["F", "é"]))
    for encoding in ("LATIN1", "SQL_ASCII"):
        create_database(server, encoding)
        table = server.removesuffix("postgres") + f"in_{encoding.lower()}"
        carry_out(table, "CREATE TABLE t (g text)", f"INSERT INTO t VALUES ('F'), ({BYTE[encoding]})")
        own, utf8 = f"{table}::t", f"{table}?client_encoding=UTF8::t"
        readable, refused, found = (utf8, own, [0, 1]) if encoding == "LATIN1" else (own, utf8, [-1, 0])
        assert open_source(readable, schema).aggregate(*scan_of(schema, "g")).keys[:, 0].tolist() == found
        with pytest.raises(SourceError, match=f"stores texts as {encoding} and sends them as"):
            open_source(refused, schema)


BYTE = {"LATIN1": "chr(233)", "SQL_ASCII": "convert_from('\\xe9', 'SQL_ASCII')"}


def create_database(server: str, encoding: str) -> None:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(fill_in(server), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE in_{encoding.lower()} ENCODING '{encoding}' TEMPLATE template0 LOCALE 'C'")


def test_columns_of_types_that_pyarrow_has_not_disturb_only_who_declares_them(server: str) -> None:
    carry_out(server, "CREATE TABLE listed (g text, many numeric(10, 2)[])", "INSERT INTO listed VALUES ('F', NULL)")
    assert open_source(f"{server}::listed", dp.Schema(g=dp.Category(["F"]))).count_rows() == 1
    with pytest.raises(SourceError, match="type that cannot be read"):
        open_source(f"{server}::listed", dp.Schema(many=dp.Category(["F"])))
    with pytest.raises(SourceError, match="missing"):
        open_source(f"{server}::listed", dp.Schema(missing=dp.Category(["F"])))


def test_all_that_a_release_reads_is_read_in_one_transaction(server: str) -> None:
    carry_out(server, "CREATE TABLE growing (g text)", "INSERT INTO growing VALUES ('F')")
    schema = dp.Schema(g=dp.Category(["F"]))
    seen = module._server(module._table_of(f"{server}::growing"))
    found = []
    for group in seen.groups([scan_of(schema, "g")] * 2):
        found.append(group[COPIES].to_pylist())
        carry_out(server, "INSERT INTO growing VALUES ('F')")
    assert found == [[1], [1]]


def test_the_server_sends_different_rows_only(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out(
        server, "CREATE TABLE large AS SELECT (i % 3)::int AS g, (i % 5)::smallint AS v FROM generate_series(1, 30000) i"
    )
    sent = []
    real = Server.groups

    def groups(self: Server, scans: Sequence[CubeRequest]) -> Iterator[Any]:
        for table in real(self, scans):
            sent.append(table.num_rows)
            yield table

    monkeypatch.setattr(Server, "groups", groups)
    schema = dp.Schema(g=dp.Category([0, 1]), v=dp.Number(0, 4))
    request = dp.Table(schema, dp.AddRemove()).group_by("g").agg(dp.count(), dp.sum("v", nulls="skip"))
    engine = open_source(f"{server}::large", schema)
    (cube,) = cubes_of(engine, [(scan.axes, scan.moments) for scan in request.layout.scans])
    assert (sent, cube.rows.tolist(), cube.sums.sum()) == ([15], [10000] * 3, 60000)


def test_decimals_are_exact(server: str) -> None:
    """Half a step is rounded to the even one, which a double could miss."""
    carry_out(
        server,
        "CREATE TABLE money (w numeric(30, 3), free numeric)",
        "INSERT INTO money VALUES (0.125, 1), (0.375, 1), ('NaN', 'NaN'), (123456789012345678901234567.891, 1e500)",
    )
    schema = dp.Schema(w=dp.Number(0, 1, "0.25"))
    header = open_source(f"{server}::money", dp.Schema(w=dp.Number(0, 1), free=dp.Number(0, 1))).header
    assert header["w"] == ColumnType("decimal", "DECIMAL(30,3)", 30, 3)
    assert header["free"].kind == "text"
    plan = dp.Table(schema, dp.AddRemove()).agg(dp.sum("w", nulls="skip"))
    (scan,) = plan.layout.scans
    for few in (NOTHING, EVERYTHING):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_FEW", few)
            cube = open_source(f"{server}::money", schema).aggregate(scan.axes, scan.moments)
        assert (cube.rows.tolist(), cube.nonnull.tolist(), cube.sums.tolist()) == ([4], [[3]], [[0 + 2 + 4]])


def test_views_are_told_from_tables(filled: str) -> None:
    carry_out(filled, "CREATE MATERIALIZED VIEW kept AS SELECT sex FROM persons")
    assert [is_view(f"{filled}::{name}") for name in ("seen", "public.kept", "persons", "no such")] == [
        True,
        True,
        False,
        False,
    ]
    assert not is_view("postgresql://127.0.0.1:1/nowhere::seen")


def test_a_plan_over_a_view_is_told_what_a_row_is_and_its_query_is_computed(filled: str, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(QUERIED.replace("views.db", filled), encoding="utf-8")
    checked = run("check", str(tmp_path / "plan.toml"))
    assert checked.exit_code == 0, checked.output
    assert "note: the source is a view" in " ".join(checked.output.split())
    done = run("release", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert dp.Release.load(tmp_path / "out").table["count"].to_list() == [2, 1, 2]


QUERIED = plan_text("queried")


def test_a_plan_is_started_from_a_server(filled: str, tmp_path: Path) -> None:
    carry_out(filled, "CREATE TABLE first (sex text, years integer, many numeric(10, 2)[])")
    done = run("init", f"{filled}::first", "--out", str(tmp_path / "plan.toml"))
    assert done.exit_code == 0, done.output
    written = (tmp_path / "plan.toml").read_text(encoding="utf-8")
    assert "[columns.sex]" in written
    assert "[columns.years]" in written
    assert "[columns.many]" not in written
    assert PASSWORD not in written
