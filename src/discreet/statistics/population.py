"""Numbers of the population: a weighted statistic with a second interval, for its noise and the error of the draw together.

The first interval is that of the weighted file, and certified. The second one adds the variance of the draw, which the
design says how to estimate from noisy sums that are charged like all others, by a normal approximation: W10 of
docs/proofs/samples.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log, sqrt
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query
from discreet.exact.numbers import float_down, float_up
from discreet.statistics.designs import BERNSTEIN, NORMAL, Design
from discreet.statistics.estimate import Estimate
from discreet.statistics.population_tails import UPWARDS, deviation_of, part_of, quotients_within, sums_within
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Recipe, Statements

__all__ = ["SUMS", "BoundedSum", "DrawnQuotient", "DrawnShare", "DrawnSum", "PopulationRecipe", "quotient_weights"]

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats]


class Drawn(Protocol):
    """A number whose rows were drawn: the ends of its interval for the population."""

    def ends(self, answers: Answers, design: Design, failing: float) -> Ends:
        """The ends for each cell, which fail with about this probability if the design is as declared."""


@dataclass(frozen=True, slots=True, eq=False)
class PopulationRecipe:
    """The estimate of a recipe twice: with its own interval, and with one for the population.

    Args:
        inner: the recipe for the weighted file.
        design: how the rows were drawn.
        drawn: the number, and the sums behind the variance of its draw.
        queries: its queries with their weights: half of the spend for sums, 30 % for all moments.
    """

    whole: ClassVar = False
    inner: Recipe
    design: Design
    drawn: Drawn
    queries: tuple[tuple[Query, Fraction], ...]

    def error(self, noises: Noises, rows: int) -> float:
        return self.inner.error(noises, rows)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.inner.widest(noises, size)

    def unit(self, rows: int) -> str:
        return self.inner.unit(rows)

    def accuracy(self, noises: Noises) -> str:
        return f"{self.inner.accuracy(noises)} (noise alone; wider for the population, where {self.design.words()})"

    def statements(self, noises: Noises) -> Statements:
        """Each interval for the population fails as often as all statements behind one interval of the file together."""
        found = self.inner.statements(noises)
        return replace(found, own=found.own + noises.cells * found.single)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        (own,) = self.inner.estimates(answers)
        failing = float(1 - answers.noises.level) * self.inner.statements(answers.noises).single
        low, high = self.drawn.ends(answers, self.design, failing)
        return own, Estimate(own.value, np.minimum(low, own.low), np.maximum(high, own.high))

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        words = f"{self.design.tail}, where {self.design.words()}"
        return {**self.inner.told(noises, totals=totals), "population": words}


@dataclass(frozen=True, slots=True, eq=False)
class DrawnSum:
    """step · S, of which Σ (w − less)²x² · step² · per² and S² are the parts of the variance.

    Args:
        sums: the query for S.
        squares: the query for the squares.
        step: what a step of S is worth.
        per: what a root of a step of the squares is worth, in steps of S.
    """

    sums: Query
    squares: Query
    step: Fraction
    per: Fraction

    def ends(self, answers: Answers, design: Design, failing: float) -> Ends:
        laws = [answers.noises.law(query) for query in (self.sums, self.squares)]
        sums, squares = (answers.of(query)[0].astype(np.float64) for query in (self.sums, self.squares))
        variance = float(self.per) ** 2 * (squares + UPWARDS * deviation_of(laws[1]))
        if design.draws is not None:
            variance = variance - np.maximum(np.abs(sums) - UPWARDS * deviation_of(laws[0]), 0.0) ** 2 / design.draws
        half = sums_within(np.maximum(float(design.factor) * variance, 0.0), part_of(laws[0], (1.0, 0.0)), failing)
        step = float(self.step)
        slack = 1e-12 * np.abs(sums) * step
        return (sums - half) * step - slack, (sums + half) * step + slack


@dataclass(frozen=True, slots=True, eq=False)
class BoundedSum:
    """The same sum, with an interval that is proved for independent draws: Bernstein's inequality, and its empirical form.

    A fourth of what may fail is for each of both noises, for the variance, and for the error of the draw.
    """

    sums: Query
    squares: Query
    step: Fraction
    per: Fraction

    def ends(self, answers: Answers, design: Design, failing: float) -> Ends:
        each = failing / 4
        level = 1 - Fraction(each)
        noise, own = (answers.every(answers.noises.law(query).half_widths(level)) for query in (self.sums, self.squares))
        sums, squares = (answers.of(query)[0].astype(np.float64) for query in (self.sums, self.squares))
        scale, most = float(self.per) ** 2, float(max(map(abs, _reach(self.sums))))
        bound = scale * max(map(abs, _reach(self.squares))) * log(1 / each) / 2
        root = sqrt(bound) + np.sqrt(bound + np.maximum(scale * (squares + own.astype(np.float64)), 0.0))
        budget = log(2 / each)
        half = (noise.astype(np.float64) + sqrt(2 * budget) * root + most * budget / 3) * (1 + 1e-9)
        step = float(self.step)
        slack = 1e-12 * np.abs(sums) * step
        return (sums - half) * step - slack, (sums + half) * step + slack


SUMS: Mapping[str, type[DrawnSum] | type[BoundedSum]] = MappingProxyType({NORMAL: DrawnSum, BERNSTEIN: BoundedSum})
"""How the interval of a sum is found, by what its ends rest on."""


def _reach(query: Any) -> tuple[int, int]:
    """The least and the greatest integer that a row adds."""
    reach: tuple[int, int] = query.reach()
    return reach


@dataclass(frozen=True, slots=True, eq=False)
class DrawnQuotient:
    """origin + unit · S/N; the variance of S − tN is that of Σ (w − less)²(x − tz)² = Q₂ − 2tQ₁ + t²Q₀.

    Args:
        sums: the query for S.
        counts: the query for N.
        moments: the queries for Q₂, Q₁ and Q₀.
        per: what a root of a step of the moments is worth, in steps of S.
        unit: what a step of the quotient is worth.
        origin: what a quotient of 0 is worth.
        possible: the least and the greatest quotient S/N.
    """

    sums: Query
    counts: Query
    moments: tuple[Query, Query, Query]
    per: Fraction
    unit: Fraction
    origin: Fraction
    possible: tuple[Fraction, Fraction]

    def ends(self, answers: Answers, design: Design, failing: float) -> Ends:
        noises = answers.noises
        deviations = [deviation_of(noises.law(query)) for query in self.moments]
        second, first, none = (answers.of(query)[0].astype(np.float64) for query in self.moments)
        scale = float(design.factor * self.per**2)

        def variance(t: Floats) -> Floats:
            own = (deviations[0] ** 2 + (2 * t * deviations[1]) ** 2 + (t * t * deviations[2]) ** 2) ** 0.5
            return np.asarray(scale * (second - 2 * t * first + t * t * none + UPWARDS * own))

        sums, counts = (answers.of(query)[0].astype(np.float64) for query in (self.sums, self.counts))
        parts = [part_of(noises.law(self.sums), (1.0, 0.0)), part_of(noises.law(self.counts), (0.0, 1.0))]
        possible = float_down(self.possible[0]), float_up(self.possible[1])
        found = quotients_within(sums, counts, parts, variance, ends=possible, failing=failing)
        low, high = (float(self.origin + self.unit * end) for end in self.possible)
        placed = [np.clip(float(self.origin) + float(self.unit) * end, low, high) for end in found]
        return placed[0], placed[1]


def quotient_weights(sums: Query, counts: Query, moments: tuple[Query, ...]) -> tuple[tuple[Query, Fraction], ...]:
    """Half of the spend for the sums, 20 % for what they are divided by, and 10 % for each of three moments.

    A variance that is 30 % off moves the width of an interval by about 14 %.
    """
    return (counts, Fraction(2, 5)), (sums, Fraction(1)), *((moment, Fraction(1, 5)) for moment in moments)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnShare:
    """The weights of a cell over those of all cells: the variance of S − tN is (1 − 2t)·Q of the cell + t²·Q of all.

    Args:
        sizes: the query for the weights.
        squares: the query for (w − less)².
        per: what a root of a step of the squares is worth, in steps of the weights.
    """

    sizes: Query
    squares: Query
    per: Fraction

    def ends(self, answers: Answers, design: Design, failing: float) -> Ends:
        law, deviation = answers.noises.law(self.sizes), deviation_of(answers.noises.law(self.squares))
        others = answers.noises.cells - 1
        sizes, squares = (answers.of(query)[0].astype(np.float64) for query in (self.sizes, self.squares))
        all_sizes, all_squares = (
            float(np.sum(answers.values[query].astype(np.float64))) for query in (self.sizes, self.squares)
        )
        scale = float(design.factor * self.per**2)

        def variance(t: Floats) -> Floats:
            own = deviation * ((1 - t) ** 4 + others * t**4) ** 0.5
            return np.asarray(scale * ((1 - 2 * t) * squares + t * t * all_squares + UPWARDS * own))

        parts = [part_of(law, (1.0, -1.0)), part_of(law, (0.0, 1.0), sqrt(others))]
        return quotients_within(sizes, np.full_like(sizes, all_sizes), parts, variance, ends=(0.0, 1.0), failing=failing)
