"""A ledger file and the book of its entries, which is always brought up to the head on disk: the one way in and out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.ledger.book import Book
from discreet.ledger.consents import count_signatures
from discreet.ledger.one_file import RESTORE
from discreet.ledger.reading import find_damage, read
from discreet.ledger.records import Entry, Verification
from discreet.ledger.store import Store, Transaction

__all__ = ["Followed"]


class Followed:
    """A store, and what one object has read of it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._book: Book | None = None
        self._seen = (0, "")  # number and digest of the last entry that this object read or wrote

    @contextmanager
    def viewing(self) -> Iterator[Transaction | None]:
        """The ledger as it is on disk, nothing checked; None while there is no file."""
        seen = self._seen[0]  # before the look at the file: another thread may create it, and write, in between
        if self._store.exists():
            with self._store.reading() as transaction:
                yield transaction
        elif seen:
            raise self._store.error("has disappeared since it was opened; restore it")
        else:
            yield None

    @contextmanager
    def reading(self) -> Iterator[tuple[Book, Transaction | None]]:
        """The book up to the head on disk, and the transaction that read it; None while there is no file."""
        with self.viewing() as transaction:
            yield (Book("") if transaction is None else self._refresh(transaction)), transaction

    @contextmanager
    def writing(self) -> Iterator[tuple[Book, Transaction]]:
        """The book up to the head, and a transaction of its own: what is appended is durable when the block has ended."""
        if not self._store.exists():
            raise self._store.error("does not exist (any more); restore it")
        with self._store.writing() as transaction:
            yield self._refresh(transaction), transaction

    def _refresh(self, transaction: Transaction) -> Book:
        """The book up to the head on disk, of which only the entries that are new to this object are read."""
        book, self._book = self._book, None  # read again from the start if anything goes wrong
        try:
            book = book or Book(transaction.head()[0])
            read(book, transaction, self._seen)
        except ValueError as error:
            raise self._store.error(f"is damaged: {error}. {RESTORE.capitalize()}") from None
        self._book = book
        self.remember(book)
        return book

    def remember(self, last: Entry | Book) -> None:
        """This entry is there: a file without it is an older copy, or another."""
        if last.sequence > self._seen[0]:
            self._seen = (last.sequence, last.digest)

    def verified(self) -> Verification:
        """The findings of a reading of the whole file from its first entry: chain, totals, states, releases, pages.

        Raises:
            LedgerError: the file cannot be read as a ledger at all.
        """
        with self.viewing() as transaction:
            if transaction is None:
                return Verification(0, "", ())
            self._book, book = None, Book("")  # never two books in memory
            try:
                book.digest = book.genesis = transaction.head()[0]
                read(book, transaction, self._seen)
                self._book = book
                broken, problem = find_damage(book, transaction)
            except ValueError as error:
                broken, problem = book.sequence + 1, str(error)
            spent = tuple((name, account.spent) for name, account in book.accounts.items())
            signed = count_signatures(book.approved)
            return Verification(book.sequence, book.digest, spent, broken, problem or transaction.integrity(), signed)
