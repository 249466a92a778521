"""Certified sums of exp(-k²/(2s)) over integers k, for s from nearly 0 to far beyond 10^34, at the working precision.

Small s, and tails that fall fast: the sum itself, with a geometric bound of what is left out. Large s: the whole sum by
Poisson summation, the tail by the midpoint Euler-Maclaurin formula. The remainders are proved in docs/proofs/noise.md,
"Gaussian sums".
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from discreet.exact.balls import Ball, around, ball, bernoulli, factorial, negligible, pi_ball, unknown
from discreet.exact.precision import working_bits

__all__ = ["gaussian_sum", "gaussian_tail_sum"]

_FEW = 64  # terms, whose sum is as fast as any formula
_SMALL = 100  # below this s the sums have few terms


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
    return _direct(s, start, 0) if _falls_fast(s, start) else _euler_maclaurin(s, start)


def _falls_fast(s: Fraction, start: int) -> bool:
    """True if the terms are to be added one by one: there are few that matter, or no formula reaches the working precision.

    The formula of Euler and Maclaurin errs by about exp(-2π²s), which is 28·s bits below 1.
    """
    bits, whole = working_bits(), int(s)
    return whole < _SMALL or bits > 20 * whole or isqrt(start * start + 2 * whole * bits) - start <= _FEW


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
        total += term * k**power
        term, ratio, k = term * ratio, ratio * step, k + 1
        if k < peak:
            continue
        following = term * k**power
        q = ratio * ball(Fraction(k + 1, k)) ** power if power else ratio
        # An enclosure of something below 10^-(10^12) may be [0 ± tiny]: it is as good as it gets.
        if q < 1 and (following < small * total * (1 - q) or not following > 0):
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
