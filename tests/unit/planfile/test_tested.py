"""Tests in a plan file: made once with the release, adjusted, recorded and shown; mistakes are refused before the charge."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from tests.builders import plan_text, run

import discreet as dp
from discreet.ledger import Ledger
from discreet.pages.report import render
from discreet.planfile.read import load_plan
from discreet.releases.hypotheses import in_documents
from discreet.releases.hypotheses.in_documents import with_tests
from discreet.releases.hypotheses.requests import Hypothesis

pytestmark = pytest.mark.usefixtures("one_artist")

PLAN = plan_text("tested")
ROWS = 2000


@pytest.fixture
def folder(tmp_path):
    draw = np.random.default_rng(3)
    sex = draw.choice(["f", "m"], ROWS)
    ill = np.where(draw.random(ROWS) < np.where(sex == "f", 0.6, 0.3), "yes", "no")
    pl.DataFrame({"sex": sex, "ill": ill, "wage": draw.integers(0, 101, ROWS)}).write_csv(tmp_path / "rows.csv")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def changed(folder, old, new):
    assert old in PLAN
    (folder / "plan.toml").write_text(PLAN.replace(old, new), encoding="utf-8")
    return folder / "plan.toml"


def test_a_release_carries_its_tests_and_the_page_shows_them(folder):
    shown = run("check", str(folder / "plan.toml"))
    assert "tested" in shown.stdout
    assert "shares differ (difference)" in shown.stdout
    run("release", str(folder / "plan.toml"), "--out", str(folder / "results"))
    release = dp.Release.load(folder / "results" / "ill")
    shares, independence = release.document["tests"]
    assert [shares["name"], independence["name"]] == ["shares differ", "independence"]
    assert shares["rejected_at"]["0.001"]
    assert shares["tests"] == independence["tests"] == 2
    assert float(shares["adjusted_p_value"]) >= float(shares["p_value"])
    assert "digest" not in shares["source"]
    found = dp.test_difference(release, {"ill": "yes"}, by="sex")
    assert found.facts()["p_value"] == shares["p_value"]
    page = render(release)
    assert "Tests of hypotheses" in page
    assert "This is one of 2 tests" in page
    german = render(release, language="de")
    assert "Tests von Hypothesen" in german
    assert "Dies ist einer von 2 Tests" in german
    (means,) = dp.Release.load(folder / "results" / "wages").document["tests"]
    assert "tests" not in means
    again = run("release", str(folder / "plan.toml"), "--out", str(folder / "results"), "--json")
    assert again.exit_code == 0
    assert dp.Release.load(folder / "results" / "ill").document == release.document


WRONG = {
    "'differences' is unknown": ('test = "difference"', 'test = "differences"'),
    "the plan has no release 'i'": ('release = "ill"', 'release = "i"'),
    "is not a label of ill": ('of = { ill = "yes" }', 'of = { ill = "maybe" }'),
    "must be one of two-sided": ('alternative = "greater"', 'alternative = "both"'),
    "two tests of one release have the same name": ('name = "shares differ"', 'name = "independence"'),
    "is not a column of sums": ('total = "sum_wage"', 'total = "sum_wages"'),
    "the key 'of' is missing": ('of = { ill = "yes" }\n', ""),
}


@pytest.mark.parametrize("words", WRONG)
def test_a_mistake_is_refused_before_anything_is_spent(words, folder):
    plan = changed(folder, *WRONG[words])
    with pytest.raises(dp.PlanError, match=words) as refused:
        load_plan(plan)
    assert "test" in str(refused.value.place) or "release" in words
    assert not (folder / "ledger.db").exists()


def test_in_python_an_order_has_its_tests(folder):
    plan = load_plan(folder / "plan.toml")
    assert [one.name for one in plan.orders[0].tests] == ["shares differ", "independence"]
    assert plan.orders[0].tests[0].given == {"of": {"ill": "yes"}, "by": "sex", "alternative": "greater"}


def test_what_cannot_be_made_takes_no_release_away(folder, monkeypatch):
    run("release", str(folder / "plan.toml"), "--out", str(folder / "results"))
    release = dp.Release.load(folder / "results" / "wages")
    asked = [Hypothesis("a", "independence", {}), Hypothesis("b", "means", {"total": "sum_wage"})]
    first, second = with_tests(release, asked).document["tests"]
    assert first["failed"].startswith("by=")
    assert "tests" not in second
    assert with_tests(release, []) is release

    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(Hypothesis, "tried_on", broken)
    found = with_tests(release, asked)
    assert [one["failed"] for one in found.document["tests"]] == ["could not be made"] * 2
    assert "This test was not made" in render(found)


@pytest.mark.slow
def test_all_tests_of_a_release_share_the_level(folder, monkeypatch):
    run("release", str(folder / "plan.toml"), "--out", str(folder / "results"))
    release = dp.Release.load(folder / "results" / "wages")
    asked = [Hypothesis(name, "means", {"total": "sum_wage"}) for name in "abc"]
    each = asked[0].tried_on(release).p_value
    adjusted = [float(one["adjusted_p_value"]) for one in with_tests(release, asked).document["tests"]]
    assert adjusted == [pytest.approx(float(min(Fraction(1), 3 * each)), rel=1e-3)] * 3
    monkeypatch.setattr(in_documents, "holm", lambda *tests: tests)
    assert all("adjusted_p_value" not in one for one in with_tests(release, asked).document["tests"])


def test_the_tests_are_in_the_json_of_a_check(folder):
    shown = json.loads(run("check", str(folder / "plan.toml"), "--json").stdout)
    assert shown["releases"][0]["tested"] == {"shares differ": "difference", "independence": "independence"}


BESIDE = {
    "both margins": (
        "[invariants]\ntotals = [['sex'], ['ill']]\n",
        "test 'means': release 'wages': its noise depends on the exact facts about ill",
    ),
    "one column": ("[invariants]\ntotals = [['sex']]\n", None),
    "the table itself but one cell": (
        "[invariants]\ntotals = [{ columns = ['sex', 'ill'], only = [['f', 'no']] }]\n",
        "test 'shares differ': release 'ill': beside these exact totals",
    ),
    "a range": (
        "[invariants]\nrounded = [{ columns = ['ill'], base = 3 }]\n",
        "test 'shares differ': release 'ill': beside these exact totals",
    ),
}


@pytest.mark.parametrize("beside", BESIDE)
def test_a_law_that_no_test_knows_is_found_before_the_charge(beside, folder):
    """Beside some exact totals a test can be made, and beside others not: that is known before anything is spent."""
    said, refused = BESIDE[beside]
    plan = changed(folder, "[budget]", f"{said}\n[budget]")
    shown = run("release", str(plan), "--out", str(folder / "results"))
    with Ledger.open(folder / "ledger.db") as ledger:
        entries = [entry.kind for entry in ledger.entries()]
    if refused is None:
        assert shown.exit_code == 0, shown.stderr
        found = dp.Release.load(folder / "results" / "ill").document["tests"]
        assert all("failed" not in one for one in found)
        return
    assert shown.exit_code != 0
    assert refused in shown.stderr
    assert "reserve" not in entries
    assert not (folder / "results").exists()
    # The totals are published by now, so that a check says it too.
    assert refused in run("check", str(plan)).stderr
