"""A plan: schema, neighbours, steps and one request. Data without behaviour, with one canonical JSON form and digest.

`layout` decides from the plan alone what the engine has to bring: which columns are keys of the cube and which come as
sums. Everything that is wrong with a request is found here, before any budget is spent and any data are opened.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from math import prod
from typing import Literal, get_args

from discreet.displays import card, declared_facts, one_line, request_text
from discreet.errors import InternalError, PlanError, printed
from discreet.groups import BinGroup, CategoryGroup, Group, Label, group_json, group_labels
from discreet.neighbours import Neighbours
from discreet.paths import KeyAxis, Moment, NumberPath, Path, axis_size, path_of
from discreet.schema import Date, Schema
from discreet.statistics import (
    Count,
    Histogram,
    Mean,
    Share,
    Statistic,
    Sum,
    Tables,
    kind_of,
    levels_of,
    outputs,
    statistic_json,
)
from discreet.steps import NumberFacts, Resize, Step, TableFacts, Where, WhereIn, after, facts_of, step_json

__all__ = [
    "INTERVALS",
    "MOST_WHOLE_CELLS",
    "Layout",
    "Plan",
    "canonical",
    "digest",
    "is_large",
    "layout",
    "plan_json",
    "resize_of",
    "table_facts",
    "tables_of",
    "used_columns",
]

Intervals = Literal["each", "simultaneous"]
"""What holds with probability 95 %: each interval by itself, or all intervals of a release together."""

INTERVALS: tuple[str, ...] = get_args(Intervals)
"""The words for it."""

MOST_WHOLE_CELLS = 250_000
"""Up to so many rows the table of a release stands in its document; beyond, in files beside it: the release is large."""

_MAX_RELEASE_CELLS = 20_000_000
_MAX_DRAWN = 10_000_000
_MAX_CUBE_CELLS = 20_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What is released about whom: one request on one table. Made by `Table.group_by(…).agg(…)`.

    `intervals` says what holds with probability 95 %: "each" interval by itself, or all of them, "simultaneous".

    Raises:
        PlanError: no statistic, names that collide, a statistic that its column does not allow, too many cells.
    """

    schema: Schema
    neighbours: Neighbours
    steps: tuple[Step, ...]
    group_by: tuple[Group, ...]
    statistics: tuple[Statistic, ...]
    intervals: Intervals = "each"

    def __post_init__(self) -> None:
        if self.intervals not in INTERVALS:
            raise PlanError(f"intervals={printed(self.intervals)}: must be one of {', '.join(INTERVALS)}")
        facts = table_facts(self.schema, self.neighbours, self.steps)
        if not self.statistics:
            raise PlanError("agg(): asks for no statistic; name at least one, such as count()")
        for statistic in self.statistics:
            _check_statistic(statistic, facts)
        _check_names(self)
        _check_size(self, facts)
        if facts.resized:
            _check_resize(self, facts)

    def __repr__(self) -> str:
        return one_line("Plan for", request_text(self.group_by, [statistic.name for statistic in self.statistics]))

    def _repr_html_(self) -> str:
        asked = request_text(self.group_by, [statistic.name for statistic in self.statistics])
        facts = [("asks for", asked), *declared_facts(self.schema, self.neighbours, self.steps), ("digest", self.digest)]
        return card("Plan", facts)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the plan, in hexadecimal."""
        return digest(plan_json(self))

    def simultaneous(self) -> Plan:
        """The same request with wider intervals: all intervals of the release hold together with probability 95 %."""
        return replace(self, intervals="simultaneous")


def canonical(value: object) -> str:
    """The one JSON text of a value: sorted keys, no spaces, ASCII. Plans hold integers and exact texts, no floats."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON text, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def plan_json(plan: Plan) -> dict[str, object]:
    """The plan as canonical JSON values. Everything in it is public."""
    facts = table_facts(plan.schema, plan.neighbours, plan.steps)
    shown: dict[str, object] = {
        "schema": plan.schema.to_json(),
        "neighbours": plan.neighbours.to_json(),
        "steps": [step_json(step, plan.schema) for step in plan.steps],
        "group_by": [group_json(group, facts) for group in plan.group_by],
        "statistics": [statistic_json(statistic) for statistic in plan.statistics],
    }
    # Left out where it says nothing, so that a plan keeps the digest that ledgers know it by.
    return shown if plan.intervals == "each" else {**shown, "intervals": plan.intervals}


def table_facts(schema: Schema, neighbours: Neighbours, steps: tuple[Step, ...]) -> TableFacts:
    """What is known of the table after all its steps: the chain rule, one step after the other."""
    facts = facts_of(schema, neighbours)
    for step in steps:
        facts = after(step, facts)
    return facts


