"""A tree whose areas follow each other depth first, and the numbers that each area has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.cube.cells import Codes, Integers
from discreet.cube.queries import AreaLevels
from discreet.exact.cached import cached_property
from discreet.mechanisms.effects import Axes, Effects
from discreet.statistics.levels import depth_first
from discreet.statistics.trees import Tree

__all__ = ["Columns", "OrderedTree", "chunks", "families", "ordered"]

_AT_ONCE = 2**20
"""Numbers that are in memory at once, and those of one area at least: arrays of 8 MB."""


@dataclass(frozen=True, eq=False)
class OrderedTree:
    """The areas that can have rows, in depth-first order.

    Args:
        tree: the areas; parents never descend along a level.
        places: for each level below all areas together, for each area its position among the labels of the level.
        ranks: for each of them its position among all areas of the level in depth-first order.
    """

    tree: Tree
    places: tuple[Codes, ...]
    ranks: tuple[Codes, ...]


def ordered(levels: AreaLevels) -> OrderedTree:
    """The areas of the levels that can have rows, in depth-first order."""
    places, ranks, parents = [], [], []
    for level, order in enumerate(depth_first(levels)):
        there = np.zeros(levels.sizes[level], dtype=bool)
        there[list(levels.there[level])] = True
        ranks.append(np.flatnonzero(there[order]))
        places.append(order[ranks[-1]])
        if level:
            position = np.empty(levels.sizes[level - 1], dtype=np.int64)
            position[places[-2]] = np.arange(len(places[-2]))
            parents.append(position[np.array(levels.parents[level - 1])[places[-1]]])
        else:
            parents.append(np.zeros(len(places[-1]), dtype=np.int64))
    tree = Tree(tuple(tuple(one.tolist()) for one in parents))
    return OrderedTree(tree, tuple(places), tuple(ranks))


@dataclass(frozen=True)
class Columns:
    """The numbers of one area side by side, those of one effect after the other."""

    effects: Effects

    @cached_property
    def slices(self) -> Mapping[Axes, slice]:
        """The numbers of each effect."""
        found, first = {}, 0
        for part in self.effects.parts:
            last = first + prod(self.effects.sizes[axis] for axis in part)
            found[part], first = slice(first, last), last
        return found

    @property
    def width(self) -> int:
        """How many numbers an area has."""
        return sum(int(one.stop - one.start) for one in self.slices.values())

    def of(self, part: Axes, numbers: Integers) -> Integers:
        """The numbers of an effect, shape (areas, numbers), of those of all effects."""
        return numbers[:, self.slices[part]]


def chunks(first: int, last: int, width: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of areas, of which the numbers are in memory at once; `width` of them in one area."""
    many = max(1, _AT_ONCE // width)
    for start in range(first, last, many):
        yield start, min(start + many, last)


def families(tree: Tree, level: int, width: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of areas of a level, each with all areas in some wider areas; in memory as for `chunks`."""
    if not level:
        yield 0, 1
        return
    above, most = tree.above[level - 1], max(1, _AT_ONCE // width)
    ends = np.searchsorted(above, np.arange(tree.sizes[level - 1]), side="right")
    first = 0
    for place, last in enumerate(ends.tolist()):
        following = int(ends[place + 1]) if place + 1 < len(ends) else last + most
        if following - first > most:
            yield first, last
            first = last
    if first < tree.sizes[level]:
        yield first, tree.sizes[level]
