"""Numbers of the table as recorded beside those of the prepared one: each has the noise of its own queries."""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dp
from discreet.releases.derived.linear import Linear
from discreet.releases.derived.reading import Printed, numbers_of

SKIP = {"nulls": "skip"}
ROWS = [{"g": "xy"[row % 2], "h": "abc"[row % 3], "v": None if row % 7 == 0 else row % 90} for row in range(300)]


def released(prepare, *statistics):
    schema = dp.Schema(g=dp.Category(["x", "y"], required=True), h=dp.Category(["a", "b"]), v=dp.Number(0, 90))
    budget, neighbours = dp.ZCDP(10**6), dp.ReplaceOne(rows=300)
    session = dp.Session(pl.DataFrame(ROWS), schema, dataset="d", ledger=":memory:", budget=budget, neighbours=neighbours)
    plan = prepare(session.table).group_by("g").agg(*statistics).original()
    return session.release(plan, spend=10**5, name="r")  # so that no interval misses


def clamped(table):
    return table.clamp({"v": (0, 30)})


def imputed(table):
    return table.impute({"v": dp.Uniform()})


def queries(release, name):
    return {cell.query for one in numbers_of(release.document, name) for _, cell in one.terms}


def halved(table):
    return table.clamp({"h": ["a"]})


CLAMPED = released(clamped, dp.count(), dp.count("v"), dp.sum("v", **SKIP))
IMPUTED = released(imputed, dp.count(), dp.count("v"), dp.sum("v"))
HALVED = released(halved, dp.count(), dp.count("h"))


@pytest.mark.parametrize(
    ("release", "name", "noises"),
    [
        (CLAMPED, "count_v", {"non-null v"}),
        (CLAMPED, "count_v_original", {"non-null v"}),
        (CLAMPED, "sum_v", {"sum of v", "non-null v"}),
        (IMPUTED, "count_v", {"rows"}),
        (IMPUTED, "count_v_original", {"non-null v as recorded"}),
        (IMPUTED, "sum_v", {"sum of v", "rows"}),
        (IMPUTED, "sum_v_original", {"sum of v as recorded", "non-null v as recorded"}),
        (HALVED, "count_h", {"non-null h"}),
        (HALVED, "count_h_original", {"non-null h as recorded"}),
    ],
)
def test_each_table_has_the_noise_of_its_own_queries(release, name, noises):
    assert all(isinstance(one, Linear) for one in numbers_of(release.document, name))
    assert queries(release, name) == noises


def test_a_clamp_of_categories_makes_some_null_so_that_both_are_counted():
    known = [sum(row["g"] == group and row["h"] in "ab" for row in ROWS) for group in "xy"]
    assert (HALVED.table["count_h_original_low"] <= known).all()
    assert (HALVED.table["count_h_original_high"] >= known).all()
    assert (HALVED.table["count_h_high"] < known).all()


def test_of_a_sum_in_parts_only_the_printed_interval_is_used():
    assert all(isinstance(one, Printed) for one in numbers_of(CLAMPED.document, "sum_v_original"))


@pytest.mark.parametrize(("release", "name"), [(IMPUTED, "sum_v"), (HALVED, "count_h")])
def test_numbers_of_the_two_tables_have_no_noise_in_common(release, name):
    ratio = dp.ratio(dp.numbers(release, f"{name}_original"), dp.numbers(release, name)).table
    shown = release.table
    for place in range(2):
        above = shown[f"{name}_original_high"][place] - shown[f"{name}_original"][place]
        assert ratio["ratio_high"][place] - ratio["ratio_low"][place] >= above / shown[name][place]
