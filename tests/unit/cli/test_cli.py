"""The command line: what it prints, what it writes, and what its exit codes promise about the budget."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import discreet as dp
from discreet.cli import app
from discreet.cli.numbers import number_grid
from discreet.cli.output import Grid
from discreet.cli.releasing import folders_for, renamed
from discreet.errors import ReleaseFailed
from discreet.ledger import Ledger
from discreet.planfile.read import load_plan
from discreet.privacy.amounts import number_text
from discreet.session.session import Session

PLAN = """\
[data]
dataset = "acs12"
source = "example:acs12"
neighbours = "replace-one"
rows = 2000
ledger = "budget.db"

[columns.gender]
type = "category"
categories = ["female", "male"]

[columns.age]
type = "number"
lower = 0
upper = 100

[columns.hrs_work]
type = "number"
lower = 0
upper = 100
clamp = [0, 80]
impute = { distribution = "uniform" }

[budget]
measure = "zcdp"
rho = 0.5

[[release]]
name = "Hours by gender"
group_by = ["gender"]
statistics = ["count", { mean = "hrs_work", as = "hours" }]
where = { age = [16, 100] }
spend = 0.1
"""
SECOND = """
[[release]]
name = "persons"
statistics = [{ count = "age" }]
spend = "0.05"
"""
FILES = ["release.json", "report.html", "table.csv", "table.parquet"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that commands run in, with the plan."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def done(*arguments: str) -> str:
    """What a command printed that did what it was asked for, with nothing on stderr."""
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def refused(code: int, *arguments: str) -> str:
    """The one message of a command that left with `code`, without a traceback."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stderr.startswith("discreet: ")
    assert "Traceback" not in result.output
    return result.stderr


def edit(folder: Path, old: str, new: str) -> None:
    text = (folder / "plan.toml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / "plan.toml").write_text(text.replace(old, new), encoding="utf-8")


def entries(folder: Path) -> list[tuple[str, str]]:
    if not (folder / "budget.db").exists():
        return []
    with Ledger.open(folder / "budget.db") as ledger:
        return [(entry.kind, entry.name) for entry in ledger.entries("acs12")]


# check and quote ------------------------------------------------------------------------------------------------------


def test_check_says_what_was_understood_and_creates_nothing(folder: Path) -> None:
    shown = done("check", "plan.toml")
    assert shown.startswith("plan.toml is in order. Nothing was spent.\n")
    for part in (
        "replace-one: exactly 2000 rows, which is public; 1 row a person",
        "zcdp, ρ = 0.5, of which ρ = 0.5 remains; ε is reported at δ = 1e-9",
        "not there yet; the first release creates it",
        "number from 0 to 100 in steps of 1",
        "2 categories: female, male",
        "count, hours by gender: 3 rows",
        "hrs_work lower 0, upper 80",
        "hrs_work uniform",
        "Hours by gender (ρ = 0.1)",
    ):
        assert part in shown
    assert [path.name for path in folder.iterdir()] == ["plan.toml"]


def test_check_and_quote_give_json(folder: Path) -> None:
    facts = json.loads(done("check", "plan.toml", "--json"))
    (release,) = facts["releases"]
    request = load_plan(folder / "plan.toml").orders[0].request
    assert release["plan_digest"] == request.digest
    assert release["spend"] == {"kind": "zcdp", "rho": "0.1"}
    assert facts["remaining"] == ["0.5"]
    quoted = json.loads(done("quote", "plan.toml", "--json"))
    assert quoted["charge"] == ["0.1"]
    assert quoted["releases"][0]["expected_error"].keys() == {"count", "hours"}
    assert entries(folder) == []


def test_quote_adds_up_what_the_releases_cost(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.1\n" + SECOND)
    shown = done("quote", "plan.toml")
    assert "charge ρ = 0.15; remaining now ρ = 0.5, afterwards ρ = 0.35. Nothing was spent." in shown
    assert re.search(r"hours: ±\d", shown)
    assert "noise rounded Gaussian, variance" in shown
    assert not (folder / "budget.db").exists()


@pytest.mark.parametrize("command", ["check", "quote"])
def test_a_plan_over_the_budget_leaves_with_3(folder: Path, command: str) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.45\n" + SECOND)
    done(command, "plan.toml")  # exactly the budget
    edit(folder, "spend = 0.45", 'spend = "0.450000000000000001"')
    assert "over by ρ = 1e-18;" in refused(3, command, "plan.toml")
    assert "need ρ = 0.500001" not in refused(3, command, "plan.toml")


@pytest.mark.parametrize("command", [["check"], ["quote"], ["release", "--out", "out"]])
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rho = 0.5", "rhu = 0.5", "plan.toml:26: budget.rhu: no such key (with measure = 'zcdp'); did you mean 'rho'?"),
        ("example:acs12", "none.parquet", "cannot be opened"),
        ("example:acs12", "plan.toml", "must be .parquet or .csv files"),
        ("[columns.age]", "[columns.agee]", "column 'agee'"),
        (
            "[columns.gender]\n",
            '[columns.income]\ntype = "category"\ncategories = ["x"]\n[columns.gender]\n',
            "holds BIGINT",
        ),
        ('"budget.db"', '"none/budget.db"', "the folder"),
        ('"budget.db"', '"plan.toml"', "is no discreet ledger"),
        ('"budget.db"', '"."', "is not a file"),
    ],
)
def test_whatever_is_wrong_leaves_with_2_before_anything_is_spent(
    folder: Path, command: list[str], old: str, new: str, message: str
) -> None:
    edit(folder, old, new)
    if "agee" in new:
        edit(folder, "where = { age", "where = { agee")
    assert message in refused(2, command[0], "plan.toml", *command[1:])
    assert [path.name for path in folder.iterdir()] == ["plan.toml"]


