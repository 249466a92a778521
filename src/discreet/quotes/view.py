"""The columns of the totals in a request: the group of each of their levels, and the rows that are excluded."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.cube.membership import group_places, passes
from discreet.cube.queries import CountedRows
from discreet.cube.value_paths import CategoryPath, path_of
from discreet.domain.codes import NULL
from discreet.domain.groups import group_labels, is_complete
from discreet.domain.steps import Impute, conditions_of, facts_of
from discreet.errors import PlanError
from discreet.plan.layout import drawing_of
from discreet.plan.plan import Plan

__all__ = ["View", "counts_every_row", "positions", "refuse_imputed", "view_of"]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The request, seen from the columns of the totals.

    Args:
        places: for each of these columns and each of its levels, null last: the position of its group, 0 where the request
            does not group by the column, -1 where the rows of the level count nowhere.
        grouped: for each of these columns the number of its groups, 1 where the request does not group by it.
        labels: for each group of the request, in its order, its column and the number of its labels.
        kept: whether every row of a level that is not dropped counts in exactly one cell, whatever its other columns hold.
    """

    places: dict[str, NDArray[np.int64]]
    grouped: dict[str, int]
    labels: tuple[tuple[str, int], ...]
    kept: bool

    @property
    def cells(self) -> int:
        """The number of cells of the request."""
        return prod(count for _, count in self.labels)

    @property
    def free(self) -> int:
        """The number of cells of the request that share the same groups of the columns of the totals."""
        return prod(count for column, count in self.labels if column not in self.places)


def refuse_imputed(plan: Plan, columns: tuple[str, ...]) -> None:
    """No column of the totals is imputed.

    Raises:
        PlanError: one is; its published totals would not be the totals of the prepared table.
    """
    for step in plan.steps:
        if isinstance(step, Impute) and step.column in columns:
            raise PlanError(
                f"impute('{step.column}'): exact totals of the column are published, so it cannot be imputed; "
                "its nulls form a separate group"
            )


def view_of(plan: Plan, columns: tuple[str, ...], counted: CountedRows) -> View | None:
    """The view of a query that counts rows in the cells of the request, or in finer ones.

    None where the prepared table does not have the rows of the original table (a resize, a sample), and where a column is
    grouped twice, by the request and by the query.

    Raises:
        PlanError: a column of the totals is imputed.
    """
    refuse_imputed(plan, columns)
    groups = (*plan.group_by, *counted.by)
    if drawing_of(plan) is not None or len({group.column for group in groups}) < len(groups):
        return None
    facts = plan.facts
    places, grouped = {}, {}
    for name in columns:
        codes = _final_codes(plan, name)
        place, count = np.zeros(len(codes), dtype=np.int64), 1
        for group in groups:
            if group.column == name:
                count = len(group_labels(group, facts))
                place = group_places(group, facts, codes, count)
        if name in counted.known:
            place = np.where(codes == NULL, -1, place)
        for step in conditions_of(plan.steps):
            if step.column == name:
                place = np.where(passes(step, codes), place, -1)
        places[name], grouped[name] = place, count
    labels = tuple((group.column, len(group_labels(group, facts))) for group in groups)
    further = all(is_complete(group, facts) for group in counted.by if group.column not in columns)
    known = all(name in columns or not facts[name].nullable for name in counted.known)
    return View(places, grouped, labels, counts_every_row(plan, columns) and further and known)


def counts_every_row(plan: Plan, but: tuple[str, ...] = ()) -> bool:
    """True if every row counts in exactly one cell of the request, whatever its values; the columns `but` are left aside."""
    groups = all(is_complete(group, plan.facts) for group in plan.group_by if group.column not in but)
    return groups and all(step.column in but for step in conditions_of(plan.steps))


def positions(view: View, *parts: tuple[str, ...]) -> NDArray[np.int64]:
    """The positions of the request's cells, one axis for the groups of each part of the columns and a last one for the rest.

    Shape: for each part the product of its groups, then `view.free` (and whatever columns no part names).
    """
    shape = [count for _, count in view.labels]
    names = [column for column, _ in view.labels]
    grid = np.arange(prod(shape), dtype=np.int64).reshape(shape)
    order = [names.index(column) for part in parts for column in part if column in names]
    rest = [axis for axis in range(len(names)) if axis not in order]
    sizes = [prod(view.grouped[column] for column in part) for part in parts]
    return grid.transpose(order + rest).reshape(*sizes, -1)


def _final_codes(plan: Plan, name: str) -> NDArray[np.int64]:
    """For each level of the column, null last, the code it has after the steps, or NULL."""
    path = path_of(name, plan.steps, facts_of(plan.schema, plan.neighbours))
    if isinstance(path, CategoryPath):
        return np.array([*path.targets, NULL], dtype=np.int64)
    codes = np.clip(np.arange(plan.schema[name].size, dtype=np.int64), path.low, path.high)
    return np.append(codes, NULL)
