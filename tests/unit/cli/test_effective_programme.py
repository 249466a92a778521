"""`discreet effective --programme`: plans together, each attribute, each level; nothing below the truth."""

from __future__ import annotations

import json
import re

import pytest
from tests.builders import plan_text, run

import discreet as dp
from discreet.planfile.read import load_plan
from discreet.privacy.amounts import amount_text
from discreet.quotes.spend_for_errors import quote_for
from discreet.totals.exact_totals import exact_totals_of

PLAN = plan_text("totals")


@pytest.fixture
def plans(tmp_path, monkeypatch):
    """A plan with totals of the state, one with nested facts as well, one without exact numbers."""
    monkeypatch.chdir(tmp_path)
    facts = 'totals = [["state"]]'
    for name, section in [
        ("units", f"[invariants]\n{facts}\n"),
        ("persons", f'[invariants]\n{facts}\noccupied = [["state", "sex"]]\n'),
        ("margins", '[invariants]\ntotals = [["state"], ["sex"]]\n'),
        ("free", ""),
    ]:
        text = PLAN.replace(f"[invariants]\n{facts}\n", section).replace('dataset = "d"', f'dataset = "{name}"')
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")


def programme(*parts):
    return run("effective", *(word for part in parts for word in ("--programme", part)), "--json")


def programme_text(*parts):
    return run("effective", "--programme", *parts).stdout


def rows_of(*parts):
    return json.loads(programme(*parts).stdout)["programme"]


@pytest.mark.usefixtures("plans")
def test_persons_and_units_of_the_census_together():
    """2.56 and 0.07 advertised, beside state totals: 4 times both, 10.52 for a person and a unit."""
    done = json.loads(programme("persons.toml=rho:2.56", "units.toml=rho:0.07").stdout)
    assert done["together"] == {"advertised": "ρ = 2.63", "effective": "ρ = 10.52"}
    wholes = [(row["plan"], row["a"], row["effective"]) for row in done["programme"] if row["changed"] == "any"]
    assert wholes == [("persons.toml", 2, "ρ = 10.24"), ("units.toml", 2, "ρ = 0.28")]
    shown = run("effective", "--programme", "persons.toml=rho:2.56", "--programme", "units.toml=rho:0.07").stdout
    assert shown.endswith(
        "One person's part in persons.toml and units.toml together costs ρ = 10.52; advertised is ρ = 2.63.\n"
    )
    assert "are no guarantee, because more is exact" in shown
    assert "persons.toml: if only the occupied cells of state and sex were exact, any change would cost ρ = 10.24." in shown


@pytest.mark.usefixtures("plans")
def test_a_plan_without_an_amount_has_what_its_own_releases_spend():
    """ρ = 0.852 beside state totals is 0.213 without them; age is in no table, and sex changes alone."""
    rows = {row["changed"]: (row["advertised"], row["effective"]) for row in rows_of("units.toml")}
    assert rows == {
        "any": ("ρ = 0.213", "ρ = 0.852"),
        "state": ("ρ = 0.213", "ρ = 0.852"),
        "sex": ("ρ = 0.213", "ρ = 0.213"),
        "age": ("ρ = 0.213", "nothing"),
    }
    both = run("effective", "--programme", "units.toml", "free.toml", "--json")
    assert json.loads(both.stdout)["together"] == {"advertised": "ρ = 1.065", "effective": "ρ = 1.704"}


@pytest.mark.usefixtures("plans")
def test_amounts_and_releases_can_stand_together_and_errors_become_spends(tmp_path):
    found = json.loads(run("effective", "--programme", "units.toml", "free.toml=rho:1", "--json").stdout)["together"]
    assert found == {"advertised": "ρ = 1.213", "effective": "ρ = 1.852"}
    text = (tmp_path / "units.toml").read_text(encoding="utf-8")
    (tmp_path / "wished.toml").write_text(f"{text}error = {{ count = 10 }}\n", encoding="utf-8")
    (row, *_) = rows_of("wished.toml")
    wished = load_plan("wished.toml").orders[0]
    beside = exact_totals_of(dp.Totals("state"), wished.request.schema, None, 20)
    assert row["effective"] == amount_text(quote_for(wished.request, {"count": 10}, dp.ZCDP(1), beside).spend)


