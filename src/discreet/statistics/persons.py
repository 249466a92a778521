"""The number of persons in each group of a table of persons (U2 of docs/proofs/persons.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.domain.neighbours import no_persons, person_of
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError, PlanError
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import UNBIASED, Asked, Completed, Extended, Free, Keys, Need, Reads, Shape, Statistic
from discreet.statistics.common import OneNumber, check_weight
from discreet.statistics.possible import Possible, count_value
from discreet.statistics.recipe import Recipe

__all__ = ["Persons", "persons"]


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
            raise PlanError(f"persons(): {no_persons(facts.neighbours, 'ask for count()')}")

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
