"""The planner in Chromium: what its sliders show is what Python's quote of the written plan says."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest
from tests.builders import plan_text
from typer.testing import CliRunner

from discreet.cli import app
from discreet.cli.planning import open_session
from discreet.planfile.read import load_plan
from discreet.quotes.groups import middle

pytestmark = pytest.mark.browser

PLAN = plan_text("planned")
BUDGET = 'measure = "zcdp"\nrho = 0.5'
WITHOUT = PLAN.replace('[invariants]\ntotals = [["gender"], ["race"]]\n', "")
PLANS = {
    "zcdp": PLAN,
    "pure": PLAN.replace(BUDGET, 'measure = "pure-dp"\nepsilon = 1'),
    "gdp": WITHOUT.replace(BUDGET, 'measure = "gdp"\nmu = 1'),
    "approx": WITHOUT.split('[[release]]\nname = "resized"')[0].replace(
        BUDGET, 'measure = "approx-dp"\nepsilon = 1\ndelta = "1e-6"'
    ),
}


@pytest.fixture
def opened(chromium, tmp_path, monkeypatch):
    """A function that opens the planner of a plan and watches it: `opened(name, **options)`."""
    monkeypatch.chdir(tmp_path)
    contexts = []

    def open_page(name, **options):
        (tmp_path / "plan.toml").write_text(PLANS[name], encoding="utf-8")
        found = CliRunner().invoke(app, ["quote", "plan.toml", "--html", "page.html"])
        assert found.exit_code == 0, found.output
        context = chromium.new_context(accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.seen = []
        page.on("console", lambda message: page.seen.append(message.text))
        page.on("pageerror", lambda error: page.seen.append(str(error)))
        page.on("dialog", lambda dialog: page.seen.append(dialog.message))
        page.on("request", lambda request: page.seen.append(request.url))
        page.goto((tmp_path / "page.html").as_uri())
        page.home = page.seen.pop(0)
        return page

    yield open_page
    for context in contexts:
        context.close()


def move(page, what, release, times):
    """A slider is moved by so many keys."""
    box = f'[data-what="{what}"]' + (f'[data-release="{release}"]' if release is not None else "")
    page.locator(f"{box} input[type=range]").focus()
    for _ in range(abs(times)):
        page.keyboard.press("ArrowRight" if times > 0 else "ArrowLeft")


def typed(page, what, release, text):
    page.locator(f'[data-what="{what}"][data-release="{release}"] input[type=text]').fill(text)


def number(shown):
    return 0.0 if shown == "exact" else float(shown.removeprefix("± ").replace(",", ""))


def quoted(page, folder):
    """The JSON of `discreet quote` for the plan that the page has written."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    download.value.save_as(folder / "written.toml")
    assert (folder / "written.toml").read_text(encoding="utf-8") == page.locator("[data-written]").inner_text()
    found = CliRunner().invoke(app, ["quote", "written.toml", "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.output)


def quotes_of(file):
    """The quotes of a plan file."""
    plan = load_plan(file)
    with open_session(plan) as session:
        return [session.quote(one.request, spend=one.spend, error=one.error, expect=one.expect) for one in plan.orders]


def agrees(page, facts, loosest):
    """Every error on the page is that of the quote, or larger by at most the factor `loosest`; the cost is its charge."""
    for place, release in enumerate(quotes_of("written.toml")):
        for k, exactly in enumerate(release.errors(middle(release.sizes)).values()):
            shown = number(page.locator(f'[data-error="{place}:{k}:now"]').inner_text())
            assert exactly * (1 - 1e-9) <= shown <= exactly * loosest * 1.001, (place, k, shown, exactly)
    relation, cost = re.match(r"[ερμ] ([=≤]) ([0-9.,e-]+)", page.locator("[data-cost]").inner_text()).groups()
    charge, cost = Fraction(facts["charge"][0]), Fraction(cost.replace(",", "").rstrip("."))
    cost = cost**2 if facts["budget"]["kind"] == "gdp" else cost
    assert charge == cost if relation == "=" else charge <= cost <= charge * Fraction("1.00003")


@pytest.mark.parametrize("name", PLANS)
def test_what_sliders_show_is_what_the_quote_of_the_written_plan_says(opened, tmp_path, name):
    page = opened(name)
    agrees(page, quoted(page, tmp_path), 1.0)
    move(page, "budget", None, 40)
    move(page, "spend", 0, 6 if name == "approx" else 17)
    move(page, "spend", 1, -4 if name == "approx" else -9)
    if name != "approx":
        move(page, "rows", 2, 1)
        move(page, "proportion", 2, 1)
        typed(page, "spend", 2, "3/16")
    facts = quoted(page, tmp_path)
    agrees(page, facts, 1.25)
    if name != "approx":
        assert facts["releases"][2]["plan"]["steps"][-1]["proportion"] == "1"
        assert facts["releases"][2]["plan"]["steps"][-1]["rows"] == 3000
        assert list(facts["releases"][2]["spend"].values())[1] == "0.1875"
    assert page.seen == []


MOVED = plan_text("moved-incomes")


def test_whole_errors_follow_what_is_assumed(opened, tmp_path, monkeypatch):
    monkeypatch.setitem(PLANS, "moved", MOVED)
    page = opened("moved")
    written = page.locator("[data-written]").inner_text()
    assert page.locator(".whole").count() == 2
    assert page.locator('[data-what="nulls"]').count() == 1, "nobody imputes in the second release"
    move(page, "nulls", 0, 1)
    move(page, "cut", 0, -2)
    move(page, "cut", 1, 2)
    shares = [{"nulls": "0.1", "above": "0.002"}, {"nulls": "0", "above": "0.05"}]  # the page counts rows that are known
    assert page.locator('[data-what="cut"][data-release="1"] output').inner_text() == "5%"
    for place, (quoted, given) in enumerate(zip(quotes_of(tmp_path / "plan.toml"), shares, strict=False)):
        truth = quoted.assuming(**given)
        for k, line in enumerate(quoted.lines):
            one = truth.of(line.statistic.name)
            parts = [page.locator(f'[data-whole="{place}:{k}:{part}"]').inner_text() for part in ("whole", "noise", "more")]
            if one.whole is None:
                assert parts == ["–", "–", "–"]
                continue
            for shown, exactly in zip(parts, (one.whole, one.noise, one.off + one.draws), strict=True):
                assert exactly * (1 - 1e-9) <= number(shown) <= exactly * 1.001
    assert page.locator('svg[data-chart="0"] polygon').count() == 2
    assert page.locator("[data-written]").inner_text() == written, "an assumption is no part of the plan"
    page.get_by_role("button", name="Back").click()
    assert page.locator('[data-what="cut"][data-release="1"] output').inner_text() == "1%"
    assert page.seen == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1366), ("dark", 390), ("light", 1366)])
