"""Commands in this process, and the plan that they read."""

from __future__ import annotations

from pathlib import Path

from tests.builders import run

from discreet.ledger import Ledger

SECOND = """
[[release]]
name = "persons"
statistics = [{ count = "age" }]
spend = "0.05"
"""


FILES = ["release.json", "report.html", "table.csv", "table.parquet"]


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
