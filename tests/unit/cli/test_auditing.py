"""`discreet audit`: what it prints, what it does not touch, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.builders import plan_text
from typer.testing import CliRunner, Result

from discreet.cli import app
from discreet.cli.auditing import REFUTED
from discreet.mechanisms import Sensitivity, worst
from discreet.quotes import allocate

PLAN = plan_text("audited")
SECOND = """
[[release]]
name = "persons [counted]"
statistics = [{ count = "hours" }]
spend = "0.5"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["audit", "plan.toml", "--runs", "20000", *arguments])


def test_the_table_says_claim_and_finding(folder):
    result = run()
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "plan.toml: the data were not read. Nothing was spent."
    assert "hours by gender (ε = 1)" in lines
    for part in ("not refuted: ε is claimed to be at most 1.0000, and shown to be at least 0.", "δ claimed", "20000 runs"):
        assert part in result.stdout
    assert lines[-1].endswith("A claim that is not refuted is not proved.")


def test_neither_data_nor_ledger_are_touched(folder):
    run()
    assert [path.name for path in folder.iterdir()] == ["plan.toml"]


def test_several_releases_share_the_error(folder):
    (folder / "plan.toml").write_text(PLAN + SECOND, encoding="utf-8")
    result = run("--json")
    assert (result.exit_code, result.stderr) == (0, "")
    facts = json.loads(result.stdout)
    assert facts["refuted"] is False
    assert facts["confidence"] == "0.999999999"
    assert [one["name"] for one in facts["releases"]] == ["hours by gender", "persons [counted]"]
    assert [one["spend"]["epsilon"] for one in facts["releases"]] == ["1", "0.5"]
    assert facts["releases"][1]["confidence"] == "0.9999999995"
    assert facts["notes"] == []


def test_a_spend_left_out_is_the_whole_budget(folder):
    (folder / "plan.toml").write_text(PLAN.replace("spend = 1\n", ""), encoding="utf-8")
    result = run()
    assert result.exit_code == 0, result.output
    assert "note: 'hours by gender' has no spend; the whole budget is assumed" in result.stdout
    assert "is claimed to be at most 2.0000" in result.stdout


def test_totals_count_as_unknown(folder):
    (folder / "plan.toml").write_text(PLAN + '\n[invariants]\ntotals = [["gender"]]\n', encoding="utf-8")
    result = run()
    assert result.exit_code == 0, result.output
    assert "the exact totals are treated as not known yet" in result.stdout


def test_a_false_claim_leaves_with_its_own_exit_code(folder, monkeypatch):
    def halved(change):
        whole = worst(change)
        return Sensitivity(-(-whole.l1 // 2), -(-whole.l2_squared // 4))

    monkeypatch.setattr(allocate, "worst", halved)
    result = run()
    assert result.exit_code == REFUTED == 5
    assert "REFUTED: more leaks than is claimed" in result.stdout
    assert result.stderr.startswith("discreet: refuted: hours by gender; do not release")
    assert json.loads(run("--json").stdout)["refuted"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--runs", "5"], "runs=5: must be at least 1000"),
        (["--runs", "99999999999"], "runs=99999999999: must be at most 20000000"),
    ],
)
def test_wrong_arguments_are_named(folder, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"discreet: {message}")
    assert not result.stdout


def test_a_plan_that_is_not_there(folder):
    result = CliRunner().invoke(app, ["audit", "nowhere.toml"])
    assert result.exit_code == 2
    assert result.stderr.startswith("discreet: nowhere.toml")
