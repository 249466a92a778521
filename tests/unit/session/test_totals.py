"""Exact totals beside statistics, as a session has them: published once and first, counted in every charge, kept exactly."""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.ledger import Ledger
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.noise.bits import system_bits
from discreet.privacy.amplify import Resampling
from discreet.quotes.allocate import quote
from discreet.quotes.quote import PublicCells
from discreet.quotes.space import space_of
from discreet.releases.evaluate import exact_answers, noisy_answers
from discreet.session import totals as exact_totals
from discreet.session.orders import Order
from discreet.totals.beside import beside
from discreet.totals.structure import Blocks, exact_sums

SCHEMA = dp.Schema(
    state=dp.Category(["A", "B", "C"]),
    sex=dp.Category(["f", "m"]),
    owner=dp.Category([False, True]),
    age=dp.Number(0, 10),
    wage=dp.Number(0, 2, "0.5"),
)
FRAME = pl.DataFrame(
    {
        "state": ["A"] * 12 + ["B"] * 7 + [None, "elsewhere", "B", "A", "C"],
        "sex": (["f", "m", None, "f", "f", "?"] * 4),
        "owner": [True, False, None, True] * 6,
        "age": ([0, 3, 7, 10, None, 12, -4, 5] * 3),
        "wage": ([0.0, 0.5, 1.0, 2.0, None, 0.7, 9.0, 1.5] * 3),
    }
)
TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=24))
STATES = {("A",): 13, ("B",): 8, ("C",): 1, (None,): 2}
SEXES = {("f",): 12, ("m",): 4, (None,): 8}
BY_BOTH = ("state", "sex")


def session(invariants, *, source=FRAME, budget=None, rows=24, ledger=":memory:", schema=SCHEMA, dataset="d"):
    return dp.Session(
        source,
        schema,
        dataset=dataset,
        ledger=ledger,
        budget=budget or dp.ZCDP(1),
        neighbours=dp.ReplaceOne(rows=rows),
        invariants=invariants,
    )


def unpublished(invariants):
    return beside(invariants, SCHEMA, None, 24)


def counted(one, *by):
    return one.table.group_by(*(by or BY_BOTH)).agg(dp.count())


def kinds(path):
    with Ledger.open(path) as ledger:
        return [entry.kind for entry in ledger.entries("d")]


def cells(totals, part=0):
    return {cell: n for cell, n in totals.cells(totals.invariants.parts[part], SCHEMA).items() if n}


def sums(release, *columns):
    """The published counts, added up by some of the group columns."""
    found = Counter()
    for row in release.table.iter_rows(named=True):
        found[tuple(row[column] for column in columns)] += row["count"]
    return {cell: count for cell, count in found.items() if count}


# Once, and first ------------------------------------------------------------------------------------------------------


def test_totals_are_the_first_entry_of_the_data_set_and_are_published_once(tmp_path):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        assert one.totals is None
        one.release(counted(one), spend="0.1", name="first")
        assert cells(one.totals) == STATES
        one.release(counted(one, "sex"), spend="0.1", name="second")
        assert one.spent == dp.ZCDP("0.2")
    assert kinds(path) == ["dataset", "publish", "commit", "reserve", "commit", "reserve", "commit"]
    with Ledger.open(path) as ledger:
        entries = ledger.entries("d")
        assert entries[1].name == "exact totals"
        assert not entries[1].charge
        assert ledger.verify().broken == 0


def test_another_session_gives_the_same_totals_back_without_reading(tmp_path, monkeypatch):
    path = tmp_path / "l.db"
    with session(dp.Margins("state", "sex"), ledger=path) as one:
        published = one.publish_totals()
    with session(dp.Totals("sex") + dp.Totals("state"), ledger=path, source=FRAME.head(3)) as one:  # another order
        monkeypatch.setattr(one._engine, "aggregate", None)
        assert cells(one.publish_totals(), 1) == cells(published, 0) == STATES
        assert cells(one.totals, 0) == cells(published, 1) == SEXES
    assert kinds(path) == ["dataset", "publish", "commit"]


