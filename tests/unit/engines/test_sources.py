"""Frames, relations and Parquet: what is read, what is refused at the door, and that no value raises."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.builders import cube_of

from discreet.audit.engines.conformance import first_difference
from discreet.cube.cube import Cube
from discreet.cube.scans import Scan
from discreet.domain.columns import Category, Column, Date, Number
from discreet.domain.groups import bins
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines import open_source
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine, category_code
from discreet.errors import ArgumentError, SourceError
from discreet.plan.table import Table
from discreet.statistics import count, sum_of

TEN = Number(0, 10)
YEAR = Date("2020-01-01", "2020-12-31")


def asked(column: Column) -> Scan:
    table = Table(Schema(x=column), AddRemove())
    if isinstance(column, Category):
        return table.group_by("x").agg(count()).layout.scans[0]
    if isinstance(column, Number):
        return table.agg(sum_of("x", nulls="skip")).layout.scans[0]
    days = [column.value(code) for code in sorted({0, 1, column.size // 2, column.size - 1})]
    return table.group_by(bins("x", days)).agg(count()).layout.scans[0]


def cube(source: Any, column: Column) -> Cube:
    return cube_of(source, Schema(x=column), asked(column))


def expected(values: Sequence[object], column: Column, kind: str = "text") -> Cube:
    wanted = asked(column)
    return ReferenceEngine({"x": ColumnType(kind, kind)}, [(v,) for v in values]).aggregate(wanted.axes, wanted.moments)


class Loud(int):
    def __str__(self) -> str:
        raise RuntimeError("a value may not run its own code here")

    __repr__ = __str__


class Level(enum.IntEnum):
    THREE = 3


# A value of an object column, and the text that it stands for.
OBJECTS: list[tuple[object, str | None]] = [
    *[(None, None), (pd.NA, None), (pd.NaT, None), (float("nan"), "nan"), (float("inf"), "inf"), (b"7", None), ([7], None)],
    *[(object(), None), (7j, None), (Decimal("NaN"), "NaN"), (Decimal("sNaN"), "sNaN"), ({}, None), (dt.timedelta(7), None)],
    *[
        ("7", "7"),
        (np.str_("8"), "8"),
        ("\ud800", "?"),
        (7, "7"),
        (True, "true"),
        (np.bool_(False), "false"),
        (-0.0, "-0.0"),
    ],
    *[(np.int64(5), "5"), (np.uint8(6), "6"), (np.float32(2.5), "2.5"), (np.float64(1.5), "1.5"), (1e300, "1e+300")],
    *[(np.longdouble(3), None), (Decimal("7.50"), "7.50"), (Decimal("1E+1"), "1E+1"), (Loud(4), "4"), (Level.THREE, "3")],
    *[(2**70, str(2**70)), (10**5000, None), (-(10**5000), None), (np.datetime64("2020-01-04"), "2020-01-04")],
    *[
        (dt.date(2020, 1, 2), "2020-01-02"),
        (pd.Timestamp("2020-01-05 23:59"), "2020-01-05"),
        (pd.Timestamp("2020-01-06", tz="UTC").to_pydatetime(), "2020-01-06"),
        (np.datetime64("NaT"), None),
        (np.datetime64(10**17, "s"), None),
    ],
]


@pytest.mark.parametrize(
    "column", [TEN, Category([True, False]), Category(["7", "?", "true"]), Date("2020-01-01", "2020-12-31")]
)
def test_objects_stand_for_their_text(column: Column) -> None:
    values, texts = zip(*OBJECTS, strict=True)
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    assert first_difference(expected(texts, column), cube(frame, column)) is None


@pytest.mark.one_in(4)
@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
@pytest.mark.parametrize("values", [[], [None], [None, None]])
def test_a_column_of_nulls_alone_is_accepted(make: Any, values: list[object]) -> None:
    """A frame that infers its types has none for such a column; refusing it would tell that all values are null."""
    for column in (TEN, Category(["a"]), YEAR):
        assert first_difference(expected(values, column), cube(make({"x": values}), column)) is None


def test_object_columns_have_one_type_whatever_they_hold() -> None:
    """A type that followed the values would let one record decide whether the source is accepted."""
    for values in ([1, 2], [None, None], ["a"], [], [1, "a", b""]):
        frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
        assert open_source(frame, Schema(x=TEN)).header["x"].kind == "text"


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pd.Categorical([1, "a", 2.5, None]), ["1", "a", "2.5", None]),
        (pd.array(["7", None, "\ud800"], dtype=pd.StringDtype("python")), ["7", None, "?"]),
        (pd.array(["7", None], dtype="str"), ["7", None]),
        (pd.array(["7", None], dtype=pd.ArrowDtype(pa.large_string())), ["7", None]),
    ],
)
def test_pandas_texts(values: Any, texts: list[str | None]) -> None:
    assert first_difference(expected(texts, TEN), cube(pd.DataFrame({"x": values}), TEN)) is None


@pytest.mark.parametrize(
    ("values", "same", "kind"),
    [
        (pd.array([1, None, 2**62], dtype="Int64"), [1, None, 2**62], "integer"),
        (np.array([1, 255], dtype="uint8"), [1, 255], "integer"),
        (np.array([1.5, np.nan, -np.inf]), [1.5, float("nan"), float("-inf")], "float"),
        (pd.array([Decimal("1.50"), None], dtype=pd.ArrowDtype(pa.decimal128(10, 2))), [Decimal("1.50"), None], "decimal"),
    ],
)
def test_pandas_numbers(values: Any, same: list[object], kind: str) -> None:
    assert first_difference(expected(same, TEN, kind), cube(pd.DataFrame({"x": values}), TEN)) is None


@pytest.mark.one_in(3)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_belong_to_the_day_they_are_on(unit: str) -> None:
    day = 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    column = Date("1969-12-30", "1970-01-02")
    raw = [0, -1, 1, day - 1, day, -day, -day - 1, -day + 1, 2 * day, 2**62, -(2**62), 10**18, 2**63 - 2, -(2**63) + 2, None]
    days = [None if n is None else min(max(n // day, -9), 9) for n in raw]
    whole = expected([None if d is None else dt.date(1970, 1, 1) + dt.timedelta(d) for d in days], column, "date")
    stamps = pa.table({"x": pa.array(raw, pa.int64()).cast(pa.timestamp(unit))})
    assert first_difference(whole, cube(stamps, column)) is None
    for first, last in (("0001-01-01", "9999-12-31"), ("2300-01-01", "2300-01-02"), ("1600-01-01", "1600-01-02")):
        assert cube(stamps, Date(first, last)).rows.sum() == len(raw)  # bounds beyond what the unit reaches


def test_infinite_dates_and_years_beyond_python() -> None:
    column = Date("1900-01-01", "2100-12-31")
    connection = duckdb.connect()
    texts = ["infinity", "-infinity", "287000-01-01", "0044-03-15 (BC)", "5881580-07-10", "2000-01-01"]
    same = [None, None, dt.date.max, dt.date.min, dt.date.max, dt.date(2000, 1, 1)]
    for type_, values in (("DATE", texts), ("TIMESTAMP", texts[:4] + texts[5:])):
        rows = ", ".join(f"(CAST('{value}' AS {type_}))" for value in values)
        relation = connection.sql(f"SELECT * FROM (VALUES {rows}) t(x)")
        whole = expected(same if type_ == "DATE" else same[:4] + same[5:], column, "date")
        assert first_difference(whole, cube(relation, column)) is None


@pytest.mark.parametrize(
    "column", [Category(["d", "abc"]), TEN, Category([1]), Category([True]), Date("2020-01-01", "2020-01-02")]
)
def test_text_that_is_not_utf8_is_null(column: Column) -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.array(["abc", "d"]).buffers()[1], pa.py_buffer(b"\xff\xfe\xc3d")]
    )
    assert first_difference(expected([None, "d"], column), cube(pa.table({"x": broken}), column)) is None


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@pytest.mark.one_in(5)
@pytest.mark.parametrize("width", range(1, 39))
def test_decimals_of_every_type_are_exact(connection: duckdb.DuckDBPyConnection, width: int) -> None:
    for scale in {0, width // 2, width} - {37, 38}:  # refused below: they need more than 128 bits
        last = Decimal((0, (9,) * width, -scale))
        # The extremes of the type lie inside this grid, between two of its values; for the widest types, beyond it.
        unit = 10 ** max(0, width - scale - (2 if width > 36 else 0))
        column = Number(-unit, unit, unit)
        values = [last, last.copy_negate(), Decimal(0), None]
        literals = ", ".join(f"(CAST('{value:f}' AS DECIMAL({width},{scale})))" for value in values[:3])
        relation = connection.sql(f"SELECT * FROM (VALUES {literals}, (NULL)) t(x)")
        assert first_difference(expected(values, column, "decimal"), cube(relation, column)) is None


@pytest.mark.parametrize(
    ("sql", "column", "message"),
    [
        ("CAST(1 AS UHUGEINT)", TEN, "holds UHUGEINT"),
        ("TIMESTAMPTZ '2020-01-01'", Date("2020-01-01", "2020-01-02"), "holds TIMESTAMP WITH TIME ZONE"),
        ("TIME '10:00'", Date("2020-01-01", "2020-01-02"), "holds TIME"),
        ("[1, 2]", TEN, r"holds INTEGER\[\]"),
        ("true", TEN, "holds BOOLEAN"),
        ("1", Category(["a"]), "Category of str values"),
        ("CAST(0.5 AS DECIMAL(38,38))", TEN, "more than 128 bits together"),
        ("1", Number("1e-38", "3e-38", "1e-38"), "more than 128 bits together"),
    ],
)
def test_what_cannot_be_counted_is_refused_before_anything_is_spent(sql: str, column: Column, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        open_source(duckdb.connect().sql(f"SELECT {sql} AS x"), Schema(x=column))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pa.table({"x": [1]}).to_reader(), "read twice; .* or a function that opens a new Arrow stream"),
        ({"x": [1]}, "not a table that can be read twice"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "two columns of this name"),
        (pa.Table.from_arrays([pa.array([1])] * 2, names=["x", "x"]), "two columns of this name"),
        (pd.DataFrame({"x": [1j]}), "pandas type complex128 cannot be read"),
        (pd.DataFrame({"x": np.array([1], dtype=np.longdouble)}), "pandas type float128 cannot be read"),
        (pd.DataFrame({"x": pd.arrays.SparseArray([1.0])}), "pandas type Sparse"),
        (pl.DataFrame({"x": pl.Series([2**100], dtype=pl.Int128)}), "cannot be read as a table"),
        (pl.DataFrame({"X": [1], "y": [2]}), "did you mean 'X'"),
    ],
)
def test_frames_that_are_no_tables_are_refused(frame: object, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        open_source(frame, Schema(x=TEN))


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
def test_columns_are_found_by_their_exact_names(make: Any) -> None:
    """The driver ignores case and renames the second of two such names to x_1, which may be another column's name."""
    frame = make({"X": [1], "x": [2], "x_1": [3]})
    for name, value in (("X", 1), ("x", 2), ("x_1", 3)):
        engine = open_source(frame, Schema({name: TEN}))
        (wanted,) = Table(Schema({name: TEN}), AddRemove()).agg(sum_of(name, nulls="skip")).layout.scans
        assert engine.aggregate(wanted.axes, wanted.moments).sums.tolist() == [[value]]


