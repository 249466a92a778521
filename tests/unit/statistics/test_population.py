"""Intervals for the population: the tail against integration, variances against every possible draw, words and refusals."""

from __future__ import annotations

import json
import re
from itertools import combinations, product
from math import log, prod, sqrt

import numpy as np
import polars as pl
import pytest
from tests.laws.replay import cubes_of

import discreet as dp
from discreet.pages.report import render
from discreet.quotes.allocate import quote
from discreet.releases.derived.operands import numbers
from discreet.releases.derived.reading import Printed
from discreet.releases.evaluate import exact_answers
from discreet.statistics import population
from discreet.statistics.population_tails import Part, beyond, quotients_within, sums_within
from discreet.statistics.recipe import Answers

pytestmark = pytest.mark.usefixtures("one_artist")

SCHEMA = dp.Schema(
    x=dp.Number(0, 6), z=dp.Number(1, 3), w=dp.Number(1, 4, step="0.5"), s=dp.Category(["a", "b"], required=True)
)
TABLE = dp.Table(SCHEMA, dp.AddRemove())
BY = dp.Weight("w", most=4)
SKIP = {"nulls": "skip"}
POISSON = dp.PoissonDesign()


# The tail ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deviation", "scales"),
    [(1.0, []), (1.0, [2.0]), (3.0, [0.1]), (0.05, [1.0]), (1.0, [3.0, 1.0]), (2.0, [0.3, 0.0]), (0.5, [1.0, 1.0])],
    ids=str,
)
def test_the_tail_is_that_of_the_sum(deviation, scales):
    grid = np.arange(-400, 401) * 0.1
    density = np.exp(-((grid / deviation) ** 2) / 2)
    for scale in scales:
        if scale:
            density = np.convolve(density / density.sum(), np.exp(-np.abs(grid) / scale), mode="same")
    density = density / density.sum()
    for x in (0.55, 2.05, 6.05):
        if deviation >= 0.5 and min(scales, default=1.0) != 0.1:  # the grid is too coarse for others
            found = float(beyond(np.array([x]), np.array([deviation**2]), [np.array([one]) for one in scales])[0])
            near = density[np.abs(grid) > x].sum()
            assert near * 0.98 - 1e-4 <= found <= near * 1.1 + 1e-4
    found = beyond(np.array([0.0, 1e-9, 1e3]), np.full(3, deviation**2), [np.full(3, one) for one in scales])
    assert found[0] > 0.999
    assert found[2] < 1e-9


def test_half_widths_and_sets_end_where_the_tail_says():
    variance = np.array([0.0, 1.0, 400.0])
    for part in (Part(0.0, 3.0, (1.0, 0.0)), Part(2.0, 0.0, (1.0, 0.0))):
        half = sums_within(variance, part, 0.05) - 1
        tails = beyond(half, variance + part.deviation**2, [np.full(3, part.scale)] if part.scale else [])
        assert tails == pytest.approx([0.05] * 3, rel=1e-3)
    parts = [Part(0.0, 3.0, (1.0, 0.0)), Part(0.0, 1.0, (0.0, 1.0))]
    low, high = quotients_within(
        np.array([50.0]), np.array([100.0]), parts, lambda t: 25 + 0 * t, ends=(-2.0, 2.0), failing=0.05
    )
    for t, before in ((low[0], 1e-3), (high[0], -1e-3)):
        distances = [abs(50 - one * 100) - 1 - abs(one) for one in (t, t + before)]
        tails = [float(beyond(np.array([d]), np.array([25.0]), [np.array([3.0]), np.array([t])])[0]) for d in distances]
        assert tails[0] <= 0.0501
        assert tails[1] > 0.05
    none = quotients_within(np.array([0.0]), np.array([0.0]), parts, lambda t: 0 * t, ends=(-2.0, 2.0), failing=0.05)
    assert [one[0] for one in none] == [-2.0, 2.0]


# The variance of the draw -----------------------------------------------------------------------------------------------


PEOPLE = [(6, 1, 2), (0, 2, 3), (3, 3, 4), (5, 1, 1), (2, 2, 2)]
"""Values, denominators and weights of a population of five."""


