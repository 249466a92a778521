"""What is certain about vectors with P(v) ∝ exp(-max|v_i|/scale): of one number, and of a combination of them.

Given the radius K all numbers are uniform on -K … K. A bound of a mean over K is a quotient of two sums over all K, each
enclosed block by block: the weight (2K + 1)^m q^K rises up to its mode and falls beyond, and what is averaged does not fall.
docs/proofs/vectors.md (V7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, expm1, isqrt, lgamma, log, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.noise.single._rough_tails import rough_erfc

__all__ = ["VectorLaplaceCell"]

Floats = NDArray[np.float64]
Rising = Callable[[Floats], Floats]
"""A function of the radius that is not negative and does not fall."""

_FINE = 256
"""A block is the spread of the radius divided by this: a mean is enclosed to about half a percent."""
_OUTWARD = 1e-9
"""More than the rounding of some 2^20 terms, each with a relative error below 2^-36."""
_LEAST = 1e-30
_LEAST_ACCEPTED = 1 / 1000
_NOTHING = -690.0
_FAR = 36.0
_STEPS = 200
_GAUSSIANS = 3.179
"""1/(4 P(Z > √2)), rounded up: a sum of Rademacher's exceeds any x at most so many times as often as a normal number Z."""


@dataclass(frozen=True, slots=True)
class VectorLaplaceCell:
    """One number of a vector of `parts` integers with P(v) ∝ exp(-max|v_i|/scale)."""

    scale: Fraction
    parts: int

    def half_width(self, coverage: Fraction) -> int:
        """A w with P(|v_i| ≤ w) ≥ coverage: the smallest one, but for half a percent of the probability."""
        if not 0 <= coverage < 1:
            raise ArgumentError(f"coverage={coverage}: must be at least 0 and below 1")
        return _half_width(self, coverage)

    def tail(self, k: int) -> tuple[float, float]:
        """Doubles around P(|v_i| > k), for k ≥ 0."""
        far = k + 0.5
        return self.mean(lambda radius: np.maximum(0.0, 1 - far / (radius + 0.5)))

    def variance(self) -> float:
        """The variance of one number, E K(K + 1)/3, rounded up."""
        return self.mean(lambda radius: radius * (radius + 1) / 3)[1]

    def spread(self, failing: Fraction) -> float:
        """A z with P(|Σ c_i v_i| > z ‖c‖₂ + ‖c‖₁/2) ≤ failing, for all c (V7)."""
        return _spread(self, failing)

    def largest(self, failing: Fraction) -> float:
        """A radius k + 1/2 with P(K > k) ≤ failing: given all smaller ones, each number is one of a uniform law, rounded."""
        return _largest(self, failing)

    def is_drawn_soon(self) -> bool:
        """True if a radius that is tried is taken with probability 1/1000 or more."""
        grid = _grid(self.scale, self.parts)
        total = grid.unit + log(grid.step * float(grid.weights.sum()))
        never = (self.parts + 1) * log(-expm1(-1 / float(self.scale))) - self.parts * log(2) - lgamma(self.parts + 1)
        return total + never >= log(_LEAST_ACCEPTED)

    def mean(self, of: Rising) -> tuple[float, float]:
        """Doubles around the mean of a function of the radius K."""
        grid = _grid(self.scale, self.parts)
        values = of(grid.radii)
        low = high = _total(grid.weights, values)
        if grid.step > 1:
            low = grid.step * _total(grid.least, values[:-1])
            high = grid.step * _total(grid.most, values[1:]) + float(grid.weights[0] * values[0])
        # Beyond the last radius each weight, and each weight times K(K + 1), is below exp(-1/(2 scale)) of the one before.
        rest = float(grid.weights[-1]) * max(1.0, float(values[-1])) / -expm1(-1 / (2 * float(self.scale)))
        least, most = grid.whole
        return max(0.0, low / (most + rest) * (1 - _OUTWARD)), (high + rest) / least * (1 + _OUTWARD)


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """Radii at equal steps, far beyond which nothing counts.

    Args:
        radii: from 0 on.
        weights: proportional to the masses at the radii.
        least: for each block between two radii no more than any weight in it.
        most: no less than any.
        step: how many radii a block has.
        whole: numbers around the sum of all weights.
        unit: the logarithm by which weights are multiplied.
    """

    radii: Floats
    weights: Floats
    least: Floats
    most: Floats
    step: int
    whole: tuple[float, float]
    unit: float


