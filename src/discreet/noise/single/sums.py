"""The law of a sum of independent noises a₁Y₁ + … + a_mY_m, for intervals of differences, totals and tree sums.

The masses are put on multiples of h, a power of two, and convolved by fast Fourier transforms. Where the sum spreads over
fewer than 2^18 integers h is 1 and the masses are exact up to a proved error of the arithmetic, so that the half-width is
the smallest except where two probabilities are closer than that error; beyond, a_jY_j is moved by at most h/2, and the
half-width is too large by at most m·h, about m/5000 standard deviations. It is never too small: docs/proofs/noise.md,
"Sums of noises".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, float_up
from discreet.noise.single.laws import Law, check_coverage

__all__ = ["SumOfNoises"]

_GRID = 1 << 17  # multiples of h on either side of 0
_BEYOND = Fraction(1, 1 << 60)  # mass of one noise that is left out, which only makes intervals wider
_ERROR = 2.0**-33  # per noise: rounding of its masses and of the transforms, summed over all places


@dataclass(frozen=True, slots=True)
class SumOfNoises:
    """S = Σ factor · Y over independent noises.

    Attributes:
        terms: pairs of a non-zero integer factor and the law of a noise.
    """

    terms: tuple[tuple[int, Law], ...]

    def __post_init__(self) -> None:
        if not self.terms or any(not isinstance(factor, int) or factor == 0 for factor, _ in self.terms):
            raise ArgumentError("terms: must be at least one pair of a non-zero integer and a law")

    def half_width(self, coverage: Amount) -> int:
        """A w with P(|S| ≤ w) ≥ coverage, for 0 ≤ coverage < 1; the smallest as far as the module says."""
        wanted = check_coverage(coverage)
        if len(self.terms) == 1:
            ((factor, law),) = self.terms
            return abs(factor) * law.half_width(wanted)
        return _half_width(self.terms, wanted)

    def tail(self, k: int) -> tuple[float, float]:
        """Doubles around P(|S| > k), for k ≥ 0."""
        masses, step = _masses(self.terms)
        beyond = np.cumsum(masses[::-1])[::-1]  # P(h|Z| ≥ h i) at i, where |S - hZ| ≤ slack
        slack, error = _slack(self.terms, step), _ERROR * len(self.terms)

        def at_least(place: int) -> float:
            place = max(0, -(-place // step))
            return float(beyond[place]) if place < beyond.size else 0.0

        return max(0.0, at_least(k + slack + 1) - error), min(1.0, at_least(k + 1 - slack) + error)

    def variance(self) -> float:
        """The variance Σ factor² · variance, rounded up."""
        return float_up(sum((factor**2 * Fraction(law.variance()) for factor, law in self.terms), Fraction(0)))


@lru_cache(maxsize=1024)
def _half_width(terms: tuple[tuple[int, Law], ...], coverage: Fraction) -> int:
    masses, step = _masses(terms)
    enough = np.flatnonzero(np.cumsum(masses) >= float_up(coverage) + _ERROR * len(terms))
    if enough.size:
        return int(enough[0]) * step + _slack(terms, step)
    # So near to certainty that the error of the grid decides: the union bound over the noises instead.
    each = 1 - (1 - coverage) / len(terms)
    return sum(abs(factor) * law.half_width(each) for factor, law in terms)


def _slack(terms: tuple[tuple[int, Law], ...], step: int) -> int:
    """An upper bound of the distance between S and its place on the grid."""
    return len(terms) * step // 2 if step > 1 else 0


@lru_cache(maxsize=64)
def _masses(terms: tuple[tuple[int, Law], ...]) -> tuple[NDArray[np.float64], int]:
    """P(|Z| = i) for i = 0, 1, …, and h, where |S - hZ| ≤ m h/2 (and S = Z for h = 1)."""
    reaches = [abs(factor) * law.half_width(1 - _BEYOND) for factor, law in terms]
    step = 1
    while sum(reach // step + 1 for reach in reaches) >= _GRID:
        step *= 2
    last = sum(reach // step + 1 for reach in reaches)
    length = 1 << (2 * last + 1).bit_length()  # nothing wraps around
    product = np.ones(length // 2 + 1)
    alike = Counter((abs(factor), law, reach // step + 1) for (factor, law), reach in zip(terms, reaches, strict=True))
    for (factor, law, reach), times in alike.items():
        # A law is frozen, hence hashable, which its protocol does not say.
        product *= _transform(factor, law, reach, step, length) ** times  # type: ignore[arg-type]
    masses = np.fft.irfft(product, length)[: last + 1]
    masses[1:] *= 2
    masses.flags.writeable = False
    return masses, step


@lru_cache(maxsize=32)
def _transform(factor: int, law: Any, last: int, step: int, length: int) -> NDArray[np.float64]:
    """The transform of the masses of factor·Y / step, rounded: the row is even, so it is real."""
    one_sided = _on_grid(factor, law, last, step)
    row = np.zeros(length)
    row[: one_sided.size] = one_sided
    row[1 - one_sided.size or length :] = one_sided[:0:-1]
    transform = np.fft.rfft(row).real
    transform.flags.writeable = False
    return transform


def _on_grid(factor: int, law: Law, last: int, step: int) -> NDArray[np.float64]:
    """P(Z = i) for i = 0..last, where Z is factor·Y / step, rounded (ties towards 0), for one side."""
    # Y belongs to places up to i when factor·|Y| ≤ (i + 1/2) step.
    # In 64-bit integers where nothing can overflow, else in Python's.
    places: Any = np.arange(last + 1, dtype=np.int64 if (2 * last + 1) * step < 2**62 and factor < 2**61 else np.object_)
    largest = (2 * places + 1) * step // (2 * factor)
    tails = law.rough_tails(largest.astype(np.int64))
    both = -np.diff(tails, prepend=1.0)
    both[1:] /= 2
    return both