@pytest.fixture
def unshifted(monkeypatch):
    """Variances as they are, not moved upwards by their own noise."""
    monkeypatch.setattr(population, "UPWARDS", 0.0)


def variances(asked, samples):
    """For each sample the variance that its interval is made of, and its estimate; there is hardly any noise."""
    found = []
    quoted = quote(TABLE.agg(asked), dp.ZCDP(10**9))
    (line,) = quoted.lines
    for rows in samples:
        codes = [{"x": x, "z": z - 1, "w": int(2 * (w - 1)), "s": 0} for x, z, w in rows]
        answers = exact_answers(quoted, cubes_of(quoted.plan, codes), None)
        values = {one.asked: answer for one, answer in zip(quoted.measured, answers, strict=True)}
        _, for_all = line.recipe.estimates(Answers(quoted.noises(line), values, slice(0, 1)))
        half = float(for_all.high[0] - for_all.low[0]) / 2 - 0.5  # a noise of whole numbers counts in half steps
        found.append(((max(half, 0.0) / 1.959964) ** 2, float(for_all.value[0])))
    return np.array(found).T


@pytest.mark.usefixtures("unshifted")
def test_the_variance_of_independent_draws_is_never_underestimated():
    """Over all samples: E V = Var + Σ x²/4w, as the proof says."""
    masks = list(product([0, 1], repeat=len(PEOPLE)))
    chances = [prod(1 / w if kept else 1 - 1 / w for kept, (_, _, w) in zip(mask, PEOPLE, strict=True)) for mask in masks]
    samples = [[one for one, kept in zip(PEOPLE, mask, strict=True) if kept] for mask in masks]
    estimated, values = variances(dp.weighted_sum("x", BY, design=POISSON, **SKIP), samples)
    truth = chances @ values**2 - sum(x for x, _, _ in PEOPLE) ** 2
    assert truth == pytest.approx(sum((w - 1) * x * x for x, _, w in PEOPLE))
    assert chances @ estimated == pytest.approx(truth + sum(x * x / (4 * w) for x, _, w in PEOPLE), rel=0.02)


def test_the_certified_interval_of_a_sum_covers_every_population():
    """The exact coverage over all samples, with hardly any noise; and far more than the normal one for few persons."""
    masks = list(product([0, 1], repeat=len(PEOPLE)))
    chances = np.array(
        [prod(1 / w if kept else 1 - 1 / w for kept, (_, _, w) in zip(mask, PEOPLE, strict=True)) for mask in masks]
    )
    samples = [[one for one, kept in zip(PEOPLE, mask, strict=True) if kept] for mask in masks]
    true, held = sum(x for x, _, _ in PEOPLE), {}
    for design in (POISSON, dp.CertifiedPoissonDesign()):
        found, values = variances(dp.weighted_sum("x", BY, design=design, **SKIP), samples)
        half = 1.959964 * found**0.5 + 0.5
        held[design] = float(chances @ (np.abs(values - true) <= half))
    assert held[dp.CertifiedPoissonDesign()] >= 0.95
    assert held[POISSON] < 0.95, "five persons are too few for a normal approximation"


def test_the_certified_half_width_is_the_inequality_solved_by_bisection():
    """The largest V that is not refuted by the squares Q, V − √(2BVL) ≤ Q, in Bernstein's inequality for the sum."""
    sample = PEOPLE[:3]
    found, _ = variances(dp.weighted_sum("x", BY, design=dp.CertifiedPoissonDesign(), **SKIP), [sample])
    squares, greatest, failing = sum((w - 0.5) ** 2 * x * x for x, _, w in sample), 3.5**2 * 6**2, 0.05 / 4
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        possible = middle - sqrt(2 * greatest * middle * log(1 / failing)) <= squares
        low, high = (middle, high) if possible else (low, middle)
    half = sqrt(2 * low * log(2 / failing)) + 4 * 6 * log(2 / failing) / 3
    assert 1.959964 * found[0] ** 0.5 + 0.5 == pytest.approx(half, rel=1e-4)


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("unshifted")
@pytest.mark.parametrize("of", [None, 5], ids=["with replacement", "without"])
def test_the_variance_of_draws_one_by_one_is_that_of_all_draws(of):
    values = [x for x, _, _ in PEOPLE]
    draws = product(range(5), repeat=2) if of is None else combinations(range(5), 2)
    samples = [[(values[i], 1, 2.5) for i in draw] for draw in draws]
    estimated, found = variances(dp.weighted_sum("x", BY, design=dp.ReplacementDesign(2, of), **SKIP), samples)
    assert estimated.mean() == pytest.approx(found.var(), rel=0.02)
    larger, _ = variances(dp.weighted_sum("x", BY, design=dp.DesignEffect(4, 2), **SKIP), samples)
    assert larger.mean() == pytest.approx(4 / (1 if of is None else 0.6) * found.var(), rel=0.02)


