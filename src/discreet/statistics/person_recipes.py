"""The recipes of a table of persons: each is made of totals over persons, in units of 1/W (docs/proofs/persons.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from discreet.cube.queries import PersonQuery, PersonsKnown, PersonTotal, PersonValues, Query, Weighed
from discreet.domain.steps import TableFacts
from discreet.exact.numbers import float_up
from discreet.statistics.base import CLIPPED, UNBIASED, Kind, Statistic
from discreet.statistics.counted import NoisyCount
from discreet.statistics.counts import Count, count_estimate
from discreet.statistics.estimate import Estimate, outward
from discreet.statistics.means import mean_estimate
from discreet.statistics.person_values import MeanPerPerson, SumPerPerson, Totals, Wanted, totals_of, wanted_of
from discreet.statistics.persons import Persons
from discreet.statistics.recipe import (
    Answers,
    CountTable,
    GroupSize,
    Noises,
    Recipe,
    Statements,
    in_a_group,
    noise_statements,
)
from discreet.statistics.shares import Share, ShareRecipe
from discreet.statistics.widest import quotient_width

__all__ = ["BOUNDED", "Counting", "PersonRecipe", "of_persons", "person_recipe"]

BOUNDED = "for persons as they are bounded"
"""The end of the view of a number that a bound may have made another one than that of all persons and rows."""


@dataclass(frozen=True, slots=True)
class Counting:
    """What one person counts for in a request.

    Args:
        weighed: the weights.
        rows: R, how many rows of a person in a group count.
        values: what is added up for each person, in the order of the scan.
        facts: of the table.
    """

    weighed: Weighed
    rows: int
    values: tuple[Wanted, ...]
    facts: TableFacts

    def total(self, rows: int | None) -> PersonTotal:
        """The number of persons, or of up to `rows` rows of each."""
        return PersonTotal(rows, self.weighed.groups, self.weighed.cells, self.weighed.weighting)

    def known(self, wanted: Wanted) -> PersonsKnown:
        """The number of persons with a value."""
        return PersonsKnown(wanted.column, self.values.index(wanted), self.weighed)

    def sum_of(self, wanted: Wanted, totals: Totals, *, centred: bool) -> PersonValues:
        """The sum of the totals of all persons; centred at the middle of their range."""
        taken = (2, -(totals.low + totals.high)) if centred else (1, 0)
        place = self.values.index(wanted)
        return PersonValues(wanted.column, place, wanted.words(), totals.low, totals.high, *taken, self.weighed)


def _persons(_one: Statistic, counting: Counting) -> Recipe:
    return PersonRecipe(counting.total(None), "persons", Fraction(1), bounded=counting.weighed.unit > 1)


def _rows(_one: Statistic, counting: Counting) -> Recipe:
    return PersonRecipe(counting.total(counting.rows), "rows of bounded persons", Fraction(1), bounded=True)


def _sum(one: Statistic, counting: Counting) -> Recipe:
    # Centred at the middle it would need a count to go back. The errors of both together are those of the sum alone.
    wanted = wanted_of(one)
    totals = totals_of(wanted, counting.facts)
    return PersonRecipe(counting.sum_of(wanted, totals, centred=False), "", totals.unit, bounded=True)


def _mean(one: Statistic, counting: Counting) -> Recipe:
    wanted = wanted_of(one)
    totals = totals_of(wanted, counting.facts)
    return PersonMeanRecipe(
        counting.sum_of(wanted, totals, centred=True), counting.known(wanted), totals.unit / 2, wanted.bounds
    )


def _share(_one: Statistic, counting: Counting) -> Recipe:
    # The parts of a whole: both are in units of 1/W, which their quotient does not depend on.
    count = NoisyCount(counting.total(None))
    return PersonShareRecipe(ShareRecipe(count, count), counting.weighed.unit)


_RECIPES: Mapping[type[Kind], Callable[[Statistic, Counting], Recipe]] = MappingProxyType(
    {Persons: _persons, Count: _rows, SumPerPerson: _sum, MeanPerPerson: _mean, Share: _share}
)


def of_persons() -> tuple[type[Kind], ...]:
    """The kinds of statistics that a table of persons answers."""
    return tuple(_RECIPES)


def person_recipe(one: Statistic, counting: Counting) -> Recipe:
    """The recipe of a statistic of a table of persons, which a plan has checked."""
    return _RECIPES[type(one.kind)](one, counting)


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
    total: PersonQuery
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
        return "; of persons as they are bounded" if self.bounded else ""

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (self.total,))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        noisy, half = answers.of(self.total)
        if self.counted and self.step == self.total.unit:
            return (count_estimate(noisy, half),)
        over, under = (self.step / self.total.unit).as_integer_ratio()
        whole, widths = noisy.astype(np.object_) * over, half.astype(np.object_) * over
        ends = outward(whole - widths, under, -np.inf), outward(whole + widths, under, np.inf)
        value = (whole / under).astype(np.float64)
        return (Estimate(value, *ends),)

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
        return "; of persons as they are bounded"

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
    """The middle of the bounds + unit · (sum of the centred totals) / (persons with a value), within the bounds.

    Both are in units of 1/W, which their quotient does not depend on.

    Args:
        total: the centred totals.
        known: the persons with a value.
        unit_of_total: the value of one step of a centred total.
        bounds: of what one person has.
    """

    whole: ClassVar = False
    total: PersonValues
    known: PersonsKnown
    unit_of_total: Fraction
    bounds: tuple[Fraction, Fraction]

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.known, Fraction(1)), (self.total, Fraction(1)))

    def error(self, noises: Noises, rows: int) -> float:
        return float(noises.largest(self.total) * self.unit_of_total / (self.total.unit * rows))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        # In units of 1/W there are W·rows of them, and each adds at most `most` to the sum.
        persons, (low, high) = size.rows * self.total.unit, self.bounds
        width = quotient_width(noises, (self.total, self.total.most), NoisyCount(self.known), persons)
        most = (high - low) / 2
        return float_up(most if width is None else min(width * self.unit_of_total, most))

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return "; of persons as they are bounded"

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (self.total, self.known))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        middle = (self.bounds[0] + self.bounds[1]) / 2
        both = *answers.of(self.total), *answers.of(self.known)
        return (mean_estimate(*both, unit=self.unit_of_total, origin=middle, bounds=self.bounds),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {"view": f"{CLIPPED}, {BOUNDED}"}
