"""What is certain about one cell of a rounded Gaussian on a lattice: its mean variance, and intervals that cover.

A cell is its Gaussian, of variance sigma2·p, plus a rounding error: a sum of b_j e_j over the coordinates of the lattice,
b_j the entry of the coordinate's vector in the cell, |e_j| ≤ 1/2. Unless the Gaussian is narrow, the errors behave like
independent uniform ones, up to the distortion η of `margin_laws`. Proofs: docs/proofs/lattice-rounded.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, isqrt, pi, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import float_up, sqrt_down
from discreet.noise.lattice._tree import stages
from discreet.noise.lattice.klein import Lattice, distortion
from discreet.noise.lattice.margin_laws import margins_cell
from discreet.noise.lattice.nearest_plane import COMB, scale_of
from discreet.noise.single.laws import RoundedGaussian

__all__ = ["lattice_half_widths", "lattice_variance", "margins_half_widths", "margins_variance"]

_UP = 1 + 2.0**-30  # more than what doubles lose in the sums below
_CLASSES = 64  # cells are told apart by their rounding errors in at most this many classes

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Axis:
    """The places of one tree of `stages`, and what holds of the nodes above each of them, or of all.

    Args:
        squares: for each place Σ b² over the entries of the nodes above it.
        sums: Σ |b|.
        spread: the largest Σ hg/(h + g) above a place.
        above: the most nodes above a place.
        nodes: hg/(h + g) of all nodes, each with how many there are.
    """

    squares: Floats
    sums: Floats
    spread: float
    above: int
    nodes: tuple[tuple[float, int], ...]


@lru_cache(maxsize=256)
def _axis(size: int) -> _Axis:
    squares, sums, spread = np.zeros((3, size))
    above = np.zeros(size, dtype=np.int64)
    nodes = []
    for stage in stages(np.array([size]), COMB):
        h, g = stage.left, int(stage.right[0])
        nodes.append((h * g / (h + g), len(stage.start)))
        for first, width in ((0, h), (h, g)):
            places = (stage.start[:, None] + first + np.arange(width)).ravel()
            squares[places] += width**-2.0
            sums[places] += 1 / width
            spread[places] += h * g / (h + g)
            above[places] += 1
    return _Axis(squares, sums, float(spread.max(initial=0)), int(above.max(initial=0)), tuple(nodes))


def margins_variance(sigma2: Fraction, shape: tuple[int, ...], depth: int) -> float:
    """At least the mean variance of the cells of a table whose margins over `shape` are 0.

    It is Σ E x²/f over the coordinates x, of variance sigma2·f before they are rounded, divided by the number of cells.
    """
    total = _sum_of_squares(sigma2, _axis(depth).nodes, 1, prod(shape))
    for axis in range(len(shape) - 1):
        columns = _axis(prod(shape[axis + 1 :])).nodes
        both = [(row * column, many * times) for row, many in _axis(shape[axis]).nodes for column, times in columns]
        total += _sum_of_squares(sigma2, both, depth * prod(shape[:axis]), 1)
    return total * _UP / (prod(shape) * depth)


def lattice_variance(lattice: Lattice, sigma2: Fraction) -> float:
    """The same of a general lattice."""
    return _sum_of_squares(sigma2, [(float(1 / step.norm2), 1) for step in lattice.steps], 1, 1) * _UP / lattice.dimension


def _sum_of_squares(sigma2: Fraction, nodes: Iterable[tuple[float, int]], multiple: int, times: int) -> float:
    """Σ E x²/f, x a Gaussian of variance s = sigma2·f, moved to the nearest number of a grid of step 1, wherever that lies.

    E x² ≤ s + 1/12 + κ(s), κ(s) = Σ_{m≠0} e^{-2π²m²s} (2s + 1/(2π²m²)), and at most (√s + 1/2)².
    """
    found = 0.0
    for factor, many in nodes:
        s = float(sigma2) * factor * multiple
        q = exp(-2 * pi**2 * s)
        nearly = s + 1 / 12 + 2 * q / (1 - q) * (2 * s + 1 / (2 * pi**2)) if q < 1 else 1.0
        found += times * many * min(nearly, (sqrt(s) + 0.5) ** 2) / (factor * multiple)
    return found


def margins_half_widths(sigma2: Fraction, shape: tuple[int, ...], depth: int, level: Fraction) -> NDArray[np.int64]:
    """For each cell of a table whose margins over `shape` are 0 a w with P(|v| ≤ w) ≥ level, shape (*shape, depth)."""
    cell = margins_cell(sigma2, shape, depth)
    squares, sums = np.zeros((2, *shape, depth))
    squares, sums = squares + _axis(depth).squares, sums + _axis(depth).sums
    spread, above = _axis(depth).spread, _axis(depth).above
    for axis in range(len(shape) - 1):
        multiple, inner = depth * prod(shape[:axis]), shape[axis + 1 :]
        rows, columns = _axis(shape[axis]), _axis(prod(inner))
        squares = squares + np.outer(rows.squares, columns.squares).reshape(shape[axis], *inner, 1) / multiple**2
        sums = sums + np.outer(rows.sums, columns.sums).reshape(shape[axis], *inner, 1) / multiple
        spread += multiple * rows.spread * columns.spread
        above += rows.above * columns.above
    if cell.projected == 0:
        return np.zeros(squares.shape, dtype=np.int64)
    variance = sigma2 * cell.projected
    # What the fine grid of the sampler may change in a cell: a coordinate lies within 2f/scale of a half.
    deviation = sqrt(float(sigma2))
    slack = Fraction(4 * (spread + 0.4 * (spread + above) / deviation) * _UP) / scale_of(sigma2)
    at_most = _within_a_step(sigma2, variance, sums.ravel(), squares.size, level)
    beyond = (1 - level - slack) * (1 - Fraction(cell.distortion))
    errors = _classes((squares.ravel() - 1) / 12)
    nearer = {one: _uniform_errors(variance, Fraction(one), beyond) for one in np.unique(errors).tolist()}
    near = np.array([min(nearer[one], most) for one, most in zip(errors.tolist(), at_most.tolist(), strict=True)])
    return near.astype(np.int64).reshape(squares.shape)


def lattice_half_widths(lattice: Lattice, sigma2: Fraction, level: Fraction) -> NDArray[np.int64]:
    """The same for each cell of a general lattice: Σ |b_j| ≤ √(P_ii Σ |b*_j|²) and Σ b_j² ≤ P_ii max |b*_j|²."""
    norms = [step.norm2 for step in lattice.steps]
    deviation, size = sqrt(float(sigma2)), lattice.dimension
    slack = sqrt(size) * sum(1 / sqrt(float(norm)) + 0.4 / deviation for norm in norms) * _UP / scale_of(sigma2)
    kept = (1 - Fraction(distortion(lattice, sigma2))) * (1 - level - Fraction(slack))
    widths = np.zeros(size, dtype=np.int64)
    for place, projected in enumerate(lattice.projections):
        if projected:
            variance = sigma2 * projected
            sums = np.array([sqrt(float_up(projected * sum(norms)))])
            most = int(_within_a_step(sigma2, variance, sums, size, level)[0])
            widths[place] = min(most, _listed_errors(variance, projected * max(norms) / 12, kept))
    return widths


def _listed_errors(variance: Fraction, error: Fraction, beyond: Fraction) -> int:
    """A w with 2 Σ f(k) ≤ beyond · Σ_Z f, the sum over k > w, f the density of N + e of `_uniform_errors`.

    From its deviation on the bound of f is convex, so that its values are at most its integrals over unit steps around them.
    All values add up to at least 1 - 2q/(1 - q), q = e^{-2π²s²}.
    """
    q = exp(-2 * pi**2 * float(variance)) * _UP
    if error >= variance or 3 * q >= 1:
        return 1 << 62
    convex = ceil(sqrt(float(variance / (1 - error / variance))) * _UP)
    return max(convex, _uniform_errors(variance, error, beyond * (1 - Fraction(2 * q / (1 - q)) * 2)))


def _classes(errors: Floats) -> Floats:
    """The variances of rounding errors, rounded up to few."""
    found = np.maximum(errors, 0.0) * _UP + 2.0**-40
    if len(np.unique(found)) <= _CLASSES:
        return found
    step = float(found.max()) / _CLASSES
    return np.ceil(found / step) * step


def _within_a_step(sigma2: Fraction, variance: Fraction, sums: Floats, cells: int, level: Fraction) -> NDArray[np.int64]:
    """A w for each cell whatever its rounding error is: |v| ≤ |g| + Σ |b|/2, and what the fine grid adds to g."""
    inside = RoundedGaussian(variance).half_width(level)
    grid = (isqrt(cells) + 1) / (2 * scale_of(sigma2))
    return np.array([inside + max(0, ceil(one * _UP / 2 + grid - 0.5)) for one in sums.tolist()], dtype=np.int64)


def _uniform_errors(variance: Fraction, error: Fraction, beyond: Fraction) -> int:
    """A w with 2 P(N + e > w + 1/2) ≤ beyond, N normal, e a sum of independent uniform numbers of variance `error`.

    The density of N + e is at most that of N times e^{y² V/(2s⁴)}, s² the variance of N and V = `error`.
    """
    share = 1 - error / variance
    if share <= 0 or beyond <= 0:
        return 1 << 62
    return RoundedGaussian(variance / share).half_width(1 - beyond * sqrt_down(share))
