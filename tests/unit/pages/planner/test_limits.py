"""Budgets beside the one of the data set on the page: those of its population and of the windows that releases read."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from tests.builders import plan_text
from typer.testing import CliRunner

from discreet.cli import app

PLAN = plan_text("windows")
ALL = '\n[[release]]\nname = "all"\nstatistics = ["count"]\nspend = 0.1\n'


@pytest.fixture
def planner(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("day,shop\n2026-01-05,a\n", encoding="utf-8")

    def write(text, *options):
        Path("plan.toml").write_text(text, encoding="utf-8")
        found = CliRunner().invoke(app, ["quote", "plan.toml", "--html", "page.html", *options])
        assert found.exit_code == 0, found.output
        html = Path("page.html").read_text(encoding="utf-8")
        return html, json.loads(re.search(r'<script type="application/json" id="plan">(.*?)</script>', html, re.DOTALL)[1])

    return write


def of(opened):
    """What the page says of each budget: what is asked, what is left, and whether it fits."""
    outcomes = "state.releases.map((_, k) => outcome(plan, state, k))"
    found = opened.call(f"limits(plan, {outcomes}).map(one => [one.asked, one.left, fits(one.asked, one.left)])")
    return [(*(Fraction(int(pair[0][0]), int(pair[0][1])) for pair in pairs), ok) for *pairs, ok in found]


def test_each_budget_is_shown_with_what_the_releases_that_read_it_take(planner, page):
    html, found = planner(PLAN)
    named = [(one["kind"], one["name"], one["left"], one["releases"]) for one in found["limits"]]
    assert named == [
        ("population", "'customers'", ["0.7"], [0, 1]),
        ("window", "2026-01", ["0.3"], [0, 1]),
        ("window", "2026-02", ["0.3"], [1]),
    ]
    for words in ("population &#39;customers&#39;", "ρ = 0.25 of ρ = 0.7 that remains", "ρ = 0.05 of ρ = 0.3 that remains"):
        assert words in html
    opened = page(found)
    assert of(opened) == [
        (Fraction(1, 4), Fraction(7, 10), True),
        (Fraction(1, 4), Fraction(3, 10), True),
        (Fraction(1, 20), Fraction(3, 10), True),
    ]
    opened.state["releases"][0]["spend"] = "0.26"
    assert [ok for *_, ok in of(opened)] == [True, False, True]
    opened.state["releases"][0]["spend"] = "0.66"
    assert [ok for *_, ok in of(opened)] == [False, False, True]


def test_what_is_shared_out_fits_in_every_budget(planner, page):
    opened = page(planner(PLAN)[1])
    shared = opened.call("shareOut(plan, state)")
    assert [Fraction(one) for one in shared] == [Fraction("0.24"), Fraction("0.06")], "January has the least left"
    opened.state["releases"][0]["spend"], opened.state["releases"][1]["spend"] = shared
    assert [ok for *_, ok in of(opened)] == [True] * 3


def test_a_budget_of_which_one_amount_is_not_asked_is_shared_out_by_the_other(planner, page):
    """January is asked for ε alone: the δ of both is for February, and January has less ε left than the data set."""
    text = re.sub(
        r"rho = 0\.(\d)", r"epsilon = 0.\1, delta = 1e-6", PLAN.replace('measure = "zcdp"', 'measure = "approx-dp"')
    )
    text = text.replace("epsilon = 0.6, delta", "epsilon = 0.6\ndelta").replace('["2026-01", "2026-02"]', '"2026-02"')
    text = text.replace("spend = 0.2", "spend = { epsilon = 0.2, delta = 0 }")
    opened = page(planner(text.replace("spend = 0.05", "spend = { epsilon = 0.05, delta = 1e-7 }"))[1])
    opened.state["releases"][0]["spend"] = opened.call("shareOut(plan, state)")[0]
    assert 0 < Fraction(opened.state["releases"][0]["spend"]) <= Fraction("0.3")


def test_a_release_of_all_rows_is_charged_to_every_window(planner, page):
    html, found = planner(PLAN + ALL)
    named = [(one["kind"], one["name"], one["releases"]) for one in found["limits"]]
    assert named[1:] == [("window", "2026-01", [0, 1, 2]), ("window", "2026-02", [1, 2]), ("others", "", [2])]
    assert 'each other window</bdi>: <span data-limit="3">ρ = 0.1 of ρ = 0.3 that remains' in html
    shared = [Fraction(one) for one in page(found).call("shareOut(plan, state)")]
    assert sum(shared) <= Fraction("0.3"), "January reads all three"


def test_a_budget_in_mu_adds_squares(planner, page):
    text = PLAN.replace('"zcdp"', '"gdp"').replace("rho", "mu")
    html, found = planner(text)
    assert "μ ≤ 0.206156 of μ = 0.3 that remains" in html
    asked, left, ok = of(page(found))[1]
    assert (asked, left, ok) == (Fraction("0.0425"), Fraction("0.09"), True), "0.2² + 0.05² of 0.3²"


def test_a_german_page_names_the_budgets_in_german(planner):
    html, _ = planner(PLAN + ALL, "--language", "de")
    for words in ("Grundgesamtheit &#39;customers&#39;", "Zeitraum 2026-01", "jeder andere Zeitraum"):
        assert words in html


def test_a_plan_without_them_has_none(planner):
    text = re.sub(r"(?m)^(population|windows|window) .*\n", "", PLAN)
    html, found = planner(text)
    assert "limits" not in found
    assert '<ul class="limits">' not in html
