"""The values that are possible for a statistic, whatever the rows are: from a release document, so that anyone can tell.

Each function takes the statistic as a document holds it, and the least and the greatest value of each numeric column after
the steps. It returns the least and the greatest possible value, None where there is no bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from discreet.exact.numbers import sqrt_up

__all__ = [
    "Bounds",
    "Ends",
    "Possible",
    "any_value",
    "column_value",
    "count_value",
    "fix_bounds",
    "pair_spread",
    "quotient_value",
    "quotient_values",
    "root",
    "spread",
]

Ends = Mapping[str, tuple[Fraction, Fraction]]
"""The least and the greatest value of numeric columns."""

Bounds = tuple[Fraction | None, Fraction | None]
"""The least and the greatest possible value, None where there is no bound."""

Possible = Callable[[Mapping[str, Any], Ends], Bounds]

_NO_BOUNDS: Bounds = (None, None)


def any_value(_shown: Mapping[str, Any], _ends: Ends) -> Bounds:
    """There are no bounds that do not depend on the number of rows."""
    return _NO_BOUNDS


def count_value(_shown: Mapping[str, Any], _ends: Ends) -> Bounds:
    """A number of rows is not negative."""
    return Fraction(0), None


def fix_bounds(least: int, greatest: int) -> Possible:
    """The same bounds for every column."""
    return lambda _shown, _ends: (Fraction(least), Fraction(greatest))


def column_value(shown: Mapping[str, Any], ends: Ends) -> Bounds:
    """A mean or a quantile is within the bounds of its column; a column of days has none here."""
    return ends.get(shown["column"], _NO_BOUNDS)


def quotient_value(shown: Mapping[str, Any], ends: Ends) -> Bounds:
    """A ratio of sums with the same weights is between the quotients of the bounds of both columns."""
    over, under = ends.get(shown["column"]), ends.get(shown["over"])
    return _NO_BOUNDS if over is None or under is None or under[0] <= 0 else quotient_values(over, under)


def quotient_values(over: tuple[Fraction, Fraction], under: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    """The least and the greatest quotient of two ranges, of which the second is above 0."""
    return over[0] / under[over[0] >= 0], over[1] / under[over[1] < 0]


def spread(shown: Mapping[str, Any], ends: Ends) -> Bounds:
    """A variance is at most a quarter of the squared range."""
    found = ends.get(shown["column"])
    return _NO_BOUNDS if found is None else (Fraction(0), (found[1] - found[0]) ** 2 / 4)


def root(shown: Mapping[str, Any], ends: Ends) -> Bounds:
    """The root of the bounds of a variance."""
    least, greatest = spread(shown, ends)
    return least, None if greatest is None else sqrt_up(greatest)


def pair_spread(shown: Mapping[str, Any], ends: Ends) -> Bounds:
    """A covariance is at most a quarter of the product of both ranges, on either side of 0."""
    ranges = [ends[column] for column in shown["columns"] if column in ends]
    if len(ranges) < 2:
        return _NO_BOUNDS
    (a, b), (c, d) = ranges
    most = (b - a) * (d - c) / 4
    return -most, most
