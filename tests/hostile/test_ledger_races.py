"""Processes and threads that race for a ledger: no unit is spent twice, and every answer is true."""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.builders import PATIENCE, drawn

from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger import Ledger

from .ledgers import BROKEN, REFUSED, TOTALS, UNIT, WON, asks, forked, identity, inside, outcome, units_spent, with_totals

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


BROKEN_RACE = 100


TALLIED = "ledger"


@pytest.fixture
def tmp_path(folder: Path) -> Path:
    """Every file of these tests lies in memory, if it can."""
    return folder


def race(path: Path, processes: int, units: int, shared: Ledger | None = None, *, threads: int = 1) -> list[int]:
    """All threads of all processes ask for one unit at the same moment; their outcomes."""
    gate, opener = os.pipe()

    def ask(name: str) -> int:
        try:
            ledger = shared or Ledger.open(path, patience=PATIENCE)
            (sequence,) = ledger.reserve(identity(units), [asks(name)])
            ledger.commit(drawn(ledger, sequence), name.encode())
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
            ledger = Ledger.open(path, patience=PATIENCE)
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


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("processes", "threads", "races"), [(64, 1, 50), (1, 64, 50), (8, 8, 50), (8, 1, 400), (1, 8, 300), (2, 4, 200)]
)
def test_a_thousand_races(tmp_path: Path, tally: Counter[str], processes: int, threads: int, races: int) -> None:
    for seed in range(races):
        raced(tmp_path, tally, processes, threads, seed)
