"""Roots that are verified: what these functions return was itself seen to meet the target.

The certified functions of this package are monotone up to their rounding, so a bracket of which one end holds and the
other does not can be narrowed; the end that holds is returned, never the point in between.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log

from discreet.errors import InternalError

_RELATIVE = 2.0**-50
_STEPS = 400


def first_below(value: Callable[[float], float], target: float, low: float, high: float) -> float:
    """The smallest argument found in [low, high] at which the decreasing `value` is at most `target`; `high` must do.

    Narrowed to a relative width of 2**-50 by the Illinois variant of the secant method on log(value/target), with
    bisection whenever that is slow.
    """
    at_low = _excess(value(low), target)
    if at_low <= 0:
        return low
    at_high = _excess(value(high), target)
    if not at_high <= 0:
        raise InternalError("a search began with an upper end that does not meet its target")
    width = high - low
    for step in range(_STEPS):
        if high - low <= _RELATIVE * high:
            return high
        middle = _secant(low, at_low, high, at_high)
        # Every third step bisects, so that the bracket shrinks whatever the function does.
        if step % 3 == 2 or not low < middle < high:
            middle = low + (high - low) / 2 if low > high / 4 or low == 0 else (low * high) ** 0.5
            if not low < middle < high:
                return high
        excess = _excess(value(middle), target)
        if excess <= 0:
            high, at_high, at_low = middle, excess, at_low / (2 if high - low > width / 4 else 1)
        else:
            low, at_low, at_high = middle, excess, at_high / (2 if high - low > width / 4 else 1)
        width = high - low
    return high


def _secant(low: float, at_low: float, high: float, at_high: float) -> float:
    if at_low == inf or at_high == -inf or at_low - at_high <= 0:
        return low + (high - low) / 2
    return low + (high - low) * (at_low / (at_low - at_high))


def _excess(value: float, target: float) -> float:
    if value <= 0:
        return -inf
    return inf if target <= 0 else log(value) - log(target) or (0.0 if value <= target else 2.0**-53)
