"""What a change of rows costs in all effects together, and the noise that is best for it.

With precision t_a = 1/s_a in effect a a change costs Σ t_a · (its energy in a). One row that is replaced costs most for some
set of columns in which it differs: that set is found, and charged (docs/proofs/effects.md, "Charge" and "Many columns").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import mul

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.effects import Axes, Effects, Energies, exchanged, leaving, replaced_in, worst_replacement
from discreet.mechanisms.shares import solve

__all__ = ["Changes", "Cost", "best_precisions", "cost_of"]

_MOST_EXACT = 8  # columns: fractions up to here, then certified doubles
_MOST_SETS = 20  # columns: 2^20 doubles
_ROUNDS = 80
_NEAR = 1e-6
_MOST_ROWS = 3000  # changes that are weighed at once

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Changes:
    """What one row can do between compared tables.

    Args:
        appears: it appears or vanishes, and is never replaced.
        leaves: if it is replaced, it may count in one of both tables alone.
        kept: for each way to match rows the axes in which a replaced row agrees; one of them is enough.
        rows: a, how many rows may do so at once.
        lists: the axes of every list of exact totals, where there are several and every row counts; their columns are among
            the axes, so that the changes can be listed where they are few. Else none.
    """

    appears: bool
    leaves: bool
    kept: tuple[Axes, ...] = ((),)
    rows: int = 1
    lists: tuple[Axes, ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """The largest Σ t_a · energy, or more.

    Args:
        most: an upper bound.
        changed: the columns of the costliest replaced row.
        exact: whether the bound is attained, but for the rounding of doubles.
    """

    most: Fraction
    changed: Axes
    exact: bool


def cost_of(effects: Effects, precisions: Sequence[Fraction], changes: Changes) -> Cost:
    """The largest Σ t_a · energy of the rows that may change together, rounded up."""
    alone = sum((t * effects.energy(part) for part, t in zip(effects.parts, precisions, strict=True)), Fraction(0))
    if changes.appears:
        return Cost(changes.rows**2 * alone, (), exact=True)
    listed = _listed(effects, changes)
    if listed is not None:
        sums = (sum(map(mul, precisions, one), Fraction(0)) for one in listed)
        return Cost(max(sums, default=Fraction(0)), (), exact=True)
    found = min((_replaced_most(effects, precisions, kept) for kept in changes.kept), key=lambda one: one.most)
    if changes.leaves and alone > found.most:
        found = Cost(alone, (), exact=True)
    return Cost(changes.rows**2 * found.most, found.changed, found.exact and len(changes.kept) == 1)


@lru_cache(maxsize=64)
def best_precisions(effects: Effects, weights: tuple[float, ...], changes: Changes) -> tuple[float, ...]:
    """Precisions t with about the least Σ w_a/t_a among those of equal cost. Floats choose; `cost_of` says what they cost.

    A row that appears has one energy, and t ∝ √(w/energy). Else sets of columns are added, each the costliest for the best
    precisions so far, until none costs 10^-6 more than those that are there.
    """
    if changes.appears:
        energies = np.array([float(effects.energy(part)) for part in effects.parts])
        return tuple(np.sqrt(np.array(weights) / energies))
    listed = _listed(effects, changes)
    if listed is not None and len(listed) <= _MOST_ROWS:
        return tuple(solve(np.array([[float(k) for k in one] for one in listed]), np.array(weights))[0])
    return min((_cut(effects, weights, changes, kept) for kept in changes.kept), key=lambda one: one[0])[1]


@lru_cache(maxsize=16)
def _listed(effects: Effects, changes: Changes) -> Energies | None:
    """The energies of all changes that keep several lists of totals; None where they are too many, or not asked for."""
    return exchanged(effects, changes.rows, changes.lists) if changes.lists else None


def _cut(effects: Effects, weights: tuple[float, ...], changes: Changes, kept: Axes) -> tuple[float, tuple[float, ...]]:
    """The least cost-adjusted sum for rows that agree in the axes `kept`, and its precisions."""
    free = [axis for axis in _used(effects) if axis not in kept]
    rows = [*_energies(effects, tuple(free))] if free else []
    rows += _energies(effects, *((axis,) for axis in free))
    rows += [tuple(map(float, one)) for one in leaving(effects)] if changes.leaves else []
    best, chosen = np.inf, np.ones(len(weights))
    for _ in range(_ROUNDS):
        precisions, _ = solve(np.array(rows), np.array(weights))
        found = cost_of(
            effects,
            [Fraction(float(one)) for one in precisions],
            Changes(appears=False, leaves=changes.leaves, kept=(kept,)),
        )
        cost = float(found.most)
        total = cost * float((np.array(weights) / precisions).sum())
        if total < best:
            best, chosen = total, precisions / cost
        if cost <= 1 + _NEAR or not found.changed or not found.exact:
            break
        rows += _energies(effects, found.changed)
    return best, tuple(chosen)


def _energies(effects: Effects, *changed: Axes) -> list[tuple[float, ...]]:
    return [tuple(float(replaced_in(effects, part, one)) for part in effects.parts) for one in changed]


def _used(effects: Effects) -> Axes:
    return tuple(sorted({axis for part in effects.parts for axis in part}))


def _replaced_most(effects: Effects, precisions: Sequence[Fraction], kept: Iterable[int]) -> Cost:
    """The costliest replaced row that counts before and after, and agrees in the axes `kept`."""
    shares: dict[Axes, Fraction] = defaultdict(Fraction)
    for part, t in zip(effects.parts, precisions, strict=True):
        # Columns in which rows agree have the factor 1 in f: effects that differ in them alone are one.
        shares[tuple(axis for axis in part if axis not in set(kept))] += t * effects.energy(part)
    axes = tuple(sorted({axis for part in shares for axis in part}))
    if len(axes) <= _MOST_EXACT:
        return Cost(*worst_replacement(effects.sizes, axes, shares), exact=True)
    if len(axes) <= _MOST_SETS:
        return _by_doubles(effects, axes, shares)
    # -Π(-1/(n - 1)) is at most 1/(n - 1), n the smallest size in the effect: each effect at its own worst.
    terms = (
        share * (1 + Fraction(1, min(effects.sizes[axis] for axis in part) - 1)) for part, share in shares.items() if part
    )
    return Cost(2 * sum(terms, Fraction(0)), axes, exact=False)


def _by_doubles(effects: Effects, axes: Axes, shares: dict[Axes, Fraction]) -> Cost:
    """The same in doubles, rounded up.

    All terms are products of a share and factors of at most 1, so each of the two roundings of a stage, and the rounding of
    a factor, moves a sum by at most 2^-53 of Σ shares: (3d + 2) of these for d stages and the shares themselves.
    """
    every = sum(shares.values(), Fraction(0))
    found: Floats = np.zeros((2,) * len(axes))
    for part, share in shares.items():
        found[tuple(int(axis in part) for axis in axes)] = float(share)
    for place, axis in enumerate(axes):
        without, having = np.take(found, 0, axis=place), np.take(found, 1, axis=place)
        found = np.stack([without + having, without - having / (effects.sizes[axis] - 1)], axis=place)
    least = int(np.argmin(found))
    changed = tuple(axis for axis, one in zip(axes, np.unravel_index(least, found.shape), strict=True) if one)
    error = Fraction(4 * len(axes) + 8, 1 << 53) * every
    return Cost(2 * (every - Fraction(float(found.ravel()[least])) + error), changed, exact=True)
