"""`Ledger`: check, publish, reserve, attempt, draw, commit or fail, give back, verify."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from discreet.errors import ArgumentError, LedgerError, did_you_mean
from discreet.exact.names import one_form
from discreet.ledger.above import Above
from discreet.ledger.amounts import Amounts
from discreet.ledger.attempts import is_lost, may_draw, require_attempt
from discreet.ledger.board import Board
from discreet.ledger.book import Book, Standing, standing
from discreet.ledger.datasets import Account, account_of, fresh_account, number_of
from discreet.ledger.drafts import beginning, concluding, going_on, inspecting, keyed_hash
from discreet.ledger.following import Followed
from discreet.ledger.reading import stored_release
from discreet.ledger.records import (
    Attempt,
    Entry,
    Identity,
    Publication,
    Reservation,
    StoredRelease,
    Verification,
    entry_from,
    require_identity,
    require_publication,
    require_reservation,
    require_text,
)
from discreet.ledger.rules import require_publishable, require_room, require_totals_owed, same_identity
from discreet.ledger.store import Store

__all__ = ["Ledger"]

_PATIENCE = 30.0  # seconds to wait for another process
_MOST_BYTES = 900_000_000  # below SQLite's limit of 10^9 for one value


class Ledger:
    """The account of what was spent on each data set of one file.

    Charges are durable before `reserve` returns and are never given back. Several threads and processes may use the
    same file, and threads the same object; a forked process may go on with it. What cannot be trusted raises
    LedgerError.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._file = Followed(store)
        self.board = Board(store, self._file)  # who must sign before anything is charged
        self.above = Above(self._file)

    @classmethod
    def open(cls, path: str | Path, *, patience: float = _PATIENCE) -> Self:
        """The ledger at `path`, found to be one; ":memory:" is a ledger that ends with this object.

        A file that does not exist is created by the first reservation, not before. Every operation reads and checks the
        entries that are new to this object, the first one all of them. `patience` is how many seconds an operation
        waits for another process.

        Raises:
            LedgerError: missing folder, no ledger, another version, damaged, unreadable.
        """
        ledger = cls(Store(path, patience))
        with ledger._file.viewing():
            pass
        return ledger

    @classmethod
    def open_for(cls, path: str | Path, identity: Identity) -> Self:
        """`open` and `check` in one look at the file. Raises as both."""
        ledger = cls(Store(path, _PATIENCE))
        ledger.check(identity)
        return ledger

    def close(self) -> None:
        """The object cannot be used any more. Closing twice is fine."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # Before the data are opened -------------------------------------------------------------------------------------

    def check(self, identity: Identity) -> None:
        """The data set is new to this ledger, or was declared exactly like this.

        Raises:
            LedgerError: it was declared otherwise; the parts that differ are named.
        """
        require_identity(identity)
        with self._file.reading() as (book, _):
            same_identity(book, identity)

    def publish(self, identity: Identity, publication: Publication) -> int:
        """An attempt to publish the exact totals of a new data set has begun, durably; gives its sequence number.

        It costs nothing, freezes `identity` as the first reservation would, and is concluded by `commit` or `fail`. It may
        be begun again until one is committed, and nothing can be reserved before.

        Raises:
            LedgerError: another identity, one that lists no invariants, totals that are published already, signatures that
                are missing (`NotApproved`), or a ledger that cannot be used.
            ArgumentError: an unusable name or text.
        """
        require_identity(identity)
        require_publication(publication)
        (number,) = self._begin(identity, (publication,), lambda book: require_publishable(book, identity, publication))
        return number

    def reserve(self, identity: Identity, reservations: Sequence[Reservation]) -> tuple[int, ...]:
        """All charges are spent, durably, and their sequence numbers returned; or none is, and an error raised.

        The first reservation of a data set freezes its `identity`. Amounts are compared as exact rationals, coordinate
        by coordinate: equal to what remains is accepted.

        Raises:
            BudgetExceeded: the sum of the charges is above what remains.
            NotApproved: signatures that are demanded are missing, or the ledger has another demand.
            LedgerError: another identity, a name that is used, exact totals that are declared and not published yet, or
                a ledger that cannot be used.
            ArgumentError: a charge of zero, negative, or of another number of coordinates; an unusable name or text.
        """
        require_identity(identity)
        asked = tuple(reservations)
        if not asked:
            raise ArgumentError("reservations=(): at least one release must be asked for")
        for reservation in asked:
            require_reservation(reservation, len(identity.budget))
        return self._begin(identity, asked, lambda book: require_room(book, identity, asked, self._store.holds.alive))

    def _begin(
        self, identity: Identity, asked: Sequence[Publication | Reservation], require: Callable[[Book], None]
    ) -> tuple[int, ...]:
        """All attempts have begun, in one transaction, unless `require` raises; gives their sequence numbers."""
        if not self._store.exists():
            with self._file.reading() as (book, _):
                require(book)  # a refusal creates no file
        self._store.create()
        entries: tuple[tuple[Entry, bytes | str | None], ...] = ()
        try:
            with self._file.writing() as (book, transaction):
                require(book)
                entries = beginning(book, identity, asked)
                key = transaction.key()
                for entry, source in entries:
                    mac = None if source is None else keyed_hash(key, entry.dataset, entry.name, source)
                    transaction.append(entry, mac=mac)
        except LedgerError as error:
            raise self._doubt(error, entries[-1][0]) if entries else error from error.__cause__
        self._file.remember(entries[-1][0])
        return tuple(entry.sequence for entry, source in entries if source is not None)

    def _doubt(self, error: LedgerError, last: Entry) -> LedgerError:
        """The error of a transaction that was to end with `last`, and whether it has: a failure may come after the deed."""
        what = "the charge" if last.kind == "reserve" else "the attempt"
        try:
            with self._store.reading() as transaction:
                written = transaction.digest(last.sequence) == last.digest
        except LedgerError:
            return self._store.error(
                f"could not be written to its end, and not be read since: {what} may stand. Run `discreet ledger show` when "
                "the file can be read; what it lists stands"
            )
        if not written:
            return error
        return self._store.error(
            f"reported a failure after {what} was written, which stands: `discreet ledger show` lists it. Check the disk, "
            "and run the same command again: what is reserved is finished at no further charge"
        )

    def inspect(self, dataset: str) -> int:
        """The number of the entry that says, durably, that the curator looks at the rows. It fixes and costs nothing."""
        require_text(dataset, "dataset")
        self._store.create()
        with self._file.writing() as (book, transaction):
            entry = inspecting(book, dataset)
            transaction.append(entry)
        self._file.remember(entry)
        return entry.sequence

    def inspected(self, dataset: str) -> int:
        """The number of the entry of the first inspection of the data set; 0 if there was none."""
        with self._file.reading() as (book, _):
            return book.inspected.get(one_form(dataset), 0)

    # After -----------------------------------------------------------------------------------------------------------

    @contextmanager
    def attempt(self, sequence: int) -> Iterator[Attempt]:
        """An attempt of reservation `sequence` is reading, durably; in the block, and not before, its data may be opened.

        Until the block ends this process holds a lock that tells others that it is at work. What ends the block before
        `draw` leaves the reservation for another attempt, of which there are at most `MOST_ATTEMPTS`, at no further charge.

        Raises:
            LedgerError: another process is at work on it, something was drawn for it, or all attempts have begun.
        """
        with ExitStack() as held:
            with self._store.translate_errors():
                holder = held.enter_context(self._store.holds.held())
            with self._file.writing() as (book, transaction):
                found = self._find_standing(book, sequence)
                require_attempt(found, self._store.holds.alive)
                entry = going_on(book, found, "reading", found.attempts + 1, holder)
                transaction.append(entry)
            self._file.remember(entry)
            yield Attempt(sequence, entry.sequence, entry.attempt, holder)

    def draw(self, attempt: Attempt) -> None:
        """The attempt is drawing, durably, and no other ever will for this reservation: noise may be drawn now, once.

        Raises:
            LedgerError: its own "reading" is not the last entry of the reservation, or the ledger cannot be written. Then
                nothing may be drawn.
        """
        with self._file.writing() as (book, transaction):
            found = standing(book, attempt.sequence)
            if found is None or not may_draw(found, attempt):
                raise self._store.error(f"has gone on with reservation {attempt.sequence} elsewhere; nothing may be drawn")
            entry = going_on(book, found, "drawing", attempt.number, attempt.holder)
            transaction.append(entry)
        self._file.remember(entry)

    def commit(self, sequence: int, payload: bytes) -> int:
        """The bytes are stored under reservation or publication `sequence`, for ever; gives the entry's own number.

        Raises:
            LedgerError: no such reservation, nothing was drawn for it, it is concluded already, or another has published
                the exact totals.
        """
        if not isinstance(payload, bytes) or len(payload) > _MOST_BYTES:
            raise ArgumentError(f"payload: must be at most {_MOST_BYTES} bytes")
        return self._conclude("commit", sequence, payload)

    def fail(self, sequence: int) -> int:
        """Reservation or publication `sequence` has failed; its charge stands. Gives the entry's own number.

        Raises:
            LedgerError: no such reservation, or it is concluded already.
        """
        return self._conclude("fail", sequence, None)

    def settle(self, sequence: int) -> str:
        """The state of the reservation, which is "failed" from now on if its process died and nothing can come of it."""
        with self._file.writing() as (book, transaction):
            found = self._find_standing(book, sequence)
            if not is_lost(found, self._store.holds.alive):
                return found.state
            entry = concluding(book, found, "fail", None)
            transaction.append(entry)
        self._file.remember(entry)
        return "failed"

    def _conclude(self, kind: str, sequence: int, payload: bytes | None) -> int:
        with self._file.writing() as (book, transaction):
            found = self._find_standing(book, sequence)
            if found.outcome:
                raise self._store.error(
                    f"has entry {sequence} as {found.state} already; begin anew, a release with its own charge"
                )
            if (kind, found.kind) == ("commit", "publish"):
                require_totals_owed(book, book.accounts[found.dataset].identity)
            elif kind == "commit" and found.state != "drawing":
                raise self._store.error(f"has nothing drawn for reservation {sequence}, so nothing can be committed")
            entry = concluding(book, found, kind, payload)
            transaction.append(entry, payload=payload)
        self._file.remember(entry)
        return entry.sequence

    def _find_standing(self, book: Book, sequence: int) -> Standing:
        found = standing(book, sequence)
        if found is None:
            raise self._store.error(f"has no reservation {sequence!r}; give a number that `reserve` or `publish` returned")
        return found

    # Giving back -----------------------------------------------------------------------------------------------------

    def stored(self, identity: Identity, name: str) -> StoredRelease | None:
        """The release of that name, with its bytes if it was committed and they still verify; None if there is none.

        Raises:
            LedgerError: another identity, or the stored bytes are damaged.
        """
        what = f"the release '{name}', whose charge stands"
        return self._find_stored(identity, lambda account: number_of(account, name), what)

    def published(self, identity: Identity) -> StoredRelease | None:
        """The exact totals of the data set with their bytes, which still verify; None while they are not published.

        Raises:
            LedgerError: another identity, or the stored bytes are damaged.
        """
        what = f"the exact totals of '{identity.dataset}'"
        return self._find_stored(identity, lambda account: account.published, what)

    def _find_stored(self, identity: Identity, number: Callable[[Account], int], what: str) -> StoredRelease | None:
        require_identity(identity)
        with self._file.reading() as (book, transaction):
            same_identity(book, identity)
            account = account_of(book, identity.dataset)
            found = standing(book, number(account)) if account else None
            if found is None or transaction is None:
                return None
            try:
                return stored_release(transaction, found, self._store.holds.alive)
            except ValueError:
                raise self._store.error(f"has a damaged copy of {what}: restore the newest copy of the ledger") from None

    # Reading ---------------------------------------------------------------------------------------------------------

    def datasets(self) -> tuple[str, ...]:
        """The data sets of this ledger, in the order of their declaration."""
        with self._file.reading() as (book, _):
            return tuple(book.accounts)

    def identity(self, dataset: str) -> Identity:
        """The declaration of `dataset`, from its first charge."""
        with self._file.reading() as (book, _):
            return self._account(book, dataset).identity

    def spent(self, dataset: str) -> Amounts:
        """The exact sum of all charges of `dataset`, whatever became of their releases."""
        with self._file.reading() as (book, _):
            return self._account(book, dataset).spent

    def remaining(self, dataset: str) -> Amounts:
        """The budget minus `spent` and what others of the same draw have spent; never more than its population has left."""
        with self._file.reading() as (book, _):
            return self._account(book, dataset).remaining

    def left(self, identity: Identity, windows: tuple[str, ...] | None = None) -> tuple[str, Amounts]:
        """`head`, and what remains of the budget, or of that for `windows`; also for a data set that is new.

        Raises:
            LedgerError: another identity, or a ledger that cannot be used.
        """
        with self._file.reading() as (book, _):
            same_identity(book, identity)
            found = account_of(book, identity.dataset) or fresh_account(book, identity)
            return book.digest, found.remaining if windows is None else found.room(windows)

    def entries(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """The entries of `dataset`, or of all data sets, in order."""
        with self._file.reading() as (book, transaction):
            stored = None if dataset is None else self._account(book, dataset).identity.dataset
            rows = transaction.entries(0) if transaction else ()
            entries = (entry_from(body, digest) for _, body, digest in rows)
            return tuple(entry for entry in entries if stored is None or entry.dataset == stored)

    def standings(self, dataset: str) -> tuple[Standing, ...]:
        """The state of each reservation and publication of `dataset`, in order."""
        with self._file.reading() as (book, _):
            stored = self._account(book, dataset).identity.dataset
            found = (standing(book, number) for number, begun in book.begun.items() if begun[1] == stored)
            return tuple(one for one in found if one is not None)

    def is_at_work(self, found: Standing) -> bool:
        """True if a process that lives is known to be at work on a reservation that is not concluded."""
        return not found.outcome and found.holder != "" and self._store.holds.alive(found.holder) is True

    def head(self) -> str:
        """The digest of the last entry, which identifies the whole ledger so far; empty if the file does not exist yet."""
        with self._file.reading() as (book, _):
            return book.digest

    def head_sequence(self) -> int:
        """The sequence number of the last entry, 0 for none."""
        with self._file.reading() as (book, _):
            return book.sequence

    def contains(self, sequence: int, digest: str) -> bool:
        """True if entry `sequence` has this digest: False for a release that shows a ledger newer than this copy."""
        with self._file.reading() as (book, transaction):
            if transaction is None or not 0 < sequence <= book.sequence:
                return False
            return transaction.digest(sequence) == digest

    def verify(self) -> Verification:
        """The findings of a reading of the whole file from its first entry: chain, totals, states, releases, pages.

        Raises:
            LedgerError: the file cannot be read as a ledger at all.
        """
        return self._file.verified()

    def _account(self, book: Book, dataset: str) -> Account:
        account = account_of(book, dataset)
        if account is None:
            raise self._store.error(f"has no data set '{dataset}'{did_you_mean(dataset, book.accounts)}")
        return account
