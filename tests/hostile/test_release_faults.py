"""Whole releases under fire: the engine, random bits, ledger and every line in between fail.

The law in every test: rows are looked at only after a charge for them is on disk, what was given away is what was charged
and committed, the total never exceeds the budget, and whatever fails afterwards says one constant text. Faults, kills and
races are counted and shown: `pytest -m slow tests/hostile` has the full numbers.
"""

from __future__ import annotations

import errno
import gc
import itertools
import os
import sqlite3
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from sqlite3 import connect as connected  # goes on working while `sqlite3.connect` fails
from types import FrameType
from typing import Any

import pytest

import discreet as dp
import discreet.quotes.allocate  # with the next, loaded before children are forked
import discreet.releases.publish
from discreet.ledger import Ledger
from discreet.ledger import store as store_module
from discreet.ledger.store import Transaction
from discreet.noise.bits import Bits, system_bits
from discreet.session import session as session_module
from discreet.session.charging import Charging
from discreet.session.orders import Order

from .callers import FRAME, SECRET, Caller, require_constant_text
from .tracing import is_open_to_faults

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


TALLIED = "releases"


def test_every_typed_failure_comes_before_the_reservation(folder: Path) -> None:
    """So a reservation never has to be taken back because its request was wrong."""
    path = folder / "budget.db"
    caller = Caller(path, tenths=5)
    table = caller.session.table
    good = caller.request()
    assert caller.release(good, "taken") is None
    head = Ledger.open(path).head()
    other = dp.Schema(g=dp.Category(["x", "z"]))
    for call in (
        lambda: caller.session.release("no request", spend="0.1", name="n"),  # type: ignore[arg-type]
        lambda: caller.session.release(dp.Table(other, dp.AddRemove()).agg(dp.count()), spend="0.1", name="n"),
        lambda: caller.session.release(table.agg(dp.mean("v")), spend="0.1", name=""),
        lambda: caller.session.release(good, spend="0", name="n"),
        lambda: caller.session.release(good, spend="-1", name="n"),
        lambda: caller.session.release(good, spend="much", name="n"),
        lambda: caller.session.release(good, spend="0.5", name="n"),
        lambda: caller.session.release(good, spend="0.2", name="taken"),
        lambda: caller.session.release(table.agg(dp.count()), spend="0.1", name="taken"),
        lambda: caller.session.release_all([Order(good, "0.1", "n"), Order(good, "0.1", "n")]),
        lambda: caller.session.release_all([Order(good, "0.1", "n"), "no order"]),  # type: ignore[list-item]
        lambda: caller.session.release_all([Order(good, "0.1", "n"), Order(good, "0.4", "m")]),
    ):
        with pytest.raises(dp.DiscreetError) as refused:
            call()
        assert not isinstance(refused.value, dp.ReleaseFailed | dp.InternalError)
        assert Ledger.open(path).head() == head
    assert len(caller.engine.looks) == 1
    assert caller.settle() == 1


def test_a_source_that_is_gone_before_the_reservation_costs_nothing(folder: Path) -> None:
    FRAME.write_parquet(folder / "d.parquet")
    caller = Caller(folder / "budget.db", source=folder / "d.parquet")
    (folder / "d.parquet").unlink()
    assert isinstance(caller.release(caller.request()), dp.SourceError | OSError)
    assert caller.settle() == 0


@pytest.mark.parametrize("short", [True, False])
def test_between_the_reservation_and_the_data_comes_the_attempt_and_nothing_else(folder: Path, *, short: bool) -> None:
    """The data are opened when the attempt is on disk; what fails before that leaves all attempts that there are."""
    caller = Caller(folder / "budget.db")
    events: list[str] = []

    def noted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **options: Any) -> Any:
            events.append(name)
            answer = real(*values, **options)
            events.append(f"{name} done")
            return answer

        return call

    append = Transaction.append

    def appended(self: Transaction, entry: Any, **options: Any) -> None:
        append(self, entry, **options)
        events.append(entry.kind)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(caller.session._ledger, "reserve", noted("reserve", caller.session._ledger.reserve))
        patch.setattr(Transaction, "append", appended)
        patch.setattr(caller.engine, "aggregate", noted("aggregate", caller.engine.aggregate))
        patch.setattr(caller.engine, "snapshot", noted("snapshot", caller.engine.snapshot))
        patch.setattr(store_module.sqlite3, "connect", noted("connect", sqlite3.connect))
        patch.setattr(os, "open", noted("open", os.open))
        assert caller.release(caller.request(short=short)) is None
    assert events[0] == "snapshot"
    told = [event for event in events if event.split()[0] not in {"open", "connect"}]
    assert told[told.index("reserve done") + 1 :][:3] == ["reading", "aggregate", "aggregate done"]
    assert told.index("drawing") > told.index("aggregate done")
    assert caller.settle() == 1


