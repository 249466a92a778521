"""A row-wise query in a plan file: read, refused at its place, and carried out by every command."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.builders import plan_text, run

from .plans import SMALL, changed, load, refused

pytestmark = pytest.mark.usefixtures("one_artist")

PLAN = plan_text("computed")


def written(folder: Path, text: str = PLAN) -> Path:
    ages, codes = [31, 39, 42, 58, None, 90], ["F", " w ", "m", "M", None, "x"]
    pl.DataFrame({"age": ages, "code": codes}).write_parquet(folder / "ages.parquet")
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return folder / "plan.toml"


def test_every_command_knows_the_columns_of_a_query(tmp_path: Path) -> None:
    plan = str(written(tmp_path))
    checked = run("check", plan)
    assert checked.exit_code == 0, checked.output
    quoted = run("quote", plan)
    assert quoted.exit_code == 0, quoted.output
    explained = run("explain", plan)
    assert 'decade is computed from the cells of each row: (("age" // 10) * 10)' in explained.output
    out = tmp_path / "out"
    released = run("release", plan, "--out", str(out))
    assert released.exit_code == 0, released.output
    document = json.loads(next(out.rglob("release.json")).read_text(encoding="utf-8"))
    shown = {column["name"]: column.get("query") for column in document["plan"]["schema"]}
    assert shown["decade"] == '(("age" // 10) * 10)'
    assert shown["age"] is None
    table = pl.read_csv(next(out.rglob("table.csv")))
    # So little noise is drawn for this budget that the numbers are those of the rows.
    found = dict(zip(table["gender"], zip(table["count"].round(), table["sum_decade"].round(), strict=True), strict=True))
    assert found == {"f": (2, 60), "m": (3, 40 + 50 + 90), None: (1, 0)}
    again = run("release", plan, "--out", str(tmp_path / "again"))
    assert "no new charge" in again.output
    assert "computed as" in next(out.rglob("report.html")).read_text(encoding="utf-8")


def test_a_plan_with_a_query_is_checked_without_its_source(tmp_path: Path) -> None:
    plan = written(tmp_path)
    (tmp_path / "ages.parquet").unlink()
    assert run("check", "--without-source", str(plan)).exit_code == 0
    assert run("quote", str(plan)).exit_code == 0


def test_a_query_that_does_not_fit_the_source_is_refused_by_check_and_costs_nothing(tmp_path: Path) -> None:
    plan = written(tmp_path, changed(PLAN, "age // 10 * 10", "code // 10"))
    for command in (["check", str(plan)], ["release", str(plan), "--out", str(tmp_path / "o")]):
        result = run(*command)
        assert result.exit_code == 2
        assert "line 2, column 13: // does not take (VARCHAR, BIGINT)" in result.output


def test_a_filter_leaves_rows_alone(tmp_path: Path) -> None:
    text = changed(PLAN, "spend = 900000", "spend = 900000\nwhere = { age = [40, 60] }")
    result = run("release", str(written(tmp_path, text)), "--out", str(tmp_path / "o"))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (
            "SELECT * FROM source WHERE age > 3",
            "data.query: query: line 1, column 22: WHERE: filters are not part of a query",
        ),
        ("SELECT count(*) AS n FROM source", "line 1, column 8: count(…): its value would depend on other rows"),
        ("SELECT a.b FROM source", "a column is named without its table"),
        ("SELECT 1 AS other FROM source", "which the schema declares"),
        ("", "SELECT is expected at the beginning"),
    ],
)
def test_a_query_that_is_not_row_wise_is_refused_at_its_place(tmp_path: Path, query: str, said: str) -> None:
    text = changed(SMALL, "[data]", f'[data]\nquery = "{query}"')
    assert said in str(refused(tmp_path, text))


def test_a_query_is_a_text(tmp_path: Path) -> None:
    assert "must be a text in quotes" in str(refused(tmp_path, changed(SMALL, "[data]", "[data]\nquery = 3")))


def test_a_plain_star_changes_no_digest(tmp_path: Path) -> None:
    with_star = load(tmp_path, changed(SMALL, "[data]", '[data]\nquery = "SELECT * FROM source"'))
    assert with_star.orders[0].request.digest == load(tmp_path, SMALL).orders[0].request.digest
