"""Tables with null groups whose rows a public law spreads over the other groups: what is expected in each cell.

Along such an axis a cell is the sum of its own level and of its chance times the null level. So it is a linear function of
the same effects, and the noise in it depends on the chance alone (docs/proofs/effects.md, "Nulls that a law fills").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.mechanisms.effects import Axes

__all__ = [
    "Cells",
    "Fills",
    "Reading",
    "blocks_of_cells",
    "fill_cells",
    "matrix_of",
    "mean_gains",
    "readings_of",
    "widest_of",
]

Fills = Mapping[int, tuple[int, ...]]
"""For each axis whose last level is null and gets filled, the chances of the other levels, as integers."""

_MOST_CLASSES = 6  # of levels that get half-widths of their own


@dataclass(frozen=True, slots=True)
class Reading:
    """Levels of an axis, and the vector r by which the levels of the measured table are added up to one of them.

    Args:
        levels: their positions among those that are printed.
        own: at least |r - r̄|², the squared length of r in an effect of the axis.
        outside: at least (Σ r)², for an effect without it.
        largest: at least the size of every entry of r - r̄.
        added: at least the least Σ r, and at most the largest one.
        at_level: the same of the entry of r - r̄ at the level itself.
    """

    levels: tuple[int, ...]
    own: Fraction
    outside: Fraction
    largest: Fraction
    added: tuple[Fraction, Fraction]
    at_level: tuple[Fraction, Fraction]


def readings_of(size: int, chances: tuple[int, ...] | None) -> tuple[Reading, ...]:
    """The readings of an axis of so many measured levels: one for all, or one for each chance of a null.

    Of more than six different chances those that are near share the bounds of the larger ones.
    """
    if chances is None:
        own = 1 - Fraction(1, size)
        return (Reading(tuple(range(size)), own, Fraction(1), own, (Fraction(1), Fraction(1)), (own, own)),)
    different = sorted(set(chances))
    many = ceil(len(different) / _MOST_CLASSES)
    return tuple(_reading(size, chances, different[start : start + many]) for start in range(0, len(different), many))


def _reading(size: int, chances: tuple[int, ...], some: Sequence[int]) -> Reading:
    """The reading of the levels with one of these chances w: r is 1 at the level and w at null."""
    total = sum(chances)
    each = [Fraction(one, total) for one in some]
    levels = tuple(level for level, one in enumerate(chances) if one in some)
    mean = [(1 + one) / size for one in each]
    own = max(1 + one**2 - (1 + one) ** 2 / size for one in each)
    at_level = [1 - one for one in mean]
    at_null = max(abs(one - other) for one, other in zip(each, mean, strict=True))
    largest = max(*at_level, at_null, *mean)
    added = 1 + min(each), 1 + max(each)
    return Reading(levels, own, added[1] ** 2, largest, added, (min(at_level), max(at_level)))


def matrix_of(size: int, chances: tuple[int, ...] | None) -> NDArray[np.float64] | None:
    """The matrix that makes the printed levels of an axis of its measured ones; None for the same."""
    if chances is None:
        return None
    return np.hstack([np.eye(size - 1), np.array(chances)[:, None] / sum(chances)])


def mean_gains(readings: Sequence[Reading], size: int) -> tuple[float, float]:
    """What a unit of the variance of an effect adds to a cell, on average: along an axis of it, and along another."""
    many = sum(len(one.levels) for one in readings)
    own = sum(len(one.levels) * float(one.own) for one in readings)
    outside = sum(len(one.levels) * float(one.outside) for one in readings)
    return own / many, outside / many / size**2


def widest_of(readings: Sequence[Reading]) -> list[Reading]:
    """Those readings of an axis of which no other one adds as much or more, to effects with the axis and without it."""
    gains = {(one.own, one.outside): one for one in readings}
    return [
        one
        for (own, outside), one in gains.items()
        if not any(other != (own, outside) and other[0] >= own and other[1] >= outside for other in gains)
    ]


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of a table whose noise has one law, or one bound: for each axis of the table its levels and their reading."""

    readings: tuple[Reading, ...]

    @property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """The positions of the cells among those that are printed, along each axis."""
        return tuple(one.levels for one in self.readings)

    @property
    def index(self) -> Any:
        """The index of the cells in a table of all its levels."""
        return np.ix_(*self.levels)

    @property
    def many(self) -> int:
        """How many cells."""
        return prod(len(one.levels) for one in self.readings)


def blocks_of_cells(sizes: Sequence[int], table: Axes, fills: Fills) -> list[Cells]:
    """The cells of a table in parts whose noise is alike; one part without any filled axis."""
    each: Iterable[tuple[Reading, ...]] = (readings_of(sizes[axis], fills.get(axis)) for axis in table)
    return [Cells(one) for one in product(*each)]


def fill_cells(values: Integers, denominator: int, table: Axes, fills: Fills) -> tuple[Integers, int]:
    """The expected counts of the printed cells: numerators over a public denominator, from those of all measured levels."""
    for place, axis in enumerate(table):
        if axis in fills:
            values, denominator = _fill(values, place, fills[axis]), denominator * sum(fills[axis])
    return values, denominator


def _fill(values: Integers, place: int, chances: tuple[int, ...]) -> Integers:
    total = sum(chances)
    largest = max(int(values.max()), -int(values.min())) if values.size else 0
    kind = values.dtype if 2 * total * largest < 1 << 62 else np.dtype(np.object_)
    moved = np.moveaxis(values.astype(kind, copy=False), place, -1)
    law: Integers = np.array(chances, dtype=kind)
    return np.moveaxis(moved[..., :-1] * total + moved[..., -1:] * law, -1, place)
