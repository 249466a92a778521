"""Primitive integer queries: what noise is added to. Each is linear in the cube, one integer for every cell of the release.

A record contributes one integer f to one cell, or nothing (outside the groups, filtered out, or null); `reach` states the
range of f, from which the sensitivity follows without looking at any row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube import Cube, fits_int64
from discreet.errors import InternalError
from discreet.paths import NULL
from discreet.places import group_places, passes
from discreet.plan import Layout, Plan
from discreet.steps import TableFacts, Where, WhereIn

__all__ = ["NonNullCount", "Query", "RowCount", "WeightedSum", "answer", "cells_of", "reach", "shown"]


@dataclass(frozen=True, slots=True)
class RowCount:
    """1 for every row."""


@dataclass(frozen=True, slots=True)
class NonNullCount:
    """1 for every row whose `column` is not null."""

    column: str


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """first + slope·(code - low) for every row whose `column` is not null, with codes from low to low + width."""

    column: str
    first: int
    slope: int
    width: int


Query = RowCount | NonNullCount | WeightedSum


def reach(query: Query) -> tuple[int, int]:
    """The least and the greatest integer that a contributing record can contribute."""
    if isinstance(query, WeightedSum):
        return query.first, query.first + query.slope * query.width
    return 1, 1


def shown(query: Query) -> str:
    """The query in a few words, for quotes and releases."""
    if isinstance(query, WeightedSum):
        return f"sum of {query.column}"
    return "rows" if isinstance(query, RowCount) else f"non-null {query.column}"


def answer(query: Query, cube: Cube, brought: Layout, cells: NDArray[np.int64]) -> NDArray[Any]:
    """The exact value of the query in every cell of the release; int64 where it cannot overflow, else Python integers.

    Args:
        query: what is asked.
        cube: the table that is asked, without marks.
        brought: the layout of the cube.
        cells: for every cell of the cube, the cell of the release it belongs to, or -1, as `cells_of` gives it.
    """
    contributed = _contributions(query, cube, brought)
    values = np.zeros(brought.cells, dtype=contributed.dtype)
    inside = cells >= 0
    np.add.at(values, cells[inside], contributed[inside])
    return values


def _contributions(query: Query, cube: Cube, brought: Layout) -> NDArray[Any]:
    if isinstance(query, RowCount):
        return cube.rows
    position = brought.axis(query.column)
    if position is not None:
        keys = cube.keys[:, position]
        present = np.where(keys == NULL, 0, cube.rows)
        if isinstance(query, NonNullCount):
            return present
        kind = _integers(query)
        low = getattr(brought.axes[position].path, "low", 0)
        offsets: NDArray[Any] = (keys - low).astype(kind)
        each: NDArray[Any] = query.first + query.slope * offsets
        product: NDArray[Any] = np.multiply(present.astype(kind), each)
        return product
    moment = next((j for j, one in enumerate(brought.moments) if one.name == query.column), None)
    if moment is None:
        raise InternalError(f"the cube has no column '{query.column}'")
    if isinstance(query, NonNullCount):
        return cube.nonnull[:, moment]
    kind = _integers(query)
    count: NDArray[Any] = cube.nonnull[:, moment].astype(kind)
    total: NDArray[Any] = cube.sums[:, moment].astype(kind)
    added: NDArray[Any] = np.add(query.first * count, query.slope * total)
    return added


def _integers(query: WeightedSum) -> type[np.int64] | type[np.object_]:
    """64-bit integers where even the sum of absolute parts stays below 2**62, else Python's."""
    return np.int64 if fits_int64(abs(query.first) + abs(query.slope) * query.width) else np.object_


def cells_of(plan: Plan, facts: TableFacts, cube: Cube, brought: Layout) -> NDArray[np.int64]:
    """For every cell of the cube, the position of its cell in the release, or -1 when its rows contribute nothing."""
    cells = np.zeros(len(cube.rows), dtype=np.int64)
    inside = np.ones(len(cube.rows), dtype=bool)
    for group, labels in zip(plan.group_by, brought.labels, strict=True):
        place = group_places(group, facts, _codes(brought, cube, group.column), len(labels))
        inside &= place >= 0
        cells = cells * len(labels) + np.maximum(place, 0)
    for step in plan.steps:
        if isinstance(step, Where | WhereIn):
            inside &= passes(step, _codes(brought, cube, step.column))
    return np.where(inside, cells, -1)


def _codes(brought: Layout, cube: Cube, column: str) -> NDArray[np.int64]:
    """One final code that stands for each key: itself, or the first code of its interval between cuts; null stays null."""
    position = brought.axis(column)
    if position is None:
        raise InternalError(f"column '{column}' is no key of the cube")
    axis, keys = brought.axes[position], cube.keys[:, position]
    if axis.cuts is None:
        return keys
    # Everything below the first cut is outside every bin and range; any code below it that is not null will do.
    below = min(axis.cuts, default=0) - 1
    representatives = np.array([below, *axis.cuts], dtype=np.int64)
    return np.where(keys == NULL, NULL, np.where(keys > 0, representatives[np.maximum(keys, 0)], below))
