"""How many persons are counted in full: the number of those whom no bound of the request cuts, and of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.domain.groups import Bins, Group
from discreet.domain.neighbours import no_persons, person_of
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError, PlanError
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import UNBIASED, Asked, Completed, Extended, Free, Keys, Need, Reads, Room, Shape, Statistic
from discreet.statistics.common import check_weight
from discreet.statistics.possible import Possible, count_value
from discreet.statistics.recipe import Recipe

__all__ = ["LABELS", "InFull", "counted_in_full"]

LABELS = ("in full", "with less")
"""Of the two numbers: persons who count with all that they have, and persons who do not."""


def counted_in_full(*, weight: Amount = "0.01") -> Statistic:
    """The numbers of persons who are counted in full and of those who are not, over all groups together.

    A person is counted in full who is in no more groups than the bound, has no more rows in one of them than count, and
    whose totals are within their bounds. Each person is one of two numbers, whatever the bounds are, so a hundredth of what
    other statistics get is enough to see how much was cut.
    """
    return Statistic(InFull(), None, "counted_in_full", check_weight(weight))


@dataclass(frozen=True, slots=True)
class TwoNumbers:
    """Two numbers for the whole request, in a frame of their own."""

    one_number: bool = False

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        return ((),)

    def prepare(
        self, one: Statistic, check: Callable[[str | Bins | Group], Group], facts: TableFacts, *, grouped: bool
    ) -> Statistic:
        return one

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {}

    def places(self, one: Statistic, facts: TableFacts) -> int:
        return 2

    def advice(self, one: Statistic, room: Room) -> str:
        raise InternalError("two numbers are never too many")


@dataclass(frozen=True, slots=True)
class BoundedPersons:
    """The bounds of a table of persons."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def check(self, one: Statistic, facts: TableFacts) -> None:
        if person_of(facts.neighbours) is None:
            why = no_persons(facts.neighbours, "leave it out")
            raise PlanError(f"counted_in_full(): is about the bound of what a person counts for, and {why}")

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return ()

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        return one


@dataclass(frozen=True, slots=True)
class InFull:
    """The persons who are counted in full, and the others."""

    word: ClassVar = "counted_in_full"
    noun: ClassVar = "Persons who are counted in full"
    keys: ClassVar = Keys(None, {}, {}, alone=True)
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(count_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = BoundedPersons()
    shape: ClassVar[Shape] = TwoNumbers()
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return counted_in_full(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return InFull.noun

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        raise InternalError("no exact totals are published of a table of persons")

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        raise InternalError("persons are counted on a table of persons")
