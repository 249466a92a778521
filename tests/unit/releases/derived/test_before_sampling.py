"""Numbers of the table before its rows were sampled, from releases of the sample."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

import discreet as dp

ROWS = pl.DataFrame(
    {"wage": [k % 21 for k in range(4000)], "debt": [k % 3 - 1 for k in range(4000)], "sex": ["a", "b"] * 2000}
)
SCHEMA = dp.Schema(wage=dp.Number(0, 20), debt=dp.Number(-1, 1), sex=dp.Category(["a", "b"], required=True))
SKIP = {"nulls": "skip"}


def released(neighbours=None, *, sample=("1/4", None), group=True, budget=None):
    neighbours = neighbours or dp.AddRemove()
    with dp.Session(
        ROWS, SCHEMA, dataset="wages", ledger=":memory:", budget=budget or dp.PureDP(4), neighbours=neighbours
    ) as session:
        table = session.table if sample is None else session.table.sample(sample[0], rows=sample[1])
        asked = [dp.count(), dp.count("wage"), dp.sum("wage", **SKIP), dp.mean("wage", **SKIP), dp.sum("debt", **SKIP)]
        request = table.group_by("sex").agg(*asked) if group else table.agg(*asked[1:])
        return session.release(request, spend=4, name="sampled")


@pytest.mark.parametrize(
    ("neighbours", "sample"),
    [
        (None, ("1/4", None)),
        (dp.ReplaceOne(rows=4000), ("1/4", None)),
        (dp.ReplaceOne(rows=4000), (None, 1000)),
        (dp.ReplaceOne(rows=4000), (None, 4000)),
    ],
)
def test_the_interval_covers_the_table(neighbours, sample):
    release = released(neighbours, sample=sample)
    truth = {row["sex"]: row for row in ROWS.group_by("sex").agg(pl.len(), pl.sum("wage")).to_dicts()}
    sure = {"confidence": "0.999999999"}
    counts, sums = dp.before_sampling(release, **sure), dp.before_sampling(dp.numbers(release, "sum_wage"), **sure)
    means = dp.before_sampling(dp.numbers(release, "sum_wage"), over=dp.numbers(release, "count_wage"), **sure)
    for found, name in ((counts, "len"), (sums, "wage"), (means, None)):
        for row in found.table.filter(pl.col("sex").is_not_null()).to_dicts():
            true = truth[row["sex"]]
            exact = true["wage"] / true["len"] if name is None else true[name]
            assert row["before_low"] <= exact <= row["before_high"]
            assert row["before_high"] - row["before_low"] < 1.5 * exact
    assert "before its rows were sampled" in str(counts)
    rate = "1" if sample == (None, 4000) else "0.25"
    assert json.loads(sums.to_json())["sources"][0]["sample"]["rate"] == rate


def test_several_groups_are_added_up_before():
    release = released()
    (row,) = dp.before_sampling(dp.numbers(release, "count", by=[]), confidence="0.999999999").table.to_dicts()
    assert row["before_low"] <= 4000 <= row["before_high"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dp.before_sampling(released(sample=None)), "its rows were not sampled"),
        (lambda: dp.before_sampling(released(sample=(None, 100))), "nothing public says which part"),
        (lambda: dp.before_sampling(dp.numbers(released(), "mean_wage")), "only counts and sums are estimated"),
        (lambda: dp.before_sampling(dp.numbers(released(), "sum_debt")), "values of both signs"),
        (
            lambda: dp.before_sampling(dp.numbers(released(), "sum_wage"), over=dp.numbers(released(), "count_wage")),
            "another release",
        ),
    ],
)
def test_what_is_not_known_is_refused(make, message):
    with pytest.raises(dp.ArgumentError, match=re.escape(message)):
        make()


def test_the_count_of_other_rows_is_refused():
    release = released()
    with pytest.raises(dp.ArgumentError, match="the count of the same column"):
        dp.before_sampling(dp.numbers(release, "sum_wage"), over=dp.numbers(release, "count"))


def test_samples_of_two_releases_are_not_averaged():
    release = dp.numbers(released(), "count")
    with pytest.raises(dp.ArgumentError, match="without impute, resize and sample"):
        dp.combine(release, release)
