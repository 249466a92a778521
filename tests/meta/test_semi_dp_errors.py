"""The error tables of docs/semi-dp-errors.md are what their commands print."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "semi_dp_errors.py"
PAGE = ROOT / "docs" / "semi-dp-errors.md"
SLOW = {"margins-3x4"}


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("semi_dp_errors", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look annotations up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def lines(text):
    """The lines of the tables, in order."""
    return [line for line in text.splitlines() if re.search(r"`--row [^`]+` \|$", line)]


def stale(script, page, names):
    """The lines that are computed and are not in the page."""
    computed = [script.row(name, symbol, spend) for symbol, _, spend in script.GUARANTEES for name in names]
    return [line for line in computed if line not in lines(page)]


@pytest.mark.slow
def test_the_page_says_what_is_computed(script):
    assert stale(script, PAGE.read_text(encoding="utf-8"), [name for name in script.CASES if name not in SLOW]) == []


@pytest.mark.exhaustive
def test_the_page_is_as_the_script_would_write_it(script):
    page = PAGE.read_text(encoding="utf-8")
    assert script.written(page) == page


def test_the_page_has_each_row_once_for_each_guarantee(script):
    named = [re.search(r"--row ([^`]+)", line)[1] for line in lines(PAGE.read_text(encoding="utf-8"))]
    assert named == 3 * list(script.CASES)


def test_a_page_with_another_error_would_be_noticed(script):
    page = PAGE.read_text(encoding="utf-8")
    (pure, zero_concentrated, *_) = stale(
        script, page.replace("1 (±2)", "1 (±1)").replace("1.36 (±3)", "1.37 (±3)"), ["margins-2x2"]
    )
    assert "1.36 (±3)" in pure
    assert "1 (±2)" in zero_concentrated


@pytest.mark.slow
def test_the_command_prints_its_lines():
    command = [sys.executable, str(SCRIPT), "--row", "margins-3x3"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    page = lines(PAGE.read_text(encoding="utf-8"))
    assert lines(done.stdout) == [line for line in page if "`--row margins-3x3`" in line]


def test_margins_cost_three_times_rho_and_not_nine_times(script):
    """For tables of exactly the attributes with exact margins, of at least three levels each."""
    symbol, _, spend = script.GUARANTEES[1]
    for name in ("margins-3x3", "margins-10x10"):
        assert "| 3 ρ, not 9 ρ |" in script.row(name, symbol, spend)
    assert "| 9 ρ |" in script.row("margins-3x3-by-2", symbol, spend)
