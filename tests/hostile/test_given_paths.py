"""Every command and every argument that takes a path, with every kind of path that will not do.

Each time: one sentence, exit code 2, no traceback, nothing waited for, nothing charged, and nothing left behind.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.builders import PATIENCE, plan_text, session_over
from typer.testing import CliRunner

import discreet as dp
from discreet import datasets
from discreet.cli import app
from discreet.engines import Limits, open_source
from discreet.errors import DiscreetError
from discreet.ledger import Identity, Ledger, Reservation
from discreet.pages.report import write_report
from discreet.planfile.read import load_plan

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="needs pipes, devices and links"),
    pytest.mark.usefixtures("one_artist"),
]

PLAN = plan_text("gender")
SCHEMA = dp.Schema(gender=dp.Category(["female", "male"]))
LONG = "x" * 300
TOO_LONG = {"long name": LONG, "long name below": f"a/{LONG}/b", "long path": "/".join(["y" * 200] * 30)}
NOT_TEXT = {"not UTF-8": os.fsdecode(b"b\xff"), "not UTF-8 above": os.fsdecode(b"b\xff/c")}
NOWHERE = {
    "missing": "missing",
    "below nothing": "missing/x",
    "below a file": "plan.toml/x",
    "below a device": "/dev/null/x",
}
NOWHERE_TO_WRITE = {"in /proc": "/proc/out/x", "below a file": "plan.toml/x", "below a loop": "loop/x"}
# Never a place to write to in these tests: root could replace a device of the machine, where discreet is wrong.
SPECIAL = {"pipe": "pipe", "socket": "socket", "device": "/dev/null", "loop": "loop", "below a loop": "loop/x"}
UNUSABLE = {**TOO_LONG, **NOT_TEXT, **NOWHERE_TO_WRITE, "loop": "loop"}
FILES = {**TOO_LONG, **NOT_TEXT, **NOWHERE, **SPECIAL, "in /proc": "/proc/out", "folder": "folder"}
FOLDERS = {**TOO_LONG, **NOT_TEXT, **NOWHERE, **SPECIAL, "in /proc": "/proc/out", "empty folder": "folder"}
PLACES = {**UNUSABLE, "pipe": "pipe", "socket": "socket", "file": "plan.toml"}

READS_FILE: dict[str, Callable[[str], list[str]]] = {
    "init": lambda path: ["init", path, "--out", "new.toml"],
    "check": lambda path: ["check", path],
    "quote": lambda path: ["quote", path],
    "explain": lambda path: ["explain", path],
    "audit": lambda path: ["audit", path],
    "release": lambda path: ["release", path, "--out", "out"],
    "effective": lambda path: ["effective", "--rho", "1", "--plan", path],
    "ledger show": lambda path: ["ledger", "show", path],
    "ledger verify": lambda path: ["ledger", "verify", path],
    "ledger export": lambda path: ["ledger", "export", path],
}
READS_FOLDER: dict[str, Callable[[str], list[str]]] = {
    "report": lambda path: ["report", path],
    "consistent": lambda path: ["consistent", path],
    "register": lambda path: ["register", path],
    "programme": lambda path: ["programme", path],
    "derive ratio": lambda path: ["derive", "ratio", path],
    "derive change": lambda path: ["derive", "change", path, path],
    "verify --releases": lambda path: ["ledger", "verify", "other.db", "--releases", path],
    "release --spill": lambda path: ["release", "plan.toml", "--out", "out", "--spill", path],
}
WRITES_FOLDER: dict[str, Callable[[str], list[str]]] = {
    "release --out": lambda path: ["release", "plan.toml", "--out", path],
}
WRITES_FILE: dict[str, Callable[[str], list[str]]] = {
    "init --out": lambda path: ["init", "example:acs12", "--out", path],
    "quote --html": lambda path: ["quote", "plan.toml", "--html", path],
}
CASES = [
    *((READS_FILE[command], FILES[kind], f"{command}-{kind}") for command in READS_FILE for kind in FILES),
    *((READS_FOLDER[command], FOLDERS[kind], f"{command}-{kind}") for command in READS_FOLDER for kind in FOLDERS),
    *((WRITES_FOLDER[command], PLACES[kind], f"{command}-{kind}") for command in WRITES_FOLDER for kind in PLACES),
    *((WRITES_FILE[command], UNUSABLE[kind], f"{command}-{kind}") for command in WRITES_FILE for kind in UNUSABLE),
    *((WRITES_FILE[command], kind, f"{command}-{kind}") for command in WRITES_FILE for kind in ("pipe", "socket", "loop/x")),
]
# A folder that exists is a place to spill to; a folder of Parquet files is a source only with files in it.
CASES = [case for case in CASES if case[2] != "release --spill-empty folder"]


@pytest.fixture(scope="module")
def other_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with one charge."""
    path = tmp_path_factory.mktemp("other") / "other.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(Identity("e", "{}", "pure-dp", (Fraction(1),)), [Reservation("r", (Fraction(1),), "p", b"s")])
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other_ledger: Path) -> Iterator[Path]:
    """A folder that commands run in: a plan, and one of each thing that is no file. Nothing in it may be waited for."""
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    os.mkfifo("pipe")
    bound = socket.socket(socket.AF_UNIX)
    bound.bind("socket")
    shutil.copy(other_ledger, "other.db")

    def waited(number: int, frame: FrameType | None) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(PATIENCE)
    yield tmp_path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    bound.close()


