"""Poisoned data: pairs of tables on which naive sums break their sensitivity. Sums of codes never do."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.cube.cube import Cube
from discreet.domain.columns import Number
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines import open_source
from discreet.plan.table import Table
from discreet.statistics import sum_of

CODES = 2**20
DTYPES = {
    "float64": pl.Float64,
    "float32": pl.Float32,
    "int8": pl.Int8,
    "int16": pl.Int16,
    "int32": pl.Int32,
    "int64": pl.Int64,
}


def cube_of(values: Sequence[Any], dtype: str, lower: Fraction, upper: Fraction) -> Cube:
    schema = Schema(x=Number(lower, upper, (upper - lower) / CODES))
    (asked,) = Table(schema, AddRemove()).agg(sum_of("x", nulls="skip")).layout.scans
    frame = pl.DataFrame({"x": pl.Series(values, dtype=DTYPES[dtype])})
    return open_source(frame, schema).aggregate(asked.axes, asked.moments)


def spelled(value: Any) -> float:
    """A number of a golden file; a NaN with a payload keeps its bits."""
    if isinstance(value, str) and value.startswith("nan("):
        payload = int(value[4:-1], 16)
        return struct.unpack("<d", struct.pack("<Q", 0x7FF0_0000_0000_0000 | payload))[0]
    return float(value)


def expanded(data: Any) -> list[Any]:
    """The values of a golden vector: a list, runs of [value, count], or 99 × 0.5 and one poisoned record."""
    if isinstance(data, list):
        return data
    if "runs" in data:
        return [value for value, times in data["runs"] for _ in range(times)]
    assert data["values"] == "99 x 0.5"
    return [0.5] * 99 + ([spelled(data["plus"])] if "plus" in data else [])


def holds(dataset: list[Any], neighbour: list[Any], dtype: str, lower: Fraction, upper: Fraction) -> None:
    """One record moves the sum by at most the range, in codes; the same records in another order do not move it."""
    cubes = [cube_of(values, dtype, lower, upper) for values in (dataset, neighbour)]
    totals = [[int(cube.rows[0]), int(cube.nonnull[0, 0]), int(cube.sums[0, 0])] for cube in cubes]
    same = sorted(dataset, key=repr) == sorted(neighbour, key=repr)
    assert [cube.rows.tolist() for cube in cubes] == [[len(dataset)], [len(neighbour)]]
    assert abs(totals[0][1] - totals[1][1]) <= 1
    assert abs(totals[0][2] - totals[1][2]) <= (0 if same else CODES)


POISON = [math.nan, -math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308, spelled("nan(0x1)")]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("value", POISON, ids=repr)
def test_one_poisoned_record_moves_a_sum_by_one_record(value: float) -> None:
    holds([0.5] * 99 + [value], [0.5] * 99, "float64", Fraction(0), Fraction(1))
    cube = cube_of([0.5] * 99 + [value], "float64", Fraction(0), Fraction(1))
    code = None if not math.isfinite(value) else CODES if value > 1 else 0
    assert cube.nonnull.tolist() == [[99 + (code is not None)]]
    assert cube.sums.tolist() == [[99 * CODES // 2 + (code or 0)]]


def test_sums_do_not_depend_on_the_order_of_rows() -> None:
    small, large = [1.0] * 1000, [2.0**53]
    holds(small + large, large + small, "float64", Fraction(0), Fraction(2**53))


def test_sums_of_single_floats_neither_round_nor_overflow() -> None:
    above_one = float.fromhex("0x1.000002p+0")
    holds([2.0**24] + [above_one] * 2**16, [above_one] * 2**16, "float32", Fraction(0), Fraction(2**24))
    holds([3e38] * 4 + [-3e38] * 7, [3e38] * 3 + [-3e38] * 7, "float32", Fraction(-(10**38)), Fraction(10**38))


@pytest.mark.slow
@pytest.mark.shared
def test_the_golden_attacks_do_not_work(shared: Path) -> None:
    vectors = json.loads((shared / "golden" / "float_attacks.json").read_text(encoding="utf-8"))["vectors"]
    tried = 0
    for vector in vectors:
        if vector["function"].startswith("sum") and vector["neighbour"] is not None:
            bounds = [Fraction(vector[name]) for name in ("lower", "upper")]
            holds(expanded(vector["dataset"]), expanded(vector["neighbour"]), vector["dtype"], *bounds)
            tried += 1
    assert tried == 16
