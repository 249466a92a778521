"""`discreet effective --programme`: plans together, each attribute, each level; nothing below the truth."""

from __future__ import annotations

import json

import pytest
from tests.builders import plan_text, run

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
    assert shown.endswith("one row of each plan together: ρ = 2.63 advertised, ρ = 10.52 effective\n")
    assert "the lines for a single level are no guarantee" in shown


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
    (row,) = rows_of("free.toml=rho:0.5")
    assert (row["a"], row["advertised"], row["effective"]) == (1, "ρ = 0.5", "ρ = 0.5")


@pytest.mark.usefixtures("plans")
@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (["units.toml"], "must be PLAN=rho:R"),
        (["units.toml=rho"], "must be PLAN=rho:R"),
        (["=rho:1"], "must be PLAN=rho:R"),
        (["units.toml=delta:1"], "must be PLAN=rho:R"),
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


@pytest.mark.usefixtures("plans")
def test_a_column_changes_with_the_one_that_it_is_derived_from(tmp_path):
    """Totals of a public map of the state: the state itself cannot change alone, although no fact names it."""
    derived = '[columns.coast]\ntype = "derived"\nof = "state"\nmap = { A = "east", B = "west" }\n\n'
    derived += '[invariants]\ntotals = [["coast"]]\n'
    text = PLAN.replace('[invariants]\ntotals = [["state"]]\n', derived)
    (tmp_path / "coasts.toml").write_text(text, encoding="utf-8")
    rows = {row["changed"]: (row["a"], row["effective"]) for row in rows_of("coasts.toml=rho:1")}
    assert rows["coast"] == rows["state"] == (2, "ρ = 4")
    assert rows["sex"] == (1, "ρ = 1")
