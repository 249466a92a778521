"""Exact integer noise: every draw follows its stated law exactly, from bits of the operating system.

The functions here draw from a fresh stream of random bits (`discreet.noise.bits.system_bits`); there is no seed.
Parameters are exact rationals, results are integers, and nothing is truncated or approximated on the way. The laws of
the same names give masses, tails and the smallest intervals with a stated coverage. Proofs: docs/proofs/noise.md.
Samplers are loaded when they first draw: a quote needs the laws alone.

* `_lazy`: A uniform real number of which only the bits that a comparison needs are ever drawn
* `_parameters`: The parameters that samplers accept: positive exact scales and sizes that fit into memory
* `bits`: Independent uniform random bits: the only source of randomness in discreet
* `counts`: Laws and draws of numbers of records: binomial, multinomial, hypergeometric
* `lattice`: Integer vectors with given sums: laws and draws on the lattice that exact totals leave free
* `single`: Laws of one integer and arrays of independent draws, exactly
"""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import Amount
from discreet.exact.on_demand import on_demand
from discreet.noise.bits import system_bits
from discreet.noise.single.laws import DiscreteGaussian, DiscreteLaplace, Geometric, Law, RoundedGaussian
from discreet.noise.single.sums import SumOfNoises

if TYPE_CHECKING:
    from discreet.noise.counts.count_laws import Binomial, Hypergeometric

__all__ = [
    "Binomial",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Geometric",
    "Hypergeometric",
    "Law",
    "RoundedGaussian",
    "SumOfNoises",
    "discrete_gaussian",
    "discrete_gaussian_around",
    "discrete_laplace",
    "geometric",
    "margins_gaussian",
    "rounded_gaussian",
    "sum_zero_gaussian",
    "sum_zero_laplace",
]


def rounded_gaussian(sigma2: Amount, size: SupportsIndex) -> NDArray[np.int64]:
    """`size` independent roundings of N(0, sigma2): k has exactly the mass Φ((k + 1/2)/σ) - Φ((k - 1/2)/σ)."""
    from discreet.noise.single import scalar

    return scalar.rounded_gaussian(sigma2, size, system_bits())


def discrete_gaussian(sigma2: Amount, size: SupportsIndex) -> NDArray[np.int64]:
    """`size` independent integers k with probability exactly proportional to exp(-k²/(2 sigma2))."""
    from discreet.noise.single import scalar

    return scalar.discrete_gaussian(sigma2, size, system_bits())


def discrete_gaussian_around(
    sigma2: Amount, numerators: NDArray[np.int64], denominators: int | NDArray[np.int64] = 1
) -> NDArray[np.int64]:
    """For every centre c = numerator/denominator one integer k with probability proportional to exp(-(k - c)²/(2 sigma2)).

    Numerators and denominators are integers within ±2**61, denominators positive, one for all centres or one for each.
    """
    from discreet.noise.single import scalar

    return scalar.discrete_gaussian_around(sigma2, numerators, denominators, system_bits())


def discrete_laplace(scale: Amount, size: SupportsIndex) -> NDArray[np.int64]:
    """`size` independent integers k with probability exactly proportional to exp(-|k|/scale)."""
    from discreet.noise.single import scalar

    return scalar.discrete_laplace(scale, size, system_bits())


def geometric(scale: Amount, size: SupportsIndex) -> NDArray[np.int64]:
    """`size` independent integers k ≥ 0 with probability exactly proportional to exp(-k/scale)."""
    from discreet.noise.single import scalar

    return scalar.geometric(scale, size, system_bits())


def sum_zero_laplace(scale: Amount, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Blocks of `sizes` integers that sum to 0, concatenated, with probability proportional to exp(-‖v‖₁/scale)."""
    from discreet.noise.lattice import sum_zero

    return sum_zero.sum_zero_laplace(scale, sizes, system_bits())


def sum_zero_gaussian(sigma2: Amount, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Blocks of `sizes` integers that sum to 0, concatenated, with probability proportional to exp(-|v|²/(2 sigma2))."""
    from discreet.noise.lattice import margin_gaussian

    return margin_gaussian.sum_zero_gaussian(sigma2, sizes, system_bits())


def margins_gaussian(
    sigma2: Amount, shape: tuple[int, ...], *, depth: SupportsIndex = 1, blocks: SupportsIndex = 1
) -> NDArray[np.int64]:
    """Tables of shape (blocks, *shape, depth) whose margins over each axis of `shape` are 0, as `sum_zero_gaussian`."""
    from discreet.noise.lattice import margin_gaussian

    return margin_gaussian.margins_gaussian(sigma2, shape, system_bits(), depth=depth, blocks=blocks)


if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, {"counts.count_laws": ["Binomial", "Hypergeometric"]})
