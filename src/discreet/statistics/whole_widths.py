"""Half-widths of tables that are measured whole and meet public sums: from the weight of each number in each cell."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.mechanisms.effects import Axes
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.noise.single.weighted import Alone, Bounded, half_width_of_laplace, half_width_within
from discreet.statistics.condition_systems import Reduced, System, weights_in_cells
from discreet.statistics.conditioned_cells import RoundedWidths, TableWidths, Widths
from discreet.statistics.filled import Fills, matrix_of
from discreet.statistics.whole_effects import UNITS, MeasuredTable, WholeTables

__all__ = ["widths_of_whole"]

_UP = 1 + 1e-9
_LEFT = 1e-10  # of the largest weight: what the rounding of doubles may do to any of them
_MOST_NUMBERS = 1 << 24  # of one matrix: 128 MB

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def widths_of_whole(whole: WholeTables, fills: Fills, level: Fraction) -> Widths:
    """The half-widths of tables that were measured whole."""
    normal = [one.law.sigma2 for one in whole.tables if isinstance(one.law, RoundedGaussian)]
    if len(normal) == len(whole.tables):
        return RoundedWidths(level, min(normal, default=Fraction(1)))
    return _LaplaceWidths(whole, fills, level)


@dataclass(frozen=True, slots=True, eq=False)
class _LaplaceWidths:
    """Of discrete Laplace noise."""

    whole: WholeTables
    fills: Fills
    level: Fraction

    def of_table(self, table: Axes, reduced: Reduced | None, system: System) -> TableWidths:
        laws, sizes = tuple(_laplace(one) for one in self.whole.tables), self.whole.effects.sizes
        cells = prod(sizes[axis] for axis in table)
        numbers = max((prod(sizes[axis] for axis in one.axes) for one in self.whole.tables), default=1)
        if reduced is None or cells * numbers > _MOST_NUMBERS:
            return _Unknown(laws, self.level)
        found = []
        for place, one in enumerate(self.whole.tables):
            off = reduced.off / float(one.variance) ** 0.5 / one.times if len(reduced.rows) else np.zeros(1)
            found.append(_summed(self._weights(place, table, reduced, system), off))
        return _TableWidths(laws, self.level, *(np.array(one) for one in zip(*found, strict=True)))

    def _weights(self, place: int, table: Axes, reduced: Reduced, system: System) -> Floats:
        """The weights of the numbers of a measured table in the cells that meet the conditions."""
        one, effects = self.whole.tables[place], self.whole.effects
        told = {
            part: dict(some)[place] / UNITS / one.times for part, some in self.whole.weights.items() if place in dict(some)
        }
        readings = [matrix_of(effects.sizes[axis], self.fills.get(axis)) for axis in table]
        found = weights_in_cells(effects, told, one.axes, table, readings)
        if len(reduced.rows):
            found -= system.weights_of(one.axes, told)[reduced.rows].T @ reduced.weights
        return found


def _summed(weights: Floats, off: Floats) -> tuple[Floats, Floats, Floats]:
    """For each cell at least Σ c², and bounds of the largest |c| from both sides.

    Args:
        weights: about c, shape (numbers, cells).
        off: at least the length of what is left of them, for each cell.
    """
    sizes = np.abs(weights)
    apart = off + _LEFT * float(np.sqrt((sizes**2).sum(axis=0)).max(initial=0))
    most = sizes.max(axis=0)
    return (np.sqrt((sizes**2).sum(axis=0)) + apart) ** 2 * _UP, np.maximum(most - apart, 0.0), most + apart


@dataclass(frozen=True, slots=True, eq=False)
class _Unknown:
    """Of any weights with the variance."""

    laws: tuple[DiscreteLaplace, ...]
    level: Fraction

    def half(self, variance: float, there: Bools) -> Fraction:
        return half_width_within([(law, float("inf")) for law in self.laws], variance, None, self.level)


@dataclass(frozen=True, slots=True, eq=False)
class _TableWidths:
    """From the weights of the numbers of each measured table, shapes (tables, cells).

    The widest of all noises has its own tail, whatever its sign: the law is symmetric.
    """

    laws: tuple[DiscreteLaplace, ...]
    level: Fraction
    squares: Floats
    least: Floats
    largest: Floats

    def half(self, variance: float, there: Bools) -> Fraction:
        squares, largest = self.squares[:, there.ravel()], self.largest[:, there.ravel()]
        scales = np.array([float(law.scale) for law in self.laws])
        own = int(np.argmax(scales * largest.max(axis=1)))
        rest, widest, alone = squares.max(axis=1), largest.max(axis=1), None
        least = self.least[own][there.ravel()]
        if least.min() > 0:
            alone = Alone(self.laws[own], float(least.min()), float(largest[own].max()))
            rest[own] = max(0.0, float((squares[own] - least**2).max())) + _LEFT * rest[own]
            widest[own] = min(widest[own], _UP * rest[own] ** 0.5)
        parts = [Bounded(law, *one) for law, *one in zip(self.laws, widest.tolist(), rest.tolist(), strict=True)]
        return half_width_of_laplace(parts, alone, self.level)


def _laplace(one: MeasuredTable) -> DiscreteLaplace:
    if not isinstance(one.law, DiscreteLaplace):
        raise InternalError("tables are measured with rounded Gaussian or discrete Laplace noise")
    return one.law
