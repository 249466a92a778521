"""Certified tails of the discrete Gaussian: sums of exp(−k²/2σ²) over k ≥ m, as enclosures at the current precision.

Both formulas are in section D1 of docs/proofs/privacy.md.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.exact.balls import Ball, around, ball, bernoulli, factorial, negligible, pi_ball
from discreet.exact.precision import working_bits

_DIRECT = 10_000  # up to this σ² the terms are added one by one


def gaussian_sum(sigma2: Fraction, start: int) -> Ball:
    """An enclosure of the sum of exp(−k²/2σ²) over all integers k ≥ start."""
    if start <= 0:
        return 1 + 2 * gaussian_sum(sigma2, 1) - gaussian_sum(sigma2, 1 - start)
    return _direct(sigma2, start) if sigma2 <= _DIRECT else _euler_maclaurin(sigma2, start)


def _direct(sigma2: Fraction, start: int) -> Ball:
    unit = ball(-1 / (2 * sigma2))
    term = (unit * start * start).exp()
    ratio = (unit * (2 * start + 1)).exp()
    shrink = (unit * 2).exp()
    total = ball(0)
    threshold = negligible()
    while True:
        total += term
        term *= ratio
        # A first term beyond the reach of enclosures (not certainly positive) ends the sum as well.
        if ratio < 1 and (not total > 0 or term / (1 - ratio) < threshold * total):
            break
        ratio *= shrink
    # The terms that follow shrink at least geometrically.
    rest = term / (1 - ratio)
    return total + rest * around(0.5, 0.5)


def _euler_maclaurin(sigma2: Fraction, start: int) -> Ball:
    """∫ f + f(m)/2 − Σ_j B_2j/(2j)! f^(2j−1)(m), with remainder at most 2ζ(2p)/(2π)^2p ∫ |f^(2p)|."""
    sigma = ball(sigma2).sqrt()
    z = start / sigma
    density = (-z * z / 2).exp()
    total = sigma * (pi_ball() / 2).sqrt() * (z / ball(2).sqrt()).erfc() + density / 2
    # With σ ≥ 100 and arguments within 40 σ each order gains at least 8 bits.
    half_order = working_bits() // 8
    for j in range(1, half_order + 1):
        # f^(n)(x) = (−1/σ)^n He_n(x/σ) f(x), and n = 2j − 1 is odd.
        total += bernoulli(2 * j) / factorial(2 * j) * _hermite(2 * j - 1, z) * density / sigma ** (2 * j - 1)
    order = 2 * half_order
    absolute = sum(
        (abs(c) * _upper_moment(k, z) for k, c in enumerate(_hermite_coefficients(order)) if c),
        start=ball(0),
    )
    bound = 4 / (2 * pi_ball()) ** order * absolute / sigma ** (order - 1)
    return total + bound * around(0, 1)


def _hermite_coefficients(n: int) -> list[int]:
    """Coefficients of He_n, from the constant up: He_(n+1) = z He_n − n He_(n−1)."""
    previous, current = [0], [1]
    for k in range(n):
        shifted = [0, *current]
        padded = previous + [0] * (len(shifted) - len(previous))
        previous, current = current, [a - k * b for a, b in zip(shifted, padded, strict=True)]
    return current


def _hermite(n: int, z: Ball) -> Ball:
    total = ball(0)
    for coefficient in reversed(_hermite_coefficients(n)):
        total = total * z + coefficient
    return total


def _upper_moment(k: int, z: Ball) -> Ball:
    """The integral of t^k e^{−t²/2} over t ≥ z ≥ 0: 2^((k−1)/2) Γ((k+1)/2, z²/2)."""
    half = ball(k + 1) / 2
    return ball(2) ** (half - 1) * (z * z / 2).gamma_upper(half)
