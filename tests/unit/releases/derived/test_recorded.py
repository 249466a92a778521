"""Numbers of the table as recorded beside those of the prepared one: each has the noise of its own queries."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest

import discreet as dp
from discreet.releases.derived.linear import Linear
from discreet.releases.derived.reading import numbers_of

SKIP = {"nulls": "skip"}
ROWS = [{"g": "xy"[row % 2], "v": None if row % 7 == 0 else row % 90} for row in range(300)]


def released(prepare, *statistics):
    schema = dp.Schema(g=dp.Category(["x", "y"], required=True), v=dp.Number(0, 90))
    budget, neighbours = dp.ZCDP(4), dp.ReplaceOne(rows=300)
    session = dp.Session(pl.DataFrame(ROWS), schema, dataset="d", ledger=":memory:", budget=budget, neighbours=neighbours)
    plan = prepare(session.table).group_by("g").agg(*statistics).original()
    return session.release(plan, spend="1", name="r")


def clamped(table):
    return table.clamp({"v": (0, 30)})


def imputed(table):
    return table.impute({"v": dp.Uniform()})


def queries(release, name):
    return {cell.query for one in numbers_of(release.document, name) for _, cell in one.terms}


RELEASE = released(clamped, dp.count(), dp.count("v"), dp.sum("v", **SKIP))


@pytest.mark.parametrize(
    ("name", "noises"),
    [
        ("count_v", {"non-null v"}),
        ("count_v_original", {"non-null v as recorded"}),
        ("sum_v", {"sum of v", "non-null v"}),
        ("sum_v_original", {"sum of v as recorded", "non-null v as recorded"}),
    ],
)
def test_each_table_has_the_noise_of_its_own_queries(name, noises):
    assert all(isinstance(one, Linear) for one in numbers_of(RELEASE.document, name))
    assert queries(RELEASE, name) == noises


@pytest.mark.parametrize("word", ["count", "sum"])
def test_numbers_of_the_two_tables_have_no_noise_in_common(word):
    ratio = dp.ratio(dp.numbers(RELEASE, f"{word}_v_original"), dp.numbers(RELEASE, f"{word}_v"))
    for place, low, high in zip(range(2), ratio.table["ratio_low"], ratio.table["ratio_high"], strict=False):
        part = RELEASE.table[f"{word}_v_original"][place], RELEASE.table[f"{word}_v_original_high"][place]
        alone = (part[1] - part[0]) / RELEASE.table[f"{word}_v"][place]
        assert high - low >= alone


def test_sums_as_recorded_are_read_within_the_bounds_of_the_schema():
    release = released(imputed, dp.count(), dp.sum("v"))
    one = numbers_of(release.document, "sum_v_original")[0]
    assert isinstance(one, Linear)
    assert queries(release, "sum_v_original") == {"sum of v as recorded"}
    assert Fraction(release.table["sum_v_original"][0]) == one.value