@pytest.mark.usefixtures("plans")
def test_every_amount_is_an_epsilon_at_a_delta():
    done = run("effective", "--programme", "units.toml", "--delta", "1e-10", "--json")
    whole = json.loads(done.stdout)["programme"][0]
    assert whole["epsilon_effective"] == dp.ZCDP("0.852").epsilon_at("1e-10")
    assert whole["epsilon_advertised"] == dp.ZCDP("0.213").epsilon_at("1e-10")
    assert json.loads(done.stdout)["programme"][-1]["epsilon_effective"] == 0
    shown = run("effective", "--programme", "units.toml", "--delta", "1e-10").stdout
    assert "ρ = 0.852 (ε = 9.17649 at δ = 1e-10) and not ρ = 0.213 (ε = 4.3" in shown  # rounded up


@pytest.mark.usefixtures("plans")
def test_every_sentence_is_there_in_german():
    plans = ("units.toml", "persons.toml=rho:1", "free.toml", "margins.toml=rho:1")
    english = run("effective", "--programme", *plans, "--delta", "1e-6").stdout.splitlines()
    german = run("effective", "--programme", *plans, "--delta", "1e-6", "--language", "de").stdout.splitlines()
    assert len(german) == len(english)
    left = re.compile(r"\b(the|when|costs?|alone|at most|nothing|because|if only|rows?|advertised)\b")
    assert [line for line in german if left.search(line)] == []
    assert [line for line in english if not left.search(line)] == []
    assert "wenn eine Zeile ersetzt wird, kosten" in german[0].lower().replace("zeile", "Zeile")


@pytest.mark.usefixtures("plans")
def test_a_row_that_appears_changes_in_two_steps(tmp_path):
    text = (tmp_path / "free.toml").read_text(encoding="utf-8").replace('"replace-one"\nrows = 20', '"add-remove"')
    (tmp_path / "open.toml").write_text(text, encoding="utf-8")
    rows = {row["changed"]: row["effective"] for row in rows_of("open.toml")}
    assert rows == {"any": "ρ = 0.852", "state": "ρ = 1.704", "sex": "ρ = 1.704", "age": "nothing"}
    assert "one row is added or removed" in programme_text("open.toml")
    given = {row["changed"]: row["effective"] for row in rows_of("open.toml=rho:0.5")}  # whatever it asks: 2 rows, 4ρ
    assert given == {"any": "ρ = 0.5", "state": "ρ = 2", "sex": "ρ = 2", "age": "ρ = 2"}


@pytest.mark.usefixtures("plans")
def test_all_that_a_resize_may_bring_in_is_counted(tmp_path):
    text = (tmp_path / "free.toml").read_text(encoding="utf-8")
    laws = '[columns.state.impute]\ndistribution = "weights"\nweights = { A = 1 }\n\n[columns.sex.impute]\n'
    laws += 'distribution = "weights"\nweights = { f = 1 }\n\n[budget]'
    drawn = text.replace("[budget]", laws) + "resize = { rows = 10, proportion = 1 }\n"
    (tmp_path / "drawn.toml").write_text(drawn, encoding="utf-8")
    rows = {row["changed"]: row["effective"] for row in rows_of("drawn.toml")}
    assert rows == {"any": "ρ = 0.852", "state": "ρ = 0.852", "sex": "ρ = 0.852", "age": "nothing"}


@pytest.mark.usefixtures("plans")
def test_an_attribute_that_no_fact_names_changes_alone():
    rows = {row["changed"]: (row["a"], row["exact"], row["effective"]) for row in rows_of("margins.toml=mu:1")}
    assert rows["any"] == (3, True, "μ = 3")
    assert rows["state"] == rows["sex"] == (2, True, "μ = 2")
    assert rows["age"] == (1, True, "μ = 1")


@pytest.mark.usefixtures("plans")
def test_an_attribute_among_several_of_a_table_has_a_bound():
    rows = {row["changed"]: (row["a"], row["exact"]) for row in rows_of("persons.toml=epsilon:1")}
    assert rows["any"] == (2, True)
    assert rows["sex"] == (2, False)


@pytest.mark.usefixtures("plans")
def test_each_level_alone_is_shown_where_there_are_several():
    levels = [(row["beside"], row["a"]) for row in rows_of("margins.toml=rho:1") if "only this" in row["changed"]]
    assert levels == [("totals of state", 2), ("totals of sex", 2)]
    assert not [row for row in rows_of("units.toml=rho:1") if "only this" in row["changed"]]


