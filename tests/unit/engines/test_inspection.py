"""What a curator is shown of the cells of a source is what a release reads, on every engine that can show them."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.audit.engines.conformance import ConformanceError, OpenEngine, check_table
from discreet.audit.engines.hostile import HostileTable, hostile_tables
from discreet.domain.columns import Category
from discreet.engines import inspection, open_source
from discreet.engines.duckdb import driver
from discreet.engines.inspection import Tally, check_inspectable, inspect_source
from discreet.engines.reference import ReferenceEngine, category_code, number_code
from discreet.engines.reference import date_code as day_code
from discreet.errors import SourceError

NULLS = {"null", "missing code", "not a number", "not a day", "not a declared category"}


def words(source: Any, **columns: Any) -> dict[str, dict[str, int]]:
    schema = dp.Schema(columns)
    engine = open_source(source, schema)
    try:
        found = inspect_source(check_inspectable(engine), schema)
    finally:
        engine.close()
    return {name: {word: tally.rows for word, tally in tallies.items()} for name, tallies in found.items()}


@pytest.mark.parametrize("table", hostile_tables(), ids=lambda table: table.name)
def test_the_rows_that_are_not_null_are_those_of_the_reference(table: HostileTable) -> None:
    """For every hostile value: it is shown as something other than null exactly where it has a code."""
    reference = ReferenceEngine(table.header, table.rows)
    for name, tallies in inspect_source(reference, table.schema).items():
        column, place = table.schema[name], list(table.header).index(name)
        code: Any = category_code if isinstance(column, Category) else day_code if hasattr(column, "first") else number_code
        values = [row[place] for row in table.rows]
        coded = sum(code(column, value) is not None for value in values)
        missing = tallies.get("missing code", Tally()).rows if not isinstance(column, Category) else 0
        assert sum(tally.rows for word, tally in tallies.items() if word not in NULLS) == coded - missing
        assert sum(tally.rows for tally in tallies.values()) == len(values)


def test_an_engine_that_shows_other_cells_is_noticed(
    openers: Mapping[str, OpenEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = next(table for table in hostile_tables() if len(table.rows) > 50)
    assert check_table(openers["polars"], table) > 0
    monkeypatch.setattr(driver, "cells_of_frames", lambda *_: iter(()))
    with pytest.raises(ConformanceError, match=", cells of"):
        check_table(openers["polars"], table)


def test_numbers_moved_to_a_bound_or_to_the_grid_and_texts_that_are_no_number() -> None:
    frame = pl.DataFrame({"x": ["-8", "0", "3,5", "3.5", "10", "11", "", None, "1e999", "999"]})
    assert words(frame, x=dp.Number(0, 10, missing=[999])) == {
        "x": {
            "moved to the lower bound": 1,
            "moved to the upper bound": 1,
            "as declared": 2,
            "moved to the grid": 1,
            "not a number": 2,
            "missing code": 1,
            "null": 2,
        }
    }


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64, pl.Decimal(10, 2), pl.String])
def test_a_float_that_is_nearest_to_a_grid_value_is_on_the_grid(dtype: Any) -> None:
    cells = ["0.1", "0.2", "0.3", "0.7", "0.15"]
    frame = pl.DataFrame({"x": cells}).cast({"x": dtype})
    assert words(frame, x=dp.Number("0.1", "0.7", "0.1")) == {"x": {"as declared": 4, "moved to the grid": 1}}


def test_days_before_and_after_and_beyond_all_calendars(tmp_path: Path) -> None:
    path = tmp_path / "days.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT unnest([DATE '2020-01-31', DATE '1999-12-31', DATE '2031-01-01', 'infinity'::DATE, "
            "'-infinity'::DATE, '290000-01-01'::DATE, '0044-03-15 (BC)'::DATE, NULL, DATE '2020-02-29']) AS d"
        )
    column = dp.Date("2020-01-01", "2020-12-31", missing=["2020-02-29"])
    moved = {"moved to the first day": 2, "moved to the last day": 2}
    assert words(f"{path}::t", d=column) == {"d": {"as declared": 1, **moved, "null": 3, "missing code": 1}}


def test_cells_of_sqlite_are_what_they_are_by_themselves(tmp_path: Path) -> None:
    path = tmp_path / "cells.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x INTEGER COLLATE NOCASE, g TEXT COLLATE NOCASE)")
        cells = [(1, "a"), (1.5, "A"), ("2", "a"), (b"\x00\xff", "b"), (None, None), ("two", "")]
        connection.executemany("INSERT INTO t VALUES (?, ?)", cells)
        connection.commit()
    found = words(f"{path}::t", x=dp.Number(0, 10), g=dp.Category(["a", "b"]))
    assert found["x"] == {"as declared": 2, "moved to the grid": 1, "not a number": 2, "null": 1}
    assert found["g"] == {"as declared": 3, "not a declared category": 1, "null": 2}


def test_columns_that_folders_name_and_timestamps_in_milliseconds(tmp_path: Path) -> None:
    for state, rows in (("WY", 2), ("__HIVE_DEFAULT_PARTITION__", 1), ("XX", 3)):
        (tmp_path / f"state={state}").mkdir()
        stamps = pl.Series(
            "t",
            [dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC).replace(tzinfo=None), *[None] * (rows - 1)],
            dtype=pl.Datetime("ms"),
        )
        pl.DataFrame([stamps]).write_parquet(tmp_path / f"state={state}" / "part.parquet")
    found = words(tmp_path, state=dp.Category(["WY"]), t=dp.Date("2020-01-01", "2020-12-31"))
    assert found["state"] == {"as declared": 2, "null": 1, "not a declared category": 3}
    assert found["t"] == {"as declared": 3, "null": 3}


def test_wide_integers_and_decimals_are_compared_exactly() -> None:
    high = 2**62
    frame = pl.DataFrame({"x": [high, high + 1, high - 1]})
    found = words(frame, x=dp.Number(high - 2**20, high))
    assert found["x"] == {"as declared": 2, "moved to the upper bound": 1}
    tenths = pl.DataFrame({"x": [Decimal("0.10"), Decimal("0.11")]}, schema={"x": pl.Decimal(38, 2)})
    assert words(tenths, x=dp.Number(0, 1, "0.1"))["x"] == {"as declared": 1, "moved to the grid": 1}


def test_a_column_of_too_many_values_is_counted_but_not_every_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "_KEPT", 10)
    tally = Tally()
    for number in range(100):
        tally.add("often", 2)
        tally.add(str(number), 1)
    assert (tally.rows, tally.exact) == (300, False)
    assert tally.values.most_common(1) == [("often", 200)]
    assert len(tally.values) <= 10


def test_a_source_that_cannot_show_its_cells_says_so() -> None:
    class Other:
        header: Mapping[str, object] = {}

    with pytest.raises(SourceError, match="cannot be inspected; convert it to Parquet or CSV"):
        check_inspectable(Other())  # type: ignore[arg-type]
