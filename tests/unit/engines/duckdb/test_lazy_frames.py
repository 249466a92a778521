"""LazyFrames as sources: nothing is computed before a reading, and nothing that a column which is not used needs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from tests.builders import session_over
from tests.unit.engines.conftest import arrow_table

import discreet as dp
from discreet.audit.engines.conformance import check_engine
from discreet.audit.engines.hostile import hostile_tables
from discreet.engines import open_source
from discreet.engines.base import Engine, Header
from discreet.engines.duckdb.driver import open_frame
from discreet.engines.duckdb.frames import lazy
from discreet.engines.resources import NO_LIMITS
from discreet.errors import ReleaseFailed, SourceError

SOME = {"words", "doubles", "timestamps"}
MORE = {*SOME, "numbers as text", "64-bit integers", "column names"}
SCHEMA = dp.Schema(g=dp.Category(["a", "b"]), v=dp.Number(0, 9))


def failing(frame: pl.DataFrame) -> pl.DataFrame:
    raise ValueError(f"a value of the rows: {frame}")


@pytest.mark.slow
@pytest.mark.parametrize("tables", [SOME, pytest.param(MORE, marks=pytest.mark.slow)], ids=["some", "more"])
def test_it_conforms(tables: set[str]) -> None:
    def opened(header: Header, rows: Sequence[Sequence[object]]) -> Engine:
        return open_frame(pl.DataFrame(arrow_table(header, rows)).lazy(), tuple(header), NO_LIMITS)

    assert check_engine(opened, without=[one.name for one in hostile_tables() if one.name not in tables]) > 50


def test_opening_computes_nothing_and_a_reading_only_the_columns_that_it_uses() -> None:
    seen: list[Any] = []

    def told(frame: pl.DataFrame) -> pl.DataFrame:
        seen.append(frame.columns)
        return frame

    frame = pl.LazyFrame({"g": ["a", "b", None], "v": [1, 2, 3], "w": [1, 0, 2]}).map_batches(told, projection_pushdown=True)
    engine = open_source(frame, SCHEMA)
    assert seen == []
    (scan,) = dp.Table(SCHEMA, dp.AddRemove()).group_by("g").agg(dp.count()).layout.scans
    assert engine.aggregate(scan.axes, scan.moments).rows.tolist() == [1, 1, 1]
    assert engine.aggregate((), ()).rows.tolist() == [3]
    assert seen


def test_a_release_reads_it_once() -> None:
    readings: list[int] = []

    def told(frame: pl.DataFrame) -> pl.DataFrame:
        readings.append(frame.height)
        return frame

    frame = pl.LazyFrame({"g": ["a", "b", None], "v": [1, 2, 3]}).map_batches(told)
    with session_over(frame, SCHEMA, budget=dp.PureDP(10**6)) as session:
        release = session.release(session.table.group_by("g").agg(dp.count()), spend=10**6, name="r")
    assert release.table["count"].to_list() == [1, 1, 1]
    assert readings == [3]


def test_a_frame_that_fails_shows_nothing_of_its_rows() -> None:
    frame = pl.LazyFrame({"g": ["a"], "v": [777]}).map_batches(failing, schema={"g": pl.String, "v": pl.Int64})
    with session_over(frame, SCHEMA) as session, pytest.raises(ReleaseFailed) as caught:
        session.release(session.table.agg(dp.count("v")), spend="0.5", name="r")
    assert "777" not in str(caught.value)
    assert "777" not in repr(caught.value.__cause__)


def test_a_frame_without_a_schema_is_refused_when_it_is_opened() -> None:
    with pytest.raises(SourceError, match="the columns of the LazyFrame cannot be known"):
        open_source(pl.LazyFrame({"g": ["a"]}).select("nowhere"), SCHEMA)
    with pytest.raises(SourceError, match="column 'v'"):
        open_source(pl.LazyFrame({"g": ["a"]}), SCHEMA)


def test_the_types_that_are_told_first_are_those_that_come() -> None:
    """The driver reads the rows as the types that it was told."""
    frame = pl.DataFrame(
        {
            "text": ["a", None],
            "category": pl.Series(["a", "b"], dtype=pl.Categorical),
            "enum": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])),
            "decimal": pl.Series([Decimal("1.5"), None], dtype=pl.Decimal(10, 2)),
            "day": [dt.date(2020, 1, 1), None],
            "stamp": pl.Series([dt.datetime(2020, 1, 1), None], dtype=pl.Datetime("ms")),  # noqa: DTZ001
            "null": [None, None],
            "small": pl.Series([1, 2], dtype=pl.UInt8),
            "real": pl.Series([1.5, None], dtype=pl.Float32),
            "flag": [True, None],
        }
    )
    rows, _, _ = lazy(frame.lazy(), frame.columns)
    told = pa.schema(pa.lib.Schema._import_from_c_capsule(rows.__arrow_c_schema__()))
    assert told.types == pa.RecordBatchReader.from_stream(rows).schema.types


@pytest.mark.parametrize("name", ["*", "^x$", "^.*$"])
@pytest.mark.parametrize("is_lazy", [False, True], ids=["DataFrame", "LazyFrame"])
def test_a_column_is_never_taken_for_a_pattern(name: str, is_lazy: bool) -> None:
    frame = pl.DataFrame({"x": [0] * 40, name: [1] * 40})
    source = frame.lazy() if is_lazy else frame
    with session_over(source, dp.Schema({name: dp.Category([0, 1])}), budget=dp.PureDP(1000)) as one:
        release = one.release(one.table.group_by(name).agg(dp.count()), spend=900, name="r")
    assert release.table["count"].to_list() == [0, 40, 0]