def test_undeclared_columns_are_never_read() -> None:
    frame = pl.DataFrame(
        {"x": [7], "wide": pl.Series([2**100], dtype=pl.Int128), "o": pl.Series([object()], dtype=pl.Object)}
    )
    assert cube(frame, TEN).sums.tolist() == [[7]]
    assert cube(pd.DataFrame({"x": [7], "y": [1j]}), TEN).sums.tolist() == [[7]]


def _parquet(path: Path, **columns: list[object]) -> str:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_parquet_columns_are_found_by_name_in_every_file(tmp_path: Path) -> None:
    _parquet(tmp_path / "1.parquet", x=[1], y=[5])
    _parquet(tmp_path / "2.parquet", y=[5], x=[2])
    assert cube(str(tmp_path / "*.parquet"), TEN).sums.tolist() == [[3]]
    _parquet(tmp_path / "3.parquet", x=[1], y=["a"])
    with pytest.raises(SourceError, match="columns and types differ"):
        open_source(str(tmp_path / "*.parquet"), Schema(x=TEN))


def test_parquet_names_that_differ_in_case_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="differ only in case"):
        open_source(_parquet(tmp_path / "a.parquet", X=[1], x=[2], x_1=[3]), Schema(x_1=TEN))


def test_a_folder_name_never_becomes_a_column(tmp_path: Path) -> None:
    assert cube(_parquet(tmp_path / "x=9" / "a.parquet", x=[1]), TEN).sums.tolist() == [[1]]
    with pytest.raises(SourceError, match="not in source"):
        open_source(_parquet(tmp_path / "x=9" / "b.parquet", y=[1]), Schema(x=TEN))


