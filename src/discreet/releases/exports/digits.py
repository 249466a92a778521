"""The number of digits that are shown: two of the half-width, because the others are noise.

A value of 410.4545 with the interval 398.1 – 422.8 has the half-width 12.35, whose second digit is of ones: 410, from 398 to
423. With a half-width of 3,622 it is of hundreds. Values are rounded to the nearest, ends outwards, so that what is
written contains what was computed. Whole numbers get no decimals. `RAW` is every number as the document has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import floor, isfinite, log10

from discreet.errors import ArgumentError, printed

__all__ = ["DIGITS", "NOISE", "RAW", "Shown", "check_digits", "plain", "show_numbers"]

NOISE, RAW = "noise", "raw"
DIGITS = (NOISE, RAW)
"""As many digits as the noise allows, or all that the document has."""

Digits = Decimal | int | float


@dataclass(frozen=True, slots=True)
class Shown:
    """A value with the ends of its interval, as they are written; None where it is suppressed, or unbounded."""

    value: Digits | None
    low: Digits | None
    high: Digits | None


def check_digits(digits: object) -> str:
    """One of `DIGITS`.

    Raises:
        ArgumentError: anything else.
    """
    if digits not in DIGITS:
        raise ArgumentError(f"digits={printed(digits)}: must be {' or '.join(map(repr, DIGITS))}")
    return str(digits)


def show_numbers(value: float, low: float, high: float, digits: str, rounding: float = 0.0) -> Shown:
    """The three numbers, rounded to two digits of the half-width, to the farther end; or as they are.

    A half-width of at most `rounding` is not noise, so all digits are shown.
    """
    half = max(value - low, high - value)
    if digits == RAW or not half > rounding or not isfinite(half):
        return Shown(value, low, high)
    place = floor(log10(half)) - 1
    if all(isinstance(one, int) for one in (value, low, high)):
        place = max(place, 0)
    unit = Decimal(1).scaleb(place)
    near, down, up = (
        _decimal(one).quantize(unit, rounding)
        for one, rounding in ((value, ROUND_HALF_EVEN), (low, ROUND_FLOOR), (high, ROUND_CEILING))
    )
    return Shown(near + 0, down + 0, up + 0)  # adding 0 turns a negative zero into 0


def _decimal(value: float) -> Decimal:
    return Decimal(repr(value))


def plain(number: Digits) -> str:
    """The number as text for programs: a point, no separators, no exponent unless it is very long."""
    if isinstance(number, Decimal):
        return f"{number:f}"
    return repr(number)
