"""What is asked of each group of rows. Descriptions only; `primitives` turns them into integer queries.

A `Statistic` is a kind of question (`Count`, `Mean`, `Quantiles`, …) about a column, with a name and a weight.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.domain.groups import BinGroup, Bins, Group, bins
from discreet.errors import ArgumentError, InternalError, PlanError, printed, unreachable
from discreet.exact.numbers import Amount, exact, text

__all__ = [
    "Count",
    "Histogram",
    "Kind",
    "Mean",
    "Median",
    "Quantiles",
    "Share",
    "Statistic",
    "Std",
    "Sum",
    "Tables",
    "Variance",
    "count",
    "histogram",
    "interval_of",
    "kind_of",
    "levels_of",
    "mean",
    "median",
    "outputs",
    "quantiles",
    "share",
    "statistic_json",
    "std",
    "sum_of",
    "tables",
    "variance",
]

_MAX_WEIGHT = 10**30
_MAX_DENOMINATOR = 10**30
_MAX_QUANTILES = 1000
_MOST_CHOSEN = 63
_INTERVAL = Fraction(1, 20)


@dataclass(frozen=True, slots=True)
class Count:
    """The number of rows, or of rows whose column is not null."""


@dataclass(frozen=True, slots=True)
class Share:
    """The number of rows of the group over the number of rows of all groups."""


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of the column."""


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of the column, within its bounds."""


@dataclass(frozen=True, slots=True)
class Variance:
    """The mean squared distance from the mean (divided by the number of rows, not by one less)."""


@dataclass(frozen=True, slots=True)
class Std:
    """The square root of the variance."""


@dataclass(frozen=True, slots=True)
class Quantiles:
    """The q-quantile of the column for each q of `at`: the smallest value that at least q of the rows do not exceed."""

    at: tuple[Fraction, ...]
    interval: Fraction


@dataclass(frozen=True, slots=True)
class Median:
    """The 1/2-quantile of the column."""

    interval: Fraction


@dataclass(frozen=True, slots=True)
class Histogram:
    """The numbers of rows in bins of the column, as a frame of its own; `Bins` until a table has checked them."""

    bins: Bins | BinGroup


@dataclass(frozen=True, slots=True)
class Tables:
    """The numbers of rows in several tables, each a frame of its own; names and `Bins` until a table has checked them."""

    tables: tuple[tuple[str | Bins | Group, ...], ...]


Kind = Count | Share | Sum | Mean | Variance | Std | Median | Quantiles | Histogram | Tables


@dataclass(frozen=True, slots=True)
class Statistic:
    """One statistic of a request.

    Args:
        kind: what is asked.
        column: about which column; None for all rows.
        name: how its columns in the release are called.
        weight: its share of the spend relative to the other statistics of the request.
        skip_nulls: whether rows that are null in the column are left out; without it such a column is refused.
    """

    kind: Kind
    column: str | None
    name: str
    weight: Fraction = Fraction(1)
    skip_nulls: bool = False

    def alias(self, name: str) -> Statistic:
        """The same statistic under another name."""
        if not isinstance(name, str) or not name or not name.isprintable():
            raise ArgumentError(f"alias({printed(name)}): must be printable text")
        return replace(self, name=name)


def count(column: str | None = None, *, weight: Amount = 1) -> Statistic:
    """The number of rows of each group, or of those whose `column` is not null.

    `weight` is the share of the spend relative to the other statistics of the request.
    """
    name = "count" if column is None else f"count_{_named(column)}"
    return Statistic(Count(), column, name, _weight(weight))


def share(*, weight: Amount = 1) -> Statistic:
    """The proportion of each group among the rows of all groups, between 0 and 1."""
    return Statistic(Share(), None, "share", _weight(weight))


def sum_of(column: str, *, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The sum of a numeric column in each group; `nulls="skip"` lets nulls contribute 0 in a column that has them."""
    return _of(Sum(), column, weight, nulls)


