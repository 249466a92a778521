"""Spends: amounts of the budget's measure, always for the original data, and their text."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import ArgumentError, BudgetExceeded, printed
from discreet.exact.numbers import Amount, decimal_up, exact, sqrt_down, text
from discreet.privacy.coordinates import Budget, coordinates, from_coordinates, parameters
from discreet.privacy.measures import is_budget

__all__ = [
    "Spend",
    "amount_text",
    "budget_down",
    "check_budget",
    "check_room",
    "in_words",
    "number_text",
    "report_delta_of",
    "spend_of",
]

_MOST = 10**60


Spend = Amount | Budget | Sequence[Amount] | None
"""A number, a pair (epsilon, delta), the measure itself, or None for all that remains."""


def spend_of(spend: Spend, budget: Budget) -> Budget:
    """The amount of the budget's measure that `spend` means.

    Under ApproxDP a pair is (epsilon, delta); a single number is an epsilon, with the same share of the budget's delta.

    Raises:
        ArgumentError: another measure, no number, a negative amount.
    """
    if is_budget(spend):
        if type(spend) is not type(budget):
            raise ArgumentError(
                f"spend={type(spend).__name__}: the budget is a {type(budget).__name__}; spend an amount of that measure"
            )
        return spend
    return budget.part(spend)


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
    return type(budget).of_coordinates(left, sqrt_down)


def in_words(dataset: str, budget: Budget, refused: BudgetExceeded) -> BudgetExceeded:
    """The same refusal for people: whoever refused knew coordinates only; people know the measure."""
    kind = type(budget)
    asked, over = (from_coordinates(kind, part) for part in (refused.requested, refused.difference))
    left = amount_text(budget_down(budget, refused.remaining))
    advice = "nothing more can be released"
    if any(refused.remaining):
        advice = "ask for at most what remains, or for larger errors; a single release without a spend takes all of it"
    return refused.worded(refused.scope or f"dataset='{dataset}'", amount_text(asked), left, amount_text(over), advice)


def check_room(dataset: str, budget: Budget, spends: Sequence[Budget], left: tuple[Fraction, ...]) -> None:
    """Checks that the spends together fit into the remaining budget.

    Raises:
        BudgetExceeded: they do not, in words.
    """
    wanted = tuple(sum(part, Fraction(0)) for part in zip(*map(coordinates, spends), strict=True))
    if any(asked > most for asked, most in zip(wanted, left, strict=True)):
        raise in_words(dataset, budget, BudgetExceeded("", wanted, left))


def check_budget(budget: object) -> Budget:
    """The budget itself.

    Raises:
        ArgumentError: no budget measure, a budget of 0, or one so large that its ε is not a finite double.
    """
    if not is_budget(budget):
        raise ArgumentError(f"budget={printed(budget)}: must be PureDP, ApproxDP, ZCDP or GDP")
    if not coordinates(budget)[0] > 0:
        raise ArgumentError(f"budget={type(budget).__name__}: must be greater than 0")
    if coordinates(budget)[0] > _MOST:
        raise ArgumentError(f"budget={type(budget).__name__}: is more than 1e60, which protects nobody; take a smaller one")
    return budget


def amount_text(measure: Budget) -> str:
    """The parameters of a measure, such as "ε = 1, δ = 1e-9"; "≤" marks a long number that was rounded up."""
    return ", ".join(_state(symbol, value) for symbol, value in parameters(measure))


def _state(symbol: str, value: Fraction) -> str:
    return f"{symbol} {'=' if exact(number_text(value), symbol) == value else '≤'} {number_text(value)}"


def number_text(value: Fraction) -> str:
    """The exact text of a number ≥ 0 where that is short, else six digits, rounded up."""
    written, rounded = text(value), decimal_up(value)
    if len(written) <= 8 or (len(written) <= 12 and exact(rounded, "rounded") != value):
        return written
    return rounded
