"""Exact totals on real tables: they hold exactly, intervals cover as they say, and errors are those of the quote.

A session publishes the totals and quotes; the noise is then drawn again and again through the seam between exact and noisy
answers, which no session offers. Rates are one-sided: a check of N pairs (cell, draw) allows 6 standard deviations of N/2
independent ones, because cells of one draw add up to public sums. A false alarm has a chance below 1 in 10 million.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet import datasets
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.noise.bits import system_bits
from discreet.quotes import certainty as levels
from discreet.quotes.space import space_of
from discreet.releases.assemble import estimate_statistics
from discreet.releases.evaluate import exact_answers, noisy_answers
from discreet.totals.structure import exact_sums

SPREAD = 6
MILITARY = dp.Schema(
    branch=dp.Category(["air force", "army", "marine corps", "navy"]),
    grade=dp.Category(["enlisted", "officer", "warrant officer"]),
    race=dp.Category(["ami/aln", "asian", "black", "multi", "p/i", "unk", "white"]),
    gender=dp.Category(["female", "male"]),
)


def opened(source, schema, invariants, budget, rows):
    return session_over(source, schema, budget=budget, neighbours=dp.ReplaceOne(rows=rows), invariants=invariants)


def persons(table, weight):
    """One row for each unit of the column `weight`, which is taken away."""
    return table.filter(pl.col(weight) > 0).select(pl.exclude(weight).repeat_by(weight)).explode(pl.all())


def schema_of(frame):
    """Every column as a category with the values that occur, in alphabetical order."""
    return dp.Schema({name: dp.Category(sorted(frame[name].drop_nulls().unique().to_list())) for name in frame.columns})


@dataclass(frozen=True)
class Found:
    """What many draws of the count of a request showed, on the cells that can hold a record."""

    quoted: object
    pairs: int
    held: int
    squares: float

    @property
    def law(self):
        return self.quoted.measured[0].law

    def assert_as_quoted(self):
        """Coverage is nominal at least, and the error is the one of the quote."""
        independent = self.pairs / 2
        assert self.held / self.pairs >= 0.95 - SPREAD * sqrt(0.95 * 0.05 / independent)
        deviation = self.quoted.measured[0].alternatives[0].deviation
        # The squared error of a Laplace cell, the widest of the laws, has a relative variance of 5.
        assert sqrt(self.squares / self.pairs) == pytest.approx(deviation, rel=SPREAD * sqrt(5 / independent) / 2)
        assert deviation <= min(other.deviation for other in self.quoted.measured[0].alternatives)


def drawn(one, by, spend, draws):
    """The counts by some columns, drawn again and again; sums that the noise keeps are exact in every draw, in integers."""
    request = one.table.group_by(*by).agg(dp.count())
    quoted, brought, bits = one.quote(request, spend=spend), request.layout.scans[0], system_bits()
    exact = exact_answers(quoted, [one._engine.aggregate(brought.axes, brought.moments)], bits)
    structure = space_of(request, quoted.beside).structure
    kept = exact_sums(structure) if quoted.measured[0].law.keeps_totals else []
    assert kept or not quoted.measured[0].law.keeps_totals
    held = pairs = 0
    squares = 0.0
    for _ in range(draws):
        noisy = noisy_answers(quoted, exact, bits)
        estimate = estimate_statistics(quoted, noisy)[0].estimate
        assert estimate.value.dtype == np.int64
        open_cells = estimate.high > estimate.low
        assert (estimate.value == exact[0])[~open_cells].all()
        held += int(((estimate.low <= exact[0]) & (exact[0] <= estimate.high))[open_cells].sum())
        pairs += int(open_cells.sum())
        squares += float(((noisy[0] - exact[0])[open_cells].astype(float) ** 2).sum())
        for labels, totals in kept:
            inside = labels >= 0
            found = np.zeros(len(totals), dtype=np.int64)
            np.add.at(found, labels[inside], estimate.value[inside])
            assert (found == totals).all()
    return Found(quoted, pairs, held, squares)


def assert_released(one, by, spend, name):
    """A release through the whole path: its counts are whole numbers with the published totals, as its label says."""
    release = one.release(one.table.group_by(*by).agg(dp.count()), spend=spend, name=name)
    assert release.document["statistics"][0]["totals"] == "add up to the published ones"
    table = release.table
    assert table["count"].dtype == pl.Int64
    for frame in release.tables.values():
        if frame is table or frame.columns[-1] != "count":
            continue
        columns = frame.columns[:-1]
        found = table.group_by(*columns).agg(pl.col("count").sum()).filter(pl.col("count") != 0)
        assert set(found.rows()) == set(frame.rows())
    return release


# Data that ship with discreet -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [dp.PureDP(2), dp.ZCDP(2)], ids=["pure", "zcdp"])
def test_personnel_with_exact_branch_totals(budget):
    """1,414,593 persons by branch, grade, race and gender."""
    by = ("branch", "grade", "race", "gender")
    with opened(datasets.path("military"), MILITARY, dp.Totals("branch"), budget, 1_414_593) as one:
        release = assert_released(one, by, 1, "r")
        published = release.tables["totals_branch"]
        assert published["count"].sum() == 1_414_593
        fitted = dp.consistent(release)
        assert fitted["count_consistent"].min() >= 0
        found = fitted.group_by("branch").agg(pl.col("count_consistent").sum()).filter(pl.col("count_consistent") > 0)
        assert set(found.rows()) == set(published.rows())
        drawn(one, by, "0.5", 12).assert_as_quoted()


def test_margins_with_nulls_of_a_survey():
    """2,000 persons; education and language have nulls, whose totals are published and kept like all others."""
    frame = pl.read_parquet(datasets.path("acs12")).select("edu", "lang", "gender")
    with opened(frame, schema_of(frame), dp.Margins("edu", "lang"), dp.ZCDP(2), 2_000) as one:
        released = assert_released(one, ("edu", "lang"), 1, "r").tables["totals_edu"]
        assert released.filter(pl.col("edu").is_null())["count"].to_list() == [58]
        drawn(one, ("edu", "lang"), "0.1", 30).assert_as_quoted()


def test_means_with_exact_counts_by_state():
    """Weekly income of 29,501 persons: the counts are exact, so that intervals are those of the sums alone."""
    frame = pl.read_parquet(datasets.path("census2000")).select("state", "weekinc")
    states = dp.Category(sorted(frame["state"].unique().to_list()))
    schema = dp.Schema(state=states, weekinc=dp.Number(0, 2_000, 10))
    with opened(frame, schema, dp.Totals("state"), dp.ZCDP(1), 29_501) as one:
        one.publish_totals()
        table = one.table.impute({"weekinc": dp.Uniform(0, 0)})  # nothing is null, and the law says so
        request = table.group_by("state").agg(dp.count(), dp.mean("weekinc"))
        quoted, brought, bits = one.quote(request, spend="0.5"), request.layout.scans[0], system_bits()
        cube = one._engine.aggregate(brought.axes, brought.moments)
        count = quoted.lines[0].recipe.count.values()
        held = pairs = 0
        for _ in range(60):
            exact = exact_answers(quoted, [cube], bits)
            counts, means = (one.estimate for one in estimate_statistics(quoted, noisy_answers(quoted, exact, bits)))
            assert (counts.low == count).all()
            assert (counts.high == count).all()
            truth = 1000 + float(quoted.lines[1].recipe.total.unit) * exact[0] / np.maximum(count, 1)
            inside = (means.low <= truth) & (truth <= means.high)
            held, pairs = held + int(inside[count > 0].sum()), pairs + int((count > 0).sum())
        assert pairs == 60 * 51
        assert held / pairs >= 0.95 - SPREAD * sqrt(0.95 * 0.05 / pairs)


def test_wrong_intervals_and_wrong_noise_are_noticed(monkeypatch):
    """Intervals of 75 %, noise that is twice as wide, and noise that keeps no totals fail the checks above."""
    frame = pl.read_parquet(datasets.path("acs12")).select("edu", "lang")
    sample = LatticeGaussian.sample

    def plain(law, bits):
        return sample(law, bits) + np.eye(1, law.structure.cells, dtype=np.int64)[0]

    with opened(frame, schema_of(frame), dp.Totals("edu"), dp.ZCDP(1), 2_000) as one:
        one.publish_totals()
        drawn(one, ("edu", "lang"), "0.1", 60).assert_as_quoted()
        with monkeypatch.context() as planted:
            planted.setattr(levels, "LEVEL", Fraction(3, 4))
            found = drawn(one, ("edu", "lang"), "0.1", 60)
        with pytest.raises(AssertionError):
            found.assert_as_quoted()
        with monkeypatch.context() as planted:
            planted.setattr(LatticeGaussian, "sample", lambda law, bits: 2 * sample(law, bits))
            found = drawn(one, ("edu", "lang"), "0.1", 60)
        with pytest.raises(AssertionError):
            found.assert_as_quoted()
        monkeypatch.setattr(LatticeGaussian, "sample", plain)
        with pytest.raises(AssertionError):
            drawn(one, ("edu", "lang"), "0.1", 1)


# Data beside the checkout ---------------------------------------------------------------------------------------------


def counties(shared, unit):
    """States and counties of the United States, a row for every `unit` persons; counties are numbered within their state."""
    table = pl.read_csv(shared / "data/census/us_counties_2020.csv", infer_schema=False)
    numbered = table.with_columns(county=pl.int_range(pl.len()).over("state").cast(pl.String).str.zfill(3))
    rows = (pl.col("pop2020").cast(pl.Float64) / unit).round().cast(pl.Int64)
    return persons(numbered.select("state", "county", rows=rows), "rows"), schema_of(numbered.select("state", "county"))


@pytest.mark.shared
@pytest.mark.parametrize("budget", [dp.PureDP(2), dp.ZCDP(2)], ids=["pure", "zcdp"])
def test_counties_with_exact_state_totals(shared, budget):
    frame, schema = counties(shared, 5_000)
    with opened(frame, schema, dp.Totals("state"), budget, frame.height) as one:
        totals = assert_released(one, ("state", "county"), 1, "r").tables["totals_state"]
        assert totals.height == 51
        found = drawn(one, ("state", "county"), "0.1", 1)
        assert found.pairs == 51 * 255
        found.assert_as_quoted()


@pytest.mark.shared
@pytest.mark.exhaustive
def test_all_persons_of_the_united_states_in_thousands(shared):
    frame, schema = counties(shared, 1_000)
    for budget in (dp.PureDP(1), dp.ZCDP(1)):
        with opened(frame, schema, dp.Totals("state"), budget, frame.height) as one:
            one.publish_totals()
            drawn(one, ("state", "county"), "0.01", 20).assert_as_quoted()


def binary(shared, name):
    table = pl.read_csv(shared / f"data/tables/{name}.csv")
    return persons(table, "count"), schema_of(table.drop("count"))


@pytest.mark.one_in(2)
@pytest.mark.shared
@pytest.mark.parametrize(("name", "columns", "rows"), [("czech_autoworkers", 6, 1_841), ("rochdale", 8, 665)])
def test_all_one_way_margins_of_binary_tables(shared, name, columns, rows):
    frame, schema = binary(shared, name)
    assert (frame.width, frame.height) == (columns, rows)
    with opened(frame, schema, dp.Margins(*frame.columns), dp.ZCDP(1), rows) as one:
        assert_released(one, frame.columns, "0.5", "r")
        found = drawn(one, frame.columns, "0.1", 3 if columns == 6 else 1)
        assert found.quoted.group <= columns + 1
        assert found.pairs % 2**columns == 0  # nobody's answer is missing, which the margins say: those cells are 0
        found.assert_as_quoted()


@pytest.mark.shared
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["czech_autoworkers", "rochdale"])
@pytest.mark.parametrize("budget", [dp.PureDP(1), dp.ZCDP(1)], ids=["pure", "zcdp"])
def test_binary_tables_many_times(shared, name, budget):
    frame, schema = binary(shared, name)
    with opened(frame, schema, dp.Margins(*frame.columns), budget, frame.height) as one:
        one.publish_totals()
        drawn(one, frame.columns, "0.1", 60).assert_as_quoted()


def places(shared):
    """Areas by race and Hispanic group, with all declared categories."""
    table = pl.read_csv(shared / "data/tables/pums_race_hispanic_by_puma.csv", infer_schema=False)
    named = table.select(
        place=pl.col("state_fips") + pl.col("puma"), race="rac1p", hisp="hisp", rows=pl.col("count").cast(int)
    )
    return persons(named, "rows"), schema_of(named.drop("rows"))


@pytest.mark.slow
@pytest.mark.shared
def test_two_way_margins_of_places(shared):
    """15 × 9 × 24 with {place, race} and {place, hispanic} exact: 15 tables, of the rows and columns that hold anybody."""
    frame, schema = places(shared)
    assert [schema[name].size for name in frame.columns] == [15, 9, 24]
    invariants = dp.Margins(["place", "race"], ["place", "hisp"])
    with opened(frame, schema, invariants, dp.ZCDP(1), 19_778) as one:
        assert_released(one, frame.columns, "0.5", "r")
        found = drawn(one, frame.columns, "0.1", 1)
        assert found.quoted.group == 3
        found.assert_as_quoted()
        request = one.table.group_by("place", "race").agg(dp.count())
        with pytest.raises(dp.PlanError, match="already"):
            one.quote(request, spend="0.1")


@pytest.mark.shared
@pytest.mark.exhaustive
@pytest.mark.parametrize("budget", [dp.PureDP(1), dp.ZCDP(1)], ids=["pure", "zcdp"])
def test_two_way_margins_of_places_many_times(shared, budget):
    frame, schema = places(shared)
    with opened(frame, schema, dp.Margins(["place", "race"], ["place", "hisp"]), budget, 19_778) as one:
        one.publish_totals()
        drawn(one, frame.columns, "0.1", 20).assert_as_quoted()


@pytest.mark.shared
def test_all_two_way_margins_of_places_are_refused_with_what_would_work(shared):
    frame, schema = places(shared)
    three = dp.Margins(["place", "race"], ["place", "hisp"], ["race", "hisp"])
    with pytest.raises(dp.PlanError, match=r"no closed form, .*publish nested or disjoint totals, totals that form a chain"):
        opened(frame, schema, three, dp.ZCDP(1), 19_778)


def blocks(shared):
    """Blocks of the 2018 end-to-end test, with their tract and block group; 215 of the 569 are empty."""
    table = pl.read_csv(shared / "data/census/ri2018_e2e_prototype_blocks.csv", infer_schema=False)
    table = table.filter(pl.col("sumlev") == "750")
    named = table.select(
        tract=pl.col("geoid").str.slice(5, 6),
        group=pl.col("geoid").str.slice(11, 1),
        block=pl.col("geoid").str.slice(12, 3),
        rows=pl.col("total").cast(int),
    )
    return persons(named, "rows"), schema_of(named.drop("rows"))


@pytest.mark.one_in(3)
@pytest.mark.shared
@pytest.mark.parametrize("budget", [dp.PureDP(2), dp.ZCDP(2)], ids=["pure", "zcdp"])
@pytest.mark.parametrize(
    ("invariants", "by"),
    [
        (dp.Totals("tract") + dp.Totals("tract", "group"), ("tract", "group", "block")),
        (dp.Totals("tract"), ("tract", "group", "block")),
    ],
    ids=["tract and group", "tract"],
)
def test_blocks_in_tracts(shared, invariants, by, budget):
    frame, schema = blocks(shared)
    with opened(frame, schema, invariants, budget, frame.height) as one:
        totals = assert_released(one, by, 1, "r").tables["totals_tract"]
        assert (totals.height, totals["count"].sum()) == (7, frame.height)
        found = drawn(one, by, "0.1", 1)
        assert found.quoted.group == 2
        found.assert_as_quoted()
