"""The ledger under fire: races, killed processes, failing calls, full disks, damaged, shortened and older files.

The law in every test: what was acknowledged is on disk, the total never exceeds the budget, and a ledger that was not
left as it was written is refused or still shows at least what was spent. Every fault, kill and race is counted, and the
counts are shown when the file is through: `pytest -m slow tests/hostile/test_ledger_faults.py` has the full numbers.
"""

from __future__ import annotations

import errno
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from discreet.errors import BudgetExceeded, DiscreetError, LedgerError
from discreet.ledger import Identity, Ledger, Publication, Reservation
from discreet.ledger import account as account_module
from discreet.ledger import drafts as drafts_module
from discreet.ledger import store as store_module

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

UNIT = Fraction(1, 1000)
WON, REFUSED, BROKEN = 0, 3, 9
BROKEN_RACE = 100


def identity(units: int = 1000, dataset: str = "wages") -> Identity:
    return Identity(dataset, '{"n":1}', "pure", (units * UNIT,))


def asks(name: str, units: int = 1) -> Reservation:
    return Reservation(name, (units * UNIT,), "plan", b"source")


def with_totals(units: int = 1000, dataset: str = "totals") -> Identity:
    return Identity(dataset, '{"invariants":["n"]}', "pure", (units * UNIT,))


TOTALS = Publication("exact totals", "plan", b"source")


TALLIED = "ledger"


@pytest.fixture
def tmp_path(folder: Path) -> Path:
    """Every file of these tests lies in memory, if it can."""
    return folder


def units_spent(path: Path, dataset: str = "wages") -> Fraction:
    with Ledger.open(path) as ledger:
        return ledger.spent(dataset)[0] / UNIT if dataset in ledger.datasets() else Fraction(0)


