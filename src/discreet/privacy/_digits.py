"""Numbers with short texts, rounded in a stated direction."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, nextafter

from discreet.exact.numbers import exact

__all__ = ["digits_down", "digits_up", "short_down", "show_up", "tell_conversion"]


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


def short_down(value: float) -> Fraction:
    """`value` rounded down to 16 significant digits, so that its text is short."""
    if not 0 < value < inf:
        return Fraction(0) if value == 0 else exact(value, "value")
    return digits_down(Fraction(value), 16)


def tell_conversion(symbol: str) -> str:
    """The sentence for a target (ε, δ) that becomes a parameter of another measure by `short_down`."""
    return f"(ε, δ) is turned into the largest {symbol} that implies it, rounded down to 16 digits."


def _unit(value: Fraction, digits: int) -> Fraction:
    """A power of ten that moves `digits` or `digits + 1` digits before the point."""
    magnitude = (value.numerator.bit_length() - value.denominator.bit_length()) * 30103 // 100000
    return Fraction(10) ** (digits - magnitude)


def show_up(bound: float, truth: Fraction | None = None) -> float:
    """`bound`, or the next double: a bound from above also when it is read by its shortest decimal form, as printed.

    The shortest decimal form of a double may lie half a unit in the last place below it. `truth`, where it is known
    exactly, saves the step for numbers such as 0.1.
    """
    if not isfinite(bound):
        return bound
    least = Fraction(bound) if truth is None else truth
    return bound if Fraction(repr(bound)) >= least else nextafter(bound, inf)
