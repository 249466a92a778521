"""Variances, standard deviations and shares with their intervals, never NaN and always within what is possible.

With f = (x - origin)/unit the variance is unit²·(A - M²), A = Q/N + shift the mean of f² and M = S/N the mean of f, where Q
is a noisy sum of f² - shift, S one of f, and N a noisy or public count. The caller gives half-widths that hold together with
the stated probability; A, M and hence the variance then lie in the range over that box, cut by what is known beforehand.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.estimates.ratios import Estimate, quotient_range

__all__ = ["root_estimate", "share_estimate", "variance_estimate"]

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
    most_square = max(low * low, high * high)
    (s, ds), (q, dq), (n, dn) = ([part.astype(np.float64) for part in pair] for pair in (sums, squares, counts))
    size = np.maximum(n, 1.0)
    mean, square = np.clip(s / size, low, high), np.clip(q / size + shift, 0.0, most_square)
    most = (high - low) ** 2 / 4
    value = np.clip(square - mean * mean, 0.0, most)
    mean_low, mean_high = (np.clip(end, low, high) for end in quotient_range(s, ds, n, dn))
    square_low, square_high = (np.clip(end + shift, 0.0, most_square) for end in quotient_range(q, dq, n, dn))
    # A mean of squares is never below the square of the mean; the least square of the mean is 0 where 0 is possible.
    nearest = np.where((mean_low <= 0) & (mean_high >= 0), 0.0, np.minimum(np.abs(mean_low), np.abs(mean_high)))
    farthest = np.maximum(np.abs(mean_low), np.abs(mean_high))
    slack = _SLACK * (most_square + abs(shift))
    bottom = np.clip(square_low - farthest * farthest - slack, 0.0, most)
    top = np.clip(square_high - nearest * nearest + slack, 0.0, most)
    open_range = n - dn < 1
    bottom, top = np.where(open_range, 0.0, bottom), np.where(open_range, most, top)
    scale = float(unit) ** 2
    ends = scale * np.minimum(bottom, value), scale * np.maximum(top, value) * (1 + _SLACK)
    return Estimate(scale * value, ends[0] * (1 - _SLACK), np.minimum(ends[1], scale * most * (1 + _SLACK)))


def root_estimate(variance: Estimate) -> Estimate:
    """The standard deviation: the root of the variance and of the ends of its interval."""
    low, value, high = (np.sqrt(part) for part in (variance.low, variance.value, variance.high))
    return Estimate(value, np.nextafter(low, 0.0), np.nextafter(high, np.inf))


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
