from __future__ import annotations

import json
import subprocess
import sys
from base64 import b64decode
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest
from tests.builders import plan_text, session_over

import discreet as dp
from discreet.ledger import Ledger
from discreet.pages.report import drawing, pictures, render
from discreet.pages.report.budget import budget_of
from discreet.pages.words import words_in
from discreet.releases.guarantee import Guarantee

HOSTILE = ["</svg><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\u202eb"]


def svg(source):
    return b64decode(source.removeprefix("data:image/svg+xml;base64,")).decode("utf-8")


def stated(measure, **beside):
    delta = measure.delta if isinstance(measure, dp.ApproxDP) else Fraction(1, 10**9)
    return Guarantee(measure, "replace-one", 1, delta, measure.epsilon_at(delta), **beside)


@pytest.mark.parametrize(
    ("measure", "end"),
    [
        (dp.PureDP("0.5"), 0.01),
        (dp.PureDP(4), 0.1),
        (dp.ApproxDP(1, "1e-6"), 2e-6),
        (dp.ZCDP("0.1"), 1e-10),
        (dp.GDP(2), 1e-10),
    ],
)
def test_the_profile_is_an_upper_bound_at_every_point_and_falls(measure, end):
    points = pictures.profile_of(stated(measure)).chart["layer"][0]["data"]["values"]
    assert points[0]["epsilon"] == 0
    for point in points:
        assert point["delta"] >= measure.delta_at(Fraction(point["epsilon"]).limit_denominator(10**12)) * (1 - 1e-6)
    deltas = [point["delta"] for point in points]
    assert deltas == sorted(deltas, reverse=True)
    assert min(deltas) <= end


def test_beside_totals_both_profiles_are_drawn_and_the_effective_one_is_higher():
    chart = pictures.profile_of(stated(dp.ZCDP("0.852"), ordinary=dp.ZCDP("0.213"), semi_adjacency=2)).chart
    dots = {point["kind"]: point["epsilon"] for point in chart["layer"][1]["data"]["values"]}
    assert dots["effective"] > 2 * dots["as advertised, totals not counted"]


@pytest.fixture(scope="module")
def people(released):
    schema = dp.Schema(sex=dp.Category(["F", *HOSTILE]), age=dp.Number(0, 99))
    rows = {"sex": ["F"] * 300, "age": list(range(100)) * 3}

    def ask(table):
        asked = dp.quantiles("age", ["0.9", "0.1", "0.5"], nulls="skip")
        return table.group_by("sex").agg(asked, dp.histogram("age", [0, 50, 99]), dp.count())

    return released(schema, rows, ask, budget=dp.ZCDP(5))


def test_quantiles_and_histograms_are_drawn_with_every_value_of_the_release(people):
    curve, bars = (
        sketch.chart["data"]["values"] for sketch in pictures.pictures_of(people.document, dp.About(), words_in("en"))
    )
    table = people.table
    assert [point["share"] for point in curve[:3]] == [10, 50, 90]
    assert [point["value"] for point in curve] == [
        row[f"age_p{order}"] for row in table.iter_rows(named=True) for order in (10, 50, 90)
    ]
    histogram = people.tables["histogram_age"]
    for column, key in (("count", "value"), ("count_low", "low"), ("count_high", "high")):
        assert [point[key] for point in bars] == histogram[column].to_list()


@pytest.mark.slow
def test_names_in_pictures_stay_text(people):
    profile, others = pictures.illustrations(people.guarantee, people.document, dp.About(), None, words_in("en"))
    assert len(others) == 2
    for one in (profile, *others):
        root = ET.fromstring(svg(one.source))  # noqa: S314 (made here)
        names = {element.tag.rsplit("}", 1)[-1] for element in root.iter()}
        assert names <= {"svg", "style", "g", "path", "text", "rect", "line", "tspan", "defs", "clipPath", "title", "desc"}
        assert not [key for element in root.iter() for key in element.attrib if key.startswith("on")]
        assert "prefers-color-scheme: dark" in svg(one.source)
        assert "\u202e" not in svg(one.source)
        assert one.words


