"""The numbers of rows in bins of a column, as a frame of its own in a release."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.cube.cells import Integers
from discreet.cube.queries import Query, TableCounts
from discreet.domain.groups import BinGroup, Bins, Group, bins, group_labels
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError, PlanError
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import (
    UNBIASED,
    Asked,
    Completed,
    Extended,
    Free,
    Keys,
    Need,
    Reads,
    Room,
    Shape,
    Statistic,
    Written,
    groupings_of,
)
from discreet.statistics.common import check_column_name, check_weight, one_column, title
from discreet.statistics.completions import BEYOND, Terms, half_width_of, wide
from discreet.statistics.count_tables import group_facts, tables_apart
from discreet.statistics.counts import CompletedCountRecipe, between, completed_count, count_estimate
from discreet.statistics.estimate import Estimate
from discreet.statistics.own_counts import OwnCountsRecipe, own_counts
from discreet.statistics.possible import Possible, count_value
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Statements

__all__ = ["CompletedHistogramRecipe", "Histogram", "histogram"]


def histogram(
    column: str, edges: Sequence[Amount | dt.date] | None = None, *, step: Amount | None = None, weight: Amount = 1
) -> Statistic:
    """The numbers of rows in the bins [e0, e1), [e1, e2), … of a column, in each group: a frame of its own in the release.

    Bins are as in `bins`, with edges or a step; a column that can be null has a null bin.
    """
    kind = Histogram(bins(check_column_name(column), edges, step=step))
    return Statistic(kind, column, f"histogram_{column}", check_weight(weight), skip_nulls=True)


def _edges(value: Written) -> Any:
    value.items()
    return value.scalars()


def _step(value: Written) -> Any:
    return value.number()


@dataclass(frozen=True, slots=True)
class OwnBins:
    """A count for each bin, in a frame of its own."""

    one_number: bool = False

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        return ((_bins_of(one),),)

    def prepare(
        self, one: Statistic, check: Callable[[str | Bins | Group], Group], facts: TableFacts, *, grouped: bool
    ) -> Statistic:
        found = check(_kind_of(one).bins)
        if not isinstance(found, BinGroup):
            raise PlanError(f"histogram('{one.column}'): the column is categorical; group by it and count")
        return replace(one, kind=Histogram(found))

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def to_json(self, one: Statistic) -> dict[str, object]:
        return group_facts(_bins_of(one))

    def places(self, one: Statistic, facts: TableFacts) -> int:
        return len(group_labels(_bins_of(one), facts))

    def advice(self, one: Statistic, room: Room) -> str:
        few = f"at most {room.fit} bins, null included, or " if room.few else ""
        return f"take {few}at most {room.groups} groups"


def _kind_of(one: Statistic) -> Histogram:
    kind: Any = one.kind
    if not isinstance(kind, Histogram):
        raise InternalError(f"statistic '{one.name}' has no bins")
    return kind


def _bins_of(one: Statistic) -> BinGroup:
    found = _kind_of(one).bins
    if not isinstance(found, BinGroup):
        raise InternalError(f"statistic '{one.name}' has groups that were not checked")
    return found


@dataclass(frozen=True, slots=True)
class BinnedColumn:
    """The column that is cut into bins."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return (str(one.column),)

    def check(self, one: Statistic, facts: TableFacts) -> None:
        _ = facts[str(one.column)]  # raises where it is not declared

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return tuple(Need("groups", tuple(group.column for group in groups), groups) for groups in groupings_of(one))

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        column = names.get(str(one.column), str(one.column))
        return replace(one, column=column, kind=Histogram(replace(_bins_of(one), column=column)))


def _complete(one: Statistic, asked: Asked) -> CompletedHistogramRecipe:
    (table,) = own_counts(one, asked).asked
    return CompletedHistogramRecipe(table, completed_count(one, asked))


@dataclass(frozen=True, slots=True)
class Histogram:
    """The numbers of rows in bins of the column, as a frame of its own; `Bins` until a table has checked them."""

    bins: Bins | BinGroup

    word: ClassVar = "histogram"
    noun: ClassVar = "Histogram"
    keys: ClassVar = Keys(one_column, {}, {"edges": _edges, "step": _step})
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(count_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = BinnedColumn()
    shape: ClassVar[Shape] = OwnBins()
    completed: ClassVar[tuple[Completed, ...]] = (_complete,)
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return histogram(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part or Histogram.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return tables_apart(free)

    def recipe(self, one: Statistic, asked: Asked) -> OwnCountsRecipe:
        return own_counts(one, asked)


@dataclass(frozen=True, slots=True, eq=False)
class CompletedHistogramRecipe:
    """From C to C + M + B in each bin: its rows, those of the cell without a value, and those that lack a label.

    Args:
        asked: the counts in the bins, of which the last is that of nulls.
        part: the rows of the cells, for those that lack a label; asked where there are groups.
    """

    whole: ClassVar = False
    asked: TableCounts
    part: CompletedCountRecipe

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.asked, Fraction(1)), *(self.part.queries if self.part.outer.others else ()))

    def error(self, noises: Noises, rows: int) -> float:
        return float(self._half_widths(noises)[1])

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return 2 * self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return BEYOND

    def statements(self, noises: Noises) -> Statements:
        return Statements({}, noises.cells * sum(self.asked.widths()), 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return ()

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        values = wide(answers.values[self.asked])
        table = values.reshape(answers.noises.cells, -1)
        whole = Answers(answers.noises, answers.values, slice(0, answers.noises.cells))
        lacking = self._lacking_counts(whole)
        most = (table + table[:, -1:] + lacking[:, None]).reshape(-1)
        every = Answers(answers.noises, answers.values, slice(0, len(values)))
        low, high = (every.every(half) for half in self._half_widths(answers.noises))
        counts = between(count_estimate(values, low), count_estimate(most, high))
        return (CountTable(self.asked.groups, counts, {}),)

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}

    def _lacking_counts(self, whole: Answers) -> Integers:
        """Of every cell the rows that lack a label and may belong to it."""
        if not self.part.outer.others:
            return np.zeros(whole.count, dtype=np.int64)
        rows, most = self.part.ends(whole)
        return np.asarray(most - rows)

    def _half_widths(self, noises: Noises) -> tuple[int, int]:
        own: Terms = [(self.asked, 1)]
        most: Terms = [*own, *own, *self.part.lacking]
        return half_width_of(noises, own, 1 - noises.level), half_width_of(noises, most, 1 - noises.level)
