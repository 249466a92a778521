"""Orders are charged to a data set: what is left of its budget, and which reservation an order goes on with, or gets.

All of it comes before the data are opened. What becomes of a reservation is in `attempts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import BudgetExceeded, LedgerError, PlanError
from discreet.exact.names import spellings
from discreet.ledger.populations import population_of
from discreet.plan.plan import Plan
from discreet.plan.table import Table
from discreet.privacy.amounts import Spend, budget_down, check_room, in_words
from discreet.privacy.coordinates import Budget, coordinates, from_coordinates
from discreet.session.approving import Approving
from discreet.session.orders import Errors, Order, amount_of, can_finish, reservation_of
from discreet.session.windows import Windows

if TYPE_CHECKING:
    from discreet.ledger import Identity, Ledger, Reservation, StoredRelease
    from discreet.quotes.quote import Quote

__all__ = ["Charging"]


@dataclass(frozen=True, slots=True)
class Charging:
    """The account that a session charges releases to.

    Attributes:
        ledger: where charges are written.
        identity: the data set.
        budget: all that may ever be spent on it.
        approving: what must be signed before a charge.
        windows: the windows of the data set; None where it has none.
    """

    ledger: Ledger
    identity: Identity
    budget: Budget
    approving: Approving
    windows: Windows | None = None

    def spent(self) -> Budget:
        """All charges so far, of other data sets of the same draw too; for GDP rounded up."""
        left = self.ledger.left(self.identity)[1]
        total = tuple(whole - rest for whole, rest in zip(coordinates(self.budget), left, strict=True))
        if population_of(self.identity) is not None:  # which can have less left than the data set
            known = spellings(self.identity.dataset, self.ledger.datasets())
            total = self.ledger.spent(known[0]) if known else (Fraction(0),) * len(total)
        return from_coordinates(type(self.budget), total)

    def remaining(self) -> Budget:
        """The amount that may still be spent; for GDP rounded down."""
        return budget_down(self.budget, self.ledger.left(self.identity)[1])

    def amount(self, spend: Spend, request: Plan) -> Budget:
        """The spend as an amount of the budget's measure, above 0; None is all that the windows it reads have left.

        Raises as `amount_of` and `Windows.read_by`.
        """
        return amount_of(spend, self.budget, lambda: budget_down(self.budget, self._read_room(request)))

    def given(self, request: Plan, spend: Spend, error: Errors) -> tuple[Budget | None, Errors]:
        """The spend of a request, or the errors in its place. Raises as `amount`, and where windows refuse the request."""
        self.read_by(request)
        return (None if spend is None and error is not None else self.amount(spend, request)), error

    def within(self, table: Table, names: Sequence[str]) -> Table:
        """The table of which only the rows of some windows count. Raises as `Windows.within`, and where there are none."""
        if self.windows is None:
            raise PlanError("window(): the session declares no windows; give them when it is opened")
        return self.windows.within(table, names)

    def read_by(self, request: Plan) -> tuple[str, ...]:
        """The windows whose rows alone a request reads; none where it can read all rows. Raises as `Windows.read_by`."""
        return () if self.windows is None else self.windows.read_by(request)

    def stored(self, name: str) -> StoredRelease | None:
        """The last release that the data set has under a name."""
        return self.ledger.stored(self.identity, name)

    def fix_spend(self, order: Order, found: StoredRelease | None) -> Order:
        """The order, of which "all that remains" means what it was reserved with, if it was: nothing remains of that now."""
        if order.spend is not None or order.error is not None or found is None:
            return order
        if not can_finish(found, order.request) and not _is_lost(order, found):
            return order
        return replace(order, spend=budget_down(self.budget, found.charge))

    def check(self, orders: Sequence[Order], spends: Sequence[Budget]) -> None:
        """Checks that the spends fit and are signed, before anything is published for them. `reserve` checks both again.

        Raises:
            BudgetExceeded: they do not fit together.
            NotApproved: signatures are missing.
        """
        check_room(self.identity.dataset, self.budget, spends, self.ledger.left(self.identity)[1])
        self.approving.require(self.ledger, [*zip(orders, spends, strict=True)])

    def reserve(
        self,
        orders: Sequence[Order],
        quotes: Sequence[Quote],
        known: Sequence[StoredRelease | None],
        snapshot: str,
        *,
        alone: bool,
    ) -> list[int]:
        """The reservation of each order: one that can still be finished, or a new one; the new ones together or none.

        An order whose charge is lost keeps nobody from finishing the rest: it has 0. It is refused where it is all that is
        asked (`alone`), or where the rest needs a new charge. The ledger had the orders as `known` when the command looked.

        Raises:
            BudgetExceeded, LedgerError: refused; nothing was spent.
        """
        asked = [*zip(known, orders, quotes, strict=True)]
        numbers = [_find_reservation(self.ledger, *one) for one in asked]
        without = [one for number, one in zip(numbers, asked, strict=True) if not number]
        if (any(numbers) or not alone) and all(_is_lost(order, found) for found, order, _ in without):
            return numbers
        wanted = [self.reservation(order, quoted, snapshot) for _, order, quoted in without]
        charged = iter(self._charge(wanted, [found for found, _, _ in without]))
        return [number or next(charged) for number in numbers]

    def reservation(self, order: Order, quoted: Quote, snapshot: str) -> Reservation:
        """A new reservation for an order, with the signatures that it needs."""
        left, consent = self._read_room(order.request), self.approving.consent(self.ledger, order, quoted.spend)
        return replace(reservation_of(order, quoted, left, snapshot, consent), windows=self.read_by(order.request))

    def _read_room(self, request: Plan) -> tuple[Fraction, ...]:
        return self.ledger.left(self.identity, self.read_by(request))[1]

    def _charge(self, wanted: Sequence[Reservation], known: Sequence[StoredRelease | None]) -> tuple[int, ...]:
        """New reservations, all together or none."""
        if not wanted:
            return ()
        try:
            return self.ledger.reserve(self.identity, wanted)
        except BudgetExceeded as refused:
            raise in_words(self.identity.dataset, self.budget, refused) from None
        except LedgerError as refused:
            overtaken = self._overtaken(wanted, known)
            if not overtaken:
                raise
            raise overtaken from refused.__cause__

    def _overtaken(self, wanted: Sequence[Reservation], known: Sequence[StoredRelease | None]) -> LedgerError | None:
        """The refusal of a name that another process has reserved since; None where none has."""
        for asked, before in zip(wanted, known, strict=True):
            found = self.stored(asked.name)
            if found is not None and (before is None or found.sequence != before.sequence):
                return LedgerError(
                    f"release '{asked.name}': another process is at work on it, or has just been: it made reservation "
                    f"{found.sequence} while this command looked, which spent nothing. Wait until it has ended, then run "
                    "the same command again: for the same plan and spend it costs nothing more"
                )
        return None


def _is_lost(order: Order, found: StoredRelease | None) -> bool:
    """True if the charge of the order is lost, and no new one is wished."""
    return found is not None and found.lost != "" and not order.again


def _find_reservation(ledger: Ledger, found: StoredRelease | None, order: Order, quoted: Quote) -> int:
    """The number of the reservation that the order goes on with; 0 if it needs a charge of its own.

    A reservation of which nothing can come any more has failed then: whoever finds it writes that down.

    Raises:
        LedgerError: the failure cannot be written down.
    """
    from discreet.releases.publish import details_json

    if found is None or found.state in {"committed", "failed"} or found.alive is True:
        return 0  # a name that is taken is refused by the reservation
    same_spend = budget_down(quoted.spend, found.charge) == quoted.spend
    if can_finish(found, order.request) and same_spend and found.details == details_json(quoted):
        return found.sequence
    ledger.settle(found.sequence)
    return 0
