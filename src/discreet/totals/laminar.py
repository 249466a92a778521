"""Ranges for the rows of sets of cells that are pairwise nested or disjoint: the tree of the sets, and what follows.

Published ranges, totals, occupied cells and public lower bounds all say: so many rows at least, so many at most, lie in this
set. Where the sets are *laminar*, any two nested or disjoint, two rows are enough for every change, and whether two are
needed is read off the tree, as is what each set can hold (docs/proofs/semi-adjacency.md, A13 and A14).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.totals.rules import NO_LIMIT

__all__ = ["Bounds", "Fact", "Family", "atoms_of_facts", "bounds_of", "family_of", "is_attained"]

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """Disjoint sets of cells, and the range in which the number of rows of each lies.

    Args:
        labels: int64, the set of each cell, 0, …, sets - 1, or -1 for none.
        low: int64, shape (sets,), the least number of rows; None where it is not published yet.
        high: int64, shape (sets,), the largest number, `NO_LIMIT` for none; None where it is not published yet.
        ranged: whether a range stands for the count of each set, which may then follow from other facts.
    """

    labels: _Ints
    low: _Ints | None
    high: _Ints | None
    ranged: bool


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """The tree of laminar sets: first the atoms, which no fact cuts, then the sets of each fact, last all cells.

    Args:
        atoms: how many atoms there are.
        starts: for each fact the number of its first set.
        parent: int64, the smallest set that contains each one; -1 for the whole.
        depth: int64, how many sets contain each one.
    """

    atoms: int
    starts: tuple[int, ...]
    parent: _Ints
    depth: _Ints


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """The least and the largest number of rows of each set of a family, over all tables that have the facts.

    Every whole number between them is that of some table. `contradiction` is None, or the numbers of a set that no table
    can have: at least so many rows, and at most so many.
    """

    low: _Ints
    high: _Ints
    contradiction: tuple[int, int] | None


def atoms_of_facts(facts: Sequence[Fact], cells: int) -> _Ints:
    """The atom of each cell, 0, 1, …: cells in the same sets of all facts."""
    owner = np.zeros(cells, dtype=np.int64)
    for fact in facts:
        _, owner = np.unique(owner * (int(fact.labels.max(initial=-1)) + 2) + fact.labels + 1, return_inverse=True)
        owner = owner.reshape(-1).astype(np.int64)
    return owner


def family_of(facts: Sequence[Fact], owner: _Ints) -> Family | None:
    """The tree of the sets over the atoms `owner`; None where two of the sets cross."""
    atoms = int(owner.max()) + 1
    member = np.zeros(atoms, dtype=np.int64)
    member[owner] = np.arange(len(owner))
    rows, starts, nodes = [np.arange(atoms, dtype=np.int64)], list[int](), atoms
    for fact in facts:
        labels = fact.labels[member]
        rows.append(np.where(labels < 0, -1, labels + nodes))
        starts.append(nodes)
        nodes += int(fact.labels.max(initial=-1)) + 1
    rows.append(np.full(atoms, nodes, dtype=np.int64))
    # Above each atom its sets, the smallest first: of laminar sets each has one next larger set, at all of its atoms.
    chains = np.stack(rows)
    sizes = np.append(np.bincount(chains[chains >= 0], minlength=nodes + 1), 0)
    chains = np.take_along_axis(chains, np.argsort(sizes[chains], axis=0, kind="stable"), axis=0)
    parent = np.full(nodes + 1, -1, dtype=np.int64)
    for lower, upper in pairwise(chains):
        parent[lower[lower >= 0]] = upper[lower >= 0]
    for lower, upper in pairwise(chains):
        if (parent[lower[lower >= 0]] != upper[lower >= 0]).any():
            return None
    depth = np.zeros(nodes + 1, dtype=np.int64)
    for lower, upper in zip(chains[-2::-1], chains[:0:-1], strict=True):
        depth[lower[lower >= 0]] = depth[upper[lower >= 0]] + 1
    return Family(atoms, tuple(starts), parent, depth)


def bounds_of(family: Family, facts: Sequence[Fact], rows: int) -> Bounds:
    """What each set can hold in a table of `rows` rows; a fact that is not published yet allows everything."""
    own_low, own_high = _stated(family, facts)
    own_low[-1], own_high[-1] = rows, rows
    low, high = own_low.copy(), np.minimum(own_high, rows)  # no set has more rows than the table
    order = [np.flatnonzero(family.depth == depth) for depth in range(1, int(family.depth.max()) + 1)]
    least, most = np.zeros_like(low), np.zeros_like(high)
    for nodes in reversed(order):
        parents = family.parent[nodes]
        np.add.at(least, parents, low[nodes])
        np.add.at(most, parents, high[nodes])
        above = np.unique(parents)
        low[above] = np.maximum(low[above], least[above])
        high[above] = np.minimum(high[above], most[above])
    wrong = np.flatnonzero(low > high)
    for nodes in order:
        parents = family.parent[nodes]
        others_least, others_most = least[parents] - low[nodes], most[parents] - high[nodes]
        low[nodes] = np.maximum(low[nodes], low[parents] - others_most)
        high[nodes] = np.minimum(high[nodes], high[parents] - others_least)
    found = (int(low[wrong[0]]), int(high[wrong[0]])) if wrong.size else None
    return Bounds(low, high, found)


def is_attained(family: Family, facts: Sequence[Fact], bounds: Bounds, rows: int) -> bool:
    """True if some table with the facts holds a set at an end of its range, with rows inside and outside of it (A13)."""
    low, high = _stated(family, facts)
    ends = (((bounds.low <= end) & (end <= bounds.high) & (end >= 1) & (end < rows)).any() for end in (low, high))
    return any(ends)


def _stated(family: Family, facts: Sequence[Fact]) -> tuple[_Ints, _Ints]:
    low, high = np.zeros(len(family.parent), dtype=np.int64), np.full(len(family.parent), NO_LIMIT, dtype=np.int64)
    for start, fact in zip(family.starts, facts, strict=True):
        if fact.low is not None and fact.high is not None:
            low[start : start + len(fact.low)] = fact.low
            high[start : start + len(fact.high)] = fact.high
    return low, high
