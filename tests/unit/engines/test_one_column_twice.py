"""A column that a scan reads under several names: as prepared, as clamped and as recorded (`Plan.original`)."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.engines import open_source
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 20))
ROWS = [("xy"[n % 2] if n % 7 else None, None if n % 5 == 0 else n % 21) for n in range(100)]
SKIP: dict[str, Any] = {"nulls": "skip"}


def as_csv(folder: Path, frame: pl.DataFrame) -> object:
    frame.write_csv(folder / "d.csv")
    return folder / "d.csv"


def as_parquet(folder: Path, frame: pl.DataFrame) -> object:
    frame.write_parquet(folder / "d.parquet")
    return folder / "d.parquet"


def as_partitions(folder: Path, frame: pl.DataFrame) -> object:
    for name, part in frame.partition_by("g", as_dict=True).items():
        place = folder / "rows" / f"g={name[0] or '__HIVE_DEFAULT_PARTITION__'}"
        place.mkdir(parents=True)
        part.drop("g").write_parquet(place / "a.parquet")
    return folder / "rows"


def as_frame(_folder: Path, frame: pl.DataFrame) -> object:
    return frame


def as_sqlite(folder: Path, frame: pl.DataFrame) -> object:
    with sqlite3.connect(folder / "d.sqlite") as database:
        database.execute("CREATE TABLE d (g TEXT, v INTEGER)")
        database.executemany("INSERT INTO d VALUES (?, ?)", frame.rows())
    return f"{folder / 'd.sqlite'}::d"


def requests() -> list[dp.Plan]:
    table = dp.Table(SCHEMA, dp.AddRemove()).clamp({"v": (3, 9)})
    full = table.impute({"v": dp.Uniform()})
    asked = dp.sum("v", **SKIP), dp.mean("v", **SKIP)
    wide = (*asked, dp.histogram("v", [3, 5, 9]), dp.variance("v", **SKIP))
    return [one.group_by(*by).agg(*some).original() for one in (table, full) for by in ([], ["g"]) for some in (asked, wide)]


def sorted_cube(engine: Any, scan: Any) -> list[tuple[Any, ...]]:
    cube = engine.aggregate(scan.axes, scan.moments)
    return sorted(zip(*(part.tolist() for part in (cube.keys, cube.rows, cube.nonnull, cube.sums)), strict=True))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("made", [as_csv, as_parquet, as_frame, as_sqlite, as_partitions])
def test_every_engine_brings_what_the_reference_does(made: Any, tmp_path: Path) -> None:
    frame = pl.DataFrame(ROWS, schema={"g": pl.String, "v": pl.Int64}, orient="row")
    engine = open_source(made(tmp_path, frame), SCHEMA)
    reference = ReferenceEngine({"g": ColumnType("text", "text"), "v": ColumnType("integer", "BIGINT")}, ROWS)
    twice = 0
    for request in requests():
        for scan in request.layout.scans:
            names = [one.name for one in (*scan.axes, *scan.moments)]
            twice += len(names) > len(set(names))
            assert sorted_cube(engine, scan) == sorted_cube(reference, scan)
    engine.close()
    assert twice >= 4


def test_a_value_is_read_once_under_each_name() -> None:
    (scan,) = requests()[0].layout.scans
    assert {one.called for one in scan.moments} == {"v", "v as recorded"}
    reference = ReferenceEngine({"g": ColumnType("text", "text"), "v": ColumnType("integer", "BIGINT")}, ROWS)
    cube = reference.aggregate(scan.axes, scan.moments)
    known = np.array([v for _, v in ROWS if v is not None])
    sums = {one.called: int(cube.sums[:, place].sum()) for place, one in enumerate(scan.moments)}
    assert sums == {"v as recorded": int(known.sum()), "v": int((np.clip(known, 3, 9) - 3).sum())}
