"""The means of several columns and the number of rows behind them, from one vector of sums with one noise.

A row adds 1 to the count and a number to each sum. Under ε the noise of such a vector is made for its largest number and not
for the sum of all: with K columns of a free count the deviation is √((K + 2)(K + 3)/3) instead of (K + 1)·√2 in units of a
range (V7 and V8 in docs/proofs/vectors.md). Each interval holds by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query
from discreet.domain.steps import TableFacts
from discreet.errors import PlanError
from discreet.exact.figures import enumerate_texts
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount
from discreet.mechanisms import CellLaw, Sensitivity, law_of_parts
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Reads, Shape, Statistic
from discreet.statistics.common import check_weight, option_string, skipped_words, skips_nulls
from discreet.statistics.estimate import Estimate
from discreet.statistics.joint_noise import half_width_of_laws
from discreet.statistics.matrices import ManyNumbers, NamedParts, columns_of, written_columns
from discreet.statistics.moments import CONSTANT, Moments, Normal, moments_of, number_feature, vector_of
from discreet.statistics.possible import Bounds, Ends, Possible
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Statements, in_a_group
from discreet.statistics.totals import total_of

__all__ = ["Means", "MeansRecipe", "means"]

Floats = NDArray[np.float64]

COUNT = "count"
_OUTWARD = 2.0**-40
"""More than the roundings of a quotient and of its way to the units of a column."""


def means(columns: Sequence[str], *, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The means of several numeric columns in each group, and the number of rows in which all of them are known.

    Count and sums have one noise. Columns of the release are called `<name>_count` and `<name>_<column>`.

    Args:
        columns: two columns or more.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip" leaves out the rows in which one of the columns is null.

    Raises:
        PlanError: not the names of different columns, or one of them is called count.
    """
    names = columns_of("means", columns)
    if COUNT in names:
        raise PlanError("means(): a column is called count, as the number of rows is; rename it")
    return Statistic(Means(names), None, "means", check_weight(weight), skips_nulls(nulls))


def _parts(one: Statistic) -> tuple[str, ...]:
    """The ends of the names: the number of rows, and one number for each column."""
    return COUNT, *one.kind.reads.columns(one)


def _possible(shown: Mapping[str, Any], ends: Ends) -> Bounds:
    """A count is not negative and has no bound above; a mean is within the bounds of its column."""
    lows = [ends[name][0] for name in shown["columns"] if name in ends]
    return min(lows, default=Fraction(0)) if lows and min(lows) < 0 else Fraction(0), None


