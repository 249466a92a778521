"""The parameters that the samplers accept: positive exact scales and sizes that fit into memory."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import SupportsIndex

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, exact

__all__ = ["MOST_SCALE", "MOST_SIGMA2", "cap_rate", "check_size", "positive", "rate_between"]

MOST_SCALE = 10**17
MOST_SIGMA2 = MOST_SCALE**2
_MOST_RATE = 10**300
_MAX_SIZE = 1 << 33


def positive(value: Amount, name: str, *, most: int) -> Fraction:
    """The exact rational `value`, which is in (0, most].

    Raises:
        ArgumentError: for 0, negatives, NaN, infinities, values above `most` and anything that is not a number.
    """
    number = exact(value, name)
    if not number > 0:
        raise ArgumentError(f"{name}={value!r}: must be greater than 0")
    if not number <= most:
        raise ArgumentError(f"{name}={value!r}: must be at most {most:.0e}; use a coarser grid of values")
    return number


def cap_rate(value: Fraction) -> float:
    """The double next to a positive rational, 1e300 for larger ones: as a rate of decay both leave nothing but 0."""
    return float(value) if value < _MOST_RATE else 1e300


def rate_between(value: Amount, name: str) -> Fraction:
    """The exact rational `value`, which is in [0, 1]."""
    number = exact(value, name)
    if not 0 <= number <= 1:
        raise ArgumentError(f"{name}={value!r}: must lie in [0, 1]")
    return number


def check_size(size: SupportsIndex, name: str = "size") -> int:
    """`size` as an int in [0, 2**33].

    Raises:
        ArgumentError: for booleans, non-integers, negatives, and sizes that no memory holds.
    """
    if isinstance(size, bool):
        raise ArgumentError(f"{name}={size!r}: must be an integer")
    try:
        number = operator.index(size)
    except TypeError:
        raise ArgumentError(f"{name}={size!r}: must be an integer") from None
    if not 0 <= number <= _MAX_SIZE:
        raise ArgumentError(f"{name}={number}: must lie in [0, {_MAX_SIZE}]; draw larger tables in several calls")
    return number
