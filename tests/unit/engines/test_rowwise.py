"""Row-wise queries over every source whose engine computes them: the cube of the query is that of its rows, one by one."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.builders import cube_of, session_over

import discreet as dp
from discreet.cube.cube import Cube
from discreet.engines import header_faults, open_source
from discreet.engines.base import ColumnType, Header, cubes_of
from discreet.engines.inspection import check_inspectable, inspect_source
from discreet.engines.reference import ReferenceEngine
from discreet.engines.rowwise import Rowwise, Selecting, derived_rows, rowwise
from discreet.errors import LedgerError, PlanError, RowsDiffer, SourceError


def moment(*parts: int) -> dt.datetime:
    return dt.datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001


ROWS = [
    {"sex": "F", "born": dt.date(1981, 5, 7), "pay": 1200.5, "debt": Decimal("10.25"), "n": 7, "ok": True, "Ärger": "x"},
    {"sex": " f ", "born": dt.date(2001, 12, 31), "pay": -0.0, "debt": Decimal("-99999.99"), "n": 2**63 - 1, "ok": None},
    {"sex": "m", "born": None, "pay": float("nan"), "debt": None, "n": -(2**63), "ok": False, "Ärger": "y"},
    {"sex": None, "born": dt.date(1, 1, 1), "pay": float("inf"), "debt": Decimal(0), "n": 0, "ok": True, "Ärger": ""},
    {"sex": "M", "born": dt.date(9999, 12, 31), "pay": 1e308, "debt": Decimal("99999.99"), "n": None, "ok": True},
    {"sex": "Straße", "born": dt.date(1970, 1, 1), "pay": None, "debt": Decimal("0.01"), "n": -1, "ok": None},
]
COLUMNS = ["sex", "born", "pay", "debt", "n", "ok", "Ärger"]
FRAME = pa.table(
    {name: [row.get(name) for row in ROWS] for name in COLUMNS},
    schema=pa.schema(
        [
            *(("sex", pa.string()), ("born", pa.date32()), ("pay", pa.float64()), ("debt", pa.decimal128(7, 2))),
            *(("n", pa.int64()), ("ok", pa.bool_()), ("Ärger", pa.string())),
        ]
    ),
)
QUERY = """
SELECT n AS number, ok, "Ärger",
       upper(trim(sex)) AS gender,
       year(born) // 10 * 10 AS decade,
       CASE WHEN pay > 1000 OR debt < 0 THEN 'high' WHEN pay IS NULL THEN 'none' ELSE 'low' END AS class,
       pay * 2 + debt AS doubled,
       born - DATE '1970-01-01' AS days,
       date_trunc('month', born) AS month,
       n + 1 AS next, coalesce(ok, n > 0) AS certain
