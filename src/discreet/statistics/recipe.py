"""The way to an answer: the noise behind the queries of a statistic, their noisy answers, and the recipe of its estimates.

A recipe sees no plan and no quote, only the noise behind its queries (`Noises`) and their answers (`Answers`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np

from discreet.cube.cells import Integers
from discreet.cube.queries import Query
from discreet.domain.groups import Group
from discreet.mechanisms import Noise
from discreet.statistics.estimate import Estimate

__all__ = [
    "LEVEL",
    "RANKS",
    "Answers",
    "CountTable",
    "Counted",
    "GroupSize",
    "Noises",
    "Noisy",
    "Recipe",
    "Statements",
    "add_errors",
    "in_a_group",
    "noise_statements",
]

RANKS = "rows in rank"
"""The unit of the error of quantiles."""

LEVEL = Fraction(95, 100)
"""The level of every interval."""


class Counted(Protocol):
    """The numbers of rows behind an estimate: public, or a query with noise."""

    @property
    def queries(self) -> tuple[Query, ...]:
        """The query, none where the counts are public."""

    @property
    def rows(self) -> int | None:
        """The number of all rows, where that is the one public count."""

    def counts(self, answers: Answers) -> Noisy:
        """The counts of some cells with the half-widths of their noise."""

    def total(self, answers: Answers) -> Noisy:
        """The counts of all cells together, with the half-width of their noise."""

    def told(self, noises: Noises, error: float) -> Mapping[str, str]:
        """The words of a document for counts with this largest half-width that are published with exact totals."""


@dataclass(frozen=True, slots=True, eq=False)
class Noises:
    """The noise behind the queries of a request, at one level of certainty.

    Args:
        measured: for each query as it was asked, the query in the shape in which it was measured, and its noise.
        cells: how many cells the request has.
        level: each noisy part lies within its half-width with at least this probability, so that all parts of a statistic,
            or of a whole release where its intervals hold together, do with probability at least 95 %.
    """

    measured: Mapping[Query, tuple[Query, Noise]]
    cells: int
    level: Fraction

    def law(self, query: Query) -> Noise:
        """The noise of a query."""
        return self.measured[query][1]

    def choose_shape(self, query: Query) -> Query:
        """The query as it was measured."""
        return self.measured[query][0]

    def half_widths(self, query: Query) -> int | Integers:
        """A w with P(|noise of a cell| ≤ w) ≥ level: one for all cells, or one for each on a lattice."""
        return self.law(query).half_widths(self.level)

    def largest(self, query: Query) -> int:
        """The largest half-width in any cell."""
        return int(np.max(self.half_widths(query), initial=0))

    def are_independent(self, queries: Sequence[Query]) -> bool:
        """True if the noises are independent from cell to cell."""
        return all(self.law(query).independent is not None for query in queries)

    def drawn(self, query: Query) -> int:
        """The largest number of integers of an answer that have separate noise."""
        held = self.law(query).held
        return self.cells * sum(self.choose_shape(query).widths()) if held is None else len(held)


Noisy = tuple[Integers, Integers]
"""Noisy answers, and the half-widths of their noise."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The noisy answers of a request, seen from some of its cells.

    Args:
        noises: the noise in them.
        values: for each query as it was asked its noisy integers, of all cells.
        cells: the cells that estimates are made for.
    """

    noises: Noises
    values: Mapping[Query, Integers]
    cells: slice

    @property
    def count(self) -> int:
        """The number of these cells."""
        return int(self.cells.stop - self.cells.start)

    def of(self, query: Query) -> Noisy:
        """The noisy answers of a query with one integer for each cell, with their half-widths."""
        return self.values[query][self.cells], self.every(self.noises.half_widths(query))

    def of_each(self, queries: Sequence[Query]) -> Noisy:
        """The same of one query; 0 for none."""
        return self.of(*queries) if queries else (np.zeros(self.count, dtype=np.int64), self.every(0))

    def every(self, width: int | Integers) -> Integers:
        """A half-width for each of the cells, of one for all or one for each, in integers that cannot overflow."""
        widths = np.asarray(width)
        if widths.dtype != np.object_ and int(widths.max(initial=0)) >= 2**62:
            widths = widths.astype(np.object_)
        found: Integers = np.broadcast_to(widths[self.cells] if widths.ndim else widths, (self.count,))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Statements:
    """The statements about noise that the intervals of a statistic rest on (Boole's inequality counts it).

    Args:
        shared: statements about one noise, and about how many integers each is: the same key is the same statement, in
            whichever statistic it stands.
        own: how many more there are that no other statistic rests on.
        single: on how many statements one interval rests.
    """

    shared: Mapping[tuple[str, Query], int]
    own: int
    single: int


@dataclass(frozen=True, slots=True, eq=False)
class CountTable:
    """A table of a statistic's own, for every cell of the request.

    Args:
        groups: its own groups.
        counts: the counts with their intervals, the last group fastest.
        told: the words of a document for counts that are published with exact totals: whether they add up to these.
        whole: the column and the labels of a table that is one for all cells of the request; None for every other one.
    """

    groups: tuple[Group, ...]
    counts: Estimate
    told: Mapping[str, str]
    whole: tuple[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class GroupSize:
    """The public size of a group that errors are stated for.

    Args:
        rows: its own rows; for a statistic of columns those in which they are not null.
        every: the rows of all groups, or a lower bound where their number is private.
    """

    rows: int
    every: int


class Recipe(Protocol):
    """The computation of one statistic of a request: one frozen class for each kind, with no optional field."""

    whole: ClassVar[bool]
    """True if its numbers are whole, 64-bit integers as long as intervals are."""

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        """Its queries, each with the part of the statistic's weight that it needs."""

    def error(self, noises: Noises, rows: int) -> float:
        """The largest half-width of its intervals in any cell; where that depends on a count, in a group of `rows` rows."""

    def widest(self, noises: Noises, size: GroupSize) -> float:
        """A bound of the half-width of its intervals in a group of this size, whatever the rows are: see `widest`."""

    def unit(self, rows: int) -> str:
        """The unit of the error, if it is not values of the statistic in any group."""

    def accuracy(self, noises: Noises) -> str:
        """The text after the error in the words of a quote."""

    def statements(self, noises: Noises) -> Statements:
        """The statements about noise that its intervals rest on."""

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        """For each of its outputs the values and intervals of the cells."""

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        """Its own tables."""

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        """The words of a document for its numbers, in addition to the view; `totals` are published with them or are not."""


def add_errors(noises: Noises, *factors: tuple[Sequence[Query], Fraction]) -> float:
    """The error of a sum of queries with these factors, from their half-widths; a factor 0 leaves its queries out."""
    sizes = (factor * noises.largest(query) for queries, factor in factors for query in queries if factor)
    return float(sum(sizes, Fraction(0)))


def noise_statements(noises: Noises, queries: Sequence[Query]) -> Statements:
    """The noise of each of the queries is within its half-width."""
    shared = {("noise", query): noises.drawn(query) for query in queries}
    return Statements(shared, 0, len(shared))


def in_a_group(rows: int) -> str:
    """The unit of an error that depends on the size of a group."""
    return f"in a group of {rows:,} rows"
