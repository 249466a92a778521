"""Agreeing areas in release documents: recomputed from their measured integers, refused where a number was changed."""

from __future__ import annotations

import json
from itertools import product

import polars as pl
import pytest
from tests.builders import run, session_over

import discreet as dp
from discreet.releases.document import make_release
from discreet.statistics.area_recipe import AreasRecipe

LEVELS = {"state": ["10", "10", "44", "44"], "county": ["101", "103", "441", "443"]}
SCHEMA = dp.Schema(
    area=dp.Hierarchy(LEVELS, levels=["state", "county"]),
    coast=dp.DerivedColumn("coast", of="area.state", by={"10": "middle", "44": "north"}),
    odd=dp.DerivedColumn("odd", of="area", by={"101": "x", "443": "x", "103": "y", "441": "y"}),
    sex=dp.Category(["f", "m"]),
    age=dp.Number(0, 9),
)
ROWS = list(product([*LEVELS["county"], "999"], ["f", "m"], [0, 4, 9])) * 4
FRAME = pl.DataFrame(ROWS, schema=["area", "sex", "age"], orient="row")
NOBODY = dp.Impossible("sex", "age", cells=[("f", age) for age in (1, 2, 3, *range(5, 9))])
AREAS = dp.agreeing_areas("area", by=[[], ["sex"], [dp.bins("age", step=5), "sex"]])


def released(neighbours=None, spend=None, make=None, **options):
    neighbours, spend = neighbours or dp.ReplaceOne(rows=len(ROWS)), spend or dp.ZCDP("1/2")
    session = session_over(FRAME, SCHEMA, neighbours=neighbours, budget=spend, **options)
    return session.release((make or (lambda table: table.agg(AREAS)))(session.table), spend=spend, name="all")


CASES = {
    "zcdp": {},
    "gdp": {"spend": dp.GDP(1)},
    "approx": {"spend": dp.ApproxDP(1, "1e-6")},
    "add": {"neighbours": dp.AddRemove()},
    "where": {"make": lambda table: table.where({"age": (0, 5)}).agg(dp.agreeing_areas("area", by=[["sex"]]))},
    "imputed": {"make": lambda table: table.impute({"sex": dp.Weights({"f": 1})}).agg(AREAS)},
    "more": {"make": lambda table: table.agg(dp.count("sex"), AREAS, dp.tables(["sex"]))},
    "stated shares": {
        "make": lambda table: table.agg(
            dp.agreeing_areas("area", by=[[], ["sex"]], shares={"": [1, 0], "area.county": [0, "1/3"]})
        )
    },
    "one level": {"make": lambda table: table.agg(dp.agreeing_areas("area.state"))},
    "a region": {"make": lambda table: table.agg(dp.agreeing_areas("coast", "area", by=[["sex"]]))},
    "together": {"make": lambda table: table.agg(AREAS).simultaneous()},
    "totals of a level": {"invariants": dp.Totals("area.state")},
    "totals of a level by sex": {"invariants": dp.Totals("area.state", "sex") + dp.Totals("area.state")},
    "totals that cross": {"invariants": dp.Totals("area.county") + dp.Totals("area.state", "sex")},
    "totals of a column": {"invariants": dp.Totals("sex")},
    "totals of one area": {"invariants": dp.Totals("area.state", only=["10"])},
    "totals of regions": {"invariants": dp.Totals("coast")},
    "totals beside the levels": {"invariants": dp.Totals("odd")},
    "impossible cells": {"invariants": dp.Totals("area.state") + NOBODY},
    "impossible cells of an area": {"invariants": dp.Impossible("area.state", "age", cells=[("10", 7), ("44", 1)])},
    "two lists, and a cell without rows": {"invariants": dp.Totals("area.state") + dp.Totals("sex", "age")},
}


@pytest.mark.parametrize("case", CASES)
def test_every_cell_follows_from_the_measured_integers_and_areas_add_up(case):
    release = released(**CASES[case])
    found = dp.verify(release)
    frames = {name: frame for name, frame in release.tables.items() if name.startswith("areas")}
    assert found.tables >= len(frames)
    lowest = max(frames, key=lambda name: len(frames[name]))
    for one in frames.values():
        assert one["count"].sum() == pytest.approx(frames[lowest]["count"].sum(), abs=1e-6)
        assert (one["count_low"] <= one["count"]).all()
        assert (one["count"] <= one["count_high"]).all()


