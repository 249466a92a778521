"""Intervals that hold with any answer of those who gave none: against every completion of small tables.

A completion gives each null of a value a number within the bounds, and each null of a group a label. Without noise the ends
are those of the best and the worst completion; with noise they hold both with 95 %, from the law of the noise.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import binom

import discreet as dp
from discreet.noise.bits import system_bits
from discreet.quotes.allocate import quote
from discreet.releases.assemble import estimate_statistics, frames
from discreet.releases.evaluate import noisy_answers
from discreet.statistics import (
    completed_means,
    completed_sums,
    completed_variances,
    completions,
    counts,
    histograms,
    ranks,
    tilts,
)
from discreet.statistics.completed_means import CompletedMeanRecipe
from discreet.statistics.recipe import Answers

from .test_originals import exact, masses

SKIP = {"nulls": "skip"}
SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(-2, 4))
VALUES = range(-2, 5)
ASKED = (
    dp.count(),
    dp.count("v"),
    dp.sum("v", **SKIP),
    dp.mean("v", **SKIP),
    dp.variance("v", **SKIP),
    dp.std("v", **SKIP),
    dp.histogram("v", [-2, 1, 4]),
    dp.quantiles("v", ["0", "1/3", "1/2", "1"], interval=1, **SKIP),
)
GROUPED = (*ASKED, dp.share())


def completed(rows, *, labels):
    """Every table in which all nulls are known."""
    options = [
        [(h, w) for h in (labels if g is None else [g]) for w in ((-2, 0, 4) if v is None else (v,))] for g, v in rows
    ]
    return product(*options)


def quantile(values, q):
    ordered = sorted(values)
    return ordered[max(int(np.ceil(q * len(ordered))), 1) - 1]


def statistics_of(table, group):
    own = [v for g, v in table if group in (None, g)]
    found = {"count_original": len(own), "count_v_original": len(own), "sum_v_original": sum(own)}
    found |= {"share_original": len(own) / len(table)} if group else {}
    for place, (low, high) in enumerate([(-2, 1), (1, 5)]):
        found[f"bin {place}"] = sum(low <= v < high for v in own)
    if own:
        found |= {"mean_v_original": np.mean(own), "variance_v_original": np.var(own), "std_v_original": np.std(own)}
        orders = {"0": Fraction(0), "33.333": Fraction(1, 3), "50": Fraction(1, 2), "100": Fraction(1)}
        found |= {f"q{name}": quantile(own, q) for name, q in orders.items()}
    return found


def intervals(asked, answers):
    """The ends of all intervals, by group."""
    found = {}
    shown = estimate_statistics(asked, answers)
    orders = iter(["q0", "q33.333", "q50", "q100"])
    for one in shown:
        name = next(orders) if "_p" in one.name else one.name
        found[name] = one.estimate.low, one.estimate.high
    for frame in frames(asked, answers):
        shown = frame.counts.estimate
        low, high = (part.reshape(asked.plan.layout.cells, -1) for part in (shown.low, shown.high))
        found |= {f"bin {place}": (low[:, place], high[:, place]) for place in range(2)}
    return found


def request(by, neighbours, asked, *, imputed=False):
    table = dp.Table(SCHEMA, neighbours).clamp({"v": (0, 3)})
    table = table.impute({"v": dp.Uniform(lower=1, upper=1)}) if imputed else table
    return table.group_by(*by).agg(*asked).original("anywhere", prepared=imputed)


@pytest.fixture
def without_noise(monkeypatch):
    """Half-widths of 0, as they are for noise of 0."""
    monkeypatch.setattr(CompletedMeanRecipe, "_halves", lambda _self, _noises, starts, _stops: np.zeros(starts.shape))
    for module in (counts, histograms, completed_sums, completed_variances):
        monkeypatch.setattr(module, "half_width_of", lambda *_args: 0)
    monkeypatch.setattr(ranks, "_half_widths", lambda tree, *_args: np.zeros(tree.top))


def random_rows(rng, *, size, nulls):
    return [
        (
            None if rng.random() < nulls else str(rng.choice(["x", "y"])),
            None if rng.random() < nulls else int(rng.integers(-2, 5)),
        )
        for _ in range(size)
    ]


EXACT = {False: ("count", "sum", "mean", "bin"), True: ("count", "share")}
"""Ends that are reached by a completion, in the whole table and in groups.

