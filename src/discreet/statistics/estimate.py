"""Values with their intervals, and the range of a quotient over a box: what several statistics are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "outward", "quotient_range"]


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Values with lower and upper ends of their intervals, one for every cell of the release."""

    value: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]


def quotient_range(
    sums: NDArray[np.float64], s: NDArray[np.float64], counts: NDArray[np.float64], n: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the greatest quotient over [sums ± s] and [counts ± n], counts being at least 1.

    A quotient is monotone in its denominator for each sign of the numerator: the least one has the lower sum over the fewer
    records when it is negative and over the more when it is positive; the greatest likewise.
    """
    fewest, most = np.maximum(counts - n, 1.0), np.maximum(counts + n, 1.0)
    least, greatest = sums - s, sums + s
    return least / np.where(least < 0, fewest, most), greatest / np.where(greatest < 0, most, fewest)


def outward(scaled: NDArray[Any], scale: int, towards: float) -> NDArray[np.float64]:
    """scaled/scale as doubles: exact where both are sure to be, else three steps outwards (three roundings, one each)."""
    within = scaled.min(initial=0) >= -(2**53) and scaled.max(initial=0) <= 2**53
    if scale & (scale - 1) == 0 and scale <= 2**53 and within:
        return np.asarray(scaled / scale, dtype=np.float64)  # an integer below 2**53 over a power of two is a double
    near: NDArray[np.float64] = scaled.astype(np.float64) / scale
    for _ in range(3):
        near = np.nextafter(near, towards)
    return near
