"""What the ledger of a plan says about its data set and its releases before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.exact.names import one_form, spellings
from discreet.ledger import Entry, Identity, Ledger
from discreet.ledger import Standing as ReleaseStanding
from discreet.ledger.amounts import least
from discreet.ledger.populations import PopulationAccount
from discreet.ledger.windows import WindowedAccount
from discreet.planfile.read import PlanFile
from discreet.privacy.amounts import budget_down
from discreet.quotes.quote import Quote
from discreet.session.declaring import Declaration
from discreet.session.orders import can_finish, recognises

__all__ = ["Standing", "identity_of", "standing"]

Amounts = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of the data set of a plan in its ledger.

    Attributes:
        head: the number of the last entry, 0 for an empty or missing ledger.
        remaining: the remaining budget, in the coordinates in which the ledger adds.
        reserved: the last reservation of each name of the data set.
        became: the outcome of each reservation, by its number.
        given_back: the names of the releases of the plan that the ledger has already.
        goes_on: the names of those whose reservation is finished at no further charge.
        declared: whether the ledger holds the data set, whose declaration is fixed from then on.
        inspected: the number of the entry of the first look at the rows, 0 for none.
        population: the account of the population of the data set; None where it declares none.
        windows: the charges to its windows; None where it declares none.
        reads: the windows that each release reads, by its name; none where it reads all rows.
    """

    head: int
    remaining: Amounts
    reserved: Mapping[str, Entry] = field(default_factory=dict)
    became: Mapping[int, ReleaseStanding] = field(default_factory=dict)
    given_back: frozenset[str] = frozenset()
    goes_on: frozenset[str] = frozenset()
    declared: bool = False
    inspected: int = 0
    population: PopulationAccount | None = None
    windows: WindowedAccount | None = None
    reads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def room(self, name: str) -> Amounts:
        """The most that a release can be charged."""
        return self.remaining if self.windows is None else least([self.remaining, self.windows.left(self.reads[name])])

    @property
    def paid(self) -> frozenset[str]:
        """The names of the releases of the plan that cost no further charge, for the spend that they had."""
        return self.given_back | self.goes_on

    def paid_otherwise(self, plan: PlanFile, name: str, quote: Quote) -> bool:
        """True if the ledger has a release of this name for another spend than the one in the plan now."""
        open_spend = any(order.name == name and order.spend is None and order.error is None for order in plan.orders)
        return (
            name in self.reserved and not open_spend and budget_down(plan.budget, self.reserved[name].charge) != quote.spend
        )


def identity_of(plan: PlanFile) -> Identity:
    """The data set of a plan as its ledger knows it."""
    above = plan.population, plan.windows
    declared = Declaration(plan.schema, plan.neighbours, plan.invariants, plan.budget, *above, plan.beside.schemas)
    return declared.identity(plan.dataset)


def standing(plan: PlanFile) -> Standing:
    """The state of the plan's ledger now. Creates no ledger.

    Raises:
        LedgerError: the ledger cannot be used.
    """
    with Ledger.open(plan.ledger) as ledger:
        head, inspected = ledger.head_sequence(), ledger.inspected(plan.dataset)
        known = bool(spellings(plan.dataset, ledger.datasets()))
        identity = ledger.identity(plan.dataset) if known else identity_of(plan)
        _, left = ledger.left(identity)  # not all of the budget where another data set of the draw or population has spent
        now = Standing(
            head=head,
            remaining=left,
            declared=known,
            inspected=inspected,
            population=ledger.above.population(identity),
            windows=ledger.above.windows(identity),
            reads={one.name: () if plan.windows is None else plan.windows.read_by(one.request) for one in plan.orders},
        )
        return _with_releases(now, plan, ledger, identity) if known else now


def _with_releases(now: Standing, plan: PlanFile, ledger: Ledger, identity: Identity) -> Standing:
    """The same with what the ledger has of the releases of the plan."""
    entries = ledger.entries(plan.dataset)
    begun = [entry for entry in entries if entry.kind == "reserve"]
    found = [(order, ledger.stored(identity, order.name)) for order in plan.orders]
    return replace(
        now,
        reserved={one_form(entry.name): entry for entry in begun} | {entry.name: entry for entry in begun},
        became={found.sequence: found for found in ledger.standings(plan.dataset)},
        given_back=frozenset(order.name for order, stored in found if stored and recognises(stored, order.request)),
        goes_on=frozenset(order.name for order, stored in found if stored and can_finish(stored, order.request)),
    )
