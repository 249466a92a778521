"""Certified real numbers: interval arithmetic (python-flint) with enclosures in, directed doubles and rationals out.

A ball [m ± r] always contains the true value, at any working precision. So every decision below is right whenever it is
taken; more precision only makes it possible to take it.

python-flint is imported inside the functions, so that importing discreet stays light.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.errors import InternalError
from discreet.exact.numbers import float_up
from discreet.exact.precision import ORDINARY_BITS, with_precision, working_bits

__all__ = [
    "Ball",
    "around",
    "ball",
    "bernoulli",
    "enclose",
    "enclosure",
    "factorial",
    "lower",
    "lower_rational",
    "negligible",
    "pi_ball",
    "sign",
    "theta3",
    "unknown",
    "upper",
    "upper_rational",
]

Ball = Any  # flint.arb, which has no type stubs

_MOST_BITS = 20_480
_TINY = 5e-324


def ball(value: Fraction | float | int) -> Ball:
    """The exact value for doubles and integers, an enclosure at the working precision for other rationals."""
    import flint

    if isinstance(value, int | float):
        return flint.arb(value)
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def around(middle: Ball | float, radius: Ball | float) -> Ball:
    """A ball that contains every number within `radius` of `middle`."""
    import flint

    return flint.arb(middle, radius)


def unknown() -> Ball:
    """A ball of which nothing is known."""
    import flint

    return flint.arb.nan()


def pi_ball() -> Ball:
    """π at the working precision."""
    import flint

    return flint.arb.pi()


def negligible() -> Ball:
    """A magnitude too small to matter next to 1 at the working precision: ten bits below its last one."""
    return ball(2) ** (-working_bits() - 10)


def bernoulli(n: int) -> Ball:
    """The Bernoulli number B_n."""
    import flint

    return flint.arb.bernoulli(n)


def factorial(n: int) -> Ball:
    """The factorial of n."""
    import flint

    return flint.arb.fac_ui(n)


def theta3(z: Ball, height: Ball) -> Ball:
    """θ₃(z | i·height) = Σ exp(-π·height·n² + 2πi·n·z) over all integers n, for real z and height > 0."""
    import flint

    return flint.acb.modular_theta(flint.acb(z), flint.acb(0, height))[2].real


def enclose(compute: Callable[[], Ball], relative_bits: int = 64, bits: int = 128) -> Ball:
    """The result of `compute`, evaluated at growing precision until its relative radius is at most 2**-relative_bits.

    A result that is certainly below the smallest positive double is tight enough as well.

    Raises:
        InternalError: when some 20,000 bits do not suffice, which only an exact zero can cause.
    """
    while bits <= _MOST_BITS:
        result = with_precision(bits, compute)
        if result.is_exact() or (result.is_finite() and result.rel_accuracy_bits() >= relative_bits):
            return result
        if result < _TINY:
            return result
        bits *= 2
    raise InternalError("an enclosure did not become tight enough; please report the arguments")


def enclosure(real: Callable[[], Ball], *, at_most: float = math.inf) -> tuple[float, float]:
    """Doubles low ≤ x ≤ high around the number x that `real()` encloses, where 0 ≤ x ≤ at_most is known."""
    found = enclose(real, 60, 80)
    low, high = with_precision(ORDINARY_BITS, lambda: (found.lower(), found.upper()))
    return max(0.0, _double_below(low)), min(at_most, _double_above(high))


def sign(real: Callable[[], Ball], *, bits: int = 80, most: int = 20_000) -> int:
    """1 or -1, the certified sign of the number that `real()` encloses; 0 if `most` bits do not show it."""

    def shown() -> int:
        x = real()
        return int(x > 0) - int(x < 0)

    while bits <= most:
        if found := with_precision(bits, shown):
            return found
        bits *= 2
    return 0


def upper(value: Ball) -> float:
    """A double that is at least every point of the (finite) ball."""
    return _double_above(with_precision(ORDINARY_BITS, value.upper))


def lower(value: Ball) -> float:
    """A double that is at most every point of the (finite) ball."""
    return _double_below(with_precision(ORDINARY_BITS, value.lower))


def upper_rational(value: Ball, bits: int = 64) -> Fraction:
    """A rational with a mantissa of `bits` bits that is at least every point of the (finite, positive) ball."""
    mantissa, exponent = _top(value)
    excess = max(0, mantissa.bit_length() - bits)
    return Fraction(-(-mantissa >> excess)) * Fraction(2) ** (exponent + excess)


def lower_rational(value: Ball, bits: int = 64) -> Fraction:
    """A rational with a mantissa of `bits` bits that is at most every point of the (finite, positive) ball."""
    mantissa, exponent = _bottom(value)
    excess = max(0, mantissa.bit_length() - bits)
    return Fraction(mantissa >> excess) * Fraction(2) ** (exponent + excess)


def _top(value: Ball) -> tuple[int, int]:
    """The upper end m·2^e of a ball, rounded up to the ordinary precision, whatever precision the caller has set."""
    mantissa, exponent = with_precision(ORDINARY_BITS, value.upper).man_exp()
    return int(mantissa), int(exponent)


def _bottom(value: Ball) -> tuple[int, int]:
    """The lower end m·2^e of a ball, rounded down to the ordinary precision."""
    mantissa, exponent = with_precision(ORDINARY_BITS, value.lower).man_exp()
    return int(mantissa), int(exponent)


def _double_above(end: Ball) -> float:
    """The smallest double ≥ an exact ball, which has the ordinary precision at most."""
    mantissa, exponent = end.man_exp()
    return _double_up(int(mantissa), int(exponent))


def _double_below(end: Ball) -> float:
    """The largest double ≤ an exact ball, which has the ordinary precision at most."""
    mantissa, exponent = end.man_exp()
    return 0.0 - _double_up(-int(mantissa), int(exponent))


def _double_up(mantissa: int, exponent: int) -> float:
    """The smallest double ≥ m·2^e, where m has at most the 53 bits of a double; infinity above the largest one."""
    if -1000 < mantissa.bit_length() + exponent < 1000:
        return math.ldexp(mantissa, exponent)  # exact
    # Far beyond every double all numbers of one sign have the same one, and a power of ten digits fits into no memory.
    return float_up(Fraction(mantissa) * Fraction(2) ** max(-1300, min(exponent, 1100)))
