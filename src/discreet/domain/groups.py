"""Groups of rows: categories, and bins of numbers and dates. Descriptions only; `cube.places` puts codes into them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from discreet.domain.bin_steps import step_codes
from discreet.domain.categories import Value
from discreet.domain.columns import Category, Column, Date, Number
from discreet.domain.origins import between, finest, root_of, tell_all
from discreet.domain.steps import CategoryFacts, NumberFacts, TableFacts
from discreet.errors import ArgumentError, InternalError, PlanError, printed, unreachable
from discreet.exact.numbers import Amount, text

__all__ = [
    "BinGroup",
    "Bins",
    "CategoryGroup",
    "Group",
    "Label",
    "bins",
    "covering",
    "group_labels",
    "group_of",
    "groups_json",
    "is_complete",
    "merge_groups",
    "printed_labels",
]

Label = Value | None
"""The name of a group in the release: a category, the text of a bin such as "[18, 30)", or None for the null group."""


@dataclass(frozen=True, slots=True)
class Bins:
    """A numeric column cut at `edges`, as written by the caller; `group_of` checks it against the schema."""

    column: str
    edges: tuple[Amount | dt.date, ...]
    step: Amount | None = None


def bins(column: str, edges: Sequence[Amount | dt.date] | None = None, *, step: Amount | None = None) -> Bins:
    """The half-open bins [e0, e1), [e1, e2), … of a number or date column, to group by.

    With `step` instead of edges the bins cover the column from its lower to its upper bound, as declared or as a clamp has
    left them: each is one step wide, counted from the lower bound, and the last may be narrower or end with the upper bound.
    A step of a number is a multiple of the column's own; of dates it is a number of days, or "month", "quarter" or "year" of
    the calendar.

    The last bin includes its upper edge if this edge is the column's upper bound, either as declared or as a clamp has left
    it. Values outside all bins, like rows that fail `where`, contribute 0.

    Raises:
        PlanError: neither edges nor a step, or both, or edges that are not a list.
    """
    if (edges is None) == (step is None):
        raise PlanError(f"bins({printed(column)}): give either a list of edges or a step")
    if step is not None:
        return Bins(column, (), step)
    if not isinstance(edges, list | tuple | range):
        raise PlanError(f"bins({printed(column)}): edges={printed(edges)} must be a list of at least two")
    return Bins(column, tuple(edges))


@dataclass(frozen=True, slots=True)
class CategoryGroup:
    """One group for each category that clamping has left, and one for null if the column can still be null.

    `printed` are the columns that show it, where they are others than `column` alone: each is a function of it.
    """

    column: str
    printed: tuple[str, ...] = ()

    def __setstate__(self, state: Sequence[object]) -> None:
        # The pickles of earlier versions hold the column alone.
        for name, value in zip(("column", "printed"), (*state, ())[:2], strict=True):
            object.__setattr__(self, name, value)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the release that show the group."""
        return self.printed or (self.column,)


