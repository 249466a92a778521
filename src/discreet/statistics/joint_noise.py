"""Half-widths of a combination of the noises of several queries in a cell, for factors that differ from cell to cell.

Where all noises are rounded Gaussians, or all are discrete Laplace, the bound follows from the continuous laws that they
are rounded from; otherwise it is the sum of the half-widths. docs/proofs/variances.md proves both.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query
from discreet.mechanisms.base import CellLaw
from discreet.noise.lattice.vector_laplace_laws import VectorLaplaceCell
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.statistics.recipe import Noises

__all__ = ["Combination", "half_width_of_combination", "half_width_of_laws"]

Floats = NDArray[np.float64]

Combination = Sequence[tuple[Query, Floats]]
"""Queries with one number to each cell, and for each cell an upper bound of the size of the factor of its noise."""

_LEAST_FAILING = 1e-9
_SLACK = 1 + 1e-9
"""More than the rounding of some dozen operations, and of the inverse of the normal law."""
_APART = 1.02
"""Scales of a sum are at least so far apart: nearer ones are widened, where the closed form would cancel."""
_STEPS = 60


def half_width_of_combination(noises: Noises, asked: Combination, failing: Fraction) -> Floats:
    """A w for each cell with P(|Σ factor · noise| > w) ≤ failing, for all factors up to the given ones."""
    laws = [noises.law(query).independent if noises.law(query).everywhere else None for query, _ in asked]
    factors = [factor for _, factor in asked]
    if failing >= _LEAST_FAILING and all(isinstance(law, RoundedGaussian) for law in laws):
        return _of_gaussians([float(law.sigma2) for law in laws], factors, float(failing))  # type: ignore[union-attr]
    if failing >= _LEAST_FAILING and all(isinstance(law, DiscreteLaplace) for law in laws):
        return _of_laplace([float(law.scale) for law in laws], factors, float(failing))  # type: ignore[union-attr]
    each = 1 - failing / len(asked)
    widths = [np.asarray(noises.law(query).half_widths(each)).astype(np.float64) for query, _ in asked]
    return np.asarray(sum(factor * width for factor, width in zip(factors, widths, strict=True)) * _SLACK)


def half_width_of_laws(law: CellLaw, factors: Sequence[Floats], failing: Fraction) -> Floats:
    """The same for the noises of one law in a vector, any number of them; shape of the factors."""
    if not factors:
        return np.zeros(())
    if failing >= _LEAST_FAILING and isinstance(law, VectorLaplaceCell):
        spread = np.sqrt(np.add.reduce([factor**2 for factor in factors]))
        return np.asarray((law.spread(failing) * spread + np.add.reduce(list(factors)) / 2) * _SLACK)
    if failing >= _LEAST_FAILING and isinstance(law, RoundedGaussian):
        return _of_gaussians([float(law.sigma2)] * len(factors), factors, float(failing))
    if failing >= _LEAST_FAILING and isinstance(law, DiscreteLaplace):
        return _of_many_laplace(float(law.scale), factors, float(failing))
    wide = float(law.half_width(1 - failing / len(factors)))
    return np.asarray(wide * np.add.reduce(list(factors)) * _SLACK)


def _of_many_laplace(scale: float, factors: Sequence[Floats], failing: float) -> Floats:
    """Chernoff's bound: P(Σ c_i Z_i > w) ≤ e^(-tw)·Π 1/(1 - (t c_i)²) for every t below 1/max c_i, both tails alike."""
    sizes = scale * np.stack(list(factors))
    largest = np.maximum(sizes.max(axis=0), np.finfo(np.float64).tiny)
    found = np.full(largest.shape, np.inf)
    for part in np.linspace(0.02, 0.98, 49):
        t = part / largest
        found = np.minimum(found, (np.log(2 / failing) - np.log1p(-((t * sizes) ** 2)).sum(axis=0)) / t)
    return np.asarray((found + np.add.reduce(list(factors))) * _SLACK)


def _of_gaussians(variances: Sequence[float], factors: Sequence[Floats], failing: float) -> Floats:
    """Every noise is at most 1/2 away from its Gaussian."""
    spread = np.sqrt(np.add.reduce([factor**2 * own for factor, own in zip(factors, variances, strict=True)]))
    z = NormalDist().inv_cdf(1 - failing / 2) * (1 + 1e-6)
    return np.asarray((z * spread + np.add.reduce(list(factors)) / 2) * _SLACK)


def _of_laplace(scales: Sequence[float], factors: Sequence[Floats], failing: float) -> Floats:
    """Every noise is less than 1 away from its Laplace law, whose sums have a tail in closed form."""
    sizes = -np.sort(-np.stack([np.asarray(factor * own) for factor, own in zip(factors, scales, strict=True)]), axis=0)
    for place in range(len(sizes) - 2, -1, -1):
        least = np.maximum(sizes[place + 1], sizes[0] * 1e-6) if place == len(sizes) - 2 else sizes[place + 1]
        sizes[place + 1] = least
        sizes[place] = np.maximum(sizes[place], least * _APART)
    low, high = np.zeros(sizes.shape[1:]), sizes.sum(axis=0) * (np.log(len(sizes) / failing) + 1)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        beyond = _laplace_tail(sizes, middle) > failing * (1 - 1e-6)
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.asarray((high + np.add.reduce(list(factors))) * _SLACK)


def _laplace_tail(sizes: Floats, t: Any) -> Floats:
    """P(|sum of Laplace noises of these scales| > t): Σ A_i e^(-t/c_i), A_i the product of c_i²/(c_i² - c_j²), j ≠ i."""
    found = np.zeros(sizes.shape[1:])
    for place, own in enumerate(sizes):
        others = (own**2 / (own**2 - other**2) for number, other in enumerate(sizes) if number != place)
        found = found + np.multiply.reduce([np.exp(-t / own), *others])
    return found
