"""`discreet choose-bound` and `--assuming groups=…`: what a bound on groups leaves out, from a release in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.builders import plan_text

import discreet as dp

from .commands import done, refused

PLAN = plan_text("groups_of_persons")


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dp.Release:
    """A plan, and a release of the numbers of groups in the folder `habits`."""
    monkeypatch.chdir(tmp_path)
    rows = [(person, shop) for person in range(300) for shop in "abcd"[: 1 + person % 4]]
    frame = pl.DataFrame(rows, schema=["visitor", "shop"], orient="row")
    frame.write_parquet("visits.parquet")
    Path("plan.toml").write_text(PLAN)
    schema = dp.Schema(visitor=dp.Identifier(), shop=dp.Category([*"abcd"]))
    given = {"dataset": "d", "ledger": ":memory:", "budget": dp.ZCDP(100), "neighbours": dp.AddRemove(person="visitor")}
    with dp.Session(frame, schema, **given) as session:
        asked = session.table.per_person(shops=dp.distinct("shop", most=4)).agg(dp.histogram("shops", [0, 1, 2, 3, 4]))
        found = session.release(asked, spend=50, name="habits")
    found.save("habits")
    return found


def plan_of_release() -> dp.Plan:
    schema = dp.Schema(visitor=dp.Identifier(), shop=dp.Category([*"abcd"]))
    return dp.Table(schema, dp.AddRemove(person="visitor")).bound(groups=1).group_by("shop").agg(dp.persons())


def test_it_says_what_the_function_says(groups: dp.Release) -> None:
    found = dp.choose_bound(groups, plan_of_release(), spend="0.1")
    given = ("choose-bound", "plan.toml", "habits", "--release", "by shop")
    assert done(*given) == f"{found}\nNothing was spent.\n"
    assert json.loads(done(*given, "--json")) == found.to_json()


@pytest.mark.usefixtures("groups")
def test_quotes_say_what_their_bounds_leave_out() -> None:
    said = done("quote", "plan.toml", "--assuming", "groups=habits")
    assert "the bound leaves out" in said
    assert "by shop:" in said
    facts = json.loads(done("quote", "plan.toml", "--assuming", "groups=habits", "--json"))["assuming"]
    assert facts.keys() == {"by shop"}
    assert facts["by shop"]["groups"] == 1


@pytest.mark.usefixtures("groups")
def test_what_is_not_there_is_refused() -> None:
    assert "no such release" in refused(2, "choose-bound", "plan.toml", "habits", "--release", "by shops")
    assert "has other groups" in refused(2, "choose-bound", "plan.toml", "habits", "--release", "all")
    refused(2, "choose-bound", "plan.toml", "nowhere", "--release", "by shop")
    refused(2, "quote", "plan.toml", "--assuming", "groups=nowhere")
    assert "is not one of" in refused(2, "quote", "plan.toml", "--assuming", "shop: groups=habits")
    Path("plan.toml").write_text(PLAN.replace('group_by = ["shop"]\nbound = { groups = 1 }\n', ""))
    assert "is about no release" in refused(2, "quote", "plan.toml", "--assuming", "groups=habits")
