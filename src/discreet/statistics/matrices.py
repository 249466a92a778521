"""Matrices of several columns of numbers: the covariances of all pairs with their ranges, from moments of one vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain.groups import Bins, Group
from discreet.domain.steps import TableFacts
from discreet.errors import PlanError, printed
from discreet.mechanisms import Sensitivity, law_of_parts
from discreet.statistics.base import Asked, Free, Need, Room, Statistic, Written
from discreet.statistics.common import check_column_name, check_number, number_of
from discreet.statistics.covariance import covariance_estimate
from discreet.statistics.estimate import Estimate
from discreet.statistics.moments import CONSTANT, Moments, Normal, moments_of, number_feature, vector_of
from discreet.statistics.recipe import Noises

__all__ = [
    "ManyNumbers",
    "NamedParts",
    "Spread",
    "columns_of",
    "moments_of_numbers",
    "number_of_moments",
    "span_of_numbers",
    "spread_of",
    "written_columns",
]

Floats = NDArray[np.float64]

_MOST_COLUMNS = 20
_ONE = Fraction(1)
_REACH = (-1, 1)


def columns_of(word: str, columns: object) -> tuple[str, ...]:
    """The names of two different columns or more. Raises PlanError."""
    if isinstance(columns, str | bytes) or not isinstance(columns, list | tuple) or not 2 <= len(columns) <= _MOST_COLUMNS:
        raise PlanError(
            f"{word}({printed(columns)}): must name 2 to {_MOST_COLUMNS} columns, such as {word}(['age', 'income'])"
        )
    names = tuple(map(check_column_name, columns))
    if len(set(names)) < len(names):
        raise PlanError(f"{word}(): must name different columns; one of them is given twice")
    return names


def written_columns(value: Written) -> Sequence[Any]:
    """The names of several columns, in a plan file."""
    return ([item.string() for item in value.items()],)


@dataclass(frozen=True, slots=True)
class ManyNumbers:
    """Several columns of numbers, of which the cube brings all combinations of codes; a kind has them in `names`."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        kind: Any = one.kind
        found: tuple[str, ...] = kind.names
        return found

    def check(self, one: Statistic, facts: TableFacts) -> None:
        for column in self.columns(one):
            check_number(replace(one, skip_nulls=True), column, facts)
            known, _ = number_of(facts, column)
            if known.nullable and not one.skip_nulls:
                raise PlanError(f"{one.kind.word}(): '{column}' can be null; impute it first, or ask for nulls=\"skip\"")
            if known.low == known.high:
                raise PlanError(
                    f"{one.kind.word}(): '{column}' has a single value, so that nothing varies with it; leave it out"
                )

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return (Need("codes", self.columns(one)),)

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {"columns": list(self.columns(one)), "nulls": "skip" if one.skip_nulls else "refuse"}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        raise PlanError(f"original(): '{one.name}' has no such form; ask for it in another release")


def _nothing(_one: Statistic) -> dict[str, object]:
    return {}


@dataclass(frozen=True, slots=True)
class NamedParts:
    """Several numbers for each group, each in a column called like the statistic and a part.

    Args:
        parts: the ends of these names, in their order.
        measured: how many integers get noise for them in each group.
        written: further keys in JSON.
    """

    parts: Callable[[Statistic], Sequence[str]]
    measured: Callable[[Statistic], int]
    written: Callable[[Statistic], dict[str, object]] = _nothing
    one_number: bool = False

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        return ()

    def prepare(
        self, one: Statistic, check: Callable[[str | Bins | Group], Group], facts: TableFacts, *, grouped: bool
    ) -> Statistic:
        return one

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        return tuple(f"{one.name}_{part}" for part in self.parts(one))

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {**self.written(one), "parts": list(self.parts(one))}

    def places(self, one: Statistic, facts: TableFacts) -> int:
        return self.measured(one)

    def advice(self, one: Statistic, room: Room) -> str:
        return f"take fewer groups, at most {room.groups}, or fewer columns"


def number_of_moments(one: Statistic) -> int:
    """The number of moments of all pairs of its columns and of the constant 1."""
    size = len(one.kind.reads.columns(one)) + 1
    return size * (size + 1) // 2


def span_of_numbers(columns: Sequence[str], facts: TableFacts, free: Free) -> Sensitivity:
    """The sensitivity of the moments of these columns with exact totals, in the integers of their query."""
    features = [CONSTANT, *(number_feature(facts, column) for column in columns)]
    alone, apart = vector_of(features, tuple(columns), _evenly).norms(frozenset())
    return free.of_moves(apart, (2 * alone[0], 2 * alone[1]), alone)


def _evenly(_i: int, _j: int) -> Fraction:
    """All moments have the same weight."""
    return _ONE


def moments_of_numbers(asked: Asked, columns: Sequence[str]) -> Moments:
    """The moments of all pairs of these columns and of the constant 1, which is first."""
    features = [CONSTANT, *(number_feature(asked.facts, column) for column in columns)]
    return moments_of(asked, features, columns=tuple(columns), weight=_evenly)


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """The variances and covariances of columns that are measured from -1 to 1; each has a range, and all hold together.

    Args:
        pairs: for each pair of places, the first at most the second.
    """

    pairs: Mapping[tuple[int, int], Estimate]


def spread_of(normal: Normal, noises: Noises, moments: Moments) -> Spread:
    """The covariances, from moments whose noises are each within a half-width at the level of the noises (B2)."""
    wide = float(law_of_parts(noises.law(moments.query)).half_width(noises.level))

    def noisy(i: int, j: int) -> tuple[Floats, Floats]:
        values = normal.values[:, i, j]
        # The half-width is a whole number; the scale is rounded once.
        return values, np.full(len(values), wide * normal.scale[i, j] * (1 + 2.0**-50))

    rows, found = noisy(0, 0), {}
    for i in range(1, len(moments.features)):
        for j in range(i, len(moments.features)):
            sums = noisy(0, i), noisy(0, j)
            one = covariance_estimate(sums, noisy(i, j), rows, unit=_ONE, reaches=(_REACH, _REACH))
            # A variance is a covariance with itself, and not negative.
            least = 0.0 if i == j else -1.0
            found[i - 1, j - 1] = Estimate(*(np.maximum(part, least) for part in (one.value, one.low, one.high)))
    return Spread(found)
