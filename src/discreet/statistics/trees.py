"""Least squares on a tree: numbers that are measured in every area of every level, put together so that they add up.

Two passes. Upwards the own number of an area and the sum of the numbers below it are weighted by their variances; downwards
what an area has more than the sum of those below it is divided among these by their variances. Everything is a whole number:
what is divided is divided without a rest, so that the areas in an area add up to it exactly, whatever is rounded. The
weights are rational and within 2^-16 of the best ones, by which nothing is lost beyond the 9th digit of the variance; the
variance and the error of rounding are bounded for exactly these weights (docs/proofs/areas.md, K4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Codes, Integers
from discreet.exact.cached import cached_property
from discreet.exact.integers import has_room, narrow

__all__ = [
    "Floats",
    "Gains",
    "Shapes",
    "Squares",
    "Tree",
    "fall",
    "gains_of",
    "rise",
    "roundings_of",
    "solve_tree",
    "split_of",
    "squares_of",
    "sums_of",
]

_BITS = 20  # of the weight of an own number
_PART_BITS = 16  # of a part
_UP = 1 + 2.0**-40  # covers the rounding of some hundred sums and products of doubles that are not negative
_SLACK = 2.0**-48  # of a sum, covers its rounding where a part of it is taken away again

Floats = NDArray[np.float64]

Squares = Floats
"""Shape (shapes, levels): for each level at least the sum of the squares of the weights of its numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """The areas of a tree up to order: those of one level that have equal trees below and equal ones above are one.

    Args:
        parents: for each level below the root, for each of its shapes the shape of its parent.
        many: for each of them the number of such areas below one parent.
        of: for each level, the root first, the shape of each area.
    """

    parents: tuple[Codes, ...]
    many: tuple[Codes, ...]
    of: tuple[Codes, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of shapes of each level, the root first."""
        return (1, *map(len, self.parents))


@dataclass(frozen=True)
class Tree:
    """Areas in levels below one root.

    Args:
        parents: for each level below the root, for each of its areas the position of its parent in the level above.
    """

    parents: tuple[tuple[int, ...], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of areas of each level, the root first."""
        return (1, *map(len, self.parents))

    @property
    def forks(self) -> tuple[int, ...]:
        """The levels on which some area has several below its parent."""
        return tuple(level for level, above in enumerate(self.parents, start=1) if len(set(above)) < len(above))

    @cached_property
    def above(self) -> tuple[Codes, ...]:
        """`parents` as arrays."""
        return tuple(np.array(one, dtype=np.int64) for one in self.parents)

    @cached_property
    def shapes(self) -> Shapes:
        below = self._below()
        of: list[list[int]] = [[0]]
        parents: list[list[int]] = []
        many: list[list[int]] = []
        for level, above in enumerate(self.parents, start=1):
            known: dict[tuple[int, int], int] = {}
            keys = [(of[-1][parent], own) for parent, own in zip(above, below[level], strict=True)]
            areas, wide = Counter(keys), Counter(of[-1])
            of.append([known.setdefault(key, len(known)) for key in keys])
            parents.append([parent for parent, _ in known])
            many.append([areas[key] // wide[key[0]] for key in known])
        return Shapes(*(tuple(np.array(own, dtype=np.int64) for own in one) for one in (parents, many, of)))

    def _below(self) -> list[list[int]]:
        """For every area of every level a number that says what its tree below looks like."""
        found = [[0] * self.sizes[-1]]
        for above, size in zip(reversed(self.parents), reversed(self.sizes[:-1]), strict=True):
            children: list[dict[int, int]] = [{} for _ in range(size)]
            for parent, own in zip(above, found[0], strict=True):
                children[parent][own] = children[parent].get(own, 0) + 1
            known: dict[tuple[tuple[int, int], ...], int] = {}
            found.insert(0, [known.setdefault(tuple(sorted(one.items())), len(known)) for one in children])
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """The weights of the two passes, for the shapes of a tree.

    Args:
        own: for each level but the last, for each shape the weight of the own number, over 2^20; that of the sum of those
            below is the rest.
        parts: for each level below the root, for each shape its part of what its parent has more than the sum.
        wholes: for each level but the last, for each shape the sum of the parts of all areas below it, at least 1.
    """

    own: tuple[Codes, ...]
    parts: tuple[Codes, ...]
    wholes: tuple[Codes, ...]


def gains_of(shapes: Shapes, variances: Sequence[Fraction | None]) -> Gains:
    """The best weights, rounded, for measured numbers of these variances, one for each level.

    It is 0 for one that is known, and None for one that is not measured, which gets no weight; the last one is measured.
    """
    levels, sizes = len(shapes.parents), shapes.sizes
    given = [np.inf if one is None else float(one) for one in variances]
    up = np.full(sizes[levels], given[levels])
    own: list[Codes] = []
    parts: list[Codes] = []
    wholes: list[Codes] = []
    for level in range(levels - 1, -1, -1):
        above, many = shapes.parents[level], shapes.many[level]
        share = _parts(up, above, sizes[level])
        whole = np.zeros(sizes[level], dtype=np.int64)
        np.add.at(whole, above, share * many)
        below = _sums(up, above, many, sizes[level])
        weights = _own(given[level], below)
        rate = weights / (1 << _BITS)
        up = (
            np.where(weights > 0, rate * rate * (given[level] if given[level] < np.inf else 0), 0)
            + (1 - rate) * (1 - rate) * below
        )
        parts.insert(0, share)
        wholes.insert(0, np.maximum(whole, 1))
        own.insert(0, weights)
    return Gains(tuple(own), tuple(parts), tuple(wholes))


def _own(variance: float, below: Floats) -> Codes:
    """The weight of the own number; a number without noise has all of it."""
    if not variance:
        return np.full(len(below), 1 << _BITS)
    return np.rint(below / (variance + below) * (1 << _BITS)).astype(np.int64)


def _parts(up: Floats, above: Codes, size: int) -> Codes:
    """For each shape its variance as a whole number, relative to the largest below the same parent."""
    largest = np.zeros(size)
    np.maximum.at(largest, above, up)
    relative = up / np.where(largest > 0, largest, 1)[above]
    rounded = np.where(up > 0, np.maximum(1, np.rint(relative * (1 << _PART_BITS))), 0).astype(np.int64)
    common = np.zeros(size, dtype=np.int64)
    np.gcd.at(common, above, rounded)
    return np.asarray(rounded // np.maximum(1, common)[above])


def _sums(values: Floats, above: Codes, many: Codes, size: int) -> Floats:
    """The sums over the areas below each shape, one after the other, so that they are the same on every machine."""
    added: Floats = np.bincount(above, weights=values * many, minlength=size).astype(np.float64)
    return added


# The estimate ---------------------------------------------------------------------------------------------------------


def solve_tree(tree: Tree, gains: Gains, measured: Sequence[Integers]) -> list[Integers]:
    """The numbers of each level, the root first, that add up; in the unit of the measured ones.

    Args:
        tree: the areas.
        gains: the weights.
        measured: for each level integers, shape (areas, numbers).
    """
    of, levels = tree.shapes.of, len(tree.parents)
    up: list[Integers] = [narrow(measured[levels])]
    sums: list[Integers] = []
    for level in range(levels - 1, -1, -1):
        total = sums_of(up[0], tree.above[level], tree.sizes[level])
        up.insert(0, rise(narrow(measured[level]), total, gains.own[level][of[level]]))
        sums.insert(0, total)
    found = [up[0]]
    for level in range(1, levels + 1):
        above = tree.above[level - 1]
        split = split_of(gains.parts[level - 1][of[level]], above, gains.wholes[level - 1][of[level - 1]])
        found.append(fall(up[level], (found[-1] - sums[level - 1])[above], split))
    return found


def sums_of(values: Integers, above: Codes, size: int) -> Integers:
    """The sums over the areas of each parent, which has one at least; shape (parents, numbers)."""
    if not has_room(values, len(above)):
        values = values.astype(np.object_)
    if (above[1:] < above[:-1]).any():
        order = np.argsort(above, kind="stable")
        values, above = values[order], above[order]
    return narrow(np.add.reduceat(values, np.searchsorted(above, np.arange(size)), axis=0))


def rise(own: Integers, below: Integers, weights: Codes) -> Integers:
    """The number of an area from its own one and the sum of those below it, rounded to the nearest.

    Args:
        own: shape (areas, numbers).
        below: the same shape.
        weights: of the own ones, over 2^20, shape (areas,).
    """
    more = own - below
    if not has_room(more, 1 << _BITS):
        more = more.astype(np.object_)
    return narrow(below + ((more * weights[:, np.newaxis] + (1 << (_BITS - 1))) >> _BITS))


def split_of(parts: Codes, above: Codes, wholes: Codes) -> tuple[Codes, Codes, Codes]:
    """For each area the parts of those before it below the same parent; these and its own one; and all below its parent."""
    order = np.argsort(above, kind="stable")
    running = np.cumsum(parts[order])
    first = np.searchsorted(above[order], np.arange(len(wholes)))
    started = np.concatenate([[0], running])[first]
    after = np.empty_like(parts)
    after[order] = running - started[above[order]]
    return after - parts, after, wholes[above]


def fall(up: Integers, more: Integers, split: tuple[Codes, Codes, Codes]) -> Integers:
    """The numbers of areas from their upward ones and what their parents have more than the sum of these.

    Each gets its part, rounded so that all parts of one parent add up to what is divided: the part of the first k areas is
    rounded down, for every k.

    Args:
        up: shape (areas, numbers).
        more: of the parent of each area, the same shape.
        split: as `split_of` gives it.
    """
    before, after, whole = split
    if not has_room(more, int(whole.max(initial=1))):
        more = more.astype(np.object_)
    wide = whole[:, np.newaxis]
    return narrow(up + ((more * after[:, np.newaxis]) // wide - (more * before[:, np.newaxis]) // wide))


# Its variance and rounding --------------------------------------------------------------------------------------------


def squares_of(shapes: Shapes, gains: Gains) -> list[Squares]:
    """For each level, the root first, and each of its shapes: by level at least the sum of the squares of all weights.

    So the variance of a number is at most the sum of these times the variances of the levels, and is that up to a part of
    10^-12. Where nothing but known numbers is behind it, these alone have squares.
    """
    levels, sizes = len(shapes.parents), shapes.sizes
    unit = np.eye(levels + 1)
    up = [np.tile(unit[levels], (sizes[levels], 1))]
    sums: list[Squares] = []
    for level in range(levels - 1, -1, -1):
        above, many = shapes.parents[level], shapes.many[level]
        below = np.stack([_sums(one, above, many, sizes[level]) for one in up[0].T], axis=1)
        own = (gains.own[level] / (1 << _BITS))[:, np.newaxis]
        up.insert(0, own * own * unit[level] + (1 - own) * (1 - own) * below)
        sums.insert(0, below)
    found = [up[0] * _UP]
    # A number is (1 - lost) times its upward one, plus noise of others with these squares.
    lost, kept, others = np.zeros((1, 1)), np.ones((1, 1)), np.zeros((1, levels + 1))
    for level in range(1, levels + 1):
        parent, many = shapes.parents[level - 1], shapes.many[level - 1]
        rate = (gains.own[level - 1] / (1 << _BITS))[:, np.newaxis]
        away = lost + kept * rate  # the weight of the sum below the parent in what the parent has more
        noise = ((kept * rate) * (kept * rate) * unit[level - 1] + others)[parent]
        noise += (away * away)[parent] * _siblings(sums[level - 1][parent], up[level], many)
        whole = gains.wholes[level - 1][parent]
        part = (gains.parts[level - 1] / whole)[:, np.newaxis]
        rest = ((whole - gains.parts[level - 1]) / whole)[:, np.newaxis]
        lost, kept = part * away[parent], rest + part * (kept * (1 - rate))[parent]
        others = part * part * noise
        found.append((kept * kept * up[level] + others) * _UP)
    return found


def _siblings(below: Squares, own: Squares, many: Codes) -> Squares:
    """At least the squares of the sum below a parent without those of one area; exactly 0 where it is the only one."""
    rest = below - own
    only = (many == 1)[:, np.newaxis] & (below == own)
    return np.asarray(np.where(only, 0.0, np.maximum(rest, 0) + _SLACK * below))


def roundings_of(shapes: Shapes, gains: Gains) -> list[Floats]:
    """For each level, the root first, and each of its shapes: by how much rounding can move its number, at most."""
    levels, sizes = len(shapes.parents), shapes.sizes
    up = [np.zeros(sizes[levels])]
    sums: list[Floats] = []
    for level in range(levels - 1, -1, -1):
        below = _sums(up[0], shapes.parents[level], shapes.many[level], sizes[level])
        own = gains.own[level]
        up.insert(0, np.where(own == 1 << _BITS, 0, 0.5 + (1 - own / (1 << _BITS)) * below))
        sums.insert(0, below)
    found = [up[0]]
    for level in range(1, levels + 1):
        parent = shapes.parents[level - 1]
        parts, whole = gains.parts[level - 1], gains.wholes[level - 1][parent]
        divided = found[-1][parent] + sums[level - 1][parent]  # by how much that which is divided can be off
        found.append(up[level] + parts / whole * divided + ((parts > 0) & (parts < whole)))
    return [one * _UP for one in found]
