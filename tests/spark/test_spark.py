"""Spark as a source: its plans, its doors, what it refuses, and releases that are equal to DuckDB's."""

from __future__ import annotations

import datetime as dt
import os
import random
import re
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet import datasets
from discreet.audit.engines.conformance import first_difference
from discreet.cube.cube import Cube
from discreet.engines import header_of, open_source
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.engines.spark import driver
from discreet.engines.spark.dialect import SPARK
from discreet.engines.sql import aggregate_sql
from discreet.noise.bits import Bits
from discreet.plan.plan import Plan
from discreet.plan.table import Table

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")]
Files = Callable[[str, pa.Table], str]
PERSONS = dp.Schema(sex=dp.Category(["F", "M"]), wage=dp.Number(0, 1000), day=dp.Date("2020-01-01", "2020-12-31"))
ROWS = pa.table(
    {"sex": ["F", "M", "x", None], "wage": [1.5, 2.5, float("nan"), 7e300], "day": [dt.date(2020, 1, 31), None, None, None]}
)


def asked(schema: dp.Schema, *groups: str, of: str = "wage") -> Plan:
    return Table(schema, dp.AddRemove()).group_by(*groups).agg(dp.count(), dp.sum(of, nulls="skip"))


def cube_of(source: Any, schema: dp.Schema, plan: Plan) -> Cube:
    wanted, engine = plan.layout.scans[0], open_source(source, schema)
    return engine.aggregate(wanted.axes, wanted.moments)


def expected(rows: list[tuple[object, ...]], kinds: dict[str, str], plan: Plan) -> Cube:
    wanted = plan.layout.scans[0]
    engine = ReferenceEngine({name: ColumnType(kind, kind) for name, kind in kinds.items()}, rows)
    return engine.aggregate(wanted.axes, wanted.moments)


# Doors ----------------------------------------------------------------------------------------------------------------


def test_every_door_leads_to_the_same_cube(session: Any, files: Files) -> None:
    path, plan = files("persons/a.parquet", ROWS), asked(PERSONS, "sex")
    frame = session.read.parquet(path)
    frame.createOrReplaceTempView("persons")
    wanted = cube_of(path, PERSONS, plan)
    for source in (frame, "spark:persons", f"spark:{path}", f"spark:{Path(path).parent}", f"spark:file://{path}"):
        assert first_difference(wanted, cube_of(source, PERSONS, plan)) is None
    assert {name: kind.kind for name, kind in header_of("spark:persons").items()} == {
        "sex": "text",
        "wage": "float",
        "day": "date",
    }
    assert [row.tableName for row in session.sql("SHOW TABLES").collect()] == ["persons"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("spark:", "name a table or a path"),
        ("spark:no.such_table", "is not a readable table"),
        ("spark:/no/such/path", "cannot be read as Parquet"),
        ("spark:'; DROP TABLE persons", "is not a readable table"),
    ],
)
def test_wrong_sources_are_refused_when_they_are_opened(session: Any, source: str, words: str) -> None:
    with pytest.raises(dp.SourceError, match=words):
        open_source(source, PERSONS)


def test_files_that_do_not_go_together_are_refused(session: Any, files: Files, tmp_path: Path) -> None:
    files("mixed/a.parquet", ROWS)
    files("mixed/b.parquet", ROWS.set_column(1, "wage", pa.array(["a"] * 4)))
    (tmp_path / "text.parquet").write_text("no Parquet")
    for path in (tmp_path / "mixed", tmp_path / "text.parquet"):
        with pytest.raises(dp.SourceError, match="cannot be read as Parquet"):
            open_source(f"spark:{path}", PERSONS)


