"""An order of one release, and its charge. A spend is an amount of the budget's measure, always for the original data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.domain.about import About
from discreet.domain.neighbours import Neighbours, person_of
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError, BudgetExceeded, LedgerError, PlanError, printed
from discreet.exact.names import one_form
from discreet.exact.numbers import Amount
from discreet.plan.plan import Plan
from discreet.plan.together import one_request
from discreet.privacy.amounts import Spend, budget_down, spend_of
from discreet.privacy.coordinates import Budget, coordinates
from discreet.quotes.groups import Expect
from discreet.releases.document import Release
from discreet.releases.quality import Quality
from discreet.session.loading import load_rooms

if TYPE_CHECKING:
    from discreet.approvals.demand import Consent
    from discreet.ledger import Reservation, StoredRelease
    from discreet.privacy.population import PopulationGuarantee
    from discreet.quotes.quote import Quote
    from discreet.releases.derived.requests import Derivation
    from discreet.releases.hypotheses.requests import Hypothesis

__all__ = [
    "Errors",
    "Order",
    "amount_of",
    "can_finish",
    "charge_of",
    "check_derived",
    "check_name",
    "check_names",
    "check_order",
    "check_request",
    "check_rows_private",
    "check_tested",
    "check_told",
    "promise_to_population",
    "recognises",
    "reservation_of",
    "texts_of",
]


Errors = Mapping[str, Amount] | None
"""The largest errors of some statistics, by name, instead of a spend."""


@dataclass(frozen=True, slots=True)
class Order:
    """A request for one release, with its spend and its name.

    With `error`, the largest errors of some statistics by name, the spend is the smallest one that meets these errors. A
    large release is written to the folder `to`. With `again`, a release whose charge was lost is charged anew, under the
    same name. The texts of `about`, the first in the main language, and the rule of `quality` are in the document and change
    nothing else: a stored release keeps those that it was made with. `expect` has the public sizes of groups that errors are
    stated for, and that `error` holds for. What `derive` asks for is computed from what is published, this release and
    those before it in the same call, and recorded in its document; a stored release keeps its own. So it is with `tests`.
    """

    request: Plan
    spend: Spend
    name: str
    error: Errors = None
    to: str | Path | None = None
    again: bool = False
    about: About | Sequence[About] = ()
    quality: Quality | None = None
    expect: Expect = None
    derive: tuple[Derivation, ...] = ()
    tests: tuple[Hypothesis, ...] = ()


def check_name(name: object, what: str) -> str:
    """The name of a data set or a release, in the form in which names are compared: Unicode's NFC.

    Raises:
        ArgumentError: the name is not a text, or is empty, longer than 200 characters, unprintable, or with blanks at its
            ends.
    """
    kept = one_form(name) if isinstance(name, str) else ""
    if not kept or kept != kept.strip() or not kept.isprintable() or len(kept) > 200:
        rule = "must be printable text of 1 to 200 characters, without blanks at its ends"
        raise ArgumentError(f"{what}={printed(name)}: {rule}")
    return kept


def texts_of(order: Order) -> Sequence[About]:
    """The texts of the order, one for each language."""
    return (order.about,) if isinstance(order.about, About) else order.about


def check_order(order: object) -> Order:
    """The order, with its name in the form in which names are compared.

    Raises:
        ArgumentError: it is not an order, or its name is not usable.
    """
    if not isinstance(order, Order):
        raise ArgumentError(f"orders: holds {printed(order)}; each must be an Order(request, spend, name)")
    texts = texts_of(order)
    if not isinstance(texts, list | tuple) or not all(isinstance(one, About) for one in texts):
        raise ArgumentError(f"about={printed(order.about)}: must be an About(…), or a list with one for each language")
    if len({one.language for one in texts}) < len(texts):
        raise ArgumentError("about: has two texts in one language; put them together")
    if order.quality is not None and not isinstance(order.quality, Quality):
        raise ArgumentError(f"quality={printed(order.quality)}: must be a Quality(…)")
    return replace(order, request=one_request(order.request), name=check_name(order.name, "name"), about=tuple(texts))


def check_names(orders: Sequence[Order]) -> None:
    """Checks that every order has a name, and no two orders have the same name.

    Raises:
        ArgumentError: a name is not usable.
        LedgerError: two orders have the same name.
    """
    names = [check_name(order.name, "name") for order in orders]
    for name in names:
        if names.count(name) > 1:
            raise LedgerError(f"name='{name}': two releases of one command have the same name; rename one")


def check_derived(orders: Sequence[Order], every: Sequence[Order], dataset: str) -> None:
    """Checks that what is derived from orders of one call, or tested, can be: names, groups and kinds of the numbers.

    Raises:
        ArgumentError: it cannot.
    """
    for order in orders:
        if order.derive:
            from discreet.releases.derived.in_documents import check_derivations

            names = [one.name for one in every]
            requests = {one.name: one.request for one in every[: names.index(order.name) + 1]}
            check_derivations(order.derive, requests, (dataset, order.name), texts_of(order))
        if order.tests:
            from discreet.releases.hypotheses.in_documents import check_tests

            check_tests(order.tests, order.request, (dataset, order.name))


def check_told(
    orders: Sequence[Order], every: Sequence[Order], check: Callable[[Plan], object], schema: Schema, dataset: str
) -> None:
    """Checks the words of the orders, and what is derived, against all requests of one call, which may share them.

    Args:
        orders: those that will be made.
        every: all of the call.
        check: raises where a request is not one of the session.
        schema: of the session.
        dataset: its data set.

    Raises:
        ArgumentError: words for what is not there, or a derivation that cannot be made.
    """
    told = [one.of(order.name) for order in orders for one in texts_of(order)]
    if not told and not any(order.derive or order.tests for order in orders):
        return
    from discreet.plan.worded import check_texts

    requests = [order.request for order in every]
    for request in requests:
        check(request)
    derived = [name for order in every for one in order.derive for name in one.columns()]
    for about in told:
        check_texts(about, schema, requests, derived)
    check_derived(orders, every, dataset)


def check_tested(orders: Sequence[Order], quotes: Sequence[Quote], dataset: str, report_delta: Fraction) -> None:
    """Checks that the tests of the orders can be made on releases of their quotes, beside the totals that are published.

    Where totals are not published yet, nothing is checked: what the noise will be is not known.

    Raises:
        ArgumentError: one cannot; it is named.
    """
    for order, quoted in zip(orders, quotes, strict=True):
        if order.tests and (quoted.beside is None or quoted.beside.totals is not None):
            from discreet.releases.hypotheses.in_documents import check_tests_of_quote

            check_tests_of_quote(order.tests, quoted, (dataset, order.name), report_delta)


def check_request(request: object, schema: Schema, neighbours: Neighbours, beside: Mapping[str, Schema]) -> None:
    """Checks that a request was made from the table of this schema and these neighbours, or from a table beside it.

    Raises:
        PlanError: it was not.
    """
    load_rooms()
    if not isinstance(request, Plan):
        raise PlanError(f"request={type(request).__name__}: must be made with table.agg(…) or table.group_by(…).agg(…)")
    made = request if request.persons is None else request.persons
    table = "" if request.persons is None else request.persons.table
    expected = beside.get(table) if table else schema
    others = all(own == beside.get(name) for name, own in made.schema.joined.items())
    if made.schema.alone() != expected or not others or made.neighbours != neighbours:
        raise PlanError("request: was made for another schema or neighbouring relation; start from this session's table")


def check_rows_private(neighbours: Neighbours) -> None:
    """Checks that the number of rows is private and that one person has a bounded number of them.

    Raises:
        PlanError: they are not, and cannot be estimated.
    """
    if person_of(neighbours) is not None:
        raise PlanError(
            "estimate_rows(): one person can have any number of rows; release persons(), or bound(rows=…) with count()"
        )
    if neighbours.rows is not None:
        raise PlanError(f"estimate_rows(): rows={neighbours.rows} is public under ReplaceOne; use it")


def recognises(stored: StoredRelease, request: Plan) -> bool:
    """True if the ledger has committed a release of this request: of the same plan, but for columns that it does not use.

    An entry of 0.1.0 has no digest of the used part of its plan; the plan in its release has that part.
    """
    if stored.state != "committed":
        return False
    if stored.used_digest:
        return stored.used_digest == request.used_digest
    return stored.plan_digest == request.digest or request.asks_as(Release(stored.payload).document["plan"])


def can_finish(stored: StoredRelease, request: Plan) -> bool:
    """True if the ledger has a reservation of this request that can be finished at no further charge.

    The whole plan must be the one that was reserved (and perhaps signed): what is computed now is what the entry names.
    """
    return stored.resumable and stored.plan_digest == request.digest


def amount_of(spend: Spend, budget: Budget, remaining: Callable[[], Budget]) -> Budget:
    """The spend as an amount of the budget's measure, above 0; None is all that remains, and only then is that asked for.

    Raises:
        ArgumentError: it is not a positive amount of the measure.
        BudgetExceeded: nothing remains.
    """
    amount = remaining() if spend is None else spend_of(spend, budget)
    if coordinates(amount)[0] > 0:
        return amount
    if spend is None:
        raise BudgetExceeded("spend: nothing remains of the budget", coordinates(amount), coordinates(amount))
    raise ArgumentError("spend: must be greater than 0")


def charge_of(spend: Budget, left: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """The charge for a spend: its coordinates, or all that is left if this amount rounds down to the spend.

    Otherwise a root that was rounded down would leave a useless remainder: after a spend of all that remains, 0 is left. The
    charge is never below the coordinates of the spend, because its root was rounded down.
    """
    return left if budget_down(spend, left) == spend else coordinates(spend)


def promise_to_population(budget: Budget, neighbours: Neighbours) -> PopulationGuarantee | None:
    """The promise of a whole budget to the population of which the file is a secret sample; None without a draw."""
    drawn = neighbours.sampled
    if drawn is None:
        return None
    from discreet.privacy.population import PopulationGuarantee

    return PopulationGuarantee(budget, drawn.rate_of(neighbours.rows))


def reservation_of(
    order: Order, quoted: Quote, left: tuple[Fraction, ...], snapshot: str, consent: Consent | None
) -> Reservation:
    """The reservation of an order that can be charged at most `left`."""
    from discreet.ledger import Reservation
    from discreet.releases.publish import details_json

    paid, plan = charge_of(quoted.spend, left), order.request
    details, used = details_json(quoted), plan.used_digest
    return Reservation(order.name, paid, plan.digest, snapshot, details, used, again=order.again, consent=consent)
