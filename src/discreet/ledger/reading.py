"""The contents of the file, checked: entries up to the head, release bytes, keyed hashes. Anything damaged is refused."""

from __future__ import annotations

from itertools import islice

from discreet.ledger.attempts import Alive, why_lost
from discreet.ledger.book import Book, Standing, follow_all
from discreet.ledger.consents import find_unsigned
from discreet.ledger.drafts import sha256
from discreet.ledger.records import StoredRelease, entry_from
from discreet.ledger.store import Transaction

__all__ = ["find_damage", "read", "stored_release"]

_AT_ONCE = 64  # entries; what is decoded of more no longer fits into the processor's fast memory


def read(book: Book, transaction: Transaction, seen: tuple[int, str]) -> None:
    """`book` has followed all entries to the head.

    Raises:
        ValueError: an entry cannot follow, or the entries do not end where the head says, or the entry `seen` before is
            no longer there.
    """
    if seen[0] and transaction.digest(seen[0]) != seen[1]:
        raise ValueError(f"entry {seen[0]} was there and is gone: an older or another copy has taken its place")
    try:
        rows = transaction.entries(book.sequence)
        while some := list(islice(rows, _AT_ONCE)):
            follow_all(book, some)
        if (book.sequence, book.digest) != transaction.head()[1:]:
            raise ValueError("is missing, or is not the one that the head names")  # noqa: TRY301
    except ValueError as error:
        raise ValueError(f"entry {book.sequence + 1} {error}") from None


def stored_release(transaction: Transaction, standing: Standing, alive: Alive) -> StoredRelease:
    """The stored record of a release or publication, with its bytes if it was committed.

    Raises:
        ValueError: the bytes are not the committed bytes.
    """
    payload = transaction.payload(standing.outcome) if standing.state == "committed" else b""
    if standing.state == "committed" and sha256(payload) != standing.payload_digest:
        raise ValueError("damaged")
    _, body, digest = next(transaction.entries(standing.sequence - 1))
    begun = entry_from(body, digest)
    living = alive(standing.holder) if standing.holder and not standing.outcome else False
    is_lost = standing.kind == "reserve" and standing.state != "committed" and not standing.resumable and living is not True
    return StoredRelease(
        standing.sequence,
        standing.plan_digest,
        standing.state,
        payload,
        standing.used_digest,
        charge=begun.charge,
        details=begun.details,
        attempts=standing.attempts,
        alive=living,
        lost=why_lost(standing) if is_lost else "",
    )


def find_damage(book: Book, transaction: Transaction) -> tuple[int, str]:
    """The first entry whose release bytes, keyed hash or signatures are wrong, and what is wrong; (0, "") if none."""
    committed = {outcome: digest for outcome, state, digest in book.concluded.values() if state == "committed"}
    for sequence, payload in transaction.payloads():
        if not isinstance(payload, bytes) or sha256(payload) != committed.pop(sequence, None):
            return sequence, f"entry {sequence} has damaged release bytes"
    if committed:
        return min(committed), f"entry {min(committed)} has lost its release bytes"
    hashed = transaction.list_hashed()
    if hashed != list(book.begun):  # both in order
        unhashed = book.begun.keys() ^ hashed
        return min(unhashed), f"entry {min(unhashed)} has lost the keyed hash of its source"
    return find_unsigned(book.approved)
