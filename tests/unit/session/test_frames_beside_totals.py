"""Histograms, tables and counts of known values beside exact totals: what they keep, and what a release says of it."""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dp
from discreet.pages.report import render
from discreet.statistics.counted import PublicCells

from .with_totals import FRAME, STATES, TABLE, session

pytestmark = pytest.mark.usefixtures("one_artist")

SPEND = "1/2"
KEPT, EXACT = "add up to the published ones", "are the published ones"
APART = "do not match the published ones"


def released(invariants, request, budget=None):
    one = session(invariants, budget=budget)
    one.publish_totals()
    return one.release(request, spend=SPEND, name="r")


def told(release):
    return {frame["name"]: frame.get("totals") for frame in release.document["frames"]}


def by_state(frame, column="count"):
    return {(state,): total for state, total in frame.group_by("state").agg(pl.col(column).sum()).iter_rows()}


@pytest.mark.parametrize("budget", [dp.PureDP(1), dp.ZCDP(1)])
def test_tables_add_up_to_the_totals_and_an_exact_one_stands_among_them(budget):
    request = TABLE.agg(dp.tables(["state"], ["state", "sex"], ["sex", "owner"]))
    found = released(dp.Totals("state"), request, budget)
    exact = found.tables["tables_state"]
    assert {(state,): count for state, count in exact.select("state", "count").iter_rows()} == STATES
    assert (exact["count_low"] == exact["count_high"]).all()
    assert by_state(found.tables["tables_state_sex"]) == pytest.approx(STATES, abs=1e-9)
    assert found.tables["tables_sex_owner"]["count"].sum() == pytest.approx(24)
    assert told(found) == {"tables_state": EXACT, "tables_state_sex": KEPT, "tables_sex_owner": KEPT}
    assert by_state(dp.consistent(found, "tables_state_sex"), "count_consistent") == STATES


def test_cells_that_nobody_is_in_have_no_noise_and_no_part_in_what_agrees():
    """Nobody is in C, and no f is in B: the totals of both together say so."""
    rows = FRAME.filter(pl.col("state").is_in(["A", "B"])).with_columns(
        state=pl.when(pl.col("sex") == "f").then(pl.lit("A")).otherwise("state")
    )
    one = session(dp.Totals("state") + dp.Impossible("state", "sex", cells=[("B", "f")]), source=rows, rows=len(rows))
    one.publish_totals()
    request = dp.Table(TABLE.schema, dp.ReplaceOne(rows=len(rows))).agg(dp.tables(["state", "sex"], ["sex", "owner"]))
    frame = one.release(request, spend=SPEND, name="r").tables["tables_state_sex"]
    nobody = frame.filter(~pl.col("state").is_in(["A", "B"]).fill_null(value=False))
    assert len(nobody) == 6
    for column in ("count", "count_low", "count_high"):
        assert (nobody[column] == 0).all()
    assert frame.filter(pl.col("state") == "B", pl.col("sex") == "f")["count"].to_list() == [0]


def test_a_histogram_in_groups_of_the_totals_adds_up_in_each():
    found = released(dp.Totals("state"), TABLE.group_by("state").agg(dp.histogram("age", [0, 5, 10])))
    frame = found.tables["histogram_age"]
    assert by_state(frame) == STATES
    assert (frame.filter(pl.col("state") == "C")["count"].sum(), told(found)) == (1, {"histogram_age": KEPT})


def test_a_histogram_that_leaves_rows_out_says_that_it_does_not_add_up():
    found = released(dp.Totals("state"), TABLE.group_by("state").agg(dp.histogram("age", [0, 5])))
    assert told(found) == {"histogram_age": APART}


def test_known_values_of_a_column_of_the_totals_are_exact_beside_noisy_ones():
    found = released(dp.Totals("state"), TABLE.group_by("state").agg(dp.count("state"), dp.count("sex")))
    known = dict(found.table.select("state", "count_state").iter_rows())
    assert known == {"A": 13, "B": 8, "C": 1, None: 0}
    lines = {line["name"]: (line["view"], line["totals"]) for line in found.document["statistics"]}
    assert lines == {"count_state": ("exact and unprotected", EXACT), "count_sex": ("unbiased", APART)}


def test_the_least_noise_of_a_table_of_margins_is_that_of_its_counts():
    """One table alone under pure ε is measured as `group_by` does it, with noise that keeps the totals."""
    one = session(dp.Margins(["state"], ["sex"]), budget=dp.PureDP(1))
    one.publish_totals()
    (table,) = one.quote(TABLE.agg(dp.tables(["state", "sex"])), spend=SPEND).measured
    (count,) = one.quote(TABLE.group_by("state", "sex").agg(dp.count()), spend=SPEND).measured
    assert table.law.to_json() == count.law.to_json()
    assert table.sensitivity == count.sensitivity
    assert table.sensitivity.l1 == 6


