"""Hierarchies and derived columns in plan files: read, released, recognised again, and refused when a map changes."""

from __future__ import annotations

import hashlib

import polars as pl
import pytest
from tests.builders import plan_text, run

import discreet as dp
from discreet.planfile.read import load_plan

pytestmark = pytest.mark.usefixtures("one_artist")

AREAS = "state,state_name,county,county_name\n01,Ohio,01001,Adams\n01,Ohio,01002,Allen\n02,Texas,02001,Bexar\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "areas.csv").write_text(AREAS, encoding="utf-8")
    (tmp_path / "regions.csv").write_text("area.state,region\n01,East\n02,West\n", encoding="utf-8")
    codes = ["01001", "01002", "02001", "", "99999"]
    rows = [f"{codes[person % 5]},{'fm'[person % 2]}" for person in range(120)]
    (tmp_path / "persons.csv").write_text("\n".join(["area,sex", *rows, ""]), encoding="utf-8")
    (tmp_path / "plan.toml").write_text(plan_text("areas"), encoding="utf-8")
    return tmp_path


def edit(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_plan_declares_levels_labels_and_maps(folder):
    plan = load_plan(folder / "plan.toml")
    assert list(plan.schema.columns) == ["area", "area.state", "area.county", "region", "sex", "form"]
    (order,) = plan.orders
    assert order.request.layout.cells == 12
    assert order.about[0].language == "de"
    assert order.about[0].column("area.county").categories["01002"] == "Allen"
    assert order.about[0].column("area.state").label == "Land"


def test_a_release_has_a_column_for_each_level_and_keeps_the_totals(folder):
    done = run("release", str(folder / "plan.toml"), "--out", str(folder / "out"))
    assert done.exit_code == 0, done.output
    assert "Adams" in done.output
    shown = pl.read_parquet(folder / "out" / "table.parquet")
    assert shown.columns[:4] == ["region", "area.state", "area.county", "form"]
    assert shown.height == 12
    added = {state: int(rows) for state, rows in shown.group_by("area.state").agg(pl.col("count").sum()).iter_rows()}
    assert added == {"01": 48, "02": 24, None: 48}
    page = (folder / "out" / "report.html").read_text("utf-8")
    assert "Allen" in page
    assert "aus area durch eine öffentliche Zuordnung" in page
    again = run("release", str(folder / "plan.toml"), "--out", str(folder / "again"))
    assert again.exit_code == 0
    assert "charged" not in again.output


@pytest.mark.parametrize(
    ("file", "old", "new"), [("areas.csv", "02001,Bexar", "02002,Bexar"), ("regions.csv", "02,West", "02,East")]
)
def test_a_map_that_has_changed_is_another_plan(folder, file, old, new):
    before = load_plan(folder / "plan.toml").orders[0].request
    assert run("release", str(folder / "plan.toml"), "--out", str(folder / "out")).exit_code == 0
    edit(folder / file, old, new)
    after = load_plan(folder / "plan.toml").orders[0].request
    assert (before.digest, before.used_digest) != (after.digest, after.used_digest)
    done = run("release", str(folder / "plan.toml"), "--out", str(folder / "again"))
    assert done.exit_code == 2
    assert not (folder / "again" / "table.csv").exists()


def test_labels_of_a_file_change_no_digest(folder):
    before = load_plan(folder / "plan.toml").orders[0].request.digest
    edit(folder / "areas.csv", "Allen", "Allen County")
    plan = load_plan(folder / "plan.toml")
    assert plan.orders[0].request.digest == before
    assert plan.orders[0].about[0].column("area.county").categories["01002"] == "Allen County"


def test_a_plan_may_state_the_digest_of_a_file(folder):
    stated = hashlib.sha256(AREAS.encode()).hexdigest()
    edit(folder / "plan.toml", 'file = "areas.csv"\n', f'file = "areas.csv"\nsha256 = "{stated}"\n')
    load_plan(folder / "plan.toml")
    edit(folder / "areas.csv", "Allen", "Alien")
    with pytest.raises(dp.PlanError, match="the file has changed since the plan was written"):
        load_plan(folder / "plan.toml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('file = "areas.csv"', 'file = "nowhere.csv"', "there is no file"),
        ('file = "regions.csv"', 'file = "regions.csv"\nmap = { 01 = "x" }', "must have either 'map' or 'file'"),
        ('of = "sex"\n', 'of = "sex"\nkey = "x"\n', "applies to a file only"),
        ('of = "sex"', 'of = "six"', "must be a category of the schema"),
        ('levels = ["state", "county"]', 'levels = ["county", "state"]', "codes must be unique within their level"),
        ('"area.county", "form"', '"area.conty", "form"', "did you mean 'area.county'"),
        ("labels = { state", "labels = { tract", "is not a level"),
    ],
)
def test_faults_are_found_before_anything_is_spent(folder, old, new, said):
    edit(folder / "plan.toml", old, new)
    with pytest.raises(dp.PlanError) as wrong:
        load_plan(folder / "plan.toml")
    assert said in str(wrong.value)
    assert "plan.toml:" in str(wrong.value)


SHARED = """
[[release]]
name = "shared"
spend = "0.1"

[[release.statistics]]
agreeing_areas = ["area"]
by = [[], ["form"]]
shares = { "" = [1, 0], "area.county" = ["3/7", 2.5] }
level_shares = { "" = 2 }
"""


def test_shares_of_levels_are_those_that_the_library_takes(folder):
    with (folder / "plan.toml").open("a", encoding="utf-8") as file:
        file.write(SHARED)
    plan = load_plan(folder / "plan.toml")
    shares = {"": [2, 0], "area.county": ["3/7", "5/2"]}
    asked = dp.agreeing_areas("area", by=[[], ["form"]], shares=shares)
    table = dp.Table(plan.schema, dp.ReplaceOne(rows=120))
    assert plan.orders[1].request.used_digest != table.agg(dp.agreeing_areas("area", by=[[], ["form"]])).used_digest
    (mine,), (theirs,) = (one.statistics for one in (plan.orders[1].request, table.agg(asked)))
    assert {one.level: [one.share * own for own in one.tables] for one in mine.kind.shares} == {
        one.level: list(one.tables) for one in theirs.kind.shares
    }
    edit(folder / "plan.toml", '"area.county" = [', '"area.conty" = [')
    with pytest.raises(dp.PlanError, match=r"'area\.conty' is not a level"):
        load_plan(folder / "plan.toml")
