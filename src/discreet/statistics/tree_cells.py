"""Tables of all levels of a tree, put together from the noisy answers of the effects of each level.

A function of public integers. Proof: docs/proofs/areas.md, K4 and K7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod

import numpy as np

from discreet.cube.cells import Integers
from discreet.exact.axes import in_order
from discreet.exact.integers import has_room, times
from discreet.exact.numbers import float_up
from discreet.mechanisms.effects import Axes, Effects
from discreet.noise.single.laws import RoundedGaussian
from discreet.noise.single.weighted import factors_of_rounded
from discreet.statistics.effects import parts_of
from discreet.statistics.emptied import Empty, cells_without_rows, emptied, linear_map, scale_of
from discreet.statistics.trees import Floats, Gains, Tree, gains_of, roundings_of, solve_tree, squares_of

__all__ = [
    "AreaTable",
    "MeasuredArea",
    "MeasuredAreas",
    "Solving",
    "TreeTables",
    "cells_of_areas",
    "clear_ends",
    "compose_areas",
    "errors_of_areas",
    "solving_of",
    "variances_of_areas",
]

_GRAIN = 10  # bits of a measured number that rounding leaves: it moves nothing by more than some thousandths of the noise
_TINY = 2.0**-80  # covers what rounding leaves of a weight that is 0
_UP = 1 + 2.0**-40  # covers the rounding of some hundred sums and products of doubles that are not negative


@dataclass(frozen=True, slots=True)
class AreaTable:
    """The table by some axes in each area of a level; level 0 is all areas together."""

    level: int
    axes: Axes


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredArea:
    """The public answers of one effect on one level. One that is neither measured nor known there has none.

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
    """A tree and the effects of the tables in each of its areas, and the cells in which nobody can be in any area."""

    tree: Tree
    effects: Effects
    empty: Empty = ()

    def parts_of(self, axes: Axes) -> list[Axes]:
        """The effects of a table by these axes."""
        return parts_of(self.effects, axes)


@dataclass(frozen=True, slots=True, eq=False)
class Solving:
    """The weights and units with which measured numbers are put together.

    Args:
        tables: the tree and the effects.
        gains: for each effect the weights of the two passes.
        units: for each effect, its solved numbers are so many times the integer query: powers of two.
        factors: by level and effect, what a measured number has to be multiplied by to be in this unit.
    """

    tables: TreeTables
    gains: Mapping[Axes, Gains]
    units: Mapping[Axes, int]
    factors: Mapping[tuple[int, Axes], int]

    @property
    def unit(self) -> int:
        """The largest of the units."""
        return max(self.units.values())

    def denominator(self, table: Axes) -> int:
        """The numerators of the cells of a table are over this number."""
        sizes = self.tables.effects.sizes
        return self.unit * prod(sizes[axis] for axis in table) ** 2 * scale_of(sizes, self.tables.empty, table)