@lru_cache(maxsize=64)
def _grid(scale: Fraction, parts: int) -> _Grid:
    step = max(1, int(scale * isqrt(parts + 1) / _FINE))
    last = ceil(float(scale) * (2 * (parts + 2) + 2 * (log(1 / _LEAST) + 40))) + 1
    radii = np.arange(0, last + step, step, dtype=np.float64)
    mode = max(0.0, float(parts) * float(scale) - 0.5)
    unit = float(_log_weight(np.array([mode]), scale, parts)[0])

    def weigh(at: Floats) -> Floats:
        # Numbers below the smallest normal double would be slow, and count for nothing.
        return np.exp(np.maximum(_log_weight(at, scale, parts) - unit, _NOTHING))

    weights = weigh(radii)
    least, most = np.minimum(weights[:-1], weights[1:]), weigh(np.clip(mode, radii[:-1], radii[1:]))
    around = float(weights.sum()), float(weights.sum())
    if step > 1:
        around = step * float(least.sum()), step * float(most.sum()) + float(weights[0])
    return _Grid(radii, weights, least, most, step, around, unit)


def _total(weights: Floats, values: Floats) -> float:
    """Σ weight·value, without the threads of a matrix library, which cost more than they save here."""
    return float((weights * values).sum())


def _log_weight(radii: Floats, scale: Fraction, parts: int) -> Floats:
    return np.asarray(parts * np.log(2 * radii + 1) - radii / float(scale))


@lru_cache(maxsize=512)
def _half_width(cell: VectorLaplaceCell, coverage: Fraction) -> int:
    """The least w with an enclosed tail of at most 1 - coverage, by bisection."""
    failing = _float_down(1 - coverage)
    low, high = -1, max(1, ceil(float(cell.scale)))
    while cell.tail(high)[1] > failing:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if cell.tail(middle)[1] <= failing else (middle, high)
    return high


@lru_cache(maxsize=512)
def _spread(cell: VectorLaplaceCell, failing: Fraction) -> float:
    """Given K a sum of uniform numbers of the half-width K + 1/2 is one of Rademacher's, with (K + 1/2)‖c‖₂/√3 for ‖·‖₂."""
    beyond, unit = _float_down(failing), float(cell.scale) + 1

    def fails(z: float) -> bool:
        return cell.mean(lambda radius: _beyond(z * sqrt(3) / (radius + 0.5)))[1] > beyond

    low, high = 0.0, unit
    while fails(high):
        low, high = high, 2 * high
    for _ in range(_STEPS):
        if high - low <= high * 1e-6:
            break
        middle = (low + high) / 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


def _beyond(x: Floats) -> Floats:
    """Sums of Rademacher's with ‖·‖₂ = 1 exceed x in size at most so: Hoeffding, and Bentkus and Dzindzalieta (2015)."""
    near = np.minimum(x, _FAR)  # beyond are numbers below the smallest normal double, which would be slow
    return np.asarray(np.minimum(2 * np.exp(-(near**2) / 2), _GAUSSIANS * rough_erfc(near / sqrt(2))))


@lru_cache(maxsize=512)
def _largest(cell: VectorLaplaceCell, failing: Fraction) -> float:
    beyond = _float_down(failing)

    def fails(k: int) -> bool:
        return cell.mean(lambda radius: (radius > k).astype(np.float64))[1] > beyond

    low, high = -1, max(1, ceil(float(cell.scale)))
    while fails(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high + 0.5


def _float_down(failing: Fraction) -> float:
    """The probability as a double that is not larger; one too small to be told from 0 is refused."""
    found = float(failing) * (1 - 1e-12)
    if found < _LEAST * 10:
        raise ArgumentError(f"failing={float(failing):.3g}: must be at least {_LEAST * 10:.3g} for this noise")
    return found
