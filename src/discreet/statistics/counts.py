"""The number of rows, or of rows whose column is not null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.cube.queries import Query
from discreet.domain.steps import TableFacts
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import UNBIASED, Asked, Completed, Extended, Free, Keys, Need, Reads, Shape, Statistic, Written
from discreet.statistics.common import OneNumber, check_column_name, check_weight
from discreet.statistics.completions import BEYOND, Terms, half_width_of, outer_of, wide
from discreet.statistics.counted import find_count
from discreet.statistics.estimate import Estimate, outward
from discreet.statistics.outer import Outer
from discreet.statistics.possible import Possible, count_value
from discreet.statistics.recipe import (
    Answers,
    Counted,
    CountTable,
    GroupSize,
    Noises,
    Statements,
    add_errors,
    noise_statements,
)

__all__ = ["CompletedCountRecipe", "Count", "CountRecipe", "between", "completed_count", "count", "count_estimate"]

_MOST_COUNT = 2**62


def count(column: str | None = None, *, weight: Amount = 1) -> Statistic:
    """The number of rows of each group, or of those whose `column` is not null.

    `weight` is the share of the spend relative to the other statistics of the request.
    """
    name = "count" if column is None else f"count_{check_column_name(column)}"
    return Statistic(Count(), column, name, check_weight(weight))


def _column_or_all(value: Written) -> Sequence[Any]:
    column = value.string()
    return (None if column == "*" else column,)


@dataclass(frozen=True, slots=True)
class AnyColumn:
    """A column of any type, of which only the nulls matter; or no column."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return () if one.column is None else (one.column,)

    def check(self, one: Statistic, facts: TableFacts) -> None:
        if one.column is not None:
            _ = facts[one.column]  # raises where it is not declared

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return () if one.column is None else (Need("nulls", (one.column,)),)

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        return one if one.column is None else replace(one, column=names.get(one.column, one.column))


def completed_count(_one: Statistic, asked: Asked) -> CompletedCountRecipe:
    """The recipe of the number of rows: once every value is known, those whose column is not null are all of them."""
    return CompletedCountRecipe(find_count(asked, None), outer_of(asked))


@dataclass(frozen=True, slots=True)
class Count:
    """The number of rows, or of rows whose column is not null."""

    word: ClassVar = "count"
    noun: ClassVar = "Number"
    keys: ClassVar = Keys(_column_or_all, {}, {}, alone=True, interview=True)
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(count_value)
    counts: ClassVar = True
    reads: ClassVar[Reads] = AnyColumn()
    shape: ClassVar[Shape] = OneNumber()
    completed: ClassVar[tuple[Completed, ...]] = (completed_count,)
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return count(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        column = shown.get("column")
        return "Number of rows" if column is None else f"Number of rows where {shown_name(column)} is known"

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        if one.column is not None:
            return free.of_values(1, 1, may_skip=True)
        return Sensitivity(0, 0) if free.determined else free.of_rows()

    def recipe(self, one: Statistic, asked: Asked) -> CountRecipe:
        return CountRecipe(find_count(asked, one.column), told_rows(one.column, asked.facts))


def told_rows(column: str | None, facts: TableFacts) -> str:
    """The rows that a count of a column is of, in the words of a document."""
    known = None if column is None else facts[column]
    return "rows that are not null" if known is not None and known.nullable else "rows"


@dataclass(frozen=True, slots=True, eq=False)
class CountRecipe:
    """The count itself. `rows` describes the counted rows in words."""

    whole: ClassVar = True
    count: Counted
    rows: str

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return tuple((query, Fraction(1)) for query in self.count.queries)

    def error(self, noises: Noises, rows: int) -> float:
        return add_errors(noises, (self.count.queries, Fraction(1)))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, self.count.queries)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return (count_estimate(*self.count.counts(answers)),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        kept = self.count.told(noises, self.error(noises, 1)) if totals else {}
        return {"counts": self.rows, **kept}


@dataclass(frozen=True, slots=True, eq=False)
class CompletedCountRecipe:
    """From T to T + B: the rows of a cell, and those that lack a label and may belong to it.

    Args:
        count: the number of all rows.
        outer: the groups.
    """

    whole: ClassVar = True
    count: Counted
    outer: Outer

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return tuple((query, Fraction(1)) for query in self.count.queries)

    def error(self, noises: Noises, rows: int) -> float:
        return float(self.half_widths(noises)[1])

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return 2 * self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return BEYOND

    def statements(self, noises: Noises) -> Statements:
        return Statements({}, noises.cells, 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        rows, most = self.ends(answers)
        low, high = (answers.every(half) for half in self.half_widths(answers.noises))
        return (between(count_estimate(rows, low), count_estimate(most, high)),)

    def ends(self, answers: Answers) -> tuple[Integers, Integers]:
        """The noisy numbers of rows in some cells, and with all that may belong to them."""
        if not self.count.queries:
            rows = self.count.counts(answers)[0]
            return rows, rows
        every = wide(answers.values[self.count.queries[0]])
        return every[answers.cells], (every + self.outer.sum_of_others(every))[answers.cells]

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {"counts": "rows"}

    def half_widths(self, noises: Noises) -> tuple[int, int]:
        """Of the noise at either end: of the rows of a cell, and of these with the rows that may belong to it."""
        own: Terms = [(query, 1) for query in self.count.queries]
        return half_width_of(noises, own, 1 - noises.level), half_width_of(noises, [*own, *self.lacking], 1 - noises.level)

    @property
    def lacking(self) -> Terms:
        """The noises of the rows that lack a label."""
        return [(query, 1) for query in self.count.queries] * self.outer.others


def between(low: Estimate, high: Estimate) -> Estimate:
    """The value of the first, with its lower end and the upper end of the second."""
    return Estimate(low.value, low.low, np.maximum(high.high, low.value))


def count_estimate(noisy: NDArray[Any], half: NDArray[Any]) -> Estimate:
    """An unbiased count, which may be negative, and the smallest interval of integers around it; `half` for each cell.

    Doubles where `half` is beyond 2**53, else int64: a function of the public `half` alone, because the type of `noisy`
    would reveal, once in 1e20 releases, that the noise itself was beyond 2**62.
    """
    if int(half.max(initial=0)) >= 2**53:
        whole, half = noisy.astype(np.object_), half.astype(np.object_)
        ends = [outward(whole - half, 1, -np.inf), outward(whole + half, 1, np.inf)]
        return Estimate(whole.astype(np.float64), *ends)
    # Noise of this size never reaches 2**62; should it, the count is moved there.
    counts = np.clip(noisy, -_MOST_COUNT, _MOST_COUNT).astype(np.int64)
    widths = half.astype(np.int64)
    return Estimate(counts, counts - widths, counts + widths)
