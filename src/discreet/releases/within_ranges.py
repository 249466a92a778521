"""Noisy counts made non-negative integers whose sums lie in public ranges: totals, maxima, and published ranges of counts.

Where any two of the sets are nested or disjoint, the table has the least sum of squared changes of all. A set S of a tree
has the cost f_S(x) of x rows in it, the least over its parts; f_S is convex, and its marginal costs are those of its parts
in order, cut off at the ends of its range. So for every price λ the set takes x_S(λ), the sum of x over its parts moved into
its range, which never grows with λ; a cell v takes max(v - λ, 0). Going down the tree each set has its number, and the
largest price at which its parts take at least as much divides it among them; what they take more there than at the price
above costs the same for each, so that it is given to the first ones. Sets that cross go to a solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, InternalError
from discreet.totals.laminar import Fact, atoms_of_facts, family_of
from discreet.totals.rules import NO_LIMIT

__all__ = ["fit_ranges", "lies_within"]

_Ints = NDArray[np.int64]

_MOST_NOISY = 2**60
_CONTRADICTION = "ranges: no table of non-negative integers has these sums; correct one of them"


def lies_within(values: _Ints, facts: Sequence[Fact]) -> bool:
    """True if the sum of the values over each set lies in its range."""
    for one in facts:
        low, high = _ends(one)
        sums = np.zeros(low.size, dtype=np.int64)
        np.add.at(sums, one.labels[one.labels >= 0], values[one.labels >= 0])
        if ((sums < low) | (sums > high)).any():
            return False
    return bool((values >= 0).all())


def fit_ranges(noisy: _Ints, near: _Ints, facts: Sequence[Fact]) -> _Ints:
    """Non-negative integers whose sums over the sets of all facts lie in their ranges.

    Of nested and disjoint sets the table with the least sum of squared changes from `noisy`; else one with few changes of
    `near`.

    Args:
        noisy: int64, shape (cells,).
        near: a table of non-negative integers that meets some of the facts.
        facts: their ends below 2**41, or `NO_LIMIT`.

    Raises:
        ArgumentError: there is no such table, or none was found.
        InternalError: the result does not have the sums (never returned).
    """
    held = [_with_cells(one) for one in facts]
    tree = _tree_of(held, noisy.size)
    most = _MOST_NOISY // max(1, noisy.size)
    values = _fit_crossing(near, held) if tree is None else _fit_tree(np.clip(noisy, -most, most), tree)
    if not lies_within(values, facts):
        raise InternalError("a view does not have the public sums")
    return values


def _with_cells(fact: Fact) -> Fact:
    """The fact for those of its sets that have cells.

    Raises:
        ArgumentError: rows where there is no cell.
    """
    (low, high), there = _ends(fact), np.unique(fact.labels[fact.labels >= 0])
    if np.delete(low, there).any():
        raise ArgumentError(_CONTRADICTION)
    labels = np.where(fact.labels < 0, -1, np.searchsorted(there, fact.labels))
    return Fact(labels, low[there], high[there], fact.ranged)


# Nested and disjoint sets -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Tree:
    """Sets and cells as one tree: first the cells, then all sets, last the whole.

    Args:
        parent: int64, the smallest set that holds each one, -1 for the whole.
        levels: the nodes of each depth, the whole first.
        low: int64, the least number of rows of each, no less than its parts have at least.
        high: int64, the largest, no more than its parts have at most.
    """

    parent: _Ints
    levels: tuple[_Ints, ...]
    low: _Ints
    high: _Ints


def _tree_of(facts: Sequence[Fact], cells: int) -> _Tree | None:
    """The tree of the sets; None where two of them cross.

    Raises:
        ArgumentError: a set cannot have what its parts have.
    """
    owner = atoms_of_facts(facts, cells)
    family = family_of(facts, owner)
    if family is None:
        return None
    sets = len(family.parent)
    parent = np.concatenate([cells + owner, np.where(family.parent < 0, -1, cells + family.parent)])
    depth = np.concatenate([family.depth[owner] + 1, family.depth])
    low, high = np.zeros(cells + sets, dtype=np.int64), np.full(cells + sets, NO_LIMIT, dtype=np.int64)
    for start, fact in zip(family.starts, facts, strict=True):
        own = slice(cells + start, cells + start + _ends(fact)[0].size)
        low[own], high[own] = _ends(fact)
    levels = tuple(np.flatnonzero(depth == one) for one in range(int(depth.max()) + 1))
    for nodes in levels[:0:-1]:
        least, most = _sums_over(parent, nodes, low[nodes]), _sums_over(parent, nodes, np.minimum(high[nodes], _MANY))
        above = np.unique(parent[nodes])
        low[above], high[above] = np.maximum(low[above], least[above]), np.minimum(high[above], most[above])
    if (low > high).any():
        raise ArgumentError(_CONTRADICTION)
    return _Tree(parent, levels, low, high)


_MANY = 2**43
"""In place of no limit where limits are added up: above every total, and 2**18 of them are below 2**62."""


def _fit_tree(noisy: _Ints, tree: _Tree) -> _Ints:
    """The integers with the least Σ(y - noisy)²."""
    taken = np.zeros(len(tree.parent), dtype=np.int64)
    whole = tree.levels[0]
    taken[whole] = _take(noisy, tree, np.zeros(len(tree.parent), dtype=np.int64), 0)[whole]
    for depth in range(1, len(tree.levels)):
        parts = tree.levels[depth]
        if not (tree.parent[parts] >= 0).any():
            continue
        price = _prices(noisy, tree, taken, depth)
        more, fewer = _take(noisy, tree, price, depth), _take(noisy, tree, price + 1, depth)
        taken[parts] = _share_out(tree.parent[parts], taken, fewer[parts], more[parts])
    return taken[: noisy.size]


def _take(noisy: _Ints, tree: _Tree, price: _Ints, down_to: int) -> _Ints:
    """What each node of this depth and below takes at its price."""
    found = np.zeros(len(tree.parent), dtype=np.int64)
    found[: noisy.size] = np.maximum(noisy - price[: noisy.size], 0)
    for depth in range(len(tree.levels) - 1, down_to - 1, -1):
        nodes = tree.levels[depth]
        found[nodes] = np.clip(found[nodes], tree.low[nodes], tree.high[nodes])
        inner = tree.parent[nodes] >= 0
        if depth > down_to:
            np.add.at(found, tree.parent[nodes[inner]], found[nodes[inner]])
    return found


def _prices(noisy: _Ints, tree: _Tree, taken: _Ints, depth: int) -> _Ints:
    """For each node of this depth and below the largest price at which the parts of its set take at least its number.

    The set is the one at the depth above; all below it have its price.
    """
    sets, parts = tree.levels[depth - 1], tree.levels[depth]
    low = np.full(len(tree.parent), int(noisy.min()) - int(taken[sets].max()) - 1, dtype=np.int64)
    high = np.full(len(tree.parent), int(noisy.max()) + 1, dtype=np.int64)
    while (low[sets] < high[sets]).any():
        middle = np.where(low < high, (low + high + 1) // 2, low)
        found = _sums_over(tree.parent, parts, _take(noisy, tree, _handed_down(tree, middle, depth), depth)[parts])
        enough = found >= taken
        low, high = np.where(enough, middle, low), np.where(enough, high, middle - 1)
    return _handed_down(tree, low, depth)


def _handed_down(tree: _Tree, of_sets: _Ints, depth: int) -> _Ints:
    """The number of the set at the depth above, for all nodes of this depth and below."""
    found = of_sets.copy()
    for nodes in tree.levels[depth:]:
        found[nodes] = found[tree.parent[nodes]]
    return found


def _share_out(parent: _Ints, taken: _Ints, fewer: _Ints, more: _Ints) -> _Ints:
    """Between `fewer` and `more` for each part, together what its set has taken; the first parts get what is left."""
    order = np.argsort(parent, kind="stable")
    sets, first = np.unique(parent[order], return_index=True)
    room = (more - fewer)[order]
    before = np.cumsum(room) - room
    before -= np.repeat(before[first], np.diff(np.append(first, order.size)))
    given = np.zeros(len(taken), dtype=np.int64)
    np.add.at(given, parent, fewer)
    left = (taken - given)[np.repeat(sets, np.diff(np.append(first, order.size)))]
    found = np.empty_like(fewer)
    found[order] = fewer[order] + np.clip(left - before, 0, room)
    return found


def _sums_over(parent: _Ints, nodes: _Ints, values: _Ints) -> _Ints:
    """For each node the sum over those of its parts that are among `nodes`."""
    found = np.zeros(len(parent), dtype=np.int64)
    np.add.at(found, parent[nodes], values)
    return found


def _ends(fact: Fact) -> tuple[_Ints, _Ints]:
    if fact.low is None or fact.high is None:
        raise InternalError("a range without ends")
    return fact.low, fact.high


# Sets that cross ----------------------------------------------------------------------------------------------------------


def _fit_crossing(near: _Ints, facts: Sequence[Fact]) -> _Ints:
    """Integers with all sums and the least sum of absolute differences from `near` that the solver finds.

    Raises:
        ArgumentError: there are none, or none were found.
    """
    from scipy.sparse import csr_array, hstack, vstack

    from discreet.releases._solvers import few_changes

    blocks, least, most = [], [], []
    for one in facts:
        low, high = _ends(one)
        inside = np.flatnonzero(one.labels >= 0)
        ones = np.ones(inside.size, dtype=np.int64)
        blocks.append(csr_array((ones, (one.labels[inside], inside)), shape=(low.size, near.size)))
        least.append(low)
        most.append(high)
    groups = vstack(blocks, format="csc")
    now = groups @ near
    ends = np.concatenate(least) - now, np.concatenate(most) - now
    up, down = few_changes(hstack([groups, -groups], format="csc"), ends, near)
    return np.asarray(near + up - down, dtype=np.int64)