def test_real_parquet_names_are_kept_apart_from_globs(tmp_path: Path) -> None:
    assert cube(_parquet(tmp_path / "a[1]'*.parquet", x=[1]), TEN).sums.tolist() == [[1]]
    _parquet(tmp_path / "a1'.parquet", x=[5])
    assert cube(str(tmp_path / "a[1]'*.parquet"), TEN).sums.tolist() == [[1]]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\0" * 64 + b"PAR1", b"x,y\n1,2\n", b"\x1f\x8b"])
def test_what_is_no_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    with pytest.raises(SourceError, match="not a readable Parquet file"):
        open_source(str(path), Schema(x=TEN))


def test_a_source_that_ends_early_says_nothing_of_the_data(tmp_path: Path) -> None:
    path = Path(_parquet(tmp_path / "a.parquet", x=["1234567"] * 1000))
    engine = open_source(str(path), Schema(x=TEN))
    path.write_bytes(path.read_bytes()[:300])
    wanted = asked(TEN)
    for _ in range(2):
        with pytest.raises(ArgumentError, match=r"^the source could not be read to its end"):
            engine.aggregate(wanted.axes, wanted.moments)
    _parquet(path, x=["7"])
    assert engine.aggregate(wanted.axes, wanted.moments).sums.tolist() == [[7]]