def test_the_law_finds_a_session_that_breaks_it(folder: Path) -> None:
    """A session that looks before it has paid, and one whose failures say what went wrong."""
    caller = Caller(folder / "budget.db")
    request = caller.request()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Charging, "reserve", lambda *_, **__: [2])
        patch.setattr(caller.session._ledger, "attempt", lambda _: nullcontext())
        assert caller.release(request) is not None
    with pytest.raises(AssertionError, match="before they were charged"):
        caller.settle()
    caller.engine.looks.clear()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_module, "carry_out", lambda *_: dp.ReleaseFailed(SECRET))
        failure = caller.release(request)
    assert failure is not None
    with pytest.raises(AssertionError):
        require_constant_text(failure)


class LineFault:
    """The nth call or line of discreet's own code fails; `nth` < 0 only counts."""

    def __init__(self, event: str, nth: int) -> None:
        self.event, self.nth, self.seen, self.struck = event, nth, 0, False

    def _trace(self, frame: FrameType, event: str, _: object) -> object:
        if not frame.f_globals.get("__name__", "").startswith("discreet"):
            return None
        if event == self.event and (event == "call" or is_open_to_faults(frame)):
            self.seen += 1
            if self.seen - 1 == self.nth:
                self.struck = True
                raise (MemoryError, KeyboardInterrupt, ValueError, OSError)[self.nth % 4](SECRET)
        return self._trace if self.event == "line" else None

    @contextmanager
    def active(self) -> Iterator[LineFault]:
        sys.settrace(self._trace)
        try:
            yield self
        finally:
            sys.settrace(None)


def interrupted_at_every(
    folder: Path, event: str, *, stride: int, start: int = 0, short: bool = True, lives: int = 40
) -> Counter[str]:
    """What became of releases of which every `stride`th call or line failed, with one caller for `lives` of them."""
    outcomes: Counter[str] = Counter(faults=0)
    nth = start
    for life in itertools.count():
        caller = Caller(folder / f"{event}.{life}.db")
        request = caller.request(short=short)
        caller.session._ledger._store._patience = 0.1  # nobody else uses the file; see `let_go`
        for _ in range(lives):
            looks = len(caller.engine.looks)
            with LineFault(event, nth).active() as fault:
                failure = caller.release(request)
            if not fault.struck:
                assert failure is None, "".join(traceback.format_exception(failure))
                caller.settle()
                return outcomes
            outcomes["faults"] += 1
            outcomes[judged(failure, looked=len(caller.engine.looks) > looks)] += 1
            failure = None
            let_go(caller.path)
            nth += stride
        assert caller.release(request) is None, "a session that was hit goes on"
        caller.settle()
        caller.path.unlink()
    raise AssertionError


def let_go(path: Path) -> None:
    """The file is not locked: a connection that was hit in the very step that closes it is kept by its traceback alone."""
    if not path.exists():
        return
    for attempt in range(2):
        with closing(connected(path, timeout=0, isolation_level=None)) as connection, suppress(sqlite3.OperationalError):
            connection.execute("BEGIN IMMEDIATE")
            return
        assert attempt == 0, "the ledger is still locked"
        gc.collect()


def judged(failure: BaseException | None, *, looked: bool) -> str:
    """How a release ended that was hit: nothing of the data is in its error."""
    if failure is None:
        return "went on"
    if not looked:
        return "failed before the data"
    if isinstance(failure, dp.ReleaseFailed):
        require_constant_text(failure)
        return "constant failure"
    private = {frame.f_code.co_name for frame, _ in traceback.walk_tb(failure.__traceback__)} & {"_compute", "publish"}
    assert isinstance(failure, KeyboardInterrupt) or not private, "an error leads into frames with private numbers"
    return "interrupted" if isinstance(failure, KeyboardInterrupt) else f"{type(failure).__name__} after the data"


# A generator that is hit while it is being thrown away has nobody to tell.
@pytest.mark.one_in(4)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("event", "stride", "short"), [("call", 61, True), ("line", 211, True), ("line", 401, False)])
def test_some_calls_and_lines_of_a_release_fail(
    folder: Path, tally: Counter[str], event: str, stride: int, *, short: bool
) -> None:
    tally.update(interrupted_at_every(folder, event, stride=stride, short=short))


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("event", "stride", "start", "short"),
    [("call", 1, 0, True), ("line", 2, 0, True), ("line", 2, 1, True), ("call", 2, 0, False), ("line", 10, 0, False)],
)
def test_every_call_and_most_lines_of_a_release_fail(
    folder: Path, tally: Counter[str], event: str, stride: int, start: int, *, short: bool
) -> None:
    tally.update(interrupted_at_every(folder, event, stride=stride, start=start, short=short))