def test_columns_are_taken_by_their_exact_names(session: Any, set_to: Any) -> None:
    frame = session.createDataFrame(pa.table({"a": ["x", "y"], "b": [1, 2]})).toDF("A.b", "a.B")
    schema = dp.Schema({"a.B": dp.Number(0, 9)})
    plan = Table(schema, dp.AddRemove()).agg(dp.sum("a.B", nulls="skip"))
    for sensitive in ("true", "false"):
        with set_to({"spark.sql.caseSensitive": sensitive}):
            assert cube_of(frame, schema, plan).sums.tolist() == [[3]]
            with pytest.raises(dp.SourceError, match=r"'a\.b': declared in the schema"):
                open_source(frame, dp.Schema({"a.b": dp.Number(0, 9)}))
            same = frame.toDF("c", "c").selectExpr("*", "1 AS d") if sensitive == "true" else frame.toDF("c", "c")
            with pytest.raises(dp.SourceError, match="two columns of this name"):
                open_source(same, dp.Schema(c=dp.Number(0, 9)))
    twice = session.createDataFrame(pa.table({"a": ["x"], "b": ["y"], "c": [3]})).toDF("a", "a", "c")
    own = dp.Schema(c=dp.Number(0, 9))
    assert cube_of(twice, own, Table(own, dp.AddRemove()).agg(dp.sum("c", nulls="skip"))).sums.tolist() == [[3]]


def test_sources_under_which_a_value_can_end_a_query_are_refused(session: Any, set_to: Any, files: Files) -> None:
    path = files("ms.parquet", pa.table({"day": pa.array([2**62], type=pa.timestamp("ms"))}))
    with pytest.raises(dp.SourceError, match="timestamps in milliseconds"):
        open_source(f"spark:{path}", dp.Schema(day=dp.Date("2020-01-01", "2020-12-31")))
    frame = session.createDataFrame(ROWS)
    with set_to({"spark.sql.parquet.datetimeRebaseModeInRead": "EXCEPTION"}):
        with pytest.raises(dp.SourceError, match="one old date ends a query"):
            open_source(frame, PERSONS)
        assert cube_of(f"spark:{files('a.parquet', ROWS)}", PERSONS, asked(PERSONS)).rows.tolist() == [4]


def test_streams_are_refused(session: Any) -> None:
    stream = session.readStream.format("rate").load()
    with pytest.raises(dp.SourceError, match="streaming"):
        open_source(stream, dp.Schema(value=dp.Number(0, 9)))


# Values that the catalogue cannot write down ---------------------------------------------------------------------------


def test_ends_of_the_calendar_are_as_in_duckdb(session: Any, set_to: Any, files: Files) -> None:
    last, days = 2**63 - 1, 2**31 - 1
    ticks = [last, -last, -last - 1, last - 1, 0, -1, 86_400 * 10**6, None]
    table = pa.table(
        {
            "local": pa.array(ticks, type=pa.timestamp("us")),
            "instant": pa.array(ticks, type=pa.timestamp("us", "UTC")),
            "day": pa.array([days, -days, -days - 1, days - 1, 0, -1, 1, None], type=pa.date32()),
        }
    )
    path = files("ends.parquet", table)
    for name in table.column_names:
        schema = dp.Schema({name: dp.Date("1969-12-31", "1970-01-02")})
        edges = ["1969-12-31", "1970-01-01", "1970-01-02"]
        plan = Table(schema, dp.AddRemove()).group_by(dp.bins(name, edges)).agg(dp.count())
        for zone in ("UTC", "Pacific/Apia"):
            with set_to({"spark.sql.session.timeZone": zone}):
                found = cube_of(f"spark:{path}", schema, plan)
            # The driver of DuckDB has no instants; here they are read in UTC.
            assert dict(zip(found.keys[:, 0].tolist(), found.rows.tolist(), strict=True)) == {-1: 3, 1: 2, 2: 3}
            if name != "instant":
                assert first_difference(cube_of(path, schema, plan), found) is None