def test_invariants_are_those_that_the_data_set_began_with(tmp_path):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        one.publish_totals()
    for other in (
        dp.Totals("sex"),
        dp.Totals("state") + dp.Totals("sex"),
        dp.Totals("state", only=["A"]),
        dp.Totals("state", "sex"),
        dp.Occupied("state"),
        None,
    ):
        with pytest.raises(dp.LedgerError, match="invariants is "):
            session(other, ledger=path)
    assert kinds(path) == ["dataset", "publish", "commit"]


def test_invariants_cannot_be_added_to_a_data_set_that_began_without(tmp_path):
    path = tmp_path / "l.db"
    with session(None, ledger=path) as one:
        one.release(counted(one), spend="0.1", name="r")
        assert one.totals is None
        with pytest.raises(dp.PlanError, match="declares no invariants"):
            one.publish_totals()
    with pytest.raises(dp.LedgerError, match="invariants is "):
        session(dp.Totals("state"), ledger=path)


def test_the_same_name_and_request_give_the_stored_release_back(tmp_path):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        release = one.release(counted(one), spend="0.1", name="r")
    before = kinds(path)
    with session(dp.Totals("state"), ledger=path) as one:
        assert one.release(counted(one), spend="0.1", name="r") == release
        with pytest.raises(dp.LedgerError, match="another spend"):
            one.release(counted(one), spend="0.2", name="r")
        assert one.spent == dp.ZCDP("0.1")
    assert kinds(path) == before


def test_two_sessions_that_publish_at_the_same_time_publish_once(tmp_path, monkeypatch):
    """The other one is faster: what it has published is given back, what was read here is thrown away."""
    path = tmp_path / "l.db"
    real = exact_totals._totals_of

    def slower(engine, request):
        with monkeypatch.context() as undone:
            undone.setattr(exact_totals, "_totals_of", real)
            with session(dp.Totals("state"), ledger=path) as other:
                other.publish_totals()
        return real(engine, request)

    with session(dp.Totals("state"), ledger=path, source=FRAME.with_columns(state=pl.lit("B"))) as one:
        monkeypatch.setattr(exact_totals, "_totals_of", slower)
        assert cells(one.publish_totals()) == STATES
    assert kinds(path) == ["dataset", "publish", "publish", "commit", "fail"]


def test_totals_that_another_session_has_just_published_are_given_back(tmp_path, monkeypatch):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        real = one._engine.snapshot

        def slower():
            if one.totals is None:
                with session(dp.Totals("state"), ledger=path) as other:
                    other.publish_totals()
            return real()

        monkeypatch.setattr(one._engine, "snapshot", slower)
        assert cells(one.publish_totals()) == STATES


# What goes wrong ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("invariants", "rows"),
    [(dp.Totals("state"), 23), (dp.Totals("state") + dp.Impossible("state", "sex", cells=[("A", None)]), 24)],
    ids=["rows", "impossible"],
)
def test_totals_that_cannot_be_published_cost_nothing_and_have_one_text(invariants, rows, tmp_path):
    path = tmp_path / "l.db"
    with session(invariants, rows=rows, ledger=path) as one:
        for attempt in (one.publish_totals, lambda: one.release(counted(one), spend="0.1", name="r")):
            with pytest.raises(dp.ReleaseFailed) as failed:
                attempt()
            assert str(failed.value) == dp.ReleaseFailed.TOTALS
            assert failed.value.__cause__ is None
            assert failed.value.__context__ is None
        assert one.totals is None
        assert one.spent == dp.ZCDP(0)
    assert kinds(path) == ["dataset", "publish", "fail", "publish", "fail"]


