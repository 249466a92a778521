"""What is certain about one cell of Laplace noise that is moved to a lattice: its mean variance, and intervals that cover.

A cell is a sum Σ p_k Z_k of independent Laplace numbers, p the row of the projector, and what rounding adds: a sum of
bounded numbers of mean 0, whatever came before each of them, that exceeds x with a chance of at most exp(-x²/(2u)). The
law of Σ p_k Z_k is read from its Fourier series; docs/proofs/lattice-l1.md, "One projected cell".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, log, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.lattices import gram, solution
from discreet.exact.numbers import float_down, float_up
from discreet.noise._parameters import MOST_SCALE, positive
from discreet.noise.lattice.klein import Lattice
from discreet.noise.lattice.nearest_plane_laws import entries_of
from discreet.noise.single.laws import DiscreteLaplace, smallest

__all__ = ["MOST_ROWS", "ProjectedCell", "cells_of_lattice", "lattice_variance", "margins_half_widths", "margins_variance"]

MOST_ROWS = 128
"""The largest number of cells under general equations whose rows of the projector are worked out."""

_UP = 1 + 2.0**-30  # more than what doubles lose in the sums below
_GRID = 1 << 15  # places of the transform from which the law of a cell is read
_SMOOTH = 12  # uniform numbers of a place each, which are added so that the series ends
_ALIASES = 4  # the series is summed up to so many grids
_BEYOND = 45.0  # the transform leaves out a mass below e^-45
_NOTHING = 1e-20  # terms of the series below this are left out
_ERROR = 2.0**-28  # that mass, the rest of the series, and what the arithmetic of the transform adds
_CLASSES = 32  # cells are told apart by their rounding errors in at most this many classes
_RATES = np.concatenate([np.geomspace(1e-3, 0.5, 60), 1 - np.geomspace(1e-3, 0.5, 60)])

Floats = NDArray[np.float64]
Row = tuple[tuple[Fraction, int], ...]


@dataclass(frozen=True, slots=True)
class ProjectedCell:
    """One cell Σ p_k Z_k + E, symmetric about 0.

    Attributes:
        scale: that of the Z_k, an exact rational in (0, 10^17].
        row: pairs of a number |p| > 0 and how often it occurs.
        rounding: u = Σ b²/4 over the entries b of the cell in the orthogonal vectors along which it is rounded.
    """

    scale: Fraction
    row: Row
    rounding: float

    def half_width(self, level: Fraction) -> int:
        """A w with P(|noise| ≤ w) ≥ level, for 0 ≤ level < 1."""
        beyond = float_down(1 - level)
        if not self.row or beyond <= 0:
            return 0
        return self._by_moments(beyond) if beyond <= 4 * _ERROR else _by_transform(self, beyond)

    def _by_moments(self, beyond: float) -> int:
        """Chernoff's bound, for chances that the transform does not show."""
        return ceil(_chernoff(self.scale, self.row, self.rounding, log(2) - log(beyond)))


@lru_cache(maxsize=1 << 10)
def _by_transform(cell: ProjectedCell, beyond: float) -> int:
    """The least w that the transform shows to be exceeded with a chance of at most `beyond`."""
    edges, masses = _places(cell.scale, cell.row)

    def enough(w: int) -> bool:
        above = (w + 1) - edges
        chances = np.where(above <= 0, 1.0, np.exp(-np.minimum(np.square(above) / (2 * max(cell.rounding, 1e-9)), 700)))
        return 2 * float((masses * chances).sum()) * _UP + _ERROR <= beyond

    # The last place is beyond all but e^-45 of the sum; rounding moves it by less than 10 deviations.
    most = ceil(float(edges[-1]) + 10 * cell.rounding**0.5) + 1
    return smallest(lambda w: w >= most or enough(w), most)


def _chernoff(scale: Fraction, row: Row, rounding: float, wanted: float) -> float:
    """An x with log P(cell > x) ≤ -wanted, the least of (log E e^{t·cell} + wanted)/t over some t."""
    variance = DiscreteLaplace(scale).variance() * _UP
    t = _RATES * np.arccosh(1 + 1 / variance) / float(max(p for p, _ in row)) / _UP
    moments = sum(-many * np.log1p(-variance * 2 * np.square(np.sinh(t * float(p) / 2))) for p, many in row)
    return float(((moments + t * t * rounding / 2 + wanted) / t).min()) * _UP


