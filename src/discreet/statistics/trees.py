"""Least squares on a tree: numbers that are measured in every area of every level, put together so that they add up.

Two passes. Upwards the own number of an area and the sum of the numbers below it are weighted by their variances; downwards
what an area has more than the sum of those below it is divided among these by their variances. The weights are rational, so
the result and its variance are exact for them; they are within 2^-20 of the best ones, and nothing is lost by that beyond
the 12th digit of the variance (docs/proofs/areas.md, K4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import TypeVar

import numpy as np

from discreet.cube.cells import Integers

__all__ = ["Gains", "Shapes", "Tree", "gains_of", "solve_tree", "squares_of"]

_BITS = 20  # of a weight

Number = TypeVar("Number", int, Fraction)

Squares = tuple[Fraction, ...]
"""For each level the sum of the squares of the weights of its numbers."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """The areas of a tree up to order: those of one level that have equal trees below and equal ones above are one.

    Args:
        parents: for each level below the root, for each of its shapes the shape of its parent.
        many: for each of them the number of such areas below one parent.
        of: for each level, the root first, the shape of each area.
    """

    parents: tuple[tuple[int, ...], ...]
    many: tuple[tuple[int, ...], ...]
    of: tuple[tuple[int, ...], ...]


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
    def shapes(self) -> Shapes:
        below = self._below()
        of: list[tuple[int, ...]] = [(0,)]
        parents: list[tuple[int, ...]] = []
        many: list[tuple[int, ...]] = []
        for level, above in enumerate(self.parents, start=1):
            known: dict[tuple[int, int], int] = {}
            keys = [(of[-1][parent], own) for parent, own in zip(above, below[level], strict=True)]
            of.append(tuple(known.setdefault(key, len(known)) for key in keys))
            parents.append(tuple(parent for parent, _ in known))
            areas = Counter(keys)
            many.append(tuple(areas[key] // of[-2].count(key[0]) for key in known))
        return Shapes(tuple(parents), tuple(many), tuple(of))

    def _below(self) -> list[list[int]]:
        """For every area of every level a number that says what its tree below looks like."""
        found = [[0] * self.sizes[-1]]
        for above, size in zip(reversed(self.parents), reversed(self.sizes[:-1]), strict=True):
            children: list[Counter[int]] = [Counter() for _ in range(size)]
            for parent, own in zip(above, found[0], strict=True):
                children[parent][own] += 1
            known: dict[tuple[tuple[int, int], ...], int] = {}
            found.insert(0, [known.setdefault(tuple(sorted(one.items())), len(known)) for one in children])
        return found


@dataclass(frozen=True, slots=True)
class Gains:
    """The weights of the two passes, for the shapes of a tree.

    Args:
        own: for each level but the last, for each shape the weight of the own number, over 2^20; that of the sum of those
            below is the rest.
        parts: for each level below the root, for each shape its part of what its parent has more than the sum.
        wholes: for each level but the last, for each shape the sum of the parts of all areas below it, at least 1.
    """

    own: tuple[tuple[int, ...], ...]
    parts: tuple[tuple[int, ...], ...]
    wholes: tuple[tuple[int, ...], ...]


def gains_of(shapes: Shapes, variances: Sequence[Fraction]) -> Gains:
    """The best weights, rounded, for measured numbers of these variances, one for each level; 0 for one that is known."""
    levels = len(shapes.parents)
    up = [variances[levels]] * len(set(shapes.of[levels]))
    own: list[tuple[int, ...]] = []
    parts: list[tuple[int, ...]] = []
    wholes: list[tuple[int, ...]] = []
    for level in range(levels - 1, -1, -1):
        size = len(set(shapes.of[level]))
        above, many = shapes.parents[level], shapes.many[level]
        share = _parts(up, above, size)
        parts.insert(0, share)
        wholes.insert(0, tuple(max(1, one) for one in _sums(share, above, many, size)))
        below = _sums(up, above, many, size)
        weights = tuple(_own(variances[level], one) for one in below)
        own.insert(0, weights)
        up = [
            (one**2 * variances[level] + ((1 << _BITS) - one) ** 2 * other) / (1 << 2 * _BITS)
            for one, other in zip(weights, below, strict=True)
        ]
    return Gains(tuple(own), tuple(parts), tuple(wholes))


def _own(variance: Fraction, below: Fraction) -> int:
    """The weight of the own number; a number without noise has all of it."""
    return 1 << _BITS if not variance else round(below / (variance + below) * (1 << _BITS))


def _parts(up: Sequence[Fraction], above: Sequence[int], size: int) -> tuple[int, ...]:
    """For each shape its variance as a whole number, relative to the largest below the same parent."""
    largest = [Fraction(0)] * size
    for one, parent in zip(up, above, strict=True):
        largest[parent] = max(largest[parent], one)
    rounded = [
        max(1, round(one / largest[parent] * (1 << _BITS))) if one else 0 for one, parent in zip(up, above, strict=True)
    ]
    common = [0] * size
    for part, parent in zip(rounded, above, strict=True):
        common[parent] = gcd(common[parent], part)
    return tuple(part // max(1, common[parent]) for part, parent in zip(rounded, above, strict=True))


def _sums(values: Sequence[Number], above: Sequence[int], many: Sequence[int], size: int) -> list[Number]:
    found: list[Number] = [values[0] * 0] * size
    for one, parent, times in zip(values, above, many, strict=True):
        found[parent] += one * times
    return found


# The estimate ---------------------------------------------------------------------------------------------------------


def solve_tree(tree: Tree, gains: Gains, measured: Sequence[Integers]) -> list[tuple[Integers, Integers]]:
    """The numbers of each level, the root first, that add up: numerators and, for each area, their denominator.

    Args:
        tree: the areas.
        gains: the weights.
        measured: for each level integers of Python, shape (areas, numbers).
    """
    of, levels = tree.shapes.of, len(tree.parents)
    up: list[Integers] = [measured[levels]]
    sums: list[Integers] = []
    for level in range(levels - 1, -1, -1):
        total = np.zeros_like(measured[level])
        np.add.at(total, list(tree.parents[level]), up[0])
        own = _of_areas(gains.own[level], of[level])
        # Over 2^(20 · levels below): one more than the sum of those below.
        up.insert(0, own * measured[level] * (1 << _BITS * (levels - level - 1)) + ((1 << _BITS) - own) * total)
        sums.insert(0, total)
    found = [(up[0], np.full(1, 1 << _BITS * levels, dtype=np.object_))]
    for level in range(1, levels + 1):
        found.append(_down(tree, gains, level, found[-1], (up[level], sums[level - 1])))
    return found


def _down(
    tree: Tree, gains: Gains, level: int, above: tuple[Integers, Integers], own: tuple[Integers, Integers]
) -> tuple[Integers, Integers]:
    """The numbers of a level from those of the level above, its own upward ones, and their sums in each parent."""
    of, parent, scale = tree.shapes.of, list(tree.parents[level - 1]), 1 << _BITS * (len(tree.parents) - level)
    values, denominators = above
    more = values - own[1] * (denominators // scale)[:, np.newaxis]
    found = denominators * _of_areas(gains.wholes[level - 1], of[level - 1])[:, 0]
    below = found[parent]
    part = _of_areas(gains.parts[level - 1], of[level])
    return own[0] * (below // scale)[:, np.newaxis] + part * more[parent], below


def _of_areas(values: Sequence[int], of: Sequence[int]) -> Integers:
    """The integers of the shapes for every area, as integers of Python in a column."""
    column: Integers = np.array(values, dtype=np.object_)[list(of), np.newaxis]
    return column


# Its variance ---------------------------------------------------------------------------------------------------------


def squares_of(shapes: Shapes, gains: Gains) -> list[tuple[Squares, ...]]:
    """For each level, the root first, and each of its shapes: by level the sum of the squares of all weights in a number.

    So its variance is exactly the sum of these times the variances of the levels.
    """
    levels = len(shapes.parents)
    up: list[list[Squares]] = [[_unit(levels, levels)] * len(set(shapes.of[levels]))]
    sums: list[list[Squares]] = []
    for level in range(levels - 1, -1, -1):
        size = len(gains.own[level])
        columns = (_sums(one, shapes.parents[level], shapes.many[level], size) for one in zip(*up[0], strict=True))
        below = list(zip(*columns, strict=True))
        own, unit = [Fraction(one, 1 << _BITS) for one in gains.own[level]], _unit(level, levels)
        up.insert(0, [_mix(a * a, unit, (1 - a) ** 2, one) for a, one in zip(own, below, strict=True)])
        sums.insert(0, below)
    found = [tuple(up[0])]
    rest: list[tuple[Fraction, Squares]] = [(Fraction(0), (Fraction(0),) * (levels + 1))]
    for level in range(1, levels + 1):
        above, beta = shapes.parents[level - 1], _divided(gains, shapes, level)
        rates, unit = [Fraction(one, 1 << _BITS) for one in gains.own[level - 1]], _unit(level - 1, levels)
        rest = [
            _beside(unit, rates[g], b, rest[g], (sums[level - 1][g], own))
            for g, b, own in zip(above, beta, up[level], strict=True)
        ]
        found.append(tuple(_mix((1 - a) ** 2, own, 1, other) for (a, other), own in zip(rest, up[level], strict=True)))
    return found


def _beside(
    unit: Squares, own: Fraction, part: Fraction, rest: tuple[Fraction, Squares], beside: tuple[Squares, Squares]
) -> tuple[Fraction, Squares]:
    """The number of an area is (1 - a) times its upward one, plus noise of others: a, and the squares of that noise.

    Args:
        unit: the squares of the number of its parent.
        own: the weight of the number of its parent.
        part: its part of what its parent has more than the sum.
        rest: the same of its parent.
        beside: the squares of the sum below its parent, and of its own upward number.
    """
    lost, others = rest
    away = (1 - lost) * (1 - own) - 1  # the weight of the sum below the parent in what the parent has more
    siblings = _mix(1, beside[0], -1, beside[1])
    noise = _mix(((1 - lost) * own) ** 2, unit, away**2, siblings)
    return -part * away, _mix(part**2, noise, part**2, others)


def _divided(gains: Gains, shapes: Shapes, level: int) -> list[Fraction]:
    """For each shape of a level its part of what its parent has more than the sum."""
    wholes, above = gains.wholes[level - 1], shapes.parents[level - 1]
    return [Fraction(one, wholes[parent]) for one, parent in zip(gains.parts[level - 1], above, strict=True)]


def _unit(level: int, levels: int) -> Squares:
    return tuple(Fraction(int(one == level)) for one in range(levels + 1))


def _mix(first: Fraction | int, one: Squares, second: Fraction | int, other: Squares) -> Squares:
    return tuple(first * a + second * b for a, b in zip(one, other, strict=True))
