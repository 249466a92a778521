"""Whole numbers of rows for areas of one level: each wider area divided among the areas in it, one finest table at a time.

Tables that are sums of one finest table are found together, and those that several finest tables share with the first of
them (docs/proofs/areas.md, K5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.exact.cached import cached_property
from discreet.mechanisms.effects import Axes
from discreet.releases.fitting import Given, Pass, fit
from discreet.releases.live_cells import LiveCells
from discreet.statistics.emptied import Empty, cells_without_rows

__all__ = ["Areas", "Dividing"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Areas:
    """Some areas of one level, all areas in one wider area with it.

    Args:
        level: their level.
        parents: for each area the place of its wider area among those of `above`, ascending; none for all areas together.
        wanted: for each table its unbiased counts, shape (areas, levels of its axes).
        deviations: for each table the standard deviation of a cell in each area; 0 for a public one.
        above: for each finest table the whole numbers of the wider areas.
    """

    level: int
    parents: Codes | None
    wanted: Mapping[Axes, Floats]
    deviations: Mapping[Axes, Floats]
    above: Mapping[Axes, Whole]


@dataclass(frozen=True)
class Dividing:
    """The tables of whole numbers, the same of all levels.

    Args:
        sizes: the number of levels of each axis.
        tables: the axes of each table, ascending; the one of no axes among them.
        public: the tables that are public on some level.
        empty: the cells in which nobody can be.
    """

    sizes: tuple[int, ...]
    tables: tuple[Axes, ...]
    public: frozenset[Axes]
    empty: Empty

    @cached_property
    def finest(self) -> tuple[Axes, ...]:
        """The tables that are no sums of others, in the order in which they are divided."""
        found = [one for one in self.tables if not any(set(one) < set(other) for other in self.tables)]
        return tuple(sorted(found, key=self._extent))

    def home(self, table: Axes) -> Axes:
        """The first finest table of which it is the sum."""
        return next(one for one in self.finest if set(table) <= set(one))

    def of(self, table: Axes, finest: Mapping[Axes, Whole]) -> Whole:
        """A table as the sum of a finest one."""
        home = self.home(table)
        beside = tuple(1 + place for place, axis in enumerate(home) if axis not in table)
        found: Whole = finest[home].sum(axis=beside)
        return found

    def divide(self, areas: Areas) -> dict[Axes, Whole]:
        """The whole numbers of the finest tables, in their order, shape (areas, levels of the axes).

        All areas add up to their wider ones, and all tables whose axes are among those of a finest one are its sums.
        """
        found: dict[Axes, Whole] = {}
        for finest in self.finest:
            found[finest] = self._divide(finest, areas, found)
        return found

    def _divide(self, finest: Axes, areas: Areas, found: Mapping[Axes, Whole]) -> Whole:
        tables = [one for one in self.tables if set(one) <= set(finest)]
        parents = np.zeros(1, dtype=np.int64) if areas.parents is None else areas.parents
        there = ~cells_without_rows(self.sizes, self.empty, finest)[np.newaxis]
        if areas.parents is not None:
            there = areas.above[finest][parents] > 0
        if not there.any():
            return np.zeros(areas.wanted[finest].shape, dtype=np.int64)
        cells = LiveCells.within(self.sizes, tables, finest, there, parents)
        passes = self._passes[finest]
        own = [one.table for one in passes]
        given = Given(
            cells,
            passes,
            {one: cells.of(one, areas.wanted[one]) for one in own},
            {one: cells.of_areas(one, areas.deviations[one]) for one in own},
            {one: cells.of(one, self.of(one, found)) for one in tables if one not in own},
            None if areas.parents is None else {one: self.of(one, areas.above) for one in own},
        )
        return cells.spread(finest, fit(given)[finest])

    @cached_property
    def _passes(self) -> dict[Axes, tuple[Pass, ...]]:
        """For each finest table it and its sums, but for those of an earlier one."""
        found: dict[Axes, tuple[Pass, ...]] = {}
        settled: set[Axes] = set()
        for finest in self.finest:
            own = sorted((one for one in self.tables if self.home(one) == finest), key=self._extent)
            found[finest] = tuple(self._pass(one, settled) for one in own)
            settled.update(own)
        return found

    def _pass(self, table: Axes, settled: set[Axes]) -> Pass:
        inside = [one for one in self.tables if set(one) < set(table)]
        within = self._chain(inside, settled)[-1] if inside else None
        return Pass(table, within, tuple(one for one in inside if within is not None and not set(one) <= set(within)))

    def _chain(self, inside: Sequence[Axes], settled: set[Axes]) -> list[Axes]:
        """Tables each within the next: those that are public or cannot change any more first, then those of few cells."""
        chain: list[Axes] = [()]
        first = sorted(inside, key=lambda one: (one not in self.public, one not in settled, self._extent(one)[1]))
        for one in first:
            if one and all(set(one) < set(other) or set(other) < set(one) for other in chain):
                chain.append(one)
        return sorted(chain, key=len)

    def _extent(self, axes: Axes) -> tuple[int, int]:
        return len(axes), prod(self.sizes[axis] for axis in axes)
