"""Expressions that round in doubles give the codes of the reference, at ties, bounds and extremes; wrong ones do not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cube.value_paths import NumberPath
from discreet.domain.codes import NULL
from discreet.domain.columns import Category, Number
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines import codes as module
from discreet.engines import open_source
from discreet.engines.base import ColumnType
from discreet.engines.codes import decimal_code, float_code, integer_code
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb import dialect as duckdb_sql
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.reference import number_target
from discreet.errors import SourceError
from discreet.plan.table import Table
from discreet.statistics import count, sum_of

INTEGERS = {f"{sign}{name}": bits for name, bits in duckdb_sql._BITS.items() for sign in ("", "U")}
ARROW = {name: getattr(pa, f"{'u' * name.startswith('U')}int{bits}")() for name, bits in INTEGERS.items()}
GRIDS = [
    Number(0, 100),
    Number(0, 200_000, "0.01"),
    Number(0, 200_000, 100),
    Number(-7, 8, "0.3"),
    Number(-100, 100, "1/3"),
    Number("-0.5", "97.5", 7),
    Number(5, 5),
    Number(-35, 115, 10),
    Number(3, 30_003, 1000),
    Number(-(10**9), 10**9, "0.25"),
    Number(-(2**51), 2**51 - 2),
    Number(10**6, 10**7, 3),
    Number(0, 9800, 98),
]


def path_of(grid: Number, low: int = 0, high: int | None = None) -> NumberPath:
    return NumberPath("x", grid, low, grid.size - 1 if high is None else high, NULL, ())


def paths() -> Iterator[NumberPath]:
    """Every grid, as it is and clamped."""
    for grid in GRIDS:
        yield path_of(grid)
        if grid.size > 4:
            yield path_of(grid, 1 + grid.size // 3, grid.size - 2)


def written(dialect: Dialect, path: NumberPath, kind: ColumnType, type_: str | None) -> str:
    """The expression over the column x."""
    if kind.kind == "float":
        return float_code(dialect, path, '"x"', kind, type_)
    return (integer_code if kind.kind == "integer" else decimal_code)(dialect, path, kind, type_)


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    """One for all expressions: to begin another takes far longer than to ask."""
    return duckdb.connect()


def mistakes(dialect: Dialect, path: NumberPath, kind: ColumnType, values: Sequence[Any], arrow: pa.Array) -> list[Any]:
    """The values that do not get the code of the reference, added up or as a key."""
    connection = _connection()
    connection.register("source", pa.table({"x": arrow}))
    both = ", ".join(written(dialect, path, kind, type_) for type_ in (None, "BIGINT"))
    expected = [number_target(path, value, kind) for value in values]
    found = connection.execute(f"SELECT {both} FROM source").fetchall()
    return [value for value, code, pair in zip(values, expected, found, strict=True) if pair != (code, code)]


def floats_near(path: NumberPath, random: Random) -> Iterator[float]:
    """Ties, grid values and bounds, with neighbours one and two ulps away; extremes; numbers of every size."""
    column = path.column
    assert isinstance(column, Number)
    codes = {0, 1, path.low, path.low + 1, path.high - 1, path.high, column.size - 1, *random.sample(range(column.size), 1)}
    codes |= {random.randrange(path.low, path.high + 1) for _ in range(40)}
    for code in codes:
        for half in (-1, 0, 1):
            middle = float(column.lower + (code + Fraction(half, 2)) * column.step)
            yield from neighbours(middle)
    yield from (0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, -1.7976931348623157e308, 2.0**63, -(2.0**31))
    yield from (math.nan, -math.nan, math.inf, -math.inf, 3.5e38, -3.5e38)
    yield from (random.choice((-1, 1)) * math.ldexp(random.random(), random.randrange(-1074, 1024)) for _ in range(60))


def neighbours(x: float) -> Iterator[float]:
    yield x
    for end in (-math.inf, math.inf):
        near = x
        for _ in range(2):
            near = math.nextafter(near, end)
            yield near


def single(x: float) -> float:
    """The single float nearest to x."""
    return float(pl.Series([x]).cast(pl.Float32).cast(pl.Float64)[0])


def float_mistakes(path: NumberPath, kind: str, dialect: Dialect = DUCKDB) -> list[Any]:
    values: list[float | None] = list(floats_near(path, Random(repr(path.column))))  # noqa: S311 (which doubles are tried)
    if kind == "FLOAT":
        near = [single(x) for x in values if x is not None]
        beside = [single(one * (1 + d)) for one in near if abs(one) < 1e38 for d in (2**-23, -(2**-24))]
        values = [*near, *beside]
    values.append(None)
    arrow = pa.array(values, pa.float64()).cast(pa.float32() if kind == "FLOAT" else pa.float64(), safe=False)
    return mistakes(dialect, path, ColumnType("float", kind), values, arrow)


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
def test_every_float_has_the_code_of_the_reference(kind: str) -> None:
    for path in paths():
        assert float_mistakes(path, kind) == [], (path.column, path.low, path.high)


def integers_near(path: NumberPath, least: int, most: int) -> list[int | None]:
    if most - least < 2**8:
        return [*range(least, most + 1), None]
    column, random = path.column, Random(repr(path.column))  # noqa: S311
    assert isinstance(column, Number)
    codes = [0, 1, path.low, path.high, column.size - 1, *(random.randrange(column.size) for _ in range(60))]
    near = [math.floor(column.lower + (code + Fraction(half, 2)) * column.step) for code in codes for half in (-1, 0, 1)]
    near += [least, most, 0, -1, 2**31, -(2**31), *(random.randint(least, most) for _ in range(40))]
    return [*(min(max(x + d, least), most) for x in near for d in (-1, 0, 1)), None]


def integer_mistakes(path: NumberPath, name: str) -> list[Any]:
    kind = ColumnType("integer", name)
    reach = DUCKDB.reach(kind)
    assert reach is not None
    values = integers_near(path, *reach)
    return mistakes(DUCKDB, path, kind, values, pa.array(values, ARROW[name]))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", INTEGERS)
def test_every_integer_has_the_code_of_the_reference(name: str) -> None:
    for path in paths():
        assert integer_mistakes(path, name) == [], (path.column, path.low, path.high)


def decimal_mistakes(path: NumberPath, width: int, scale: int, dialect: Dialect = DUCKDB) -> list[Any]:
    end = 10**width - 1
    column, random = path.column, Random(f"{width} {scale} {path.column}")  # noqa: S311
    assert isinstance(column, Number)
    codes = [0, 1, path.low, path.high, *(random.randrange(column.size) for _ in range(60))]
    near = [(column.lower + (code + Fraction(half, 2)) * column.step) * 10**scale for code in codes for half in (-1, 0, 1)]
    unscaled = [min(max(math.floor(x) + d, -end), end) for x in near for d in (-1, 0, 1, 2)] + [0, end, -end]
    unscaled += [random.randint(-end, end) for _ in range(40)]
    values = [*(Decimal((x < 0, tuple(map(int, str(abs(x)))), -scale)) for x in unscaled), None]
    kind = ColumnType("decimal", f"DECIMAL({width},{scale})", width, scale)
    return mistakes(dialect, path, kind, values, pa.array(values, pa.decimal128(width, scale)))


@pytest.mark.one_in(9)
@pytest.mark.parametrize(
    ("width", "scale"),
    [
        *[(4, 1), (4, 4), (9, 2), (9, 0), (18, 6), (20, 2), (38, 10)],
        *(pytest.param(width, 2, marks=pytest.mark.exhaustive) for width in (18, 38)),
    ],
)
def test_every_decimal_has_the_code_of_the_reference(width: int, scale: int) -> None:
    for path in paths():
        try:
            found = decimal_mistakes(path, width, scale)
        except SourceError:
            continue  # refused when the source is opened
        assert found == [], (path.column, path.low, path.high)


def test_all_ways_of_rounding_are_tried() -> None:
    """Decimals in doubles, by their integer in doubles, and in integers; integers in doubles and in integers."""
    ways = {"doubles": 0, "integer in doubles": 0, "integers": 0}
    for path in paths():
        for width, scale in ((9, 2), (18, 6), (38, 10)):
            try:
                text = decimal_code(DUCKDB, path, ColumnType("decimal", "", width, scale), None)
            except SourceError:
                continue
            ways["integers" if "VARCHAR" in text else "integer in doubles" if "AS BIGINT" in text else "doubles"] += 1
    assert min(ways.values()) >= 3, ways


def wrong_rounding(text: str) -> Dialect:
    return replace(DUCKDB, nearest=text.format)


ROUNDINGS = {
    "half away from zero": wrong_rounding("TRY_CAST(round({}) AS {})"),
    "half up": wrong_rounding("TRY_CAST(floor({} + 0.5) AS {})"),
    "down": wrong_rounding("TRY_CAST(floor({}) AS {})"),
    "through single floats": wrong_rounding("TRY_CAST(CAST({} AS FLOAT) AS {})"),
}


@pytest.mark.parametrize("name", ROUNDINGS)
def test_another_rounding_is_noticed(name: str) -> None:
    assert any(float_mistakes(path, "DOUBLE", ROUNDINGS[name]) for path in paths())
    assert any(decimal_mistakes(path, 9, 2, ROUNDINGS[name]) for path in paths())


def times_the_inverse(top: str, less: float, by: float) -> str:
    return f"(({top} - {module.double_literal(less)}) * {module.double_literal(1 / by)})"


def without_the_bound(top: str, less: float, by: float) -> str:
    return f"({top} / {module.double_literal(by)})"


@pytest.mark.parametrize("quotient", [times_the_inverse, without_the_bound])
def test_another_quotient_is_noticed(quotient: Callable[[str, float, float], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_quotient", quotient)
    assert any(float_mistakes(path, "DOUBLE") for path in paths())
    assert any(integer_mistakes(path, "SMALLINT") for path in paths())


def test_doubles_where_they_are_not_exact_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_right_in_doubles", lambda path, scale: True)
    assert decimal_mistakes(path_of(Number(-7, 8, "0.3")), 9, 2)


@pytest.mark.parametrize("off", [-1, 1])
def test_bounds_that_are_a_step_off_are_noticed(off: int, monkeypatch: pytest.MonkeyPatch) -> None:
    real = module._Floats.first
    path = path_of(Number(0, 100), 20, 80)

    def moved(self: Any, reached: Callable[[float], bool]) -> int:
        one = self.first_of_all(lambda value: reached(value + off))
        return int(one)

    monkeypatch.setattr(module._Floats, "first_of_all", real, raising=False)
    monkeypatch.setattr(module._Floats, "first", moved)
    assert float_mistakes(path, "DOUBLE")


def counted(path: Path, column: Number) -> tuple[int, int]:
    (asked,) = Table(Schema(x=column), AddRemove()).agg(count("x"), sum_of("x", nulls="skip")).layout.scans
    engine = open_source(path, Schema(x=column))
    cube = engine.aggregate(asked.axes, asked.moments)
    engine.close()
    return int(cube.nonnull.sum()), int(cube.sums.sum())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("column", [Number(0, 10), Number(5, 10), Number(0, 1), Number(-5, 0), Number(0, 10, "0.25")])
@pytest.mark.parametrize("type_", [pa.float64(), pa.float32()])
def test_statistics_that_leave_nan_out_mislead_nobody(tmp_path: Path, column: Number, type_: pa.DataType) -> None:
    """By the format the least and the greatest value of a column leave NaN out; the driver then takes NaN <= 5 for true."""
    values = [1.0, math.nan, 2.0, math.nan, 3.5]
    pq.write_table(pa.table({"x": pa.array(values, type_)}), tmp_path / "a.parquet")
    driver = duckdb.connect().execute(f"SELECT count(*) FROM '{tmp_path}/a.parquet' WHERE x <= 5").fetchall()
    assert driver == [(5,)], "the driver has mended it: this test is about nothing now"
    codes = [number_target(path_of(column), value, ColumnType("float", "DOUBLE")) for value in values]
    known = [code for code in codes if code is not None]
    assert counted(tmp_path / "a.parquet", column) == (3, sum(known)) == (len(known), sum(known))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("column", [Number(0, 10), Number(0, 10, "0.01"), Number(-7, 8, "0.3"), Number(0, 10**20, 10**10)])
@pytest.mark.parametrize("worst", [-(2**127), 2**127 - 1, 10**38, -(10**38)])
def test_one_word_of_a_dictionary_does_not_end_a_release(tmp_path: Path, column: Number, worst: int) -> None:
    """The driver converts all words of a dictionary, whichever rows a CASE has chosen."""
    raw = [100, 200] * 3000 + [worst]  # not in the same vector as the others
    cells = pa.py_buffer(b"".join(one.to_bytes(16, "little", signed=True) for one in raw))
    table = pa.table({"x": pa.Array.from_buffers(pa.decimal128(38, 2), len(raw), [None, cells])})
    pq.write_table(table, tmp_path / "a.parquet")
    kind = ColumnType("decimal", "DECIMAL(38,2)", 38, 2)
    codes = [number_target(path_of(column), Decimal(value), kind) or 0 for value in (1, 2)]
    assert counted(tmp_path / "a.parquet", column) == (6000, 3000 * sum(codes))


@pytest.mark.parametrize("words", [["F", "f"], ["a", "A", "b", "B", "K"]])
def test_short_lists_are_searched_by_bytes(words: list[str]) -> None:
    """Whatever the collation of a connection; a sign that is the same letter after normalisation is that letter."""
    connection = duckdb.connect()
    connection.execute("SET default_collation = 'nocase.noaccent'")
    values = [*words, *words[1:], "\u212a", "k", "", "F ", "c", None]
    schema = Schema(x=Category(words))
    asked = Table(schema, AddRemove()).group_by("x").agg(count()).layout.scans[0]
    relation = connection.from_arrow(pa.table({"x": values}))
    cube = open_source(relation, schema).aggregate(asked.axes, asked.moments)
    found = dict(zip(cube.keys[:, 0].tolist(), cube.rows.tolist(), strict=True))
    expected = {place: values.count(word) + (word == "K") for place, word in enumerate(words)}
    assert found == {**expected, -1: len(values) - sum(expected.values())}
