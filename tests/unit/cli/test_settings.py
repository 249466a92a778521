"""`--set`: the commands that read a plan take the values of its parameters."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from discreet import datasets
from discreet.ledger import Ledger

from .commands import done, edit, refused


@pytest.fixture
def monthly(folder: Path) -> Path:
    """The plan of these tests for any month, in which each month has its data set and its release."""
    edit(folder, '[data]\ndataset = "acs12"', '[parameters]\nmonth = { type = "month" }\n\n[data]\ndataset = "acs {month}"')
    edit(folder, 'source = "example:acs12"', 'source = "acs12-{month}.parquet"')
    for month in ("2026-11", "2026-12"):
        shutil.copyfile(datasets.path("acs12"), folder / f"acs12-{month}.parquet")
    edit(folder, '"Hours by gender"', '"Hours by gender, {month}"')
    return folder


def test_one_plan_makes_the_releases_of_two_months(monthly: Path) -> None:
    for month in ("2026-11", "2026-12"):
        setting = f"month={month}"
        assert f"parameter   month = {month}" in done("check", "plan.toml", "--set", setting)
        assert json.loads(done("check", "plan.toml", "--json", "--set", setting))["parameters"] == {"month": month}
        assert f"Hours by gender, {month}" in done("quote", "plan.toml", "--set", setting)
        assert f"Hours by gender, {month}" in done("explain", "plan.toml", "--set", setting)
        done("release", "plan.toml", "--out", month, "--set", setting)
        assert json.loads((monthly / month / "release.json").read_bytes())["dataset"] == f"acs {month}"
    again = done("release", "plan.toml", "--out", "again", "--set", "month=2026-11")
    assert "no new charge" in again
    with Ledger.open(monthly / "budget.db") as ledger:
        assert ledger.datasets() == ("acs 2026-11", "acs 2026-12")


def test_every_command_asks_for_the_value(monthly: Path) -> None:
    commands = [["check"], ["quote"], ["quote", "--html", "p.html"], ["explain"], ["release", "--out", "o"], ["audit"]]
    for command, *more in commands:
        assert "has no value; give one with --set month=…" in refused(2, command, "plan.toml", *more)
    assert "has no value" in refused(2, "effective", "--rho", "1", "--plan", "plan.toml")
    assert not (monthly / "budget.db").exists()


@pytest.mark.parametrize("setting", ["month", "=2026-11", "month=", "\x1b[31m"])
def test_a_setting_without_a_name_or_a_value_is_refused(monthly: Path, setting: str) -> None:
    message = refused(2, "check", "plan.toml", "--set", setting)
    assert "as in month=2026-11" in message
    assert "\x1b" not in message


def test_a_parameter_is_set_once(monthly: Path) -> None:
    twice = ["--set", "month=2026-11", "--set", "month=2026-12"]
    assert "'month' is set twice" in refused(2, "check", "plan.toml", *twice)


def test_the_planner_writes_the_plan_with_its_parameters(monthly: Path) -> None:
    done("quote", "plan.toml", "--html", "planner.html", "--set", "month=2026-11")
    page = (monthly / "planner.html").read_text(encoding="utf-8")
    assert "[parameters]" in page
    assert "acs {month}" in page
    assert "Hours by gender, 2026-11" in page
