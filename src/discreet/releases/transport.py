"""Whole tables with given sums: roundings of tables of real numbers, completed by an integral flow.

A table with given sums of its rows, and of its columns within groups of rows, is a transportation problem for each group:
wherever a table of real numbers has the sums there is a rounding of it, up or down, that has them too, because the vertices
of such a polytope are whole (Birkhoff and von Neumann; Ford and Fulkerson, Flows in Networks, 1962). So whole numbers are
found by a maximum flow and never by a search (docs/proofs/areas.md, K5).
"""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from discreet.errors import InternalError

__all__ = ["round_columns", "round_rows", "round_table"]

_NEAR = 1e-6  # so near to a whole number, a real one is taken for it
_ROUNDS = 4  # of offers of rows to columns; what is missing then is found by a flow

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Codes = NDArray[np.int64]


def round_rows(real: Floats, rows: Whole) -> Whole:
    """Integers with these sums of rows: the largest fractions are rounded up.

    Args:
        real: shape (rows, columns), not negative.
        rows: the sum of each row, not negative.
    """
    found = _floor(real)
    _take_away(found, rows)
    keys = np.repeat(np.arange(len(real)), real.shape[1])
    _fill(found.reshape(-1), real.ravel(), keys, rows - found.sum(axis=1))
    return _checked(found, rows, found.sum(axis=1))


def round_columns(real: Floats, groups: Codes, columns: Whole) -> Whole:
    """Integers with these sums of columns within groups of rows: the largest fractions are rounded up.

    Args:
        real: shape (rows, columns), not negative.
        groups: for each row its group, ascending.
        columns: the sums, shape (groups, columns), not negative.
    """
    found, many = _floor(real), real.shape[1]
    _take_away_columns(found, groups, columns)
    keys = (groups[:, np.newaxis] * many + np.arange(many)).ravel()
    _fill(found.reshape(-1), real.ravel(), keys, (columns - _added(found, groups, len(columns))).ravel())
    return _checked(found, columns, _added(found, groups, len(columns)))


def round_table(real: Floats, rows: Whole, groups: Codes, columns: Whole) -> Whole:
    """Integers with these sums of rows, and of columns within groups of rows; large fractions are rounded up first.

    Each number is the real one rounded down or up, unless the real ones miss the sums so far that there is no such table.

    Args:
        real: shape (rows, columns), not negative.
        rows: the sum of each row, not negative.
        groups: for each row its group, ascending.
        columns: the sums of columns, shape (groups, columns), not negative; those of a group add up to what its rows do.

    Raises:
        InternalError: the sums do not agree, or the result does not have them (never returned).
    """
    if (_added(rows[:, np.newaxis], groups, len(columns))[:, 0] != columns.sum(axis=1)).any() or min(
        int(rows.min()), int(columns.min())
    ) < 0:
        raise InternalError("the sums of rows and columns must agree")
    found = _floor(real)
    _take_away(found, rows)
    _take_away_columns(found, groups, columns)
    rest = np.where(real - found > _NEAR, real - found, 0)
    up = np.zeros(found.shape, dtype=bool)
    short, wide = rows - found.sum(axis=1), columns - _added(found, groups, len(columns))
    _offer(up, rest, groups, (short, wide))
    if short.any():
        _flow(up, rest > 0, groups, (short, wide))
    found += up
    if short.any():
        _add_anywhere(found, groups, short, wide)
    _checked(found, columns, _added(found, groups, len(columns)))
    return _checked(found, rows, found.sum(axis=1))


def _floor(real: Floats) -> Whole:
    found: Whole = np.floor(real + _NEAR).astype(np.int64, order="C")  # so that `_fill` adds to it, and not to a copy
    return found


def _added(values: Whole, groups: Codes, many: int) -> Whole:
    """The sums of the columns within each group, of which none is empty."""
    return np.asarray(np.add.reduceat(values, np.searchsorted(groups, np.arange(many)), axis=0))


def _checked(found: Whole, wanted: Whole, sums: Whole) -> Whole:
    if (found < 0).any() or (wanted != sums).any():
        raise InternalError("a table does not have its sums")
    return found


def _take_away(found: Whole, sums: Whole) -> None:
    """Makes no row larger than its sum: real numbers may be above what was wanted of them."""
    over = found.sum(axis=1) - sums
    for row in np.flatnonzero(over > 0):
        for column in np.argsort(-found[row]):
            less = min(int(over[row]), int(found[row, column]))
            found[row, column] -= less
            over[row] -= less


