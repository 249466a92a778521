"""Cross tables: one number for two and more groups, with the subtotals that the release has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from discreet.domain.about import About
from discreet.pages.report.about import label_in
from discreet.pages.report.tables import NumberTable, Row
from discreet.pages.words import Words

__all__ = [
    "MOST_ACROSS",
    "MOST_CELLS",
    "CrossRow",
    "CrossTable",
    "Subtotals",
    "cross_of",
    "cut_columns",
    "exact_subtotals",
    "noisy_subtotals",
    "partial_columns",
]

MOST_ACROSS = 12
"""More columns than these do not fit on paper."""

MOST_CELLS = 2_000
"""A larger cross table is no easier to read than a list."""

Subtotals = Mapping[frozenset[str], Mapping[tuple[str, ...], str]]
"""Exact numbers by the columns that they are given for, and by the labels in the order of the sorted columns."""


@dataclass(frozen=True, slots=True)
class CrossRow:
    """A row: its labels with the number of rows that each spans (0: it stands above), its cells, and its subtotal."""

    labels: tuple[tuple[str, int], ...]
    cells: tuple[Row, ...]
    total: str


@dataclass(frozen=True, slots=True)
class CrossTable:
    """A number for the combinations of groups: one group across, the others down.

    Args:
        down: the headings of the groups that stand down.
        across: the heading of the group that stands across.
        columns: its labels.
        rows: the rows.
        totals: the subtotals of the columns, and of everything; empty where the release has none.
        rows_have_totals: whether there is a column of subtotals.
    """

    down: tuple[str, ...]
    across: str
    columns: tuple[str, ...]
    rows: tuple[CrossRow, ...]
    totals: tuple[str, ...]
    rows_have_totals: bool


def cross_of(table: NumberTable, rows: Sequence[Row], subtotals: Subtotals, partial: frozenset[str]) -> CrossTable | None:
    """The cross table of the rows of a table; None for one group, too many columns or cells, or combinations left out.

    What is added up over a column whose bins leave rows out (`partial_columns`) is not a subtotal, and gets none.
    """
    found = {row.labels[: len(table.by)]: row for row in rows}
    sizes = [list(dict.fromkeys(labels)) for labels in zip(*found, strict=True)]
    across = _across([len(size) for size in sizes], len(rows))
    if across is None or len(found) != len(rows):
        return None
    down = list(dict.fromkeys(_without(labels, across) for labels in found))
    names = _without(table.by, across)
    of_row = {} if table.by[across] in partial else subtotals.get(frozenset(names), {})
    of_column = {} if partial.intersection(names) else subtotals.get(frozenset({table.by[across]}), {})
    if table.family != "rows":  # a noisy table has every group: one with other groups has other bins
        of_row = of_row if {_sort_labels(labels, names) for labels in down} <= {*of_row} else {}
        of_column = of_column if {(one,) for one in sizes[across]} <= {*of_column} else {}
    total = _finder(of_row, names)
    lines = tuple(
        CrossRow(spans, tuple(found[_with(labels, across, one)] for one in sizes[across]), total(labels))
        for labels, spans in zip(down, _spans(down), strict=True)
    )
    foot = tuple(of_column.get((one,), "0") for one in sizes[across]) if of_column else ()
    return CrossTable(_without(table.groups, across), table.groups[across], tuple(sizes[across]), lines, foot, bool(of_row))


def _across(sizes: Sequence[int], cells: int) -> int | None:
    """The group that stands across: the last one if it is short enough, else the shortest."""
    if len(sizes) < 2 or cells > MOST_CELLS or prod(sizes) != cells:
        return None
    last = len(sizes) - 1
    chosen = last if sizes[last] <= MOST_ACROSS else min(range(len(sizes)), key=sizes.__getitem__)
    return chosen if sizes[chosen] <= MOST_ACROSS else None


def _without(parts: Sequence[str], place: int) -> tuple[str, ...]:
    return (*parts[:place], *parts[place + 1 :])


def _with(parts: Sequence[str], place: int, part: str) -> tuple[str, ...]:
    return (*parts[:place], part, *parts[place:])


def _spans(down: Sequence[tuple[str, ...]]) -> Iterable[tuple[tuple[str, int], ...]]:
    """The labels of each row, each with the number of rows for which it stands; 0 where the row above has it."""
    for place, labels in enumerate(down):
        yield tuple((label, _span(down, place, depth)) for depth, label in enumerate(labels))


def _span(down: Sequence[tuple[str, ...]], place: int, depth: int) -> int:
    own = down[place][: depth + 1]
    if depth == len(down[place]) - 1:
        return 1
    if place and down[place - 1][: depth + 1] == own:
        return 0
    end = place
    while end < len(down) and down[end][: depth + 1] == own:
        end += 1
    return end - place


def _finder(totals: Mapping[tuple[str, ...], str], names: Sequence[str]) -> Callable[[Sequence[str]], str]:
    """The subtotal of some labels, which stand in the order of these names; 0 for a group that is not listed."""
    return lambda labels: totals.get(_sort_labels(labels, names), "0") if totals else ""


def _sort_labels(labels: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """The labels in the order of the sorted names."""
    return tuple(labels[place] for place in sorted(range(len(names)), key=names.__getitem__))


def partial_columns(plan: Mapping[str, Any]) -> frozenset[str]:
    """The columns with bins, in the groups of a request and of its tables, that may leave rows out."""
    return _leaving_out(plan, _groups(plan))


def cut_columns(plan: Mapping[str, Any]) -> frozenset[str]:
    """The columns with bins, those of histograms included, that may leave rows out."""
    return _leaving_out(plan, [*_groups(plan), *(one for one in plan["statistics"] if "edges" in one)])


def _leaving_out(plan: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The columns of these groups whose bins may leave rows out. The last bin is closed where it ends at the upper bound."""
    lowest = {one["name"]: one.get("lower", one.get("first")) for one in plan["schema"]}
    lowest |= {step["column"]: step["lower"] for step in plan["steps"] if step["step"] == "clamp" and "lower" in step}
    found = set()
    for group in groups:
        labels = [label for label in group.get("labels", ()) if label is not None]
        if "edges" in group and not (labels[0].startswith(f"[{lowest[group['column']]}, ") and labels[-1].endswith("]")):
            found.add(group["column"])
    return frozenset(found)


