"""Whole numbers of rows for areas of one level: each wider area divided among the areas in it, table after table.

Tables come one after the other, those of fewer columns first. Each is the nearest one, and then a rounding of it, that has
the sums of a table before it and of the wider areas. Other tables before it are wished for: the real numbers are near to
their sums too, and what rounding has changed in them is made good as it goes on (docs/proofs/areas.md, K5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact.cached import cached_property
from discreet.mechanisms.effects import Axes
from discreet.releases.nearest import Sums, nearest
from discreet.releases.transport import round_columns, round_rows, round_table

__all__ = ["Areas", "Dividing"]

_LARGE = 5  # deviations: a number that is larger hardly takes part in what noise in small ones costs
_WEIGHT = 100.0
_PRICE = 100.0  # of missing the sums of a table that is only wished for, relative to those of a cell
_LEAST = 1e-3  # of a usual deviation: no number is taken to be more certain
_WHOLE = 1e-4  # a fraction is not carried to a whole number or beyond

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


@dataclass(frozen=True, slots=True)
class _Pass:
    """A table and those before it: its sums are those of `within`, and near those of `beside`."""

    table: Axes
    within: Axes | None
    beside: tuple[Axes, ...]


@dataclass(frozen=True)
class Dividing:
    """The tables of whole numbers, the same of all levels.

    Args:
        sizes: the number of levels of each axis.
        tables: the axes of each table, ascending; the one of no axes among them.
        public: the tables that are public on some level.
    """

    sizes: tuple[int, ...]
    tables: tuple[Axes, ...]
    public: frozenset[Axes]

    @cached_property
    def finest(self) -> tuple[Axes, ...]:
        """The tables that are no sums of others."""
        return tuple(one for one in self.tables if not any(set(one) < set(other) for other in self.tables))

    def home(self, table: Axes) -> Axes:
        """The finest table of which it is the sum."""
        return next(one for one in self.finest if set(table) <= set(one))

    def of(self, table: Axes, finest: Mapping[Axes, Whole]) -> Whole:
        """A table as the sum of a finest one."""
        home = self.home(table)
        beside = tuple(1 + place for place, axis in enumerate(home) if axis not in table)
        found: Whole = finest[home].sum(axis=beside)
        return found

    @cached_property
    def _passes(self) -> tuple[_Pass, ...]:
        found, settled = [], set[Axes]()
        for table in sorted(self.tables, key=lambda one: (len(one), self._cells(one))):
            inside = [one for one in self.tables if set(one) < set(table)]
            within = self._chain(inside, settled)[-1] if inside else None
            beside = tuple(one for one in inside if within is not None and not set(one) <= set(within))
            found.append(_Pass(table, within, beside))
            settled |= {*inside, table} if table in self.finest else set()
        return tuple(found)

    def _chain(self, inside: Sequence[Axes], settled: set[Axes]) -> list[Axes]:
        """Tables each within the next: those that are public or cannot change any more first, then those of few cells."""
        chain: list[Axes] = [()]
        first = sorted(inside, key=lambda one: (one not in self.public, one not in settled, self._cells(one)))
        for one in first:
            if one and all(set(one) < set(other) or set(other) < set(one) for other in chain):
                chain.append(one)
        return sorted(chain, key=len)

    def _cells(self, axes: Axes) -> int:
        return prod(self.sizes[axis] for axis in axes)

    def divide(self, areas: Areas) -> dict[Axes, Whole]:
        """The whole numbers of the finest tables, in their order, shape (areas, levels of the axes).

        All areas add up to their wider ones, and all tables whose axes are among those of a finest one are its sums.
        """
        done: dict[Axes, Whole] = {}
        finest: dict[Axes, Whole] = {}
        for one in self._passes:
            done[one.table] = self._table(one, areas, done)
            if one.table in self.finest:
                finest[one.table] = done[one.table]
                done |= {table: self.of(table, finest) for table in self.tables if self.home(table) == one.table}
        return {table: finest[table] for table in self.finest}

    def _table(self, one: _Pass, areas: Areas, done: Mapping[Axes, Whole]) -> Whole:
        wanted, deviations = areas.wanted[one.table], areas.deviations[one.table]
        if not deviations.any():
            return np.rint(wanted).astype(np.int64)
        above = None if areas.parents is None else self.of(one.table, areas.above)
        sums = [self._wished(one.table, other, done[other], _PRICE) for other in one.beside]
        if one.within is not None:
            sums.append(self._wished(one.table, one.within, done[one.within], 0.0))
        if above is not None:
            sums.append(Sums(above.astype(np.float64), (0,), areas.parents))
        real = nearest(wanted, _weights(wanted, deviations), sums)
        if one.within is None:
            if areas.parents is None or above is None:
                return np.rint(real).astype(np.int64)
            return round_columns(real[:, np.newaxis], areas.parents, above[:, np.newaxis])[:, 0]
        return self._rounded(one, real, done[one.within], areas.parents, above)

    def _wished(self, table: Axes, other: Axes, sums: Whole, price: float) -> Sums:
        """The sums of another table, as sums of the cells of this one."""
        shape = (len(sums), *(self.sizes[axis] if axis in other else 1 for axis in table))
        over = tuple(1 + place for place, axis in enumerate(table) if axis not in other)
        return Sums(sums.astype(np.float64).reshape(shape), over, price=price)

    def _rounded(self, one: _Pass, real: Floats, within: Whole, parents: Codes | None, above: Whole | None) -> Whole:
        """A rounding with the sums of a coarser table and of the wider areas: coarse cell after coarse cell."""
        cells = _Grouped.of(one.table, one.within or (), self.sizes)
        apart, sums = cells.apart(real), within.reshape(len(within), -1)
        columns = None if above is None else cells.apart(above)
        found = np.empty(apart.shape, dtype=np.int64)
        if not one.beside:
            self._all_at_once(found, apart, sums, parents, columns)
            return cells.together(found)
        left = [np.zeros((len(real), self._cells(other))) for other in one.beside]
        places = [self._places(one.table, other, cells) for other in one.beside]
        for cell in np.argsort(apart.sum(axis=(0, 2)), kind="stable").tolist():
            moved = sum((mine[:, own[cell]] for mine, own in zip(left, places, strict=True)), np.zeros(()))
            given = _carry(apart[:, cell], moved)
            if parents is None or columns is None:
                found[:, cell] = round_rows(given, sums[:, cell])
            else:
                found[:, cell] = round_table(given, sums[:, cell], parents, columns[:, cell])
            for mine, own in zip(left, places, strict=True):
                np.add.at(mine.T, own[cell], (apart[:, cell] - found[:, cell]).T)
        return cells.together(found)

    @staticmethod
    def _all_at_once(found: Whole, apart: Floats, sums: Whole, parents: Codes | None, columns: Whole | None) -> None:
        """All coarse cells side by side, where nothing is carried from one to the other: groups of rows by coarse cell."""
        areas, coarse, fine = apart.shape
        rows, totals = apart.transpose(1, 0, 2).reshape(-1, fine), sums.T.ravel()
        if parents is None or columns is None:
            own = round_rows(rows, totals)
        else:
            groups = (np.arange(coarse)[:, np.newaxis] * len(columns) + parents).ravel()
            own = round_table(rows, totals, groups, columns.transpose(1, 0, 2).reshape(-1, fine))
        found[...] = own.reshape(coarse, areas, fine).transpose(1, 0, 2)

    def _places(self, table: Axes, other: Axes, cells: _Grouped) -> Codes:
        """For each coarse cell and each cell in it its place among the cells of another table."""
        own = np.arange(self._cells(other)).reshape([self.sizes[axis] if axis in other else 1 for axis in table])
        every = np.broadcast_to(own, [self.sizes[axis] for axis in table])
        return np.asarray(cells.apart(every[np.newaxis])[0])


def _weights(wanted: Floats, deviations: Floats) -> Floats:
    """Of the squared differences: large numbers more, areas of little noise more; about 1 for most."""
    usual = float(np.median(deviations[deviations > 0]))
    relative = np.maximum(deviations / usual, _LEAST).reshape(-1, *(1,) * (wanted.ndim - 1))
    return np.asarray(np.where(wanted > _LARGE * relative * usual, _WEIGHT, 1.0) / (relative * relative))


def _carry(real: Floats, moved: Floats) -> Floats:
    """Fractions with what was rounded away before; whole numbers stay, and no fraction becomes one."""
    low = np.floor(real)
    carried = np.clip(real + moved, low + _WHOLE, low + 1 - _WHOLE)
    return np.asarray(np.where(real - low > _WHOLE, carried, real))


@dataclass(frozen=True, slots=True)
class _Grouped:
    """The cells of a table by those of a coarser one: axes in the order coarse ones, others."""

    order: tuple[int, ...]
    shape: tuple[int, ...]
    coarse: int

    @classmethod
    def of(cls, fine: Axes, coarse: Axes, sizes: Sequence[int]) -> _Grouped:
        order = (*(fine.index(axis) for axis in coarse), *(at for at, axis in enumerate(fine) if axis not in coarse))
        return cls(order, tuple(sizes[fine[at]] for at in order), prod(sizes[axis] for axis in coarse))

    def apart(self, values: NDArray[Any]) -> NDArray[Any]:
        """Shape (areas, coarse cells, cells in each)."""
        return values.transpose([0, *(1 + at for at in self.order)]).reshape(len(values), self.coarse, -1)

    def together(self, values: Whole) -> Whole:
        """The inverse of `apart`."""
        back = np.argsort(self.order)
        turned: Whole = values.reshape(len(values), *self.shape).transpose([0, *(1 + int(at) for at in back)])
        return turned
