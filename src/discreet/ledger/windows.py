"""The windows of a data set: ranges of days of a frozen column, each with a budget (Q2 of docs/proofs/populations.md).

A release that names windows reads their rows only, and is charged to each of them. One that names none reads all rows, and
is charged to every window, also to those that nobody has named yet.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from discreet.errors import ArgumentError, BudgetExceeded
from discreet.exact.windows import Calendar
from discreet.ledger.amounts import Amounts, amounts_from, fits, least, minus, plus, require_amounts

__all__ = [
    "WindowTerms",
    "WindowedAccount",
    "require_room_in",
    "require_window_names",
    "window_account",
    "window_terms",
]


@dataclass(frozen=True, slots=True)
class WindowTerms:
    """The windows as a declaration fixes them: the column, its calendar, and the budget of each window."""

    column: str
    calendar: Calendar
    budget: Amounts


@dataclass(slots=True)
class WindowedAccount:
    """The charges to the windows of one data set.

    `every` is the sum of those that name no windows, which every window has; `own` has the sums of the others by window.
    """

    terms: WindowTerms
    starts: Mapping[str, dt.date]
    every: Amounts
    own: dict[str, Amounts] = field(default_factory=dict)

    def spent(self, name: str) -> Amounts:
        """The sum of all charges to one window."""
        own = self.own.get(name)
        return self.every if own is None else plus(self.every, own)

    def left(self, names: tuple[str, ...] = ()) -> Amounts:
        """What a release of these windows, or of all rows, can be charged at most: the least that one of them has left."""
        touched = names or (*self.own, "")
        return least([minus(self.terms.budget, self.spent(name)) for name in touched])

    def take(self, names: tuple[str, ...], charge: Amounts) -> None:
        """The charge is in the sum of each window that the release reads."""
        if not names:
            self.every = plus(self.every, charge)
        for name in names:
            own = self.own.get(name)
            self.own[name] = charge if own is None else plus(own, charge)

    def copied(self) -> WindowedAccount:
        """The same charges, to which others can be added without changing these."""
        return replace(self, own=dict(self.own))

    def check(self, names: object) -> tuple[str, ...]:
        """The names of an entry, which are windows of this data set, each once and in order.

        Raises:
            ValueError: they are not.
        """
        if type(names) is not list or not names or not all(type(name) is str and name in self.starts for name in names):
            raise ValueError("names windows that its data set does not have")
        if any(self.starts[one] >= self.starts[after] for one, after in pairwise(names)):
            raise ValueError("names windows twice, or not in their order")
        return tuple(names)


@lru_cache(maxsize=8)  # every operation reads the declaration, nearly always the same one, and it may be long
def window_terms(declaration: str) -> WindowTerms | None:
    """The windows of a declaration; None where it has none.

    Raises:
        ArgumentError: they are not written as windows are.
    """
    written = json.loads(declaration).get("windows")
    return None if written is None else _terms_in(written)


def _terms_in(written: Any) -> WindowTerms:
    try:
        days = dt.date.fromisoformat(written["first"]), dt.date.fromisoformat(written["last"])
        column, budget = written["column"], amounts_from(written["budget"])
        if type(column) is not str or written.keys() != {"column", "each", "first", "last", "budget"}:
            raise TypeError("not the keys of windows")  # noqa: TRY301 (one message for all that can be wrong)
        terms = WindowTerms(column, Calendar(written["each"], *days), budget)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise ArgumentError("declaration: its windows must have column, each, first, last and budget") from None
    require_amounts(budget, "the budget of a window")
    return terms


def window_account(declaration: str) -> WindowedAccount | None:
    """The account of the windows of a declaration, to which nothing is charged yet; None where it has none."""
    terms = window_terms(declaration)
    if terms is None:
        return None
    return WindowedAccount(terms, terms.calendar.by_name(), (Fraction(0),) * len(terms.budget))


def require_window_names(windows: WindowedAccount | None, names: tuple[str, ...]) -> None:
    """The windows that a release names are windows of its data set.

    Raises:
        ArgumentError: they are not, or not each once and in order.
    """
    if not names:
        return
    try:
        if windows is None:
            raise ValueError("names windows, and its data set has none")  # noqa: TRY301
        windows.check(list(names))
    except ValueError as wrong:
        raise ArgumentError(f"windows={', '.join(map(str, names))}: the release {wrong}") from None


def require_room_in(windows: WindowedAccount, dataset: str, asked: Sequence[tuple[tuple[str, ...], Amounts]]) -> None:
    """Every window has room for all that is asked of it together: pairs of the windows of a release and its charge.

    Raises:
        BudgetExceeded: one has not; without words, but with whose budget it is.
    """
    after = windows.copied()
    for names, charge in asked:
        left = after.left(names)
        if not fits(charge, left):
            which = f"window {', '.join(names)}" if names else "all rows, and so each window"
            raise BudgetExceeded("", charge, left, f"dataset='{dataset}', {which}")
        after.take(names, charge)
