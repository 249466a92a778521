"""Whole numbers with given sums: roundings of real numbers, completed by an integral flow.

Cells of which each is in one sum of rows and in one sum of columns are a transportation problem. Wherever real numbers have
the sums there is a rounding of them, up or down, that has them too, because the vertices of such a polytope are whole
(Birkhoff and von Neumann; Ford and Fulkerson, Flows in Networks, 1962). So whole numbers are found by a maximum flow and
never by a search (docs/proofs/areas.md, K5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

from discreet.errors import InternalError

__all__ = ["WholeSums", "round_cells", "round_table"]

_NEAR = 1e-6  # so near to a whole number, a real one is taken for it
_ROUNDS = 4  # of offers of rows to columns; what is missing then is found by a flow

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class WholeSums:
    """Sums of one kind: each cell is in one of them.

    Args:
        places: for each cell the place of its sum.
        values: the sums, not negative.
    """

    places: Codes
    values: Whole

    def of(self, cells: Whole) -> Whole:
        """The sums of some numbers."""
        found = np.zeros(len(self.values), dtype=np.int64)
        np.add.at(found, self.places, cells)
        return found

    def part(self, cells: Codes) -> WholeSums:
        """The sums of some cells; these are all of any sum that has one of them."""
        those, places = np.unique(self.places[cells], return_inverse=True)
        return WholeSums(places, self.values[those])


def round_cells(real: Floats, sums: WholeSums) -> Whole:
    """Integers with these sums: the largest fractions are rounded up.

    Args:
        real: a number for each cell, not negative.
        sums: each of some cells, or 0.

    Raises:
        InternalError: the result does not have the sums (never returned).
    """
    found = _floor(real)
    _take_away(found, sums)
    missing = sums.values - sums.of(found)
    while missing.any():
        most = _first(sums.places, found - real, missing)
        found[most] += 1
        missing = missing - np.bincount(sums.places[most], minlength=len(missing))
    return _checked(found, sums)


def round_table(real: Floats, rows: WholeSums, columns: WholeSums) -> Whole:
    """Integers with these sums of rows and columns; large fractions are rounded up first.

    Each number is the real one rounded down or up, unless the real ones miss the sums so far that there are no such numbers.

    Args:
        real: a number for each cell, not negative.
        rows: the sums of the rows.
        columns: those of the columns. Where rows and columns hang together by cells, they add up to the same, and a row and
            a column whose sums are not 0 have a cell.

    Raises:
        InternalError: the sums do not agree, or the result does not have them (never returned).
    """
    if rows.values.sum() != columns.values.sum() or min(rows.values.min(initial=0), columns.values.min(initial=0)) < 0:
        raise InternalError("the sums of rows and columns must agree")
    found = _floor(real)
    _take_away(found, rows)
    _take_away(found, columns)
    rest = np.where(real - found > _NEAR, real - found, 0)
    up = np.zeros(found.shape, dtype=bool)
    short, wide = rows.values - rows.of(found), columns.values - columns.of(found)
    _offer(up, rest, (rows.places, columns.places), (short, wide))
    if short.any():
        _flow(up, rest > 0, (rows.places, columns.places), (short, wide))
    found += up
    for row in np.flatnonzero(short):
        # Real numbers missed the sums by so much that there is no rounding: more in any cell of a short row and column.
        for cell in np.flatnonzero(rows.places == row):
            more = min(short[row], wide[columns.places[cell]])
            found[cell] += more
            short[row] -= more
            wide[columns.places[cell]] -= more
    return _checked(_checked(found, columns), rows)


def _floor(real: Floats) -> Whole:
    found: Whole = np.floor(real + _NEAR).astype(np.int64)
    return found


def _checked(found: Whole, sums: WholeSums) -> Whole:
    if (found < 0).any() or (sums.values != sums.of(found)).any():
        raise InternalError("whole numbers do not have their sums")
    return found


def _take_away(found: Whole, sums: WholeSums) -> None:
    """Makes no sum too large: real numbers may be above what was wanted of them."""
    over = sums.of(found) - sums.values
    if (over <= 0).all():
        return
    order = np.argsort(sums.places, kind="stable")
    ends = np.searchsorted(sums.places[order], np.arange(len(over) + 1))
    for place in np.flatnonzero(over > 0):
        own = order[ends[place] : ends[place + 1]]
        for cell in own[np.argsort(-found[own], kind="stable")]:
            less = min(over[place], found[cell])
            found[cell] -= less
            over[place] -= less


def _first(keys: Codes, order: Floats, many: Whole) -> NDArray[np.bool_]:
    """Of the elements of each key so many, the least in this order; of equal ones the first."""
    sorted_ = np.lexsort((order, keys))
    own = keys[sorted_]
    rank = np.arange(len(own)) - np.searchsorted(own, own)
    found = np.zeros(len(keys), dtype=bool)
    found[sorted_] = rank < many[own]
    return found


def _offer(up: NDArray[np.bool_], rest: Floats, places: tuple[Codes, Codes], missing: tuple[Whole, Whole]) -> None:
    """Rows offer their largest fractions, columns take the largest of these; both as many as they miss, a few times."""
    short, wide = missing
    cells = np.flatnonzero(rest)
    for _ in range(_ROUNDS):
        row, column = (own[cells] for own in places)
        free = (short[row] > 0) & (wide[column] > 0) & ~up[cells]
        if not free.any():
            return
        cells, row, column = cells[free], row[free], column[free]
        offered = np.flatnonzero(_first(row, -rest[cells], short))
        taken = offered[_first(column[offered], -rest[cells[offered]], wide)]
        up[cells[taken]] = True
        np.subtract.at(short, row[taken], 1)
        np.subtract.at(wide, column[taken], 1)


def _flow(up: NDArray[np.bool_], free: NDArray[np.bool_], places: tuple[Codes, Codes], missing: tuple[Whole, Whole]) -> None:
    """Rounds up what rows and columns still miss, as far as that is possible, by a maximum flow through the fractions.

    From a row that misses something the flow goes up a fraction to a column, and back to a row by one that is rounded up and
    then is not any more.
    """
    short, wide = missing
    cells = _within_reach(np.flatnonzero(free), places, short)
    rows, row = np.unique(places[0][cells], return_inverse=True)
    columns, column = np.unique(places[1][cells], return_inverse=True)
    source, sink = len(rows) + len(columns), len(rows) + len(columns) + 1
    column += len(rows)
    taken = up[cells]
    tails = [np.where(taken, column, row), np.full(len(rows), source), np.arange(len(rows), source)]
    heads = [np.where(taken, row, column), np.arange(len(rows)), np.full(len(columns), sink)]
    room = [np.ones(len(cells), np.int64), short[rows], wide[columns]]
    tail, head, capacity = (np.concatenate(one) for one in (tails, heads, room))
    used = capacity > 0
    graph = csr_array((capacity[used].astype(np.int32), (tail[used], head[used])), shape=(sink + 1, sink + 1))
    flow = maximum_flow(graph, source, sink).flow.tocoo()
    # Of each cell the flow up, or less than 0 back: each is there once in this direction.
    mine = (flow.row < len(rows)) & (flow.col >= len(rows)) & (flow.col < source) & (flow.data != 0)
    keys = row * source + column
    order = np.argsort(keys)
    moved = order[np.searchsorted(keys[order], flow.row[mine].astype(np.int64) * source + flow.col[mine])]
    change = flow.data[mine].astype(np.int64)
    up[cells[moved]] = change > 0
    np.subtract.at(short, rows[row[moved]], change)
    np.subtract.at(wide, columns[column[moved] - len(rows)], change)


def _within_reach(cells: Codes, places: tuple[Codes, Codes], short: Whole) -> Codes:
    """The cells that hang together with a row that misses something."""
    row, column = (own[cells] for own in places)
    nodes = len(short) + (int(column.max()) + 1 if len(cells) else 0)
    graph = csr_array((np.ones(len(cells), np.int8), (row, len(short) + column)), shape=(nodes, nodes))
    _, part = connected_components(graph, directed=False)
    return cells[np.isin(part[row], part[: len(short)][short > 0])]
