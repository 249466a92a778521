"""The sum and the mean of what each person has in a column, within public bounds: the kinds, and the bounds on the grid.

A person's total is the sum of the values of this person's rows in a group, moved to the nearest of two bounds. A person
without a value there has none (U3 of docs/proofs/persons.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

from discreet.cube.persons import MOST_STEPS
from discreet.domain.neighbours import person_of
from discreet.domain.steps import TableFacts
from discreet.errors import ArgumentError, InternalError, PlanError, printed
from discreet.exact.numbers import exact, rational_gcd, text
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import (
    CLIPPED,
    UNBIASED,
    Asked,
    Completed,
    Extended,
    Free,
    Keys,
    Need,
    Reads,
    Shape,
    Statistic,
    Written,
)
from discreet.statistics.common import OneNumber, check_number, number_of, title
from discreet.statistics.possible import Bounds, Ends, Possible, any_value
from discreet.statistics.recipe import Recipe

__all__ = [
    "ColumnOfPersons",
    "MeanPerPerson",
    "SumPerPerson",
    "Totals",
    "Wanted",
    "bounded_title",
    "bounds_of",
    "keys_of",
    "option_bounds",
    "totals_of",
    "wanted_of",
    "written_bounds",
]


def bounds_of(given: object) -> tuple[Fraction, Fraction]:
    """The two bounds of what one person has.

    Raises:
        ArgumentError: not a pair of numbers, reversed, or equal.
    """
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise ArgumentError(f"per_person={printed(given)}: must be a pair (low, high), such as (0, 300)")
    low, high = (exact(end, f"per_person[{place}]") for place, end in enumerate(given))
    if low >= high:
        raise ArgumentError(
            f"per_person=({text(low)}, {text(high)}): low must be below high; take bounds that most persons are within"
        )
    return low, high


def option_bounds(value: Written) -> Any:
    """The two bounds, in a plan file."""
    value.items()
    return value.scalars()


@dataclass(frozen=True, slots=True)
class ColumnOfPersons:
    """A column of numbers whose values are added up person by person; nulls add nothing."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return (str(one.column),)

    def check(self, one: Statistic, facts: TableFacts) -> None:
        if person_of(facts.neighbours) is None:
            raise PlanError(
                f"{one.name}: per_person= needs a table that says whose row is whose; declare AddRemove(person=…) with an "
                "Identifier in the schema, or leave per_person out"
            )
        check_number(one, str(one.column), facts)
        totals_of(wanted_of(one), facts)

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return ()

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> NoReturn:
        raise PlanError("original(): has no intervals for a table of persons; leave it out")


def written_bounds(one: Statistic) -> dict[str, object]:
    """The bounds, in JSON."""
    return {"per_person": [text(end) for end in wanted_of(one).bounds]}


def bounded_title(noun: str, shown: Mapping[str, Any]) -> str:
    """The noun, the column and the bounds in words for pages."""
    low, high = shown["per_person"]
    return f"{title(noun, {'column': shown['column']})}, from {low} to {high} for a person"


def _own_bounds(shown: Mapping[str, Any], _ends: Ends) -> Bounds:
    low, high = shown["per_person"]
    return Fraction(low), Fraction(high)


def keys_of(word: str) -> Keys:
    """The form in a plan file: it is written as the statistic of rows."""
    return Keys(None, {}, {}, lacks=f"is written {{ {word} = 'column', per_person = [low, high] }}")


@dataclass(frozen=True, slots=True)
class SumPerPerson:
    """The sum of what each person has in the column, within `bounds`."""

    bounds: tuple[Fraction, Fraction]

    word: ClassVar = "sum_per_person"
    noun: ClassVar = "Sum"
    keys: ClassVar = keys_of("sum")
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(any_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = ColumnOfPersons()
    shape: ClassVar[Shape] = OneNumber(written_bounds)
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        raise InternalError("sum(…, per_person=…) makes the statistic")

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return bounded_title(part or SumPerPerson.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        raise InternalError("no exact totals are published of a table of persons")

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        raise InternalError("persons are counted on a table of persons")


@dataclass(frozen=True, slots=True)
class MeanPerPerson:
    """The mean of what each person with a value has in the column, within `bounds`."""

    bounds: tuple[Fraction, Fraction]

    word: ClassVar = "mean_per_person"
    noun: ClassVar = "Mean"
    keys: ClassVar = keys_of("mean")
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(_own_bounds)
    counts: ClassVar = False
    reads: ClassVar[Reads] = ColumnOfPersons()
    shape: ClassVar[Shape] = OneNumber(written_bounds)
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        raise InternalError("mean(…, per_person=…) makes the statistic")

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return bounded_title(part or MeanPerPerson.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        raise InternalError("no exact totals are published of a table of persons")

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        raise InternalError("persons are counted on a table of persons")


_MOST_VALUE = 2**53
"""Values are below so many steps: sums of 2**40 of them stay below 2**94."""

# The bounds on the grid ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is added up for each person: a column, and the bounds of the total."""

    column: str
    bounds: tuple[Fraction, Fraction]

    def words(self) -> str:
        """The column and the bounds."""
        low, high = (text(end) for end in self.bounds)
        return f"'{self.column}', from {low} to {high} for a person"


def wanted_of(one: Statistic) -> Wanted:
    """What the statistic adds up.

    Raises:
        InternalError: it adds up nothing for each person.
    """
    kind: Any = one.kind
    if not isinstance(kind.reads, ColumnOfPersons):
        raise InternalError(f"'{one.name}' adds up nothing for each person")
    return Wanted(str(one.column), kind.bounds)


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of a column as whole numbers of steps.

    Args:
        unit: the value of one step.
        step: what one code of the column is worth, in steps.
        origin: what the code 0 is worth, in steps.
        low, high: the bounds, in steps.
    """

    unit: Fraction
    step: int
    origin: int
    low: int
    high: int


def totals_of(wanted: Wanted, facts: TableFacts) -> Totals:
    """The totals on the grid of all sums of values of the column.

    Raises:
        PlanError: a bound is between two such sums, or too many steps away from 0.
    """
    _, grid = number_of(facts, wanted.column)
    unit = rational_gcd(grid.lower, grid.step)
    steps = [grid.step / unit, grid.lower / unit, *(end / unit for end in wanted.bounds)]
    for end, count in zip(wanted.bounds, steps[2:], strict=True):
        if count.denominator != 1:
            near = unit * (count.numerator // count.denominator)
            raise PlanError(
                f"per_person: {text(end)} is not a sum of values of '{wanted.column}'; the nearest sums are {text(near)} "
                f"and {text(near + unit)}"
            )
    largest = max(abs(grid.lower), abs(grid.upper)) / unit
    if largest >= _MOST_VALUE or max(abs(one) for one in steps[2:]) >= MOST_STEPS:
        raise PlanError(
            f"per_person: sums of '{wanted.column}' have steps of {text(unit)}, of which a bound is 2**40 or a value 2**53 "
            "or more; declare a coarser step, or take smaller bounds"
        )
    step, origin, low, high = (int(one) for one in steps)
    return Totals(unit, step, origin, low, high)