def resize_of(plan: Plan) -> Resize | None:
    """The one resize of the plan, if there is one."""
    return next((step for step in plan.steps if isinstance(step, Resize)), None)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What the engine brings and how it maps to the cells of the release.

    `axes` are the keys of the cube, `moments` the columns that come as sums instead. `groups` and `filters` are the
    positions in `axes` of the grouped and filtered columns; `labels` are the public labels of each group.
    """

    axes: tuple[KeyAxis, ...]
    moments: tuple[Moment, ...]
    labels: tuple[tuple[Label, ...], ...]

    @property
    def cells(self) -> int:
        """How many rows the release has: the product of the group domains."""
        return prod(len(labels) for labels in self.labels)

    def axis(self, name: str) -> int | None:
        """The position of a column among the axes, None when it is no key."""
        return next((position for position, axis in enumerate(self.axes) if axis.name == name), None)


def layout(plan: Plan) -> Layout:
    """Keys and sums of the plan.

    Value columns come as exact sums per cell where that has the same law as the joint cube (soundness 1): the number of
    copies is constant and no key is imputed. Otherwise every column that the request uses is a key of one joint cube.
    A counted categorical column has no sum to bring: it is a key in any case.
    """
    start = facts_of(plan.schema, plan.neighbours)
    paths: dict[str, Path] = {name: path_of(name, plan.steps, start) for name in used_columns(plan)}
    keyed = dict.fromkeys([group.column for group in plan.group_by] + [step.column for step in _filters(plan)])
    keyed |= dict.fromkeys(s.column for s in plan.statistics if s.column is not None and not _is_summed(s))
    keyed |= dict.fromkeys(_tabled(plan))
    values = list(dict.fromkeys(s.column for s in plan.statistics if s.column is not None and s.column not in keyed))
    keys = [*keyed, *(name for name in values if not isinstance(paths[name], NumberPath))]
    if not _constant_copies(plan) or any(paths[name].laws for name in keys):
        keys = list(dict.fromkeys([*keyed, *values]))
    valued = {s.column for s in plan.statistics if not isinstance(s.kind, Count | Histogram | Tables)}
    axes = [KeyAxis(paths[name], None if name in valued else _cuts(plan, paths[name])) for name in keys]
    moments = [Moment(path) for name in values if name not in keys and isinstance(path := paths[name], NumberPath)]
    facts = table_facts(plan.schema, plan.neighbours, plan.steps)
    labels = tuple(group_labels(group, facts) for group in plan.group_by)
    return Layout(tuple(axes), tuple(moments), labels)


def is_large(plan: Plan) -> bool:
    """Whether the table of the release has too many rows for its document, and is written to files."""
    return layout(plan).cells > MOST_WHOLE_CELLS


def _is_summed(statistic: Statistic) -> bool:
    """Whether counts and sums of the column are enough; otherwise its values have to be told apart."""
    return isinstance(statistic.kind, Count | Share | Sum | Mean)


def used_columns(plan: Plan) -> list[str]:
    """The columns that the request reads, each once."""
    named = [group.column for group in plan.group_by]
    named += [step.column for step in _filters(plan)]
    named += [statistic.column for statistic in plan.statistics if statistic.column is not None]
    return list(dict.fromkeys([*named, *_tabled(plan)]))


def _tabled(plan: Plan) -> list[str]:
    """The columns by which tables of counts are grouped."""
    return [group.column for one in plan.statistics for grouping in tables_of(one) for group in grouping]


def _filters(plan: Plan) -> list[Where | WhereIn]:
    return [step for step in plan.steps if isinstance(step, Where | WhereIn)]


def _constant_copies(plan: Plan) -> bool:
    """Whether every record has the same, public number of copies in the table that is asked."""
    resize = resize_of(plan)
    if resize is None:
        return True
    known = facts_of(plan.schema, plan.neighbours).rows
    whole = resize.proportion.denominator == 1
    return known is not None and whole and resize.rows >= resize.proportion * known


def _cuts(plan: Plan, path: Path) -> tuple[int, ...] | None:
    """Where the codes of a numeric key have to be told apart: at the edges of its bins and conditions."""
    if not isinstance(path, NumberPath):
        return None
    cuts: set[int] = set()
    tables = [grouping for statistic in plan.statistics for grouping in tables_of(statistic)]
    for group in [*plan.group_by, *(group for grouping in tables for group in grouping)]:
        if isinstance(group, BinGroup) and group.column == path.name:
            cuts.update(group.edges)
    for step in _filters(plan):
        if isinstance(step, Where) and step.column == path.name:
            cuts.update((step.low, step.high + 1))
    return tuple(sorted(cuts))


def tables_of(statistic: Statistic) -> tuple[tuple[Group, ...], ...]:
    """The groups of each table of counts that the statistic asks for, as a table has checked them; none for others.

    Raises:
        InternalError: groups that were not checked.
    """
    if isinstance(statistic.kind, Histogram):
        asked: tuple[tuple[object, ...], ...] = ((statistic.kind.bins,),)
    else:
        asked = statistic.kind.tables if isinstance(statistic.kind, Tables) else ()
    found = []
    for grouping in asked:
        groups = [group for group in grouping if isinstance(group, CategoryGroup | BinGroup)]
        if len(groups) < len(grouping):
            raise InternalError(f"statistic '{statistic.name}' has groups that were not checked")
        found.append(tuple(groups))
    return tuple(found)


def _check_statistic(statistic: Statistic, facts: TableFacts) -> None:
    if statistic.column is None:
        return
    column = facts[statistic.column]
    if isinstance(statistic.kind, Count | Histogram):
        return
    kind = kind_of(statistic)
    where = f"{kind}('{statistic.column}')"
    if not isinstance(column, NumberFacts):
        raise PlanError(f"{where}: the column is categorical; group by it and count, or declare it as a Number")
    if isinstance(column.column, Date):
        raise PlanError(f"{where}: the column is a date; count it in bins('{statistic.column}', [...])")
    if column.nullable and not statistic.skip_nulls:
        raise PlanError(
            f"{where}: the column can be null; impute it first, or ask for {kind}('{statistic.column}', nulls=\"skip\")"
        )


def _check_names(plan: Plan) -> None:
    taken: dict[str, str] = {}
    for group in plan.group_by:
        if group.column in taken:
            raise PlanError(f"group_by('{group.column}'): named twice")
        taken[group.column] = "a group column"
    for statistic in plan.statistics:
        if tables_of(statistic):
            if statistic.name == "table":
                raise PlanError("statistic 'table': is how the main frame of a release is called; use .alias(…)")
            names = [statistic.name]
        else:
            names = [f"{name}{end}" for name in outputs(statistic) for end in ("", "_low", "_high")]
        for name in names:
            if name in taken:
                raise PlanError(f"statistic '{statistic.name}': column '{name}' is {taken[name]} already; use .alias(…)")
            taken[name] = f"a column of statistic '{statistic.name}'"


def _check_size(plan: Plan, facts: TableFacts) -> None:
    sizes = {group.column: len(group_labels(group, facts)) for group in plan.group_by}
    cells = prod(sizes.values())
    if cells > _MAX_RELEASE_CELLS:
        widest = max(sizes, key=lambda name: sizes[name])
        raise PlanError(
            f"group_by: {cells} cells are more than {_MAX_RELEASE_CELLS}; group by fewer columns, or coarsen "
            f"'{widest}', which alone has {sizes[widest]} groups"
        )
    if not cells:
        raise PlanError("group_by: no group is left, because clamping removed every category")
    for statistic in plan.statistics:
        _check_fineness(statistic, cells, facts)
        _check_large(statistic, cells)
    brought = layout(plan)
    axes = {axis.name: axis_size(axis) for axis in brought.axes}
    domain = prod(axes.values())
    known = facts_of(plan.schema, plan.neighbours).rows
    # A sparse cube has at most one cell for each row, and one for each cell of its public domain.
    bound = domain if known is None else min(domain, known)
    if bound > _MAX_CUBE_CELLS or domain >= 2**62:
        widest = max(axes, key=lambda name: axes[name])
        fits = max(1, axes[widest] * _MAX_CUBE_CELLS // domain)
        raise PlanError(
            f"the joint table of {', '.join(axes)} has {domain} cells, more than {_MAX_CUBE_CELLS}; "
            f"give '{widest}', which has {axes[widest]} values, a coarser step with at most {fits} values"
        )


def _check_fineness(statistic: Statistic, cells: int, facts: TableFacts) -> None:
    """Noise is drawn for every bin of a histogram and for every grid value of a quantile, in every group."""
    if tables_of(statistic):
        sizes = (prod(len(group_labels(group, facts)) for group in grouping) for grouping in tables_of(statistic))
        places, what = sum(sizes), "cells; take fewer groups"
    elif levels_of(statistic.kind) and statistic.column is not None:
        column = facts[statistic.column]
        places = column.high - column.low + 1 if isinstance(column, NumberFacts) else 1
        what = "grid values; declare a coarser step or clamp to tighter bounds"
    else:
        return
    if cells * places > _MAX_DRAWN:
        raise PlanError(
            f"statistic '{statistic.name}': {cells} groups with {places} values each: more than {_MAX_DRAWN} {what}"
        )


def _check_large(statistic: Statistic, cells: int) -> None:
    """In a large release every statistic has one number, with its interval, for each group."""
    if cells > MOST_WHOLE_CELLS and (tables_of(statistic) or levels_of(statistic.kind)):
        raise PlanError(
            f"statistic '{statistic.name}': of {cells} groups; a release of more than {MOST_WHOLE_CELLS} has count, sum, "
            f"mean, share, variance and std only: ask for it by fewer groups, in a request of its own"
        )


def _check_resize(plan: Plan, facts: TableFacts) -> None:
    imputable = {
        name for name in used_columns(plan) if path_of(name, plan.steps, facts_of(plan.schema, plan.neighbours)).laws
    }
    missing = [name for name in used_columns(plan) if name not in imputable]
    if missing:
        raise PlanError(
            f"resize(rows={facts.rows}): column '{missing[0]}' has no imputation law, which the rows that fill the table "
            f"need; add impute({{'{missing[0]}': …}}) before resize"
        )
