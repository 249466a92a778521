"""Tables of counts that are put together from the noisy answers of their effects: they agree, and each cell has an interval.

A function of public integers. Proof: docs/proofs/effects.md, "Effects" and "Tables of noisy effects".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from math import prod

from discreet.cube.cells import Integers
from discreet.mechanisms.effects import Axes, Effects, compose, project, times
from discreet.noise.single.laws import Law, RoundedGaussian
from discreet.noise.single.weighted import Weighted, half_width_of_rounded, half_width_of_weighted
from discreet.statistics.filled import Cells, Fills, Reading, blocks_of_cells, fill_cells

__all__ = ["Halves", "MeasuredEffect", "cells_of", "errors_of", "gain_of", "halves_of", "parts_of", "weights_of_cells"]


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredEffect:
    """The public answer of one effect.

    Args:
        values: times · the integer query, with noise or without; shape: the levels of its axes. None where only its noise
            is known.
        times: an integer.
        law: of the noise in each number; None for an effect that is known.
    """

    values: Integers | None
    times: int
    law: Law | None


Measured = Mapping[Axes, MeasuredEffect]


def cells_of(effects: Effects, tables: Sequence[Axes], measured: Measured, fills: Fills) -> list[tuple[Integers, int]]:
    """For each table the numerators of its cells, of the shape of its printed levels, over one public denominator.

    Tables have equal sums over equal cells, exactly. Where nulls are filled, the cells are expected counts.
    """
    common = max((one.times for one in measured.values()), default=1)
    projected: dict[Axes, Integers] = {}
    for part in dict.fromkeys(chain.from_iterable(parts_of(effects, one) for one in tables)):
        one = measured[part]
        if one.values is not None:
            projected[part] = project(effects, part, times(one.values, common // one.times))
    composed = ((table, *compose(effects, table, projected)) for table in tables)
    return [fill_cells(values, denominator * common, table, fills) for table, values, denominator in composed]


Halves = list[tuple[Cells, Fraction]]


def halves_of(effects: Effects, tables: Sequence[Axes], measured: Measured, fills: Fills, level: Fraction) -> list[Halves]:
    """For each table its cells in parts, each with a half-width that the noise of a cell is within with this probability."""
    half = _half_of_rounded if all(_is_rounded(one.law) for one in measured.values()) else _half_of_weighted
    return [
        [(cells, half(effects, table, measured, cells, level)) for cells in blocks_of_cells(effects.sizes, table, fills)]
        for table in tables
    ]


def errors_of(effects: Effects, tables: Sequence[Axes], measured: Measured, fills: Fills, level: Fraction) -> list[Fraction]:
    """For each table the largest half-width of any cell; 0 without noise."""
    found = halves_of(effects, tables, measured, fills, level)
    return [max((half for _, half in one), default=Fraction(0)) for one in found]


def _is_rounded(law: Law | None) -> bool:
    return law is None or isinstance(law, RoundedGaussian)


def _half_of_rounded(effects: Effects, table: Axes, measured: Measured, cells: Cells, level: Fraction) -> Fraction:
    """From σ²·Σ c² and Σ c² of all noises: the weights of `weights_of_cells`, of which the squares are known."""
    variance, squares = Fraction(0), Fraction(0)
    for part in parts_of(effects, table):
        one = measured[part]
        if isinstance(one.law, RoundedGaussian):
            own = gain_of(table, part, cells.readings) / one.times**2
            variance, squares = variance + one.law.sigma2 * own, squares + own
    scale = prod(effects.sizes[axis] for axis in table) ** 2
    return half_width_of_rounded(variance / scale, squares / scale, level)


def _half_of_weighted(effects: Effects, table: Axes, measured: Measured, cells: Cells, level: Fraction) -> Fraction:
    return half_width_of_weighted(weights_of_cells(effects, table, measured, cells), level)


def gain_of(table: Axes, part: Axes, readings: Sequence[Reading]) -> Fraction:
    """What a unit of the variance of an effect adds to that of a cell, but for 1/Π n_i² of the axes outside the effect."""
    inside = set(part)
    each = zip(table, readings, strict=True)
    return prod((one.own if axis in inside else one.outside for axis, one in each), start=Fraction(1))


def weights_of_cells(effects: Effects, table: Axes, measured: Measured, cells: Cells) -> tuple[Weighted, ...]:
    """The noise in these cells of a table: for each effect the sizes of the weights of its numbers.

    The weight of a number of a is a product over the axes of a of entries of r - r̄, and over the others of Σ r, over N_a ·
    times · Π n_i of the axes of the table that are not in a. Without filled axes r - r̄ is 1 - 1/n_i where the number agrees
    with the cell, and -1/n_i elsewhere.
    """
    found = []
    readings = dict(zip(table, cells.readings, strict=True))
    for part in parts_of(effects, table):
        one = measured[part]
        if one.law is None:
            continue
        added = prod((readings[axis].added for axis in table if axis not in part), start=Fraction(1))
        scale = one.times * prod(effects.sizes[axis] for axis in table) / added
        weights: dict[Fraction, int] = {}
        for entries in product(*(readings[axis].sizes for axis in part)):
            size = prod((size for size, _ in entries), start=Fraction(1)) / scale
            weights[size] = weights.get(size, 0) + prod(many for _, many in entries)
        found.append(Weighted(one.law, tuple((size, many) for size, many in weights.items() if size and many)))
    return tuple(found)


def parts_of(effects: Effects, table: Axes) -> list[Axes]:
    """The effects that a table is put together from: its axes of more than one level, and all sets of these."""
    telling = [axis for axis in table if effects.sizes[axis] > 1]
    return [tuple(sorted(one)) for many in range(len(telling) + 1) for one in combinations(telling, many)]