@pytest.mark.usefixtures("unshifted")
@pytest.mark.parametrize("word", ["mean", "ratio", "share"])
def test_quotients_have_the_variance_of_what_is_left_of_them(word):
    """Without noise: the set of t with (S − tN)² ≤ z²·Σ(w − ½)²(x − tz)², by a scan over t."""
    rows = [one for one in PEOPLE for _ in range(12)]
    make = {
        "mean": lambda: dp.weighted_mean("x", BY, design=POISSON, **SKIP),
        "ratio": lambda: dp.weighted_ratio("x", "z", BY, design=POISSON, **SKIP),
    }
    if word == "share":
        quoted = quote(TABLE.group_by("s").agg(dp.weighted_share(BY, design=POISSON, **SKIP)), dp.ZCDP(10**9))
        parts = [(float(place % 3 == 0), 1.0, w) for place, (_, _, w) in enumerate(rows)]
    else:
        quoted = quote(TABLE.agg(make[word]()), dp.ZCDP(10**9))
        parts = [(x, z if word == "ratio" else 1.0, w) for x, z, w in rows]
    codes = [{"x": x, "z": z - 1, "w": int(2 * (w - 1)), "s": int(place % 3 > 0)} for place, (x, z, w) in enumerate(rows)]
    answers = exact_answers(quoted, cubes_of(quoted.plan, codes), None)
    values = {one.asked: answer for one, answer in zip(quoted.measured, answers, strict=True)}
    (line,) = quoted.lines
    found = line.recipe.estimates(Answers(quoted.noises(line), values, slice(0, quoted.plan.layout.cells)))[1]
    a, b, w = (np.array(one, dtype=float) for one in zip(*parts, strict=True))
    t = np.linspace(0, 6, 600_001)
    sums, counts = (a * w).sum(), (b * w).sum()
    q2, q1, q0 = (((w - 0.5) ** 2 * one).sum() for one in (a * a, a * b, b * b))
    inside = t[(sums - t * counts) ** 2 <= 1.959964**2 * (q2 - 2 * t * q1 + t * t * q0)]
    near = 0.001 * (inside.max() - inside.min()) + (1 + inside.max()) / counts  # and whole numbers of half steps
    assert found.low[0] == pytest.approx(max(inside.min(), 0), abs=near)
    assert found.high[0] == pytest.approx(inside.max(), abs=near)


@pytest.mark.parametrize("make", [dp.weighted_sum, dp.weighted_mean])
def test_the_variance_is_moved_up_by_its_own_noise(make, monkeypatch):
    """So it is too small in 5 % of all cases, where it would be in half of them."""
    quoted = quote(TABLE.agg(make("x", BY, design=POISSON, **SKIP)), dp.ZCDP("0.5"))
    (line,) = quoted.lines
    codes = [{"x": k % 7, "z": 0, "w": k % 7, "s": k % 2} for k in range(400)]
    answers = exact_answers(quoted, cubes_of(quoted.plan, codes), None)
    exact = {one.asked: answer for one, answer in zip(quoted.measured, answers, strict=True)}
    generator = np.random.default_rng(3)
    noisy = {query: np.full(1000, answer[0]) for query, answer in exact.items()}
    for query, _ in line.recipe.queries[1 if make is dp.weighted_sum else 2 :]:  # the squares alone have noise
        deviation = quoted.noises(line).law(query).independent.variance() ** 0.5
        noisy[query] += np.round(generator.normal(0, deviation, 1000)).astype(np.int64)

    def widths(values, many):
        low, high = line.recipe.drawn.ends(Answers(quoted.noises(line), values, slice(0, many)), POISSON, 0.05)
        return high - low

    found = widths(noisy, 1000)
    monkeypatch.setattr(population, "UPWARDS", 0.0)
    assert (found >= widths(exact, 1)).mean() > 0.93
    assert 0.4 < (widths(noisy, 1000) >= widths(exact, 1)).mean() < 0.6


