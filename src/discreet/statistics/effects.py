"""Tables of counts that are put together from the noisy answers of their effects: they agree, and each cell has an interval.

A function of public integers. Proof: docs/proofs/effects.md, "Effects" and "Tables of noisy effects".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import prod
from typing import Any, Protocol

from discreet.cube.cells import Integers
from discreet.mechanisms.effects import Axes, Effects, compose, project, times
from discreet.noise.single.laws import RoundedGaussian
from discreet.noise.single.weighted import half_width_of_rounded
from discreet.statistics.filled import Cells, Fills, Reading, blocks_of_cells, fill_cells

__all__ = [
    "Cellwise",
    "Halves",
    "MeasuredEffect",
    "Place",
    "cells_from",
    "cells_of",
    "gain_of",
    "halves_of",
    "parts_of",
    "projected_of",
    "telling_axes",
    "variances_of",
]


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
    law: RoundedGaussian | None


Measured = Mapping[Axes, MeasuredEffect]


Cellwise = list[tuple[Integers, int]]
"""For each table the numerators of its cells, of the shape of its levels once nulls are filled, over one denominator."""


def cells_of(effects: Effects, tables: Sequence[Axes], measured: Measured, fills: Fills) -> Cellwise:
    """The cells of the tables. They have equal sums over equal cells, exactly; where nulls are filled, they are expected."""
    return cells_from(effects, tables, projected_of(effects, tables, measured), fills)


def projected_of(effects: Effects, tables: Sequence[Axes], measured: Measured) -> tuple[dict[Axes, Integers], int]:
    """The projected effects of the tables, and the number that they are scaled by beside N_a²."""
    common = max((one.times for one in measured.values()), default=1)
    projected: dict[Axes, Integers] = {}
    for part in dict.fromkeys(chain.from_iterable(parts_of(effects, one) for one in tables)):
        one = measured[part]
        if one.values is not None:
            projected[part] = project(effects, part, times(one.values, common // one.times))
    return projected, common


def cells_from(
    effects: Effects, tables: Sequence[Axes], projected: tuple[Mapping[Axes, Integers], int], fills: Fills
) -> Cellwise:
    """The same from projected effects."""
    own, common = projected
    composed = ((table, *compose(effects, table, own)) for table in tables)
    return [fill_cells(values, denominator * common, table, fills) for table, values, denominator in composed]


def variances_of(effects: Effects, measured: Measured) -> dict[Axes, Fraction]:
    """For each effect with noise s: its estimate has the covariance s times the projector."""
    noisy = ((part, one, one.law) for part, one in measured.items() if one.law is not None)
    return {part: law.sigma2 / (one.times * effects.scale(part)) ** 2 for part, one, law in noisy}


class Place(Protocol):
    """Some cells of a table."""

    @property
    def index(self) -> Any:
        """The index of these cells in a table of all its levels."""


Halves = Sequence[tuple[Place, Fraction]]


def halves_of(effects: Effects, tables: Sequence[Axes], measured: Measured, fills: Fills, level: Fraction) -> list[Halves]:
    """For each table its cells in parts, each with a half-width that the noise of a cell is within with this probability."""
    return [
        [(cells, _half(effects, table, measured, cells, level)) for cells in blocks_of_cells(effects.sizes, table, fills)]
        for table in tables
    ]


def _half(effects: Effects, table: Axes, measured: Measured, cells: Cells, level: Fraction) -> Fraction:
    """From σ²·Σ c² and Σ c² of all noises: c is a product over the axes of r - r̄ in an effect and of Σ r elsewhere."""
    variance, squares = Fraction(0), Fraction(0)
    for part in parts_of(effects, table):
        one = measured[part]
        if one.law is not None:
            own = gain_of(table, part, cells.readings) / one.times**2
            variance, squares = variance + one.law.sigma2 * own, squares + own
    scale = prod(effects.sizes[axis] for axis in table) ** 2
    return half_width_of_rounded(variance / scale, squares / scale, level)


def gain_of(table: Axes, part: Axes, readings: Sequence[Reading]) -> Fraction:
    """What a unit of the variance of an effect adds to that of a cell, but for 1/Π n_i² of the axes outside the effect."""
    inside = set(part)
    each = zip(table, readings, strict=True)
    return prod((one.own if axis in inside else one.outside for axis, one in each), start=Fraction(1))


def parts_of(effects: Effects, table: Axes) -> list[Axes]:
    """The effects that a table is put together from: its axes of more than one level, and all sets of these."""
    telling = telling_axes(effects, table)
    return [one for many in range(len(telling) + 1) for one in combinations(telling, many)]


def telling_axes(effects: Effects, table: Axes) -> Axes:
    """The axes of a table that have more than one level, in increasing order."""
    return tuple(sorted(axis for axis in table if effects.sizes[axis] > 1))
