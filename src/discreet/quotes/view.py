"""The columns of the totals in a request: the group of each of their levels, and the rows that are excluded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.cube.membership import group_places, passes
from discreet.cube.queries import CountedRows
from discreet.domain.codes import NULL
from discreet.domain.groups import Group, group_labels, is_complete
from discreet.domain.origins import Columns, between, determines, joint_columns, root_of
from discreet.domain.steps import CategoryFacts, Impute, conditions_of
from discreet.errors import InternalError, PlanError
from discreet.plan.layout import drawing_of
from discreet.plan.plan import Plan

__all__ = ["View", "counts_every_row", "positions", "refuse_imputed", "view_of"]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The request, seen from the columns of the totals.

    `columns` determine the columns of the totals, and of the request all that come from the same columns of the source.

    Args:
        places: for each of these columns and each of its levels, null last: the position of its group, 0 where the request
            does not group by the column, -1 where the rows of the level count nowhere.
        grouped: for each of these columns the number of its groups, 1 where the request does not group by it.
        labels: for each group of the request, in its order, its column and the number of its labels.
        kept: whether every row of a level that is not dropped counts in exactly one cell, whatever its other columns hold.
        shown: the columns by which rows are told apart.
    """

    places: dict[str, NDArray[np.int64]]
    grouped: dict[str, int]
    labels: tuple[tuple[str, int], ...]
    kept: bool
    shown: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose levels have places."""
        return tuple(self.places)

    def of(self, names: tuple[str, ...], columns: Columns) -> tuple[str, ...]:
        """The columns of the view with the roots of these names."""
        roots = {root_of(name, columns) for name in names}
        return tuple(name for name in self.places if root_of(name, columns) in roots)

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
    roots = {root_of(name, plan.schema) for name in columns}
    for step in plan.steps:
        if isinstance(step, Impute) and root_of(step.column, plan.schema) in roots:
            raise PlanError(
                f"impute('{step.column}'): exact totals of the column are published, so it cannot be imputed; "
                "its nulls form a separate group"
            )


def view_of(plan: Plan, columns: tuple[str, ...], counted: CountedRows) -> View | None:
    """The view of a query that counts rows in the cells of the request, or in finer ones (K3 of docs/proofs/areas.md).

    None where the prepared table does not have the rows of the original table (a resize, a sample), and where a column is
    grouped twice, by the request and by the query.

    Args:
        plan: the request.
        columns: of the totals.
        counted: which rows the query counts where.

    Raises:
        PlanError: a column of the totals is imputed.
    """
    refuse_imputed(plan, columns)
    groups, facts = (*plan.group_by, *counted.by), plan.facts
    if drawing_of(plan) is not None or len({group.column for group in groups}) < len(groups):
        return None
    used = [*(group.column for group in groups), *(step.column for step in conditions_of(plan.steps)), *counted.known]
    roots = {root_of(name, plan.schema) for name in columns}
    near = tuple(name for name in used if name in plan.schema.columns and root_of(name, plan.schema) in roots)
    places, grouped = {}, {}
    names: dict[str, str] = {}
    for name in joint_columns((*columns, *near), plan.schema):
        own = [group for group in groups if group.column in near and determines(name, group.column, plan.schema)]
        if len(own) > 1:
            return None
        names |= {group.column: name for group in own}
        places[name], grouped[name] = _places_of(plan, name, own, counted)
    labels = tuple((names.get(group.column, group.column), len(group_labels(group, facts))) for group in groups)
    shown = tuple(group.column for group in groups if len(group_labels(group, facts)) > 1)
    further = all(is_complete(group, facts) for group in counted.by if group.column not in near)
    known = all(name in near or not facts[name].nullable for name in counted.known)
    return View(places, grouped, labels, counts_every_row(plan, near) and further and known, shown)


def _places_of(plan: Plan, name: str, groups: Sequence[Group], counted: CountedRows) -> tuple[NDArray[np.int64], int]:
    """For each level of a column, null last, the position of its group, or -1; and how many groups there are."""
    place, count = np.zeros(plan.schema[name].size + 1, dtype=np.int64), 1
    for group in groups:
        count = len(group_labels(group, plan.facts))
        place = group_places(group, plan.facts, _codes_of(plan, name, group.column), count)
    for known in counted.known:
        if known in plan.schema.columns and determines(name, known, plan.schema):
            place = np.where(_codes_of(plan, name, known) == NULL, -1, place)
    for step in conditions_of(plan.steps):
        if determines(name, step.column, plan.schema):
            place = np.where(passes(step, _codes_of(plan, name, step.column)), place, -1)
    return place, count


def _codes_of(plan: Plan, fine: str, name: str) -> NDArray[np.int64]:
    """For each level of the column `fine`, null last, the code that a column has after the steps, or NULL.

    Raises:
        InternalError: `fine` does not determine the column.
    """
    levels = np.arange(plan.schema[fine].size + 1) if fine == name else between(fine, name, plan.schema)
    if levels is None:
        raise InternalError(f"'{fine}' does not determine '{name}'")
    codes: NDArray[np.int64] = _final_codes(plan, name)[levels]
    return codes


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
    facts, codes = plan.facts[name], np.arange(plan.schema[name].size, dtype=np.int64)
    if isinstance(facts, CategoryFacts):
        return np.append(np.where(np.isin(codes, facts.kept), codes, NULL), NULL)
    return np.append(np.clip(codes, facts.low, facts.high), NULL)
