"""Every engine equals the reference on any schema, steps, request and data that hypothesis finds, and at pinned corners."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from discreet.audit.engines.conformance import first_difference
from discreet.audit.engines.hostile import ties
from discreet.domain.columns import Category, Column, Date, Number
from discreet.domain.groups import bins
from discreet.domain.imputation import Normal, Uniform, Weights
from discreet.domain.neighbours import AddRemove, ReplaceOne
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType, Engine, Header
from discreet.engines.reference import ReferenceEngine
from discreet.errors import PlanError
from discreet.plan.plan import Plan
from discreet.plan.table import Table
from discreet.statistics import count, mean, sum_of

Openers = Mapping[str, Callable[[Header, Sequence[Sequence[object]]], Engine]]
SOURCES = ["relation", "parquet", "comma_separated", "polars", "arrow", "pandas"]

TEXT = ColumnType("text", "VARCHAR")
KINDS = {
    kind.shown: kind
    for kind in (
        TEXT,
        ColumnType("integer", "TINYINT"),
        ColumnType("integer", "BIGINT"),
        ColumnType("integer", "UBIGINT"),
        ColumnType("float", "FLOAT"),
        ColumnType("float", "DOUBLE"),
        ColumnType("decimal", "DECIMAL(9,2)", 9, 2),
        ColumnType("decimal", "DECIMAL(18,3)", 18, 3),
        ColumnType("decimal", "DECIMAL(38,12)", 38, 12),
        ColumnType("date", "DATE"),
        ColumnType("timestamp", "TIMESTAMP"),
    )
}
RANGES = {"TINYINT": (-(2**7), 2**7 - 1), "BIGINT": (-(2**63), 2**63 - 1), "UBIGINT": (0, 2**64 - 1)}
ODD_TEXTS = [
    "",
    " ",
    "x",
    "1_000",
    "0x1F",
    "1e999",
    "7.",
    "7.e1",
    " 7 ",
    "+7",
    "-0",
    "٣",
    "１２",
    "nan",
    "inf",
    "1e-999",
    "é",
    "e\u0301",
]


_IMPUTABLE = 100_000


@dataclass(frozen=True)
class Case:
    """A request on made-up rows."""

    plan: Plan
    header: Header
    rows: tuple[tuple[object, ...], ...]


@st.composite
def numbers(draw: st.DrawFn) -> Number:
    step = Fraction(draw(st.sampled_from(["1", "0.5", "1/3", "0.1", "1/7", "7", "1e-9", "100", "2.5"])))
    shift = draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1, 10)]))
    offset = draw(st.sampled_from([0, 1, -1, -7, 10**6])) * step + shift
    size = draw(st.sampled_from([0, 1, 2, 3, 10, 100, 1000, 2**40]))
    return Number(offset, offset + size * step, step)


def dates() -> st.SearchStrategy[Date]:
    days = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))
    return st.tuples(days, days).map(lambda pair: Date(min(pair), max(pair)))


def categories() -> st.SearchStrategy[Category]:
    texts = st.lists(st.sampled_from(["F", "f", "F ", "é", "7", "true", "a'b", '"', ";--", "x,y"]), min_size=1, unique=True)
    whole = st.lists(st.sampled_from([0, 1, -1, 7, 2**53, 2**63 - 1]), min_size=1, unique=True)
    return st.one_of(texts, whole).map(Category)


def kinds_of(column: Column) -> list[str]:
    if isinstance(column, Date):
        return ["VARCHAR", "DATE", "TIMESTAMP"]
    if isinstance(column, Category) and isinstance(column.values[0], str):
        return ["VARCHAR"]
    return [name for name in KINDS if name not in {"DATE", "TIMESTAMP"}]


def _values(column: Column, kind: ColumnType) -> st.SearchStrategy[object]:
    if kind.kind == "date":
        return st.dates()
    if kind.kind == "timestamp":
        return st.datetimes()
    if kind.kind == "text":
        return st.one_of(st.sampled_from(ODD_TEXTS), _near(column).map(repr), _words(column), st.dates().map(str))
    if kind.kind == "float":
        width = 32 if kind.shown == "FLOAT" else 64
        near = _near(column).filter(lambda x: abs(x) < 3e38).map(lambda x: _single(x) if width == 32 else x)
        return st.one_of(near, st.floats(width=width))
    if kind.kind == "decimal":
        return st.one_of(_near(column), st.just(math.inf)).map(lambda x: _decimal(x, kind))
    low, high = RANGES[kind.shown]
    return st.one_of(st.integers(low, high), _near(column).map(lambda x: min(max(round(x), low), high)))


def _near(column: Column) -> st.SearchStrategy[float]:
    if isinstance(column, Number):
        return st.sampled_from(ties(column))
    return st.sampled_from([0.0, 1.0, -1.0, 7.0, 7.5, 2.0**53, 2.0**63])


def _words(column: Column) -> st.SearchStrategy[str]:
    return st.sampled_from([str(value) for value in column.values] if isinstance(column, Category) else ["2020-01-31"])


def _single(x: float) -> float:
    import numpy as np

    return float(np.float32(x))


def _decimal(x: float, kind: ColumnType) -> Decimal:
    """The value of the type next to x; its largest when there is none."""
    last = 10**kind.width - 1
    unscaled = last if math.isinf(x) else min(max(round(Fraction(x) * 10**kind.scale), -last), last)
    return Decimal((unscaled < 0, tuple(map(int, str(abs(unscaled)))), -kind.scale))


def _range(draw: st.DrawFn, column: Number | Date) -> tuple[object, object]:
    codes = sorted(draw(st.integers(0, column.size - 1)) for _ in range(2))
    return column.value(codes[0]), column.value(codes[1])


def _step(draw: st.DrawFn, table: Table, name: str, word: str) -> Table:
    column = table.schema[name]
    if word == "impute":
        if isinstance(column, Category):
            kept = [column.values[code] for code in table.facts[name].kept]  # type: ignore[union-attr]
            return table.impute({name: Weights(dict.fromkeys(kept, 1))})
        if column.size > _IMPUTABLE:
            return table
        return table.impute({name: draw(st.sampled_from([Uniform(), Normal(3, 2)]))})
    if isinstance(column, Category):
        some = draw(st.lists(st.sampled_from(column.values), min_size=1, unique=True))
        return table.clamp({name: some}) if word == "clamp" else table.where({name: some})
    bounds = {name: _range(draw, column)}
    return table.clamp(bounds) if word == "clamp" else table.where(bounds)


def _group(draw: st.DrawFn, column: Column, name: str) -> object:
    if isinstance(column, Category):
        return name
    cuts = sorted(draw(st.sets(st.integers(0, column.size - 1), min_size=2, max_size=20)))
    return bins(name, [column.value(code) for code in cuts])


@st.composite
def plans(draw: st.DrawFn, schema: Schema) -> Plan:
    names = list(schema.columns)
    table = Table(schema, draw(st.sampled_from([AddRemove(), ReplaceOne(20)])))
    moves = st.tuples(st.sampled_from(names), st.sampled_from(["clamp", "impute", "impute", "where"]))
    for name, word in draw(st.lists(moves, max_size=4)):
        table = _step(draw, table, name, word)
    if draw(st.booleans()) and draw(st.booleans()):
        table = table.resize(draw(st.sampled_from([10, 100])), proportion=draw(st.sampled_from(["1/2", 1, 2])))
    groupable = [name for name in names if isinstance(schema[name], Category) or schema[name].size > 1]
    chosen = draw(st.sets(st.sampled_from(groupable), max_size=2)) if groupable else set()
    groups = [_group(draw, schema[name], name) for name in sorted(chosen)]
    wanted = [count()]
    for name in sorted(draw(st.sets(st.sampled_from(names)))):
        if isinstance(schema[name], Number):
            wanted += [sum_of(name, nulls="skip"), mean(name, nulls="skip")]
        wanted.append(count(name))
    return table.group_by(*groups).agg(*wanted)  # type: ignore[arg-type]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    columns: dict[str, Column] = {"a": draw(numbers()), "b": draw(st.one_of(categories(), numbers())), "c": draw(dates())}
    schema = Schema(columns)
    header = {name: KINDS[draw(st.sampled_from(kinds_of(column)))] for name, column in columns.items()}
    cells = [st.one_of(_values(column, header[name]), st.none()) for name, column in columns.items()]
    rows = draw(st.lists(st.tuples(*cells), max_size=20))
    try:
        return Case(draw(plans(schema)), header, tuple(rows))
    except PlanError:
        reject()


def corner(column: Number, kind: str) -> Case:
    """Every rounding tie and bound of a column, one ulp around them, through clamps that cut the grid in the middle."""
    typed, last = KINDS[kind], column.size - 1
    raw: list[object] = [*ties(column), 0.0, -0.0]
    if typed.kind != "decimal":
        raw += [5e-324, 3e38, -3e38, math.nan, math.inf, -math.inf]
    if typed.kind == "text":
        raw = [repr(x) for x in raw]
    if typed.shown == "FLOAT":
        raw = [_single(x) for x in raw]  # type: ignore[arg-type]
    if typed.kind == "decimal":
        last_value = _decimal(math.inf, typed)
        raw = [_decimal(x, typed) for x in raw] + [last_value, last_value.copy_negate()]  # type: ignore[arg-type]
    edges = sorted({code for code in (0, 1, 2, last // 3, last // 2, last - 1, last) if 0 <= code <= last})
    inner = (column.value(last // 3), column.value(last - last // 3))
    table = Table(Schema(a=column, b=column), AddRemove()).clamp({"b": inner})
    plan = table.group_by(bins("a", [column.value(code) for code in edges])).agg(count(), sum_of("b", nulls="skip"))
    return Case(plan, {"a": typed, "b": typed}, tuple((value, value) for value in [*raw, None]))


def differs(opener: Callable[[Header, Sequence[Sequence[object]]], Engine], case: Case) -> str | None:
    reference, engine = ReferenceEngine(case.header, case.rows), opener(case.header, case.rows)
    try:
        cubes = [[one.aggregate(part.axes, part.moments) for one in (reference, engine)] for part in case.plan.layout.scans]
        return next(filter(None, (first_difference(*both) for both in cubes)), None)
    finally:
        engine.close()


@pytest.mark.one_in(5)
@pytest.mark.parametrize("source", SOURCES)
@settings(max_examples=4)
@example(corner(Number(-100, 100, "1/3"), "DOUBLE"))
@example(corner(Number("-0.5", "0.7", "0.1"), "DOUBLE"))
@example(corner(Number(-1, 1, "1e-9"), "DOUBLE"))
@example(corner(Number("-0.5", "97.5", 7), "FLOAT"))
@example(corner(Number(-(2**51), 2**51 - 2), "DOUBLE"))
@example(corner(Number("-0.5", "0.7", "0.1"), "VARCHAR"))
@example(corner(Number("0.005", "0.995", "0.01"), "DECIMAL(18,3)"))
@example(corner(Number(-1, 1, "1e-9"), "DECIMAL(38,12)"))
@given(case=cases())
def test_every_engine_equals_the_reference(openers: Openers, source: str, case: Case) -> None:
    assert differs(openers[source], as_read(case, source)) is None


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", SOURCES)
@settings(max_examples=400)
@given(case=cases())
def test_every_engine_equals_the_reference_at_length(openers: Openers, source: str, case: Case) -> None:
    assert differs(openers[source], as_read(case, source)) is None


def as_read(case: Case, source: str) -> Case:
    """The case as the reference has to read it: a CSV cell is text, whatever it was."""
    if source != "comma_separated":
        return case
    rows = tuple(tuple(None if value is None else str(value) for value in row) for row in case.rows)
    return Case(case.plan, dict.fromkeys(case.header, TEXT), rows)


@pytest.mark.slow
def test_the_strategy_reaches_every_part_of_a_layout() -> None:
    """A strategy that never made moments, cuts or imputed keys could not fail."""
    seen: set[str] = set()
    wanted = {"axis NumberPath True", "axis NumberPath False", "axis CategoryPath True", "imputed key", "moment"}
    wanted |= {"imputed moment", "no rows", "no axes", *(f"kind {kind.kind}" for kind in KINDS.values())}

    @settings(max_examples=80, database=None)
    @given(case=cases())
    def explore(case: Case) -> None:
        for asked in case.plan.layout.scans:
            seen.update(f"axis {type(axis.path).__name__} {axis.cuts is None}" for axis in asked.axes)
            seen.update("imputed key" for axis in asked.axes if axis.path.laws)
            seen.update("imputed moment" for moment in asked.moments if moment.path.laws)
            seen.update(["moment"] * bool(asked.moments) + ["no rows"] * (not case.rows) + ["no axes"] * (not asked.axes))
        seen.update(f"kind {kind.kind}" for kind in case.header.values())

    for _ in range(10):  # a rare one may need more examples than are enough for most
        if not seen >= wanted:
            explore()
    assert seen >= wanted