@pytest.mark.parametrize(
    "more",
    [[], ["é"], ["'", '"', "\\", "x'", "w", "W"] + [f"w{i}" for i in range(20)], [f"w{i}" for i in range(300)]],
    ids=["few", "normalised", "listed", "joined"],
)
def test_texts_are_compared_by_their_characters_alone(session: Any, more: list[str]) -> None:
    schema = dp.Schema(a=dp.Category(["X", "a?", "?", "K", *more]))
    plan = Table(schema, dp.AddRemove()).group_by("a").agg(dp.count())
    raw = ["c3a9", "65cc81", "61ff", "ff", "78", "e284aa", "58", "5800", "4b", "20", "6b"]
    texts = (
        [f"(CAST(X'{one}' AS STRING))" for one in raw]
        + ["(NULL)"]
        + [f"(CAST(X'{one.encode().hex()}' AS STRING))" for one in more]
    )
    frame = session.sql(f"SELECT * FROM VALUES {', '.join(texts)} AS t(a)")
    # Bytes that are no UTF-8 are no category; the sign of kelvin is the letter.
    wanted = {-1: 9 - 2 * ("é" in more), 0: 1, 3: 2, **{4 + i: 1 + 2 * (one == "é") for i, one in enumerate(more)}}
    for column in ("a", "a COLLATE UTF8_LCASE AS a", "a COLLATE UNICODE_CI AS a"):
        found = cube_of(frame.selectExpr(column), schema, plan)
        assert dict(zip(found.keys[:, 0].tolist(), found.rows.tolist(), strict=True)) == wanted
    assert cube_of(session.sql("SELECT NULL AS a"), schema, plan).keys.tolist() == [[-1]]


def test_hostile_unicode_is_normalised_as_in_the_reference(session: Any) -> None:
    categories = ["Thừa Thiên Huế", "각가", "São Tomé", "K;", "Å", "\u09cb", "a\u0323\u0308\u0301"]
    draw = random.Random(8)  # noqa: S311
    texts = []
    for category in categories:
        marks = list(__import__("unicodedata").normalize("NFD", category))
        for _ in range(40):
            texts.append("".join(marks))
            i, j = draw.randrange(len(marks)), draw.randrange(len(marks))
            marks[i], marks[j] = marks[j], marks[i]
        texts += [category, category * 9, category + "\u0301"]
    schema = dp.Schema(a=dp.Category(categories))
    plan = Table(schema, dp.AddRemove()).group_by("a").agg(dp.count())
    wanted = expected([(text,) for text in texts], {"a": "text"}, plan)
    assert len(wanted.rows) == len(categories) + 1
    assert first_difference(wanted, cube_of(session.createDataFrame(pa.table({"a": texts})), schema, plan)) is None


def test_a_million_junk_texts_and_sums_of_several_limbs(session: Any) -> None:
    frame = session.range(10**6).selectExpr("concat('junk ', id) AS a", "id * 9007199254740 - 5 AS n")
    schema = dp.Schema(a=dp.Category(["F", "junk 7", "longer than others"]), n=dp.Number(-(2**51), 2**51 - 2))
    found = cube_of(frame, schema, asked(schema, "a", of="n"))
    values = [min(max(i * 9007199254740 - 5, -(2**51)), 2**51 - 2) + 2**51 for i in range(10**6)]
    assert found.keys.tolist() == [[-1], [1]]
    assert found.rows.tolist() == [10**6 - 1, 1]
    assert found.sums.tolist() == [[sum(values) - values[7]], [values[7]]]


@pytest.mark.parametrize(("merging", "rows"), [(driver._merge_groups, 2), (lambda statement, *_: statement, 10_000)])
def test_junk_texts_do_not_reach_the_driver(
    session: Any, monkeypatch: pytest.MonkeyPatch, merging: Callable[..., str], rows: int
) -> None:
    """Texts as short as the categories are groups of the executors. Without the second grouping the driver gets them all."""
    answers = []

    def kept(answer: Any, *of: Any) -> Any:
        answers.append(answer.num_rows)
        return cube(answer, *of)

    cube = driver._cube
    monkeypatch.setattr(driver, "_cube", kept)
    monkeypatch.setattr(driver, "_merge_groups", merging)
    schema = dp.Schema(a=dp.Category(["F", "junk 7", "longer than others"]))
    plan = Table(schema, dp.AddRemove()).group_by("a").agg(dp.count())
    found = cube_of(session.range(10**4).selectExpr("concat('junk ', id) AS a"), schema, plan)
    assert found.keys.tolist() == [[-1], [1]]
    assert found.rows.tolist() == [10**4 - 1, 1]
    assert answers == [rows]


