"""Tests of independence on releases: what is read from a document, the exact law beside margins, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb

import numpy as np
import polars as pl
import pytest
from tests.builders import run

import discreet as dp
from discreet.noise.bits import system_bits
from discreet.releases.document import Release
from discreet.releases.hypotheses import independence
from discreet.releases.hypotheses.crossed import independent_laws, margins_of, read_cells
from discreet.releases.hypotheses.independence import association
from discreet.releases.hypotheses.lattices import read_noise
from discreet.releases.hypotheses.one_margin import one_margin_of

SCHEMA = dp.Schema(
    sex=dp.Category(["f", "m"], required=True),
    area=dp.Category(["north", "south", "west"], required=True),
    ill=dp.Category(["no", "yes"]),
    age=dp.Number(0, 100),
)
ROWS = 240


def persons(rows=ROWS, seed=4):
    draw = np.random.default_rng(seed)
    sex = draw.choice(["f", "m"], rows)
    return pl.DataFrame(
        {
            "sex": sex,
            "area": draw.choice(["north", "south", "west"], rows, p=[0.5, 0.3, 0.2]),
            "ill": np.where(draw.random(rows) < np.where(sex == "f", 0.7, 0.3), "yes", "no"),
            "age": draw.integers(0, 101, rows),
        }
    )


def released(*by, exact=None, budget=None, steps=lambda table: table, statistics=None, **options):
    given = {"neighbours": dp.ReplaceOne(rows=ROWS), **options}
    invariants = {} if exact is None else {"invariants": exact}
    session = dp.Session(
        persons(), SCHEMA, dataset="d", ledger=":memory:", budget=budget or dp.PureDP(2), **given, **invariants
    )
    return session.release(steps(session.table).group_by(*by).agg(*(statistics or [dp.count()])), name="r")


MARGINS = dp.Margins(["sex"], ["ill"])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("budget", [dp.PureDP(2), dp.ZCDP(1), dp.GDP(1)])
def test_with_margins_of_two_levels_the_p_value_is_the_sum_of_its_law(budget):
    """Against a sum over all tables and all noise, in exact fractions of the hypergeometric law."""
    release = released("sex", "ill", exact=MARGINS, budget=budget)
    found = dp.test_independence(release)
    cells = read_cells(release, None, None, None)
    margins = margins_of(release, cells, None)
    law = read_noise(release.document, ("sex", "ill"), (2, 2), turned=not margins.rows_first).corner()
    first, second, published = int(margins.rows[0]), int(margins.columns[0]), int(cells.values[0, 0])
    expected = Fraction(first * second, ROWS)
    apart = abs(published - expected)
    masses = {k: law.pmf(k)[0] for k in range(-80, 81)}
    total = 0.0
    for h in range(max(0, first + second - ROWS), min(first, second) + 1):
        chance = comb(first, h) * comb(ROWS - first, second - h) / comb(ROWS, second)
        total += chance * sum(masses[k] for k in masses if abs(h + k - expected) >= apart)
    assert float(found.p_value) == pytest.approx(total, rel=2e-3, abs=1e-9)
    assert found.p_value >= Fraction(total) * (1 - Fraction(1, 10**9))
    assert found.rejects()
    assert found.details == {"margins": "exact"}
    less, greater = (dp.test_independence(release, alternative=one).p_value for one in ("less", "greater"))
    assert min(less, greater) < Fraction(1, 1000) < Fraction(99, 100) < max(less, greater)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("budget", [dp.PureDP(2), dp.ZCDP(1), dp.GDP(1)])
@pytest.mark.parametrize("exact", [(["sex"], ["area"]), (["area"], ["sex"])])
def test_the_noise_of_a_document_is_drawn_as_the_release_draws_it(budget, exact):
    """The draws of the test and of many releases have one covariance: shape and orientation are read rightly."""
    margins = dp.Margins(*exact)
    release = released("sex", "area", exact=margins, budget=budget)
    cells = read_cells(release, None, None, None)
    public = margins_of(release, cells, None)
    noise = read_noise(release.document, ("sex", "area"), (2, 3), turned=not public.rows_first)
    drawn = noise.draws(20_000, system_bits())  # the shares below are eight standard deviations and more away
    assert drawn.shape == (20_000, 2, 3)
    assert not drawn.sum(axis=1).any()
    assert not drawn.sum(axis=2).any()
    width = (release.table["count_high"] - release.table["count"]).max()
    assert np.mean(np.abs(drawn) <= width) > 0.94
    assert np.mean(np.abs(drawn) < width) < 0.99
    found = dp.test_independence(release, draws=999)
    assert found.details["draws"] == 999
    assert found.p_value >= Fraction(1 + found.details["as_large"], 1000)
    assert found.p_value > Fraction(1, 1000)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("budget", [dp.PureDP(8), dp.ZCDP(4), dp.GDP(4)])
@pytest.mark.parametrize("column", ["sex", "ill"])
def test_beside_the_totals_of_one_column_the_other_margin_is_open(budget, column):
    release = released("sex", "ill", exact=dp.Totals(column), budget=budget)
    found = dp.test_independence(release)
    assert found.rejects("0.001")
    assert found.details["margins"] == f"exact for {column}"
    assert "a level of their own" in found.assumptions[1]
    cells = read_cells(release, None, None, None, nulls=True)
    beside = one_margin_of(release.document, cells)
    assert beside.turned == (column == "ill")
    truth = persons().group_by(column).len().drop_nulls().sort(column)["len"].to_list()
    assert beside.totals.tolist() == truth
    assert not dp.test_independence(released("sex", "area", exact=dp.Totals("area"), budget=budget)).rejects("0.001")


def test_rows_that_the_totals_do_not_all_count_are_not_tested_as_if_they_did():
    """A count of a column leaves out its nulls; its noise is another one."""
    asked = [dp.count(), dp.count("ill")]
    release = released("sex", "area", exact=dp.Totals("sex"), statistics=asked)
    assert dp.test_independence(release).details["margins"] == "exact for sex"
    other = read_cells(release, "count_ill", None, None, nulls=True)
    assert one_margin_of(release.document, other) is None


def test_beside_the_totals_of_one_column_there_is_a_side():
    release = released("sex", "area", exact=dp.Totals("sex"))
    with pytest.raises(dp.ArgumentError, match="two levels each"):
        dp.test_independence(release, alternative="greater")
    with pytest.raises(dp.ArgumentError, match="two levels each"):
        dp.test_independence(released("sex", "ill", exact=dp.Totals("sex")), alternative="greater")


def test_columns_may_be_named_in_any_order():
    release = released("sex", "ill", exact=MARGINS)
    assert (
        dp.test_independence(release, by=["ill", "sex"]).p_value == dp.test_independence(release, by=["sex", "ill"]).p_value
    )


def test_without_totals_margins_are_left_open():
    release = released("sex", "ill", budget=dp.PureDP(20))
    found = dp.test_independence(release)
    assert found.details == {"margins": "noisy", "cells": 1}
    assert found.rejects("0.001")
    assert "in which both are known" in found.hypothesis
    wide = dp.test_independence(released("sex", "area", budget=dp.PureDP(20)))
    assert wide.details["cells"] == 3
    assert not wide.rejects("0.001")
    tiny = dp.test_independence(released("sex", "ill", budget=dp.PureDP("0.001")))
    assert tiny.p_value == 1


def test_rows_without_a_value_that_are_not_shown_are_in_the_hypothesis_too():
    """The noise is tied to totals that count them, so that a test beside one margin is of all rows."""
    release = released("sex", "area", exact=dp.Totals("sex"), steps=lambda table: table.clamp({"area": ["north", "south"]}))
    found = dp.test_independence(release)
    assert found.details["margins"] == "exact for sex"
    assert "those without a value as a level" in found.hypothesis


@pytest.mark.slow
def test_more_columns_are_added_up_or_fixed():
    release = released("sex", "area", "ill", budget=dp.PureDP(40))
    assert dp.test_independence(release, by=["sex", "ill"]).rejects("0.001")
    assert dp.test_independence(release, at={"area": "north"}).details["cells"] == 1
    with pytest.raises(dp.ArgumentError, match="name 2 different group columns"):
        dp.test_independence(release)


def test_exact_sums_of_a_release_are_used_where_it_has_them():
    release = released("sex", "ill", budget=dp.PureDP(20))
    cells = read_cells(release, None, None, None)
    laws = independent_laws(cells)
    one = association(cells, margins_of(release, cells, None), laws, (0, 0), "two-sided")
    assert one.row.published == int(cells.values[0].sum())
    assert len(one.row.laws) == 2
    assert len(one.whole.laws) == 4


def test_a_file_gives_the_same_test(tmp_path):
    release = released("sex", "ill", exact=MARGINS)
    release.save(tmp_path)
    found = dp.test_independence(Release.load(tmp_path))
    assert found.to_json() == dp.test_independence(release).to_json()
    assert json.loads(found.to_json())["rejected_at"].keys() == {"0.05", "0.01", "0.001"}
    assert "p-value: at most" in str(found)
    shown = run("test", "independence", str(tmp_path), "--json")
    assert json.loads(shown.stdout)["p_value"] == json.loads(found.to_json())["p_value"]
    assert "Nothing was spent." in run("test", "independence", str(tmp_path), "--by", "ill,sex").stdout


REFUSED = {
    "samples": lambda table: table.sample("1/2"),
    "imputes a column": lambda table: table.impute(
        {"sex": dp.Weights({"f": 1, "m": 1}), "ill": dp.Weights({"no": 1, "yes": 1})}
    ).resize(ROWS, proportion="1/2"),
}


@pytest.mark.parametrize("word", REFUSED)
def test_rows_that_are_not_independent_are_refused(word):
    release = released("sex", "ill", steps=REFUSED[word])
    with pytest.raises(dp.ArgumentError, match=word):
        dp.test_independence(release)


@pytest.mark.slow
def test_what_has_no_known_law_is_refused():
    with pytest.raises(dp.ArgumentError, match="by these two columns alone"):
        dp.test_independence(released("sex", "area", "ill", exact=dp.Totals("sex")), by=["sex", "ill"])
    with pytest.raises(dp.ArgumentError, match="it has no counts"):
        dp.test_independence(released("sex", "ill", statistics=[dp.median("age", nulls="skip")]))
    with pytest.raises(dp.ArgumentError, match="which are not independent"):
        dp.test_independence(released("sex", "ill", neighbours=dp.AddRemove(rows_per_person=2)))
    release = released("sex", "ill")
    for wrong in ({"alternative": "both"}, {"draws": 5}, {"by": ["sex"]}, {"by": "sex"}, {"statistic": "counts"}):
        with pytest.raises(dp.ArgumentError):
            dp.test_independence(release, **wrong)
    with pytest.raises(dp.ArgumentError, match="two levels each"):
        dp.test_independence(released("sex", "area"), alternative="greater")
    with pytest.raises(dp.ArgumentError, match="must be a Release"):
        dp.test_independence("results")
    with pytest.raises(dp.ArgumentError, match="strictly between"):
        dp.test_independence(release).rejects(2)


def test_every_cell_that_is_tried_takes_its_share_of_the_level(monkeypatch):
    monkeypatch.setattr(independence, "smallest_level", lambda *_: 0.004)
    assert 0.004 <= dp.test_independence(released("sex", "ill")).p_value < 0.0041
    found = dp.test_independence(released("sex", "area"))
    assert found.details["cells"] == 3
    assert 0.012 <= found.p_value < 0.0121


def test_facts_that_decide_where_there_is_noise_must_be_about_what_is_given():
    """A level that nobody has by an exact fact has no noise: then the noise tells of the rows, and its law is another."""
    sums = [dp.sum("age", nulls="skip"), dp.count("age"), dp.count()]

    def beside(exact, statistics=sums[2:]):
        by = ("sex", "ill") if len(statistics) == 1 else ("sex",)
        return released(*by, exact=exact, steps=lambda table: table.where({"age": (0, 50)}), statistics=statistics)

    given = beside(dp.Occupied("sex"))
    assert 0 < dp.test_independence(given).p_value <= 1
    assert 0 < dp.test_proportion(given, "0.7", of={"ill": "yes"}, at={"sex": "f"}).p_value <= 1
    told = beside(dp.Occupied("sex", "ill"))
    for refused in (
        lambda: dp.test_independence(told),
        lambda: dp.test_independence(beside(dp.Occupied("area"))),
        lambda: dp.test_difference(told, {"ill": "yes"}, by="sex"),
        lambda: dp.test_proportion(given, "0.5", of={"sex": "f"}, at={"ill": "yes"}),
        lambda: dp.test_means(beside(dp.Occupied("age"), sums[:2]), "sum_age"),
        lambda: dp.test_anova(beside(dp.Occupied("area"), [*sums[:2], dp.variance("age", nulls="skip")]), "sum_age"),
    ):
        with pytest.raises(dp.ArgumentError, match="depends on the exact facts about"):
            refused()
