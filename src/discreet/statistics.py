"""What is asked: groups of rows and the statistics of each group. Descriptions only; `allocate` turns them into queries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from discreet.errors import ArgumentError, PlanError, printed
from discreet.exact import Amount, exact, text
from discreet.schema import Category, Date, Number, Value
from discreet.steps import CategoryFacts, NumberFacts, TableFacts

__all__ = [
    "BinGroup",
    "Bins",
    "CategoryGroup",
    "Count",
    "Group",
    "Label",
    "Mean",
    "Statistic",
    "Sum",
    "bins",
    "count",
    "group_json",
    "group_labels",
    "group_of",
    "mean",
    "statistic_json",
    "sum_of",
]

_MAX_WEIGHT = 10**30

Label = Value | None
"""How a group is called in the release: a category, the text of a bin such as "[18, 30)", or None for the null group."""


@dataclass(frozen=True, slots=True)
class Count:
    """The number of rows, or of rows whose `column` is not null."""

    column: str | None
    name: str
    weight: Fraction = Fraction(1)

    def alias(self, name: str) -> Count:
        """The same statistic under another name."""
        return replace(self, name=_alias(name))


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of a numeric column; with `skip_nulls`, nulls contribute 0."""

    column: str
    name: str
    weight: Fraction = Fraction(1)
    skip_nulls: bool = False

    def alias(self, name: str) -> Sum:
        """The same statistic under another name."""
        return replace(self, name=_alias(name))


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a numeric column, within its bounds; with `skip_nulls`, the mean of the non-null values."""

    column: str
    name: str
    weight: Fraction = Fraction(1)
    skip_nulls: bool = False

    def alias(self, name: str) -> Mean:
        """The same statistic under another name."""
        return replace(self, name=_alias(name))


Statistic = Count | Sum | Mean


def count(column: str | None = None, *, weight: Amount = 1) -> Count:
    """The number of rows of each group, or of those whose `column` is not null.

    `weight` is the share of the spend relative to the other statistics of the request.
    """
    return Count(column, "count" if column is None else f"count_{_named(column)}", _weight(weight))


def sum_of(column: str, *, weight: Amount = 1, nulls: str | None = None) -> Sum:
    """The sum of a numeric column in each group; `nulls="skip"` lets nulls contribute 0 in a column that has them."""
    return Sum(column, f"sum_{_named(column)}", _weight(weight), _skip(nulls))


def mean(column: str, *, weight: Amount = 1, nulls: str | None = None) -> Mean:
    """The mean of a numeric column in each group, within its bounds; `nulls="skip"` averages the non-null values."""
    return Mean(column, f"mean_{_named(column)}", _weight(weight), _skip(nulls))


@dataclass(frozen=True, slots=True)
class Bins:
    """A numeric column cut at `edges`, as written by the caller; `group_of` checks it against the schema."""

    column: str
    edges: tuple[Amount | dt.date, ...]


def bins(column: str, edges: Sequence[Amount | dt.date]) -> Bins:
    """The half-open bins [e0, e1), [e1, e2), … of a numeric column or date, to group by.

    The last bin includes its upper edge when that is the column's upper bound. Values outside all bins, like rows that
    fail `where`, contribute 0.
    """
    if not isinstance(edges, list | tuple | range):
        raise PlanError(f"bins({printed(column)}): edges={printed(edges)} must be a list of at least two")
    return Bins(column, tuple(edges))


@dataclass(frozen=True, slots=True)
class CategoryGroup:
    """One group for each category that clamping has left, and one for null while the column can be null."""

    column: str


@dataclass(frozen=True, slots=True)
class BinGroup:
    """One group for each bin of codes [edges[i], edges[i+1]), and one for null while the column can be null.

    `labels` are the names of the bins; an edge equal to the number of codes closes the last bin at the upper bound.
    """

    column: str
    edges: tuple[int, ...]
    labels: tuple[str, ...]


Group = CategoryGroup | BinGroup


def group_of(by: object, facts: TableFacts) -> Group:
    """The group that a name or `bins(…)` means for a table with these facts.

    Raises:
        PlanError: undeclared column, a number without bins, edges that are unsorted, off the grid or outside the bounds.
    """
    if isinstance(by, Bins):
        return _bin_group(by, facts)
    if not isinstance(by, str):
        raise PlanError(f"group_by({printed(by)}): must be the name of a column or bins(column, edges)")
    if not isinstance(facts[by], CategoryFacts):
        raise PlanError(f"group_by('{by}'): a number or date is grouped by bins('{by}', [edge, edge, …])")
    return CategoryGroup(by)


def _bin_group(by: Bins, facts: TableFacts) -> BinGroup:
    column_facts = facts[by.column]
    where = f"bins('{by.column}')"
    if not isinstance(column_facts, NumberFacts):
        raise PlanError(f"{where}: the column is categorical; group by '{by.column}' itself")
    column = column_facts.column
    try:
        codes = [column.code(edge, f"edges[{i}]") for i, edge in enumerate(by.edges)]  # type: ignore[arg-type]
    except ArgumentError as wrong:
        raise PlanError(f"{where}: {wrong}") from None
    if len(codes) < 2 or any(left >= right for left, right in pairwise(codes)):
        raise PlanError(f"{where}: edges must be at least two and increase strictly")
    shown = [_shown(column, code) for code in codes]
    labels = [f"[{left}, {right})" for left, right in pairwise(shown)]
    if codes[-1] == column.size - 1:
        # The clamped values sit at the upper bound: a last bin without it would lose them silently.
        codes[-1] += 1
        labels[-1] = labels[-1][:-1] + "]"
    return BinGroup(by.column, tuple(codes), tuple(labels))


def _shown(column: Number | Date, code: int) -> str:
    value = column.value(code)
    return text(value) if isinstance(value, Fraction) else value.isoformat()


def group_labels(group: Group, facts: TableFacts) -> tuple[Label, ...]:
    """The public labels of a group, in schema order; the null group, where there is one, comes last."""
    column_facts = facts[group.column]
    labels: tuple[Label, ...]
    if isinstance(group, BinGroup):
        labels = group.labels
    else:
        column = column_facts.column
        kept = column_facts.kept if isinstance(column_facts, CategoryFacts) else ()
        labels = tuple(column.values[code] for code in kept) if isinstance(column, Category) else ()
    return (*labels, None) if column_facts.nullable else labels


def group_json(group: Group, facts: TableFacts) -> dict[str, object]:
    """The group as canonical JSON values."""
    shown: dict[str, object] = {"column": group.column, "labels": list(group_labels(group, facts))}
    return {**shown, "edges": list(group.edges)} if isinstance(group, BinGroup) else shown


def statistic_json(statistic: Statistic) -> dict[str, object]:
    """The statistic as canonical JSON values."""
    shown: dict[str, object] = {
        "statistic": type(statistic).__name__.lower(),
        "column": statistic.column,
        "name": statistic.name,
        "weight": text(statistic.weight),
    }
    return shown if isinstance(statistic, Count) else {**shown, "nulls": "skip" if statistic.skip_nulls else "refuse"}


def _named(column: str) -> str:
    if not isinstance(column, str):
        raise PlanError(f"column {printed(column)}: must be the name of a column of the schema")
    return column


def _weight(weight: Amount) -> Fraction:
    share = exact(weight, "weight")
    if not share > 0:
        raise ArgumentError(f"weight={text(share)}: must be greater than 0; leave the statistic out instead")
    if max(share.numerator, share.denominator) > _MAX_WEIGHT:
        raise ArgumentError("weight: must have at most 30 digits above and below the line; round it")
    return share


def _skip(nulls: str | None) -> bool:
    if nulls is not None and not (isinstance(nulls, str) and nulls == "skip"):
        raise ArgumentError(f"nulls={printed(nulls)}: must be 'skip' or left out")
    return nulls == "skip"


def _alias(name: str) -> str:
    if not isinstance(name, str) or not name or not name.isprintable():
        raise ArgumentError(f"alias({printed(name)}): must be printable text")
    return name
