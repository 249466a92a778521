"""Cells of tables that follow from other public cells and sums: all other cells of a sum are public, or its total is 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.exact.axes import in_order, margin_of
from discreet.mechanisms.effects import Axes
from discreet.statistics.public_totals import PublicSum, factors_of

__all__ = ["implied_cells"]

_ROUNDS = 10  # each finds what follows from the last one: more are hardly ever of use


class _Cells:
    """Which cells of a table are public, and their numbers."""

    def __init__(self, axes: Axes, shape: Sequence[int]) -> None:
        self.axes = axes
        self.known = np.zeros(shape, dtype=bool)
        self.values: Integers = np.zeros(shape, dtype=np.int64)

    def along(self, margin: Axes, array: Integers | NDArray[np.bool_]) -> Integers:
        """The sums of an array of this table over the axes outside a margin, in the order of the margin."""
        return margin_of(array.astype(np.int64, copy=False), self.axes, margin)

    def across(self, margin: Axes, array: Integers | NDArray[np.bool_]) -> Integers:
        """An array of a margin, as every cell of this table has it."""
        turned = in_order(array, margin, [axis for axis in self.axes if axis in margin])
        spread = turned.reshape(
            [size if axis in margin else 1 for axis, size in zip(self.axes, self.known.shape, strict=True)]
        )
        return np.broadcast_to(spread, self.known.shape)

    def learn(self, there: NDArray[np.bool_], values: Integers) -> bool:
        """Some further cells; True if there are any."""
        fresh = there & ~self.known
        self.values[fresh] = values[fresh]
        self.known |= fresh
        return bool(fresh.any())


def implied_cells(
    sizes: Sequence[int], sums: Mapping[Axes, Sequence[PublicSum]], margins: Mapping[Axes, Integers]
) -> dict[Axes, list[PublicSum]]:
    """For each table the cells that are public without being so by themselves.

    Args:
        sizes: of all axes.
        sums: the public sums of each table.
        margins: the counts of margins that are public, each over its axes.
    """
    tables = {table: _Cells(table, [sizes[axis] for axis in table]) for table in sums}
    for table, some in sums.items():
        _learn_sums(tables[table], [one for one in some if len(one.cells) == 1])
    given = {table: one.known.copy() for table, one in tables.items()}
    every = {tuple(sorted(table)): one for table, one in tables.items()}
    for axes, counts in margins.items():
        one = every[axes] if axes in every else every.setdefault(axes, _Cells(axes, counts.shape))
        one.learn(np.ones(one.known.shape, dtype=bool), one.across(axes, counts))
    for _ in range(_ROUNDS):
        learned = [_learn_margins(one, every) for one in tables.values()]
        learned += [_learn_sums(tables[table], some) for table, some in sums.items()]
        if not any(learned):
            break
    return {table: _single(one, one.known & ~given[table]) for table, one in tables.items()}


def _learn_margins(one: _Cells, every: Mapping[Axes, _Cells]) -> bool:
    """What follows between a table and its margins."""
    learned, axes = False, sorted(one.axes)
    for many in range(len(axes)):
        for part in combinations(axes, many):
            if part not in every:
                continue
            margin = every[part]
            unknown, known = one.along(margin.axes, ~one.known), one.along(margin.axes, one.values * one.known)
            learned |= margin.learn(unknown == 0, known)
            last = margin.known & (unknown == 1)
            learned |= one.learn(one.across(margin.axes, last).astype(bool), one.across(margin.axes, margin.values - known))
    return learned


def _learn_sums(one: _Cells, sums: Sequence[PublicSum]) -> bool:
    """The last cell of sums of which all others are public."""
    learned = False
    known, values = one.known.reshape(-1), one.values.reshape(-1)  # of the same memory
    for each in sums:
        unknown = np.flatnonzero(~known[each.cells])
        if len(unknown) != 1:
            continue
        factors = factors_of(each)
        place = each.cells[unknown[0]]
        rest = each.total - int((factors * values[each.cells]).sum() - factors[unknown[0]] * values[place])
        if rest % int(factors[unknown[0]]) == 0:
            known[place], values[place] = True, rest // int(factors[unknown[0]])
            learned = True
    return learned


def _single(one: _Cells, there: NDArray[np.bool_]) -> list[PublicSum]:
    flat = one.values.reshape(prod(one.known.shape))
    return [PublicSum(np.array([place]), None, int(flat[place])) for place in np.flatnonzero(there).tolist()]
