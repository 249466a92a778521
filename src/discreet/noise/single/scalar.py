"""Exact integer noise: discrete Laplace, discrete Gaussian, rounded Gaussian and geometric arrays.

Every sampler draws from a block envelope (`discreet.noise.single.tables`) that is built once per parameter. Results are
int64 arrays. The laws have infinite support; should a draw not fit into int64, which at the largest scale has a
probability below 10^-35, the result is an array of Python integers, so that nothing ever overflows.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import Amount
from discreet.noise._parameters import MOST_SCALE, MOST_SIGMA2, check_size, positive
from discreet.noise.bits import Bits
from discreet.noise.single import _weights
from discreet.noise.single._centres import Centres
from discreet.noise.single._draw import STRIDE, draw, draw_around
from discreet.noise.single.tables import CELLS, Envelope, build, stack

__all__ = ["discrete_gaussian", "discrete_gaussian_around", "discrete_laplace", "geometric", "rounded_gaussian"]

_FLOAT_CENTRES = Fraction(1, 64)
_PART_PRECISION = 1024
_KEPT = 32  # tables of one kind kept at a time; each takes 0.4 MB


def discrete_laplace(scale: Amount, size: SupportsIndex, bits: Bits) -> NDArray[np.int64]:
    """`size` independent integers k with probability exactly proportional to exp(-|k|/scale)."""
    return draw(_laplace(positive(scale, "scale", most=MOST_SCALE)), check_size(size), bits)


def geometric(scale: Amount, size: SupportsIndex, bits: Bits) -> NDArray[np.int64]:
    """`size` independent integers k ≥ 0 with probability exactly proportional to exp(-k/scale)."""
    return draw(_geometric(positive(scale, "scale", most=MOST_SCALE)), check_size(size), bits)


def discrete_gaussian(sigma2: Amount, size: SupportsIndex, bits: Bits) -> NDArray[np.int64]:
    """`size` independent integers k with probability exactly proportional to exp(-k²/(2 sigma2))."""
    return draw(_gaussian(positive(sigma2, "sigma2", most=MOST_SIGMA2)), check_size(size), bits)


def rounded_gaussian(sigma2: Amount, size: SupportsIndex, bits: Bits) -> NDArray[np.int64]:
    """`size` independent roundings of N(0, sigma2): k has exactly the mass Φ((k + 1/2)/σ) - Φ((k - 1/2)/σ)."""
    return draw(_build_rounded(positive(sigma2, "sigma2", most=MOST_SIGMA2)), check_size(size), bits)


def discrete_gaussian_around(
    sigma2: Amount, numerators: NDArray[np.int64], denominators: int | NDArray[np.int64], bits: Bits
) -> NDArray[np.int64]:
    """For every centre c = numerator/denominator one integer k with probability proportional to exp(-(k - c)²/(2 sigma2)).

    Args:
        sigma2: an exact rational in (0, 10^34].
        numerators: one-dimensional, within ±2**61.
        denominators: positive, one for all or one per centre, at most 2**61.
        bits: the source of random bits.
    """
    table = _build_centred(positive(sigma2, "sigma2", most=MOST_SIGMA2))
    return draw_around(table, Centres(numerators, denominators, STRIDE), bits)


@lru_cache(maxsize=_KEPT)
def _build_centred(sigma2: Fraction) -> Envelope:
    """The family of centres in [-1/2, 1/2], with enough parts that the weights within a part differ by little."""
    count = 1
    while count < 16 and count * count * sigma2 < _PART_PRECISION:
        count *= 2
    edge = 2.0**-45  # more than the rounding error of a fraction, so that a part covers all that it is given
    bounds = [(max(-0.5, i / count - 0.5 - edge), min(0.5, (i + 1) / count - 0.5 + edge)) for i in range(count)]
    table = stack([build(_weights.centred_weights(sigma2, low, high), CELLS // count) for low, high in bounds])
    # For small sigma2 x(x - 2f)/(2 sigma2) may cancel to fewer digits than the margin covers: decide all exactly.
    return table if sigma2 >= _FLOAT_CENTRES else replace(table, margin=1.0)


@lru_cache(maxsize=_KEPT)
def _laplace(scale: Fraction) -> Envelope:
    return build(_weights.laplace(scale))


@lru_cache(maxsize=_KEPT)
def _geometric(scale: Fraction) -> Envelope:
    return build(_weights.geometric(scale))


@lru_cache(maxsize=_KEPT)
def _gaussian(sigma2: Fraction) -> Envelope:
    return build(_weights.gaussian(sigma2))


@lru_cache(maxsize=_KEPT)
def _build_rounded(sigma2: Fraction) -> Envelope:
    return build(_weights.rounded_weights(sigma2))
