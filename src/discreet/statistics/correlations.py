"""The correlations of all pairs of several columns, from one vector of sums over the rows in which all are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from discreet.cube.queries import Query
from discreet.domain.steps import TableFacts
from discreet.exact.figures import enumerate_texts
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Reads, Shape, Statistic
from discreet.statistics.common import check_weight, option_string, skipped_words, skips_nulls
from discreet.statistics.correlation import correlation_estimate
from discreet.statistics.estimate import Estimate
from discreet.statistics.matrices import (
    ManyNumbers,
    NamedParts,
    columns_of,
    moments_of_numbers,
    number_of_moments,
    span_of_numbers,
    spread_of,
    written_columns,
)
from discreet.statistics.moments import Moments, Normal
from discreet.statistics.possible import Possible, fix_bounds
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Statements, in_a_group, noise_statements

__all__ = ["Correlations", "CorrelationsRecipe", "correlations"]

_STATEMENTS = 6
"""A correlation rests on a count, two sums, two sums of squares and a sum of products."""


def correlations(columns: Sequence[str], *, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The correlations (Pearson's) of all pairs of numeric columns in each group, over the rows in which all are known.

    Columns of the release are called `<name>_<column>_<other>`.

    Args:
        columns: two columns or more.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip" leaves out the rows in which one of the columns is null.

    Raises:
        PlanError: not the names of different columns.
    """
    names = columns_of("correlations", columns)
    return Statistic(Correlations(names), None, "correlations", check_weight(weight), skips_nulls(nulls))


def _pairs(one: Statistic) -> list[str]:
    """The ends of the names: one number for each pair of columns."""
    return [f"{x}_{y}" for x, y in combinations(one.kind.reads.columns(one), 2)]


@dataclass(frozen=True, slots=True)
class Correlations:
    """The covariance of each pair over the product of both standard deviations; 0 where one of them seems to be 0."""

    names: tuple[str, ...]

    word: ClassVar = "correlations"
    noun: ClassVar = "Correlations"
    keys: ClassVar = Keys(
        written_columns, {}, {"nulls": option_string}, lacks='needs columns: write { correlations = ["x", "y", "z"] }'
    )
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(fix_bounds(-1, 1))
    counts: ClassVar = False
    reads: ClassVar[Reads] = ManyNumbers()
    shape: ClassVar[Shape] = NamedParts(_pairs, number_of_moments)
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return correlations(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        names = [shown_name(column) for column in shown["columns"]]
        skipped = skipped_words(shown)
        if not part:
            return f"{Correlations.noun} of {enumerate_texts(names)}{skipped}"
        pair = list(combinations(names, 2))[shown["parts"].index(part)]
        return f"Correlation of {enumerate_texts(pair)}{skipped}"

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return span_of_numbers(self.names, facts, free)

    def recipe(self, one: Statistic, asked: Asked) -> CorrelationsRecipe:
        return CorrelationsRecipe(moments_of_numbers(asked, self.names))


@dataclass(frozen=True, slots=True, eq=False)
class CorrelationsRecipe:
    """Each covariance over both roots of the variances."""

    whole: ClassVar = False
    moments: Moments

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.moments.query, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        """Half of the widest interval, of rows that are spread evenly over all bounds, uncorrelated."""
        found = self._estimates(self.moments.expected(rows), noises)
        return float(max(np.max(one.high - one.low) for one in found)) / 2

    def widest(self, noises: Noises, size: GroupSize) -> float:
        """The same: whatever the rows are there is no bound below 1."""
        return self.error(noises, max(1, size.rows))

    def unit(self, rows: int) -> str:
        return f"{in_a_group(rows)} spread evenly over the bounds"

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        return Statements(noise_statements(noises, (self.moments.query,)).shared, 0, _STATEMENTS)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return self._estimates(self.moments.normal(answers), answers.noises)

    def _estimates(self, normal: Normal, noises: Noises) -> tuple[Estimate, ...]:
        found = spread_of(normal, noises, self.moments).pairs
        size = len(self.moments.features) - 1
        return tuple(correlation_estimate(found[i, j], found[i, i], found[j, j]) for i, j in combinations(range(size), 2))

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}
