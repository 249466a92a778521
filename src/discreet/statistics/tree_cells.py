"""Tables of all levels of a tree, put together from the noisy answers of the effects of each level.

A function of public integers. Proof: docs/proofs/areas.md, K4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm, prod

import numpy as np

from discreet.cube.cells import Integers
from discreet.mechanisms.effects import Axes, Effects, compose, project
from discreet.noise.single.laws import RoundedGaussian
from discreet.noise.single.weighted import half_width_of_rounded
from discreet.statistics.effects import parts_of
from discreet.statistics.trees import Gains, Squares, Tree, gains_of, solve_tree, squares_of

__all__ = [
    "AreaTable",
    "MeasuredArea",
    "MeasuredAreas",
    "TreeTables",
    "cells_of_areas",
    "errors_of_areas",
    "variances_of_areas",
]


@dataclass(frozen=True, slots=True)
class AreaTable:
    """The table by some axes in each area of a level; level 0 is all areas together."""

    level: int
    axes: Axes


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredArea:
    """The public answers of one effect on one level.

    Args:
        values: times · the integer query, with noise or without; shape: (areas, levels of its axes). None where only its
            noise is known.
        times: a power of two.
        law: of the noise in each number; None for an effect that is known.
    """

    values: Integers | None
    times: int
    law: RoundedGaussian | None


MeasuredAreas = dict[tuple[int, Axes], MeasuredArea]


@dataclass(frozen=True, slots=True)
class TreeTables:
    """A tree and the effects of the tables in each of its areas."""

    tree: Tree
    effects: Effects

    def parts_of(self, axes: Axes) -> list[Axes]:
        """The effects of a table by these axes."""
        return parts_of(self.effects, axes)


def cells_of_areas(
    tables: TreeTables, asked: Sequence[AreaTable], measured: Mapping[tuple[int, Axes], MeasuredArea]
) -> dict[AreaTable, tuple[Integers, Integers]]:
    """For each table the numerators of its cells, shape (areas, levels of its axes), and the denominator of each area.

    Areas add up to the one that they lie in, and tables of one level agree, exactly.
    """
    common = max(one.times for one in measured.values())
    found = {part: _solved(tables, part, measured, common) for part in tables.effects.parts}
    return {table: _table(tables, table, found, common) for table in asked}


def _solved(
    tables: TreeTables, part: Axes, measured: Mapping[tuple[int, Axes], MeasuredArea], common: int
) -> list[tuple[Integers, Integers]]:
    """The numbers of one effect that add up, for each level, and for each area their denominator."""
    levels = []
    for level, size in enumerate(tables.tree.sizes):
        one = measured[level, part]
        values = one.values if one.values is not None else np.zeros(0)
        levels.append(values.reshape(size, -1).astype(np.object_) * (common // one.times))
    return solve_tree(tables.tree, _gains(tables, part, _variances(tables, part, measured)), levels)


def _variances(tables: TreeTables, part: Axes, measured: Mapping[tuple[int, Axes], MeasuredArea]) -> tuple[Fraction, ...]:
    """For each level the variance of a number of the effect, before rounding, where `times` is 1."""
    found = []
    for level in range(len(tables.tree.sizes)):
        one = measured[level, part]
        found.append(Fraction(0) if one.law is None else one.law.sigma2 / one.times**2)
    return tuple(found)


@lru_cache(maxsize=1024)
def _gains(tables: TreeTables, part: Axes, variances: tuple[Fraction, ...]) -> Gains:  # noqa: ARG001
    return gains_of(tables.tree.shapes, variances)


def _table(
    tables: TreeTables, table: AreaTable, found: Mapping[Axes, list[tuple[Integers, Integers]]], common: int
) -> tuple[Integers, Integers]:
    parts = tables.parts_of(table.axes)
    every_part = np.stack([found[part][table.level][1] for part in parts], axis=1)
    whole: Integers = np.array([lcm(*one) for one in every_part.tolist()], dtype=np.object_)
    areas = []
    for area, every in enumerate(whole.tolist()):
        projected = {}
        for part in parts:
            values, denominators = found[part][table.level]
            shaped = values[area].reshape([tables.effects.sizes[axis] for axis in part])
            projected[part] = project(tables.effects, part, shaped * (every // denominators[area]))
        areas.append(compose(tables.effects, table.axes, projected))
    return np.stack([values for values, _ in areas]), whole * (common * areas[0][1])


# Intervals ------------------------------------------------------------------------------------------------------------


def errors_of_areas(
    tables: TreeTables,
    asked: Sequence[AreaTable],
    measured: Mapping[tuple[int, Axes], MeasuredArea],
    level: Fraction,
) -> dict[AreaTable, tuple[Fraction, ...]]:
    """For each table and area a half-width of the noise of each cell, with at least this probability; 0 without noise."""
    weights = _weights(tables, asked, measured)
    halves = {one: _half_width(one, level) for every in weights.values() for one in every}
    return {table: tuple(halves[one] for one in every) for table, every in weights.items()}


def _half_width(noise: Noise, level: Fraction) -> Fraction:
    squares = sum((squares for _, squares in noise), Fraction(0))
    return half_width_of_rounded(_variance(noise), squares, level) if squares else Fraction(0)


def _variance(noise: Noise) -> Fraction:
    return sum((law.sigma2 * squares for law, squares in noise), Fraction(0))


def variances_of_areas(
    tables: TreeTables, asked: Sequence[AreaTable], measured: Mapping[tuple[int, Axes], MeasuredArea]
) -> dict[AreaTable, tuple[Fraction, ...]]:
    """For each table and area the exact variance of the normal part of the noise of each cell."""
    return {table: tuple(map(_variance, every)) for table, every in _weights(tables, asked, measured).items()}


Noise = tuple[tuple[RoundedGaussian, Fraction], ...]
"""For each law the sum of the squares of the weights of its noises."""


def _weights(
    tables: TreeTables, asked: Sequence[AreaTable], measured: Mapping[tuple[int, Axes], MeasuredArea]
) -> dict[AreaTable, tuple[Noise, ...]]:
    """For each table and area the noise in a cell: the same for all cells of one area, and for all areas of one shape."""
    shapes = tables.tree.shapes
    squares = {
        part: squares_of(shapes, _gains(tables, part, _variances(tables, part, measured))) for part in tables.effects.parts
    }
    found = {}
    for table in asked:
        of = shapes.of[table.level]
        own = [_noise_of(tables, table, measured, squares, shape) for shape in range(len(set(of)))]
        found[table] = tuple(own[shape] for shape in of)
    return found


def _noise_of(
    tables: TreeTables,
    table: AreaTable,
    measured: Mapping[tuple[int, Axes], MeasuredArea],
    squares: Mapping[Axes, list[tuple[Squares, ...]]],
    shape: int,
) -> Noise:
    """A row of the projection on an effect has squares that add up to its energy, over Π n_i of the axes beside it."""
    found = []
    for part in tables.parts_of(table.axes):
        outside = prod(tables.effects.sizes[axis] for axis in table.axes if axis not in part)
        scale = tables.effects.energy(part) / Fraction(tables.effects.scale(part) * outside) ** 2
        for level, one in enumerate(squares[part][table.level][shape]):
            behind = measured[level, part]
            if behind.law is not None and one:
                found.append((behind.law, one * scale / behind.times**2))
    return tuple(found)
