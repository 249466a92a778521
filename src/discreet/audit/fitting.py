"""A table that has the published totals, found by integer programming; whether it has them is checked exactly afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from discreet.domain.origins import families
from discreet.domain.schema import Schema
from discreet.totals.cells import cell_index, domain_size, positions
from discreet.totals.exact_totals import ExactTotals, alive_cells
from discreet.totals.published import PublishedTotals, cell_numbers
from discreet.totals.statements import LinearStatement, OccupiedStatement, TotalsStatement

__all__ = ["fit_table"]

_MOST_CELLS = 200_000
_SECONDS = 20.0

_Constraint = tuple[csr_array, NDArray[np.float64], NDArray[np.float64]]
"""Coefficients over the joint cells, the least and the greatest that each row of them may give."""


def fit_table(exact_totals: ExactTotals, schema: Schema, least: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Counts of the joint cells of the totals' columns that have the published totals; None where none were found.

    Args:
        exact_totals: the totals, which are published.
        schema: the public columns.
        least: for each joint cell of the columns of the source that hold them how many rows it must have.
    """
    if exact_totals.totals is None or len(least) > _MOST_CELLS:
        return None
    columns = tuple(families(exact_totals.invariants.columns, schema))
    most = np.where(alive_cells(exact_totals, schema, columns).ravel(), np.inf, 0.0)
    if (least > most).any():
        return None
    rows, low, high = zip(*_constraints(exact_totals.totals, schema, columns), strict=True)
    constraint = LinearConstraint(vstack(rows), np.concatenate(low), np.concatenate(high))
    found = milp(
        np.zeros(len(least)),
        integrality=np.ones(len(least)),
        bounds=Bounds(least.astype(np.float64), most),
        constraints=constraint,
        options={"time_limit": _SECONDS},
    )
    return None if found.x is None else np.rint(found.x).astype(np.int64)


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
