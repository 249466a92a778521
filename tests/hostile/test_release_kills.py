"""A command with five releases is killed at its system calls: nothing is lost but in drawing, and nothing is drawn twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs ptrace")

TALLIED = "releases"
AFTER_THE_OPENING = 600
"""Before this stop a command has reserved nothing, whatever the machine."""


def killed_at(folder: Path, first: int, stride: int, most: int, *further: str) -> Counter[str]:
    """The counts of so many kills, in a process of its own: it has no threads, so its children may be forked."""
    program, numbers = str(Path(__file__).with_name("kills.py")), [str(first), str(stride), str(most)]
    command = [sys.executable, program, str(folder), *numbers, *further]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Counter(json.loads(done.stdout))


@pytest.mark.slow
@pytest.mark.parametrize("stride", [2411, pytest.param(1009, marks=pytest.mark.slow)])
def test_a_command_that_is_killed_at_some_system_calls_is_finished_by_the_same_command(
    folder: Path, tally: Counter[str], stride: int
) -> None:
    counts = killed_at(folder, AFTER_THE_OPENING, stride, 20)
    assert counts["kills"] >= 3
    assert counts["finished at no further charge"] > counts["lost in drawing"]
    tally.update({name: counts[name] for name in ("kills", "finished at no further charge", "lost in drawing")})


@pytest.mark.slow
@pytest.mark.parametrize("stride", [3301, pytest.param(1511, marks=pytest.mark.slow)])
def test_a_command_that_brings_a_demand_and_is_killed_is_finished_with_its_signatures(
    folder: Path, tally: Counter[str], stride: int
) -> None:
    counts = killed_at(folder, AFTER_THE_OPENING, stride, 20, "signed")
    assert counts["kills"] >= 3
    assert counts["finished at no further charge"] > counts["lost in drawing"]
    tally.update({name: counts[name] for name in ("kills", "finished at no further charge", "lost in drawing")})


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(4))
def test_a_command_that_is_killed_at_every_second_system_call_is_finished_by_the_same_command(
    folder: Path, tally: Counter[str], part: int
) -> None:
    """Every fourth stop, of which there is one before and one after each call: some 2,200 kills in all."""
    counts = killed_at(folder, AFTER_THE_OPENING + 4 * part, 16, 10_000)
    assert counts["ends"] == 1
    assert counts["kills"] > 400
    tally.update({name: counts[name] for name in ("kills", "finished at no further charge", "lost in drawing")})
