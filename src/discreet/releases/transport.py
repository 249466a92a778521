"""Whole tables with given sums: the nearest ones that are not negative, rounded by an integral flow.

A table with given sums of its rows and columns is a transportation problem: wherever the sums agree there is a table of
non-negative real numbers, and a rounding of it up or down with the same sums, because the vertices of such a polytope are
whole (Birkhoff and von Neumann; Ford and Fulkerson, Flows in Networks, 1962). So whole numbers are found by augmenting paths
and never by a search (docs/proofs/areas.md, K5).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError

__all__ = ["divide", "transport"]

_SWEEPS = 300
_NEAR = 1e-6  # of a row, by which its sum may be missed before it is rounded

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Cells = NDArray[np.bool_]


def transport(wanted: Floats, weights: Floats, rows: Whole, columns: Whole) -> Whole:
    """A table of non-negative integers with these sums, a rounding of the nearest table of real numbers.

    Args:
        wanted: shape (rows, columns).
        weights: of the squared differences, positive, the same shape.
        rows: the sum of each row, none negative.
        columns: the sum of each column, none negative; they add up to what the rows do.

    Raises:
        InternalError: the sums do not agree, or the result does not have them (never returned).
    """
    if int(rows.sum()) != int(columns.sum()) or min(int(rows.min()), int(columns.min())) < 0:
        raise InternalError("the sums of rows and columns must agree")
    real = _nearest(wanted, weights, rows, columns)
    found = _round(real, rows, columns)
    if (found < 0).any() or (found.sum(axis=1) != rows).any() or (found.sum(axis=0) != columns).any():
        raise InternalError("a table does not have its sums")
    return found


def divide(wanted: Floats, weights: Floats, total: int) -> Whole:
    """Non-negative integers with this sum, a rounding of the nearest real ones.

    Args:
        wanted: shape (numbers,).
        weights: of the squared differences, positive.
        total: the sum, not negative.
    """
    level = _level((weights * wanted)[np.newaxis], weights[np.newaxis], np.array([total]))[0]
    real = np.maximum(0, wanted + level / weights)
    found: Whole = np.floor(real + _NEAR).astype(np.int64)
    _take_away(found[np.newaxis], np.array([total]))
    up = np.argsort(found - real, kind="stable")[: total - int(found.sum())]
    found[up] += 1
    if int(found.sum()) != total or (found < 0).any():
        raise InternalError("numbers do not have their sum")
    return found


# Real numbers ---------------------------------------------------------------------------------------------------------


def _nearest(wanted: Floats, weights: Floats, rows: Whole, columns: Whole) -> Floats:
    """About the non-negative table with these sums that has the least weighted sum of squared differences.

    It is max(0, wanted + (u + v)/weights) for a number u of each row and v of each column; rows and columns are met in turn.
    """
    scaled = weights * wanted
    down = np.zeros(len(columns))
    found = wanted
    for _ in range(_SWEEPS):
        across = _level(scaled + down, weights, rows)
        down = _level((scaled + across[:, np.newaxis]).T, weights.T, columns)
        found = np.maximum(0, (scaled + across[:, np.newaxis] + down) / weights)
        if (np.abs(found.sum(axis=1) - rows) <= _NEAR).all():
            break
    return found


def _level(scaled: Floats, weights: Floats, sums: Whole) -> Floats:
    """For each row the u with Σ max(0, (scaled + u)/weight) = its sum."""
    order = np.argsort(-scaled, axis=1)
    high = np.take_along_axis(scaled, order, axis=1)
    parts = 1 / np.take_along_axis(weights, order, axis=1)
    slope = np.cumsum(parts, axis=1)
    # With the first k numbers above 0: u = (sum - Σ scaled/weight) / Σ 1/weight; the k-th is, if scaled_k + u > 0.
    levels = (sums[:, np.newaxis] - np.cumsum(high * parts, axis=1)) / slope
    many = np.maximum(1, (high + levels > 0).sum(axis=1))
    found: Floats = np.where(sums > 0, np.take_along_axis(levels, many[:, np.newaxis] - 1, axis=1)[:, 0], -high[:, 0])
    return found


# Whole numbers --------------------------------------------------------------------------------------------------------


def _round(real: Floats, rows: Whole, columns: Whole) -> Whole:
    """A table of integers with the sums: what is missing after rounding down goes to cells, the largest fractions first."""
    found = np.floor(real + _NEAR).astype(np.int64)
    _take_away(found, rows)
    _take_away(found.T, columns)
    rest = real - found
    short, wide = rows - found.sum(axis=1), columns - found.sum(axis=0)
    up = np.zeros(found.shape, dtype=bool)
    for row, column in zip(*np.unravel_index(np.argsort(-rest, axis=None), rest.shape), strict=True):
        if short[row] and wide[column] and rest[row, column] > _NEAR:
            up[row, column] = True
            short[row] -= 1
            wide[column] -= 1
    added = _complete(up, (rest > _NEAR) & ~up, short, wide)
    return found + up + added


def _take_away(found: Whole, sums: Whole) -> None:
    """Makes no row larger than its sum: floats may have been rounded up to the next integer."""
    over = found.sum(axis=1) - sums
    for row in np.flatnonzero(over > 0):
        for column in np.argsort(-found[row]):
            less = min(int(over[row]), int(found[row, column]))
            found[row, column] -= less
            over[row] -= less


def _complete(up: Cells, free: Cells, short: Whole, wide: Whole) -> Whole:
    """Rounds rows and columns that are short along augmenting paths; adds elsewhere what no path brings.

    A path leads from a row that is short to a column by a cell that is rounded up, from there to a row by one that is not
    any more, and so on to a column that is short. There is one as long as the real table has the sums (max-flow min-cut).
    Where floats missed them by so much that there is none, one more in any cell of a short row and column has the sums too.
    """
    added = np.zeros(up.shape, dtype=np.int64)
    for row in np.flatnonzero(short):
        for _ in range(int(short[row])):
            path = _path(up, free, int(row), wide)
            end = path[-1][1] if path else int(np.flatnonzero(wide)[0])
            for place, cell in enumerate(path):
                up[cell], free[cell] = place % 2 == 0, place % 2 == 1
            added[row, end] += not path
            wide[end] -= 1
    return added


def _path(up: Cells, free: Cells, row: int, wide: Whole) -> list[tuple[int, int]]:
    """The cells of a shortest augmenting path from a row, the first of which is rounded up; none if there is no path."""
    before: dict[int, tuple[int, int]] = {}  # of each column: the row that led to it, and of the row the column
    rows, seen = {row: -1}, [row]
    for own in seen:
        for column in np.flatnonzero(free[own]).tolist():
            if column in before:
                continue
            before[column] = (own, rows[own])
            if wide[column]:
                return _back(before, column)
            for other in np.flatnonzero(up[:, column]).tolist():
                if other not in rows:
                    rows[other] = column
                    seen.append(other)
    return []


def _back(before: dict[int, tuple[int, int]], column: int) -> list[tuple[int, int]]:
    """The cells that lead to a column, in order."""
    path: list[tuple[int, int]] = []
    while column >= 0:
        row, above = before[column]
        path.append((row, column))
        if above >= 0:
            path.append((row, above))
        column = above
    return path[::-1]
