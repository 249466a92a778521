"""The contents of the file, checked: entries up to the head, release bytes, keyed hashes. Anything damaged is refused."""

from __future__ import annotations

from itertools import islice

from discreet.ledger.book import Book, Standing, follow_all
from discreet.ledger.consents import count_signatures, find_unsigned
from discreet.ledger.drafts import sha256
from discreet.ledger.records import StoredRelease, Verification
from discreet.ledger.store import Transaction

__all__ = ["find_damage", "read", "stored_release", "verification"]

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


def stored_release(transaction: Transaction, standing: Standing) -> StoredRelease:
    """The stored record of an attempt, with its bytes if it was committed.

    Raises:
        ValueError: the bytes are not the committed bytes.
    """
    payload = transaction.payload(standing.outcome) if standing.state == "committed" else b""
    if standing.state == "committed" and sha256(payload) != standing.payload_digest:
        raise ValueError("damaged")
    return StoredRelease(standing.sequence, standing.plan_digest, standing.state, payload, standing.used_digest)


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


def verification(transaction: Transaction, seen: tuple[int, str]) -> tuple[Book | None, Verification]:
    """The findings of a reading of the whole file, and its book if its entries are sound."""
    book, sound = Book(""), None
    try:
        book.digest = book.genesis = transaction.head()[0]
        read(book, transaction, seen)
        sound = book
        broken, problem = find_damage(book, transaction)
    except ValueError as error:
        broken, problem = book.sequence + 1, str(error)
    spent = tuple((name, account.spent) for name, account in book.accounts.items())
    problem = problem or transaction.integrity()
    return sound, Verification(book.sequence, book.digest, spent, broken, problem, count_signatures(book.approved))
