"""The variance of what each person has in a column, within public bounds, and its root: the kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.domain.steps import TableFacts
from discreet.errors import InternalError
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Reads, Shape, Statistic
from discreet.statistics.common import OneNumber
from discreet.statistics.person_values import ColumnOfPersons, bounded_title, keys_of, written_bounds
from discreet.statistics.possible import Bounds, Ends, Possible
from discreet.statistics.recipe import Recipe

__all__ = ["StdPerPerson", "VariancePerPerson"]


def _spread(shown: Mapping[str, Any], _ends: Ends) -> Bounds:
    low, high = map(Fraction, shown["per_person"])
    return Fraction(0), (high - low) ** 2 / 4


def _root(shown: Mapping[str, Any], _ends: Ends) -> Bounds:
    low, high = map(Fraction, shown["per_person"])
    return Fraction(0), (high - low) / 2


@dataclass(frozen=True, slots=True)
class VariancePerPerson:
    """The mean squared distance from their mean of what persons with a value have in the column, within `bounds`."""

    bounds: tuple[Fraction, Fraction]

    word: ClassVar = "variance_per_person"
    noun: ClassVar = "Variance"
    keys: ClassVar[Keys] = keys_of("variance")
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(_spread)
    counts: ClassVar = False
    reads: ClassVar[Reads] = ColumnOfPersons()
    shape: ClassVar[Shape] = OneNumber(written_bounds)
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        raise InternalError("variance(…, per_person=…) makes the statistic")

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return bounded_title(part or VariancePerPerson.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        raise InternalError("no exact totals are published of a table of persons")

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        raise InternalError("persons are counted on a table of persons")


@dataclass(frozen=True, slots=True)
class StdPerPerson:
    """The square root of that variance."""

    bounds: tuple[Fraction, Fraction]

    word: ClassVar = "std_per_person"
    noun: ClassVar = "Standard deviation"
    keys: ClassVar[Keys] = keys_of("std")
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(_root)
    counts: ClassVar = False
    reads: ClassVar[Reads] = ColumnOfPersons()
    shape: ClassVar[Shape] = OneNumber(written_bounds)
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        raise InternalError("std(…, per_person=…) makes the statistic")

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return bounded_title(part or StdPerPerson.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        raise InternalError("no exact totals are published of a table of persons")

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        raise InternalError("persons are counted on a table of persons")
