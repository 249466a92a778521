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
from discreet.cube.queries import Excess, ImputedSum, NonNullCount, NullCount, RowCount, WeightedSum
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.mechanisms import Sensitivity
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.noise.bits import system_bits
from discreet.privacy.coordinates import coordinates
from discreet.quotes import allocate, one_row, statuses
from discreet.quotes.allocate import quote
from discreet.releases.assemble import estimate_statistics
from discreet.releases.evaluate import exact_answers, noisy_answers
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
    for one, by, wanted in product(asked[:2], ([], ["g"]), (True, False)):
        yield table.clamp({"v": (0, 3)}).group_by(*by).agg(*one).original("anywhere", prepared=wanted)
    yield table.clamp({"v": (0, 3)}).where({"g": ["x"]}).agg(*asked[2]).original()


@pytest.mark.one_in(4)
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


def forgets_known(query, change, facts, change_by):
    found = _STAYS(query, change, facts, change_by)
    return replace(found, known=replace(found.known, within=found.once_null))


def forgets_nulls(query, change, facts, change_by):
    found = _STAYS(query, change, facts, change_by)
    return replace(found, once_null=found.known.within)


_STAYS = statuses._by_status


@pytest.mark.parametrize("mutant", [forgets_known, forgets_nulls])
def test_a_cost_that_forgets_one_of_the_two_things_would_be_noticed(mutant, monkeypatch):
    monkeypatch.setattr(statuses, "_by_status", mutant)
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


@pytest.mark.slow
@pytest.mark.one_in(4)
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


# Sums in parts ----------------------------------------------------------------------------------------------------------


def value_of(name, row, clamp):
    """What a column is under one of its names, for a row (group, recorded value, drawn value)."""
    _, recorded, drawn = row
    if name.endswith("recorded"):
        return recorded
    cut = None if recorded is None else min(max(recorded, clamp[0]), clamp[1])
    return cut if name.endswith("clamped") or recorded is not None else drawn


def literally(query, row, clamp, *, lowest):
    """What a row adds to a query, from the words of the query alone."""

    def integer(part):
        value = value_of(part.column, row, clamp)
        low = lowest if part.column.endswith("recorded") else clamp[0]
        return None if value is None else part.first + part.slope * (value - low)

    match query:
        case NonNullCount(column=column):
            return int(value_of(column, row, clamp) is not None)
        case RowCount():
            return 1
        case NullCount(column=column):
            return int(value_of(column, row, clamp) is None)
        case Excess(recorded=recorded, clamped=clamped):
            return 0 if row[1] is None else integer(recorded) - integer(clamped)
        case ImputedSum(filled=filled):
            return 0 if row[1] is not None else integer(filled)
        case WeightedSum():
            return integer(query) or 0
    raise AssertionError(query)


def loss_of_rows(asked, clamp):
    """The largest loss over all pairs of rows, each in one of two groups, whatever is drawn for their nulls."""
    values = [(v, 0) for v in (0, *clamp, 3, 6)] + [(None, drawn) for drawn in clamp]
    groups = ["x", "y"] if asked.plan.group_by else ["x"]
    rows = [(g, *value) for g in groups for value in values]
    added = isinstance(asked.plan.neighbours, dp.AddRemove)
    worst = Fraction(0)
    for first, second in product([None] if added else rows, rows):
        loss = Fraction(0)
        for one in asked.measured:
            moved = dict.fromkeys(groups, 0)
            for row, sign in ((first, -1), (second, 1)):
                if row is not None:
                    moved[row[0]] += sign * literally(one.query, row, clamp, lowest=0)
            plain = isinstance(one.law, LaplaceNoise)
            size = sum(abs(part) if plain else part**2 for part in moved.values())
            loss += size / one.law.scale if plain else Fraction(size) / (2 * one.law.sigma2)
        worst = max(worst, loss)
    return worst


IN_PARTS = [
    (clamp, imputed, by, asked)
    for clamp in [(0, 3), (2, 3), (0, 6), (1, 5)]
    for imputed in (True, False)
    for by in ([], ["g"])
    for asked in ((dp.mean("v", **SKIP),), (dp.sum("v", **SKIP), dp.mean("v", **SKIP)), (dp.sum("v", **SKIP),))
]


def in_parts(clamp, imputed, by, asked, neighbours):
    table = dp.Table(dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 6)), neighbours).clamp({"v": clamp})
    table = table.impute({"v": dp.Uniform()}) if imputed else table
    return table.group_by(*by).agg(*asked).original()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("neighbours", RELATIONS, ids=["add-remove", "replace-one"])
@pytest.mark.parametrize("spend", SPENDS, ids=["pure", "zcdp"])
def test_sums_in_parts_lose_no_more_than_the_spend(neighbours, spend):
    losses = []
    for nulls, (clamp, imputed, by, asked) in product(("recorded", "anywhere"), IN_PARTS):
        quoted = quote(in_parts(clamp, imputed, by, asked, neighbours).original(nulls), spend)
        losses.append(loss_of_rows(quoted, clamp))
    assert max(losses) <= 1
    assert sum(loss == 1 for loss in losses) >= len(losses) / 3


