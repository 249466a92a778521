"""Populations and windows under fire: processes that race, are killed, and see clocks that go backwards; older files."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.builders import drawn

from discreet.errors import BudgetExceeded, LedgerError
from discreet.exact.canonical import canonical
from discreet.ledger import Identity, Ledger, Reservation, drafts

from .ledgers import UNIT, asks, forked, identity, outcome

OLD = Path(__file__).parent.parent / "golden" / "frozen" / "v0_1_0" / "ledger.sqlite"
DAYS = {"column": "day", "each": "month", "first": "2026-01-01", "last": "2026-03-31"}
MONTHS = ["2026-01", "2026-02", "2026-03"]

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def office(number: int, units: int, window_units: int = 0) -> Identity:
    """A data set of the population, whose own budget is larger than that of the population; with windows on demand."""
    budget = {"budget": [str(window_units * UNIT)]}
    said = {
        "neighbours": {"relation": "add-remove", "rows_per_person": 1},
        "schema": [],
        "population": {"name": "everybody", "budget": [str(units * UNIT)]},
        **({"windows": {**DAYS, **budget}} if window_units else {}),
    }
    return replace(identity(10 * units, f"office {number}"), declaration=canonical(said))


def windowed(name: str, *windows: str) -> Reservation:
    return replace(asks(name), windows=windows)


def spend_all(path: Path, who: Identity) -> int:
    """How many units a data set gets, asking one after the other until it is refused."""
    found = 0
    with Ledger.open(path) as ledger:
        while True:
            try:
                (sequence,) = ledger.reserve(who, [asks(f"r{found}")])
            except BudgetExceeded:
                return found
            ledger.commit(drawn(ledger, sequence), b"given away")
            found += 1


@needs_fork
def test_processes_that_charge_different_data_sets_never_exceed_the_population(tmp_path: Path) -> None:
    """Four processes, each with a data set of its own that it declares itself: together what one alone would get."""
    path, units = tmp_path / "budget.db", 13
    children = [forked(lambda number=number: spend_all(path, office(number, units))) for number in range(4)]  # type: ignore[misc]
    assert sum(outcome(child) for child in children) == units
    with Ledger.open(path) as ledger:
        assert sum(ledger.spent(name)[0] for name in ledger.datasets()) == units * UNIT
        account = ledger.above.population(office(9, units))
        assert account is not None
        assert account.spent == (units * UNIT,)
        assert ledger.verify().intact


@needs_fork
def test_processes_on_windows_of_one_data_set_never_exceed_one(tmp_path: Path) -> None:
    path, who = tmp_path / "budget.db", office(0, 100, 5)

    def spend(first: int) -> int:
        won = 0
        with Ledger.open(path) as ledger:
            for turn in range(12):
                touched = MONTHS[(first + turn) % 3 :][: 1 + turn % 2]
                try:
                    ledger.reserve(who, [windowed(f"{first} {turn}", *touched)])
                except BudgetExceeded:
                    continue
                won += 1
        return won

    children = [forked(lambda first=first: spend(first)) for first in range(3)]  # type: ignore[misc]
    won = sum(outcome(child) for child in children)
    with Ledger.open(path) as ledger:
        windows = ledger.above.windows(who)
        assert windows is not None
        assert all(windows.spent(month)[0] <= 5 * UNIT for month in MONTHS)
        assert ledger.spent("office 0") == (won * UNIT,)
        assert ledger.verify().intact


@needs_fork
def test_a_killed_process_leaves_both_charges_or_none(tmp_path: Path) -> None:
    rng, path, units = random.Random(3), tmp_path / "budget.db", 10**6  # noqa: S311
    with Ledger.open(path) as ledger:
        ledger.reserve(office(0, units, units), [windowed("first", MONTHS[0])])
    for number in range(6):
        child = forked(lambda number=number: spend_all(path, office(number % 2, units, units * (number % 2 == 0))))  # type: ignore[misc]
        time.sleep(rng.uniform(0, 0.06))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with Ledger.open(path) as ledger:
            assert ledger.verify().intact
            charged = {name: sum(one.charge[0] for one in ledger.entries(name) if one.charge) for name in ledger.datasets()}
            assert {name: ledger.spent(name)[0] for name in charged} == charged
            account, windows = (
                ledger.above.population(office(0, units, units)),
                ledger.above.windows(office(0, units, units)),
            )
            assert account is not None
            assert windows is not None
            assert account.spent[0] == sum(charged.values())
            assert windows.spent(MONTHS[0])[0] == charged["office 0"]  # all of them were charged to it


def test_a_cap_does_not_come_back_with_a_restart_or_a_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Days are days of the data: a clock that runs backwards, or into another month, changes nothing."""
    path, who = tmp_path / "budget.db", office(0, 100, 3)
    clocks = iter([f"20{year}-0{month}-01T00:00:00+00:00" for year in (26, 99, 10) for month in (1, 2, 3)] * 9)
    monkeypatch.setattr(drafts, "utc_now", lambda: next(clocks))
    for turn in range(3):
        with Ledger.open(path) as ledger:
            ledger.reserve(who, [windowed(f"r{turn}", "2026-02")])
    for _ in range(3):
        with Ledger.open(path) as ledger:
            with pytest.raises(BudgetExceeded):
                ledger.reserve(who, [windowed("more", "2026-02")])
            assert ledger.left(who, ("2026-03",))[1] == (3 * UNIT,)
            assert ledger.verify().intact


def test_a_data_set_does_not_change_its_population_and_a_refusal_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(office(0, 5), [asks("r", 5)])
        head = ledger.head()
        other = replace(office(0, 5), declaration=office(0, 5).declaration.replace("everybody", "others"))
        for changed in (other, office(0, 6), office(0, 5, 5), replace(identity(50, "office 0"))):
            with pytest.raises(LedgerError):
                ledger.reserve(changed, [asks("s")])
        with pytest.raises(BudgetExceeded):
            ledger.reserve(office(1, 5), [asks("s")])
        assert ledger.head() == head
        assert ledger.datasets() == ("office 0",)  # a refused first charge declares nothing


def test_a_ledger_of_an_earlier_version_takes_a_population(tmp_path: Path) -> None:
    """Its data sets have none and keep their own budgets, and cannot be put under one."""
    path = tmp_path / "ledger.db"
    shutil.copyfile(OLD, path)
    path.chmod(0o600)
    with Ledger.open(path) as ledger:
        before = {name: ledger.spent(name) for name in ledger.datasets()}
        known = ledger.identity(next(iter(before)))
    with Ledger.open(path) as ledger:
        for number in range(2):
            ledger.reserve(office(number, 10), [asks("r", 4)])
        with pytest.raises(BudgetExceeded):
            ledger.reserve(office(2, 10), [asks("r", 3)])
        assert {name: ledger.spent(name) for name in before} == before
        said = known.declaration[:-1] + ',"population":{"budget":["1"],"name":"everybody"}}'
        with pytest.raises(LedgerError, match="was declared otherwise"):
            ledger.check(replace(known, declaration=said))
        assert ledger.verify().intact
