"""Uniform real numbers of which only the bits that a comparison needs are ever drawn."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.exact.balls import Ball, ball, sign
from discreet.noise.bits import Bits

__all__ = ["LazyUniform", "below_each"]


def below_each(bounds: NDArray[np.float64], exact: Callable[[int], Ball], bits: Bits) -> NDArray[np.bool_]:
    """Independently true with the probabilities p, of which each row of `bounds` has a double below and one above.

    `exact` gives p of a place as a ball of the working precision; it is asked only where the doubles do not decide.
    """
    v = bits.words(len(bounds))
    known = (v >> np.uint64(11)).astype(np.float64) * 2.0**-53  # V lies in [known, known + 2^-53], and both are exact
    true: NDArray[np.bool_] = known + 2.0**-53 <= bounds[:, 0]
    for place in np.flatnonzero(~true & (known < bounds[:, 1])).tolist():
        true[place] = LazyUniform(bits, value=int(v[place]), known=64).below(partial(exact, place))
    return true


class LazyUniform:
    """V uniform on [0, 1): value/2^known ≤ V ≤ (value + 1)/2^known, extended by `word` bits at a time, never redrawn.

    Each comparison is taken only when an enclosure of the bound lies clear of all that V can still be. So it comes out as
    for the real number V, for any bound that is not itself one of the countably many dyadic rationals.
    """

    __slots__ = ("_known", "_value", "_word", "bits")

    def __init__(self, bits: Bits, *, value: int = 0, known: int = 0, word: int = 64) -> None:
        self.bits = bits
        self._value = value
        self._known = known
        self._word = word

    def below(self, bound: Callable[[], Ball]) -> bool:
        """True if V < bound()."""
        while True:
            if self._excess(bound, self._value + 1) > 0:
                return True
            if self._excess(bound, self._value) < 0:
                return False
            self._value = (self._value << self._word) | self.bits.getrandbits(self._word)
            self._known += self._word

    def _excess(self, bound: Callable[[], Ball], numerator: int) -> int:
        """The sign of bound() - numerator/2^known; 0 if a precision far beyond the known bits does not show it."""
        place = Fraction(numerator, 1 << self._known)
        precision = 2 * self._known + 64
        return sign(lambda: bound() - ball(place), bits=precision, most=4 * precision)