def forked(work: Callable[[], int]) -> int:
    """The process id of a child that runs `work` and exits with its result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other libraries may have started threads
        child = os.fork()
    if child:
        return child
    try:
        code = work()
    except BaseException:
        code = BROKEN
    os._exit(code)


def outcome(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def inside(work: Callable[[], int]) -> int:
    return outcome(forked(work))


# Races --------------------------------------------------------------------------------------------------------------


def race(path: Path, processes: int, units: int, shared: Ledger | None = None, *, threads: int = 1) -> list[int]:
    """All threads of all processes ask for one unit at the same moment; their outcomes."""
    gate, opener = os.pipe()

    def ask(name: str) -> int:
        try:
            ledger = shared or Ledger.open(path)
            (sequence,) = ledger.reserve(identity(units), [asks(name)])
            ledger.commit(sequence, name.encode())
        except BudgetExceeded:
            return REFUSED
        except BaseException:
            return BROKEN
        return WON

    def work(number: int) -> int:
        """How many threads won, or BROKEN_RACE."""
        os.close(opener)
        os.read(gate, 1)  # returns at the end of file, for all at once
        outcomes = together([lambda name=f"r{number}.{thread}": ask(name) for thread in range(threads)])  # type: ignore[misc]
        return BROKEN_RACE if BROKEN in outcomes else outcomes.count(WON)

    children = [forked(lambda number=number: work(number)) for number in range(processes)]  # type: ignore[misc]
    os.close(gate)
    os.close(opener)
    winners = [outcome(child) for child in children]
    assert max(winners) < BROKEN_RACE
    return [WON] * sum(winners) + [REFUSED] * (processes * threads - sum(winners))


def together(calls: list[Callable[[], int]]) -> list[int]:
    """The outcomes of the calls, each in a thread of its own unless there is one only."""
    if len(calls) == 1:
        return [calls[0]()]
    outcomes: list[int] = []
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], int]) -> None:
        barrier.wait()
        outcomes.append(call())

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


@pytest.mark.parametrize("units", [1, 5])
def test_processes_that_race_for_the_first_units_of_a_new_file(tmp_path: Path, units: int) -> None:
    path = tmp_path / "budget.db"
    assert race(path, 16, units) == [WON] * units + [REFUSED] * (16 - units)
    assert units_spent(path) == units
    assert list(tmp_path.iterdir()) == [path]


def test_processes_that_race_for_the_last_unit(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(10), [asks("all but one", 9)])
    assert race(path, 16, 10) == [WON] + [REFUSED] * 15
    assert units_spent(path) == 10


def test_a_ledger_that_was_open_before_the_fork_goes_on_in_parent_and_children(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(5), [asks("parent")])
        assert race(path, 8, 5, shared=ledger) == [WON] * 4 + [REFUSED] * 4
        assert ledger.spent("wages") == (5 * UNIT,)
        with pytest.raises(BudgetExceeded):
            ledger.reserve(identity(5), [asks("more")])


def test_a_fork_while_other_threads_are_spending(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        stop = threading.Event()

        def spend(thread: int) -> None:
            number = 0
            while not stop.is_set():
                number += 1
                ledger.reserve(identity(10**6), [asks(f"{thread}.{number}")])

        threads = [threading.Thread(target=spend, args=(thread,)) for thread in range(2)]
        for thread in threads:
            thread.start()

        def child(number: int) -> int:
            ledger.reserve(identity(10**6), [asks(f"child {number}")])
            return WON

        outcomes = [inside(lambda number=number: child(number)) for number in range(8)]  # type: ignore[misc]
        stop.set()
        for thread in threads:
            thread.join()
        assert outcomes == [WON] * 8
        assert ledger.verify().intact
        assert {f"child {number}" for number in range(8)} <= {entry.name for entry in ledger.entries("wages")}


def test_a_ledger_in_memory_is_refused_in_a_child_that_has_the_id_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 4711)
    with Ledger.open(":memory:") as ledger:

        def child() -> int:
            try:
                ledger.reserve(identity(), [asks("b")])
            except LedgerError:
                return REFUSED
            return WON

        assert inside(child) == REFUSED
        ledger.reserve(identity(), [asks("b")])


def test_a_ledger_in_memory_is_refused_after_a_fork(tmp_path: Path) -> None:
    with Ledger.open(":memory:") as ledger:
        ledger.reserve(identity(), [asks("a")])

        def child() -> int:
            try:
                ledger.reserve(identity(), [asks("b")])
            except LedgerError:
                ledger.close()
                return REFUSED
            return WON

        assert inside(child) == REFUSED
        assert ledger.spent("wages") == (UNIT,)


def test_processes_that_race_to_publish_exact_totals(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"

    def work(number: int) -> int:
        try:
            ledger = Ledger.open(path)
            ledger.commit(ledger.publish(with_totals(), TOTALS), b"%d" % number)
        except LedgerError as error:
            return REFUSED if "published already" in str(error) else BROKEN
        return WON

    children = [forked(lambda number=number: work(number)) for number in range(8)]  # type: ignore[misc]
    outcomes = [outcome(child) for child in children]
    assert sorted(outcomes) == [WON] + [REFUSED] * 7
    with Ledger.open(path) as ledger:
        found = ledger.published(with_totals())
        assert found is not None
        assert found.payload == b"%d" % outcomes.index(WON)
        assert ledger.verify().intact


@pytest.mark.parametrize(("processes", "threads"), [(1, 16), (4, 4)])
def test_threads_that_race_in_one_process_and_in_several(
    tmp_path: Path, tally: Counter[str], processes: int, threads: int
) -> None:
    raced(tmp_path, tally, processes, threads, seed=0)


def raced(folder: Path, tally: Counter[str], processes: int, threads: int, seed: int) -> None:
    """One race for fewer units than there are racers, on a new file or for the rest of an old one."""
    dice = random.Random(f"{processes} {threads} {seed}")  # noqa: S311 - reproducible
    racers, path = processes * threads, folder / f"{processes}.{threads}.{seed}.db"
    units = dice.randint(1, racers)
    spent = 0
    if dice.random() < 0.5:
        spent = dice.randint(1, 5)
        with Ledger.open(path) as ledger:
            ledger.reserve(identity(units + spent), [asks("before", spent)])
    assert race(path, processes, units + spent, threads=threads) == [WON] * units + [REFUSED] * (racers - units)
    with Ledger.open(path) as ledger:
        found = ledger.verify()
        assert found.intact, found.problem
        assert dict(found.spent) == {"wages": ((units + spent) * UNIT,)}
        assert sum(entry.kind == "commit" for entry in ledger.entries("wages")) == units
    path.unlink()
    tally["races"] += 1
    tally["racers"] += racers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processes", "threads", "races"), [(64, 1, 50), (1, 64, 50), (8, 8, 50), (8, 1, 400), (1, 8, 300), (2, 4, 200)]
)
def test_a_thousand_races(tmp_path: Path, tally: Counter[str], processes: int, threads: int, races: int) -> None:
    for seed in range(races):
        raced(tmp_path, tally, processes, threads, seed)


# Killed processes ---------------------------------------------------------------------------------------------------


def spend_until_killed(path: Path, life: str, acknowledge: int) -> int:
    """Publishes totals, reserves pairs and commits every first, acknowledging each step after the call has returned."""
    ledger = Ledger.open(path)
    number, who = 0, with_totals(10**6)
    if ledger.published(who) is None:
        ledger.commit(ledger.publish(who, TOTALS), b"totals" * 3000)
        os.write(acknowledge, b"published totals\n")
    while True:
        number += 1
        first, _ = ledger.reserve(who, [asks(f"{life}.{number}.a"), asks(f"{life}.{number}.b")])
        os.write(acknowledge, f"reserved {life}.{number}\n".encode())
        ledger.commit(first, f"{life}.{number}".encode() * 3000)
        os.write(acknowledge, f"committed {life}.{number}\n".encode())


def kill_at_random(path: Path, life: str, seconds: float) -> list[str]:
    """What a child acknowledged before it was killed."""
    reading, writing = os.pipe()
    child = forked(lambda: spend_until_killed(path, life, writing))
    os.close(writing)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    assert outcome(child) == -signal.SIGKILL
    with os.fdopen(reading) as pipe:
        return pipe.read().splitlines()


def check_after_kill(path: Path, acknowledged: list[str], before: Fraction, life: str) -> Fraction:
    with Ledger.open(path) as ledger:
        found = ledger.verify()
        assert found.intact, found.problem
        published = ledger.published(with_totals(10**6))
        if published is None:
            assert not acknowledged
            return Fraction(0)
        assert published.payload == b"totals" * 3000
        acknowledged = [line for line in acknowledged if line != "published totals"]
        names = {entry.name for entry in ledger.entries("totals") if entry.kind == "reserve"}
        ours = {name for name in names if name.startswith(f"{life}.")}
        assert all(name[:-1] + other in ours for name in ours for other in "ab"), "one of a pair was reserved alone"
        for line in acknowledged:
            what, number = line.split(" ")
            assert {f"{number}.a", f"{number}.b"} <= ours, "an acknowledged charge was lost"
            stored = ledger.stored(with_totals(10**6), f"{number}.a")
            assert stored is not None
            if what == "committed":
                assert stored.payload == number.encode() * 3000
        reserved = sum(line.startswith("reserved") for line in acknowledged)
        assert len(ours) in (2 * reserved, 2 * reserved + 2)
        spent = ledger.spent("totals")[0] / UNIT
        assert spent == before + len(ours) == len(names)
        return spent


def killed_again_and_again(folder: Path, rounds: int, seed: int) -> tuple[int, int]:
    """How many kills there were, and how many fell between a call and its acknowledgement."""
    dice = random.Random(seed)  # noqa: S311 - reproducible
    path, spent, between = folder / "0.db", Fraction(0), 0
    for life in range(rounds):
        if life % 4 == 0:  # a new file, so that kills also hit its creation
            path, spent = folder / f"{life}.db", Fraction(0)
        acknowledged = kill_at_random(path, str(life), dice.uniform(0, 0.03))
        after = check_after_kill(path, acknowledged, spent, str(life))
        between += after - spent != 2 * sum(line.startswith("reserved") for line in acknowledged)
        spent = after
    return rounds, between


def test_killed_processes_lose_no_charge(tmp_path: Path, tally: Counter[str]) -> None:
    tally["kills"] += killed_again_and_again(tmp_path, 40, seed=1)[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_killed_processes_lose_no_charge(tmp_path: Path, tally: Counter[str], seed: int) -> None:
    kills, between = killed_again_and_again(tmp_path, 120, seed)
    tally["kills"] += kills
    tally["kills between a charge and its acknowledgement"] += between


# Failing calls ------------------------------------------------------------------------------------------------------


@contextmanager
def failing_statement(nth: int, when: str) -> Iterator[list[str]]:
    """The nth statement fails, before or after SQLite has run it; gives the statements seen."""
    seen: list[str] = []

    class Faulty(sqlite3.Connection):
        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:  # type: ignore[override]
            seen.append(sql)
            if len(seen) - 1 == nth and when == "before":
                raise sqlite3.OperationalError("injected")
            cursor = super().execute(sql, *values)
            if len(seen) - 1 == nth and when == "after":
                raise sqlite3.OperationalError("injected")
            return cursor

    real = sqlite3.connect
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_module.sqlite3, "connect", lambda *a, **k: real(*a, **{**k, "factory": Faulty}))
        yield seen


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("fresh", ["new file", "old file"])
def test_every_statement_of_a_reservation_fails_in_turn(tmp_path: Path, when: str, fresh: str) -> None:
    for nth in range(200):
        path = tmp_path / f"{nth}.db"
        if fresh == "old file":
            with Ledger.open(path) as ledger:
                ledger.reserve(identity(), [asks("before")])
        before = units_spent(path)
        with failing_statement(nth, when) as seen:
            try:
                Ledger.open(path).reserve(identity(), [asks("a"), asks("b")])
                returned = True
            except LedgerError as error:
                returned = False
                assert str(path) in str(error)  # noqa: PT017 - both outcomes are checked
        spent = units_spent(path)
        # COMMIT that fails after it was done leaves a charge without a release, never a release without a charge.
        late = when == "after" and seen[nth : nth + 1] == ["COMMIT"]
        assert spent == before + 2 if returned else spent in ({before, before + 2} if late else {before})
        with Ledger.open(path) as ledger:
            assert ledger.verify().intact
        if returned:
            assert nth >= len(seen) > 20
            return
    pytest.fail("the reservation never got through")


@pytest.mark.parametrize("kind", ["commit", "fail"])
def test_every_statement_of_a_conclusion_fails_in_turn(tmp_path: Path, kind: str) -> None:
    for nth in range(200):
        path = tmp_path / f"{nth}.db"
        with Ledger.open(path) as ledger:
            (number,) = ledger.reserve(identity(), [asks("a")])
            with failing_statement(nth, "before") as seen:
                try:
                    ledger.commit(number, b"x") if kind == "commit" else ledger.fail(number)
                except LedgerError:
                    assert len(seen) > nth
                else:
                    return
            stored = ledger.stored(identity(), "a")
            assert stored is not None
            assert stored.state == "reserved"
            assert ledger.spent("wages") == (UNIT,)
            ledger.commit(number, b"second try")
    pytest.fail("the conclusion never got through")


@pytest.mark.parametrize("when", ["before", "after"])
def test_every_statement_of_a_publication_fails_in_turn(tmp_path: Path, when: str) -> None:
    for nth in range(200):
        path = tmp_path / f"{nth}.db"
        returned = False
        with failing_statement(nth, when) as seen, suppress(LedgerError), Ledger.open(path) as ledger:
            ledger.commit(ledger.publish(with_totals(), TOTALS), b"totals")
            returned = True
        with Ledger.open(path) as ledger:
            assert ledger.verify().intact
            found = ledger.published(with_totals())
            late = when == "after" and seen[nth : nth + 1] == ["COMMIT"]
            assert found is not None if returned else found is None or late
            if found is None:  # nothing that failed is in the way
                ledger.commit(ledger.publish(with_totals(), TOTALS), b"totals")
            ledger.reserve(with_totals(), [asks("a")])
        if returned:
            assert nth >= len(seen) > 40
            return
    pytest.fail("the publication never got through")


@pytest.mark.parametrize("call", ["open", "link", "fsync"])
def test_a_failing_file_call_creates_no_charge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    path = tmp_path / "budget.db"

    def fails(*_: object, **__: object) -> int:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(store_module.os, call, fails)
        with pytest.raises(LedgerError, match="Input/output error"):
            Ledger.open(path).reserve(identity(), [asks("a")])
    assert units_spent(path) == 0
    assert list(tmp_path.glob(".*")) == []
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(), [asks("a")])


# Faults at every seam ------------------------------------------------------------------------------------------------

SQLITE_FAULTS = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, 10**6)
FILE_FAULTS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EMFILE, errno.EROFS)
FILE_CALLS = ("open", "close", "link", "fsync", "stat", "lstat", "unlink")


class Faults:
    """Calls at one seam fail when `strikes` says so; it is asked at every call and counts them.

    Seams: "statement" and "file" fail before the call or after it was done, "connect" when a connection is opened, "step"
    inside a statement (SQLite is interrupted), "line" between two lines of the ledger's own code.
    """

    def __init__(self, seam: str, strikes: Callable[[int], bool], variant: int = 0) -> None:
        self.seam, self.strikes, self.variant = seam, strikes, variant
        self.calls = self.struck = 0

    @property
    def kind(self) -> int:
        """Which error it is, and whether it comes after the call: changes from call to call, and with the variant."""
        return self.calls + self.variant

    def _strike(self) -> bool:
        self.calls += 1
        struck = self.strikes(self.calls - 1)
        self.struck += struck
        return struck

    def _around(self, call: Callable[[], object], error: Callable[[int], BaseException]) -> object:
        """The call, or `error`; of two that fail one has been done."""
        if not self._strike():
            return call()
        if self.kind % 2:
            call()
        raise error(self.kind)

    @contextmanager
    def active(self) -> Iterator[Faults]:
        with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
            if self.seam == "file":
                for name in FILE_CALLS:
                    patch.setattr(store_module.os, name, self._file_call(getattr(os, name)))
            elif self.seam == "line":
                stack.callback(sys.settrace, sys.gettrace())
                self.arm()
            else:
                patch.setattr(store_module.sqlite3, "connect", self._connect(sqlite3.connect))
            yield self

    def arm(self) -> None:
        """Python forgets a trace that has raised: to be called again before the next operation."""
        if self.seam == "line":
            sys.settrace(self._trace)

    def _file_call(self, real: Callable[..., object]) -> Callable[..., object]:
        def call(*values: object, **options: object) -> object:
            return self._around(lambda: real(*values, **options), file_error)

        return call

    def _connect(self, real: Callable[..., sqlite3.Connection]) -> Callable[..., sqlite3.Connection]:
        faults = self

        class Faulty(sqlite3.Connection):
            def execute(self, sql: str, *values: object) -> sqlite3.Cursor:  # type: ignore[override]
                run = super().execute
                return faults._around(lambda: run(sql, *values), sqlite_error)  # type: ignore[return-value]

        def connect(*values: object, **options: object) -> sqlite3.Connection:
            if faults.seam == "statement":
                return real(*values, **{**options, "factory": Faulty})
            if faults.seam == "connect" and faults._strike():
                raise sqlite_error(faults.kind)
            connection = real(*values, **options)
            if faults.seam == "step":
                connection.set_progress_handler(faults._strike, 1)
            return connection

        return connect

    def _trace(self, frame: FrameType, event: str, _: object) -> object:
        if not any(place in frame.f_code.co_filename for place in ("discreet/ledger/", "discreet/exact/files.py")):
            # nor constructors that Python writes
            return None
        if event == "line" and self._strike():
            raise (MemoryError if self.kind % 2 else KeyboardInterrupt)
        return self._trace


def sqlite_error(number: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("injected")
    error.sqlite_errorcode = SQLITE_FAULTS[number % len(SQLITE_FAULTS)]
    return error


def file_error(number: int) -> OSError:
    return OSError(FILE_FAULTS[number % len(FILE_FAULTS)], "injected")


SEAMS = ("statement", "file", "connect", "step", "line")
INJECTED = (LedgerError, MemoryError, KeyboardInterrupt)


class Model:
    """What a caller knows of a ledger: what was acknowledged, and what may or may not have happened."""

    def __init__(self, path: Path, units: int, seam: str) -> None:
        self.path, self.units, self.seam, self.who = path, units, seam, identity(units)
        self.asked: dict[str, int] = {}
        self.acknowledged: set[str] = set()
        self.committed: dict[str, bytes] = {}
        self.published = False

    def attempt(self, call: Callable[[], object]) -> object:
        """What the call returned, or None if it failed as it may."""
        try:
            return call()
        except INJECTED as error:
            if isinstance(error, LedgerError):
                assert str(self.path) in str(error) or "published" in str(error) or "used in" in str(error)  # noqa: PT017
            return None
        finally:
            # An interrupt exactly while a `with` block is being left skips its end; only tracing comes that close.
            while store_module._GATE._is_owned():  # type: ignore[attr-defined]
                assert self.seam == "line", "the lock is still held"
                store_module._GATE.release()

    def reserve(self, ledger: Ledger, names: list[str], units: int) -> tuple[int, ...]:
        self.asked |= dict.fromkeys(names, units)
        try:
            numbers = self.attempt(lambda: ledger.reserve(self.who, [asks(name, units) for name in names]))
        except BudgetExceeded as refused:
            assert refused.remaining[0] < len(names) * units * UNIT  # noqa: PT017
            for name in names:
                del self.asked[name]
            return ()
        if numbers is None:
            return ()
        self.acknowledged |= set(names)
        return numbers  # type: ignore[return-value]

    def conclude(self, ledger: Ledger, number: int, name: str, payload: bytes | None) -> None:
        if payload is None:
            self.attempt(lambda: ledger.fail(number))
        elif self.attempt(lambda: ledger.commit(number, payload)) is not None:
            self.committed[name] = payload

    def publish(self, ledger: Ledger) -> None:
        number = self.attempt(lambda: ledger.publish(with_totals(), TOTALS))
        if isinstance(number, int) and self.attempt(lambda: ledger.commit(number, b"totals")) is not None:
            self.published = True

    def read(self, ledger: Ledger) -> None:
        """Every reading call either fails or tells the truth."""
        at_least = sum(self.asked[name] for name in self.acknowledged) * UNIT
        truths: list[tuple[Callable[[], object], Callable[[Any], bool]]] = [
            (lambda: ledger.check(self.who), lambda _: True),
            (ledger.datasets, lambda names: set(names) <= {"wages", "totals"}),
            (lambda: ledger.identity("wages"), lambda found: found == self.who),
            (lambda: ledger.spent("wages")[0], lambda spent: at_least <= spent <= self.units * UNIT),
            (lambda: ledger.remaining("wages")[0], lambda left: 0 <= left <= self.units * UNIT - at_least),
            (lambda: ledger.entries("wages"), lambda found: {e.name for e in found} <= {"", *self.asked}),
            (lambda: (ledger.head_sequence(), ledger.head()), lambda head: head[0] >= len(self.acknowledged)),
            (lambda: ledger.contains(10**6, "x"), lambda there: there is False),
            (
                lambda: ledger.published(with_totals()),
                lambda found: found.payload == b"totals" if found else not self.published,
            ),
            (ledger.verify, lambda found: found.intact),
        ]
        for name, payload in list(self.committed.items())[-2:]:
            stored = lambda name=name: ledger.stored(self.who, name)  # noqa: E731
            truths.append((stored, lambda found, payload=payload: found.payload == payload))
        for call, is_true in truths:
            told = self.attempt(lambda call=call, is_true=is_true: (is_true(call()),))  # type: ignore[misc]
            assert told in (None, (True,))

    def settle(self) -> int:
        """Nothing that was acknowledged is lost, nothing is overspent; the units that are spent."""
        if not self.path.exists():
            assert not self.acknowledged
            return 0
        with Ledger.open(self.path) as ledger:
            found = ledger.verify()
            assert found.intact, found.problem
            reserved = {e.name: e.charge[0] / UNIT for e in ledger.entries() if e.kind == "reserve"}
            assert self.acknowledged <= reserved.keys() <= self.asked.keys(), "an acknowledged charge was lost"
            assert all(units == self.asked[name] for name, units in reserved.items())
            spent = dict(found.spent).get("wages", (Fraction(0),))[0]
            assert spent == sum(reserved.values()) * UNIT <= self.units * UNIT, "overspent"
            for name, payload in self.committed.items():
                stored = ledger.stored(self.who, name)
                assert stored is not None
                assert stored.payload == payload
            if self.published:
                assert ledger.published(with_totals()) is not None
        return int(spent / UNIT)


def every_operation(path: Path, seam: str) -> Model:
    """Each operation of a ledger at least once, on a file that is not there yet; what fails is left out."""
    model = Model(path, 10, seam)
    ledger = model.attempt(lambda: Ledger.open(path))
    if isinstance(ledger, Ledger):
        for number in model.reserve(ledger, ["a", "b"], 2):
            model.conclude(ledger, number, "a", b"release")
            break
        for number in model.reserve(ledger, ["c"], 5):
            model.conclude(ledger, number, "c", None)
        model.reserve(ledger, ["too much"], 9)
        model.publish(ledger)
        model.read(ledger)
        model.attempt(ledger.close)
    return model


def every_call_fails_in_turn(folder: Path, seam: str, stride: int, variant: int = 0) -> int:
    """How many faults there were: every `stride`th call at the seam, one after the other."""
    nth = variant % stride
    while True:
        path = folder / f"{seam}.{nth}.db"
        with Faults(seam, lambda call, nth=nth: call == nth, variant).active() as faults:  # type: ignore[misc]
            model = every_operation(path, seam)
        model.settle()
        path.unlink(missing_ok=True)
        if not faults.struck:
            return nth // stride
        nth += stride


@pytest.mark.parametrize(("seam", "stride"), [("statement", 7), ("file", 5), ("connect", 2), ("step", 101), ("line", 101)])
def test_some_calls_of_every_operation_fail_in_turn(tmp_path: Path, tally: Counter[str], seam: str, stride: int) -> None:
    tally["faults"] += every_call_fails_in_turn(tmp_path, seam, stride)


@pytest.mark.slow
@pytest.mark.parametrize("variant", [0, 1])
@pytest.mark.parametrize(("seam", "stride"), [("statement", 1), ("file", 1), ("connect", 1), ("step", 2), ("line", 2)])
def test_every_call_of_every_operation_fails_in_turn(
    tmp_path: Path, tally: Counter[str], seam: str, stride: int, variant: int
) -> None:
    tally["faults"] += every_call_fails_in_turn(tmp_path, seam, stride, variant)


def storm(folder: Path, seam: str, operations: int, seed: int) -> int:
    """How many faults a caller survived who goes on and on, now with the same object, now with another."""
    dice = random.Random(f"{seam} {seed}")  # noqa: S311 - reproducible
    often = {"statement": 0.05, "file": 0.1, "connect": 0.5, "step": 0.003, "line": 0.003}[seam]
    model = Model(folder / f"{seam}.{seed}.db", operations // 2, seam)
    ledger: object = None
    with Faults(seam, lambda _: dice.random() < often).active() as faults:
        for number in range(operations):
            faults.arm()
            if not isinstance(ledger, Ledger) or dice.random() < 0.05:
                ledger = model.attempt(lambda: Ledger.open(model.path))
                continue
            names = [f"{number}.{part}" for part in range(dice.randint(1, 2))]
            for sequence in model.reserve(ledger, names, dice.randint(1, 3)):
                model.conclude(ledger, sequence, names[0], dice.choice([None, b"x" * dice.randint(0, 9000)]))
                break
            if number % 50 == 0:
                model.publish(ledger)
                model.read(ledger)
    assert 0 < model.settle() <= model.units
    return faults.struck


MUTANTS: dict[str, tuple[object, str, Callable[..., object]]] = {
    "a charge is not written": (store_module.Transaction, "append", lambda *_, **__: None),
    "nothing is compared with the budget": (account_module, "require_room", lambda *_: None),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_law_finds_a_ledger_that_breaks_it(tmp_path: Path, mutant: str) -> None:
    """Without any fault: the model of a caller is not content with everything."""
    path = tmp_path / "budget.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*MUTANTS[mutant])
        with pytest.raises(AssertionError):
            every_operation(path, "none").settle()
    path.unlink()
    assert every_operation(path, "none").settle() == 9


@pytest.mark.parametrize("seam", SEAMS)
def test_a_caller_survives_a_storm_of_faults(tmp_path: Path, tally: Counter[str], seam: str) -> None:
    tally["faults"] += storm(tmp_path, seam, 60, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seam", SEAMS)
@pytest.mark.parametrize("seed", range(5))
def test_a_caller_survives_long_storms_of_faults(tmp_path: Path, tally: Counter[str], seam: str, seed: int) -> None:
    tally["faults"] += storm(tmp_path, seam, 600, seed)


# Disks and rights --------------------------------------------------------------------------------------------------


def test_a_full_disk_refuses_and_leaves_the_ledger_whole(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        (number,) = ledger.reserve(identity(), [asks("a")])
        size = path.stat().st_size

        def child() -> int:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            refusals = 0
            for call in (
                lambda: ledger.commit(number, b"x" * 100_000),
                lambda: ledger.reserve(identity(), [Reservation("b", (UNIT,), "plan", b"", '{"a":"' + "x" * 10**5 + '"}')]),
                lambda: Ledger.open(tmp_path / "new.db").reserve(identity(), [asks("c")]) if size < 10**4 else None,
            ):
                try:
                    call()
                except LedgerError:
                    refusals += 1
            return refusals

        assert inside(child) >= 2
        assert ledger.verify().intact
        assert ledger.spent("wages") == (UNIT,)
        ledger.commit(number, b"x" * 100_000)
    assert not (tmp_path / "new.db").exists()


def under_a_limit(path: Path, what: int, most: int) -> int:
    """Every operation in a child that may not have more of something; WON if none was refused."""

    def child() -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        before = resource.getrlimit(what)
        resource.setrlimit(what, (most, before[1]))
        try:
            model = every_operation(path, "limit")
        finally:
            resource.setrlimit(what, before)
        model.settle()
        return WON if model.published and len(model.acknowledged) == 3 and len(model.committed) == 1 else REFUSED

    return inside(child)


def limits(folder: Path, what: int, most: Iterable[int]) -> int:
    """How many of the limits made something fail; below one of them everything does, above one nothing."""
    outcomes = [under_a_limit(folder / f"{what}.{limit}.db", what, limit) for limit in most]
    assert outcomes[0] == REFUSED
    assert outcomes[-1] == WON
    assert outcomes == sorted(outcomes, reverse=True)
    return outcomes.count(REFUSED)


def test_a_disk_that_is_full_sooner_or_later(tmp_path: Path, tally: Counter[str]) -> None:
    tally["faults"] += limits(tmp_path, resource.RLIMIT_FSIZE, range(0, 80_000, 8192))


def test_a_process_that_runs_out_of_files(tmp_path: Path, tally: Counter[str]) -> None:
    tally["faults"] += limits(tmp_path, resource.RLIMIT_NOFILE, [3, 5, 60])


@pytest.mark.slow
def test_a_disk_that_is_full_at_any_size(tmp_path: Path, tally: Counter[str]) -> None:
    tally["faults"] += limits(tmp_path, resource.RLIMIT_FSIZE, range(0, 80_000, 200))


def test_nothing_depends_on_a_clock_that_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tally: Counter[str]) -> None:
    dice = random.Random(6)  # noqa: S311 - reproducible
    real = drafts_module.datetime

    class Clock:
        @classmethod
        def now(cls, zone: object) -> object:
            tally["faults"] += 1
            if dice.random() < 0.1:
                raise dice.choice([OverflowError, ValueError, OSError])
            return real(dice.randint(1, 9999), dice.randint(1, 12), 1, tzinfo=zone)  # type: ignore[arg-type]

    path = tmp_path / "budget.db"
    monkeypatch.setattr(drafts_module, "datetime", Clock)
    for name in ("time", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: dice.uniform(-1e12, 1e12))
    with Ledger.open(path) as ledger, Ledger.open(path) as other:
        for number in range(20):
            (sequence,) = (ledger, other)[number % 2].reserve(identity(20), [asks(f"{number}")])
            (ledger, other)[dice.randint(0, 1)].commit(sequence, b"%d" % number)
        with pytest.raises(BudgetExceeded):
            ledger.reserve(identity(20), [asks("more")])
        entries = ledger.entries("wages")
        assert [entry.sequence for entry in entries] == list(range(1, 42))
        assert [entry.name for entry in entries if entry.kind == "reserve"] == [f"{number}" for number in range(20)]
        assert [entry.time for entry in entries] != sorted(entry.time for entry in entries)
        assert ledger.verify().intact


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can reach, as pytest's own cannot."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "readable"), [(0o555, 0o600, True), (0o755, 0o400, True), (0o755, 0, False)]
)
def test_missing_rights_refuse_and_spend_nothing(
    open_folder: Path, folder_mode: int, file_mode: int, *, readable: bool
) -> None:
    path = open_folder / "budget.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(), [asks("a")])
    nobody = 65534
    if os.getuid() == 0:
        os.chown(path, nobody, nobody)
        os.chown(open_folder, nobody, nobody)
    path.chmod(file_mode)
    open_folder.chmod(folder_mode)

    def child() -> int:
        if os.getuid() == 0:
            os.setgid(nobody)
            os.setuid(nobody)
        try:
            ledger = Ledger.open(path)
            if ledger.spent("wages") == (UNIT,) and readable:
                ledger.reserve(identity(), [asks("b")])
        except LedgerError as error:
            return REFUSED if str(path) in str(error) else BROKEN
        return WON

    assert inside(child) == REFUSED
    if folder_mode == 0o555:
        path = open_folder / "new.db"
        assert inside(lambda: _reserve_as(nobody, path)) == REFUSED
    open_folder.chmod(0o755)
    (open_folder / "budget.db").chmod(0o600)
    assert units_spent(open_folder / "budget.db") == 1
    assert list(open_folder.iterdir()) == [open_folder / "budget.db"]


def _reserve_as(user: int, path: Path) -> int:
    if os.getuid() == 0:
        os.setuid(user)
    try:
        Ledger.open(path).reserve(identity(), [asks("b")])
    except LedgerError:
        return REFUSED
    return WON


# Damaged files ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with three data sets, commits, failures, an open reservation and exact totals."""
    path = tmp_path_factory.mktemp("written") / "budget.db"
    with Ledger.open(path) as ledger:
        a, b, _ = ledger.reserve(identity(100), [asks("a", 10), asks("b", 20), asks("c", 30)])
        (d,) = ledger.reserve(identity(7, "other"), [asks("d", 7)])
        ledger.commit(a, b"payload of a " * 400)
        ledger.fail(b)
        ledger.commit(d, b"payload of d")
        ledger.fail(ledger.publish(with_totals(), TOTALS))
        ledger.commit(ledger.publish(with_totals(), TOTALS), b"exact totals " * 400)
    return path


