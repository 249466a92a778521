"""A plan that grows: checked without a scare, released in the same budget, its amendments shown."""

from __future__ import annotations

import json
from pathlib import Path

from .commands import done, edit, refused


def test_columns_are_added_and_corrected_between_two_releases(folder: Path) -> None:
    done("release", "plan.toml", "--out", "out")
    before = done("check", "plan.toml")
    edit(folder, "upper = 100\n\n[columns.hrs_work]", "upper = 110\n\n[columns.hrs_work]")
    edit(
        folder,
        "[budget]",
        '[columns.citizen]\ntype = "category"\ncategories = ["yes", "no"]\n\n[budget]',
    )
    edit(folder, 'name = "Hours by gender"', 'name = "second"')
    for command in ("check", "quote"):
        shown = done(command, "plan.toml")
        assert "otherwise" not in shown
        assert "amend" not in shown
    assert "Hours by gender" in before
    done("release", "plan.toml", "--out", "more")
    lines = [line.split() for line in done("ledger", "show", "budget.db").splitlines()]
    amendments = [" ".join(line[4:]) for line in lines if "amended" in line]
    assert amendments == ["no charge column 'citizen' added", "no charge column 'age': upper 100 is now 110"]
    (told,) = json.loads(done("ledger", "show", "budget.db", "--json"))["datasets"]
    (amended,) = told["amendments"]
    assert amended["changes"] == ["column 'citizen' added", "column 'age': upper 100 is now 110"]
    assert told["releases"][0]["entry"] < amended["entry"] == told["releases"][1]["entry"] - 1
    assert "is intact: " in done("ledger", "verify", "budget.db", "--releases", ".")
    assert sum('"kind":"amend"' in line for line in done("ledger", "export", "budget.db").splitlines()) == 1


def test_what_is_fixed_is_refused_with_both_values(folder: Path) -> None:
    done("release", "plan.toml", "--out", "out")
    edit(folder, "rows = 2000", "rows = 1999")
    for command in (["check", "plan.toml"], ["quote", "plan.toml"], ["release", "plan.toml", "--out", "more"]):
        assert "declared otherwise in this ledger: rows: 2000 in the ledger, 1999 now. " in refused(2, *command)
    edit(folder, "rows = 1999", "rows = 2000")
    edit(folder, "rho = 0.5", "rho = 0.7")
    assert "rho: 0.5 in the ledger, 0.7 now. " in refused(2, "check", "plan.toml")
