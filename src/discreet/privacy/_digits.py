"""Rationals with short texts: rounded to significant decimal digits, in a stated direction."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["digits_down", "digits_up"]


def digits_down(value: Fraction, digits: int) -> Fraction:
    """The largest decimal of about `digits` significant digits that is at most `value` ≥ 0 (itself, if it is one)."""
    if value <= 0:
        return Fraction(0)
    unit = _unit(value, digits)
    return Fraction(value * unit // 1) / unit


def digits_up(value: Fraction, digits: int) -> Fraction:
    """The smallest decimal of about `digits` significant digits that is at least `value` ≥ 0 (itself, if it is one)."""
    if value <= 0:
        return Fraction(0)
    unit = _unit(value, digits)
    return Fraction(-(-value * unit // 1)) / unit


def _unit(value: Fraction, digits: int) -> Fraction:
    """A power of ten that moves `digits` or `digits + 1` digits before the point."""
    magnitude = (value.numerator.bit_length() - value.denominator.bit_length()) * 30103 // 100000
    return Fraction(10) ** (digits - magnitude)