@lru_cache(maxsize=64)
def _places(scale: Fraction, row: Row) -> tuple[Floats, Floats]:
    """Numbers x_i and masses m_i such that Σ p_k Z_k is at most x_i with the mass m_i; together they err by _ERROR at most.

    The masses are those of the sum and of 12 uniform numbers on ±h/2, on places h apart.
    """
    half = _chernoff(scale, row, 0.0, _BEYOND)
    h = 2 * half / _GRID
    n = np.arange(_ALIASES * _GRID + 1)
    series = np.sinc(n / _GRID) ** (_SMOOTH + 1)
    variance = DiscreteLaplace(scale).variance()
    left = n
    for p, many in sorted(row, key=lambda one: one[0] ** 2 * one[1], reverse=True):
        # A term only falls: after a few factors most of them are nothing, and take no part in the others.
        kept = np.abs(series[left]) > _NOTHING
        series[left[~kept]] = 0.0
        left = left[kept]
        wave = np.sin(left * (np.pi / (2 * half) * float(p)))
        series[left] *= (1 + 2 * variance * np.square(wave)) ** -float(many)
    # The series is even, and n stands for n plus multiples of the grid.
    folded = series[: _GRID // 2 + 1].copy()
    for many in range(1, _ALIASES + 1):
        middle = many * _GRID
        folded += series[middle - _GRID // 2 : middle + 1][::-1]
        folded += series[middle : middle + _GRID // 2 + 1] if many < _ALIASES else 0.0
    masses: Floats = np.maximum(np.fft.irfft(folded, _GRID), 0.0)
    order = np.argsort(np.fft.fftfreq(_GRID))
    edges: Any = np.fft.fftfreq(_GRID, 1 / _GRID)[order] * h + (1 + _SMOOTH) / 2 * h
    edges, masses = np.asarray(edges * np.where(edges > 0, _UP, 1 / _UP), dtype=np.float64), masses[order]
    for one in (edges, masses):
        one.flags.writeable = False
    return edges, masses


def margins_variance(scale: Fraction, shape: tuple[int, ...], depth: int) -> float:
    """At least the mean variance of the cells of a table whose margins over `shape` are 0."""
    cells = prod(shape) * depth
    share = Fraction(cells - 1 - sum(shape) + len(shape), cells)
    if not share:
        return 0.0
    return (_variance(scale) * float_up(share) + float(entries_of(shape, depth)[0].mean()) / 4) * _UP


def lattice_variance(lattice: Lattice, scale: Fraction) -> float:
    """The same of a general lattice."""
    rounded = sum((step.norm2 for step in lattice.steps), Fraction(0)) / (4 * lattice.dimension)
    return (_variance(scale) * float_up(Fraction(lattice.rank, lattice.dimension)) + float_up(rounded)) * _UP


def _variance(scale: Fraction) -> float:
    return DiscreteLaplace(positive(scale, "scale", most=MOST_SCALE)).variance()


def margins_half_widths(scale: Fraction, shape: tuple[int, ...], depth: int, level: Fraction) -> NDArray[np.int64]:
    """For each cell of a table whose margins over `shape` are 0 a w with P(|v| ≤ w) ≥ level, shape (*shape, depth)."""
    row, squares = _row_of_margins(shape, depth), _classes(entries_of(shape, depth)[0] / 4)
    widths = np.zeros(squares.shape, dtype=np.int64)
    for one in np.unique(squares).tolist() if row else []:
        widths[squares == one] = ProjectedCell(scale, row, one).half_width(level)
    return widths


def _row_of_margins(shape: tuple[int, ...], depth: int) -> Row:
    """The entries of the projector: [same cell] - (1 + Σ (L_a [same level of a] - 1))/D, by the axes that are shared."""
    cells = prod(shape) * depth
    entries: Counter[int] = Counter({1: depth})  # D times what is taken away, by how many cells
    for levels in shape:
        shared = Counter({taken + levels - 1: many for taken, many in entries.items()})
        apart = Counter({taken - 1: many * (levels - 1) for taken, many in entries.items()})
        entries = shared + apart
    own = 1 + sum(shape) - len(shape)
    entries[own] -= 1
    row = Counter({abs(taken): 0 for taken in entries})
    for taken, many in entries.items():
        row[abs(taken)] += many
    row[cells - own] += 1
    return tuple(sorted((Fraction(p, cells), many) for p, many in row.items() if p and many))


def cells_of_lattice(lattice: Lattice, scale: Fraction) -> tuple[ProjectedCell, ...]:
    """The cells of a general lattice: Σ b² ≤ p_ii max |b*|² over the vectors along which it is rounded.

    Raises:
        ArgumentError: for more cells than `MOST_ROWS`.
    """
    if lattice.dimension > MOST_ROWS:
        raise ArgumentError(f"equations: have {lattice.dimension} cells; the noise of at most {MOST_ROWS} is projected")
    longest = max(step.norm2 for step in lattice.steps)
    rows = _projector(lattice)
    own = lattice.projections
    return tuple(ProjectedCell(scale, row, float_up(own[i] * longest / 4) * _UP) for i, row in enumerate(rows))


@lru_cache(maxsize=16)
def _projector(lattice: Lattice) -> tuple[Row, ...]:
    """The rows of B'(BB')⁻¹B for the basis B."""
    table, divisor = solution(gram(lattice.basis), lattice.basis)
    entries = np.array(lattice.basis, dtype=object).T @ np.array(table, dtype=object)
    found = []
    for line in entries.tolist():
        many = Counter(abs(int(one)) for one in line if one)
        found.append(tuple(sorted((Fraction(p, divisor), times) for p, times in many.items())))
    return tuple(found)


def _classes(errors: Floats) -> Floats:
    """Numbers rounded up to few."""
    if len(np.unique(errors)) <= _CLASSES:
        return errors * _UP
    step = float(errors.max()) / _CLASSES
    return np.ceil(errors / step) * step * _UP
