from __future__ import annotations

import pytest

import discreet as dp
from discreet.errors import ArgumentError
from discreet.exact.numbers import decimal_up
from discreet.pages.report import render, totals

pytestmark = pytest.mark.usefixtures("one_artist")

SCHEMA = dp.Schema(
    state=dp.Category(["A", "B", "C"]),
    sex=dp.Category(["f", "m"]),
    age=dp.Number(0, 10),
)
ROWS = {
    "state": ["A"] * 12 + ["B"] * 7 + [None, None, "B", "A", "C"],
    "sex": ["f", "m", None, "f"] * 6,
    "age": [0, 3, 7, 10, None, 5] * 4,
}
STATES = [("A", "13"), ("B", "8"), ("C", "1"), ("not known", "2")]
KEPT = "These counts add up to the exact totals"
UNKEPT = "These counts do not add up to the exact totals"
PUBLIC = "These counts follow from the exact totals"


def by_both(table):
    return table.group_by("state", "sex").agg(dp.count())


@pytest.fixture(scope="module")
def beside(released):
    """Counts by state and sex beside exact totals of the states, of which one has a single row."""
    return released(SCHEMA, ROWS, by_both, budget=dp.ZCDP("0.852"), invariants=dp.Totals("state"))


@pytest.fixture(scope="module")
def changed(beside, rewritten):
    """A function that gives the release with other exact totals: `changed(disclosures=…, totals=…)`."""

    def change(**parts):
        return rewritten(beside, invariants={**beside.document["invariants"], **parts})

    return change


def test_what_is_exact_stands_near_the_top_and_in_tables_of_its_own(beside, read):
    html = render(beside)
    head = html[: html.index("<main>")]
    assert "Exact and unprotected: the number of rows (24) and how many rows each group of state has." in head
    shown = read(html).table("exact, unprotected")
    assert "Number of rows by state" in shown.caption
    assert "A group that is not listed here has no rows" in shown.caption
    assert shown.headings == ("state", "rows")
    assert sorted(shown.cells(2)) == STATES
    assert html.index('id="promise"') < html.index('id="exact"') < html.index('id="numbers"')


def test_the_effective_guarantee_stands_beside_the_advertised_one(beside, read):
    html = render(beside)
    rows = {row[0]: row[1:] for row in read(html).table("Advertised and effective").cells(3)}
    assert rows["guarantee"] == ("ρ = 0.213 (zero-concentrated DP)", "ρ = 0.852 (zero-concentrated DP)")
    epsilons = [decimal_up(dp.ZCDP(rho).epsilon_at("1e-9"), 4) for rho in ("0.213", "0.852")]
    assert rows["ε at δ = 1e-9"] == tuple(epsilons)
    assert rows["compared tables"][1] == "tables with the same totals that differ in at most a = 2 rows"
    assert "a = 2 is exact. It follows from the declared columns and the totals alone (the totals of one partition)." in html
    assert "would be advertised with ρ = 0.213" in html


def test_a_pure_guarantee_needs_no_delta(released, read):
    html = render(released(SCHEMA, ROWS, by_both, budget=dp.PureDP(1), invariants=dp.Totals("state")))
    rows = [row[0] for row in read(html).table("Advertised and effective").cells(3)]
    assert rows == ["compared tables", "guarantee"]


def test_an_upper_bound_is_called_one(released):
    several = dp.Totals("state") + dp.Occupied("sex")
    html = render(released(SCHEMA, ROWS, by_both, budget=dp.ZCDP(1), invariants=several))
    assert "a = 3 is a proved upper bound" in html
    assert "at most a = 3 rows: the row of one person, together with at most 2 other rows." in html


def test_totals_that_tell_nothing_apart_cost_nothing(released):
    rows = {**ROWS, "state": ["A"] * 24}
    release = released(SCHEMA, rows, lambda t: t.group_by("sex").agg(dp.count()), invariants=dp.Totals("state"))
    html = render(release)
    assert release.guarantee.semi_adjacency == 1
    assert "The data of one person can change alone" in html
    assert "the totals do not weaken the guarantee" in html


