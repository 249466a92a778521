"""One data set in a ledger: its budgets, its charges, and the numbers of its releases. Pure, as the book that holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Protocol

from discreet.exact.names import spellings
from discreet.ledger.amounts import Amounts, Meter, least, minus, plus
from discreet.ledger.draws import of_same_draw
from discreet.ledger.populations import PopulationAccount, new_population, population_of
from discreet.ledger.records import Identity, lists_invariants
from discreet.ledger.windows import WindowedAccount, window_account

__all__ = ["Account", "account_of", "fresh_account", "number_of"]


@dataclass(slots=True)
class Account:
    """One data set: its identity, its budget, its charges, and the numbers of its attempts.

    `declared` is the declaration as it was last amended; what is fixed of it is what `identity` fixes.
    `releases` has the number of the reservation of each name. `published` is the number of the committed publication, or 0.

    While `totals_owed` is true, the declaration lists invariants whose totals are not published. They can be published, and
    nothing can be reserved. So the publication is the first thing that a data set gives away, and there is only one.
    `others` are the other data sets of the same draw of persons, which have the same budget: one total for all of them.
    `population` is the account of all data sets of the same persons, and `windows` has what was charged to each window; None
    where none is declared.
    """

    identity: Identity
    meters: tuple[Meter, ...]
    totals_owed: bool
    declared: str
    releases: dict[str, int] = field(default_factory=dict)
    published: int = 0
    others: list[Account] = field(default_factory=list, repr=False, compare=False)
    population: PopulationAccount | None = None
    windows: WindowedAccount | None = None

    @property
    def spent(self) -> Amounts:
        """The sum of all charges to this data set."""
        return tuple(Fraction(one.spent, one.denominator) for one in self.meters)

    @property
    def together(self) -> Amounts:
        """The sum of all charges to this data set and to `others`, which have one budget."""
        return reduce(plus, [other.spent for other in self.others], self.spent)

    @property
    def remaining(self) -> Amounts:
        """The least that the data set and its population have left; never negative (`follow` refuses such an entry).

        Budget minus charges, also those to `others`.
        """
        alone = minus(self.identity.budget, self.together)
        return alone if self.population is None else least([alone, self.population.left])

    def room(self, windows: tuple[str, ...]) -> Amounts:
        """The most that a release of these windows can be charged, or one of all rows for none."""
        return self.remaining if self.windows is None else least([self.remaining, self.windows.left(windows)])

    @property
    def is_plain(self) -> bool:
        """True if its own budget is all that bounds a charge."""
        return not self.others and self.population is None and self.windows is None

    def take_above(self, windows: tuple[str, ...], charge: Amounts) -> None:
        """The population and the windows are charged too; the data set itself is charged through its `meters`."""
        if self.population is not None:
            self.population.spent = plus(self.population.spent, charge)
        if self.windows is not None:
            self.windows.take(windows, charge)


class _Accounts(Protocol):
    """The part of a book in which data sets are found."""

    @property
    def accounts(self) -> Mapping[str, Account]:
        """The data sets by their names."""

    @property
    def populations(self) -> Mapping[str, PopulationAccount]:
        """The populations by their names, in the form in which names are compared."""


def account_of(book: _Accounts, dataset: str) -> Account | None:
    """The account of a data set, however its name was written; None if there is none, or if several have that name."""
    exactly = book.accounts.get(dataset)
    if exactly is not None:
        return exactly
    stored = spellings(dataset, book.accounts)
    return book.accounts[stored[0]] if len(stored) == 1 else None


def number_of(account: Account, name: str) -> int:
    """The number of the reservation of a release, however its name was written; 0 for none."""
    exactly = account.releases.get(name, 0)
    return exactly or next((account.releases[stored] for stored in spellings(name, account.releases)), 0)


def fresh_account(book: _Accounts, identity: Identity) -> Account:
    """The account of a data set that is declared as `identity` and has no other entry; the book is unchanged."""
    return Account(
        identity,
        tuple(Meter(most.denominator, 0, most.numerator) for most in identity.budget),
        lists_invariants(identity.declaration),
        identity.declaration,
        others=of_same_draw(book.accounts, identity),
        population=_population_in(book, identity),
        windows=window_account(identity.declaration),
    )


def _population_in(book: _Accounts, identity: Identity) -> PopulationAccount | None:
    """The account of the population of a data set, a new one where the book has none; the book is unchanged."""
    terms = population_of(identity)
    if terms is None:
        return None
    return book.populations.get(terms.name) or new_population(terms)
