"""`check` and `quote`: what a plan means and costs, before anything is spent."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest
from tests.builders import plan_text

import discreet as dp
from discreet.planfile.read import load_plan

from .commands import SECOND, done, edit, entries, refused


def test_check_says_what_was_understood_and_creates_nothing(folder: Path) -> None:
    shown = done("check", "plan.toml")
    assert shown.startswith("plan.toml is in order. Nothing was spent.\n")
    for part in (
        "replace-one: exactly 2000 rows, which is public; 1 row a person",
        "zcdp, ρ = 0.5, of which ρ = 0.5 remains; ε is reported at δ = 1e-9",
        "not there yet; the first release creates it",
        "numbers from 0 to 100 in steps of 1",
        "2 categories: “female” and “male”",
        "count, hours by gender: 3 rows",
        "hrs_work: values are moved into the range from 0 to 80; values that are not known stay so.",
        "hrs_work: a value that is not known is replaced by a uniform random number",
        "Hours by gender (ρ = 0.1)",
    ):
        assert part in shown
    assert [path.name for path in folder.iterdir()] == ["plan.toml"]


def test_check_says_what_is_made_of_the_rows_of_a_person(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(plan_text("rows-of-persons"), encoding="utf-8")
    pl.DataFrame({"visitor": ["x"], "shop": ["a"], "amount": [1]}).write_parquet(tmp_path / "visits.parquet")
    shown = done("check", str(path))
    for part in (
        "spent is the sum of amount over all rows of each person, moved into the range from 0 to 9.",
        "home is the shop of each person, where all rows of this person have the same.",
        "spent: values are moved into the range from 0 to 4",
    ):
        assert part in shown


def test_check_and_quote_give_json(folder: Path) -> None:
    facts = json.loads(done("check", "plan.toml", "--json"))
    (release,) = facts["releases"]
    request = load_plan(folder / "plan.toml").orders[0].request
    assert release["plan_digest"] == request.digest
    assert release["spend"] == {"kind": "zcdp", "rho": "0.1"}
    assert facts["remaining"] == ["0.5"]
    quoted = json.loads(done("quote", "plan.toml", "--json"))
    assert quoted["charge"] == ["0.1"]
    assert quoted["releases"][0]["expected_error"].keys() == {"count", "hours"}
    assert entries(folder) == []


def test_quote_adds_up_what_the_releases_cost(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.1\n" + SECOND)
    shown = done("quote", "plan.toml")
    assert "charge ρ = 0.15; remaining now ρ = 0.5, afterwards ρ = 0.35. Nothing was spent." in shown
    assert re.search(r"hours: ±\d", shown)
    assert "noise rounded Gaussian, variance" in shown
    assert not (folder / "budget.db").exists()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("command", ["check", "quote"])
def test_a_plan_over_the_budget_leaves_with_3(folder: Path, command: str) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.45\n" + SECOND)
    done(command, "plan.toml")  # exactly the budget
    edit(folder, "spend = 0.45", 'spend = "0.450000000000000001"')
    assert "over by ρ = 1e-18;" in refused(3, command, "plan.toml")
    assert "need ρ = 0.500001" not in refused(3, command, "plan.toml")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("command", [["check"], ["quote"], ["release", "--out", "out"]])
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rho = 0.5", "rhu = 0.5", "plan.toml:26: budget.rhu: no such key (with measure = 'zcdp'); did you mean 'rho'?"),
        ("example:acs12", "plan.toml", ".txt or .sav or .zsav or .dta or .sas7bdat or .xpt files"),
        ("[columns.age]", "[columns.agee]", "column 'agee'"),
        (
            "[columns.gender]\n",
            '[columns.income]\ntype = "category"\ncategories = ["x"]\n[columns.gender]\n',
            "holds BIGINT",
        ),
        ('"budget.db"', '"none/budget.db"', "the folder"),
        ('"budget.db"', '"plan.toml"', "is not a discreet ledger"),
        ('"budget.db"', '"."', "is not a file"),
    ],
)
def test_whatever_is_wrong_leaves_with_2_before_anything_is_spent(
    folder: Path, command: list[str], old: str, new: str, message: str
) -> None:
    edit(folder, old, new)
    if "agee" in new:
        edit(folder, "where = { age", "where = { agee")
    assert message in refused(2, command[0], "plan.toml", *command[1:])
    assert [path.name for path in folder.iterdir()] == ["plan.toml"]


def test_a_request_for_public_numbers_only_leaves_with_2(folder: Path) -> None:
    edit(folder, 'group_by = ["gender"]\n', "")
    edit(folder, "where = { age = [16, 100] }\n", "")
    edit(folder, '["count", { mean = "hrs_work", as = "hours" }]', '["count"]')
    assert "public already" in refused(2, "check", "plan.toml")


def test_notes_about_what_is_seldom_meant(folder: Path) -> None:
    """Rows 21, 30 and 35 of the catalogue: allowed, with a warning."""
    edit(folder, 'measure = "zcdp"\nrho = 0.5', 'measure = "approx-dp"\nepsilon = 1\ndelta = 0.001')
    edit(folder, "[budget]", '[columns.income]\ntype = "number"\nlower = 5\nupper = 5\n[budget]')
    bins = ", ".join(map(str, range(101)))
    hours = ", ".join(map(str, range(81)))
    groups = f'["gender", {{ bins = "age", edges = [{bins}] }}, {{ bins = "hrs_work", edges = [{hours}] }}]'
    edit(folder, 'group_by = ["gender"]', f"group_by = {groups}")
    shown = done("check", "plan.toml")
    assert "note: column 'income' can have only one value" in shown
    assert "note: δ = 0.001 is more than 1/rows = 0.0005" in shown
    assert re.search(r"note: 'Hours by gender' has \d{5} groups for 2000 rows", shown)


def test_a_note_says_that_two_categories_have_one_label(folder: Path) -> None:
    first, second = tomllib.loads((folder / "plan.toml").read_text("utf-8"))["columns"]["gender"]["categories"][:2]
    words = f'[about.columns.gender]\ncategories = {{ "{first}" = "person", "{second}" = "person" }}\n[budget]'
    edit(folder, "[budget]", words)
    told = f"note: column 'gender': the categories '{first}' and '{second}' have the same label 'person'"
    assert done("check", "plan.toml").count(told) == 1


def test_noise_too_small_to_protect_is_allowed_when_it_is_asked_for(folder: Path) -> None:
    """Row 33 of the catalogue: an explicit ε of a million gives the exact counts."""
    edit(folder, 'measure = "zcdp"\nrho = 0.5', 'measure = "pure-dp"\nepsilon = 1_000_000')
    edit(folder, "spend = 0.1", "spend = 1_000_000")
    done("release", "plan.toml", "--out", "out")
    assert dp.Release.load("out").table["count"].sum() == 1605


@pytest.mark.slow
def test_check_needs_neither_the_heavy_packages_nor_a_second(folder: Path) -> None:
    code = (
        "import sys; from discreet.cli import app; app(['check', 'plan.toml'], standalone_mode=False); "
        "print(sorted({'polars', 'pandas', 'scipy', 'jinja2', 'rich', 'cryptography'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_check_lists_all_faults_and_all_columns_that_do_not_fit(folder: Path) -> None:
    edit(folder, "upper = 100\nclamp", "uper = 100\nclamp")
    edit(folder, '["count", {', '["count", "avg", {')
    lines = refused(2, "check", "plan.toml").splitlines()
    places = ["columns.hrs_work.uper", "release[0].statistics[1]"]
    assert [line.split(": ")[2] for line in lines] == places
    assert all(line.startswith("discreet: plan.toml:") for line in lines)
    edit(folder, "uper = 100\nclamp", "upper = 100\nclamp")
    edit(folder, '["count", "avg", {', '["count", {')
    edit(folder, "[columns.age]", "[columns.aeg]")
    edit(folder, "where = { age", "where = { aeg")
    edit(folder, "[columns.gender]", "[columns.gendr]")
    edit(folder, 'group_by = ["gender"]', 'group_by = ["gendr"]')
    lines = refused(2, "check", "plan.toml").splitlines()
    assert [line.split(":")[1] for line in lines] == [" column 'gendr'", " column 'aeg'"]


def test_check_says_beside_a_source_that_does_not_fit_what_is_refused_anyway(folder: Path) -> None:
    edit(folder, "spend = 0.1", "spend = 0.6")
    over = "over by ρ = 0.1;"
    edit(folder, "rows = 2000", "rows = 1999")
    first, second = refused(2, "check", "plan.toml").splitlines()
    assert over in first
    assert "the declared number of rows (rows=1999)" in second
    edit(folder, "rows = 1999", "rows = 2000")
    edit(folder, "example:acs12", "missing.csv")
    first, second = refused(2, "check", "plan.toml").splitlines()
    assert over in first
    assert second.endswith("--without-source checks everything else")
    edit(folder, "missing.csv", "example:acs12")
    edit(folder, "[columns.age]", "[columns.aeg]")
    edit(folder, "where = { age", "where = { aeg")
    first, second = refused(2, "check", "plan.toml").splitlines()
    assert over in first
    assert "column 'aeg'" in second
    assert over in refused(3, "check", "plan.toml", "--without-source")
    assert [path.name for path in folder.iterdir()] == ["plan.toml"]
