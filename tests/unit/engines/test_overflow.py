"""Sums never wrap: codes up to 2**52, sums beyond 64 bits, and the proof that int64 suffices where it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import duckdb
import numpy as np
import polars as pl
import pytest

from discreet.audit.engines.conformance import first_difference
from discreet.cube.cube import ROW_LIMIT, Cube, compact, empty_cube, fits_int64, join, row_count, sum_dtype
from discreet.domain.columns import Number
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines import open_source
from discreet.engines.base import ColumnType, Engine, Header
from discreet.engines.reference import ReferenceEngine
from discreet.errors import InternalError
from discreet.plan.table import Table
from discreet.statistics import sum_of

WIDEST = Number(0, 2**52 - 2)
TEXT = ColumnType("text", "VARCHAR")


def sum_cube(engine: Engine, schema: Schema) -> Cube:
    (asked,) = Table(schema, AddRemove()).agg(*(sum_of(name, nulls="skip") for name in schema.columns)).layout.scans
    return engine.aggregate(asked.axes, asked.moments)


def test_int64_is_used_only_where_the_largest_table_fits() -> None:
    edge = (2**62 - 1) // ROW_LIMIT
    assert fits_int64(edge)
    assert not fits_int64(edge + 1)
    assert edge * ROW_LIMIT < 2**62 <= (edge + 1) * ROW_LIMIT
    assert sum_dtype([0, edge]) is np.int64
    assert sum_dtype([edge, edge + 1]) is np.object_
    assert sum_dtype([]) is np.int64


def test_the_widest_column_fits_the_engine_at_the_row_limit() -> None:
    """The statement sums 64-bit codes in 128 bits and hands them out as two 64-bit limbs: both fit for any table."""
    largest = (WIDEST.size - 1) * ROW_LIMIT
    assert largest < 2**127
    assert largest // 2**32 < 2**63


@pytest.mark.parametrize("repeats", [1, 5000])
def test_sums_beyond_64_bits_are_exact_in_duckdb(repeats: int) -> None:
    schema = Schema(x=WIDEST, y=Number(-(2**51), 2**51 - 2))
    relation = duckdb.connect().sql(
        f"SELECT CAST(v AS HUGEINT) AS x, -CAST(v AS HUGEINT) AS y "
        f"FROM (VALUES ({2**52 - 2}), ({2**100}), ({2**52 - 3})) t(v), range({repeats})"
    )
    cube = sum_cube(open_source(relation, schema), schema)
    assert cube.sums.dtype == object
    assert cube.sums.tolist() == [[repeats * (3 * (2**52 - 2) - 1), 0]]
    assert repeats == 1 or cube.sums[0, 0] > 2**63


def test_sums_beyond_64_bits_are_exact_across_batches(openers: Mapping[str, Callable[..., Engine]]) -> None:
    """Quoted lines come in batches of their own, and Python adds the batches up."""
    schema, header = Schema(x=WIDEST, z=WIDEST), {"x": TEXT, "z": TEXT}
    rows = [(str(2**52 - 2), "1")] * 5000 + [(str(2**52 - 3), "1,5")] * 3 + [("-1", None)]
    found = sum_cube(openers["comma_separated"](header, rows), schema)
    assert first_difference(sum_cube(ReferenceEngine(header, rows), schema), found) is None
    assert found.sums[0, 0] == 5000 * (2**52 - 2) + 3 * (2**52 - 3) > 2**64


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["relation", "parquet", "comma_separated"])
def test_codes_next_to_two_to_the_52_are_exact(openers: Mapping[str, Callable[..., Engine]], kind: str) -> None:
    schema = Schema(x=WIDEST, y=Number(0, Fraction(2**52 - 2, 4), "0.25"))
    values = [2.0**52 - k for k in range(5)] + [
        2.0**51 + 0.5,
        2.0**51 + 1.5,
        2.0**50 + 0.125,
        2.0**50 + 0.375,
        -1.0,
        2.0**53,
    ]
    shown: ColumnType = ColumnType("float", "DOUBLE")
    rows: Sequence[Sequence[object]] = [(x, x) for x in values]
    if kind == "comma_separated":
        shown, rows = TEXT, [(repr(x), repr(x)) for x in values]
    header: Header = {"x": shown, "y": shown}
    for row in rows:  # one by one: errors in a sum could cancel
        engine = openers[kind](header, [row])
        assert first_difference(sum_cube(ReferenceEngine(header, [row]), schema), sum_cube(engine, schema)) is None
        engine.close()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64])
def test_no_integer_type_wraps(dtype: type[pl.DataType]) -> None:
    """The attack on modular sums: [max] against [max, 1] moves the sum by 1, not by 2**bits."""
    largest = int(pl.select(dtype.max()).item())  # type: ignore[attr-defined]
    top = min(largest, 2**52 - 2)
    schema = Schema(x=Number(0, top))
    one, two = (pl.DataFrame({"x": pl.Series(values, dtype=dtype)}) for values in ([largest], [largest, 1]))
    sums = [int(sum_cube(open_source(frame, schema), schema).sums[0, 0]) for frame in (one, two)]
    assert sums == [top, top + 1]
    many = pl.DataFrame({"x": pl.Series([largest], dtype=dtype).new_from_index(0, 100_000)})
    assert int(sum_cube(open_source(many, schema), schema).sums[0, 0]) == 100_000 * top


def _cube(keys: list[list[int]], sums: list[int], kind: type) -> Cube:
    ones = np.ones(len(keys), np.int64)
    return Cube(np.array(keys, np.int64), ones, ones.reshape(-1, 1), np.array(sums, dtype=kind).reshape(-1, 1))


def test_object_sums_add_up_without_a_limit() -> None:
    cube = _cube([[1], [0], [1]], [2**200, 7, 2**200], object)
    added = compact(cube)
    assert added.sums.tolist() == [[7], [2**201]]
    assert join([added, added]).sums.tolist() == [[14], [2**202]]
    assert join([empty_cube(1, [2**52 - 2]), added]).sums.dtype == object
    assert [type(value) for value in join([added, added]).sums[:, 0]] == [int, int]


def test_object_and_int64_sums_are_the_same_numbers() -> None:
    keys, sums = [[k % 3, k % 2] for k in range(60)], list(range(60))
    narrow, wide = (compact(_cube(keys, sums, kind)) for kind in (np.int64, object))
    assert narrow.sums.tolist() == wide.sums.tolist()
    assert narrow.sums.dtype == np.int64
    assert wide.sums.dtype == object


def test_more_rows_than_any_table_has_are_refused() -> None:
    full = Cube(
        np.zeros((1, 1), np.int64), np.array([ROW_LIMIT - 1]), np.zeros((1, 0), np.int64), np.zeros((1, 0), np.int64)
    )
    one = Cube(np.ones((1, 1), np.int64), np.array([1]), np.zeros((1, 0), np.int64), np.zeros((1, 0), np.int64))
    assert row_count(join([full])) == ROW_LIMIT - 1
    with pytest.raises(InternalError, match="more rows"):
        join([full, one])
    with pytest.raises(InternalError, match="no cube"):
        join([])


def test_a_cube_without_axes_or_rows_compacts() -> None:
    none = empty_cube(0, [])
    assert compact(none).rows.tolist() == []
    twice = Cube(np.zeros((2, 0), np.int64), np.array([1, 2]), np.zeros((2, 0), np.int64), np.zeros((2, 0), np.int64))
    assert compact(twice).rows.tolist() == [3]
    assert compact(Cube(twice.keys, np.zeros(2, np.int64), twice.nonnull, twice.sums)).rows.tolist() == []
