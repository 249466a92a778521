"""Roots that are verified: what these functions return was itself seen to meet the target.

The certified functions of this package are monotone up to their rounding, so a bracket of which one end holds and the
other does not can be narrowed; the end that holds is returned, never the point in between (V1).
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from discreet.errors import InternalError

__all__ = ["first_below"]

_RELATIVE = 2.0**-50


def first_below(value: Callable[[float], float], target: float, low: float, high: float) -> float:
    """The smallest argument found in [low, high] at which the decreasing `value` is at most `target`; `high` must do.

    Halved to a relative width of 2**-50: about 55 evaluations, whatever the function does. A secant would save none of
    them worth mentioning, because the certified functions are rounded steps near the root.

    Raises:
        InternalError: `value(high)` is above the target.
    """
    if value(low) <= target:
        return low
    if not value(high) <= target:
        raise InternalError("a search began with an upper end that does not meet its target")
    while high - low > _RELATIVE * high:
        middle = _half(low, high)
        if not low < middle < high:
            break
        if value(middle) <= target:
            high = middle
        else:
            low = middle
    return high


def _half(low: float, high: float) -> float:
    """The arithmetic middle, or the geometric one where the ends differ by orders of magnitude."""
    return sqrt(low) * sqrt(high) if 0 < 4 * low < high else low + (high - low) / 2
