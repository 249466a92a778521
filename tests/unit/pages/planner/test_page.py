"""The page and the text that it writes: self-contained, escaped, and read by `discreet quote` as what it showed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.builders import plan_text
from typer.testing import CliRunner

import discreet as dp
from discreet import datasets
from discreet.cli import app
from discreet.cli.planning import open_session as session_of
from discreet.pages.planner import quote_html
from discreet.pages.planner.scenes import _write_text
from discreet.planfile.read import load_plan
from discreet.planfile.tree import toml_root

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=1+1",
    "{{ 7 * 7 }}",
    "\u202egpj",
    "a\u200bb",
]
PLAN = plan_text("planner")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "source.csv").write_text("sex,<i>place,wage\nF,here,10\n", encoding="utf-8")
    categories = json.dumps(["F", "M", *HOSTILE])
    (tmp_path / "plan.toml").write_text(PLAN.replace("CATEGORIES", categories), encoding="utf-8")
    return tmp_path


def run(*arguments):
    found = CliRunner().invoke(app, ["quote", *arguments])
    return found.exit_code, found.output


@cache
def page_of(name, text):
    """The page of the plan file in this folder; `text`, which it holds, is what a page depends on."""
    code, output = run(name, "--html", "page.html")
    assert code == 0, output
    return Path("page.html").read_text(encoding="utf-8")


def quotes_of(file):
    plan = load_plan(file)
    with session_of(plan) as session:
        return [session.quote(one.request, spend=one.spend, error=one.error, expect=one.expect) for one in plan.orders]


def planner(folder, name="plan.toml"):
    html = page_of(name, (folder / name).read_text(encoding="utf-8"))
    return html, json.loads(re.search(r'<script type="application/json" id="plan">(.*?)</script>', html, re.DOTALL)[1])


class Reader(HTMLParser):
    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.data, self._into = [], [], {}, None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self._into = dict(attrs)

    def handle_data(self, data):
        for key, value in (self._into or {}).items():
            self.data[key, value] = self.data.get((key, value), "") + data

    def handle_endtag(self, tag):
        self._into = None


@pytest.mark.slow
def test_the_page_needs_no_network_and_runs_one_known_script(folder):
    html, _ = planner(folder)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest}'",
        "style-src": "'unsafe-inline'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not re.search(r"https?://|innerHTML|insertAdjacent|document\.write|\beval\b|fetch\(|XMLHttp|@import|url\(", html)


@pytest.mark.slow
def test_hostile_names_stay_text(folder):
    html, document = planner(folder)
    reader = Reader(html)
    assert reader.tags.count("script") == 2
    assert not {"img", "i"} & set(reader.tags)
    assert reader.tags.count("svg") == sum(1 + len(one["statistics"]) for one in document["releases"]), (
        "charts and their keys"
    )
    assert not [key for key, _ in reader.attributes if key.startswith("on")]
    assert "\u202e" not in html
    assert "\u200b" not in html
    (data,) = re.findall(r'id="plan">(.*?)</script>', html, re.DOTALL)
    assert data.isascii()
    assert not set("<>&") & set(data)


@pytest.mark.slow
def test_before_its_script_runs_it_shows_the_quote(folder, page):
    html, document = planner(folder)
    reader, opened = Reader(html), page(document)
    for place in range(2):
        size = document["releases"][place]["size"]
        for k, (error, *_) in enumerate(one[size:] for one in opened.outcome(place)["errors"]):
            shown = opened.call(f"{error!r} === 0 ? 'exact' : `± ${{rounded({error!r})}}`")
            assert reader.data["data-error", f"{place}:{k}:now"].strip() == shown
    assert reader.data["data-written", None] == opened.text()


def test_the_plan_as_it_was_is_the_plan(folder, page):
    _, document = planner(folder)
    (folder / "again.toml").write_text(page(document).text(), encoding="utf-8")
    first, again = load_plan(folder / "plan.toml"), load_plan(folder / "again.toml")
    assert [order.request.digest for order in again.orders] == [order.request.digest for order in first.orders]
    assert [(o.spend, o.error) for o in again.orders] == [(o.spend, o.error) for o in first.orders]
    assert (again.schema, again.invariants, again.budget, again.source) == (
        first.schema, first.invariants, first.budget, first.source
    )  # fmt: skip


@pytest.mark.parametrize("on", ["11", "10", "00"])
def test_the_text_of_changed_controls_has_the_quote_that_was_shown(folder, page, on):
    _, document = planner(folder)
    opened = page(document)
    opened.state |= {"on": on, "budget": "2"}
    opened.state["releases"][0]["spend"] = "0.25"
    opened.state["releases"][1] |= {"spend": "1/7", "rows": "60", "proportion": "1"}
    (folder / "changed.toml").write_text(opened.text(), encoding="utf-8")
    code, output = run("changed.toml", "--json")
    assert code == 0, output
    facts = json.loads(output)
    assert facts["budget"] == {"kind": "zcdp", "rho": "2"}
    assert [one["spend"]["rho"] for one in facts["releases"]] == ["0.25", "1/7"]
    truth = [[*one.errors(one.sizes[0]).values()] for one in quotes_of("changed.toml")]
    for place, release in enumerate(facts["releases"]):
        assert release["name"] == document["releases"][place]["name"]
        for shown, exactly in zip(opened.outcome(place)["errors"], truth[place], strict=True):
            assert exactly * (1 - 1e-9) <= shown[0] <= exactly * 1.2
    assert (load_plan("changed.toml").invariants is None) is (on == "00")


def test_amounts_of_two_parameters_are_written_as_pairs(folder, page):
    text = (folder / "plan.toml").read_text(encoding="utf-8")
    text = text.replace('measure = "zcdp"\nrho = 0.5', 'measure = "approx-dp"\nepsilon = 2\ndelta = "1e-6"')
    text = text[: text.index('[[release]]\nname = "resized"')].replace(', { mean = "wage", as = "<b>m</b>" }', "")
    text = text.replace('[invariants]\ntotals = [["sex"], ["<i>place"]]', "")
    (folder / "approx.toml").write_text(text.replace('spend = "1/10"', "spend = 0.5"), encoding="utf-8")
    _, document = planner(folder, "approx.toml")
    opened = page(document)
    opened.state["releases"][0]["spend"] = "0.7"
    (folder / "changed.toml").write_text(opened.text(), encoding="utf-8")
    (order,) = load_plan(folder / "changed.toml").orders
    assert order.spend == dp.ApproxDP("0.7", "0.35e-6")


def test_a_data_set_in_the_ledger_is_fixed(folder):
    text = (folder / "plan.toml").read_text(encoding="utf-8")
    plan = text[: text.index('[[release]]\nname = "resized"')].replace("rows = 40", "rows = 1")
    (folder / "one.toml").write_text(plan, encoding="utf-8")
    with session_of(load_plan("one.toml")) as session:
        session.release_all(load_plan("one.toml").orders)
    html, document = planner(folder, "one.toml")
    assert document["frozen"]
    assert document["releases"][0]["stored"]
    assert list(document["scenes"]) == ["11"]
    assert document["remaining"] == ["0.4"]
    assert 'data-what="budget"' not in html
    assert 'data-what="spend"' not in html


@pytest.mark.slow
def test_a_plan_that_asks_too_much_can_be_planned_still(folder, page):
    text = (folder / "plan.toml").read_text(encoding="utf-8").replace('"1/10"', '"0.7"')
    (folder / "much.toml").write_text(text, encoding="utf-8")
    assert run("much.toml")[0] == 3
    opened = page(planner(folder, "much.toml")[1])
    cost = "charge(plan, state.releases.map((_, k) => outcome(plan, state, k))), left(plan, state)"
    assert opened.call(f"fits({cost})") is False


def test_a_budget_for_a_population_is_written_as_that_of_the_file(folder, page):
    """The controls show and change the budget of the file; a number of the population would be far too large."""
    text = (folder / "plan.toml").read_text(encoding="utf-8")
    text = text.replace(
        'measure = "zcdp"\nrho = 0.5', 'measure = "approx-dp"\nepsilon = 2\ndelta = "1e-6"\nof = "population"'
    )
    text = text[: text.index('[[release]]\nname = "resized"')].replace(', { mean = "wage", as = "<b>m</b>" }', "")
    text = text.replace('[invariants]\ntotals = [["sex"], ["<i>place"]]', "").replace('spend = "1/10"', "spend = 0.5")
    rows = load_plan(folder / "plan.toml").neighbours.rows
    drawn = f'rows = {rows}\nsampled = {{ design = "without-replacement", of = {10 * rows} }}'
    (folder / "drawn.toml").write_text(text.replace(f"rows = {rows}", drawn, 1), encoding="utf-8")
    stated = load_plan(folder / "drawn.toml").budget
    assert stated.epsilon > 4
    _, document = planner(folder, "drawn.toml")
    (folder / "again.toml").write_text(page(document).text(), encoding="utf-8")
    again = load_plan(folder / "again.toml")
    assert again.budget == stated
    assert "population" not in (folder / "again.toml").read_text(encoding="utf-8")
    assert again.neighbours.sampled == dp.WithoutReplacement(of=10 * rows)


def test_a_budget_that_is_split_is_written_spend_by_spend(folder, page):
    (folder / "split.toml").write_text(plan_text("split"), encoding="utf-8")
    _, document = planner(folder, "split.toml")
    (folder / "stated.toml").write_text(page(document).text(), encoding="utf-8")
    stated = load_plan(folder / "stated.toml")
    assert [order.spend for order in stated.orders] == [dp.ZCDP("0.6"), dp.ZCDP("0.2"), dp.ZCDP("0.2")]
    assert not {"split", "share"} & set((folder / "stated.toml").read_text(encoding="utf-8").split())


@pytest.mark.slow
def test_a_page_that_cannot_be_written_is_refused(folder):
    code, _ = run("plan.toml", "--html", "nowhere/page.html")
    assert code == 2
    assert run("plan.toml", "--html", "page.html", "--json")[1].startswith('{\n  "planner": "page.html"')


def test_a_quote_of_a_program_has_its_page(page):
    schema = dp.Schema(gender=dp.Category(["female", "male"]), age=dp.Number(0, 110))
    with dp.Session(
        datasets.path("acs12"), schema, dataset="a", ledger=":memory:", budget=dp.GDP(1),
        neighbours=dp.ReplaceOne(rows=2000), invariants=dp.Totals("gender"),
    ) as session:  # fmt: skip
        table = session.table.impute({"age": dp.Uniform()}).resize(500, proportion="0.5")
        quote = session.quote(table.agg(dp.mean("age")), spend="0.1")
    html = quote_html(quote, dataset="a")
    document = json.loads(re.search(r'id="plan">(.*?)</script>', html, re.DOTALL)[1])
    opened = page(document)
    opened.state["releases"][0] |= {"spend": "0.2", "rows": "1000"}
    assert 'session.release(request, spend="0.2", name=…)' in opened.text()
    assert 'table.resize(1000, proportion="0.5")' in opened.text()
    assert Reader(html).data["data-written", None] == opened.call("planText(plan, initial(plan))")
    with pytest.raises(dp.ArgumentError, match="must be a Quote"):
        quote_html(None)


SECTIONS = """
[about]
title = "Wages"
[about.columns.sex]
label = "Sex"
categories = { "=1+1" = "a, \\"b\\"" }
[quality]
suppress = "quality"
[[derive]]
name = "one"
ratio = "count"
under = { of = "count", by = [] }
[[derive]]
name = "two"
ratio = 1
under = "count"
"""


def test_no_section_of_the_plan_is_lost():
    plan = toml_root((PLAN.replace("CATEGORIES", '["F"]') + SECTIONS).encode(), Path("plan.toml")).value
    pieces = [*_write_text(plan, [])]
    text = "".join(piece if isinstance(piece, str) else piece.get("was", "") for piece in pieces)
    written = toml_root(text.encode(), Path("plan.toml")).value
    assert {**written, "invariants": plan["invariants"]} == plan  # the switches of the page have these
    assert len(written["derive"]) == 2
