"""A clamp costs quantiles nothing: one tree of the clamped column has the intervals of both, for all clamps and draws."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import discreet as dp
from discreet.noise.bits import system_bits
from discreet.quotes.allocate import quote
from discreet.releases.assemble import estimate_statistics
from discreet.releases.evaluate import noisy_answers
from discreet.statistics import extended_quantiles

from .test_completions import quantile
from .test_originals import exact

SKIP = {"nulls": "skip"}
SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 9))
ORDERS = ["0", "1/4", "1/2", "9/10", "1"]
CLAMPS = [clamp for clamp in combinations(range(0, 10, 3), 2) if clamp != (0, 9)]


def asked_for(clamp, spend, nulls="recorded", interval=1):
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=40)).clamp({"v": clamp})
    return quote(table.agg(dp.quantiles("v", ORDERS, interval=interval, **SKIP)).original(nulls), spend)


def rows_of(rng):
    return [("x", None if rng.random() < 0.1 else int(rng.integers(0, 10))) for _ in range(40)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("clamp", CLAMPS, ids=str)
@pytest.mark.parametrize("interval", [1, "chosen", "1/20"])
def test_where_the_clamped_interval_holds_its_quantile_the_extended_one_holds_that_of_the_column(clamp, interval):
    """Whatever is drawn: the law of the noise does not matter."""
    rng, bits = np.random.default_rng(6), system_bits()
    asked, held = asked_for(clamp, dp.PureDP(2), interval=interval), 0
    for _ in range(15):
        rows = rows_of(rng)
        known = [v for _, v in rows if v is not None]
        cut = [min(max(v, clamp[0]), clamp[1]) for v in known]
        found = drawn(asked, rows, bits)
        for order in ORDERS:
            q = Fraction(order)
            before, after = (found[name] for name in names_of(order))
            inside = before.low[0] <= quantile(cut, q) <= before.high[0]
            held += inside
            assert not inside or after.low[0] <= quantile(known, q) <= after.high[0]
            assert after.low[0] <= after.value[0] <= after.high[0]
    assert held >= 40


def drawn(asked, rows, bits):
    """The estimates of one draw, by name."""
    answers = noisy_answers(asked, exact(asked, rows), bits)
    return {one.name: one.estimate for one in estimate_statistics(asked, answers)}


def names_of(order):
    shown = {"0": "0", "1/4": "25", "1/2": "50", "9/10": "90", "1": "100"}[order]
    return f"v_p{shown}", f"v_original_p{shown}"


def test_a_clamp_costs_quantiles_nothing():
    both = asked_for((0, 6), dp.ZCDP(1))
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=40)).clamp({"v": (0, 6)})
    alone = quote(table.agg(dp.quantiles("v", ORDERS, interval=1, **SKIP)), dp.ZCDP(1))
    assert [one.law for one in both.measured] == [one.law for one in alone.measured]
    assert [line.statistic.name for line in both.lines] == ["v", "v_original"]
    assert len(both.plan.layout.scans) == 1
    assert both.plan.layout.scans[0].domain == alone.plan.layout.scans[0].domain


def test_an_imputed_column_has_a_tree_for_each_table():
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=40)).clamp({"v": (0, 6)}).impute({"v": dp.Uniform()})
    asked = quote(table.agg(dp.median("v", interval=1)).original(), dp.ZCDP(1))
    assert len(asked.measured) == 2


def test_an_interval_that_stays_within_the_clamp_would_be_noticed(monkeypatch):
    monkeypatch.setattr(extended_quantiles, "extend", lambda one, _clamp, _bounds: one)
    with pytest.raises(AssertionError):
        test_where_the_clamped_interval_holds_its_quantile_the_extended_one_holds_that_of_the_column((0, 3), 1)


def test_with_any_answer_the_one_tree_serves_as_well():
    rng = np.random.default_rng(2)
    asked = asked_for((0, 6), dp.ZCDP(4), nulls="anywhere")
    bits, missed = system_bits(), 0
    for _ in range(40):
        rows = rows_of(rng)
        found = drawn(asked, rows, bits)
        one = found["v_original_p90"]
        ends = [quantile([fill if v is None else v for _, v in rows], Fraction("9/10")) for fill in (0, 9)]
        missed += not (one.low[0] <= ends[0] and ends[1] <= one.high[0])
    assert missed <= 6
