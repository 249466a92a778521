"""A page in another language: its words and numbers follow, and the release stays as it is."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.errors import ArgumentError
from discreet.pages.report import render
from discreet.pages.report.pictures import pictures_of
from discreet.pages.words import languages, words_in

pytestmark = pytest.mark.usefixtures("one_artist")

ENGLISH = {"the", "of", "and", "is", "are", "with", "that", "each", "from", "not", "to", "by", "what", "value", "for", "or"}


class Text(HTMLParser):
    """What people read or hear of a page, but the plan as it is."""

    def __init__(self):
        super().__init__()
        self.silent, self.found = 0, []

    def handle_starttag(self, tag, attrs):
        self.silent += tag in {"style", "pre", "script"}
        self.found += [value for key, value in attrs if key in {"alt", "aria-label", "title", "placeholder"}]

    def handle_endtag(self, tag):
        self.silent -= tag in {"style", "pre", "script"}

    def handle_data(self, data):
        if not self.silent and data.strip():
            self.found.append(data.strip())


def read_aloud(html):
    reader = Text()
    reader.feed(html)
    return reader.found


@pytest.fixture(scope="module")
def with_totals(released):
    schema = dp.Schema(k=dp.Category(["x", "y"]), v=dp.Number(0, 9))
    return released(
        schema,
        {"k": ["x", "y"] * 20, "v": [1, 2] * 20},
        lambda t: t.group_by("k").agg(
            dp.count(), dp.mean("v", nulls="skip"), dp.quantiles("v", ["0.25", "0.5", "0.75"], nulls="skip")
        ),
        budget=dp.ZCDP(1),
        invariants=dp.Totals("k"),
        name="r",
        dataset="d",
    )


@pytest.fixture(scope="module")
def with_frames(released):
    schema = dp.Schema(k=dp.Category(["x", "y"]), v=dp.Number(0, 9), w=dp.Number(0, 9), z=dp.Number(1, 9))
    return released(
        schema,
        {"k": ["x", "y"] * 20, "v": [1, 2] * 20, "w": [3, 4] * 20, "z": [5, 6] * 20},
        lambda t: t.group_by("k").agg(
            dp.histogram("v", [0, 5, 9]),
            dp.std("v", nulls="skip"),
            dp.covariance("v", "w", nulls="skip"),
            dp.regression("v", ["w", "z"], fit=["r2", "f"], nulls="skip"),
            dp.means(["v", "w"], nulls="skip"),
            dp.correlations(["v", "w", "z"], nulls="skip"),
            dp.principal_components(["v", "w"], nulls="skip"),
            dp.weighted_mean("v", dp.Weight("w", most=9), design=dp.PoissonDesign(), nulls="skip"),
            dp.weighted_sum("v", dp.Weight("w", most=9), design=dp.DesignEffect(2), nulls="skip"),
            dp.weighted_share(dp.Weight("w", most=9), design=dp.ReplacementDesign(40, of=90), nulls="skip"),
            dp.weighted_ratio("v", "z", dp.Weight("w", most=9), nulls="skip"),
            dp.weighted_sum("v", dp.Weight("w", most=9), design=dp.CertifiedPoissonDesign(), nulls="skip").alias("proved"),
            dp.share(),
            dp.median("w", nulls="skip"),
        ),
        budget=dp.ApproxDP(2, "1e-6"),
        neighbours=dp.ReplaceOne(rows=40, rows_per_person=2),
        name="r",
        dataset="d",
    )


@pytest.fixture(scope="module")
def of_a_sample(released):
    return released(
        dp.Schema(k=dp.Category(["x", "y"])),
        {"k": ["x", "y"] * 20},
        lambda t: t.group_by("k").agg(dp.count()),
        budget=dp.ZCDP("0.1"),
        neighbours=dp.AddRemove(sampled=dp.Poisson("1/100")),
        name="r",
        dataset="d",
    )


PREPARED = dp.Schema(
    k=dp.Category(["x", "y"], required=True), m=dp.Category(["u", "v"]), v=dp.Number(0, 9), w=dp.Number(0, 9)
)
ROWS = {"k": ["x", "y"] * 20, "m": ["u", "u", "v", None] * 10, "v": [1, None] * 20, "w": [3, 4] * 20}


def prepared(table):
    table = table.clamp({"v": [1, 8], "m": ["u"]}).impute(
        {"v": dp.Normal(4, 2), "w": dp.Uniform(), "m": dp.Weights({"u": 1})}
    )
    return table.impute({"k": dp.Weights({"x": 1, "y": 2})}).where({"w": [0, 8], "m": ["u"]})


@pytest.fixture(scope="module")
def resized(released):
    def request(table):
        table = prepared(table).resize(rows=30, proportion="0.9")
        return table.group_by("k").agg(dp.count(), dp.mean("v"), dp.std("w")).simultaneous()

    return released(
        PREPARED, ROWS, request, budget=dp.GDP(1), neighbours=dp.AddRemove(rows_per_person=3), name="r", dataset="d"
    )


@pytest.fixture(scope="module")
def sampled(released):
    def request(table):
        return prepared(table).sample("1/2").agg(dp.count(), dp.tables(["k"], ["k", "m"]), dp.mean("v"))

    return released(PREPARED, ROWS, request, budget=dp.PureDP(1), neighbours=dp.AddRemove(), name="r", dataset="d")


@pytest.fixture(scope="module")
def sampled_beside_totals(released):
    def request(table):
        return table.sample(rows=10).group_by("k").agg(dp.count())

    given = {"budget": dp.ZCDP(1), "neighbours": dp.ReplaceOne(rows=40), "invariants": dp.Margins(["k"], ["m"])}
    return released(PREPARED, ROWS, request, name="r", dataset="d", **given)


@pytest.fixture(scope="module")
def as_recorded(released):
    def request(table):
        table = table.clamp({"v": [1, 8]}).impute({"v": dp.Normal(4, 2)})
        return table.group_by("k").agg(dp.count("v"), dp.mean("v"), dp.sum("v")).original()

    return released(PREPARED, ROWS, request, budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=40), name="r", dataset="d")


@pytest.fixture(scope="module")
def with_chosen(released):
    def request(table):
        chosen = dp.quantiles("w", ["0.25", "0.5"], nulls="skip", interval="chosen")
        return table.group_by("k").agg(dp.count(), chosen, dp.std("w", nulls="skip", interval="joint"))

    return released(PREPARED, ROWS, request, budget=dp.PureDP(1), neighbours=dp.ReplaceOne(rows=40), name="r", dataset="d")


@pytest.fixture(scope="module")
def with_areas():
    areas = dp.Hierarchy({"state": ["a", "a", "b"], "county": ["x", "y", "z"]}, levels=["state", "county"])
    schema = dp.Schema(area=areas, k=dp.Category(["x", "y"]))
    rows = pl.DataFrame({"area": ["x", "y", "z", "z"] * 10, "k": ["x", "y"] * 20})
    counts = dp.agreeing_areas("area", by=[[], ["k"]])
    with session_over(rows, schema, budget=dp.ZCDP(1)) as session:
        return session.release(session.table.agg(counts), name="r")


PAGES = ["wages", "with_totals", "with_frames", "of_a_sample", "resized", "sampled", "sampled_beside_totals", "as_recorded"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("release", [*PAGES, "with_chosen", "with_areas"])
def test_no_english_is_left_on_a_page_in_german(release, request):
    html = render(request.getfixturevalue(release), language="de")
    texts = [text.replace("wages by sex", "") for text in read_aloud(html)]
    left = [text for text in texts if ENGLISH & set(re.findall(r"\b[a-z]+\b", text))]
    assert left == [], "\n".join(left)
    assert '<html lang="de">' in html
    assert any("Jede Person hat darin" in text for text in read_aloud(html))


def test_pictures_and_groups_that_are_not_known_speak_german_too(with_frames):
    (chart,) = [one.chart for one in pictures_of(with_frames.document, dp.About(), words_in("de"))]
    drawn = json.dumps(chart, ensure_ascii=False)
    assert '"Zeilen"' in drawn
    assert "unbekannt" in drawn
    assert '"rows"' not in drawn
    assert "not known" not in drawn
    labelled = with_frames.labelled(dp.About(language="de", columns={"k": dp.Labels("Art", categories={"x": "eins"})}))
    assert "unbekannt" in render(labelled)
    assert "not known" not in render(labelled).partition("<pre>")[0]
    own = with_frames.labelled(dp.About(language="de", columns={"k": dp.Labels("Art", unknown="keine Angabe")}))
    assert "keine Angabe" in render(own)


def test_every_language_shows_the_same_numbers(wages):
    def digits(language):
        return [re.sub(r"\D", "", text) for text in read_aloud(render(wages, language=language))]

    shown = {language: sorted(filter(None, digits(language))) for language in languages()}
    assert all(found == shown["en"] for found in shown.values())


def test_a_page_follows_the_language_of_the_texts_and_the_release_stays(wages):
    german = wages.labelled(dp.About(language="de-AT", title="Löhne"))
    assert '<html lang="de">' in render(german)
    assert "Löhne" in render(german)
    assert '<html lang="en">' in render(wages.labelled(dp.About(language="ja", title="x")))
    assert german.payload == wages.payload
    with pytest.raises(ArgumentError, match="pages have no words in it"):
        render(wages, language="ja")


def test_several_exact_totals_are_named_in_the_language_of_the_page(released):
    schema = dp.Schema(k=dp.Category(["x", "y"], required=True), w=dp.Category(["u", "v"], required=True))
    release = released(
        schema,
        {"k": ["x", "y"] * 20, "w": ["u", "u", "v", "v"] * 10},
        lambda t: t.group_by("k", "w").agg(dp.count()),
        budget=dp.ZCDP(1),
        invariants=dp.Margins(["k"], ["w"]),
    )
    html = render(release, language="de")
    told = "die Zahl der Zeilen (40), wie viele Zeilen jede Gruppe von w hat und wie viele Zeilen jede Gruppe von k hat."
    assert f"Exakt und ungeschützt: {told}" in html
    assert "exact margins" not in html
    english = render(release, language="en")
    told = "the number of rows (40), how many rows each group of w has and how many rows each group of k has."
    assert f"Exact and unprotected: {told}" in english


@pytest.mark.parametrize(
    "sentence",
    [
        "The guarantee compares tables with the same totals that differ in at most a = 3 rows (2 disjoint margins: 2 + 1).",
        "The guarantee compares tables with the same totals that differ in a = 2 rows (the totals of one partition).",
        "No exact totals are published: the guarantee compares tables that differ in one person's data.",
        "1 table of 5 x 2, with exact margins",
        "3 tables of several shapes, with exact margins",
        "2 blocks of several cells, each with an exact total",
        "12 cells under 3 exact equations",
    ],
)
def test_sentences_on_exact_totals_are_translated(sentence):
    said = words_in("de").said(sentence)
    assert not (ENGLISH | {"exact", "under", "cells", "tables"}) & set(re.findall(r"[a-z]+", said)), said
