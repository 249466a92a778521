"""Whole releases under fire: the engine, random bits, ledger, files and every line in between fail; processes die and race.

The law in every test: rows are looked at only after a charge for them is on disk, what was given away is what was charged
and committed, the total never exceeds the budget, and whatever fails afterwards says one constant text. Faults, kills and
races are counted and shown: `pytest -m slow tests/hostile/test_release_faults.py` has the full numbers.
"""

from __future__ import annotations

import errno
import gc
import itertools
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from sqlite3 import connect as connected  # goes on working while `sqlite3.connect` fails
from types import FrameType
from typing import Any

import polars as pl
import pytest

import discreet as dp
import discreet.quotes.allocate  # with the next, loaded before children are forked
import discreet.releases.publish
from discreet.ledger import Ledger
from discreet.ledger import drafts as drafts_module
from discreet.ledger import store as store_module
from discreet.noise.bits import Bits, system_bits
from discreet.session.orders import Order

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 100))
FRAME = pl.DataFrame({"g": ["x", "y", None, "z"] * 5, "v": [*range(19), None]})
SOURCE = "d.parquet"  # read by children of a fork: what reads it starts no threads before
SECRET = "the value 42"  # noqa: S105 - what no error may show
WON, REFUSED, BROKEN = 0, 3, 9


TALLIED = "releases"


class Watched:
    """An engine that writes down every look at rows, and how many charges were on disk at that moment."""

    def __init__(self, engine: Any, path: Path) -> None:
        self._engine, self._path = engine, path
        self.header = engine.header
        self.looks: list[int] = []
        self.damage: Callable[[Any], Any] = lambda cube: cube

    def snapshot(self) -> str:
        return str(self._engine.snapshot())

    def aggregate(self, axes: Any, moments: Any) -> Any:
        self.looks.append(charges(self._path))
        return self.damage(self._engine.aggregate(axes, moments))

    def close(self) -> None:
        self._engine.close()


def charges(path: Path) -> int:
    """How many reservations are on disk, read without the ledger's own code."""
    if not path.exists():
        return 0
    with closing(connected(path)) as connection:
        (found,) = connection.execute('SELECT count(*) FROM entries WHERE body LIKE \'%"kind":"reserve"%\'').fetchone()
    return int(found)


class Caller:
    """Somebody who releases again and again at 1/10 each, keeps what was given away, and looks at the ledger afterwards."""

    def __init__(self, path: Path, tenths: int = 10**6, source: Any = FRAME) -> None:
        self.path, self.tenths, self.source = path, tenths, source
        self.names = (f"release {number}" for number in itertools.count())
        self.given: dict[str, dp.Release] = {}
        self.tried: list[str] = []
        self.failures: list[BaseException] = []
        self.session = self.open()

    def open(self) -> dp.Session:
        session = dp.Session(
            self.source,
            SCHEMA,
            dataset="d",
            ledger=self.path,
            budget=dp.PureDP(Fraction(self.tenths, 10)),
            neighbours=dp.AddRemove(),
        )
        self.engine = Watched(session._engine, self.path)
        session._engine = self.engine  # type: ignore[assignment]
        return session

    def request(self, *, short: bool = True) -> Any:
        if short:
            return self.session.table.group_by("g").agg(dp.count())
        return self.session.table.impute({"v": dp.Uniform()}).group_by("g").agg(dp.count(), dp.mean("v"))

    def release(self, request: Any, name: str | None = None) -> BaseException | None:
        """The release is among `given`; or the error."""
        name = name or next(self.names)
        self.tried.append(name)
        try:
            self.given[name] = self.session.release(request, spend="0.1", name=name)
        except BaseException as error:
            sys.settrace(None)
            return error
        return None

    def settle(self) -> int:
        """The charges that are on disk, after all that must be true was looked at."""
        while store_module._GATE._is_owned():  # type: ignore[attr-defined]  # see test_ledger_faults: only tracing does that
            store_module._GATE.release()
        before = 0
        for on_disk in self.engine.looks:
            assert on_disk > before, "rows were looked at before they were charged"
            before = on_disk
        if not self.path.exists():
            assert not self.given
            return 0
        with Ledger.open(self.path) as ledger:
            found = ledger.verify()
            assert found.intact, found.problem
            reserved = [entry for entry in ledger.entries() if entry.kind == "reserve"]
            assert all(entry.charge == (Fraction(1, 10),) for entry in reserved)
            assert dict(found.spent).get("d", (0,)) == (Fraction(len(reserved), 10),)
            assert len(reserved) <= self.tenths, "overspent"
            assert {entry.name for entry in reserved} <= set(self.tried)
            assert len(reserved) >= len(self.engine.looks)
            for name, release in self.given.items():
                stored = ledger.stored(ledger.identity("d"), name)
                assert stored is not None, "given away and not charged"
                assert (stored.state, stored.payload) == ("committed", release.payload)
        return len(reserved)


