"""Tails of Gaussian laws in double precision, with errors far below what they serve for: where a search begins."""

from __future__ import annotations

import math
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from discreet.exact.balls import enclosure
from discreet.exact.gaussian_sums import gaussian_sum
from discreet.noise._parameters import cap_rate

__all__ = ["rough_erfc", "rough_gaussian_tails"]

_ROUGH_DIRECT = 1 << 24


def rough_erfc(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The complementary error function as the C library gives it, assumed to err by less than 16 units in the last place."""
    return np.fromiter(map(math.erfc, x.tolist()), dtype=np.float64, count=x.size)


def rough_gaussian_tails(s: Fraction, k: NDArray[np.int64]) -> NDArray[np.float64]:
    """Σ_{|j|>k} e^{-j²/2s} / Σ_j e^{-j²/2s} in double precision, for k ≥ 0.

    Small s: sums of positive terms. Large s: the integral and the first term of the midpoint Euler-Maclaurin formula; the
    next is below s^-2 (docs/proofs/noise.md, "Gaussian sums").
    """
    whole = enclosure(lambda: gaussian_sum(s))[0]
    if s <= _ROUGH_DIRECT:
        last = isqrt(int(90 * s)) + 2  # beyond lies less than e^-45 of the mass
        terms = np.exp(np.arange(last + 2, dtype=np.float64) ** 2 * -cap_rate(1 / (2 * s)))
        beyond = np.append(np.cumsum(terms[:0:-1])[::-1], 0.0)  # Σ_{j>k}, smallest terms first
        tails: NDArray[np.float64] = 2 * beyond[np.minimum(k, last + 1)] / whole
        return tails
    sd = float(s) ** 0.5
    t = (k + 0.5) / sd
    half = sd * (math.pi / 2) ** 0.5 * rough_erfc(t / 2**0.5)
    large: NDArray[np.float64] = 2 * (half - t * np.exp(t * t / -2) / (24 * sd)) / whole
    return large
