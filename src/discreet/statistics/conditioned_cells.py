"""The cells of tables that meet public sums, each with the half-width of what noise it still has; known cells have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.exact.numbers import float_up
from discreet.mechanisms.effects import Axes, Effects
from discreet.noise.single.weighted import half_width_of_rounded
from discreet.statistics.condition_systems import Reduced, System
from discreet.statistics.conditions import Given, Projected, TableConditions, known_cells, left, meet, moved_by
from discreet.statistics.effects import (
    Cellwise,
    Halves,
    Measured,
    Place,
    cells_from,
    cells_of,
    gain_of,
    parts_of,
    projected_of,
)
from discreet.statistics.filled import Fills, blocks_of_cells, fill_cells, matrix_of

__all__ = [
    "Agreed",
    "RoundedWidths",
    "Shown",
    "Some",
    "TableWidths",
    "Widths",
    "agree",
    "agree_as_given",
    "halves_beside",
    "widths_of",
]

_STEPS = 256  # variances are rounded up to powers of 2^(1/256): widths grow by 0.14 %
_LEAST = 1e-300

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Some:
    """Some cells of a table.

    Args:
        there: of the shape of its levels, True for these.
    """

    there: Bools

    @property
    def index(self) -> Bools:
        """The index of the cells in a table of all its levels."""
        return self.there


class TableWidths(Protocol):
    """The half-widths of estimates of one table that meet conditions."""

    def half(self, variance: float, there: Bools) -> Fraction:
        """A half-width for some cells whose estimates have at most this variance each.

        Args:
            variance: of what noise the estimates have, without what rounding adds to normal numbers.
            there: of the shape of the table once nulls are filled, True for the cells.
        """


class Widths(Protocol):
    """The half-widths of estimates that meet conditions, from what is known of their noise."""

    def of_table(self, table: Axes, reduced: Reduced | None, system: System) -> TableWidths:
        """Those of one table; without what conditions do to its cells where that is not worked out."""


@dataclass(frozen=True, slots=True)
class RoundedWidths:
    """Of rounded Gaussian noise: with weights c, Σ c² is at most Σ c²σ² over the least σ².

    Args:
        level: of one interval.
        least: the least σ² of any noise, in the units in which it is rounded.
    """

    level: Fraction
    least: Fraction

    def of_table(self, table: Axes, reduced: Reduced | None, system: System) -> RoundedWidths:
        return self

    def half(self, variance: float, there: Bools) -> Fraction:
        whole = Fraction(variance)
        return half_width_of_rounded(whole, whole / self.least, self.level)


def widths_of(measured: Measured, level: Fraction) -> RoundedWidths:
    """The half-widths of tables from effects with this noise."""
    return RoundedWidths(
        level, min((one.law.sigma2 for one in measured.values() if one.law is not None), default=Fraction(1))
    )


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What tables are put together from, and how they are shown.

    Args:
        effects: of all tables.
        tables: the axes of each.
        fills: for each axis whose nulls are filled the chances of its other levels.
        variances: at least s of each effect with noise, whose estimate has the covariance s times the projector.
        halves: of the cells of each table, without conditions.
    """

    effects: Effects
    tables: tuple[Axes, ...]
    fills: Fills
    variances: Mapping[Axes, Fraction]
    halves: Sequence[Halves]


@dataclass(frozen=True, slots=True, eq=False)
class Agreed:
    """The cells of all tables with the half-widths of their noise.

    Args:
        cells: as `cells_of` gives them.
        halves: of each table.
        given: the conditions that they meet, and how; None without any.
        left: at least how far a public sum is from the cells that it is of.
    """

    cells: Cellwise
    halves: list[Halves]
    given: Given | None
    left: float


def agree(shown: Shown, measured: Measured, conditions: Sequence[TableConditions], widths: Widths) -> Agreed:
    """The cells from measured effects, moved to meet the conditions."""
    if not conditions:
        return Agreed(cells_of(shown.effects, shown.tables, measured, shown.fills), list(shown.halves), None, 0.0)
    projected = projected_of(shown.effects, shown.tables, measured)
    return _moved(shown, projected, meet(shown.effects, conditions, shown.variances, projected), widths)


def agree_as_given(shown: Shown, measured: Measured, found: tuple[Given, System], widths: Widths) -> Agreed:
    """The same with what the estimates are moved by."""
    return _moved(shown, projected_of(shown.effects, shown.tables, measured), found, widths)