def accepted(path: Path) -> bool:
    """Whether the ledger is used at all; if so it shows all that was spent and gives only true bytes back."""
    try:
        with Ledger.open(path) as ledger:
            ledger.check(identity(100))
            assert ledger.spent("wages") == (60 * UNIT,)
            assert ledger.spent("other") == (7 * UNIT,)
            for units in (41, 40):
                try:
                    ledger.reserve(identity(100), [asks(f"more {units}", units)])
                    assert units == 40
                except BudgetExceeded:
                    assert units == 41
            stored = ledger.stored(identity(100), "a")
            assert stored is not None
            assert stored.payload == b"payload of a " * 400
            published = ledger.published(with_totals())
            assert published is not None
            assert published.payload == b"exact totals " * 400
    except LedgerError as error:
        assert str(path) in str(error)  # noqa: PT017 - both outcomes are checked
        return False
    return True


def flipped(content: bytes, bit: int) -> bytes:
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def flips(written: Path, path: Path, bits: list[int]) -> int:
    """How many of the flips were refused."""
    content = written.read_bytes()
    path.touch(0o600)
    refused = 0
    for bit in bits:
        path.write_bytes(flipped(content, bit))
        refused += not accepted(path)
        path.with_name(path.name + "-journal").unlink(missing_ok=True)
    return refused