@dataclass(frozen=True, slots=True)
class Means:
    """The sum of each column over the number of rows in which all are known, and this number."""

    names: tuple[str, ...]

    word: ClassVar = "means"
    noun: ClassVar = "Means"
    keys: ClassVar = Keys(written_columns, {}, {"nulls": option_string}, lacks='needs columns: write { means = ["x", "y"] }')
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(_possible)
    counts: ClassVar = False
    reads: ClassVar[Reads] = ManyNumbers()
    shape: ClassVar[Shape] = NamedParts(_parts, lambda one: len(_parts(one)))
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return means(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        names = [shown_name(column) for column in shown["columns"]]
        skipped = skipped_words(shown)
        if not part:
            return f"{Means.noun} of {enumerate_texts(names)}{skipped}"
        place = shown["parts"].index(part)
        return f"Mean of {names[place - 1]}{skipped}" if place else f"Rows of the means of {enumerate_texts(names)}{skipped}"

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        alone, apart = vector_of(_features(facts, self.names), self.names, _with_constant).norms(frozenset())
        return free.of_moves(apart, (2 * alone[0], 2 * alone[1]), alone)

    def recipe(self, one: Statistic, asked: Asked) -> MeansRecipe:
        moments = moments_of(asked, _features(asked.facts, self.names), columns=self.names, weight=_with_constant)
        places = [total_of(asked.facts, name, centred=True).bounds for name in self.names]
        return MeansRecipe(moments, tuple(((low + high) / 2, (high - low) / 2) for low, high in places))


def _features(facts: TableFacts, columns: Sequence[str]) -> list[Any]:
    return [CONSTANT, *(number_feature(facts, column) for column in columns)]


def _with_constant(i: int, j: int) -> Fraction | None:
    """Only sums and the count are asked for, all alike."""
    return Fraction(1) if min(i, j) == 0 else None


@dataclass(frozen=True, slots=True, eq=False)
class MeansRecipe:
    """Each sum over the count, with values taken from the midpoint of their range.

    Args:
        moments: the count and the sums, as those of the constant 1 and of each column.
        places: for each column the midpoint of its range, and half of its width.
    """

    whole: ClassVar = False
    moments: Moments
    places: tuple[tuple[Fraction, Fraction], ...]

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.moments.query, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        """Half of the widest interval of a mean, of rows that are spread evenly over all bounds."""
        found = self._estimates(self.moments.expected(rows), noises)[1:]
        return float(max(np.max(one.high - one.low) for one in found)) / 2

    def widest(self, noises: Noises, size: GroupSize) -> float:
        """The same with the noise of a count that may be as far off as the sum."""
        return self.error(noises, max(1, size.rows))

    def unit(self, rows: int) -> str:
        return f"{in_a_group(rows)} spread evenly over the bounds"

    def accuracy(self, noises: Noises) -> str:
        return ", for a mean"

    def statements(self, noises: Noises) -> Statements:
        return Statements({}, noises.cells * len(self.moments.features), 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return self._estimates(self.moments.normal(answers), answers.noises)

    def _estimates(self, normal: Normal, noises: Noises) -> tuple[Estimate, ...]:
        law, failing = law_of_parts(noises.law(self.moments.query)), 1 - noises.level
        off = half_width_of_laws(law, [_factor(normal, 0)], failing) if normal.part[0, 0] >= 0 else 0.0
        count = normal.values[:, 0, 0]
        low, high = np.maximum(count - off, 0.0), np.maximum(count + off, 0.0)
        found = [Estimate(np.clip(count, low, high), low, high)]
        for place, (middle, half) in enumerate(self.places, start=1):
            found.append(_in_units(_quotient(normal, place, law, failing), float(middle), float(half)))
        return tuple(found)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def _factor(normal: Normal, place: int) -> Floats:
    """The size of the noise of a moment with the constant, of every cell."""
    return np.full(len(normal.values), normal.scale[0, place] * (1 + 2.0**-50))


def _quotient(normal: Normal, place: int, law: CellLaw, failing: Fraction) -> Estimate:
    """A mean μ in [-1, 1] with its interval: S - μN is off by the noise e - μf alone, of which μ is a fixed number (V9).

    Its half-width grows with |μ|: first for |μ| = 1, then for what that leaves of μ.
    """
    sums, count = normal.values[:, 0, place], normal.values[:, 0, 0]
    own, of_count = _factor(normal, place), _factor(normal, 0)
    near = np.ones(len(sums))
    low, high = -np.ones(len(sums)), np.ones(len(sums))
    enough = np.maximum(count, 1.0)
    for _ in range(2):
        factors = [own] if normal.part[0, 0] < 0 else [own, near * of_count]
        wide = half_width_of_laws(law, factors, failing) * (1 + _OUTWARD)
        # Without rows that are counted nothing is known: S - μN within a width says nothing about μ where N ≤ 0.
        low = np.where(count > 0, np.clip((sums - wide) / enough, -1.0, 1.0), -1.0)
        high = np.where(count > 0, np.clip((sums + wide) / enough, -1.0, 1.0), 1.0)
        low, high = np.where((count > 0) & (count < 1), -1.0, low), np.where((count > 0) & (count < 1), 1.0, high)
        near = np.maximum(np.abs(low), np.abs(high))
    value = np.clip(sums / enough, -1.0, 1.0)
    return Estimate(value, np.minimum(low, value), np.maximum(high, value))


def _in_units(one: Estimate, middle: float, half: float) -> Estimate:
    """From [-1, 1] to the units of a column, its bounds included, and outwards by what is rounded."""
    least, most = middle - half, middle + half
    slack = _OUTWARD * (abs(middle) + half)
    value = np.clip(middle + half * one.value, least, most)
    low, high = middle + half * one.low - slack, middle + half * one.high + slack
    return Estimate(value, np.minimum(np.clip(low, least, most), value), np.maximum(np.clip(high, least, most), value))
