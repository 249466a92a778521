"""What a sequence of entries means: identities, totals, names and states. Pure: no file, no clock, no randomness.

A `Book` is the fold of the entries read so far: `follow` takes in the next one or says why it cannot be the next.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from discreet.ledger.records import (
    Amounts,
    Identity,
    amounts_from,
    amounts_text,
    canonical,
    entry_digest,
    fields_from,
    lists_invariants,
    require_identity,
)

__all__ = ["Account", "Book", "Standing", "dataset_details", "fits", "follow", "fresh_account", "plus"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an attempt stands: the numbers of the entry that began it and, once concluded, of its `outcome`.

    Its `kind` is that of the first: "reserve" for a release, "publish" for the exact totals.
    """

    kind: str
    dataset: str
    name: str
    sequence: int
    plan_digest: str
    state: str
    outcome: int
    payload_digest: str


@dataclass(slots=True)
class Account:
    """One data set: its identity, the sum of its charges, its releases by name, and its exact totals.

    While `totals_owed` the declaration lists invariants whose totals are not published: they can be, and nothing can be
    reserved. So a publication is the first that a data set gives away, and there is one.
    """

    identity: Identity
    spent: Amounts
    totals_owed: bool
    releases: dict[str, Standing] = field(default_factory=dict)
    published: Standing | None = None

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
    attempts: dict[int, Standing] = field(default_factory=dict)


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
    book.accounts[dataset] = fresh_account(identity)


def _reserve(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    dataset, name = fields["dataset"], fields["name"]
    account = book.accounts.get(dataset)
    if account is None or name in account.releases:
        raise ValueError("reserves for an undeclared data set, or under a name that is used")
    if account.totals_owed:
        raise ValueError("reserves before the exact totals are published")
    charge = amounts_from(fields["charge"])
    if len(charge) != len(account.spent) or min(charge) < 0:
        raise ValueError("has a charge without the coordinates of the budget, or a negative one")
    spent = plus(account.spent, charge)
    if not fits(spent, account.identity.budget):
        raise ValueError("spends more than the budget")
    account.spent = spent
    standing = Standing("reserve", dataset, name, sequence, fields["plan_digest"], "reserved", 0, "")
    book.attempts[sequence] = account.releases[name] = standing


def _publish(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    dataset, name = fields["dataset"], fields["name"]
    account = book.accounts.get(dataset)
    if account is None or not account.totals_owed:
        raise ValueError("publishes exact totals that are not declared, or are published already")
    if "charge" in fields:
        raise ValueError("publishes exact totals at a charge")
    book.attempts[sequence] = Standing("publish", dataset, name, sequence, fields["plan_digest"], "reserved", 0, "")


def _commit(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    _conclude(book, sequence, fields, "committed", fields["payload_digest"])


def _fail(book: Book, sequence: int, fields: dict[str, Any]) -> None:
    _conclude(book, sequence, fields, "failed", "")


def _conclude(book: Book, sequence: int, fields: dict[str, Any], state: str, payload_digest: str) -> None:
    before = book.attempts.get(fields["reservation"])
    if before is None or (before.dataset, before.name) != (fields["dataset"], fields["name"]):
        raise ValueError("concludes a reservation that does not exist")
    if before.state != "reserved":
        raise ValueError("concludes a reservation for the second time")
    after = replace(before, state=state, outcome=sequence, payload_digest=payload_digest)
    account = book.accounts[before.dataset]
    if before.kind == "reserve":
        account.releases[before.name] = after
    elif state == "committed":
        if not account.totals_owed:
            raise ValueError("publishes exact totals that are published already")
        account.totals_owed, account.published = False, after
    book.attempts[before.sequence] = after


_MEANINGS: dict[str, Callable[[Book, int, dict[str, Any]], None]] = {
    "dataset": _declare,
    "publish": _publish,
    "reserve": _reserve,
    "commit": _commit,
    "fail": _fail,
}


def dataset_details(identity: Identity) -> str:
    """The details of the entry that declares a data set."""
    return canonical(
        {"budget": amounts_text(identity.budget), "declaration": identity.declaration, "measure": identity.measure}
    )


def fresh_account(identity: Identity) -> Account:
    """The account of a data set that is declared as `identity` and has no other entry."""
    return Account(identity, (Fraction(0),) * len(identity.budget), lists_invariants(identity.declaration))


def fits(charge: Amounts, remaining: Amounts) -> bool:
    """Whether no coordinate of `charge` is above what remains of it."""
    return all(map(operator.le, charge, remaining))


def plus(first: Amounts, second: Amounts) -> Amounts:
    """The sum, coordinate by coordinate."""
    return tuple(map(operator.add, first, second))
