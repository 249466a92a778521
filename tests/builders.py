"""What tests of many rooms build their subjects from."""

from __future__ import annotations

import csv
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

import discreet as dp
from discreet.cli import app
from discreet.cube.cube import Cube
from discreet.cube.scans import Scan
from discreet.engines import open_source
from discreet.ledger import Ledger
from discreet.releases.document import make_release

PLANS = Path(__file__).parent / "plans"
PATIENCE = 600
"""Seconds until something that hangs is ended: far more than a loaded machine needs, as nothing is measured with it."""
MOMENT = 20
"""Seconds of processor time for what takes half a second: a machine that is busy, or lends its cores, takes longer."""


def plan_text(name: str) -> str:
    """The plan file `plans/NAME.toml`, which the test writes where it needs it, changed or not."""
    return (PLANS / f"{name}.toml").read_text(encoding="utf-8")


def session_over(source: Any, schema: dp.Schema, **options: Any) -> dp.Session:
    """A session of the data set `d` with a ledger in memory, where the options do not say otherwise.

    Its budget is ε = 1, and neighbours differ in a row that is added or removed.
    """
    given = {"dataset": "d", "ledger": ":memory:", "budget": dp.PureDP(1), "neighbours": dp.AddRemove(), **options}
    return dp.Session(source, schema, **given)


def changed_release(release: dp.Release, path: Sequence[str | int], value: object) -> dp.Release:
    """The same release with another value at a place of its document, and a digest that fits."""
    document = {name: own for name, own in release.document.items() if name != "digest"}
    place: Any = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return make_release(document)


def cube_of(source: Any, schema: dp.Schema, scan: Scan) -> Cube:
    """What the engine of the source counts in one scan; the engine is closed."""
    engine = open_source(source, schema)
    try:
        return engine.aggregate(scan.axes, scan.moments)
    finally:
        engine.close()


def run(*arguments: str) -> Result:
    """A command in this process: its exit code and what it printed."""
    return CliRunner().invoke(app, list(arguments))


def run_on_terminal(command: Sequence[str], folder: Path, env: Mapping[str, str] | None = None) -> tuple[int, bytes, bytes]:
    """The exit code of a process whose stdin and stdout are a terminal, what that showed, and what stderr was told."""
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=folder, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=env) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: _next_of(ours), b""))
        assert process.stderr is not None
        told = process.stderr.read()
        code = process.wait(PATIENCE)
    os.close(ours)
    return code, shown, told


def _next_of(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is closed
        return b""


def read_leniently(lines: list[str], fields: int, _form: object = None) -> list[str | None]:
    """Lines of a CSV file as a lenient reader takes them: no quote is out of place."""
    rows = (next(csv.reader([line]), []) for line in lines)
    return ["\0".join(cells) if len(cells) == fields else None for cells in rows]


def drawn(ledger: Ledger, number: int) -> int:
    """The number of a reservation for which an attempt has drawn: it can be committed now."""
    with ledger.attempt(number) as attempt:
        ledger.draw(attempt)
    return number