def mean(column: str, *, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The mean of a numeric column in each group, within its bounds; `nulls="skip"` averages the non-null values."""
    return _of(Mean(), column, weight, nulls)


def variance(column: str, *, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The variance of a numeric column in each group (divided by the number of rows, not by one less)."""
    return _of(Variance(), column, weight, nulls)


def std(column: str, *, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The standard deviation of a numeric column in each group: the square root of `variance`."""
    return _of(Std(), column, weight, nulls)


def median(column: str, *, interval: Amount | None = None, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The median of a numeric column in each group: the lower one of two middle values, a value of the grid.

    `interval` is as in `quantiles`.
    """
    return _of(Median(_interval(interval, 1)), column, weight, nulls)


def quantiles(
    column: str,
    at: Sequence[Amount],
    *,
    interval: Amount | None = None,
    weight: Amount = 1,
    nulls: str | None = None,
) -> Statistic:
    """The quantiles of a numeric column in each group, for each q of `at`.

    Columns of the release are called `<column>_p25` for q = 0.25, or `<alias>_p25`.

    Args:
        column: which column.
        at: the q, each in [0, 1].
        interval: which part of its spend goes into the intervals, from 0 to 1; a twentieth if it is left out. The values are
            chosen by their rank with the rest. With 0 intervals are the whole range of the column; with 1 values and
            intervals are read from the same noisy counts, which is better for very many quantiles: done for more than 63.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip" leaves out rows that are null in the column.

    Raises:
        ArgumentError: a q outside [0, 1] or twice, or none, or an interval outside [0, 1].
    """
    if isinstance(at, str | bytes) or not isinstance(at, Sequence):
        at = [at]  # type: ignore[list-item]
    levels = tuple(exact(q, f"at[{position}]") for position, q in enumerate(at))
    for q in levels:
        if not 0 <= q <= 1:
            raise ArgumentError(f"quantiles('{column}'): at={text(q)} must lie in [0, 1]; the median is '0.5'")
        if q.denominator > _MAX_DENOMINATOR:
            raise ArgumentError(f"quantiles('{column}'): at must have at most 30 digits; round it")
    if not levels or len(set(levels)) < len(levels) or len(levels) > _MAX_QUANTILES:
        raise ArgumentError(f"quantiles('{column}'): at must hold 1 to {_MAX_QUANTILES} different numbers")
    kind = Quantiles(tuple(sorted(levels)), _interval(interval, len(levels)))
    return replace(_of(kind, column, weight, nulls), name=column)


def histogram(column: str, edges: Sequence[Amount | dt.date], *, weight: Amount = 1) -> Statistic:
    """The numbers of rows in the bins [e0, e1), [e1, e2), … of a column, in each group: a frame of its own in the release.

    Bins are as in `bins`; a column that can be null has a null bin.
    """
    return Statistic(Histogram(bins(_named(column), edges)), column, f"histogram_{column}", _weight(weight), skip_nulls=True)


def tables(*groupings: Sequence[str | Bins], weight: Amount = 1) -> Statistic:
    """The numbers of rows by each of the groupings: margins of one table, such as `tables(["a", "b"], ["a", "c"])`.

    Every table is a frame of its own in the release, with the unbiased counts and, as `count_consistent`, the least-squares
    estimate in which tables agree where they overlap. All of them are one release: a row counts once in every table.

    Raises:
        PlanError: no grouping, an empty one, or one that stands there twice.
    """
    asked = tuple(tuple(grouping) if isinstance(grouping, list | tuple) else () for grouping in groupings)
    if not asked or not all(asked) or not all(isinstance(by, str | Bins) for grouping in asked for by in grouping):
        raise PlanError('tables(): must name different lists of columns or bins, such as tables(["a", "b"], ["a", "c"])')
    return Statistic(Tables(asked), None, "tables", _weight(weight))


def outputs(statistic: Statistic) -> tuple[str, ...]:
    """The names of the columns that the statistic has in the table of the release, each with `_low` and `_high`."""
    match statistic.kind:
        case Histogram() | Tables():
            return ()
        case Quantiles(at=at):
            return tuple(f"{statistic.name}_p{text(100 * q)}" for q in at)
    return (statistic.name,)


def levels_of(kind: Kind) -> tuple[Fraction, ...]:
    """The q of the quantiles that are asked; empty for another kind."""
    match kind:
        case Median():
            return (Fraction(1, 2),)
        case Quantiles(at=at):
            return at
        case Count() | Share() | Sum() | Mean() | Variance() | Std() | Histogram() | Tables():
            return ()
    raise unreachable(kind)


def interval_of(kind: Kind) -> Fraction:
    """Which part of the spend of quantiles their intervals get; 1 for another kind, which has no other part."""
    match kind:
        case Median(interval=interval) | Quantiles(interval=interval):
            return interval
        case Count() | Share() | Sum() | Mean() | Variance() | Std() | Histogram() | Tables():
            return Fraction(1)
    raise unreachable(kind)


def kind_of(statistic: Statistic) -> str:
    """The kind in lower case, such as "mean"."""
    return type(statistic.kind).__name__.lower()


def statistic_json(statistic: Statistic) -> dict[str, object]:
    """The statistic as canonical JSON values."""
    shown: dict[str, object] = {
        "statistic": kind_of(statistic),
        "column": statistic.column,
        "name": statistic.name,
        "weight": text(statistic.weight),
    }
    match statistic.kind:
        case Count() | Share():
            return shown
        case Histogram(bins=BinGroup() as group):
            return {**shown, **_group_json(group)}
        case Tables(tables=groupings):
            return {**shown, "tables": [[_group_json(group) for group in grouping] for grouping in groupings]}
        case Quantiles(at=at, interval=interval):
            shown |= {"at": [text(q) for q in at], "interval": text(interval)}
        case Median(interval=interval):
            shown["interval"] = text(interval)
        case Sum() | Mean() | Variance() | Std():
            pass  # nothing of their own
        case Histogram():
            raise InternalError(f"statistic '{statistic.name}' has bins that were not checked")
        case _:
            raise unreachable(statistic.kind)
    return {**shown, "nulls": "skip" if statistic.skip_nulls else "refuse"}


def _group_json(group: object) -> dict[str, object]:
    """The group as a table has checked it."""
    if isinstance(group, BinGroup):
        return {"column": group.column, "edges": list(group.edges), "labels": list(group.labels)}
    return {"column": getattr(group, "column", None)}


def _of(kind: Kind, column: str, weight: Amount, nulls: str | None) -> Statistic:
    name = f"{type(kind).__name__.lower()}_{_named(column)}"
    return Statistic(kind, column, name, _weight(weight), _skip(nulls))


def _named(column: str) -> str:
    if not isinstance(column, str):
        raise PlanError(f"column {printed(column)}: must be the name of a column of the schema")
    return column


def _weight(weight: Amount) -> Fraction:
    amount = exact(weight, "weight")
    if not amount > 0:
        raise ArgumentError(f"weight={text(amount)}: must be greater than 0; leave the statistic out instead")
    if max(amount.numerator, amount.denominator) > _MAX_WEIGHT:
        raise ArgumentError("weight: must have at most 30 digits above and below the line; round it")
    return amount


def _interval(interval: Amount | None, quantiles: int) -> Fraction:
    """The part of the spend that intervals get; errors of choices in more than six levels add up to more than a tree."""
    if interval is None:
        return _INTERVAL if quantiles <= _MOST_CHOSEN else Fraction(1)
    part = exact(interval, "interval")
    if not 0 <= part <= 1:
        raise ArgumentError(f"interval={text(part)}: must lie in [0, 1]; it is the part of the spend for the intervals")
    return part


def _skip(nulls: str | None) -> bool:
    if nulls is not None and not (isinstance(nulls, str) and nulls == "skip"):
        raise ArgumentError(f"nulls={printed(nulls)}: must be 'skip' or left out")
    return nulls == "skip"