def require_constant_text(failure: BaseException) -> None:
    """A failure after the reservation says nothing of what went wrong, not even through its context."""
    assert isinstance(failure, dp.ReleaseFailed)
    assert SECRET not in "".join(traceback.format_exception(failure))
    assert failure.__context__ is failure.__cause__ is None


# What may fail before the reservation, and what comes after it ---------------------------------------------------------


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
def test_nothing_fallible_comes_between_the_reservation_and_the_data(folder: Path, *, short: bool) -> None:
    """No file, connection or row is touched in between, so there is no moment at which a charge could be taken back."""
    caller = Caller(folder / "budget.db")
    events: list[str] = []

    def noted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **options: Any) -> Any:
            events.append(name)
            answer = real(*values, **options)
            events.append(f"{name} done")
            return answer

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(caller.session._ledger, "reserve", noted("reserve", caller.session._ledger.reserve))
        patch.setattr(caller.engine, "aggregate", noted("aggregate", caller.engine.aggregate))
        patch.setattr(caller.engine, "snapshot", noted("snapshot", caller.engine.snapshot))
        patch.setattr(store_module.sqlite3, "connect", noted("connect", sqlite3.connect))
        patch.setattr(os, "open", noted("open", os.open))
        assert caller.release(caller.request(short=short)) is None
    after = events[events.index("reserve done") + 1 :]
    assert after[0] == "aggregate"
    assert events[0] == "snapshot"
    assert caller.settle() == 1


# Faults ---------------------------------------------------------------------------------------------------------------


def test_the_law_finds_a_session_that_breaks_it(folder: Path) -> None:
    """A session that looks before it has paid, and one whose failures say what went wrong."""
    caller = Caller(folder / "budget.db")
    request = caller.request()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(caller.session, "_reserved", lambda reservations: (2,))
        assert caller.release(request) is not None
    with pytest.raises(AssertionError, match="before they were charged"):
        caller.settle()
    caller.engine.looks.clear()

    def answered(*_: Any, snapshot: str) -> Any:
        return dp.ReleaseFailed(SECRET)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(caller.session, "_answered", answered)
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
        if event == self.event:
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
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("event", "stride", "short"), [("call", 61, True), ("line", 211, True), ("line", 401, False)])
def test_some_calls_and_lines_of_a_release_fail(
    folder: Path, tally: Counter[str], event: str, stride: int, *, short: bool
) -> None:
    tally.update(interrupted_at_every(folder, event, stride=stride, short=short))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("event", "stride", "start", "short"),
    [("call", 1, 0, True), ("line", 2, 0, True), ("line", 2, 1, True), ("call", 2, 0, False), ("line", 10, 0, False)],
)
def test_every_call_and_most_lines_of_a_release_fail(
    folder: Path, tally: Counter[str], event: str, stride: int, start: int, *, short: bool
) -> None:
    tally.update(interrupted_at_every(folder, event, stride=stride, start=start, short=short))


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
    with Ledger.open(caller.path) as ledger:
        assert [entry.kind for entry in ledger.entries("d")] == ["dataset", "reserve", "fail"]
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
            assert isinstance(failure, dp.LedgerError)
        caller.settle()
    raise AssertionError


def test_some_statements_of_a_release_fail(folder: Path, tally: Counter[str]) -> None:
    tally["faults"] += statements_failing(folder, 1, 7)


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 1])
def test_every_statement_of_a_release_fails_in_turn(folder: Path, tally: Counter[str], first: int) -> None:
    tally["faults"] += statements_failing(folder, first, 2)


# Disks, files, clocks ---------------------------------------------------------------------------------------------------


