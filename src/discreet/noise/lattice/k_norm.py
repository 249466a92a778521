"""The generalized optimal K-norm mechanism on a lattice, exactly: noise with P(v) proportional to exp(-epsilon ‖v‖_K).

K is the convex hull of a finite symmetric set S of integer vectors, all that a statistic can change by while the exact
totals stay the same (Cho and Awan, "Formal Privacy Guarantees with Invariant Statistics", 2024), and v runs through all
integer vectors in the span of S. By the triangle inequality the noise makes the statistic ε-semi-DP; no continuous law
is rounded. On the half-open cones of `discreet.noise.lattice.cones` the norm is linear, so that v is one of finitely
many offsets plus vertices of K in independent geometric numbers. The law of a cell follows:
docs/proofs/lattice-general.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.balls import Ball, ball, enclosure
from discreet.exact.lattices import exact_product
from discreet.exact.numbers import Amount, float_up
from discreet.noise._lazy import LazyUniform
from discreet.noise._parameters import MOST_SCALE, check_size, positive
from discreet.noise.bits import Bits
from discreet.noise.lattice.cones import KNorm, Points, k_norm
from discreet.noise.single import scalar
from discreet.noise.single.laws import check_coverage

__all__ = ["KNormCell", "half_widths", "k_norm_noise", "mean_variance"]

_UNIT = 1 << 40  # the integer weight of an offset of norm 0
_INSIDE = 1 << 61
_MOST_GRID = 1 << 16  # places of the transform from which the law of a cell is read
_BEYOND = 30  # the transform leaves out a mass below e^-30
_ERROR = 2.0**-28  # that mass, and what the arithmetic of the transform adds


def k_norm_noise(points: Points, epsilon: Amount, size: SupportsIndex, bits: Bits) -> NDArray[np.int64]:
    """`size` independent integer vectors v in the span of S with P(v) exactly proportional to exp(-epsilon ‖v‖_K).

    If all changes of a statistic between tables with the same exact totals are in S, the statistic plus v is ε-semi-DP.

    Args:
        points: S, integer vectors, each with its negative; see `discreet.noise.lattice.cones.k_norm`.
        epsilon: an exact rational in [10^-17, 10^17].
        size: the number of vectors.
        bits: the source of random bits.

    Returns:
        Integers of shape (size, cells); Python integers where int64 might not hold a number on the way.
    """
    norm, rate = k_norm(points), _check_epsilon(epsilon)
    offset = _draw_offsets(norm, _choice(norm, rate), check_size(size), bits)
    steps = scalar.geometric(1 / rate, offset.size * norm.rank, bits).reshape(offset.size, norm.rank)
    coordinates, generators = norm.offsets[offset], norm.generators
    if int(steps.max(initial=1)) * norm.rank * _largest(generators) + _largest(coordinates) >= _INSIDE:
        coordinates, generators, steps = coordinates.astype(object), generators.astype(object), steps.astype(object)
    for i in range(norm.rank):
        coordinates = coordinates + steps[:, i, None] * generators[norm.cone_of[offset], i]
    return exact_product(coordinates, norm.basis)


def _check_epsilon(epsilon: Amount) -> Fraction:
    rate = positive(epsilon, "epsilon", most=MOST_SCALE)
    if rate * MOST_SCALE < 1:
        raise ArgumentError(f"epsilon={epsilon!r}: must be at least 1e-17")
    return rate


def _largest(array: NDArray[Any]) -> int:
    return max(abs(int(array.min())), abs(int(array.max()))) if array.size else 0


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """The way to draw an offset of norm h with probability proportional to exp(-epsilon h).

    Attributes:
        upto: cumulative integer weights of the offsets, each at least 2^40 exp(-epsilon h).
        surely: per height a number of 64 bits below which the uniform V accepts for sure.
        acceptance: per height the probability 2^40 exp(-epsilon h)/weight of accepting, at most 1.
    """

    upto: NDArray[np.int64]
    surely: NDArray[np.uint64]
    acceptance: tuple[partial[Ball], ...]


@lru_cache(maxsize=32)
def _choice(norm: KNorm, epsilon: Fraction) -> _Choice:
    exponents = [epsilon * height for height in norm.heights]
    weights = [min(_UNIT, int(_UNIT * Fraction(enclosure(partial(_scale, x, 1))[1])) + 1) for x in exponents]
    acceptance = tuple(partial(_scale, x, Fraction(_UNIT, weight)) for x, weight in zip(exponents, weights, strict=True))
    surely = [min(2**64 - 1, int(2**64 * Fraction(enclosure(bound, at_most=1.0)[0]))) for bound in acceptance]
    return _Choice(np.cumsum(np.array(weights)[norm.height_of]), np.array(surely, dtype=np.uint64), acceptance)


def _scale(exponent: Fraction, factor: Fraction | int) -> Ball:
    return ball(factor) * (-ball(exponent)).exp()


def _draw_offsets(norm: KNorm, choice: _Choice, size: int, bits: Bits) -> NDArray[np.intp]:
    """The places of `size` offsets: drawn by integer weights, then accepted so that exp(-epsilon h) comes out exactly."""
    found, missing = [np.empty(0, dtype=np.intp)], size
    while missing:
        drawn = np.searchsorted(choice.upto, bits.below_array(int(choice.upto[-1]), missing), side="right")
        height, words = norm.height_of[drawn], bits.words(missing)
        accepted = words < choice.surely[height]
        for place in np.flatnonzero(~accepted).tolist():
            uniform = LazyUniform(bits, value=int(words[place]), known=64)
            accepted[place] = uniform.below(choice.acceptance[height[place]])
        found.append(drawn[accepted])
        missing -= len(found[-1])
    return np.concatenate(found)


def half_widths(points: Points, epsilon: Amount, coverage: Amount) -> NDArray[np.int64]:
    """For each cell a w with P(|v_i| ≤ w) ≥ coverage; see `KNormCell.half_width`."""
    norm, rate = k_norm(points), _check_epsilon(epsilon)
    return np.array([KNormCell(norm, rate, cell).half_width(coverage) for cell in range(norm.dimension)])


def mean_variance(points: Points, epsilon: Amount) -> float:
    """The mean of the variances of all cells, rounded up."""
    norm, rate = k_norm(points), _check_epsilon(epsilon)
    variances = (Fraction(KNormCell(norm, rate, cell).variance()) for cell in range(norm.dimension))
    return float_up(sum(variances, Fraction(0)) / norm.dimension)


@dataclass(frozen=True, slots=True)
class KNormCell:
    """The law of one cell of `k_norm_noise`: symmetric about 0."""

    norm: KNorm
    epsilon: Fraction
    cell: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _check_epsilon(self.epsilon))
        if not 0 <= self.cell < self.norm.dimension:
            raise ArgumentError(f"cell={self.cell!r}: must be one of the {self.norm.dimension} cells, counted from 0")

    def variance(self) -> float:
        """The variance, rounded up."""
        return enclosure(partial(_variance, _moments(self.norm, self.cell), self.norm.heights, self.epsilon))[1]

    def tail(self, k: int) -> tuple[float, float]:
        """Doubles around P(|Y| > k), for k ≥ 0; 2^-27 apart where the half-width is the smallest, else farther."""
        masses, step, slack = _masses(self)
        beyond = np.append(np.cumsum(masses[::-1])[::-1], 0.0)  # P(|X| ≥ i), where |Y - step·X| ≤ slack

        def more_than(bound: int) -> float:
            return float(beyond[min(bound // step + 1, masses.size)]) if bound >= 0 else 1.0

        return max(0.0, more_than(k + slack) - _ERROR), min(1.0, more_than(k - slack) + _ERROR)

    def half_width(self, coverage: Amount) -> int:
        """A w with P(|Y| ≤ w) ≥ coverage, for 0 ≤ coverage < 1.

        The smallest with P(|Y| ≤ w) ≥ coverage + 2^-27 while the largest entry of S, over epsilon, is below 400 or so;
        beyond, larger by less than a hundredth of the standard deviation.
        """
        wanted = check_coverage(coverage)
        masses, step, slack = _masses(self)
        enough = np.flatnonzero(np.cumsum(masses) >= float_up(wanted) + _ERROR)
        far = _far(self, 1 - wanted)
        return min(far, int(enough[0]) * step + slack) if enough.size else far


def _in_cell(norm: KNorm, cell: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The entries of all generators, shape (cones, rank), and of all offsets in one cell, as Python integers."""
    column = norm.basis[:, cell].astype(object)
    return norm.generators.astype(object) @ column, norm.offsets.astype(object) @ column


