"""No cell of a Parquet file can end its reading: what the driver cannot hold is null, a bound, or a question mark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
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
from discreet.engines.duckdb.parquet_days import days_of, millisecond_columns
from discreet.engines.reference import ReferenceEngine
from discreet.errors import SourceError
from discreet.plan.table import Table
from discreet.statistics import count, sum_of

DAY = 86_400_000
DAYS = Date("1969-12-30", "1970-01-03")
ENCODINGS = [{}, *({"use_dictionary": False, "column_encoding": {"x": name}} for name in
             ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"))]  # fmt: skip


def asked(column: Column) -> Scan:
    table = Table(Schema(x=column), AddRemove())
    if isinstance(column, Category):
        return table.group_by("x").agg(count()).layout.scans[0]
    if isinstance(column, Number):
        return table.agg(sum_of("x", nulls="skip")).layout.scans[0]
    return table.group_by(bins("x", [column.value(code) for code in range(column.size)])).agg(count()).layout.scans[0]


def cube(path: Path, column: Column, wanted: Scan | None = None) -> Cube:
    return cube_of(path, Schema(x=column), wanted or asked(column))


def expected(values: Sequence[object], column: Column, kind: str) -> Cube:
    wanted = asked(column)
    return ReferenceEngine({"x": ColumnType(kind, kind)}, [(v,) for v in values]).aggregate(wanted.axes, wanted.moments)


def texts(values: Sequence[bytes]) -> pa.Array:
    """A text column of any bytes."""
    ends = np.cumsum([0, *map(len, values)]).astype("<i4")
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(values)))


# Broken, cut and overlong characters, surrogates, and two halves of a character in neighbouring cells.
PIECES = [b"\xff", b"\xc3", b"\xa9", b"\xe2\x82", b"\xac", b"\xf0\x9f", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80"]
BROKEN = [*PIECES, b"x\xff", b"\xffx", b"7\xff", b"\xc37", b"true\xff", b"1970-01-01\xff", b"\0\xff", b"\xff" * 100]
BROKEN += [b"x" * 13 + b"\xff"]
WHOLE = [b"x", "é".encode(), b"7", b"true", b"1970-01-01", b"?", b"", b"\0"]


def question_marks(cell: bytes) -> str:
    """Every byte that is in no character as a question mark."""
    return "".join("?" if "\udc80" <= one <= "\udcff" else one for one in cell.decode("utf-8", errors="surrogateescape"))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("options", ENCODINGS)
def test_text_that_is_not_utf8_is_a_value_like_any_other(tmp_path: Path, options: dict[str, object]) -> None:
    cells = [cell for pair in zip(BROKEN, WHOLE * 3, strict=False) for cell in pair] + [b"\xc3", b"\xa9"]
    pq.write_table(pa.table({"x": texts(cells)}), tmp_path / "a.parquet", **options)
    read = [question_marks(cell) for cell in cells]
    for column in (Category(["x", "é", "x?", "?"]), Number(0, 10), Category([7]), Category([True]), DAYS):
        whole = expected(read, column, "text")
        assert first_difference(whole, cube(tmp_path / "a.parquet", column)) is None
    with pytest.raises(duckdb.InvalidInputException):  # the driver's own way, which the engine must not take
        duckdb.sql(f"SELECT max(x) FROM '{tmp_path}/a.parquet'").fetchall()


STAMPS = [
    10**16,
    -(10**16),
    2**63 - 2,
    -(2**63),
    0,
    -1,
    DAY - 1,
    DAY,
    -DAY,
    -DAY - 1,
    2 * DAY,
    None,
    2**63 - 1,
    -(2**63) + 1,
]


def day_of(stamp: int | None) -> dt.date | None:
    if stamp is None or abs(stamp) == 2**63 - 1:  # what the driver writes for infinity
        return None
    return dt.date(1970, 1, 1) + dt.timedelta(min(max(stamp // DAY, -999), 999))


def stamps(values: Sequence[int | None]) -> pa.Array:
    return pa.array(values, pa.int64()).cast(pa.timestamp("ms"))


@pytest.mark.parametrize("options", [{}, {"version": "1.0", "store_schema": False}, {"use_dictionary": False}])
def test_milliseconds_of_any_size_belong_to_a_day(tmp_path: Path, options: dict[str, object]) -> None:
    pq.write_table(pa.table({"x": stamps(STAMPS)}), tmp_path / "a.parquet", **options)
    whole = expected([day_of(stamp) for stamp in STAMPS], DAYS, "date")
    assert first_difference(whole, cube(tmp_path / "a.parquet", DAYS)) is None
    with pytest.raises(duckdb.ConversionException):
        duckdb.sql(f"SELECT count(x) FROM '{tmp_path}/a.parquet'").fetchall()


SCHEMA = Schema(g=Category(["a", "b"]), x=DAYS, y=DAYS, v=Number(0, 999_999))


def test_milliseconds_stay_beside_the_other_columns_of_their_row(tmp_path: Path) -> None:
    """Two files in many row groups, their columns in different orders: every value determines the others of its row."""
    rng = np.random.default_rng(5)
    number = rng.integers(-1, 4, 8_000)
    days = pa.table({
        "g": pa.array(["a", "b"]).take(pa.array(number % 2)), "x": stamps(number * DAY),
        "y": stamps((3 - number) * DAY), "v": number + 1, "unread": stamps(np.full(len(number), 10**16)),
    })  # fmt: skip
    pq.write_table(days.slice(0, 5_000), tmp_path / "1.parquet", row_group_size=1_300)
    pq.write_table(days.slice(5_000).select(["v", "unread", "y", "g", "x"]), tmp_path / "2.parquet", row_group_size=99)
    edges = [DAYS.value(code) for code in range(DAYS.size)]
    table = Table(SCHEMA, AddRemove())
    (wanted,) = table.group_by("g", bins("x", edges), bins("y", edges)).agg(count(), sum_of("v", nulls="skip")).layout.scans
    engine = open_source(str(tmp_path / "*.parquet"), SCHEMA)
    cube = engine.aggregate(wanted.axes, wanted.moments)
    rows = [("ab"[n % 2], *(dt.date(1970, 1, 1) + dt.timedelta(int(d)) for d in (n, 3 - n)), n + 1) for n in range(-1, 4)]
    header = {name: ColumnType(kind, kind) for name, kind in zip("gxyv", ("text", "date", "date", "integer"), strict=True)}
    some = ReferenceEngine(header, [rows[int(n) + 1] for n in number])
    assert first_difference(some.aggregate(wanted.axes, wanted.moments), cube) is None
    for plan in (table.group_by(bins("x", edges)).agg(count()), table.group_by("g").agg(count()), table.agg(count())):
        (one,) = plan.layout.scans
        assert first_difference(some.aggregate(one.axes, one.moments), engine.aggregate(one.axes, one.moments)) is None
    engine.close()


@pytest.mark.parametrize("rows", [0, 1])
def test_milliseconds_of_few_rows(tmp_path: Path, rows: int) -> None:
    pq.write_table(pa.table({"x": stamps([0] * rows), "g": ["a"] * rows}), tmp_path / "a.parquet")
    assert cube(tmp_path / "a.parquet", DAYS).rows.sum() == rows


def test_which_columns_are_milliseconds_is_decided_by_the_schema(tmp_path: Path) -> None:
    nested = pa.array([{"x": 0}], pa.struct({"x": pa.timestamp("ms")}))
    zoned = stamps([0]).cast(pa.timestamp("ms", "UTC"))
    times = pa.array([0], pa.int32()).cast(pa.time32("ms"))
    table = pa.table({"s": nested, "x": stamps([0]).cast(pa.timestamp("us")), "t": times, "y": stamps([0]), "z": zoned})
    pq.write_table(table, tmp_path / "a.parquet")
    engine = open_source(tmp_path / "a.parquet", Schema(x=DAYS, y=DAYS))
    assert {name: engine.header[name].kind for name in table.column_names} == {
        "s": "other", "x": "timestamp", "t": "other", "y": "date", "z": "other",
    }  # fmt: skip
    pq.write_table(table.drop_columns("y").append_column("y", pa.array([0])), tmp_path / "b.parquet")
    with pytest.raises(SourceError, match="columns and types differ"):
        open_source(str(tmp_path / "*.parquet"), Schema(x=DAYS))
    assert millisecond_columns([("root", 0, None, None)]) == []
    assert millisecond_columns([("root", 1, None, None), ("x", None, "TIMESTAMP_MILLIS", None)]) == ["x"]


def test_milliseconds_that_are_gone_say_nothing_of_the_data(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="could not be read to its end"):
        days_of([tmp_path / "missing.parquet"], ["x"])
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="in milliseconds cannot be read"):
        days_of([tmp_path / "a.parquet"], ["x"])


@pytest.mark.parametrize("name", ["*", "^x$"])
def test_the_days_of_a_column_are_never_those_of_a_pattern(tmp_path: Path, name: str) -> None:
    table = {"x": pa.array([0], pa.timestamp("ms")), name: pa.array([3 * DAY], pa.timestamp("ms"))}
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    assert pa.table(days_of([tmp_path / "a.parquet"], [name])).to_pydict() == {name: [dt.date(1970, 1, 4)]}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kept", [slice(None), slice(4, None), slice(5, None)])
def test_infinite_days_are_null_and_far_ones_are_at_the_bounds(tmp_path: Path, kept: slice) -> None:
    """With infinite days and nulls in the file, and without one or both, of which its statistics tell the driver."""
    texts = [
        None,
        "infinity",
        "-infinity",
        "infinity",
        "287000-01-01",
        "0044-03-15 (BC)",
        "1899-12-31",
        "1900-01-01",
        "2000-02-29",
    ]
    same = [
        None,
        None,
        None,
        None,
        dt.date.max,
        dt.date.min,
        dt.date(1899, 12, 31),
        dt.date(1900, 1, 1),
        dt.date(2000, 2, 29),
    ]
    rows = ", ".join("(NULL)" if text is None else f"(DATE '{text}')" for text in [*texts, *texts][kept])
    duckdb.sql(f"SELECT * FROM (VALUES {rows}) t(x)").write_parquet(str(tmp_path / "a.parquet"))
    for column in (Date("1900-01-01", "2100-12-31"), Date("9999-12-01", "9999-12-31"), Date("2000-02-28", "2000-03-01")):
        whole = expected([*same, *same][kept], column, "date")
        assert first_difference(whole, cube(tmp_path / "a.parquet", column)) is None


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("width", "scale"), [(4, 1), (9, 9), (18, 18), (18, 3), (19, 0), (30, 8), (38, 0), (38, 2)])
@pytest.mark.parametrize("frame", [True, False])
def test_decimals_beyond_the_digits_of_their_type_are_null(tmp_path: Path, width: int, scale: int, frame: bool) -> None:
    """Nothing keeps a writer from more digits than it declares, and the driver's arithmetic fails on them."""
    last = 10**width - 1
    bits = last.bit_length() // 8 * 8 + 7  # what the bytes of the file can hold
    beyond = [10**width, -(10**width), 2**bits - 1, -(2**bits)]
    raw = [one for one in beyond if abs(one) > last and -(2**bits) <= one < 2**bits] + [0, last, -last]
    cells = pa.py_buffer(b"".join(one.to_bytes(16, "little", signed=True) for one in raw))
    table = pa.table({"x": pa.Array.from_buffers(pa.decimal128(width, scale), len(raw), [None, cells])})
    pq.write_table(table, tmp_path / "a.parquet")
    values = [Decimal((one < 0, tuple(map(int, str(abs(one)))), -scale)) if abs(one) <= last else None for one in raw]
    for column in (Number(0, 1), Category([0, 7])):
        engine = open_source(table if frame else tmp_path / "a.parquet", Schema(x=column))
        wanted = asked(column)
        found = engine.aggregate(wanted.axes, wanted.moments)
        assert first_difference(expected(values, column, "decimal"), found) is None
        engine.close()