def test_what_is_imputed_is_free_beside_what_is_known():
    """O5: a row is in one of both sums."""
    quoted = quote(in_parts((0, 6), True, [], (dp.sum("v"),), dp.ReplaceOne(rows=5)), dp.ZCDP("0.5"))
    parts = [one for one in quoted.measured if isinstance(one.query, WeightedSum | ImputedSum)]
    assert [one.law.sigma2 for one in parts] == [36, 36]
    assert loss_of_rows(quoted, (0, 6)) == Fraction(1, 2)


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=60)], ids=["add-remove", "replace-one"])
def test_the_interval_of_the_prepared_mean_holds_it_where_values_are_imputed(neighbours):
    """Its count is public, or the sum of the known rows and of the others; draws of all noises together."""
    rows = [("x", None if row % 4 == 0 else row % 7) for row in range(60)]
    table = dp.Table(SCHEMA, neighbours).clamp({"v": (0, 3)}).impute({"v": dp.Uniform(lower=2, upper=2)})
    asked, bits = quote(table.agg(dp.mean("v")).original(), dp.PureDP(4)), system_bits()
    counted = {"null v as recorded", "non-null v as recorded"}
    words = {one.query.words() for one in asked.measured}
    assert "rows" not in words
    assert words >= (counted if isinstance(neighbours, dp.AddRemove) else {"non-null v as recorded"})
    (scan,) = asked.plan.layout.scans
    exactly = exact_answers(asked, [ReferenceEngine(HEADER, rows).aggregate(scan.axes, scan.moments)], bits)
    truth, held = np.mean([2 if v is None else min(v, 3) for _, v in rows]), 0
    for _ in range(300):
        noisy = noisy_answers(asked, [one.copy() for one in exactly], bits)
        found = {one.name: one.estimate for one in estimate_statistics(asked, noisy)}["mean_v"]
        held += found.low[0] <= truth <= found.high[0]
    assert held >= 259, "fewer have a probability below 1e-9 at 95 %"


def test_a_sum_of_what_is_drawn_changes_where_the_column_is_null_alone():
    asked = quote(in_parts((0, 3), True, [], (dp.sum("v"),), dp.ReplaceOne(rows=5)), dp.ZCDP(1))
    (drawn,) = [one.query for one in asked.measured if isinstance(one.query, ImputedSum)]
    row = one_row._OneRow(cells=1, skipped=False, neighbours=dp.ReplaceOne(rows=5), kept=frozenset())
    facts = asked.plan.facts
    found = statuses._by_status(drawn, drawn.change(row, facts), facts, lambda query, known: query.change(row, known))
    assert found.known.within == Sensitivity(0, 0)
    assert found.null.within == Sensitivity(6, 36)
    assert found.once_null == Sensitivity(3, 9)


def test_an_excess_without_its_negative_part_would_be_noticed():
    quoted = quote(in_parts((2, 3), False, [], (dp.sum("v", **SKIP),), dp.ReplaceOne(rows=5)), dp.PureDP(1))
    (excess,) = [one.query for one in quoted.measured if isinstance(one.query, Excess)]
    assert (excess.least, excess.most) == (-5, 5)  # from −2 to 3 about their middle, in halves
    found = {literally(excess, ("x", value, 0), (2, 3), lowest=0) for value in range(7)}
    assert (min(found), max(found)) == (excess.least, excess.most)


@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=80)], ids=["add-remove", "replace-one"])
@pytest.mark.parametrize("imputed", [True, False])
@pytest.mark.parametrize("by", [[], ["g"]])
def test_parts_add_up_to_the_raw_sum_and_to_the_prepared_one(neighbours, imputed, by):
    rng = np.random.default_rng(3)
    rows = [(str(rng.choice(["x", "y"])), None if rng.random() < 0.3 else int(rng.integers(0, 7))) for _ in range(80)]
    clamp = (1, 4)
    table = dp.Table(SCHEMA, neighbours).clamp({"v": clamp})
    table = table.impute({"v": dp.Uniform(lower=2, upper=2)}) if imputed else table
    asked = quote(table.group_by(*by).agg(dp.sum("v", **SKIP), dp.mean("v", **SKIP)).original(), dp.ZCDP(1))
    (scan,) = asked.plan.layout.scans
    cube = ReferenceEngine(HEADER, rows).aggregate(scan.axes, scan.moments)
    answers = exact_answers(asked, [cube], system_bits())
    found = {one.name: one.estimate for one in estimate_statistics(asked, answers)}
    for place, group in enumerate(["x", "y"] if by else [None]):
        own = [v for g, v in rows if group in (None, g)]
        known = [v for v in own if v is not None]
        cut = [min(max(v, 1), 4) for v in known] + ([2] * (len(own) - len(known)) if imputed else [])
        for name, values in (("v", cut), ("v_original", known)):
            assert found[f"sum_{name}"].value[place] == pytest.approx(sum(values))
            assert found[f"mean_{name}"].value[place] == pytest.approx(np.mean(values))
