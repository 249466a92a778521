"""The chosen clamp has the least bound of all, and the bound holds: against every clamp, and every table in the counts."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

import discreet as dp
from discreet.quotes import clamps as clamps_module
from discreet.quotes.allocate import quote
from discreet.quotes.clamps import spread_of_bins, spread_of_quantiles
from discreet.statistics.recipe import GroupSize

COLUMN = dp.Number(-4, 20)
RELATIONS = [dp.AddRemove(), dp.ReplaceOne(rows=400)]
SPENDS = [dp.PureDP("0.3"), dp.ZCDP("0.05"), dp.GDP("0.5")]


def noise_of(width, rows, spend, neighbours):
    """The noise of a mean with a clamp of this width."""
    if not width:
        return 0.0
    table = dp.Table(dp.Schema(v=COLUMN), neighbours).clamp({"v": (-4, -4 + width)})
    return quote(table.agg(dp.mean("v", nulls="skip")), spend).errors(GroupSize(rows, rows))["mean_v"]


def cut_off(low, high, spread):
    """What is cut off at both ends, of a mean: every value of a bin is at its outer end."""
    above = sum(one.count[1] * max(one.high - high, 0) for one in spread.bins)
    below = sum(one.count[1] * max(low - one.low, 0) for one in spread.bins)
    return float(above + below) / spread.rows


def some_counts(rng):
    ends = sorted({-4, 20, *map(int, rng.integers(-3, 20, 4))})
    counts = {}
    for first, last in pairwise(ends):
        least = int(rng.choice([0, 0, 1, 5, 60, 200]))
        counts[first, last] = (least, least + int(rng.integers(0, 6)))
    counts[ends[0], ends[1]] = (50, 60)
    return counts


@pytest.mark.one_in(4)
@pytest.mark.parametrize("neighbours", RELATIONS, ids=["add-remove", "replace-one"])
@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_no_clamp_on_the_grid_has_a_smaller_bound(spend, neighbours):
    rng = np.random.default_rng(11)
    narrow = 0
    for _ in range(4):
        counts = some_counts(rng)
        spread = spread_of_bins(COLUMN, counts)
        found = dp.choose_clamp(counts, spend=spend, column=COLUMN, neighbours=neighbours)
        noises = [noise_of(width, spread.rows, spend, neighbours) for width in range(25)]
        bounds = {
            (low, high): noises[high - low] + cut_off(low, high, spread) for low in range(-4, 21) for high in range(low, 21)
        }
        assert found.whole == pytest.approx(bounds[int(found.low), int(found.high)], rel=1e-12)
        assert found.whole <= min(bounds.values()) + noises[24] / 24, "up to the rounding of noise to whole steps"
        narrow += found.bounds != (-4, 20)
    assert narrow, "some clamp is narrower than the column"


_LEAST = clamps_module._least


def test_a_choice_that_takes_the_noise_for_smaller_would_be_noticed(monkeypatch):
    monkeypatch.setattr(clamps_module, "_least", lambda spread, edges, per_unit: _LEAST(spread, edges, per_unit / 4))
    with pytest.raises(AssertionError):
        test_no_clamp_on_the_grid_has_a_smaller_bound(dp.PureDP("0.3"), dp.AddRemove())


def test_the_clamp_cuts_off_the_rows_of_the_noise_whatever_n_is():
    """O7: ln 20/ε values for a Laplace sum, 1.96/√(2ρ) for a Gaussian one, if a count beside it cost nothing."""
    column = dp.Number(0, 1000)
    for rows in (1_000, 100_000):
        counts = {(k, k + 1): 1 for k in range(500, 1000)} | {(0, 500): rows - 500}
        for spend, plain in [(dp.PureDP("0.5"), np.log(20) / 0.5), (dp.ZCDP("0.02"), 1.96 / 0.2)]:
            found = dp.choose_clamp(counts, spend=spend, column=column, neighbours=dp.ReplaceOne(rows=rows))
            assert found.low == 0
            assert abs((1000 - float(found.high)) - found.cut) <= 1.5
            assert plain <= found.cut <= 4 * plain


TABLES = [rows for n in (2, 3, 4) for rows in combinations_with_replacement([0, 3, 5, 8, 12], n)]


def test_what_is_cut_off_holds_for_every_table_within_the_counts():
    column, edges = dp.Number(0, 12), [(0, 3), (4, 7), (8, 12)]
    for rows in TABLES:
        counts = {ends: sum(ends[0] <= v <= ends[1] for v in rows) for ends in edges}
        found = dp.choose_clamp(counts, spend=dp.ZCDP("0.5"), column=column, neighbours=dp.AddRemove())
        assert found.rows == len(rows)
        moved = sum(min(max(v, found.low), found.high) - v for v in rows) / len(rows)
        assert abs(moved) <= found.off * (1 + 1e-12)


def test_quantiles_bound_what_is_beyond_them():
    rng = np.random.default_rng(4)
    column = dp.Number(0, 1000)
    values = np.clip(rng.lognormal(4, 1, 800), 0, 1000).astype(int)
    orders = ["0.1", "0.5", "0.9", "0.99"]
    known = {order: int(np.quantile(values, float(order), method="inverted_cdf")) for order in orders}
    spread = spread_of_quantiles(column, known, len(values))
    for end in range(0, 1001, 20):
        assert spread.cut_above(Fraction(end)) >= np.maximum(values - end, 0).sum() - 1e-9
        assert spread.cut_below(Fraction(end)) >= np.maximum(end - values, 0).sum() - 800 * 0.002 * 1000
    found = dp.choose_clamp(quantiles=known, rows=800, spend=dp.PureDP("0.1"), column=column, neighbours=dp.AddRemove())
    assert found.high < 1000
    moved = (np.clip(values, float(found.low), float(found.high)) - values).mean()
    assert abs(moved) <= found.off
