"""What is assumed of the rows gives the whole error: against tables that are tried one by one, and draws that are added up.

With assumptions that are exactly those of a table, what is stated is the difference of two expectations, which is computed
here from the rows.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.quotes import off as off_module
from discreet.quotes import whole
from discreet.quotes.allocate import quote
from discreet.quotes.moved import moved_by
from discreet.quotes.off import _bernstein, _of_law
from discreet.quotes.whole import can_be_assumed
from discreet.statistics.recipe import Answers

SCHEMA = dp.Schema(v=dp.Number(0, 6))
LAWS = [None, dp.Uniform(), dp.Uniform(1, 2), dp.Normal("3.3", 2)]
CLAMPS = [(0, 6), (1, 4), (2, 3), (0, 5)]
TABLES = [rows for n in (1, 2, 4) for rows in combinations_with_replacement([None, 0, 1, 3, 5, 6], n) if set(rows) != {None}]
STATISTICS = "mean_v", "sum_v", "count_v"


def request_of(clamp, law, neighbours, resize=None):
    table = dp.Table(SCHEMA, neighbours)
    table = (table if law is None else table.impute({"v": law})).clamp({"v": clamp})  # what is drawn is clamped as well
    table = table if resize is None else table.resize(resize[0], proportion=resize[1])
    return table.agg(dp.mean("v", nulls="skip"), dp.sum("v", nulls="skip"), dp.count("v"))


def facts_of(rows, clamp):
    """What is true of the rows, as `assuming` takes it; a share that no step asks for is left out."""
    low, high = clamp
    known = [Fraction(v) for v in rows if v is not None]
    above, below = [v for v in known if v > high], [v for v in known if v < low]
    facts = {"nulls": Fraction(len(rows) - len(known), len(rows)), "mean": sum(known) / len(known)}
    if high < 6:
        facts["above"] = Fraction(len(above), len(known))
        facts |= {"mean_above": sum(above) / len(above)} if above else {}
    if low > 0:
        facts["below"] = Fraction(len(below), len(known))
        facts |= {"mean_below": sum(below) / len(below)} if below else {}
    return facts


def differences(rows, clamp, law_mean):
    """For each statistic the expectation of the prepared one less the recorded one, row by row."""
    low, high = clamp
    known = [Fraction(v) for v in rows if v is not None]
    cut = [min(max(v, low), high) for v in known]
    if law_mean is not None:
        cut += [law_mean] * (len(rows) - len(known))
    means = Fraction(sum(cut), len(cut)) - sum(known) / len(known)
    return means, sum(cut) - sum(known), Fraction(len(cut) - len(known))


def law_mean(plan):
    law = moved_by(plan, "v").law
    return None if law is None else law.mean


@pytest.mark.one_in(15)
@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("clamp", CLAMPS, ids=str)
def test_with_the_facts_of_a_table_the_error_is_that_of_the_table(clamp, law):
    for rows in TABLES:
        request = request_of(clamp, law, dp.ReplaceOne(rows=len(rows)))
        found = quote(request, dp.ZCDP(1)).assuming(**facts_of(rows, clamp))
        truth = differences(rows, clamp, law_mean(request))
        for name, exactly in zip(STATISTICS, truth, strict=True):
            assert found.of(name).off == pytest.approx(float(abs(exactly)), abs=1e-12), (rows, name)
            assert found.of(name).off >= float(abs(exactly)) * (1 - 1e-15)


@pytest.mark.parametrize("law", LAWS[:2], ids=str)
@pytest.mark.parametrize("clamp", CLAMPS[1:3], ids=str)
def test_ranges_hold_every_table_within_them_and_some_table_reaches_their_end(clamp, law):
    """Ranges of four tables at a time: no table within them has a larger difference."""
    rng = np.random.default_rng(3)
    tables = [rows for rows in TABLES if len(rows) == 4]
    request = request_of(clamp, law, dp.ReplaceOne(rows=4))
    quoted, drawn = quote(request, dp.ZCDP(1)), law_mean(request)
    facts = [facts_of(rows, clamp) for rows in tables]
    reached = 0
    for _ in range(12):
        some = [facts[place] for place in rng.integers(0, len(facts), 2)]
        names = [name for name in some[0] if all(name in one for one in some)]
        ranges = {name: (min(one[name] for one in some), max(one[name] for one in some)) for name in names}
        found = quoted.assuming(**ranges)
        inside = [
            rows
            for rows, one in zip(tables, facts, strict=True)
            if all(name not in one or low <= one[name] <= high for name, (low, high) in ranges.items())
        ]
        for place, name in enumerate(STATISTICS):
            worst = max(float(abs(differences(rows, clamp, drawn)[place])) for rows in inside)
            assert worst <= found.of(name).off * (1 + 1e-12)
            reached += worst == pytest.approx(found.of(name).off)
    assert reached >= 6


@pytest.mark.parametrize("law", LAWS[:2], ids=str)
@pytest.mark.parametrize("clamp", CLAMPS[1:], ids=str)
def test_where_nothing_is_assumed_every_table_is_within_the_error(clamp, law):
    for n in (1, 2, 4):
        request = request_of(clamp, law, dp.ReplaceOne(rows=n))
        found, drawn = quote(request, dp.ZCDP(1)).assuming(), law_mean(request)
        for rows in (rows for rows in TABLES if len(rows) == n):
            truth = differences(rows, clamp, drawn)
            assert all(abs(one) <= found.of(name).off * (1 + 1e-12) for name, one in zip(STATISTICS, truth, strict=True))


@pytest.mark.parametrize("clamp", CLAMPS, ids=str)
def test_any_answers_of_those_who_gave_none_are_within_the_range(clamp):
    for rows in [rows for rows in TABLES if len(rows) <= 2]:
        found = quote(request_of(clamp, dp.Uniform(), dp.ReplaceOne(rows=len(rows))), dp.ZCDP(1)).assuming(
            **facts_of(rows, clamp)
        )
        sums = [sum(one) for one in product(*([v] if v is not None else [0, 6] for v in rows))]
        assert found.of("sum_v").anywhere == pytest.approx(max(sums) - min(sums))
        assert found.of("mean_v").anywhere == pytest.approx((max(sums) - min(sums)) / len(rows))


def closest_rank(value, known):
    """The ranks of a value among these: the number of smaller ones, and of those that are not greater."""
    return sum(v < value for v in known), sum(v <= value for v in known)


@pytest.mark.one_in(10)
@pytest.mark.parametrize("clamp", CLAMPS, ids=str)
@pytest.mark.parametrize("q", ["1/4", "1/2", "0.9"])
def test_the_rank_of_a_quantile_is_as_close_as_stated(q, clamp):
    order, reached = Fraction(q), 0
    for rows in [rows for rows in TABLES if len(rows) == 4]:
        table = dp.Table(SCHEMA, dp.ReplaceOne(rows=4)).impute({"v": dp.Uniform()}).clamp({"v": clamp})
        facts = facts_of(rows, clamp)
        stated = quote(table.agg(dp.quantiles("v", [q])), dp.ZCDP(1)).assuming(**facts).of("v").off
        known = [v for v in rows if v is not None]
        for drawn in product(range(7), repeat=len(rows) - len(known)):
            prepared = sorted(min(max(v, clamp[0]), clamp[1]) for v in (*known, *drawn))
            value = prepared[max(1, -(-order * 4 // 1)) - 1]
            low, high = closest_rank(value, known)
            away = max(order * len(known) - high, low - order * len(known), 0)
            assert away <= stated + 1e-12, (rows, drawn, value)
            reached += bool(away) and away >= stated * 0.99
    assert reached or clamp == (0, 6)


# What is drawn ----------------------------------------------------------------------------------------------------------


def tail(law, many, beyond):
    """The probability that the sum of so many draws is farther than this from its expectation, exactly."""
    values, weights = law
    one = np.zeros(max(values) + 1)
    one[list(values)] = np.array(weights) / sum(weights)
    whole = np.ones(1)
    for _ in range(many):
        whole = np.convolve(whole, one)
    mean = many * float(one @ np.arange(len(one)))
    away = np.abs(np.arange(len(whole)) - mean)
    return float(whole[away > beyond].sum())


@pytest.mark.parametrize("many", [1, 2, 5, 20, 100, 400])
@pytest.mark.parametrize("law", [dp.Uniform(), dp.Uniform(1, 2), dp.Normal(3, "0.5"), dp.Normal(0, 1)], ids=str)
def test_draws_are_farther_than_stated_with_a_probability_of_at_most_one_fortieth(law, many):
    found = moved_by(request_of((0, 6), law, dp.AddRemove()), "v").law
    weights = dp.domain.imputation.law_weights(law, SCHEMA["v"], 0, 6).tolist()
    beyond = _of_law(found, many, 1.0, Fraction(1, 40))
    assert tail((range(7), weights), many, beyond) <= 1 / 40
    if many >= 100:
        spread = (many * float(found.variance)) ** 0.5
        assert beyond <= 4.6 * spread, "not far above the 2.24 of a normal law"


@pytest.mark.parametrize(("many", "rate"), [(10, 0.5), (100, 0.1), (400, 0.03), (1000, 0.9), (10, 0.001)])
def test_the_number_of_sampled_rows_is_as_close_as_stated(many, rate):
    beyond = _bernstein(many * rate * (1 - rate), max(rate, 1 - rate), Fraction(1, 120))
    assert tail(((0, 1), (1 - rate, rate)), many, beyond) <= 1 / 120


def prepared_means(rows, law, resize, many, rng):
    """Prepared means of one table, drawn row by row: (public n, private n)."""
    (n, p), clamp = resize, (0, 4)
    copies, count = -(-p.numerator // p.denominator), len(rows)
    known = np.array([v is not None for v in rows])
    cut = np.clip([v or 0 for v in rows], *clamp).astype(float)
    weights = dp.domain.imputation.law_weights(law, SCHEMA["v"], *clamp).astype(float)
    values, odds = np.arange(clamp[0], clamp[1] + 1), weights / weights.sum()
    found = []
    for public in (True, False):
        means = np.empty(many)
        for place in range(many):
            full = np.where(known, cut, rng.choice(values, count, p=odds))
            every = np.tile(full, copies)
            taken = int(p * count) if public else rng.binomial(len(every), float(p / copies))
            sampled = rng.choice(every, min(taken, n), replace=False)
            means[place] = (sampled.sum() + rng.choice(values, n - len(sampled), p=odds).sum()) / n
        found.append(means)
    return found


RESIZES = [(300, "1/2"), (100, "1/2"), (250, "1"), (150, "1"), (300, "3/2"), (500, "2")]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("resize", RESIZES, ids=str)
def test_resized_tables_are_as_close_as_stated(resize):
    rng = np.random.default_rng(8)
    clamp, law, n = (0, 4), dp.Uniform(0, 2), resize[0]
    rows = [None if rng.random() < 0.2 else int(v) for v in rng.choice([0, 1, 3, 5, 6], 200, p=[0.1, 0.2, 0.3, 0.3, 0.1])]
    facts = facts_of(rows, clamp)
    exact = dp.ReplaceOne(rows=200)
    for neighbours, means in zip(
        (exact, dp.AddRemove()), prepared_means(rows, law, (n, Fraction(resize[1])), 600, rng), strict=True
    ):
        quoted = quote(request_of(clamp, law, neighbours, resize), dp.PureDP(1))
        given = facts if neighbours is exact else {**facts, "rows": 200}
        found = quoted.assuming(**given).of("mean_v")
        away = np.abs(means - float(facts["mean"]))
        assert float((away > found.off + found.draws).mean()) <= 1 / 40
        assert abs(means.mean() - float(facts["mean"])) <= found.off + 5 * means.std() / 600**0.5
        assert found.off + found.draws <= away.max() + 12 * means.std(), "not far above"


@pytest.mark.parametrize(("rows", "proportion"), [(200, 1), (400, 2)])
def test_what_is_drawn_for_nulls_is_as_close_as_stated_in_a_resized_table_too(rows, proportion):
    """All rows are taken and none is filled: what is random are the values for 180 of 200 rows, each in all copies."""
    quoted = quote(request_of((0, 6), dp.Uniform(), dp.AddRemove(), (rows, proportion)), dp.PureDP(1))
    stated = quoted.assuming(nulls="0.9", rows=200).of("sum_v").draws
    law = dp.domain.imputation.law_weights(dp.Uniform(), SCHEMA["v"], 0, 6).tolist()
    assert tail((range(7), law), 180, stated / proportion) <= 1 / 40


def test_the_number_of_rows_between_the_ends_of_its_range_can_be_the_worst():
    """At 100 rows the table is neither filled nor sampled, and the clamp moves the sum by most."""
    table = dp.Table(dp.Schema(v=dp.Number(-6, 6)), dp.AddRemove()).impute({"v": dp.Uniform(0, 0)}).clamp({"v": (0, 6)})
    quoted = quote(table.resize(100).agg(dp.sum("v")), dp.PureDP(1))
    given = {"nulls": 0, "below": "0.45", "mean_below": -6, "mean": "0.3"}
    offs = [quoted.assuming(rows=rows, **given).of("sum_v").off for rows in (80, 100, 130)]
    assert offs == pytest.approx([216, 270, 261])
    assert quoted.assuming(rows=(80, 130), **given).of("sum_v").off == pytest.approx(270)


# Whole errors of releases -----------------------------------------------------------------------------------------------


def held():
    """How many of 120 releases are within the whole error, which is mostly made of draws."""
    rng = np.random.default_rng(2)
    rows = [None if rng.random() < 0.5 else int(v) for v in rng.choice([0, 1, 3, 5, 6], 200)]
    facts = facts_of(rows, (0, 6))
    schema = dp.Schema(v=dp.Number(0, 6))
    frame = pl.DataFrame({"v": rows}, schema={"v": pl.Int64})
    with dp.Session(
        frame, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(10**6), neighbours=dp.ReplaceOne(rows=200)
    ) as session:
        request = session.table.impute({"v": dp.Uniform()}).agg(dp.mean("v"))
        whole = session.quote(request, spend=1).assuming(**facts).of("mean_v").whole
        values = [session.release(request, spend=1, name=f"{k}").table["mean_v"][0] for k in range(120)]
    return sum(abs(value - float(facts["mean"])) <= whole for value in values)


@pytest.mark.slow
def test_releases_are_within_the_whole_error():
    assert held() >= 95  # of 120: fewer have a probability below 1e-9 at 95 %


def times_beyond(rows, relation, spend, many=4_000):
    """How often a mean of a few rows is farther from the true one than its whole error, of so many draws of noise."""
    table = dp.Table(dp.Schema(v=dp.Number(0, 100)), relation).clamp({"v": (0, 50)})
    quoted = quote(table.agg(dp.mean("v", nulls="skip")), spend)
    known = np.array([v for v in rows if v is not None])
    facts = {"nulls": Fraction(len(rows) - len(known), len(rows)), "above": 0, "rows": len(rows)}
    rng, exactly = np.random.default_rng(6), {"non-null v": len(known), "sum of v": int((2 * known - 50).sum()) // 2}
    noisy = {one.asked: exactly[one.query.words()] + rounded_noise(one.law, rng, many) for one in quoted.measured}
    (line,) = quoted.lines
    found = line.recipe.estimates(Answers(replace(quoted.noises(line), cells=many), noisy, slice(0, many)))[0]
    return [
        int((np.abs(found.value - known.mean()) > quoted.assuming(**given).of("mean_v").whole).sum())
        for given in (facts, {name: value for name, value in facts.items() if name != "nulls"})
    ]


def rounded_noise(law, rng, many):
    if isinstance(law, GaussianNoise):
        return rng.normal(0, float(law.sigma2) ** 0.5, many).round().astype(np.int64)
    going = 1 - np.exp(-1 / float(law.scale))
    return (rng.geometric(going, many) - rng.geometric(going, many)).astype(np.int64)


@pytest.mark.parametrize("spend", [dp.PureDP("0.1"), dp.PureDP(1), dp.ZCDP("0.05"), dp.ZCDP(1)], ids=str)
@pytest.mark.parametrize("added", [True, False], ids=["add-remove", "replace-one"])
def test_means_of_a_few_rows_are_within_the_whole_error(added, spend):
    """Where the interval holds everything that is possible, the number may be at one end and the true one at the other."""
    for rows in ([0], [50, 50], [20] * 4, [0] * 10, [50] * 30, [0] * 2 + [None] * 60, [50] * 40 + [None] * 40):
        relation = dp.AddRemove() if added else dp.ReplaceOne(rows=len(rows))
        for times in times_beyond(rows, relation, spend):
            assert times <= 0.05 * 4_000 + 4 * (0.05 * 0.95 * 4_000) ** 0.5, rows


def test_half_of_what_is_possible_would_be_noticed(monkeypatch):
    monkeypatch.setattr(whole, "most_of", lambda *_: None)
    said, unsaid = times_beyond([0], dp.AddRemove(), dp.PureDP("0.1"))
    assert min(said, unsaid) > 0.4 * 4_000


@pytest.mark.slow
def test_an_error_that_forgets_the_draws_would_be_noticed(monkeypatch):
    monkeypatch.setattr(off_module, "_draws", lambda *_: 0.0)
    assert held() < 95


def test_noise_beside_draws_fails_with_half_of_the_probability():
    request = request_of((0, 6), dp.Uniform(), dp.ReplaceOne(rows=50))
    quoted = quote(request, dp.ZCDP("0.01"))
    with_nulls, without = (quoted.assuming(nulls=share).of("sum_v") for share in ("0.5", 0))
    line = next(line for line in quoted.lines if line.statistic.name == "sum_v")
    assert without.noise == quoted.errors(quoted.sizes[0])["sum_v"]
    assert with_nulls.noise == line.recipe.widest(quoted.noises_at(Fraction(39, 40)), quoted.sizes[0])
    assert with_nulls.noise > without.noise


@pytest.mark.parametrize("forgotten", ["clip", "fill"])
def test_a_form_that_forgets_a_part_would_be_noticed(forgotten, monkeypatch):
    class Vertex(off_module._Vertex):
        def __init__(self, *values):
            values = list(values)
            values[{"clip": 0, "fill": 5}[forgotten]] = Fraction({"clip": 0, "fill": 1}[forgotten])
            super().__init__(*values)

    monkeypatch.setattr(off_module, "_Vertex", Vertex)
    with pytest.raises(AssertionError):
        test_with_the_facts_of_a_table_the_error_is_that_of_the_table((1, 4), dp.Uniform(1, 2))


def test_statistics_of_unchanged_columns_are_off_by_nothing():
    schema = dp.Schema(v=dp.Number(0, 6), w=dp.Number(0, 9))
    table = dp.Table(schema, dp.AddRemove()).clamp({"v": (0, 3)})
    asked = table.agg(dp.median("w", nulls="skip"), dp.std("v", nulls="skip"), dp.count(), dp.histogram("v", [0, 2]))
    assert "rows in rank" in str(quote(asked, dp.ZCDP(1)).assuming())
    found = quote(asked, dp.ZCDP(1)).assuming(above={"v": "0.1"})
    offs = {name: found.of(name).off for name in ("median_w", "std_v", "count", "histogram_v")}
    assert offs == {"median_w": 0.0, "std_v": None, "count": 0.0, "histogram_v": None}
    assert can_be_assumed(asked)["w"] == ("nulls", "mean")
