"""Tables of counts that are measured each by itself: the bins of a histogram, or one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import ClassVar

from discreet.cube.queries import Query, TableCounts
from discreet.domain.groups import group_labels
from discreet.statistics.base import Asked, Statistic, groupings_of
from discreet.statistics.counted import count_of
from discreet.statistics.counts import count_estimate
from discreet.statistics.estimate import Estimate
from discreet.statistics.recipe import (
    Answers,
    Counted,
    CountTable,
    GroupSize,
    Noises,
    Noisy,
    Statements,
    noise_statements,
)

__all__ = ["OwnCountsRecipe", "own_counts"]


def own_counts(one: Statistic, asked: Asked) -> OwnCountsRecipe:
    """One table of counts for each of the statistic's groupings."""
    groupings = groupings_of(one)
    queries = [TableCounts(by, tuple(len(group_labels(group, asked.facts)) for group in by)) for by in groupings]
    return OwnCountsRecipe(tuple(queries), tuple(count_of(asked, query) for query in queries))


@dataclass(frozen=True, slots=True, eq=False)
class OwnCountsRecipe:
    """Tables of noisy counts.

    Args:
        asked: the tables.
        counted: the counts of each of them, public where exact totals determine them.
    """

    whole: ClassVar = False
    asked: tuple[TableCounts, ...]
    counted: tuple[Counted, ...]

    @property
    def _noisy(self) -> tuple[Query, ...]:
        return tuple(query for one in self.counted for query in one.queries)

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return tuple((query, Fraction(1)) for query in self._noisy)

    def error(self, noises: Noises, rows: int) -> float:
        return float(max((noises.largest(query) for query in self._noisy), default=0))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        # Each of several tables has its own intervals.
        return Statements(noise_statements(noises, self._noisy).shared, 0, 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return ()

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        found = []
        for query, counted in zip(self.asked, self.counted, strict=True):
            counts = count_estimate(*_every_cell(query, counted, answers))
            error = max((answers.noises.largest(one) for one in counted.queries), default=0)
            found.append(CountTable(query.groups, counts, counted.told(answers.noises, error)))
        return tuple(found)

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def _every_cell(query: TableCounts, counted: Counted, answers: Answers) -> Noisy:
    """The counts of all cells of a table, for every cell of the request, with the half-widths of their noise."""
    cells = answers.noises.cells * prod(query.sizes)
    return counted.counts(Answers(answers.noises, answers.values, slice(0, cells)))
