"""Areas whose cells go to files: Spark is asked for one slice after another, and answers as DuckDB does."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.noise.bits import Bits
from discreet.plan import area_reading, in_files
from discreet.plan.table import Table
from discreet.releases.areas import publishing

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")]
LEVELS = {"state": ["10", "10", "44", "44", "44"], "tract": ["101", "102", "441", "442", "443"]}
SCHEMA = dp.Schema(area=dp.Hierarchy(LEVELS, levels=["state", "tract"]), sex=dp.Category(["f", "m"]), age=dp.Number(0, 9))
ROWS = [
    row
    for place, row in enumerate(product([*LEVELS["tract"], "999", None], ["f", "m", "x", None], [0, 4, 9, 99, None]))
    for _ in range(place % 4)
]


@pytest.fixture
def rows(tmp_path: Path) -> str:
    path = tmp_path / "rows.parquet"
    pl.DataFrame(ROWS, schema=["area", "sex", "age"], orient="row").write_parquet(path)
    return str(path)


@pytest.fixture(autouse=True)
def _low(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is large: 20 cells in a document, and three slices or more."""
    for module in (in_files, publishing):
        monkeypatch.setattr(module, "MOST_WHOLE_CELLS", 20)
    monkeypatch.setattr(area_reading, "_SLICE", 20)


def released(source: Any, folder: Path, make: Callable[[Table], Table]) -> dict[str, pl.DataFrame]:
    relation = dp.ReplaceOne(rows=len(ROWS))
    with session_over(source, SCHEMA, neighbours=relation, budget=dp.ZCDP(1)) as one:
        one._bits = lambda: Bits(random.Random(5).randbytes)  # type: ignore[method-assign] # noqa: S311
        asked = make(one.table).agg(dp.agreeing_areas("area", by=[[], ["sex"], [dp.bins("age", step=5), "sex"]]))
        assert re.search("the source is read [0-9]+ times, for some areas", str(asked.layout))
        release = one.release(asked, spend=1, name="all", to=folder)
    return {frame["name"]: release.scan(frame["name"]).collect() for frame in release.document["frames"]}


def everybody(table: Table) -> Table:
    return table


@pytest.mark.parametrize(
    "make",
    [everybody, lambda table: table.where({"age": (0, 5)}), lambda table: table.impute({"sex": dp.Weights({"f": 1})})],
    ids=["all", "where", "imputed"],
)
def test_slices_of_areas_equal_those_of_duckdb(
    session: Any, rows: str, tmp_path: Path, make: Callable[[Table], Table]
) -> None:
    wanted = released(rows, tmp_path / "duckdb", make)
    assert len(wanted) == 9
    for number, source in enumerate([f"spark:{rows}", session.read.parquet(rows)]):
        found = released(source, tmp_path / f"spark{number}", make)
        assert found.keys() == wanted.keys()
        assert all(frame.equals(wanted[name]) for name, frame in found.items())


def test_rows_that_are_not_files_are_kept_between_slices(session: Any, rows: str, tmp_path: Path) -> None:
    made = session.createDataFrame(pl.read_parquet(rows).to_arrow())
    found, wanted = released(made, tmp_path / "spark", everybody), released(rows, tmp_path / "duckdb", everybody)
    assert all(frame.equals(wanted[name]) for name, frame in found.items())
