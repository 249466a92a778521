"""Views in words: labels, classes and suppressed values on pages, cards, charts and terminals; hostile words are escaped."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from tests.unit.releases.test_labelled import ENGLISH, GERMAN, released

import discreet as dp
from discreet.pages import report
from discreet.releases.document import make_release
from discreet.releases.quality import numbers_of

pytestmark = pytest.mark.usefixtures("one_artist")

RULE = dp.Quality("0.0001", "0.3", suppress="quality")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> dp.Release:
    return released(tmp_path_factory.mktemp("w"), about=[ENGLISH, GERMAN], quality=RULE)


def test_the_shown_document_has_labels_classes_and_no_suppressed_value(release: dp.Release) -> None:
    document = release.document
    shown = {one["name"]: one["values"] for one in release.shown(0)["columns"]}
    assert shown["sex"] == ["female", "male", "not stated"]
    for one in numbers_of(document, document["columns"]):
        assert shown[f"{one.column}_quality"] == list(one.classes)
        for value, own, grade in zip(shown[one.column], one.values, one.classes, strict=True):
            assert value is None if grade == "c" else value == own
    assert "c" in shown["count_quality"]
    assert document == release.document


def test_without_words_and_rule_the_document_is_shown_with_its_columns(tmp_path: Path) -> None:
    plain = released(tmp_path)
    assert [one["name"] for one in plain.shown(0)["columns"]] == [one["name"] for one in plain.document["columns"]]


def test_the_report_has_title_facts_labels_flags_and_date(release: dp.Release) -> None:
    page = report.render(release)
    for text in ("<title>Age by sex – d", "CC0-1.0", "not stated", "Mean age (years)", 'class="class-c">c', release.time):
        assert text in page, text
    assert "c not publishable" in page
    german = report.render(release.labelled("de"))
    assert "weiblich" in german
    assert "Geschlecht" in german
    assert "CC0-1.0" in german


@pytest.mark.one_in(2)
@pytest.mark.parametrize("evil", ["<script>alert(1)</script>", '"><img src=x>', "=1+1", "{{ 7*7 }}", "שלום"])
def test_hostile_words_are_text_on_every_page(tmp_path: Path, evil: str) -> None:
    about = dp.About(
        title=evil, description=evil, notes=[evil], publisher=evil, columns={"sex": dp.Labels(evil, evil, {"F": evil}, evil)}
    )
    plain = released(tmp_path, about=about)
    for page in (report.render(plain), plain._repr_html_()):
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert ">49<" not in page
    assert evil in json.dumps(plain.shown(0), ensure_ascii=False).replace('\\"', '"')


def test_a_chart_has_the_words(release: dp.Release) -> None:
    pytest.importorskip("altair")
    chart = json.dumps(release.labelled("de").plot("count").to_dict(), ensure_ascii=False)
    assert "weiblich" in chart
    assert re.search(r'"title": "Alter"', chart)


def test_a_chart_does_not_tell_the_interval_of_a_suppressed_number(release: dp.Release) -> None:
    pytest.importorskip("altair")
    shown = {one["name"]: one["values"] for one in release.shown(0)["columns"]}
    assert None in shown["count"]
    points = release.plot("count").to_dict()["data"]["values"]
    assert [point["value"] for point in points] == shown["count"]
    assert {(point["low"], point["high"]) for point in points if point["value"] is None} == {(None, None)}


def test_a_count_that_is_left_out_is_left_out_where_it_agrees_with_other_tables_too():
    """In documents of 0.1.0, which have a second count for this."""
    schema = dp.Schema(k=dp.Category(["a", "b"], required=True), m=dp.Category(["x", "y"], required=True))
    rows = pl.DataFrame({"k": ["a"] * 200, "m": ["x", "y"] * 100})
    given = {"dataset": "d", "ledger": ":memory:", "budget": dp.PureDP(20), "neighbours": dp.AddRemove()}
    with dp.Session(rows, schema, **given) as session:
        request = session.table.agg(dp.tables(["k"]))
        for attempt in range(20):  # about one count in 40 of nobody is so far below 0 that its class is b
            document = session.release(request, spend=1, name=str(attempt), quality=dp.Quality(suppress="quality")).document
            del document["digest"]
            own = document["frames"][0]["columns"]
            own.append({"name": "count_consistent", "kind": "real", "values": [1.0 * one for one in own[1]["values"]]})
            release = make_release(document)
            columns = {one["name"]: one["values"] for one in release.shown(0)["frames"][0]["columns"]}
            if columns["count_quality"] == ["a", "c"]:
                break
    assert columns["count_quality"] == ["a", "c"]
    assert (columns["count"][1], columns["count_consistent"][1]) == (None, None)
    assert None not in (columns["count"][0], columns["count_consistent"][0])
    page = report.render(release)
    assert "<th scope=row>b<th scope=row>–" in page
