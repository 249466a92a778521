"""Missing codes are null on every engine, exactly and before any clamp; codes that cannot occur are refused."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet.audit.engines.conformance import ConformanceError, OpenEngine, check_engine
from discreet.audit.engines.hostile import hostile_tables
from discreet.cube.value_paths import Moment, NumberPath, path_of
from discreet.domain.steps import facts_of
from discreet.engines import missing, open_source, sql
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.errors import SourceError

CODED = [table.name for table in hostile_tables() if table.name.startswith("missing codes")]
OTHERS = [table.name for table in hostile_tables() if table.name not in CODED]
WIDE = {"missing codes in 128-bit integers"}


def seen(source: Any, column: Any) -> tuple[int, int]:
    """How many cells of the column x are not null, and the sum of their codes."""
    schema = dp.Schema(x=column)
    path = path_of("x", (), facts_of(schema, dp.AddRemove()))
    assert isinstance(path, NumberPath)
    engine = open_source(source, schema)
    try:
        cube = engine.aggregate((), [Moment(path)])
    finally:
        engine.close()
    return int(cube.nonnull.sum()), int(cube.sums.sum())


@pytest.mark.parametrize(
    ("source", "without"),
    [
        ("polars", {*OTHERS, *CODED[1::3], *CODED[2::3], *WIDE}),
        pytest.param("polars", {*OTHERS, *WIDE}, marks=pytest.mark.slow),
        pytest.param("relation", {*OTHERS}, marks=pytest.mark.exhaustive),
    ],
)
def test_frames_and_relations_conform(openers: Mapping[str, OpenEngine], source: str, without: set[str]) -> None:
    """The other sources, and Spark, meet the same tables in their own tests of conformance.

    A relation has the statements of a frame; it always meets the 128-bit integers, which a frame cannot hold.
    """
    assert check_engine(openers[source], without=without) > 40


def test_a_code_on_a_bound_is_null_and_is_not_moved_to_another() -> None:
    frame = pl.DataFrame({"x": [-8, -8, 0, 5, 999, None]})
    assert seen(frame, dp.Number(0, 10)) == (5, 0 + 0 + 0 + 5 + 10), "without codes they are bounds: the fault of 0.1.0"
    assert seen(frame, dp.Number(0, 10, missing=[-8, 999])) == (2, 5)
    assert seen(frame, dp.Number(0, 10, missing=[0])) == (4, 15)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("mistake", "table"),
    [
        (lambda _dialect, _path, _kind, _number, code: code, CODED),
        (lambda _dialect, path, _kind, _number, code: _after_clamping(path, code), CODED),
    ],
)
def test_codes_that_are_not_looked_for_or_after_the_clamp_are_noticed(
    openers: Mapping[str, OpenEngine], monkeypatch: pytest.MonkeyPatch, mistake: Callable[..., str], table: list[str]
) -> None:
    monkeypatch.setattr(sql, "without_missing", mistake)
    for name in table:
        if "128-bit" not in name:
            with pytest.raises(ConformanceError):
                check_engine(openers["polars"], without=[one.name for one in hostile_tables() if one.name != name])


def _after_clamping(path: Any, code: str) -> str:
    values = [str(n) for n, value in enumerate(map(path.column.value, range(4))) if value in path.column.missing]
    return f"CASE WHEN {code} IN ({', '.join(values)}) THEN NULL ELSE {code} END" if values else code


def test_the_two_zeros_are_one_code_and_nan_is_null_anyway() -> None:
    frame = pl.DataFrame({"x": [0.0, -0.0, float("nan"), 1.0]})
    assert seen(frame, dp.Number(-1, 1, missing=[0])) == (1, 2)
    assert seen(frame, dp.Number(-1, 1, missing=["-0.0"])) == (1, 2)


def test_a_code_means_the_nearest_float_of_the_type_of_the_column() -> None:
    for dtype in (np.float32, np.float64):
        frame = pl.DataFrame({"x": np.array([99.9, 99.8], dtype)})
        assert seen(frame, dp.Number(0, 100, "0.1", missing=["99.9"])) == (1, 998)
    widened = pl.DataFrame({"x": np.array([99.9], np.float32).astype(np.float64)})
    assert seen(widened, dp.Number(0, 100, "0.1", missing=["99.9"]))[0] == 1


def test_codes_in_text_and_in_cells_of_sqlite(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('x\n-8\n-8.0\n" -80e-1 "\n8\n7\nNA\n', encoding="utf-8")
    assert seen(tmp_path / "a.csv", dp.Number(0, 10, missing=[-8])) == (2, 15)
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [(-8,), (-8.0,), ("-8",), (8,), ("7",), (b"-8",), (99.5,)])
        connection.commit()
    assert seen(f"{tmp_path}/a.sqlite::t", dp.Number(0, 10, missing=[-8, "99.5"])) == (2, 15)


def test_codes_in_the_names_of_folders(tmp_path: Path) -> None:
    for year in ("2024", "9999"):
        (tmp_path / f"year={year}").mkdir()
        pl.DataFrame({"y": [1, 2]}).write_parquet(tmp_path / f"year={year}" / "a.parquet")
    schema = dp.Schema(year=dp.Number(2000, 2030, missing=[9999]))
    plan = dp.Table(schema, dp.AddRemove()).agg(dp.sum("year", nulls="skip"))
    (scan,) = plan.layout.scans
    cube = open_source(tmp_path, schema).aggregate(scan.axes, scan.moments)
    assert (int(cube.nonnull.sum()), int(cube.sums.sum())) == (2, 48)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_a_day_is_missing_at_any_time(tmp_path: Path, unit: str) -> None:
    stamps = [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 23, 59, 59), dt.datetime(2020, 1, 2)]  # noqa: DTZ001
    pl.DataFrame({"x": pl.Series(stamps, dtype=pl.Datetime(unit))}).write_parquet(tmp_path / "a.parquet")  # type: ignore[arg-type]
    column = dp.Date("2019-12-31", "2020-12-31", missing=["2020-01-01"])
    assert seen(tmp_path / "a.parquet", column) == (1, 2)


@pytest.mark.parametrize(
    ("values", "column", "shown"),
    [
        (pa.array([1], pa.uint8()), dp.Number(0, 9, missing=[-8]), "-8 cannot occur in a column of UTINYINT"),
        (pa.array([1], pa.int8()), dp.Number(0, 9, missing=[999]), "999 cannot occur in a column of TINYINT"),
        (pa.array([1], pa.int64()), dp.Number(0, 9, missing=["99.5"]), "99.5 cannot occur in a column of BIGINT"),
        (pa.array([1], pa.uint64()), dp.Number(0, 9, missing=[2**64]), "cannot occur in a column of UBIGINT"),
        (pa.array([1.5], pa.float32()), dp.Number(0, 9, missing=["1e39"]), "cannot occur in a column of FLOAT"),
        (pa.array([1.5]), dp.Number(0, 9, missing=["1e309"]), "cannot occur in a column of DOUBLE"),
        (pa.array([1], pa.decimal128(3, 1)), dp.Number(0, 9, missing=["0.25"]), "0.25 cannot occur in a column of DECIMAL"),
        (pa.array([1], pa.int8()), dp.Category([1], missing=[999]), "999 cannot occur in a column of TINYINT"),
        (
            pa.array([1], pa.timestamp("ns")),
            dp.Date("2020-01-01", "2020-01-02", missing=["9999-12-31"]),
            "9999-12-31 cannot occur in a column of TIMESTAMP_NS",
        ),
    ],
)
def test_codes_that_no_cell_can_be_are_refused(values: pa.Array, column: Any, shown: str) -> None:
    with pytest.raises(SourceError, match=shown):
        open_source(pa.table({"x": values}), dp.Schema(x=column))


def held(folder: Path, kind: str, value: Any) -> Any:
    """A source whose column x holds this number as doubles, single floats, text or cells of SQLite."""
    match kind:
        case "csv":
            (folder / "a.csv").write_text(f"x\n{value}\n", encoding="utf-8")
            return folder / "a.csv"
        case "sqlite":
            with closing(sqlite3.connect(folder / "a.sqlite")) as connection:
                connection.execute("CREATE TABLE t (x REAL)")
                connection.execute("INSERT INTO t VALUES (?)", [value])
                connection.commit()
            return f"{folder}/a.sqlite::t"
        case "reference":
            return ReferenceEngine({"x": ColumnType("float", "DOUBLE")}, [(float(value),)])
        case "single":
            return pl.DataFrame({"x": np.array([value], np.float32)})
        case "duckdb":
            pl.DataFrame({"x": [float(value)]}).write_parquet(folder / "a.parquet")
            return folder / "a.parquet"
        case _:
            return pl.DataFrame({"x": [float(value)]})


FLOATS = ["polars", "duckdb", "csv", "sqlite", "reference", "single"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(
    ("code", "collapses"),
    [
        ("1e-390", 0),
        ("-1e-390", 0),
        (2**53 + 1, 2**53),
        ("5000000000000000001", 5 * 10**18),
        ("1/3", 1),
        ("0.10000000000000000001", 1),
    ],
)
def test_a_code_that_is_only_near_to_a_float_is_refused(tmp_path: Path, kind: str, code: Any, collapses: int) -> None:
    """It would make another value null: 1e-390 every 0."""
    with pytest.raises(SourceError, match=r"column 'x': the missing code .* cannot occur .*, whose nearest value is"):
        open_source(held(tmp_path, kind, collapses), dp.Schema(x=dp.Number(0, 10, missing=[code])))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("code", ["-8", "99.9", "0.1", "1e-30", "16777216", "-99.99", "1e30", "0.333333"])
def test_a_code_that_is_written_like_a_float_is_that_float(tmp_path: Path, kind: str, code: str) -> None:
    assert seen(held(tmp_path, kind, code), dp.Number(0, 10, missing=[code])) == (0, 0)


def test_a_whole_number_between_single_floats_is_refused() -> None:
    for code, fits in ((2**24 + 1, False), (2**24 + 2, True), ("16777217.0", False)):
        schema = dp.Schema(x=dp.Number(0, 10, missing=[code]))
        if fits:
            open_source(held(Path(), "single", 1), schema).close()
        else:
            with pytest.raises(
                SourceError, match=r"16777217 cannot occur in a column of FLOAT, whose nearest value is 1677721"
            ):
                open_source(held(Path(), "single", 1), schema)


def test_the_reference_reads_codes_by_the_type_of_the_column() -> None:
    """What the reference says is the meaning; here it is written down once more."""
    column = dp.Number(0, 100, missing=[7, "99.9"])
    kinds = {name: missing.ColumnType(*kind) for name, kind in {"d": ("float", "DOUBLE"), "s": ("float", "FLOAT")}.items()}
    single = float(np.float32(99.9))
    assert [missing.is_missing(column, x, kinds["d"]) for x in (7.0, 99.9, single, 7.000001)] == [True, True, False, False]
    assert [missing.is_missing(column, x, kinds["s"]) for x in (7.0, 99.9, single)] == [True, False, True]
    assert ReferenceEngine({"x": kinds["d"]}, [(7.0,)]).header
