"""The variance of a column with any answer of those who gave none (O10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query
from discreet.statistics.completions import Missing, half_width_of
from discreet.statistics.estimate import Estimate
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Recipe, Statements, in_a_group
from discreet.statistics.totals import Total

__all__ = ["CompletedVarianceRecipe", "completed_variance"]

_SLACK = 1e-12

Floats = NDArray[np.float64]
Range = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class CompletedVarianceRecipe:
    """From N/(N + K) of the recorded variance to that with K values at the ends of the range.

    Args:
        recorded: the recipe of the known values alone.
        total: their sum.
        missing: the rows without a value.
    """

    whole: ClassVar = False
    recorded: Recipe
    total: Total
    missing: Missing

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return (*self.recorded.queries, *((query, Fraction(1)) for query in self.missing.asked))

    def error(self, noises: Noises, rows: int) -> float:
        return self.recorded.error(noises, rows)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        # What may be added depends on the rows without a value, of which there may be any number: all that is possible.
        low, high = self.total.bounds
        return float((high - low) ** 2 / 8) if self.total.queries else 0.0

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return ", with any answer of those who gave none"

    def statements(self, noises: Noises) -> Statements:
        # One about each of three noises, and one about that of all rows without a value.
        each = len(self.recorded.queries) + 1
        return Statements({}, noises.cells * each, each)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        (recorded,) = self.recorded.estimates(answers)
        total = self.total
        if not total.queries:
            return (recorded,)
        known = answers.values[self.missing.known]
        nulls, others = self.missing.counts(answers, known)
        missing = (nulls + others).astype(np.float64)
        counts, dn = (part.astype(np.float64) for part in answers.of(self.missing.known))
        half = float(half_width_of(answers.noises, self.missing.terms(0, 1, 1), 1 - answers.noises.level))
        ends = [_range(*answers.of_each(queries)) for queries in (total.queries, total.squares)]
        rows = None if self.missing.rows is None else float(self.missing.rows)
        found = completed_variance(
            ends[0], ends[1], (counts - dn, counts + dn), missing + half, rows, shift=float(total.shift), reach=total.reach
        )
        scale = float(total.unit**2)
        fewest = np.maximum(counts - dn, 0.0)
        most = np.maximum(missing + half, 0.0)
        whole = fewest + most if rows is None else np.full(fewest.shape, rows)
        part = np.where(fewest >= 1, fewest / np.maximum(whole, 1.0), 0.0)
        low = recorded.low * np.minimum(part, 1.0) * (1 - 2.0**-50)
        high = scale * found * (1 + 2.0**-50)
        return (Estimate(recorded.value, np.minimum(low, recorded.value), np.maximum(high, recorded.value)),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def _range(values: NDArray[np.float64], half: NDArray[np.float64]) -> Range:
    middle, reach = values.astype(np.float64), half.astype(np.float64)
    return middle - reach, middle + reach


def completed_variance(
    sums: Range, squares: Range, counts: Range, missing: Floats, rows: float | None, *, shift: float, reach: tuple[int, int]
) -> Floats:
    """The greatest variance, in squared steps, of N known values with K more that are anywhere within the range.

    With values in [−a, a] the K more are at its ends, and their sum s is any number of [−aK, aK]: V ≤ (Q + a²K)/(N + K) −
    (max(|S| − aK, 0)/(N + K))². That grows with K, with Q and as |S| falls; in N it is greatest at an end of its range or
    where its derivative is 0.

    Args:
        sums: the least and the greatest possible sum S of the known values.
        squares: of their squares, less `shift` for each of them.
        counts: of their number N.
        missing: the greatest possible number of others.
        rows: N + K, where it is public.
        shift: the number that was taken from every square.
        reach: the least and the greatest value; one is the other with its sign changed.
    """
    low, high = (float(end) for end in reach)
    a, most = max(abs(low), abs(high)), (high - low) ** 2 / 4
    extra = np.maximum(missing, 0.0)
    near = np.maximum(np.maximum(np.maximum(sums[0], -sums[1]), 0.0) - a * extra, 0.0)
    more = squares[1] + extra * (a**2 - shift)
    if rows is None:
        first, last = (np.maximum(end, 0.0) + extra for end in counts)
        first, last = np.maximum(first, 1.0), np.maximum(last, 1.0)
    else:
        first = last = np.full(near.shape, max(rows, 1.0))
    turn = np.clip(2 * near**2 / np.maximum(more, 1.0), first, last)
    top = np.maximum.reduce([more / size - (near / size) ** 2 for size in (first, turn, last)])
    slack = _SLACK * (np.abs(more) / first + (near / first) ** 2 + abs(shift))
    found = np.clip(top + shift + slack, 0.0, most)
    return np.asarray(np.where((counts[0] < 1) & (rows is None), most, found))