def forked(work: Callable[[], int]) -> int:
    """The process id of a child that runs `work` and exits with its result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other libraries have started threads
        child = os.fork()
    if child:
        return child
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
        code = BROKEN
    os._exit(code)


def outcome(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def at_most(what: int, most: int) -> Iterator[None]:
    """This process may not have more of something."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(what)
    resource.setrlimit(what, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(what, before)


def alone(folder: Path, work: str, *values: int) -> int:
    """What a function of this file gives in a process of its own, which has no threads yet and so may fork safely."""
    FRAME.write_parquet(folder / SOURCE)
    return int(spawned(folder, work, *values))


def spawned(folder: Path, work: str, *values: int) -> str:
    """What a function of this file gives in a fresh process, as text."""
    code = "import runpy, sys; from pathlib import Path; found = runpy.run_path(sys.argv[1])"
    code += "; print(found[sys.argv[2]](Path(sys.argv[3]), *map(int, sys.argv[4:])))"
    command = [sys.executable, "-c", code, __file__, work, str(folder), *map(str, values)]
    run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def released_on_a_small_disk(folder: Path, size: int) -> int:
    def child() -> int:
        caller = Caller(folder / f"{size}.db", source=folder / SOURCE)
        request = caller.request()
        with at_most(resource.RLIMIT_FSIZE, size):
            failure = caller.release(request)
        if failure is not None and caller.engine.looks:
            require_constant_text(failure)
        elif failure is not None:
            assert isinstance(failure, dp.LedgerError)
        caller.settle()
        assert caller.release(request) is None
        caller.settle()
        return WON if failure is None else REFUSED

    return outcome(forked(child))


def small_disks(folder: Path, step: int) -> int:
    """How many sizes were too small for a ledger and a release."""
    outcomes = [released_on_a_small_disk(folder, size) for size in range(0, 80_001, step)]
    assert outcomes[0] == REFUSED
    assert outcomes[-1] == WON
    assert set(outcomes) == {REFUSED, WON}
    return outcomes.count(REFUSED)


@pytest.mark.slow
def test_a_release_on_a_disk_that_is_full_at_any_size(folder: Path, tally: Counter[str]) -> None:
    tally["faults"] += alone(folder, "small_disks", 400)


SAVE_CALLS = ("open", "close", "mkdir", "rename", "replace", "unlink", "chmod", "write", "fsync", "stat")


def saves_failing(release: dp.Release, folder: Path) -> int:
    """Every file call of `save` fails in turn, over an older release that was saved in the same folder; how many did."""
    for nth in itertools.count():
        place = folder / str(nth)
        release.save(place)
        older = {path.name: path.read_bytes() for path in place.iterdir()}
        seen = itertools.count()

        def failing(real: Callable[..., Any], nth: int = nth, seen: Iterator[int] = seen) -> Callable[..., Any]:
            def call(*values: Any, **options: Any) -> Any:
                if next(seen) == nth:
                    raise OSError((errno.ENOSPC, errno.EIO, errno.EACCES)[nth % 3], "injected")
                return real(*values, **options)

            return call

        failure: BaseException | None = None
        with pytest.MonkeyPatch.context() as patch:
            for name in SAVE_CALLS:
                patch.setattr(os, name, failing(getattr(os, name)))
            try:
                release.save(place)
            except dp.ArgumentError as error:
                failure = error
        struck = next(seen) > nth
        assert struck or failure is None
        assert dp.Release.load(place) == release
        found = {path.name: path.read_bytes() for path in place.iterdir() if not path.name.startswith(".")}
        assert found == older, "a file is neither the old nor the new one"
        shutil.rmtree(place)
        if not struck:
            return nth
    raise AssertionError


def test_every_file_call_of_save_fails_in_turn(folder: Path, tally: Counter[str]) -> None:
    caller = Caller(folder / "budget.db")
    assert caller.release(caller.request(), "r") is None
    faults = saves_failing(caller.given["r"], folder)
    assert faults > 10
    assert caller.settle() == 1
    tally["faults"] += faults


def test_a_release_that_could_not_be_saved_is_given_back_and_saved_later(folder: Path, tally: Counter[str]) -> None:
    caller = Caller(folder / "budget.db")
    assert caller.release(caller.request(), "r") is None
    (folder / "file").write_text("no folder")
    with pytest.raises(dp.ArgumentError, match="cannot be written"):
        caller.given["r"].save(folder / "file")
    caller.session.close()
    caller.session = caller.open()
    assert caller.release(caller.request(), "r") is None
    caller.given["r"].save(folder / "out")
    assert dp.Release.load(folder / "out") == caller.given["r"]
    assert caller.settle() == 1
    tally["faults"] += 1


def test_a_retry_gives_the_stored_release_back_only_if_its_bytes_verify(folder: Path, tally: Counter[str]) -> None:
    caller = Caller(folder / "budget.db")
    request = caller.request()
    assert caller.release(request, "r") is None
    payload, content = caller.given["r"].payload, caller.path.read_bytes()
    start = content.index(payload[:200])
    dice = random.Random(1)  # noqa: S311 - reproducible
    for _ in range(20):
        place = start + dice.randrange(min(len(payload), 200))
        damaged = bytearray(content)
        damaged[place] ^= 1 << dice.randrange(8)
        caller.path.write_bytes(damaged)
        failure = caller.release(request, "r")
        assert isinstance(failure, dp.LedgerError)
        assert "damaged copy of the release 'r'" in str(failure)
        assert caller.engine.looks == [1]
        tally["faults"] += 1
    caller.path.write_bytes(content)
    assert caller.release(request, "r") is None
    assert caller.given["r"].payload == payload
    assert caller.settle() == 1


def test_no_release_depends_on_a_clock_that_jumps(
    folder: Path, tally: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(2)  # noqa: S311 - reproducible
    real = drafts_module.datetime

    class Clock:
        @classmethod
        def now(cls, zone: object) -> object:
            tally["faults"] += 1
            if dice.random() < 0.2:
                raise OverflowError(SECRET)
            return real(dice.randint(1, 9999), 1, 1, tzinfo=zone)  # type: ignore[arg-type]

    caller = Caller(folder / "budget.db", tenths=5)
    monkeypatch.setattr(drafts_module, "datetime", Clock)
    for name in ("time", "time_ns", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: dice.randint(-(10**12), 10**12))
    for _ in range(5):
        assert caller.release(caller.request()) is None
    assert isinstance(caller.release(caller.request()), dp.BudgetExceeded)
    assert caller.settle() == 5


# Processes --------------------------------------------------------------------------------------------------------------


def work_of(caller: Caller, name: str) -> int:
    failure = caller.release(caller.request(), name)
    assert failure is None or isinstance(failure, dp.BudgetExceeded)
    return WON if failure is None else REFUSED


def check_race(path: Path, outcomes: list[int], tenths: int) -> None:
    """As many racers got 1/10 as there were tenths, and each of them a release of its own."""
    assert sorted(outcomes) == [WON] * tenths + [REFUSED] * (len(outcomes) - tenths)
    with Ledger.open(path) as ledger:
        assert ledger.verify().intact
        assert ledger.remaining("d") == (0,)
        names = [entry.name for entry in ledger.entries() if entry.kind == "commit"]
        stored = [ledger.stored(ledger.identity("d"), name) for name in names]
        assert len({one.payload for one in stored if one is not None}) == tenths


def races_of_processes(folder: Path, races: int, racers: int) -> int:
    for number in range(races):
        path, tenths = folder / f"race {number}.db", 1 + number % (racers - 1)
        gate, opener = os.pipe()

        def child(name: str, path: Path = path, tenths: int = tenths, gate: int = gate, opener: int = opener) -> int:
            os.close(opener)
            caller = Caller(path, tenths, folder / SOURCE)
            os.read(gate, 1)  # returns at the end of file, for all at once
            return work_of(caller, name)

        children = [forked(lambda name=f"racer {racer}", child=child: child(name)) for racer in range(racers)]  # type: ignore[misc]
        os.close(gate)
        time.sleep(0.02)
        os.close(opener)
        check_race(path, [outcome(one) for one in children], tenths)
    return races


def race_of_threads(path: Path, racers: int, tenths: int) -> None:
    callers = [Caller(path, tenths) for _ in range(racers)]
    won: list[int] = []
    running = [
        threading.Thread(target=lambda c=caller, n=f"racer {number}": won.append(work_of(c, n)))  # type: ignore[misc]
        for number, caller in enumerate(callers)
    ]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    check_race(path, won, tenths)
    for caller in callers:
        caller.session.close()


def test_sessions_that_race_in_threads_for_the_last_of_a_budget(folder: Path, tally: Counter[str]) -> None:
    race_of_threads(folder / "budget.db", 6, 2)
    tally["races"] += 1


@pytest.mark.slow
def test_many_races_of_sessions(folder: Path, tally: Counter[str]) -> None:
    for number in range(50):
        race_of_threads(folder / f"{number}.db", 8, 1 + number % 7)
    tally["races"] += 50 + alone(folder, "races_of_processes", 50, 8)


def killed_while_releasing(folder: Path, rounds: int, seed: int) -> int:
    """A child releases again and again until it is killed; what it was given and told is charged and stored."""
    dice = random.Random(seed)  # noqa: S311 - reproducible
    for life in range(rounds):
        path = folder / f"{seed}.{life // 4}.db"
        reading, writing = os.pipe()

        def child(path: Path = path, life: int = life, writing: int = writing) -> int:
            caller = Caller(path, source=folder / SOURCE)
            for number in itertools.count():
                name = f"{life}.{number}"
                assert caller.release(caller.request(), name) is None
                os.write(writing, f"{name} {caller.given[name].digest}\n".encode())
            return BROKEN

        before = charges(path)
        victim = forked(child)
        os.close(writing)
        time.sleep(dice.uniform(0, 0.15))
        os.kill(victim, signal.SIGKILL)
        assert outcome(victim) == -signal.SIGKILL
        with os.fdopen(reading) as pipe:
            told = [line.split(" ") for line in pipe.read().splitlines()]
        check_what_was_told(path, told, before)
    return rounds


def check_what_was_told(path: Path, told: list[list[str]], before: int) -> None:
    if not path.exists():
        assert not told
        return
    with Ledger.open(path) as ledger:
        found = ledger.verify()
        assert found.intact, found.problem
        reserved = sum(entry.kind == "reserve" for entry in ledger.entries())
        assert reserved - before in (len(told), len(told) + 1), "more or less was charged than was given away"
        assert dict(found.spent).get("d", (0,)) == (Fraction(reserved, 10),)
        for name, digest in told:
            stored = ledger.stored(ledger.identity("d"), name)
            assert stored is not None
            assert dp.Release(stored.payload).digest == digest


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_many_sessions_that_are_killed_lose_no_charge(folder: Path, tally: Counter[str], seed: int) -> None:
    tally["kills"] += alone(folder, "killed_while_releasing", 60, seed)


def counts(folder: Path, number: int, bits: Bits | None = None) -> str:
    """The counts of a release at ε = 1e-9: equal counts would be equal noise."""
    caller = Caller(folder / f"draw {number}.db", source=folder / SOURCE)
    if bits is not None:
        caller.session._bits = lambda: bits
    release = caller.session.release(caller.request(), spend="1e-9", name="r")
    return str(release.document["columns"][1]["values"])


def noise_after_a_draw(folder: Path, children: int, fresh: int) -> int:
    """Children of a fork that go on with a stream that was drawn from, their parent, and fresh processes all differ."""
    bits = system_bits()
    bits.read(1000)
    reading, writing = os.pipe()
    for number in range(children):

        def child(number: int = number) -> int:
            os.write(writing, f"{counts(folder, number, bits)}\n".encode())
            return WON

        assert outcome(forked(child)) == WON
    os.close(writing)
    with os.fdopen(reading) as pipe:
        drawn = pipe.read().splitlines()
    drawn.append(counts(folder, children, bits))
    drawn += [spawned(folder, "counts", children + 1 + number) for number in range(fresh)]
    assert len(set(drawn)) == len(drawn) == children + 1 + fresh, drawn
    return len(drawn)


@pytest.mark.slow
def test_children_of_a_fork_and_spawned_processes_draw_noise_of_their_own(folder: Path) -> None:
    assert alone(folder, "noise_after_a_draw", 8, 4) == 13


def few_of_each(folder: Path) -> int:
    """What the slow tests do many times, a few times, in one process."""
    assert small_disks(folder, 40_000) > 0
    return killed_while_releasing(folder, 10, seed=0) + races_of_processes(folder, 2, 4) + noise_after_a_draw(folder, 2, 0)


def test_sessions_are_killed_race_have_no_room_and_draw_after_a_fork(folder: Path, tally: Counter[str]) -> None:
    assert alone(folder, "few_of_each") == 10 + 2 + 3
    tally.update({"faults": 2, "kills": 10, "races": 2})
