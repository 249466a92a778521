"""Exact integer noise: discrete Laplace, discrete Gaussian, rounded Gaussian and geometric arrays."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from discreet.exact import Amount
from discreet.noise import _reference
from discreet.noise._parameters import MOST_SCALE, MOST_SIGMA2, checked_size, positive
from discreet.noise.bits import Bits

__all__ = ["discrete_gaussian", "discrete_laplace", "geometric", "rounded_gaussian"]


def discrete_laplace(scale: Amount, size: SupportsIndex, bits: Bits) -> NDArray[np.int64]:
    """`size` independent integers k with probability exactly proportional to exp(-|k|/scale)."""
    return _repeat(_reference.discrete_laplace, positive(scale, "scale", most=MOST_SCALE), size, bits)


def geometric(scale: Amount, size: SupportsIndex, bits: Bits) -> NDArray[np.int64]:
    """`size` independent integers k ≥ 0 with probability exactly proportional to exp(-k/scale)."""
    return _repeat(_reference.geometric, positive(scale, "scale", most=MOST_SCALE), size, bits)


def discrete_gaussian(sigma2: Amount, size: SupportsIndex, bits: Bits) -> NDArray[np.int64]:
    """`size` independent integers k with probability exactly proportional to exp(-k²/(2 sigma2))."""
    return _repeat(_reference.discrete_gaussian, positive(sigma2, "sigma2", most=MOST_SIGMA2), size, bits)


def rounded_gaussian(sigma2: Amount, size: SupportsIndex, bits: Bits) -> NDArray[np.int64]:
    """`size` independent roundings of N(0, sigma2): k has exactly the mass Φ((k + 1/2)/σ) - Φ((k - 1/2)/σ)."""
    return _repeat(_reference.rounded_gaussian, positive(sigma2, "sigma2", most=MOST_SIGMA2), size, bits)


def _repeat(
    draw: Callable[[Fraction, Bits], int], parameter: Fraction, size: SupportsIndex, bits: Bits
) -> NDArray[np.int64]:
    return np.array([draw(parameter, bits) for _ in range(checked_size(size))], dtype=np.int64)
