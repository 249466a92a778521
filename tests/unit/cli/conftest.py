"""A folder with a plan in it."""

from __future__ import annotations

from pathlib import Path

import pytest

PLAN = """\
[data]
dataset = "acs12"
source = "example:acs12"
neighbours = "replace-one"
rows = 2000
ledger = "budget.db"

[columns.gender]
type = "category"
categories = ["female", "male"]

[columns.age]
type = "number"
lower = 0
upper = 100

[columns.hrs_work]
type = "number"
lower = 0
upper = 100
clamp = [0, 80]
impute = { distribution = "uniform" }

[budget]
measure = "zcdp"
rho = 0.5

[[release]]
name = "Hours by gender"
group_by = ["gender"]
statistics = ["count", { mean = "hrs_work", as = "hours" }]
where = { age = [16, 100] }
spend = 0.1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that commands run in, with the plan."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def _drawn(one_artist: None) -> None:
    """Commands in this process draw their pictures with the one process of all tests."""
