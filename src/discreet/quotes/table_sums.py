"""The sums of cells of a table that are public: cells in which nobody can be, and what published totals say of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import TableCounts
from discreet.domain.origins import covers, says_more
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
    """The public sums of the cells of a table, but for those that make effects of the table public.

    Lists of all groups make the effects of their columns public, and say more where a column of the table is finer than one
    of theirs. None where nothing is worked out.
    """
    counted = space.counting(query)
    if counted is None:
        return []
    empty = np.setdiff1d(np.arange(counted.cells, dtype=np.int64), counted.held)
    found = [PublicSum(empty[place : place + 1], None, 0) for place in range(len(empty))]
    totals, own = space.beside.totals, [group.column for group in query.groups if group.column in plan.schema.columns]
    parts = [part for part in space.beside.invariants.parts if _is_no_effect(part, own, plan.schema)]
    if totals is None or not parts:
        return found
    if counted.structure is not None:
        for labels, sums in exact_sums(counted.structure):
            found += _by_label(labels, sums.tolist(), None)
    view = view_of(plan, space.beside.invariants.columns, query.rows)
    if view is not None and view.kept:
        for part in parts:
            found += _sums_of_statement(plan.schema, view, space.beside, (part, own))
    return found


def _by_label(labels: NDArray[np.int64], totals: Sequence[int], listed: frozenset[str] | None) -> Iterator[PublicSum]:
    """The sums of the cells with each label, in their order."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(len(totals) + 1))
    for number, total in enumerate(totals):
        yield PublicSum(order[starts[number] : starts[number + 1]], None, total, listed)


def _is_no_effect(part: ExactStatement, own: Sequence[str], schema: Schema) -> bool:
    """True if it says what effects do not: of some groups alone, of sums of values, or of groups of what a table shows."""
    match part:
        case TotalsStatement(only=only):
            return only is not None or says_more(part.columns, own, schema)
        case LinearStatement() | RangesStatement():
            return True
        case OccupiedStatement() | ImpossibleStatement() | FloorStatement():
            return False
    raise unreachable(part)


def _sums_of_statement(
    schema: Schema, view: View, exact: ExactTotals, said: tuple[ExactStatement, Sequence[str]]
) -> Iterator[PublicSum]:
    """The sums of a statement that are sums of cells of the table by its own columns: a cell has one coefficient."""
    part, own = said
    if exact.totals is None:
        return
    columns = view.columns
    alive, cells = alive_cells(exact, schema, columns).ravel(), positions(view, columns)
    at, place = totals_cells.positions(part.columns, columns, schema)[alive], joint_places(view, columns).ravel()[alive]
    if isinstance(part, TotalsStatement):
        labels, sums = _labelled(part, exact.totals, own, schema)
        yield from _sums_of_list(part, labels[at], sums, (place, cells))
        return
    for coefficients, total in _equations(part, exact.totals, schema):
        found = _per_cell(coefficients[at], place, len(cells))
        if found is not None:
            inside = np.flatnonzero(found)
            factors = np.repeat(found[inside], cells.shape[1])
            yield PublicSum(cells[inside].ravel(), None if (factors == 1).all() else factors, total)


def _sums_of_list(
    part: TotalsStatement,
    labels: NDArray[np.int64],
    sums: Sequence[int],
    placed: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> Iterator[PublicSum]:
    """The sums of a list that are sums of cells, named as of the list where all of a list of all groups are."""
    place, cells = placed
    found, apart = _label_of_places(labels, place, len(cells), len(sums))
    whole = part.only is not None or not apart[labels[place >= 0]].any()
    flat = np.full(cells.size, -1, dtype=np.int64)
    flat[cells] = found[:, None]
    each = _by_label(flat, sums, frozenset(part.columns) if whole else None)
    yield from (one for one, differs in zip(each, apart[:-1].tolist(), strict=True) if not differs)


def _labelled(
    part: TotalsStatement, totals: PublishedTotals, own: Sequence[str], schema: Schema
) -> tuple[NDArray[np.int64], list[int]]:
    """For each cell of the columns of a list the number of its sum, or -1, and the sums.

    A list of all groups is added up over the columns that the columns of the table do not determine.
    """
    shape = totals_cells.shape_of(part.columns, schema)
    if part.only is None:
        counts, kept = totals.counts(part, schema), [covers(own, (name,), schema) for name in part.columns]
        across = [size if keeps else 1 for size, keeps in zip(shape, kept, strict=True)]
        numbers = np.arange(prod(across), dtype=np.int64).reshape(across)
        labels = np.broadcast_to(numbers, shape).ravel()
        sums = np.zeros(prod(across), dtype=np.int64)
        np.add.at(sums, labels, counts)
        return labels, sums.tolist()
    labels, listed = np.full(prod(shape), -1, dtype=np.int64), totals.value(part)
    labels[cell_numbers(part, schema)] = np.arange(len(listed))
    return labels, [*listed]


def _label_of_places(
    labels: NDArray[np.int64], place: NDArray[np.int64], places: int, many: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The label of the rows of each place, -1 for none; and for each label, and -1, whether no sum of places is what has it.

    That is so where rows of one place have different labels, or rows of none have one.
    """
    found = np.full(places, -1, dtype=np.int64)
    inside = place >= 0
    found[place[inside]] = labels[inside]
    differ = inside & (found[place] != labels)
    apart = np.zeros(many + 1, dtype=bool)
    for one in (labels[~inside], labels[differ], found[place[differ]]):
        apart[one] = True
    return np.where(apart[found], -1, found), apart


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
        case TotalsStatement() | OccupiedStatement() | ImpossibleStatement() | FloorStatement():
            return
        case _:
            raise unreachable(part)


def _indicator(size: int, number: int) -> NDArray[np.int64]:
    found = np.zeros(size, dtype=np.int64)
    found[number] = 1
    return found
