"""Who must sign in a ledger before anything is charged: seen, and changed by those who had to sign until then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.approvals.demand import Consent, Demand
from discreet.approvals.signing import Approval
from discreet.approvals.statements import ChangeStatement
from discreet.exact.names import one_form
from discreet.ledger.consents import Demanded, change_of, demands_with, require_consent
from discreet.ledger.datasets import account_of
from discreet.ledger.drafts import demanding
from discreet.ledger.following import Followed
from discreet.ledger.rules import require_change
from discreet.ledger.store import Store

__all__ = ["Board"]


@dataclass(frozen=True, slots=True)
class Board:
    """The demands for signatures in one ledger, and what was signed.

    Args:
        store: the file.
        file: what has been read of it.
    """

    store: Store
    file: Followed

    def create(self) -> None:
        """There is a ledger file, so that approvals can name it. It has no entry yet, and nothing is fixed."""
        self.store.create()

    def genesis(self) -> str:
        """The first digest of the ledger, which no other has; empty while there is no file."""
        with self.file.reading() as (book, _):
            return book.genesis

    def demands(self) -> Mapping[str, Demanded]:
        """The demands by data set; the demand of the whole ledger has the name ""."""
        with self.file.reading() as (book, _):
            return dict(book.demands)

    def approved(self, sequence: int) -> str:
        """The text that was signed for a reservation or publication, with the signatures; empty if none was."""
        with self.file.reading() as (book, _):
            return book.approved.get(sequence, "")

    def reserved(self, dataset: str, name: str) -> int:
        """The number of the reservation of a release; 0 for none."""
        with self.file.reading() as (book, _):
            account = account_of(book, dataset)
            return 0 if account is None else account.releases.get(name, 0)

    def require(self, dataset: str, asked: Sequence[tuple[str, Consent]]) -> None:
        """Checks that releases, given by name, have the signatures that are demanded for a data set.

        Raises:
            NotApproved: they have not.
        """
        with self.file.reading() as (book, _):
            for name, consent in asked:
                require_consent(demands_with(book.demands, dataset, consent.demand), consent, f"release '{name}'")

    def change_of(self, dataset: str, demand: Demand) -> ChangeStatement:
        """The statement that the keys demanded now must sign so that another demand takes their place."""
        with self.file.reading() as (book, _):
            return change_of(book.genesis, dataset, demand, book.demands.get(one_form(dataset)))

    def change(self, dataset: str, demand: Demand, approvals: Sequence[Approval] = ()) -> int:
        """Signatures are demanded for a data set, or for all with the name "", durably; gives the number of the entry.

        Raises:
            NotApproved: too few keys of the demand that it replaces have signed the change.
            LedgerError: the same is demanded already, or the ledger cannot be used.
        """
        self.store.create()
        with self.file.writing() as (book, transaction):
            consent = require_change(book, dataset, demand, approvals)
            entry = demanding(book, dataset, demand, consent)
            transaction.append(entry)
        self.file.remember(entry)
        return entry.sequence
