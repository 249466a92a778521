"""Exact numbers in, directed floats out. The only file that turns a rational into a float.

`exact` reads every amount, bound, step and proportion of the public interface. A float means its shortest decimal form,
so 0.1 is 1/10. `float_up` and `float_down` are the directed conversions: x ≤ float_up(x) and float_down(x) ≤ x, always.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from math import gcd, isqrt, lcm

from discreet.errors import ArgumentError, printed

__all__ = [
    "Amount",
    "common_denominator",
    "decimal_text",
    "decimal_up",
    "exact",
    "float_down",
    "float_up",
    "rational_gcd",
    "sqrt_down",
    "sqrt_up",
    "text",
]

Amount = int | str | Decimal | Fraction | float
"""The types that the public interface accepts for every number that matters for privacy."""

# One documented floor and ceiling: beyond them an exponent would only serve to fill the memory.
_MAX_EXPONENT = 1000
_MAX_BITS = 3700  # of a numerator or denominator: 1100 digits, as many as text may have
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE]([+-]?\d{1,6}))?", re.ASCII)
_RATIO = re.compile(r"[+-]?\d{1,1100}/\d{1,1100}", re.ASCII)


def exact(value: Amount, name: str) -> Fraction:
    """The rational number that `value` means; `name` is used in the error.

    Accepted: int, Fraction, finite Decimal, finite float (meaning its shortest decimal form) and text such as "0.1",
    "1e-9" or "1/3". Decimal exponents are within ±1000, fractions have at most 1100 digits: nothing is ever rounded to 0.

    Raises:
        ArgumentError: for booleans, NaN, infinities, other types and text that is not a number.
    """
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal | Fraction | float):
        raise ArgumentError(f"{name}={printed(value)}: must be a number (int, str, Decimal, Fraction or float)")
    if isinstance(value, int | Fraction):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS:
            raise ArgumentError(f"{name}: has more than 1100 digits; round it")
        return Fraction(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ArgumentError(f"{name}={value!r}: must be finite")
        return Fraction(float.__repr__(value))
    if isinstance(value, Decimal) and not value.is_finite():
        raise ArgumentError(f"{name}={value}: must be finite")
    return _from_text(str(value).strip(), name)


def _from_text(written: str, name: str) -> Fraction:
    shown = written if len(written) <= 40 else written[:40] + "…"
    if _RATIO.fullmatch(written):
        numerator, denominator = written.split("/")
        if int(denominator) == 0:
            raise ArgumentError(f"{name}='{shown}': the denominator must not be 0")
        return Fraction(int(numerator), int(denominator))
    match = _NUMBER.fullmatch(written)
    if match is None or len(written) > 1100:
        raise ArgumentError(f"{name}='{shown}': must be a number such as 3, '0.1', '1e-9' or '1/3'")
    if abs(int(match.group(4) or 0)) > _MAX_EXPONENT:
        raise ArgumentError(f"{name}='{shown}': the decimal exponent must be within ±{_MAX_EXPONENT}")
    return Fraction(written)


def text(value: Fraction) -> str:
    """The canonical text of a rational: "3", "-0.25" when the decimal expansion ends within 40 digits, else "1/3".

    `exact(text(x), …) == x` for every x, and equal rationals have equal texts.
    """
    numerator, denominator = value.numerator, value.denominator
    if denominator == 1:
        return str(numerator)
    digits = _decimal_digits(denominator)
    if digits is None or digits > 40:
        return f"{numerator}/{denominator}"
    scaled = abs(numerator) * 10**digits // denominator
    whole, part = divmod(scaled, 10**digits)
    return f"{'-' if numerator < 0 else ''}{whole}.{part:0{digits}d}"


def _decimal_digits(denominator: int) -> int | None:
    """The number of decimals that 1/denominator needs, None when its expansion does not end."""
    counts = {2: 0, 5: 0}
    for prime in counts:
        while denominator % prime == 0:
            denominator //= prime
            counts[prime] += 1
    return max(counts.values()) if denominator == 1 else None


def decimal_text(value: Fraction, digits: int = 6) -> str:
    """A short decimal for people, `digits` significant digits, nearest. Never parsed back, never decides anything."""
    return f"{float(value):.{digits}g}"


def decimal_up(value: Fraction | float, digits: int = 6) -> str:
    """A short decimal for people, `digits` significant digits, never below `value` ≥ 0: how a privacy loss is printed."""
    exactly = Fraction(value)
    with localcontext(prec=digits, rounding=ROUND_CEILING):
        rounded = (Decimal(exactly.numerator) / Decimal(exactly.denominator)).normalize()
    return f"{rounded:f}" if rounded == 0 or -4 <= rounded.adjusted() < 9 else f"{rounded:e}"


def float_up(value: Fraction) -> float:
    """The smallest double that is at least `value`; +inf above the largest double."""
    return 0.0 - float_down(-value)  # 0.0 − 0.0 is 0.0, where −0.0 would be printed with its sign


def float_down(value: Fraction) -> float:
    """The largest double that is at most `value`; -inf below the smallest double."""
    try:
        near = float(value)  # correctly rounded by Python, hence within one step of the answer
    except OverflowError:
        return math.nextafter(math.inf, 0) if value > 0 else -math.inf
    if math.isinf(near):
        return math.nextafter(math.inf, 0) if value > 0 else -math.inf
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def sqrt_down(value: Fraction, bits: int = 80) -> Fraction:
    """A rational r ≥ 0 with r² ≤ value and relative error at most 2**-bits; exact for squares of rationals."""
    return _sqrt(value, bits, up=0)


def sqrt_up(value: Fraction, bits: int = 80) -> Fraction:
    """A rational r ≥ 0 with r² ≥ value and relative error at most 2**-bits; exact for squares of rationals."""
    return _sqrt(value, bits, up=1)


def _sqrt(value: Fraction, bits: int, up: int) -> Fraction:
    if value < 0:
        raise ArgumentError(f"square root of {text(value)}: must not be negative")
    if value == 0:
        return Fraction(0)
    # √(p/q) = √(pq)/q, and scaling pq by 4^shift leaves at least `bits` bits in the integer root.
    product = value.numerator * value.denominator
    if isqrt(product) ** 2 == product:
        return Fraction(isqrt(product), value.denominator)
    shift = bits + 1
    root = isqrt(product << (2 * shift))
    return Fraction(root + up, value.denominator << shift)


def rational_gcd(first: Fraction, second: Fraction) -> Fraction:
    """The largest rational g ≥ 0 of which both arguments are integer multiples; 0 only when both are 0."""
    return Fraction(
        gcd(first.numerator * second.denominator, second.numerator * first.denominator),
        first.denominator * second.denominator,
    )


def common_denominator(values: list[Fraction]) -> int:
    """The least positive integer d such that d·v is an integer for every v."""
    return lcm(1, *(value.denominator for value in values))
