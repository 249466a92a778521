"""What one person counts for in a request, and the totals over persons that recipes are made of.

The numbers of a person are those of `cube.person_numbers`. Their totals are in units of 1/W (docs/proofs/persons.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.cube.person_numbers import (
    FINE,
    Here,
    KnownUpTo,
    PersonNumber,
    RowsUpTo,
    SquaresUpTo,
    Total,
    TotalSquared,
    Valued,
    ValuesUpTo,
)
from discreet.cube.persons import MOST_STEPS
from discreet.cube.queries import Divided, PersonSum, Weighed
from discreet.domain.groups import BinGroup
from discreet.domain.steps import TableFacts
from discreet.errors import PlanError
from discreet.exact.figures import number
from discreet.exact.numbers import text
from discreet.statistics.common import number_of
from discreet.statistics.person_values import Wanted, totals_of

__all__ = ["Centred", "Counting", "Spread", "Taken", "squares_of", "taken_rows", "taken_totals", "total_number"]

_FINER = 2**24
"""Squares are rounded down to about this part of the most that a person can have."""

_MOST_SPAN = 2**31
"""Squares of values that are so many steps apart, added up over all rows, stay below 2**122."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Among what a person is divided in a cell, by her rows there: bins of a column, or its single values.

    Args:
        column: the column.
        by: the bins; None for each value by itself, where rows without one are left out.
    """

    column: str
    by: BinGroup | None


@dataclass(frozen=True, slots=True)
class Centred:
    """A number of a person that is taken from the middle of its range: factor·x − middle·(known values that count).

    Args:
        number: the number x.
        factor: what x is multiplied by.
        middle: what is subtracted for each known value that counts.
        fine: how many units of it are one step, or one squared step.
        words: what is added up.
    """

    number: Valued
    factor: int
    middle: int
    fine: Fraction
    words: str


@dataclass(frozen=True, slots=True)
class Taken:
    """The values of a column as persons count for them. Steps are halves of those of the grid, from the middle.

    Args:
        column: the column.
        known: how many values of a person count.
        values: their sum.
        counted: what is known, in words.
        span: how far a value is from the middle, at most, in steps.
        step: the value of one step.
        bounds: of one value.
    """

    column: str
    known: KnownUpTo
    values: Centred
    counted: str
    span: int
    step: Fraction
    bounds: tuple[Fraction, Fraction]

    @property
    def most(self) -> int:
        """How many values of a person count."""
        return self.known.most


def taken_rows(column: str, rows: int, facts: TableFacts) -> Taken:
    """The values of a column, of each person up to `rows` of them in a group.

    Raises:
        PlanError: their sums have no room.
    """
    known, grid = number_of(facts, column)
    span = known.high - known.low
    if rows * span >= MOST_STEPS:
        raise _too_fine(column, f"{number(rows)} rows of a person come to 2**40 or more", grid.step)
    fine = max(1, FINE >> (rows * span).bit_length())
    values = ValuesUpTo(column, known.low, known.high, rows, fine)
    words = f"values of '{column}', {_up_to(rows)}, taken from the middle"
    centred = Centred(values, 2, fine * span, Fraction(fine), words)
    counted = f"rows with a value of '{column}', {_up_to(rows)}"
    bounds = grid.value(known.low), grid.value(known.high)
    return Taken(column, KnownUpTo(column, rows), centred, counted, span, grid.step / 2, bounds)


def taken_totals(wanted: Wanted, facts: TableFacts) -> Taken:
    """The totals of a column of each person.

    Raises:
        PlanError: as `totals_of`.
    """
    found = totals_of(wanted, facts)
    words = f"totals of {wanted.words()}, taken from the middle"
    centred = Centred(total_number(wanted, facts), 2, found.low + found.high, Fraction(1), words)
    counted = f"persons with a value of '{wanted.column}'"
    span = found.high - found.low
    return Taken(wanted.column, KnownUpTo(wanted.column, 1), centred, counted, span, found.unit / 2, wanted.bounds)


def total_number(wanted: Wanted, facts: TableFacts) -> Total:
    """The total of a column of a person."""
    found = totals_of(wanted, facts)
    return Total(wanted.column, found.step, found.origin, found.low, found.high)


def squares_of(taken: Taken) -> Centred:
    """The squares of the same values, less the middle of their range.

    Raises:
        PlanError: their sums have no room.
    """
    own, words = taken.values.number, f"squares of {taken.values.words}"
    most = taken.most * taken.span**2
    # The root of the units of a square has to be whole, or the inverse of a whole number: powers of 4.
    up = max(0, (_FINER.bit_length() - 1 - most.bit_length()) // 2)
    down = max(0, (most.bit_length() - _FINER.bit_length() + 2) // 2)
    fine, coarse = 4**up, 4**down
    if isinstance(own, Total):
        # A total has no finer squares: it is whole.
        return Centred(TotalSquared(own, coarse), 1, taken.span**2 // coarse // 2, Fraction(1, coarse), words)
    if taken.span >= _MOST_SPAN:
        raise _too_fine(taken.column, "values are 2**31 steps or more apart", 2 * taken.step)
    number_of_rows = SquaresUpTo(taken.column, taken.span, taken.most, fine, coarse)
    return Centred(number_of_rows, 1, fine * taken.span**2 // coarse // 2, Fraction(fine, coarse), words)


def _too_fine(column: str, why: str, step: Fraction) -> PlanError:
    return PlanError(
        f"'{column}': in steps of {text(step)}, {why}; declare a coarser step, clamp to tighter bounds, or take a smaller "
        "bound of rows"
    )


@dataclass(frozen=True, slots=True)
class Counting:
    """What one person counts for in a request.

    Args:
        weighed: the weights.
        rows: R, how many rows of a person in a group count.
        numbers: what a person counts for, in the order of the scan.
        spreads: among what persons are divided, in the order of the scan.
        facts: of the table.
    """

    weighed: Weighed
    rows: int
    numbers: tuple[PersonNumber, ...]
    spreads: tuple[Spread, ...]
    facts: TableFacts

    def total(self, one: PersonNumber, counted: str) -> PersonSum:
        """The total of a number over persons."""
        where = "rows" if one.column is None else "a value"
        of = () if one.column is None else (one.column,)
        return PersonSum(counted, where, ((self.numbers.index(one), 1),), *one.reach(), of, self.weighed)

    def persons(self) -> PersonSum:
        """The number of persons."""
        return self.total(Here(), "persons")

    def counted_rows(self) -> PersonSum:
        """The number of rows, of each person in a group up to `rows`."""
        return self.total(RowsUpTo(self.rows), f"rows, {_up_to(self.rows)}")

    def known(self, taken: Taken) -> PersonSum:
        """The number of values that count."""
        return self.total(taken.known, taken.counted)

    def centred(self, taken: Taken, one: Centred) -> PersonSum:
        """The total of a number over persons, taken from the middle of its range, which halves what one can add."""
        # It is farthest from 0 where as many values count as can (U5).
        low, high = (one.factor * end - one.middle * taken.most for end in one.number.of_known(taken.most))
        terms = ((self.numbers.index(one.number), one.factor), (self.numbers.index(taken.known), -one.middle))
        return PersonSum(one.words, "a value", terms, low, high, (taken.column,), self.weighed)

    def divided(self, spread: Spread) -> Divided:
        """A person who is divided among bins or values."""
        return Divided(self.spreads.index(spread), self.rows, self.weighed)


def _up_to(rows: int) -> str:
    return f"up to {number(rows)} of a person in a group"