def test_a_request_for_public_numbers_only_leaves_with_2(folder: Path) -> None:
    edit(folder, 'group_by = ["gender"]\n', "")
    edit(folder, "where = { age = [16, 100] }\n", "")
    edit(folder, '["count", { mean = "hrs_work", as = "hours" }]', '["count"]')
    assert "public already" in refused(2, "check", "plan.toml")


def test_notes_about_what_is_seldom_meant(folder: Path) -> None:
    """Rows 21, 30 and 35 of the catalogue: allowed, with a warning."""
    edit(folder, 'measure = "zcdp"\nrho = 0.5', 'measure = "approx-dp"\nepsilon = 1\ndelta = 0.001')
    edit(folder, "[budget]", '[columns.income]\ntype = "number"\nlower = 5\nupper = 5\n[budget]')
    bins = ", ".join(map(str, range(101)))
    hours = ", ".join(map(str, range(81)))
    groups = f'["gender", {{ bins = "age", edges = [{bins}] }}, {{ bins = "hrs_work", edges = [{hours}] }}]'
    edit(folder, 'group_by = ["gender"]', f"group_by = {groups}")
    shown = done("check", "plan.toml")
    assert "note: column 'income' can have one value only" in shown
    assert "note: δ = 0.001 is more than 1/rows = 0.0005" in shown
    assert re.search(r"note: 'Hours by gender' has \d{5} groups for 2000 rows", shown)


def test_noise_too_small_to_protect_is_allowed_when_it_is_asked_for(folder: Path) -> None:
    """Row 33 of the catalogue: an explicit ε of a million gives the exact counts."""
    edit(folder, 'measure = "zcdp"\nrho = 0.5', 'measure = "pure-dp"\nepsilon = 1_000_000')
    edit(folder, "spend = 0.1", "spend = 1_000_000")
    done("release", "plan.toml", "--out", "out")
    assert dp.Release.load("out").table["count"].sum() == 1605


