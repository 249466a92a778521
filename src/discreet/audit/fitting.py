"""A table that has the published totals, found by integer programming; whether it has them is checked exactly afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from discreet.domain.origins import families
from discreet.domain.schema import Schema
from discreet.totals.cells import cell_at, cell_index, domain_size, positions
from discreet.totals.description import Description
from discreet.totals.exact_totals import ExactTotals, alive_cells
from discreet.totals.published import PublishedTotals, cell_numbers
from discreet.totals.rules import NO_LIMIT
from discreet.totals.statements import (
    ExactStatement,
    FloorStatement,
    LinearStatement,
    OccupiedStatement,
    RangesStatement,
    TotalsStatement,
    statements_by_kind,
)

__all__ = ["fit_table"]

_MOST_CELLS = 200_000
_SECONDS = 20.0

_Constraint = tuple[csr_array, NDArray[np.float64], NDArray[np.float64]]
"""Coefficients over the joint cells, the least and the greatest that each row of them may give."""


def fit_table(
    exact_totals: ExactTotals,
    schema: Schema,
    least: NDArray[np.int64],
    moved: NDArray[np.int64] | None = None,
    rows: int | None = None,
) -> NDArray[np.int64] | None:
    """Counts of the joint cells of the totals' columns that have the published totals; None where none were found.

    Args:
        exact_totals: the totals. Before they are published only lower bounds that everybody knows count, n, and some ranges.
        schema: the public columns.
        least: for each joint cell of the columns of the source that hold them how many rows it must have.
        moved: what is added to these counts afterwards; then the table has the totals too. Left out, nothing.
        rows: n, where it is public.
    """
    totals = _assumed(exact_totals, schema, (least, np.zeros_like(least) if moved is None else moved), rows)
    if totals is None or len(least) > _MOST_CELLS:
        return None
    columns = tuple(families(exact_totals.invariants.columns, schema))
    most = np.where(alive_cells(exact_totals, schema, columns).ravel(), np.inf, 0.0)
    if (least > most).any():
        return None
    members, low, high = zip(*_constraints(totals, schema, columns), strict=True)
    matrix, lower, upper = vstack(members), np.concatenate(low), np.concatenate(high)
    if moved is not None:
        change = matrix @ moved
        lower, upper = lower - np.minimum(change, 0), upper - np.maximum(change, 0)
    if (lower > upper).any():
        return None
    constraint = LinearConstraint(matrix, lower, upper)
    found = milp(
        np.zeros(len(least)),
        integrality=np.ones(len(least)),
        bounds=Bounds(least.astype(np.float64), most),
        constraints=constraint,
        options={"time_limit": _SECONDS},
    )
    return None if found.x is None else np.rint(found.x).astype(np.int64)


def _assumed(
    exact_totals: ExactTotals, schema: Schema, counts: tuple[NDArray[np.int64], NDArray[np.int64]], rows: int | None
) -> PublishedTotals | None:
    """The published numbers. Before there are any, lower bounds, and ranges as small as can be for the counts that move."""
    parts = statements_by_kind(exact_totals.invariants.parts)
    if exact_totals.totals is not None or rows is None or not (parts.floors or parts.ranges):
        return exact_totals.totals
    columns = tuple(families(exact_totals.invariants.columns, schema))
    known: list[ExactStatement] = [*parts.floors]
    values: list[tuple[int, ...]] = [()] * len(known)
    for part in parts.ranges:
        listed = cell_numbers(part, schema)
        before, change = (
            np.bincount(positions(part.columns, columns, schema), one, domain_size(part.columns, schema)) for one in counts
        )
        touched = listed[change[listed] != 0]
        if touched.size:
            known.append(replace(part, only=tuple(cell_at(int(one), part.columns, schema) for one in touched)))
            most = np.maximum(before, before + change)[touched]  # a range that has room for either
            values.append(tuple(part.rule.least(most.astype(np.int64)).tolist()))
    return PublishedTotals(Description(tuple(known)), rows, tuple(values))


def _constraints(totals: PublishedTotals, schema: Schema, columns: tuple[str, ...]) -> Iterator[_Constraint]:
    cells = domain_size(columns, schema)
    if totals.rows is not None:
        every = np.array([float(totals.rows)])
        yield csr_array(np.ones((1, cells))), every, every
    for part in totals.invariants.parts:
        place = positions(part.columns, columns, schema)
        if isinstance(part, TotalsStatement | OccupiedStatement):
            value = np.array(totals.value(part), dtype=np.float64)
            members = _members(place, cell_numbers(part, schema), domain_size(part.columns, schema))
            occupied = isinstance(part, OccupiedStatement) & (value > 0)
            yield members, value, np.where(occupied, np.inf, value)
        if isinstance(part, RangesStatement):
            least, most = totals.ranges(part)
            members = _members(place, cell_numbers(part, schema), domain_size(part.columns, schema))
            yield members, least.astype(np.float64), np.where(most == NO_LIMIT, np.inf, most)
        if isinstance(part, FloorStatement):
            listed = cell_numbers(part, schema)
            members = _members(place, listed, domain_size(part.columns, schema))
            yield members, np.full(len(listed), float(part.rows)), np.full(len(listed), np.inf)
        if isinstance(part, LinearStatement):
            value = np.array(totals.value(part), dtype=np.float64)
            weights = np.zeros((len(part.rows), domain_size(part.columns, schema)))
            for number, row in enumerate(part.rows):
                for cell, weight in row:
                    weights[number, cell_index(cell, part.columns, schema)] = weight
            yield csr_array(weights[:, place]), value, value


def _members(place: NDArray[np.int64], published: NDArray[np.int64], size: int) -> csr_array:
    """One row of 0 and 1 for each published cell: 1 for the joint cells within it."""
    number = np.full(size, -1, dtype=np.int64)
    number[published] = np.arange(len(published))
    inside = np.flatnonzero(number[place] >= 0)
    shape = (len(published), len(place))
    return csr_array((np.ones(len(inside)), (number[place[inside]], inside)), shape=shape)
