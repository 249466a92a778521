"""The rows about which nothing is recorded: how many may be in a cell, from public counts or from noisy ones.

A row whose value is null has some value; one that lacks a label, and contradicts none, may be in the cell or not. Together
these are the K rows by which every completion of the table differs from what is recorded (O10 of docs/proofs/original.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from discreet.cube.cells import Integers
from discreet.cube.queries import NonNullCount, NullCount, Query
from discreet.errors import InternalError
from discreet.mechanisms import law_of_cell
from discreet.noise.single.sums import SumOfNoises
from discreet.statistics.base import Asked
from discreet.statistics.outer import Outer
from discreet.statistics.recipe import Answers, Noises
from discreet.statistics.totals import Parts

__all__ = [
    "BEYOND",
    "Missing",
    "NoisyNulls",
    "PublicRows",
    "Terms",
    "find_missing",
    "half_width_of",
    "outer_of",
    "queries_of_parts",
    "wide",
]

BEYOND = " at either end, beyond what those who gave no answer may have answered"
"""The words after the error of an interval that holds with any answer."""

Terms = Sequence[tuple[Query, Any]]
"""Queries with the factors of their noises; each entry is a noise of its own, also where a query stands twice."""


class Missing(Protocol):
    """The rows that have no value, or no label, and may have one in a cell."""

    @property
    def known(self) -> Query:
        """The number of rows with a value."""

    @property
    def asked(self) -> tuple[Query, ...]:
        """The further queries behind their number, besides that of the rows with a value."""

    @property
    def rows(self) -> int | None:
        """The number of all rows, with or without a value, where it is public."""

    def counts(self, answers: Answers, known: Integers) -> tuple[Integers, Integers]:
        """Of some cells the noisy numbers of rows without a value, and of those that lack a label.

        `known` are the noisy numbers of rows with a value, of all cells.
        """

    def terms(self, known: Any, nulls: Any, others: Any) -> Terms:
        """The noises of known·(rows with a value) + nulls·(rows without) + others·(rows that lack a label)."""


@dataclass(frozen=True, slots=True)
class PublicRows:
    """One cell of a public number of rows: those without a value are the rest."""

    known: Query
    rows: int
    asked: tuple[Query, ...] = ()

    def counts(self, answers: Answers, known: Integers) -> tuple[Integers, Integers]:
        missing = self.rows - wide(known[answers.cells])
        return missing, np.zeros_like(missing)

    def terms(self, known: Any, nulls: Any, others: Any) -> Terms:
        return ((self.known, known - nulls),)


@dataclass(frozen=True, slots=True)
class NoisyNulls:
    """Counts with noise: of the rows without a value in each cell, and of all rows in the cells of those without a label."""

    known: Query
    nulls: NullCount
    outer: Outer
    rows: None = None

    @property
    def asked(self) -> tuple[Query, ...]:
        return (self.nulls,)

    def counts(self, answers: Answers, known: Integers) -> tuple[Integers, Integers]:
        nulls = wide(answers.values[self.nulls])
        others = self.outer.sum_of_others(nulls + wide(known))
        return nulls[answers.cells], others[answers.cells]

    def terms(self, known: Any, nulls: Any, others: Any) -> Terms:
        lacking = ((self.known, others), (self.nulls, others)) * self.outer.others
        return ((self.known, known), (self.nulls, nulls), *lacking)


def find_missing(asked: Asked, column: str | None) -> Missing:
    """The rows without a value in the column: the rest of a public number of rows, or counts with noise.

    Which of both it is depends on the declared relation and the groups alone (soundness 39).

    Raises:
        InternalError: the column is never null.
    """
    query = asked.count_query(column)
    if not isinstance(query, NonNullCount):
        raise InternalError(f"no row of '{column}' is without a value")
    public = asked.public(None)
    if public is not None and public.rows is not None:
        return PublicRows(query, public.rows)
    return NoisyNulls(query, NullCount(query.column), outer_of(asked))


def queries_of_parts(
    total: Parts, missing: Missing, *, known: Fraction, nulls: Fraction
) -> tuple[tuple[Query, Fraction], ...]:
    """The queries behind a sum in parts and the rows without a value; `known` and `nulls` are the weights of both counts."""
    sums = tuple((query, weight) for query, _, weight in total.parts)
    return ((missing.known, known), *((query, nulls) for query in missing.asked), *sums)


def outer_of(asked: Asked) -> Outer:
    """The groups of the request. Raises InternalError where it has no originals."""
    if asked.originals is None:
        raise InternalError("the request asks for nothing as recorded")
    return asked.originals.outer


def half_width_of(noises: Noises, terms: Terms, failing: Fraction) -> int:
    """A w with P(|Σ factor·noise| > w) ≤ `failing`, for whole factors; each end alone fails half as often."""
    weighed = [(abs(factor), law_of_cell(noises.law(query))) for query, factor in terms if factor]
    return SumOfNoises(tuple(weighed)).half_width(1 - failing) if weighed else 0


def wide(values: Integers) -> Integers:
    """The integers in a form in which some sums of them cannot overflow."""
    large = values.dtype != np.object_ and int(np.abs(values).max(initial=0)) >= 2**40
    return values.astype(np.object_) if large else values
