"""Planted errors in the code of populations and windows: a short specification notices each of them.

The specification is a walk of reservations with what must come of each: won, or refused, and the sums afterwards.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.errors import DiscreetError
from discreet.exact import windows as calendars
from discreet.exact.canonical import canonical
from discreet.ledger import Identity, Ledger, Reservation, datasets, rules
from discreet.ledger import book as books
from discreet.ledger import losses as lost
from discreet.ledger.amounts import plus
from discreet.ledger.windows import WindowedAccount
from discreet.session import windows as sessions

DAYS = {"column": "day", "each": "month", "first": "2026-01-01", "last": "2026-03-31", "budget": ["4"]}
Planted = Callable[[pytest.MonkeyPatch], None]


def data_set(name: str, **more: Any) -> Identity:
    said = {"neighbours": {"relation": "add-remove", "rows_per_person": 1}, "schema": [], **more}
    return Identity(name, canonical({**said, "population": {"name": "all", "budget": ["7"]}}), "pure", (Fraction(9),))


FIRST, SECOND = data_set("a", windows=DAYS), data_set("b")
OTHER = data_set("c", neighbours={"relation": "add-remove", "rows_per_person": 2})
WALK: list[tuple[Identity, int, tuple[str, ...], bool]] = [
    (FIRST, 3, ("2026-01",), True),
    (FIRST, 2, ("2026-01",), False),  # January has 1 left
    (FIRST, 1, ("2026-01", "2026-02"), True),
    (FIRST, 1, (), False),  # all rows: January has nothing left
    (OTHER, 1, (), False),  # another relation
    (SECOND, 2, (), True),
    (SECOND, 2, (), False),  # the population has 1 left
    (FIRST, 1, ("2026-02",), True),
    (SECOND, 1, (), False),  # nothing is left
]
LOST = {"2025-12-31": 2, "2026-01-01": 6, "2026-01-31": 6, "2026-02-01": 7, "2026-03-01": 7}


def walk(path: Path) -> Iterator[bool]:
    """Whether each step comes out as specified; the file is opened anew for each."""
    for number, (who, charge, names, wins) in enumerate(WALK):
        with Ledger.open(path) as ledger:
            asked = Reservation(f"r{number}", (Fraction(charge),), "plan", b"", windows=names)
            try:
                ledger.reserve(who, [asked])
            except DiscreetError:
                yield not wins
            else:
                yield wins
    with Ledger.open(path) as ledger:
        account, windows = ledger.above.population(FIRST), ledger.above.windows(FIRST)
        yield account is not None and account.spent == (Fraction(7),)
        yield windows is not None and [windows.spent(name)[0] for name in windows.starts] == [4, 2, 0]
        charges = [one for who in (FIRST, SECOND) for one in lost.dated_charges(who, ledger.entries(who.dataset))]
        nothing = (Fraction(0),)
        found = {day: lost.charge_by(charges, dt.date.fromisoformat(day), nothing)[0] for day in LOST}
        yield found == LOST
        yield ledger.verify().intact


SCHEMA = dp.Schema(day=dp.Date("2026-01-01", "2026-03-31"))
WINDOWS = dp.Windows("day", each="month", budget=dp.PureDP(1))


def days_read() -> Iterator[bool]:
    """Whether the windows are the months, to the day, and only whole ones at the beginning count as windows."""
    table = dp.Table(SCHEMA, dp.AddRemove())
    for names, low, high in ((("2026-01",), 0, 30), (("2026-02",), 31, 58), (("2026-02", "2026-03"), 31, 89)):
        within = WINDOWS.within(table, names)
        yield [(step.low, step.high) for step in within.steps] == [(low, high)]  # type: ignore[union-attr]
        yield WINDOWS.read_by(within.agg(dp.count())) == names
    clamped = table.clamp({"day": ("2026-02-01", "2026-02-28")}).where({"day": ("2026-02-01", "2026-02-28")})
    yield WINDOWS.read_by(clamped.agg(dp.count())) == ()
    yield WINDOWS.read_by(table.where({"day": ("2026-02-01", "2026-03-01")}).agg(dp.count())) == ()


def is_right(path: Path) -> bool:
    """Whether all that is specified holds; an error that nobody expects is an error too."""
    try:
        return all([*walk(path), *days_read()])
    except (DiscreetError, ValueError, KeyError, AssertionError):
        return False


def charged_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(datasets.Account, "take_above", lambda self, windows, charge: None)


def charged_twice(patch: pytest.MonkeyPatch) -> None:
    real = datasets.Account.take_above

    def twice(self: Any, windows: Any, charge: Any) -> None:
        real(self, windows, plus(charge, charge))

    patch.setattr(datasets.Account, "take_above", twice)


def population_not_charged(patch: pytest.MonkeyPatch) -> None:
    def only_windows(self: Any, windows: Any, charge: Any) -> None:
        if self.windows is not None:
            self.windows.take(windows, charge)

    patch.setattr(datasets.Account, "take_above", only_windows)


def windows_not_compared(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(WindowedAccount, "left", lambda self, names=(): (Fraction(1000),))


def only_the_first_window_is_charged(patch: pytest.MonkeyPatch) -> None:
    real = WindowedAccount.take
    patch.setattr(WindowedAccount, "take", lambda self, names, charge: real(self, names[:1], charge))


def all_rows_are_charged_to_no_window(patch: pytest.MonkeyPatch) -> None:
    def take(self: Any, names: Any, charge: Any) -> None:
        for name in names:
            self.own[name] = plus(self.own.get(name, (Fraction(0),)), charge)

    patch.setattr(WindowedAccount, "take", take)
    patch.setattr(WindowedAccount, "left", lambda self, names=(): (min([4 - self.spent(n)[0] for n in names] or [4]),))


def another_relation_is_accepted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "_require_one_population", lambda book, identity: None)
    patch.setattr(books, "_join", lambda book, population, identity: None)


def a_cap_resets_with_the_process(patch: pytest.MonkeyPatch) -> None:
    """The sum of the population is of this object alone: entries that are read do not count."""
    patch.setattr(books, "_join", lambda book, population, identity: None)


def windows_end_a_day_late(patch: pytest.MonkeyPatch) -> None:
    real = calendars.Calendar.end
    patch.setattr(calendars.Calendar, "end", lambda self, start: real(self, start) + dt.timedelta(days=1))


def windows_end_a_day_early(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sessions, "_DAY", dt.timedelta(days=2))


def any_condition_is_a_window(patch: pytest.MonkeyPatch) -> None:
    real = sessions.Windows._days

    def lenient(self: Any, schema: Any, names: Any) -> Any:
        return real(self, schema, names) if len(names) < 2 else (dt.date(2026, 2, 1), dt.date(2026, 3, 1))

    patch.setattr(sessions.Windows, "_days", lenient)


def begun_means_before(patch: pytest.MonkeyPatch) -> None:
    real = lost.charge_by
    patch.setattr(lost, "charge_by", lambda charges, day, nothing: real(charges, day - dt.timedelta(days=1), nothing))


def charges_count_from_the_last_window(patch: pytest.MonkeyPatch) -> None:
    real = lost.dated_charges

    def from_the_last(identity: Any, entries: Any) -> Any:
        return real(identity, [replace(one, windows=one.windows[-1:]) for one in entries])

    patch.setattr(lost, "dated_charges", from_the_last)


PLANTED = [
    charged_nothing,
    charged_twice,
    population_not_charged,
    windows_not_compared,
    only_the_first_window_is_charged,
    all_rows_are_charged_to_no_window,
    another_relation_is_accepted,
    a_cap_resets_with_the_process,
    windows_end_a_day_late,
    windows_end_a_day_early,
    any_condition_is_a_window,
    begun_means_before,
    charges_count_from_the_last_window,
]


def test_the_specification_holds(tmp_path: Path) -> None:
    assert [*walk(tmp_path / "l.db"), *days_read()] == [True] * (len(WALK) + 12)
    assert is_right(tmp_path / "other.db")


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.__name__)
def test_a_planted_error_is_noticed(planted: Planted, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        planted(patch)
        assert not is_right(tmp_path / "l.db")
    assert is_right(tmp_path / "again.db")
