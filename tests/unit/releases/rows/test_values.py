"""Numbers and dates of rows: on the grid, in their bins, with the released quantiles, means and sums."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from math import ceil

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import session_over
from tests.laws.mutants import Mutant

import discreet as dp
from discreet.releases.rows import fit, values
from discreet.releases.rows.values import Said, codes_within
from discreet.releases.rows.words import words_of

SCHEMA = dp.Schema(
    sex=dp.Category(["m", "f"]),
    age=dp.Number(0, 99),
    wage=dp.Number(0, 100_000, step="0.5"),
    third=dp.Number(0, 10, step="1/3"),
    day=dp.Date("2020-01-01", "2020-12-31"),
)


def people(rows=1500):
    drawn = np.random.default_rng(7)
    ages = np.minimum(99, drawn.gamma(4, 11, rows).astype(int))
    wages = np.minimum(100_000, np.round(drawn.lognormal(10, 0.7, rows) * 2) / 2)
    days = [dt.date(2020, 1, 1) + dt.timedelta(int(one)) for one in 365 * drawn.random(rows) ** 2]
    return pl.DataFrame(
        {
            "sex": drawn.choice(["m", "f"], rows),
            "age": [None if place % 50 == 0 else int(age) for place, age in enumerate(ages)],
            "wage": wages,
            "third": drawn.integers(0, 31, rows) / 3,
            "day": days,
        }
    )


FRAME = people()
TABLES = dp.tables(
    ["sex", dp.bins("age", step=20)],
    [dp.bins("wage", [0, 10_000, 50_000, 100_000]), "sex"],
    [dp.bins("third", [0, 5, 10]), "sex"],
    [dp.bins("day", step="quarter"), "sex"],
)


@pytest.fixture(autouse=True)
def few_sweeps(monkeypatch):
    monkeypatch.setattr(fit, "_STAGES", ((Fraction(10), 50, 1), (Fraction(40), 50, 1)))


def released(*asked, steps=lambda table: table, spend="5"):
    session = session_over(FRAME, SCHEMA, neighbours=dp.ReplaceOne(rows=len(FRAME)), budget=dp.ZCDP(spend))
    return session.release(steps(session.table).agg(TABLES, *asked), spend=spend, name="values")


def quantile(values, share):
    found = sorted(one for one in values if one is not None)
    return found[max(1, ceil(Fraction(share) * len(found))) - 1]


def inside(release, name, value):
    row = release.table.row(0, named=True)
    return row[f"{name}_low"] <= value <= row[f"{name}_high"]


def test_values_have_the_types_of_their_columns_and_lie_on_their_grids():
    frame = released().rows().frame
    assert frame.schema == {"sex": pl.String, "age": pl.Int64, "wage": pl.Float64, "third": pl.Float64, "day": pl.Date}
    assert all(one is None or 2 * one == int(2 * one) for one in frame["wage"])
    thirds = {float(Fraction(place, 3)) for place in range(31)} | {None}
    assert set(frame["third"]) <= thirds
    assert frame["day"].min() >= dt.date(2020, 1, 1)
    assert frame["age"].max() <= 99
    assert 0 < frame["age"].null_count() < 90


def test_means_sums_and_quantiles_of_rows_lie_in_the_intervals_of_the_release():
    skip = {"nulls": "skip"}
    tails = dp.quantiles("wage", ["0.1", "0.9"], **skip)
    release = released(dp.mean("age", **skip), dp.median("age", **skip), dp.sum("wage", **skip), tails)
    frame = release.rows().frame
    assert inside(release, "mean_age", frame["age"].mean())
    assert inside(release, "median_age", quantile(frame["age"], "0.5"))
    assert inside(release, "sum_wage", frame["wage"].sum())
    assert inside(release, "wage_p10", quantile(frame["wage"], "0.1"))
    assert inside(release, "wage_p90", quantile(frame["wage"], "0.9"))


def test_without_released_numbers_values_are_spread_over_their_bins():
    release = released()
    assert not inside(released(dp.mean("wage", nulls="skip")), "mean_wage", release.rows().frame["wage"].mean())


def test_values_stay_inside_clamps_and_conditions():
    def steps(table):
        return table.clamp({"age": (20, 60)}).where({"day": ("2020-02-01", "2020-12-31")})

    release = released(dp.mean("age", nulls="skip"), steps=steps)
    frame = release.rows().frame
    assert 20 <= frame["age"].min() < frame["age"].max() <= 60
    assert frame["day"].min() >= dt.date(2020, 2, 1)
    assert inside(release, "mean_age", frame["age"].mean())


shares = st.fractions(0, 1, max_denominator=20)
levels_of_rows = st.lists(st.integers(0, 3), min_size=1, max_size=30)
RANGES = [((0, 4),), ((5, 6), (8, 9)), ((10, 30),), ()]


@given(levels_of_rows, st.lists(st.tuples(shares, st.integers(0, 30)), max_size=3), st.integers(0, 30), st.integers(1, 3))
def test_codes_are_in_their_ranges_whatever_is_said(levels, quantiles, mean, most):
    levels = np.array(levels)
    each = 1 + np.arange(len(levels)) % most
    said = Said(tuple((share, (code, code, code)) for share, code in sorted(quantiles)), (Fraction(mean), Fraction(0)))
    codes = codes_within(RANGES, levels, each, said, words_of("values"))
    for level, code in zip(levels, codes, strict=True):
        assert any(low <= code <= high for low, high in RANGES[level]) if RANGES[level] else code == -1


def test_the_sum_is_met_where_ranges_have_room():
    levels, each = np.repeat([0, 2], 50), np.ones(100, int)
    for mean in (8, 10, 14):
        codes = codes_within(RANGES, levels, each, Said((), (Fraction(mean), Fraction(0))), words_of("sum"))
        assert codes.sum() == 100 * mean
    far = codes_within(RANGES, levels, each, Said((), (Fraction(100), Fraction(0))), words_of("sum"))
    assert far.sum() == 50 * 4 + 50 * 30


def test_another_order_of_ranks_is_noticed(monkeypatch):
    levels, each = np.repeat([0, 2], 50), np.ones(100, int)
    said = Said(((Fraction(3, 4), (12, 12, 12)),), None)
    right = codes_within(RANGES, levels, each, said, words_of("ranks"))
    assert sorted(right)[74] == 12
    Mutant(values, "_apply_quantiles", "np.maximum(low[rank:], code", "np.maximum(low[:0], code").plant(monkeypatch)
    with pytest.raises(ValueError, match="broadcast"):
        values.codes_within(RANGES, levels, each, said, words_of("ranks"))
