"""`discreet init` with a table of areas: nested columns of a file are declared as a hierarchy, other files are lists."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl
import pytest

from discreet.cli.starting import start_plan
from discreet.planfile.read import load_plan

AREAS = "state,state_name,county\n10,Delaware,10001\n10,Delaware,10003\n44,Rhode Island,44001\n"
TREE = {"levels": ["state", "county"], "labels": {"state": "state_name"}}
ANSWERS = {
    "dataset": "d",
    "neighbours": "add-remove",
    "column area": "category",
    "measure": "zcdp",
    "rho": "1",
    "columns to group by": "-",
    "statistics": "count",
}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def written(listed: str, codes: list, file: str = "areas.csv") -> dict:
    """The section of the column after the file was named for its categories."""
    pl.DataFrame({"area": codes}).write_parquet("source.parquet")
    Path(file).write_text(listed, encoding="utf-8")

    def ask(question, check, default):
        answers = {**ANSWERS, "the categories of area": f"@{file}"}
        found = next((answer for start, answer in answers.items() if question.strip().startswith(start)), default)
        assert found is not None, question
        check(found)
        return found

    start_plan("source.parquet", Path("plan.toml"), ask)
    return tomllib.loads(Path("plan.toml").read_text(encoding="utf-8"))["columns"]["area"]


def test_nested_columns_are_a_hierarchy():
    assert written(AREAS, ["10001"]) == {"type": "hierarchy", "file": "areas.csv", **TREE}
    assert {*load_plan("plan.toml").schema.columns} == {"area", "area.state", "area.county"}


def test_whole_codes_are_whole():
    found = written(AREAS, [10001])
    assert found == {"type": "hierarchy", "file": "areas.csv", **TREE, "categories_type": "integer"}
    assert load_plan("plan.toml").schema["area"].values == (10001, 10003, 44001)


@pytest.mark.parametrize(
    ("listed", "file"),
    [
        ("a\nb\n", "areas.csv"),
        ("state,county\n10,1\n44,1\n", "areas.csv"),  # no tree: 1 is in two states
        (AREAS, "areas.txt"),
    ],
)
def test_other_files_are_lists_of_categories(listed, file):
    assert written(listed, ["10001"], file) == {"type": "category", "categories_file": file}
