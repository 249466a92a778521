"""Exchanges: two rows that agree in all other columns of its lists exchange the levels of a root, and every list stands.

They move what is not drawn: columns of exact totals, and columns of too many levels.
"""

from __future__ import annotations

import numpy as np

from discreet.releases.rows.law import IMPOSSIBLE, Law
from discreet.releases.rows.layout import Column, Part, State
from discreet.releases.rows.model import Integers, Root, Targets
from discreet.releases.rows.words import Words

__all__ = ["exchange", "exchanged", "paired", "partners"]


def partners(targets: Targets, root: Root) -> tuple[int, ...]:
    """The axes in which two rows have to agree that exchange the levels of a root: all others of the lists that know it."""
    own = set(root.axes)
    return tuple(sorted({axis for one in targets.lists if own & set(one.axes) for axis in one.axes} - own))


def exchanged(targets: Targets, columns: tuple[Column, ...]) -> list[Column]:
    """The columns whose levels are exchanged: those that lists hold, on all of their levels or on some axis, and wide ones.

    Where two rows that exchange a level agree in all that is held of the others, draws of the rest do the same.
    """
    still = [one for one in columns if one.root.levels > 1 and (one.bound or one.wide)]
    found = []
    for one in still:
        beside = set(partners(targets, one.root)).union(one.root.axes)
        held = {axis for other in still for axis in other.root.axes if axis in targets.held}
        if (one.parts or one.voids) and held - beside:
            found.append(one)
    return found


def paired(state: State, axes: tuple[int, ...], words: Words) -> Integers:
    """Disjoint random pairs of rows that agree in some axes, and stand for as many, in a random order; shape (pairs, 2)."""
    order = words.shuffle(len(state.rows))
    keys = state.each
    for axis in axes:
        levels = state.rows[:, axis]
        keys = np.unique(keys * (int(levels.max(initial=0)) + 1) + levels, return_inverse=True)[1].ravel()
    order = order[np.argsort(keys[order], kind="stable")]
    begins = np.flatnonzero(np.diff(keys[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff([*begins, len(order)]))
    first = np.flatnonzero((rank[:-1] % 2 == 0) & (rank[1:] % 2 == 1))
    pairs = np.stack([order[first], order[first + 1]], axis=1)
    return pairs[words.shuffle(len(pairs))]


def exchange(state: State, column: Column, pairs: Integers, law: Law, words: Words) -> None:
    """Pairs of rows exchange the levels of a root or keep them, side by side, each with the weight of what it would cost."""
    own = column.root.axes[0]
    levels = state.rows[pairs, own]
    each = state.each[pairs[:, 0]][:, None]
    rows = state.rows[pairs[:, 0]], state.rows[pairs[:, 1]]
    costs = np.zeros((len(pairs), 2), dtype=np.int64)
    for part in column.parts:
        costs[:, 1] += _cost(state, part, rows, levels, each)
    for part in column.voids:
        costs[:, 1] += IMPOSSIBLE * np.clip(_broken(state, part, rows, levels), -7, 7)
    chosen = words.choose(law.cumulated(costs, each.ravel())) == 1
    moved = np.flatnonzero(chosen & (levels[:, 0] != levels[:, 1]))
    if moved.size:
        state.move(column, pairs[moved].T.ravel(), levels[moved][:, ::-1].T.ravel())


def _cost(state: State, part: Part, rows: tuple[Integers, Integers], levels: Integers, each: Integers) -> Integers:
    """What the exchange costs in the tables of a part: nothing where both rows are in the same other cells."""
    here, there = (part.at(one) for one in rows)
    found = np.zeros(len(levels), dtype=np.int64)
    for at, level, other in ((here, levels[:, 0], levels[:, 1]), (there, levels[:, 1], levels[:, 0])):
        old, new = part.places(at, level), part.places(at, other)
        costs = state.costs[new] - state.costs[old] + state.weights[old] * each
        costs += (state.weights[new] - state.weights[old]) * (each - 1) // 2
        found += np.where((here != there) & (old != new), costs, 0).sum(axis=1)
    return found


def _broken(state: State, part: Part, rows: tuple[Integers, Integers], levels: Integers) -> Integers:
    """How many rows more would be in empty cells."""
    found = np.zeros(len(levels), dtype=np.int64)
    for one, level, other in zip(rows, levels.T, levels.T[::-1], strict=True):
        at = part.at(one)
        found += (state.empty[part.places(at, other)] - state.empty[part.places(at, level)]).sum(axis=1)
    return found