@pytest.mark.one_in(9)
@pytest.mark.parametrize(
    "wrong",
    [MemoryError, OSError, ValueError, ZeroDivisionError, RecursionError, SystemError, dp.LedgerError, dp.SourceError],
)
@pytest.mark.parametrize("place", ["aggregate", "snapshot", "bits", "source of bits"])
def test_a_fault_of_the_engine_or_of_the_random_bits_is_one_constant_failure(
    folder: Path, tally: Counter[str], wrong: type[Exception], place: str
) -> None:
    caller = Caller(folder / "budget.db")
    calls = itertools.count()

    def fails(*_: Any) -> Any:
        if place == "snapshot" and next(calls) == 0:
            return "before the reservation"
        raise wrong(SECRET)

    with pytest.MonkeyPatch.context() as patch:
        if place in ("aggregate", "snapshot"):
            patch.setattr(caller.engine, place, fails)
        else:
            patch.setattr(caller.session, "_bits", fails if place == "bits" else lambda: Bits(fails))
        failure = caller.release(caller.request())
    assert failure is not None
    require_constant_text(failure)
    ended = ["reading"] if place in {"aggregate", "snapshot"} else ["reading", "drawing", "fail"]
    with Ledger.open(caller.path) as ledger:
        assert [entry.kind for entry in ledger.entries("d")] == ["dataset", "reserve", *ended]
    assert caller.release(caller.request()) is None, "the next release goes on"
    assert caller.settle() == 2
    tally["faults"] += 1


DAMAGES: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda cube: None,
    "no cells": lambda cube: type(cube)(cube.keys[:0], cube.rows[:0], cube.nonnull[:0], cube.sums[:0]),
    "a key outside": lambda cube: type(cube)(cube.keys + 10**6, cube.rows, cube.nonnull, cube.sums),
    "another number of keys": lambda cube: type(cube)(cube.keys[:, :0], cube.rows, cube.nonnull, cube.sums),
    "text": lambda cube: SECRET,
}


@pytest.mark.parametrize("damage", DAMAGES, ids=str)
def test_a_cube_that_no_engine_would_bring_is_charged_and_says_nothing(
    folder: Path, tally: Counter[str], damage: str
) -> None:
    caller = Caller(folder / "budget.db")
    caller.engine.damage = DAMAGES[damage]
    failure = caller.release(caller.request())
    if failure is not None:
        require_constant_text(failure)
    assert caller.settle() == 1
    tally["faults"] += 1


def reads_failing_in_turn(folder: Path, *, short: bool) -> int:
    """Every read of random bits fails, or is cut short, one after the other; how many did."""
    caller = Caller(folder / f"bits {short}.db")
    request = caller.request(short=short)
    for nth in itertools.count():
        reads = itertools.count()
        good = system_bits()

        def read(count: int, good: Bits = good, reads: Iterator[int] = reads, nth: int = nth) -> bytes:
            if next(reads) != nth:
                return good.read(count)
            if nth % 2:
                return good.read(count)[:-1]
            raise OSError(errno.EAGAIN, SECRET)

        caller.session._bits = lambda read=read: Bits(read)  # type: ignore[assignment, misc]
        failure = caller.release(request)
        assert caller.settle() == nth + 1
        if failure is None:
            return nth
        require_constant_text(failure)
    raise AssertionError


@pytest.mark.parametrize("short", [True, False])
def test_every_read_of_random_bits_fails_in_turn(folder: Path, tally: Counter[str], *, short: bool) -> None:
    faults = reads_failing_in_turn(folder, short=short)
    assert faults >= 1
    tally["faults"] += faults


def statements_failing(folder: Path, first: int, stride: int) -> int:
    """Statements of whole releases fail in turn, before or after they were done; how many did."""
    caller = Caller(folder / f"{first}.{stride}.db")
    request = caller.request()
    for nth in itertools.count(first, stride):
        seen = itertools.count()

        class Faulty(sqlite3.Connection):
            def execute(self, sql: str, *values: Any, nth: int = nth, seen: Iterator[int] = seen) -> Any:  # type: ignore[override]
                number = next(seen)
                if number == nth and nth % 2:
                    super().execute(sql, *values)
                # Every fourth fault lasts: the ledger can no longer be written when the release is to be marked as failed.
                if number == nth or (nth % 4 > 1 and number > nth):
                    raise sqlite3.OperationalError(SECRET)
                return super().execute(sql, *values)

        def connect(*values: Any, made: type[sqlite3.Connection] = Faulty, **options: Any) -> sqlite3.Connection:
            return connected(*values, **{**options, "factory": made})

        looked = len(caller.engine.looks)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store_module.sqlite3, "connect", connect)
            failure = caller.release(request)
        if next(seen) <= nth:
            assert failure is None
            caller.settle()
            return (nth - first) // stride
        if failure is not None and len(caller.engine.looks) > looked:
            require_constant_text(failure)
        elif failure is not None:
            assert isinstance(failure, dp.LedgerError) or str(failure) == dp.ReleaseFailed.UNFINISHED
        caller.settle()
    raise AssertionError


def test_some_statements_of_a_release_fail(folder: Path, tally: Counter[str]) -> None:
    tally["faults"] += statements_failing(folder, 1, 7)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", [0, 1])
def test_every_statement_of_a_release_fails_in_turn(folder: Path, tally: Counter[str], first: int) -> None:
    tally["faults"] += statements_failing(folder, first, 2)
