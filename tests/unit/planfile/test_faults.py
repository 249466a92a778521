"""All faults of a plan at once, each at its own place, and none that is only the work of another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.builders import plan_text

from discreet.errors import PlanError
from discreet.planfile.faults import faults_of
from discreet.planfile.tree import toml_root

from .plans import FULL, SMALL

PLAN = plan_text("faults")


def told(text: str) -> list[str]:
    return [str(fault) for fault in faults_of(toml_root(text.encode(), Path("p.toml")))]


def test_every_fault_has_its_own_place() -> None:
    found = told(PLAN)
    places = [re.match(r"p\.toml:\d+: ([\w.\[\]]+): ", one)[1] for one in found]  # type: ignore[index]
    assert sorted(places) == sorted([
        "data.rwos", "columns.age.uper", "columns.age", "budget.epsilon", "budget",
        "release[0].group_by[1]", "release[0].statistics[1]", "release[0].statistics[3]", "release[0].where.hours",
        "release[1].name", "release[1].error.cnt",
    ])  # fmt: skip
    assert len({*found}) == len(found)
    lines = PLAN.splitlines()
    assert "gendr" in lines[int(found[places.index("release[0].group_by[1]")].split(":")[1]) - 1]


def test_budget_and_releases_are_read_where_every_column_is_wrong() -> None:
    plan = PLAN.replace('categories = ["female", "male"]', "categories = []").replace(
        "lower = 0\nupper = 100", "lower = 5\nupper = 0"
    )
    said = "\n".join(told(plan.replace("epsilon = 3", "epsilon = 3\nrho = -1")))
    for fault in (
        "columns.gender.categories",
        "columns.age",
        "columns.hours",
        "budget.epsilon",
        "budget.rho",
        "'avg'",
        "'first'",
    ):
        assert fault in said, fault
    nameless = PLAN.replace("[columns.gender]", '[columns.""]').replace("[columns.age]", "[columns.x]")
    assert len(told(nameless)) >= 3  # it ends where not even the name of the last column can be used


def test_what_is_refused_because_of_another_fault_is_not_listed() -> None:
    """The column `age` has no bounds: nothing is said of the conditions and statistics that use it."""
    assert not [one for one in told(PLAN) if "release" in one and "age" in one]
    gone = PLAN.replace('type = "number"\nuper', 'type = "numbr"\nuper')
    assert [one for one in told(gone) if "columns.age" in one] == [
        "p.toml:11: columns.age.type: 'numbr' is unknown; did you mean 'number'?"
    ]
    assert not [one for one in told(gone) if "release" in one and "age" in one]


@pytest.mark.parametrize("text", [SMALL, FULL])
def test_a_plan_without_a_fault_has_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "states.txt").write_text("Alabama\nAlaska\n", encoding="utf-8")
    assert faults_of(toml_root(text.encode(), tmp_path / "p.toml")) == []


@pytest.mark.one_in(8)
@pytest.mark.parametrize("number", range(len(PLAN.splitlines())))
def test_it_ends_whatever_line_is_missing(number: int) -> None:
    """Each line left out or doubled: an answer, with the first fault of the reader at its head."""
    lines = PLAN.splitlines()
    for text in ("\n".join(lines[:number] + lines[number + 1 :]), "\n".join([*lines[:number], "x = 1", *lines[number:]])):
        try:
            root = toml_root(text.encode(), Path("p.toml"))
        except PlanError:  # a table that is there twice now: not TOML
            continue
        assert 1 <= len(faults_of(root)) <= 20


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1",
        "data = 1",
        "[data]\n[columns]\n[budget]",
        "release = [[1]]",
        "release = 3",
        "[[release]]",
        "columns = []",
    ],
)
def test_it_ends_for_anything(text: str) -> None:
    assert 1 <= len(faults_of(toml_root(text.encode(), Path("p.toml")))) <= 20


PERSONS = plan_text("persons")


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('person = "visitor"', 'person = "who"', "data.person: person='who': is not an Identifier of the schema"),
        ('person = "visitor"\n', "", "columns.visitor: column 'visitor': is an Identifier, and the neighbours"),
        ('person = "visitor"', 'person = ["visitor"]', "data.person: person=<list>"),
        ('person = "visitor"', 'person = "visitor"\npart = "yes"', "data.part: part='yes'"),
        ('person = "visitor"', 'person = "visitor"\nrows_per_person = 3', "data.person: person='visitor': stands alone"),
        ("groups = 2, rows = 3", "groups = 0, rows = 3", "release[0].bound: bound(groups)=0: must be at least 1"),
        ("{ groups = 2, rows = 3 }", "{}", "release[0].bound: bound(): takes a number of groups"),
        ('"add-remove"', '"replace-one"', "data: the key 'rows' is missing"),
        ('type = "identifier"', 'type = "identifyer"', "columns.visitor.type: 'identifyer' is unknown"),
    ],
)
def test_one_fault_about_persons_is_one(right: str, wrong: str, said: str) -> None:
    assert right in PERSONS
    (one,) = told(PERSONS.replace(right, wrong, 1))
    assert said in one


def test_a_bound_that_cuts_nobody_because_a_group_was_wrong_is_not_listed() -> None:
    asked = 'group_by = ["shop", "amount"]\nbound = { groups = 3 }\nstatistics = ["persons", "counted_in_full"]'
    plan = PERSONS[: PERSONS.index("group_by")] + asked
    (one,) = told(plan)
    assert "release[0].group_by[1]: group_by('amount'): a number or date is grouped by" in one
    assert "in a plan file by { bins = 'amount', step = … }" in one
    (other,) = told(plan.replace(', "amount"', ""))
    assert "no bound of the request cuts anybody" in other
