"""The numbers of rows behind an estimate: public because n or the totals are, or a query with noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np

from discreet.cube.cells import Codes, Integers
from discreet.cube.queries import Query
from discreet.errors import InternalError
from discreet.mechanisms import Noise
from discreet.noise.single.many import half_width_of_sum
from discreet.statistics.base import Asked
from discreet.statistics.recipe import Answers, Counted, Noises, Noisy

__all__ = [
    "ADD_UP",
    "APART",
    "PUBLISHED",
    "Determined",
    "NoisyCount",
    "PublicCells",
    "PublicCount",
    "SummedCount",
    "count_of",
    "find_count",
]

ADD_UP = "add up to the published ones"
"""The words of a release for counts whose noise keeps the exact totals."""

APART: Mapping[str, str] = {"totals": "do not match the published ones"}
PUBLISHED: Mapping[str, str] = {"view": "exact and unprotected", "totals": "are the published ones"}


@dataclass(frozen=True, slots=True)
class NoisyCount:
    """The answers of a query with noise.

    `keeps_all` is whether noise that keeps any exact totals keeps all of them, where that is known.
    """

    query: Query
    rows: None = None
    keeps_all: bool = field(default=False, compare=False)

    @property
    def queries(self) -> tuple[Query, ...]:
        return (self.query,)

    def counts(self, answers: Answers) -> Noisy:
        return answers.of(self.query)

    def total(self, answers: Answers) -> Noisy:
        counts, noises = answers.values[self.query], answers.noises
        half = _half_width_of_all(noises.law(self.query), len(counts), noises.level)
        return np.asarray(_sum(counts), dtype=np.object_), np.asarray(half, dtype=np.object_)

    def told(self, noises: Noises, error: float) -> Mapping[str, str]:
        # Counts with intervals beyond 2**53 are published as doubles, which add up to nothing exactly.
        kept = self.keeps_all and noises.law(self.query).keeps_totals and error < 2**53
        return {"totals": ADD_UP} if kept else APART


@dataclass(frozen=True, slots=True)
class SummedCount:
    """The sum of several counts, each with its own noise."""

    queries: tuple[Query, ...]
    rows: None = None

    def counts(self, answers: Answers) -> Noisy:
        counts, halves = zip(*(answers.of(query) for query in self.queries), strict=True)
        return np.asarray(sum(counts)), np.asarray(sum(halves))

    def total(self, answers: Answers) -> Noisy:
        counts, halves = zip(*(NoisyCount(query).total(answers) for query in self.queries), strict=True)
        return np.asarray(sum(counts)), np.asarray(sum(halves))

    def told(self, noises: Noises, error: float) -> Mapping[str, str]:
        return APART


@dataclass(frozen=True, slots=True)
class PublicCount:
    """A count that needs no noise, because it is public already: the n of ReplaceOne or of a resize.

    `words` are those of a release with exact totals: a resized table does not have their n.
    """

    rows: int
    words: Mapping[str, str] = field(default_factory=lambda: APART, compare=False)
    queries: tuple[Query, ...] = ()

    def counts(self, answers: Answers) -> Noisy:
        return np.full(answers.count, self.rows, dtype=np.int64), answers.every(0)

    def total(self, answers: Answers) -> Noisy:
        return np.asarray(self.rows), np.asarray(0)

    def told(self, noises: Noises, error: float) -> Mapping[str, str]:
        return self.words


class Determined(Protocol):
    """Cells whose counts follow from the published totals."""

    def counts(self) -> Codes | None:
        """The counts of all cells, None before the totals are published."""


@dataclass(frozen=True, slots=True, eq=False)
class PublicCells:
    """Counts that need no noise, because the published totals determine them."""

    structure: Determined
    rows: None = None
    queries: tuple[Query, ...] = ()

    @property
    def published(self) -> bool:
        """True once the totals are known."""
        return self.structure.counts() is not None

    def values(self) -> Codes:
        """The counts of all cells.

        Raises:
            InternalError: the totals are not published yet.
        """
        counts = self.structure.counts()
        if counts is None:
            raise InternalError("the totals are not published yet")
        return counts

    def counts(self, answers: Answers) -> Noisy:
        return self.values()[answers.cells], answers.every(0)

    def total(self, answers: Answers) -> Noisy:
        return np.asarray(int(self.values().sum())), np.asarray(0)

    def told(self, noises: Noises, error: float) -> Mapping[str, str]:
        return PUBLISHED


def find_count(asked: Asked, column: str | None) -> Counted:
    """The numbers of rows, or of those whose column is not null: public ones where there are such."""
    return count_of(asked, asked.count_query(column))


def count_of(asked: Asked, query: Query) -> Counted:
    """The answer of a query that counts rows: public where it is."""
    return asked.known(query) or NoisyCount(query, keeps_all=asked.keeps(query))


def _sum(values: Integers) -> int:
    """The exact sum of integers; of 64-bit ones a part at a time, so that no part can overflow."""
    if values.dtype == np.object_:
        return int(values.sum())
    largest = max(int(values.max(initial=0)), -int(values.min(initial=0)), 1)
    part = max(1, 2**62 // largest)
    return sum(int(values[start : start + part].sum()) for start in range(0, len(values), part))


def _half_width_of_all(noise: Noise, cells: int, level: Fraction) -> int:
    """A w with P(|sum of the noise of all cells| ≤ w) ≥ level.

    The cells of a lattice are not independent. Each misses its own width with probability at most (1 - level) / cells. So
    with probability ≥ level none does, and then the sum is at most the sum of the widths (union bound).
    """
    if noise.independent is not None:
        return half_width_of_sum(noise.independent, cells, level)
    widths = noise.half_widths(1 - (1 - level) / max(cells, 1))
    return int(np.sum(np.broadcast_to(np.asarray(widths, dtype=np.object_), cells)))
