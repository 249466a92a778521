"""A session over a secret sample: charges of the file, and one guarantee for the population, said wherever one is stated."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.pages.report.page import render
from discreet.privacy.population import CONDITION, PopulationGuarantee
from discreet.releases.publish import noise_json

from .sessions import FRAME, session

pytestmark = pytest.mark.usefixtures("one_artist")

POISSON = dp.AddRemove(sampled=dp.Poisson("1/100", draw="panel"))
DRAWN = dp.ReplaceOne(rows=100, sampled=dp.WithoutReplacement(of=1000))


@pytest.mark.parametrize(("neighbours", "plain", "rate"), [
    (POISSON, dp.AddRemove(), Fraction(1, 100)), (DRAWN, dp.ReplaceOne(rows=100), Fraction(1, 10)),
])  # fmt: skip
def test_charges_and_noise_are_those_of_the_file(neighbours: Any, plain: Any, rate: Fraction) -> None:
    with session(neighbours=neighbours) as one, session(neighbours=plain) as other:
        quotes = [each.quote(each.table.group_by("g").agg(dp.count()), spend="0.1") for each in (one, other)]
        assert noise_json(quotes[0]) == noise_json(quotes[1])
        assert quotes[0].spend == quotes[1].spend == dp.ZCDP("0.1")
        assert quotes[0].plan.digest != quotes[1].plan.digest
        assert one.population_guarantee == PopulationGuarantee(dp.ZCDP(1), rate)
        assert other.population_guarantee is None
        one.release(one.table.group_by("g").agg(dp.count()), spend="0.1", name="r")
        assert one.spent == dp.ZCDP("0.1")
        assert one.population_guarantee == PopulationGuarantee(dp.ZCDP(1), rate)  # of the whole budget, whatever is spent


def test_the_guarantee_of_the_population_is_one_conversion_of_the_budget() -> None:
    with session(neighbours=POISSON, budget=dp.PureDP(1)) as one:
        found = one.population_guarantee
        assert found is not None
        assert 0.017036863236176549 <= found.pair(0)[0] < 0.0170368632361766


def test_every_place_that_states_a_guarantee_states_that_of_the_population() -> None:
    with session(neighbours=POISSON, budget=dp.ZCDP("0.1"), report_delta="1e-6") as one:
        asked = one.table.group_by("g").agg(dp.count())
        said = str(one.quote(asked, spend="0.05"))
        release = one.release(asked, spend="0.05", name="r")
    assert "the cost is for the rows of the file, which are a secret sample" in said
    assert CONDITION in said
    stated = release.document["population"]
    assert stated["rate"] == "0.01"
    assert stated["sampled"] == {"design": "poisson", "rate": "0.01", "draw": "panel"}
    assert 0.0415 < stated["epsilon"] < 0.0416  # of ρ = 0.1, all that may ever be released
    assert stated["delta"] == "0.000001"
    assert "whole budget (ρ = 0.1 for the rows of the file), give everybody in the population" in stated["words"]
    assert "ε = 0.04158 at δ = 1e-6. " + CONDITION in stated["words"]
    assert release.guarantee.measure == dp.ZCDP("0.05")
    page = render(release)
    assert stated["words"] in page
    assert "The promise above is to the persons in the file." in page


def test_without_a_draw_nothing_is_said() -> None:
    with session() as one:
        asked = one.table.agg(dp.count())
        assert "population" not in str(one.quote(asked, spend="0.05"))
        release = one.release(asked, spend="0.05", name="r")
    assert "population" not in release.document
    assert "secret sample" not in render(release)


def test_two_data_sets_of_one_draw_share_one_budget(tmp_path: Path) -> None:
    ledger = tmp_path / "budget.db"
    with session(neighbours=POISSON, ledger=ledger, dataset="wave 1") as one:
        one.release(one.table.agg(dp.count()), spend="0.7", name="r")
    with session(neighbours=POISSON, ledger=ledger, dataset="wave 2") as two:
        assert (two.remaining, two.spent) == (dp.ZCDP("0.3"), dp.ZCDP("0.7"))
        with pytest.raises(dp.BudgetExceeded):
            two.release(two.table.agg(dp.count()), spend="0.4", name="r")
        release = two.release(two.table.agg(dp.count()), name="r")  # all that remains
        assert release.guarantee.measure == dp.ZCDP("0.3")
    with session(neighbours=POISSON, ledger=ledger, dataset="wave 1") as one, pytest.raises(dp.BudgetExceeded):
        one.release(one.table.agg(dp.count()), spend="1e-9", name="s")


def test_the_draw_is_fixed_with_the_data_set(tmp_path: Path) -> None:
    with session(neighbours=POISSON, ledger=tmp_path / "budget.db") as one:
        one.release(one.table.agg(dp.count()), spend="0.1", name="r")
    for other in (dp.AddRemove(), dp.AddRemove(sampled=dp.Poisson("1/10", draw="panel"))):
        with pytest.raises(dp.LedgerError, match="was declared otherwise in this ledger"):
            session(neighbours=other, ledger=tmp_path / "budget.db")


def test_exact_totals_are_refused() -> None:
    with pytest.raises(dp.PlanError, match="exact totals are not private on the file, so the draw hides nobody"):
        session(neighbours=DRAWN, invariants=dp.Totals("g"))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: dp.AddRemove(sampled=dp.WithoutReplacement(of=9)), "declare ReplaceOne"),  # type: ignore[arg-type]
        (lambda: dp.ReplaceOne(rows=5, sampled=dp.Poisson("1/2")), "declare AddRemove"),  # type: ignore[arg-type]
        (lambda: dp.ReplaceOne(rows=5, sampled=dp.WithoutReplacement(of=4)), "must be at most the size of the population"),
        (lambda: dp.ReplaceOne(5, 2, sampled=dp.WithoutReplacement(of=9)), "persons with one row each"),
        (lambda: dp.AddRemove(sampled="stratified"), "strata that are sampled in proportion"),  # type: ignore[arg-type]
        (lambda: dp.AddRemove(sampled="1/100"), "sampled='1/100' is unknown"),  # type: ignore[arg-type]
        (lambda: dp.AddRemove(sampled=0.1), "must be Poisson"),  # type: ignore[arg-type]
    ],
)
def test_a_draw_from_which_nothing_follows_is_refused(make: Any, said: str) -> None:
    with pytest.raises(dp.ArgumentError, match=said):
        make()


@pytest.mark.parametrize("neighbours", [POISSON, DRAWN])
def test_a_declaration_is_pickled_and_shown(neighbours: Any) -> None:
    assert pickle.loads(pickle.dumps(neighbours)) == neighbours
    table = dp.Table(dp.Schema(g=dp.Category(["x"])), neighbours)
    assert "a secret sample, " in table._repr_html_()


def test_a_declaration_from_before_draws_has_none() -> None:
    for kind, state in ((dp.AddRemove, [3]), (dp.ReplaceOne, [5, 1])):
        old = kind.__new__(kind)
        old.__setstate__(state)
        assert old.sampled is None
        assert old == kind(*state)


def test_the_source_of_a_fixed_sample_has_the_declared_rows() -> None:
    with session(FRAME.head(99), neighbours=DRAWN) as one, pytest.raises(dp.RowsDiffer):
        one.release(one.table.agg(dp.count("v")), spend="0.1", name="r")
