"""Statistics of a table of persons: how many persons there are in each group, and how many rows of bounded persons.

Each is one total over persons (U2 of docs/proofs/persons.md), in units of 1/W.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from discreet.cube.queries import PersonTotal, Query
from discreet.cube.weights import Weighting
from discreet.domain.neighbours import person_of
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError, PlanError
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import UNBIASED, Asked, Completed, Extended, Free, Keys, Kind, Need, Reads, Shape, Statistic
from discreet.statistics.common import OneNumber, check_weight
from discreet.statistics.counts import Count, count_estimate
from discreet.statistics.estimate import Estimate, outward
from discreet.statistics.possible import Possible, count_value
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Recipe, Statements, noise_statements

__all__ = ["BOUNDED", "Counting", "PersonRecipe", "Persons", "of_persons", "person_recipe", "persons"]


BOUNDED = f"{UNBIASED} for persons as they are bounded"
"""The view of a number that a bound may have made smaller than the number of persons or rows."""


def persons(*, weight: Amount = 1) -> Statistic:
    """The number of persons in each group, on a table whose neighbours differ in all rows of a person.

    `weight` is the share of the spend relative to the other statistics of the request.
    """
    return Statistic(Persons(), None, "persons", check_weight(weight))


@dataclass(frozen=True, slots=True)
class OfPersons:
    """No column but the identifier, which the relation names."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def check(self, one: Statistic, facts: TableFacts) -> None:
        if person_of(facts.neighbours) is None:
            raise PlanError(
                "persons(): the table does not say whose row is whose; declare AddRemove(person=…) with an Identifier in "
                "the schema, or ask for count()"
            )

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return ()

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        return one


@dataclass(frozen=True, slots=True)
class Persons:
    """The number of persons, each at most once in a group and with a weight that is bounded over all groups."""

    word: ClassVar = "persons"
    noun: ClassVar = "Number of persons"
    keys: ClassVar = Keys(None, {}, {}, alone=True)
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(count_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = OfPersons()
    shape: ClassVar[Shape] = OneNumber()
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return persons(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return "Number of persons"

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        raise InternalError("no exact totals are published of a table of persons")

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        raise InternalError("persons are counted on a table of persons")


@dataclass(frozen=True, slots=True)
class Counting:
    """What one person counts for: fully in `groups` of `cells`, with `rows` rows in each, weighed so."""

    groups: int
    rows: int
    cells: int
    weighting: Weighting

    def total(self, *, of_rows: bool) -> PersonTotal:
        """The total over persons."""
        return PersonTotal(self.rows if of_rows else None, self.groups, self.cells, self.weighting)


def _persons(counting: Counting) -> PersonRecipe:
    return PersonRecipe(counting.total(of_rows=False), "persons")


def _rows(counting: Counting) -> PersonRecipe:
    return PersonRecipe(counting.total(of_rows=True), "rows of bounded persons")


_RECIPES: Mapping[type[Kind], Callable[[Counting], PersonRecipe]] = MappingProxyType({Persons: _persons, Count: _rows})


def of_persons() -> tuple[type[Kind], ...]:
    """The kinds of statistics that a table of persons answers."""
    return tuple(_RECIPES)


def person_recipe(one: Statistic, counting: Counting) -> Recipe:
    """The recipe of a statistic of a table of persons, which a plan has checked."""
    return _RECIPES[type(one.kind)](counting)


@dataclass(frozen=True, slots=True, eq=False)
class PersonRecipe:
    """A total over persons, divided by its unit."""

    whole: ClassVar = False
    total: PersonTotal
    counted: str

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.total, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        return noises.largest(self.total) / self.total.unit

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    @property
    def bounded(self) -> bool:
        """True if some person may count for less than all of this person's rows or groups."""
        return self.total.unit > 1 or self.total.rows is not None

    def accuracy(self, noises: Noises) -> str:
        return "; of persons as they are bounded" if self.bounded else ""

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (self.total,))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        noisy, half = answers.of(self.total)
        unit = self.total.unit
        if unit == 1:
            return (count_estimate(noisy, half),)
        whole, widths = noisy.astype(np.object_), half.astype(np.object_)
        ends = outward(whole - widths, unit, -np.inf), outward(whole + widths, unit, np.inf)
        value = whole.astype(np.float64) / unit
        return (Estimate(value, *ends),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        view = {"view": BOUNDED} if self.bounded else {}  # the bound is a bias that no interval covers
        return {"counts": self.counted, **view}
