"""The report in a browser: everything is drawn, nothing is asked of a network, and a phone need not be scrolled sideways."""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dp
from discreet import datasets
from discreet.pages.report import write_report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A report with every kind of picture, and names that would be code in a careless page."""
    schema = dp.Schema(gender=dp.Category(["female", "male"]), age=dp.Number(0, 110), hrs_work=dp.Number(0, 80))
    with dp.Session(
        datasets.path("acs12"),
        schema,
        dataset="</script><img src=x onerror=alert(1)>",
        ledger=":memory:",
        budget=dp.ZCDP(1),
        neighbours=dp.ReplaceOne(rows=2000),
    ) as session:
        asked = session.table.group_by("gender").agg(
            dp.count(),
            dp.quantiles("age", ["0.1", "0.5", "0.9"], nulls="skip"),
            dp.histogram("hrs_work", [0, 20, 40, 60, 80]),
        )
        release = session.release(asked, spend="0.5", name="people")
    return write_report(release, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """A report of ten thousand cells."""
    schema = dp.Schema(a=dp.Category([f"a{i}" for i in range(99)]), b=dp.Category([f"b{i}" for i in range(99)]))
    frame = pl.DataFrame({"a": ["a1"] * 50, "b": ["b2"] * 50})
    with dp.Session(
        frame, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=50)
    ) as session:
        release = session.release(session.table.group_by("a", "b").agg(dp.count()), name="cells")
    return write_report(release, tmp_path_factory.mktemp("cells") / "report.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1100])
def test_all_is_drawn_and_nothing_is_asked_for(chromium, people, scheme, width):
    page = chromium.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(people.as_uri(), wait_until="load")
    drawn = page.evaluate("[...document.images].map(one => [one.naturalWidth, one.alt.length])")
    assert len(drawn) == 3
    assert all(width > 100 and words > 20 for width, words in drawn)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert said == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper.removeprefix("rgb(").removesuffix(")").split(","))) > 380) is (scheme == "light")
    page.close()


def test_every_part_can_be_reached_by_keyboard_and_printed(chromium, people):
    page = chromium.new_page()
    page.goto(people.as_uri())
    stops = page.evaluate("[...document.querySelectorAll('[tabindex], summary, a[href]')].length")
    assert stops >= 5
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement !== document.body")
    assert page.pdf().startswith(b"%PDF")
    page.close()


def test_ten_thousand_cells_are_one_page_with_every_row(chromium, cells):
    page = chromium.new_page()
    page.goto(cells.as_uri(), wait_until="load")
    assert page.evaluate("document.querySelectorAll('tbody tr').length") >= 10_000
    page.close()
