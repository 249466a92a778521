"""The groups that a release prints, a function of the plan alone.

Every group is answered and gets its noise. Some are not printed: the null group of a column whose nulls are dropped, and
the groups in which no row can be because of a condition on the column that is grouped (docs/proofs/cube.md, N1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import prod
from typing import Protocol

from discreet.domain.groups import BinGroup, CategoryGroup, Group, group_labels, printed_labels
from discreet.domain.origins import together
from discreet.domain.schema import Schema
from discreet.domain.steps import CategoryFacts, TableFacts, Where, WhereIn, conditions_of
from discreet.errors import InternalError, PlanError, printed, unreachable
from discreet.plan.layout import Request
from discreet.plan.recorded import plain_name
from discreet.statistics.base import Statistic, groupings_of

__all__ = ["NULLS", "check_nulls", "count_shown", "empty_labels", "find_dropped", "hidden_labels", "hides_rows"]

NULLS = ("show", "drop")
"""The treatment of the null group of a column."""


def check_nulls(nulls: object, groups: Iterable[Group], statistics: Iterable[Statistic]) -> tuple[str, ...]:
    """The columns of a request whose null groups are dropped, in alphabetical order.

    Args:
        nulls: "show", "drop" for every group of the request, or for each column that is named one of the two.
        groups: of the request.
        statistics: whose own groups belong to the request.

    Raises:
        PlanError: another word, or a column that the request does not group by.
    """
    own = (group for one in statistics for grouping in groupings_of(one) for group in grouping)
    columns = sorted({name for group in (*groups, *own) for name in group.names})
    words = nulls if isinstance(nulls, Mapping) else dict.fromkeys(columns, nulls)
    if not isinstance(nulls, Mapping) and nulls not in NULLS:
        raise PlanError(f"nulls={printed(nulls)}: must be 'show' or 'drop', or one of them for each column")
    for column, word in words.items():
        if word not in NULLS:
            raise PlanError(f"nulls={printed(word)}: must be 'show' or 'drop'")
        if column not in columns:
            raise PlanError(f"nulls of {printed(column)}: the request does not group by this column")
    return tuple(column for column in columns if words.get(column) == "drop")


class Shown(Request, Protocol):
    """A request that says whose null groups it drops."""

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns whose null groups this request drops."""


def find_dropped(schema: Schema, dropped: tuple[str, ...]) -> frozenset[str]:
    """The columns whose null groups are not printed: those that the request drops, and those that the schema requires."""
    return frozenset({*dropped, *(name for name, column in schema.columns.items() if column.required)})


def hidden_labels(plan: Shown, group: Group) -> frozenset[int]:
    """The places of the labels of a group that are not printed; never all of them.

    Where a condition leaves no group that a row can be in, all are printed but a null group that is dropped.
    """
    labels, dropped = group_labels(group, plan.facts), find_dropped(plan.schema, plan.dropped)
    nulls = frozenset(
        place
        for name in group.names
        if plain_name(name, plan.schema) in dropped
        for place, label in enumerate(printed_labels(group, name, plan.facts))
        if label is None
    )
    hidden = empty_labels(plan, group) | nulls
    return nulls if len(hidden) == len(labels) else hidden


def hides_rows(plan: Shown, groups: Iterable[Group]) -> bool:
    """True if a label of these groups that is not printed may have rows: then what is printed is not about all of them."""
    return any(hidden_labels(plan, group) - empty_labels(plan, group) for group in groups)


def empty_labels(plan: Request, group: Group) -> frozenset[int]:
    """The places of the labels of a group in which no row can be, because of a condition on its family (K2)."""
    conditions = [step for step in conditions_of(plan.steps) if step.column == group.column]
    others = [one for step in conditions_of(plan.steps) if (one := _condition_above(plan, group, step)) is not None]
    if not conditions and not others:
        return frozenset()
    match group:
        case CategoryGroup():
            return _empty_categories(plan.facts, group, [*conditions, *others])
        case BinGroup():
            return _empty_bins(plan.facts, group, conditions)
    raise unreachable(group)


def _condition_above(plan: Request, group: Group, step: Where | WhereIn) -> WhereIn | None:
    """What a condition on another column of the family says of the group's own: the codes with which a row can pass it.

    Null is the last one: a category that leads to no label here is a value there, and can pass. So can a person whose rows
    in a table of persons differ here and agree there (U7).
    """
    known = plan.facts[group.column]
    if not isinstance(step, WhereIn) or not isinstance(known, CategoryFacts) or step.column == group.column:
        return None
    shared = together(group.column, step.column, plan.schema) if group.column in plan.schema.columns else None
    if shared is None:
        return None
    passing = [(int(own), int(other)) for own, other in shared if int(other) in step.kept]
    kept, null = {own for own, _ in passing}, known.column.size
    alike = Counter(other for own, other in passing if own != null)
    if group.column in plan.schema.tables and any(many > 1 for many in alike.values()):
        kept.add(null)
    return WhereIn(group.column, tuple(sorted(kept)))


def _empty_categories(facts: TableFacts, group: CategoryGroup, conditions: list[Where | WhereIn]) -> frozenset[int]:
    """The places of the categories that do not satisfy all conditions. Null, the last, satisfies none on its own column."""
    known = facts[group.column]
    if not isinstance(known, CategoryFacts):
        raise InternalError(f"column '{group.column}' is not categorical")
    codes = [*known.kept, *([known.column.size] if known.nullable else [])]
    passing = [frozenset(step.kept) for step in conditions if isinstance(step, WhereIn)]
    return frozenset(place for place, code in enumerate(codes) if not all(code in kept for kept in passing))


def _empty_bins(facts: TableFacts, group: BinGroup, conditions: list[Where | WhereIn]) -> frozenset[int]:
    """The places of the bins of which no number satisfies all conditions on its column, and that of null."""
    ranges = [(step.low, step.high) for step in conditions if isinstance(step, Where)]
    low, high = max(first for first, _ in ranges), min(end for _, end in ranges)
    bins = enumerate(pairwise(group.edges))
    empty = {place for place, (start, stop) in bins if max(start, low) > min(stop - 1, high)}
    return frozenset(empty | ({len(group.labels)} if facts[group.column].nullable else set()))


def count_shown(plan: Shown) -> int:
    """The number of rows that the table of the release prints."""
    return prod(len(group_labels(group, plan.facts)) - len(hidden_labels(plan, group)) for group in plan.group_by)
