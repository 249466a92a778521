"""Bounds of the half-width of an interval in a group of a given number of rows, whatever these rows are.

Rows in which the column is null are in no sum and in no divisor, so they do not count: a group may have any number of them.
Where every noise is within its half-width, which intervals rest on and which is so with a probability of at least 95 %, no
interval of a group with this number of rows is wider. That includes the noise of its count, which divides.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.cube.queries import Query
from discreet.exact.numbers import sqrt_up
from discreet.statistics.recipe import Counted, Noises

__all__ = ["product_width", "quotient_width", "root_width", "sum_width"]


def sum_width(query: Sequence[Query], noises: Noises) -> int:
    """The half-width of the noise of at most one query; 0 for none."""
    return max((noises.largest(one) for one in query), default=0)


def quotient_width(noises: Noises, sums: tuple[Query, int], count: Counted, rows: int) -> Fraction | None:
    """A bound for the interval of sum/count; None where the noisy count may be so small that the interval is open.

    The noisy count less its half-width is at least rows - 2·dn = r, and with it at least rows. The noisy sum is at most
    R·rows + ds away from 0, where R, given with the query of the sum, is the most that a row adds. So the ends of
    (S ± ds)/(N ± dn) are at most twice (R·rows + ds)·dn/(r·rows) + ds·(1/r + 1/rows)/2 apart.
    """
    ds, dn = noises.largest(sums[0]), sum_width(count.queries, noises)
    fewest = rows - 2 * dn
    if fewest < 1:
        return None
    most = sums[1] * rows + ds
    return Fraction(most * dn, fewest * rows) + Fraction(ds, 2) * (Fraction(1, fewest) + Fraction(1, rows))


def product_width(first: tuple[Fraction, int], second: tuple[Fraction, int]) -> Fraction:
    """A bound for the product of two intervals, each with its half-width and the largest size of the true value in it."""
    (h, most), (k, other) = first, second
    return (most + 2 * h) * k + (other + 2 * k) * h


def root_width(width: Fraction) -> Fraction:
    """A bound for the roots of an interval: √u − √l ≤ √(u − l)."""
    return sqrt_up(width / 2)
