"""Intervals of quantiles that are chosen themselves, around the chosen values, and the values of codes.

Two thirds of the spend go into the values; `mechanisms.interval_choice` has the mathematics of the intervals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import QuantileCodes, QuantileIntervals, Query
from discreet.domain.columns import Number
from discreet.errors import ArgumentError, InternalError
from discreet.exact.numbers import Amount, exact, text
from discreet.statistics.estimate import Estimate
from discreet.statistics.recipe import LEVEL, RANKS, Answers, CountTable, GroupSize, Noises, Statements

__all__ = ["Chosen", "ChosenRecipe", "Codes", "Interval", "interval_json", "interval_of", "share_of"]

_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class Chosen:
    """Intervals are chosen among nested ones around the values, with a third of the spend."""

    word: ClassVar = "chosen"
    share: ClassVar = Fraction(1, 3)


Interval = Fraction | Chosen
"""The source of intervals: this part of the spend, for a tree of counts, or choices."""


def interval_of(given: Amount) -> Interval:
    """The source of intervals as it was asked for: the word "chosen", or a part of the spend from 0 to 1.

    Raises:
        ArgumentError: neither.
    """
    if given == Chosen.word:
        return Chosen()
    part = exact(given, "interval")
    if not 0 <= part <= 1:
        raise ArgumentError(
            f'interval={text(part)}: must lie in [0, 1]; it is the part of the spend for the intervals; or write "chosen"'
        )
    return part


def share_of(interval: Interval) -> Fraction:
    """The part of the spend that the intervals get."""
    return interval.share if isinstance(interval, Chosen) else interval


def interval_json(interval: Interval) -> str:
    """The word or the number in a plan and in a document."""
    return interval.word if isinstance(interval, Chosen) else text(interval)


@dataclass(frozen=True, slots=True)
class Codes:
    """The codes of a column from `low` on, as values of its grid."""

    grid: Number
    low: int
    size: int

    def values(self, codes: NDArray[Any]) -> NDArray[Any]:
        """The values: 64-bit integers where all of the grid are, else doubles."""
        grid = self.grid
        whole = grid.lower.denominator == grid.step.denominator == 1 and -_LARGEST <= grid.lower <= grid.upper < _LARGEST
        least = int(codes.min())
        if int(codes.max()) - least < len(codes):  # one value for each code is less work than to sort
            distinct, place = np.arange(least, int(codes.max()) + 1), codes - least
        else:
            distinct, place = np.unique(codes, return_inverse=True)
        exactly = [grid.value(self.low + int(code)) for code in distinct]
        shown = np.array([int(value) for value in exactly] if whole else [float(value) for value in exactly])
        return np.asarray(shown[place])


@dataclass(frozen=True, slots=True, eq=False)
class ChosenRecipe:
    """Codes that are chosen by their rank, with intervals that are chosen around them.

    Args:
        at: the requested q.
        choice: the choice of all quantiles of the column.
        intervals: the choice of all intervals of the column.
        grid: the values of the codes.
    """

    whole: ClassVar = False
    at: tuple[Fraction, ...]
    choice: QuantileCodes
    intervals: QuantileIntervals
    grid: Codes

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return (self.choice, 1 - Chosen.share), (self.intervals, Chosen.share)

    def error(self, noises: Noises, rows: int) -> float:
        """The error of the rank, in rows, of a chosen value, which is closer than its interval."""
        return _rank_error(noises, self.choice)

    def interval_ranks(self, noises: Noises) -> float:
        """About how far an interval reaches from the quantile, in rows of rank, where rows are spread evenly."""
        return _rank_error(noises, self.choice) + _rank_error(noises, self.intervals)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return RANKS

    def accuracy(self, noises: Noises) -> str:
        return f" {RANKS}; its interval reaches about ±{self.interval_ranks(noises):.6g} rows"

    def statements(self, noises: Noises) -> Statements:
        return Statements({}, noises.cells * len(self.at), 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        cells, shown = answers.noises.cells, self.grid.values
        chosen = answers.values[self.choice].reshape(cells, -1)[answers.cells]
        ends = answers.values[self.intervals].reshape(cells, -1, 2)[answers.cells]
        places = [(self.choice.at.index(q), self.intervals.at.index(q)) for q in self.at]
        return tuple(
            Estimate(shown(chosen[:, value]), shown(ends[:, interval, 0]), shown(ends[:, interval, 1]))
            for value, interval in places
        )

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def _rank_error(noises: Noises, query: Query) -> float:
    """About the error of the rank of what a query chooses.

    Raises:
        InternalError: it chooses nothing.
    """
    error = noises.law(query).rank_error(LEVEL)
    if error is None:
        raise InternalError(f"'{query.words()}' has added noise")
    return error
