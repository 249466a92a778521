"""Weighted sums and means: values against loops over the rows, intervals by enumeration, refusals, and what follows."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from tests.builders import plan_text
from tests.laws.replay import cubes_of

import discreet as dp
from discreet.planfile.read import plan_of
from discreet.planfile.tree import toml_root
from discreet.quotes.allocate import quote
from discreet.releases.derived.reading import numbers_of
from discreet.releases.evaluate import exact_answers
from discreet.statistics.recipe import Answers, GroupSize, Noises
from discreet.statistics.shares import share_estimate

SCHEMA = dp.Schema(
    x=dp.Number(-3, 9),
    w=dp.Number(1, 4, step="0.5"),
    free=dp.Number(0, 40),
    z=dp.Number(1, 3),
    s=dp.Category(["a", "b"], required=True),
)
BY = dp.Weight("w", most=4)
SKIP = {"nulls": "skip"}
TABLE = dp.Table(SCHEMA, dp.AddRemove())
ROWS = [(x, w, s, z) for x, w, s, z in product([-3, 0, 5, 9, None], [1, 2.5, 4, None], ["a", "b"], [1, 3, None])]


def asked(*statistics):
    return quote(TABLE.group_by("s").agg(*statistics), dp.PureDP(1))


def without_noise(quoted, rows, noise=0):
    """The estimates where every query has this noise in all cells."""
    codes = [
        {
            "x": None if x is None else x + 3,
            "w": None if w is None else int(2 * (w - 1)),
            "s": "ab".index(s),
            "z": None if not z or z[0] is None else z[0] - 1,
        }
        for x, w, s, *z in rows
    ]
    answers = exact_answers(quoted, cubes_of(quoted.plan, codes), None)
    values = {one.asked: answer + noise for one, answer in zip(quoted.measured, answers, strict=True)}
    return [
        line.recipe.estimates(Answers(quoted.noises(line), values, slice(0, quoted.plan.layout.cells)))[0]
        for line in quoted.lines
    ]


def test_without_noise_they_are_what_a_loop_over_the_rows_gives():
    rows = [*ROWS, (9, 4, "a", 1), (5, 2.5, "b", 2), (None, 4, "b", 2)]
    total, mean, share, ratio = without_noise(
        asked(
            dp.weighted_sum("x", BY, **SKIP),
            dp.weighted_mean("x", BY, **SKIP),
            dp.weighted_share(BY, **SKIP),
            dp.weighted_ratio("x", "z", BY, **SKIP),
        ),
        rows,
    )
    every = sum(w for _, w, _, _ in rows if w is not None)
    for place, group in enumerate("ab"):
        known = [(x, w, z) for x, w, s, z in rows if s == group and x is not None and w is not None]
        sums = sum(x * w for x, w, _ in known)
        assert total.value[place] == sums
        assert mean.value[place] == pytest.approx(sums / sum(w for _, w, _ in known))
        assert share.value[place] == pytest.approx(sum(w for _, w, s, _ in rows if s == group and w is not None) / every)
        whole = [(x, w, z) for x, w, z in known if z is not None]
        assert ratio.value[place] == pytest.approx(sum(x * w for x, w, _ in whole) / sum(z * w for _, w, z in whole))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("spend", [dp.PureDP(4), dp.PureDP(10), dp.ZCDP(2)], ids=str)
@pytest.mark.parametrize("rows", [[(9, 1)], [(-3, 4), (9, 4)], [(5, 2.5)] * 7 + [(9, 1)] * 5], ids=["one", "two", "twelve"])
def test_intervals_hold_with_the_stated_probability(rows, spend):
    """The exact coverage over the law of both noises, which are independent."""
    asked_for = dp.weighted_sum("x", BY, **SKIP), dp.weighted_mean("x", BY, **SKIP)
    sums = sum(x * w for x, w in rows)
    whole = [(x, w, 1) for x, w in rows]
    for line, chance, covered in coverage(TABLE.agg(*asked_for), spend, whole, [sums, sums / sum(w for _, w in rows)]):
        assert chance[covered].sum() >= 0.95
        assert chance[~covered].sum() > 0 or line.statistic.kind.word == "weighted_mean"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("spend", [dp.PureDP(6), dp.PureDP(12), dp.ZCDP(2)], ids=str)
@pytest.mark.parametrize("rows", [[(9, 1, 1)], [(-3, 4, 3), (9, 4, 1)], [(5, 2.5, 2)] * 7 + [(9, 1, 3)] * 5], ids=len)
def test_the_interval_of_a_ratio_holds_with_the_stated_probability(rows, spend):
    true = sum(x * w for x, w, _ in rows) / sum(z * w for _, w, z in rows)
    ((_, chance, covered),) = coverage(TABLE.agg(dp.weighted_ratio("x", "z", BY, **SKIP)), spend, rows, [true])
    assert chance[covered].sum() >= 0.95
    assert chance[~covered].sum() > 0 or len(rows) < 3


@pytest.mark.parametrize("spend", [dp.PureDP("0.5"), dp.PureDP(3), dp.ZCDP("0.5")], ids=str)
@pytest.mark.parametrize("weights", [([4, 4], [1]), ([1], [1, 2.5] * 9)], ids=["few", "many"])
def test_the_interval_of_a_share_holds_with_the_stated_probability(weights, spend):
    """The exact coverage over the law of the noises of both groups."""
    quoted = quote(TABLE.group_by("s").agg(dp.weighted_share(BY, **SKIP)), spend)
    (line,), (one,) = quoted.lines, quoted.measured
    noises = quoted.noises(line)
    own, every = (2 * sum(one) for one in (weights[0], [*weights[0], *weights[1]]))
    (mine, other), chance = grid([one.law.independent] * 2)
    halves = noises.largest(one.asked), line.recipe.sizes.total(Answers(noises, {one.asked: mine[:2]}, slice(0, 2)))[1]
    found = share_estimate((own + mine, np.full(len(mine), halves[0])), (every + mine + other, halves[1]))
    assert chance[(found.low <= own / every) & (found.high >= own / every)].sum() >= 0.95


def codes(rows):
    return [{"x": x + 3, "w": int(2 * (w - 1)), "z": z - 1, "s": "ab".index(s[0]) if s else 0} for x, w, z, *s in rows]


def grid(laws):
    """All noises that are not very unlikely, with their probabilities."""
    grids = [np.arange(-wide, wide + 1) for wide in (law.half_width(Fraction(999, 1000)) for law in laws)]
    chances = [np.array([law.pmf(int(k))[0] for k in one]) for law, one in zip(laws, grids, strict=True)]
    chance = np.prod(np.meshgrid(*chances, indexing="ij"), axis=0).ravel()
    return [one.ravel() for one in np.meshgrid(*grids, indexing="ij")], chance


def coverage(plan, spend, rows, truth):
    """For each statistic the probabilities of all its noises, and where its interval holds the truth."""
    quoted = quote(plan, spend)
    laws = {one.asked: one.law.independent for one in quoted.measured}
    answers = exact_answers(quoted, cubes_of(quoted.plan, codes(rows)), None)
    exact = {one.asked: int(answer[0]) for one, answer in zip(quoted.measured, answers, strict=True)}
    for line, true in zip(quoted.lines, truth, strict=True):
        queries = [query for query, _ in line.recipe.queries]
        noises, chance = grid([laws[query] for query in queries])
        values = {query: exact[query] + noise for query, noise in zip(queries, noises, strict=True)}
        rest = {query: np.zeros(len(chance), dtype=np.int64) for query in exact if query not in values}
        found = line.recipe.estimates(Answers(quoted.noises(line), values | rest, slice(0, len(chance))))[0]
        yield line, chance, (found.low <= true + 1e-9) & (found.high >= true - 1e-9)


def test_the_noise_of_a_sum_counts_in_steps_of_both_grids():
    """A step of the products is 2 · 3 = 6: an interval in single units would be far too short."""
    schema = dp.Schema(x=dp.Number(0, 8, step=2), w=dp.Number(0, 6, step=3))
    quoted = quote(dp.Table(schema, dp.AddRemove()).agg(dp.weighted_sum("x", dp.Weight("w", most=6), **SKIP)), dp.PureDP(1))
    (one,), (line,) = quoted.measured, quoted.lines
    exact = exact_answers(quoted, cubes_of(quoted.plan, [{"x": 4, "w": 2}, {"x": 1, "w": 1}]), None)[0]
    found = line.recipe.estimates(Answers(quoted.noises(line), {one.asked: exact}, slice(0, 1)))[0]
    half = 6 * one.law.independent.half_width(Fraction(95, 100))
    assert (found.low[0], found.value[0], found.high[0]) == (54 - half, 8 * 6 + 2 * 3, 54 + half)


@pytest.mark.parametrize("asked_for", [dp.weighted_ratio("x", "z", BY, **SKIP), dp.weighted_share(BY, **SKIP)], ids=str)
def test_no_interval_of_a_ratio_or_a_share_is_wider_than_its_bound(asked_for):
    quoted = asked(asked_for)
    (line,) = quoted.lines
    noises = quoted.noises(line)
    bound = line.recipe.widest(noises, GroupSize(400, 800))
    shifts = [noises.largest(query) // 3 for query, _ in line.recipe.queries]
    for x, w, z, sign in product([-3, 9], [1, 4], [1, 3], [-1, 1]):
        rows = [(x, w, s, z) for s in "ab"] * 400
        (found,) = without_noise(quoted, rows, sign * min(shifts))
        assert float((found.high - found.low)[0]) / 2 <= bound * (1 + 1e-9)
    assert bound < {"weighted_ratio": 6, "weighted_share": 0.5}[line.statistic.kind.word], "a bound that says nothing"


def test_no_interval_of_a_mean_is_wider_than_its_bound(monkeypatch):
    quoted = asked(dp.weighted_mean("x", BY, **SKIP))
    (line,) = quoted.lines
    noises = quoted.noises(line)

    def widest(rows):
        found = [without_noise(quoted, rows, sign * noises.largest(line.recipe.counts)) for sign in (-1, 0, 1)]
        return max(float((one.high - one.low)[0]) / 2 for (one,) in found)

    for number in (40, 200):
        bound = line.recipe.widest(noises, GroupSize(number, number))
        for low, high, w in product([-3, 9], [-3, 9], [1, 4]):
            rows = [(low, w, "a")] * (number // 2) + [(high, w, "a")] * (number // 2)
            assert widest(rows) <= bound * (1 + 1e-9)
    assert bound < 6, "a bound that says nothing"
    true = noises.largest
    monkeypatch.setattr(Noises, "largest", lambda self, query: -4 * true(query))
    assert widest([(3, 1, "a")] * 200) > line.recipe.widest(noises, GroupSize(200, 200))


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
        (lambda: TABLE.agg(dp.weighted_share(dp.Weight("w", most=3), **SKIP)), "clamp it first, clamp({'w': (1, 3)})"),
        (lambda: TABLE.agg(dp.weighted_share(BY)), 'nulls="skip"'),
        (lambda: TABLE.agg(dp.weighted_ratio("x", "free", BY, **SKIP)), "goes from 0, and a denominator has to be above 0"),
        (lambda: TABLE.agg(dp.weighted_ratio("x", "x", BY, **SKIP)), "three different columns"),
        (lambda: TABLE.agg(dp.weighted_ratio("x", "w", BY, **SKIP)), "three different columns"),
        (lambda: TABLE.clamp({"z": (2, 2)}).agg(dp.weighted_ratio("x", "z", BY, **SKIP)), "'z'): the column has a single"),
        (lambda: dp.weighted_ratio("x", 3, BY), "must be the name of a column"),
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
        frame.with_columns(free=1, z=2),
        SCHEMA,
        dataset="d",
        ledger=":memory:",
        budget=dp.PureDP(4),
        neighbours=dp.AddRemove(),
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


def test_numbers_by_other_weights_are_another_quantity():
    frame = pl.DataFrame({"x": [1, 2] * 50, "w": [1, 4] * 50, "z": [1, 3] * 50, "s": ["a"] * 100, "free": [1] * 100})
    with dp.Session(
        frame, SCHEMA, dataset="d", ledger=":memory:", budget=dp.PureDP(4), neighbours=dp.AddRemove()
    ) as session:
        first, second = (
            session.release(session.table.agg(dp.weighted_mean("x", by, **SKIP)), spend=1, name=by.column)
            for by in (BY, dp.Weight("z", most=3))
        )
    with pytest.raises(dp.ArgumentError, match="quantit"):
        dp.combine(first, second)


def test_a_plan_file_asks_for_ratios_and_designs(tmp_path):
    asked_for = '{ weighted_ratio = "v", over = "w", by = "u", most = "4", nulls = "skip" }, '
    asked_for += '{ weighted_share = "u", most = 4, nulls = "skip", design = "poisson" }, '
    asked_for += '{ weighted_sum = "v", by = "u", most = 4, nulls = "skip", design = "replacement", rows = 90, of = 100 }, '
    asked_for += '{ weighted_mean = "v", by = "u", most = 4, nulls = "skip", design = "effect", effect = "1.5" }'
    text = plan_text("two-numbers").replace('["count"]', f"[{asked_for}]")
    text = text.replace("lower = 0\nupper = 9", 'lower = 1\nupper = 9\n[columns.u]\ntype = "number"\nlower = 0\nupper = 4')
    (order,) = plan_of(toml_root(text.encode(), tmp_path / "plan.toml")).orders
    by = dp.Weight("u", most=4)
    assert order.request.statistics == (
        dp.weighted_ratio("v", "w", by, **SKIP),
        dp.weighted_share(by, design=dp.PoissonDesign(), **SKIP),
        dp.weighted_sum("v", by, design=dp.ReplacementDesign(90, of=100), **SKIP),
        dp.weighted_mean("v", by, design=dp.DesignEffect("1.5"), **SKIP),
    )
    for keys, says in (
        ('design = "cluster"', "is not a design.*known: poisson, poisson_certified, replacement, effect"),
        ('design = "poisson", rows = 3', "does not go with rows"),
        ("rows = 3", "is not a design"),
    ):
        with pytest.raises(dp.PlanError, match=says):
            plan_of(toml_root(text.replace('design = "poisson"', keys).encode(), tmp_path / "plan.toml"))
