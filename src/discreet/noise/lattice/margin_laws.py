"""Certain facts about one cell of a lattice Gaussian: bounds of its tails and its variance, and intervals that cover.

For P(v) ∝ exp(-|v|²/(2 sigma2)) on a lattice L let p be the squared length of the projection of a cell's unit vector onto
the span of L. Then P(v_i = k) = C·r_k·exp(-k²/(2 sigma2 p)) with 1 - η ≤ r_k ≤ 1, the discrete Gaussian of variance sigma2·p
up to a distortion η, which is tiny unless sigma2 is below 2 or so. Proofs: docs/proofs/lattice-gaussian.md, "One cell".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod

from discreet.errors import ArgumentError
from discreet.exact.balls import Ball, ball, enclosure, pi_ball, sign
from discreet.exact.numbers import Amount, float_up
from discreet.noise._parameters import MOST_SIGMA2, check_size, positive
from discreet.noise.single.laws import DiscreteGaussian, check_coverage, smallest

__all__ = ["LatticeGaussianCell", "correlated_cell", "correlated_place", "margins_cell", "sum_zero_cell"]

_NEAR = Fraction(1, 2)  # up to this distortion the discrete Gaussian gives the shorter intervals
_LISTED = 16


@dataclass(frozen=True, slots=True)
class LatticeGaussianCell:
    """One cell of P(v) ∝ exp(-|v|²/(2 sigma2)) on a lattice some vector of which has 1 in that cell; or always 0.

    Attributes:
        sigma2: an exact rational in (0, 10^34].
        projected: p in [0, 1], the squared length of the projection of the cell's unit vector onto the span of the
            lattice; 0 means that the cell is 0 for every vector of the lattice.
        distortion: η in [0, 1] with (1 - η) ρ(M) ≤ ρ(M + t) for every t in the span of M, the vectors of the lattice that
            are 0 in this cell; ρ is the sum of exp(-|v|²/(2 sigma2)). 1 is always right.
    """

    sigma2: Fraction
    projected: Fraction
    distortion: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma2", positive(self.sigma2, "sigma2", most=MOST_SIGMA2))
        if not 0 <= self.projected <= 1:
            raise ArgumentError(f"projected={self.projected}: must lie in [0, 1]")
        if not 0 <= self.distortion <= 1:
            raise ArgumentError(f"distortion={self.distortion}: must lie in [0, 1]")

    def half_width(self, coverage: Amount) -> int:
        """A w with P(|v_i| ≤ w) ≥ coverage, for 0 ≤ coverage < 1.

        With η ≤ 1/2 the smallest w with P(|Y| > w) ≤ (1 - η)(1 - coverage) for Y of `DiscreteGaussian(sigma2·p)`; otherwise
        by P(|v_i| > w) ≤ 2 exp(-(w + 1)²/(2 sigma2 p)), which holds for every lattice.
        """
        beyond = 1 - check_coverage(coverage)
        if self.projected == 0:
            return 0
        near = self._near()
        if near is not None:
            return near.half_width(1 - beyond * (1 - Fraction(self.distortion)))
        return _sub_gaussian_width(self.sigma2 * self.projected, beyond)

    def tail(self, k: int) -> float:
        """At least P(|v_i| > k), for k ≥ 0; at most 1."""
        if k < 0:
            raise ArgumentError(f"k={k}: must not be negative")
        if self.projected == 0:
            return 0.0
        bound = enclosure(lambda: _sub_gaussian_tail(self.sigma2 * self.projected, k))[1]
        near = self._near()
        if near is not None:
            bound = min(bound, float_up(Fraction(near.tail(k)[1]) / (1 - Fraction(self.distortion))))
        return min(1.0, bound)

    def variance(self) -> float:
        """sigma2·p rounded up, which the variance of the cell never exceeds."""
        return float_up(self.sigma2 * self.projected)

    def _near(self) -> DiscreteGaussian | None:
        """The discrete Gaussian next to the law of the cell, if it is near."""
        return DiscreteGaussian(self.sigma2 * self.projected) if self.distortion <= _NEAR else None


def _sub_gaussian_tail(variance: Fraction, k: int) -> Ball:
    return 2 * (-ball((k + 1) ** 2 / (2 * variance))).exp()


@lru_cache(maxsize=4096)
def _sub_gaussian_width(variance: Fraction, beyond: Fraction) -> int:
    """The smallest w ≥ 0 with 2 exp(-(w + 1)²/(2 variance)) ≤ beyond; undecided (it never is) counts as too small."""
    return smallest(lambda w: sign(lambda: ball(beyond) - _sub_gaussian_tail(variance, w)) > 0, int(2 * variance**0.5))


def sum_zero_cell(sigma2: Amount, size: int) -> LatticeGaussianCell:
    """One cell of a block of `size` ≥ 1 cells that sum to 0: p = 1 - 1/size."""
    variance, cells = positive(sigma2, "sigma2", most=MOST_SIGMA2), check_size(size, "size")
    if not cells >= 1:
        raise ArgumentError(f"size={size}: must be at least 1")
    return LatticeGaussianCell(variance, 1 - Fraction(1, cells), _distortion(variance, _path(cells - 1)))


def margins_cell(sigma2: Amount, shape: tuple[int, ...], depth: int = 1) -> LatticeGaussianCell:
    """One cell of a table of shape (*shape, depth) whose one-way margins over `shape` are 0.

    p = 1 - (1 + Σ(L_j - 1))/D for levels L_j and D cells: the margins span 1 + Σ(L_j - 1) dimensions, evenly over the cells.
    """
    variance = positive(sigma2, "sigma2", most=MOST_SIGMA2)
    levels, deep = tuple(check_size(level, "shape") for level in shape), check_size(depth, "depth")
    if not levels or min(levels) < 1 or deep < 1:
        raise ArgumentError(f"shape={levels}, depth={deep}: at least one axis, and every number at least 1")
    return LatticeGaussianCell(variance, _remaining_share(levels, deep), _distortion(variance, _steps(levels, deep)))


def correlated_cell(sigma2: Fraction, shape: tuple[int, ...], depth: int, ratio: Fraction) -> tuple[Fraction, float]:
    """The variance of a cell in units of `sigma2`, and the distortion of its law, for a Gaussian with two variances.

    In directions that are alike in all cells of a place the variance is `ratio` · sigma2. With a ratio of 1 these are the
    numbers of `margins_cell` (docs/proofs/effects.md, "One cell").
    """
    between = _remaining_share(shape, 1)
    projected = 1 - Fraction(1, depth) + ratio * between / depth
    return projected, _distortion(sigma2, _correlated_steps(shape, depth, ratio))


def _correlated_steps(shape: tuple[int, ...], depth: int, ratio: Fraction) -> Steps:
    """`_steps` of a table with that ratio: a sum of a place has the variance `ratio` · depth."""
    yield from ((factor * ratio * depth, count) for factor, count in _steps(shape, 1))
    yield from _steps_within(prod(shape), depth, ratio, _remaining_share(shape, 1))


def correlated_place(
    sigma2: Fraction, places: int, depth: int, ratio: Fraction, projected: Fraction
) -> tuple[Fraction, float]:
    """The variance of a cell of a place whose sum is projected so, and its distortion but for that of all sums of places.

    The lattice of the sums of places is any; `depth` is at least 2.
    """
    variance = sigma2 * (1 - Fraction(1, depth) + ratio * projected / depth)
    return variance, _distortion(sigma2, _steps_within(places, depth, ratio, projected))


def _steps_within(places: int, depth: int, ratio: Fraction, projected: Fraction) -> Steps:
    """The nodes within the places if one cell is 0, and that of the sum of its place: so the other cells add up to it."""
    if depth > 1 and projected:
        yield ratio * projected * depth * (depth - 1) / (depth - 1 + ratio * projected), 1
    yield from _path(depth - 1)
    yield from _times(iter([(Fraction(1), places - 1)]), _path(depth))


def _remaining_share(shape: tuple[int, ...], depth: int) -> Fraction:
    return 1 - Fraction(1 + sum(shape) - len(shape), prod(shape) * depth)


Steps = Iterator[tuple[Fraction, int]]  # the variances of a lattice's nodes in units of sigma2, or less, and how many


def _distortion(sigma2: Fraction, steps: Steps) -> float:
    """Σ 4 exp(-2π² sigma2·factor) over the nodes of M, rounded up; at most 1."""
    numbers = tuple(steps)

    def total() -> Ball:
        rate = -2 * pi_ball() ** 2 * ball(sigma2)
        return sum((4 * count * (rate * ball(factor)).exp() for factor, count in numbers), ball(0))

    return min(1.0, enclosure(total)[1])


def _path(size: int) -> Steps:
    """Vectors of sum 0, one cell after the other: 1/2, 2/3, …, (size - 1)/size. The later ones are rounded down."""
    for i in range(1, min(size, _LISTED)):
        yield Fraction(i, i + 1), 1
    if size > _LISTED:
        yield Fraction(_LISTED, _LISTED + 1), size - _LISTED


def _times(rows: Steps, columns: Steps, multiple: Fraction = Fraction(1)) -> Steps:
    listed = tuple(columns)
    for factor, count in rows:
        for other, times in listed:
            yield factor * other * multiple, count * times


def _steps(shape: tuple[int, ...], depth: int) -> Steps:
    """The tables with all margins 0 that are also 0 in one cell: docs/proofs/lattice-gaussian.md, "One cell"."""
    whole = _remaining_share(shape, depth)
    if whole == 0:
        return
    if depth > 1:
        yield from _below(_steps(shape, 1), depth, _remaining_share(shape, 1) * (depth - 1) / depth / whole)
        yield from _path(depth - 1)
        yield from _times(iter([(Fraction(1), prod(shape) - 1)]), _path(depth))
        return
    first, rest = shape[0], shape[1:]
    cells, inner = prod(rest), _remaining_share(rest, 1)
    if first > 1:
        share = Fraction(first - 1, first)
        yield from _below(_steps(rest, 1), first, inner * share * (cells - 1) / cells / whole)
        yield from _times(iter([(share, 1)]), _path(cells - 1))
        yield from _times(_path(first - 1), _path(cells))
    else:
        yield from _steps(rest, 1)


def _below(steps: Steps, items: int, last: Fraction) -> Steps:
    """The table of sums over `items` slices: variances are `items` times as large, and the cell itself is one step more."""
    if last > 0:
        yield from ((factor * items, count) for factor, count in steps)
        yield last * items, 1
