"""Derived columns are columns: what they answer and cost, against the same request on a source that has them written in."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.cube.cube import compact
from discreet.domain.groups import group_labels
from discreet.engines import open_source
from discreet.noise.bits import no_bits
from discreet.plan import shown as printing
from discreet.plan.shown import hidden_labels
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers

pytestmark = pytest.mark.one_in(4)  # the others run with make test-slow

PARENT = {"n1": "north", "n2": "north", "s1": "south", "s2": "south", "s3": "south"}
HEMISPHERE = {"north": "one", "south": "two"}
AREA = dp.Category([*PARENT, "nowhere"])
AGE = dp.Number(0, 3)

DERIVED = dp.Schema(
    area=AREA,
    state=dp.DerivedColumn("state", of="area", by=PARENT),
    half=dp.DerivedColumn("half", of="state", by=HEMISPHERE),
    age=AGE,
)
WRITTEN = dp.Schema(area=AREA, state=dp.Category(["north", "south"]), half=dp.Category(["one", "two"]), age=AGE)
RELATIONS = [dp.AddRemove(), dp.ReplaceOne(rows=60)]


def rows():
    """Every area, null and what is no area, with every age: raw cells, and the same with the derived values in them."""
    cells = list(product([*AREA.values, None, "junk"], [0, 1, 2, 3, None]))
    cells = (cells * 2)[:60]
    areas = [area for area, _ in cells]
    states = [PARENT.get(area) for area in areas]
    halves = [HEMISPHERE.get(state) for state in states]
    return pl.DataFrame({"area": areas, "age": [age for _, age in cells]}), pl.DataFrame(
        {"area": areas, "state": states, "half": halves, "age": [age for _, age in cells]}
    )


def requests(table):
    weights = dp.Weights({"north": 1, "south": 2})
    for groups in ([], ["state"], ["half"], ["state", dp.bins("age", [0, 2, 3])]):
        for one in (
            table,
            table.where({"half": ["two"]}),
            table.where({"area": ["n1", "s1"]}),
            table.where({"age": (1, 3)}),
        ):
            yield one.group_by(*groups).agg(dp.count(), dp.count("state"), dp.sum("age", nulls="skip"))
    yield table.clamp({"state": ["north"]}).group_by("state").agg(dp.count())
    yield table.impute({"state": weights}).clamp({"state": ["south"]}).group_by("state").agg(dp.count())
    yield table.agg(dp.tables(["state"], ["half", dp.bins("age", [0, 3])], ["area"]))
    yield table.agg(dp.histogram("age", [0, 2, 3]), dp.count("half"))


def exact(source, request):
    """The cubes of a request, cell by cell."""
    engine = open_source(source, request.schema)
    try:
        return [compact(engine.aggregate(scan.axes, scan.moments)) for scan in request.layout.scans]
    finally:
        engine.close()


@pytest.mark.parametrize("relation", RELATIONS, ids=str)
def test_a_request_on_derived_columns_answers_and_costs_as_one_on_columns_written_into_the_rows(relation):
    raw, written = rows()
    asked = 0
    for own, other in zip(requests(dp.Table(DERIVED, relation)), requests(dp.Table(WRITTEN, relation)), strict=True):
        for found, expected in zip(exact(raw, own), exact(written, other), strict=True):
            for name in ("keys", "rows", "nonnull", "sums"):
                assert np.array_equal(getattr(found, name), getattr(expected, name))
        mine, its = quote(own, dp.ZCDP(1)), quote(other, dp.ZCDP(1))
        assert [one.sensitivity for one in mine.measured] == [one.sensitivity for one in its.measured]
        assert [one.law.to_json() for one in mine.measured] == [one.law.to_json() for one in its.measured]
        asked += 1
    assert asked == 20


def answers(source, request):
    measured = quote(request, dp.PureDP(1))
    return exact_answers(measured, iter(exact(source, request)), no_bits())[0]


def test_cells_of_several_levels_are_the_cells_of_the_finest_one():
    raw, written = rows()
    table = dp.Table(DERIVED, dp.AddRemove())
    merged = table.group_by("half", "area", "state").agg(dp.count())
    alone = table.group_by("area").agg(dp.count())
    assert merged.layout.cells == alone.layout.cells == 7
    assert np.array_equal(answers(raw, merged), answers(raw, alone))
    assert quote(merged, dp.PureDP(1)).measured[0].sensitivity == quote(alone, dp.PureDP(1)).measured[0].sensitivity
    crossed = dp.Table(WRITTEN, dp.AddRemove()).group_by("half", "area", "state").agg(dp.count())
    full = answers(written, crossed).reshape(3, 7, 3)
    # What the crossed table has beside the cells of the finest column is 0 in every source.
    kept = {
        (
            ("one", "two", None).index(HEMISPHERE.get(PARENT.get(area))),
            place,
            ("north", "south", None).index(PARENT.get(area)),
        )
        for place, area in enumerate([*AREA.values, None])
    }
    assert [full[cell] for cell in sorted(kept, key=lambda cell: cell[1])] == answers(raw, merged).tolist()
    assert full.sum() == sum(full[cell] for cell in kept)


def test_a_release_prints_every_level_beside_the_finest_one():
    raw, _ = rows()
    session = dp.Session(raw, DERIVED, dataset="d", ledger=":memory:", budget=dp.PureDP(1), neighbours=dp.AddRemove())
    request = session.table.group_by("half", "area", "state").agg(dp.count())
    shown = session.release(request, spend=1, name="areas").table
    assert shown.columns[:3] == ["half", "area", "state"]
    for half, area, state in shown.select("half", "area", "state").iter_rows():
        assert state == PARENT.get(area)
        assert half == HEMISPHERE.get(state)
    assert shown["area"].to_list() == [*AREA.values, None]


@pytest.mark.parametrize("named", [("half", "area", "state"), ("state", "half", "area")])
def test_rows_without_a_level_are_dropped_whichever_of_the_printed_levels_it_is(named):
    raw, _ = rows()
    session = dp.Session(raw, DERIVED, dataset="d", ledger=":memory:", budget=dp.PureDP(9), neighbours=dp.AddRemove())
    for level in named:
        request = session.table.group_by(*named, nulls={level: "drop"}).agg(dp.count())
        shown = session.release(request, spend=1, name=level).table
        parents = {"area": None, "state": PARENT, "half": {area: HEMISPHERE.get(state) for area, state in PARENT.items()}}
        kept = [area for area in AREA.values if level == "area" or parents[level].get(area) is not None]
        assert shown["area"].to_list() == kept
        assert shown[level].null_count() == 0


def test_a_condition_on_a_level_hides_the_areas_outside_it():
    raw, _ = rows()
    session = dp.Session(raw, DERIVED, dataset="d", ledger=":memory:", budget=dp.PureDP(1), neighbours=dp.AddRemove())
    request = session.table.where({"half": ["two"]}).group_by("area", "state").agg(dp.count())
    shown = session.release(request, spend=1, name="areas").table
    assert shown["area"].to_list() == ["s1", "s2", "s3"]
    assert session.table.where({"area": ["n1"]}).group_by("half").agg(dp.count()).layout.cells == 3


FAMILY = ("area", "state", "half")


def printed(group, condition):
    """The labels that a release prints of one column, under a condition on another one or none."""
    request = dp.Table(DERIVED, dp.AddRemove()).where(condition).group_by(group).agg(dp.count())
    (own,) = request.group_by
    hidden = hidden_labels(request, own)
    return {label for place, label in enumerate(group_labels(own, request.facts)) if place not in hidden}


def with_rows(group, condition):
    """The labels in which the written rows are that pass, one by one."""
    _, written = rows()
    return {
        row[group] if row[group] != "junk" else None
        for row in written.to_dicts()
        if all(row[column] in kept for column, kept in condition.items())
    }


def test_the_groups_that_are_printed_are_those_that_rows_can_be_in():
    """An area without a state is in the null group of the states, which a condition on areas does not make empty."""
    for group, column in product(FAMILY, FAMILY):
        values = DERIVED[column].values
        for size in range(1, len(values) + 1):
            for kept in combinations(values, size):
                assert printed(group, {column: list(kept)}) == with_rows(group, {column: kept}), (group, column, kept)


def test_null_groups_that_a_condition_hides_with_their_rows_are_noticed(monkeypatch):
    literal = printing._empty_categories

    def with_null(facts, group, conditions):
        return literal(facts, group, conditions) | {len(group_labels(group, facts)) - 1}

    monkeypatch.setattr(printing, "_empty_categories", with_null)
    with pytest.raises(AssertionError):
        test_the_groups_that_are_printed_are_those_that_rows_can_be_in()


def test_columns_of_one_family_that_would_contradict_each_other_are_refused():
    table = dp.Table(DERIVED, dp.AddRemove())
    with pytest.raises(dp.PlanError, match="clamp, impute or complete of 'state': the request also uses 'area'"):
        table.impute({"state": dp.Weights({"north": 1})}).group_by("state", "area").agg(dp.count())
    with pytest.raises(dp.PlanError, match="clamp, impute or complete of 'area': the request also uses 'state'"):
        table.clamp({"area": ["n1"]}).where({"state": ["north"]}).group_by("area").agg(dp.count())
    with pytest.raises(dp.PlanError, match="clamp, impute or complete of 'area': the request also uses 'state'"):
        table.clamp({"area": ["n1"]}).group_by("state").agg(dp.count())  # the clamp would do nothing at all
    with pytest.raises(dp.PlanError, match="clamp, impute or complete of 'area': the request also uses 'state'"):
        table.clamp({"state": ["north"], "area": ["n1"]}).group_by("state").agg(dp.count())
    assert table.clamp({"state": ["north"]}).group_by("state").agg(dp.count()).layout.cells == 2
    with pytest.raises(dp.PlanError, match="groups 'state', 'area': all come from 'area'"):
        table.agg(dp.tables(["state", "area"]))
    crossing = dp.Schema(
        area=AREA,
        side=dp.DerivedColumn("side", of="area", by={"n1": "a", "s1": "a", "n2": "b"}),
        state=dp.DerivedColumn("state", of="area", by=PARENT),
    )
    with pytest.raises(dp.PlanError, match="none determines the others"):
        dp.Table(crossing, dp.AddRemove()).group_by("side", "state").agg(dp.count())
    assert dp.Table(crossing, dp.AddRemove()).group_by("side", "state", "area").agg(dp.count()).layout.cells == 7


def test_a_wrong_map_is_noticed():
    """A path that forgot the map, or sent what the map does not name somewhere, would be noticed."""
    raw, written = rows()
    right = answers(written, dp.Table(WRITTEN, dp.AddRemove()).group_by("state").agg(dp.count()))
    own = dp.Table(DERIVED, dp.AddRemove()).group_by("state").agg(dp.count())
    assert np.array_equal(answers(raw, own), right)
    for wrong in ((0, 0, 1, 1, 1, 0), (0, 1, 1, 1, 1, -1)):
        path = own.layout.scans[0].axes[0].path
        object.__setattr__(path, "targets", wrong)
        assert not np.array_equal(answers(raw, own), right)