The greatest variance has values that need not be whole rows at either end; a row without a label stands in the bounds of a
group with any value, also where its value is known; quantiles end with a leaf of the tree.
"""


def still(asked):
    """The same quote, of which every half-width that is not patched is 0."""
    return replace(asked, lines=tuple(replace(one, level=Fraction(0)) for one in asked.lines))


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("added", [True, False], ids=["add-remove", "replace-one"])
@pytest.mark.parametrize("by", [[], ["g"]], ids=["whole", "groups"])
def test_without_noise_the_ends_are_those_of_the_worst_completions(by, added, without_noise):
    rng = np.random.default_rng(8)
    for trial in range(25):
        rows = random_rows(rng, size=int(rng.integers(2, 6)), nulls=0.35)
        neighbours = dp.AddRemove() if added else dp.ReplaceOne(rows=len(rows))
        asked = still(quote(request(by, neighbours, GROUPED if by else ASKED), dp.ZCDP(10)))
        ends = intervals(asked, exact(asked, rows))
        for cell, group in enumerate(["x", "y"] if by else [None]):
            every = [statistics_of(table, group) for table in completed(rows, labels=["x", "y"])]
            for name, (low, high) in ends.items():
                values = [one[name] for one in every if name in one]
                if not values or (name.startswith(("mean", "variance", "std", "q")) and not known(rows, group)):
                    continue
                least, greatest = min(values), max(values)
                shown = (trial, name, rows, group, (low[cell], high[cell]), (least, greatest))
                assert low[cell] <= least + 1e-6, shown
                assert high[cell] >= greatest - 1e-6, shown
                if name.startswith(EXACT[bool(by)]):
                    assert low[cell] == pytest.approx(least, abs=1e-5), shown
                    assert high[cell] == pytest.approx(greatest, abs=1e-5), shown


@pytest.mark.parametrize("bounds", [(2, 5), (-5, -2)], ids=str)
@pytest.mark.parametrize("added", [True, False], ids=["add-remove", "replace-one"])
def test_a_row_without_a_label_may_be_elsewhere_whatever_the_sign_of_its_value_is(added, bounds, without_noise):
    """Where no value is 0 such a row adds a value or nothing, and the ends of a sum are those of all completions."""
    low, high = bounds
    for rows in ([(None, None)], [("x", low), (None, None)], [("x", high), ("y", low), (None, None), (None, None)]):
        table = dp.Table(
            dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(low, high)),
            dp.AddRemove() if added else dp.ReplaceOne(rows=len(rows)),
        )
        asked = still(quote(table.group_by("g").agg(dp.sum("v", **SKIP)).original("anywhere"), dp.ZCDP(10)))
        ends = intervals(asked, exact(asked, rows))["sum_v_original"]
        options = [
            [(h, w) for h in ("xy" if g is None else g) for w in ((low, high) if v is None else (v,))] for g, v in rows
        ]
        for cell, group in enumerate("xy"):
            sums = [sum(v for g, v in one if g == group) for one in product(*options)]
            assert ends[0][cell] == pytest.approx(min(sums)), (rows, group)
            assert ends[1][cell] == pytest.approx(max(sums)), (rows, group)


def known(rows, group):
    return any(v is not None and group in (None, g) for g, v in rows)


# With noise ---------------------------------------------------------------------------------------------------------------

SMALL = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 2))
TINY = [rows for n in (1, 2, 3) for rows in combinations_with_replacement([None, 0, 1, 2], n)]


def covered(asked, rows, name, ends):
    """The probability with which the interval holds both ends, from the law of the noise of at most three queries."""
    answers = exact(asked, rows)
    most = 40 if len(asked.measured) == 2 else 16
    spread = [masses(one.law.independent, most) for one in asked.measured]
    grid = np.meshgrid(*(values for values, _ in spread), indexing="ij")
    weight = spread[0][1]
    for _, chances in spread[1:]:
        weight = weight[..., None] * chances
    noisy = [answer[0] + noise.ravel() for answer, noise in zip(answers, grid, strict=True)]
    (line,) = [one for one in asked.lines if one.statistic.name == name]
    cells = len(noisy[0])
    noises = replace(asked.noises(line), cells=cells)
    values = {one.asked: part for one, part in zip(asked.measured, noisy, strict=True)}
    found = line.recipe.estimates(Answers(noises, values, slice(0, cells)))[0]
    held = (found.low <= ends[0] + 1e-12) & (ends[1] - 1e-12 <= found.high)
    return float(weight.ravel()[held].sum() / weight.sum())


def least_coverage(spend, statistic, neighbours, tables):
    """The least coverage over these tables, of which none is without a known value."""
    worst = 1.0
    for rows in tables:
        relation = dp.AddRemove() if neighbours == "add-remove" else dp.ReplaceOne(rows=len(rows))
        asked = quote(dp.Table(SMALL, relation).agg(statistic).original("anywhere", prepared=False), spend)
        values = [[0, 2] if v is None else [v] for v in rows]
        reached = [sum(one) / (len(one) if statistic.kind.word == "mean" else 1) for one in product(*values)]
        (name,) = [one.statistic.name for one in asked.lines]
        worst = min(worst, covered(asked, [("x", v) for v in rows], name, (min(reached), max(reached))))
    return worst


@pytest.mark.slow
@pytest.mark.one_in(7)
@pytest.mark.parametrize("spend", [dp.PureDP("0.5"), dp.PureDP(1), dp.PureDP(3), dp.ZCDP("0.5"), dp.ZCDP(2)], ids=str)
@pytest.mark.parametrize("statistic", [dp.mean("v", **SKIP), dp.sum("v", **SKIP)], ids=["mean", "sum"])
def test_both_ends_hold_the_worst_completions_with_95_percent_for_every_table(spend, statistic):
    assert least_coverage(spend, statistic, "replace-one", TINY) >= 0.95 - 2e-6


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("spend", [dp.PureDP(3), dp.ZCDP(2)], ids=str)
@pytest.mark.parametrize("statistic", [dp.mean("v", **SKIP), dp.sum("v", **SKIP)], ids=["mean", "sum"])
def test_the_same_where_the_number_of_rows_is_private(spend, statistic):
    assert least_coverage(spend, statistic, "add-remove", TINY[4:14]) >= 0.95 - 2e-6


@pytest.mark.slow
def test_an_interval_that_forgets_the_nulls_would_be_noticed(monkeypatch):
    class Forgets(completions.PublicRows):
        def counts(self, answers, known):
            nulls, others = super().counts(answers, known)
            return 0 * nulls, others

    monkeypatch.setattr(completions, "PublicRows", Forgets)
    assert least_coverage(dp.ZCDP(8), dp.sum("v", **SKIP), "replace-one", TINY) < 0.01
    assert least_coverage(dp.ZCDP(8), dp.mean("v", **SKIP), "replace-one", TINY) < 0.9


@pytest.mark.slow
def test_two_ends_that_may_each_fail_with_5_percent_would_be_noticed(monkeypatch):
    """The mutant that takes α at each end; 100,000 draws of noise, of a table of 300 rows of which 80 have no value."""
    assert 0.949 < of_many_draws() < 0.965
    both = tilts.reach_of_scaled
    monkeypatch.setattr(completed_means, "reach_of_scaled", lambda scaled, level: both(scaled, 1 - 2 * (1 - level)))
    assert of_many_draws() < 0.92


def of_many_draws():
    """How often a mean holds both of its worst completions."""
    table = dp.Table(dp.Schema(v=dp.Number(0, 100)), dp.ReplaceOne(rows=300))
    asked = quote(table.agg(dp.mean("v", **SKIP)).original("anywhere"), dp.ZCDP("0.05"))
    (line,) = [one for one in asked.lines if one.statistic.name == "mean_v_original"]
    rng, values, draws = np.random.default_rng(3), [30] * 220, 100_000
    exactly = {"non-null v": len(values), "sum of v": sum(2 * value - 100 for value in values) // 2}
    noisy = {
        one.asked: exactly[one.query.words()] + rng.normal(0, float(one.law.sigma2) ** 0.5, draws).round().astype(np.int64)
        for one in asked.measured
    }
    noises = replace(asked.noises(line), cells=draws)
    found = line.recipe.estimates(Answers(noises, noisy, slice(0, draws)))[0]
    worst = sum(values) / 300, (sum(values) + 80 * 100) / 300
    return float(((found.low <= worst[0]) & (worst[1] <= found.high)).mean())


def test_exact_numbers_of_nulls_do_not_move_an_end():
    """What is recorded reaches a release through noisy answers alone: a row more without a value is in one of them."""
    asked = quote(dp.Table(SMALL, dp.AddRemove()).agg(dp.mean("v", **SKIP)).original("anywhere", prepared=False), dp.ZCDP(1))
    assert sorted(one.query.words() for one in asked.measured) == ["non-null v", "null v", "sum of v"]
    public = quote(dp.Table(SMALL, dp.ReplaceOne(rows=9)).agg(dp.mean("v", **SKIP)).original("anywhere"), dp.ZCDP(1))
    assert sorted(one.query.words() for one in public.measured) == ["non-null v", "sum of v"]
    rows = [("x", 1), ("x", None), ("x", 2)]
    answers, further = exact(asked, rows), exact(asked, [*rows, ("x", None)])
    moved = [one.query.words() for one, a, b in zip(asked.measured, answers, further, strict=True) if (a != b).any()]
    assert moved == ["null v"]


def test_the_number_of_nulls_is_free_beside_the_known_values():
    """A row is known or null, so that the sum and the count get as much as without the other count."""
    for relation, spend in product([dp.AddRemove(), dp.ReplaceOne(rows=9)], [dp.PureDP(1), dp.ZCDP(1)]):
        table = dp.Table(SMALL, relation).group_by("g").agg(dp.mean("v", **SKIP))
        one, other = (quote(table.original(word, prepared=False), spend) for word in ("recorded", "anywhere"))
        laws = {measured.query.words(): measured.law for measured in other.measured}
        for measured in one.measured:
            shares = [float(law.variance()) for law in (measured.law, laws[measured.query.words()])]
            assert shares[1] <= shares[0] * 1.001


# Ends of quantiles and variances ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("by", "added", "spend"),
    [([], True, dp.PureDP(2)), ([], False, dp.ZCDP("0.5")), (["g"], True, dp.ZCDP("0.5")), (["g"], False, dp.PureDP(2))],
    ids=str,
)
def test_all_ends_hold_the_worst_completions_nearly_always(by, added, spend):
    """Draws of all statistics together; of single tables the law of the noise is above."""
    rng, bits = np.random.default_rng(4), system_bits()
    missed, drawn = {}, {}
    for _ in range(3):
        rows = random_rows(rng, size=30, nulls=0.15)
        neighbours = dp.AddRemove() if added else dp.ReplaceOne(rows=len(rows))
        asked = quote(request(by, neighbours, GROUPED if by else ASKED), spend)
        answers = exact(asked, rows)
        for cell, group in enumerate(["x", "y"] if by else [None]):
            worst = extremes(rows, group)
            for _ in range(25):
                ends = intervals(asked, noisy_answers(asked, [one.copy() for one in answers], bits))
                for name, (low, high) in ends.items():
                    if name in worst:
                        least, greatest = worst[name]
                        missed[name] = missed.get(name, 0) + (low[cell] > least + 1e-6 or high[cell] < greatest - 1e-6)
                        drawn[name] = drawn.get(name, 0) + 1
    assert len(drawn) >= 10
    for name, times in drawn.items():
        assert missed[name] <= binom.isf(1e-9, times, 0.05), (name, missed[name], times)


def extremes(rows, group):
    """Of each statistic the least and the greatest value in some completions: all nulls low, all high, half of each."""
    found = {}
    labels = [group, "y" if group == "x" else "x"] if group else ["x"]
    for label, low in product(labels, range(5)):
        table, place = [], 0
        for g, v in rows:
            place += v is None
            filled = [-2, 4, (-2, 4)[place % 2], 0, (4, -2)[place % 2]][low] if v is None else v
            table.append((label if g is None else g, filled))
        for name, value in statistics_of(table, group).items():
            least, greatest = found.get(name, (value, value))
            found[name] = min(least, value), max(greatest, value)
    return found


def test_the_noise_of_those_without_a_label_is_in_the_ends_of_a_sum():
    """An end of a sum in a group has the noise of five counts and sums: its own, and two of the rows without a label."""
    asked = quote(
        dp.Table(SCHEMA, dp.AddRemove()).group_by("g").agg(dp.sum("v", **SKIP)).original("anywhere"), dp.ZCDP("0.001")
    )
    answers = exact(asked, [("x", 1)] * 5)
    low, high = (ends[0] for ends in intervals(asked, answers)["sum_v_original"])
    variance = {one.query.words(): float(one.law.sigma2) for one in asked.measured}
    alone = variance["sum of v"] + variance["non-null v"]  # values from 1, the midpoint of -2 and 4
    lacking = variance["non-null v"] + variance["null v"]
    for end, value in ((5 - low, -2), (high - 5, 4)):
        assert end == pytest.approx(1.96 * (alone + value**2 * (variance["null v"] + lacking)) ** 0.5, rel=0.03)
    positive = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(2, 5))
    table = dp.Table(positive, dp.AddRemove()).group_by("g").agg(dp.sum("v", **SKIP)).original("anywhere")
    asked = quote(table, dp.ZCDP("0.001"))
    low = intervals(asked, exact(asked, [("x", 2)] * 5 + [(None, None)] * 500))["sum_v_original"][0][0]
    variance = {one.query.words(): float(one.law.sigma2) for one in asked.measured}
    assert 10 - low >= 1.95 * 2 * variance["null v"] ** 0.5, "the rows without a label may all be elsewhere"
