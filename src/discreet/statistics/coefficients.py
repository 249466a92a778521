"""From the noisy moments of features to the coefficients of a regression, in the units of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Contrast, Query
from discreet.domain.steps import TableFacts
from discreet.exact.numbers import float_up
from discreet.mechanisms import law_of_parts
from discreet.statistics.estimate import Estimate
from discreet.statistics.fits import Fit
from discreet.statistics.linear_sets import Asked, Solved, solve
from discreet.statistics.moments import Feature, Moments, Normal
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Statements, in_a_group
from discreet.statistics.totals import total_of

__all__ = ["CoefficientsRecipe", "Outputs", "linear_outputs"]

Floats = NDArray[np.float64]

_OUTWARD = 2.0**-40


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """The coefficients as linear functions of those of the features.

    Args:
        of: shape (coefficients, features that explain).
        start: what is added to each.
        effect: what each is multiplied with for its effect over the range of its column; 0 for the intercept.
    """

    of: Floats
    start: Floats
    effect: Floats


def linear_outputs(facts: TableFacts, features: Sequence[Feature]) -> Outputs:
    """The coefficients of the columns from those of the features, the last of which is explained: the intercept is first."""
    *explain, explained = features
    middle, half = _place(facts, explained)
    of, effect = np.zeros((len(explain), len(explain))), np.zeros(len(explain))
    of[0, 0] = half
    for place, feature in enumerate(explain[1:], start=1):
        (factor,) = feature.factors
        if isinstance(factor, Contrast):
            # Of two categories, at -1 and 1, the intercept is at the one, and the coefficient is the way to the other.
            two = len(factor.values) == 2
            of[place, place], effect[place] = half * (2 if two else 1), 1
            of[0, place] = -half if two else 0
        else:
            own, width = _place(facts, feature)
            of[place, place], effect[place] = half / width, 2 * width
            of[0, place] = -half * own / width
    start = np.zeros(len(explain))
    start[0] = middle
    return Outputs(of, start, effect)


def _place(facts: TableFacts, feature: Feature) -> tuple[float, float]:
    """The midpoint of the bounds of a number, and half of its range."""
    low, high = total_of(facts, feature.column, centred=True).bounds
    return float((low + high) / 2), float((high - low) / 2)


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientsRecipe:
    """The coefficients of a linear regression, from the moments of its features.

    Args:
        moments: of all pairs of features; the last one is explained by the others.
        outputs: the coefficients, from those of the features.
        limit: no coefficient is taken to be larger.
        fit: what is said of the fit as a whole; None where that is not asked for.
        drawn: whether intervals hold the coefficients of a population that rows are drawn from.
    """

    whole: ClassVar = False
    moments: Moments
    outputs: Outputs
    limit: Fraction
    fit: Fit | None
    drawn: bool

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.moments.query, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        """The largest effect of a noise over the range of a column, where rows are spread evenly over all bounds."""
        (half,) = self._solved(self.moments.expected(rows), noises).half
        matters = self.outputs.effect > 0
        most = float(np.max(half[matters] * self.outputs.effect[matters], initial=0.0))
        return min(most, float_up(self.limit))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        """The same: whatever the rows are there is no bound, because nothing may vary with a column."""
        return self.error(noises, max(1, size.rows))

    def unit(self, rows: int) -> str:
        return f"{in_a_group(rows)} spread evenly over the bounds"

    def accuracy(self, noises: Noises) -> str:
        return ", for the effect of a column from its least to its greatest value"

    def statements(self, noises: Noises) -> Statements:
        said = len(self.outputs.of) + (0 if self.fit is None else len(self.fit.names))
        return Statements({}, noises.cells * said, 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        normal = self.moments.normal(answers)
        found, most = self._solved(normal, answers.noises), float_up(self.limit)
        coefficients = (_within(found.value[:, one], found.half[:, one], most) for one in range(len(self.outputs.of)))
        return (*coefficients, *(() if self.fit is None else self.fit.estimates(normal, answers.noises)))

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}

    def _solved(self, normal: Normal, noises: Noises) -> Solved:
        law = law_of_parts(noises.law(self.moments.query))
        asked = Asked(self.outputs.of, self.moments.expected(1).values[0, :-1, :-1])
        failing = 1 - noises.level
        found = solve(normal, law, failing / 2 if self.drawn else failing, asked)
        # Hoeffding's inequality for Σ a_i y_i, Σ a_i² = ℓG⁻¹ℓ, and values of a feature, from -1 to 1 (V11).
        half = found.half + sqrt(2 * log(4 / failing)) * np.sqrt(found.spread) * (1 + _OUTWARD) if self.drawn else found.half
        return replace(found, value=found.value + self.outputs.start, half=half)


def _within(value: Floats, half: Floats, most: float) -> Estimate:
    """The coefficient with its interval, no end beyond what is taken to be possible."""
    shown = np.clip(value, -most, most)
    slack = _OUTWARD * (np.abs(value) + np.where(np.isfinite(half), half, 0.0))
    low = np.where(np.isfinite(half), np.clip(value - half - slack, -most, most), -most)
    high = np.where(np.isfinite(half), np.clip(value + half + slack, -most, most), most)
    return Estimate(shown, np.minimum(low, shown), np.maximum(high, shown))
