from __future__ import annotations

from fractions import Fraction

import pytest

import discreet as dp
from discreet.pages.report import render

pytestmark = pytest.mark.usefixtures("one_artist")

SCHEMA = dp.Schema(
    state=dp.Category(["A", "B", "C"]),
    sex=dp.Category(["f", "m", "x"]),
    owner=dp.Category([False, True]),
    side=dp.Category(["left", "right"]),
    age=dp.Number(0, 10),
)
ROWS = {
    "state": ["A", "B", "C"] * 12,
    "sex": ["f", "m", "x", "f", "m", "x", "m", "x", "f"] * 4,
    "owner": [True, False, False, True] * 9,
    "side": ["left", "left", "right"] * 12,
    "age": list(range(9)) * 4,
}

FORMULAS = {
    "scale = Δ₁ / ε": lambda l1, _, bound: l1 / bound,
    "scale = Δ₁ / (2ε)": lambda l1, _, bound: l1 / (2 * bound),
    "σ² = Δ₂² / (2ρ)": lambda _, l2_squared, bound: l2_squared / (2 * bound),
    "σ² = Δ₂² / μ²": lambda _, l2_squared, bound: l2_squared / bound**2,
    "ε": lambda _, __, bound: bound,
}


def by(*columns):
    return lambda table: table.group_by(*columns).agg(dp.count())


def means(table):
    return table.impute({"age": dp.Uniform()}).group_by("owner").agg(dp.count(), dp.mean("age"), dp.sum("age").alias("all"))


def sums(table):
    return table.impute({"age": dp.Uniform()}).group_by("owner").agg(dp.sum("age"))


def resized(table):
    imputed = table.impute({"owner": dp.Weights({True: 1, False: 1}), "age": dp.Uniform()})
    return imputed.resize(40, proportion="0.5").group_by("owner").agg(dp.count())


CASES = {
    "blocks, pure": (by("state", "sex"), dp.Totals("state"), dp.PureDP("0.7"), "K-norm on the lattice, blocks"),
    "blocks, zcdp": (by("state", "sex"), dp.Totals("state"), dp.ZCDP("1/3"), "Gaussian on the lattice"),
    "two rows": (by("side", "owner"), dp.Margins(["side"], ["owner"]), dp.PureDP(2), "K-norm on the lattice, tables"),
    "tables, zcdp": (by("state", "sex"), dp.Margins(["state"], ["sex"]), dp.ZCDP(1), "Gaussian on the lattice"),
    "hull": (by("state", "sex"), dp.Margins(["state"], ["sex"]), dp.PureDP("1/3"), "K-norm of the hull"),
    "blocks, gdp": (by("state", "sex"), dp.Totals("state"), dp.GDP("0.5"), "rounded Gaussian on the lattice"),
    "plain, gdp": (sums, dp.Totals("state"), dp.GDP("0.5"), "rounded Gaussian"),
    "plain, pure": (means, dp.Totals("state"), dp.PureDP(1), "discrete Laplace"),
    "resized": (resized, dp.Totals("state"), dp.PureDP(1), "discrete Laplace"),
    "no totals": (means, None, dp.ZCDP("0.9"), "rounded Gaussian"),
}


@pytest.fixture(params=CASES, scope="module")
def made(request, released):
    """A release, and the name of a law that must be explained on its page."""
    ask, invariants, budget, law = CASES[request.param]
    return released(SCHEMA, ROWS, ask, budget=budget, invariants=invariants), law


def value(shown: str) -> Fraction:
    """The exact number of "ρ = 1/3 ≈ 0.33333"."""
    return Fraction(shown.rpartition(" = ")[2].partition(" ≈ ")[0])


