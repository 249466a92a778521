"""Weighted sums and means: values against loops over the rows, intervals by enumeration, refusals, and what follows."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from tests.laws.replay import cubes_of

import discreet as dp
from discreet.quotes.allocate import quote
from discreet.releases.derived.reading import numbers_of
from discreet.releases.evaluate import exact_answers
from discreet.statistics import weighted_means
from discreet.statistics.recipe import Answers, GroupSize
from discreet.statistics.widest import quotient_width

SCHEMA = dp.Schema(
    x=dp.Number(-3, 9), w=dp.Number(1, 4, step="0.5"), free=dp.Number(0, 40), s=dp.Category(["a", "b"], required=True)
)
BY = dp.Weight("w", most=4)
SKIP = {"nulls": "skip"}
TABLE = dp.Table(SCHEMA, dp.AddRemove())
ROWS = [(x, w, s) for x, w, s in product([-3, 0, 5, 9, None], [1, 2.5, 4, None], ["a", "b"])]


def asked(*statistics):
    return quote(TABLE.group_by("s").agg(*statistics), dp.PureDP(1))


def without_noise(quoted, rows, noise=0):
    """The estimates where every query has this noise in all cells."""
    codes = [
        {"x": None if x is None else x + 3, "w": None if w is None else int(2 * (w - 1)), "s": "ab".index(s)}
        for x, w, s in rows
    ]
    answers = exact_answers(quoted, cubes_of(quoted.plan, codes), None)
    values = {one.asked: answer + noise for one, answer in zip(quoted.measured, answers, strict=True)}
    return [
        line.recipe.estimates(Answers(quoted.noises(line), values, slice(0, quoted.plan.layout.cells)))[0]
        for line in quoted.lines
    ]


def test_without_noise_they_are_what_a_loop_over_the_rows_gives():
    total, mean = without_noise(asked(dp.weighted_sum("x", BY, **SKIP), dp.weighted_mean("x", BY, **SKIP)), ROWS)
    for place, group in enumerate("ab"):
        known = [(x, w) for x, w, s in ROWS if s == group and x is not None and w is not None]
        sums = sum(x * w for x, w in known)
        assert total.value[place] == sums
        assert mean.value[place] == pytest.approx(sums / sum(w for _, w in known))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("spend", [dp.PureDP("0.5"), dp.PureDP(3), dp.ZCDP("0.5")], ids=str)
@pytest.mark.parametrize("rows", [[(9, 1)], [(-3, 4), (9, 4)], [(5, 2.5)] * 7 + [(9, 1)] * 5], ids=["one", "two", "twelve"])
def test_intervals_hold_with_the_stated_probability(rows, spend):
    """The exact coverage over the law of both noises, which are independent."""
    quoted = quote(TABLE.agg(dp.weighted_sum("x", BY, **SKIP), dp.weighted_mean("x", BY, **SKIP)), spend)
    laws = {one.asked: one.law.independent for one in quoted.measured}
    answers = exact_answers(
        quoted, cubes_of(quoted.plan, [{"x": x + 3, "w": int(2 * (w - 1)), "s": 0} for x, w in rows]), None
    )
    exact = {one.asked: int(answer[0]) for one, answer in zip(quoted.measured, answers, strict=True)}
    truth = [sum(x * w for x, w in rows), sum(x * w for x, w in rows) / sum(w for _, w in rows)]
    for line, true in zip(quoted.lines, truth, strict=True):
        queries = [query for query, _ in line.recipe.queries]
        grids = [np.arange(-wide, wide + 1) for wide in (laws[query].half_width(Fraction(999, 1000)) for query in queries)]
        chances = [np.array([laws[query].pmf(int(k))[0] for k in grid]) for query, grid in zip(queries, grids, strict=True)]
        noises = np.meshgrid(*grids, indexing="ij")
        chance = np.prod(np.meshgrid(*chances, indexing="ij"), axis=0).ravel()
        values = {query: exact[query] + noise.ravel() for query, noise in zip(queries, noises, strict=True)}
        rest = {query: np.zeros(len(chance), dtype=np.int64) for query in exact if query not in values}
        found = line.recipe.estimates(Answers(quoted.noises(line), values | rest, slice(0, len(chance))))[0]
        covered = (found.low <= true + 1e-9) & (found.high >= true - 1e-9)
        assert chance[covered].sum() >= 0.95
        assert chance[~covered].sum() > 0 or line.statistic.kind.word == "weighted_mean"


def test_the_noise_of_a_sum_counts_in_steps_of_both_grids():
    """A step of the products is 2 · 3 = 6: an interval in single units would be far too short."""
    schema = dp.Schema(x=dp.Number(0, 8, step=2), w=dp.Number(0, 6, step=3))
    quoted = quote(dp.Table(schema, dp.AddRemove()).agg(dp.weighted_sum("x", dp.Weight("w", most=6), **SKIP)), dp.PureDP(1))
    (one,), (line,) = quoted.measured, quoted.lines
    exact = exact_answers(quoted, cubes_of(quoted.plan, [{"x": 4, "w": 2}, {"x": 1, "w": 1}]), None)[0]
    found = line.recipe.estimates(Answers(quoted.noises(line), {one.asked: exact}, slice(0, 1)))[0]
    half = 6 * one.law.independent.half_width(Fraction(95, 100))
    assert (found.low[0], found.value[0], found.high[0]) == (54 - half, 8 * 6 + 2 * 3, 54 + half)


def test_no_interval_of_a_mean_is_wider_than_its_bound(monkeypatch):
    quoted = asked(dp.weighted_mean("x", BY, **SKIP))
    (line,) = quoted.lines
    noises = quoted.noises(line)

    def widest(rows):
        found = [without_noise(quoted, rows, sign * noises.largest(line.recipe.sizes)) for sign in (-1, 0, 1)]
        return max(float((one.high - one.low)[0]) / 2 for (one,) in found)

    for number in (40, 200):
        bound = line.recipe.widest(noises, GroupSize(number, number))
        for low, high, w in product([-3, 9], [-3, 9], [1, 4]):
            rows = [(low, w, "a")] * (number // 2) + [(high, w, "a")] * (number // 2)
            assert widest(rows) <= bound * (1 + 1e-9)
    assert bound < 6, "a bound that says nothing"
    monkeypatch.setattr(
        weighted_means, "quotient_width", lambda noises, sums, count, rows: quotient_width(noises, sums, count, 9 * rows)
    )
    assert widest([(9, 1, "a")] * 200) > line.recipe.widest(noises, GroupSize(200, 200)) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dp.weighted_sum("x", "w"), "must be a weight"),
        (lambda: dp.Weight("w", most=0), "must be greater than 0"),
        (lambda: dp.Weight(3, most=1), "must be the name of a column"),
        (lambda: TABLE.agg(dp.weighted_sum("x", dp.Weight("w", most=3), **SKIP)), "clamp it first, clamp({'w': (1, 3)})"),
        (lambda: TABLE.agg(dp.weighted_mean("w", dp.Weight("x", most=9), **SKIP)), "goes from -3 to 9"),
        (lambda: TABLE.agg(dp.weighted_mean("x", dp.Weight("x", most=9), **SKIP)), "is its own weight"),
        (lambda: TABLE.agg(dp.weighted_mean("x", dp.Weight("s", most=9), **SKIP)), "categorical"),
        (lambda: TABLE.agg(dp.weighted_mean("x", BY)), 'nulls="skip"'),
        (lambda: TABLE.clamp({"w": (2, 2)}).agg(dp.weighted_mean("x", BY, **SKIP)), "all weights are equal"),
        (lambda: TABLE.clamp({"x": (0, 5)}).agg(dp.weighted_mean("x", BY, **SKIP)).original(), "is weighted"),
    ],
)
def test_what_is_no_weight_is_refused(make, says):
    with pytest.raises(dp.ArgumentError, match=re.escape(says)):
        make()


def test_a_clamp_bounds_the_weights():
    request = TABLE.clamp({"free": (0, 10)}).agg(dp.weighted_sum("x", dp.Weight("free", most=10), **SKIP))
    (one,) = quote(request, dp.PureDP(1)).measured
    assert one.sensitivity.l1 == 90


def weighed(*statistics, together=False):
    frame = pl.DataFrame(
        {"x": [k % 13 - 3 for k in range(6000)], "w": [1 + k % 7 / 2 for k in range(6000)], "s": ["a", "a", "b"] * 2000}
    )
    with dp.Session(
        frame.with_columns(free=1), SCHEMA, dataset="d", ledger=":memory:", budget=dp.PureDP(4), neighbours=dp.AddRemove()
    ) as session:
        request = session.table.group_by("s").agg(*statistics)
        return frame, session.release(request.simultaneous() if together else request, spend=4, name="r")


@pytest.mark.parametrize("beside", [(), (dp.weighted_mean("x", BY, **SKIP),)], ids=["alone", "beside a mean"])
@pytest.mark.parametrize("together", [False, True])
def test_a_ratio_of_two_weighted_sums_has_the_law_of_its_noise(beside, together):
    """A weighted mean has a query of the same name, whose noise is another one."""
    frame, release = weighed(dp.weighted_sum("x", BY, **SKIP), *beside, together=together)
    (law,) = {cell.law for one in numbers_of(release.document, "weighted_sum_x") for _, cell in one.terms}
    assert law.scale == max(Fraction(one["scale"]) for one in release.document["noise"])
    part = dp.ratio(
        dp.numbers(release, "weighted_sum_x", at={"s": "a"}),
        dp.numbers(release, "weighted_sum_x", by=[]),
        confidence="0.999999999",
    )
    (row,) = part.table.to_dicts()
    sums = dict(frame.group_by("s").agg((pl.col("x") * pl.col("w")).sum()).iter_rows())
    assert row["ratio_low"] <= sums["a"] / sum(sums.values()) <= row["ratio_high"]


def test_means_of_strata_are_put_together_by_their_public_sizes():
    frame, release = weighed(dp.weighted_mean("x", BY, **SKIP), together=True)
    # What is added up is the printed intervals, which hold with 95 %: their ends are checked, not their luck.
    sizes = dp.constants({"s": ["a", "b"], "n": [100_000, 20_000]})
    (row,) = dp.poststratified(release, sizes).table.to_dicts()
    printed = {one["s"]: one for one in release.table.to_dicts()}
    for end in ("", "_low", "_high"):
        both = [size * printed[s][f"weighted_mean_x{end}"] for s, size in (("a", 100_000), ("b", 20_000))]
        assert row[f"total{end}"] == pytest.approx(sum(both))
        assert row[f"mean{end}"] == pytest.approx(sum(both) / 120_000)
    means = dict(frame.group_by("s").agg((pl.col("x") * pl.col("w")).sum() / pl.col("w").sum()).iter_rows())
    assert abs(row["mean"] - (100_000 * means["a"] + 20_000 * means["b"]) / 120_000) < 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda one: dp.poststratified(one, dp.constants({"s": ["a"], "n": [1]})), "the same strata"),
        (lambda one: dp.poststratified(one, dp.constants({"s": ["a", "b"], "n": [1, -1]})), "at least 0"),
        (lambda one: dp.poststratified(one, dp.constants({"s": ["a", "b"], "n": [0, 0]})), "add up to 0"),
        (lambda one: dp.poststratified(one, dp.constants({"s": ["a", "b"], "n": [1, 1]})), "simultaneous"),
        (
            lambda one: dp.poststratified(dp.numbers(one, "count"), dp.constants({"s": ["a", "b"], "n": [1, 1]})),
            "not a mean",
        ),
    ],
)
def test_what_cannot_be_put_together_is_refused(make, says):
    _, release = weighed(dp.weighted_mean("x", BY, **SKIP), dp.count())
    with pytest.raises(dp.ArgumentError, match=says):
        make(release)
