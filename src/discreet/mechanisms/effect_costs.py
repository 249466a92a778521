"""What a change of rows costs in all effects together.

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

from discreet.mechanisms.effects import Axes, Effects, Energies, exchanged, worst_replacement

__all__ = [
    "Changes",
    "Cost",
    "bounded_energies",
    "cost_of",
    "has_exact_cost",
    "listed_changes",
    "place_of",
    "set_at",
    "sums_of_sets",
    "used_axes",
]

_MOST_EXACT = 8  # columns: fractions up to here, then certified doubles
_MOST_SETS = 20  # columns: 2^20 doubles

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
    listed = listed_changes(effects, changes)
    if listed is not None:
        sums = (sum(map(mul, precisions, one), Fraction(0)) for one in listed)
        return Cost(max(sums, default=Fraction(0)), (), exact=True)
    found = min((_replaced_most(effects, precisions, kept) for kept in changes.kept), key=lambda one: one.most)
    if changes.leaves and alone > found.most:
        found = Cost(alone, (), exact=True)
    return Cost(changes.rows**2 * found.most, found.changed, found.exact and len(changes.kept) == 1)


@lru_cache(maxsize=16)
def listed_changes(effects: Effects, changes: Changes) -> Energies | None:
    """The energies of all changes that keep several lists of totals; None where they are too many, or not asked for."""
    return exchanged(effects, changes.rows, changes.lists) if changes.lists else None


def used_axes(effects: Effects) -> Axes:
    """The columns of any effect."""
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
    each = zip(precisions, bounded_energies(effects, kept), strict=True)
    return Cost(sum((t * energy for t, energy in each), Fraction(0)), axes, exact=False)


def bounded_energies(effects: Effects, kept: Iterable[int]) -> tuple[Fraction, ...]:
    """At least the energy of every replaced row that agrees in the axes `kept`: each effect at its own worst.

    1 - Π(-1/(n - 1)) is at most 1 + 1/(n - 1), n the smallest size of a column of the effect in which rows may differ.
    """
    found = []
    for part in effects.parts:
        sizes = [effects.sizes[axis] for axis in part if axis not in set(kept)]
        found.append(2 * effects.energy(part) * (1 + Fraction(1, min(sizes) - 1)) if sizes else Fraction(0))
    return tuple(found)


def has_exact_cost(effects: Effects, kept: Iterable[int]) -> bool:
    """True if the costliest replaced row that agrees in these axes is found among all sets of the others."""
    return len([axis for axis in used_axes(effects) if axis not in set(kept)]) <= _MOST_SETS


def _by_doubles(effects: Effects, axes: Axes, shares: dict[Axes, Fraction]) -> Cost:
    """The same in doubles, rounded up.

    All terms are products of a share and factors of at most 1, so each of the two roundings of a stage, and the rounding of
    a factor, moves a sum by at most 2^-53 of Σ shares: (3d + 2) of these for d stages and the shares themselves.
    """
    every = sum(shares.values(), Fraction(0))
    values: Floats = np.zeros(1 << len(axes))
    for part, share in shares.items():
        values[place_of(part, axes)] = float(share)
    found = sums_of_sets(effects, axes, values)
    least = int(np.argmin(found))
    error = Fraction(4 * len(axes) + 8, 1 << 53) * every
    return Cost(2 * (every - Fraction(float(found[least])) + error), set_at(least, axes), exact=True)


def sums_of_sets(effects: Effects, axes: Axes, shares: Floats) -> Floats:
    """f(D) of `worst_replacement` for all sets D of the axes, in place of the shares of the effects at their places."""
    for place, axis in enumerate(axes):
        both = shares.reshape(1 << place, 2, -1)  # in place: copies took three quarters of the time
        without, having = both[:, 0], both[:, 1]
        sums = without + having
        having /= -(effects.sizes[axis] - 1)
        having += without
        without[...] = sums
    return shares


def place_of(part: Iterable[int], axes: Axes) -> int:
    """The number of a set of axes, the first of them as the highest bit."""
    inside = set(part)
    return sum(1 << bit for bit, axis in enumerate(reversed(axes)) if axis in inside)


def set_at(place: int, axes: Axes) -> Axes:
    """The set of this number."""
    return tuple(axis for bit, axis in enumerate(reversed(axes)) if place >> bit & 1)[::-1]