def test_a_source_that_is_put_right_can_be_published(tmp_path):
    path, source = tmp_path / "l.db", tmp_path / "d.parquet"
    FRAME.head(20).write_parquet(source)
    with session(dp.Totals("state"), ledger=path, source=source) as one, pytest.raises(dp.ReleaseFailed):
        one.publish_totals()
    FRAME.write_parquet(source)
    with session(dp.Totals("state"), ledger=path, source=source) as one:
        assert cells(one.publish_totals()) == STATES
    with pytest.raises(dp.LedgerError, match="neighbours rows is 24 there"):  # n cannot be searched
        session(dp.Totals("state"), ledger=path, source=source, rows=25)


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt, SystemExit])
def test_whatever_breaks_while_totals_are_read_tells_nothing(raised, monkeypatch):
    def broken(*_):
        raise raised("secret 42")

    with session(dp.Totals("state")) as one:
        monkeypatch.setattr(one._engine, "aggregate", broken)
        with pytest.raises(dp.ReleaseFailed if raised is ValueError else raised) as failed:
            one.publish_totals()
        assert raised is not ValueError or ("secret" not in repr(failed.value) and failed.value.__context__ is None)
        monkeypatch.undo()
        assert cells(one.publish_totals()) == STATES


def test_a_source_that_changes_while_totals_are_read_has_none(monkeypatch):
    with session(dp.Totals("state")) as one:
        snapshots = iter(["before", "after"])
        with monkeypatch.context() as changing:
            changing.setattr(one._engine, "snapshot", lambda: next(snapshots))
            with pytest.raises(dp.ReleaseFailed):
                one.publish_totals()
        assert one.totals is None


def test_a_later_snapshot_needs_the_same_totals(tmp_path):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        one.publish_totals()
    moved = FRAME.with_columns(state=pl.col("state").replace("C", "B"))
    with session(dp.Totals("state"), ledger=path, source=moved) as one:
        with pytest.raises(dp.ReleaseFailed) as failed:
            one.release(counted(one), spend="0.1", name="r")
        assert str(failed.value) == dp.ReleaseFailed.TEXT
        assert failed.value.__context__ is None
        assert one.spent == dp.ZCDP("0.1")
    shuffled = FRAME.with_columns(age=pl.col("age").reverse(), sex=pl.col("sex").reverse())
    with session(dp.Totals("state"), ledger=path, source=shuffled) as one:
        assert sums(one.release(counted(one), spend="0.1", name="s"), "state") == STATES
        assert one.spent == dp.ZCDP("0.2")
    assert kinds(path)[3:] == ["reserve", "fail", "reserve", "commit"]


def test_whatever_can_be_refused_is_refused_before_totals_are_published(tmp_path):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        fine = Order(counted(one), "0.1", "a")
        for orders, error in [
            ([fine, Order(counted(one, "state"), "0.1", "b")], dp.PlanError),  # follows from the totals
            ([fine, Order(one.table.agg(dp.count()), "0.1", "b")], dp.PlanError),  # is the public n
            ([fine, fine], dp.LedgerError),
            ([fine, Order(counted(one), "0.95", "b")], dp.BudgetExceeded),
            ([fine, Order(counted(one), "1e-60", "b")], dp.PlanError),
            ([fine, Order(counted(one), "0.1", "")], dp.ArgumentError),
        ]:
            with pytest.raises(error):
                one.release_all(orders)
        with pytest.raises(dp.PlanError, match="may not be imputed"):
            one.quote(one.table.impute({"state": dp.Weights({"A": 1})}).agg(dp.count("sex")), spend="0.1")
        with pytest.raises(dp.PlanError, match="public under ReplaceOne"):
            one.estimate_rows(spend="0.1")
        assert not path.exists()
        assert len(one.release_all([fine, Order(counted(one, "sex"), "0.9", "b")])) == 2
    assert kinds(path) == ["dataset", "publish", "commit", "reserve", "reserve", "commit", "commit"]


# Quotes and guarantees -----------------------------------------------------------------------------------------------


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
        (dp.Margins("state", "sex"), ("state", "sex", "free"), 9),  # not with a free attribute (soundness 25)
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
        (dp.GDP(1), "rounded Gaussian"),
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


# Numbers that the totals say ------------------------------------------------------------------------------------------


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
        assert isinstance(quoted.lines[0].count, PublicCells)
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