def test_a_flipped_bit_is_refused_or_changes_nothing(written: Path, tmp_path: Path, tally: Counter[str]) -> None:
    size = written.stat().st_size * 8
    bits = random.Random(3).sample(range(size), 300)  # noqa: S311 - reproducible
    assert 0 < flips(written, tmp_path / "budget.db", bits) < 300
    header = random.Random(4).sample(range(800), 100)  # noqa: S311 - reproducible
    assert flips(written, tmp_path / "budget.db", header) > 0
    tally["faults"] += 400


@pytest.mark.slow
def test_every_flipped_bit_of_a_header_and_many_others(written: Path, tmp_path: Path, tally: Counter[str]) -> None:
    size = written.stat().st_size * 8
    bits = [*range(800), *random.Random(5).sample(range(size), 4000)]  # noqa: S311 - reproducible
    refused = flips(written, tmp_path / "budget.db", bits)
    assert refused > 1000
    tally["faults"] += len(bits)
    tally["flipped bits refused"] += refused


def test_a_flipped_bit_of_an_entry_or_its_digest_is_always_found(written: Path, tmp_path: Path, tally: Counter[str]) -> None:
    content = written.read_bytes()
    with closing(sqlite3.connect(written)) as connection:
        texts = [text.encode() for row in connection.execute("SELECT body, digest FROM entries") for text in row]
    places = [content.index(text) * 8 + bit for text in texts for bit in range(0, len(text) * 8, 67)]
    assert flips(written, tmp_path / "budget.db", places) == len(places) > 200
    tally["faults"] += len(places)


