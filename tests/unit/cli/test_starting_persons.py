"""`discreet init --person … --beside …`: plans for tables in which a person has many rows, and tables of persons."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.unit.cli.test_starting import answering, done, refused

import discreet as dp
from discreet.cli.starting import start_plan
from discreet.cli.starting_persons import unit_of
from discreet.errors import ArgumentError
from discreet.planfile.read import PlanFile, load_plan

VISITS = {"visitor": ["v1", "v1", "v2"], "shop": ["a", "b", "a"], "amount": [1, 2, 3], "share": [0.5, 0.5, 0.5]}
VISITORS = {"id": ["v1", "v2"], "sex": ["f", "m"], "age": [30, 40]}
UNIT = ("--person", "visitor", "--beside", "visitors=visitors.parquet:id")
ANSWERS = {
    "neighbours": "add-remove",
    "column shop": "category",
    "the categories of shop": "a, b",
    "the lowest value of amount": "0",
    "the highest value of amount": "100",
    "column share": "skip",
    "column sex": "category",
    "the categories of sex": "f, m",
    "column age": "number",
    "the lowest value of age": "0",
    "the highest value of age": "110",
    "measure": "zcdp",
    "rho": "0.5",
    "columns to group by": "shop, sex",
    "in how many groups": "2",
    "how many rows": "3",
    "the most that it counts for": "300",
    "statistics": "persons, count, sum amount, mean age",
}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(VISITS).write_parquet("visits.parquet")
    pl.DataFrame(VISITORS).write_parquet("visitors.parquet")
    return tmp_path / "visits.parquet"


def started(answers: dict, unit=("visitor", ["visitors=visitors.parquet:id"])) -> PlanFile:
    Path("plan.toml").unlink(missing_ok=True)
    start_plan("visits.parquet", Path("plan.toml"), answering(answers), unit=unit_of(*unit))
    assert done("check", "plan.toml").startswith("plan.toml is in order.")
    return load_plan("plan.toml")


def test_answers_become_a_plan_of_persons_that_is_released(source):
    plan = started(ANSWERS)
    assert (plan.neighbours.person, plan.neighbours.beside) == ("visitor", (("visitors", "id"),))
    assert plan.schema == dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a", "b"]), amount=dp.Number(0, 100, 1))
    (order,) = plan.orders
    assert [statistic.name for statistic in order.request.statistics] == ["persons", "count", "sum_amount", "mean_age"]
    text = Path("plan.toml").read_text(encoding="utf-8")
    assert "bound = { groups = 2, rows = 3 }" in text
    assert 'join = ["visitors"]' in text
    assert "per_person = [0, 300]" in text
    done("release", "plan.toml", "--out", "out")


def test_a_public_number_of_persons(source):
    plan = started({**ANSWERS, "neighbours": "replace-one", "rows:": "2"})
    assert (plan.neighbours.persons, plan.neighbours.person, plan.neighbours.of) == (2, "visitor", "visitors")


def test_without_tables_of_persons(source):
    plan = started(
        {**ANSWERS, "columns to group by": "-", "statistics": "persons, median amount, std amount"}, ("visitor", [])
    )
    assert plan.neighbours == dp.AddRemove(person="visitor")
    assert "bound = { rows = 3 }" in Path("plan.toml").read_text(encoding="utf-8")


def test_tables_that_are_not_beside_are_asked_for_again(source):
    started(
        {**ANSWERS, "tables of persons": ["nobody", "visitor", "-"], "columns to group by": "shop", "statistics": "persons"}
    )
    assert "join" not in Path("plan.toml").read_text(encoding="utf-8")


def test_a_template_has_what_follows_from_headers_alone(source):
    facts = json.loads(done("init", "visits.parquet", *UNIT, "--out", "plan.toml", "--json"))
    assert len(facts["to_fill_in"]) == 12, facts
    text = Path("plan.toml").read_text(encoding="utf-8")
    assert '[beside.visitors.columns.id]\ntype = "identifier"' in text
    assert text.count('type = "identifier"') == 2
    pl.DataFrame({**VISITS, "visitor": ["x"] * 3, "shop": ["other"] * 3}).write_parquet("visits.parquet")
    pl.DataFrame({**VISITORS, "id": ["y"] * 2}).write_parquet("visitors.parquet")
    done("init", "visits.parquet", *UNIT, "--out", "second.toml")
    assert Path("second.toml").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--person", "visiter"), "--person: 'visiter' is not in the source; did you mean 'visitor'?"),
        (
            ("--person", "share"),
            "'share' (DOUBLE) cannot say whose row is whose; identifiers are whole numbers, texts or days",
        ),
        (("--beside", "visitors=visitors.parquet:id"), "go with --person"),
        (("--person", "visitor", "--beside", "visitors=visitors.parquet"), "must be NAME=FILE:COLUMN"),
        (("--person", "visitor", "--beside", "=visitors.parquet:id"), "must be NAME=FILE:COLUMN"),
        (("--person", "visitor", "--beside", "a=visitors.parquet:idd"), "did you mean 'id'?"),
        (("--person", "visitor", "--beside", "a=nowhere.parquet:id"), "cannot be opened"),
        ((*UNIT, "--beside", "visitors=visitors.parquet:id"), "is given twice"),
    ],
)
def test_what_cannot_be_a_person_is_refused(source, arguments, words):
    assert words in refused("init", "visits.parquet", "--out", "plan.toml", *arguments)
    assert not Path("plan.toml").exists()


def test_a_name_with_a_colon_and_a_path_with_one():
    (one,) = unit_of("p", ["visitors=data:2026/visitors.parquet:id"]).beside
    assert (one.source, one.person) == ("data:2026/visitors.parquet", "id")
    with pytest.raises(ArgumentError, match="given twice"):
        unit_of("p", ["a=f:i", "a=g:i"])
