"""`discreet inspect`: on a terminal only, recorded before a row is read, told by every release after it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders import PATIENCE, run_on_terminal

from discreet.cli import inspecting
from discreet.engines.duckdb import driver
from discreet.engines.duckdb.parquet import _ParquetEngine
from discreet.ledger import Ledger

from .commands import done, edit, refused, run


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspecting, "_is_terminal", lambda: True)


def kinds(folder: Path) -> list[str]:
    with Ledger.open(folder / "budget.db") as ledger:
        return [entry.kind for entry in ledger.entries() if entry.kind not in {"reading", "drawing"}]


def csv_plan(folder: Path, rows: str, more: str = "") -> None:
    (folder / "rows.csv").write_text(rows, encoding="utf-8")
    edit(folder, "example:acs12", "rows.csv")
    if more:
        edit(folder, 'ledger = "budget.db"', f'ledger = "budget.db"\n{more}')


def test_it_is_refused_off_a_terminal_in_json_and_where_the_plan_says_never(folder: Path) -> None:
    assert "goes to a terminal only, not to a file or a pipe" in refused(2, "inspect", "plan.toml")
    assert "is written for a terminal only; leave --json out" in refused(2, "inspect", "plan.toml", "--json")
    assert "goes to a terminal only" in refused(2, "inspect", "plan.toml", "--yes")
    assert not (folder / "budget.db").exists()


def test_a_plan_that_says_never_is_obeyed(folder: Path, terminal: None) -> None:
    edit(folder, 'ledger = "budget.db"', 'ledger = "budget.db"\ninspect = "never"')
    assert 'plan.toml says inspect = "never"' in refused(2, "inspect", "plan.toml", "--yes")
    assert not (folder / "budget.db").exists()
    edit(folder, '"never"', '"nevr"')
    assert "data.inspect: 'nevr' is unknown; did you mean 'never'?" in refused(2, "check", "plan.toml")


def test_what_becomes_of_the_rows(folder: Path, terminal: None) -> None:
    csv_plan(folder, "gender,age,hrs_work\nmale,3,-8\nMale,30,40.5\nfemale,,101\n\x1b[2J,x,7\n")
    shown = done("inspect", "plan.toml", "--yes")
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert lines[0].startswith("CONFIDENTIAL")
    assert lines[-2].startswith("CONFIDENTIAL")
    assert lines[1].startswith("4 rows in ")
    assert lines[1].endswith("rows.csv; THE PLAN SAYS rows = 2,000")
    assert "gender as declared 2 “female” (1), “male” (1)" in lines
    assert "not a declared category 2 “⟨U+001B⟩[2J” (1), “Male” (1)" in lines
    assert "\x1b" not in shown, "no cell is obeyed by the terminal"
    assert "moved to the lower bound 1 “-8” (1)" in lines
    assert "moved to the grid 1 “40.5” (1)" in lines
    assert "moved to the upper bound 1 “101” (1)" in lines
    assert "not a number 1 “x” (1)" in lines
    assert "null 1" in lines


def test_it_is_recorded_and_only_later_releases_say_so(folder: Path, terminal: None) -> None:
    done("release", "plan.toml", "--out", "before")
    assert b"inspected" not in (folder / "before" / "release.json").read_bytes()
    done("inspect", "plan.toml", "--yes")
    assert kinds(folder) == ["dataset", "reserve", "commit", "inspect"]
    assert "note: the rows were inspected (entry 6 of the ledger)" in done("check", "plan.toml")
    done("release", "plan.toml", "--out", "after", "--as", "after")
    document = json.loads((folder / "after" / "release.json").read_bytes())
    assert document["inspected"].startswith("The curator looked at the rows before this release (entry 6 of the ledger).")
    assert "looked at the rows" in (folder / "after" / "report.html").read_text(encoding="utf-8")
    done("release", "plan.toml", "--out", "again")
    assert (folder / "again" / "release.json").read_bytes() == (folder / "before" / "release.json").read_bytes()
    assert "rows inspected" in done("ledger", "show", "budget.db")
    (shown,) = json.loads(done("ledger", "show", "budget.db", "--json"))["datasets"]
    assert [one["entry"] for one in shown["inspections"]] == [6]
    done("ledger", "verify", "budget.db", "--releases", ".")


def test_it_fixes_nothing_of_a_new_data_set(folder: Path, terminal: None) -> None:
    csv_plan(folder, "gender,age,hrs_work\nmale,3,7\n")
    done("inspect", "plan.toml", "--yes")
    assert "data set 'acs12': rows inspected (entry 1); nothing released" in done("ledger", "show", "budget.db")
    edit(folder, "rows = 2000", "rows = 1")
    edit(folder, "upper = 100\nclamp", "upper = 99\nclamp")
    done("release", "plan.toml", "--out", "out")
    assert kinds(folder) == ["inspect", "dataset", "reserve", "commit"]
    assert b'"inspected":' in (folder / "out" / "release.json").read_bytes()


def test_nothing_of_what_was_seen_is_in_the_ledger(folder: Path, terminal: None) -> None:
    csv_plan(folder, "gender,age,hrs_work\nsecret-cell,3,7\n")
    assert "secret-cell" in done("inspect", "plan.toml", "--yes")
    assert "secret" not in done("ledger", "export", "budget.db")
    assert b"secret" not in (folder / "budget.db").read_bytes()


def test_it_is_recorded_before_a_row_is_read(folder: Path, terminal: None, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def cells(_engine: object, _names: object) -> object:
        seen.append(kinds(folder))
        return iter(())

    monkeypatch.setattr(_ParquetEngine, "cells", cells)
    run("inspect", "plan.toml", "--yes")
    assert seen == [["inspect"]]


def test_a_ledger_that_cannot_be_written_shows_nothing(
    folder: Path, terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "cells_of", lambda *_: pytest.fail("a row was read"))
    edit(folder, "budget.db", "none/budget.db")
    assert "does not exist" in refused(2, "inspect", "plan.toml", "--yes")


def test_the_first_look_needs_a_yes_and_a_no_leaves_no_trace(
    folder: Path, terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspecting.typer, "confirm", lambda _question: False)
    assert "nothing was read, and nothing was recorded" in refused(2, "inspect", "plan.toml")
    assert not (folder / "budget.db").exists()
    monkeypatch.setattr(inspecting.typer, "confirm", lambda _question: True)
    assert "every later release" in done("inspect", "plan.toml")
    monkeypatch.setattr(inspecting.typer, "confirm", lambda _question: pytest.fail("asked again"))
    assert "every later release" not in done("inspect", "plan.toml")


@pytest.mark.slow
def test_on_a_real_terminal(folder: Path) -> None:
    """The same process, with its stdout on a terminal and on a pipe."""
    command = [sys.executable, "-m", "discreet", "inspect", "plan.toml", "--yes"]
    code, shown, told = run_on_terminal(command, folder)
    assert code == 0
    assert b"CONFIDENTIAL" in shown + told
    piped = subprocess.run(command, cwd=folder, capture_output=True, timeout=PATIENCE, check=False)
    assert (piped.returncode, piped.stdout) == (2, b"")