def test_what_the_totals_give_away_is_a_warning(beside, changed):
    warned = render(beside)
    assert '<div class="warning" role="note"' in warned
    assert "<li>Totals of state: 1 cell holds exactly one row.</li>" in warned
    assert warned.index('role="note"') < warned.index('id="numbers"')
    assert 'role="note"' not in render(changed(disclosures=[]))
    two = render(changed(disclosures=["one <b>", "two"]))
    assert "<li>One &lt;b&gt;.</li>\n<li>Two.</li>" in two


@pytest.mark.parametrize(
    ("ask", "budget", "sentence"),
    [
        (by_both, dp.ZCDP(1), KEPT),
        (by_both, dp.GDP(1), KEPT),
        (lambda t: by_both(t.where({"age": (0, 5)})), dp.GDP(1), UNKEPT),
        (lambda t: t.group_by("state").agg(dp.count(), dp.count("age")), dp.ZCDP(1), PUBLIC),
    ],
)
def test_every_table_of_counts_says_whether_it_adds_up(released, ask, budget, sentence):
    release = released(SCHEMA, ROWS, ask, budget=budget, invariants=dp.Totals("state"))
    html = render(release)
    assert html.index(sentence) > html.index("<b><bdi>Number of rows</bdi></b>")
    told = [statistic["totals"] for statistic in release.document["statistics"]]
    for words, said in ((KEPT, "add up to"), (UNKEPT, "do not match"), (PUBLIC, "are the")):
        assert html.count(words) == sum(one.startswith(said) for one in told)


def test_other_statistics_and_releases_without_totals_say_nothing_of_the_kind(released, wages):
    sums = released(
        SCHEMA, ROWS, lambda t: t.group_by("sex").agg(dp.sum("age", nulls="skip")), invariants=dp.Totals("state")
    )
    for page in (render(sums), render(wages)):
        assert not any(sentence in page for sentence in (KEPT, UNKEPT, PUBLIC))


@pytest.mark.parametrize("nothing", [None, []])
def test_without_totals_the_page_has_no_part_for_them(released, rewritten, nothing):
    html = render(rewritten(released(SCHEMA, ROWS, by_both), invariants=nothing))
    assert "Nothing is published exactly" in html
    for words in ('id="exact"', "<h3>", "unprotected</span>", "As advertised", "exact totals"):
        assert words not in html.replace("<h3>Record</h3>", "").replace("<h3>The budget</h3>", "")


def test_every_kind_of_exact_number_has_its_table(released, read):
    several = dp.Totals("state", only=["A", "B"]) + dp.Occupied("sex", "state")
    several += dp.LinearInvariant(["sex"], {"f less m": {"f": 1, "m": -1}})
    page = read(render(released(SCHEMA, ROWS, by_both, budget=dp.ZCDP(1), invariants=several)))
    some = page.table("Number of rows by state")
    assert sorted(some.cells(2)) == STATES[:2]
    assert "Published for 2 of the groups only" in some.caption
    cells = set(page.table("Groups that have rows by sex × state").cells(2))
    assert cells == {
        (sex or "not known", state or "not known") for sex, state in zip(ROWS["sex"], ROWS["state"], strict=True)
    }
    assert page.table("Sums over sex").cells(3) == [("f less m", "6", "1 for f and −1 for m")]


@pytest.mark.parametrize("language", ["en", "de"])
def test_ranges_are_shown_as_published_and_what_follows_by_subtraction_is_a_warning(released, read, language):
    several = dp.Totals("state") + dp.Suppressed("state", "sex", below=5, zeros="shown") + dp.Rounded("age", base=5)
    release = released(SCHEMA, ROWS, by_both, budget=dp.ZCDP(1), invariants=several)
    html = render(release, language=language)
    title, few, about, narrowed = {
        "en": ("Number of rows by {}, as a range", "1 to 4", "5 (3 to 7)", "exactly from the other published"),
        "de": ("Zahl der Zeilen nach {}, als Bereich", "1 bis 4", "5 (3 bis 7)", "durch Differenz genau aus den übrigen"),
    }[language]
    shown = read(html).table(title.format("sex × state")).cells(3)
    assert ("f", "A", "6") in shown
    assert ("f", "B", few) in shown
    assert about in [number for _, number in read(html).table(title.format("age")).cells(2)]
    assert narrowed in html
    told = release.document["statistics"][0]["totals"]
    assert told == "add up to the published ones, but need not lie in the published ranges"


