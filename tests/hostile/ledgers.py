"""What the tests of ledgers under fire share: one data set, its requests, and children of a fork."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.builders import drawn

from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger import Entry, Identity, Ledger, Publication, Reservation
from discreet.ledger import store as store_module

UNIT = Fraction(1, 1000)


WON, REFUSED, BROKEN = 0, 3, 9


def identity(units: int = 1000, dataset: str = "wages") -> Identity:
    return Identity(dataset, '{"n":1}', "pure", (units * UNIT,))


def asks(name: str, units: int = 1) -> Reservation:
    return Reservation(name, (units * UNIT,), "plan", b"source")


def with_totals(units: int = 1000, dataset: str = "totals") -> Identity:
    return Identity(dataset, '{"invariants":["n"]}', "pure", (units * UNIT,))


TOTALS = Publication("exact totals", "plan", b"source")


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
        with suppress(BaseException):  # on a full disk, or where no file can be opened
            traceback.print_exc()
        code = BROKEN
    os._exit(code)


def outcome(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def reserved(ledger: Ledger, dataset: str) -> tuple[list[Entry], Fraction]:
    """The reservations of a ledger whose chain is whole, and what its one data set has spent by them."""
    found = ledger.verify()
    assert found.intact, found.problem
    spent = dict(found.spent).get(dataset, (Fraction(0),))[0]
    return [entry for entry in ledger.entries() if entry.kind == "reserve"], spent


def check_committed(ledger: Ledger, who: Identity, payloads: Mapping[str, bytes]) -> None:
    """What was given away is charged and committed, with the very bytes."""
    for name, payload in payloads.items():
        stored = ledger.stored(who, name)
        assert stored is not None, "given away and not charged"
        assert (stored.state, stored.payload) == ("committed", payload)


def inside(work: Callable[[], int]) -> int:
    return outcome(forked(work))


INJECTED = (LedgerError, MemoryError, KeyboardInterrupt)


class Model:
    """What a caller knows of a ledger: what was acknowledged, and what may or may not have happened."""

    def __init__(self, path: Path, units: int) -> None:
        self.path, self.units, self.who = path, units, identity(units)
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
            assert not store_module._GATE._is_owned(), "the lock is still held"  # type: ignore[attr-defined]

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
        elif self.attempt(lambda: ledger.commit(drawn(ledger, number), payload)) is not None:
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
            entries, spent = reserved(ledger, "wages")
            charged = {entry.name: entry.charge[0] / UNIT for entry in entries}
            assert self.acknowledged <= charged.keys() <= self.asked.keys(), "an acknowledged charge was lost"
            assert all(units == self.asked[name] for name, units in charged.items())
            assert spent == sum(charged.values()) * UNIT <= self.units * UNIT, "overspent"
            check_committed(ledger, self.who, self.committed)
            if self.published:
                assert ledger.published(with_totals()) is not None
        return int(spent / UNIT)


def every_operation(path: Path) -> Model:
    """Each operation of a ledger at least once, on a file that is not there yet; what fails is left out."""
    model = Model(path, 10)
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
