"""The suite that an engine has to pass: on every hostile table its cubes equal the reference's, cell by cell.

An engine that reads rows differently from the reference has another sensitivity than the one that was charged. An author
of an engine calls `check_engine`, `check_junk` for many different values, and `check_persons` if it adds up persons, in
tests::

    def test_my_engine() -> None:
        check_engine(lambda header, rows: MyEngine(make_my_table(header, rows)))
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from discreet.audit.engines.hostile import HostileTable, hostile_tables
from discreet.cube.cube import Cube, compact
from discreet.cube.scans import Scan
from discreet.domain.areas import DerivedColumn
from discreet.domain.columns import Category, Date, Number
from discreet.domain.groups import Bins, bins
from discreet.domain.imputation import Uniform, Weights
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType, Engine, Header, Inspectable, cubes_of
from discreet.engines.inspection import inspect_source
from discreet.engines.reference import ReferenceEngine, date_code, number_code
from discreet.errors import ArgumentError, did_you_mean
from discreet.plan.plan import Plan
from discreet.plan.table import Table
from discreet.statistics.counts import count
from discreet.statistics.joint_means import means
from discreet.statistics.regression import regression
from discreet.statistics.sums import sum_of

__all__ = [
    "ConformanceError",
    "OpenEngine",
    "Rows",
    "check_engine",
    "check_junk",
    "check_table",
    "failures",
    "first_difference",
]

Rows = Sequence[Sequence[object]]
OpenEngine = Callable[[Header, Rows], Engine]
"""Opens an engine over these columns and rows; the engine is closed by the suite."""

_SOME = 4
_ROWS = 60
_EDGES = 1200
_FEW = 2**12
_FEW_OF_EACH = 30
"""Columns of at most as many codes are also counted code by code."""


class ConformanceError(AssertionError):
    """The engine and the reference disagree. The message names the table, the request and the first cell that differs."""


def check_engine(open_engine: OpenEngine, *, without: Collection[str] = ()) -> int:
    """The number of cubes that were compared, all equal to the reference's.

    Every hostile table is counted as it is; some of its requests also on its rows reversed and doubled, and without rows.

    Args:
        open_engine: called with a header and rows of Python values (see `hostile`).
        without: names of tables whose types the engine cannot hold. They are left out, and are to be documented.

    Raises:
        ConformanceError: a cell differs, the engine fails, or its snapshot changes although the table does not.
        ArgumentError: `without` names no table of the catalogue.
    """
    tables = {table.name: table for table in hostile_tables()}
    for name in without:
        if name not in tables:
            raise ArgumentError(f"without: '{name}' is not a hostile table{did_you_mean(name, tables)}")
    return sum(check_table(open_engine, table) for name, table in tables.items() if name not in without)


def check_table(open_engine: OpenEngine, table: HostileTable) -> int:
    """The number of cubes of one table that were compared, all equal to the reference's.

    Raises:
        ConformanceError: as `check_engine`.
    """
    layouts = {f"{name}{' again' * i}": one for name, plan in _requests(table) for i, one in enumerate(plan.layout.scans)}
    reference = ReferenceEngine(table.header, table.rows)
    once = {name: reference.aggregate(asked.axes, asked.moments) for name, asked in layouts.items()}
    variants = {"as it is": (table.rows, 1), "reversed and doubled": (table.rows[::-1] * 2, 2), "without rows": ((), 0)}
    compared = 0
    for variant, (rows, times) in variants.items():
        where = f"table '{table.name}' {variant}"
        engine = _open(where, open_engine, table.header, rows)
        try:
            for name in list(layouts)[:: 1 if times == 1 else _SOME]:
                _compare(f"{where}, {name}", engine, layouts[name], _repeat(once[name], times))
                compared += 1
            some = list(layouts)[:_SOME]
            expected = [_repeat(once[name], times) for name in some]
            _compare_together(where, engine, [layouts[name] for name in some], expected)
            _compare_cells(where, engine, table, rows)
            _check_stable(where, engine)
        finally:
            engine.close()
    return compared


def check_junk(open_engine: OpenEngine, rows: int = 10**6) -> int:
    """The number of cubes that were compared on a table of as many different texts that mean nothing, and one that does.

    All junk is one cell of nulls: what an engine answers, and so what it holds, grows with the schema and not with the data.

    Raises:
        ConformanceError: as `check_engine`.
    """
    header = {"word": ColumnType("text", "VARCHAR"), "number": ColumnType("text", "VARCHAR")}
    schema = Schema(word=Category(["F", "junk 7"]), number=Number(0, 100))
    table = [(f"junk {i}", f"{i}th") for i in range(8, rows + 8)] + [("junk 7", "7")]
    start = Table(schema, AddRemove())
    plans = [
        start.group_by("word").agg(count()),
        start.group_by("word").agg(count("number"), sum_of("number", nulls="skip")),
        start.agg(count("word")),
        start.group_by(bins("number", [0, 5, 50, 100])).agg(count()),
    ]
    known = ReferenceEngine(header, [*([(None, None)] * rows), table[-1]])
    engine = _open("junk", open_engine, header, table)
    try:
        for plan in plans:
            (asked,) = plan.layout.scans
            _compare(f"{rows} different texts", engine, asked, known.aggregate(asked.axes, asked.moments))
    finally:
        engine.close()
    return len(plans)


def _open(where: str, open_engine: OpenEngine, header: Header, rows: Rows) -> Engine:
    with failures(where):
        return open_engine(header, rows)


def _check_stable(where: str, engine: Engine) -> None:
    with failures(f"{where}, snapshot"):
        first, second = engine.snapshot(), engine.snapshot()
    if first != second:
        raise ConformanceError(f"{where}: the snapshot changes although nothing has changed")


def _repeat(cube: Cube, times: int) -> Cube:
    """The cube of `times` copies of the table."""
    return compact(Cube(cube.keys, cube.rows * times, cube.nonnull * times, cube.sums * times))


def _requests(table: HostileTable) -> Iterator[tuple[str, Plan]]:
    """Requests that together use every part of a layout on every column."""
    start = Table(table.schema, AddRemove())
    named = table.schema.columns
    numbers = [name for name, column in named.items() if isinstance(column, Number)]
    categories = [name for name, column in named.items() if isinstance(column, Category)][:3]
    yield "count()", start.agg(count())
    if numbers:
        yield "sums", start.agg(*(sum_of(name, nulls="skip") for name in numbers))
        yield "sums by categories", start.group_by(*categories).agg(*(sum_of(name, nulls="skip") for name in numbers))
        if len(numbers) > 1:
            yield "a vector of sums", _vector(start, numbers[:2], categories[:1])
        if table.header[numbers[0]].kind == "integer":  # from codes on all types are alike
            yield "a fine grid", _fine_grid(start, sorted(numbers, key=lambda name: named[name].size)[-2:])
    for name, column in table.schema.columns.items():
        if isinstance(column, Category):
            many = _with_category(start, name, column)
        else:
            many = _with_number(start, name, column, _own_codes(table, name, column))
        for what, plan in many:
            yield f"column '{name}': {what}", plan


def _vector(start: Table, numbers: Sequence[str], categories: Sequence[str]) -> Plan:
    """Sums of products of two numbers and a category, for which all their codes are cells: of a few codes each."""
    ends = {}
    for name in numbers:
        column = start.schema[name]
        if isinstance(column, Number):
            first = column.size // 3
            ends[name] = (column.value(first), column.value(min(column.size - 1, first + _FEW_OF_EACH)))
    asked = means(list(numbers), nulls="skip")
    if all(low < high for low, high in ends.values()) and all(start.schema[name].size > 1 for name in categories):
        return start.clamp(ends).agg(asked, regression(numbers[0], [*numbers[1:], *categories], nulls="skip"))
    return start.clamp(ends).agg(asked)


def _fine_grid(start: Table, names: Sequence[str]) -> Plan:
    """More than a million groups where columns are wide enough: of one at equal distances, of the others at unequal ones."""
    groups: list[Bins] = []
    for name in names:
        column = start.schema[name]
        if isinstance(column, Number):
            step = -(-column.size // _EDGES)
            codes = [code for place, code in enumerate(range(0, column.size, step)) if not groups or place % 7 != 1]
            groups.append(bins(name, [column.value(code) for code in codes]))
    return start.group_by(*groups).agg(count(), sum_of(names[0], nulls="skip"))


def _with_category(start: Table, name: str, column: Category) -> Iterator[tuple[str, Plan]]:
    half = list(column.values[: (column.size + 1) // 2])
    weights = Weights(dict.fromkeys(column.values, 1))
    yield "group", start.group_by(name).agg(count())
    yield "count of non-null", start.agg(count(name))
    yield "where", start.where({name: half}).agg(count())
    yield "clamp", start.clamp({name: half}).group_by(name).agg(count())
    yield "impute", start.impute({name: weights}).group_by(name).agg(count())
    yield "impute, clamp", start.impute({name: weights}).clamp({name: half}).group_by(name).agg(count())
    above = f"{name} above"
    pairs = {value: half[place % 2] for place, value in enumerate(column.values) if place % 3 < 2 and half[place % 2 :]}
    derived = Table(Schema({**start.schema.columns, above: DerivedColumn(above, of=name, by=pairs)}), start.neighbours)
    yield "group by a derived column", derived.group_by(name, above).agg(count(above))
    yield "where of a derived column", derived.where({above: [half[0]]}).group_by(name).agg(count())
    yield (
        "clamp, impute of a derived column",
        (derived.clamp({above: [half[0]]}).impute({above: Weights({half[0]: 1})}).group_by(above).agg(count())),
    )
    again = start.clamp({name: half}).impute({name: Weights({half[0]: 1})}).clamp({name: [half[-1]]})
    yield "clamp, impute, clamp, impute", again.impute({name: Weights({half[-1]: 1})}).group_by(name).agg(count())


def _own_codes(table: HostileTable, name: str, column: Number | Date) -> set[int]:
    """Codes at which a value of the table would be counted elsewhere if it were one step off."""
    place = list(table.header).index(name)
    read = number_code if isinstance(column, Number) else date_code
    codes = {read(column, row[place]) for row in table.rows[:_ROWS]}  # type: ignore[arg-type]
    return {code + above for code in codes if code is not None for above in (0, 1)}


def _with_number(start: Table, name: str, column: Number | Date, own: set[int]) -> Iterator[tuple[str, Plan]]:
    last = column.size - 1
    many = {0, 1, 2, 3, last // 3, last // 2, last - 1, last, *range(0, last, max(1, last // 10)), *own}
    edges = [column.value(code) for code in sorted(many) if 0 <= code <= last]
    inner = (column.value(last // 3), column.value(last - last // 3))
    clamped = start.clamp({name: inner})
    yield "where", start.where({name: inner}).agg(count())
    if isinstance(column, Number):
        yield "clamp, sum", clamped.agg(count(name), sum_of(name, nulls="skip"))
    if last < _FEW:
        yield "codes", start.where({name: inner}).agg(count(name))
    if len(edges) > 1:
        yield "bins", start.group_by(bins(name, edges)).agg(count())
        yield "clamp, bins", clamped.group_by(bins(name, edges)).agg(count())
        if last < _FEW:
            yield "clamp, impute, bins", clamped.impute({name: Uniform()}).group_by(bins(name, edges)).agg(count())


def _compare_together(where: str, engine: Engine, asked: Sequence[Scan], expected: Sequence[Cube]) -> None:
    """Scans that are asked for together are answered in their order, and as each by itself."""
    with failures(where):
        found = [compact(cube) for cube in cubes_of(engine, [(one.axes, one.moments) for one in asked])]
    if len(found) != len(expected):
        raise ConformanceError(f"{where}: {len(found)} cubes for {len(expected)} scans")
    for number, (wanted, cube) in enumerate(zip(expected, found, strict=True)):
        if difference := first_difference(wanted, cube):
            raise ConformanceError(f"{where}, scan {number} of several: {difference}")


def _compare(where: str, engine: Engine, asked: Scan, expected: Cube) -> None:
    with failures(where):
        found = compact(engine.aggregate(asked.axes, asked.moments))
    difference = first_difference(expected, found)
    if difference:
        raise ConformanceError(f"{where}: {difference}")


def _compare_cells(where: str, engine: Engine, table: HostileTable, rows: Rows) -> None:
    """The curator is shown exactly what a release reads; an engine need not show anything."""
    if not isinstance(engine, Inspectable):
        return
    expected = inspect_source(ReferenceEngine(table.header, rows), table.schema)
    with failures(f"{where}, cells"):
        found = inspect_source(engine, table.schema)
    for name, tallies in expected.items():
        wanted, got = ({word: one.rows for word, one in some.items()} for some in (tallies, found[name]))
        if wanted != got:
            raise ConformanceError(f"{where}, cells of '{name}': {got}, the reference says {wanted}")


@contextmanager
def failures(where: str) -> Iterator[None]:
    """Whatever the engine raises inside is a `ConformanceError` that says where."""
    try:
        yield
    except Exception as failure:
        raise ConformanceError(f"{where}: the engine failed ({type(failure).__name__}: {failure})") from failure


def first_difference(expected: Cube, found: Cube) -> str | None:
    """The first cell in which two compact cubes differ, in words; None when they are equal, types included."""
    for part in ("keys", "rows", "nonnull", "sums"):
        wanted, got = getattr(expected, part), getattr(found, part)
        if wanted.dtype != got.dtype or wanted.shape[1:] != got.shape[1:]:
            return f"'{part}' is an array of {got.dtype}{got.shape[1:]} instead of {wanted.dtype}{wanted.shape[1:]}"
    there = [_cells(cube) for cube in (expected, found)]
    for cell in sorted(there[0].keys() | there[1].keys()):
        wanted_cell, got_cell = there[0].get(cell), there[1].get(cell)
        if wanted_cell != got_cell:
            shown = "no such cell" if got_cell is None else str(got_cell)
            return f"cell {cell} is {shown}, the reference has {wanted_cell or 'no such cell'} (rows, non-null rows, sums)"
    return None if np.array_equal(expected.keys, found.keys) else "the cells are not in the order of their keys"


def _cells(cube: Cube) -> dict[tuple[int, ...], tuple[int, list[int], list[int]]]:
    columns = zip(cube.keys.tolist(), cube.rows.tolist(), cube.nonnull.tolist(), cube.sums.tolist(), strict=True)
    return {tuple(key): (rows, nonnull, sums) for key, rows, nonnull, sums in columns}
