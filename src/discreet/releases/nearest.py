"""The nearest numbers that are not negative and have given sums.

With multipliers u for the sums the nearest numbers are max(0, y + Σ u/w), cell by cell (Karush, Kuhn and Tucker). One kind
of sums after the other gets the multipliers that meet it, by a step of Newton's, until all are met; a sum that is only
wished for may be missed, at a price (docs/proofs/areas.md, K5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSED", "Sums", "nearest"]

MISSED = 0.01
"""A sum that has to be met may be missed by so much, before the numbers are rounded."""

_SWEEPS = 300

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums of one kind: each cell is in one of them.

    Args:
        values: the wanted sums.
        places: for each cell the place of its sum.
        weights: of the square of what each sum is missed by; None for sums that have to be met.
    """

    values: Floats
    places: Codes
    weights: Floats | None = None

    def of(self, cells: Floats) -> Floats:
        """The sums of some numbers."""
        return np.asarray(np.bincount(self.places, weights=cells, minlength=len(self.values)), np.float64)


def nearest(wanted: Floats, weights: Floats, sums: Sequence[Sums]) -> Floats:
    """About the numbers that are not negative, have the sums, and have the least weighted sum of squared differences.

    Args:
        wanted: the numbers that they shall be near to.
        weights: of the squared differences, positive.
        sums: of all kinds, those that have to be met last.
    """
    inverse = 1 / weights
    moved = np.zeros_like(wanted)  # Σ of the multipliers of each cell
    multipliers = [np.zeros(len(one.values)) for one in sums]
    prices = [0.0 if one.weights is None else 1 / one.weights for one in sums]
    least = [_slope_of_one(one, inverse) for one in sums]
    for _ in range(_SWEEPS):
        worst = 0.0
        for place, one in enumerate(sums):
            found = wanted + moved * inverse
            above = found > 0
            missing = one.values - one.of(found * above) - multipliers[place] * prices[place]
            if one.weights is None:
                worst = max(worst, float(np.abs(missing).max(initial=0)))
            step = missing / (np.maximum(one.of(inverse * above), least[place]) + prices[place])
            multipliers[place] += step
            moved += step[one.places]
        if worst <= MISSED:
            break
    return np.maximum(0, wanted + moved * inverse)


def _slope_of_one(one: Sums, inverse: Floats) -> Floats:
    """For each sum the mean slope of its cells; 1 for a sum of none."""
    many = one.of(np.ones_like(inverse))
    return np.where(many > 0, one.of(inverse) / np.maximum(many, 1), 1.0)
