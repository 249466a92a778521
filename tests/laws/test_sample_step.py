"""The whole law of what is published of a sample of rows, on all tables of a few rows (W5 of docs/proofs/samples.md)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.domain.row_samples import Compared, SampleEach, SampleRows
from discreet.privacy.amplify import GaussianSample, Resampling, poisson, without_replacement
from discreet.privacy.subsample import Subsample, subsample_of
from discreet.quotes import allocate
from discreet.totals.exact_totals import exact_totals_of

from .literal_rows import Literal, all_tables
from .output_divergences import distinct, exact_noise, exact_values, within
from .output_law_cases import (
    ALL_SAMPLED,
    PLAIN,
    RECORDS,
    SAMPLED_PERSONS,
    SPENDS,
    Case,
    answers_on_the_cube,
    exactly_kept,
    inner_of,
    kept,
    noises_of,
    quote_of,
    tables_of,
)
from .test_output_law import some_tables
from .test_output_law_errors import assert_refuted

PURE = SPENDS[0]
SOME_POINTS = 100_000


@pytest.mark.one_in(28)
@pytest.mark.parametrize("case", ALL_SAMPLED, ids=str)
def test_the_loss_is_the_claimed_one_by_enumeration(case):
    found = [kept(quote_of(case, spend), tables_of(case, spend, 2), SOME_POINTS) for spend in SPENDS]
    assert sum(one.points > 0 for one in found) >= 2


@pytest.mark.one_in(7)
@pytest.mark.parametrize("case", [*ALL_SAMPLED, *SAMPLED_PERSONS], ids=str)
def test_log_ratios_are_at_most_the_claimed_one_exactly(case):
    assert exactly_kept(quote_of(case, PURE), tables_of(case, PURE, 2)).points


@pytest.mark.one_in(7)
@pytest.mark.parametrize("case", SAMPLED_PERSONS, ids=str)
def test_a_person_of_two_rows_is_charged_for_both(case):
    found = [kept(quote_of(case, spend), tables_of(case, spend, 3), SOME_POINTS) for spend in SPENDS]
    assert found[0].points


@pytest.mark.parametrize("sample", ["1/2", 1])
def test_the_claimed_loss_is_attained_exactly(sample):
    """With a public n; nothing smaller than E e^{εK} would do."""
    case = Case("a sum away from 0", dp.ReplaceOne(rows=2), None, sample)
    quoted, tables = quote_of(case, PURE), tables_of(case, PURE, 2)
    inner = inner_of(quoted)
    law = subsample_of(case.plan.facts.drawn, case.plan.neighbours).law
    noise = exact_noise([one.scale for one in noises_of(quoted)], inner.epsilon)
    values = [exact_values(pair, noise) for pair in distinct(tables.laws, tables.pairs)]
    most = sum(chance * noise.factor(k) for k, chance in enumerate(law))
    assert all(within(one, most) for one in values)
    assert not all(within(one, most * (1 - Fraction(1, 10**30))) for one in values)


@pytest.mark.parametrize("case", ALL_SAMPLED[::5], ids=str)
def test_sampling_on_the_cube_is_sampling_rows(case, monkeypatch):
    tables = tables_of(case, PURE, 2)
    for table in some_tables(tables, 3)[1:]:
        found = answers_on_the_cube(quote_of(case, PURE), tables.source(table), monkeypatch)
        assert found == tables.laws[table]


@pytest.mark.parametrize(("rows", "rate"), [(1, "1/10"), (3, "2/7")])
def test_the_gaussian_profile_is_the_exact_one(rows, rate):
    """Of one row the profile of the sampled Gaussian; the closed forms of S1 for one row."""
    public, secret = dp.ReplaceOne(rows=50), dp.AddRemove()
    each, fixed = SampleEach(Fraction(rate)), SampleRows(5 * rows)
    exact = GaussianSample(Fraction(1), Fraction(rate))
    for epsilon in ("0.1", "0.5", "1"):
        found = subsample_of(each, secret).profile(dp.GDP(1)).delta_at(epsilon)
        assert exact.delta_at(epsilon) <= found * (1 + 1e-12)
        assert found <= exact.delta_at(epsilon) * (1 + 1e-9)
    for inner in (dp.PureDP(1), dp.ApproxDP("0.7", "1e-6")):
        assert inner.through(subsample_of(each, secret).law) == poisson(inner, rate)
        assert inner.through(subsample_of(each, public).law) == poisson(inner, rate)
        assert inner.through(subsample_of(fixed, public).law) == without_replacement(inner, 5 * rows, 50)
        assert inner.through(subsample_of(fixed, secret).law) == inner


@pytest.mark.one_in(3)
@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize("persons", [1, 2])
def test_several_rows_have_the_law_of_a_resize_that_copies_nothing(persons, group):
    """Beside exact totals `group` rows differ together; a resize at s, of which no row is cut off, has the same K."""
    secret, public = dp.AddRemove(rows_per_person=persons), dp.ReplaceOne(50, persons)
    each, fixed = subsample_of(SampleEach(Fraction(1, 5)), secret, group), subsample_of(SampleRows(10), public, group)
    for found, resized in (
        (each, Resampling(10**6, "1/5", secret, group)),
        (fixed, Resampling(10, "1/5", public, group)),
    ):
        assert found.law == resized.law
        assert found.most == persons * group
        assert found.profile(dp.GDP(1)) == resized.profile(dp.GDP(1))
        assert found.gaussian(dp.ApproxDP(1, "1e-6")) == resized.gaussian(dp.ApproxDP(1, "1e-6"))


def test_rows_that_differ_beside_exact_totals_are_sampled_together():
    schema = dp.Schema(g=dp.Category(["x", "y"]), f=dp.Category(["p", "q"]))
    totals = exact_totals_of(dp.Totals("g"), schema, None, 50)
    request = dp.Table(schema, dp.ReplaceOne(50)).sample(rows=10).group_by("f").agg(dp.count())
    quoted = allocate.quote(request, PURE, totals)
    assert quoted.group == totals.adjacency.a == 2
    law = subsample_of(SampleRows(10), dp.ReplaceOne(50), 2).law
    assert inner_of(quoted).through(law).epsilon <= PURE.epsilon
    assert inner_of(quoted).through(law).epsilon > PURE.epsilon * Fraction(999, 1000)


@pytest.mark.parametrize("sample", ["1/2", 10])
def test_the_exact_totals_are_not_those_of_the_sample(sample):
    """The published numbers of x and y say nothing exact of a sample, whose counts would give its rows away."""
    schema = dp.Schema(g=dp.Category(["x", "y"]), f=dp.Category(["p", "q"]))
    totals = exact_totals_of(dp.Totals("g"), schema, None, 50)
    table = dp.Table(schema, dp.ReplaceOne(50))
    drawn = table.sample(rows=sample) if isinstance(sample, int) else table.sample(sample)
    for groups in (["g"], ["g", "f"]):
        (one,) = allocate.quote(drawn.group_by(*groups).agg(dp.count()), PURE, totals).measured
        assert one.query.words() == "rows"
        assert one.law.independent is not None, "no lattice"
        assert one.law.everywhere, "no cell without noise"
    with pytest.raises(dp.PlanError):
        allocate.quote(table.group_by("g").agg(dp.count()), PURE, totals)


def test_concentrated_guarantees_are_not_amplified():
    for step in (SampleEach(Fraction(1, 100)), SampleRows(1)):
        for inner in (dp.ZCDP("0.3"), dp.GDP("0.3")):
            for neighbours in (dp.AddRemove(), dp.ReplaceOne(rows=1000)):
                assert inner.through(subsample_of(step, neighbours).law) == inner
    assert dp.ZCDP(1).through(subsample_of(SampleEach(Fraction(1, 2)), dp.AddRemove(rows_per_person=3)).law) == dp.ZCDP(9)


# Planted errors -----------------------------------------------------------------------------------------------------------


def test_a_rate_of_a_table_with_a_private_number_of_rows_is_noticed(monkeypatch):
    """As if m rows of ñ were a sample of rate m/ñ: the table may have no more than m."""
    half = Subsample((Fraction(1, 2), Fraction(1, 2)), both=True)
    monkeypatch.setattr(allocate, "resampling_of", lambda _plan, _totals: half)
    assert_refuted(Case("a sum away from 0", dp.AddRemove(), None, 1).quoted(PURE))


@pytest.mark.parametrize("sample", ["1/2", "1/4"])
def test_a_row_that_vanishes_from_a_sample_is_counted(sample, monkeypatch):
    """Where n is public a sample is compared by rows that vanish, too: replacing alone is too little for a sum away from 0.

    A row of [2, 3] that is replaced moves the sum by 1; one that vanishes moves it by 3.
    """
    case = Case("imputed, far from 0", dp.ReplaceOne(rows=2), None, sample)
    monkeypatch.setitem(PLAIN, case.name, lambda t: t.impute({"v": dp.Uniform(3, 3)}).clamp({"v": (2, 3)}).agg(dp.sum("v")))
    assert exactly_kept(case.quoted(PURE), all_tables(Literal(case.quoted(PURE)), RECORDS, 2)).points
    monkeypatch.setattr(SampleEach, "compared", lambda _self, neighbours: Compared(neighbours, vanishes=False))
    assert_refuted(case.quoted(PURE))


def test_a_row_that_is_exchanged_in_a_sample_is_counted(monkeypatch):
    """m rows of a table to which a row is added: the row takes the place of another one."""
    case = Case("counts", dp.AddRemove(), None, 1)
    monkeypatch.setattr(SampleRows, "compared", lambda _self, neighbours: Compared(neighbours, vanishes=False))
    assert_refuted(case.quoted(PURE))


@pytest.mark.parametrize("spend", SPENDS[:3], ids=str)
def test_a_sample_that_is_promised_and_not_taken_is_noticed(spend):
    case = Case("a sum away from 0", dp.ReplaceOne(rows=2), None, 1)
    assert_refuted(replace(case.quoted(spend), plan=Case(case.name, case.neighbours).plan))


def test_a_sample_that_amplifies_twice_is_noticed(monkeypatch):
    """Each statistic converted by itself, as if it had a sample of its own (E9)."""
    case = Case("two counts", dp.ReplaceOne(rows=2), None, 1)
    monkeypatch.setitem(PLAIN, case.name, lambda t: t.agg(dp.count("v"), dp.count("g")))
    spend = dp.PureDP(2)
    quoted = case.quoted(spend)
    once = inner_of(quoted).epsilon
    law = subsample_of(case.plan.facts.drawn, case.plan.neighbours).law
    apart = 2 * dp.PureDP(1).functional(law).epsilon
    assert apart > once
    louder = [replace(one, law=replace(one.law, scale=one.law.scale * once / apart)) for one in quoted.measured]
    tables = all_tables(Literal(quoted), RECORDS, 2)
    with pytest.raises(AssertionError):
        kept(replace(quoted, measured=tuple(louder)), tables, np.inf)


@pytest.mark.parametrize("epsilon", ["0", "1/10", "1", "2"])
@pytest.mark.parametrize("mu", ["1/2", 2])
@pytest.mark.parametrize("rate", ["1/10", "4/5"])
def test_the_profile_of_a_row_that_is_exchanged_is_not_exceeded(rate, mu, epsilon):
    """Both rows move the answer by μ, in opposite directions; a row that only appears promises less."""
    parts = dp.AddRemove(person="home", part=True)
    sampled = subsample_of(SampleEach(Fraction(rate)), replace(parts, each="row"))
    claimed = sampled.profile(dp.GDP(mu)).delta_at(Fraction(epsilon))
    truth = of_exchanged(float(Fraction(rate)), float(Fraction(mu)), float(Fraction(epsilon)))
    assert truth <= claimed
    one = Subsample((1 - Fraction(rate), Fraction(rate)), both=True).profile(dp.GDP(mu)).delta_at(Fraction(epsilon))
    assert one < truth or epsilon == "2"


def of_exchanged(rate: float, mu: float, epsilon: float) -> float:
    """∫ (P − e^ε Q)⁺ of the two mixtures, from below but for the error of the trapezoidal rule."""
    places, step = np.linspace(-12, 12, 200_001, retstep=True)
    around, up, down = (np.exp(-((places - at) ** 2) / 2) / np.sqrt(2 * np.pi) for at in (0, mu, -mu))
    excess = (1 - rate) * around + rate * up - np.exp(epsilon) * ((1 - rate) * around + rate * down)
    return float(np.maximum(excess, 0).sum() * step) * (1 - 1e-9)


def test_losses_of_an_exchanged_row_are_those_of_two_steps():
    sampled = subsample_of(SampleEach(Fraction(1, 10)), replace(dp.AddRemove(person="home", part=True), each="row"))
    assert sampled.law == (Fraction(81, 100), Fraction(18, 100), Fraction(1, 100))
    assert sampled.exchanged == (Fraction(9, 10), 0, Fraction(1, 10))
    assert subsample_of(SampleEach(Fraction(1, 10)), dp.AddRemove()).exchanged is None
