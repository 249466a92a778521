"""What the tests of releases under fire share: a caller who knows what was charged, and what no error may say."""

from __future__ import annotations

import itertools
import os
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from sqlite3 import connect as connected  # goes on working while `sqlite3.connect` fails
from typing import Any

import polars as pl
from tests.hostile.ledgers import BROKEN, REFUSED, WON, check_committed, forked, outcome, reserved

import discreet as dp
import discreet.quotes.allocate  # with the next, loaded before children are forked
import discreet.releases.publish
from discreet.exact import precision
from discreet.ledger import Ledger
from discreet.ledger import store as store_module
from discreet.noise.bits import Bits, system_bits

ROOT = Path(__file__).resolve().parents[2]  # where a process that runs this file by its path finds `tests`


SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 100))


FRAME = pl.DataFrame({"g": ["x", "y", None, "z"] * 5, "v": [*range(19), None]})


SOURCE = "d.parquet"  # read by children of a fork: what reads it starts no threads before


SECRET = "the value 42"  # noqa: S105 - what no error may show


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
        for gate in (store_module._GATE, precision._GATE):
            assert not gate._is_owned(), "a lock is still held"  # type: ignore[attr-defined]
        before = 0
        for on_disk in self.engine.looks:
            assert on_disk > before, "rows were looked at before they were charged"
            before = on_disk
        if not self.path.exists():
            assert not self.given
            return 0
        with Ledger.open(self.path) as ledger:
            charged, spent = reserved(ledger, "d")
            assert all(entry.charge == (Fraction(1, 10),) for entry in charged)
            assert spent == Fraction(len(charged), 10)
            assert len(charged) <= self.tenths, "overspent"
            assert {entry.name for entry in charged} <= set(self.tried)
            assert len(charged) >= len(self.engine.looks)
            if self.given:
                check_committed(ledger, ledger.identity("d"), {name: one.payload for name, one in self.given.items()})
        return len(charged)


def require_constant_text(failure: BaseException) -> None:
    """A failure after the reservation says nothing of what went wrong, not even through its context."""
    assert isinstance(failure, dp.ReleaseFailed)
    assert SECRET not in "".join(traceback.format_exception(failure))
    assert failure.__context__ is failure.__cause__ is None


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
    code = "import runpy, sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])"
    code += "; del sys.argv[1]; found = runpy.run_path(sys.argv[1])"
    code += "; print(found[sys.argv[2]](Path(sys.argv[3]), *map(int, sys.argv[4:])))"
    command = [sys.executable, "-c", code, str(ROOT), __file__, work, str(folder), *map(str, values)]
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


def few_of_each(folder: Path) -> int:
    """What the slow tests do many times, a few times, in one process."""
    assert small_disks(folder, 40_000) > 0
    return killed_while_releasing(folder, 5, seed=0) + races_of_processes(folder, 1, 4) + noise_after_a_draw(folder, 2, 0)