def solving_of(tables: TreeTables, measured: Mapping[tuple[int, Axes], MeasuredArea]) -> Solving:
    """The weights for measured numbers with this noise: a function of the noise alone."""
    levels, parts = range(len(tables.tree.sizes)), tables.effects.parts
    every = {part: [measured[level, part].times for level in levels if (level, part) in measured] for part in parts}
    units = {part: max(own) << _GRAIN for part, own in every.items()}
    gains = {part: _gains(tables, part, _variances(tables, part, measured)) for part in parts}
    return Solving(tables, gains, units, {key: units[key[1]] // one.times for key, one in measured.items()})


def cells_of_areas(
    tables: TreeTables, asked: Sequence[AreaTable], measured: Mapping[tuple[int, Axes], MeasuredArea]
) -> dict[AreaTable, tuple[Integers, int]]:
    """For each table the numerators of its cells, shape (areas, levels of its axes), over one public denominator.

    Areas add up to the one that they lie in, and tables of one level agree, exactly.
    """
    solving = solving_of(tables, measured)
    found: dict[tuple[int, Axes], Integers] = {}
    for part in tables.effects.parts:
        numbers = []
        for level, size in enumerate(tables.tree.sizes):
            one = measured.get((level, part))
            width = tables.effects.scale(part)
            numbers.append(
                np.zeros((size, width), np.int64) if one is None else _scaled(one, size, solving.factors[level, part])
            )
        found |= {(level, part): own for level, own in enumerate(solve_tree(tables.tree, solving.gains[part], numbers))}
    return {
        table: (
            compose_areas(solving, table.axes, {part: found[table.level, part] for part in tables.parts_of(table.axes)}),
            solving.denominator(table.axes),
        )
        for table in asked
    }


def _scaled(one: MeasuredArea, size: int, factor: int) -> Integers:
    """The numbers times a factor, shape (areas, numbers)."""
    return times((one.values if one.values is not None else np.zeros(0, dtype=np.int64)).reshape(size, -1), factor)


def _variances(
    tables: TreeTables, part: Axes, measured: Mapping[tuple[int, Axes], MeasuredArea]
) -> tuple[Fraction | None, ...]:
    """For each level the variance of a number of the effect, before rounding, where `times` is 1; None if not measured."""
    found: list[Fraction | None] = []
    for level in range(len(tables.tree.sizes)):
        one = measured.get((level, part))
        found.append(None if one is None else Fraction(0) if one.law is None else one.law.sigma2 / one.times**2)
    return tuple(found)


@lru_cache(maxsize=1024)
def _gains(tables: TreeTables, part: Axes, variances: tuple[Fraction | None, ...]) -> Gains:  # noqa: ARG001
    return gains_of(tables.tree.shapes, variances)


def compose_areas(solving: Solving, axes: Axes, solved: Mapping[Axes, Integers]) -> Integers:
    """The numerators of the cells of a table, shape (areas, levels of its axes), from solved numbers of its effects.

    Along an axis of n levels n·I - J takes noise outside an effect out of it, and an effect without the axis is n times
    the same for each of its levels; the denominator is Π n² in the largest of the units, times the scale of what cells in
    which nobody can be have moved.

    Args:
        solving: the units.
        axes: those of the table.
        solved: for each effect of the table an array of shape (areas, numbers).
    """
    sizes, ascending = solving.tables.effects.sizes, sorted(axes)
    factors = {part: solving.unit // solving.units[part] for part in solved}
    room = all(has_room(own, len(solved) * factors[part] * _most_times(sizes, part, axes)) for part, own in solved.items())
    kind = np.int64 if room else np.object_
    pieces: dict[Axes, Integers] = {}
    for part, own in solved.items():
        shaped = own.astype(kind, copy=False).reshape(len(own), *(sizes[axis] for axis in part))
        pieces[part] = shaped if factors[part] == 1 else shaped * factors[part]
    for place, axis in enumerate(ascending, start=1):
        merged: dict[Axes, Integers] = {}
        for part, own in pieces.items():
            rest = tuple(one for one in part if one != axis)
            if axis in part:
                term = sizes[axis] * own - own.sum(axis=place, keepdims=True)
            else:
                term = sizes[axis] * np.expand_dims(own, place)
            merged[rest] = merged[rest] + term if rest in merged else term
        pieces = merged
    every = (len(pieces[()]), *(sizes[axis] for axis in ascending))  # where all levels of an axis are alike
    found = np.broadcast_to(pieces[()], every)
    return emptied(sizes, solving.tables.empty, axes, in_order(found, ascending, axes, after=1))


def _most_times(sizes: Sequence[int], part: Axes, axes: Axes) -> int:
    """What an effect adds to a cell is at most so many times its largest number, also on the way."""
    return prod(2 * sizes[axis] if axis in part else sizes[axis] for axis in axes)


# Intervals ------------------------------------------------------------------------------------------------------------


def errors_of_areas(
    tables: TreeTables,
    asked: Sequence[AreaTable],
    measured: Mapping[tuple[int, Axes], MeasuredArea],
    level: Fraction,
) -> dict[AreaTable, Floats]:
    """For each table and each shape of its areas a half-width of the noise of a cell, with at least this probability.

    It is the same for all cells of an area; 0 without noise.
    """
    normal, rounding = map(float_up, factors_of_rounded(level))
    found = {}
    for table, (variance, squares, moved) in _noise(tables, asked, measured).items():
        half = normal * np.sqrt(variance) + rounding * np.sqrt(squares) + moved
        found[table] = np.where(squares > 0, half * _UP, 0.0)
    return found


def variances_of_areas(
    tables: TreeTables, asked: Sequence[AreaTable], measured: Mapping[tuple[int, Axes], MeasuredArea]
) -> dict[AreaTable, Floats]:
    """For each table and each shape of its areas the variance of the normal part of the noise of a cell, rounded up."""
    return {table: variance for table, (variance, _, _) in _noise(tables, asked, measured).items()}


_Parts = tuple[Floats, Floats, Floats]


def _noise(
    tables: TreeTables, asked: Sequence[AreaTable], measured: Mapping[tuple[int, Axes], MeasuredArea]
) -> dict[AreaTable, _Parts]:
    """For each table and shape the variance, the squares of weights, and by how much rounding moves a cell; rounded up."""
    solving, shapes = solving_of(tables, measured), tables.tree.shapes
    squares = {part: squares_of(shapes, solving.gains[part]) for part in tables.effects.parts}
    moved = {part: roundings_of(shapes, solving.gains[part]) for part in tables.effects.parts}
    found = {}
    for table in asked:
        variance, weights, rounding = (np.zeros((shapes.sizes[table.level], 1)) for _ in range(3))
        for part, (square, size) in _rows_of_effects(tables, table.axes).items():
            own_scale = tables.effects.scale(part)
            for level in range(len(tables.tree.sizes)):
                behind = measured.get((level, part))
                if behind is not None and behind.law is not None:
                    own, unit = squares[part][table.level][:, level, np.newaxis], Fraction(own_scale * behind.times) ** 2
                    weights = weights + own * _up(square, 1 / unit)
                    variance = variance + own * _up(square, behind.law.sigma2 / unit)
            of_units = Fraction(1, own_scale * solving.units[part])
            rounding = rounding + moved[part][table.level][:, np.newaxis] * _up(size, of_units)
        found[table] = (variance.max(axis=1) * _UP, weights.max(axis=1) * _UP, rounding.max(axis=1) * _UP)
    return found


def _up(numbers: Sequence[Fraction], factor: Fraction) -> Floats:
    """The numbers times a factor, rounded up."""
    found = {one: float_up(one * factor) for one in set(numbers)}
    return np.array([found[one] for one in numbers])


@lru_cache(maxsize=1024)
def _rows_of_effects(tables: TreeTables, axes: Axes) -> dict[Axes, tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    """For each effect of a table, of its numbers' weights in a cell the squares and the sizes, added up.

    A row of the projection on an effect has squares that add up to its energy, over Π n_i of the axes beside it squared, and
    numbers whose sizes add up to Π 2(n_i - 1)/n_i over the same: in all cells the same. Where cells in which nobody can be
    move others there is a number for each cell, rounded up.
    """
    effects, sizes = tables.effects, tables.effects.sizes
    found: dict[Axes, tuple[tuple[Fraction, ...], tuple[Fraction, ...]]] = {}
    moves = scale_of(sizes, tables.empty, axes) > 1
    rows = linear_map(sizes, tables.empty, axes).reshape(-1, *(sizes[axis] for axis in axes)) if moves else None
    for part in tables.parts_of(axes):
        outside = prod(sizes[axis] for axis in axes if axis not in part)
        if rows is None:
            of_row = Fraction(prod(2 * (sizes[axis] - 1) for axis in part), effects.scale(part) * outside)
            found[part] = (effects.energy(part) / Fraction(outside) ** 2,), (of_row,)
            continue
        over = tuple(1 + place for place, axis in enumerate(axes) if axis not in part)
        inside = rows.mean(axis=over, keepdims=True)
        for place, axis in enumerate(axes, start=1):
            inside = inside - inside.mean(axis=place, keepdims=True) if axis in part else inside
        flat = inside.reshape(len(rows), -1)
        each = ((flat**2).sum(axis=1), np.abs(flat).sum(axis=1))
        square, size = (tuple(map(Fraction, (own * _UP**16 + _TINY).tolist())) for own in each)
        found[part] = square, size
    return found


def clear_ends(tables: TreeTables, axes: Axes, ends: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats, Floats]:
    """Counts and ends of intervals, shape (areas, cells); all are 0 of cells in which nobody can be."""
    nobody = cells_without_rows(tables.effects.sizes, tables.empty, axes).ravel()
    for one in ends if nobody.any() else ():
        one[:, nobody] = 0.0
    return ends
