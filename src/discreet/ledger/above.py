"""What bounds the charges of a data set beside its own budget, for people to see: its population, and its windows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.ledger.datasets import Account, account_of, fresh_account
from discreet.ledger.following import Followed
from discreet.ledger.populations import PopulationAccount
from discreet.ledger.records import Identity
from discreet.ledger.rules import same_identity
from discreet.ledger.windows import WindowedAccount

__all__ = ["Above"]


@dataclass(frozen=True, slots=True)
class Above:
    """The budgets of populations and of windows in one ledger.

    Args:
        file: what has been read of it.
    """

    file: Followed

    def population(self, identity: Identity) -> PopulationAccount | None:
        """The account of the population of a data set, which may be new; None where it declares none.

        Raises:
            LedgerError: another identity, or a ledger that cannot be used.
        """
        found = self._account(identity).population
        return None if found is None else replace(found, members=[*found.members])

    def windows(self, identity: Identity) -> WindowedAccount | None:
        """The charges to the windows of a data set, which may be new; None where it declares none. Raises likewise."""
        found = self._account(identity).windows
        return None if found is None else found.copied()

    def _account(self, identity: Identity) -> Account:
        with self.file.reading() as (book, _):
            same_identity(book, identity)
            return account_of(book, identity.dataset) or fresh_account(book, identity)
