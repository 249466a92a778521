"""How every library is measured: in a process of its own, after a small request that loads what is loaded late.

Only the standard library: this is imported in the environment of each peer. A program for a library calls `measure` with
two functions: one that makes the source ready, and one that makes a whole release from it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import TypeVar

EPSILON = 1.0
TOP = 200_000
STATES = [f"State {number:02d}" for number in range(51)]
SEXES = ["F", "M"]
CELLS = list(product(STATES, SEXES))

Source = TypeVar("Source")
Line = tuple[str, str, float, float, float]
"""State, sex, number of rows, sum of the clamped wage, mean of the clamped wage."""


def quotient(state: str, sex: str, rows: float, total: float) -> Line:
    """The line of a cell whose mean is the quotient of a noisy sum and a noisy number of rows, within the bounds."""
    return state, sex, rows, total, min(max(total / max(rows, 1.0), 0.0), float(TOP))


def measure(prepare: Callable[[Path], Source], request: Callable[[Source], Iterable[Line]], packages: Iterable[str]) -> None:
    """Seconds, processor seconds and answers of every request, written down after each, so that an end loses none.

    Command line: a small table, the table, the file for the outcome, the least number of requests, and the seconds after
    which no further one begins.
    """
    small, table, target, least, seconds = (*map(Path, sys.argv[1:4]), int(sys.argv[4]), float(sys.argv[5]))
    outcome: dict[str, object] = {"versions": {name: version(name) for name in packages}, "stage": "first request"}
    _written(outcome, target)
    list(request(prepare(small)))
    outcome["stage"] = "source"
    start = time.monotonic()
    source = prepare(table)
    _forget_peak()
    began = time.monotonic()
    outcome |= {"ready": began - start, "began": began, "stage": "requests"}
    _written(outcome, target)
    found: list[dict[str, object]] = []
    while len(found) < least or (time.monotonic() - began < seconds and len(found) < 25):
        wall, cpu = time.perf_counter(), tree_cpu()
        lines = list(request(source))
        taken = {"wall": time.perf_counter() - wall, "cpu": tree_cpu() - cpu}
        found.append(taken | {"lines": [[line[0], line[1], *map(float, line[2:])] for line in lines]})
        outcome |= {"requests": found, "ended": time.monotonic(), "peak": peak()}
        _written(outcome, target)
    outcome["stage"] = "done"
    _written(outcome, target)


def tree_cpu() -> float:
    """Processor seconds of this process and of all that came from it, those that have ended included."""
    tick = os.sysconf("SC_CLK_TCK")
    ended = os.times().children_user + os.times().children_system
    return time.process_time() + ended + sum(used for used, _ in tree(os.getpid())[1:]) / tick


def tree(root: int) -> list[tuple[int, int]]:
    """Ticks of processor time, ended children included, and resident bytes: of a process, then of all that came from it."""
    children: dict[int, list[int]] = {}
    found: dict[int, tuple[int, int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 (many times a second)
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                text = file.read()
                fields = text[text.rindex(")") + 2 :].split()
                children.setdefault(int(fields[1]), []).append(int(entry))
                found[int(entry)] = (sum(map(int, fields[11:15])), int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))
    members = [root]
    for member in members:
        members += children.get(member, [])
    return [found[member] for member in members if member in found]


def peak() -> int:
    """The largest resident size of this process, in bytes, since it was last forgotten."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _written(outcome: dict[str, object], target: Path) -> None:
    beside = target.with_suffix(".part")
    beside.write_text(json.dumps(outcome), encoding="utf-8")
    beside.replace(target)
