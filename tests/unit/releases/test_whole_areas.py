"""Whole numbers of areas: properties of the view, whatever was drawn; flows against all tables of small sums."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

import numpy as np
import polars as pl
import pytest
from tests.builders import run, session_over

import discreet as dp
from discreet.errors import InternalError
from discreet.releases import transport as flows
from discreet.releases.transport import divide, transport

LEVELS = {"state": ["10", "10", "44", "44", "44"], "county": ["101", "103", "441", "443", "445"]}
SCHEMA = dp.Schema(
    area=dp.Hierarchy(LEVELS, levels=["state", "county"]),
    sex=dp.Category(["f", "m"]),
    age=dp.Number(0, 9),
)
ROWS = [
    (area, sex, age)
    for at, area in enumerate(["101", "103", "441", "443", "999"])
    for sex, age in product(["f", "m"], [0, 4, 9])
    for _ in range((1, 40, 3, 200, 0)[at])
]
FRAME = pl.DataFrame(ROWS, schema=["area", "sex", "age"], orient="row")
AGES = dp.bins("age", step=5)
BY = {
    "rows": [[]],
    "nested": [[], ["sex"], ["sex", AGES]],
    "crossing": [["sex"], [AGES]],
    "margins of one": [["sex"], [AGES, "sex"], [AGES]],
}


def released(by, neighbours=None, **options):
    neighbours = neighbours or dp.ReplaceOne(rows=len(ROWS))
    session = session_over(FRAME, SCHEMA, neighbours=neighbours, budget=dp.ZCDP("1/4"), **options)
    table = session.table.agg(dp.count("sex"), dp.agreeing_areas("area", by=BY[by]), dp.tables(["sex"], [AGES]))
    return session.release(table, spend=dp.ZCDP("1/4"), name="all")


TOTALS = {
    "none": {},
    "private n": {"neighbours": dp.AddRemove()},
    "of a level": {"invariants": dp.Totals("area.state")},
    "of the last level": {"invariants": dp.Totals("area.county")},
    "of a level by sex": {"invariants": dp.Totals("area.state", "sex")},
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("totals", TOTALS)
@pytest.mark.parametrize("by", BY)
def test_whole_numbers_are_not_negative_and_add_up_over_areas_tables_and_totals(by, totals):
    release = released(by, **TOTALS[totals])
    names = [name for name in release.tables if name.startswith("areas")]
    views = {name: dp.consistent(release, name) for name in names}
    for name, view in views.items():
        assert view["count_whole"].dtype == pl.Int64
        assert view["count_whole"].min() >= 0
        assert (view["count"] == release.tables[name]["count"]).all()
    for name in (name for name in names if "county" in name):
        wide = views[name.replace("county", "state")].with_columns(state="area.state")
        keys = ["state", *(key for key in ("sex", "age") if key in wide.columns)]
        fine = views[name].with_columns(state=pl.col("area.county").str.slice(0, 2))
        both = fine.group_by(keys).agg(pl.col("count_whole").sum()).join(wide, on=keys, nulls_equal=True)
        assert len(both) == len(wide)
        assert (both["count_whole"] == both["count_whole_right"]).all()
    if by in {"nested", "margins of one"}:
        fine = views[max((name for name in names if "county" in name), key=len)]
        sums = fine.group_by("area.county", "sex").agg(pl.col("count_whole").sum())
        both = sums.join(views["areas_area.county_sex"], on=["area.county", "sex"], nulls_equal=True)
        assert (both["count_whole"] == both["count_whole_right"]).all()
    if "invariants" in TOTALS[totals]:
        exact = FRAME.group_by(pl.col("area").str.slice(0, 2).alias("area.state")).len()
        view = next(view for name, view in views.items() if "state" in name)
        sums = view.group_by("area.state").agg(pl.col("count_whole").sum()).join(exact, on="area.state")
        assert (sums["count_whole"] == sums["len"]).all()


def test_other_tables_of_the_release_keep_their_own_views():
    release = released("nested")
    assert dp.consistent(release, "tables_sex")["count_whole"].sum() == len(ROWS)
    assert dp.consistent(release)["count_sex_consistent"].sum() <= len(ROWS)


def test_totals_that_cross_have_a_view_or_a_refusal_and_never_a_wrong_one():
    release = released("crossing", invariants=dp.Totals("area.county") + dp.Totals("area.state", "sex"))
    for name in (name for name in release.tables if name.startswith("areas")):
        with suppress(dp.ArgumentError):
            assert dp.consistent(release, name)["count_whole"].sum() == len(ROWS)


def test_the_command_writes_whole_numbers(tmp_path):
    released("rows").save(tmp_path)
    done = run("consistent", str(tmp_path), "--statistic", "areas_area.state")
    assert done.exit_code == 0
    assert pl.read_csv(tmp_path / "consistent.csv")["count_whole"].sum() == len(ROWS)


# Flows ----------------------------------------------------------------------------------------------------------------


def small(seed):
    drawn = np.random.default_rng(seed)
    table = drawn.poisson(drawn.choice([0.3, 2, 20]), drawn.integers(1, 6, 2))
    wanted = table + drawn.normal(0, 2, table.shape)
    return wanted, np.where(wanted > 10, 25.0, 1.0), table.sum(axis=1), table.sum(axis=0)


@pytest.mark.parametrize("seed", range(40))
def test_a_table_is_a_rounding_of_the_nearest_one(seed):
    """The real table has multipliers that prove it (Karush, Kuhn and Tucker), and each cell is rounded down or up."""
    wanted, weights, rows, columns = small(seed)
    real = flows._nearest(wanted, weights, rows, columns)
    found = transport(wanted, weights, rows, columns)
    assert (np.abs(found - real) < 1 + 1e-5).all()
    assert real.sum(axis=1) == pytest.approx(rows, abs=1e-5)
    assert real.sum(axis=0) == pytest.approx(columns, abs=1e-5)
    generator = np.random.default_rng(seed)
    least = float((weights * (real - wanted) ** 2).sum())
    for _ in range(30):
        rounded = transport(generator.normal(0, 9, wanted.shape), np.ones(wanted.shape), rows, columns)
        other = real + generator.uniform(0, 1) * (rounded - real)
        assert float((weights * (other - wanted) ** 2).sum()) >= least - 1e-4


def test_a_path_is_found_where_the_largest_fractions_lead_astray():
    """Two cells of ½ can be taken in an order that leaves a row and a column that share no other cell."""
    real = np.array([[0.6, 0.4, 0.0], [0.4, 0.0, 0.6], [0.0, 0.6, 0.4]])
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        found = flows._round(real[order], np.ones(3, np.int64), np.ones(3, np.int64))
        assert (found.sum(axis=0) == 1).all()
        assert (found <= np.ceil(real[order])).all()


def test_paths_take_cells_back():
    up = np.array([[True, False], [False, False]])
    free = np.array([[False, True], [True, False]])
    short, wide = np.array([0, 1]), np.array([0, 1])
    added = flows._complete(up, free, short, wide)
    assert up.tolist() == [[False, True], [True, False]]
    assert not added.any()


def test_where_floats_missed_the_sums_whole_numbers_have_them_all_the_same():
    rows = np.array([3, 0])
    columns = np.array([1, 2])
    assert flows._round(np.array([[0.0, 0.0], [7.0, 0.2]]), rows, columns).tolist() == [[1, 2], [0, 0]]


def test_sums_that_do_not_agree_are_no_problem_of_floats():
    with pytest.raises(InternalError, match="must agree"):
        transport(np.zeros((1, 1)), np.ones((1, 1)), np.array([1]), np.array([2]))


@pytest.mark.parametrize(("wanted", "total"), [([3.2, -4.0, 0.5], 3), ([0.0, 0.0], 5), ([1.5, 1.5], 0), ([9.0], 4)])
def test_a_total_is_divided(wanted, total):
    found = divide(np.array(wanted), np.ones(len(wanted)), total)
    assert found.sum() == total
    assert found.min() >= 0
