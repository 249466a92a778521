"""The smallest spend that meets errors: met by the quote that is given back, and missed by the next smaller spend."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.builders import session_over

import discreet as dp
from discreet.privacy.coordinates import coordinates
from discreet.quotes import allocate
from discreet.quotes.allocate import quote
from discreet.quotes.spend_for_errors import quote_for

SCHEMA = dp.Schema(s=dp.Category(["a", "b", "c"]), v=dp.Number(0, 10), w=dp.Number("-1", "1", "0.5"))
TABLE = dp.Table(SCHEMA, dp.AddRemove()).impute({"v": dp.Uniform(), "w": dp.Uniform()})
BY = TABLE.group_by("s")
REQUESTS = {
    "counts": BY.agg(dp.count()),
    "moments": BY.agg(dp.count(), dp.mean("v"), dp.std("w"), dp.share(weight=2)),
    "quantiles": BY.agg(dp.median("v"), dp.histogram("w", [-1, 0, 1])),
    "margins": TABLE.agg(dp.tables(["s"], [dp.bins("v", [0, 5, 10])]), dp.sum("v")),
    "resized": TABLE.impute({"s": dp.Weights({"a": 1})}).resize(1000, proportion="0.5").group_by("s").agg(dp.mean("v")),
}
BUDGETS = [dp.PureDP(1), dp.ZCDP(1), dp.GDP(1), dp.ApproxDP(1, "1e-6")]


def amount(spend):
    """ε, ρ or μ, in which a spend has three digits."""
    return spend.mu if isinstance(spend, dp.GDP) else coordinates(spend)[0]


def with_amount(spend, value):
    if isinstance(spend, dp.ApproxDP):
        return dp.ApproxDP(value, spend.delta * value / spend.epsilon)
    return type(spend)(value)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("name", REQUESTS)
def test_the_errors_are_met_and_the_next_smaller_spend_misses_one(name, budget):
    request = REQUESTS[name]
    wanted = {one: error * Fraction(3, 2) for one, error in quote(request, with_amount(budget, Fraction(1, 2))).expected}
    found = quote_for(request, {one: str(round(float(error), 6)) for one, error in wanted.items()}, budget, None)
    assert all(error <= round(float(wanted[one]), 6) for one, error in found.expected)
    spent = amount(found.spend)
    digits = Fraction(10) ** (len(str(int(spent * 10**15))) - 3 - 15)
    assert (spent / digits).denominator == 1, "three digits"
    assert type(found.spend) is type(budget)
    less = quote(request, with_amount(found.spend, spent - digits))
    assert any(error > round(float(wanted[one]), 6) for one, error in less.expected)


@settings(max_examples=10)
@given(st.fractions(Fraction(1, 2), 5000, max_denominator=100))
@example(Fraction(1))
def test_a_count_is_within_the_error(error):
    found = quote_for(REQUESTS["counts"], {"count": error}, dp.ZCDP(1), None)
    assert dict(found.expected)["count"] <= error


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ({}, "must map the name of a statistic"),
        (10, "must map the name of a statistic"),
        ({"counts": 10}, "did you mean 'count'"),
        ({"count": 0}, "must be greater than 0"),
        ({"count": -1}, "must be greater than 0"),
        ({"count": float("nan")}, "must be finite"),
        ({"count": "few"}, "must be a number"),
        ({None: 1}, "no statistic"),
    ],
)
def test_errors_that_make_no_sense_are_refused(error, says):
    with pytest.raises(dp.ArgumentError, match=says):
        quote_for(REQUESTS["moments"], error, dp.PureDP(1), None)


def test_errors_that_no_spend_meets_are_refused():
    request = dp.Table(dp.Schema(v=dp.Number(0, 10**12)), dp.AddRemove()).agg(dp.sum("v", nulls="skip"))
    assert dict(quote_for(request, {"sum_v": 10**9}, dp.PureDP(1), None).expected)["sum_v"] <= 10**9
    with pytest.raises(dp.PlanError, match="no spend below 1e6 meets it"):
        quote_for(request, {"sum_v": 1}, dp.PureDP(1), None)


def test_a_session_gives_a_quote_for_errors_or_for_a_spend():
    import polars as pl

    with session_over(pl.DataFrame({"s": ["a"], "v": [1], "w": [0.5]}), SCHEMA, budget=dp.PureDP("0.001")) as session:
        found = session.quote(REQUESTS["counts"], error={"count": 5})
        assert dict(found.expected)["count"] <= 5
        assert session.spent == dp.PureDP(0)
        with pytest.raises(dp.BudgetExceeded):
            session.release(REQUESTS["counts"], spend=found.spend, name="r")
        with pytest.raises(dp.ArgumentError, match="either a spend or the errors"):
            session.quote(REQUESTS["counts"], spend=1, error={"count": 5})
        with pytest.raises(dp.ArgumentError, match="either a spend or the errors"):
            session.release(REQUESTS["counts"], spend="0.0001", error={"count": 5}, name="r")
        with pytest.raises(dp.BudgetExceeded, match="over by"):
            session.release(REQUESTS["counts"], error={"count": 5}, name="r")
        session.release(REQUESTS["counts"], error={"count": 100_000}, name="r")
        assert session.spent == session.quote(REQUESTS["counts"], error={"count": 100_000}).spend
        with pytest.raises(dp.PlanError, match="table"):
            session.quote(None, error={"count": 5})


def test_a_search_over_a_sample_quotes_all_rows_once(monkeypatch):
    asked, direct = [], allocate._without_sample
    monkeypatch.setattr(allocate, "_without_sample", lambda *given: asked.append(given) or direct(*given))
    found = quote_for(TABLE.sample(rows=500).group_by("s").agg(dp.count()), {"count": 30}, dp.PureDP(1), None)
    assert found.unsampled is not None
    assert found.unsampled.spend == found.spend
    assert sum(plan.facts.drawn is not None for plan, *_ in asked) == 1
