"""What a sequence of entries means: identities, totals, names and states. Pure: no file, no clock, no randomness.

A `Book` is the fold of the entries read so far: `follow` takes in the next one or says why it cannot be the next.
`require_room` decides whether releases fit, before anything is written.
"""

from __future__ import annotations

import json
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet.errors import ArgumentError, BudgetExceeded, LedgerError
from discreet.ledger.records import (
    Amounts,
    Identity,
    Reservation,
    amounts_from,
    amounts_text,
    canonical,
    entry_digest,
    fields_from,
    is_short,
    require_identity,
    shown,
)

__all__ = [
    "Account",
    "Book",
    "Standing",
    "dataset_details",
    "follow",
    "require_room",
    "same_identity",
]

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a release stands: the numbers of its reservation and, once concluded, of its `outcome`."""

    dataset: str
    name: str
    sequence: int
    plan_digest: str
    state: str
    outcome: int
    payload_digest: str


@dataclass(slots=True)
class Account:
    """One data set: its identity, the sum of its charges, and its releases by name."""

    identity: Identity
    spent: Amounts
    releases: dict[str, Standing] = field(default_factory=dict)

    @property
    def remaining(self) -> Amounts:
        """Budget minus charges, never negative (`follow` refuses an entry that would make it so)."""
        return tuple(most - gone for most, gone in zip(self.identity.budget, self.spent, strict=True))


@dataclass(slots=True)
class Book:
    """The entries 1 … `sequence` folded together; `digest` is that of the last (of the empty ledger for 0)."""

    digest: str
    sequence: int = 0
    accounts: dict[str, Account] = field(default_factory=dict)
    reservations: dict[int, Standing] = field(default_factory=dict)


def follow(book: Book, row: tuple[int, str, str]) -> None:
    """`book` has taken in the next entry, given as its sequence number, body and digest.

    Raises:
        ValueError: it cannot be the next entry; the message says why.
    """
    sequence, body, digest = row
    if sequence != book.sequence + 1:
        raise ValueError("is missing")
    if type(body) is not str or digest != entry_digest(book.digest, body):
        raise ValueError("has a digest that does not match its contents and the entry before")
    fields = fields_from(body)
    meaning = _MEANINGS.get(fields.get("kind", ""))
    if fields.get("sequence") != sequence or meaning is None:
        raise ValueError("has another number, or a kind that this version does not know")
    try:
        meaning(book, sequence, fields)
    except (KeyError, TypeError, AttributeError) as error:
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
    book.accounts[dataset] = Account(identity, _nothing(identity))


def _reserve(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    dataset, name = fields["dataset"], fields["name"]
    account = book.accounts.get(dataset)
    if account is None or name in account.releases:
        raise ValueError("reserves for an undeclared data set, or under a name that is used")
    charge = amounts_from(fields["charge"])
    if len(charge) != len(account.spent) or min(charge) < 0:
        raise ValueError("has a charge without the coordinates of the budget, or a negative one")
    spent = _sum(account.spent, charge)
    if not _fits(spent, account.identity.budget):
        raise ValueError("spends more than the budget")
    account.spent = spent
    standing = Standing(dataset, name, sequence, fields["plan_digest"], "reserved", 0, "")
    book.reservations[sequence] = account.releases[name] = standing


def _commit(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    _conclude(book, sequence, fields, "committed", fields["payload_digest"])


def _fail(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    _conclude(book, sequence, fields, "failed", "")


def _conclude(book: Book, sequence: int, fields: dict[str, Any], state: str, payload_digest: str) -> None:
    before = book.reservations.get(fields["reservation"])
    if before is None or (before.dataset, before.name) != (fields["dataset"], fields["name"]):
        raise ValueError("concludes a reservation that does not exist")
    if before.state != "reserved":
        raise ValueError("concludes a reservation for the second time")
    standing = Standing(before.dataset, before.name, before.sequence, before.plan_digest, state, sequence, payload_digest)
    book.reservations[before.sequence] = book.accounts[before.dataset].releases[before.name] = standing


_MEANINGS: dict[str, Callable[[Book, int, dict[str, Any]], None]] = {
    "dataset": _declare,
    "reserve": _reserve,
    "commit": _commit,
    "fail": _fail,
}


def dataset_details(identity: Identity) -> str:
    """The details of the entry that declares a data set."""
    return canonical(
        {"budget": amounts_text(identity.budget), "declaration": identity.declaration, "measure": identity.measure}
    )


def same_identity(book: Book, identity: Identity) -> None:
    """The data set is new, or was declared exactly as in `identity`.

    Raises:
        LedgerError: otherwise, naming the parts that differ.
    """
    account = book.accounts.get(identity.dataset)
    if account is not None and account.identity != identity:
        raise LedgerError(
            f"dataset='{identity.dataset}' was declared otherwise in this ledger: "
            f"{_differences(account.identity, identity)}. What the first release declared is frozen, because it says "
            "what the budget protects: declare the same again or, for other persons or other data, choose another "
            "data set name (and add up what both reveal)"
        )


def _differences(stored: Identity, asked: Identity) -> str:
    """The names of the parts in which two identities differ, with their declared (public) values, shortly."""
    before, now = _parts(stored), _parts(asked)
    parts = [
        f"{key} is {_short(before.get(key))} there and {_short(now.get(key))} here"
        for key in sorted(before.keys() | now.keys())
        if before.get(key) != now.get(key)
    ]
    return "; ".join(parts) or "the declaration is written differently"


def _parts(identity: Identity) -> dict[str, str]:
    declared = json.loads(identity.declaration)
    parts = {key: canonical(value) for key, value in declared.items()}
    return parts | {"measure": identity.measure, "budget": shown(identity.budget)}


def _short(value: str | None) -> str:
    if value is None:
        return "absent"
    return value if len(value) <= _SHOWN else value[:_SHOWN] + "…"


def require_room(book: Book, identity: Identity, reservations: Sequence[Reservation]) -> None:
    """All `reservations` together fit: identity, names and the exact sum of their charges.

    Equal to what remains is accepted; anything above, in any coordinate, is refused.

    Raises:
        LedgerError: another identity, or a name that is used.
        BudgetExceeded: the sum is above what remains.
        ArgumentError: the denominator of the new total would be absurdly long.
    """
    same_identity(book, identity)
    account = book.accounts.get(identity.dataset) or Account(identity, _nothing(identity))
    _require_fresh_names(account, reservations)
    requested = _nothing(identity)
    for reservation in reservations:
        requested = _sum(requested, reservation.charge)
    if not _fits(requested, account.remaining):
        raise _exceeded(identity, requested, account.remaining)
    if not all(is_short(amount) for amount in _sum(account.spent, requested)):
        raise ArgumentError(
            f"charge: its denominator does not combine with what '{identity.dataset}' has spent; "
            "round the spend up to a decimal"
        )


def _require_fresh_names(account: Account, reservations: Sequence[Reservation]) -> None:
    asked = Counter(reservation.name for reservation in reservations)
    for name, times in asked.items():
        if times > 1:
            raise LedgerError(f"name='{name}': two releases of one command have the same name; rename one")
        standing = account.releases.get(name)
        if standing is not None:
            raise LedgerError(
                f"name='{name}': used in data set '{account.identity.dataset}' by reservation {standing.sequence}, "
                f"which is {standing.state}, and names are unique. Only the same plan on the same source gives a "
                "stored release back at no charge; anything else needs another name (and its own charge)"
            )


def _exceeded(identity: Identity, requested: Amounts, remaining: Amounts) -> BudgetExceeded:
    over = tuple(max(Fraction(0), wanted - left) for wanted, left in zip(requested, remaining, strict=True))
    advice = f"the largest spend that fits is {shown(remaining)}" if any(remaining) else "nothing more can be released"
    return BudgetExceeded(
        f"dataset='{identity.dataset}': requested {shown(requested)}, remaining {shown(remaining)}, "
        f"over by {shown(over)} (in the coordinates in which {identity.measure} adds); {advice}",
        requested,
        remaining,
    )


def _nothing(identity: Identity) -> Amounts:
    return (Fraction(0),) * len(identity.budget)


def _fits(charge: Amounts, remaining: Amounts) -> bool:
    return all(map(operator.le, charge, remaining))


def _sum(first: Amounts, second: Amounts) -> Amounts:
    return tuple(map(operator.add, first, second))
