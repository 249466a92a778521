"""Quantiles of a column before its clamp, from those after it: a clamp costs nothing (O12 of docs/proofs/original.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.cube.queries import Query
from discreet.errors import InternalError
from discreet.statistics.base import Asked, Statistic
from discreet.statistics.common import number_of
from discreet.statistics.estimate import Estimate
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Recipe, Statements

__all__ = ["ExtendedQuantileRecipe", "extend_quantiles"]

Bounds = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class ExtendedQuantileRecipe:
    """The quantiles of the clamped column, with an end that is at a bound of the clamp moved to that of the column.

    Args:
        clamped: the recipe of the clamped column.
        clamp: its bounds.
        bounds: those of the column as recorded.
    """

    whole: ClassVar = False
    clamped: Recipe
    clamp: Bounds
    bounds: Bounds

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return self.clamped.queries

    def error(self, noises: Noises, rows: int) -> float:
        return self.clamped.error(noises, rows)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.clamped.widest(noises, size)

    def unit(self, rows: int) -> str:
        return self.clamped.unit(rows)

    def accuracy(self, noises: Noises) -> str:
        return self.clamped.accuracy(noises)

    def statements(self, noises: Noises) -> Statements:
        return self.clamped.statements(noises)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return tuple(extend(one, self.clamp, self.bounds) for one in self.clamped.estimates(answers))

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def extend(one: Estimate, clamp: Bounds, bounds: Bounds) -> Estimate:
    """The interval in which everything beyond a bound of the clamp is, where it reaches that bound."""
    low = np.where(one.low <= _like(one.low, clamp[0]), _like(one.low, bounds[0]), one.low)
    high = np.where(one.high >= _like(one.high, clamp[1]), _like(one.high, bounds[1]), one.high)
    return Estimate(one.value, low, high)


def _like(values: np.ndarray[Any, Any], bound: Fraction) -> Any:
    """The bound as these values hold it: whole numbers, or the nearest doubles of the grid."""
    return int(bound) if np.issubdtype(values.dtype, np.integer) else float(bound)


def extend_quantiles(clamped: Recipe, one: Statistic, asked: Asked) -> ExtendedQuantileRecipe:
    """The recipe of the column before its clamp.

    Raises:
        InternalError: the column has no other name as recorded.
    """
    twin = asked.twin(one.column)
    if twin is None:
        raise InternalError(f"column '{one.column}' is not clamped")
    ends = []
    for name in (twin.prepared, twin.recorded):
        known, grid = number_of(asked.facts, name)
        ends.append((grid.value(known.low), grid.value(known.high)))
    return ExtendedQuantileRecipe(clamped, ends[0], ends[1])
