"""The division of a spend, the choice of queries, and public counts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.cube.queries import NonNullCount, RowCount, WeightedSum
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.noise.single.sums import SumOfNoises
from discreet.plan.plan import plan_json
from discreet.privacy import ApproxDP
from discreet.privacy.amplify import Resampling
from discreet.privacy.coordinates import coordinates, from_coordinates
from discreet.quotes.allocate import quote
from discreet.quotes.quote import LEVEL
from discreet.statistics.counted import NoisyCount, PublicCount
from discreet.totals.exact_totals import exact_totals_of

SCHEMA = dp.Schema(s=dp.Category(["a", "b", "c"]), v=dp.Number(0, 10), w=dp.Number("-1", "1", "0.5"), k=dp.Number(7, 7))
ADD = dp.Table(SCHEMA, dp.AddRemove()).impute({"v": dp.Uniform(), "w": dp.Uniform(), "k": dp.Uniform()})
ONE = dp.Table(SCHEMA, dp.ReplaceOne(rows=100)).impute({"v": dp.Uniform(), "w": dp.Uniform(), "k": dp.Uniform()})


def queries(request):
    return [one.query for one in quote(request, dp.PureDP(1)).measured]


def test_statistics_share_primitives():
    asked = quote(ADD.group_by("s").agg(dp.count(), dp.mean("v"), dp.sum("v")), dp.PureDP(1))
    assert [one.query for one in asked.measured] == [RowCount(), WeightedSum("v", -5, 1, 10)]
    assert [one.share for one in asked.measured] == [Fraction(1, 2)] * 2


def test_the_spend_is_divided_in_proportion_to_the_weights():
    asked = quote(ADD.group_by("s").agg(dp.sum("v"), dp.sum("w", weight=3)), dp.ZCDP("0.4"))
    assert [one.guarantee for one in asked.measured] == [dp.ZCDP("0.1"), dp.ZCDP("0.3")]
    # One row more adds up to 10 units to a sum of v, and up to 2 half units to a sum of w: Δ₂² = 100 and 4.
    laws = [GaussianNoise(Fraction(100) / Fraction("0.2")), GaussianNoise(Fraction(4) / Fraction("0.6"))]
    assert [one.law for one in asked.measured] == laws


def test_a_shared_primitive_takes_the_greatest_weight():
    asked = quote(ADD.group_by("s").agg(dp.count(), dp.sum("v", weight=3), dp.mean("w", weight=2)), dp.PureDP(1))
    assert {type(one.query): one.share for one in asked.measured[:1]} == {RowCount: Fraction(3, 8)}
    assert [one.share for one in asked.measured[1:]] == [Fraction(3, 8), Fraction(2, 8)]


def test_a_sum_alone_is_taken_from_zero_and_needs_no_count():
    assert queries(ADD.group_by("s").agg(dp.sum("v"))) == [WeightedSum("v", 0, 1, 10)]
    asked = quote(ADD.agg(dp.sum("v")), dp.PureDP(1))
    assert asked.measured[0].law == LaplaceNoise(Fraction(10))
    assert asked.lines[0].recipe.count == PublicCount(0), "whatever it is, it is moved by 0"


def test_public_counts_cost_nothing():
    asked = quote(ONE.agg(dp.count(), dp.mean("v")), dp.PureDP(1))
    assert [one.query for one in asked.measured] == [WeightedSum("v", -5, 1, 10)]
    assert asked.lines[0].recipe.count == PublicCount(100)
    assert asked.measured[0].law == LaplaceNoise(Fraction(10))
    resized = quote(ADD.resize(50).agg(dp.count(), dp.mean("v")), dp.PureDP(1))
    assert resized.lines[1].recipe.count == PublicCount(50)


def test_counts_that_are_not_public_are_measured():
    assert RowCount() in queries(ONE.group_by("s").agg(dp.count()))
    assert RowCount() in queries(ONE.where({"v": (0, 5)}).agg(dp.mean("v")))
    skipping = dp.Table(SCHEMA, dp.ReplaceOne(rows=100)).agg(dp.mean("v", nulls="skip"))
    assert NonNullCount("v") in queries(skipping)
    assert RowCount() in queries(ADD.agg(dp.mean("v")))


def test_what_is_public_already_is_no_request():
    with pytest.raises(dp.PlanError, match="public already"):
        quote(ONE.agg(dp.count()), dp.PureDP(1))
    with pytest.raises(dp.PlanError, match="public already"):
        quote(ONE.agg(dp.sum("k"), dp.mean("k")), dp.PureDP(1))


def test_a_group_of_rows_costs_group_privacy():
    many = dp.Table(SCHEMA, dp.AddRemove(rows_per_person=3)).agg(dp.count())
    assert quote(many, dp.PureDP(1)).measured[0].guarantee == dp.PureDP("1/3")
    assert quote(many, dp.ZCDP(1)).measured[0].guarantee == dp.ZCDP("1/9")
    assert quote(many, dp.GDP(1)).measured[0].guarantee == dp.GDP("1/3")


def test_approximate_budgets_take_the_less_noisy_mechanism():
    counts = ADD.group_by("s").agg(dp.count())
    assert isinstance(quote(counts, dp.ApproxDP("0.1", "1e-12")).measured[0].law, LaplaceNoise)
    raw = dp.Table(SCHEMA, dp.AddRemove()).group_by("s")
    many = raw.agg(*[make(c, **skip) for make, skip in ((dp.count, {}), (dp.sum, {"nulls": "skip"})) for c in "vwk"])
    assert isinstance(quote(many, dp.ApproxDP("0.5", "1e-3")).measured[0].law, GaussianNoise)
    assert isinstance(quote(counts, dp.ApproxDP(1, 0)).measured[0].law, LaplaceNoise)
    resized = ADD.impute({"s": dp.Weights({"a": 1})}).resize(90, proportion="1.5").group_by("s").agg(dp.count())
    for request in (counts, resized):  # where only one of both mechanisms exists
        assert isinstance(quote(request, dp.ApproxDP(0, "1e-6")).measured[0].law, GaussianNoise)
        assert isinstance(quote(request, dp.ApproxDP(1, "1e-400")).measured[0].law, LaplaceNoise)
        with pytest.raises(dp.PlanError, match="spend: is 0"):
            quote(request, dp.ApproxDP(0, 0))


@given(
    st.lists(st.fractions(min_value=Fraction(1, 100), max_value=100), min_size=1, max_size=4),
    st.sampled_from([dp.PureDP("0.7"), dp.ZCDP("0.3"), dp.GDP("1.1"), dp.ApproxDP("0.5", "1e-6")]),
    st.integers(1, 4),
)
def test_the_parts_never_cost_more_than_the_spend(weights, spend, persons):
    table = dp.Table(SCHEMA, dp.AddRemove(rows_per_person=persons))
    parts = [dp.sum("v", nulls="skip", weight=weights[0])]
    parts += [dp.count(weight=w).alias(f"c{i}") for i, w in enumerate(weights[1:])]
    asked = quote(table.group_by("s").agg(*parts), spend)
    total = asked.measured[0].guarantee.group(persons)
    for one in asked.measured[1:]:
        total = total + one.guarantee.group(persons)
    target = dp.PureDP(spend.epsilon) if isinstance(spend, dp.ApproxDP) else spend
    if type(total) is not type(target):
        target = dp.GDP.for_approx(spend.epsilon, spend.delta)
    # GDP adds squares and rounds roots outwards: compare in the coordinates that add, with that rounding allowed.
    slack = Fraction(1, 2**70) if isinstance(total, dp.GDP) else 0
    assert coordinates(total)[0] <= coordinates(target)[0] * (1 + slack)


def test_noisy_parts_hold_together_at_the_level():
    """Each part of a statistic may err in its share of 5 %, as many parts as are noisy."""
    asked = quote(ADD.group_by("s").agg(dp.count(), dp.mean("v"), dp.std("w"), dp.share(), dp.median("v")), dp.PureDP(1))
    assert [1 - line.level for line in asked.lines] == [(1 - LEVEL) / parts for parts in (1, 2, 3, 2, 1)]
    public = quote(ONE.agg(dp.mean("v"), dp.variance("v"), dp.sum("v")), dp.PureDP(1))
    assert [1 - line.level for line in public.lines] == [(1 - LEVEL) / parts for parts in (1, 2, 1)]
    # All groups together have the public number of rows, so that only the numerator of a share is noisy.
    shares = quote(ONE.group_by("s").agg(dp.share()), dp.PureDP(1)).lines[0]
    assert (shares.recipe.every, shares.level) == (PublicCount(100), LEVEL)
    filtered = quote(ONE.where({"v": (0, 5)}).group_by("s").agg(dp.share()), dp.PureDP(1)).lines[0]
    assert (filtered.recipe.every, 1 - filtered.level) == (NoisyCount(RowCount()), (1 - LEVEL) / 2)


def test_the_noises_of_a_sum_count_as_one():
    """unit·(noise of the sum) + origin·(noise of the count) has the smallest half-width, less than the two together."""
    asked = quote(ADD.group_by("s").agg(dp.count(), dp.sum("v"), dp.sum("w")), dp.ZCDP("0.02"))
    line = asked.lines[1]
    total, noises = line.recipe.total, asked.noises(line)
    assert (line.level, total.unit, total.origin) == (LEVEL, 1, 5)
    (of_count, of_sum) = (noises.law(query).independent for query in (*line.recipe.count.queries, *total.queries))
    half, both = line.recipe.half_widths(noises), SumOfNoises(((1, of_sum), (5, of_count)))
    assert both.tail(half)[1] <= 1 - LEVEL < both.tail(half - 1)[0]
    assert half < 0.9 * (of_sum.half_width("0.975") + 5 * of_count.half_width("0.975"))
    assert dict(asked.expected)["sum_v"] == half
    around = asked.lines[2].recipe
    assert (around.total.origin, around.count) == (0, PublicCount(0)), "around 0 no count is needed"
    assert dict(asked.expected)["sum_w"] == noises.law(*around.total.queries).half_widths(LEVEL) / 2


def test_of_noise_that_keeps_totals_each_part_of_a_sum_has_a_half_width_of_its_own():
    totals = exact_totals_of(dp.Totals("s"), SCHEMA, None, 100)
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=100)).impute({"v": dp.Uniform()})
    by = table.group_by("s", dp.bins("v", [0, 5, 10]))
    asked = quote(by.agg(dp.count(), dp.sum("v")), dp.ZCDP(1), totals)
    line = asked.lines[1]
    noises, recipe = asked.noises(line), line.recipe
    (of_count, of_sum) = (noises.law(query) for query in (*recipe.count.queries, *recipe.total.queries))
    assert line.level == 1 - (1 - LEVEL) / 2
    expected = of_sum.half_widths(line.level) + 5 * of_count.half_widths(line.level)
    assert np.array_equal(np.broadcast_to(recipe.half_widths(noises), expected.shape), expected)


def test_simultaneous_intervals_divide_what_may_be_missed_among_all_noises():
    request = ADD.group_by("s").agg(dp.count(), dp.count("v"), dp.sum("v"), dp.share(), dp.quantiles("v", [0, 1]))
    request = replace(request, statistics=(*request.statistics, *ADD.agg(dp.histogram("w", [-1, 0])).statistics))
    asked = quote(request.simultaneous(), dp.PureDP(1))
    groups = 4
    # The counts (all of them of rows), the sums with them, the rows of all groups, two quantiles, and one bin.
    statements = groups + groups + 1 + 2 * groups + 1 * groups
    assert {1 - line.level for line in asked.lines} == {(1 - LEVEL) / statements}
    assert "together" in str(asked)
    assert [error for _, error in asked.expected] > [error for _, error in quote(request, dp.PureDP(1)).expected]
    public = quote(ONE.agg(dp.mean("v"), dp.count("v")).simultaneous(), dp.PureDP(1))
    assert [line.level for line in public.lines] == [LEVEL, LEVEL], "one noise alone"


def test_a_request_says_what_its_intervals_hold_and_keeps_its_digest_otherwise():
    request = ADD.agg(dp.count())
    assert request.simultaneous().simultaneous() == request.simultaneous()
    assert plan_json(request.simultaneous()) == {**plan_json(request), "intervals": "simultaneous"}
    assert "intervals" not in plan_json(request)
    assert request.digest != request.simultaneous().digest
    with pytest.raises(dp.PlanError, match="each, simultaneous"):
        replace(request, intervals="all")


def test_a_quote_reads_in_plain_words():
    table = ADD.impute({"s": dp.Weights({"a": 1})})
    shown = str(quote(table.resize(50, proportion=2).group_by("s").agg(dp.count(), dp.mean("v")), dp.PureDP(1)))
    assert "one person can move 2 rows" in shown
    assert "mean_v: ±" in shown


@pytest.mark.one_in(3)
@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=100), dp.AddRemove(rows_per_person=2)])
@pytest.mark.parametrize(("rows", "p"), [(100, "0.75"), (150, "1.5"), (90, "1.5"), (90, "2.5"), (150, 1)])
@pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("0.5"), dp.GDP(1), dp.ApproxDP(1, "1e-6")])
def test_a_resized_release_is_composed_inside_and_converted_once(spend, rows, p, neighbours):
    """Mathematics E9: what all parts guarantee together on the sample, seen from the original data, is the spend.

    A row of the sample cannot do its worst to all parts at once: together they cost `joint` of their sum.
    """
    table = dp.Table(SCHEMA, neighbours).impute({"s": dp.Weights({"a": 1}), "v": dp.Uniform(), "w": dp.Uniform()})
    asked = quote(table.resize(rows, proportion=p).group_by("s").agg(dp.count(), dp.mean("v"), dp.mean("w")), spend)
    inner = asked.measured[0].guarantee
    for one in asked.measured[1:]:
        inner = inner + one.guarantee
    assert asked.joint == (1 if isinstance(inner, dp.PureDP) else Fraction(2, 3))
    inner = from_coordinates(type(inner), (coordinates(inner)[0] * asked.joint,))
    sampling = Resampling(rows, p, neighbours)
    if isinstance(spend, ApproxDP):
        if isinstance(inner, dp.GDP):
            assert sampling.profile(inner).delta_at(spend.epsilon) <= spend.delta * (1 + Fraction(1, 10**9))
        else:
            assert sampling.guarantee(inner).epsilon <= spend.epsilon
        return
    outer = coordinates(sampling.guarantee(inner))[0]
    assert outer <= coordinates(spend)[0] * (1 + Fraction(1, 2**60))
    assert outer >= coordinates(spend)[0] * Fraction(999, 1000)


def test_beside_totals_a_resized_release_is_advertised_as_what_its_noise_is_without_them():
    """Two rows change where the totals stay, one where nobody counts them: a quarter of ρ, whatever is asked together."""
    schema = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Category(["p", "q"]), v=dp.Number(0, 10))
    totals = exact_totals_of(dp.Totals("a"), schema, None, 100)
    table = dp.Table(schema, dp.ReplaceOne(rows=100)).impute({"b": dp.Weights({"p": 1}), "v": dp.Uniform()}).resize(100)
    for statistics in ([dp.count()], [dp.count(), dp.mean("v")]):
        asked = quote(table.group_by("b").agg(*statistics), dp.ZCDP("0.5"), totals)
        assert (asked.group, asked.advertised) == (2, dp.ZCDP("0.125"))


def test_sampling_amplifies_once_and_only_where_it_can():
    table = ADD.impute({"s": dp.Weights({"a": 1})})
    request = table.resize(100, proportion="0.75").group_by("s").agg(dp.count())
    # Mathematics 1.7: (ε = 1, p = 3/4) gives ε_f = 1.19120436503011 on the resized table.
    assert float(quote(request, dp.PureDP(1)).measured[0].guarantee.epsilon) == pytest.approx(1.19120436503011, rel=1e-12)
    assert quote(request, dp.ZCDP(1)).measured[0].guarantee == dp.ZCDP(1)
    assert "sampling saves nothing" in str(quote(request, dp.ZCDP(1)))
    many = table.resize(90, proportion="1.5").group_by("s").agg(dp.count())
    assert quote(many, dp.ZCDP(1)).group == 2
