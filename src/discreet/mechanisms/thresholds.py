"""Keys that nobody listed: which of them are found, and the exact chance that a person's own key is.

Each key has a total of weights (`cube.keys`) and gets rounded Gaussian noise; it is found where the sum is at least a
threshold. What a person adds to keys that others have is hidden as by any Gaussian. A key that she alone has is found with
a chance of at most δ, which is computed here, rounded up (D2 and D3 of docs/proofs/discovery.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.cube.keys import MOST_KEYS, UNIT, key_weight
from discreet.errors import InternalError
from discreet.exact.balls import Ball, enclose, upper_rational
from discreet.exact.numbers import text
from discreet.noise.bits import Bits
from discreet.noise.single.laws import RoundedGaussian, smallest

__all__ = ["Threshold", "chance_of_own", "threshold_for"]


_LEAST = Fraction(1, 2**1000)
"""Stands for every smaller chance, of which the exact one would have millions of digits where a spend is very large."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """One round: a key is found where its weight with noise is at least `least`.

    Args:
        sigma2: the variance of the noise before it is rounded, in squares of units.
        least: the smallest weight with noise, in units, of a key that is found.
        at_least: how many persons with a weight a candidate has.
    """

    sigma2: Fraction
    least: int
    at_least: int
    law: RoundedGaussian = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "law", RoundedGaussian(self.sigma2))
        if self.at_least < 1 or self.gap <= UNIT:
            raise InternalError("a threshold must be above the weight of one person")

    @property
    def gap(self) -> int:
        """How far above 0 the threshold is for a key of which one person decides whether it is a candidate."""
        return self.least - (self.at_least - 1) * UNIT

    @property
    def delta(self) -> Fraction:
        """The largest chance that any key is found that is a candidate through one person only; rounded up."""
        return chance_of_own(self.law, self.gap)

    def found(self, weights: NDArray[np.int64], bits: Bits) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """The positions of the candidates that are found, ascending, and their weights with noise. Public from here on."""
        noisy = weights + self.law.sample(len(weights), bits)
        places = np.flatnonzero(noisy >= self.least)
        return places, noisy[places]

    def to_json(self) -> dict[str, str]:
        """The round as canonical JSON values, in units; `delta` is rounded up."""
        return {
            "variance": text(self.sigma2),
            "threshold": str(self.least),
            "unit": str(UNIT),
            "delta": text(self.delta),
        }


@lru_cache(maxsize=256)
def threshold_for(sigma2: Fraction, delta: Fraction, at_least: int) -> Threshold:
    """The lowest threshold with which no person's own key is found with a chance above `delta`.

    Args:
        sigma2: the variance of the noise before it is rounded, in squares of units.
        delta: above 0 and below 1/4.
        at_least: how many persons with a weight a candidate has.
    """
    if not 0 < delta < Fraction(1, 4):
        raise InternalError("a threshold needs a δ above 0 and below 1/4")
    law = RoundedGaussian(sigma2)
    # Most often the persons with the most keys decide; their weight is far below the noise.
    guess = UNIT + law.quantile(1 - delta / MOST_KEYS)
    above = smallest(lambda gap: chance_of_own(law, UNIT + 1 + gap) <= delta, max(0, guess - UNIT - 1))
    return Threshold(sigma2, UNIT + 1 + above + (at_least - 1) * UNIT, at_least)


@lru_cache(maxsize=256)
def chance_of_own(law: RoundedGaussian, gap: int) -> Fraction:
    """The largest 1 − (1 − P(w(g) + Z ≥ gap))^g over 1 ≤ g ≤ 4,096 keys, rounded up by less than a part in 10¹²; gap > W.

    A range of numbers of keys is bounded by the weight of its first and the number of its last, and halved only where
    this bound is above what is known to be reached.
    """
    found = max(_chance(law, gap, 1, 1), _chance(law, gap, MOST_KEYS, MOST_KEYS))
    ranges = [(1, MOST_KEYS)]
    while ranges:
        first, last = ranges.pop()
        bound = _chance(law, gap, first, last)
        if first == last:
            found = max(found, bound)
        elif bound > found:
            middle = (first + last) // 2
            ranges += [(first, middle), (middle + 1, last)]
    return found


def _chance(law: RoundedGaussian, gap: int, of: int, keys: int) -> Fraction:
    """1 − (1 − p)^keys, rounded up, for the chance p that a key with the weight of a person with `of` keys is found."""

    def one_of_them() -> Ball:
        single = law.tail_ball(gap - key_weight(of) - 1) / 2  # P(Z ≥ k) = P(|Z| > k − 1)/2 for k ≥ 1
        return -((-single).log1p() * keys).expm1()

    found = enclose(one_of_them)
    return _LEAST if found < float(_LEAST) else upper_rational(found)
