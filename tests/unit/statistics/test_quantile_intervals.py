"""Quantiles with intervals that are chosen: from the plan to the release."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.cube.queries import QuantileCodes, QuantileIntervals, RowCount, around, join_public
from discreet.mechanisms import ExponentialIntervals
from discreet.quotes.allocate import quote
from discreet.statistics.base import statistic_json
from discreet.statistics.quantile_intervals import Chosen

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 1000, step=10))
TABLE = dp.Table(SCHEMA, dp.AddRemove())
SKIP = {"nulls": "skip"}
HALF = Fraction(1, 2)


def request(**options):
    both = dp.median("v", interval="chosen", **SKIP), dp.quantiles("v", ["1/4", "3/4"], interval="chosen", **SKIP)
    return dp.Table(SCHEMA, dp.AddRemove(), **options).group_by("g").agg(*both)


def test_all_chosen_intervals_of_a_column_are_one_query_with_a_third_of_the_spend() -> None:
    quoted = quote(request(), dp.PureDP(1))
    choice, intervals = quoted.measured
    assert isinstance(choice.query, QuantileCodes)
    assert intervals.query == QuantileIntervals(choice.query, (Fraction(1, 4), HALF, Fraction(3, 4)))
    assert (choice.share, intervals.share) == (Fraction(2, 3), Fraction(1, 3))
    # Two levels of choices for the values, and three choices of intervals: what they cost adds up to the spend.
    assert choice.law.reach * 2 == Fraction(2, 3)
    assert intervals.law.reach * 3 == Fraction(1, 3)
    assert "its interval reaches about ±" in str(quoted)


def test_a_choice_beside_a_tree_takes_only_its_own_intervals() -> None:
    quoted = quote(TABLE.agg(dp.median("v", interval="chosen", **SKIP), dp.quantiles("v", ["1/4"], **SKIP)), dp.ZCDP(1))
    (intervals,) = (one.query for one in quoted.measured if isinstance(one.query, QuantileIntervals))
    assert intervals.at == (HALF,)
    assert intervals.centres.at == (Fraction(1, 4), HALF)


def test_intervals_that_hold_together_are_chosen_at_a_higher_level() -> None:
    plan = TABLE.group_by("g").agg(dp.median("v", interval="chosen", **SKIP))
    together = quote(plan.simultaneous(), dp.PureDP(1))
    laws = [one.law for one in together.measured if isinstance(one.law, ExponentialIntervals)]
    assert (
        [law.level for law in laws] == [line.level for line in together.lines] == [1 - Fraction(1, 20) / 3]
    )  # x, y and null


def test_the_word_is_in_plan_and_document_and_is_read_back() -> None:
    asked = dp.median("v", interval="chosen", **SKIP)
    assert asked.kind.interval == Chosen()
    assert statistic_json(asked)["interval"] == "chosen"
    for wrong in ("nearest", "2", "-1"):
        with pytest.raises(dp.ArgumentError, match="interval"):
            dp.median("v", interval=wrong)


def test_one_code_and_too_many_codes_get_a_tree() -> None:
    narrow = TABLE.clamp({"v": (10, 10)}).agg(dp.median("v", interval="chosen", **SKIP), dp.count())
    assert not any(isinstance(one.query, QuantileIntervals) for one in quote(narrow, dp.PureDP(1)).measured)
    wide = dp.Table(dp.Schema(v=dp.Number(0, 2**23)), dp.AddRemove()).agg(dp.median("v", interval="chosen", **SKIP))
    assert not any(isinstance(one.query, QuantileIntervals) for one in quote(wide, dp.PureDP(1)).measured)


def test_a_release_has_values_inside_of_intervals_and_everything_for_an_empty_group() -> None:
    """Ten releases: an interval may miss in 5 % of cases, and 13 of 30 misses have a probability below 10^-9."""
    data = pl.DataFrame({"g": ["x"] * 500, "v": [10 * (i % 100) for i in range(500)]})
    session = dp.Session(data, SCHEMA, dataset="d", ledger=":memory:", budget=dp.PureDP(200), neighbours=dp.AddRemove())
    tables = [session.release(request(), spend="20", name=str(number)).table for number in range(10)]
    missed = Counter[str]()
    for name, true in (("median_v", 490), ("v_p25", 240), ("v_p75", 740)):
        for row in (row for table in tables for row in table.iter_rows(named=True)):
            low, value, high = row[f"{name}_low"], row[name], row[f"{name}_high"]
            assert 0 <= low <= value <= high <= 1000
            if row["g"] == "x":
                missed["held"] += not low <= true <= high <= low + 200
            if row["g"] == "y":
                missed["everything"] += (low, high) != (0, 1000)
    assert max(missed.values()) < 13


def test_centres_come_before_the_records_in_their_order() -> None:
    centres = QuantileCodes("v", 0, 5, (Fraction(1, 4), HALF))
    values, public = np.array([[0, 1, 2], [1, 4, 1]]), np.array([[1, 2], [3, 4]])
    given = join_public(QuantileIntervals(centres, (HALF,)), values, {centres: public.ravel()})
    assert given.tolist() == [[0, 2, 0], [1, 4, 0], [0, 1, 2], [1, 4, 1]]
    assert join_public(RowCount(), values, {}) is values
    assert around(public, values).shape == (6, 3)
    with pytest.raises(KeyError):
        join_public(QuantileIntervals(centres, (HALF,)), values, {})