def test_thousands_of_bins(session: Any) -> None:
    schema = dp.Schema(n=dp.Number(0, 20_000))
    plan = Table(schema, dp.AddRemove()).group_by(dp.bins("n", range(0, 20_001, 5))).agg(dp.count())
    found = cube_of(session.range(20_001).selectExpr("IF(id = 7, NULL, id) AS n"), schema, plan)
    assert found.keys[:, 0].tolist() == [-1, *range(1, 4001)]
    assert found.rows.tolist() == [1, 5, 4, *[5] * 3997, 6]


def test_thousands_of_bins_at_unequal_distances(session: Any) -> None:
    """Two axes as one number: what is grouped by is found again in what is named."""
    edges = [0, *(code**2 for code in range(100, 1300)), 2 * 10**6]
    schema = dp.Schema(n=dp.Number(0, 2 * 10**6), m=dp.Number(0, 2 * 10**6))
    plan = Table(schema, dp.AddRemove()).group_by(dp.bins("n", edges), dp.bins("m", edges)).agg(dp.count())
    codes = [None, *range(0, 2 * 10**6, 9973), *edges[1::60]]
    frame = session.createDataFrame([(code, code) for code in codes], "n BIGINT, m BIGINT")
    known: Counter[int] = Counter(-1 if code is None else bisect_right(edges[:-1], code) for code in codes)
    found = cube_of(frame, schema, plan)
    assert found.keys.tolist() == [[label, label] for label in sorted(known)]
    assert found.rows.tolist() == [known[label] for label in sorted(known)]


# Plans, repetition, failure -------------------------------------------------------------------------------------------