# What is published ------------------------------------------------------------------------------------------------------


def released(*statistics, spend=4, together=False):
    frame = pl.DataFrame(
        {
            "x": [k % 7 for k in range(4000)],
            "z": [1 + k % 3 for k in range(4000)],
            "w": [1 + k % 7 / 2 for k in range(4000)],
            "s": ["a", "b"] * 2000,
        }
    )
    with dp.Session(
        frame, SCHEMA, dataset="d", ledger=":memory:", budget=dp.PureDP(spend), neighbours=dp.AddRemove()
    ) as session:
        request = session.table.group_by("s").agg(*statistics)
        request = request.simultaneous() if together else request
        return session.quote(request, spend=spend), session.release(request, spend=spend, name="r")


DESIGNS = {
    "poisson": (POISSON, "independently of all others"),
    "replacement": (dp.ReplacementDesign(4000, of=9000), "4000 of 9000 persons"),
    "effect": (dp.DesignEffect("2.5", 4000), "2.5 times"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("word", DESIGNS)
def test_columns_documents_quotes_and_reports_say_what_the_interval_rests_on(word):
    design, says = DESIGNS[word]
    quoted, release = released(
        dp.weighted_mean("x", BY, design=design, **SKIP),
        dp.weighted_share(BY, design=design, **SKIP),
        dp.weighted_sum("x", BY, **SKIP),
    )
    table = release.table
    for name in ("weighted_mean_x", "weighted_share_w"):
        own, whole = name, f"{name}_population_{word}"
        assert (table[own] == table[whole]).all()
        assert (table[f"{whole}_low"] <= table[f"{own}_low"]).all()
        assert (table[f"{whole}_high"] > table[f"{own}_high"]).all()
    assert not [name for name in table.columns if name.startswith("weighted_sum_x_pop")]
    line = release.document["statistics"][0]
    assert says in line["population"]
    assert "approximately" in release.document["interval"]["covers"]
    assert f"(noise alone; wider for the population, where {design.words()})" in str(quoted)
    page = re.sub(r"\s+", " ", render(release))
    assert "for the population" in page
    assert says in page
    assert "für die Grundgesamtheit" in render(release, language="de")
    shown = json.dumps(release.quality.to_dicts())
    assert f"weighted_mean_x_population_{word}" in shown


def test_a_number_of_the_population_is_never_read_as_noise_alone():
    _, release = released(dp.weighted_sum("x", BY, design=POISSON, **SKIP))
    found = numbers(release, "weighted_sum_x_population_poisson")
    assert all(isinstance(one, Printed) for one in found.cells.values())
    assert not any(isinstance(one, Printed) for one in numbers(release, "weighted_sum_x").cells.values())


def test_strata_add_up_as_squares():
    _, release = released(dp.weighted_mean("x", BY, design=POISSON, **SKIP))
    sizes = dp.constants({"s": ["a", "b"], "n": [3000, 1000]})
    found = dp.poststratified(numbers(release, "weighted_mean_x_population_poisson"), sizes)
    (row,) = found.table.to_dicts()
    printed = {one["s"]: one for one in release.table.to_dicts()}
    parts = [
        (n, *(printed[s][f"weighted_mean_x_population_poisson{end}"] for end in ("", "_low", "_high")))
        for s, n in (("a", 3000), ("b", 1000))
    ]
    value = sum(n * one for n, one, _, _ in parts)
    assert row["total"] == pytest.approx(value)
    assert row["total_low"] == pytest.approx(value - sum((n * (one - low)) ** 2 for n, one, low, _ in parts) ** 0.5)
    assert row["mean_high"] == pytest.approx(
        (value + sum((n * (high - one)) ** 2 for n, one, _, high in parts) ** 0.5) / 4000
    )
    assert "approximate" in str(found)
    with pytest.raises(dp.ArgumentError, match="simultaneous"):
        dp.poststratified(numbers(release, "weighted_mean_x"), sizes)
    with pytest.raises(dp.ArgumentError, match="leave it out"):
        dp.poststratified(numbers(release, "weighted_mean_x_population_poisson"), sizes, confidence="0.99")


def test_intervals_that_hold_together_are_wider():
    wide, narrow = (
        released(dp.weighted_mean("x", BY, design=POISSON, **SKIP), together=together)[1].table for together in (True, False)
    )
    ends = [f"weighted_mean_x_population_poisson_{end}" for end in ("low", "high")]
    for one, other in zip(wide.select(ends).rows(), narrow.select(ends).rows(), strict=True):
        assert one[1] - one[0] > 1.1 * (other[1] - other[0])


def test_without_a_design_a_plan_is_what_it_was():
    plain, drawn = (TABLE.agg(dp.weighted_mean("x", BY, **SKIP, **one)) for one in ({}, {"design": POISSON}))
    assert '"design"' not in json.dumps(plain.to_json() if hasattr(plain, "to_json") else plain.digest)
    assert plain.digest != drawn.digest


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dp.weighted_sum("x", BY, design="poisson"), "must be PoissonDesign()"),
        (lambda: dp.ReplacementDesign(1), "at least 2"),
        (lambda: dp.ReplacementDesign(10, of=9), "at least rows=10"),
        (lambda: dp.ReplacementDesign(of=9), "at least rows=None"),
        (lambda: dp.weighted_mean("x", BY, design=dp.CertifiedPoissonDesign()), "is for sums"),
        (lambda: dp.DesignEffect(0), "greater than 0"),
        (lambda: dp.DesignEffect(2, rows="many"), "at least 2"),
        # A double could not hold them, and the release would fail after its charge.
        (lambda: dp.DesignEffect("1e400"), "at most 1e6"),
        (lambda: dp.ReplacementDesign(10**400), "below 2**40"),
        (lambda: dp.ReplacementDesign(10, of=10**400), "below 2**40"),
    ],
)
def test_what_is_no_design_is_refused(make, says):
    with pytest.raises(dp.ArgumentError, match=re.escape(says)):
        make()