def test_a_flipped_bit_of_a_release_is_found_when_it_is_read(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    content = written.read_bytes()
    path.touch(0o600)
    path.write_bytes(flipped(content, content.index(b"payload of a") * 8))
    with Ledger.open(path) as ledger:
        with pytest.raises(LedgerError, match="damaged copy of the release 'a'"):
            ledger.stored(identity(100), "a")
        found = ledger.verify()
        assert (found.intact, found.broken) == (False, 7)
        assert found.problem == "entry 7 has damaged release bytes"
        assert ledger.spent("wages") == (60 * UNIT,)
    path.write_bytes(flipped(content, content.index(b"exact totals exact") * 8))
    with Ledger.open(path) as ledger:
        with pytest.raises(LedgerError, match="damaged copy of the exact totals of 'totals'"):
            ledger.published(with_totals())
        assert ledger.verify().broken == 14


def test_a_shortened_file_is_refused(written: Path, tmp_path: Path, tally: Counter[str]) -> None:
    path = tmp_path / "budget.db"
    content = written.read_bytes()
    lengths = [*range(0, 200, 7), *range(0, len(content), 512), len(content) - 1]
    path.touch(0o600)
    for length in lengths:
        path.write_bytes(content[:length])
        assert not accepted(path), f"accepted {length} of {len(content)} bytes"
    tally["faults"] += len(lengths)


def without_triggers(path: Path, statement: str) -> None:
    """Somebody with an editor removes the triggers, changes the file, and puts them back."""
    with closing(sqlite3.connect(path)) as connection, connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE entries SET body = replace(body, '0.03', '0.01') WHERE sequence = 4", 4),
        ("DELETE FROM entries WHERE sequence = 3", 3),
        ("DELETE FROM entries WHERE sequence = 9", 9),
        ("DELETE FROM entries", 1),
        ("UPDATE entries SET body = x'00' WHERE sequence = 3", 3),
        ("UPDATE entries SET digest = 7 WHERE sequence = 3", 3),
        ("UPDATE head SET sequence = 8", 15),
        ("UPDATE head SET digest = genesis", 15),
        ("UPDATE head SET genesis = digest", 1),
        ("DELETE FROM head", 1),
        ("INSERT INTO entries SELECT 15, body, digest FROM entries WHERE sequence = 14", 15),
        ("DELETE FROM payloads WHERE sequence = 9", 9),
        ("UPDATE payloads SET sequence = 8 WHERE sequence = 9", 8),
        ("DELETE FROM snapshots WHERE sequence = 3", 3),
        ("UPDATE entries SET body = replace(body, 'publish', 'reserve') WHERE sequence = 11", 11),
        ("DELETE FROM entries WHERE sequence = 14", 14),
        ("DELETE FROM payloads WHERE sequence = 14", 14),
        ("UPDATE payloads SET payload = x'00' WHERE sequence = 14", 14),
        ("DELETE FROM snapshots WHERE sequence = 11", 11),
    ],
)
def test_changed_rows_are_found_and_named(written: Path, tmp_path: Path, statement: str, broken: int) -> None:
    path = tmp_path / "budget.db"
    shutil.copy(written, path)
    without_triggers(path, statement)
    with Ledger.open(path) as ledger:
        found = ledger.verify()
        assert (found.intact, found.broken) == (False, broken)
        assert found.problem
        if "payloads" not in statement and "snapshots" not in statement:
            for call in (ledger.datasets, lambda: ledger.reserve(identity(100), [asks("e")])):
                with pytest.raises(LedgerError, match="is damaged"):
                    call()


