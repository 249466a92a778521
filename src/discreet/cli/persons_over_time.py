"""`discreet ledger show --population`: what one person can have lost over all data sets and windows, at any date."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.cli.output import Answer, Grid, align
from discreet.errors import ArgumentError, LedgerError, printed
from discreet.exact.figures import enumerate_texts
from discreet.exact.given_paths import require_path, stands
from discreet.exact.numbers import text
from discreet.ledger import Identity, Ledger
from discreet.ledger.amounts import least
from discreet.ledger.losses import DatedCharge, charge_by, dated_charges
from discreet.ledger.populations import population_of
from discreet.ledger.records import lists_invariants
from discreet.ledger.windows import WindowTerms, window_terms
from discreet.pages.words.catalogue import MAIN, Words, words_in
from discreet.privacy import from_coordinates
from discreet.privacy.amounts import amount_text, number_text
from discreet.session.accounts import budget_in

__all__ = ["show_populations"]

Amounts = tuple[Fraction, ...]

_ALIKE = "as if this list of releases had been fixed in advance"
_SHOWN = 24  # dates of one population; --at shows any other


@dataclass(frozen=True, slots=True)
class _Member:
    """A data set: its declaration, its windows if it has any, and its charges with the day from which they count."""

    identity: Identity
    windows: WindowTerms | None
    charges: Sequence[DatedCharge]


@dataclass(frozen=True, slots=True)
class _Persons:
    """The data sets that one person can be in, and the budget above theirs; None where no population is declared."""

    name: str
    budget: Amounts | None
    members: Sequence[_Member]

    @property
    def nothing(self) -> Amounts:
        return (Fraction(0),) * len(self.members[0].identity.budget)

    def by(self, day: dt.date) -> Amounts:
        """The sum of the charges of all releases that can have read rows of windows begun by a day (Q3)."""
        return charge_by([one for member in self.members for one in member.charges], day, self.nothing)

    def most_by(self, day: dt.date) -> Amounts:
        """What this can become at most, whatever else is released, also from data sets that join later (Q3)."""
        return _most(self.members[0], day) if self.budget is None else self.budget

    def starts(self) -> list[dt.date]:
        """The first days of the windows that a charge begins to count at, in order."""
        return sorted({one.start for member in self.members for one in member.charges if one.start is not None})


def _most(member: _Member, day: dt.date) -> Amounts:
    whole = member.identity.budget
    if member.windows is None:
        return whole
    begun = sum(start <= day for start in member.windows.calendar.starts())
    # A release of all rows takes from each window, so that all releases that do take at most the budget of one.
    return least([whole, tuple(max(begun, 1) * amount for amount in member.windows.budget)])


def show_populations(file: Path, at: str | None, language: str | None) -> Answer:
    """The account of every population of a ledger, and of every data set with windows: what one person can have lost.

    Raises:
        LedgerError: the file does not exist or is damaged.
        ArgumentError: `at` is not a date, or there are no words in the language.
    """
    day, words = None if at is None else _day(at), words_in(language or MAIN, demanded=True)
    if not stands(require_path(file, "FILE"), "FILE"):
        raise LedgerError(f"ledger '{file}': there is no such file; check the path")
    with Ledger.open(file) as ledger:
        members = [_member(ledger, name) for name in ledger.datasets()]
        head = ledger.head()
    every = _populations(members)
    lines: list[str | Grid] = []
    for persons in every:
        lines += [*_lines(persons, day, words), ""]
    if not every:
        lines.append(words.said("no data set of this ledger declares a population or windows"))
    lines.append(f"head {head}")
    return Answer(lines, {"ledger": str(file), "head": head, "populations": [_facts(one, day) for one in every]})


def _day(written: str) -> dt.date:
    try:
        return dt.date.fromisoformat(written)
    except ValueError:
        raise ArgumentError(f"--at: {printed(written)} must be a date such as 2026-06-30") from None


def _member(ledger: Ledger, name: str) -> _Member:
    identity = ledger.identity(name)
    return _Member(identity, window_terms(identity.declaration), dated_charges(identity, ledger.entries(name)))


def _populations(members: Sequence[_Member]) -> list[_Persons]:
    """The populations in the order of their first data sets; a data set with windows and no population is one by itself."""
    found: dict[tuple[str, str], list[_Member]] = {}
    budgets: dict[tuple[str, str], Amounts] = {}
    for member in members:
        terms = population_of(member.identity)
        if terms is not None:
            budgets["population", terms.name] = terms.budget
            found.setdefault(("population", terms.name), []).append(member)
        elif member.windows is not None:
            found["dataset", member.identity.dataset] = [member]
    return [_Persons(key[1], budgets.get(key), some) for key, some in found.items()]


def _lines(persons: _Persons, day: dt.date | None, words: Words) -> list[str | Grid]:
    first = persons.members[0].identity
    spent = persons.by(dt.date.max)
    named = "data set" if persons.budget is None else "population"
    facts = [("one person in all of it has lost at most", _show(first, spent) + _alike(first))]
    if persons.budget is not None:
        left = tuple(whole - gone for whole, gone in zip(persons.budget, spent, strict=True))
        facts = [("budget", _show(first, persons.budget)), *facts, ("remaining", _show(first, left))]
    rows = [
        (one.identity.dataset, _show(first, _total(persons, one)), _windows_words(first, one)) for one in persons.members
    ]
    return [
        words.said(f"{named} '{persons.name}' ({first.measure})"),
        *align([(words.said(word), words.said(value)) for word, value in facts]),
        Grid(
            [words.said(title) for title in ("data set", "charged", "windows")],
            [(name, *map(words.said, others)) for name, *others in rows],
        ),
        *_dates(persons, day, words),
        *_totals(persons, words),
    ]


def _beside_totals(persons: _Persons) -> list[str]:
    """The data sets that publish exact totals."""
    return [one.identity.dataset for one in persons.members if lists_invariants(one.identity.declaration)]


def _totals(persons: _Persons, words: Words) -> list[str]:
    """The meaning of the sum where data sets publish exact totals (Q1)."""
    names = _beside_totals(persons)
    if not names:
        return []
    told = "compared tables have the same exact totals, so that with one person's data others' change"
    return [words.said(f"{enumerate_texts(names)}: {told}")]


def _total(persons: _Persons, member: _Member) -> Amounts:
    return charge_by(member.charges, dt.date.max, persons.nothing)


def _windows_words(first: Identity, member: _Member) -> str:
    if member.windows is None:
        return "none: every person can be in it at any date"
    calendar = member.windows.calendar
    names, budget = calendar.names(), _show(first, member.windows.budget)
    return f"{len(names)} by {calendar.each} ({names[0]} to {names[-1]}), {budget} each"


def _dates(persons: _Persons, day: dt.date | None, words: Words) -> list[str | Grid]:
    """The loss by each date at which a window begins that was charged, or by one date."""
    starts = persons.starts() if day is None else [day]
    if not starts:
        return []
    first = persons.members[0].identity
    rows = [(one.isoformat(), _show(first, persons.by(one)), _show(first, persons.most_by(one))) for one in starts[-_SHOWN:]]
    told = "A person whose rows are all in windows that have begun by a date, and in any of the other data sets:"
    left_out = f"{len(starts) - _SHOWN} earlier dates are not shown; --at DATE shows any"
    titles = [words.said(title) for title in ("date", "has lost at most", "whatever else is released")]
    table = Grid(titles, [(date, *map(words.said, amounts)) for date, *amounts in rows])
    return [words.said(told), table, *([f"  {words.said(left_out)}"] if len(starts) > _SHOWN else [])]


def _facts(persons: _Persons, day: dt.date | None) -> Mapping[str, Any]:
    starts = persons.starts() if day is None else [day]
    return {
        **({"dataset": persons.name} if persons.budget is None else {"population": persons.name}),
        "measure": persons.members[0].identity.measure,
        **({} if persons.budget is None else {"budget": _texts(persons.budget)}),
        "charged": _texts(persons.by(dt.date.max)),
        "datasets": [{"dataset": one.identity.dataset, "charged": _texts(_total(persons, one))} for one in persons.members],
        **({"beside_exact_totals": names} if (names := _beside_totals(persons)) else {}),
        "by_date": [
            {"date": one.isoformat(), "charged": _texts(persons.by(one)), "at_most": _texts(persons.most_by(one))}
            for one in starts
        ],
    }


def _texts(amounts: Amounts) -> list[str]:
    return [text(value) for value in amounts]


def _alike(first: Identity) -> str:
    """The condition of what is said of charges so far; a pure loss holds on every path (W1 of docs/proofs/samples.md)."""
    budget = budget_in(first)
    pure = budget is not None and budget.pair is not None and not budget.pair[1]
    return "" if pure else f", {_ALIKE}"


def _show(first: Identity, amounts: Amounts) -> str:
    """The amounts in the parameters of their measure, or as they add where the declaration names none."""
    budget = budget_in(first)
    if budget is None:
        return ", ".join(number_text(value) for value in amounts)
    return amount_text(from_coordinates(type(budget), amounts))
