"""The effects of tables that were measured whole: each is told by every table that contains it, and taken from all of them.

White noise of the variance v in a table b reaches an effect a of it as v·Π n_i over the axes outside a, in the same
directions for every table, and independently of all other effects. So the least-squares estimate of an effect is the mean of
what the tables say of it, weighted by the inverse of that (docs/proofs/effects.md, "Tables that are measured whole").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.errors import InternalError
from discreet.exact.axes import margin_of
from discreet.mechanisms.effects import Axes, Effects, project
from discreet.noise.single.laws import DiscreteLaplace, Law, RoundedGaussian
from discreet.noise.single.weighted import Alone, Bounded, half_width_of_laplace, half_width_of_rounded
from discreet.statistics.effects import Halves, MeasuredEffect, gain_of, parts_of, telling_axes
from discreet.statistics.filled import Cells, Fills, blocks_of_cells

__all__ = [
    "UNITS",
    "MeasuredTable",
    "TableNoise",
    "Weights",
    "WholeTables",
    "best_weights",
    "effects_from",
    "halves_of_whole",
    "noises_of",
    "variance_of_effect",
]

UNITS = 1 << 24
"""Weights are whole multiples of 1 over this."""

_UP = 1 + 1e-9  # covers the rounding of a few thousand operations, none of which cancels
_LEFT = 1e-8  # of a sum of squares: what a difference of two of them may have lost

Floats = NDArray[np.float64]
Weights = Mapping[Axes, tuple[tuple[int, int], ...]]
"""For each effect that gets noise the tables that tell it, by their positions, each with its weight in units.

The weights of an effect add up to all units."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTable:
    """The public answer of one table.

    Args:
        axes: of the domain, in the order of the axes of `values`.
        values: times · the counts by all levels, with noise. None where only its noise is known.
        times: an integer.
        law: of the noise in each number.
    """

    axes: Axes
    values: Integers | None
    times: int
    law: Law

    @property
    def variance(self) -> Fraction:
        """At least that of the noise in a count, but for what rounding adds to a normal number."""
        match self.law:
            case RoundedGaussian(sigma2=sigma2):
                return sigma2 / self.times**2
            case DiscreteLaplace(scale=scale):
                return 2 * scale**2 / self.times**2  # 1/(2 sinh²(1/(2 scale))) is below 2 scale²
        raise InternalError("tables are measured with rounded Gaussian or discrete Laplace noise")


@dataclass(frozen=True, slots=True, eq=False)
class WholeTables:
    """Tables that were measured whole, and how their effects are taken from them.

    Args:
        effects: of all tables of the domain.
        tables: those that were measured.
        weights: of these in each effect.
    """

    effects: Effects
    tables: tuple[MeasuredTable, ...]
    weights: Weights


def best_weights(effects: Effects, tables: Sequence[MeasuredTable], noisy: Sequence[Axes]) -> Weights:
    """The weights of the least-squares estimate, in units. Floats choose, and what is chosen is unbiased whatever it is."""
    found: dict[Axes, list[tuple[int, float]]] = {part: [] for part in noisy}
    for place, table in enumerate(tables):
        precision = 1 / float(table.variance)
        for part in parts_of(effects, table.axes):
            if part in found:
                found[part].append((place, precision / _outside(effects, part, table.axes)))
    return {part: _whole(some) for part, some in found.items()}


def _whole(some: Sequence[tuple[int, float]]) -> tuple[tuple[int, int], ...]:
    """The shares in units: the largest one gets what rounding leaves."""
    total = sum(one for _, one in some)
    found = {place: round(UNITS * one / total) for place, one in some}
    largest = max(found, key=lambda place: found[place])
    found[largest] += UNITS - sum(found.values())
    return tuple((place, weight) for place, weight in found.items() if weight)


def variance_of_effect(whole: WholeTables, part: Axes) -> Fraction:
    """At least s, where the estimate of an effect has the covariance s times the projector."""
    found = Fraction(0)
    for place, weight in whole.weights[part]:
        one = whole.tables[place]
        found += Fraction(weight, UNITS) ** 2 * one.variance * _outside(whole.effects, part, one.axes)
    return found


def _outside(effects: Effects, part: Axes, axes: Axes) -> int:
    """By how many cells of a table a number of an effect is told."""
    return prod(effects.sizes[axis] for axis in axes if axis not in part)


