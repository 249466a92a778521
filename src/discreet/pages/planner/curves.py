"""The errors of a request by the amount that is spent: tables of quotes, one for each position of a slider.

The page computes no formula of privacy or noise. It looks up quotes of the library. Somebody may type an amount between
two amounts that have a quote; then the page takes the worse of the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

from discreet.errors import PlanError
from discreet.exact.figures import name
from discreet.exact.numbers import decimal_up, exact, float_up
from discreet.plan.plan import Plan
from discreet.privacy import Budget
from discreet.privacy.coordinates import amount_of, parameters
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote, expected_error
from discreet.totals.exact_totals import ExactTotals

__all__ = ["ROWS", "Curve", "choose_amounts", "curve_of", "with_halves_and_doubles"]

ROWS = 1000
"""The size of the group in which the errors of means, shares and variances are stated."""

_STEPS = tuple(Fraction(hundredths, 100) for hundredths in (
    100, 112, 125, 140, 160, 180, 200, 225, 250, 280, 320, 360, 400, 450, 500, 560, 640, 720, 800, 900,
))  # fmt: skip
"""The positions of a slider within a decade: short numbers, evenly by ratio, and nearly all with their double."""

Curve = dict[str, Any]


def choose_amounts(low: float, high: float, own: Fraction, *, per_decade: int) -> list[Fraction]:
    """Ascending short amounts between two powers of ten, 20, 10 or 5 per decade, and `own`."""
    steps = _STEPS[:: len(_STEPS) // per_decade]
    first, last = exact(low, "low"), exact(high, "high")
    decade, found = first, {own, last}
    while decade < last:
        found |= {decade * step for step in steps}
        decade *= 10
    return sorted(found)


def with_halves_and_doubles(amounts: Sequence[Fraction]) -> list[Fraction]:
    """The amounts, half of each and twice each: the page shows these together."""
    return sorted({factor * amount for amount in amounts for factor in (Fraction(1, 2), 1, 2)})


def curve_of(plan: Plan, spend: Budget, exact_totals: ExactTotals | None, amounts: Sequence[Fraction]) -> Curve:
    """The errors of each statistic by the amount that is spent, and the amount that would be advertised without the totals.

    An amount that is too small for any noise has None. A request that is refused at every amount gives {"refused": why}.

    Args:
        plan: the request.
        spend: determines the measure of the amounts; under ApproxDP δ grows with ε.
        exact_totals: the exact totals of the data set.
        amounts: the amounts that get a quote.
    """
    try:
        quote(plan, _of(spend, max(amounts)), exact_totals)
    except PlanError as refused:
        return {"refused": name(refused)}
    quotes = [_quote(plan, _of(spend, amount), exact_totals) for amount in amounts]
    places = range(len(plan.statistics))
    return {
        "errors": [[_error(one, place) for one in quotes] for place in places],
        "advertised": None if exact_totals is None else [_read_advertised(one) for one in quotes],
    }


def _of(spend: Budget, amount: Fraction) -> Budget:
    """The spend, scaled so that its first parameter is the amount."""
    factor = amount / amount_of(spend)
    return type(spend)(*(value * factor for _, value in parameters(spend)))


def _quote(plan: Plan, spend: Budget, exact_totals: ExactTotals | None) -> Quote | None:
    try:
        return quote(plan, spend, exact_totals)
    except PlanError:
        return None


def _error(one: Quote | None, place: int) -> float | None:
    return None if one is None else _up(expected_error(one, one.lines[place], rows=ROWS))


def _read_advertised(one: Quote | None) -> float | None:
    return None if one is None else _up(float_up(amount_of(one.advertised)))


def _up(value: float) -> float | None:
    """The value with nine digits, rounded up: shorter in the page. A short decimal stays as it is; infinity gives None."""
    return float(decimal_up(exact(value, "value"), 9)) if isfinite(value) else None
