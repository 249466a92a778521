"""Cells of groups in which nobody can be, in tables of areas: 0 in every area, and intervals for the noise that is left."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.plan.table import Table
from discreet.quotes.allocate import quote
from discreet.statistics import tree_cells
from discreet.statistics.tree_cells import AreaTable, cells_of_areas, errors_of_areas, variances_of_areas
from discreet.totals.exact_totals import exact_totals_of

LEVELS = {"wide": ["A", "A", "B"], "fine": ["a", "b", "c"]}
SCHEMA = dp.Schema(
    area=dp.Hierarchy(LEVELS, levels=["wide", "fine"]),
    s=dp.Category(["f", "m"]),
    c=dp.Category(["x", "y", "z"]),
    d=dp.Category(["u", "v"]),
)
BY = [[], ["s"], ["s", "c"], ["d", "c", "s"]]
NOBODY = dp.Impossible("s", "c", cells=[("m", "y"), ("f", None)])
CASES = {
    "a cell": dp.Impossible("s", "c", cells=[("m", "y")]),
    "totals of a level": dp.Totals("area.wide") + NOBODY,
    "two sets": NOBODY + dp.Impossible("c", "d", cells=[("z", "u")]),
    "lists that cross": dp.Totals("area.wide") + dp.Totals("c", "d") + NOBODY,
}
ROWS = [
    row
    for row in product([*LEVELS["fine"], None], ["f", "m"], ["x", "y", "z", None], ["u", "v"])
    if (row[1], row[2]) not in {("m", "y"), ("f", None)} and (row[2], row[3]) != ("z", "u")
] * 3
FRAME = pl.DataFrame(ROWS, schema=["area", "s", "c", "d"], orient="row")


def quoted(invariants):
    plan = Table(SCHEMA, dp.ReplaceOne(rows=len(ROWS))).agg(dp.agreeing_areas("area", by=BY))
    return quote(plan, dp.ZCDP("1/2"), exact_totals_of(invariants, SCHEMA, None, len(ROWS)))


def responses(tables, asked, behind):
    """For each table what each number with noise adds to each cell, and the variances of that noise: one after the other."""
    large, found, variances = 1 << 40, {one: [] for one in asked}, []
    shapes = {key: (tables.tree.sizes[key[0]], *(tables.effects.sizes[axis] for axis in key[1])) for key in behind}
    for key, one in behind.items():
        for place in range(prod(shapes[key]) if one.law is not None else 0):
            numbers = {other: np.zeros(shape, dtype=np.int64) for other, shape in shapes.items()}
            numbers[key].ravel()[place] = large
            measured = {other: replace(behind[other], values=values) for other, values in numbers.items()}
            for table, (values, denominator) in cells_of_areas(tables, asked, measured).items():
                found[table].append((values.astype(object) / denominator).astype(float).reshape(len(values), -1) / large)
            variances.append(float(one.law.sigma2))
    return {table: np.array(own) for table, own in found.items()}, np.array(variances)


@pytest.mark.parametrize("case", [pytest.param(one, marks=[] if one == "two sets" else pytest.mark.slow) for one in CASES])
def test_intervals_are_those_of_the_cell_with_most_noise(case):
    found = quoted(CASES[case])
    recipe, noises = found.lines[0].recipe, found.noises(found.lines[0])
    tables, behind, of = recipe.tables_of(recipe.tree), recipe.noise_behind(noises), recipe.tree.shapes.of
    assert recipe.nobody
    mine, halves = (
        variances_of_areas(tables, recipe.asked, behind),
        errors_of_areas(tables, recipe.asked, behind, noises.level),
    )
    weights, variances = responses(tables, recipe.asked, behind)
    for table, own in weights.items():
        exact = np.tensordot(variances, own**2, axes=(0, 0)).max(axis=1)
        said = mine[table][of[table.level]]
        assert (said >= exact * (1 - 1e-6)).all(), "no cell has more noise"
        assert (said <= exact * (1 + 1e-6) + 1e-9).all()
        wide = exact > 1e-9
        assert (halves[table][of[table.level]][wide] >= 1.9599 * exact[wide] ** 0.5 * (1 - 1e-6)).all()


@pytest.mark.slow
def test_intervals_without_what_moves_are_too_narrow(monkeypatch):
    """A mutant: variances as if nothing had moved."""
    tree_cells._rows_of_effects.cache_clear()
    monkeypatch.setattr(tree_cells, "scale_of", lambda *_: 1)
    try:
        with pytest.raises(AssertionError):
            test_intervals_are_those_of_the_cell_with_most_noise("two sets")
    finally:
        tree_cells._rows_of_effects.cache_clear()


def released(invariants):
    relation = dp.ReplaceOne(rows=len(ROWS))
    with session_over(FRAME, SCHEMA, budget=dp.ZCDP("1/2"), neighbours=relation, invariants=invariants) as session:
        asked = session.table.agg(dp.agreeing_areas("area", by=BY))
        return session.release(asked, spend="1/2", name="all")


@pytest.mark.parametrize("case", CASES)
def test_cells_in_which_nobody_can_be_are_0_in_every_area_and_tables_agree(case):
    release = released(CASES[case])
    dp.verify(release)
    finest = release.tables["areas_area.fine_d_c_s"]
    for frame in release.document["frames"]:
        assert frame["totals"] != "do not match the published ones", frame["name"]
        own = release.tables[frame["name"]]
        keys = [key for key in ("s", "c", "d") if key in own.columns]
        sums = finest.group_by(keys or pl.lit(1).alias("all")).agg(wanted=pl.col("count").sum())
        mine = own.group_by(keys or pl.lit(1).alias("all")).agg(pl.col("count").sum())
        both = mine.join(sums, on=keys or "all", nulls_equal=True)
        assert both["count"].to_list() == pytest.approx(both["wanted"].to_list(), abs=1e-6)
        if {"s", "c"} <= {*keys} and "impossible" in str(release.document["invariants"]["totals"]):
            nobody = own.filter((pl.col("s") == "m") & (pl.col("c") == "y"))
            assert nobody.height
            assert nobody.select("count", "count_low", "count_high").sum().row(0) == (0, 0, 0)
            assert (own["count_low"] <= own["count_high"]).all()
        if case != "lists that cross":  # of which whole numbers may be found or not
            whole = dp.consistent(release, frame["name"])
            assert whole["count_consistent"].sum() == len(ROWS)
            if {"s", "c"} <= {*keys}:
                assert whole.filter((pl.col("s") == "m") & (pl.col("c") == "y"))["count_consistent"].sum() == 0


def test_what_is_known_of_an_area_alone_is_not_of_every_area():
    """Nobody in one state is not nobody in all: such cells keep their noise, and the document says so."""
    recipe = quoted(dp.Impossible("area.wide", "c", cells=[("B", "x")])).lines[0].recipe
    assert recipe.nobody == ()
    assert recipe.words_of(AreaTable(1, recipe.asked[-1].axes))["totals"] == "do not match the published ones"


def test_a_table_beside_that_of_a_coarser_column_is_not_said_to_meet_its_totals():
    """The estimates by c are no others because another table is by a function of c, so they do not add up to its totals."""
    schema = dp.Schema(
        area=dp.Hierarchy(LEVELS, levels=["wide", "fine"]),
        s=dp.Category(["f", "m"]),
        c=dp.Category(["x", "y", "z"]),
        half=dp.DerivedColumn("half", of="c", by={"x": "one", "y": "one", "z": "two"}),
    )
    relation = dp.ReplaceOne(rows=len(ROWS))
    with session_over(
        FRAME.drop("d"), schema, budget=dp.ZCDP("1/2"), neighbours=relation, invariants=dp.Totals("half")
    ) as session:
        asked = session.table.agg(dp.agreeing_areas("area", by=[["c"], ["half", "s"], ["half"], ["s"]]))
        release = session.release(asked, spend="1/2", name="all")
    dp.verify(release)
    words = {frame["name"]: frame["totals"] for frame in release.document["frames"]}
    assert {name: words[name] for name in words if not name.startswith("areas_area")} == {
        "areas_c": "do not match the published ones",
        "areas_half_s": "add up to the published ones",
        "areas_half": "are the published ones",
        "areas_s": "add up to the published ones",
    }
    assert words["areas_area.fine_half"] == "add up to the published ones"


def test_noise_where_an_area_is_known_to_have_nobody_is_in_sums_that_cross():
    """Totals by area and c have a 0, so its cells by d have noise that adds up to 0; totals by d have only one of them."""
    rows = pl.DataFrame(ROWS, schema=["area", "s", "c", "d"], orient="row").filter(
        ~((pl.col("area") == "a") & (pl.col("c") == "x"))
    )
    relation, by = dp.ReplaceOne(rows=len(rows)), dp.Totals("area.fine", "c")
    said = []
    for totals in (by, by + dp.Totals("d")):
        with session_over(rows, SCHEMA, budget=dp.ZCDP("1/2"), neighbours=relation, invariants=totals) as session:
            asked = session.table.agg(dp.agreeing_areas("area.fine", by=[["c", "d"]]))
            release = session.release(asked, spend="1/2", name="all")
        dp.verify(release)
        said.append([frame["totals"] for frame in release.document["frames"]])
    kept, apart = "add up to the published ones", "do not match the published ones"
    assert said == [[kept, kept], [kept, apart]]