def test_a_real_survey_is_published_with_its_weights(shared):
    """Ages of 44,163 persons of the American Community Survey 2019 by sex, with the weights of its publisher."""
    persons = pl.read_parquet(shared / "data" / "tutorial" / "acs2019_persons.parquet").select("SEX", "AGEP", "PWGTP")
    persons = persons.with_columns(pl.col("SEX").cast(pl.Int64).cast(pl.String), pl.col("AGEP", "PWGTP").cast(pl.Int64))
    schema = dp.Schema(SEX=dp.Category(["1", "2"], required=True), AGEP=dp.Number(0, 95), PWGTP=dp.Number(0, 3000))
    by = dp.Weight("PWGTP", most=500)
    with dp.Session(
        persons, schema, dataset="acs", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.AddRemove()
    ) as session:
        table = session.table.clamp({"PWGTP": (0, 500)}).group_by("SEX")
        asked = table.agg(dp.weighted_mean("AGEP", by, design=dp.DesignEffect("1.9"), **SKIP))
        found = session.release(asked, spend=1, name="ages").table
    weights = pl.col("PWGTP").clip(0, 500)
    for row in found.to_dicts():
        of = persons.filter(pl.col("SEX") == row["SEX"])
        true = of.select((pl.col("AGEP") * weights).sum() / weights.sum()).item()
        half = row["weighted_mean_AGEP_high"] - row["weighted_mean_AGEP_low"]
        assert abs(row["weighted_mean_AGEP"] - true) < 3 * half < 1.5
        wide = row["weighted_mean_AGEP_population_effect_high"] - row["weighted_mean_AGEP_population_effect_low"]
        assert half < wide < 3
