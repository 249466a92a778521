"""The report in a browser: everything is drawn, nothing is asked of a network, and a phone need not be scrolled sideways."""

from __future__ import annotations

import json
import re
from pathlib import Path

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


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A report of four hundred groups with three numbers each, and a name that a spreadsheet would take for a formula."""
    schema = dp.Schema(
        {
            "=region": dp.Category([f"region {k}" for k in range(1, 21)], required=True),
            "age": dp.Category([f"{5 * k}–{5 * k + 4}" for k in range(20)], required=True),
            "income": dp.Number(0, 5000),
        }
    )
    places = [divmod(k * 7 % 400, 20) for k in range(8000)]
    frame = pl.DataFrame(
        {
            "=region": [f"region {a + 1}" for a, _ in places],
            "age": [f"{5 * b}–{5 * b + 4}" for _, b in places],
            "income": [k * 31 % 5001 for k in range(8000)],
        }
    )
    with dp.Session(
        frame, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=8000)
    ) as session:
        asked = session.table.group_by("=region", "age").agg(
            dp.count(), dp.mean("income", nulls="skip"), dp.median("income", nulls="skip", interval="chosen")
        )
        release = session.release(asked, name="many")
    return write_report(release, tmp_path_factory.mktemp("many") / "report.html")


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


def test_a_list_is_sorted_filtered_and_downloaded_inside_the_file(chromium, many, tmp_path):
    page = chromium.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(many.as_uri())
    values = "[...document.querySelectorAll('#table-1 tbody tr')].map(row => row.cells[2].textContent.replaceAll(',', ''))"
    page.click("#table-1 th:nth-child(3) button")
    shown = [int(one.replace("−", "-")) for one in page.evaluate(values)]
    assert shown == sorted(shown)
    assert page.get_attribute("#table-1 th:nth-child(3)", "aria-sort") == "ascending"
    page.fill("#table-1 + * input, #table-1 input", "region 7")
    visible = page.evaluate("[...document.querySelectorAll('#table-1 tbody tr')].filter(row => !row.hidden).length")
    assert visible == 20
    with page.expect_download() as downloading:
        page.click("#table-1 .tools button")
    lines = Path(downloading.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert downloading.value.suggested_filename == "count.csv"
    assert lines[0] == '"\'=region","age","value","low","high"'
    assert len(lines) == 401
    assert all(len(line.split(",")) == 5 for line in lines)
    assert said == []
    page.close()


def test_intervals_and_negative_labels_are_sorted_as_numbers(chromium, tmp_path):
    groups = [(-10, 1200), (-2, 900), (3, 12_000), (12, 90)]
    rows = pl.DataFrame({"g": [group for group, many in groups for _ in range(many)]})
    schema = dp.Schema(g=dp.Category([3, -2, 12, -10], required=True))
    with dp.Session(
        rows, schema, dataset="negative", ledger=":memory:", budget=dp.PureDP(9), neighbours=dp.AddRemove()
    ) as session:
        release = session.release(session.table.group_by("g").agg(dp.count()), name="negative")
    page = chromium.new_page()
    page.goto(write_report(release, tmp_path / "negative.html").as_uri())
    labels = "[...document.querySelectorAll('#table-1 tbody tr')].map(row => row.cells[0].textContent.trim())"
    for head, order in ((3, ["12", "-2", "-10", "3"]), (1, ["-10", "-2", "3", "12"])):
        page.click(f"#table-1 th:nth-child({head}) button")
        assert page.evaluate(labels) == order
    page.close()


def test_four_hundred_groups_with_three_numbers_are_six_printed_pages(chromium, many):
    page = chromium.new_page()
    page.goto(many.as_uri())
    margin = dict.fromkeys(("top", "bottom", "left", "right"), "1.5cm")
    printed = page.pdf(format="A4", margin=margin)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 6
    page.close()


def test_another_script_does_not_run_and_without_scripts_everything_is_there(chromium, many, tmp_path):
    changed = tmp_path / "changed.html"
    changed.write_text(many.read_text(encoding="utf-8").replace("</main>", "<script>document.title = 'run'</script></main>"))
    page = chromium.new_page()
    page.goto(changed.as_uri())
    assert page.title() != "run"
    page.close()
    context = chromium.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(many.as_uri())
    assert plain.locator("#table-1 tbody tr").count() == 400
    assert plain.locator("button").count() == 0
    context.close()


def test_bars_stay_on_a_phone(chromium, many):
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    page.goto(many.as_uri())
    widths = page.evaluate(
        "[...document.querySelectorAll('#table-1 svg')].slice(0, 5).map(one => one.getBoundingClientRect().width)"
    )
    assert min(widths) >= 60
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


@pytest.mark.parametrize("width", [390, 1366])
def test_long_labels_and_many_tables_stay_within_the_page(chromium, tmp_path, width):
    long = ["a" + "x" * 9_998 + end for end in "bc"]
    columns = {f"column {k}": dp.Number(0, 1) for k in range(60)}
    schema = dp.Schema({"long": dp.Category(long, required=True), "wide": dp.Category(long, required=True), **columns})
    frame = pl.DataFrame({"long": long * 20, "wide": [*long, *long[::-1]] * 10, **{one: [1] * 40 for one in columns}})
    with dp.Session(
        frame, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(9), neighbours=dp.ReplaceOne(rows=40)
    ) as session:
        cross = session.release(session.table.group_by("long", "wide").agg(dp.count()), name="cross", spend=1)
        sums = session.release(session.table.agg(*(dp.sum(one, nulls="skip") for one in columns)), name="sums", spend=1)
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.goto(write_report(cross, tmp_path / "cross.html").as_uri())
    box = "document.querySelector('table.cross').getBoundingClientRect()"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate(f"{box}.height") < 1_500
    assert page.evaluate(f"{box}.width") < 1_366
    shown = [one.inner_text() for one in page.locator("table.cross tbody th").all()]
    assert [(one[:3], one[-3:]) for one in shown] == [("axx", "xxb"), ("axx", "xxc")]
    page.click("details.as-list summary")
    assert page.locator(".numbers tbody th").first.inner_text() == long[0]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.goto(write_report(sums, tmp_path / "sums.html").as_uri())
    assert page.evaluate("document.querySelector('nav').getBoundingClientRect().height") < 700
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


def test_a_screen_reader_meets_headings_tables_and_figures_with_names(chromium, people):
    page = chromium.new_page()
    page.goto(people.as_uri())
    tree = page.locator("body").aria_snapshot()
    assert tree.index("heading") < tree.index("accepts a false alarm") < tree.index("navigation") < tree.index('table "')
    assert 'heading "people' in tree
    assert "img" in tree
    page.close()


def test_ten_thousand_cells_are_one_page_with_every_row(chromium, cells):
    page = chromium.new_page()
    page.goto(cells.as_uri(), wait_until="load")
    assert page.evaluate("document.querySelectorAll('tbody tr').length") >= 10_000
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1366])
def test_a_map_is_drawn_in_colours_that_differ(chromium, tmp_path, scheme, width):
    codes = [f"r{k}" for k in range(6)]
    ring = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
    features = [
        {
            "properties": {"code": code},
            "geometry": {"type": "Polygon", "coordinates": [[[x + 2 * k, y] for x, y in ring]]},
        }
        for k, code in enumerate(codes)
    ]
    path = tmp_path / "shapes.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    frame = pl.DataFrame({"region": [code for k, code in enumerate(codes) for _ in range(100 * k)]})
    schema = dp.Schema(region=dp.Category(codes, required=True))
    about = dp.About(map=dp.read_map(path, key="code", column="region"))
    release = None
    while release is None or release.quality["count"][0] != "c":  # one in forty has a count of -2, which is of class b
        with dp.Session(
            frame, schema, dataset="d", ledger=":memory:", budget=dp.PureDP(2), neighbours=dp.AddRemove()
        ) as session:
            asked = session.table.group_by("region").agg(dp.count())
            release = session.release(asked, name="r", about=about, quality=dp.Quality())
    page = chromium.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(write_report(release, tmp_path / "report.html").as_uri())
    drawn = "one => [one.getBoundingClientRect().width, getComputedStyle(one).fill]"
    places = page.evaluate(f"[...document.querySelectorAll('.map use')].map({drawn})")
    assert len(places) == 6
    assert all(across > 10 for across, _ in places)
    assert len({fill for _, fill in places}) == 6  # five classes and the hatched one
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.get_by_role("img", name="Map of Number of rows by region").count() == 1
    assert said == []
    page.close()