def test_one_scan_and_a_shuffle_for_each_grouping(session: Any, files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    path = files("a.parquet", ROWS.append_column("note", pa.array(["…"] * 4)))
    header = header_of(f"spark:{path}")
    many = dp.Schema({**PERSONS.columns, "sex": dp.Category(["F", "M", "é"])})  # looked up in a table that is sent to all
    months = dp.bins("day", ["2020-01-01", "2020-06-01", "2020-12-31"])
    for schema, groups in ((PERSONS, ()), (PERSONS, ("sex",)), (PERSONS, ("sex", months)), (many, ("sex", months))):
        wanted = asked(schema, *groups).layout.scans[0]
        statement = aggregate_sql(SPARK, "{source}", header, wanted.axes, wanted.moments)
        statement = driver._merge_groups(statement, wanted.axes, wanted.moments)
        session.sql(statement, source=session.read.parquet(path)).explain("simple")
        plan = capsys.readouterr().out
        assert len(re.findall(r"FileScan", plan)) == 1
        by_text = groups != () and schema is not many
        assert len(re.findall(r"Exchange (?:hashpartitioning|SinglePartition)", plan)) == 1 + by_text
        assert len(re.findall(r"REPARTITION_BY_COL", plan)) == by_text
        assert len(re.findall(r"Exchange", plan)) == 1 + by_text + (schema is many)
        assert "note" not in plan
        assert not re.search(r"Python|rand\(|SortMerge", plan)


def test_tasks_that_run_again_change_nothing(session: Any) -> None:
    """Other partitions, another order, and a shuffle before: the cube is the same arrays."""
    frame = session.range(20_000).selectExpr("if(id % 3 = 0, 'F', 'M') AS sex", "id % 977 * 1.25 AS wage", "NULL AS day")
    plan = asked(PERSONS, "sex")
    once = cube_of(frame, PERSONS, plan)
    for other in (frame.repartition(7), frame.orderBy("wage"), frame.coalesce(1), frame.repartition(3, "sex")):
        assert first_difference(once, cube_of(other, PERSONS, plan)) is None


def released(source: Any, schema: dp.Schema, groups: tuple[str, ...], statistics: tuple[Any, ...]) -> pl.DataFrame:
    with dp.Session(source, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.AddRemove()) as one:
        one._bits = lambda: Bits(random.Random(5).randbytes)  # type: ignore[method-assign] # noqa: S311
        return one.release(one.table.group_by(*groups).agg(*statistics), name="r").table


def test_releases_equal_those_of_duckdb(session: Any) -> None:
    path = str(datasets.path("acs12"))
    kinds = header_of(path)
    assert kinds["gender"].kind == "text"
    schema = dp.Schema(gender=dp.Category(["female", "male"]), age=dp.Number(0, 110), income=dp.Number(0, 300_000, 100))
    statistics = (dp.count(), dp.sum("income", nulls="skip"), dp.mean("age", nulls="skip"), dp.median("age", nulls="skip"))
    wanted = released(path, schema, ("gender",), statistics)
    for source in (f"spark:{path}", session.read.parquet(path)):
        assert released(source, schema, ("gender",), statistics).equals(wanted)


def test_vectors_of_sums_equal_those_of_duckdb(session: Any) -> None:
    path = str(datasets.path("acs12"))
    schema = dp.Schema(gender=dp.Category(["female", "male"]), age=dp.Number(0, 110), income=dp.Number(0, 300_000, 10_000))
    statistics = (
        dp.means(["age", "income"], nulls="skip"),
        dp.regression("income", ["age", "gender"], fit=["r2"], nulls="skip"),
        dp.correlations(["age", "income"], nulls="skip"),
    )
    wanted = released(path, schema, (), statistics)
    for source in (f"spark:{path}", session.read.parquet(path)):
        assert released(source, schema, (), statistics).equals(wanted)


@pytest.mark.shared
def test_releases_of_flights_equal_those_of_duckdb(session: Any, shared: Path) -> None:
    path = str(shared / "data" / "scale" / "nyc_flights_2013.parquet")
    schema = dp.Schema(
        origin=dp.Category(["EWR", "JFK", "LGA"]),
        carrier=dp.Category(["UA", "AA", "B6", "DL"]),
        arr_delay=dp.Number(-60, 600),
        distance=dp.Number(0, 5000),
    )
    statistics = (dp.count(), dp.mean("arr_delay", nulls="skip"), dp.sum("distance", nulls="skip"))
    wanted = released(path, schema, ("origin", "carrier"), statistics)
    assert released(f"spark:{path}", schema, ("origin", "carrier"), statistics).equals(wanted)


SENTINEL = "secret738291"
PROGRAM = """
import os, sys, traceback
import discreet as dp

source, what = sys.argv[1], sys.argv[2]
if what == "frame":
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.master("local[1]").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    source = spark.read.parquet(source.removeprefix("spark:"))
schema = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 10), d=dp.Date("2020-01-01", "2020-12-31"))
session = dp.Session(source, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.AddRemove())
with session:
    asked = session.table.group_by("g", dp.bins("d", ["2020-01-01", "2020-12-31"])).agg(dp.sum("v", nulls="skip"))
    if what == "broken":  # while nothing looks: the rows are gone
        session._engine._frame = session._engine._frame.selectExpr("raise_error(g) AS g", "v", "d")
        session._engine.snapshot = lambda: ""
    try:
        session.release(asked, name="r")
    except dp.DiscreetError:
        traceback.print_exc()
    print(session.spent == dp.ZCDP(1))
"""


@pytest.mark.parametrize("what", ["frame", "own", "broken"])
def test_nothing_of_a_row_is_printed_or_left(what: str, files: Files, tmp_path: Path) -> None:
    """A session of our own leaves no file, and no session prints a value, not even of a query that fails."""
    texts = [SENTINEL, SENTINEL + "\u0301", "x", "", "1e999", "9999-12-31", None]
    path = files("a.parquet", pa.table({"g": texts, "v": texts, "d": texts}))
    places = [tmp_path / name for name in ("work", "home", "temporary")]
    for place in places:
        place.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(places[1]), "TMPDIR": str(places[2])}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": f"-Djava.io.tmpdir={places[2]}"}
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, f"spark:{path}", what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment, cwd=places[0])
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"
    assert SENTINEL not in done.stdout + done.stderr
    assert (dp.ReleaseFailed.UNFINISHED in done.stderr) == (what == "broken")
    assert "Py4J" not in done.stderr
    if what != "frame":
        left = [str(found.relative_to(tmp_path)) for place in places for found in place.rglob("*") if found.is_file()]
        assert [name for name in left if "hsperfdata" not in name] == []
