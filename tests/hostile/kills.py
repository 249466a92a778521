"""A command with five releases, killed at one system call after the other; a program of its own, which has no threads.

With a sixth argument the releases need two signatures, which they have, and the demand comes with the first reservation.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.signers import board, signed

import discreet as dp
import discreet.quotes.allocate  # with the next, loaded before children are forked
import discreet.releases.publish
from discreet.ledger import Ledger
from discreet.session.orders import Order

NAMES = ("a", "b", "c", "d", "e")
SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 100))
FRAME = pl.DataFrame({"g": ["x", "y", None, "z"] * 5, "v": [*range(19), None]})
TRACEME, NEXT_CALL = 0, 24
SIGNED = len(sys.argv) > 5
GRANTED: list[dp.Approval] = []
_PTRACE = ctypes.CDLL(None, use_errno=True).ptrace
_PTRACE.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)


def write_source(folder: Path) -> None:
    """The source stands there, and this process has started no threads for it."""
    child = os.fork()
    if not child:
        FRAME.write_parquet(folder / "d.parquet")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def opened(folder: Path) -> dp.Session:
    """A session on a budget that has room for ten releases."""
    return dp.Session(
        folder.parent / "d.parquet",
        SCHEMA,
        dataset="d",
        ledger=folder / "budget.db",
        budget=dp.PureDP(1),
        neighbours=dp.AddRemove(),
        demand=board() if SIGNED else None,
        approvals=GRANTED,
    )


def command(session: dp.Session, folder: Path, *, again: bool = False) -> dict[str, str]:
    """The five releases, made and saved: the digest or the failure of each. Every second one has imputed values."""
    plain = session.table.group_by("g").agg(dp.count())
    imputed = session.table.impute({"v": dp.Uniform()}).group_by("g").agg(dp.count(), dp.mean("v"))
    orders = [Order(plain if place % 2 else imputed, "0.1", name, again=again) for place, name in enumerate(NAMES)]
    if SIGNED:
        said = [session.statement(one.request, spend=one.spend, name=one.name) for one in orders]
        GRANTED[:] = [approval for statement in said for approval in signed(statement, "anna", "ben")]
    told = {}
    for name, answer in zip(NAMES, session.release_all(orders), strict=True):
        if isinstance(answer, dp.Release):
            answer.save(folder / "out" / name)
            told[name] = answer.digest
        else:
            told[name] = f"failed: {answer}"
    return told


def killed(folder: Path, nth: int) -> bool:
    """Whether the command was killed at the nth stop: before or after each system call, in turn."""
    child = os.fork()
    if not child:
        try:
            session = opened(folder)
            _PTRACE(TRACEME, 0, None, None)
            os.kill(os.getpid(), signal.SIGSTOP)
            command(session, folder)
            os._exit(0)
        except BaseException:
            os._exit(9)
    stops = -1
    while True:
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status):
            assert os.waitstatus_to_exitcode(status) == 0, "the command failed by itself"
            return False
        stops += 1
        if stops == nth:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return True
        sent = os.WSTOPSIG(status)
        _PTRACE(NEXT_CALL, child, None, None if sent in {signal.SIGTRAP, signal.SIGSTOP} else sent)


def run_again(folder: Path, *, again: bool = False) -> dict[str, str]:
    """The answers of the same command in another process, or {"": the refusal}."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            with opened(folder) as session:
                told = command(session, folder, again=again)
        except dp.LedgerError as refused:
            told = {"": str(refused)}
        os.write(writing, json.dumps(told).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = json.loads(pipe.read())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return dict(told)


def entries_of(folder: Path) -> list[tuple[str, str, int]]:
    """Kind, name and reservation of each entry of an intact ledger."""
    if not (folder / "budget.db").exists():
        return []
    with Ledger.open(folder / "budget.db") as ledger:
        found = ledger.verify()
        assert found.intact, found.problem
        entries = ledger.entries()
        reserved = sum(entry.kind == "reserve" for entry in entries)
        assert dict(found.spent).get("d", (0,)) == (Fraction(reserved, 10),)
        return [(entry.kind, entry.name, entry.reservation) for entry in entries]


def state_of(entries: list[tuple[str, str, int]]) -> str:
    """How far the command had come: the state of the release that it was at."""
    last = {
        entry[2] or place: entry[0] for place, entry in enumerate(entries, start=1) if entry[0] not in {"dataset", "demand"}
    }
    states = {*last.values()}
    if not states:
        return "nothing was reserved"
    at_work = states & {"reading", "drawing"}
    assert len(at_work) <= 1, "a command is at two releases at once"
    return at_work.pop() if at_work else "all were committed" if states == {"commit"} else "reserved"


def check_after(folder: Path) -> Counter[str]:
    """The law: all reserved or none; what was not drawing is finished for nothing, what was needs --again; one draw each."""
    counts: Counter[str] = Counter(kills=1)
    before = entries_of(folder)
    reserved = [place for place, (kind, *_) in enumerate(before, start=1) if kind == "reserve"]
    assert len(reserved) in {0, 5}, "some of the charges of a command were reserved"
    demands = sum(kind == "demand" for kind, *_ in before)
    assert demands == (SIGNED and bool(reserved)), "a demand stands without the reservation that it came with, or twice"
    committed = {number for kind, _, number in before if kind == "commit"}
    lost = {name for kind, name, number in before if kind == "drawing" and number not in committed}
    counts[f"killed when {state_of(before)}"] += 1
    told = run_again(folder)
    after = entries_of(folder)
    for number in reserved:
        drawn = sum((kind, of) == ("drawing", number) for kind, _, of in after)
        assert drawn <= 1, "a second draw for one charge"
    assert sum(kind == "reserve" for kind, *_ in after) == 5, "charged twice, or charged without a wish"
    if "" in told:
        assert lost, told
        assert len(committed) + len(lost) == 5 or not reserved
    else:
        assert {name for name, answer in told.items() if answer.startswith("failed")} == lost
        assert all("--again" in answer for answer in told.values() if answer.startswith("failed"))
    counts["lost in drawing"] += len(lost)
    counts["finished at no further charge"] += len(reserved) - len(committed) - len(lost) if reserved else 0
    if lost:
        again = run_again(folder, again=True)
        assert not any(answer.startswith("failed") or not name for name, answer in again.items()), again
        assert sum(kind == "reserve" for kind, *_ in entries_of(folder)) == 5 + len(lost)
        told = again
    for name in NAMES:
        assert dp.Release.load(folder / "out" / name).digest == told[name]
    # Beside the ledger the empty folder of a lock may be left where all was committed; the next charge removes it.
    assert len([*folder.glob(".*")]) <= (len(committed) == 5)
    assert not list(folder.glob("out/**/.*")), "something hidden is left"
    return counts


def killed_at(folder: Path, first: int, stride: int, most: int) -> Counter[str]:
    """The counts of so many kills at most, at every `stride`th stop from the `first`."""
    write_source(folder)
    counts: Counter[str] = Counter()
    for nth in range(first, first + stride * most, stride):
        place = folder / "run"
        place.mkdir()
        if not killed(place, nth):
            counts["ends"] += 1
            break
        counts += check_after(place)
        counts["last stop"] = nth
        shutil.rmtree(place)
    return counts


if __name__ == "__main__":
    print(json.dumps(killed_at(Path(sys.argv[1]), *map(int, sys.argv[2:5]))))
