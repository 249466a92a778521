"""From the cells of a cube to the cells of a release: the cell in which rows count, and one code for each key."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube, blocks
from discreet.cube.membership import group_places, passes
from discreet.cube.scans import Prepared, Scan
from discreet.domain.codes import NULL
from discreet.domain.steps import conditions_of
from discreet.errors import InternalError

__all__ = ["Codes", "Integers", "cells_of", "codes_of", "some_of"]

Integers = NDArray[Any]
"""int64 where nothing can overflow, else Python integers in an object array."""

Codes = NDArray[np.int64]


def cells_of(plan: Prepared, cube: Cube, brought: Scan) -> Codes:
    """For each cell of the cube, the position of its cell in the release, or -1 when its rows contribute nothing."""
    cells = np.empty(len(cube.rows), dtype=np.int64)
    for some in blocks(len(cells)):
        cells[some] = _cells_of(plan, some_of(cube, some), brought)
    return cells


def _cells_of(plan: Prepared, cube: Cube, brought: Scan) -> Codes:
    cells = np.zeros(len(cube.rows), dtype=np.int64)
    inside = np.ones(len(cube.rows), dtype=bool)
    for group, labels in zip(plan.group_by, brought.labels, strict=True):
        place = group_places(group, plan.facts, codes_of(brought, cube, group.column), len(labels))
        inside &= place >= 0
        cells = cells * len(labels) + np.maximum(place, 0)
    for step in conditions_of(plan.steps):
        inside &= passes(step, codes_of(brought, cube, step.column))
    return np.where(inside, cells, -1)


def some_of(cube: Cube, some: slice) -> Cube:
    """Some cells of a cube, in the same memory."""
    return Cube(cube.keys[some], cube.rows[some], cube.nonnull[some], cube.sums[some])


def codes_of(brought: Scan, cube: Cube, column: str) -> Codes:
    """One final code for each key: itself, or the first code of its interval between cuts; null stays null.

    Raises:
        InternalError: the column is not a key of the cube.
    """
    position = brought.axis(column)
    if position is None:
        raise InternalError(f"column '{column}' is not a key of the cube")
    axis, keys = brought.axes[position], cube.keys[:, position]
    if axis.cuts is None:
        return keys
    # Everything below the first cut is outside every bin and range; any code below it that is not null will do.
    below = min(axis.cuts, default=0) - 1
    representatives = np.array([below, *axis.cuts], dtype=np.int64)
    return np.where(keys == NULL, NULL, np.where(keys > 0, representatives[np.maximum(keys, 0)], below))
