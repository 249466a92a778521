"""Pages say how groups that nobody listed were found, and what paid for it; of the guarantee every part is accounted for."""

from __future__ import annotations

import json
from fractions import Fraction

import polars as pl
import pytest

import discreet as dp
from discreet.cli.describing import release_lines
from discreet.pages.explain import explain
from discreet.pages.planner import quote_html
from discreet.pages.registry.page import render_evaluation, write_registry_entry
from discreet.pages.report import render
from discreet.pages.report.appendix import start_words
from discreet.pages.report.found import found_words
from discreet.pages.words import english, words_in
from discreet.privacy import GDP

SCHEMA = dp.Schema(visitor=dp.Identifier(), shop=dp.Text(8))
ROWS = pl.DataFrame({"visitor": [*range(900)] * 2, "shop": ["bakery"] * 900 + ["books"] * 900})
SPENDS = {
    "approx-dp": (dp.ApproxDP(2, "1e-6"), (1, "5e-7")),
    "approx-zcdp": (dp.ZCDP(1, delta="1e-6"), ("0.5", "5e-7")),
    "approx-gdp": (dp.GDP(1, delta="1e-6"), ("0.7", "5e-7")),
}


def released(kind: str = "approx-dp", **asked: object) -> dp.Release:
    budget, spend = SPENDS[kind]
    with dp.Session(
        ROWS, SCHEMA, dataset="d", ledger=":memory:", budget=budget, neighbours=dp.AddRemove(person="visitor")
    ) as session:
        by_shop = session.table.bound(groups=2, rows=2).group_by(dp.Discover("shop", share="0.3", **asked))  # type: ignore[arg-type]
        return session.release(by_shop.agg(dp.persons(), dp.count()), spend=spend, name="shops")


def test_the_page_has_the_rounds_and_what_is_public_from_the_start() -> None:
    release = released(known=["café"], other=True, most=5)
    rounds = release.document["discovery"]["rounds"]
    thresholds = [int(one["threshold"]) / int(one["unit"]) for one in rounds]
    told = found_words(release.document, english())
    for n, threshold in enumerate(thresholds, 1):
        assert f"{threshold:.4g} in round {n}" in told
    assert "Public from the start: café." in told
    assert "at most 5 are shown" in told
    assert "The rows of all other names are one group." in told
    assert told in render(release)
    german = found_words(release.document, words_in("de"))
    assert "Runde 2" in german
    assert "round" not in german


@pytest.mark.parametrize("kind", SPENDS)
def test_the_parts_of_the_guarantee_that_a_page_names_are_those_that_were_charged(kind: str) -> None:
    release = released(kind)
    document = release.document
    told = start_words(document, release.guarantee, english())
    paid = sum(Fraction(one["delta"]) for one in document["discovery"]["rounds"])
    spent = Fraction("5e-7")
    if kind == "approx-dp":
        assert "δ = 2.5e-7 of the guarantee pays for names that one person alone has; from here on δ is what is left" in told
        whole = float(GDP.for_approx(1, spent - spent / 2).mu) ** 2
    else:
        assert "δ = 5e-7 of the guarantee pays for names that one person alone has. Start" in told
        assert "(ε, δ) is turned" not in told
        whole = 0.5 if kind == "approx-zcdp" else 0.7**2
    assert paid <= spent / (2 if kind == "approx-dp" else 1) < paid * Fraction(1001, 1000)
    assert f"30\u00a0% of {'ρ' if kind == 'approx-zcdp' else 'μ²'} pays for the rounds" in told
    for measured in document["noise"]:
        written = json.loads(measured["guarantee"])
        own = float(Fraction(written["rho"])) if "rho" in written else float(Fraction(written["mu"])) ** 2
        assert own == pytest.approx(0.7 * whole * float(Fraction(measured["share"])))


def test_the_evaluation_does_not_say_that_found_groups_come_from_the_plan() -> None:
    found, page = released(), render_evaluation(released())
    assert "never from the data" not in page
    assert "in which groups were found are added to them" in page
    assert "several values of the identifier" in page
    assert "names of found groups are read from the data" in write_registry_entry(found)
    with dp.Session(
        ROWS, dp.Schema(shop=dp.Category(["books"])), dataset="d", ledger=":memory:", budget=dp.PureDP(1),
        neighbours=dp.AddRemove(),
    ) as session:  # fmt: skip
        plain = session.release(session.table.group_by("shop").agg(dp.count()), name="r")
    assert "Groups come from the plan, never from the data" in render_evaluation(plain)
    assert found_words(plain.document, english()) == ""


def test_numbers_that_nobody_reads_are_rounded_on_the_page_and_exact_in_the_document() -> None:
    release = released()
    page = render(release)
    exact = release.document["noise"][0]["variance"]
    assert len(exact) > 80
    assert exact not in page
    assert f"σ² = Δ₂² / μ² ≈ {float(Fraction(exact)):.5g}" in page


def test_a_delta_beside_an_amount_is_no_part_of_what_queries_share() -> None:
    with dp.Session(
        ROWS, dp.Schema(shop=dp.Category(["books"])), dataset="d", ledger=":memory:", budget=dp.GDP(1, delta="1e-6"),
        neighbours=dp.AddRemove(),
    ) as session:  # fmt: skip
        plain = session.release(session.table.group_by("shop").agg(dp.count()), spend=("0.1", 0), name="r")
    assert "Each query gets its share of μ². The formula" in start_words(plain.document, plain.guarantee, english())


def test_before_a_release_nobody_knows_how_many_groups_are_found() -> None:
    """`explain`, `check` and the planner have a number of groups for their quotes, which is no fact about the release."""
    with dp.Session(
        ROWS,
        SCHEMA,
        dataset="d",
        ledger=":memory:",
        budget=SPENDS["approx-dp"][0],
        neighbours=dp.AddRemove(person="visitor"),
    ) as session:
        by_shop = session.table.bound(groups=2, rows=2).group_by(dp.Discover("shop", known=["café"], other=True))
        quote = session.quote(by_shop.agg(dp.persons()), spend=SPENDS["approx-dp"][1])
    told = str(explain(quote))
    assert "The answers of all groups are one vector." in told
    assert "Groups of shop that nobody listed are found first" in told
    assert "30\u00a0% of μ² pays for the rounds" in told
    assert "3 rows, and one for each group that is found" in "\n".join(release_lines("r", quote))
    page = quote_html(quote)
    assert "The groups of shop that are found; how many these are is not known before." in page
    assert "groups of shop." not in page
