"""The number of rows of the group over the number of rows of all groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query
from discreet.domain.steps import TableFacts
from discreet.errors import PlanError
from discreet.exact.numbers import Amount, float_up
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Reads, Shape, Statistic
from discreet.statistics.common import NoColumn, OneNumber, check_weight, title
from discreet.statistics.completions import BEYOND
from discreet.statistics.counted import PublicCount, find_count
from discreet.statistics.counts import CompletedCountRecipe, between, completed_count
from discreet.statistics.estimate import Estimate, quotient_range
from discreet.statistics.possible import Possible, fix_bounds
from discreet.statistics.recipe import (
    Answers,
    Counted,
    CountTable,
    GroupSize,
    Noises,
    Statements,
    add_errors,
    in_a_group,
    noise_statements,
)
from discreet.statistics.widest import sum_width

__all__ = ["Share", "ShareRecipe", "share", "share_estimate"]

_SLACK = 1e-12


def share(*, weight: Amount = 1) -> Statistic:
    """The proportion of each group among the rows of all groups, between 0 and 1."""
    return Statistic(Share(), None, "share", check_weight(weight))


def _complete(one: Statistic, asked: Asked) -> CompletedShareRecipe:
    """Of groups that hold every row. Raises PlanError for others: rows without a label may then be in none."""
    part = completed_count(one, asked)
    if not part.outer.complete:
        raise PlanError(
            f"original('anywhere'): '{one.name}' is of groups that leave values out; ask for count(), or bins of all values"
        )
    every = PublicCount(asked.every) if asked.every is not None else find_count(asked, None)
    return CompletedShareRecipe(part, every)


@dataclass(frozen=True, slots=True)
class Share:
    """The number of rows of the group over the number of rows of all groups."""

    word: ClassVar = "share"
    noun: ClassVar = "Share"
    keys: ClassVar = Keys(None, {}, {}, alone=True)
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(fix_bounds(0, 1))
    counts: ClassVar = True
    reads: ClassVar[Reads] = NoColumn()
    shape: ClassVar[Shape] = OneNumber()
    completed: ClassVar[tuple[Completed, ...]] = (_complete,)
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return share(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part or Share.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return Sensitivity(0, 0) if free.determined else free.of_rows()

    def recipe(self, one: Statistic, asked: Asked) -> ShareRecipe:
        count = find_count(asked, None)
        # The denominator is a sum of noisy counts where the number of rows is private.
        every: Counted = count if asked.every is None else PublicCount(asked.every)
        return ShareRecipe(count, every)


@dataclass(frozen=True, slots=True, eq=False)
class ShareRecipe:
    """count / every: the rows of the cell, and of all cells."""

    whole: ClassVar = False
    count: Counted
    every: Counted

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return tuple((query, Fraction(1)) for query in self.count.queries)

    def error(self, noises: Noises, rows: int) -> float:
        return add_errors(noises, (self.count.queries, Fraction(1, rows)))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        rows, every = size.rows, size.every
        ds, dn = sum_width(self.count.queries, noises), self._width_of_all(noises)
        fewest = every - 2 * dn
        if fewest < 1:
            return 0.5
        parts = Fraction((rows + ds) * dn, fewest * every), Fraction(ds, 2) * (Fraction(1, fewest) + Fraction(1, every))
        return min(0.5, float_up(sum(parts, Fraction(0))))

    def _width_of_all(self, noises: Noises) -> int:
        """The half-width of the noise in the number of all rows."""
        nothing = {query: np.zeros(noises.cells, dtype=np.int64) for query in self.every.queries}
        return int(self.every.total(Answers(noises, nothing, slice(0, 1)))[1])

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        sums = {("all rows", query): 1 for query in self.every.queries}
        shared = {**noise_statements(noises, self.count.queries).shared, **sums}
        return Statements(shared, 0, len(shared))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return (share_estimate(self.count.counts(answers), self.every.total(answers)),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


@dataclass(frozen=True, slots=True, eq=False)
class CompletedShareRecipe:
    """From T/W to (T + B)/W, with W the rows of all cells, of which each is in one once its labels are known."""

    whole: ClassVar = False
    part: CompletedCountRecipe
    every: Counted

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return self.part.queries

    def error(self, noises: Noises, rows: int) -> float:
        return self.part.error(noises, rows) / rows

    def widest(self, noises: Noises, size: GroupSize) -> float:
        nothing = {query: np.zeros(noises.cells, dtype=np.int64) for query in self.every.queries}
        dn = int(self.every.total(Answers(noises, nothing, slice(0, 1)))[1])
        ds, fewest = 2 * int(self.part.error(noises, size.rows)), size.every - 2 * dn
        if fewest < 1:
            return 0.5
        return min(0.5, float_up(Fraction(ds, fewest) + Fraction((size.every + ds) * 2 * dn, fewest * size.every)))

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return BEYOND

    def statements(self, noises: Noises) -> Statements:
        # The two ends fail on one side each, and the number of all rows on both.
        sums = {("all rows", query): 1 for query in self.every.queries}
        return Statements(sums, noises.cells, 1 + len(sums))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        rows, most = self.part.ends(answers)
        every = self.every.total(answers)
        halves = [answers.every(half) for half in self.part.half_widths(answers.noises)]
        low, high = (share_estimate(pair, every) for pair in zip((rows, most), halves, strict=True))
        return (between(low, high),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def share_estimate(
    counts: tuple[NDArray[Any], NDArray[Any]], every: tuple[NDArray[Any] | int, NDArray[Any] | int]
) -> Estimate:
    """The proportion count/every, clipped into [0, 1]; where `every` may be below 1 the interval is [0, 1].

    Args:
        counts: the noisy counts, and the half-widths of their noise.
        every: the number of rows of all groups, and the half-width of its noise, 0 where it is public.
    """
    n, dn = (part.astype(np.float64) for part in counts)
    total, half = (np.asarray(part, dtype=np.float64) for part in every)
    value = np.clip(n / np.maximum(total, 1.0), 0.0, 1.0)
    low, high = quotient_range(n, dn, np.broadcast_to(total, n.shape), np.broadcast_to(half, n.shape))
    open_range = total - half < 1
    bottom = np.where(open_range, 0.0, np.clip(low - _SLACK, 0.0, 1.0))
    top = np.where(open_range, 1.0, np.clip(high + _SLACK, 0.0, 1.0))
    return Estimate(value, np.minimum(bottom, value), np.maximum(top, value))