@pytest.mark.one_in(3)
def test_every_noise_parameter_follows_from_what_stands_beside_it(made, read):
    release, law = made
    html = render(release)
    noises = read(html).table("Noise scales").cells(7)
    assert len(noises) == len(release.document["noise"])
    for (_, l1, l2_squared, _, bound, _, parameter), measured in zip(noises, release.document["noise"], strict=True):
        formula, computed = parameter.rsplit(" = ", 1)
        found = FORMULAS[formula](Fraction(l1), Fraction(l2_squared), value(bound))
        assert found == value(computed)
        assert found == Fraction(next(measured[key] for key in ("scale", "variance", "epsilon") if key in measured))
    assert f"<dt>{law}</dt><dd>" in html


def test_the_shares_and_the_effective_guarantee_give_each_guarantee(released, read):
    release = released(SCHEMA, ROWS, means, budget=dp.ZCDP("0.9"), invariants=dp.Totals("state"))
    noises = read(render(release)).table("Noise scales").cells(5)
    assert len(noises) > 1
    assert [value(bound) for *_, bound in noises] == [Fraction(share) * Fraction("0.9") for *_, share, _ in noises]


@pytest.mark.one_in(3)
def test_the_ordinary_sensitivities_give_the_advertised_guarantee(made, read):
    release, _ = made
    page = read(render(release))
    ordinary = [table for table in page.tables if "As advertised" in table.caption]
    steps = [step["step"] for step in release.document["plan"]["steps"]]
    assert bool(ordinary) is (bool(release.document["invariants"]) and "resize" not in steps)
    for table in ordinary:
        total = sum(value(bound) for *_, bound in table.cells(4))
        advertised = release.guarantee.advertised
        stated = {dp.PureDP: "epsilon", dp.ZCDP: "rho", dp.GDP: "mu"}[type(advertised)]
        power = 2 if stated == "mu" else 1
        assert total == getattr(advertised, stated) ** power


def test_beside_totals_nothing_is_shared_among_rows(released):
    html = render(released(SCHEMA, ROWS, by("state", "sex"), budget=dp.ZCDP(1), invariants=dp.Totals("state")))
    assert "group privacy" not in html
    assert "differ in at most a = 2 rows" in html
    assert "vector of all groups can move when such tables differ" in html
    shared = render(released(SCHEMA, ROWS, by("state"), neighbours=dp.AddRemove(rows_per_person=2)))
    assert "group privacy among the 2 rows" in shared
    assert "vector of all groups can move when one row differs" in shared


def test_after_a_resize_the_copies_are_counted(released):
    html = render(released(SCHEMA, ROWS, resized, budget=dp.ZCDP(1), invariants=dp.Totals("state")))
    assert "the at most 2 rows that differ under the same totals can move at most 2 of its rows" in html
    assert "vector of all groups can move when one row differs" in html
    assert "when one row of the original table differs, totals or not" in html


@pytest.mark.parametrize(
    ("budget", "symbol", "bound"),
    [
        (dp.ApproxDP(1, "1e-9"), "pure DP with this ε", Fraction(1)),
        (dp.ApproxDP("0.1", "0.2"), "the largest μ that implies it", dp.GDP.for_approx("0.1", "0.2").mu),
    ],
)
def test_a_reader_learns_how_epsilon_and_delta_were_turned(released, read, budget, symbol, bound):
    html = render(released(SCHEMA, ROWS, by("state", "sex"), budget=budget, invariants=dp.Totals("state")))
    assert symbol in html
    assert [value(row[-1]) for row in read(html).table("Noise scales").cells(5)] == [bound]


def test_what_all_queries_cost_together_is_said(wages, rewritten):
    assert "one by one" not in render(wages)
    html = render(rewritten(wages, joint="13/20"))
    assert "All queries together cost 13/20 of what they would cost one by one" in html
    assert "divided by 13/20" in html
    assert "one by one" not in render(rewritten(wages, joint="1"))


def test_a_law_that_the_page_does_not_know_is_named(wages, rewritten):
    noise = [{**measured, "noise": "staircase <b>"} for measured in wages.document["noise"]]
    html = render(rewritten(wages, noise=noise))
    assert "staircase &lt;b&gt;" in html
    assert "<dt>staircase" not in html
