"""`population`, `windows` and `window` in a plan file, and what the commands say of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.builders import plan_text
from tests.unit.cli.commands import done
from tests.unit.cli.commands import refused as fails

import discreet as dp
from discreet.domain.steps import Where

from .plans import load, refused

EXCEEDED = 3
PLAN = plan_text("windows")
RELATION = 'neighbours = "add-remove"'
ABOVE = 'population = { name = "customers", rho = 0.7 }\n'
BELOW = 'windows = { column = "day", each = "month", rho = 0.3 }\n'


def test_populations_and_windows_are_read(tmp_path: Path) -> None:
    plan = load(tmp_path, PLAN)
    assert plan.population == dp.Population("customers", dp.ZCDP("0.7"))
    assert plan.windows == dp.Windows("day", each="month", budget=dp.ZCDP("0.3"))
    assert [order.request.steps for order in plan.orders] == [(Where("day", 0, 30),), (Where("day", 0, 58),)]
    narrower = load(tmp_path, PLAN.replace("spend = 0.2\n", "spend = 0.2\nwhere = { day = [2026-01-05, 2026-01-09] }\n"))
    assert narrower.orders[0].request.steps == (Where("day", 0, 30), Where("day", 4, 8))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (ABOVE, 'population = "customers"\n', "budget.population"),
        (ABOVE, "population = { rho = 1 }\n", "name"),
        (ABOVE, 'population = { name = "customers", epsilon = 1 }\n', "epsilon"),
        (BELOW, 'windows = { column = "day", each = "moon", rho = 1 }\n', "must be one of day, week, month"),
        (BELOW, 'windows = { column = "shop", each = "month", rho = 1 }\n', "must be a Date of the schema"),
        (BELOW, 'windows = { column = "dya", each = "month", rho = 1 }\n', "did you mean 'day'"),
        (BELOW, 'windows = { column = "day", each = "month" }\n', "rho"),
        (BELOW, "", "needs windows in [budget]"),
        ('window = "2026-01"', 'window = "2026-04"', "is not a month of column 'day' (2026-01 to 2026-03)"),
        ('window = "2026-01"', "window = 3", "must be"),
        ('window = ["2026-01", "2026-02"]', 'window = ["2026-01", "2026-03"]', "without gaps"),
        ('window = "2026-01"', 'window = "2026-01"\nclamp = { day = [2026-01-01, 2026-01-31] }', "has used column 'day'"),
        (
            'neighbours = "add-remove"',
            'neighbours = "add-remove"\nsampled = { design = "poisson", rate = 0.1 }',
            "one draw alone",
        ),
    ],
)
def test_what_is_wrong_is_refused_at_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in PLAN
    assert said in str(refused(tmp_path, PLAN.replace(old, new)))


def unwindowed(plan: str) -> str:
    """The plan of a data set without windows."""
    kept = [line for line in plan.splitlines() if not line.startswith("window")]
    return "\n".join(kept)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_artist: None) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("day,shop\n2026-01-01,a\n2026-01-31,b\n2026-02-01,a\n2026-03-31,b\n,a\n")
    Path("plan.toml").write_text(PLAN)
    Path("online.toml").write_text(unwindowed(PLAN.replace('"visits"', '"online"')))
    return tmp_path


def test_the_commands_say_what_is_left_in_windows_and_population(folder: Path) -> None:
    said = done("check", "plan.toml")
    assert "'customers', ρ = 0.7 for one person in all its data sets, of which ρ = 0.7 remains" in said
    assert "3 months of 'day' (2026-01 to 2026-03), ρ = 0.3 for each; the budget is for all of them together" in said
    said = done("quote", "plan.toml")
    assert (
        "population 'customers': the charge ρ = 0.25 is charged to it too; remaining now ρ = 0.7, afterwards ρ = 0.45"
        in said
    )
    assert "window 2026-01: remaining now ρ = 0.3, afterwards ρ = 0.05" in said
    assert "window 2026-02: remaining now ρ = 0.3, afterwards ρ = 0.25" in said
    assert "2026-03" not in said.split("charge ρ")[1]
    done("release", "plan.toml", "--out", "out")
    said = done("check", "plan.toml")
    assert "2026-01 has ρ = 0.05 left" in said
    facts = json.loads(done("check", "plan.toml", "--json"))
    assert facts["windows"] == {"2026-01": ["0.05"], "2026-02": ["0.25"], "2026-03": ["0.3"]}
    assert facts["of_population"] == {"name": "customers", "remaining": ["0.45"], "datasets": ["visits"]}
    assert "shared with visits, of which ρ = 0.45 remains" in done("check", "online.toml")
    done("release", "online.toml", "--out", "online")
    said = done("ledger", "show", "budget.db")
    assert said.count("population 'customers': ρ = 0.2 of ρ = 0.7 remains") == 2
    assert (
        "  window 2026-01: ρ = 0.05 remains\n  window 2026-02: ρ = 0.25 remains\n  1 of 3 windows have all of ρ = 0.3"
        in said
    )
    assert "two months (2026-01 to 2026-02)" in said
    assert "january (2026-01)" in said
    shown = json.loads(done("ledger", "show", "budget.db", "--json"))["datasets"][0]["releases"]
    assert [one["windows"] for one in shown] == [["2026-01"], ["2026-01", "2026-02"]]
    other = Path("plan.toml").read_text().replace('"january"', '"more"').replace("spend = 0.2\n", "spend = 0.06\n")
    Path("more.toml").write_text(other)
    for command in (("quote", "more.toml"), ("check", "more.toml"), ("release", "more.toml", "--out", "more")):
        assert "window 2026-01: requested ρ = 0.06, remaining ρ = 0.05, over by ρ = 0.01" in fails(EXCEEDED, *command)
    Path("third.toml").write_text(Path("online.toml").read_text().replace('"online"', '"third"'))
    for command in (("quote", "third.toml"), ("release", "third.toml", "--out", "third")):
        assert "requested ρ = 0.25, remaining ρ = 0.2" in fails(EXCEEDED, *command)
    assert not Path("third").exists()


def test_the_ledger_states_what_one_person_has_lost_at_any_date(folder: Path) -> None:
    done("release", "plan.toml", "--out", "out")
    done("release", "online.toml", "--out", "online")
    said = done("ledger", "show", "budget.db", "--population")
    assert "population 'customers' (zcdp)" in said
    assert "one person in all of it has lost at most  ρ = 0.5, as if this list of releases" in said
    facts = json.loads(done("ledger", "show", "budget.db", "--population", "--json"))["populations"]
    assert [one["dataset"] for one in facts[0]["datasets"]] == ["visits", "online"]
    assert facts[0]["by_date"] == [{"date": "2026-01-01", "charged": ["0.5"], "at_most": ["0.7"]}]
    before = json.loads(done("ledger", "show", "budget.db", "--population", "--at", "2025-12-31", "--json"))
    assert before["populations"][0]["by_date"][0]["charged"] == ["0.25"]  # the data set without windows
    for arguments in (
        ("--at", "yesterday", "--population"),
        ("--at", "2026-01-01"),
        ("--population", "--dataset", "visits"),
    ):
        fails(2, "ledger", "show", "budget.db", *arguments)


def test_the_ledger_states_it_in_german(folder: Path) -> None:
    done("release", "plan.toml", "--out", "out")
    done("release", "online.toml", "--out", "online")
    said = done("ledger", "show", "budget.db", "--population", "--language", "de")
    assert "Grundgesamtheit „customers“ (zcdp)" in said
    assert "höchstens verloren  ρ = 0,5, als hätte diese Liste von Veröffentlichungen vorher festgestanden" in said
    assert "3 nach Monaten (2026-01 bis 2026-03), je ρ = 0,3" in said
    assert "keine: Jede Person kann zu jedem Zeitpunkt darin sein" in said
    for word in ("budget", "remaining", "has lost", "windows", "released"):
        assert word not in said.replace("budget.db", "")
    fails(2, "ledger", "show", "budget.db", "--language", "de")
    fails(2, "ledger", "show", "budget.db", "--population", "--language", "xx")


def test_a_data_set_with_windows_alone_is_stated_too(folder: Path) -> None:
    Path("plan.toml").write_text(PLAN.replace(ABOVE, "").replace('"2026-01"\n', '"2026-03"\n', 1))
    done("release", "plan.toml", "--out", "out")
    said = done("ledger", "show", "budget.db", "--population")
    assert "data set 'visits' (zcdp)" in said
    found = json.loads(done("ledger", "show", "budget.db", "--population", "--json"))["populations"][0]["by_date"]
    assert found == [
        {"date": "2026-01-01", "charged": ["0.05"], "at_most": ["0.3"]},
        {"date": "2026-03-01", "charged": ["0.25"], "at_most": ["0.6"]},
    ]
    Path("plain.toml").write_text(unwindowed(PLAN.replace(ABOVE, "")).replace("budget.db", "plain.db"))
    done("release", "plain.toml", "--out", "plain")
    assert "no data set of this ledger declares" in done("ledger", "show", "plain.db", "--population")
