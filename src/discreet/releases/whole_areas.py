"""Whole numbers of rows in the areas of all levels: not negative, adding up, near the unbiased estimates. A biased view.

Areas are divided from the widest on, and the tables of an area from the coarsest on. Every division has given sums of the
areas and of the cells, so it is a transportation problem, and whole numbers for it exist and are found by a flow
(docs/proofs/areas.md, K5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.mechanisms.effects import Axes
from discreet.releases.measured_areas import printed_places, read_areas, tables_of
from discreet.releases.transport import divide, transport
from discreet.statistics.tree_cells import AreaTable, MeasuredAreas, TreeTables, cells_of_areas, variances_of_areas

__all__ = ["whole_areas"]

_LARGE = 5  # deviations: a number that is larger hardly takes part in what noise in small ones costs
_WEIGHT = 25.0

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def whole_areas(document: Mapping[str, Any], block: Mapping[str, Any], frames: Sequence[Mapping[str, Any]]) -> list[Whole]:
    """For each frame of a statistic of areas the whole numbers of its printed rows.

    All areas add up to the ones that they lie in, tables whose columns are among those of another one are its sums, and
    everything has the public sums.

    Raises:
        ArgumentError: public sums that cross, of which no whole numbers were found.
    """
    tables, measured = read_areas(block, document["noise"])
    every = _Whole(tables, measured, tuple(dict.fromkeys(tuple(sorted(one.axes)) for one in tables_of(block))))
    found = []
    for table, frame in zip(tables_of(block), frames, strict=True):
        ascending = sorted(table.axes)
        counts = every.table(tuple(ascending))[table.level]
        turned = counts.transpose([0, *(1 + ascending.index(axis) for axis in table.axes)])
        found.append(printed_places(block, table, frame).of(turned, 0))
        _check(frame, found[-1])
    return found


def _check(frame: Mapping[str, Any], counts: Whole) -> None:
    """Checks that the counts have the public sums.

    Raises:
        ArgumentError: they do not.
    """
    for key, wrong in (("known_sums", np.not_equal), ("known_most", np.greater)):
        for one in frame.get(key, ()):
            labels = np.zeros(len(counts), np.int64) if one["labels"] is None else np.array(one["labels"], np.int64)
            sums = np.zeros(len(one["totals"]), np.int64)
            np.add.at(sums, labels[labels >= 0], counts[labels >= 0])
            if wrong(sums, one["totals"]).any():
                raise ArgumentError(
                    f"consistent(): no whole numbers of '{frame['name']}' were found that add up over areas and have all "
                    "public sums, because exact totals cross each other or the tables; read its unbiased counts"
                )


@dataclass(frozen=True, eq=False)
class _Whole:
    """The whole numbers of the tables of all levels.

    Args:
        tables: the tree and the effects.
        measured: the measured integers.
        asked: the axes of the tables, ascending.
    """

    tables: TreeTables
    measured: MeasuredAreas
    asked: tuple[Axes, ...]
    _done: dict[Axes, dict[Axes, list[Whole]]] = field(default_factory=dict)

    @cached_property
    def _variances(self) -> dict[AreaTable, Floats]:
        wanted = [AreaTable(level, axes) for axes in {(), *self.asked} for level in range(len(self.tables.tree.sizes))]
        found, of = variances_of_areas(self.tables, wanted, self.measured), self.tables.tree.shapes.of
        return {table: every[of[table.level]] for table, every in found.items()}

    @cached_property
    def _estimates(self) -> dict[AreaTable, Floats]:
        """Shape (areas, levels of the axes)."""
        found = cells_of_areas(self.tables, list(self._variances), self.measured)
        return {table: np.asarray(values / denominator, np.float64) for table, (values, denominator) in found.items()}

    def table(self, axes: Axes) -> list[Whole]:
        """The counts of a table for each level, the root first; shape (areas, levels of its axes)."""
        finest = next(one for one in self._finest if set(axes) <= set(one))
        if finest not in self._done:
            self._done[finest] = self._chain(finest)
        done = self._done[finest]
        if axes in done:
            return done[axes]
        beside = tuple(1 + place for place, axis in enumerate(finest) if axis not in axes)
        return [one.sum(axis=beside) for one in done[finest]]

    @cached_property
    def _finest(self) -> list[Axes]:
        """The tables that are no sums of others."""
        return [one for one in self.asked if not any(set(one) < set(other) for other in self.asked)]

    def _cells(self, axes: Axes) -> int:
        return prod(self.tables.effects.sizes[axis] for axis in axes)

    def _known(self, table: AreaTable) -> bool:
        return not self._variances[table].any()

    def _chain(self, finest: Axes) -> dict[Axes, list[Whole]]:
        """The tables of a chain from the total to a finest table, each dividing the one before; public ones are in it."""
        levels = range(1, len(self.tables.tree.sizes))
        inside = [one for one in self.asked if set(one) <= set(finest)]
        first = sorted(
            inside, key=lambda one: (not any(self._known(AreaTable(level, one)) for level in levels), self._cells(one))
        )
        chain: list[Axes] = [()]
        for one in first:
            if one and all(set(one) < set(other) or set(other) < set(one) for other in chain):
                chain.append(one)
        chain.sort(key=len)
        found: dict[Axes, list[Whole]] = {}
        for coarse, fine in zip([None, *chain], chain, strict=False):
            found[fine] = self._pass(fine, None if coarse is None else (coarse, found[coarse]))
        return found

    def _pass(self, fine: Axes, coarse: tuple[Axes, list[Whole]] | None) -> list[Whole]:
        """A table for each level: its sums are those of a coarser one, and those of the level above."""
        found: list[Whole] = []
        for level, size in enumerate(self.tables.tree.sizes):
            table = AreaTable(level, fine)
            wanted = self._estimates[table]
            if self._known(table):
                found.append(np.rint(wanted).astype(np.int64))
                continue
            deviations = np.sqrt(self._variances[table]).reshape(-1, *(1,) * len(fine))
            weights = np.where(wanted > _LARGE * deviations, _WEIGHT, 1.0)
            groups = _Grouped.of(fine, () if coarse is None else coarse[0], self.tables.effects.sizes)
            sums = None if coarse is None else coarse[1][level].reshape(size, -1)
            given = (groups.apart(wanted), groups.apart(weights), sums)
            above = groups.apart(found[-1]) if level else None
            found.append(groups.together(_divided(self._children(level), given, above)))
        return found

    def _children(self, level: int) -> list[NDArray[np.int64]]:
        """For each area of the level above the areas in it; for the root itself."""
        parents = np.array(self.tables.tree.parents[level - 1]) if level else np.zeros(1, np.int64)
        return [np.flatnonzero(parents == one) for one in range(self.tables.tree.sizes[max(0, level - 1)])]


def _divided(
    children: Sequence[NDArray[np.int64]], given: tuple[Floats, Floats, Whole | None], above: Whole | None
) -> Whole:
    """Whole numbers of all areas of a level, shape (areas, coarse cells, cells in each)."""
    wanted, weights, sums = given
    found = np.zeros(wanted.shape, dtype=np.int64)
    for parent, areas in enumerate(children):
        for cell in range(wanted.shape[1]):
            own, weight = wanted[areas, cell], weights[areas, cell]
            if above is None and sums is None:  # all areas together
                found[areas, cell] = np.maximum(0, np.rint(own)).astype(np.int64)
            elif above is None and sums is not None:
                found[areas[0], cell] = divide(own[0], weight[0], int(sums[areas[0], cell]))
            elif sums is None and above is not None:
                found[areas, cell, 0] = divide(own[:, 0], weight[:, 0], int(above[parent, cell, 0]))
            elif sums is not None and above is not None:
                found[areas, cell] = transport(own, weight, sums[areas, cell], above[parent, cell])
    return found


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

    def together(self, values: NDArray[Any]) -> NDArray[Any]:
        """The inverse of `apart`."""
        back = np.argsort(self.order)
        return values.reshape(len(values), *self.shape).transpose([0, *(1 + int(at) for at in back)])
