"""The sums of cells of a table that are public: cells in which nobody can be, and what published totals say of others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import TableCounts
from discreet.domain.schema import Schema
from discreet.errors import unreachable
from discreet.plan.plan import Plan
from discreet.quotes.lattice import joint_places
from discreet.quotes.space import Space
from discreet.quotes.view import View, positions, view_of
from discreet.statistics.public_totals import PublicSum
from discreet.totals import cells as totals_cells
from discreet.totals.exact_totals import ExactTotals, alive_cells
from discreet.totals.published import PublishedTotals, cell_numbers
from discreet.totals.statements import (
    ExactStatement,
    FloorStatement,
    ImpossibleStatement,
    LinearStatement,
    OccupiedStatement,
    RangesStatement,
    TotalsStatement,
)
from discreet.totals.structure import exact_sums

__all__ = ["sums_of_table"]

Equation = tuple[NDArray[np.int64], int]
"""A coefficient for each joint level of some columns, and the public sum over all rows."""


def sums_of_table(plan: Plan, space: Space, query: TableCounts) -> list[PublicSum]:
    """The public sums of the cells of a table, but for those that follow from lists of all groups.

    These make the effects of their columns public. None where nothing is worked out.
    """
    counted = space.counting(query)
    if counted is None:
        return []
    empty = np.setdiff1d(np.arange(counted.cells, dtype=np.int64), counted.held)
    found = [PublicSum(empty[place : place + 1], None, 0) for place in range(len(empty))]
    totals, parts = space.beside.totals, space.beside.invariants.parts
    if totals is None or not any(map(_is_of_some, parts)):
        return found
    if counted.structure is not None:
        for labels, sums in exact_sums(counted.structure):
            order = np.argsort(labels, kind="stable")
            starts = np.searchsorted(labels[order], np.arange(len(sums) + 1))
            for number, total in enumerate(sums.tolist()):
                found.append(PublicSum(order[starts[number] : starts[number + 1]], None, total))
    view = view_of(plan, space.beside.invariants.columns, query.rows)
    if view is not None and view.kept:
        found += _sums_of_statements(plan.schema, view, space.beside)
    return found


def _is_of_some(part: ExactStatement) -> bool:
    """True if it says of some groups alone, or of sums of values, what is known."""
    match part:
        case TotalsStatement(only=only):
            return only is not None
        case LinearStatement() | RangesStatement():
            return True
        case OccupiedStatement() | ImpossibleStatement() | FloorStatement():
            return False
    raise unreachable(part)


def _sums_of_statements(schema: Schema, view: View, exact: ExactTotals) -> Iterator[PublicSum]:
    """The sums of statements that are sums of cells of the table: all rows of a cell have one coefficient."""
    columns = view.columns
    place = joint_places(view, columns).ravel()
    alive = alive_cells(exact, schema, columns).ravel()
    cells = positions(view, columns)
    for part in exact.invariants.parts:
        if exact.totals is None or not _is_of_some(part):
            continue
        own = totals_cells.positions(part.columns, columns, schema)
        for coefficients, total in _equations(part, exact.totals, schema):
            found = _per_cell(coefficients[own][alive], place[alive], len(cells))
            if found is not None:
                inside = np.flatnonzero(found)
                factors = np.repeat(found[inside], cells.shape[1])
                listed = frozenset(part.columns) if isinstance(part, TotalsStatement) else None
                yield PublicSum(cells[inside].ravel(), None if (factors == 1).all() else factors, total, listed)


def _per_cell(coefficients: NDArray[np.int64], place: NDArray[np.int64], cells: int) -> NDArray[np.int64] | None:
    """The coefficient of each cell; None where rows of one cell have different ones, or rows of none have any."""
    if coefficients[place < 0].any():
        return None
    own, values = place[place >= 0], coefficients[place >= 0]
    found = np.zeros(cells, dtype=np.int64)
    found[own] = values
    return found if (found[own] == values).all() else None


def _equations(part: ExactStatement, totals: PublishedTotals, schema: Schema) -> Iterator[Equation]:
    size = totals_cells.domain_size(part.columns, schema)
    match part:
        case TotalsStatement():
            for number, value in zip(cell_numbers(part, schema).tolist(), totals.value(part), strict=True):
                yield _indicator(size, number), value
        case RangesStatement():
            least, most = totals.ranges(part)
            exactly = np.flatnonzero(least == most)
            for number, value in zip(cell_numbers(part, schema)[exactly].tolist(), least[exactly].tolist(), strict=True):
                yield _indicator(size, number), value
        case LinearStatement(rows=rows):
            for row, value in zip(rows, totals.value(part), strict=True):
                coefficients = np.zeros(size, dtype=np.int64)
                for cell, factor in row:
                    coefficients[totals_cells.cell_index(cell, part.columns, schema)] = factor
                yield coefficients, value
        case OccupiedStatement() | ImpossibleStatement() | FloorStatement():
            return
        case _:
            raise unreachable(part)


def _indicator(size: int, number: int) -> NDArray[np.int64]:
    found = np.zeros(size, dtype=np.int64)
    found[number] = 1
    return found
