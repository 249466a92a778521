"""The smallest spend that meets errors which a custodian asks for."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.errors import PlanError, did_you_mean, printed
from discreet.exact.numbers import Amount, exact, text
from discreet.plan.plan import Plan
from discreet.privacy.amounts import spend_of
from discreet.privacy.coordinates import Budget
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote, expected_error
from discreet.totals.exact_totals import ExactTotals

__all__ = ["check_errors", "quote_for"]

_LEAST, _MOST = -15, 6
"""The search tries spends from 1e-15 to 1e6. A larger spend protects nobody."""


def quote_for(plan: Plan, error: Mapping[str, Amount], budget: Budget, exact_totals: ExactTotals | None) -> Quote:
    """The quote of the smallest spend with three digits whose expected errors are at most those asked for.

    Errors fall as the spend grows, so bisection finds it; the quote that is given back was checked itself.

    Args:
        plan: the request.
        error: the largest expected error for some of its statistics, by name; see `Quote.expected`.
        budget: the measure of the spend; under ApproxDP δ grows in proportion to ε.
        exact_totals: the exact totals of the data set, if there are any.

    Raises:
        PlanError: no such statistic, an error that is not positive, or one that no spend meets.
    """
    targets = check_errors(plan, error)
    low, high = 900 * _LEAST, 900 * _MOST
    best = _met(plan, high, targets, budget, exact_totals)
    if best is None:
        raise PlanError("error: no spend below 1e6 meets it; allow a larger error, or take a coarser step or fewer groups")
    while high - low > 1:
        middle = (low + high) // 2
        found = _met(plan, middle, targets, budget, exact_totals)
        if found is None:
            low = middle
        else:
            best, high = found, middle
    return best


def check_errors(plan: Plan, error: Mapping[str, Amount]) -> dict[str, Fraction]:
    """The errors by the names of statistics of the request, exact.

    Raises:
        PlanError: none, no such statistic, or an error that is not positive.
    """
    if not isinstance(error, Mapping) or not error:
        raise PlanError(f"error={printed(error)}: must map the name of a statistic to an error, such as {{'count': 10}}")
    names = [statistic.name for statistic in plan.statistics]
    targets = {}
    for name, value in error.items():
        if name not in names:
            raise PlanError(f"error: the request has no statistic '{name}'{did_you_mean(name, names)}")
        targets[str(name)] = exact(value, f"error['{name}']")
        if not targets[str(name)] > 0:
            raise PlanError(f"error['{name}']={text(targets[str(name)])}: must be greater than 0")
    return targets


def _met(
    plan: Plan, place: int, targets: Mapping[str, Fraction], budget: Budget, exact_totals: ExactTotals | None
) -> Quote | None:
    """The quote at the spend number `place` (three digits and an exponent, ascending), if it meets the targets."""
    exponent, digits = divmod(place, 900)
    amount = Fraction(100 + digits) * Fraction(10) ** (exponent - 2)
    try:
        found = quote(plan, spend_of(amount, budget), exact_totals)
    except PlanError:
        if place < 900 * (_MOST - 1):
            return None  # too little for any noise; what is wrong with the request itself shows at the largest spend
        raise
    asked = [line for line in found.lines if line.statistic.name in targets]
    met = all(expected_error(found, line, rows=1000) <= targets[line.statistic.name] for line in asked)
    return found if met else None
