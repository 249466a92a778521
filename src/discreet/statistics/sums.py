"""The sum of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.cube.queries import Query
from discreet.domain.steps import TableFacts
from discreet.exact.numbers import Amount, common_denominator
from discreet.mechanisms import Sensitivity, law_of_cell
from discreet.noise.single.sums import SumOfNoises
from discreet.statistics.base import UNBIASED, Asked, Completed, Extended, Free, Keys, Reads, Shape, Statistic
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
from discreet.statistics.completed_sums import CompletedSumRecipe
from discreet.statistics.completions import find_missing
from discreet.statistics.counted import PublicCount, find_count
from discreet.statistics.estimate import Estimate, outward
from discreet.statistics.originals import parts_of, weight_beside, weight_of_nulls
from discreet.statistics.person_values import SumPerPerson, bounds_of, option_bounds
from discreet.statistics.possible import Possible, any_value
from discreet.statistics.recipe import Answers, Counted, CountTable, GroupSize, Noises, Statements, noise_statements
from discreet.statistics.totals import Parts, sums_apart

__all__ = ["Sum", "SumRecipe", "noises_add_up", "sum_estimate", "sum_of"]


def sum_of(
    column: str, *, weight: Amount = 1, nulls: str | None = None, per_person: tuple[Amount, Amount] | None = None
) -> Statistic:
    """The sum of a numeric column in each group; `nulls="skip"` lets nulls contribute 0 in a column that has them.

    With `per_person=(low, high)`, on a table whose neighbours differ in all rows of a person, it is the sum of what each
    person has in the group, moved to the nearest of the two bounds; nulls contribute 0 there.
    """
    name, skips = f"sum_{check_column_name(column)}", skips_nulls(nulls)
    if per_person is not None:
        return Statistic(SumPerPerson(bounds_of(per_person)), column, name, check_weight(weight), skip_nulls=True)
    return Statistic(Sum(), column, name, check_weight(weight), skips)


def _complete(one: Statistic, asked: Asked) -> CompletedSumRecipe:
    total = parts_of(asked, one.column, centred=True)
    beside, missing = weight_beside(asked, total), find_missing(asked, one.column)
    return CompletedSumRecipe(total, missing, beside, weight_of_nulls(asked, total))


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of the column."""

    word: ClassVar = "sum"
    noun: ClassVar = "Sum"
    keys: ClassVar = Keys(one_column, {}, {"nulls": option_string, "per_person": option_bounds}, interview=True)
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(any_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = NumberColumn("sums")
    shape: ClassVar[Shape] = OneNumber()
    completed: ClassVar[tuple[Completed, ...]] = (_complete,)
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return sum_of(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part or Sum.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return sums_apart(one, facts, free)

    def recipe(self, one: Statistic, asked: Asked) -> SumRecipe:
        # Values are taken from the midpoint of their range where a count is at hand to move them back.
        completed = any(other.kind.word == Sum.word and other.column == one.column for other in asked.completed)
        centred = asked.twin(one.column) is not None or completed or _is_counted_anyway(one, asked)
        total, count = parts_of(asked, one.column, centred=centred), find_count(asked, one.column)
        uncounted: Counted = PublicCount(0)
        beside = total.weight if asked.originals is None else weight_beside(asked, total)
        counted = tuple((query, beside) for query in count.queries) if centred else ()
        return SumRecipe(total, count if total.origin else uncounted, counted)


def _is_counted_anyway(one: Statistic, asked: Asked) -> bool:
    """True if the count behind the sum is public, or asked by another statistic of the request at no extra cost."""
    if asked.public(one.column) is not None:
        return True
    counted_ones = (other for other in asked.statistics if other.kind.counts)
    return any(asked.count_query(other.column) == asked.count_query(one.column) for other in counted_ones)


@dataclass(frozen=True, slots=True, eq=False)
class SumRecipe:
    """unit·total + origin·count.

    Args:
        total: the sum of integers.
        count: the number of rows; 0 where the origin is.
        counted: the queries of the count with their weights, also where it is moved by 0 only.
    """

    whole: ClassVar = False
    total: Parts
    count: Counted
    counted: tuple[tuple[Query, Fraction], ...]

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return (*self.counted, *((query, weight) for query, _, weight in self.total.parts))

    @property
    def parts(self) -> tuple[Query, ...]:
        """The noises that the sum is made of."""
        return (*self.total.queries, *self.count.queries)

    def error(self, noises: Noises, rows: int) -> float:
        widest = int(np.max(self.half_widths(noises), initial=0))
        return float(Fraction(widest, self._scale))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        if noises_add_up(noises, self.parts):
            return Statements({}, noises.cells, 1)
        return noise_statements(noises, self.parts)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        sums, counts = self.total.added(answers), self.count.counts(answers)[0]
        half = answers.every(self.half_widths(answers.noises))
        return (sum_estimate(sums, counts, half, unit=self.total.unit, origin=self.total.origin),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}

    @property
    def _scale(self) -> int:
        return common_denominator([self.total.unit, self.total.origin])

    def half_widths(self, noises: Noises) -> int | Integers:
        """A w with P(|unit·(noise of the sum) + origin·(noise of the count)| ≤ w/scale) ≥ level, for all cells or each.

        `scale` is the common denominator of unit and origin. Where both noises are independent, w comes from the law of
        their sum; else each of them has to lie within its own half-width.
        """
        of_sum, of_count = (abs(int(part * self._scale)) for part in (self.total.unit, self.total.origin))
        factors: dict[Query, int] = {query: factor * of_sum for query, factor, _ in self.total.parts}
        factors |= dict.fromkeys(self.count.queries, of_count)
        if noises_add_up(noises, self.parts):
            return _half_widths_of_sum(noises, factors)
        wide: int | Integers = 0
        for query, factor in factors.items():
            wide = wide + factor * np.asarray(noises.half_widths(query), dtype=np.object_)
        return wide


def noises_add_up(noises: Noises, parts: Sequence[Query]) -> bool:
    """True if a sum is put together from two noises that are independent from cell to cell."""
    return len(parts) > 1 and noises.are_independent(parts)


def _half_widths_of_sum(noises: Noises, factors: Mapping[Query, int]) -> int | Integers:
    """The half-widths of the sum of independent noises, each times its factor."""
    laws = {query: noises.law(query) for query in factors}
    weighed = tuple((factor, law_of_cell(laws[query])) for query, factor in factors.items())
    # Two bounds of one width: the smaller one is as good as the other, because both are known before anything is drawn.
    apart = sum(factor * law.half_width(1 - (1 - noises.level) / 2) for factor, law in weighed)
    found = min(apart, SumOfNoises(weighed).half_width(noises.level))
    for law in laws.values():
        if law.held is not None:
            widths = np.asarray(law.half_widths(noises.level), dtype=np.object_)  # 0 where there is no noise
            widths[law.held] = found
            return widths
    return found


def sum_estimate(
    total: NDArray[Any], count: NDArray[Any], half: NDArray[Any], *, unit: Fraction, origin: Fraction
) -> Estimate:
    """The unbiased sum unit·S + origin·N, which may lie outside the possible range, with its interval.

    `half` is the half-width of its noise in each cell, in steps of one over the common denominator of unit and origin.
    """
    scale = common_denominator([unit, origin])
    step, middle = int(unit * scale), int(origin * scale)
    largest = _largest(total) * abs(step) + _largest(count) * abs(middle) + _largest(half)
    kind: Any = np.int64 if largest < 2**62 and max(abs(step), abs(middle)) < 2**62 else np.object_
    scaled = total.astype(kind) * step + count.astype(kind) * middle
    reach = half.astype(kind)
    ends = [outward(scaled - reach, scale, -np.inf), outward(scaled + reach, scale, np.inf)]
    return Estimate(scaled.astype(np.float64) / scale, *ends)


def _largest(values: NDArray[Any]) -> int:
    return max(int(values.max(initial=0)), -int(values.min(initial=0)))
