"""What a spend means: an amount of the budget's measure, always for the original data; and an order that names one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from discreet.errors import ArgumentError, BudgetExceeded, LedgerError, printed
from discreet.exact import Amount, decimal_up, exact, sqrt_down, text
from discreet.invariants import Invariants
from discreet.names import one_form
from discreet.neighbours import Neighbours
from discreet.plan import Plan, canonical
from discreet.privacy import GDP, ZCDP, ApproxDP, PureDP
from discreet.privacy.coordinates import Budget, coordinates, from_coordinates, to_json
from discreet.schema import Schema

__all__ = [
    "Errors",
    "Order",
    "Spend",
    "amount_text",
    "budget_down",
    "charge_of",
    "check_names",
    "check_room",
    "checked_budget",
    "checked_name",
    "checked_order",
    "declaration_json",
    "in_words",
    "number_text",
    "report_delta_of",
    "spend_of",
]

_MOST = 10**60

Spend = Amount | Budget | Sequence[Amount] | None
"""A number, a pair (epsilon, delta), the measure itself, or None for all that remains."""


Errors = Mapping[str, Amount] | None
"""In place of a spend: the largest errors of some statistics by name."""


@dataclass(frozen=True, slots=True)
class Order:
    """One release that is asked for: what, for how much, under which name.

    With `error`, the largest errors of some statistics by name, the spend is the smallest that meets them. A large release
    is written to the folder `to`.
    """

    request: Plan
    spend: Spend
    name: str
    error: Errors = None
    to: str | Path | None = None


def spend_of(spend: Spend, budget: Budget) -> Budget:
    """The amount of the budget's measure that `spend` means.

    Under ApproxDP a pair is (epsilon, delta); a single number is an epsilon, with the same share of the budget's delta.

    Raises:
        ArgumentError: another measure, no number, a negative amount.
    """
    if isinstance(spend, PureDP | ApproxDP | ZCDP | GDP):
        if type(spend) is not type(budget):
            raise ArgumentError(
                f"spend={type(spend).__name__}: the budget is a {type(budget).__name__}; spend an amount of that measure"
            )
        return spend
    if isinstance(budget, ApproxDP):
        pair = list(spend) if isinstance(spend, list | tuple) else [spend]
        if len(pair) > 2 or not pair:
            raise ArgumentError(f"spend={printed(spend)}: must be an epsilon or a pair (epsilon, delta)")
        epsilon = exact(pair[0], "spend")  # type: ignore[arg-type]
        delta = exact(pair[1], "spend[1]") if len(pair) == 2 else budget.delta * epsilon / budget.epsilon  # type: ignore[arg-type]
        return ApproxDP(epsilon, min(delta, budget.delta) if len(pair) == 1 else delta)
    if isinstance(spend, list | tuple):
        raise ArgumentError(f"spend={printed(spend)}: must be a single amount under {type(budget).__name__}")
    return type(budget)(exact(spend, "spend"))  # type: ignore[arg-type]


def declaration_json(schema: Schema, neighbours: Neighbours, invariants: Invariants | None, budget: Budget) -> str:
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


def report_delta_of(value: Amount) -> Fraction:
    """A δ to report ε at.

    Raises:
        ArgumentError: outside (0, 1).
    """
    delta = exact(value, "report_delta")
    if not 0 < delta < 1:
        raise ArgumentError(f"report_delta={text(delta)}: must lie strictly between 0 and 1")
    return delta


def budget_down(budget: Budget, left: tuple[Fraction, ...]) -> Budget:
    """The measure with these additive coordinates; for GDP the root is rounded down, so that it fits."""
    return GDP(sqrt_down(left[0])) if isinstance(budget, GDP) else from_coordinates(type(budget), left)


def charge_of(spend: Budget, left: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """What the ledger is charged for a spend: its coordinates, or all that is left where that rounds down to the spend.

    A root that was rounded down would leave a remainder that buys nothing: whoever spends all that remains leaves 0. The
    charge is never below the coordinates of the spend, because its root was rounded down.
    """
    return left if budget_down(spend, left) == spend else coordinates(spend)


def in_words(dataset: str, budget: Budget, refused: BudgetExceeded) -> BudgetExceeded:
    """The same refusal for people: whoever refused knew coordinates only; people know the measure."""
    kind = type(budget)
    asked, over = (from_coordinates(kind, part) for part in (refused.requested, refused.difference))
    left = amount_text(budget_down(budget, refused.remaining))
    words = f"requested {amount_text(asked)}, remaining {left}, over by {amount_text(over)}; "
    fits = "ask for at most what remains, or for larger errors; a single release without a spend takes all of it"
    words += fits if any(refused.remaining) else "nothing more can be released"
    return BudgetExceeded(f"dataset='{dataset}': {words}", refused.requested, refused.remaining)


def check_room(dataset: str, budget: Budget, spends: Sequence[Budget], left: tuple[Fraction, ...]) -> None:
    """The spends fit into what is left, together.

    Raises:
        BudgetExceeded: they do not, in words.
    """
    wanted = tuple(sum(part, Fraction(0)) for part in zip(*map(coordinates, spends), strict=True))
    if any(asked > most for asked, most in zip(wanted, left, strict=True)):
        raise in_words(dataset, budget, BudgetExceeded("", wanted, left))


def checked_budget(budget: object) -> Budget:
    """The budget itself.

    Raises:
        ArgumentError: no budget measure, a budget of 0, or one so large that its ε is no finite double.
    """
    if not isinstance(budget, PureDP | ApproxDP | ZCDP | GDP):
        raise ArgumentError(f"budget={printed(budget)}: must be PureDP, ApproxDP, ZCDP or GDP")
    if not coordinates(budget)[0] > 0:
        raise ArgumentError(f"budget={type(budget).__name__}: must be greater than 0")
    if coordinates(budget)[0] > _MOST:
        raise ArgumentError(f"budget={type(budget).__name__}: is more than 1e60, which protects nobody; take a smaller one")
    return budget


def amount_text(measure: Budget) -> str:
    """The parameters of a measure, such as "ε = 1, δ = 1e-9"; "≤" stands where a long number was rounded up."""
    match measure:
        case PureDP(epsilon=epsilon):
            return _stated("ε", epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"{_stated('ε', epsilon)}, {_stated('δ', delta)}"
        case ZCDP(rho=rho):
            return _stated("ρ", rho)
        case GDP(mu=mu):
            return _stated("μ", mu)


def _stated(symbol: str, value: Fraction) -> str:
    return f"{symbol} {'=' if exact(number_text(value), symbol) == value else '≤'} {number_text(value)}"


def number_text(value: Fraction) -> str:
    """The exact text of a number ≥ 0 where that is short, else six digits, rounded up."""
    written, rounded = text(value), decimal_up(value)
    if len(written) <= 8 or (len(written) <= 12 and exact(rounded, "rounded") != value):
        return written
    return rounded