def test_whole_errors_are_readable_on_phones_and_screens(opened, monkeypatch, scheme, width):
    monkeypatch.setitem(PLANS, "moved", MOVED)
    page = opened("moved", color_scheme=scheme, viewport={"width": width, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(CONTRAST) >= 4.5
    assert page.locator('[data-whole="0:1:whole"]').is_visible()
    assert page.seen == []


@pytest.mark.parametrize("name", ["zcdp", "pure"])
def test_exact_totals_are_switched_by_keyboard(opened, tmp_path, name):
    page = opened(name)
    both = page.locator("[data-scene]").inner_text()
    assert "a = 3" in both
    page.get_by_role("checkbox").nth(1).focus()
    page.keyboard.press("Space")
    assert "a = 2" in page.locator("[data-scene]").inner_text()
    agrees(page, quoted(page, tmp_path), 1.25)
    page.get_by_role("checkbox").nth(0).focus()
    page.keyboard.press("Space")
    assert "one person" in page.locator("[data-scene]").inner_text()
    assert not page.locator('[data-advertised="0"]').is_visible()
    assert "[invariants]" not in page.locator("[data-written]").inner_text()
    agrees(page, quoted(page, tmp_path), 1.25)
    page.get_by_role("button", name="Back").click()
    assert page.locator("[data-scene]").inner_text() == both


def test_hostile_text_is_text_and_nothing_is_loaded(opened):
    page = opened("zcdp")
    assert page.get_by_role("heading", name="</script><script>alert(2)</script>").is_visible()
    assert page.locator("img").count() == 0
    assert page.evaluate("fetch('https://example.org/').then(() => 'loaded', () => 'refused')") == "refused"
    assert any("Content Security Policy" in text for text in page.seen), "the policy says so itself"


def test_an_amount_that_is_none_is_said_and_not_used(opened):
    page = opened("zcdp")
    before = page.locator("[data-written]").inner_text()
    for text in ("", "-1", "1/0", "0", "many", "1e999"):
        typed(page, "spend", 0, text)
        assert page.locator('[data-what="spend"][data-release="0"] [aria-invalid=true]').count() == 1
        assert "greater than 0" in page.locator('[data-what="spend"][data-release="0"] .problem').inner_text()
        assert page.locator("[data-written]").inner_text() == before
    typed(page, "spend", 0, "0.1")
    assert page.locator('[data-what="spend"][data-release="0"] [aria-invalid=true]').count() == 0
    typed(page, "spend", 0, "0.9")
    assert "This is more than" in page.locator("[data-over]").inner_text()


def test_every_control_has_a_name_and_is_reached_by_keyboard(opened):
    page = opened("zcdp")
    for box in page.locator("details").all():
        box.evaluate("one => { one.open = true; }")
    named = """[...document.querySelectorAll('input, button, select')].map(one =>
        one.getAttribute('aria-label') || (one.labels && one.labels[0] || one).textContent.trim())"""
    assert all(page.evaluate(named))
    wanted, reached = page.locator("input, button").count(), set()
    for _ in range(wanted + 20):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("[...document.querySelectorAll('input, button')].indexOf(document.activeElement)"))
    assert len(reached - {-1}) == wanted
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1


CONTRAST = """() => {
  const parse = text => text.match(/[0-9.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const paper = one => { for (; one; one = one.parentElement) { const c = parse(getComputedStyle(one).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; };
  return [...document.querySelectorAll('p, th, td, dt, dd, label, button, pre, input[type=text], span, h1, h2')]
    .filter(one => one.textContent.trim() && one.offsetParent)
    .map(one => { const a = light(parse(getComputedStyle(one).color)), b = light(paper(one));
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }).reduce((a, b) => Math.min(a, b));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1100])
def test_it_is_readable_in_light_and_dark_on_phones_and_screens(opened, scheme, width):
    page = opened("zcdp", color_scheme=scheme, viewport={"width": width, "height": 844})
    typed(page, "spend", 0, "0.9")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(CONTRAST) >= 4.5
    dark = sum(map(int, re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))[:3])) < 200
    assert dark is (scheme == "dark")


def test_on_paper_amounts_stand_without_sliders(opened):
    page = opened("zcdp")
    page.emulate_media(media="print")
    assert not page.locator("input[type=range]").first.is_visible()
    assert not page.get_by_role("button").first.is_visible()
    assert page.locator('[data-what="spend"][data-release="0"] input[type=text]').input_value() == "0.1"
    assert len(page.pdf()) > 10_000


def test_without_scripts_it_shows_the_plan_as_it_is(opened):
    page = opened("zcdp", java_script_enabled=False)
    assert page.locator('[data-error="0:0:now"]').inner_text().startswith("± ")
    assert not page.locator("input[type=range]").first.is_visible()
    assert "allow scripts" in page.locator("noscript").inner_text()
    assert "[[release]]" in page.locator("[data-written]").inner_text()


def test_the_plan_is_copied(opened):
    page = opened("zcdp", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("[data-written]").inner_text()


def test_where_nothing_is_asked_for_any_more_no_epsilon_is_stated(opened, tmp_path):
    page = opened("zcdp")
    assert "ε ≤" in page.locator("[data-epsilon]").inner_text()
    head, *releases = (tmp_path / "plan.toml").read_text(encoding="utf-8").split("[[release]]")
    (tmp_path / "plan.toml").write_text(f"{head}[[release]]{releases[0]}", encoding="utf-8")
    assert CliRunner().invoke(app, ["release", "plan.toml", "--out", "out"]).exit_code == 0
    assert CliRunner().invoke(app, ["quote", "plan.toml", "--html", "page.html"]).exit_code == 0
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("[data-cost]").inner_text() == "ρ = 0"
    assert page.locator("[data-epsilon]").inner_text() == ""


def test_it_says_what_is_planned_and_draws_errors_by_spend(opened):
    page = opened("zcdp")
    texts = page.locator(".what").all_inner_texts()
    assert texts[0] == "20 groups of gender × race. A typical group has 100 rows."
    assert texts[2].startswith("One number for the whole table.")
    chart = page.locator('svg[data-chart="0"]')
    assert chart.locator("polyline").count() == 3
    before = chart.locator("circle").first.get_attribute("cx")
    move(page, "spend", 0, 10)
    assert float(chart.locator("circle").first.get_attribute("cx")) > float(before)
    assert chart.get_attribute("aria-label").startswith("Error by spend. At ρ = ")
    assert page.seen == []


def test_all_spends_move_by_one_factor_and_the_rest_is_shared_out(opened, tmp_path):
    page = opened("zcdp")
    page.locator("#factor").focus()
    for _ in range(15):
        page.keyboard.press("ArrowRight")
    assert page.locator("[data-times]").inner_text() == "× 2"
    spends = '[data-what="spend"] input[type=text]'
    assert [one.input_value() for one in page.locator(spends).all()] == ["0.2", "0.1", "0.4"]
    assert "This is more than" in page.locator("[data-over]").inner_text()
    page.get_by_role("button", name="Share out the rest").click()
    assert page.locator("[data-over]").inner_text() == ""
    shared = [float(one.input_value()) for one in page.locator(spends).all()]
    assert shared == [0.1428, 0.07142, 0.2857]
    agrees(page, quoted(page, tmp_path), 1.25)
    assert page.locator("[data-times]").inner_text() == "× 1"


def test_a_large_epsilon_is_warned_of(opened):
    page = opened("pure")
    assert page.locator("[data-large]").inner_text() == ""
    typed(page, "spend", 0, "11")
    assert "ε is above 10" in page.locator("[data-large]").inner_text()


def test_the_download_has_the_name_of_the_plan(opened):
    page = opened("zcdp")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "plan.toml"
    assert "Written to plan.toml" in page.locator("[data-done]").inner_text()


def test_private_sizes_are_chosen_from_round_ones(opened, monkeypatch):
    monkeypatch.setitem(PLANS, "private", PLANS["approx"].replace('"replace-one"\nrows = 2000', '"add-remove"'))
    page = opened("private")
    size = page.get_by_label("Rows of a group:").first
    assert size.locator("option").all_inner_texts() == ["10", "100", "1,000", "10,000"]
    before = number(page.locator('[data-error="0:1:now"]').inner_text())
    size.select_option("10")
    assert number(page.locator('[data-error="0:1:now"]').inner_text()) > before
    assert "in a group of 10 rows" in page.locator('[data-short="0"]').inner_text()


def test_fifty_tables_are_short_and_open_one_by_one(opened, monkeypatch):
    head, first = PLANS["approx"].split("[[release]]")[:2]
    many = "".join(f"[[release]]{first.replace('alert(2)', f'T{k}').replace('0.1', '0.01')}" for k in range(50))
    monkeypatch.setitem(PLANS, "fifty", head + many)
    page = opened("fifty", viewport={"width": 1366, "height": 900})
    assert page.evaluate("document.documentElement.scrollHeight") < 8000
    assert page.get_by_role("navigation").locator("a").count() == 50
    assert page.locator('svg[data-chart="7"] polyline').count() == 0
    page.locator('[data-release-details="7"] summary').click()
    page.locator('svg[data-chart="7"] polyline').first.wait_for(state="attached")


def test_it_is_german_and_takes_decimal_commas(opened, tmp_path):
    page = opened("zcdp")
    found = CliRunner().invoke(app, ["quote", "plan.toml", "--html", "page.html", "--language", "de"])
    assert found.exit_code == 0, found.output
    page.goto((tmp_path / "page.html").as_uri())
    assert page.get_by_role("heading", name="Was wird es kosten").count() == 1
    typed(page, "spend", 0, "0,25")
    assert "ρ = 0,5" in page.locator("[data-cost]").inner_text()
    assert 'spend = "0.25"' in page.locator("[data-written]").inner_text()
    english = ("Spend", "groups of", "expected errors", "Guarantee", "statistic\t", "Download")
    assert not [one for one in english if one in page.locator("body").inner_text()]
