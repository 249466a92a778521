"""Exact totals on the command line: what an advertised guarantee means, and plans whose totals are published."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from tests.builders import plan_text, run

import discreet as dp
from discreet.ledger import Ledger

PLAN = plan_text("totals")
FRAME = pl.DataFrame({"state": ["A"] * 12 + ["B"] * 7 + [None], "sex": ["f", "m", None, "f"] * 5, "age": [*range(10)] * 2})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that commands run in, with the plan and its source."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    FRAME.write_csv(tmp_path / "d.csv")
    return tmp_path


def replan(folder, *changes):
    text = PLAN
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "plan.toml").write_text(text, encoding="utf-8")


def kinds():
    with Ledger.open("budget.db") as ledger:
        return [entry.kind for entry in ledger.entries("d")]


# effective ------------------------------------------------------------------------------------------------------------


def effective(arguments):
    return run("effective", *arguments.split())


def test_the_census_of_2020_in_one_command():
    done = effective("--rho 0.213 --invariant totals --delta 1e-10")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "differ in at most a = 2 rows" in done.stdout
    assert "advertised: ρ = 0.213\neffective:  ρ = 0.852\n" in done.stdout
    assert "at δ = 1e-10: ε = 4.3100 advertised, 9.1765 effective" in done.stdout
    shown = json.loads(effective("--rho 0.213 --invariant totals --delta 1e-10 --json").stdout)
    assert shown["effective_parameter"] == "0.852"
    assert (shown["a"], shown["advertised"], shown["effective"]) == (2, "ρ = 0.213", "ρ = 0.852")
    # mathematics.md, 2.3: never below the truth, and close to it.
    for key, truth in [("epsilon_advertised", 4.30995830078852563), ("epsilon_effective", 9.17648671893520048)]:
        assert truth * (1 - 1e-15) <= shown[key] <= truth * (1 + 1e-12)


@pytest.mark.parametrize(
    ("arguments", "a", "stated"),
    [
        ("--rho 0.213 --invariant margins", 3, "ρ = 1.917"),
        ("--rho 1/3 --invariant margins", 3, "ρ = 3"),
        ("--rho 1 --invariant margins:6", 7, "ρ = 49"),
        ("--rho 1 --invariant rows", 1, "ρ = 1"),
        ("--mu 1/2 --invariant occupied", 2, "μ = 1"),
        ("--epsilon 1 --invariant totals", 2, "ε = 2"),
        ("--epsilon 1 --delta 0 --invariant totals", 2, "ε = 2"),
        ("--rho 0 --invariant totals --delta 1e-9", 2, "ρ = 0"),
    ],
)
def test_kinds_of_totals_and_measures(arguments, a, stated):
    done = effective(arguments)
    assert done.exit_code == 0
    assert f"at most a = {a} row{'s' if a > 1 else ''}\n" in done.stdout
    assert f"effective:  {stated}\n" in done.stdout


def test_delta_grows_with_the_other_rows():
    """δ·(e^{aε} - 1)/(e^ε - 1), rounded up."""
    done = effective("--epsilon 1 --delta 1e-6 --invariant margins")
    found = re.search(r"effective:  ε = 3, δ ≤ ([\d.e-]+)", done.stdout)
    assert found
    assert 1.11073379e-5 <= float(found[1]) <= 1.1108e-5


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--rho 1", "give either --invariant or --plan"),
        ("--rho 1 --invariant totals --plan plan.toml", "give either --invariant or --plan"),
        ("--invariant totals", "give one of --rho, --epsilon and --mu"),
        ("--rho 1 --mu 1 --invariant totals", "give one of --rho, --epsilon and --mu"),
        ("--rho -1 --invariant totals", "must not be negative"),
        ("--rho nan --invariant totals", "--rho='nan': must be a number"),
        ("--rho 1 --invariant totals --delta 2", "less than 1"),
        ("--rho 1 --invariant totals --delta -1", "at least 0"),
        ("--rho 1 --invariant nested", "must be rows, totals, occupied, margins or margins:K"),
        ("--rho 1 --invariant TOTALS", "must be rows, totals"),
        ("--rho 1 --invariant margins:0", "must be rows, totals"),
        ("--rho 1 --invariant margins:-2", "must be rows, totals"),
        ("--rho 1 --invariant margins:1001", "must be rows, totals"),
        ("--rho 1 --invariant margins:²", "must be rows, totals"),
        ("--rho 1 --invariant totals:2", "must be rows, totals"),
        ("--rho 1 --invariant \x1b[31m", "must be rows, totals"),
        ("--rho 1 --plan nowhere.toml", "cannot be read"),
        ("--epsilon 1000 --delta 0.1 --invariant totals", "not be a guarantee at all"),
    ],
)
def test_wrong_arguments_are_refused_in_words(arguments, words, folder):
    refused = effective(arguments)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert words in refused.stderr
    assert refused.stderr.removesuffix("\n").isprintable()


@pytest.mark.parametrize("measure", ["--rho 1", "--mu 1"])
def test_no_epsilon_is_stated_at_a_delta_of_zero(measure):
    assert effective(f"{measure} --invariant totals --delta 0").exit_code in {0, 2}


def test_the_totals_of_a_plan_are_counted(folder):
    assert "a = 2 rows" in run("effective", "--rho", "0.213", "--plan", "plan.toml").stdout
    replan(folder, ('totals = [["state"]]', 'totals = [["state"], ["sex"]]'))
    done = run("effective", "--rho", "0.213", "--plan", "plan.toml")
    assert "the exact totals of state, sex" in done.stdout
    assert "effective:  ρ = 1.917" in done.stdout
    replan(folder, ('[invariants]\ntotals = [["state"]]\n', ""))
    refused = run("effective", "--rho", "0.213", "--plan", "plan.toml")
    assert refused.exit_code == 2
    assert "has no [invariants]" in refused.stderr
    assert not Path("budget.db").exists()


# Plans ----------------------------------------------------------------------------------------------------------------


def test_check_and_quote_say_what_is_exact_and_write_nothing(folder):
    checked = run("check", "plan.toml")
    assert checked.exit_code == 0
    assert "totals of state: published without noise and not protected" in checked.stdout
    quoted = run("quote", "plan.toml")
    assert quoted.exit_code == 0
    assert "exact totals of state are published alongside, unprotected" in quoted.stdout
    assert "not published yet" in quoted.stdout
    assert "ρ = 0.213" in quoted.stdout  # advertised
    assert "Gaussian on the lattice" in quoted.stdout
    assert not Path("budget.db").exists()


def test_a_release_publishes_totals_first_and_writes_them_down(folder):
    done = run("release", "plan.toml", "--out", "out")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "charged ρ = 0.852" in done.stdout
    assert kinds() == ["dataset", "publish", "commit", "reserve", "reading", "drawing", "commit"]
    assert Path("out/totals_state.csv").read_text(encoding="utf-8") == '"state","count"\n"A",12\n"B",7\n,1\n'
    release = dp.Release.load("out")
    by_state = release.table.group_by("state", maintain_order=True).agg(pl.col("count").sum())
    assert by_state.rows() == [("A", 12), ("B", 7), (None, 1)]
    assert release.guarantee.advertised == dp.ZCDP("0.213")
    assert "unprotected" in Path("out/report.html").read_text(encoding="utf-8")
    again = run("release", "plan.toml", "--out", "out2")
    assert "no new charge" in again.stdout
    assert dp.Release.load("out2") == release
    assert len(kinds()) == 7
    shown = run("ledger", "show", "budget.db")
    assert re.search(r"committed\s+exact, no charge\s+exact totals", shown.stdout)
    assert run("ledger", "verify", "budget.db").exit_code == 0


def test_other_totals_of_the_same_data_set_are_refused(folder):
    assert run("release", "plan.toml", "--out", "out").exit_code == 0
    for other in ('totals = [["sex"]]', 'totals = [["state"], ["sex"]]', 'occupied = [["state"]]'):
        replan(folder, ('totals = [["state"]]', other))
        refused = run("release", "plan.toml", "--out", "other")
        assert refused.exit_code == 2
        assert "invariants: " in refused.stderr
    replan(folder, ('[invariants]\ntotals = [["state"]]\n', ""))
    assert run("release", "plan.toml", "--out", "other").exit_code == 2
    assert not Path("other").exists()


@pytest.mark.parametrize("change", [('totals = [["state"]]', 'impossible = [{ columns = ["state"], cells = ["B"] }]')])
def test_totals_that_cannot_be_published_fail_without_a_charge(change, folder):
    replan(folder, change)
    failed = run("release", "plan.toml", "--out", "out")
    assert failed.exit_code == 4
    assert failed.stderr == f"discreet: {dp.ReleaseFailed.TOTALS}\n"
    assert kinds() == ["dataset", "publish", "fail"]
    assert not Path("out").exists()
    assert "ρ = 0.852" in run("ledger", "show", "budget.db").stdout


def test_a_request_that_the_totals_answer_is_refused(folder):
    replan(folder, ('group_by = ["state", "sex"]', 'group_by = ["state"]'))
    for command in (["check", "plan.toml"], ["quote", "plan.toml"], ["release", "plan.toml", "--out", "out"]):
        refused = run(*command)
        assert refused.exit_code == 2
        assert "already" in refused.stderr
    assert not Path("budget.db").exists()


def test_a_source_with_other_totals_is_refused_before_the_charge(folder):
    cheaper = ('statistics = ["count"]', 'statistics = ["count"]\nspend = "0.1"')
    replan(folder, cheaper)
    assert run("release", "plan.toml", "--out", "out").exit_code == 0
    FRAME.with_columns(state=pl.lit("A")).write_csv("d.csv")
    replan(folder, cheaper, ('name = "r"', 'name = "s"'))
    for command in (["check", "plan.toml"], ["release", "plan.toml", "--out", "more"]):
        refused = run(*command)
        assert refused.exit_code == 2
        assert "its totals are not the exact totals that were published" in refused.stderr
    assert kinds() == ["dataset", "publish", "commit", "reserve", "reading", "drawing", "commit"]
    assert "spent      ρ = 0.1\n" in run("ledger", "show", "budget.db").stdout