def test_a_failing_relation_says_nothing_of_the_data() -> None:
    relation = duckdb.connect().sql("SELECT CAST(s AS INTEGER) AS x FROM (VALUES ('secret')) t(s)")
    engine = open_source(relation, Schema(x=TEN))
    wanted = asked(TEN)
    with pytest.raises(SourceError) as caught:
        engine.aggregate(wanted.axes, wanted.moments)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_the_settings_of_a_connection_do_not_matter() -> None:
    """Under a collation that ignores case and accents two categories are equal; no row may be counted twice."""
    connection = duckdb.connect()
    values = ["F", "f", "é", "e", "E", "F ", None]
    connection.execute("SET default_collation = 'nocase.noaccent'")
    relation = connection.from_arrow(pa.table({"x": values}))
    column = Category(["F", "f", "e", "é"])
    assert first_difference(expected(values, column), cube(relation, column)) is None


def test_two_engines_on_one_connection_keep_apart() -> None:
    connection = duckdb.connect()
    engines = [open_source(connection.sql(f"SELECT {n} AS x"), Schema(x=TEN)) for n in (1, 2)]
    wanted = asked(TEN)
    for _ in range(2):
        assert [engine.aggregate(wanted.axes, wanted.moments).sums.tolist() for engine in engines] == [[[1]], [[2]]]
    assert connection.sql("SELECT 5").fetchall() == [(5,)]


def test_an_engine_can_be_used_after_close() -> None:
    engine = open_source(pl.DataFrame({"x": [1]}), Schema(x=TEN))
    wanted = asked(TEN)
    for _ in range(2):
        assert engine.aggregate(wanted.axes, wanted.moments).sums.tolist() == [[1]]
        engine.close()


def test_what_is_done_to_a_pandas_frame_afterwards_is_not_seen() -> None:
    """Two scans of one release would have different rows; a text was copied before, a number was not."""
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "word": ["F", "F", "F"]})
    engine = open_source(frame, Schema(x=TEN, word=Category(["F", "M"])))
    values = frame["x"].to_numpy()
    values.flags.writeable = True
    values[:] = 9.0
    frame.loc[:, "word"] = "M"
    wanted = asked(TEN)
    assert engine.aggregate(wanted.axes, wanted.moments).sums.tolist() == [[6]]
    assert engine.snapshot() == "in memory"


@pytest.mark.parametrize("value", ["NaN", "sNaN", "-NaN", "Infinity", "-Infinity", "1E+999999", "-1E+400", "7.5", "1e-400"])
def test_the_reference_never_raises_on_a_decimal(value: str) -> None:
    assert category_code(Category([7, 0]), Decimal(value)) is None
