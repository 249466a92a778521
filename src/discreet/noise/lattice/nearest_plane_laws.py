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
from math import ceil, erfc, exp, isqrt, pi, prod, sqrt, ulp

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import float_up, sqrt_down
from discreet.noise.lattice._tree import stages
from discreet.noise.lattice.klein import Lattice, distortion
from discreet.noise.lattice.margin_laws import correlated_cell, correlated_place
from discreet.noise.lattice.nearest_plane import COMB, scale_of
from discreet.noise.single.laws import RoundedGaussian

__all__ = [
    "entries_of",
    "lattice_half_widths",
    "lattice_variance",
    "margins_half_widths",
    "margins_variance",
    "places_half_widths",
    "places_variance",
]

_UP = 1 + 2.0**-30  # more than what doubles lose in the sums below
_NOTHING = 1e-300  # the chance that a normal number of this variance is beyond 1/2 is 0 as a double
_ONE = Fraction(1)
_CLASSES = 64  # cells are told apart by their rounding errors in at most this many classes

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Above:
    """Nodes that are drawn before others and move what these are rounded to: at most so many, and their largest factor."""

    many: int = 0
    widest: float = 0.0

    def times(self, ratio: float) -> _Above:
        """The same nodes with so many times the variance."""
        return _Above(self.many, self.widest * ratio)

    def __add__(self, other: _Above) -> _Above:
        return _Above(self.many + other.many, max(self.widest, other.widest))


@dataclass(frozen=True, slots=True)
class _Nodes:
    """`many` nodes of squared length 1/`factor`: before they are rounded their variance is sigma2 · `factor` · `ratio`."""

    factor: float
    many: int
    above: _Above
    ratio: float = 1.0

    def times(self, ratio: float) -> _Nodes:
        """The same nodes, and all above them, with so many times the variance."""
        return _Nodes(self.factor, self.many, self.above.times(ratio), self.ratio * ratio)

    def across(self, columns: _Nodes, multiple: int) -> _Nodes:
        """The nodes of a slice: one that splits the rows with one that splits the columns."""
        rows_above, columns_above = ((one.above.many + 1, max(one.factor, one.above.widest)) for one in (self, columns))
        above = _Above(rows_above[0] * columns_above[0] - 1, multiple * rows_above[1] * columns_above[1])
        return _Nodes(multiple * self.factor * columns.factor, self.many * columns.many, above)

    def below(self, above: _Above, times: int) -> _Nodes:
        """The same nodes in each of so many places, with what is drawn before all of them."""
        return _Nodes(self.factor, self.many * times, self.above + above, self.ratio)


@dataclass(frozen=True, slots=True, eq=False)
class _Axis:
    """The places of one tree of `stages`, and what holds of the nodes above each of them, or of all.

    Args:
        squares: for each place Σ b² over the entries of the nodes above it.
        sums: Σ |b|.
        spread: the largest Σ hg/(h + g) above a place.
        above: the nodes above a place.
        nodes: all nodes.
    """

    squares: Floats
    sums: Floats
    spread: float
    above: _Above
    nodes: tuple[_Nodes, ...]


@lru_cache(maxsize=256)
def _axis(size: int) -> _Axis:
    squares, sums, spread, widest = np.zeros((4, size))
    above = np.zeros(size, dtype=np.int64)
    nodes = []
    for stage in stages(np.array([size]), COMB):
        h, g = stage.left, int(stage.right[0])
        factor, first = h * g / (h + g), stage.start
        nodes.append(_Nodes(factor, len(first), _Above(int(above[first].max()), float(widest[first].max()))))
        for left, width in ((0, h), (h, g)):
            places = (first[:, None] + left + np.arange(width)).ravel()
            squares[places] += width**-2.0
            sums[places] += 1 / width
            spread[places] += factor
            widest[places] = np.maximum(widest[places], factor)
            above[places] += 1
    most = _Above(int(above.max(initial=0)), float(widest.max(initial=0)))
    return _Axis(squares, sums, float(spread.max(initial=0)), most, tuple(nodes))


def _slices(shape: tuple[int, ...], depth: int, axis: int) -> list[_Nodes]:
    """The nodes that take the sums over an axis apart into its slices."""
    multiple, columns = depth * prod(shape[:axis]), _axis(prod(shape[axis + 1 :])).nodes
    return [row.across(column, multiple) for row in _axis(shape[axis]).nodes for column in columns]


def _earlier(shape: tuple[int, ...], depth: int, axis: int) -> _Above:
    """The nodes of the axes that are taken apart before this one: a slice may depend on all of them."""
    before = (one for other in range(axis + 1, len(shape) - 1) for one in _slices(shape, depth, other))
    return sum((_Above(one.many, one.factor) for one in before), _Above())


def _above_places(shape: tuple[int, ...], depth: int) -> _Above:
    """The nodes that a place of the table depends on, without those of its own cells."""
    if len(shape) == 1:
        return _Above()
    rows, columns = _axis(shape[0]).above, _axis(prod(shape[1:])).above
    return _earlier(shape, depth, 0) + _Above(rows.many * columns.many, depth * rows.widest * columns.widest)


