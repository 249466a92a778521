"""Certified real numbers: thin helpers around python-flint's ball arithmetic.

A ball [m ± r] always contains the true value, at any working precision. So every decision below is right whenever it is
taken; more precision only makes it possible to take it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.exact.numbers import float_down, float_up
from discreet.exact.precision import with_precision

__all__ = ["Ball", "ball", "enclosure", "sign"]

Ball = Any  # flint.arb, which has no type stubs


def ball(value: Fraction | int) -> Ball:
    """The rational `value` as a ball of the current working precision."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def enclosure(real: Callable[[], Ball], *, at_most: float = math.inf, bits: int = 80) -> tuple[float, float]:
    """Doubles low ≤ x ≤ high around the number x that `real()` encloses, where 0 ≤ x ≤ at_most is known.

    The working precision starts at `bits` and is raised until x is known to about 60 bits.
    """

    def ends() -> tuple[Fraction, Fraction] | None:
        x = real()
        if x.rel_accuracy_bits() >= 60 or bits > 20_000:
            return _dyadic(x.lower()), _dyadic(x.upper())
        return None

    while (found := with_precision(bits, ends)) is None:
        bits *= 2
    return max(0.0, float_down(found[0])), min(at_most, float_up(found[1]))


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


def _dyadic(exact_ball: Ball) -> Fraction:
    mantissa, exponent = exact_ball.man_exp()
    mantissa, exponent = int(mantissa), int(exponent)
    if exponent >= 0:
        return Fraction(mantissa << exponent)
    if exponent < -100_000:  # far below the smallest double: only the sign matters to directed rounding
        return Fraction((mantissa > 0) - (mantissa < 0), 1 << 1200)
    return Fraction(mantissa, 1 << -exponent)
