"""Certified sums of exp(-k²/(2s)) over integers k, for s from nearly 0 to 10^34.

Small s: the sum itself, with a geometric bound of what is left out. Large s: the whole sum by Poisson summation, the
tail by the midpoint Euler-Maclaurin formula. The remainders are proved in docs/proofs/noise.md, "Gaussian sums".
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from discreet.exact.balls import Ball, around, ball, bernoulli, enclosure, factorial, negligible, pi_ball, unknown
from discreet.exact.precision import working_bits
from discreet.noise._parameters import capped

__all__ = ["gaussian_sum", "gaussian_tail_sum", "rough_erfc", "rough_gaussian_tails"]

_DIRECT = 100  # up to this s the sums have few terms
_ROUGH_DIRECT = 1 << 24


def gaussian_sum(s: Fraction, power: int = 0) -> Ball:
    """Σ over all integers k of k^power exp(-k²/(2s)), for power 0 or 2."""
    if s <= 1:
        at_zero = ball(1) if power == 0 else ball(0)
        return at_zero + 2 * _direct(s, 1, power)
    # Poisson: Σ f(k) = sqrt(2πs) Σ_m e^{-2π²m²s} (for power 2 times s - 4π²m²s²); the terms fall faster than 2^-m.
    b = ball(s)
    c = 2 * pi_ball() ** 2 * b
    total = ball(1) if power == 0 else b
    small = negligible()
    for m in range(1, 200):
        term = 2 * (-c * m * m).exp() * (ball(1) if power == 0 else b - 2 * c * b * m * m)
        total += term
        if m > 1 and abs(term) < small * total:
            return (total + around(0, 2 * abs(term).upper())) * (2 * pi_ball() * b).sqrt()
    return unknown()  # no caller's precision comes near this


def gaussian_tail_sum(s: Fraction, start: int) -> Ball:
    """Σ over k ≥ start of exp(-k²/(2s)), start ≥ 1."""
    if s <= _DIRECT:
        return _direct(s, start, 0)
    return _euler_maclaurin(s, start)


def _direct(s: Fraction, start: int, power: int) -> Ball:
    """Σ_{k≥start} k^power exp(-k²/(2s)). Ratios of terms fall, so a geometric series bounds what is left out."""
    b = 2 * ball(s)
    total = ball(0)
    k = start
    # e^{-k²/2s} by recurrence: term(k+1) = term(k)·ratio(k), ratio(k+1) = ratio(k)·e^{-1/s}.
    term, ratio, step = (-ball(k * k) / b).exp(), (-ball(2 * k + 1) / b).exp(), (-2 / b).exp()
    small = negligible()
    peak = isqrt(int(s)) * 2 + 3  # beyond it k² e^{-k²/2s} falls, and its ratio too
    while True:
        value = term * k**power
        total += value
        term, ratio, k = term * ratio, ratio * step, k + 1
        following = term * k**power
        q = ratio * ball(Fraction(k + 1, k)) ** power
        # An enclosure of something below 10^-(10^12) may be [0 ± tiny]: it is as good as it gets.
        if k >= peak and q < 1 and (following < small * total * (1 - q) or not following > 0):
            return total + around(0, (following / (1 - q)).upper())


def _euler_maclaurin(s: Fraction, start: int) -> Ball:
    """∫_{a}^{∞} f - Σ_r B_{2r}(1/2)/(2r)! · f^{(2r-1)}(a) + R with a = start - 1/2 and f(x) = e^{-x²/2s}."""
    two, circle, sd = ball(2), 2 * pi_ball(), ball(s).sqrt()
    t = ball(Fraction(2 * start - 1, 2)) / sd
    density = (-t * t / 2).exp()
    beyond = (circle / 4).sqrt() * (t / two.sqrt()).erfc()  # ∫_t^∞ e^{-x²/2} dx
    total = sd * beyond
    hermite = [ball(1), t]  # He_0, He_1 at t
    best, small = None, negligible()
    for r in range(1, 6 + working_bits() // 4):
        while len(hermite) <= 2 * r:
            n = len(hermite) - 1
            hermite.append(t * hermite[n] - n * hermite[n - 1])
        # f^{(2r-1)}(a) = -He_{2r-1}(t) e^{-t²/2} / sd^{2r-1}; the sum has B_{2r}(1/2) = -(1 - 2^{1-2r}) B_{2r}.
        coefficient = -(1 - two ** (1 - 2 * r)) * bernoulli(2 * r) / factorial(2 * r)
        total += coefficient * hermite[2 * r - 1] * density / sd ** (2 * r - 1)
        # |R| ≤ |B_2r|/(2r)! ∫_a^∞ |f^{(2r)}| ≤ 4/(2π)^{2r} sd^{1-2r} sqrt(sqrt(2π) (2r)! ∫_t^∞ e^{-x²/2} dx).
        rest = 4 / circle ** (2 * r) * sd ** (1 - 2 * r)
        rest *= (circle.sqrt() * factorial(2 * r) * beyond).sqrt()
        result = total + around(0, rest.upper())
        if best is None or result.rel_accuracy_bits() > best.rel_accuracy_bits():
            best = result
        if rest < small * abs(total):
            break
    return best


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
        terms = np.exp(np.arange(last + 2, dtype=np.float64) ** 2 * -capped(1 / (2 * s)))
        beyond = np.append(np.cumsum(terms[:0:-1])[::-1], 0.0)  # Σ_{j>k}, smallest terms first
        tails: NDArray[np.float64] = 2 * beyond[np.minimum(k, last + 1)] / whole
        return tails
    sd = float(s) ** 0.5
    t = (k + 0.5) / sd
    half = sd * (math.pi / 2) ** 0.5 * rough_erfc(t / 2**0.5)
    large: NDArray[np.float64] = 2 * (half - t * np.exp(t * t / -2) / (24 * sd)) / whole
    return large
