"""The cells of tables from effects as a document prints them: doubles, and ends in decimals that suit their noise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.exact.integers import has_room
from discreet.exact.numbers import float_up
from discreet.statistics.effects import Place

__all__ = ["decimals_of", "decimals_of_parts", "ends_of", "ends_of_parts", "ends_of_rows"]

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats, Floats]

_STEPS = 2000  # of the last decimal are in a half-width, at least: outward rounding widens it by 0.101 % at most
_WHOLE = 1 << 53  # smaller integers are doubles
_MOST_UNITS = 1 << 47  # a double is then nearer to each decimal than 1/64 of its last place


def decimals_of(half: Fraction) -> int | None:
    """How many decimals the ends of intervals of this half-width are printed with; None where there is no noise."""
    if not half:
        return None
    return next(decimals for decimals in range(1000) if half * 10**decimals >= _STEPS)


def ends_of(values: Integers, denominator: int, half: Fraction, decimals: int | None) -> Ends:
    """The doubles next to the cells, and the ends of their intervals, outwards; in decimals, or any doubles for None.

    Args:
        values: numerators.
        denominator: of all of them.
        half: the half-width of the intervals.
        decimals: of the ends.
    """
    flat = values.reshape(-1)  # NumPy makes Python's numbers of an array of them without axes
    near = low = high = _nearest(flat, denominator)
    if half:
        found = None if decimals is None else _in_decimals(flat, denominator, half, decimals)
        low, high = _around(near, half) if found is None else found
    return near.reshape(values.shape), low.reshape(values.shape), high.reshape(values.shape)


def ends_of_parts(values: Integers, denominator: int, parts: Sequence[tuple[Place, Fraction]], decimals: int | None) -> Ends:
    """The same for cells in parts with half-widths of their own, which are all of the table."""
    if len(parts) == 1:
        return ends_of(values, denominator, parts[0][1], decimals)
    found = (np.zeros(values.shape), np.zeros(values.shape), np.zeros(values.shape))
    for cells, half in parts:
        place = cells.index
        for whole, one in zip(found, ends_of(values[place], denominator, half, decimals), strict=True):
            whole[place] = one
    return found


def decimals_of_parts(parts: Sequence[tuple[Place, Fraction]]) -> int | None:
    """The decimals that suit the narrowest intervals of a table; None where there is no noise."""
    return decimals_of(min((half for _, half in parts if half), default=Fraction(0)))


def ends_of_rows(values: Integers, denominator: int, halves: Floats, decimals: int | None) -> Ends:
    """The same for rows of cells, each row with a half-width of its own, which is a double; shape (rows, cells)."""
    near = _nearest(values, denominator)
    low, high = near.copy(), near.copy()
    found = None if decimals is None else _rows_in_decimals(values, denominator, halves, decimals)
    within = np.zeros(len(values), dtype=bool) if found is None else found[2]
    if found is not None:
        low[within], high[within] = found[0][within], found[1][within]
    for row in np.flatnonzero((halves > 0) & ~within).tolist():
        low[row], high[row] = _around(near[row], Fraction(float(halves[row])))
    return near, low, high


def _rows_in_decimals(
    values: Integers, denominator: int, halves: Floats, decimals: int
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The ends in decimals, and of which rows; where doubles are too coarse for them, or a row has no noise, of none."""
    unit = 10**decimals
    below, whole = _in_units(values, denominator, unit)
    largest = np.maximum(whole.max(axis=1), -whole.min(axis=1)).astype(np.float64) * unit + halves * unit + 2
    # The product is rounded, perhaps down; 1/64 as in `_in_decimals`.
    width = np.ceil(halves * unit * (1 + 2.0**-50) + 1 / 64)[:, np.newaxis]
    fits = (halves > 0) & (largest < _MOST_UNITS)
    return (below - width) / unit, (below + 1 + width) / unit, fits


def _in_units(values: Integers, denominator: int, unit: int) -> tuple[Integers, Integers]:
    """The numbers of whole units in the cells, rounded down, and the cells themselves rounded down."""
    if not (denominator * unit < 1 << 61 and has_room(values // denominator, unit)):
        values = values.astype(np.object_)
    whole = values // denominator
    below = whole * unit + (values - whole * denominator) * unit // denominator
    return below.astype(np.float64), whole


def _nearest(values: Integers, denominator: int) -> Floats:
    """Numerators and denominators that are doubles are divided with one rounding, as Python divides any integers."""
    largest = max(denominator, int(values.max()), -int(values.min())) if values.size else denominator
    divided: NDArray[Any] = (values if largest < _WHOLE else values.astype(np.object_)) / denominator
    return divided.astype(np.float64)


def _in_decimals(values: Integers, denominator: int, half: Fraction, decimals: int) -> tuple[Floats, Floats] | None:
    """The ends in decimals; None where doubles are too coarse for them."""
    unit = 10**decimals
    if values.dtype != np.object_ and denominator * unit >= 1 << 62:
        values = values.astype(np.object_)
    whole = values // denominator
    if values.size and max(int(whole.max()), -int(whole.min())) * unit + half * unit + 2 >= _MOST_UNITS:
        return None
    below: NDArray[np.int64] = (whole * unit + (values - whole * denominator) * unit // denominator).astype(np.int64)
    # 1/64 covers the distance from a decimal to its double: low ≤ value - half, and value + half ≤ high.
    width = ceil(half * unit + Fraction(1, 64))
    return (below - width) / unit, (below + 1 + width) / unit


def _around(near: Floats, half: Fraction) -> tuple[Floats, Floats]:
    width = float_up(half)
    # The next double below the nearest one is below the value; one step more covers the rounding of the difference.
    low = np.nextafter(np.nextafter(near, -np.inf) - width, -np.inf)
    high = np.nextafter(np.nextafter(near, np.inf) + width, np.inf)
    return low, high