def test_a_ledger_that_has_lost_its_key_takes_no_charge(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    shutil.copy(written, path)
    with Ledger.open(path) as ledger:
        spent = ledger.spent("wages")
        without_triggers(path, "DELETE FROM snapshots")
        with pytest.raises(LedgerError):
            ledger.reserve(identity(100), [asks("new")])
        assert ledger.spent("wages") == spent


# Older files --------------------------------------------------------------------------------------------------------


def test_an_older_copy_is_found_by_the_head_of_a_release(tmp_path: Path) -> None:
    path, copy = tmp_path / "budget.db", tmp_path / "copy.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(), [asks("a")])
        shutil.copy(path, copy)
        ledger.reserve(identity(), [asks("b")])
        receipt = (ledger.head_sequence(), ledger.head())
        shutil.copy(copy, path)  # a rollback while it is open
        for _ in range(2):  # and it stays noticed
            with pytest.raises(LedgerError, match="older or another copy"):
                ledger.reserve(identity(), [asks("c")])
        assert not ledger.verify().intact
        path.unlink()
        for _ in range(2):
            with pytest.raises(LedgerError, match="disappeared"):
                ledger.reserve(identity(), [asks("c")])
        assert not path.exists()
        shutil.copy(copy, path)
    with Ledger.open(path) as ledger:  # a rollback while it was closed
        assert ledger.verify().intact
        assert not ledger.contains(*receipt)
        ledger.reserve(identity(), [asks("b")])
        assert ledger.head_sequence() == receipt[0]
        assert not ledger.contains(*receipt)


def test_a_rollback_right_after_a_reservation_is_noticed(tmp_path: Path) -> None:
    path, copy = tmp_path / "budget.db", tmp_path / "copy.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(), [asks("a")])
    shutil.copy(path, copy)
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(), [asks("b")])
        shutil.copy(copy, path)
        with pytest.raises(DiscreetError, match="older or another copy"):
            ledger.spent("wages")


