"""The nearest tables of real numbers that are not negative and have given sums.

With multipliers u for the sums the nearest table is max(0, y + Σ u/w), cell by cell (Karush, Kuhn and Tucker). One kind of
sums after the other gets the multipliers that meet it, by a step of Newton's, until all are met; a sum that is only wished
for may be missed, at a price (docs/proofs/areas.md, K5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSED", "Sums", "nearest"]

MISSED = 0.01
"""A sum that has to be met may be missed by so much, before the table is rounded."""

_SWEEPS = 300

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums of one kind.

    Args:
        values: the wanted sums. The axes that are added up have one place in them.
        over: these axes; the first axis alone is added up within groups.
        groups: for each place of the first axis its group, ascending; None where `over` has other axes.
        price: of the square of what is missed, relative to the usual weight of a cell; 0 for sums that have to be met.
    """

    values: Floats
    over: tuple[int, ...]
    groups: Codes | None = None
    price: float = 0.0

    def of(self, table: Floats) -> Floats:
        """The sums of a table."""
        if self.groups is None:
            found: Floats = table.sum(axis=self.over, keepdims=True)
            return found
        return np.asarray(np.add.reduceat(table, np.searchsorted(self.groups, np.arange(len(self.values))), axis=0))

    def spread(self, multipliers: Floats) -> Floats:
        """For each cell, or so that they fit each cell, the multipliers of its sum."""
        return multipliers if self.groups is None else multipliers[self.groups]


def nearest(wanted: Floats, weights: Floats, sums: Sequence[Sums]) -> Floats:
    """About the table that is not negative, has the sums, and has the least weighted sum of squared differences.

    Args:
        wanted: the numbers that it shall be near to.
        weights: of the squared differences, positive, the same shape; most of them about 1.
        sums: of all kinds, those that have to be met last.
    """
    inverse = 1 / weights
    moved = np.zeros_like(wanted)  # Σ of the multipliers of each cell
    multipliers = [np.zeros(one.values.shape) for one in sums]
    least = [one.of(inverse) * (one.values.size / wanted.size) for one in sums]  # the slope of one cell
    found = np.maximum(0, wanted)
    for _ in range(_SWEEPS):
        worst = 0.0
        for place, one in enumerate(sums):
            found = wanted + moved * inverse
            above = found > 0
            missing = one.values - one.of(np.where(above, found, 0))
            slope = np.maximum(one.of(np.where(above, inverse, 0)), least[place])
            if one.price:
                missing -= multipliers[place] / one.price
                slope += 1 / one.price
            else:
                worst = max(worst, float(np.abs(missing).max()))
            step = missing / slope
            multipliers[place] += step
            moved += one.spread(step)
        if worst <= MISSED:
            break
    return np.maximum(0, wanted + moved * inverse)