def _take_away_columns(found: Whole, groups: Codes, columns: Whole) -> None:
    over = _added(found, groups, len(columns)) > columns
    for group in np.flatnonzero(over.any(axis=1)):
        own = slice(*np.searchsorted(groups, (group, group + 1)))
        part = found[own].T.copy()
        _take_away(part, columns[group])
        found[own] = part.T


def _fill(found: Whole, real: Floats, keys: Codes, missing: Whole) -> None:
    """Adds what is missing under each key, one by one to the numbers that are furthest below the real ones."""
    while missing.any():
        most = _first(keys, found - real, missing)
        found[most] += 1
        missing = missing - np.bincount(keys[most], minlength=len(missing))


def _first(keys: Codes, order: Floats, many: Whole) -> NDArray[np.bool_]:
    """Of the elements of each key so many, the least in this order; of equal ones the first."""
    sorted_ = np.lexsort((order, keys))
    own = keys[sorted_]
    rank = np.arange(len(own)) - np.searchsorted(own, own)
    found = np.zeros(len(keys), dtype=bool)
    found[sorted_] = rank < many[own]
    return found


def _offer(up: NDArray[np.bool_], rest: Floats, groups: Codes, missing: tuple[Whole, Whole]) -> None:
    """Rows offer their largest fractions, columns take the largest of these; both as many as they miss, a few times."""
    short, wide = missing
    row, column = np.nonzero(rest)
    fractions, many = -rest[row, column], rest.shape[1]
    for _ in range(_ROUNDS):
        free = (short[row] > 0) & (wide[groups[row], column] > 0) & ~up[row, column]
        if not free.any():
            return
        row, column, fractions = row[free], column[free], fractions[free]
        offered = np.flatnonzero(_first(row, fractions, short))
        keys = groups[row[offered]] * many + column[offered]
        taken = offered[_first(keys, fractions[offered], wide.ravel())]
        up[row[taken], column[taken]] = True
        short -= np.bincount(row[taken], minlength=len(short))
        np.subtract.at(wide, (groups[row[taken]], column[taken]), 1)


def _flow(up: NDArray[np.bool_], free: NDArray[np.bool_], groups: Codes, missing: tuple[Whole, Whole]) -> None:
    """Rounds up what rows and columns still miss, as far as that is possible, by a maximum flow through the fractions.

    From a row that misses something the flow goes up a fraction to a column, and back to a row by one that is rounded up and
    then is not any more.
    """
    short, wide = missing
    lacking = np.unique(groups[short > 0])
    rows = np.flatnonzero(np.isin(groups, lacking))
    own, many = np.searchsorted(lacking, groups[rows]), up.shape[1]
    row, column = np.nonzero(free[rows])
    ends = len(rows) + own[row] * many + column
    taken = up[rows[row], column]
    source, sink = len(rows) + len(lacking) * many, len(rows) + len(lacking) * many + 1
    tails = [np.where(taken, ends, row), np.full(len(rows), source), np.arange(len(rows), source)]
    heads = [np.where(taken, row, ends), np.arange(len(rows)), np.full(source - len(rows), sink)]
    room = [np.ones(len(row), np.int64), short[rows], wide[lacking].ravel()]
    tail, head, capacity = (np.concatenate(one) for one in (tails, heads, room))
    used = capacity > 0
    graph = csr_array((capacity[used].astype(np.int32), (tail[used], head[used])), shape=(sink + 1, sink + 1))
    flow = maximum_flow(graph, source, sink).flow.tocoo()
    # Of each cell the flow up, or less than 0 back: each is there once in this direction.
    mine = (flow.row < len(rows)) & (flow.col >= len(rows)) & (flow.col < source) & (flow.data != 0)
    row, place, change = flow.row[mine], flow.col[mine] - len(rows), flow.data[mine].astype(np.int64)
    up[rows[row], place % many] = change > 0
    np.subtract.at(short, rows[row], change)
    np.subtract.at(wide, (lacking[place // many], place % many), change)


def _add_anywhere(found: Whole, groups: Codes, short: Whole, wide: Whole) -> None:
    """Where real numbers missed the sums by so much that there is no rounding, one more in any short row and column."""
    for row in np.flatnonzero(short):
        columns = chain.from_iterable([column] * int(many) for column, many in enumerate(wide[groups[row]].tolist()))
        for column, _ in zip(columns, range(int(short[row])), strict=False):
            found[row, column] += 1
            wide[groups[row], column] -= 1