@dataclass(frozen=True, slots=True)
class BinGroup:
    """One group for each bin of codes [edges[i], edges[i+1]), and one for null if the column can still be null.

    `labels` are the names of the bins. A last edge of one more than the highest possible code closes the last bin.
    """

    column: str
    edges: tuple[int, ...]
    labels: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the release that show the group."""
        return (self.column,)


Group = CategoryGroup | BinGroup


def group_of(by: object, facts: TableFacts) -> Group:
    """The group that a name or `bins(…)` means for a table with these facts.

    Raises:
        PlanError: undeclared column, a number without bins, edges that are unsorted, off the grid or outside the bounds.
    """
    if isinstance(by, Bins):
        return _bin_group(by, facts)
    if not isinstance(by, str):
        names = [one for one in by if isinstance(one, str)] if isinstance(by, list | tuple) else []
        said = f"; write group_by({', '.join(map(repr, names))})" if names else ""
        raise PlanError(f"group_by({printed(by)}): must be the name of a column or bins(column, edges){said}")
    if not isinstance(facts[by], CategoryFacts):
        said = f"bins('{by}', [edge, edge, …]) or bins('{by}', step=…), in a plan file by {{ bins = '{by}', step = … }}"
        raise PlanError(f"group_by('{by}'): a number or date is grouped by {said}")
    return CategoryGroup(by)


def _bin_group(by: Bins, facts: TableFacts) -> BinGroup:
    column_facts = facts[by.column]
    where = f"bins('{by.column}')"
    if not isinstance(column_facts, NumberFacts):
        raise PlanError(f"{where}: the column is categorical; group by '{by.column}' itself")
    column = column_facts.column
    if by.step is not None:
        return _step(by.column, column_facts, step_codes(column, by.step, (column_facts.low, column_facts.high), where))
    try:
        codes = [column.code(edge, f"edges[{i}]") for i, edge in enumerate(by.edges)]  # type: ignore[arg-type]
    except ArgumentError as wrong:
        raise PlanError(f"{where}: {wrong}") from None
    if len(codes) < 2 or any(left >= right for left, right in pairwise(codes)):
        raise PlanError(f"{where}: edges must be at least two and increase strictly")
    # Clamping moves values to the upper bound: a last bin without this bound would lose them silently.
    return _close_bins(by.column, column_facts, codes, closes=codes[-1] in {column_facts.high, column.size - 1})


def _step(name: str, facts: NumberFacts, starts: list[int]) -> BinGroup:
    """The bins that begin at these codes, and end with the highest one."""
    alone = starts[-1] == facts.high and (isinstance(facts.column, Date) or len(starts) == 1)
    # A day that begins a month belongs to that month; a number that is the upper bound, to the bin below it.
    codes = starts if starts[-1] == facts.high and not alone else [*starts, facts.high]
    return _close_bins(name, facts, codes, closes=True)


def _close_bins(name: str, facts: NumberFacts, codes: list[int], *, closes: bool) -> BinGroup:
    """The bins between these codes, of which the last is closed or not."""
    shown = [_show_code(facts.column, code) for code in codes]
    labels = [f"[{left}, {right})" for left, right in pairwise(shown)]
    if closes:
        codes, labels = [*codes[:-1], codes[-1] + 1], [*labels[:-1], labels[-1][:-1] + "]"]
    return BinGroup(name, tuple(codes), tuple(labels))


def _show_code(column: Number | Date, code: int) -> str:
    value = column.value(code)
    return text(value) if isinstance(value, Fraction) else value.isoformat()


def group_labels(group: Group, facts: TableFacts) -> tuple[Label, ...]:
    """The public labels of a group, in schema order. If there is a null group, it comes last."""
    column_facts = facts[group.column]
    labels: tuple[Label, ...]
    if isinstance(group, BinGroup):
        labels = group.labels
    else:
        column = column_facts.column
        kept = column_facts.kept if isinstance(column_facts, CategoryFacts) else ()
        labels = tuple(column.values[code] for code in kept) if isinstance(column, Category) else ()
    return (*labels, None) if column_facts.nullable else labels


def printed_labels(group: Group, name: str, facts: TableFacts) -> tuple[Label, ...]:
    """For each label of the group the label of one of the columns that show it."""
    own = group_labels(group, facts)
    if name == group.column:
        return own
    fine, coarse = facts[group.column], facts[name].column
    above = between(group.column, name, _Declared(facts))
    if above is None or not isinstance(fine, CategoryFacts) or not isinstance(coarse, Category):
        raise InternalError(f"'{group.column}' does not determine '{name}'")
    values = (*coarse.values, None)
    return tuple(values[above[code]] for code in (*fine.kept, fine.column.size)[: len(own)])


@dataclass(frozen=True, slots=True)
class _Declared:
    """The declared columns of a table."""

    facts: TableFacts

    def __getitem__(self, name: str, /) -> Column:
        return self.facts[name].column


def merge_groups(groups: Sequence[Group], facts: TableFacts) -> tuple[Group, ...]:
    """The groups, with one for all columns of a family: of the finest, which the others are printed beside.

    Cells are then those of the finest column alone, and no cell crosses a county with another state (K2). Columns that tell
    the root together, as all parts of a combination do, have the cells of the root (K6).

    Raises:
        PlanError: none of them determines the others.
    """
    declared = _Declared(facts)
    single = [group for group in groups if isinstance(group, CategoryGroup)]
    if len({group.column for group in groups}) < len(groups):
        return tuple(groups)  # a column that is named twice is refused where all names are compared
    found: list[Group] = []
    done: set[str] = set()
    for group in groups:
        if not isinstance(group, CategoryGroup) or group.column not in done:
            own = _family(group, single, declared)
            done.update(own)
            found.append(group if len(own) == 1 else _merged(own, declared))
    return tuple(found)


def _family(group: Group, others: Sequence[CategoryGroup], declared: _Declared) -> tuple[str, ...]:
    if not isinstance(group, CategoryGroup):
        return (group.column,)
    root = root_of(group.column, declared)
    return tuple(other.column for other in others if root_of(other.column, declared) == root)


def _merged(names: tuple[str, ...], declared: _Declared) -> CategoryGroup:
    fine, root = finest(names, declared), root_of(names[0], declared)
    if fine is None and tell_all(names, declared):
        fine = root  # all parts of a combination are the combination
    if fine is None:
        raise PlanError(
            f"group_by({', '.join(map(repr, names))}): all are derived from '{root}', and none determines the others, so "
            f"that some of their combinations cannot occur; group by '{root}' as well, or by one of them"
        )
    return CategoryGroup(fine, printed=names)


def groups_json(groups: Sequence[Group], facts: TableFacts) -> list[dict[str, object]]:
    """The groups as canonical JSON values: one for each column that shows them."""
    return [one for group in groups for one in _group_json(group, facts)]


def _group_json(group: Group, facts: TableFacts) -> list[dict[str, object]]:
    cuts = {"edges": list(group.edges)} if isinstance(group, BinGroup) else {}
    return [{"column": name, "labels": list(printed_labels(group, name, facts)), **cuts} for name in group.names]


def covering(group: Group, facts: TableFacts) -> Group:
    """The group, with a bin below its first one and one above its last where these leave values of the column out."""
    known = facts[group.column]
    if is_complete(group, facts) or not isinstance(group, BinGroup) or not isinstance(known, NumberFacts):
        return group
    low, high, edges = known.low, known.high, group.edges
    below = [_close_bins(group.column, known, [low, edges[0]], closes=False)] if low < edges[0] else []
    above = [_close_bins(group.column, known, [edges[-1], high], closes=True)] if edges[-1] <= high else []
    parts = (*below, group, *above)
    cuts = (*(cut for part in parts for cut in part.edges[:-1]), parts[-1].edges[-1])
    return BinGroup(group.column, cuts, tuple(label for part in parts for label in part.labels))


def is_complete(group: Group, facts: TableFacts) -> bool:
    """True if every value of the column, including null if it can be null, is in one of the groups."""
    column = facts[group.column]
    match group:
        case BinGroup(edges=edges):
            return isinstance(column, NumberFacts) and edges[0] <= column.low and column.high < edges[-1]
        case CategoryGroup():
            return isinstance(column.column, Category)
    raise unreachable(group)