@pytest.mark.usefixtures("plans")
def test_a_plan_without_exact_numbers_keeps_what_is_advertised():
    row, *_ = rows_of("free.toml=rho:0.5")
    assert (row["a"], row["advertised"], row["effective"]) == (1, "ρ = 0.5", "ρ = 0.5")


@pytest.mark.usefixtures("plans")
@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (["units.toml=rho"], "must be PLAN, or PLAN=rho:R"),
        (["=rho:1"], "must be PLAN, or PLAN=rho:R"),
        (["units.toml=delta:1"], "must be PLAN, or PLAN=rho:R"),
        (["none.toml"], "cannot be read"),
        (["units.toml=rho:x"], "must be a number"),
        (["units.toml=rho:-1"], "must not be negative"),
        (["none.toml=rho:1"], "cannot be read"),
        (["units.toml=rho:1", "persons.toml=mu:1"], "several measures"),
        (["units.toml=rho:1", "units.toml=rho:2"], "of one data set"),
    ],
)
def test_what_is_no_programme_is_refused(parts, words):
    done = programme(*parts)
    assert done.exit_code == 2
    assert words in done.stderr


@pytest.mark.usefixtures("plans")
def test_a_programme_stands_alone():
    done = run("effective", "--rho", "1", "--programme", "units.toml=rho:1")
    assert done.exit_code == 2
    assert "leave out --rho" in done.stderr
    assert "goes with --programme only" in run("effective", "--rho", "1", "--invariant", "rows", "units.toml").stderr
    assert "must be above 0" in run("effective", "--programme", "units.toml", "--delta", "0").stderr
    assert "no words in it" in run("effective", "--programme", "units.toml", "--language", "xx").stderr


@pytest.mark.usefixtures("plans")
def test_a_column_changes_with_the_one_that_it_is_derived_from(tmp_path):
    """Totals of a public map of the state: the state itself cannot change alone, although no fact names it."""
    derived = '[columns.coast]\ntype = "derived"\nof = "state"\nmap = { A = "east", B = "west" }\n\n'
    derived += '[invariants]\ntotals = [["coast"]]\n'
    text = PLAN.replace('[invariants]\ntotals = [["state"]]\n', derived)
    (tmp_path / "coasts.toml").write_text(text, encoding="utf-8")
    found = rows_of("coasts.toml=rho:1")
    rows = {(row["changed"], row["within"]): (row["a"], row["effective"]) for row in found}
    assert rows["state", None] == (2, "ρ = 4")
    assert rows["sex", None] == (1, "ρ = 1")
    assert [row["columns"] for row in found if row["changed"] == "state"] == [["state", "coast"]]
    assert ("state", "coast") not in rows  # it tells the state here: a move within the same coast is none


def test_a_column_of_texts_has_its_line(tmp_path, monkeypatch):
    """A visitor whose shops change vanishes and appears: two steps of the release that finds shops, and of no other."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.toml").write_text(plan_text("texts"), encoding="utf-8")
    found = {row["changed"]: row["effective"] for row in rows_of("texts.toml")}
    assert [*found] == ["any", "sex", "shop", "street"]
    assert found["sex"] == amount_text(dp.ApproxDP("1/4", "1e-7").group(2))
    assert found["shop"] == amount_text(dp.ApproxDP("1/2", "5e-7").group(2))
    assert found["street"] == "nothing"
    assert "texts.toml: a change of street alone costs nothing, because no release sees it." in programme_text("texts.toml")


def test_two_steps_of_a_guarantee_with_a_delta_beside_it_have_no_known_cost(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = plan_text("texts").replace('"approx-dp"\nepsilon', '"approx-zcdp"\nrho').replace('"0.25", "1e-7"', '"0.25", 0')
    (tmp_path / "beside.toml").write_text(text, encoding="utf-8")
    found = {row["changed"]: row["effective"] for row in rows_of("beside.toml")}
    assert found == {"any": "ρ = 0.75, δ = 5e-7", "sex": "ρ = 1, δ = 0", "shop": None, "street": "nothing"}
    told = programme_text("beside.toml")
    assert "what a change of shop costs is not known, because a guarantee with a δ beside it has no known bound" in told
    german = run("effective", "--programme", "beside.toml", "--language", "de", "--delta", "1e-9")
    assert "Was es kostet, wenn sich shop ändert, ist nicht bekannt, weil" in german.stdout