FROM source
"""
SCHEMA = dp.Schema(
    {
        "number": dp.Number(-5, 10),
        "ok": dp.Category([False, True]),
        "Ärger": dp.Category(["x", "y"]),
        "gender": dp.Category(["F", "M", "STRAßE"]),
        "decade": dp.Number(0, 9990, 10),
        "class": dp.Category(["high", "low", "none"]),
        "doubled": dp.Number(-1000, 3000, "0.5"),
        "days": dp.Number(-1000, 20000),
        "month": dp.Date("1980-01-01", "2020-12-31"),
        "next": dp.Category([0, 1, 8]),
        "certain": dp.Category([False, True]),
    }
).select(QUERY)


def sources(folder: Path) -> dict[str, Any]:
    frame: Any = pl.from_arrow(FRAME)
    pq.write_table(FRAME, folder / "a.parquet")
    (folder / "many").mkdir()
    for i in range(2):
        pq.write_table(FRAME.slice(3 * i, 3), folder / "many" / f"{i}.parquet")
    with duckdb.connect(str(folder / "a.duckdb")) as connection:
        connection.register("frame", FRAME)
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
        connection.execute("CREATE VIEW v AS SELECT * FROM main.t")
    return {
        "arrow": FRAME,
        "polars": frame,
        "lazy": frame.lazy(),
        "parquet": str(folder / "a.parquet"),
        "folder": str(folder / "many"),
        "database": f"{folder / 'a.duckdb'}::t",
        "view": f"{folder / 'a.duckdb'}::v",
        "stream": lambda: FRAME,
        "relation": duckdb.from_arrow(FRAME),
    }


def reference(schema: dp.Schema, header: Header, rows: list[dict[str, Any]]) -> ReferenceEngine:
    assert schema.query is not None
    chosen = rowwise(schema.query, [*schema.columns], header, "it")
    given = derived_rows(chosen, [{name: row.get(name) for name in header} for row in rows])
    return ReferenceEngine(chosen.header, [[row[name] for name in chosen.header] for row in given])


HEADER: Header = {
    "sex": ColumnType("text", "VARCHAR"),
    "born": ColumnType("date", "DATE"),
    "pay": ColumnType("float", "DOUBLE"),
    "debt": ColumnType("decimal", "DECIMAL(7,2)", 7, 2),
    "n": ColumnType("integer", "BIGINT"),
    "ok": ColumnType("boolean", "BOOLEAN"),
    "Ärger": ColumnType("text", "VARCHAR"),
}
PLANS = [
    dp.Table(SCHEMA, dp.AddRemove()).group_by("gender", "class", "ok", "certain").agg(dp.sum("number", nulls="skip")),
    dp.Table(SCHEMA, dp.AddRemove()).group_by("Ärger", "next").agg(*(dp.sum(c, nulls="skip") for c in ("doubled", "days"))),
    dp.Table(SCHEMA, dp.AddRemove())
    .group_by(dp.bins("month", step="year"), dp.bins("decade", [0, 1990, 9990]))
    .agg(dp.count()),
    dp.Table(SCHEMA, dp.AddRemove()).agg(dp.count()),
]


def same_cube(a: Cube, b: Cube) -> bool:
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("keys", "rows", "nonnull", "sums"))


@pytest.mark.one_in(9)
@pytest.mark.parametrize("name", ["arrow", "polars", "lazy", "parquet", "folder", "database", "view", "stream", "relation"])
@pytest.mark.parametrize("plan", PLANS)
def test_every_source_gives_the_rows_of_the_query(tmp_path: Path, name: str, plan: Any) -> None:
    for scan in plan.layout.scans:
        meant = reference(SCHEMA, HEADER, ROWS).aggregate(scan.axes, scan.moments)
        assert meant.rows.sum() == len(ROWS)
        assert same_cube(cube_of(sources(tmp_path)[name], SCHEMA, scan), meant)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["lazy", "parquet", "view", "stream", "relation"])
def test_several_cubes_of_one_reading_are_those_of_the_query(tmp_path: Path, name: str) -> None:
    scans = [(scan.axes, scan.moments) for plan in PLANS for scan in plan.layout.scans]
    engine = open_source(sources(tmp_path)[name], SCHEMA)
    cubes = [*cubes_of(engine, scans)]
    engine.close()
    assert len(cubes) == len(scans) > 3
    assert all(
        same_cube(cube, reference(SCHEMA, HEADER, ROWS).aggregate(*scan)) for cube, scan in zip(cubes, scans, strict=True)
    )


def test_what_an_engine_computes_otherwise_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.engines.duckdb import rowwise as written

    wrong = {**written.SQL, "upper(text)": lambda given: given[0]}
    monkeypatch.setattr(written, "SQL", wrong)
    with pytest.raises(AssertionError):
        test_every_source_gives_the_rows_of_the_query(tmp_path, "parquet", PLANS[0])


def test_cells_of_csv_files_are_texts_and_decimal_commas_are_read_afterwards(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age;pay;note\n17;1,5;a\n 40 ;x;b\n;2,25;c\n41.0;3.5;d\n99999999999999999999;7;e\n")
    schema = dp.Schema(old=dp.Category([False, True]), pay=dp.Number(0, 10, "0.25"), twice=dp.Number(0, 20, "0.5"))
    schema = schema.select(
        "SELECT CAST(age AS INTEGER) >= 40 AS old, pay, CAST(replace(pay, ',', '.') AS DOUBLE) * 2 AS twice FROM source"
    )
    source = dp.CsvFiles(tmp_path / "a.csv", separator=";", decimal=",")
    schema = schema.read_as(source.format)
    table = dp.Table(schema, dp.AddRemove())
    (scan,) = table.group_by("old").agg(*(dp.sum(c, nulls="skip") for c in ("pay", "twice"))).layout.scans
    cube = cube_of(source, schema, scan)
    found = {
        key[0]: (rows, *sums) for key, rows, sums in zip(cube.keys.tolist(), cube.rows, cube.sums.tolist(), strict=True)
    }
    # 3.5 is not a number beside a decimal comma; in the query it is.
    assert found == {0: (1, 6, 6), 1: (2, 0, 14), -1: (2, 9 + 28, 9 + 28)}


@pytest.mark.parametrize(
    ("kind", "values", "meant"),
    [
        (pa.uint64(), [2**63, 2**64 - 1, 5], [None, None, 6]),
        (pa.int8(), [127, -128, None], [128, -127, None]),
        (pa.float32(), [1.5, float("nan"), float("-inf")], [2.5, None, None]),
        (pa.decimal128(38, 0), [Decimal(10**37), Decimal(2**53 + 1), None], [1e37 + 1, 2.0**53 + 1, None]),
        (pa.timestamp("us"), [moment(2020, 1, 31, 23, 59), moment(9999, 12, 31, 23, 59), None], "day"),
        (pa.timestamp("ns"), [moment(1969, 12, 31, 23, 59), moment(2262, 4, 11), None], "day"),
        (pa.timestamp("ms"), [moment(1969, 12, 31, 23, 59), moment(1, 1, 1), None], "day"),
        (pa.dictionary(pa.int8(), pa.string()), ["a", None, "b"], ["A", None, "B"]),
    ],
)
@pytest.mark.parametrize("how", ["parquet", "frame"])
def test_cells_of_every_type_become_values_of_the_language(
    tmp_path: Path, how: str, kind: Any, values: list[Any], meant: Any
) -> None:
    table = pa.table({"x": pa.array(values, type=kind)})
    pq.write_table(table, tmp_path / "a.parquet")
    expression = "x + 1"
    if meant == "day":
        expression, meant = (
            "x - DATE '1970-01-01'",
            [None if v is None else (v.date() - dt.date(1970, 1, 1)).days for v in values],
        )
    if pa.types.is_dictionary(kind):
        expression = "upper(x)"
    schema = dp.Schema(y=dp.Category(["A"])).select(f"SELECT {expression} AS y FROM source")
    source = str(tmp_path / "a.parquet") if how == "parquet" else table
    loose = dp.Schema(y=dp.Number(0, 1)).select(schema.query) if meant[-1] != "B" else schema
    engine = open_source(source, loose)
    cells = [value for _, some in check_inspectable(engine).cells(["y"]) for value, rows in some for _ in range(rows)]
    engine.close()
    assert sorted(map(repr, cells)) == sorted(map(repr, meant))


def test_columns_in_the_names_of_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "year=2020").mkdir()
    pq.write_table(FRAME, tmp_path / "year=2020" / "a.parquet")
    schema = dp.Schema(year=dp.Category(["2020"])).select("SELECT * FROM source")
    with pytest.raises(SourceError, match="names of folders"):
        open_source(str(tmp_path), schema)
    own = dp.Schema(year=dp.Category(["7"])).select("SELECT CAST(n AS TEXT) AS year FROM source")
    (scan,) = dp.Table(own, dp.AddRemove()).group_by("year").agg(dp.count()).layout.scans
    assert cube_of(str(tmp_path), own, scan).rows.tolist() == [5, 1]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT nn + 1 AS a FROM source", "column 'nn' is not in"),
        ("SELECT *, n + 1 AS sex FROM source", r"'sex' is in the source already"),
        ("SELECT sex + 1 AS a FROM source", r"line 1, column 12: \+ does not take \(VARCHAR, BIGINT\)"),
        ("SELECT CASE WHEN n THEN 1 END AS a FROM source", "CASE does not take"),
        ("SELECT CAST(pay AS TEXT) AS a FROM source", "CAST … AS TEXT does not take"),
        ("SELECT substr(sex, n) AS a FROM source", "argument 2 must be literals"),
        ("SELECT substr(sex, 0) AS a FROM source", "must be a whole number from 1 on"),
        ("SELECT replace(sex, 'a', 'bb') AS a FROM source", "not longer than the first"),
        (r"SELECT sex LIKE 'a\%' AS a FROM source", "without a backslash"),
        ("SELECT date_trunc('week', born) AS a FROM source", "be one of 'year'"),
        ("SELECT upper(born) AS a FROM source", "UPPER does not take"),
    ],
)
def test_what_does_not_fit_the_source_is_refused_before_anything_is_read(query: str, said: str) -> None:
    schema = (
        dp.Schema({"a": dp.Category(["x"]), "sex": dp.Category(["F"])}) if "*" in query else dp.Schema(a=dp.Category(["x"]))
    )
    with pytest.raises(SourceError, match=said):
        open_source(FRAME, schema.select(query))


def test_names_that_differ_only_in_case_are_refused() -> None:
    frame = pa.table({"a": [1], "A": [2]})
    with pytest.raises(SourceError, match="differ only in case"):
        open_source(frame, dp.Schema(b=dp.Category([3])).select('SELECT a + "A" AS b FROM source'))


def test_a_source_that_computes_no_queries_is_refused_by_name() -> None:
    schema = dp.Schema(a=dp.Number(0, 9)).select("SELECT n + 1 AS a FROM source")
    with pytest.raises(SourceError, match=r"query: .* is not read by an engine that computes queries"):
        open_source(ReferenceEngine({"n": ColumnType("integer", "BIGINT")}, []), schema)


def test_every_wrong_column_is_named_by_check(tmp_path: Path) -> None:
    pq.write_table(FRAME, tmp_path / "a.parquet")
    columns = {name: dp.Category(["x"]) for name in ("a", "b", "c")}
    schema = dp.Schema(columns).select("SELECT m AS a, upper(n) AS b, n + 1 AS c FROM source")
    faults = header_faults(str(tmp_path / "a.parquet"), schema)
    assert len(faults) == 3
    assert ["column 'm'" in faults[0], "UPPER" in faults[1], "holds BIGINT" in faults[2]] == [True] * 3


def test_inspection_shows_the_cells_of_the_query(tmp_path: Path) -> None:
    pq.write_table(FRAME, tmp_path / "a.parquet")
    engine = open_source(str(tmp_path / "a.parquet"), SCHEMA)
    found = inspect_source(check_inspectable(engine), SCHEMA)
    engine.close()
    assert found["gender"]["as declared"].values == {"F": 2, "M": 2, "STRAßE": 1} or found["gender"]
    assert sum(tally.rows for tally in found["decade"].values()) == len(ROWS)


def test_an_engine_that_selects_has_the_columns_of_the_query() -> None:
    engine = open_source(FRAME, SCHEMA)
    assert isinstance(engine, Selecting)
    assert [*engine.header] == [*SCHEMA.columns]
    assert isinstance(rowwise(SCHEMA.query, ["ok"], HEADER, "it"), Rowwise)
    engine.close()


# Sessions, digests and ledgers ---------------------------------------------------------------------------------------


def test_a_query_is_part_of_the_columns_that_it_computes_and_of_no_other() -> None:
    plain = dp.Schema(a=dp.Category(["x"]), b=dp.Number(0, 9))
    chosen = plain.select("select *, B2+1 as b from source")
    assert chosen.to_json() == [plain.to_json()[0], {**plain.to_json()[1], "query": '("B2" + 1)'}]
    assert plain.select("SELECT a, b FROM source").to_json() == plain.to_json()
    assert plain.select("SELECT a, b FROM source") == plain
    assert chosen != plain
    assert chosen == plain.select('SELECT *, ("B2" + 1) AS "b" FROM source')


def test_releases_that_do_not_use_a_computed_column_keep_their_digest() -> None:
    plain = dp.Schema(a=dp.Category(["x"]), b=dp.Number(0, 9))
    chosen = plain.select("SELECT a, c * 2 AS b FROM source")
    for asked, equal in ((dp.count(), True), (dp.sum("b", nulls="skip"), False)):
        before, after = (dp.Table(one, dp.AddRemove()).group_by("a").agg(asked) for one in (plain, chosen))
        assert (before.used_digest == after.used_digest) is equal


def test_another_expression_is_an_amendment_unless_exact_totals_use_it(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x", "y"] * 5, "c": [*range(10)]})
    schema = dp.Schema(a=dp.Category(["x", "y"]), big=dp.Category([False, True]))
    common: dict[str, Any] = {"dataset": "d", "ledger": tmp_path / "l.db", "budget": dp.ZCDP(1)}
    common |= {"neighbours": dp.ReplaceOne(rows=10), "invariants": dp.Totals("big")}
    with dp.Session(frame, schema, query="SELECT a, c > 4 AS big FROM source", **common) as session:
        session.release(session.table.group_by("a").agg(dp.count()), spend="0.1", name="r")
        assert session.totals is not None
    with dp.Session(frame, schema, query="SELECT upper(a) AS a, c > 4 AS big FROM source", **common) as session:
        session.release(session.table.group_by("a").agg(dp.count()), spend="0.1", name="s")
    with pytest.raises(LedgerError, match="big"):
        dp.Session(frame, schema, query="SELECT a, c > 5 AS big FROM source", **common)


def test_rows_are_those_of_the_source() -> None:
    frame = pl.DataFrame({"c": [*range(10)]})
    schema = dp.Schema(big=dp.Category([False, True]))
    query = "SELECT nullif(c > 4, false) AS big FROM source"
    with session_over(frame, schema, neighbours=dp.ReplaceOne(rows=10), query=query) as session:
        session.check_source()
        release = session.release(session.table.group_by("big").agg(dp.count()), spend="0.5", name="r")
        assert release.table.height == 3
    with session_over(frame, schema, neighbours=dp.ReplaceOne(rows=5), query=query) as session, pytest.raises(RowsDiffer):
        session.check_source()


def test_a_query_without_a_declared_column_is_refused() -> None:
    with pytest.raises(PlanError, match=r"query: has no column 'b', which the schema declares"):
        dp.Schema(a=dp.Category(["x"]), b=dp.Number(0, 9)).select("SELECT a FROM source")


def test_time_does_not_double_with_each_level_of_a_query() -> None:
    """A category is joined to its codes; below a join the driver may copy what a column is made of."""
    deep = {"a": " || ".join(["t"] * 36), "b": " + ".join(["f"] * 36), "c": "d" + " + 1" * 36}
    deep["e"] = "CAST(CAST(" * 15 + "CAST(t AS BIGINT)" + " AS TEXT) AS BIGINT)" * 15
    deep["g"] = "nullif(" * 30 + "t" + ", 'x')" * 30
    listed = ", ".join(f"'{place}'" for place in range(1000))
    deep["h"] = f"t IN ({listed})"
    frame = pl.DataFrame({"t": ["1"], "f": [1.5], "d": [dt.date(2020, 1, 1)]})
    columns: dict[str, Any] = {"a": dp.Category(["1" * 36]), "b": dp.Number(0, 99), "c": dp.Date("2020-01-01", "2021-01-01")}
    columns |= {"e": dp.Category([1]), "g": dp.Category(["1"]), "h": dp.Category([True])}
    query = f"SELECT {', '.join(f'{one} AS {name}' for name, one in deep.items())} FROM source"
    schema = dp.Schema(columns).select(query)
    table = dp.Table(schema, dp.AddRemove())
    plan = table.group_by("a", "e", "g", "h", dp.bins("c", step="year")).agg(dp.sum("b", nulls="skip"))
    for scan in plan.layout.scans:
        cube = cube_of(frame, schema, scan)
        assert len(cube.keys) == 1
        assert (cube.keys >= 0).all()


def test_a_query_that_takes_nothing_from_the_source_is_refused() -> None:
    with pytest.raises(SourceError, match="takes no column"):
        open_source(FRAME, dp.Schema(a=dp.Number(0, 9)).select("SELECT 1 AS a FROM source"))


def test_sheets_and_surveys_compute_queries(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    pytest.importorskip("xlsxwriter")
    frame = pl.DataFrame({"sex": ["F", " f", "m"], "n": [7, 12, 30]})
    pyreadstat.write_sav(frame.to_pandas(), tmp_path / "a.sav")
    frame.write_excel(tmp_path / "a.xlsx", worksheet="s")
    columns = {"gender": dp.Category(["F", "M"]), "tens": dp.Number(0, 9)}
    query = "SELECT upper(trim(sex)) AS gender, CAST({} AS BIGINT) // 10 AS tens FROM source"
    for source in ("a.sav", "a.xlsx::s"):
        schema = dp.Schema(columns).select(query.format("n"))
        (scan,) = dp.Table(schema, dp.AddRemove()).group_by("gender").agg(dp.sum("tens", nulls="skip")).layout.scans
        cube = cube_of(str(tmp_path / source), schema, scan)
        assert (cube.keys.tolist(), cube.rows.tolist(), cube.sums.tolist()) == ([[0], [1]], [2, 1], [[1], [3]])


@pytest.mark.parametrize("query", [None, "x AS y", "lower(x) AS y", "upper(lower(x)) AS y", "trim(x) AS y", "x || '' AS y"])
def test_a_text_in_memory_that_is_not_utf8_is_null_in_an_expression_and_in_no_category_without(query: str | None) -> None:
    raw = pa.array([b"a"] * 37 + [b"\xff", b"a\xc3", b" \xed\xa0\x80"], type=pa.binary())
    table = pa.table({"x": pa.StringArray.from_buffers(len(raw), raw.buffers()[1], raw.buffers()[2])})
    name = "x" if query is None else "y"
    chosen = None if query is None else f"SELECT {query} FROM source"
    with session_over(table, dp.Schema({name: dp.Category(["a", "A"])}), budget=dp.PureDP(1000), query=chosen) as one:
        release = one.release(one.table.group_by(name).agg(dp.count()), spend=900, name="r")
    assert sorted(release.table["count"].to_list()) == [0, 3, 37]
    assert release.table["count"].to_list()[-1] == 3
