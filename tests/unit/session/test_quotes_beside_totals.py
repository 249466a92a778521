"""What a request beside exact totals costs, and what the totals answer already."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.quotes.allocate import quote
from discreet.statistics.counted import PublicCells

from .with_totals import FRAME, STATES, TABLE, counted, session, sums, unpublished


def test_a_quote_before_the_totals_says_that_it_is_a_bound():
    """Every row of one sex: the second margin tells nothing, which only the published totals say."""
    source = FRAME.with_columns(sex=pl.lit("f"))
    with session(dp.Margins("state", "sex"), source=source, budget=dp.PureDP(1)) as one:
        request = one.table.group_by("state").agg(dp.mean("age", nulls="skip"))
        before = one.quote(request, spend="0.5")
        assert before.beside.adjacency.a == before.group == 3
        assert "at most a = 3 rows" in str(before)
        assert "not published yet" in str(before)
        one.publish_totals()
        after = one.quote(request, spend="0.5")
        assert after.beside.adjacency.a == after.group == 2
        assert "not published yet" not in str(after)
        assert "at most" not in str(after).split("\n")[1]
        assert after.measured[0].law.variance() < before.measured[0].law.variance()
        assert dict(after.expected)["mean_age"] < dict(before.expected)["mean_age"]


def test_what_is_charged_is_the_effective_guarantee_and_the_advertised_one_is_shown():
    """The 2020 census: ρ = 0.213 for one replaced record is ρ = 0.852 beside exact state totals."""
    with session(dp.Totals("state"), budget=dp.ZCDP("0.852")) as one:
        guarantee = one.release(counted(one), name="r").guarantee
        assert guarantee.effective == guarantee.measure == one.spent == dp.ZCDP("0.852")
        assert guarantee.advertised == dp.ZCDP("0.213")
        assert guarantee.semi_adjacency == 2
        assert "one other row changes" in str(guarantee)
        assert guarantee.epsilon == dp.ZCDP("0.852").epsilon_at("1e-9")
    assert 9.17648671893520 < dp.ZCDP("0.852").epsilon_at("1e-10") < 9.1764867189353


@pytest.mark.parametrize(
    ("invariants", "by", "factor"),
    [
        (dp.Margins("state", "sex"), ("state", "sex"), 3),  # 3 ρ instead of 9 ρ for the table of exactly these columns
        (dp.Margins("state", "sex"), ("state", "sex", "free"), 3),  # its noise is correlated: a row that moves costs more
        (dp.Totals("state") + dp.Totals("state", "sex"), ("sex", "free"), 4),
    ],
)
def test_the_totals_multiply_the_charge_by_what_can_move(invariants, by, factor):
    groups = [dp.bins("age", [0, 5, 10]) if name == "free" else name for name in by]
    quoted = quote(TABLE.group_by(*groups).agg(dp.count()), dp.ZCDP(1), unpublished(invariants))
    assert quoted.advertised == dp.ZCDP(Fraction(1, factor))
    assert f"the totals multiply ρ by {factor} (naive: a² = {quoted.group**2})" in str(quoted)


@pytest.mark.parametrize(
    ("budget", "noise"),
    [
        (dp.PureDP(1), "K-norm on the lattice"),
        (dp.ZCDP(1), "Gaussian on the lattice"),
        (dp.ApproxDP("0.1", "1e-3"), None),
        (dp.GDP(1), "rounded Gaussian on the lattice"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_measure_has_totals_and_spends_what_it_says(budget, noise):
    with session(dp.Totals("state"), budget=budget) as one:
        quoted = one.quote(counted(one))
        release = one.release(counted(one), name="r")
        assert one.spent == release.guarantee.measure == quoted.spend == budget
        assert release.guarantee.advertised == quoted.advertised
        drawn = release.document["noise"][0]["noise"]
        assert noise in {None, drawn}
        deviations = [other.deviation for other in quoted.measured[0].alternatives]
        assert deviations == sorted(deviations)  # the least noise of those that give the guarantee
        assert quoted.measured[0].alternatives[0].mechanism == drawn
        kept = release.document["statistics"][0]["totals"] == "add up to the published ones"
        assert kept == drawn.endswith("lattice")
        assert not kept or sums(release, "state") == STATES


def test_the_release_says_what_the_totals_give_away():
    with session(dp.Margins("state", "sex")) as one:
        release = one.release(counted(one), spend="0.1", name="r")
        shown = release.document["invariants"]
        assert shown["unprotected"] is True
        assert shown["semi_adjacency"] == {"a": 3, "exact": True, "reason": "2 disjoint margins: 2 + 1"}
        assert shown["disclosures"] == ["totals of state: 1 cell holds exactly one row"]
        (reserved,) = (entry for entry in one._ledger.entries("d") if entry.kind == "reserve")
        assert shown["digest"]
        assert shown["digest"] in reserved.details


def test_counts_that_the_totals_say_are_exact_and_spend_nothing():
    with session(dp.Totals("state")) as one:
        request = one.table.group_by("state").agg(dp.count(), dp.mean("age", nulls="skip").alias("age"), dp.count("age"))
        quoted = one.quote(request, spend="0.5")
        assert [type(one.query).__name__ for one in quoted.measured] == ["NonNullCount", "WeightedSum"]
        table = one.release(request, spend="0.5", name="r").table
        assert table["count"].to_list() == table["count_low"].to_list() == table["count_high"].to_list() == [13, 8, 1, 2]
        assert (table["count_age_low"] < table["count_age_high"]).all()


def test_sums_and_means_with_exact_counts_spend_everything_on_the_sum():
    """No age is null any more, so that the count behind the mean is the exact one."""
    ages = [[], [], []]
    for state, age in FRAME.select("state", "age").rows():
        if state in {"A", "B", "C"}:
            ages["ABC".index(state)].append(5 if age is None else min(max(age, 0), 10))
    with session(dp.Totals("state"), budget=dp.PureDP(10**9)) as one:
        table = one.table.impute({"age": dp.Uniform(5, 5)})
        request = table.group_by("state").agg(dp.count(), dp.sum("age"), dp.mean("age"))
        quoted = one.quote(request)
        assert [one.share for one in quoted.measured] == [1]
        assert isinstance(quoted.lines[0].recipe.count, PublicCells)
        release = one.release(request, name="r")
        assert release.document["statistics"][0]["view"] == "exact and unprotected"
        assert release.table["sum_age"].to_list()[:3] == [sum(of) for of in ages]
        assert release.table["mean_age"].to_list()[:3] == pytest.approx([sum(of) / len(of) for of in ages])


@pytest.mark.parametrize(
    ("invariants", "request_of"),
    [
        (dp.Totals("state"), lambda t: t.group_by("state").agg(dp.count())),
        (dp.Totals("state"), lambda t: t.clamp({"state": ["A"]}).group_by("state").agg(dp.count())),
        (dp.Totals("state"), lambda t: t.where({"state": ["A", "C"]}).agg(dp.count())),
        (dp.Totals("state", "sex"), lambda t: t.group_by("sex").agg(dp.count())),
        (dp.Totals("age"), lambda t: t.group_by(dp.bins("age", [0, 5, 10])).agg(dp.count())),
        (dp.Totals("age"), lambda t: t.clamp({"age": (2, 8)}).where({"age": (3, 8)}).agg(dp.count())),
        (dp.Totals("state", only=["A", "B", "C"]), lambda t: t.group_by("state").agg(dp.count())),
        (dp.Totals("state", only=["A"]), lambda t: t.where({"state": ["A"]}).agg(dp.count())),
        (dp.Margins(["state", "sex"], ["sex", "age"]), lambda t: t.group_by("state", "sex").agg(dp.count())),
        (dp.LinearInvariant("sex", {"f": {"f": 1}, "m": {"m": 1}}), lambda t: t.group_by("sex").agg(dp.count())),
    ],
)
def test_a_request_that_the_totals_answer_is_refused(invariants, request_of):
    with pytest.raises(dp.PlanError, match="already"):
        quote(request_of(TABLE), dp.ZCDP(1), unpublished(invariants))


@pytest.mark.parametrize(
    ("invariants", "request_of"),
    [
        (dp.Totals("age"), lambda t: t.agg(dp.sum("age", nulls="skip"))),
        (dp.Totals("state", "age"), lambda t: t.group_by("state").agg(dp.mean("age", nulls="skip"))),
        (dp.Totals("state"), lambda t: t.agg(dp.count("state"))),
    ],
)
def test_a_sum_that_the_totals_answer_is_refused(invariants, request_of):
    with pytest.raises(dp.PlanError, match="already"):
        quote(request_of(TABLE), dp.ZCDP(1), unpublished(invariants))


def test_a_refused_request_leaves_nothing_in_the_ledger(tmp_path):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        for request in (one.quote, lambda asked, spend: one.release(asked, spend=spend, name="r")):
            with pytest.raises(dp.PlanError, match="already"):
                request(counted(one, "state"), spend="0.1")
    assert not path.exists()


@pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP(1), dp.GDP(1), dp.ApproxDP(1, "1e-6")], ids=str)
def test_tables_that_no_row_can_change_beside_two_lists_of_totals_are_public(spend):
    """One person: her totals by a and by b say in which cell she is."""
    schema = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Category(["p", "q"]))
    frame = pl.DataFrame({"a": ["x"], "b": ["p"]})
    given = {"neighbours": dp.ReplaceOne(rows=1), "budget": spend, "invariants": dp.Totals("a") + dp.Totals("b")}
    one = session_over(frame, schema, **given)
    with pytest.raises(dp.PlanError, match="is already exact: it follows from what is public"):
        one.release(one.table.agg(dp.tables(["a", "b"])), name="t")
    one.publish_totals()
    with pytest.raises(dp.PlanError, match="asks only for numbers that are public already"):
        one.release(one.table.agg(dp.tables(["a", "b"])), name="t")