def margins_variance(sigma2: Fraction, shape: tuple[int, ...], depth: int, ratio: Fraction = _ONE) -> float:
    """At least the mean variance of the cells of a table whose margins over `shape` are 0.

    It is Σ E x²/f over the coordinates x, of variance sigma2·f before they are rounded, divided by the number of cells. In
    directions that are alike in all cells of a place the variance is `ratio` times as large.
    """
    above = _above_places(shape, depth).times(float(ratio))
    nodes = [one.below(above, prod(shape)) for one in _axis(depth).nodes]
    for axis in range(len(shape) - 1):
        earlier = _earlier(shape, depth, axis)
        nodes += [one.below(earlier, 1).times(float(ratio)) for one in _slices(shape, depth, axis)]
    return _mean_square(sigma2, nodes, prod(shape) * depth)


def lattice_variance(lattice: Lattice, sigma2: Fraction) -> float:
    """The same of a general lattice, whose last coordinate is drawn first."""
    nodes, above = [], _Above()
    for step in reversed(lattice.steps):
        nodes.append(_Nodes(float(1 / step.norm2), 1, above))
        above += _Above(1, nodes[-1].factor)
    return _mean_square(sigma2, nodes, lattice.dimension)


def places_variance(lattice: Lattice, sigma2: Fraction, depth: int, ratio: Fraction) -> float:
    """The same of cells, `depth` at each place, whose sums by place are in the lattice; `ratio` as in `margins_variance`."""
    nodes, above = [], _Above()
    for step in reversed(lattice.steps):
        nodes.append(_Nodes(depth / float(step.norm2), 1, above).times(float(ratio)))
        above += _Above(1, depth / float(step.norm2))
    within = [one.below(above.times(float(ratio)), lattice.dimension) for one in _axis(depth).nodes]
    return _mean_square(sigma2, nodes + within, lattice.dimension * depth)


def _mean_square(sigma2: Fraction, nodes: Iterable[_Nodes], cells: int) -> float:
    """Σ E x²/f of so many cells, x a Gaussian of variance s = sigma2·f, moved to the nearest number of a grid of step 1.

    Wherever the grid lies, E x² ≤ s + 1/12 + κ(s), κ(s) = Σ_{m≠0} e^{-2π²m²s} (2s + 1/(2π²m²)), and at most (√s + 1/2)².
    It consists of the integers unless a coordinate before it is not 0: then E x² is that of a rounded normal number.
    """
    found = 0.0
    for one in nodes:
        s = float(sigma2) * one.factor * one.ratio
        q = exp(-2 * pi**2 * s)
        nearly = s + 1 / 12 + 2 * q / (1 - q) * (2 * s + 1 / (2 * pi**2)) if q < 1 else 1.0
        anywhere = min(nearly, (sqrt(s) + 0.5) ** 2)
        moved = min(1.0, one.above.many * _beyond_a_half(float(sigma2) * one.above.widest))
        found += one.many * min(anywhere, _rounded_square(s) + moved * anywhere) / one.factor
    return max(found * _UP / cells, ulp(0.0))


def _beyond_a_half(variance: float) -> float:
    """P(|g| > 1/2) for a normal number g."""
    return erfc(sqrt(1 / (8 * variance))) if variance > _NOTHING else 0.0


def _rounded_square(variance: float) -> float:
    """E r² of a normal number rounded to an integer r, Σ (2k - 1) P(|g| > k - 1/2), where it is narrow; else more."""
    if variance > 1:
        return variance + 1
    return sum((2 * k - 1) * _beyond_a_half(variance / (2 * k - 1) ** 2) for k in range(1, 32))


def entries_of(shape: tuple[int, ...], depth: int) -> tuple[Floats, Floats]:
    """For each cell of a table Σ b² and Σ |b| over its entries b in the orthogonal vectors that it is taken apart along."""
    squares, sums = np.zeros((2, *shape, depth))
    squares, sums = squares + _axis(depth).squares, sums + _axis(depth).sums
    for axis in range(len(shape) - 1):
        multiple, inner = depth * prod(shape[:axis]), shape[axis + 1 :]
        rows, columns = _axis(shape[axis]), _axis(prod(inner))
        squares = squares + np.outer(rows.squares, columns.squares).reshape(shape[axis], *inner, 1) / multiple**2
        sums = sums + np.outer(rows.sums, columns.sums).reshape(shape[axis], *inner, 1) / multiple
    return squares, sums


