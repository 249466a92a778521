"""Arrays of integers: int64 where nothing can overflow, else integers of Python. The numbers are the same either way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["has_room", "narrow", "times"]

_INSIDE = 1 << 61  # the difference of two such numbers is an int64


def has_room(values: NDArray[Any], factor: int) -> bool:
    """True if the numbers times this positive factor are integers whose differences are int64."""
    return not values.size or max(int(values.max()), -int(values.min())) * factor < _INSIDE


def narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers as int64, where differences of two of them are; else as integers of Python."""
    if values.dtype == np.int64 and has_room(values, 1):
        return values
    every = values.astype(np.object_)
    return every.astype(np.int64) if has_room(every, 1) else every


def times(values: NDArray[Any], factor: int) -> NDArray[Any]:
    """The numbers times a positive factor, as `narrow` has them."""
    return narrow((values if has_room(values, factor) else values.astype(np.object_)) * factor)