def _groups(plan: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The groups of the request and of its tables."""
    tables = [grouping for one in plan["statistics"] for grouping in one.get("tables", ())]
    return [*plan["group_by"], *(group for grouping in tables for group in grouping)]


def exact_subtotals(document: Mapping[str, Any], about: About, words: Words) -> Subtotals:
    """The exact numbers of rows that the release publishes for whole groups: subtotals of its counts.

    None where its counts are of other rows, or in other groups: after conditions, a resize or sample, a clamp of the
    column, or bins.
    """
    plan = document["plan"]
    counted = all(step["step"] not in {"where", "resize", "sample"} for step in plan["steps"])
    parts = document["invariants"]["totals"]["parts"] if document["invariants"] and counted else ()
    other = {step["column"] for step in plan["steps"] if "column" in step} if counted else set()
    other |= {group["column"] for group in _groups(plan) if "edges" in group}
    found: dict[frozenset[str], Mapping[tuple[str, ...], str]] = {}
    for part in parts:
        if part["part"] == "totals" and part["only"] is None and not other.intersection(part["columns"]):
            columns = part["columns"]
            order = sorted(range(len(columns)), key=columns.__getitem__)
            found[frozenset(columns)] = {
                tuple(label_in(about, columns[at], cell[at], words) for at in order): words.number(cell[-1])
                for cell in part["cells"]
            }
    return found


def noisy_subtotals(tables: Iterable[tuple[NumberTable, Sequence[Row]]]) -> Subtotals:
    """The numbers of several tables of one statistic, each a table of subtotals of those with more groups."""
    found: dict[frozenset[str], Mapping[tuple[str, ...], str]] = {}
    for table, rows in tables:
        order = sorted(range(len(table.by)), key=table.by.__getitem__)
        found[frozenset(table.by)] = {tuple(row.labels[at] for at in order): row.value for row in rows}
    return found