def test_a_request_of_exact_tables_alone_is_refused():
    one = session(dp.Totals("state", "sex"))
    for asked in (dp.tables(["state"], ["sex", "state"]), dp.count("sex")):
        with pytest.raises(dp.PlanError, match="only for numbers that are public already"):
            one.quote(one.table.agg(asked) if asked.column is None else one.table.group_by("state").agg(asked), spend=SPEND)


def test_what_a_whole_table_says_is_exact_beside_totals_of_another_kind():
    weights = dp.LinearInvariant("wage", {"highest": {2: 1}, "both": {2: 2, 1: 1}})
    quoted = session(dp.Totals("state", "sex") + weights).quote(TABLE.agg(dp.tables(["state"], ["owner"])), spend=SPEND)
    domain = quoted.lines[0].recipe.domain
    (state,) = domain.tables[0]
    assert isinstance(domain.known[(state,)], PublicCells)
    assert set(domain.known) == {(), (state,)}


def test_reports_say_of_each_frame_whether_it_adds_up():
    found = released(dp.Totals("state"), TABLE.agg(dp.tables(["state"], ["state", "sex"])))
    page = render(found)
    assert "These counts follow from the exact totals: they are exact and unprotected." in page
    assert "These counts add up to the exact totals: the noise leaves every total as it is." in page


def test_requests_without_totals_say_nothing_of_them():
    one = dp.Session(
        FRAME, TABLE.schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=24)
    )
    found = one.release(TABLE.agg(dp.tables(["state"], ["state", "sex"])), spend=SPEND, name="r")
    assert told(found) == {"tables_state": None, "tables_state_sex": None}


def test_a_session_under_gdp_keeps_the_totals():
    request = TABLE.group_by("state", "sex").agg(dp.count())
    one = session(dp.Margins(["state"], ["sex"]), budget=dp.GDP(1))
    one.publish_totals()
    (measured,) = one.quote(request, spend=1).measured
    assert (measured.law.words.name, measured.law.sigma2) == ("rounded Gaussian on the lattice", 6)
    found = one.release(request, spend=1, name="r")
    assert by_state(found.table) == {**STATES, ("C",): 1}
    assert one.spent == dp.GDP(1)


@pytest.mark.parametrize("budget", [dp.GDP(1), dp.ZCDP(1)], ids=str)
def test_effects_have_the_noise_that_the_lattice_of_the_totals_has(budget):
    """Of a table of both margins only the interaction is measured, at the largest change that keeps them: |u|² = 6."""
    one = session(dp.Margins(["state"], ["sex"]), budget=budget)
    one.publish_totals()
    quoted = one.quote(TABLE.agg(dp.tables(["state", "sex"])))
    (measured,) = quoted.measured
    variance = float(measured.law.independent.sigma2) / measured.query.unit**2
    loss = 1.0 if isinstance(budget, dp.GDP) else 2 * float(budget.rho)
    assert quoted.charge == "exact"
    assert variance <= 6 / loss * (1 + 1e-6)
    found = one.release(TABLE.agg(dp.tables(["state", "sex"])), name="r").tables["tables"]
    assert by_state(found) == pytest.approx({**STATES, ("C",): 1}, abs=1e-9)


def test_under_approx_dp_nothing_is_lost_on_the_way_through_rho():
    request = TABLE.group_by("state", "sex").agg(dp.count())
    one = session(dp.Margins(["state"], ["sex"]), budget=dp.ApproxDP("1/100", "1/100"))
    one.publish_totals()
    (measured,) = one.quote(request).measured
    by_rho = 6 / (2 * dp.ZCDP.for_approx("1/100", "1/100").rho)
    assert measured.law.words.name == "rounded Gaussian on the lattice"
    assert measured.law.sigma2 == 6 / dp.GDP.for_approx("1/100", "1/100").mu ** 2
    assert measured.law.variance() < float(by_rho) * measured.law.structure.rank / measured.law.structure.size


@pytest.mark.parametrize("invariants", [dp.Totals("state"), dp.Totals("state", only=["A"]), dp.Occupied("state")])
def test_the_number_of_all_rows_is_the_published_one(invariants):
    """It is the n that the totals are published with; of a resized table it is another number."""
    one = session(invariants)
    line = one.release(TABLE.agg(dp.count(), dp.count("sex")), spend=SPEND, name="r").document["statistics"][0]
    assert (line["view"], line["totals"]) == ("exact and unprotected", EXACT)


def test_the_number_of_rows_of_a_resized_table_is_not_the_published_one():
    law = dp.Weights({"f": 1, "m": 1})
    request = TABLE.impute({"sex": law}).resize(20, proportion="0.75").agg(dp.count(), dp.tables(["sex"]))
    release = session(dp.Totals("state")).release(request, spend=SPEND, name="r")
    assert release.document["statistics"][0]["totals"] == APART
    assert release.table["count"].to_list() == [20]