def test_exact_totals_of_a_level_are_met_at_every_level():
    release = released(invariants=dp.Totals("area.state", "sex"))
    tables = release.tables
    own = {(area[:2] if area != "999" else None, sex): 24 if area != "999" else 12 for area, sex, _ in ROWS}
    for state, sex, count, low, high in tables["areas_area.state_sex"].rows():
        assert count == low == high == own.get((state, sex), 0)
    counties = tables["areas_area.county_sex"].with_columns(state=pl.col("area.county").str.slice(0, 2))
    sums = counties.group_by("state", "sex").agg(pl.col("count").sum())
    for state, sex, count in sums.rows():
        assert count == pytest.approx(own.get((state, sex), 0), abs=1e-9)
    assert counties.filter(pl.col("sex").is_null())["count"].abs().max() == 0, "nobody can be there"
    told = {frame["name"]: frame["totals"] for frame in release.document["frames"]}
    assert told["areas_area.state_sex"] == "are the published ones"
    assert told["areas_area.county"] == "add up to the published ones"
    assert dp.verify(release).sums > 20


def test_totals_that_areas_do_not_have_are_not_said_to_be_met():
    for invariants in (dp.Totals("area.state", only=["10"]), dp.Totals("odd")):
        frames = released(invariants=invariants).document["frames"]
        told = {frame["totals"] for frame in frames if frame["name"].startswith("areas_area")}
        assert told == {"do not match the published ones"}


def test_cells_of_one_area_in_which_nobody_can_be_have_noise_and_the_document_says_so(monkeypatch):
    """What is exact of all cells is not exact of those that rows can be in; margins without such cells are."""
    nobody = dp.Impossible("area.state", "age", cells=[("10", age) for age in range(5, 10)])
    shown = [row for row in ROWS if not (row[0].startswith("10") and row[2] > 4)]
    frame = pl.DataFrame(shown, schema=["area", "sex", "age"], orient="row")

    def frames():
        beside = {"neighbours": dp.ReplaceOne(rows=len(shown)), "invariants": dp.Totals("sex") + nobody}
        with session_over(frame, SCHEMA, budget=dp.ZCDP(1), **beside) as session:
            release = session.release(session.table.agg(AREAS), spend=1, name="all")
        dp.verify(release)
        return {one["name"]: one["totals"] for one in release.document["frames"]}

    told = frames()
    assert told["areas_area.state_age_sex"] == "do not match the published ones"
    assert told["areas_area.state_sex"] == told["areas_age_sex"] == "add up to the published ones"
    monkeypatch.setattr(AreasRecipe, "_has_noise_where_nobody_is", lambda *_: False)
    with pytest.raises(dp.ArgumentError, match="are not the public ones"):  # a mutant
        frames()