# Tables that keep the totals -------------------------------------------------------------------------------------------

KEPT = {
    "totals": (dp.Totals("state"), BY_BOTH, [("state",)]),
    "nested": (dp.Totals("state") + dp.Totals("state", "sex"), (*BY_BOTH, "age"), [("state",), BY_BOTH]),
    "margins": (dp.Margins("sex", "owner"), ("sex", "owner"), [("sex",), ("owner",)]),
    "margins and a free column": (dp.Margins("sex", "owner"), ("sex", "owner", "age"), [("sex",), ("owner",)]),
    "some groups": (dp.Totals("state", only=["A", None]), BY_BOTH, [("state",)]),
}


@pytest.mark.parametrize(
    ("name", "budget"), [*[(name, dp.ZCDP(1)) for name in KEPT], ("nested", dp.PureDP(1)), ("margins", dp.PureDP(1))]
)
def test_lattice_tables_are_integers_that_add_up(name, budget):
    invariants, by, columns = KEPT[name]
    groups = [dp.bins("age", [0, 5, 10]) if column == "age" else column for column in by]
    with session(invariants, budget=budget) as one:
        release = one.release(counted(one, *groups), name="r")
        assert release.document["statistics"][0]["totals"] == "add up to the published ones"
        assert release.table["count"].dtype == pl.Int64
        for position, part in enumerate(columns):
            published, found = cells(one.totals, position), sums(release, *part)
            if name == "some groups":  # the others add up to what is left
                assert {cell: found[cell] for cell in published} == published
                assert sum(found.values()) == FRAME.height
            else:
                assert found == published


def test_weighted_sums_are_kept_too():
    invariants = dp.LinearInvariant("state", {"visits": {"A": 1, "B": 2, "C": 5}})
    with session(invariants) as one:
        release = one.release(counted(one), name="r")
        assert release.document["statistics"][0]["totals"] == "add up to the published ones"
        found = sums(release, "state")
        visits = sum(found.get((state,), 0) * weight for state, weight in [("A", 1), ("B", 2), ("C", 5)])
        assert visits == one.totals.value(invariants.parts[0])[0] == 13 + 16 + 5
        assert sum(found.values()) == FRAME.height
        assert release.tables["linear_state"].rows() == [("visits", 34)]


def test_cells_that_hold_nobody_stay_empty():
    without = FRAME.with_columns(state=pl.col("state").replace({"C": "B"}))
    with session(dp.Totals("state") + dp.Impossible("sex", "age", cells=[("m", 1)]), source=without) as one:
        table = one.release(counted(one), name="r").table
        empty = table.filter(pl.col("state") == "C")
        assert empty.select("count", "count_low", "count_high").rows() == [(0, 0, 0)] * 3
        assert (table.filter(pl.col("state") == "A")["count_high"] > table.filter(pl.col("state") == "A")["count_low"]).all()


def test_plain_noise_is_labelled():
    with session(dp.Totals("state")) as one:
        request = one.table.group_by("state").agg(dp.count(), dp.count("sex"))
        lines = one.release(request, spend="0.1", name="a").document["statistics"]
        assert [line["totals"] for line in lines] == ["are the published ones", "do not match the published ones"]
        request = one.table.where({"sex": ["f"]}).group_by("state").agg(dp.count())
        lines = one.release(request, spend="0.1", name="b").document["statistics"]
        assert lines[0]["totals"] == "do not match the published ones"


def test_counts_that_are_published_as_doubles_do_not_claim_to_add_up():
    with session(dp.Totals("state"), budget=dp.PureDP(1)) as one:
        release = one.release(counted(one), spend="1e-16", name="r")
        assert release.table["count"].dtype == pl.Float64
        exactly = Counter()
        for row in release.table.iter_rows(named=True):
            exactly[(row["state"],)] += Fraction(row["count"])
        assert exactly == STATES or release.document["statistics"][0]["totals"] == "do not match the published ones"


# Steps ------------------------------------------------------------------------------------------------------------------

