"""Entries about to be written: numbered, dated, signed with a user name and chained."""

from __future__ import annotations

import getpass
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import replace

from discreet.approvals.demand import Consent, Demand
from discreet.approvals.written import approvals_text
from discreet.exact.clock import utc_now
from discreet.exact.names import one_form
from discreet.ledger.amounts import amounts_text
from discreet.ledger.attempts import find_renewed
from discreet.ledger.book import Book, Standing
from discreet.ledger.consents import demand_details, demand_in, demands_with
from discreet.ledger.datasets import account_of
from discreet.ledger.declarations import amendment
from discreet.ledger.records import (
    STATES_ARE_WRITTEN,
    Entry,
    Identity,
    Publication,
    Reservation,
    canonical,
    entry_body,
    entry_digest,
)

__all__ = ["beginning", "concluding", "dataset_details", "demanding", "going_on", "inspecting", "keyed_hash", "sha256"]


def beginning(
    book: Book, identity: Identity, asked: Sequence[Publication | Reservation]
) -> tuple[tuple[Entry, bytes | str | None], ...]:
    """The entries that begin what is asked for, each with its snapshot, after one that declares or amends.

    The older reservations that are given up for new ones fail first.
    """
    drafts: list[tuple[Entry, bytes | str | None]] = []
    account = account_of(book, identity.dataset)
    dataset = identity.dataset if account is None else account.identity.dataset  # all entries have one spelling of it
    if account is None:
        drafts.append((_draft(dataset, "dataset", details=dataset_details(identity)), None))
    elif changed := amendment(account.declared, identity.declaration):
        drafts.append((_draft(dataset, "amend", details=changed), None))
    drafts += [(_conclusion(older, "fail", None), None) for older in find_renewed(book, account, asked)]
    demand = demand_in([one.consent for one in asked])
    if demand is not None and one_form(dataset) not in book.demands:
        drafts.append((_draft(one_form(dataset), "demand", details=demand_details(demand, None, None)), None))
    demands = demands_with(book.demands, dataset, demand)
    for one in asked:
        draft = replace(_draft(dataset, "publish", details=one.details), name=one.name, plan_digest=one.plan_digest)
        if isinstance(one, Reservation):
            draft = replace(draft, kind="reserve", charge=one.charge)
            draft = replace(draft, used_digest=one.used_digest, protocol=STATES_ARE_WRITTEN, windows=one.windows)
        drafts.append((replace(draft, approvals=approvals_text(demands, one.consent)), one.snapshot))
    sequence, previous = book.sequence, book.digest
    chained = []
    for draft, snapshot in drafts:
        entry = _chain(draft, sequence, previous)
        sequence, previous = entry.sequence, entry.digest
        chained.append((entry, snapshot))
    return tuple(chained)


def demanding(book: Book, dataset: str, demand: Demand, consent: Consent | None) -> Entry:
    """The entry that makes a demand."""
    scope = one_form(dataset)
    details = demand_details(demand, consent, book.demands.get(scope))
    return _chain(_draft(scope, "demand", details=details), book.sequence, book.digest)


def concluding(book: Book, standing: Standing, kind: str, payload: bytes | None) -> Entry:
    """The "commit" (with its payload) or "fail" (without) that concludes what stands there."""
    return _chain(_conclusion(standing, kind, payload), book.sequence, book.digest)


def going_on(book: Book, standing: Standing, kind: str, attempt: int, holder: str) -> Entry:
    """The "reading" or "drawing" of an attempt."""
    return _chain(replace(_next(standing, kind), attempt=attempt, holder=holder), book.sequence, book.digest)


def _conclusion(standing: Standing, kind: str, payload: bytes | None) -> Entry:
    return replace(_next(standing, kind), payload_digest="" if payload is None else sha256(payload))


def _next(standing: Standing, kind: str) -> Entry:
    """A further entry about what stands there."""
    draft = _draft(standing.dataset, kind)
    return replace(draft, name=standing.name, plan_digest=standing.plan_digest, reservation=standing.sequence)


def inspecting(book: Book, dataset: str) -> Entry:
    """The "inspect" that says that the curator of a data set has seen its rows, and nothing of what was seen."""
    account = account_of(book, dataset)
    return _chain(_draft(dataset if account is None else account.identity.dataset, "inspect"), book.sequence, book.digest)


def _draft(dataset: str, kind: str, *, details: str = "{}") -> Entry:
    nonce = secrets.token_hex(16)
    return Entry(sequence=0, dataset=dataset, kind=kind, time=utc_now(), user=_user(), nonce=nonce, details=details)


def _chain(draft: Entry, sequence: int, previous: str) -> Entry:
    entry = replace(draft, sequence=sequence + 1)
    return replace(entry, digest=entry_digest(previous, entry_body(entry)))


def _user() -> str:
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):  # no such user id, or a system without user names
        return "unknown"
    return user if user and user.isprintable() else "unknown"


def sha256(payload: bytes) -> str:
    """The digest under which release bytes are committed."""
    return hashlib.sha256(payload).hexdigest()


def keyed_hash(key: bytes, dataset: str, name: str, snapshot: bytes | str) -> bytes:
    """The HMAC-SHA-256 of a source, bound to the release so that equal sources do not show as equal hashes."""
    source = snapshot if isinstance(snapshot, bytes) else snapshot.encode("utf-8", "surrogatepass")
    mac = hmac.new(key, digestmod=hashlib.sha256)
    for part in (dataset.encode(), name.encode(), source):
        mac.update(len(part).to_bytes(8, "big") + part)
    return mac.digest()


def dataset_details(identity: Identity) -> str:
    """The details of the entry that declares a data set."""
    return canonical(
        {"budget": amounts_text(identity.budget), "declaration": identity.declaration, "measure": identity.measure}
    )
