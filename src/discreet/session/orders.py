"""What a spend means: an amount of the budget's measure, always for the original data; and an order that names one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from discreet.domain.neighbours import Neighbours
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError, LedgerError, printed
from discreet.exact.canonical import canonical
from discreet.exact.names import one_form
from discreet.exact.numbers import Amount
from discreet.plan.plan import Plan
from discreet.privacy.amounts import Spend, budget_down
from discreet.privacy.coordinates import Budget, coordinates, to_json
from discreet.totals.description import Description

__all__ = [
    "Errors",
    "Order",
    "charge_of",
    "check_names",
    "checked_name",
    "checked_order",
    "declaration_json",
]


Errors = Mapping[str, Amount] | None
"""In place of a spend: the largest errors of some statistics by name."""


@dataclass(frozen=True, slots=True)
class Order:
    """One release that is asked for: what, for how much, under which name.

    With `error`, the largest errors of some statistics by name, the spend is the smallest that meets them. A large release
    is written to the folder `to`. With `again`, a release whose charge was lost is charged anew, under the same name.
    """

    request: Plan
    spend: Spend
    name: str
    error: Errors = None
    to: str | Path | None = None
    again: bool = False


def declaration_json(schema: Schema, neighbours: Neighbours, invariants: Description | None, budget: Budget) -> str:
    """What a ledger freezes of a data set, as canonical JSON."""
    return canonical(
        {
            "schema": schema.to_json(),
            "neighbours": neighbours.to_json(),
            "invariants": [] if invariants is None else invariants.to_json(),
            "budget": to_json(budget),
        }
    )


def checked_name(name: object, what: str) -> str:
    """The name of a data set or a release, in the form in which names are compared: Unicode's NFC.

    Raises:
        ArgumentError: no text, empty, longer than 200 characters, unprintable, or with blanks at its ends.
    """
    kept = one_form(name) if isinstance(name, str) else ""
    if not kept or kept != kept.strip() or not kept.isprintable() or len(kept) > 200:
        rule = "must be printable text of 1 to 200 characters, without blanks at its ends"
        raise ArgumentError(f"{what}={printed(name)}: {rule}")
    return kept


def checked_order(order: object) -> Order:
    """The order, with its name in the form in which names are compared.

    Raises:
        ArgumentError: no order, or no usable name.
    """
    if not isinstance(order, Order):
        raise ArgumentError(f"orders: holds {printed(order)}; each must be an Order(request, spend, name)")
    return replace(order, name=checked_name(order.name, "name"))


def check_names(orders: Sequence[Order]) -> None:
    """Every order has a name, and no two have the same.

    Raises:
        ArgumentError: no usable name.
        LedgerError: one stands twice.
    """
    names = [checked_name(order.name, "name") for order in orders]
    for name in names:
        if names.count(name) > 1:
            raise LedgerError(f"name='{name}': two releases of one command have the same name; rename one")


def charge_of(spend: Budget, left: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """What the ledger is charged for a spend: its coordinates, or all that is left where that rounds down to the spend.

    A root that was rounded down would leave a remainder that buys nothing: whoever spends all that remains leaves 0. The
    charge is never below the coordinates of the spend, because its root was rounded down.
    """
    return left if budget_down(spend, left) == spend else coordinates(spend)
