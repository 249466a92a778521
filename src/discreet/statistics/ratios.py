"""Counts, sums and means with their intervals.

A sum in units is unit·S + origin·N and a mean origin + unit·S/N, with a noisy S and a noisy or public N. Of a sum the
caller gives the half-width of the noise of the whole expression. Of a mean it gives half-widths s and n such that
|noise of S| ≤ s and |noise of N| ≤ n hold together with the stated probability (a union bound over the two); the interval is
then the range of the expression over that box, which is attained at its corners.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import common_denominator

__all__ = ["Estimate", "count_estimate", "mean_estimate", "quotient_range", "sum_estimate"]


_MOST_COUNT = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Values with lower and upper ends of their intervals, one for every cell of the release."""

    value: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]


def count_estimate(noisy: NDArray[Any], half: NDArray[Any]) -> Estimate:
    """An unbiased count, which may be negative, and the smallest interval of integers around it; `half` for each cell.

    Doubles where `half` is beyond 2**53, else int64: a function of the public `half` alone, because the type of `noisy`
    would tell, once in 1e20 releases, that the noise itself was beyond 2**62.
    """
    if int(half.max(initial=0)) >= 2**53:
        whole, half = noisy.astype(np.object_), half.astype(np.object_)
        ends = [_outward(whole - half, 1, -np.inf), _outward(whole + half, 1, np.inf)]
        return Estimate(whole.astype(np.float64), *ends)
    # Noise of this size never reaches 2**62; should it, the count is moved there.
    counts = np.clip(noisy, -_MOST_COUNT, _MOST_COUNT).astype(np.int64)
    widths = half.astype(np.int64)
    return Estimate(counts, counts - widths, counts + widths)


def sum_estimate(
    total: NDArray[Any], count: NDArray[Any], half: NDArray[Any], *, unit: Fraction, origin: Fraction
) -> Estimate:
    """The unbiased sum unit·S + origin·N, which may lie outside the possible range, with its interval.

    `half` is the half-width of its noise in each cell, in steps of one over the common denominator of unit and origin.
    """
    scale = common_denominator([unit, origin])
    step, middle = int(unit * scale), int(origin * scale)
    largest = _largest(total) * abs(step) + _largest(count) * abs(middle) + _largest(half)
    kind: Any = np.int64 if largest < 2**62 and max(abs(step), abs(middle)) < 2**62 else np.object_
    scaled = total.astype(kind) * step + count.astype(kind) * middle
    reach = half.astype(kind)
    ends = [_outward(scaled - reach, scale, -np.inf), _outward(scaled + reach, scale, np.inf)]
    return Estimate(scaled.astype(np.float64) / scale, *ends)


def _largest(values: NDArray[Any]) -> int:
    return max(int(values.max(initial=0)), -int(values.min(initial=0)))


def mean_estimate(
    total: NDArray[Any],
    s: NDArray[Any],
    count: NDArray[Any],
    n: NDArray[Any],
    *,
    unit: Fraction,
    origin: Fraction,
    bounds: tuple[Fraction, Fraction],
) -> Estimate:
    """The mean origin + unit·S/N clipped into `bounds`, never null.

    Where the count may be below 1, the interval is the whole range; the value then divides by at least 1.
    """
    step, middle = float(unit), float(origin)
    low, high = (float(bound) for bound in bounds)
    sums, counts, s, n = (part.astype(np.float64) for part in (total, count, s, n))
    value = np.clip(middle + step * sums / np.maximum(counts, 1.0), low, high)
    least, greatest = quotient_range(sums, s, counts, n)
    bottom, top = middle + step * least, middle + step * greatest
    open_range = counts - n < 1
    bottom = np.where(open_range, low, np.clip(_wider(bottom, -np.inf, middle), low, high))
    top = np.where(open_range, high, np.clip(_wider(top, np.inf, middle), low, high))
    return Estimate(value, np.minimum(bottom, value), np.maximum(top, value))


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


def _outward(scaled: NDArray[Any], scale: int, towards: float) -> NDArray[np.float64]:
    """scaled/scale as doubles: exact where both are sure to be, else three steps outwards (three roundings, one each)."""
    within = scaled.min(initial=0) >= -(2**53) and scaled.max(initial=0) <= 2**53
    if scale & (scale - 1) == 0 and scale <= 2**53 and within:
        return np.asarray(scaled / scale, dtype=np.float64)  # an integer below 2**53 over a power of two is a double
    near: NDArray[np.float64] = scaled.astype(np.float64) / scale
    for _ in range(3):
        near = np.nextafter(near, towards)
    return near


def _wider(ends: NDArray[np.float64], towards: float, middle: float) -> NDArray[np.float64]:
    """A relative 1e-12 outwards covers the few roundings of the expression, cancellation with `middle` included."""
    slack = 1e-12 * (np.abs(ends) + 2 * abs(middle))
    return ends + np.copysign(slack, towards)