CHANGES = {
    "a cell": (("frames", 1, "columns", 1, "values", 0), 12345, "'count' of 'areas_area.state'"),
    "an end": (("frames", 2, "columns", 2, "values", 2), 12345, "'count_low' of 'areas_area.county'"),
    "an integer": (("measured", 0, "effects", 3, "values", 1), 12345, "does not follow"),
    "a parent": (("measured", 0, "levels", 1, "parents"), [0, 1, 1, 1, 2], "does not follow"),
    "no parents": (("measured", 0, "levels", 1, "parents"), [9], "cannot be read"),
    "a level of confidence": (("measured", 0, "level"), "0.9", "does not follow"),
    "an axis": (("measured", 0, "effects", 1, "axes"), [7], "cannot be read"),
    "no levels": (("measured", 0, "levels"), [], "cannot be read"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_number_is_noticed(change):
    path, value, told = CHANGES[change]
    document = released(neighbours=dp.AddRemove()).document
    del document["digest"]
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(dp.ArgumentError, match=told):
        dp.verify(make_release(document))


def test_the_command_says_what_it_recomputed(tmp_path):
    released().save(tmp_path)
    done = run("verify", str(tmp_path), "--json")
    assert done.exit_code == 0
    assert json.loads(done.output)["verified"][0]["tables"] == 9


def table(neighbours=None):
    return dp.Table(SCHEMA, neighbours or dp.AddRemove())


def given(**shares):
    """A quote, which finds what is not measured."""
    session = session_over(FRAME, SCHEMA, neighbours=dp.AddRemove(), budget=dp.ZCDP(1))
    return session.quote(session.table.agg(dp.agreeing_areas("area", by=[[], ["sex"]], **shares)), spend=1)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (dp.agreeing_areas, "must name a hierarchy"),
        (lambda: dp.agreeing_areas("area", by=["sex"]), "must be lists of columns"),
        (lambda: dp.agreeing_areas("area", by=[]), "must be lists of columns"),
        (lambda: table().agg(dp.agreeing_areas("area", by=[["sex"], ["sex"]])), "given twice"),
        (lambda: table().agg(dp.agreeing_areas("area", by=[["sex", "sex"]])), "names a column twice"),
        (lambda: table().agg(dp.agreeing_areas("area", by=[[dp.bins("age", [0, 5])]])), "leave values out"),
        (lambda: table().agg(dp.agreeing_areas("area.county", "area.state")), "does not tell in which"),
        (lambda: table().agg(dp.agreeing_areas("area.state", "area.state")), "named twice"),
        (lambda: given(shares={"": [1]}), "'' must have a list of 2 numbers"),
        (lambda: given(shares={"": "12"}), "must have a list of 2 numbers"),
        (lambda: given(shares={}), "must give each level its list"),
        (lambda: given(shares=[1, 2]), "must give each level its list"),
        (lambda: given(shares={3: [1, 2]}), "must be the column of a level"),
        (lambda: given(shares={"area.county": [1, -2]}), "must be a number from 0 on"),
        (lambda: given(shares={"area.county": [1, "1e40"]}), "must be a number from 0 on"),
        (lambda: given(shares={"area.county": [1, 1], "area.block": [1, 1]}), "'area.block' is not a level; the levels are"),
        (lambda: given(shares={"area.state": [1, 1]}), "'area.county' has no share above 0"),
        (lambda: given(shares={"area.county": [1, 0], "area.state": [0, 1]}), "no share above 0 for a table by sex"),
        (lambda: given(level_shares={"": 1}), "needs shares"),
        (lambda: given(shares={"area.county": [1, 1]}, level_shares={"area.state": 1}), "has no list in shares"),
        (
            lambda: given(shares={"area.county": [1, 1]}, level_shares={"area.county": 0}),
            "'area.county' has no share above 0",
        ),
        (lambda: given(shares={"area.county": [1, 1]}, level_shares=[1]), "must be numbers by level"),
        (lambda: table().agg(dp.agreeing_areas("odd", "area.state")), "does not tell in which"),
        (lambda: table().agg(dp.agreeing_areas("area", by=[["coast"]])), "all come from 'area'"),
        (lambda: table().agg(dp.agreeing_areas("age")), "grouped by"),
        (lambda: table().where({"coast": ["north"]}).agg(dp.agreeing_areas("area")), "leaves areas in which no row can be"),
        (lambda: table().clamp({"area.state": ["10"]}).agg(dp.agreeing_areas("area")), "clamp, impute or complete"),
        (lambda: table().group_by("sex").agg(dp.agreeing_areas("area")), "without group_by"),
        (lambda: released(spend=dp.PureDP(1)), "needs Gaussian noise"),
    ],
)
def test_what_cannot_add_up_is_refused_before_anything_is_spent(make, told):
    with pytest.raises(dp.PlanError, match=told):
        make()


@pytest.mark.parametrize(
    "nobody", [[[[0, 1], [1, 1]]], [[[0, 1], [1]], [[1, 0], [2]]], [[[0, 1], [*range(257)]]]], ids=["cells", "sets", "many"]
)
def test_no_more_cells_are_made_0_than_this_library_makes(nobody):
    """What they move is worked out in fractions: a made-up document could keep its reader for hours."""
    document = {name: own for name, own in released(invariants=NOBODY).document.items() if name != "digest"}
    document["measured"][0]["nobody"] = nobody
    with pytest.raises(dp.ArgumentError, match="cannot be read"):
        dp.verify(make_release(document))