NOTHING = Blocks(0, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), None)
STEPS = {
    "nothing": lambda t: t.group_by("state", "sex"),
    "another order": lambda t: t.group_by("sex", "state"),
    "where, of the totals": lambda t: t.where({"state": ["A", "C"]}).group_by("state", "sex"),
    "where, free": lambda t: t.where({"sex": ["f"]}).group_by("state"),
    "clamp, of the totals": lambda t: t.clamp({"state": ["A", "B"]}).group_by("state", "sex"),
    "clamp and where, free": lambda t: t.clamp({"age": (2, 8)}).where({"age": (3, 10)}).group_by("state", "sex"),
    "bins, free": lambda t: t.group_by("state", dp.bins("age", [0, 4, 10])),
    "bins that leave rows out": lambda t: t.group_by("state", dp.bins("age", [2, 4, 9])),
    "bins of the totals": lambda t: t.group_by(dp.bins("wage", [0, 1, 2]), "state"),
    "bins of the totals that leave rows out": lambda t: t.group_by(dp.bins("wage", ["0.5", 1]), "sex"),
    "clamp of a number": lambda t: t.clamp({"wage": ("0.5", "1.5")}).group_by(dp.bins("wage", [0, 1, 2]), "state"),
    "where of a number": lambda t: t.where({"wage": (1, 2)}).group_by("state", "sex"),
}


@pytest.mark.parametrize("invariants", [dp.Margins("state", "wage"), dp.Totals("state", "wage")], ids=["margins", "joint"])
def test_what_follows_from_the_totals_is_what_a_request_counts(invariants):
    """Stray values, clamps, conditions and bins: sums that noise keeps are those of the counts, and counts that are said to
    be public are the counts."""
    kept, bits = set(), system_bits()
    with session(invariants) as one:
        one.publish_totals()
        for name, grouped in STEPS.items():
            request = grouped(one.table).agg(dp.count(), dp.count("sex"))
            quoted, brought = one.quote(request, spend=1), request.layout.parts[0]
            cube = one._engine.aggregate(brought.axes, brought.moments)
            plain = quote(request, dp.ZCDP(1))
            exact = exact_answers(plain, [cube], bits)[0]
            count = quoted.lines[0].count
            if isinstance(count, PublicCells):
                assert (count.counts() == exact).all(), name
                kept.add(name)
                continue
            noisy = noisy_answers(quoted, exact_answers(quoted, [cube], bits), bits)[count]
            for labels, totals in exact_sums(space_of(request, quoted.beside).structure or NOTHING):
                for label, total in enumerate(totals):
                    assert exact[labels == label].sum() == total, name
                    if quoted.measured[count].law.keeps_totals:
                        assert noisy[labels == label].sum() == total, name
                        kept.add(name)
            assert name in kept or not quoted.measured[count].law.keeps_totals
    free = {"where, free", "clamp and where, free"}
    assert kept & free == set()
    assert len(kept) >= (9 if invariants == dp.Totals("state", "wage") else 6)


def test_nulls_of_the_totals_are_a_group_of_their_own():
    with session(dp.Totals("state"), budget=dp.ZCDP("0.01")) as one:
        release = one.release(counted(one), name="r")
        assert release.tables["totals_state"].rows() == [("A", 13), ("B", 8), ("C", 1), (None, 2)]
        assert sums(release, "state") == STATES
        nulls = release.table.filter(pl.col("state").is_null())
        assert nulls["count"].sum() == 2
        assert nulls["sex"].to_list() == ["f", "m", None]
        assert (nulls["count_high"] > nulls["count_low"]).all()