def test_a_kind_of_exact_number_that_the_page_does_not_know_is_shown_too(changed, beside, read):
    shown = beside.document["invariants"]["totals"]
    part = {"part": "<i>maxima</i>", "columns": ["state"], "only": None, "cells": [["A", 7]]}
    html = render(changed(totals={**shown, "parts": [*shown["parts"], part]}))
    table = read(html).table("maxima")
    assert (table.headings, table.cells(2)) == (("state", "value"), [("A", "7")])
    assert "<i>" not in html


def test_long_tables_of_totals_are_folded_and_cut(changed, beside, read, monkeypatch):
    assert "rows, exact and unprotected</summary>" not in render(beside)
    monkeypatch.setattr(totals, "MOST_ROWS", 40)
    shown = beside.document["invariants"]["totals"]
    part = {**shown["parts"][0], "cells": [[f"state {k}", k + 1] for k in range(2000)]}
    html = render(changed(totals={**shown, "parts": [part]}))
    assert '<details class="folded"><summary>Number of rows by state: 2,000 rows, exact and unprotected</summary>' in html
    assert "1,960 more rows are in the files next to this page" in html
    assert len(read(html).table("exact, unprotected").rows) == 41


def test_hostile_text_in_totals_stays_text(released, rewritten, read):
    evil = ['<script>alert("x")</script>', "{{ 7 * 7 }}", "\u202egpj.exe", "</table>"]
    schema = dp.Schema({"<b>": dp.Category(evil), "sex": dp.Category(["f", "m"])})
    invariants = dp.Totals("<b>") + dp.LinearInvariant(["<b>"], {"<svg onload=x>": {evil[0]: 2}})
    rows = {"<b>": evil * 3, "sex": ["f", "m"] * 6}
    release = released(schema, rows, lambda t: t.group_by("<b>", "sex").agg(dp.count()), invariants=invariants)
    document = release.document
    adjacency = {**document["invariants"]["semi_adjacency"], "reason": evil[0]}
    beside = {**document["invariants"], "semi_adjacency": adjacency, "disclosures": evil, "digest": evil[0]}
    noise = [{**measured, "lattice": evil[0]} for measured in document["noise"]]
    statistics = [{**statistic, "totals": evil[0]} for statistic in document["statistics"]]
    html = render(rewritten(release, invariants=beside, noise=noise, statistics=statistics))
    page = read(html)
    assert page.tags.count("script") == 1, "that of the page itself"
    assert "svg onload=x" not in page.tags
    assert not [key for _, key, _ in page.attributes if key.startswith("on")]
    assert "\u202e" not in html
    labels = {row[0] for row in page.table("Number of rows by").cells(1)}
    assert labels == {*evil[:2], "⟨U+202E⟩gpj.exe", "</table>"}


@pytest.mark.parametrize(
    "parts",
    [
        {"semi_adjacency": {"a": 1, "exact": True, "reason": "less than the guarantee says"}},
        {"semi_adjacency": {}},
        {"totals": {"rows": 24}},
        {"totals": {"rows": 24, "parts": [{"part": "totals", "columns": ["state"], "only": None, "cells": [["A", "x"]]}]}},
        {"disclosures": 3},
    ],
)
def test_totals_that_contradict_the_guarantee_or_are_cut_are_refused(changed, parts):
    with pytest.raises(ArgumentError, match="lacks a part"):
        render(changed(**parts))


def test_the_page_with_totals_is_accessible(beside, read):
    page = read(render(beside))
    assert page.tags.count("caption") == page.tags.count("table")
    assert page.tags.count("th") == len([1 for tag, key, _ in page.attributes if (tag, key) == ("th", "scope")])
    labelled = [value for _, key, value in page.attributes if key == "aria-labelledby"]
    assert set(labelled) <= set(page.ids)
    assert len(set(page.ids)) == len(page.ids)
