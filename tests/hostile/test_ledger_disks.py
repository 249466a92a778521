"""Disks that are full, rights that are missing, clocks that jump: the ledger refuses and stays whole."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from tests.builders import drawn

from discreet.errors import BudgetExceeded, LedgerError
from discreet.exact import clock as clock_module
from discreet.ledger import Ledger, Reservation

from .ledgers import BROKEN, REFUSED, UNIT, WON, asks, every_operation, identity, inside, units_spent

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


TALLIED = "ledger"


@pytest.fixture
def tmp_path(folder: Path) -> Path:
    """Every file of these tests lies in memory, if it can."""
    return folder


def test_a_full_disk_refuses_and_leaves_the_ledger_whole(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        (number,) = ledger.reserve(identity(), [asks("a")])
        drawn(ledger, number)
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
            model = every_operation(path)
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


@pytest.mark.exhaustive
def test_a_disk_that_is_full_at_any_size(tmp_path: Path, tally: Counter[str]) -> None:
    tally["faults"] += limits(tmp_path, resource.RLIMIT_FSIZE, range(0, 80_000, 200))


def test_nothing_depends_on_a_clock_that_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tally: Counter[str]) -> None:
    dice = random.Random(6)  # noqa: S311 - reproducible
    real = clock_module.datetime

    class Clock:
        @classmethod
        def now(cls, zone: object) -> object:
            tally["faults"] += 1
            if dice.random() < 0.1:
                raise dice.choice([OverflowError, ValueError, OSError])
            return real(dice.randint(1, 9999), dice.randint(1, 12), 1, tzinfo=zone)  # type: ignore[arg-type]

    path = tmp_path / "budget.db"
    monkeypatch.setattr(clock_module, "datetime", Clock)
    for name in ("time", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: dice.uniform(-1e12, 1e12))
    with Ledger.open(path) as ledger, Ledger.open(path) as other:
        for number in range(20):
            (sequence,) = (ledger, other)[number % 2].reserve(identity(20), [asks(f"{number}")])
            (ledger, other)[dice.randint(0, 1)].commit(drawn(ledger, sequence), b"%d" % number)
        with pytest.raises(BudgetExceeded):
            ledger.reserve(identity(20), [asks("more")])
        entries = ledger.entries("wages")
        assert [entry.sequence for entry in entries] == list(range(1, 82))
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
