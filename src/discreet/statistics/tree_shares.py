"""How levels and effects divide what is spent on the tables of all levels: the variance of each table is a closed form.

The areas are known in public, so the variance of the least-squares estimate of every table is too, before anything is
measured. Floats choose the shares here; what they cost is worked out exactly elsewhere (docs/proofs/areas.md, K4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.effects import Axes, Effects
from discreet.statistics.effects import parts_of
from discreet.statistics.trees import Tree

__all__ = ["Wanted", "best_shares_in_tree", "mean_squares", "mean_variances"]

_STEPS = 400
_NEAR = 1e-10  # of the sum of the logarithms, between two steps
_LEAST = 1e-4  # of the mean share: no noise is wider than that
_PARTS = 1 << 24  # shares are whole multiples of 1 over this, for short fractions

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Wanted:
    """The tables that are wanted of every level of a tree.

    Args:
        tree: the areas.
        effects: the effects of the tables in one area.
        tables: the axes of each table.
        known: levels and effects that are public.
    """

    tree: Tree
    effects: Effects
    tables: tuple[Axes, ...]
    known: frozenset[tuple[int, Axes]]


@lru_cache(maxsize=32)
def best_shares_in_tree(wanted: Wanted) -> Mapping[tuple[int, Axes], Fraction]:
    """For each level and effect that is not public its share, for about the least geometric mean of all variances.

    That is over levels and tables, each with the mean variance of its cells, so that every table of every level has the same
    relative importance. A row that appears costs a share in proportion to its precision and its energy.
    """
    parts, levels = wanted.effects.parts, len(wanted.tree.parents) + 1
    energies = np.array([float(wanted.effects.energy(part)) for part in parts])
    noisy = np.array([[(level, part) not in wanted.known for level in range(levels)] for part in parts])
    shares = noisy / max(1, int(noisy.sum()))
    last = np.inf
    for _ in range(_STEPS if noisy.any() else 0):
        variances = _variances(shares, energies)
        squares = mean_squares(wanted.tree, variances)
        found, gradient = _tables(wanted, variances, squares)
        # A sum Σ v/share is least for shares ∝ √v, here v = share · variance · gradient; v hardly moves with the shares.
        shares = np.where(noisy, np.sqrt(shares * variances * gradient), 0)
        shares = np.where(noisy, np.maximum(shares / shares.sum(), _LEAST / noisy.sum()), 0)
        if abs(last - found) <= _NEAR:
            break
        last = found
    total = float(shares.sum())
    short = {
        (level, part): max(1, round(float(shares[row, level]) / total * _PARTS))
        for row, part in enumerate(parts)
        for level in range(levels)
        if noisy[row, level]
    }
    every = sum(short.values())
    return {key: Fraction(one, every) for key, one in short.items()}


def mean_variances(wanted: Wanted, variances: Mapping[tuple[int, Axes], float]) -> dict[tuple[int, Axes], float]:
    """The mean variance of the cells of each table of each level, for measured effects of these variances."""
    parts, levels = wanted.effects.parts, range(len(wanted.tree.parents) + 1)
    given = np.array([[variances.get((level, part), 0.0) for level in levels] for part in parts])
    each = (mean_squares(wanted.tree, given) * given[:, np.newaxis, :]).sum(axis=2)
    return {(level, table): float(_cells(wanted, table) @ each[:, level]) for table in wanted.tables for level in levels}


def _variances(shares: Floats, energies: Floats) -> Floats:
    """The variance of each effect on each level: its energy over its share; 0 for a public one."""
    return np.where(shares > 0, energies[:, np.newaxis] / np.where(shares > 0, shares, 1), 0)


def _tables(wanted: Wanted, variances: Floats, squares: Floats) -> tuple[float, Floats]:
    """The sum of the logarithms of all variances, and how fast each variance of an effect moves it."""
    each = (squares * variances[:, np.newaxis, :]).sum(axis=2)  # effects × levels
    total, gradient = 0.0, np.zeros_like(variances)
    for table in wanted.tables:
        cells = _cells(wanted, table)
        found = cells @ each
        there = found > 0
        total += float(np.log(found[there]).sum())
        pull = np.where(there, 1 / np.where(there, found, 1), 0)
        gradient += cells[:, np.newaxis] * np.einsum("l,elm->em", pull, squares)
    return total, gradient


def _cells(wanted: Wanted, table: Axes) -> Floats:
    """For each effect what its variance adds to that of a cell of the table: p_a over Π n_i² of the axes beside it."""
    own = parts_of(wanted.effects, table)
    found = []
    for part in wanted.effects.parts:
        outside = np.prod([float(wanted.effects.sizes[axis]) for axis in table if axis not in part])
        found.append(float(wanted.effects.energy(part)) / float(outside) ** 2 if part in own else 0.0)
    return np.array(found)


def mean_squares(tree: Tree, variances: Floats) -> Floats:
    """The means over the areas of a level of the squares of the weights of all numbers of a level, in the best estimate.

    Args:
        tree: the areas.
        variances: of the numbers, shape (effects, levels); 0 for one that is public.

    Gives:
        Shape (effects, levels of estimates, levels of numbers). The weights are those of least squares, so this is also how
        fast the variance of an estimate moves with one of a number.
    """
    shapes, levels = tree.shapes, len(tree.parents)
    count = np.ones(1)
    up, rates, sums = _upwards(tree, variances)
    lost, others = np.zeros((len(variances), 1)), np.zeros((len(variances), 1, levels + 1))
    found = [up[0].mean(axis=1)]
    for level in range(1, levels + 1):
        above, many = shapes.parents[level - 1], shapes.many[level - 1]
        own = rates[level - 1]
        away = (1 - lost) * (1 - own) - 1
        upward = up[level] @ variances[:, :, np.newaxis]
        below = (sums[level - 1] @ variances[:, :, np.newaxis])[:, above]
        part = np.where(below > 0, upward / np.where(below > 0, below, 1), 0)[:, :, 0]
        noise = (away**2)[:, above, np.newaxis] * (sums[level - 1][:, above] - up[level]) + others[:, above]
        noise[:, :, level - 1] += (((1 - lost) * own) ** 2)[:, above]
        lost, others = -part * away[:, above], part[:, :, np.newaxis] ** 2 * noise
        squares = (1 - lost)[:, :, np.newaxis] ** 2 * up[level] + others
        count = count[above] * many
        found.append((squares * count[:, np.newaxis]).sum(axis=1) / count.sum())
    return np.stack(found, axis=1)


def _upwards(tree: Tree, variances: Floats) -> tuple[list[Floats], list[Floats], list[Floats]]:
    """For each level the squares in the upward numbers; the weights of own numbers; the squares in the sums below."""
    shapes, levels = tree.shapes, len(tree.parents)
    last = np.zeros((len(variances), shapes.sizes[levels], levels + 1))
    last[:, :, levels] = 1
    up: list[Floats] = [last]
    rates: list[Floats] = []
    sums: list[Floats] = []
    for level in range(levels - 1, -1, -1):
        above, many = shapes.parents[level], shapes.many[level]
        below = np.zeros((len(variances), shapes.sizes[level], levels + 1))
        for place, parent in enumerate(above.tolist()):
            below[:, parent] += up[0][:, place] * many[place]
        summed, own = (below @ variances[:, :, np.newaxis])[:, :, 0], variances[:, level, np.newaxis]
        rate = np.where(own > 0, summed / np.where(own > 0, summed + own, 1), 1)
        squares = (1 - rate)[:, :, np.newaxis] ** 2 * below
        squares[:, :, level] += rate**2
        up.insert(0, squares)
        rates.insert(0, rate)
        sums.insert(0, below)
    return up, rates, sums
