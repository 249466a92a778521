"""Transforms of privacy losses, normalised and with an error bound, for `compose`.

A loss is L = log P(y)/Q(y) with y drawn from P. What composition needs of it is K(c) = log E e^{cL} and the normalised
transform m(t) = E e^{(c+it)L}/E e^{cL} on a grid of t: always |m| ≤ 1, and every class bounds how far its double-precision
values may be off, absolutely, as `constant + slope·t` in units of 2⁻⁵³ (C2 and F2 in
docs/proofs/privacy.md). Each loss belongs to a pair that dominates a mechanism in both directions (Theorem D2).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, floor, fsum, log, log1p, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError

__all__ = ["UNIT", "Errors", "Gaussian", "Grid", "Lattices", "Loss", "Theta", "discrete_gaussian", "discrete_laplace"]

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

UNIT = 2.0**-53 * (1 + 1e-6)
_LIB = 8.0  # exp, log, sin and cos within 4 units in the last place
_MOST_ATOMS = 20_000
_REACH = 12.0  # standard deviations of a narrow discrete Gaussian that are kept: the rest weighs less than 1e-30


class Errors(NamedTuple):
    """Bounds in units of 2⁻⁵³: of m(t), absolutely, as constant + slope·t; and of K(c)."""

    constant: float
    slope: float
    cumulant: float


class Grid:
    """The points t = 0, η, 2η, …; `turn` gives e^{itx} there from two short tables instead of one sine per point."""

    def __init__(self, step: float, count: int) -> None:
        self.step = step
        self.block = 1 << max(0, ceil(log(count, 2) / 2))
        self.rows = -(-count // self.block)
        self.points = step * np.arange(self.rows * self.block)

    def turn(self, x: float) -> Complex:
        """e^{itx} on the grid; its phase is off by at most 4 t|x| in units of 2⁻⁵³, its value by 2 + 2·8 more."""
        angle = self.step * x
        small = np.exp(1j * (angle * np.arange(self.block)))
        large = np.exp(1j * (angle * self.block * np.arange(self.rows)))
        turned: Complex = np.multiply.outer(large, small).ravel()
        return turned


@dataclass(frozen=True, slots=True, eq=False)
class Lattices:
    """Losses on first + {0, 1, …, J − 1}·spacing, one row per mechanism, with log-probabilities and repetitions."""

    first: Real
    spacing: Real
    logs: Real
    counts: Real

    def _points(self) -> Real:
        return self.first[:, None] + self.spacing[:, None] * np.arange(self.logs.shape[1])

    def _tilt(self, c: float) -> tuple[Real, Real]:
        """Weights under the tilted laws (rows of sum 1), and K(c) of each row."""
        exponents = c * self._points() + self.logs
        top = exponents.max(axis=1)
        weights = np.exp(exponents - top[:, None])
        total = weights.sum(axis=1)
        return weights / total[:, None], top + np.log(total)

    def cumulant(self, c: float) -> tuple[float, float, float]:
        """K(c), K'(c) and K''(c) of the sum over all rows with repetitions."""
        weights, values = self._tilt(c)
        points = self._points()
        means = (weights * points).sum(axis=1)
        variances = (weights * (points - means[:, None]) ** 2).sum(axis=1)
        return fsum(self.counts * values), float(self.counts @ means), float(self.counts @ variances)

    def multiply(self, product: Complex, c: float, grid: Grid) -> Complex:
        """`product` times m(t) of every row, to the power of its repetitions."""
        weights, _ = self._tilt(c)
        for row in range(len(self.first)):
            unit = grid.turn(float(self.spacing[row]))
            total = np.full(len(grid.points), complex(weights[row, -1]))
            for weight in weights[row, -2::-1].tolist():  # Horner's rule in e^{it·spacing}
                total *= unit
                total += weight
            total *= grid.turn(float(self.first[row]))
            product = product * _power(total, int(self.counts[row]))
        return product

    def errors(self, c: float) -> Errors:
        """The bound for all rows together."""
        atoms = self.logs.shape[1]
        reach = np.abs(self.first) + self.spacing * atoms
        constant = 4 * _LIB + 30.0 * atoms + 8 * c * reach
        return Errors(
            float(self.counts @ constant),
            float(self.counts @ (8 * reach)),
            float(self.counts @ (3 * _LIB + atoms + 8 * c * reach)) + float(self.counts.sum()),
        )


@dataclass(frozen=True, slots=True)
class Gaussian:
    """The loss of μ-GDP: normal with mean μ²/2 and variance μ² = `variance`."""

    variance: float

    def cumulant(self, c: float) -> tuple[float, float, float]:
        """K(c) = μ²c(c + 1)/2 with its two derivatives."""
        return self.variance * c * (c + 1) / 2, self.variance * (2 * c + 1) / 2, self.variance

    def multiply(self, product: Complex, c: float, grid: Grid) -> Complex:
        """`product` times exp(μ²(−t² + it(2c + 1))/2)."""
        t = grid.points
        return product * np.exp(-self.variance * t * t / 2) * grid.turn(self.variance * (2 * c + 1) / 2)

    def errors(self, c: float) -> Errors:
        """The bounds for m and K."""
        return Errors(8 * _LIB, 4 * self.variance * (2 * c + 1), 8 * self.variance * c * (c + 1))


