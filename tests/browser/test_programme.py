"""The programme page in Chromium: searched by keyboard, read on a phone and on paper, and silent on the console."""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dp
from discreet.pages.programme import write_programme

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A page of two data sets with hostile names, tables that are compared, and a document that is none."""
    folder = tmp_path_factory.mktemp("programme")
    frame = pl.DataFrame({"sex": ["f", "m"] * 150, "region": ["n", "s", "w"] * 100})
    schema = dp.Schema(sex=dp.Category(["f", "m"]), region=dp.Category(["n", "s", "w"]))
    for dataset in ("d", "</script><img src=x onerror=alert(1)>"):
        with dp.Session(
            frame, schema, dataset=dataset, ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=300)
        ) as session:
            for name, groups in (("Géant table", ["sex"]), ("fine table", ["sex", "region"])):
                release = session.release(session.table.group_by(*groups).agg(dp.count()), name=name, spend="0.1")
                release.save(folder / f"{name} {len(dataset)}")
    (folder / "torn").mkdir()
    (folder / "torn" / "release.json").write_text("{", encoding="utf-8")
    return write_programme(folder)[0]


@pytest.fixture
def opened(chromium, written):
    """A function that opens the page and watches it."""
    contexts = []

    def open_page(**options):
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.seen = []
        page.on("console", lambda message: page.seen.append(message.text))
        page.on("pageerror", lambda error: page.seen.append(str(error)))
        page.on("dialog", lambda dialog: page.seen.append(dialog.message))
        page.on("request", lambda request: page.seen.append(request.url))
        page.goto(written.as_uri())
        assert page.seen == [written.as_uri()]
        return page

    yield open_page
    for context in contexts:
        context.close()


def visible(page):
    return [one.inner_text() for one in page.locator("[data-line] .title").all() if one.is_visible()]


def test_releases_are_searched_by_keyboard_without_accents_and_capitals(opened):
    page = opened()
    assert len(visible(page)) == 4
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.id") != "search":
        page.keyboard.press("Tab")
    page.keyboard.type("GEANT tab")
    assert visible(page) == ["Géant table"] * 2
    assert page.get_by_role("status").inner_text() == "2 of 4"
    page.locator("#search").fill("no such thing")
    assert visible(page) == []
    page.locator("#search").fill("")
    assert len(visible(page)) == 4
    assert page.get_by_role("status").inner_text() == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1366])
def test_it_is_readable_in_light_and_dark_on_phones_and_screens(opened, scheme, width):
    page = opened(color_scheme=scheme, viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    inner = page.evaluate("[...document.querySelectorAll('.scroll')].every(one => one.scrollWidth <= one.clientWidth)")
    assert inner, "no table is scrolled sideways"


def test_a_screen_reader_finds_sections_tables_and_search(opened):
    page = opened()
    for title in ("Releases", "Budget", "Do the tables agree?", "Not shown"):
        assert page.get_by_role("heading", name=title, exact=True).count() == 1
    assert page.get_by_role("searchbox", name="Search").count() == 1
    assert page.get_by_role("table").count() == 3
    assert page.get_by_role("columnheader", name="Quality").count() == 1
    assert page.locator("img").count() == 0


def test_without_scripts_it_shows_everything_but_the_search(opened):
    page = opened(java_script_enabled=False)
    assert len(visible(page)) == 4
    assert not page.locator("#search").is_visible()


def test_on_paper_there_is_no_search(opened):
    page = opened()
    page.emulate_media(media="print")
    assert not page.locator("#search").is_visible()
    assert len(page.pdf()) > 10_000
