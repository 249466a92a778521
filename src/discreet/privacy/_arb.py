"""Interval arithmetic (python-flint) as the certifier: enclosures in, directed doubles and rationals out.

python-flint is imported inside the functions, so that importing discreet stays light.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.errors import InternalError
from discreet.exact.numbers import float_up
from discreet.exact.precision import ORDINARY_BITS, with_precision

Ball = Any  # flint.arb has no types

_MAX_BITS = 1 << 14
_TINY = 5e-324


def ball(value: Fraction | float | int) -> Ball:
    """The exact value for doubles and integers, an enclosure at the current precision for other rationals."""
    from flint import arb, fmpq

    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return arb(value)


def circle() -> Ball:
    """π at the current precision."""
    from flint import arb

    return arb.pi()


def enclose(compute: Callable[[], Ball], relative_bits: int = 64, bits: int = 128) -> Ball:
    """What `compute` returns, evaluated at growing precision until its relative radius is at most 2**-relative_bits.

    A result that is certainly below the smallest positive double is tight enough as well.

    Raises:
        InternalError: when 2**14 bits do not suffice, which only an exact zero can cause.
    """
    while bits <= _MAX_BITS:
        result = with_precision(bits, compute)
        if result.is_exact() or (result.is_finite() and result.rel_accuracy_bits() >= relative_bits):
            return result
        if result < _TINY:
            return result
        bits *= 2
    raise InternalError("an enclosure did not become tight enough; please report the arguments")


def _rational(value: Ball) -> Fraction | None:
    """The exact dyadic value of a ball without radius; None when its exponent is beyond every double."""
    mantissa, exponent = (int(part) for part in value.man_exp())
    if mantissa and abs(mantissa.bit_length() + exponent) > 1200:
        return None
    return Fraction(mantissa) * Fraction(2) ** exponent


def _top(value: Ball) -> Ball:
    """The upper end of a ball, rounded up to the ordinary precision, whatever precision the caller of discreet has set."""
    return with_precision(ORDINARY_BITS, value.upper)


def upper(value: Ball) -> float:
    """A double that is at least every point of the (finite) ball."""
    top = _top(value)
    exact = _rational(top)
    if exact is not None:
        return float_up(exact)
    if top > 1:
        return float("inf")
    return 5e-324 if top > 0 else 0.0


def lower(value: Ball) -> float:
    """A double that is at most every point of the (finite) ball."""
    return -upper(with_precision(ORDINARY_BITS, lambda: -value))


def upper_rational(value: Ball, bits: int = 64) -> Fraction:
    """A rational with a mantissa of `bits` bits that is at least every point of the (finite, positive) ball."""
    mantissa, exponent = (int(part) for part in _top(value).man_exp())
    excess = max(0, mantissa.bit_length() - bits)
    return Fraction(-(-mantissa >> excess)) * Fraction(2) ** (exponent + excess)


def lower_rational(value: Ball, bits: int = 64) -> Fraction:
    """A rational with a mantissa of `bits` bits that is at most every point of the (finite, positive) ball."""
    mantissa, exponent = (int(part) for part in with_precision(ORDINARY_BITS, value.lower).man_exp())
    excess = max(0, mantissa.bit_length() - bits)
    return Fraction(mantissa >> excess) * Fraction(2) ** (exponent + excess)


__all__ = ["Ball", "ball", "circle", "enclose", "lower", "lower_rational", "upper", "upper_rational"]
