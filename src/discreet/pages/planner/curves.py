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
from discreet.quotes.groups import sizes_of
from discreet.quotes.quote import Quote
from discreet.quotes.whole import noise_of
from discreet.statistics.recipe import GroupSize
from discreet.totals.exact_totals import ExactTotals

__all__ = ["Curve", "choose_amounts", "curve_of", "with_halves_and_doubles"]

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


def curve_of(
    plan: Plan,
    spend: Budget,
    exact_totals: ExactTotals | None,
    amounts: Sequence[Fraction],
    expect: Sequence[int] = (),
    *,
    drawn: Sequence[bool] = (),
) -> Curve:
    """The errors of each statistic by the size of the group and by the amount that is spent, and the advertised amount.

    The advertised amount is the amount of the same noise if nobody counted the totals.

    An amount that is too small for any noise has None. A request that is refused at every amount gives {"refused": why}.

    Args:
        plan: the request.
        spend: determines the measure of the amounts; under ApproxDP δ grows with ε.
        exact_totals: the exact totals of the data set.
        amounts: the amounts that get a quote.
        expect: the sizes of groups that are expected, if any.
        drawn: for each statistic whether something is drawn for it beside its noise; "strict" then has the errors of the
            noise that fails with half of the probability.
    """
    sizes = sizes_of(plan, expect)
    try:
        quote(plan, _of(spend, max(amounts)), exact_totals)
    except PlanError as refused:
        return {"refused": name(refused)}
    quotes = [_quote(plan, _of(spend, amount), exact_totals) for amount in amounts]
    by_size = [[_errors(one, size) for one in quotes] for size in sizes]
    places = range(len(plan.answered))
    strict = [
        [[_strictly(one, place, size) for one in quotes] for size in sizes] if is_drawn else None
        for place, is_drawn in enumerate(drawn)
    ]
    return {
        "sizes": [size.rows for size in sizes],
        "errors": [[[errors and errors[place] for errors in found] for found in by_size] for place in places],
        "advertised": None if exact_totals is None else [_read_advertised(one) for one in quotes],
        **({"strict": strict} if any(drawn) else {}),
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


def _errors(one: Quote | None, size: GroupSize) -> list[float | None] | None:
    """The error of each statistic in a group of this size; None where the amount is too small for any noise."""
    return None if one is None else [_up(error) for error in one.errors(size).values()]


def _strictly(one: Quote | None, place: int, size: GroupSize) -> float | None:
    return None if one is None else _up(noise_of(one, one.lines[place], size, drawn=True))


def _read_advertised(one: Quote | None) -> float | None:
    return None if one is None else _up(float_up(amount_of(one.advertised)))


def _up(value: float) -> float | None:
    """The value with nine digits, rounded up: shorter in the page. A short decimal stays as it is; infinity gives None."""
    return float(decimal_up(exact(value, "value"), 9)) if isfinite(value) else None
