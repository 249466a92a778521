"""Variances, standard deviations and shares with their intervals, never NaN and always within what is possible.

With f = (x - origin)/unit the variance is unit²·(Q/N + shift - (S/N)²), where Q is a noisy sum of f² - shift, S one of f,
and N a noisy or public count. The caller gives half-widths that hold together with the stated probability; the interval is
the range of the expression over that box, cut by what is possible.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import float_down, float_up
from discreet.statistics.ratios import Estimate, quotient_range

__all__ = ["dispersion_estimate", "root_estimate", "share_estimate", "variance_estimate"]

_SLACK = 1e-12

Floats = NDArray[np.float64]


def variance_estimate(
    sums: tuple[NDArray[Any], NDArray[Any]],
    squares: tuple[NDArray[Any], NDArray[Any]],
    counts: tuple[NDArray[Any], NDArray[Any]],
    *,
    shift: int,
    unit: Fraction,
    reach: tuple[int, int],
) -> Estimate:
    """The variance, clipped into [0, a quarter of the squared range].

    Where the count may be below 1, the interval is everything that is possible.

    Args:
        sums: the noisy sums of f, and the half-widths of their noise.
        squares: those of f² - shift.
        counts: the counts, noisy or public, and the half-widths of their noise.
        shift: what was taken from every square.
        unit: what a step of f is worth.
        reach: the least and the greatest f.
    """
    low, high = (float(end) for end in reach)
    (s, ds), (q, dq), (n, dn) = ([part.astype(np.float64) for part in pair] for pair in (sums, squares, counts))
    most = (high - low) ** 2 / 4
    value = np.clip(_spread(np.abs(s), q, np.maximum(n, 1.0)) + shift, 0.0, most)
    fewest, largest = np.maximum(n - dn, 1.0), np.maximum(n + dn, 1.0)
    # V rises with Q and falls with |S|. In N it rises up to 2S²/Q and falls after it where Q > 0, and only rises otherwise:
    # the least value is at an end of the range of N, the greatest at an end or at that point.
    near, far = np.maximum(np.abs(s) - ds, 0.0), np.abs(s) + ds
    less, more = q - dq, q + dq
    turn = np.clip(2 * near**2 / np.maximum(more, 1.0), fewest, largest)
    top = np.maximum.reduce([_spread(near, more, size) for size in (fewest, turn, largest)])
    bottom = np.minimum(_spread(far, less, fewest), _spread(far, less, largest))
    # A relative 1e-12 of the parts covers the few roundings, cancellation included.
    slack = _SLACK * (np.maximum(np.abs(less), np.abs(more)) / fewest + (far / fewest) ** 2 + abs(shift))
    open_range = n - dn < 1
    bottom = np.where(open_range, 0.0, np.clip(bottom + shift - slack, 0.0, most))
    top = np.where(open_range, most, np.clip(top + shift + slack, 0.0, most))
    # Three roundings at most, of the square of the unit, of what is possible and of the product: each 2**-53.
    scale = float(unit**2)
    least, greatest = np.minimum(bottom, value) * (1 - 2.0**-50), np.maximum(top, value) * (1 + 2.0**-50)
    return Estimate(scale * value, scale * least, scale * greatest)


def dispersion_estimate(
    spreads: tuple[NDArray[Any], NDArray[Any]], *, coarse: int, rows: int, width: int, unit: Fraction
) -> Estimate:
    """The variance where the number of rows is public, clipped into [0, a quarter of the squared range].

    Args:
        spreads: noisy rows² times the variance in steps, over `coarse` and rounded down; the half-widths of their noise.
        coarse: what it was divided by.
        rows: how many rows there are.
        width: how many steps the values span.
        unit: what a step is worth.
    """
    most = Fraction(width**2, 4) * unit**2
    scale = coarse * unit**2 / rows**2
    rounding = Fraction(coarse - 1, coarse)

    def values(ends: NDArray[Any], more: Fraction, rounded: Callable[[Fraction], float]) -> Floats:
        return np.array([rounded(min(max(scale * (int(end) + more), Fraction(0)), most)) for end in ends], dtype=np.float64)

    spread, half = (part.astype(np.object_) for part in spreads)
    low, high = values(spread - half, Fraction(0), float_down), values(spread + half, rounding, float_up)
    return Estimate(values(spread, rounding / 2, float), low, high)


def _spread(total: Floats, squares: Floats, size: Floats) -> Floats:
    return np.asarray(squares / size - (total / size) ** 2)


def root_estimate(variance: Estimate) -> Estimate:
    """The standard deviation: the root of the variance and of the ends of its interval; exactly 0 where that is."""
    low, value, high = (np.sqrt(part) for part in (variance.low, variance.value, variance.high))
    return Estimate(value, np.nextafter(low, 0.0), np.where(high > 0, np.nextafter(high, np.inf), 0.0))


def share_estimate(
    counts: tuple[NDArray[Any], NDArray[Any]], every: tuple[NDArray[Any] | int, NDArray[Any] | int]
) -> Estimate:
    """The proportion count/every, clipped into [0, 1]; where `every` may be below 1 the interval is [0, 1].

    Args:
        counts: the noisy counts, and the half-widths of their noise.
        every: the number of rows of all groups, and the half-width of its noise, 0 where it is public.
    """
    n, dn = (part.astype(np.float64) for part in counts)
    total, half = (np.asarray(part, dtype=np.float64) for part in every)
    value = np.clip(n / np.maximum(total, 1.0), 0.0, 1.0)
    low, high = quotient_range(n, dn, np.broadcast_to(total, n.shape), np.broadcast_to(half, n.shape))
    open_range = total - half < 1
    bottom = np.where(open_range, 0.0, np.clip(low - _SLACK, 0.0, 1.0))
    top = np.where(open_range, 1.0, np.clip(high + _SLACK, 0.0, 1.0))
    return Estimate(value, np.minimum(bottom, value), np.maximum(top, value))