def effects_from(whole: WholeTables) -> dict[Axes, MeasuredEffect]:
    """The estimates of the effects that get noise, as integer queries: `UNITS` · the largest `times` of them."""
    common = max((one.times for one in whole.tables), default=1)
    found = {}
    for part, some in whole.weights.items():
        each = ((whole.tables[place], weight) for place, weight in some)
        told = [(_told(whole.effects, part, one), weight * (common // one.times)) for one, weight in each]
        found[part] = MeasuredEffect(_add_up(told), UNITS * common, None)
    return found


def _add_up(told: Sequence[tuple[Integers, int]]) -> Integers:
    """The sum of the answers, each times its factor: int64 where that cannot leave it."""
    most = sum(abs(factor) * int(np.abs(values.ravel()).max(initial=0)) for values, factor in told)
    kind = np.int64 if most < 1 << 62 and all(values.dtype != np.object_ for values, _ in told) else np.object_
    return np.asarray(sum(values.astype(kind, copy=False) * factor for values, factor in told))


def _told(effects: Effects, part: Axes, table: MeasuredTable) -> Integers:
    """The integer query of an effect, as a table tells it: times N_a times its projection."""
    if table.values is None:
        raise InternalError("a table that was not measured tells nothing")
    narrow = table.values.dtype != np.object_ and int(np.abs(table.values).max(initial=0)) < (1 << 62) // table.values.size
    return project(effects, part, margin_of(table.values if narrow else table.values.astype(np.object_), table.axes, part))


# Half-widths --------------------------------------------------------------------------------------------------------------


def halves_of_whole(whole: WholeTables, axes: Sequence[Axes], fills: Fills, level: Fraction) -> list[Halves]:
    """For each table its cells in parts, each with a half-width that the noise of a cell is within with this probability."""
    shares = {part: _shares(whole, part) for part in whole.weights}
    found: list[Halves] = []
    for table in axes:
        blocks = blocks_of_cells(whole.effects.sizes, table, fills)
        found.append([(cells, _half(_noise_of(whole, table, cells, shares), level)) for cells in blocks])
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """The tables that tell an effect: their positions, weights, and by how many cells each is added up to it."""

    places: NDArray[np.intp]
    weights: Floats
    outside: Floats


def _shares(whole: WholeTables, part: Axes) -> _Shares:
    some = whole.weights[part]
    many = [_outside(whole.effects, part, whole.tables[place].axes) for place, _ in some]
    weights = np.array([weight / UNITS for _, weight in some])
    return _Shares(np.array([place for place, _ in some], dtype=np.intp), weights, np.array(many, dtype=np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class TableNoise:
    """The noise in some cells of a table.

    Args:
        laws: of each measured table.
        squares: at least the sum of the squares of the weights that its numbers have.
        largest: at least the size of each of them.
        alone: the position of the cells' own table, and at least the least and at most the largest weight of their own
            numbers in it; None where it was not measured.
    """

    laws: tuple[Law, ...]
    squares: Floats
    largest: Floats
    alone: tuple[int, float, float] | None


def noises_of(whole: WholeTables, table: Axes, cells: Cells) -> TableNoise:
    """The noise of all measured tables in some cells of a table."""
    shares = {part: _shares(whole, part) for part in parts_of(whole.effects, table) if part in whole.weights}
    return _noise_of(whole, table, cells, shares)


def _noise_of(whole: WholeTables, table: Axes, cells: Cells, shares: Mapping[Axes, _Shares]) -> TableNoise:
    """In an effect a the weights of a table b are w_ab times a product over the axes of r - r̄ inside and Σ r/n_i outside.

    Those of different effects are orthogonal. A cell's own number has r - r̄ at its level, and Σ r/n_i, both positive.
    """
    squares, largest = np.zeros(len(whole.tables)), np.zeros(len(whole.tables))
    telling = telling_axes(whole.effects, table)
    own = next((place for place, one in enumerate(whole.tables) if telling_axes(whole.effects, one.axes) == telling), None)
    own_weight = np.zeros(2)
    for part in parts_of(whole.effects, table):
        if part not in shares:
            continue
        some, outside = shares[part], _outside(whole.effects, part, table)
        squares[some.places] += some.weights**2 * (float(gain_of(table, part, cells.readings)) / outside**2) * some.outside
        largest[some.places] += np.abs(some.weights) * _largest_of(table, part, cells) / outside
        own_weight += _at_level(table, part, cells) / outside * float(some.weights[some.places == own].sum())
    scale = np.array([float(one.times) for one in whole.tables])
    alone = None
    if own is not None and own_weight[0] > 0:
        least, most = (own_weight / scale[own] * [1 / _UP, _UP]).tolist()
        alone = own, least, most
    return TableNoise(tuple(one.law for one in whole.tables), _UP * squares / scale**2, _UP * largest / scale, alone)


def _largest_of(table: Axes, part: Axes, cells: Cells) -> float:
    """At least the largest size of what a number of an effect adds to a cell, but for 1/Π n_i of the axes outside it."""
    inside = set(part)
    each = zip(table, cells.readings, strict=True)
    return float(prod((one.largest if axis in inside else one.added[1] for axis, one in each), start=Fraction(1)))


def _at_level(table: Axes, part: Axes, cells: Cells) -> Floats:
    """The same for the cells' own numbers: the least and the largest."""
    inside = set(part)
    each = [one.at_level if axis in inside else one.added for axis, one in zip(table, cells.readings, strict=True)]
    return np.array([float(prod((one[end] for one in each), start=Fraction(1))) for end in (0, 1)])


def _half(noise: TableNoise, level: Fraction) -> Fraction:
    normal = [law.sigma2 for law in noise.laws if isinstance(law, RoundedGaussian)]
    if len(normal) == len(noise.laws):
        each = list(map(Fraction, noise.squares.tolist()))
        variance = sum((sigma2 * one for sigma2, one in zip(normal, each, strict=True)), Fraction(0))
        return half_width_of_rounded(variance, sum(each, Fraction(0)), level)
    laws = [law for law in noise.laws if isinstance(law, DiscreteLaplace)]
    if len(laws) < len(noise.laws):
        raise InternalError("tables are measured with rounded Gaussian or discrete Laplace noise")
    squares, largest, alone = noise.squares.copy(), noise.largest.copy(), None
    if noise.alone is not None:
        own, least, most = noise.alone
        alone = Alone(laws[own], least, most)
        squares[own] = max(0.0, squares[own] - least**2) + _LEFT * squares[own]
        largest[own] = min(largest[own], _UP * squares[own] ** 0.5)
    bounds = zip(laws, largest.tolist(), squares.tolist(), strict=True)
    return half_width_of_laplace([Bounded(*one) for one in bounds], alone, level)
