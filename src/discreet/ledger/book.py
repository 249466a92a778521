"""The meaning of a sequence of entries: identities, totals, names and states. Pure: no file, no clock, no randomness.

A `Book` is the fold of the entries read so far: `follow` takes in the next one or says why it cannot be the next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.exact.names import one_form
from discreet.ledger.amounts import amounts_from, fits, spent_after
from discreet.ledger.consents import Deed, Demanded, demand_after, demands_on, require_consented
from discreet.ledger.datasets import Account, fresh_account
from discreet.ledger.declarations import amend
from discreet.ledger.draws import draw_terms
from discreet.ledger.populations import PopulationAccount, population_of, require_population
from discreet.ledger.records import (
    MOST_ATTEMPTS,
    STATES_ARE_WRITTEN,
    Identity,
    can_be_attempted,
    entry_digest,
    fields_from,
    fields_of_all,
    require_identity,
)

__all__ = [
    "Book",
    "Row",
    "Standing",
    "follow",
    "follow_all",
    "standing",
]

Row = tuple[int, str, str]
"""Sequence number, body and digest of an entry, as they are on disk."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a release or publication: the numbers of its first entry and, once concluded, of its `outcome`.

    Its `kind` is the kind of the first entry: "reserve" for a release, "publish" for the exact totals. Until a release is
    committed, so many `attempts` have begun to read, the last one has `reached` a state, and `last` and `holder` are those
    of its last entry.
    """

    kind: str
    dataset: str
    name: str
    sequence: int
    plan_digest: str
    state: str
    outcome: int
    payload_digest: str
    used_digest: str = ""
    reached: str = "reserved"
    attempts: int = 0
    holder: str = ""
    last: int = 0

    @property
    def resumable(self) -> bool:
        """True if a release can still be finished at no further charge."""
        return self.kind == "reserve" and can_be_attempted(self.state, self.attempts)


@dataclass(slots=True)
class Book:
    """The entries 1 … `sequence` folded together; `digest` is the digest of the last entry (of the empty ledger for 0).

    A release or publication is kept as (kind, data set, name, plan digest, digest of its used part) in `begun` and, by the
    same number, as (number of its conclusion, state, payload digest) in `concluded`. A release that is not committed is also
    in `progress`, as (state before any failure, number of its last attempt, holder of that, number of the last entry).
    Tuples of texts, unlike objects, cost the garbage collector nothing, which is a fifth of the time of reading a long
    ledger; `standing` puts the three together.

    `genesis` is the digest of the empty ledger, `demands` has the signatures that are demanded now, and `approved` what was
    signed for an attempt.
    `inspected` has the number of the first inspection of a data set by its name, which need not be declared for it.
    `populations` has the accounts of persons who are in several data sets, by the names of the populations.
    """

    digest: str
    sequence: int = 0
    accounts: dict[str, Account] = field(default_factory=dict)
    inspected: dict[str, int] = field(default_factory=dict)
    begun: dict[int, tuple[str, str, str, str, str]] = field(default_factory=dict)
    concluded: dict[int, tuple[int, str, str]] = field(default_factory=dict)
    progress: dict[int, tuple[str, int, str, int]] = field(default_factory=dict)
    demands: dict[str, Demanded] = field(default_factory=dict)
    approved: dict[int, str] = field(default_factory=dict)
    genesis: str = ""
    populations: dict[str, PopulationAccount] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.genesis = self.genesis or self.digest


def standing(book: Book, sequence: int) -> Standing | None:
    """The state of the release or publication with that number; None when there is none."""
    begun = book.begun.get(sequence)
    if begun is None:
        return None
    kind, dataset, name, plan_digest, used_digest = begun
    progress = book.progress.get(sequence, ("reserved", 0, "", 0))
    outcome, state, payload_digest = book.concluded.get(sequence, (0, progress[0], ""))
    return Standing(kind, dataset, name, sequence, plan_digest, state, outcome, payload_digest, used_digest, *progress)


def follow(book: Book, row: Row) -> None:
    """`book` has taken in the next entry, given as its sequence number, body and digest.

    Raises:
        ValueError: it cannot be the next entry; the message says why.
    """
    sequence, body, digest = row
    if sequence != book.sequence + 1:
        raise ValueError("is missing")
    if type(body) is not str or digest != entry_digest(book.digest, body):
        raise ValueError("has a digest that does not match its contents and the entry before")
    _take_in(book, row, fields_from(body))


def follow_all(book: Book, rows: Sequence[Row]) -> None:
    """`follow` with one row after the other, in less time: all digests first, then all bodies decoded together.

    Raises:
        ValueError: as `follow`; `book` has taken in the rows before the one that cannot be next.
    """
    fields = fields_of_all([body for _, body, _ in rows]) if _are_chained(book, rows) else []
    if not fields:  # one of them is wrong: `follow` finds out which, and why
        for row in rows:
            follow(book, row)
    for row, one in zip(rows, fields, strict=False):  # as many fields as rows, or none
        _take_in(book, row, one)


def _are_chained(book: Book, rows: Sequence[Row]) -> bool:
    """True if the numbers and digests of `rows` continue, without a gap, from the last entry of `book`."""
    sequence, previous = book.sequence, book.digest
    for number, body, digest in rows:
        sequence += 1
        if number != sequence or type(body) is not str or not body.isascii() or digest != entry_digest(previous, body):
            return False
        previous = digest
    return True


def _take_in(book: Book, row: Row, fields: dict[str, Any]) -> None:
    """`book` has taken in a row, whose number and digest must be the ones of the next entry."""
    sequence, _, digest = row
    try:
        meaning = _MEANINGS.get(fields["kind"])
        if fields["sequence"] != sequence or meaning is None:
            raise ValueError("has another number, or a kind that this version does not know")
        meaning(book, sequence, fields)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("lacks a field, or has one of the wrong type") from error
    book.sequence, book.digest = sequence, digest


# The meanings read the fields of a body directly: making an `Entry` of each would double the time of a long ledger.


def _declare(book: Book, _sequence: int, fields: dict[str, Any]) -> None:
    dataset = fields["dataset"]
    if dataset in book.accounts:
        raise ValueError("declares a data set for the second time")
    details = json.loads(fields["details"])
    identity = Identity(dataset, details["declaration"], details["measure"], amounts_from(details["budget"]))
    require_identity(identity)
    require_population(identity)
    account = fresh_account(book, identity)
    if any(draw_terms(other.identity) != draw_terms(identity) for other in account.others):
        raise ValueError("declares a data set of a draw that another one declares otherwise")
    for other in account.others:
        other.others.append(account)
    if account.population is not None:
        _join(book, account.population, identity)
    book.accounts[dataset] = account


def _join(book: Book, population: PopulationAccount, identity: Identity) -> None:
    """The data set is one of its population, which its first data set begins."""
    if population.terms != population_of(identity):
        raise ValueError("declares a data set of a population that another one declares otherwise")
    population.members.append(identity.dataset)
    book.populations[population.terms.name] = population


def _amend(book: Book, _sequence: int, fields: dict[str, Any]) -> None:
    account = book.accounts.get(fields["dataset"])
    if account is None:
        raise ValueError("amends the declaration of an undeclared data set")
    account.declared = amend(account.declared, json.loads(fields["details"]))


def _demand(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    scope = one_form(fields["dataset"])
    book.demands[scope] = demand_after(book.demands, book.genesis, book.digest, sequence, fields)


def _require_consented(book: Book, account: Account, sequence: int, fields: dict[str, Any]) -> None:
    demands = demands_on(book.demands, account.identity.dataset)
    if not demands and "approvals" not in fields:
        return
    kind, name, plan = fields["kind"], fields["name"], fields["plan_digest"]
    deed = Deed(book.genesis, account.identity, kind, name, plan)
    if kind == "reserve":
        charge, replaces = amounts_from(fields["charge"]), account.releases.get(name, 0)
        deed = replace(deed, charge=charge, remaining=account.room(_windows_of(account, fields)), replaces=replaces)
    require_consented(demands, fields["approvals"], deed)
    book.approved[sequence] = fields["approvals"]


def _reserve(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    name = fields["name"]
    account = book.accounts.get(fields["dataset"])
    if account is None or not _is_free(book, account, name):
        raise ValueError("reserves for an undeclared data set, or under a name that is used")
    if account.totals_owed:
        raise ValueError("reserves before the exact totals are published")
    charge, plan_digest = fields["charge"], fields["plan_digest"]
    if type(charge) is not list or len(charge) != len(account.meters):
        raise ValueError("has a charge without the coordinates of the budget")
    if book.demands or "approvals" in fields:
        _require_consented(book, account, sequence, fields)
    windows = _windows_of(account, fields)
    if not account.is_plain:
        if not fits(amounts_from(charge), account.room(windows)):
            raise ValueError("spends more than the budget of its draw, its population or a window")
        account.take_above(windows, amounts_from(charge))
    if len(charge) == 1:  # nearly always: four measures of five add in one coordinate
        meter = account.meters[0]
        meter.spent = spent_after(meter, charge[0])
    else:
        spent = list(map(spent_after, account.meters, charge))  # all fit before one is charged
        for meter, total in zip(account.meters, spent, strict=True):
            meter.spent = total
    account.releases[name] = sequence
    book.begun[sequence] = ("reserve", account.identity.dataset, name, plan_digest, fields.get("used_digest", ""))
    # What 0.1.0 reserved and did not conclude may have been drawn: it wrote nothing down in between.
    state = "reserved" if fields.get("protocol", 0) == STATES_ARE_WRITTEN else "drawing"
    book.progress[sequence] = (state, 0, "", sequence)


def _windows_of(account: Account, fields: dict[str, Any]) -> tuple[str, ...]:
    """The windows that a reservation names; none where it reads all rows."""
    if "windows" not in fields:
        return ()
    if account.windows is None:
        raise ValueError("names windows of a data set that has none")
    return account.windows.check(fields["windows"])


def _is_free(book: Book, account: Account, name: str) -> bool:
    """True if no release has the name, or the last that had it has failed."""
    number = account.releases.get(name, 0)
    return not number or book.concluded.get(number, (0, "", ""))[1] == "failed"


def _read(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    number, attempt, holder = _attempt_of(book, fields)
    state, before, _, _ = book.progress[number]
    if state == "drawing":
        raise ValueError("begins an attempt after something was drawn")
    if attempt != before + 1 or attempt > MOST_ATTEMPTS:
        raise ValueError("begins an attempt that is not the next, or one too many")
    book.progress[number] = ("reading", attempt, holder, sequence)


def _draw(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    number, attempt, holder = _attempt_of(book, fields)
    state, before, held, _ = book.progress[number]
    if (state, attempt, holder) != ("reading", before, held):
        raise ValueError("draws for an attempt that is not the last, or has not read")
    book.progress[number] = ("drawing", attempt, holder, sequence)


def _attempt_of(book: Book, fields: dict[str, Any]) -> tuple[int, int, str]:
    """The open reservation that an entry goes on with, its attempt, and who holds that."""
    number, attempt, holder = fields["reservation"], fields["attempt"], fields["holder"]
    if (
        number not in book.progress
        or number in book.concluded
        or book.begun[number][1:3] != (fields["dataset"], fields["name"])
    ):
        raise ValueError("goes on with a reservation that does not exist, or is concluded")
    if type(attempt) is not int or type(holder) is not str:
        raise ValueError("has an attempt without number and holder")
    return number, attempt, holder


def _inspect(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    if "charge" in fields:
        raise ValueError("inspects rows at a charge")
    book.inspected.setdefault(one_form(fields["dataset"]), sequence)


def _publish(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    dataset, name = fields["dataset"], fields["name"]
    account = book.accounts.get(dataset)
    if account is None or not account.totals_owed:
        raise ValueError("publishes exact totals that are not declared, or are published already")
    if "charge" in fields:
        raise ValueError("publishes exact totals at a charge")
    if book.demands or "approvals" in fields:
        _require_consented(book, account, sequence, fields)
    book.begun[sequence] = ("publish", dataset, name, fields["plan_digest"], "")


def _commit(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    _conclude(book, sequence, fields, "committed", fields["payload_digest"])


def _fail(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    _conclude(book, sequence, fields, "failed", "")


def _conclude(book: Book, sequence: int, fields: dict[str, Any], state: str, payload_digest: str) -> None:
    number, dataset = fields["reservation"], fields["dataset"]
    begun = book.begun.get(number)
    if begun is None or begun[1:3] != (dataset, fields["name"]):
        raise ValueError("concludes a reservation that does not exist")
    if number in book.concluded:
        raise ValueError("concludes a reservation for the second time")
    if begun[0] == "reserve" and state == "committed" and book.progress[number][0] != "drawing":
        raise ValueError("commits what was not drawn")
    if begun[0] == "publish" and state == "committed":
        account = book.accounts[dataset]
        if not account.totals_owed:
            raise ValueError("publishes exact totals that are published already")
        account.totals_owed, account.published = False, number
    if state == "committed":
        book.progress.pop(number, None)
    book.concluded[number] = (sequence, state, payload_digest)


_MEANINGS: dict[str, Callable[[Book, int, dict[str, Any]], None]] = {
    "dataset": _declare,
    "amend": _amend,
    "demand": _demand,
    "inspect": _inspect,
    "publish": _publish,
    "reserve": _reserve,
    "reading": _read,
    "drawing": _draw,
    "commit": _commit,
    "fail": _fail,
}
