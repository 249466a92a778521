"""Columns of one family in one request: each of them is the same public function of a cell of the source, or it is refused.

A derived column is a function of the value that the source has, before any step. A step that changes one column of a family
leaves the others as they were: a row would then be in a county of another state. And a table that crosses two of them would
have cells in which no row can be (K1 and K2 of docs/proofs/areas.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from discreet.domain.groups import Group
from discreet.domain.origins import families
from discreet.domain.steps import Clamp, ClampCategories, Impute
from discreet.errors import PlanError
from discreet.plan.layout import named_columns
from discreet.plan.recorded import Request
from discreet.statistics.base import groupings_of

__all__ = ["check_families"]


def check_families(request: Request) -> None:
    """Checks that no two groups are of one family, and that no step changes a column of it where another one is used.

    Raises:
        PlanError: otherwise.
    """
    groups = request.group_by
    for own in [(), *(grouping for one in request.statistics for grouping in groupings_of(one))]:
        _check_crossed(request, (*groups, *own))
    changed = [step.column for step in request.steps if isinstance(step, Clamp | ClampCategories | Impute)]
    near = _families(changed, request)  # a step on a column that is not used would do nothing, and is not meant so
    for root, names in _families(named_columns(request), request).items():
        for column in near.get(root, ()):
            others = ", ".join(f"'{name}'" for name in names if name != column)
            if not others:
                continue
            raise PlanError(
                f"clamp, impute or complete of '{column}': the request also uses {others}, made from the same column "
                f"'{root}', which the step would not change; use one of them, or leave the step out"
            )


def _check_crossed(request: Request, groups: tuple[Group, ...]) -> None:
    for root, names in _families((group.column for group in groups), request).items():
        if len(names) > 1:
            raise PlanError(
                f"groups {', '.join(map(repr, names))}: all come from '{root}', so that some of their combinations cannot "
                f"occur; name the finest of them alone, which tells the others, or '{root}' itself"
            )


def _families(names: Iterable[str], request: Request) -> Mapping[str, tuple[str, ...]]:
    """The columns of the schema among the names, by their roots; a column as recorded has its steps for itself."""
    return families((name for name in names if name in request.schema.columns), request.schema)