def _moved(shown: Shown, projected: tuple[Projected, int], found: tuple[Given, System], widths: Widths) -> Agreed:
    """The cells from projected effects that are moved."""
    (given, system), effects = found, shown.effects
    rests = [float(one) for one in left(effects, given, projected)]
    # What is left of the conditions moves no estimate by more than this part of its deviation.
    beside = max(float(np.dot(rests, system.solve(np.array(rests)))), 0.0) ** 0.5
    cells = cells_from(effects, shown.tables, moved_by(effects, *projected, given), shown.fills)
    known = _known_of_tables(shown, given.conditions)
    for place, one in enumerate(known):
        if one is not None:
            (values, denominator), (there, exactly) = cells[place], one
            cells[place] = np.where(there, exactly * denominator, values), denominator
    halves = [_halves(shown, place, one, system, (widths, 2 * beside)) for place, one in enumerate(known)]
    return Agreed(cells, halves, given, float_up(Fraction(max(map(abs, rests), default=0.0))))


def halves_beside(shown: Shown, conditions: Sequence[TableConditions], system: System, widths: Widths) -> list[Halves]:
    """The half-widths of the cells of all tables that meet conditions, 0 for cells that are public.

    Args:
        shown: the tables.
        conditions: what they meet.
        system: of these.
        widths: from the variances that are left.
    """
    known = _known_of_tables(shown, conditions)
    return [_halves(shown, place, one, system, (widths, 0.0)) for place, one in enumerate(known)]


def _known_of_tables(shown: Shown, conditions: Sequence[TableConditions]) -> list[tuple[Bools, Integers] | None]:
    by_table = {one.table: one for one in conditions}
    return [_known(shown.effects, by_table.get(table), table, shown.fills) for table in shown.tables]


def _known(effects: Effects, one: TableConditions | None, table: Axes, fills: Fills) -> tuple[Bools, Integers] | None:
    """The printed cells of a table that are public by themselves: those of which every measured one is."""
    if one is None:
        return None
    there, values = known_cells(effects, one)
    found: Integers = values
    for place, axis in enumerate(table):
        if axis in fills:
            there = there.swapaxes(place, -1)
            there = (there[..., :-1] & there[..., -1:]).swapaxes(place, -1)
    found, denominator = fill_cells(found, 1, table, fills)
    whole = np.asarray(found % denominator == 0, dtype=bool)
    return np.asarray(there & whole, dtype=bool), found // denominator


def _halves(
    shown: Shown, place: int, known: tuple[Bools, Integers] | None, system: System, found: tuple[Widths, float]
) -> Halves:
    """The half-widths of the cells of a table.

    Args:
        shown: the tables.
        place: which of them.
        known: its cells that are public, and what they are.
        system: of the conditions.
        found: the widths from the variances that are left, and by which part of its deviation without conditions an estimate
            may be off besides.
    """
    table, (widths, beside) = shown.tables[place], found
    readings = [matrix_of(shown.effects.sizes[axis], shown.fills.get(axis)) for axis in table]
    variances = _variances(shown, table)
    free = variances > 0 if known is None else ~known[0] & (variances > 0)
    reduced = system.reduce(table, readings)
    if reduced is not None and not reduced.weights.any() and free.all():
        return [(cells, half * Fraction(1 + beside)) for cells, half in shown.halves[place]]
    rest = variances
    if reduced is not None and len(reduced.rows):
        rest = np.maximum(variances - reduced.taken.reshape(variances.shape), _LEAST)
    own, parts = widths.of_table(table, reduced, system), list[tuple[Place, Fraction]]()
    steps = np.ceil(np.log2(np.where(free, rest, 1.0)) * _STEPS)
    for step in np.unique(steps[free]).tolist():
        there = free & (steps == step)
        half = own.half(2.0 ** (step / _STEPS) * (1 + 1e-9), there)
        parts.append((Some(there), half + Fraction(beside * float(variances[there].max()) ** 0.5)))
    return [*parts, (Some(~free), Fraction(0))] if not free.all() else parts


def _variances(shown: Shown, table: Axes) -> Floats:
    """The variances of the printed cells of a table without conditions, rounded up."""
    blocks = blocks_of_cells(shown.effects.sizes, table, shown.fills)
    found = np.zeros([shown.effects.sizes[axis] - (axis in shown.fills) for axis in table])
    for cells in blocks:
        variance = Fraction(0)
        for part in parts_of(shown.effects, table):
            if part in shown.variances:
                outside = prod(shown.effects.sizes[axis] for axis in table if axis not in part)
                variance += shown.variances[part] * gain_of(table, part, cells.readings) / outside**2
        found[cells.index] = float_up(variance)
    return found
