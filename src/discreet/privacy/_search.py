"""Roots that are verified: what these functions return was itself seen to meet the target.

The certified functions of this package are monotone up to their rounding, so a bracket of which one end holds and the
other does not can be narrowed; the end that holds is returned, never the point in between (V1).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, sqrt

from discreet.errors import InternalError

_RELATIVE = 2.0**-50
_SMALLEST = 2.0**-60
_STEPS = 400


def first_below(value: Callable[[float], float], target: float, low: float, high: float) -> float:
    """The smallest argument found in [low, high] at which the decreasing `value` is at most `target`; `high` must do.

    Narrowed to a relative width of 2**-50 by the Illinois variant of the secant method on log(value/target), with
    bisection whenever that is slow.
    """
    at_low, at_high = _excess(value(low), target), _excess(value(high), target)
    if at_low <= 0:
        return low
    if not at_high <= 0:
        raise InternalError("a search began with an upper end that does not meet its target")
    for step in range(_STEPS):
        if high - low <= _RELATIVE * high:
            break
        # Every third step bisects, so that the bracket shrinks whatever the function does.
        middle = _secant(low, at_low, high, at_high) if step % 3 < 2 else _half(low, high)
        if not low < middle < high and not low < (middle := _half(low, high)) < high:
            break
        excess = _excess(value(middle), target)
        # An end that stays is given half its weight (Illinois), or the secant would creep towards the other.
        if excess <= 0:
            high, at_high, at_low = middle, excess, at_low / 2
        else:
            low, at_low, at_high = middle, excess, at_high / 2
    return high


def _secant(low: float, at_low: float, high: float, at_high: float) -> float:
    if at_low == inf or at_high == -inf or at_low - at_high <= 0:
        return _half(low, high)
    return low + (high - low) * (at_low / (at_low - at_high))


def _half(low: float, high: float) -> float:
    """The arithmetic middle, or the geometric one where the ends differ by orders of magnitude."""
    return sqrt(low) * sqrt(high) if 0 < 4 * low < high else low + (high - low) / 2


def _excess(value: float, target: float) -> float:
    """log(value/target), never 0 for a value above the target."""
    if value <= 0:
        return -inf
    if target <= 0:
        return inf
    excess = log(value) - log(target)
    return max(excess, _SMALLEST) if value > target else min(excess, 0.0)