@pytest.mark.slow
def test_the_axes_have_the_labels_of_columns_and_the_numbers_of_the_language(people):
    statistics = [one for one in people.document["statistics"] if one["statistic"] in ("histogram", "quantiles")]
    labels = {one["column"]: dp.Labels(f"Über {one['column']}") for one in statistics}
    about = dp.About(language="de", columns=labels)
    drawn = json.dumps([one.chart for one in pictures.pictures_of(people.document, about, words_in("de"))])
    for column in labels:
        assert json.dumps(f"Über {column}") in drawn
        assert f'"title": "{column}"' not in drawn
    (source,) = drawing_of(pictures._in_form_of(words_in("de"), drawing.multiples_chart(LARGE)))
    assert "20.000" in source
    assert "20,000" not in source
    (english,) = drawing_of(pictures._in_form_of(words_in("en"), drawing.multiples_chart(LARGE)))
    assert "20,000" in english


LARGE = [{"bin": "a", "group": "all", "value": 20000, "low": 18000, "high": 22000}]


def drawing_of(chart):
    with drawing.begin_drawing() as artist:
        return [b64decode(one.partition(",")[2]).decode("utf-8") for one in artist.sources([chart])]


def test_too_many_groups_or_bins_are_not_drawn(released):
    schema = dp.Schema(k=dp.Category(list(range(12))), v=dp.Number(0, 99))
    ask = lambda t: t.group_by("k").agg(dp.histogram("v", [0, 50, 99]))  # noqa: E731
    document = released(schema, {"k": [1], "v": [1]}, ask).document
    assert not list(pictures.pictures_of(document, dp.About(), words_in("en")))


@pytest.mark.slow
def test_without_the_library_the_page_has_its_tables_and_no_pictures(people, monkeypatch):
    with_pictures = render(people)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    plain = render(people)
    assert with_pictures.count("<img ") == 3
    assert "<img " not in plain
    assert with_pictures.count("<table") == plain.count("<table")


@pytest.mark.slow
def test_the_colours_of_pictures_are_those_of_the_page(people):
    html = render(people)
    for light, dark in drawing._DARK.items():
        assert light in html
        assert dark in html


def test_the_budget_is_what_was_left_after_the_charge():
    import polars as pl

    schema = dp.Schema(k=dp.Category(["a"]))
    with session_over(pl.DataFrame({"k": ["a"]}), schema, budget=dp.ZCDP("0.5")) as session:
        first = session.release(session.table.agg(dp.count()), spend="0.1", name="first")
        second = session.release(session.table.agg(dp.count()), spend="0.2", name="second")
    one, two = (budget_of(release.document, release.guarantee, words_in("en")) for release in (first, second))
    assert (one.before, one.here, one.left) == (0, 200, 800)
    assert (two.before, two.here, two.left) == (200, 400, 400)
    assert [amount for _, amount in two.figures] == [f"ρ = {part} (zero-concentrated DP)" for part in ("0.5", "0.2", "0.2")]
    older = {key: value for key, value in second.document.items() if key != "budget"}
    assert budget_of(json.loads(json.dumps(older)), second.guarantee, words_in("en")) is None


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "program",
    ["raise SystemExit(1)", "import os; os.abort()", "print('no list')", "import time; time.sleep(60)", "print('[')"],
)
def test_whatever_happens_to_the_process_that_draws_the_page_has_its_tables(people, program, monkeypatch, tmp_path):
    (tmp_path / "_vega.py").write_text(program, encoding="utf-8")
    monkeypatch.setattr(drawing, "__file__", str(tmp_path / "drawing.py"))
    monkeypatch.setattr(drawing, "_PATIENCE", 5)
    page = render(people)
    assert "<img " not in page
    assert "<table" in page


def test_without_an_interpreter_to_draw_with_the_page_has_its_tables(people, monkeypatch):
    monkeypatch.setattr(sys, "executable", None)
    assert "<img " not in render(people)


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
from discreet.cli import main
sys.argv = ["discreet", "release", "plan.toml", "--out", "out"]
main()
"""
PLAN = plan_text("quoted")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not limit address space")
def test_a_limit_of_address_space_ends_no_release(tmp_path):
    """V8 ends its process where it may not reserve what it wants; that process is not the one that was charged."""
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    run = subprocess.run([sys.executable, "-c", LIMITED], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["budget.db", "out", "plan.toml"]  # and no core file
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "release.json",
        "report.html",
        "table.csv",
        "table.parquet",
    ]
    assert "<table" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    with Ledger.open(tmp_path / "budget.db") as ledger:
        assert [entry.kind for entry in ledger.entries("acs12")] == ["dataset", "reserve", "reading", "drawing", "commit"]