@dataclass(frozen=True, slots=True)
class Theta:
    """The loss of a wide discrete Gaussian (σ² ≥ 4) at distance s: (s/σ²)X + s²/2σ² with X from the law itself.

    By Poisson summation its transform is the transform of the continuous Gaussian summed over the period 2π of the integers:
    Σ_x exp(−x²/2σ² + zx) = σ√(2π) Σ_k exp(σ²(z + 2πik)²/2). For σ² ≥ 4 only the three terms nearest to the real axis
    exceed 1e-38 of the largest.
    """

    sigma2: Fraction
    shift: int
    count: int

    def cumulant(self, c: float) -> tuple[float, float, float]:
        """K(c) with its two derivatives, taken from the continuous Gaussian (less than 1e-30 away)."""
        variance = self.count * float(self.shift**2 / self.sigma2)
        return variance * c * (c + 1) / 2, variance * (2 * c + 1) / 2, variance

    def multiply(self, product: Complex, c: float, grid: Grid) -> Complex:
        """`product` times m(t)^count, from the terms of Poisson's sum around the nearest period."""
        s2 = float(self.sigma2)
        angle = grid.points * float(self.shift / self.sigma2)
        angle -= 2 * pi * np.rint(angle / (2 * pi))
        seen = np.flatnonzero(s2 * angle * angle < 160)  # elsewhere |m| < 1e-34
        angle = angle[seen]
        total = np.zeros(len(angle), dtype=np.complex128)
        for k in (-1, 0, 1):
            y = angle + 2 * pi * k
            total += np.exp(-s2 * y * y / 2) * np.exp(1j * (c * self.shift) * y)
        total *= np.exp(1j * float(self.shift**2 / (2 * self.sigma2)) * grid.points[seen])
        result = np.zeros_like(product)
        result[seen] = product[seen] * _power(total, self.count)
        return result

    def errors(self, c: float) -> Errors:
        """The bound for the `count` repetitions together."""
        variance = float(self.shift**2 / self.sigma2)
        constant = 16 * _LIB + 20 * c * self.shift + 20 * sqrt(float(self.sigma2))
        slope = 8 * (c + 1) * variance + 8 * sqrt(variance)
        return Errors(self.count * constant, self.count * slope, self.count * (8 * variance * c * (c + 1) + 4))


Loss = Lattices | Gaussian | Theta


def _power(base: Complex, exponent: int) -> Complex:
    """base**exponent by squaring; each product adds 3 units of 2⁻⁵³."""
    result = None
    while exponent:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        if exponent:
            base = base * base
    return np.ones_like(base) if result is None else result


class Row(NamedTuple):
    """One mechanism on a lattice: first loss, spacing, log-probabilities."""

    first: Fraction
    spacing: Fraction
    logs: tuple[float, ...]


def discrete_laplace(scale: Fraction, shift: int) -> Row:
    """Discrete Laplace noise at distance `shift`: losses (2y − shift)/scale for y = 0 … shift, the tails on the ends."""
    if shift + 1 > _MOST_ATOMS:
        raise ArgumentError(f"sensitivity={shift}: composition takes at most {_MOST_ATOMS - 1}; use the pure guarantee")
    rate = float(1 / scale)
    # P is centred at `shift`, r = e^−rate: P(y ≥ shift) = 1/(1 + r), P(y ≤ 0) = r^shift/(1 + r), and
    # P(y) = (1 − r)/(1 + r)·r^(shift − y) in between.
    edge = -log1p(exp(-rate))
    inside = log(-float(np.expm1(-rate))) + edge
    logs = [edge - rate * shift, *(inside - rate * (shift - y) for y in range(1, shift)), edge]
    return Row(-shift / scale, 2 / scale, tuple(logs))


def discrete_gaussian(sigma2: Fraction, shift: int, tilt: float) -> Row:
    """Narrow discrete Gaussian noise (σ² < 4) at distance `shift`, cut where nothing is left under tilts up to `tilt`."""
    s2 = float(sigma2)
    reach = _REACH * sqrt(s2) + 2
    low, high = -floor(reach), ceil(reach + tilt * shift)
    if high - low > _MOST_ATOMS:
        raise ArgumentError(f"sensitivity={shift}: too many outcomes to compose, or ε is too large; use the zCDP guarantee")
    norm = log(sum(exp(-(x * x) / (2 * s2)) for x in range(-ceil(reach), ceil(reach) + 1)))
    logs = tuple(-(x * x) / (2 * s2) - norm for x in range(low, high + 1))
    return Row(shift * Fraction(low) / sigma2 + shift**2 / (2 * sigma2), shift / sigma2, logs)


def stack(rows: list[tuple[Row, int]]) -> list[Lattices]:
    """Rows with equal numbers of atoms in one object each, so that cumulants are one array operation."""
    by_length: dict[int, list[tuple[Row, int]]] = {}
    for row, count in rows:
        by_length.setdefault(len(row.logs), []).append((row, count))
    return [
        Lattices(
            np.array([float(row.first) for row, _ in group]),
            np.array([float(row.spacing) for row, _ in group]),
            np.array([row.logs for row, _ in group]),
            np.array([float(count) for _, count in group]),
        )
        for group in by_length.values()
    ]
