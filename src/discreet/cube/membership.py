"""The group of a release that a final code belongs to, and the codes that pass a condition: functions of plan and schema."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.domain.codes import NULL
from discreet.domain.groups import BinGroup, CategoryGroup, Group
from discreet.domain.steps import CategoryFacts, TableFacts, Where, WhereIn
from discreet.errors import InternalError

__all__ = ["group_places", "passes"]


def group_places(group: Group, facts: TableFacts, codes: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """For each final code the position of its group among the `groups` labels, or -1 when it is in none.

    The null group, where the column can be null, is the last one.
    """
    if isinstance(group, BinGroup):
        places = np.searchsorted(np.array(group.edges), codes, side="right") - 1
        places[places >= len(group.edges) - 1] = -1
    else:
        places = _category_places(group, facts)[np.maximum(codes, 0)]
    places[codes == NULL] = groups - 1 if facts[group.column].nullable else -1
    return places


def _category_places(group: CategoryGroup, facts: TableFacts) -> NDArray[np.int64]:
    column = facts[group.column]
    if not isinstance(column, CategoryFacts):
        raise InternalError(f"column '{group.column}' is not categorical")
    places = np.full(column.column.size, -1, dtype=np.int64)
    places[list(column.kept)] = np.arange(len(column.kept))
    return places


def passes(step: Where | WhereIn, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """True for each final code that satisfies the condition; null never does."""
    inside = np.isin(codes, step.kept) if isinstance(step, WhereIn) else (codes >= step.low) & (codes <= step.high)
    passed: NDArray[np.bool_] = np.logical_and(inside, codes != NULL)
    return passed