def margins_half_widths(
    sigma2: Fraction, shape: tuple[int, ...], depth: int, level: Fraction, ratio: Fraction = _ONE
) -> NDArray[np.int64]:
    """For each cell of a table whose margins over `shape` are 0 a w with P(|v| ≤ w) ≥ level, shape (*shape, depth).

    `ratio` is that of `margins_variance`.
    """
    projected, distortion = correlated_cell(sigma2, shape, depth, ratio)
    squares, sums = entries_of(shape, depth)
    if projected == 0:
        return np.zeros(squares.shape, dtype=np.int64)
    variance = sigma2 * projected
    slack = _fine_grid(sigma2, shape, depth)
    above = _above_places(shape, depth).times(float(ratio)) + _axis(depth).above
    if _stays_zero(sigma2, above, 1 - level - slack):
        return np.zeros(squares.shape, dtype=np.int64)
    at_most = _within_a_step(sigma2, variance, sums.ravel(), squares.size, level)
    beyond = (1 - level - slack) * (1 - Fraction(distortion))
    errors = _classes((squares.ravel() - 1) / 12)
    nearer = {one: _uniform_errors(variance, Fraction(one), beyond) for one in np.unique(errors).tolist()}
    near = np.array([min(nearer[one], most) for one, most in zip(errors.tolist(), at_most.tolist(), strict=True)])
    return near.astype(np.int64).reshape(squares.shape)


def _fine_grid(sigma2: Fraction, shape: tuple[int, ...], depth: int) -> Fraction:
    """What the fine grid of the sampler may change in a cell: the chance that a coordinate lies within 2f/scale of a half.

    The cell depends on the nodes above it, and of three or more axes on all nodes of those that are taken apart first. Both
    sums are of f and of √f ≤ (1 + f)/2; scale · σ is at least 2^30. It holds for every `ratio`: the grid of sums of places
    has as many steps to their deviation, or more, and their noise has fewer terms.
    """
    spread, above = _axis(depth).spread, _above_places(shape, depth).many + _axis(depth).above.many
    if len(shape) > 1:
        spread += depth * _axis(shape[0]).spread * _axis(prod(shape[1:])).spread
        spread += sum(one.many * one.factor for axis in range(1, len(shape) - 1) for one in _slices(shape, depth, axis))
    return Fraction(4 * spread * _UP) / scale_of(sigma2) + Fraction(0.8 * (spread + above) * _UP) / 2**30


def _stays_zero(sigma2: Fraction, nodes: _Above, beyond: Fraction) -> bool:
    """True if all nodes but a share `beyond` are 0: while those before it are 0, a node is a rounded normal number."""
    return Fraction(nodes.many * _beyond_a_half(float(sigma2) * nodes.widest) * _UP) <= beyond


def lattice_half_widths(lattice: Lattice, sigma2: Fraction, level: Fraction) -> NDArray[np.int64]:
    """The same for each cell of a general lattice: Σ |b_j| ≤ √(P_ii Σ |b*_j|²) and Σ b_j² ≤ P_ii max |b*_j|²."""
    norms = [step.norm2 for step in lattice.steps]
    size = lattice.dimension
    fine = Fraction(sqrt(size) * sum(1 / sqrt(float(norm)) for norm in norms) * _UP) / scale_of(sigma2)
    slack = fine + Fraction(sqrt(size) * len(norms) * 0.4 * _UP) / 2**30
    kept = (1 - Fraction(distortion(lattice, sigma2))) * (1 - level - slack)
    widths = np.zeros(size, dtype=np.int64)
    if _stays_zero(sigma2, _Above(len(norms), float(1 / min(norms))), 1 - level - slack):
        return widths
    for place, projected in enumerate(lattice.projections):
        if projected:
            variance = sigma2 * projected
            sums = np.array([sqrt(float_up(projected * sum(norms)))])
            most = int(_within_a_step(sigma2, variance, sums, size, level)[0])
            widths[place] = min(most, _listed_errors(variance, projected * max(norms) / 12, kept))
    return widths


def places_half_widths(
    lattice: Lattice, sigma2: Fraction, depth: int, ratio: Fraction, level: Fraction
) -> NDArray[np.int64]:
    """The same for the cells of `places_variance`, shape (places, depth): each has a coordinate that takes it off alone."""
    norms, places = [float(step.norm2) for step in lattice.steps], lattice.dimension
    between = ratio * depth * sigma2
    fine = Fraction(sqrt(places) * sum(1 / sqrt(norm) for norm in norms) * _UP) / scale_of(min(sigma2, between))
    fine += Fraction(sqrt(places) * len(norms) * 0.4 * _UP) / 2**30 + _fine_grid(sigma2, (1,), depth)
    beyond, known = 1 - level - fine, Fraction(distortion(lattice, between))
    above = _Above(len(norms), float(ratio) * depth / min(norms)) + _axis(depth).above
    widths = np.zeros((places, depth), dtype=np.int64)
    if _stays_zero(sigma2, above, beyond):
        return widths
    of_place: dict[Fraction, NDArray[np.int64]] = {}
    for place, projected in enumerate(lattice.projections):
        if projected not in of_place:
            variance, spoilt = correlated_place(sigma2, places, depth, ratio, projected)
            sums = _axis(depth).sums + sqrt(float(projected) * sum(norms)) / depth
            squares = _axis(depth).squares - 1 + float(projected) * max(norms) / depth**2
            kept = beyond * (1 - known - Fraction(spoilt))
            near = [_uniform_errors(variance, Fraction(one * _UP / 12), kept) for one in squares.tolist()]
            of_place[projected] = np.minimum(near, _within_a_step(sigma2, variance, sums, places * depth, level))
        widths[place] = of_place[projected]
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
