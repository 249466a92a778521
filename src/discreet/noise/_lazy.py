"""A uniform real number of which only the bits that a comparison needs are ever drawn."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.exact.balls import Ball, ball, sign
from discreet.noise.bits import Bits

__all__ = ["LazyUniform"]


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
