"""The recipes of numbers over persons: totals, shares, means and variances, made of totals in units of 1/W (U2, U3, U5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.cube.queries import PersonsInFull, PersonSum, Query
from discreet.exact.numbers import float_up
from discreet.statistics.base import CLIPPED, UNBIASED
from discreet.statistics.counted import NoisyCount
from discreet.statistics.counts import count_estimate
from discreet.statistics.estimate import Estimate, outward
from discreet.statistics.in_full import LABELS
from discreet.statistics.means import mean_estimate
from discreet.statistics.recipe import (
    Answers,
    CountTable,
    GroupSize,
    Noises,
    Statements,
    in_a_group,
    noise_statements,
)
from discreet.statistics.shares import ShareRecipe
from discreet.statistics.variances import variance_estimate
from discreet.statistics.widest import product_width, quotient_width

__all__ = [
    "BOUNDED",
    "OF_BOUNDED",
    "InFullRecipe",
    "PersonMeanRecipe",
    "PersonRecipe",
    "PersonShareRecipe",
    "PersonVarianceRecipe",
    "total_estimate",
]

BOUNDED = "for persons as they are bounded"
"""The end of the view of a number that a bound may have made another one than that of all persons and rows."""

OF_BOUNDED = "; of persons as they are bounded"


@dataclass(frozen=True, slots=True, eq=False)
class PersonRecipe:
    """A total over persons, in units of step/W.

    Args:
        total: the total.
        counted: what is counted, in a word; empty for what is not a count.
        step: the value of 1 of the total of a person who weighs W.
        bounded: whether a person may count for less than all of this person's rows or groups.
    """

    whole: ClassVar = False
    total: PersonSum
    counted: str
    step: Fraction
    bounded: bool

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.total, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        return float(noises.largest(self.total) * self.step / self.total.unit)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return OF_BOUNDED if self.bounded else ""

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (self.total,))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return (total_estimate(*answers.of(self.total), self.step / self.total.unit, counted=bool(self.counted)),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        counted = {"counts": self.counted} if self.counted else {}
        view = {"view": f"{UNBIASED} {BOUNDED}"} if self.bounded else {}  # the bound is a bias that no interval covers
        return {**counted, **view}


@dataclass(frozen=True, slots=True, eq=False)
class PersonShareRecipe:
    """The weights of the persons of a group over the weights of the persons of all groups.

    Args:
        shares: of the weights, in units of 1/W.
        weight: W.
    """

    whole: ClassVar = False
    shares: ShareRecipe
    weight: int

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return self.shares.queries

    def error(self, noises: Noises, rows: int) -> float:
        return self.shares.error(noises, rows * self.weight)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.shares.widest(noises, GroupSize(size.rows * self.weight, size.every * self.weight))

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return OF_BOUNDED

    def statements(self, noises: Noises) -> Statements:
        return self.shares.statements(noises)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return self.shares.estimates(answers)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {"counts": "persons", "view": f"{CLIPPED}, {BOUNDED}"}


@dataclass(frozen=True, slots=True, eq=False)
class PersonMeanRecipe:
    """The middle of the bounds + step · (sum of the values from the middle) / (values that count), within the bounds.

    Both are in units of 1/W, which their quotient does not depend on.

    Args:
        total: the sum of the values, in parts of a step.
        known: the number of values that count.
        fine: the number of these parts.
        step: the value of one step.
        span: how far a value is from the middle, at most, in steps.
        bounds: of one value.
    """

    whole: ClassVar = False
    total: PersonSum
    known: PersonSum
    fine: Fraction
    step: Fraction
    span: int
    bounds: tuple[Fraction, Fraction]

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.known, Fraction(1)), (self.total, Fraction(1)))

    def error(self, noises: Noises, rows: int) -> float:
        return float(noises.largest(self.total) * self.step / (self.fine * self.total.unit * rows))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return float_up(self.widest_in_steps(noises, size) * self.step)

    def widest_in_steps(self, noises: Noises, size: GroupSize) -> Fraction:
        """The bound in steps; at most half of what is possible."""
        # In units of 1/W there are W·rows values, and each adds at most span·fine to the sum.
        largest = int(self.span * self.fine)
        width = quotient_width(noises, (self.total, largest), NoisyCount(self.known), size.rows * self.total.unit)
        return Fraction(self.span) if width is None else min(width / self.fine, Fraction(self.span))

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return OF_BOUNDED

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (self.total, self.known))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        middle = (self.bounds[0] + self.bounds[1]) / 2
        both = *answers.of(self.total), *answers.of(self.known)
        return (mean_estimate(*both, unit=self.step / self.fine, origin=middle, bounds=self.bounds),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {"view": f"{CLIPPED}, {BOUNDED}"}


@dataclass(frozen=True, slots=True, eq=False)
class PersonVarianceRecipe:
    """step² · (squares / count + middle - (values / count)²), of the values of a mean.

    Args:
        mean: the mean.
        squares: the sum of the squares of the values, less `middle` for each, in parts of a squared step.
        root: the root of the number of these parts.
        middle: what is subtracted for each value.
    """

    whole: ClassVar = False
    mean: PersonMeanRecipe
    squares: PersonSum
    root: Fraction
    middle: int

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return (*self.mean.queries, (self.squares, Fraction(1)))

    @property
    def _step(self) -> Fraction:
        """The value of the root of one part of a square."""
        return self.mean.step / self.root

    def error(self, noises: Noises, rows: int) -> float:
        """The error of the mean square, and twice the mean (at most half of the range) times its own error."""
        mean = 2 * self.mean.span * self.mean.step * Fraction(self.mean.error(noises, rows))
        return float(noises.largest(self.squares) * self._step**2 / (self.squares.unit * rows) + mean)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        most = Fraction(self.mean.span**2, 2)
        count, span = NoisyCount(self.mean.known), self.mean.span * self.root
        # A square less the middle of their range is at most so many parts from 0, rounding included.
        far = max(self.middle, int(span**2) + 1 - self.middle)
        square = quotient_width(noises, (self.squares, far), count, size.rows * self.squares.unit)
        if square is None:
            return float_up(most * self.mean.step**2)
        one = (self.mean.widest_in_steps(noises, size), self.mean.span)
        return float_up(min(most, square / self.root**2 + product_width(one, one)) * self.mean.step**2)

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return OF_BOUNDED

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (self.mean.total, self.mean.known, self.squares))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        # Values in roots of parts of a square: a power of 2 times the answers, which is exact.
        values = _times(answers.of(self.mean.total), self.root / self.mean.fine)
        squares, counts = answers.of(self.squares), answers.of(self.mean.known)
        reach = self.mean.span * self.root
        step, middle = self._step, self.middle
        return (variance_estimate(values, squares, counts, shift=middle, unit=step, reach=(-reach, reach)),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {"view": f"{CLIPPED}, {BOUNDED}"}


@dataclass(frozen=True, slots=True, eq=False)
class InFullRecipe:
    """The numbers of persons who are counted in full and of the others, in a frame for the whole request."""

    whole: ClassVar = False
    asked: PersonsInFull

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.asked, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        return float(noises.largest(self.asked))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        return Statements({}, 2, 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return ()

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        both = Answers(answers.noises, answers.values, slice(0, 2))
        return (CountTable((), count_estimate(*both.of(self.asked)), {}, whole=("counted", LABELS)),)

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {"counts": "persons"}


def total_estimate(noisy: Integers, half: Integers, step: Fraction, *, counted: bool) -> Estimate:
    """The totals in steps, with their intervals; whole numbers where counts are in steps of 1."""
    if counted and step == 1:
        return count_estimate(noisy, half)
    over, under = step.as_integer_ratio()
    whole, widths = noisy.astype(np.object_) * over, half.astype(np.object_) * over
    ends = outward(whole - widths, under, -np.inf), outward(whole + widths, under, np.inf)
    return Estimate((whole / under).astype(np.float64), *ends)


def _times(answer: tuple[Integers, Integers], factor: Fraction) -> tuple[NDArray[Any], NDArray[Any]]:
    noisy, half = (part.astype(np.float64) * float(factor) for part in answer)
    return noisy, half
