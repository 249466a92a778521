"""The smallest spend that meets errors which a custodian asks for."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.errors import ArgumentError, PlanError, did_you_mean, printed
from discreet.exact.numbers import Amount, exact, text
from discreet.plan.plan import Plan
from discreet.privacy.amounts import spend_of
from discreet.privacy.coordinates import Budget
from discreet.quotes.allocate import quote, quote_alone
from discreet.quotes.groups import Expect, check_expect
from discreet.quotes.large import check_large
from discreet.quotes.quote import Quote
from discreet.totals.exact_totals import ExactTotals

__all__ = ["check_errors", "quote_asked", "quote_for"]

_LEAST, _MOST = -15, 6
"""The search tries spends from 1e-15 to 1e6. A larger spend protects nobody."""


def quote_asked(
    plan: Plan,
    given: tuple[Budget | None, Mapping[str, Amount] | None],
    budget: Budget,
    exact_totals: ExactTotals | None,
    expect: Expect,
) -> Quote:
    """The quote of a spend, or of the smallest spend that meets the errors, for a release that can be made.

    Raises:
        PlanError: as `quote` and `quote_for`.
        ArgumentError: both are given or none, or sizes that are not numbers of rows.
    """
    sizes, (spend, error) = check_expect(expect), given
    if error is None and spend is not None:
        return check_large(quote(plan, spend, exact_totals, expect=sizes))
    if error is None or spend is not None:
        raise ArgumentError("quote(): give either a spend or the errors to meet")
    return check_large(quote_for(plan, error, budget, exact_totals, sizes))


def quote_for(
    plan: Plan,
    error: Mapping[str, Amount],
    budget: Budget,
    exact_totals: ExactTotals | None,
    expect: tuple[int, ...] = (),
) -> Quote:
    """The quote of the smallest spend with three digits whose expected errors are at most those asked for.

    Errors fall as the spend grows, so bisection finds it; the spend of the quote that is given back was checked itself.

    Args:
        plan: the request.
        error: the largest expected error for some of its statistics, by name; see `Quote.expected`.
        budget: the measure of the spend; under ApproxDP δ grows in proportion to ε.
        exact_totals: the exact totals of the data set, if there are any.
        expect: the numbers of rows, in which the column is not null, of the groups for which the errors hold, whatever
            these rows are: no interval is wider, with the probability of the intervals. Without it they are the errors of
            `Quote.expected`, about the errors in a group of 1,000 rows.

    Raises:
        PlanError: no such statistic, an error that is not positive, or one that no spend meets.
    """
    targets = check_errors(plan, error)
    low, high = 900 * _LEAST, 900 * _MOST
    best = _try_spend(plan, high, targets, budget, exact_totals, expect=expect)
    if best is None:
        raise PlanError("error: no spend below 1e6 meets it; allow a larger error, or take a coarser step or fewer groups")
    while high - low > 1:
        middle = (low + high) // 2
        found = _try_spend(plan, middle, targets, budget, exact_totals, expect=expect)
        if found is None:
            low = middle
        else:
            best, high = found, middle
    return quote(plan, best.spend, exact_totals, expect=expect)


def check_errors(plan: Plan, error: Mapping[str, Amount]) -> dict[str, Fraction]:
    """The errors by the names of statistics of the request, exact.

    Raises:
        PlanError: none, no such statistic, or an error that is not positive.
    """
    if not isinstance(error, Mapping) or not error:
        raise PlanError(f"error={printed(error)}: must map the name of a statistic to an error, such as {{'count': 10}}")
    names = [statistic.name for statistic in plan.answered]
    targets = {}
    for name, value in error.items():
        if name not in names:
            raise PlanError(f"error: the request has no statistic '{name}'{did_you_mean(name, names)}")
        targets[str(name)] = exact(value, f"error['{name}']")
        if not targets[str(name)] > 0:
            raise PlanError(f"error['{name}']={text(targets[str(name)])}: must be greater than 0")
    return targets


def _try_spend(
    plan: Plan,
    place: int,
    targets: Mapping[str, Fraction],
    budget: Budget,
    exact_totals: ExactTotals | None,
    *,
    expect: tuple[int, ...],
) -> Quote | None:
    """The quote at the spend number `place` (three digits and an exponent, ascending), if it meets the targets."""
    exponent, digits = divmod(place, 900)
    amount = Fraction(100 + digits) * Fraction(10) ** (exponent - 2)
    try:
        found = quote_alone(plan, spend_of(amount, budget), exact_totals, expect=expect)
    except PlanError:
        if place < 900 * (_MOST - 1):
            return None  # too little for any noise; what is wrong with the request itself shows at the largest spend
        raise
    stated = [found.errors(size) for size in found.sizes] if expect else [dict(found.expected)]
    return found if all(errors[name] <= target for errors in stated for name, target in targets.items()) else None
