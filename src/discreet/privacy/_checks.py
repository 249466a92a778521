"""The two checks that every ε and every δ of the calculus passes."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, exact, text

__all__ = ["checked_delta", "not_negative"]


def not_negative(value: Amount, name: str) -> Fraction:
    """The exact number.

    Raises:
        ArgumentError: no number, or a negative one.
    """
    number = exact(value, name)
    if not number >= 0:
        raise ArgumentError(f"{name}={text(number)}: must not be negative")
    return number


def checked_delta(value: Amount) -> Fraction:
    """The exact δ.

    Raises:
        ArgumentError: no number, or outside [0, 1).
    """
    number = exact(value, "delta")
    if not 0 <= number < 1:
        raise ArgumentError(f"delta={text(number)}: must be at least 0 and less than 1")
    return number
