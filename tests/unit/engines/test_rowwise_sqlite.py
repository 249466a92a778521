"""Row-wise queries over SQLite, where each cell has a kind of its own: expressions see it by the type of its column."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from tests.builders import cube_of
from tests.laws.every_operation import EXTREMES

import discreet as dp
from discreet.engines import open_source
from discreet.engines import rowwise as meanings
from discreet.engines.base import ColumnType
from discreet.engines.duckdb.dialect import quote_name
from discreet.engines.inspection import check_inspectable
from discreet.engines.rowwise import cell_value, rowwise
from discreet.errors import SourceError

from .test_rowwise import COLUMNS, FRAME, PLANS, QUERY, ROWS, SCHEMA, same_cube, sources

TYPES = {"sex": "TEXT", "born": "DATE", "pay": "REAL", "debt": "DECIMAL(7, 2)", "n": "INTEGER", "ok": "BOOLEAN", "Ärger": ""}
TRUTH = QUERY.replace("number, ok,", "number, ok = 1 AS ok,").replace("coalesce(ok,", "coalesce(ok = 1,")
"""The query, for a database in which truth values are 0 and 1."""


def stored(name: str, value: Any) -> Any:
    """The cell that a program writes for a value."""
    return None if value is None else {"born": str, "debt": float, "ok": int}.get(name, lambda one: one)(value)


def database(path: Path, types: Mapping[str, str], rows: list[tuple[Any, ...]]) -> str:
    with closing(sqlite3.connect(path)) as connection:
        columns = [f"{quote_name(name)} {type_}" for name, type_ in types.items()]
        connection.execute(f"CREATE TABLE t ({', '.join(columns)})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(types))})", rows)
        connection.execute("CREATE VIEW v AS SELECT * FROM t")
        connection.commit()
    return f"{path}::t"


@pytest.fixture
def persons(tmp_path: Path) -> str:
    """The rows of every other source as a table of SQLite."""
    return database(tmp_path / "a.sqlite", TYPES, [tuple(stored(name, row.get(name)) for name in COLUMNS) for row in ROWS])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("table", ["t", "v"])
def test_a_database_gives_the_answers_of_a_parquet_file(tmp_path: Path, persons: str, plan: Any, table: str) -> None:
    there = SCHEMA.select(TRUTH)
    for scan in plan.layout.scans:
        meant = cube_of(sources(tmp_path)["parquet"], SCHEMA, scan)
        assert meant.rows.sum() == len(ROWS)
        assert same_cube(cube_of(persons.replace("::t", f"::{table}"), there, scan), meant)


EVERY_CELL = [*(value for type_ in ("integer", "float", "text") for value in EXTREMES[type_]), b"\xff", b"7", 9e999, -9e999]
USUAL = {
    **dict.fromkeys(["INTEGER", "bigint", "BOOLEAN", "Boolean"], "integer"),
    **dict.fromkeys(["TEXT", "varchar(20)", "CLOB", "DATETIME", "TIMESTAMP"], "text"),
    **dict.fromkeys(["REAL", "double precision", "FLOAT", "NUMERIC", "decimal(3, 1)"], "float"),
    "DATE": "date",
}
SAME = {"integer": "abs(abs(x)) * 0 + x", "float": "x + 0.0", "text": "x || ''", "date": "x + 0"}
"""Expressions that give x again, but for minus zero and 2**63."""


@pytest.mark.one_in(4)
@pytest.mark.parametrize("declared", USUAL)
def test_an_expression_sees_every_cell_as_the_type_of_its_column_says(tmp_path: Path, declared: str) -> None:
    """The cells are those that SQLite has stored: it converts some of them by the type of the column."""
    source = database(tmp_path / "a.sqlite", {"x": declared, "one": "INTEGER"}, [(cell, 1) for cell in EVERY_CELL])
    kind = ColumnType("any", f"{declared} cells of SQLite", usual=USUAL[declared])
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection:
        meant = [cell_value(kind, cell) for (cell,) in connection.execute("SELECT x FROM t")]
    schema = dp.Schema(y=dp.Category(["A"])) if USUAL[declared] in {"text", "date"} else dp.Schema(y=dp.Number(0, 1))
    if USUAL[declared] == "date":
        schema = dp.Schema(y=dp.Date("2000-01-01", "2001-01-01"))
    if USUAL[declared] == "integer":
        meant = [value if value != -(2**63) else None for value in meant]
    engine = open_source(source, schema.select(f"SELECT {SAME[USUAL[declared]]} AS y FROM source"))
    assert engine.header["y"].kind == USUAL[declared]
    found = [value for _, some in check_inspectable(engine).cells(["y"]) for value, rows in some for _ in range(rows)]
    engine.close()
    shown = [value if value is None or USUAL[declared] != "date" else str(value) for value in meant]
    assert sorted(map(plain, found)) == sorted(map(plain, shown))
    assert len({*map(plain, shown)}) > 2


def plain(value: object) -> str:
    return repr(value + 0.0) if isinstance(value, float) else repr(value)


def test_an_engine_that_takes_a_cell_for_another_kind_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {**meanings._OF_PARTS, "float": lambda name: meanings._part(name, "float")}
    original = meanings.over_parts

    def mistaken(chosen: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(meanings, "_OF_PARTS", wrong)
            return original(chosen)

    monkeypatch.setattr(meanings, "over_parts", mistaken)
    with pytest.raises(AssertionError):
        test_an_expression_sees_every_cell_as_the_type_of_its_column_says(tmp_path, "NUMERIC")


@pytest.mark.parametrize("declared", ["", "BLOB", "UUID", "JSON"])
def test_a_column_of_no_known_type_can_only_be_taken_as_it_is(tmp_path: Path, declared: str) -> None:
    source = database(tmp_path / "a.sqlite", {"x": declared, "n": "INTEGER"}, [("a", 1), (1, 2)])
    schema = dp.Schema(y=dp.Category(["a"]), m=dp.Number(0, 9))
    with pytest.raises(SourceError, match=r"cells of SQLite, which has no operations; take it as it is"):
        open_source(source, schema.select("SELECT upper(x) AS y, n AS m FROM source"))
    chosen = schema.select("SELECT x AS y, n + 1 AS m FROM source")
    (scan,) = dp.Table(chosen, dp.AddRemove()).group_by("y").agg(dp.sum("m", nulls="skip")).layout.scans
    cube = cube_of(source, chosen, scan)
    assert (cube.keys.tolist(), cube.sums.tolist()) == ([[-1], [0]], [[3], [2]])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("part", ["integer", "float", "text"])
@pytest.mark.parametrize("sign", [" as ", " AS ", "_"])
def test_a_computed_column_may_have_any_name_beside_one_that_is_taken(tmp_path: Path, part: str, sign: str) -> None:
    source = database(tmp_path / "a.sqlite", {"x": "INTEGER", "s": "TEXT"}, [(1, "a"), (2.5, "b"), ("3", "a")])
    other = f"x{sign}{part}"
    schema = dp.Schema({"x": dp.Number(0, 10, "0.5"), other: dp.Number(0, 99)})
    chosen = schema.select(f"SELECT x, CASE WHEN s = 'a' THEN 50 ELSE 70 END AS \"{other}\" FROM source")
    plan = dp.Table(chosen, dp.AddRemove()).agg(dp.sum("x", nulls="skip"), dp.sum(other, nulls="skip"))
    plain = pl.DataFrame({"x": [1.0, 2.5, 3.0], "s": ["a", "b", "a"]})
    for scan in plan.layout.scans:
        assert same_cube(cube_of(source, chosen, scan), cube_of(plain, chosen, scan))


def test_inspection_shows_computed_cells_and_cells_as_they_are(persons: str) -> None:
    chosen = dp.Schema(number=dp.Number(0, 9), gender=dp.Category(["F"])).select(
        "SELECT n AS number, upper(trim(sex)) AS gender FROM source"
    )
    engine = open_source(persons, chosen)
    found: dict[str, dict[Any, int]] = {}
    for name, some in check_inspectable(engine).cells(["number", "gender"]):
        found.setdefault(name, {}).update(some)
    engine.close()
    assert found["gender"] == {"F": 2, "M": 2, None: 1, "STRAßE": 1}
    assert found["number"] == {7: 1, 2**63 - 1: 1, -(2**63): 1, 0: 1, None: 1, -1: 1}


def test_a_release_of_a_query_over_a_database(tmp_path: Path, persons: str) -> None:
    schema = dp.Schema(gender=dp.Category(["F", "M"]))
    common: dict[str, Any] = {"dataset": "d", "ledger": tmp_path / "l.db", "budget": dp.PureDP(1000)}
    with dp.Session(
        persons, schema, query="SELECT upper(trim(sex)) AS gender FROM source", neighbours=dp.ReplaceOne(rows=6), **common
    ) as session:
        release = session.release(session.table.group_by("gender").agg(dp.count()), spend=900, name="r")
    assert dict(zip(release.table["gender"], release.table["count"], strict=True)) == {"F": 2, "M": 2, None: 2}


# Relations ----------------------------------------------------------------------------------------------------------------


def relation_after(*statements: str) -> Any:
    connection = duckdb.connect()
    for statement in statements:
        connection.execute(statement)
    connection.register("frame", FRAME)
    connection.execute("CREATE TABLE persons AS SELECT * FROM frame")
    return connection.sql("FROM persons")


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("SET default_collation = 'nocase'", "default_collation = nocase"),
        ("SET default_collation = 'noaccent'", "default_collation = noaccent"),
        ("CREATE MACRO trim(a, b) AS 'x'", "a function of its own named trim"),
        ("CREATE TEMP MACRO isfinite(a) AS false", "a function of its own named isfinite"),
        ("CREATE MACRO \"TRIM\"(a, b) AS (SELECT 'x')", "a function of its own named trim"),
        ('CREATE MACRO "||"(a, b) AS 5', r"a function of its own named \|\|"),
    ],
)
def test_a_connection_on_which_expressions_mean_something_else_is_refused(statement: str, named: str) -> None:
    with pytest.raises(SourceError, match=named):
        open_source(relation_after(statement), SCHEMA)


def test_a_macro_does_not_hide_what_lists_the_macros() -> None:
    hiding = "CREATE MACRO duckdb_functions() AS TABLE SELECT 'a' AS function_name, true AS internal"
    with pytest.raises(SourceError, match="named duckdb_functions and a function of its own named upper"):
        open_source(relation_after('CREATE MACRO "Upper"(a) AS 5', hiding), SCHEMA)


@pytest.mark.parametrize(
    "macro", ["sum(a) AS 1000000", '"SUM"(a) AS 1000000', "list_position(a, b) AS (SELECT count(*) FROM persons)"]
)
def test_a_macro_that_hides_a_function_is_refused_without_a_query_too(tmp_path: Path, macro: str) -> None:
    relation = relation_after("CREATE TABLE persons (x INTEGER)", f"CREATE MACRO {macro}", "DROP TABLE persons")
    schema = dp.Schema(n=dp.Number(0, 9), sex=dp.Category(["F", "M"]))
    common: dict[str, Any] = {"dataset": "d", "ledger": tmp_path / "l.db", "budget": dp.PureDP(1)}
    with dp.Session(relation, schema, neighbours=dp.AddRemove(), **common) as session:
        with pytest.raises(SourceError, match=r"a function of its own named (sum|list_position)"):
            session.release(session.table.group_by("sex").agg(dp.sum("n", nulls="skip")), spend="0.1", name="r")
        assert session.remaining == session.budget
    engine = open_source(relation_after("SET default_collation = 'nocase'"), schema)  # plain columns have no collation
    engine.close()


def test_a_connection_that_changes_afterwards_is_noticed_before_anything_is_charged(tmp_path: Path) -> None:
    relation = relation_after("CREATE MACRO mine(a) AS 'x'", "SET default_collation = 'binary'")
    schema = dp.Schema(gender=dp.Category(["F", "M"]))
    common: dict[str, Any] = {"dataset": "d", "ledger": tmp_path / "l.db", "budget": dp.PureDP(1)}
    query = "SELECT upper(trim(sex)) AS gender FROM source"
    with dp.Session(relation, schema, query=query, neighbours=dp.AddRemove(), **common) as session:
        relation.query("any", "SET default_collation = 'nocase'")
        plan = session.table.group_by("gender").agg(dp.count())
        with pytest.raises(SourceError, match="default_collation"):
            session.release(plan, spend="0.1", name="r")
        assert session.remaining == session.budget
        relation.query("any", "RESET default_collation")
        session.release(plan, spend="0.1", name="r")


def test_a_relation_with_names_that_differ_only_in_case_is_refused() -> None:
    with pytest.raises(SourceError, match="differ only in case"):
        open_source(duckdb.sql('SELECT 1 AS a, 2 AS "A"'), dp.Schema(A=dp.Number(0, 9)))


SETTINGS = [
    *("integer_division = true", "ieee_floating_point_ops = false", "error_on_division_by_zero = false"),
    *("disabled_optimizers = 'expression_rewriter,filter_pushdown'", "TimeZone = 'Asia/Tokyo'", "threads = 1"),
    *("regex_match_operator_semantics = 'full'", "default_null_order = 'nulls_first'", "preserve_insertion_order = false"),
]


@pytest.mark.one_in(16)
@pytest.mark.parametrize("setting", SETTINGS)
def test_no_other_setting_of_a_connection_changes_an_answer(setting: str) -> None:
    for plan in PLANS:
        for scan in plan.layout.scans:
            meant = cube_of(FRAME, SCHEMA, scan)
            assert same_cube(cube_of(relation_after(f"SET {setting}"), SCHEMA, scan), meant)


@pytest.mark.slow
def test_random_tables_give_one_answer_in_all_of_them(tmp_path: Path) -> None:
    rng = random.Random(7)  # noqa: S311 (it draws test cases)
    texts = [one for one in EXTREMES["text"] if one is None or "\x00" not in one]
    frame = pl.DataFrame(
        {
            "t": pl.Series([rng.choice(texts) for _ in range(500)], dtype=pl.String),
            "i": pl.Series([rng.choice(EXTREMES["integer"]) for _ in range(500)], dtype=pl.Int64),
            "f": pl.Series([rng.choice(EXTREMES["float"]) for _ in range(500)], dtype=pl.Float64),
        }
    )
    path = tmp_path / "b.sqlite"
    source = database(path, {"t": "TEXT", "i": "INTEGER", "f": "REAL"}, frame.rows())
    query = (
        "SELECT lower(trim(t)) || upper(t) AS a, CAST(t AS BIGINT) AS b, CAST(t AS DOUBLE) * f AS c, i // 7 AS d, "
        "i * i AS e, length(replace(t, 'a', '')) AS g, CAST(CAST(t AS DATE) AS VARCHAR) AS h, "
        "CASE WHEN t LIKE '%a%' THEN round(f) ELSE i END AS k FROM source"
    )
    columns: dict[str, Any] = {name: dp.Number(-100, 100) for name in "bcdegk"}
    columns |= {name: dp.Category(["a"]) for name in "ah"}
    connection = duckdb.connect()
    connection.register("frame", frame)
    answers = []
    for given in (frame, source, connection.sql("FROM frame")):
        schema = dp.Schema(columns).select(query)
        plans = [dp.Table(schema, dp.AddRemove()).group_by("a", "h").agg(dp.sum(name, nulls="skip")) for name in "bcdegk"]
        answers.append([cube_of(given, schema, scan) for plan in plans for scan in plan.layout.scans])
    for other in answers[1:]:
        assert all(same_cube(one, another) for one, another in zip(answers[0], other, strict=True))


def test_the_header_of_a_database_names_the_types_of_its_expressions(persons: str) -> None:
    engine = open_source(persons, dp.Schema(n=dp.Number(0, 9)))
    given = {name: kind.usual for name, kind in engine.header.items()}
    engine.close()
    assert given == {
        "sex": "text",
        "born": "date",
        "pay": "float",
        "debt": "float",
        "n": "integer",
        "ok": "integer",
        "Ärger": "",
    }
    assert rowwise(SCHEMA.query, ["decade"], engine.header, "it").header["decade"].kind == "integer"  # type: ignore[arg-type]
