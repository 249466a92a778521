"""The variance as one number with noise of its own, where the number of rows is public and nobody asks for the sum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Dispersion, Query
from discreet.exact.numbers import float_down, float_up
from discreet.statistics.estimate import Estimate
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Statements, add_errors, noise_statements

__all__ = ["DispersionRecipe", "dispersion_estimate"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DispersionRecipe:
    """(unit / rows)² times the squared distances of all pairs of rows."""

    whole: ClassVar = False
    query: Dispersion
    step: Fraction

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.query, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        factor = self.step**2 * Fraction(self.query.coarse, self.query.rows**2)
        return add_errors(noises, ((self.query,), factor))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        # The interval allows for the rounding down of the answer, which is less than a step.
        factor = self.step**2 * Fraction(self.query.coarse, self.query.rows**2)
        return float_up(factor * (noises.largest(self.query) + Fraction(1, 2)))

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (self.query,))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        query = self.query
        spreads = answers.of(query)
        return (dispersion_estimate(spreads, coarse=query.coarse, rows=query.rows, width=query.width, unit=self.step),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def dispersion_estimate(
    spreads: tuple[NDArray[Any], NDArray[Any]], *, coarse: int, rows: int, width: int, unit: Fraction
) -> Estimate:
    """The variance where the number of rows is public, clipped into [0, a quarter of the squared range].

    Args:
        spreads: noisy rows² times the variance in steps, over `coarse` and rounded down; the half-widths of their noise.
        coarse: what it was divided by.
        rows: how many rows there are.
        width: how many steps the values span.
        unit: what a step is worth.
    """
    most = Fraction(width**2, 4) * unit**2
    scale = coarse * unit**2 / rows**2
    rounding = Fraction(coarse - 1, coarse)

    def values(ends: NDArray[Any], more: Fraction, rounded: Callable[[Fraction], float]) -> Floats:
        return np.array([rounded(min(max(scale * (int(end) + more), Fraction(0)), most)) for end in ends], dtype=np.float64)

    spread, half = (part.astype(np.object_) for part in spreads)
    low, high = values(spread - half, Fraction(0), float_down), values(spread + half, rounding, float_up)
    return Estimate(values(spread, rounding / 2, float), low, high)