def untouched(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.mark.one_in(45)
@pytest.mark.parametrize(("command", "path"), [case[:2] for case in CASES], ids=[case[2] for case in CASES])
def test_a_path_that_will_not_do_is_refused_in_one_sentence(
    folder: Path, command: Callable[[str], list[str]], path: str
) -> None:
    before = untouched(folder)
    result = CliRunner().invoke(app, command(path))
    assert result.exit_code == 2, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.startswith("discreet: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert untouched(folder) == before, "nothing was charged or left behind"


IN_PLANS = {**TOO_LONG, **NOWHERE, **SPECIAL, "in /proc": "/proc/out", "in /dev": "/dev/stdin/x"}


@pytest.mark.one_in(18)
@pytest.mark.parametrize("command", ["check", "release"])
@pytest.mark.parametrize("kind", IN_PLANS)
@pytest.mark.parametrize("key", ["source", "table", "ledger", "categories_file"])
def test_a_path_in_a_plan_that_will_not_do_is_refused_in_one_sentence(
    folder: Path, key: str, kind: str, command: str
) -> None:
    path = IN_PLANS[kind]
    if (key, path) == ("ledger", "missing") or (key, kind, command) == ("ledger", "in /proc", "check"):
        pytest.skip("a ledger that is not there yet is created by a release")
    old, new = {
        "source": ('source = "example:acs12"', f'source = "{path}"'),
        "table": ('source = "example:acs12"', f'source = "{path}::persons"'),
        "ledger": ('ledger = "budget.db"', f'ledger = "{path}"'),
        "categories_file": ('categories = ["female", "male"]', f'categories_file = "{path}"'),
    }[key]
    assert PLAN.count(old) == 1
    Path("plan.toml").write_text(PLAN.replace(old, new), encoding="utf-8")
    before = untouched(folder)
    result = CliRunner().invoke(app, [command, "plan.toml", *(["--out", "out"] if command == "release" else [])])
    assert result.exit_code == 2, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.count("\n") == 1
    assert untouched(folder) == before


@pytest.mark.slow
def test_a_path_that_cannot_be_printed_is_printed_all_the_same(folder: Path) -> None:
    """Through the command itself, with the strictest of terminals."""
    for command in (["check", b"b\xff.toml"], ["ledger", "show", b"\xff"], ["release", "plan.toml", "--out", b"\xff"]):
        run = subprocess.run(
            [sys.executable, "-m", "discreet", *command],
            check=False,
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0"},
        )
        assert run.returncode == 2, run.stderr
        assert run.stderr.startswith(b"discreet: ")
        assert run.stderr.isascii()
        assert b"Traceback" not in run.stderr
    assert not Path("budget.db").exists()


# Through Python ---------------------------------------------------------------------------------------------------------


def session(**other: Any) -> dp.Session:
    given = {"source": datasets.path("acs12"), "ledger": ":memory:", **other}
    return session_over(given["source"], SCHEMA, ledger=given["ledger"])


@cache
def release() -> dp.Release:
    with session() as opened:
        return opened.release(opened.table.group_by("gender").agg(dp.count()), spend="0.1", name="r")


def large_release(path: Any) -> None:
    schema = dp.Schema(gender=dp.Category(["female", "male"]), a=dp.Number(0, 999), b=dp.Number(0, 999))
    import polars as pl

    with session_over(pl.DataFrame({"gender": ["male"], "a": [1], "b": [2]}), schema, ledger="large.db") as opened:
        request = opened.table.group_by(dp.bins("a", range(1000)), dp.bins("b", range(1000))).agg(dp.count())
        opened.release(request, spend="0.1", name="r", to=path)


CALLS: dict[str, tuple[Callable[[Any], object], dict[str, str]]] = {
    "ledger": (lambda path: session(ledger=path), {**TOO_LONG, **SPECIAL, "below nothing": "missing/x"}),
    "Ledger.open": (Ledger.open, {**TOO_LONG, **SPECIAL, "below nothing": "missing/x"}),
    "source": (lambda path: session(source=path), FILES),
    "open_source": (lambda path: open_source(path, SCHEMA), {**FILES, "null": "a\0b"}),
    "save": (lambda path: release().save(path), {**PLACES, "null": "a\0b"}),
    "load": (dp.Release.load, {**FOLDERS, "null": "a\0b"}),
    "to": (large_release, {**PLACES, "null": "a\0b"}),
    "report": (lambda path: write_report(release(), path), {**TOO_LONG, **NOT_TEXT, **NOWHERE_TO_WRITE, "null": "a\0b"}),
    "spill": (lambda path: Limits(spill=path), {**TOO_LONG, **NOWHERE, **SPECIAL, "null": "a\0b"}),
    "categories": (dp.Category, {**FILES, "null": "a\0b"}),
    "plan": (load_plan, {**FILES, "null": "a\0b"}),
}


@pytest.mark.one_in(18)
@pytest.mark.parametrize(
    ("call", "path"),
    [(call, path) for call, paths in CALLS.values() for path in paths.values()],
    ids=[f"{name}-{kind}" for name, (_, paths) in CALLS.items() for kind in paths],
)
def test_a_path_that_will_not_do_raises_what_discreet_raises(folder: Path, call: Callable[[Any], object], path: str) -> None:
    before = untouched(folder)
    for given in (path, Path(path)):
        with pytest.raises(DiscreetError) as failure:
            call(given)
        assert str(failure.value)
        assert untouched(folder) == before


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("value", [5, None, b"bytes", object()])
def test_what_is_no_path_raises_what_discreet_raises(folder: Path, call: str, value: object) -> None:
    if (call, value) in {("spill", None), ("to", None)} or call == "plan":
        pytest.skip("may be left out, or is checked by types alone")
    with pytest.raises(DiscreetError):
        CALLS[call][0](value)
