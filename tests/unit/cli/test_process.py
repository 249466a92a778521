"""The command as a process: exit codes, terminals, pipes and help."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders import PATIENCE, run_on_terminal
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app

from .commands import FILES, done, edit, entries, run


def process(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "discreet", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_terminal_without_greek_letters_gets_its_release(folder: Path) -> None:
    command = [sys.executable, "-m", "discreet", "release", "plan.toml", "--out", "out"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    result = subprocess.run(command, cwd=folder, capture_output=True, env=environment, timeout=PATIENCE, check=False)
    assert (result.returncode, result.stderr) == (0, b"")
    assert rb"charged \u03c1 = 0.1" in result.stdout


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_stdout_that_takes_nothing_does_not_hide_the_charge(folder: Path) -> None:
    command = [sys.executable, "-m", "discreet", "release", "plan.toml", "--out", "out"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        result = subprocess.run(
            command, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False
        )
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


@pytest.mark.slow
def test_every_help_ends_with_an_example_that_is_a_command(folder: Path) -> None:
    names = [[command.name or command.callback.__name__] for command in app.registered_commands if command.callback]
    for name in [
        *names,
        ["derive", "ratio"],
        ["derive", "change"],
        ["derive", "combine"],
        ["ledger", "show"],
        ["ledger", "verify"],
        ["ledger", "export"],
        ["ledger", "extract"],
    ]:
        shown = " ".join(done(*name, "--help").split())
        assert re.search(rf"Examples?: discreet {' '.join(name)} \S+", shown), name
        assert ("--json" in shown) != (name == ["inspect"]), name  # what the rows hold is for a terminal alone


def test_shells_are_told_how_to_complete(folder: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "discreet"],
        env={**os.environ, "_DISCREET_COMPLETE": "complete_bash", "COMP_WORDS": "discreet re", "COMP_CWORD": "1"},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert shown.stdout.split() == ["release", "report", "register"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_sees_a_spinner_while_it_waits_and_a_drawn_table(folder: Path) -> None:
    command = [sys.executable, "-m", "discreet", "release", "plan.toml", "--out", "out"]
    code, seen, told = run_on_terminal(command, folder, {**os.environ, "TERM": "xterm"})
    assert (code, told) == (0, b"")
    assert b"releasing Hours by gender" in seen
    assert "charged ρ = 0.1".encode() in seen
    assert "───".encode() in seen


def test_limits_of_the_driver(folder: Path) -> None:
    """They are refused before anything is spent, or have no part in the result."""
    for wrong, message in (
        (["--memory", "5"], "memory='5': must be a number and a unit"),
        (["--threads", "0"], "threads=0: must be a whole number from 1"),
        (["--spill", "nowhere"], "spill='nowhere': is not a writable folder"),
    ):
        refused = run("release", "plan.toml", "--out", "out", *wrong)
        assert refused.exit_code == 2
        assert message in refused.stderr
        assert not (folder / "out").exists()
    (folder / "spilled").mkdir()
    done("release", "plan.toml", "--out", "out", "--memory", "200MB", "--threads", "1", "--spill", "spilled")
    assert not list((folder / "spilled").iterdir())
    assert "no new charge" in done("release", "plan.toml", "--out", "out")


@pytest.mark.parametrize("names", [["effective"], ["check"], ["derive", "ratio"]], ids=" ".join)
def test_help_has_every_word_and_breaks_lines_where_the_terminal_ends(folder: Path, names: list[str]) -> None:
    """Square brackets are no marks of colours, and the line ends of the source are not those of the page."""
    shown = CliRunner().invoke(app, [*names, "--help"], env={"COLUMNS": "100"}).stdout
    told = {
        "effective": "A plan file: the totals in its [invariants] are exact.",
        "check": "number of rows and its published totals, which are public. Under add-remove it reads no rows.",
        "derive ratio": "Where the interval of the denominator contains 0, no number is given",
    }[" ".join(names)]
    assert told in " ".join(shown.replace("│", " ").split())
    prose = [line.strip() for line in shown.split("╭")[0].splitlines()[2:] if line.strip()]
    assert all(len(line) > 60 or line.endswith(".") for line in prose)