@lru_cache(maxsize=256)
def _moments(norm: KNorm, cell: int) -> tuple[tuple[int, ...], ...]:
    """Per height, over its offsets: their number, and the sums of p², p s, s² and t.

    p is the offset's entry in the cell, s and t are the sums of its generators' entries there and of their squares.
    """
    entries, offsets = _in_cell(norm, cell)
    s, t = entries.sum(axis=1)[norm.cone_of], (entries**2).sum(axis=1)[norm.cone_of]
    sums = np.zeros((len(norm.heights), 5), dtype=object)
    np.add.at(sums, norm.height_of, np.stack([np.ones_like(s), offsets**2, offsets * s, s**2, t], axis=1))
    return tuple(tuple(row) for row in sums.tolist())


def _variance(moments: tuple[tuple[int, ...], ...], heights: tuple[Fraction, ...], epsilon: Fraction) -> Ball:
    """E (p + Σ n_i u_i)² with n_i geometric of mean g and variance g + g²: the mean of p² + 2gps + g²s² + (g + g²)t."""
    g = 1 / ball(epsilon).expm1()
    total, square = ball(0), ball(0)
    for (count, pp, ps, ss, t), height in zip(moments, heights, strict=True):
        weight = (-ball(epsilon * height)).exp()
        total += weight * count
        square += weight * (pp + 2 * g * ps + g**2 * ss + (g + g**2) * t)
    return square / total


