"""The ledger under fire: every call, statement and line fails in turn.

The law in every test: what was acknowledged is on disk, the total never exceeds the budget, and a ledger that was not
left as it was written is refused or still shows at least what was spent. Every fault, kill and race is counted, and the
counts are shown when the file is through: `pytest -m slow tests/hostile` has the full numbers.
"""

from __future__ import annotations

import errno
import os
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType

import pytest
from tests.builders import drawn

from discreet.errors import LedgerError
from discreet.ledger import Ledger
from discreet.ledger import account as account_module
from discreet.ledger import store as store_module

from .ledgers import TOTALS, UNIT, Model, asks, every_operation, identity, units_spent, with_totals
from .tracing import is_open_to_faults

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


TALLIED = "ledger"


@pytest.fixture
def tmp_path(folder: Path) -> Path:
    """Every file of these tests lies in memory, if it can."""
    return folder


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


@pytest.mark.one_in(3)
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
            drawn(ledger, number)
            with failing_statement(nth, "before") as seen:
                try:
                    ledger.commit(number, b"x") if kind == "commit" else ledger.fail(number)
                except LedgerError:
                    assert len(seen) > nth
                else:
                    return
            stored = ledger.stored(identity(), "a")
            assert stored is not None
            assert stored.state == "drawing"
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
        if event == "line" and is_open_to_faults(frame) and self._strike():
            raise (MemoryError if self.kind % 2 else KeyboardInterrupt)
        return self._trace


def sqlite_error(number: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("injected")
    error.sqlite_errorcode = SQLITE_FAULTS[number % len(SQLITE_FAULTS)]
    return error


def file_error(number: int) -> OSError:
    return OSError(FILE_FAULTS[number % len(FILE_FAULTS)], "injected")


SEAMS = ("statement", "file", "connect", "step", "line")


def every_call_fails_in_turn(folder: Path, seam: str, stride: int, variant: int = 0) -> int:
    """How many faults there were: every `stride`th call at the seam, one after the other."""
    nth = variant % stride
    while True:
        path = folder / f"{seam}.{nth}.db"
        with Faults(seam, lambda call, nth=nth: call == nth, variant).active() as faults:  # type: ignore[misc]
            model = every_operation(path)
        model.settle()
        path.unlink(missing_ok=True)
        if not faults.struck:
            return nth // stride
        nth += stride


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("seam", "stride"),
    [
        *(("statement", 13), ("file", 9), ("connect", 3), ("step", 211), ("line", 211)),
        *(
            pytest.param(seam, stride, marks=pytest.mark.slow)
            for seam, stride in (("statement", 7), ("file", 5), ("connect", 2), ("step", 101), ("line", 101))
        ),
    ],
)
def test_some_calls_of_every_operation_fail_in_turn(tmp_path: Path, tally: Counter[str], seam: str, stride: int) -> None:
    tally["faults"] += every_call_fails_in_turn(tmp_path, seam, stride)


@pytest.mark.exhaustive
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
    model = Model(folder / f"{seam}.{seed}.db", operations // 2)
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
            every_operation(path).settle()
    path.unlink()
    assert every_operation(path).settle() == 9


@pytest.mark.parametrize("seam", SEAMS)
def test_a_caller_survives_a_storm_of_faults(tmp_path: Path, tally: Counter[str], seam: str) -> None:
    tally["faults"] += storm(tmp_path, seam, 60, seed=0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seam", SEAMS)
@pytest.mark.parametrize("seed", range(5))
def test_a_caller_survives_long_storms_of_faults(tmp_path: Path, tally: Counter[str], seam: str, seed: int) -> None:
    tally["faults"] += storm(tmp_path, seam, 600, seed)
