"""Maps on the page: areas in the class of their number, hatched without one, with words for each, and nothing that runs."""

from __future__ import annotations

import json
import re

import pytest

import discreet as dp
from discreet.pages.report import render

pytestmark = pytest.mark.usefixtures("one_artist")

CODES = ["a", "b", "c", "d", "e", "f", "<script>alert(1)</script>"]


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    """Squares beside each other: all codes but the last of the schema, and one that no row can have."""
    path = tmp_path_factory.mktemp("shapes") / "squares.geojson"
    features = [
        {
            "properties": {"code": code},
            "geometry": {"type": "Polygon", "coordinates": [[[2 * k, 0], [2 * k + 1, 0], [2 * k + 1, 1], [2 * k, 0]]]},
        }
        for k, code in enumerate([*CODES, "lake"])
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return dp.read_map(path, key="code", column="region")


@pytest.fixture(scope="module")
def regions(released):
    schema = dp.Schema(region=dp.Category([*CODES, "abroad"]), sex=dp.Category(["F", "M"], required=True))
    rows = {"region": [code for k, code in enumerate(CODES[1:]) for _ in range(100 * (k + 1))]}
    rows["sex"] = ["F"] * len(rows["region"])

    # An area without rows is publishable by this rule only where its noise is at least 10: once in 10^8 releases.
    rule = dp.Quality(good=0.02, caution=0.05)

    def by(*groups):
        return released(
            schema, rows, lambda table: table.group_by(*groups).agg(dp.count()), budget=dp.PureDP(2), quality=rule
        )

    return by


@pytest.fixture(scope="module")
def page(regions, shapes):
    about = dp.About(map=shapes, columns={"region": dp.Labels("Region", categories={"b": "Bee & Co"})})
    return render(regions("region").labelled(about))


def uses(page):
    """The style and the words of each area of the page."""
    return re.findall(r'<use href="#shape-\d+" class="([^"]+)"><title>([^<]*)</title>', page)


def test_areas_are_in_the_class_of_their_number(page):
    styles = {words.split(":")[0]: style for style, words in uses(page)}
    assert styles["a"] == "hatched"  # no rows: its quality is not publishable
    assert [styles[one] for one in ["Bee &amp; Co", "c", "d", "e", "f"]] == [
        "step-1",
        "step-1",
        "step-2",
        "step-3",
        "step-4",
    ]
    assert styles["&lt;script&gt;alert(1)&lt;/script&gt;"] == "step-5"
    assert styles["lake"] == "outside"


def test_each_area_says_label_value_interval_and_quality(page, read):
    said = next(words for _, words in uses(page) if words.startswith("f:"))
    row = next(row for row in read(page).table("Number of rows").cells(4) if row[0] == "f")
    assert said == f"f: {row[1]} ({row[2]}), quality {row[3]}"


def test_the_legend_has_the_ends_as_the_table_writes_them(page, read):
    legend = re.search('<p class="legend">(.*?)</p>', page, re.DOTALL)[1]
    numbers = {row[0]: row[1] for row in read(page).table("Number of rows").cells(2)}
    low, high = (numbers[one] for one in ("Bee & Co", "c"))
    assert f"{low} to {high}</span>" in legend
    assert "no number, or not publishable" in legend
    assert "not a group of this release" in legend


def test_what_is_not_on_the_map_is_named_and_the_table_too(page):
    assert "Not on the map, because the map has no shape for them: abroad. The table below has them." in page
    assert 'aria-label="Map of Number of rows by Region. The table below has all of these numbers."' in page
    assert "<script>alert" not in page


def test_a_second_group_has_a_map_for_each_value(regions, shapes):
    page = render(regions("sex", "region").labelled(dp.About(map=shapes)))
    assert page.count('<figure class="map">') == 2
    assert re.findall(r"</b> · <bdi>(.*?)</bdi></figcaption>", page) == ["F", "M"]


def test_other_tables_have_no_map(regions, shapes):
    for release in (regions("sex").labelled(dp.About(map=shapes)), regions("region")):
        assert "<use" not in render(release)
        assert "shapes" not in render(release)


def test_a_page_in_german_has_german_words(regions, shapes):
    page = render(regions("region").labelled(dp.About(map=shapes)), language="de")
    assert "Karte: Zahl der Zeilen nach region." in page
    assert "keine Zahl, oder nicht zu veröffentlichen" in page


def test_a_saved_release_keeps_its_map(shapes, tmp_path):
    import polars as pl

    schema = dp.Schema(region=dp.Category(CODES, required=True))
    with dp.Session(
        pl.DataFrame({"region": CODES}), schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.AddRemove()
    ) as session:
        asked = session.table.group_by("region").agg(dp.count())
        release = session.release(asked, spend="0.5", name="r", about=dp.About(map=shapes))
        plain = session.release(session.table.agg(dp.count()), name="p", about=dp.About(title="t", map=shapes))
    release.save(tmp_path)
    assert dp.Release.load(tmp_path).about.map == shapes
    assert len(json.dumps(release.document["about"])) < 2_000
    assert "map" not in plain.document["about"][0]