def test_check_needs_neither_the_heavy_packages_nor_a_second(folder: Path) -> None:
    code = (
        "import sys; from discreet.cli import app; app(['check', 'plan.toml'], standalone_mode=False); "
        "print(sorted({'polars', 'pandas', 'scipy', 'jinja2', 'rich', 'cryptography'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


# release --------------------------------------------------------------------------------------------------------------


def test_a_release_is_charged_once_and_given_back_after_that(folder: Path) -> None:
    shown = done("release", "plan.toml", "--out", "out")
    assert "Hours by gender: charged ρ = 0.1\n" in shown
    assert "remaining: ρ = 0.4 of ρ = 0.5\n" in shown
    assert sorted(path.name for path in Path("out").iterdir()) == FILES
    release = dp.Release.load("out")
    assert release.table.columns[:4] == ["gender", "count", "count_low", "count_high"]
    assert release.guarantee.measure == dp.ZCDP("0.1")
    content = Path("out/release.json").read_bytes()

    again = done("release", "plan.toml", "--out", "out")
    assert "the stored release of entry 2 (ρ = 0.1); the source was not looked at, no new charge" in again
    assert "remaining: ρ = 0.4 of ρ = 0.5\n" in again
    assert Path("out/release.json").read_bytes() == content
    assert entries(folder) == [("dataset", ""), ("reserve", "Hours by gender"), ("commit", "Hours by gender")]
    note = "note: 'Hours by gender' is in the ledger and given back at no charge, without a look at the source"
    assert note in done("check", "plan.toml")
    assert "charge ρ = 0; remaining now ρ = 0.4, afterwards ρ = 0.4" in done("quote", "plan.toml")


def test_several_releases_have_a_folder_each_and_are_charged_together(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.1\n" + SECOND)
    shown = done("release", "plan.toml", "--out", "out/deep")
    assert "remaining: ρ = 0.35 of ρ = 0.5" in shown
    assert sorted(path.name for path in Path("out/deep").iterdir()) == ["hours-by-gender", "persons"]
    for name in ("hours-by-gender", "persons"):
        assert sorted(path.name for path in Path("out/deep", name).iterdir()) == FILES
    assert [kind for kind, _ in entries(folder)] == ["dataset", "reserve", "reserve", "commit", "commit"]


def test_several_releases_are_charged_all_or_none(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.5\n" + SECOND)
    assert "over by ρ = 0.05" in refused(3, "release", "plan.toml", "--out", "out")
    assert entries(folder) == []
    assert not Path("out").exists()


def test_an_exhausted_budget_leaves_with_3(folder: Path) -> None:
    edit(folder, "spend = 0.1", "spend = 0.5")
    done("release", "plan.toml", "--out", "first")
    edit(folder, "spend = 0.5", 'spend = "1e-18"')
    assert "remaining ρ = 0" in refused(3, "release", "plan.toml", "--out", "second", "--as", "second")
    edit(folder, 'spend = "1e-18"\n', "")
    assert "nothing remains" in refused(3, "release", "plan.toml", "--out", "second", "--as", "second")
    assert not Path("second").exists()


def test_a_spend_of_all_that_remains_is_given_back_too(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "")
    assert "charged ρ = 0.5" in done("release", "plan.toml", "--out", "out")
    assert "no new charge" in done("release", "plan.toml", "--out", "out")
    assert "charge ρ = 0;" in done("quote", "plan.toml")


def test_a_spend_of_all_that_remains_leaves_nothing_where_roots_are_rounded(folder: Path) -> None:
    edit(folder, 'measure = "zcdp"\nrho = 0.5', 'measure = "gdp"\nmu = 0.5')
    done("release", "plan.toml", "--out", "out")
    edit(folder, '"Hours by gender"', '"All the rest"')
    edit(folder, "spend = 0.1\n", "")
    assert ", afterwards μ = 0. " in done("quote", "plan.toml")
    done("release", "plan.toml", "--out", "rest")
    assert "no new charge" in done("release", "plan.toml", "--out", "rest")
    again = json.loads(done("quote", "plan.toml", "--json"))
    assert (again["charge"], again["remaining"]) == (["0"], ["0"])
    stored = json.loads((folder / "rest" / "release.json").read_text(encoding="utf-8"))
    assert again["releases"][0]["spend"] == stored["guarantee"]["measure"]


def test_errors_in_place_of_a_spend_are_met_for_the_least(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "error = { count = 20, hours = 1.5 }\n" + SECOND)
    quoted = json.loads(done("quote", "plan.toml", "--json"))["releases"][0]
    met = quoted["expected_error"]
    assert met["count"] <= 20
    assert met["hours"] <= 1.5
    spend = Fraction(quoted["spend"]["rho"])
    assert met["count"] > 19.9 or met["hours"] > 1.49, "no more than it takes"
    assert f"charged ρ = {number_text(spend)}" in done("release", "plan.toml", "--out", "out")
    assert Fraction(str(dp.Release.load("out/hours-by-gender").guarantee.measure.rho)) == spend
    assert "no new charge" in done("release", "plan.toml", "--out", "out")
    edit(folder, "hours = 1.5", "hours = 0.5")
    assert "another spend" in refused(2, "release", "plan.toml", "--out", "out")


def test_errors_that_cost_more_than_remains_leave_with_3(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "error = { count = 1 }\n")
    for command in (["check"], ["quote"], ["release", "--out", "out"]):
        assert "ρ = 0.5" in refused(3, command[0], "plan.toml", *command[1:])
    assert entries(folder) == []


def test_a_release_says_that_its_intervals_hold_together(folder: Path) -> None:
    done("release", "plan.toml", "--out", "each")
    edit(folder, "spend = 0.1\n", 'spend = 0.1\nintervals = "simultaneous"\n')
    assert "all intervals hold together" in done("quote", "plan.toml")
    done("release", "plan.toml", "--out", "all", "--as", "all")
    each, every = dp.Release.load("each"), dp.Release.load("all")
    assert [one.document["interval"]["hold"] for one in (each, every)] == ["each", "simultaneous"]
    wide = [one.table["count_high"] - one.table["count_low"] for one in (each, every)]
    assert (wide[0] < wide[1]).all()
    assert "All intervals of this release together" in Path("all/report.html").read_text(encoding="utf-8")


def test_a_changed_plan_needs_a_new_name(folder: Path) -> None:
    """Row 32 of the catalogue."""
    done("release", "plan.toml", "--out", "out")
    edit(folder, "[16, 100]", "[18, 100]")
    assert "used in data set 'acs12'" in refused(2, "release", "plan.toml", "--out", "other")
    assert "note: the name 'Hours by gender' is used in the ledger" in done("check", "plan.toml")
    edit(folder, "rho = 0.5", "rho = 0.6")
    assert "was declared otherwise" in refused(2, "check", "plan.toml")


def test_as_names_a_repeated_run(folder: Path) -> None:
    done("release", "plan.toml", "--out", "out")
    done("release", "plan.toml", "--out", "again", "--as", "second run")
    assert dp.Release.load("again").name == "second run"
    assert dp.Release.load("again").digest != dp.Release.load("out").digest
    for name in ("", " x", "a\nb", "y" * 201):
        assert "--as=" in refused(2, "release", "plan.toml", "--out", "third", "--as", name)
    assert [name for kind, name in entries(folder) if kind == "reserve"] == ["Hours by gender", "second run"]


def test_names_become_folders_that_every_file_system_takes(folder: Path) -> None:
    order = load_plan("plan.toml").orders[0]
    names = ["A b", "a-b", "a b 2", "../x", "é / ü", "日本", "CON.", "x" * 100, "a.b"]
    orders = [renamed([order], name)[0] for name in names]
    folders = [path.name for path in folders_for(orders, Path("out"))]
    assert folders == ["a-b", "a-b-2", "a-b-2-2", "x", "e-u", "release", "con", "x" * 60, "a-b-3"]
    assert folders_for(orders[:1], Path("out")) == [Path("out")]
    assert [order.name for order in renamed(orders[:2], "May")] == ["May: A b", "May: a-b"]


def test_another_release_is_not_overwritten(folder: Path) -> None:
    done("release", "plan.toml", "--out", "out")
    assert "holds another release" in refused(2, "release", "plan.toml", "--out", "out", "--as", "second")
    Path("out/release.json").write_text('{"format": 99}', encoding="utf-8")
    assert "newer discreet" in refused(2, "release", "plan.toml", "--out", "out")
    assert len(entries(folder)) == 3


def test_a_folder_that_cannot_be_written_is_refused_before_the_charge(folder: Path) -> None:
    Path("link").symlink_to("nowhere")
    for out in ("plan.toml", "plan.toml/out", "link"):
        assert "cannot be written" in refused(2, "release", "plan.toml", "--out", out)
    assert entries(folder) == []


def test_a_source_with_other_rows_fails_after_the_charge_and_shows_nothing(folder: Path) -> None:
    """Soundness 4: the constant text, the charge stands, and no number of the data is printed."""
    edit(folder, "rows = 2000", "rows = 1999")
    message = refused(4, "release", "plan.toml", "--out", "out")
    assert message == f"discreet: 'Hours by gender': {ReleaseFailed.TEXT}\n"
    assert entries(folder) == [("dataset", ""), ("reserve", "Hours by gender"), ("fail", "Hours by gender")]
    assert not Path("out").exists()
    assert "failed" in done("ledger", "show", "budget.db")


def test_one_failed_release_does_not_take_the_others_with_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.1\n" + SECOND)
    compute = Session._compute

    def failing(self: Session, order: Any, *rest: Any) -> Any:
        if order.name == "persons":
            raise ValueError("a secret value: 4711")
        return compute(self, order, *rest)

    monkeypatch.setattr(Session, "_compute", failing)
    result = run("release", "plan.toml", "--out", "out")
    assert result.exit_code == 4
    assert "4711" not in result.output
    assert result.stderr == f"discreet: 'persons': {ReleaseFailed.TEXT}\n"
    assert "Hours by gender: charged ρ = 0.1" in result.stdout
    assert "remaining: ρ = 0.35" in result.stdout
    assert sorted(path.name for path in Path("out").iterdir()) == ["hours-by-gender"]


def test_results_that_cannot_be_written_stay_in_the_ledger(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: dp.Release, folder: Path, *, formulas: str) -> Path:
        raise MemoryError("a secret value: 4711")

    with monkeypatch.context() as patch:
        patch.setattr(dp.Release, "save", failing)
        message = refused(4, "release", "plan.toml", "--out", "out")
    assert "was charged, but could not be written to 'out' (MemoryError)" in message
    assert "4711" not in message
    assert "no new charge" in done("release", "plan.toml", "--out", "other")


def test_an_interruption_after_the_reservation_leaves_with_4(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "_compute", interrupted)
    message = refused(4, "release", "plan.toml", "--out", "out")
    assert message == (
        "discreet: interrupted after 'Hours by gender' was charged; the charge stands and the ledger says so\n"
    )
    assert entries(folder)[-1] == ("fail", "Hours by gender")


def test_an_interruption_before_the_reservation_spends_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "release_all", interrupted)
    assert refused(130, "release", "plan.toml", "--out", "out") == "discreet: interrupted; nothing was spent\n"
    assert entries(folder) == []


def test_a_bug_after_the_reservation_leaves_with_4_and_says_nothing_of_the_data(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release_all = Session.release_all

    def failing(self: Session, orders: Any) -> Any:
        release_all(self, orders)
        raise ValueError("a secret value: 4711")

    monkeypatch.setattr(Session, "release_all", failing)
    message = refused(4, "release", "plan.toml", "--out", "out")
    assert "failed after 'Hours by gender' was charged" in message
    assert "4711" not in message


# report, ledger, convert ----------------------------------------------------------------------------------------------


def test_report_writes_the_page_again(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.1\n" + SECOND)
    done("release", "plan.toml", "--out", "out")
    page = Path("out/persons/report.html").read_bytes()
    Path("out/persons/report.html").unlink()
    assert done("report", "out").splitlines() == ["out/hours-by-gender/report.html", "out/persons/report.html"]
    assert Path("out/persons/report.html").read_bytes() == page
    assert done("report", "out/persons") == "out/persons/report.html\n"
    assert "no release.json there" in refused(2, "report", "none")
    Path("out/persons/release.json").write_text("{}", encoding="utf-8")
    assert "release" in refused(2, "report", "out/persons")


def test_ledger_show_and_verify(folder: Path) -> None:
    assert "there is no such file" in refused(2, "ledger", "show", "budget.db")
    assert "there is no such file" in refused(2, "ledger", "verify", "budget.db")
    assert not Path("budget.db").exists()
    done("release", "plan.toml", "--out", "out")
    shown = done("ledger", "show", "budget.db")
    assert "data set 'acs12' (zcdp)" in shown
    assert re.search(r"remaining +ρ = 0.4\n", shown)
    assert re.search(r"committed +ρ = 0.1 +Hours by gender\n", shown)
    assert done("ledger", "show", "budget.db", "--dataset", "acs12") == shown
    assert "did you mean 'acs12'" in refused(2, "ledger", "show", "budget.db", "--dataset", "acs21")
    facts = json.loads(done("ledger", "show", "budget.db", "--json"))
    (account,) = facts["datasets"]
    assert (account["spent"], account["remaining"]) == (["0.1"], ["0.4"])
    assert account["releases"][0]["state"] == "committed"

    assert done("ledger", "verify", "budget.db").startswith("budget.db is intact: 3 entries\n")
    assert json.loads(done("ledger", "verify", "budget.db", "--json"))["head"] == facts["head"]
    content = Path("budget.db").read_bytes()
    Path("budget.db").write_bytes(content.replace(b"Hours by gender", b"Hours by fender", 1))
    assert "is damaged at entry" in refused(2, "ledger", "verify", "budget.db")
    assert "is damaged" in refused(2, "ledger", "show", "budget.db")
    Path("budget.db").write_bytes(content[: len(content) // 2])
    refused(2, "ledger", "verify", "budget.db")


def test_a_ledger_of_another_program_is_shown_in_its_own_amounts(folder: Path) -> None:
    from discreet.ledger import Identity, Reservation

    identity = Identity("other", '{"anything":1}', "rdp", (Fraction(1), Fraction(1, 3)))
    with Ledger.open("budget.db") as ledger:
        ledger.reserve(identity, [Reservation("one", (Fraction(1, 7), Fraction(0)), "digest", b"source")])
    shown = done("ledger", "show", "budget.db")
    assert re.search(r"budget +1, 1/3\n", shown)
    assert re.search(r"reserved +1/7, 0 +one\n", shown)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--rho 0.213 --delta 1e-10", lambda: {"epsilon": dp.ZCDP("0.213").epsilon_at("1e-10")}),
        ("--rho 0.5 --epsilon 3", lambda: {"delta": dp.ZCDP("0.5").delta_at(3)}),
        ("--mu 1 --delta 1e-6", lambda: {"epsilon": dp.GDP(1).epsilon_at("1e-6")}),
        ("--mu 1 --epsilon 1", lambda: {"delta": dp.GDP(1).delta_at(1)}),
        ("--mu 0.5", lambda: {"rho": "0.125"}),
        ("--epsilon 1", lambda: {"rho": "0.5"}),
        ("--epsilon 1 --delta 0", lambda: {"rho": "0.5"}),
    ],
)
def test_convert(arguments: str, expected: Any) -> None:
    facts = json.loads(done("convert", *arguments.split(), "--json"))
    assert expected().items() <= facts.items()
    assert "implies" in done("convert", *arguments.split())


def test_convert_a_target_gives_parameters_that_imply_it() -> None:
    facts = json.loads(done("convert", "--epsilon", "1", "--delta", "1e-9", "--json"))
    assert 0.999e-9 < dp.ZCDP(facts["rho"]).delta_at(1) <= 1e-9
    assert 0.999e-9 < dp.GDP(facts["mu"]).delta_at(1) <= 1e-9
    assert facts["rho"] in done("convert", "--epsilon", "1", "--delta", "1e-9")


@pytest.mark.parametrize(
    "arguments",
    ["", "--rho 1", "--rho 1 --mu 1", "--delta 1e-9", "--rho nan --delta 1e-9", "--rho 1 --delta 1e-9 --epsilon 1",
     "--rho -1 --delta 1e-9", "--rho 1 --delta 2", "--epsilon x"],
)  # fmt: skip
def test_convert_refuses_what_says_nothing(arguments: str) -> None:
    refused(2, "convert", *arguments.split())


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(0), "0"), (Fraction(1, 10), "0.1"), (Fraction(1, 10**9), "1e-9"), (Fraction(1, 3), "1/3"),
        (Fraction(29501), "29501"), (Fraction(1, 10**400), "1e-400"), (Fraction("0.123456789"), "0.123456789"),
        (Fraction(1, 123456789), "1/123456789"), (Fraction(2, 3 * 10**15), "6.66667e-16"),
    ],
)  # fmt: skip
def test_numbers_are_short_exact_where_that_is_short_and_never_below(value: Fraction, shown: str) -> None:
    assert number_text(value) == shown
    assert Fraction(number_text(value)) >= value


# The process ----------------------------------------------------------------------------------------------------------


def process(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "discreet", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_the_exit_codes_of_the_process(folder: Path) -> None:
    released = process(folder, "release", "plan.toml", "--out", "out")
    assert (released.returncode, released.stderr) == (0, "")
    assert "\x1b" not in released.stdout, "no colours and no spinner outside a terminal"
    edit(folder, "spend = 0.1", "spend = 0.41")
    over = process(folder, "release", "plan.toml", "--out", "more", "--as", "more")
    assert (over.returncode, over.stdout) == (3, "")
    assert over.stderr.count("\n") == 1
    wrong = process(folder, "check", "none.toml")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.count("\n") == 1


def test_a_terminal_without_greek_letters_gets_its_release(folder: Path) -> None:
    command = [sys.executable, "-m", "discreet", "release", "plan.toml", "--out", "out"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    result = subprocess.run(command, cwd=folder, capture_output=True, env=environment, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (0, b"")
    assert rb"charged \u03c1 = 0.1" in result.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_stdout_that_takes_nothing_does_not_hide_the_charge(folder: Path) -> None:
    command = [sys.executable, "-m", "discreet", "release", "plan.toml", "--out", "out"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        result = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert result.returncode == 4
    assert result.stderr.startswith("discreet: 'Hours by gender': was charged and written to its folder; only this summary")
    assert entries(folder)[-1] == ("commit", "Hours by gender")
    assert sorted(path.name for path in Path("out").iterdir()) == FILES


@pytest.mark.parametrize("arguments", [["frob"], ["release", "plan.toml"], ["check"], ["check", "plan.toml", "--frob"]])
def test_usage_errors_leave_with_2(folder: Path, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage" in result.stderr


def test_help_and_version(folder: Path) -> None:
    assert done("--version") == f"discreet {dp.__version__}\n"
    for command in (["--help"], ["release", "--help"], ["ledger", "--help"], ["ledger", "show", "--help"]):
        assert "Usage" in done(*command)
    assert "3 the budget does not allow it" in " ".join(done("--help").replace("│", " ").split())


def test_every_help_ends_with_an_example_that_is_a_command(folder: Path) -> None:
    names = [[command.name or command.callback.__name__] for command in app.registered_commands if command.callback]
    for name in [*names, ["ledger", "show"], ["ledger", "verify"], ["ledger", "export"]]:
        shown = " ".join(done(*name, "--help").split())
        assert re.search(rf"Examples?: discreet {' '.join(name)} \S+", shown), name
        assert "--json" in shown, name


def test_shells_are_told_how_to_complete(folder: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "discreet"],
        env={**os.environ, "_DISCREET_COMPLETE": "complete_bash", "COMP_WORDS": "discreet re", "COMP_CWORD": "1"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert shown.stdout.split() == ["release", "report"]


def test_release_report_and_consistent_answer_in_json(folder: Path) -> None:
    found = json.loads(done("release", "plan.toml", "--out", "out", "--json"))
    (one,) = found["releases"]
    assert (one["name"], one["folder"], one["charged"]) == ("Hours by gender", "out", True)
    assert one["files"] == FILES
    assert one["guarantee"]["effective"] == {"kind": "zcdp", "rho": "0.1"}
    assert one["digest"] == dp.Release.load("out").digest
    assert (found["budget"]["rho"], found["remaining"]["rho"]) == ("0.5", "0.4")
    again = json.loads(done("release", "plan.toml", "--out", "out", "--json"))
    assert again["releases"] == [{**one, "charged": False}]
    assert json.loads(done("report", "out", "--json")) == {"written": ["out/report.html"]}
    assert json.loads(done("consistent", "out", "--json")) == {"written": ["out/consistent.csv"]}
    assert len(json.loads(done("ledger", "export", "budget.db", "--json"))["entries"]) == 3


def test_a_release_shows_its_first_rows_and_no_interval_shrinks(folder: Path) -> None:
    shown = done("release", "plan.toml", "--out", "out").splitlines()
    table = dp.Release.load("out").table
    at = next(place for place, line in enumerate(shown) if line.split() == ["gender", "count", "hours"])
    for line, row in zip(shown[at + 1 :], table.iter_rows(named=True), strict=False):
        cells = re.split(r"  +", line.strip())
        assert cells[0] == (row["gender"] or "not known")
        for name, cell in zip(("count", "hours"), cells[1:], strict=True):
            value, low, high = (float(part.replace("−", "-")) for part in re.findall(r"−?[0-9.]+", cell.replace(",", "")))
            assert low <= row[f"{name}_low"] <= row[f"{name}_high"] <= high
            assert value == pytest.approx(row[name], abs=high - low)


def test_more_rows_than_fit_are_counted() -> None:
    numbers = {"count": [5] * 20, "count_low": [1] * 20, "count_high": [9] * 20}
    grid, more = number_grid(pl.DataFrame({"who": ["[b]<i>\x1b"] * 20, **numbers}))
    assert isinstance(grid, Grid)
    assert grid.rows == [("[b]<i>⟨U+001B⟩", "5 (1 – 9)")] * 12
    assert more == "  … and 8 more rows"


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_sees_a_spinner_while_it_waits_and_a_drawn_table(folder: Path) -> None:
    import pty

    master, slave = pty.openpty()
    command = [sys.executable, "-m", "discreet", "release", "plan.toml", "--out", "out"]
    with subprocess.Popen(
        command, cwd=folder, stdout=slave, stderr=subprocess.PIPE, env={**os.environ, "TERM": "xterm"}
    ) as run:
        os.close(slave)
        seen = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
        assert run.stderr is not None
        assert run.stderr.read() == b""
    os.close(master)
    assert run.returncode == 0
    assert b"releasing Hours by gender" in seen
    assert "charged ρ = 0.1".encode() in seen
    assert "───".encode() in seen


def test_limits_of_the_driver(folder: Path) -> None:
    """They are refused before anything is spent, or have no part in the result."""
    for wrong, message in (
        (["--memory", "5"], "memory='5': must be a number and a unit"),
        (["--threads", "0"], "threads=0: must be a whole number from 1"),
        (["--spill", "nowhere"], "spill='nowhere': is no folder"),
    ):
        refused = run("release", "plan.toml", "--out", "out", *wrong)
        assert refused.exit_code == 2
        assert message in refused.stderr
        assert not (folder / "out").exists()
    (folder / "spilled").mkdir()
    done("release", "plan.toml", "--out", "out", "--memory", "200MB", "--threads", "1", "--spill", "spilled")
    assert not list((folder / "spilled").iterdir())
    assert "no new charge" in done("release", "plan.toml", "--out", "out")
