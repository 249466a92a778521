"""`discreet quote --assuming`: the whole error of each release, from what somebody assumes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.builders import plan_text

from .commands import done, refused


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(plan_text("assuming"), encoding="utf-8")
    return tmp_path


def test_the_whole_error_is_added_to_the_quote(plan: Path) -> None:
    alone = done("quote", "plan.toml")
    shown = done("quote", "plan.toml", "--assuming", "income: nulls=0.1, above=0.06, mean_above=155900")
    assert shown.startswith(alone.rstrip("\n"))
    told = shown[len(alone) :].splitlines()
    assert "incomes, against the table as recorded" in told
    assert any(line.strip().startswith("mean_income: ±") and "+ 4554 off" in line for line in told)
    assert "people, against the table as recorded" not in told


def test_it_is_json_as_well_and_takes_ranges_and_no_column(plan: Path) -> None:
    facts = json.loads(done("quote", "plan.toml", "--assuming", "nulls=0.05..0.1,above=1/20", "--json"))
    (about,) = facts["assuming"]["incomes"]["assumed"]
    assert about["nulls"] == ["0.05", "0.1"]
    assert about["above"] == ["0.05", "0.05"]
    assert "assuming" not in json.loads(done("quote", "plan.toml", "--json"))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["income: nulls"], "must be a column, a colon"),
        (["income: share=0.1"], "'share' is not one of nulls, above"),
        (["income: rows=5"], "'rows' is not one of"),
        (["nulls=0.1", "nulls=0.2"], "is given twice"),
        (["nulls=0.1", "income: nulls=0.2"], "with a column and without one"),
        (["gender: nulls=0.1"], "of 'gender' is about no release"),
        (["below=0.1"], "is about no release"),
        (["income: above=2"], "from 0 to 1"),
    ],
    ids=str,
)
def test_a_wrong_assumption_is_refused(plan: Path, given: list[str], told: str) -> None:
    assert told in refused(2, "quote", "plan.toml", *(part for one in given for part in ("--assuming", one)))
