"""Lists of combinations as they are declared: columns, files, faults, pickles, and what a schema says of them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.builders import plan_text, run, session_over

import discreet as dp
from discreet.domain.declared_words import column_words
from discreet.errors import SchemaError
from discreet.planfile.read import load_plan

TABLE = {"school": ["A", "A", "B"], "degree": ["BSc", "MSc", "BSc"], "name": ["Alpha", "Alpha", "Beta"]}
PARTS = ["school", "degree"]


def schema_of(table: Any = TABLE, **options: Any) -> dp.Schema:
    return dp.Schema(course=dp.Keys(table, columns=options.pop("columns", PARTS), **options), pay=dp.Number(0, 9))


def test_a_list_is_a_column_of_its_rows_and_one_for_each_part() -> None:
    schema = schema_of()
    assert list(schema.columns) == ["course", "course.school", "course.degree", "pay"]
    assert schema["course"].values == ("A / BSc", "A / MSc", "B / BSc")
    assert schema["course.school"].values == ("A", "B")
    assert schema["course.degree"].origin.codes == (0, 1, 0)
    assert list(schema.as_read().columns) == ["school", "degree", "pay"]
    assert dp.Keys(TABLE, columns=PARTS, labels={"school": "name"}).labels["school"]["B"] == "Beta"


def test_another_category_is_for_all_rows_that_the_list_does_not_have() -> None:
    schema = schema_of(other="elsewhere")
    assert schema["course"].values[-1] == schema["course.school"].values[-1] == "elsewhere"
    assert schema["course"].required
    whole = schema_of({"school": ["A", "B"], "year": [2020, 2021]}, columns=["school", "year"], other="elsewhere")
    assert whole["course.year"].values == (2020, 2021)
    assert not whole["course.year"].required


def test_files_are_the_mapping_and_other_lists_are_other_columns(tmp_path: Path) -> None:
    pl.DataFrame(TABLE).write_csv(tmp_path / "courses.csv")
    pl.DataFrame(TABLE).write_parquet(tmp_path / "courses.parquet")
    assert schema_of(tmp_path / "courses.csv") == schema_of(str(tmp_path / "courses.parquet")) == schema_of()
    assert schema_of() != schema_of(other="elsewhere")
    turned = {name: values[::-1] for name, values in TABLE.items()}
    assert schema_of(turned)["course"].to_json() != schema_of()["course"].to_json()
    assert pickle.loads(pickle.dumps(schema_of())) == schema_of()
    told = schema_of(other="x")["course"].to_json()
    assert told["combinations_of"] == PARTS
    assert column_words(told).endswith("; from school and degree by a public list")
    assert told["others"] is True


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "one column": ({"columns": ["school"]}, "at least two columns"),
    "a text": ({"columns": "school"}, "must be a list of columns"),
    "a column twice": ({"columns": ["school", "school"]}, "'school' is named twice"),
    "no such column": ({"columns": ["school", "field"]}, "has no column 'field'"),
    "a row twice": ({"table": {"school": ["A", "A"], "degree": ["x", "x"]}}, "'A / x' is listed twice; line 1"),
    "a row that reads as another": (
        {"table": {"school": ["A", "A / x"], "degree": ["x / y", "y"]}},
        "is written as another one is",
    ),
    "an empty cell": ({"table": {"school": ["A", ""], "degree": ["x", "y"]}}, "'school' is empty"),
    "texts as integers": ({"integers": ["school"]}, "is not a whole number"),
    "integers that are no part": ({"integers": ["schol"]}, "did you mean 'school'"),
    "a flag that is a text": ({"required": "yes"}, "must be True or False"),
    "a name that is taken": ({"other": "A"}, "is a code of the table"),
    "an empty name": ({"other": ""}, "the empty text is not allowed"),
    "a name that is a number": ({"other": 3}, "must be a text"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults_of_a_list_are_told(what: str) -> None:
    options, said = FAULTS[what]
    with pytest.raises(SchemaError) as wrong:
        schema_of(**options)
    assert said in str(wrong.value)


def test_a_column_is_read_by_one_list_alone() -> None:
    courses = dp.Keys(TABLE, columns=PARTS)
    with pytest.raises(SchemaError, match="is read by the list of 'course', and 'school' reads it too"):
        dp.Schema(course=courses, school=dp.Category(["A"]))
    with pytest.raises(SchemaError, match="and 'course' reads it too"):
        dp.Schema(course=courses, again=courses)
    with pytest.raises(SchemaError, match="and 'school' reads it too"):
        dp.Schema(course=courses, school=dp.Identifier())


def test_a_list_with_too_many_combinations_of_its_parts_is_refused() -> None:
    many = {name: [f"{name}{row}" for row in range(70_000)] for name in "abcd"}
    with pytest.raises(SchemaError, match="too many categories together"):
        schema_of(many, columns=list("abcd"))


def test_a_plan_declares_a_list_and_a_release_has_its_rows_as_groups(tmp_path: Path) -> None:
    pl.DataFrame(TABLE).write_csv(tmp_path / "courses.csv")
    rows = [("A", "BSc", 3), ("A", "PhD", 3), ("B", "BSc", 4), (None, "BSc", 5)] * 50
    pl.DataFrame(rows, schema=["school", "degree", "pay"], orient="row").write_csv(tmp_path / "graduates.csv")
    (tmp_path / "keys.toml").write_text(plan_text("keys"))
    plan = load_plan(tmp_path / "keys.toml")
    assert plan.schema["course"].values == ("A / BSc", "A / MSc", "B / BSc", "elsewhere")
    done = run("release", str(tmp_path / "keys.toml"), "--out", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    (table,) = (tmp_path / "out").rglob("*.csv")
    found = pl.read_csv(table)
    assert found["course.school"].to_list() == ["A", "A", "B", "elsewhere"]
    assert abs(found["count"].sum() - 200) < 20


def test_tables_of_parts_are_refused_with_the_list_as_the_next_step() -> None:
    with pytest.raises(dp.PlanError, match="or 'course' itself"):
        dp.Table(schema_of(), dp.AddRemove()).agg(dp.tables(["course.school", "course.degree"]))


def test_conditions_means_and_exact_totals_take_lists() -> None:
    rows = [("A", "BSc", 3), ("A", "MSc", 5), ("B", "BSc", 4), ("B", "MSc", 7)] * 50
    frame = pl.DataFrame(rows, schema=["school", "degree", "pay"], orient="row")
    facts = dp.Totals("course.school")
    with session_over(
        frame, schema_of(), budget=dp.ZCDP(10**6), neighbours=dp.ReplaceOne(rows=200), invariants=facts
    ) as session:
        asked = session.table.group_by("course.school", "course.degree").agg(dp.count(), dp.mean("pay", nulls="skip"))
        found = session.release(asked, spend=10**5, name="by course").table
        assert found.group_by("course.school").agg(pl.col("count").sum()).sort("course.school")["count"].to_list() == [
            50,
            100,
            50,
        ]
        assert [round(one) for one in found["mean_pay"].to_list()] == [3, 5, 4, 7]
