"""The meaning of the scalar samplers: one draw at a time, integers only, slow. The fast ones are tested against these.

Discrete Laplace, discrete Gaussian and geometric follow Canonne, Kamath and Steinke, "The Discrete Gaussian for
Differential Privacy" (2020), Algorithms 1 to 3. The rounded Gaussian inverts its distribution function on a uniform
number whose bits are revealed as far as certified enclosures need them.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from discreet.exact.balls import Ball, ball
from discreet.noise._lazy import LazyUniform
from discreet.noise.bits import Bits

__all__ = ["bernoulli_exp", "discrete_gaussian", "discrete_laplace", "geometric", "rounded_gaussian"]


def bernoulli_exp(gamma: Fraction, bits: Bits) -> bool:
    """True with probability exp(-gamma), for gamma ≥ 0. CKS20, Algorithm 1."""
    while gamma > 1:
        if not bernoulli_exp(Fraction(1), bits):
            return False
        gamma -= 1
    trials = 1
    while bits.below(gamma.denominator * trials) < gamma.numerator:  # Bernoulli(gamma / trials)
        trials += 1
    return trials % 2 == 1


def geometric(scale: Fraction, bits: Bits) -> int:
    """Draws k ≥ 0 with probability proportional to exp(-k/scale). CKS20, Algorithm 2 without the sign."""
    s, t = scale.numerator, scale.denominator
    while True:
        low = bits.below(s)
        if bernoulli_exp(Fraction(low, s), bits):
            break
    high = 0
    while bernoulli_exp(Fraction(1), bits):
        high += 1
    return (low + s * high) // t


def discrete_laplace(scale: Fraction, bits: Bits) -> int:
    """Draws k with probability proportional to exp(-|k|/scale). CKS20, Algorithm 2."""
    while True:
        magnitude = geometric(scale, bits)
        negative = bits.getrandbits(1)
        if magnitude or not negative:  # 0 must not be counted twice
            return -magnitude if negative else magnitude


def discrete_gaussian(sigma2: Fraction, bits: Bits, centre: Fraction = Fraction(0)) -> int:
    """Draws k with probability proportional to exp(-(k - centre)²/(2 sigma2)). CKS20, Algorithm 3.

    With a fraction f of `centre` the proposal is still the discrete Laplace law: |k - f| ≥ |k| - |f| makes
    (|k - f| - sigma2/t)²/(2 sigma2) + (|k - f| - |k|)/t + |f|/t a non-negative exponent.
    """
    whole = round(centre)
    rest = centre - whole
    t = isqrt(sigma2.numerator // sigma2.denominator) + 1
    while True:
        k = discrete_laplace(Fraction(t), bits)
        distance = abs(k - rest)
        exponent = (distance - sigma2 / t) ** 2 / (2 * sigma2) + (distance - abs(k) + abs(rest)) / t
        if bernoulli_exp(exponent, bits):
            return whole + k


def rounded_gaussian(sigma2: Fraction, bits: Bits) -> int:
    """round(N(0, sigma2)): a sign, and the magnitude by inversion of P(|Y| ≥ k) = erfc((k - 1/2)/sqrt(2 sigma2))."""
    uniform = LazyUniform(bits)

    def reaches(k: int) -> bool:
        return uniform.below(lambda: _beyond(k, sigma2))

    if reaches(1):
        low, high = 1, 2  # invariant: P(|Y| ≥ low) > U, and P(|Y| ≥ high) < U once the first loop is over
        while reaches(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if reaches(middle):
                low = middle
            else:
                high = middle
        return -low if bits.getrandbits(1) else low
    return 0


def _beyond(k: int, sigma2: Fraction) -> Ball:
    return ((ball(2 * k - 1)) / (8 * ball(sigma2)).sqrt()).erfc()