# A resized table --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "budget", [dp.PureDP(1), dp.ZCDP(1), dp.ApproxDP(1, "1e-6"), dp.GDP(1)], ids=lambda b: type(b).__name__
)
@pytest.mark.parametrize(("rows", "proportion"), [(20, "0.75"), (40, "1.5")])
def test_a_resize_counts_the_other_rows_through_the_copies(budget, rows, proportion):
    table = TABLE.impute({"sex": dp.Weights({"f": 1, "m": 1})}).resize(rows, proportion=proportion)
    request = table.group_by("sex").agg(dp.count())
    quoted, alone = quote(request, budget, unpublished(dp.Totals("state"))), quote(request, budget)
    sampled = Resampling(rows, proportion, TABLE.neighbours, 2)
    (measured,) = quoted.measured
    assert quoted.group == sampled.most == 2 * alone.group
    assert measured.law.variance() > alone.measured[0].law.variance()
    if isinstance(budget, dp.PureDP):
        assert measured.guarantee == sampled.functional(budget)
        assert measured.law == LaplaceNoise(2 / measured.guarantee.epsilon)
    if isinstance(budget, dp.ZCDP):
        assert measured.guarantee.rho == Fraction(1, sampled.most**2)
        assert quoted.advertised == dp.ZCDP(Fraction(1, 4))


def test_a_resized_table_is_labelled_and_may_not_fill_columns_of_the_totals():
    with session(dp.Totals("state")) as one:
        table = one.table.impute({"sex": dp.Weights({"f": 1, "m": 1})}).resize(20, proportion="0.75")
        release = one.release(table.group_by("sex").agg(dp.count()), name="r")
        assert release.document["statistics"][0]["totals"] == "do not match the published ones"
        assert np.isfinite(release.table["count"].to_numpy()).all()
        with pytest.raises(dp.PlanError, match="imputation law"):
            table.group_by("state").agg(dp.count())


# Files --------------------------------------------------------------------------------------------------------------------


def test_totals_are_saved_beside_the_table(tmp_path):
    invariants = (
        dp.Margins("state", "sex") + dp.Occupied("state", "sex") + dp.LinearInvariant("age", {"years": {3: 3, 7: 7}})
    )
    with session(invariants, budget=dp.PureDP(1)) as one:
        release = one.release(counted(one, "sex", "state", dp.bins("age", [0, 5, 10])), name="r")
        frames = release.tables
        assert set(frames) == {"table", "totals_state", "totals_sex", "occupied_sex_state", "linear_age"}
        assert frames["totals_sex"].rows() == [(*cell, count) for cell, count in sorted(SEXES.items(), key=str)]
        assert frames["linear_age"].rows() == [("years", 3 * 3 + 3 * 7)]
        occupied = {row[:2] for row in frames["occupied_sex_state"].rows()}
        known = {"A", "B", "C", "f", "m"}
        truth = {tuple(v if v in known else None for v in row) for row in FRAME.select("sex", "state").rows()}
        assert occupied == truth
        folder = release.save(tmp_path / "out")
        for name, frame in frames.items():
            assert pl.read_parquet(folder / f"{name}.parquet").equals(frame)
            lines = list(csv.reader((folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()))
            assert lines[0] == frame.columns
            assert len(lines) == 1 + frame.height
        loaded = dp.Release.load(folder)
        assert loaded == release
        assert loaded.guarantee == release.guarantee
        assert loaded.tables["totals_sex"].equals(frames["totals_sex"])


@pytest.mark.parametrize(
    ("invariants", "schema", "source"),
    [
        (dp.Totals("count"), dp.Category(["a"]), ["a", "a", None]),
        (dp.Occupied("occupied"), dp.Category(["a"]), ["a", "a", None]),
        (dp.Totals("wage"), dp.Number(0, 2, "0.5"), [0.5, 1.0, None]),
    ],
    ids=["count", "occupied", "fractions"],
)
def test_totals_of_any_column_have_a_frame(invariants, schema, source, tmp_path):
    (name,) = invariants.columns
    columns = dp.Schema({name: schema, "sex": dp.Category(["f", "m"])})
    frame = pl.DataFrame({name: source, "sex": ["f", "m", "m"]})
    with session(invariants, schema=columns, source=frame, rows=3) as one:
        release = one.release(one.table.group_by("sex").agg(dp.count()), name="r")
        assert dp.Release.load(release.save(tmp_path)) == release
        (totals,) = (shown for name, shown in release.tables.items() if name != "table")
        assert totals.height == len(set(source))
