"""Fuzzing in short: each target for a fixed number of inputs from fixed random numbers. scripts/fuzz.py goes on longer."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.builders import read_leniently

from discreet.engines.duckdb import csv_files, csv_lines
from discreet.planfile import tree as toml_tree
from discreet.releases import document as release_module

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "fuzz.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("discreet_fuzz", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def targets(fuzz: ModuleType) -> dict[str, Any]:
    return fuzz.targets()


INPUTS = {"csv": 40, "session": 8, "plan": 120, "release": 80}
# Fewer lines than the seeds alone reach would mean that nothing is traced.
LINES = {"csv": 500, "session": 1400, "plan": 1000, "release": 800}


@pytest.mark.slow
@pytest.mark.one_in(6)
@pytest.mark.usefixtures("one_artist")
@pytest.mark.parametrize("name", INPUTS)
def test_changed_files_meet_rules_and_nothing_else(fuzz: ModuleType, targets: dict[str, Any], name: str) -> None:
    done = fuzz.fuzz(targets[name], executions=INPUTS[name], seed=20261122)
    assert done.findings == []
    assert done.executions == INPUTS[name]
    assert done.lines > LINES[name]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", INPUTS)
def test_changed_files_meet_rules_for_minutes(fuzz: ModuleType, targets: dict[str, Any], name: str) -> None:
    assert fuzz.fuzz(targets[name], seconds=300, seed=0).findings == []


def plain_only(path: Path, fields: int) -> Any:
    """Rows without those that are not well-formed: rows are lost."""
    for block in ROWS(path, fields):
        yield replace(block, nulls=0)


def failing(path: Path, names: Any, wanted: Any) -> Any:
    """Frames of a file, unless its last row has a byte that is no UTF-8."""
    if b"\xff" in path.read_bytes():
        raise ValueError
    yield from FRAMES(path, names, wanted)


ROWS, FRAMES = csv_lines.row_blocks, csv_files._frames
DEFECTS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "quotes read leniently": ("csv", lambda patch: patch.setattr(csv_lines, "_read_together", read_leniently)),
    "a mark that is kept": ("csv", lambda patch: patch.setattr(csv_lines, "_MARK", b"\0\0\0\0")),
    "malformed rows dropped": (
        "csv",
        lambda patch: patch.setattr(csv_files, "row_blocks", plain_only),
    ),
    "a value taken for a table": ("plan", lambda patch: patch.setattr(toml_tree.Node, "_require_table", lambda _: None)),
    "a part that is not checked": ("release", lambda patch: patch.setattr(release_module, "refuse_made_up", nullcontext)),
    "rows that can fail a release": (
        "session",
        lambda patch: patch.setattr(csv_files, "_frames", failing),
    ),
}


@pytest.mark.one_in(5)
@pytest.mark.usefixtures("one_artist")
@pytest.mark.parametrize("name", DEFECTS)
def test_planted_defects_are_found(
    fuzz: ModuleType, targets: dict[str, Any], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    target, plant = DEFECTS[name]
    plant(monkeypatch)
    assert fuzz.fuzz(targets[target], executions=8 * INPUTS[target], seed=1).findings


def test_what_is_printed_is_a_finding(fuzz: ModuleType, targets: dict[str, Any]) -> None:
    def prints(_data: bytes) -> None:
        print("a value", file=sys.stderr, flush=True)

    target = fuzz.Target((b"x",), (b"y",), prints)
    assert len(fuzz.fuzz(target, executions=3).findings) == 1


def test_inputs_that_reach_new_lines_lead_further(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word of four letters is found letter by letter; without looking at lines it is not, at the same number of inputs."""

    def steps(data: bytes) -> None:
        for place, letter in enumerate(b"FUZZ"):
            if data[place : place + 1] != bytes([letter]):
                return
            match place:  # a line of its own for each letter that is right
                case 0:
                    pass
                case 1:
                    pass
                case 2:
                    pass
                case _:
                    raise AssertionError

    monkeypatch.setattr(fuzz, "PACKAGE", __file__)
    target = fuzz.Target((b"0000",), tuple(bytes([byte]) for byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"), steps)
    guided = fuzz.fuzz(target, executions=40_000, seed=3)
    monkeypatch.setattr(fuzz, "PACKAGE", "nothing")
    blind = fuzz.fuzz(target, executions=guided.executions, seed=3)
    assert guided.findings
    assert not blind.findings
