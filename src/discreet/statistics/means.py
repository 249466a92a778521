"""The mean of a column within its bounds: origin + unit · total / count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query
from discreet.domain.steps import TableFacts
from discreet.exact.numbers import Amount, float_up
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Reads, Shape, Statistic
from discreet.statistics.common import (
    NumberColumn,
    OneNumber,
    check_column_name,
    check_weight,
    one_column,
    option_string,
    skips_nulls,
    title,
)
from discreet.statistics.completed_means import CompletedMeanRecipe
from discreet.statistics.completions import find_missing
from discreet.statistics.counted import SummedCount, find_count
from discreet.statistics.estimate import Estimate, quotient_range
from discreet.statistics.originals import nulls_beside, parts_of, weight_beside, weight_of_nulls
from discreet.statistics.person_values import MeanPerPerson, bounds_of, option_bounds
from discreet.statistics.possible import Possible, column_value
from discreet.statistics.recipe import (
    Answers,
    Counted,
    CountTable,
    GroupSize,
    Noises,
    Statements,
    add_errors,
    in_a_group,
    noise_statements,
)
from discreet.statistics.tilted_means import TiltedMeanRecipe
from discreet.statistics.totals import Total, sums_apart, total_of
from discreet.statistics.widest import quotient_width

__all__ = ["Mean", "MeanRecipe", "mean", "mean_estimate"]


def mean(
    column: str, *, weight: Amount = 1, nulls: str | None = None, per_person: tuple[Amount, Amount] | None = None
) -> Statistic:
    """The mean of a numeric column in each group, within its bounds; `nulls="skip"` averages the non-null values.

    With `per_person=(low, high)`, on a table whose neighbours differ in all rows of a person, it is the mean of what each
    person with a value has in the group: the sum of this person's values, moved to the nearest of the two bounds.
    """
    name, skips = f"mean_{check_column_name(column)}", skips_nulls(nulls)
    if per_person is not None:
        return Statistic(MeanPerPerson(bounds_of(per_person)), column, name, check_weight(weight), skip_nulls=True)
    return Statistic(Mean(), column, name, check_weight(weight), skips)


def _complete(one: Statistic, asked: Asked) -> CompletedMeanRecipe:
    total = parts_of(asked, one.column, centred=True)
    beside, missing = weight_beside(asked, total), find_missing(asked, one.column)
    return CompletedMeanRecipe(total, missing, beside, weight_of_nulls(asked, total))


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of the column, within its bounds."""

    word: ClassVar = "mean"
    noun: ClassVar = "Mean"
    keys: ClassVar = Keys(one_column, {}, {"nulls": option_string, "per_person": option_bounds}, interview=True)
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(column_value)
    counts: ClassVar = True
    reads: ClassVar[Reads] = NumberColumn("sums")
    shape: ClassVar[Shape] = OneNumber()
    completed: ClassVar[tuple[Completed, ...]] = (_complete,)
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return mean(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part or Mean.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return sums_apart(one, facts, free)

    def recipe(self, one: Statistic, asked: Asked) -> MeanRecipe | TiltedMeanRecipe:
        count = find_count(asked, one.column)
        if asked.originals is None:
            return MeanRecipe(total_of(asked.facts, one.column, centred=True), count)
        total = parts_of(asked, one.column, centred=True)
        beside = weight_beside(asked, total)
        nulls = nulls_beside(asked, one.column)
        if nulls and count.queries:
            # Known rows are counted for the other table, and a row that is null is in no query of that.
            return TiltedMeanRecipe(total, SummedCount(nulls), (beside, total.parts[-1][2]))
        return TiltedMeanRecipe(total, count, tuple(beside for _ in count.queries))


@dataclass(frozen=True, slots=True, eq=False)
class MeanRecipe:
    """origin + unit·total/count, with values taken from the midpoint of their range."""

    whole: ClassVar = False
    total: Total
    count: Counted

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return tuple((query, Fraction(1)) for query in (*self.count.queries, *self.total.queries))

    def error(self, noises: Noises, rows: int) -> float:
        return add_errors(noises, (self.total.queries, self.total.unit / rows))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        low, high = self.total.reach
        most = Fraction(high - low, 2)
        asked = ((query, max(abs(low), abs(high))) for query in self.total.queries)
        widths = [quotient_width(noises, one, self.count, size.rows) for one in asked]
        found = max((most if width is None else min(width, most) for width in widths), default=Fraction(0))
        return float_up(found * abs(self.total.unit))

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (*self.total.queries, *self.count.queries))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        sums, counts, total = answers.of_each(self.total.queries), self.count.counts(answers), self.total
        return (mean_estimate(*sums, *counts, unit=total.unit, origin=total.origin, bounds=total.bounds),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def mean_estimate(
    total: NDArray[Any],
    s: NDArray[Any],
    count: NDArray[Any],
    n: NDArray[Any],
    *,
    unit: Fraction,
    origin: Fraction,
    bounds: tuple[Fraction, Fraction],
) -> Estimate:
    """The mean origin + unit·S/N clipped into `bounds`, never null.

    Where the count may be below 1, the interval is the whole range; the value then divides by at least 1.
    """
    step, middle = float(unit), float(origin)
    low, high = (float(bound) for bound in bounds)
    sums, counts, s, n = (part.astype(np.float64) for part in (total, count, s, n))
    value = np.clip(middle + step * sums / np.maximum(counts, 1.0), low, high)
    least, greatest = quotient_range(sums, s, counts, n)
    bottom, top = middle + step * least, middle + step * greatest
    open_range = counts - n < 1
    bottom = np.where(open_range, low, np.clip(_wider(bottom, -np.inf, middle), low, high))
    top = np.where(open_range, high, np.clip(_wider(top, np.inf, middle), low, high))
    return Estimate(value, np.minimum(bottom, value), np.maximum(top, value))


def _wider(ends: NDArray[np.float64], towards: float, middle: float) -> NDArray[np.float64]:
    """A relative 1e-12 outwards covers the few roundings of the expression, cancellation with `middle` included."""
    slack = 1e-12 * (np.abs(ends) + 2 * abs(middle))
    return ends + np.copysign(slack, towards)
