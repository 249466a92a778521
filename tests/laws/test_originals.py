"""Intervals for the table as recorded: what the queries of both tables lose, what they answer, and what intervals hold.

One row does one thing to both tables at once, so that the loss is that of the whole vector, found by trying all neighbours.
Coverage is computed from the law of the noise, for every table of at most three rows.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from statistics import NormalDist

import numpy as np
import pytest

import discreet as dp
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.privacy.coordinates import coordinates
from discreet.quotes import allocate, statuses
from discreet.quotes.allocate import quote
from discreet.releases.assemble import estimate_statistics
from discreet.releases.evaluate import exact_answers
from discreet.statistics.recipe import Answers

HEADER = {"g": ColumnType("text", "text"), "v": ColumnType("integer", "BIGINT")}
SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 6))
RELATIONS = [dp.AddRemove(), dp.ReplaceOne(rows=2)]
SPENDS = [dp.PureDP(1), dp.ZCDP(1)]
SKIP = {"nulls": "skip"}
ROWS = [*product(["x", "y"], [None, 0, 1, 2, 3, 5, 6])]


def exact(asked, rows):
    """The answers of all queries, one behind the other."""
    scans = asked.plan.layout.scans
    cubes = [ReferenceEngine(HEADER, rows).aggregate(scan.axes, scan.moments) for scan in scans]
    return [answer.astype(np.int64) for answer in exact_answers(asked, cubes, None)]


def largest_loss(asked):
    """The most that two neighbours lose, all queries together, exactly; one row is beside the one that changes."""
    added = isinstance(asked.plan.neighbours, dp.AddRemove)
    tables = [*([[]] if added else []), *([row] for row in ROWS)]
    answers = [exact(asked, [("x", 1), *one]) for one in tables]
    worst = Fraction(0)
    for first, second in product(answers[:1] if added else answers, answers):
        loss = Fraction(0)
        for one, before, after in zip(asked.measured, first, second, strict=True):
            moved = np.abs(after - before)
            plain = isinstance(one.law, LaplaceNoise)
            size = int(moved.sum() if plain else (moved**2).sum())
            loss += size / one.law.scale if plain else size / (2 * one.law.sigma2)
        worst = max(worst, loss)
    return worst


def requests(neighbours):
    table = dp.Table(SCHEMA, neighbours)
    asked = [
        (dp.mean("v", **SKIP),),
        (dp.count("v"), dp.sum("v", **SKIP)),
        (dp.count(), dp.mean("v", **SKIP), dp.variance("v", **SKIP)),
        (dp.mean("v", **SKIP), dp.histogram("v", [2, 4])),
        (dp.share(), dp.mean("v", **SKIP), dp.median("v", interval=1, **SKIP)),
    ]
    for low, high in [(0, 6), (0, 3), (2, 3)]:
        cut = table.clamp({"v": (low, high)})
        for one, by, wanted in product(asked, ([], ["g"]), (True, False)):
            yield cut.group_by(*by).agg(*one).original(prepared=wanted)
    yield table.clamp({"v": (0, 3)}).where({"g": ["x"]}).agg(*asked[2]).original()


@pytest.mark.parametrize("neighbours", RELATIONS, ids=["add-remove", "replace-one"])
@pytest.mark.parametrize("spend", SPENDS, ids=["pure", "zcdp"])
def test_no_pair_of_neighbours_loses_more_than_the_spend(neighbours, spend):
    losses = [largest_loss(quote(request, spend)) for request in requests(neighbours)]
    assert max(losses) <= 1
    assert sum(loss == 1 for loss in losses) >= len(losses) / 5, losses


def one_mean(spend, neighbours):
    return quote(dp.Table(SCHEMA, neighbours).agg(dp.mean("v", **SKIP)).original(), spend)


@pytest.mark.parametrize("spend", SPENDS, ids=["pure", "zcdp"])
def test_beside_a_sum_that_stays_or_becomes_null_the_count_is_free(spend):
    asked = one_mean(spend, dp.ReplaceOne(rows=2))
    sums = next(one for one in asked.measured if "sum" in one.query.words())
    assert coordinates(sums.guarantee)[0] == coordinates(spend)[0]
    assert largest_loss(asked) == 1


def forgets_known(query, change, facts, neighbours):
    found = _STAYS(query, change, facts, neighbours)
    return replace(found, known=found.once_null)


def forgets_nulls(query, change, facts, neighbours):
    found = _STAYS(query, change, facts, neighbours)
    return replace(found, once_null=found.known)


_STAYS = statuses._stays


@pytest.mark.parametrize("mutant", [forgets_known, forgets_nulls])
def test_a_cost_that_forgets_one_of_the_two_things_would_be_noticed(mutant, monkeypatch):
    monkeypatch.setattr(statuses, "_stays", mutant)
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=2))
    asked = [(dp.mean("v", **SKIP),), (dp.sum("v", weight="0.1", **SKIP), dp.count("v"))]
    assert max(largest_loss(quote(table.agg(*one).original(), dp.ZCDP(1))) for one in asked) > 1


def answered(request, rows):
    """The statistics with noise of 0."""
    asked = quote(request, dp.ZCDP(1))
    return {one.name: one.estimate for one in estimate_statistics(asked, exact(asked, rows))}


@pytest.mark.parametrize("by", [[], ["g"]])
def test_with_noise_of_zero_originals_are_the_statistics_of_the_raw_rows(by):
    rng = np.random.default_rng(5)
    rows = [(str(rng.choice(["x", "y"])), None if rng.random() < 0.3 else int(rng.integers(0, 7))) for _ in range(60)]
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=60)).clamp({"v": (2, 4)})
    asked = dp.count("v"), dp.sum("v", **SKIP), dp.mean("v", **SKIP), dp.variance("v", **SKIP)
    for wanted in (True, False):
        found = answered(table.group_by(*by).agg(*asked).original(prepared=wanted), rows)
        for place, group in enumerate(["x", "y"] if by else [None]):
            values = [v for g, v in rows if v is not None and group in (None, g)]
            truth = {"count": len(values), "sum": sum(values), "mean": np.mean(values), "variance": np.var(values)}
            for word, value in truth.items():
                one = found[f"{word}_v_original"]
                assert one.value[place] == pytest.approx(value)
                assert one.low[place] <= value <= one.high[place]


def masses(law, most):
    values = np.arange(-most, most + 1)
    return values, np.array([law.pmf(abs(int(value)))[0] for value in values])


def coverage(asked, rows, name, truth):
    """The probability with which the interval holds the truth, from the law of the noise: two queries of one cell."""
    answers = exact(asked, rows)
    spread = [masses(one.law.independent, 40) for one in asked.measured]
    grid = np.meshgrid(*(values for values, _ in spread), indexing="ij")
    weight = spread[0][1][:, None] * spread[1][1][None, :]
    noisy = [answer[0] + noise.ravel() for answer, noise in zip(answers, grid, strict=True)]
    (line,) = [one for one in asked.lines if one.statistic.name == name]
    values = {one.asked: part for one, part in zip(asked.measured, noisy, strict=True)}
    found = line.recipe.estimates(Answers(asked.noises(line), values, slice(0, len(noisy[0]))))[0]
    return float(weight.ravel()[(found.low <= truth) & (truth <= found.high)].sum())


SMALL = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 2))
KNOWN_OR_NOT = [rows for n in (1, 2, 3) for rows in combinations_with_replacement([None, 0, 1, 2], n)]
TINY = [rows for rows in KNOWN_OR_NOT if any(value is not None for value in rows)]


@pytest.mark.parametrize("spend", [dp.PureDP("0.5"), dp.PureDP(1), dp.PureDP(3), dp.ZCDP("0.5")], ids=str)
def test_the_interval_of_a_mean_as_recorded_holds_it_with_95_percent_for_every_table(spend):
    least = 1.0
    for rows in TINY:
        table = dp.Table(SMALL, dp.ReplaceOne(rows=len(rows))).agg(dp.mean("v", **SKIP)).original(prepared=False)
        known = [v for v in rows if v is not None]
        truth = sum(known) / len(known)
        found = coverage(quote(table, spend), [("x", v) for v in rows], "mean_v_original", truth)
        least = min(least, found)
    assert least >= 0.95 - 2e-6


def test_the_function_that_calibrates_is_the_one_that_is_tested():
    assert allocate.factor_by_status is statuses.factor_by_status


@pytest.mark.parametrize("rows", [50, 2000])
def test_no_interval_is_narrower_than_any_interval_can_be(rows):
    """O3: a test of the test. The half-width of a sum as recorded, of rows that are all known."""
    normal = NormalDist()
    for mu in (0.1, 0.5, 1.0):
        table = dp.Table(SCHEMA, dp.ReplaceOne(rows=rows)).impute({"v": dp.Uniform()})
        asked = quote(table.agg(dp.sum("v")).original(prepared=False), dp.GDP(str(mu)))
        bound = 6 * sum(max(0.0, normal.cdf(1.645 - k * mu) - 0.05) for k in range(1, rows + 1))
        assert 2 * dict(asked.expected)["sum_v_original"] >= bound > 0
