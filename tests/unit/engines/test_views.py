"""Views of DuckDB and SQLite files: read once for a release, and `check` says that their rows are what is protected."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from tests.builders import plan_text, session_over
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app
from discreet.engines import header_of, open_source
from discreet.engines.base import Together, cubes_of
from discreet.engines.duckdb.database_files import _DuckdbViewEngine
from discreet.engines.sources import is_view
from discreet.errors import SourceError

SCHEMA = dp.Schema(sex=dp.Category(["F", "M"]), age=dp.Number(0, 110))
TABLE = dp.Table(SCHEMA, dp.AddRemove())
TABLES = (
    "CREATE TABLE persons (sex VARCHAR, born INTEGER); INSERT INTO persons VALUES ('F', 1990), ('M', 1980), (NULL, 1970);"
    "CREATE VIEW aged AS SELECT sex, 2026 - born AS age, 'x' AS other FROM persons;"
    "CREATE VIEW twice AS SELECT sex, age FROM aged;"
)


def in_duckdb(folder: Path, statements: str) -> Path:
    with duckdb.connect(folder / "a.duckdb") as connection:
        connection.execute(statements)
    return folder / "a.duckdb"


def in_sqlite(folder: Path, statements: str) -> Path:
    connection = sqlite3.connect(folder / "a.sqlite")
    connection.executescript(statements)
    connection.close()
    return folder / "a.sqlite"


Make = Callable[[Path, str], Path]


@pytest.fixture(params=[in_duckdb, in_sqlite])
def make(request: pytest.FixtureRequest) -> Make:
    return request.param  # type: ignore[no-any-return]


def scans(*requests: Any) -> list[Any]:
    return [(scan.axes, scan.moments) for request in requests for scan in request.layout.scans]


BY_SEX, AGES = TABLE.group_by("sex").agg(dp.count()), TABLE.agg(dp.sum("age", nulls="skip"))


@pytest.mark.parametrize("view", ["aged", "twice"])
def test_a_view_has_the_cubes_of_its_rows(tmp_path: Path, make: Make, view: str) -> None:
    rows = pl.DataFrame({"sex": ["F", "M", None], "age": [36, 46, 56]})
    asked = scans(BY_SEX, AGES)
    expected = [*cubes_of(open_source(rows, SCHEMA), asked)]
    engine = open_source(f"{make(tmp_path, TABLES)}::{view}", SCHEMA)
    assert isinstance(engine, Together)
    assert isinstance(engine, _DuckdbViewEngine) == (make is in_duckdb)
    for found in ([*cubes_of(engine, asked)], [engine.aggregate(*one) for one in asked]):
        for cube, known in zip(found, expected, strict=True):
            assert (cube.rows.tolist(), cube.sums.tolist()) == (known.rows.tolist(), known.sums.tolist())
    assert [n for _, some in engine.cells(["sex"]) for _, n in some] == [1, 1, 1]  # type: ignore[attr-defined]


def test_a_release_reads_a_view_once(tmp_path: Path, make: Make) -> None:
    unstable = TABLES + (
        "CREATE VIEW drawn AS SELECT sex, CASE WHEN chance < 0.5 THEN 0 ELSE 1 END AS age FROM "
        "(SELECT 'F' AS sex, random() AS chance FROM range(2000))"
        if make is in_duckdb
        else "CREATE VIEW drawn AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
        "SELECT 'F' AS sex, CASE WHEN random() < 0 THEN 0 ELSE 1 END AS age FROM n"
    )
    engine = open_source(f"{make(tmp_path, unstable)}::drawn", SCHEMA)
    total, again = (int(cube.sums[0, 0]) for cube in cubes_of(engine, scans(AGES, AGES)))
    assert total == again
    assert len({int(engine.aggregate(*scan).sums[0, 0]) for scan in scans(*[AGES] * 8)}) > 1


def test_a_view_over_other_files_follows_them(tmp_path: Path) -> None:
    rows = tmp_path / "rows.parquet"
    pl.DataFrame({"sex": ["F"], "age": [1]}).write_parquet(rows)
    path = in_duckdb(tmp_path, f"CREATE VIEW outside AS SELECT * FROM '{rows}'")
    source = f"{path}::outside"
    options: Any = {"neighbours": dp.ReplaceOne(rows=1), "budget": dp.PureDP(10**6)}
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=1))
    with session_over(source, SCHEMA, **options) as session:
        session.release(table.agg(dp.sum("age", nulls="skip")), spend=10, name="r")
        pl.DataFrame({"sex": ["F", "M"], "age": [1, 1]}).write_parquet(rows)
        with pytest.raises(SourceError, match="rows"):
            session.release(table.agg(dp.mean("age", nulls="skip")), spend=10, name="s")
    rows.unlink()
    with pytest.raises(
        SourceError, match="outside': the view cannot be computed; check that its tables and files are there"
    ):
        header_of(source)


def test_a_view_that_has_lost_its_table_is_refused(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path, f"{TABLES} DROP TABLE persons;")
    with pytest.raises(SourceError, match="aged': the view cannot be computed"):
        open_source(f"{path}::aged", SCHEMA)


def test_a_failure_in_a_view_is_the_constant_one(tmp_path: Path) -> None:
    path = in_duckdb(
        tmp_path, f"{TABLES} CREATE VIEW bad AS SELECT sex, CAST(sex || 'secret' AS INTEGER) AS age FROM persons"
    )
    engine = open_source(f"{path}::bad", SCHEMA)
    with pytest.raises(SourceError, match="could not be read to its end"):
        [*cubes_of(engine, scans(BY_SEX, AGES))]


def test_views_are_told_from_tables(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path, TABLES)
    assert is_view(f"{path}::aged")
    for other in (f"{path}::persons", f"{path}::none", str(path), f"{tmp_path}/none.db::aged", "spark:db::aged"):
        assert not is_view(other)


def test_check_has_a_note_for_a_view(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path, TABLES + "CREATE TABLE kept AS SELECT * FROM aged")
    for name, noted in (("aged", True), ("kept", False)):
        plan = tmp_path / f"{name}.toml"
        plan.write_text(plan_text("viewed").replace("persons.db::aged", f"{path.name}::{name}"))
        done = CliRunner().invoke(app, ["check", str(plan)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        assert ("one row of it must be computed from the data of one person" in " ".join(done.output.split())) == noted