def test_a_rollback_is_noticed_by_one_who_only_read(tmp_path: Path) -> None:
    path, copy = tmp_path / "budget.db", tmp_path / "copy.db"
    with Ledger.open(path) as writer, Ledger.open(path) as reader:
        writer.reserve(identity(), [asks("a")])
        shutil.copy(path, copy)
        writer.reserve(identity(), [asks("b")])
        assert reader.spent("wages") == (2 * UNIT,)
        shutil.copy(copy, path)
        for _ in range(2):
            with pytest.raises(LedgerError, match="older or another copy"):
                reader.spent("wages")


def test_another_ledger_in_the_same_place_is_noticed(tmp_path: Path) -> None:
    path, other = tmp_path / "budget.db", tmp_path / "other.db"
    with Ledger.open(path) as first, Ledger.open(other) as second:
        for ledger in (first, second):
            ledger.reserve(identity(), [asks("a")])
        shutil.copy(other, path)
        with pytest.raises(LedgerError, match="older or another copy"):
            first.spent("wages")


# Size ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_reading_is_linear_in_the_number_of_entries(tmp_path: Path) -> None:
    def seconds(entries: int) -> float:
        path = tmp_path / f"{entries}.db"
        with Ledger.open(path) as ledger:
            ledger.reserve(identity(10**9), [asks(f"r{number}") for number in range(entries)])
        started = time.process_time()
        with Ledger.open(path) as ledger:
            assert ledger.verify().entries == entries + 1
        return time.process_time() - started

    small = min(seconds(10_000), seconds(10_001))
    assert seconds(100_000) < 30 * small
