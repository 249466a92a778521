"""Published totals that cannot all be true. The numbers are public, so a message may show the two that differ."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.domain.origins import shared_columns
from discreet.domain.schema import Schema
from discreet.errors import PlanError, printed
from discreet.exact.canonical import canonical
from discreet.totals.cells import cell_at, cell_index, domain_size, positions
from discreet.totals.published import PublishedTotals, cell_numbers
from discreet.totals.statements import LinearStatement, OccupiedStatement, RangesStatement, TotalsStatement

__all__ = ["refuse_contradictions"]

_MANY = 2**40
"""More rows than a table has, and few enough that a million such counts can be added."""


def refuse_contradictions(totals: PublishedTotals, schema: Schema) -> None:
    """No two published numbers contradict each other.

    Compared are all pairs of tables on the columns that they share, the number of rows, occupied with counted cells, and
    sums with their range. This finds what two numbers show; a contradiction among three may remain (three two-way
    margins that no table has), and then no data can ever match the totals.

    Raises:
        PlanError: two numbers differ; the message shows both.
    """
    tables = [part for part in totals.invariants.parts if isinstance(part, TotalsStatement)]
    for first, second in combinations(tables, 2):
        _compare(first, second, totals, schema)
    for table in tables:
        _check_rows(table, totals)
    for part in totals.invariants.parts:
        if isinstance(part, OccupiedStatement):
            _check_occupied(part, totals, schema)
        if isinstance(part, LinearStatement):
            _check_sums(part, totals, schema)
        if isinstance(part, RangesStatement):
            _check_ranges(part, totals, schema)


def _describe(part: TotalsStatement | OccupiedStatement) -> str:
    return f"totals of {', '.join(part.columns)}"


def _check_rows(part: TotalsStatement, totals: PublishedTotals) -> None:
    if totals.rows is None:
        return
    found = sum(totals.value(part))
    if found > totals.rows or (part.only is None and found != totals.rows):
        raise PlanError(f"totals: the {_describe(part)} add up to {found}, but the table has {totals.rows} rows")


def _shared_margin(
    part: TotalsStatement, columns: tuple[str, ...], totals: PublishedTotals, schema: Schema
) -> NDArray[np.int64]:
    """The published rows of the part in each cell of `columns`; with `only`, a lower bound."""
    summed = np.zeros(domain_size(columns, schema), dtype=np.int64)
    np.add.at(summed, positions(columns, part.columns, schema), totals.counts(part, schema))
    return summed


def _complete(part: TotalsStatement, columns: tuple[str, ...], schema: Schema) -> NDArray[np.bool_]:
    """For which cells of `columns` the part publishes every row."""
    whole = np.full(domain_size(part.columns, schema), part.only is None)
    whole[cell_numbers(part, schema)] = True
    known = np.ones(domain_size(columns, schema), dtype=bool)
    np.logical_and.at(known, positions(columns, part.columns, schema), whole)
    return known


def _compare(first: TotalsStatement, second: TotalsStatement, totals: PublishedTotals, schema: Schema) -> None:
    """Checks that two numbers of all rows of a cell are equal, and that such a number is not below a partial one."""
    columns = shared_columns(first.columns, second.columns, schema)
    left, right = (_shared_margin(part, columns, totals, schema) for part in (first, second))
    left_all, right_all = (_complete(part, columns, schema) for part in (first, second))
    wrong = (left_all & (right > left)) | (right_all & (left > right))
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        cell = zip(columns, cell_at(index, columns, schema), strict=True)
        shown = " and ".join(f"{name} is {printed(label)}" for name, label in cell)
        where = f" where {shown}" if shown else ""
        raise PlanError(
            f"totals: the {_describe(first)} have {left[index]} rows{where}, the {_describe(second)} have {right[index]}"
        )


def _check_occupied(part: OccupiedStatement, totals: PublishedTotals, schema: Schema) -> None:
    said = dict(zip(cell_numbers(part, schema).tolist(), totals.value(part), strict=True))
    occupied = sum(said.values())
    if totals.rows is not None and occupied > totals.rows:
        raise PlanError(f"totals: {occupied} cells of {', '.join(part.columns)} are occupied by {totals.rows} rows")
    counted = totals.table(part.columns, schema)
    if counted is None:
        for table in totals.invariants.parts:
            if isinstance(table, TotalsStatement):
                _check_room(part, table, totals, schema)
        return
    for index, there in said.items():
        count = int(counted.reshape(-1)[index])
        if (count > 0) != bool(there):
            shown = canonical(list(cell_at(index, part.columns, schema)))
            state = "occupied" if there else "not occupied"
            raise PlanError(f"totals: cell {shown} of {', '.join(part.columns)} is {state}, but has {count} rows")


def _check_room(part: OccupiedStatement, table: TotalsStatement, totals: PublishedTotals, schema: Schema) -> None:
    """As many cells are occupied as there are rows at most, wherever the table says all rows."""
    columns = shared_columns(part.columns, table.columns, schema)
    occupied = np.zeros(domain_size(columns, schema), dtype=np.int64)
    np.add.at(occupied, positions(columns, part.columns, schema), totals.counts(part, schema))
    rows = _shared_margin(table, columns, totals, schema)
    wrong = _complete(table, columns, schema) & (occupied > rows)
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        raise PlanError(
            f"totals: {occupied[index]} cells of {', '.join(part.columns)} are occupied, where the {_describe(table)} have "
            f"{rows[index]} rows"
        )


def _check_ranges(part: RangesStatement, totals: PublishedTotals, schema: Schema) -> None:
    """The ranges leave room for the number of rows, and hold the counts that a table says."""
    least, most = totals.ranges(part)
    counted = totals.table(part.columns, schema)
    if counted is not None:
        counts = counted.reshape(-1)[cell_numbers(part, schema)]
        wrong = np.flatnonzero((counts < least) | (counts > most))
        if wrong.size:
            index = int(cell_numbers(part, schema)[wrong[0]])
            shown = canonical(list(cell_at(index, part.columns, schema)))
            said = part.rule.words(int(least[wrong[0]]))
            raise PlanError(f"totals: cell {shown} of {', '.join(part.columns)} is {said}, but has {counts[wrong[0]]} rows")
    few = part.only is None and int(np.minimum(most, _MANY).sum()) < (totals.rows or 0)
    if totals.rows is not None and (few or int(least.sum()) > totals.rows):
        where = f"the ranges of {', '.join(part.columns)}"
        raise PlanError(f"totals: {where} cannot hold the {totals.rows} rows of the table")


def _check_sums(part: LinearStatement, totals: PublishedTotals, schema: Schema) -> None:
    counted = totals.table(part.columns, schema)
    for name, row, value in zip(part.names, part.rows, totals.value(part), strict=True):
        if counted is not None:
            exact = sum(weight * int(counted.flat[cell_index(cell, part.columns, schema)]) for cell, weight in row)
            if exact != value:
                raise PlanError(f"totals: '{name}' is {value}, but the totals of {', '.join(part.columns)} give {exact}")
    if totals.rows is None:
        _check_signs(part, totals)
        return
    for name, row, value in zip(part.names, part.rows, totals.value(part), strict=True):
        found = [coefficient for _, coefficient in row]
        if len(found) < domain_size(part.columns, schema):
            found.append(0)
        low, high = totals.rows * min(found), totals.rows * max(found)
        if not low <= value <= high:
            raise PlanError(f"totals: '{name}' is {value}, but {totals.rows} rows give between {low} and {high}")


def _check_signs(part: LinearStatement, totals: PublishedTotals) -> None:
    """Without the number of rows: where no coefficient is negative no sum is, and the other way round."""
    for name, row, value in zip(part.names, part.rows, totals.value(part), strict=True):
        weights = [weight for _, weight in row]
        if (value < 0 and min(weights) >= 0) or (value > 0 and max(weights) <= 0):
            raise PlanError(f"totals: '{name}' is {value}, which no number of rows gives")
