"""What the steps of a plan do to the numbers of a column: public facts, from the plan alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from operator import mul

import numpy as np
from numpy.typing import NDArray

from discreet.cube.value_paths import NumberPath, path_of
from discreet.domain.columns import Number
from discreet.domain.steps import facts_of
from discreet.plan.plan import Plan

__all__ = ["DrawLaw", "Moved", "moved_by"]


@dataclass(frozen=True, slots=True)
class DrawLaw:
    """The law of the values in the place of nulls: its mean and variance, and the least and the greatest value."""

    mean: Fraction
    variance: Fraction
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class Moved:
    """What the steps do to a column of numbers.

    Args:
        column: its name.
        bounds: its bounds in the schema.
        kept: its bounds after all clamps.
        law: the law of what is imputed, after the clamps that follow; None where nulls stay.
    """

    column: str
    bounds: tuple[Fraction, Fraction]
    kept: tuple[Fraction, Fraction]
    law: DrawLaw | None

    @property
    def open(self) -> tuple[str, ...]:
        """The names of what can be assumed of it."""
        (least, most), (low, high) = self.bounds, self.kept
        up = ("above", "mean_above") if most > high else ()
        down = ("below", "mean_below") if low > least else ()
        return ("nulls", "mean", *up, *down)


def moved_by(plan: Plan, column: str) -> Moved | None:
    """What the steps of the plan do to a column; None if it has no numbers."""
    path, grid = path_of(column, plan.steps, facts_of(plan.schema, plan.neighbours)), plan.schema[column]
    if not isinstance(path, NumberPath) or not isinstance(grid, Number):
        return None
    kept = grid.value(path.low), grid.value(path.high)
    laws = [_law_of(law, kept[0], grid.step) for law in path.laws]
    return Moved(column, (grid.lower, grid.upper), kept, laws[0] if laws else None)


def _law_of(weights: NDArray[np.int64], first: Fraction, step: Fraction) -> DrawLaw:
    """The law of first + step·k with probabilities in proportion to the weights, exactly."""
    places = np.flatnonzero(weights)
    total, once, twice = _moments(places, weights[places])
    mean = Fraction(once, total)
    variance = Fraction(twice, total) - mean**2
    return DrawLaw(first + step * mean, step**2 * variance, first + step * int(places[0]), first + step * int(places[-1]))


def _moments(places: NDArray[np.int64], weights: NDArray[np.int64]) -> tuple[int, int, int]:
    """Σw, Σwk and Σwk², in 64 bits where they fit."""
    if int(weights.max()) * len(places) * int(places[-1]) ** 2 < 2**63:
        return int(weights.sum()), int(weights @ places), int(weights @ places**2)
    k, w = places.tolist(), weights.tolist()
    once = list(map(mul, k, w))
    return sum(w), sum(once), sum(map(mul, once, k))