@lru_cache(maxsize=64)
def _masses(law: KNormCell) -> tuple[NDArray[np.float64], int, int]:
    """P(|X| = i) for i = 0, 1, …, a step and a slack with |Y - step·X| ≤ slack. With step 1 X is Y and the slack 0.

    Otherwise X is Y with 0 in the place of the offset and every geometric number n replaced by floor(n/step). Summed over
    any set, the masses err by less than 2^-28: docs/proofs/lattice-general.md, "Cells".
    """
    norm = law.norm
    entries, offsets = _in_cell(norm, law.cell)
    largest = _largest(entries)
    spread = largest * (int(2 * (_BEYOND + norm.rank) / law.epsilon) + norm.rank + 1)  # |Y| < spread but for e^-30
    step = -(-spread // (_MOST_GRID // 2 - 1)) or 1
    if step > 1:
        offsets, slack = offsets * 0, _largest(offsets) + (step - 1) * int(np.abs(entries).sum(axis=1).max())
    else:
        slack = 0
    grid = 1 << (2 * (spread // step) + 1).bit_length()
    both = np.fft.irfft(_transform(law, step, grid, entries, offsets), grid)
    masses = both[: grid // 2].copy()
    masses[1:] += both[: grid // 2 : -1]
    masses.flags.writeable = False
    return masses, step, slack


def _transform(law: KNormCell, step: int, grid: int, entries: NDArray[Any], offsets: NDArray[Any]) -> NDArray[np.complex128]:
    """The transform of the masses of X on the grid. Cones that look alike in the cell are taken together."""
    norm, half = law.norm, np.arange(grid // 2 + 1)
    weights = np.exp([-float(law.epsilon * height) for height in norm.heights])[norm.height_of]
    kernel = _geometric_transform(law.epsilon * step, grid)
    alike: dict[tuple[int, ...], list[int]] = {}
    for cone, row in enumerate(np.sort(entries, axis=1).tolist()):
        alike.setdefault(tuple(row), []).append(cone)
    total = np.zeros(half.size, dtype=np.complex128)
    for row, cones in alike.items():
        members = np.flatnonzero(np.isin(norm.cone_of, cones))
        start = np.bincount((offsets[members] % grid).astype(np.intp), weights=weights[members], minlength=grid)
        total += np.fft.rfft(start) * np.prod([kernel[half * (entry % grid) % grid] for entry in row], axis=0)
    total /= weights.sum()
    return total


def _geometric_transform(rate: Fraction, grid: int) -> NDArray[np.complex128]:
    """(1 - q)/(1 - q e^{-iω}), q = exp(-rate), at all frequencies ω of the grid, by differences that do not cancel."""
    angle = np.arange(grid // 2 + 1) * (2 * np.pi / grid)
    gap, q = -np.expm1(-float(rate)), np.exp(-float(rate))
    kernel = gap / (gap + q * (2 * np.sin(angle / 2) ** 2 + 1j * np.sin(angle)))
    return np.concatenate([kernel, kernel[-2:0:-1].conj()])


def _far(law: KNormCell, beyond: Fraction) -> int:
    """A w with P(|Y| > w) ≤ beyond, from |Y| ≤ largest · (rank + Σ n_i) and P(Σ n_i ≥ t) ≤ 2^rank exp(-epsilon t/2)."""
    rank = law.norm.rank
    steps = enclosure(lambda: 2 * (rank * ball(2).log() - ball(beyond).log()) / ball(law.epsilon))[1]
    return _largest(_in_cell(law.norm, law.cell)[0]) * (rank + int(steps) + 1)
