"""Whole numbers near wanted ones: within ranges, with given sums, inside exact totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.releases.rows.model import PARTS, Integers

__all__ = ["Classes", "divide", "divide_in", "is_finer", "members_of", "shift", "sums_of"]

_FAR = 1 << 56
_MOST_SINGLE = 1 << 12
"""A sum that lacks no more than this is looked for by moves of single rows too."""


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Classes of cells.

    Args:
        labels: for each cell its class, 0 to the largest.
        totals: the exact number of rows of each class; None where it is not stated.
        named: what states them.
    """

    labels: Integers
    totals: Integers | None
    named: str = ""

    @property
    def many(self) -> int:
        """The number of classes."""
        return int(self.labels.max(initial=-1)) + 1


def is_finer(one: Classes, other: Classes) -> bool:
    """True if every class of the first lies in one class of the second."""
    both = np.unique(np.stack([one.labels, other.labels], axis=1), axis=0)
    return len(both) == len(np.unique(one.labels))


def divide(wanted: Integers, total: int, low: Integers, high: Integers) -> Integers | None:
    """Whole numbers within ranges whose sum is the total: all wanted ones are moved alike; None where there are none.

    Args:
        wanted: int64, times `PARTS`.
        total: the sum.
        low: the least number of each cell.
        high: the largest one.
    """

    def moved(by: int) -> Integers:
        return np.clip((wanted + by + PARTS // 2) // PARTS, low, high)

    if not low.sum() <= total <= high.sum() or (low > high).any():
        return None
    # The sum is at most the total at the first, and above it, or the largest there is, at the last.
    least, most = -_FAR, _FAR
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if moved(middle).sum() <= total else (least, middle)
    found, above = moved(least), moved(most)
    found[np.flatnonzero(above > found)[: total - int(found.sum())]] += 1
    return found


def divide_in(chain: Sequence[Classes], wanted: Integers, low: Integers, high: Integers) -> Integers | None:
    """The same in classes of classes: every class has its total, or is a part of the one that it lies in.

    Args:
        chain: from the widest classes to the cells themselves, each finer than the one before; the first has totals.
        wanted: int64, times `PARTS`, of the cells.
        low: the least number of each cell.
        high: the largest one.
    """
    found = chain[0].totals
    for wide, fine in pairwise(chain):
        above, sums = found, [sums_of(fine, one) for one in (wanted, low, high)]
        if above is None:
            return None
        found = np.zeros(fine.many, dtype=np.int64)
        of = np.zeros(fine.many, dtype=np.int64)
        of[fine.labels] = wide.labels
        for parent, members in members_of(of):
            some = divide(sums[0][members], int(above[parent]), sums[1][members], sums[2][members])
            if some is None:
                return None
            found[members] = some
        if fine.totals is not None:
            if (_added(of, fine.totals, wide.many) != above).any() or (
                (fine.totals < sums[1]) | (fine.totals > sums[2])
            ).any():
                return None
            found = fine.totals
    return found


def sums_of(classes: Classes, values: Integers) -> Integers:
    """The sums of the values of all cells of each class."""
    return _added(classes.labels, values, classes.many)


def _added(labels: Integers, values: Integers, many: int) -> Integers:
    found = np.zeros(many, dtype=np.int64)
    np.add.at(found, labels, values)
    return found


def members_of(labels: Integers) -> Iterator[tuple[int, Integers]]:
    """Each label with the places where it stands, in ascending order."""
    order = np.argsort(labels, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        yield int(labels[group[0]]), group


_Cells = tuple[Integers, Integers, NDArray[Any]]
"""The ends of the ranges of cells, and their values."""


# Sums -----------------------------------------------------------------------------------------------------------------


def shift(counts: Integers, low: Integers, high: Integers, values: NDArray[np.object_], missing: int) -> int:
    """Moves rows between neighbouring cells, in place, until a sum has grown by what is missing; what is left of it.

    Rows go from a cell to the one with the next value. All cells give the same share of their rows, so that the shape of the
    table stays about as it was.

    Args:
        counts: the numbers of rows, in ascending order of the values.
        low: the least number of each cell.
        high: the largest one.
        values: what a row adds to the sum in each cell, different ones, ascending.
        missing: by how much the sum must grow; it falls where that is negative.
    """
    before, last, left = counts.copy(), 0, missing
    while left not in {last, 0}:
        last, left = left, _together(counts, low, high, values, left)
    left = _one_by_one(counts, low, high, values, left)
    if left and abs(missing) <= _MOST_SINGLE:
        counts[:] = before  # what all cells gave may have been in the way
        left = _one_by_one(counts, low, high, values, missing)
    return left


def _together(counts: Integers, low: Integers, high: Integers, values: NDArray[np.object_], missing: int) -> int:
    """One step of all cells, or of a share of them; what is left."""
    up = missing > 0
    steps = [(at - 1, at) for at in range(len(counts) - 1, 0, -1)] if up else [(at + 1, at) for at in range(len(counts) - 1)]
    every = sum(_room(counts, low, high, step) * abs(values[step[1]] - values[step[0]]) for step in steps)
    for step in steps:
        gain, rows = values[step[1]] - values[step[0]], _room(counts, low, high, step)
        if every > abs(missing):
            rows = rows * abs(missing) // every
        rows = min(rows, abs(missing) // abs(gain))
        counts[step[0]] -= rows
        counts[step[1]] += rows
        missing -= rows * gain
    return missing


def _room(counts: Integers, low: Integers, high: Integers, step: tuple[int, int]) -> int:
    """How many rows can go from the first cell to the second."""
    return max(0, min(int(counts[step[0]] - low[step[0]]), int(high[step[1]] - counts[step[1]])))


def _one_by_one(counts: Integers, low: Integers, high: Integers, values: NDArray[np.object_], missing: int) -> int:
    """Single rows move by the largest gains that fit, then one or two of them by exactly what is left; what is left."""
    while missing:
        gains = _gains(counts, low, high, values)
        fits = [gain for gain in gains if 0 < (gain if missing > 0 else -gain) <= abs(missing)]
        if not fits:
            cells = low, high, values
            return 0 if any(_both(counts, cells, move, missing - gain) for gain, move in gains.items()) else missing
        gain = max(fits, key=abs)
        _step(counts, gains[gain])
        missing -= gain
    return 0


def _both(counts: Integers, cells: _Cells, first: tuple[int, int], rest: int) -> bool:
    """Whether a move and a second one by the rest are possible; they are done then."""
    _step(counts, first)
    second = _gains(counts, *cells).get(rest)
    _step(counts, first[::-1] if second is None else second)
    return second is not None


def _step(counts: Integers, move: tuple[int, ...]) -> None:
    counts[move[0]] -= 1
    counts[move[1]] += 1


def _gains(counts: Integers, low: Integers, high: Integers, values: NDArray[np.object_]) -> dict[int, tuple[int, int]]:
    """Every gain of one row that moves, with the nearest such move."""
    gives, takes = np.flatnonzero(counts > low).tolist(), np.flatnonzero(counts < high).tolist()
    moves = sorted(
        ((one, other) for one in gives for other in takes if one != other), key=lambda move: (abs(move[0] - move[1]), move)
    )
    found: dict[int, tuple[int, int]] = {}
    for one, other in moves:
        found.setdefault(int(values[other] - values[one]), (one, other))
    return found
