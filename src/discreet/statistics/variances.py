"""The variance of a column, and its root, the standard deviation: never NaN and always within what is possible.

With f = (x - origin)/unit the variance is unit²·(Q/N + shift - (S/N)²), where Q is a noisy sum of f² - shift, S one of f,
and N a noisy or public count. Half-widths hold together with the stated probability; the interval is the range of the
expression over that box, cut by what is possible. Where the number of rows is public and nobody asks for the sum, the
squared distances of all pairs of rows are one number with its own noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Dispersion, Query
from discreet.domain.steps import TableFacts
from discreet.errors import ArgumentError, PlanError, printed
from discreet.exact.numbers import Amount, float_up
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Need, Reads, Shape, Statistic, Written
from discreet.statistics.common import (
    NumberColumn,
    OneNumber,
    check_column_name,
    check_weight,
    largest_of,
    number_of,
    one_column,
    option_string,
    skips_nulls,
    title,
)
from discreet.statistics.completed_variances import CompletedVarianceRecipe
from discreet.statistics.completions import find_missing
from discreet.statistics.counted import find_count
from discreet.statistics.dispersion import DispersionRecipe
from discreet.statistics.estimate import Estimate
from discreet.statistics.joint_variance import JointVarianceRecipe
from discreet.statistics.person_values import bounds_of, option_bounds
from discreet.statistics.person_variances import StdPerPerson, VariancePerPerson
from discreet.statistics.possible import Possible, root, spread
from discreet.statistics.recipe import (
    Answers,
    Counted,
    CountTable,
    GroupSize,
    Noises,
    Recipe,
    Statements,
    add_errors,
    in_a_group,
    noise_statements,
)
from discreet.statistics.totals import Total, sums_apart, total_of, values_apart
from discreet.statistics.widest import product_width, quotient_width, root_width

__all__ = [
    "RootRecipe",
    "Std",
    "Variance",
    "VarianceRecipe",
    "root_estimate",
    "std",
    "variance",
    "variance_estimate",
]

BOX, JOINT = "box", "joint"
"""The sources of an interval: the half-widths of all noises, or the law of their combination."""

_SLACK = 1e-12

Floats = NDArray[np.float64]

_OPTIONS: Mapping[str, Callable[[Written], Any]] = MappingProxyType(
    {"nulls": option_string, "interval": option_string, "per_person": option_bounds}
)


def variance(
    column: str,
    *,
    interval: str = BOX,
    weight: Amount = 1,
    nulls: str | None = None,
    per_person: tuple[Amount, Amount] | None = None,
) -> Statistic:
    """The variance of a numeric column in each group (divided by the number of rows, not by one less).

    `interval` is "joint" for intervals from the joint law of the noises, which are narrower at the same spend; else
    they are the range over the half-widths of all noises, as in 0.1.0.

    With `per_person=(low, high)`, on a table whose neighbours differ in all rows of a person, it is the variance of what
    persons with a value have in the group: the sum of their values, moved to the nearest of the two bounds.
    """
    name, skips = f"variance_{check_column_name(column)}", skips_nulls(nulls)
    kind, own = Variance(_interval(interval)), None if per_person is None else bounds_of(per_person)
    return Statistic(
        kind if own is None else VariancePerPerson(own), column, name, check_weight(weight), skips or own is not None
    )


def std(
    column: str,
    *,
    interval: str = BOX,
    weight: Amount = 1,
    nulls: str | None = None,
    per_person: tuple[Amount, Amount] | None = None,
) -> Statistic:
    """The standard deviation of a numeric column in each group: the root of `variance`, with its `interval` and bounds."""
    name, skips = f"std_{check_column_name(column)}", skips_nulls(nulls)
    kind, own = Std(_interval(interval)), None if per_person is None else bounds_of(per_person)
    return Statistic(
        kind if own is None else StdPerPerson(own), column, name, check_weight(weight), skips or own is not None
    )


def _interval(given: str) -> str:
    """The source of the interval. Raises ArgumentError for another word."""
    if given not in (BOX, JOINT):
        raise ArgumentError(f'interval={printed(given)}: must be "{JOINT}", or left out for "{BOX}"')
    return given


def _source_json(one: Statistic) -> dict[str, object]:
    """The source of the interval in plan and document, where it is not the one of 0.1.0."""
    kind: Any = one.kind
    return {} if kind.interval == BOX else {"interval": kind.interval}


def _complete(one: Statistic, asked: Asked) -> CompletedVarianceRecipe:
    """Over the box of all noises. Raises PlanError for an interval from their joint law."""
    kind: Any = one.kind
    if kind.interval != BOX:
        raise PlanError(f"original('anywhere'): '{one.name}' has no joint interval; leave out interval=\"{JOINT}\"")
    total = total_of(asked.facts, one.column, centred=True)
    recorded = VarianceRecipe(total, find_count(asked, one.column))
    return CompletedVarianceRecipe(recorded, total, find_missing(asked, one.column))


def _completed_root(one: Statistic, asked: Asked) -> RootRecipe:
    return RootRecipe(_complete(one, asked))


@dataclass(frozen=True, slots=True)
class Variance:
    """The mean squared distance from the mean (divided by the number of rows, not by one less)."""

    interval: str = BOX

    word: ClassVar = "variance"
    noun: ClassVar = "Variance"
    keys: ClassVar = Keys(one_column, {}, _OPTIONS, interview=True, advised={"interval": JOINT})
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(spread)
    counts: ClassVar = True
    reads: ClassVar[Reads] = NumberColumn("codes")
    shape: ClassVar[Shape] = OneNumber(_source_json)
    completed: ClassVar[tuple[Completed, ...]] = (_complete,)
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return variance(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part or Variance.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        squares = free.of_values(0, max(end**2 for end in values_apart(one, facts)), may_skip=True)
        return largest_of(sums_apart(one, facts, free), squares)

    def recipe(self, one: Statistic, asked: Asked) -> VarianceRecipe | JointVarianceRecipe | DispersionRecipe:
        dispersion = _dispersion(one, asked)
        if dispersion is not None:
            _, grid = number_of(asked.facts, one.column)
            return DispersionRecipe(dispersion, grid.step)
        total, count = total_of(asked.facts, one.column, centred=True), find_count(asked, one.column)
        return (
            JointVarianceRecipe(total, count) if total.queries and self.interval == JOINT else VarianceRecipe(total, count)
        )


@dataclass(frozen=True, slots=True)
class Std:
    """The square root of the variance."""

    interval: str = BOX

    word: ClassVar = "std"
    noun: ClassVar = "Standard deviation"
    keys: ClassVar = Keys(one_column, {}, _OPTIONS, interview=True, advised={"interval": JOINT})
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(root)
    counts: ClassVar = True
    reads: ClassVar[Reads] = NumberColumn("codes")
    shape: ClassVar[Shape] = OneNumber(_source_json)
    completed: ClassVar[tuple[Completed, ...]] = (_completed_root,)
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return std(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part or Std.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return Variance().span(one, facts, free)

    def recipe(self, one: Statistic, asked: Asked) -> RootRecipe:
        return RootRecipe(Variance(self.interval).recipe(one, asked))


def _dispersion(one: Statistic, asked: Asked) -> Dispersion | None:
    """The variance as one number, where n is public; None elsewhere, and where the sum of the column is needed anyway."""
    public = asked.public(one.column)
    known, _ = number_of(asked.facts, one.column)
    sums = Need("sums", (str(one.column),))
    if public is None or public.rows is None or any(sums in other.kind.reads.needs(other) for other in asked.statistics):
        return None
    if public.rows < 2 or known.low == known.high:
        return None
    return Dispersion(str(one.column), known.high - known.low, public.rows)


@dataclass(frozen=True, slots=True, eq=False)
class VarianceRecipe:
    """unit²·(squares/count + shift - (total/count)²)."""

    whole: ClassVar = False
    total: Total
    count: Counted

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        every = (*self.count.queries, *self.total.queries, *self.total.squares)
        return tuple((query, Fraction(1)) for query in every)

    def error(self, noises: Noises, rows: int) -> float:
        """The error of the mean square, and twice the mean (at most half of the range) times its own error."""
        unit = self.total.unit
        mean = 2 * abs(unit) * max(map(abs, self.total.reach)) * unit / rows
        return add_errors(noises, (self.total.squares, unit**2 / rows), (self.total.queries, mean))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return float_up(self.widest_exactly(noises, size) * self.total.unit**2)

    def widest_exactly(self, noises: Noises, size: GroupSize) -> Fraction:
        """The bound in squared steps, of the mean square and of the squared mean; at most half of what is possible."""
        low, high = self.total.reach
        most, reach = Fraction((high - low) ** 2, 8), max(abs(low), abs(high))
        if not self.total.queries:
            return Fraction(0)
        (sums,), (squares,) = self.total.queries, self.total.squares
        mean = quotient_width(noises, (sums, reach), self.count, size.rows)
        # A square, less the middle of their range, is at most half of the greatest one or that middle away from 0.
        square = quotient_width(noises, (squares, max(reach**2 - self.total.shift, self.total.shift)), self.count, size.rows)
        if mean is None or square is None:
            return most
        one = (mean, reach)
        return min(most, square + product_width(one, one))

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (*self.total.queries, *self.count.queries, *self.total.squares))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        total = self.total
        if not total.queries:
            nothing = np.zeros(answers.count, dtype=np.float64)  # the bounds are equal: nothing varies
            return (Estimate(nothing, nothing, nothing),)
        sums, squares = answers.of_each(total.queries), answers.of_each(total.squares)
        counts = self.count.counts(answers)
        return (variance_estimate(sums, squares, counts, shift=total.shift, unit=total.unit, reach=total.reach),)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


@dataclass(frozen=True, slots=True, eq=False)
class RootRecipe:
    """The root of a variance."""

    whole: ClassVar = False
    variance: Recipe

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return self.variance.queries

    def error(self, noises: Noises, rows: int) -> float:
        return float(self.variance.error(noises, rows) ** 0.5)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return float_up(root_width(Fraction(self.variance.widest(noises, size))))

    def unit(self, rows: int) -> str:
        return self.variance.unit(rows)

    def accuracy(self, noises: Noises) -> str:
        return self.variance.accuracy(noises)

    def statements(self, noises: Noises) -> Statements:
        return self.variance.statements(noises)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return tuple(map(root_estimate, self.variance.estimates(answers)))

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return self.variance.told(noises, totals=totals)


def variance_estimate(
    sums: tuple[NDArray[Any], NDArray[Any]],
    squares: tuple[NDArray[Any], NDArray[Any]],
    counts: tuple[NDArray[Any], NDArray[Any]],
    *,
    shift: int,
    unit: Fraction,
    reach: tuple[int | Fraction, int | Fraction],
) -> Estimate:
    """The variance, clipped into [0, a quarter of the squared range].

    Where the count may be below 1, the interval is everything that is possible.

    Args:
        sums: the noisy sums of f, and the half-widths of their noise.
        squares: the sums of f² - shift.
        counts: the counts, noisy or public, and the half-widths of their noise.
        shift: the value that was subtracted from every square.
        unit: what a step of f is worth.
        reach: the least and the greatest f.
    """
    low, high = (float(end) for end in reach)
    (s, ds), (q, dq), (n, dn) = ([part.astype(np.float64) for part in pair] for pair in (sums, squares, counts))
    most = (high - low) ** 2 / 4
    value = np.clip(_spread(np.abs(s), q, np.maximum(n, 1.0)) + shift, 0.0, most)
    fewest, largest = np.maximum(n - dn, 1.0), np.maximum(n + dn, 1.0)
    # V rises with Q and falls with |S|. In N it rises up to 2S²/Q and falls after it where Q > 0, and only rises otherwise:
    # the least value is at an end of the range of N, the greatest at an end or at that point.
    near, far = np.maximum(np.abs(s) - ds, 0.0), np.abs(s) + ds
    less, more = q - dq, q + dq
    turn = np.clip(2 * near**2 / np.maximum(more, 1.0), fewest, largest)
    top = np.maximum.reduce([_spread(near, more, size) for size in (fewest, turn, largest)])
    bottom = np.minimum(_spread(far, less, fewest), _spread(far, less, largest))
    # A relative 1e-12 of the parts covers the few roundings, cancellation included.
    slack = _SLACK * (np.maximum(np.abs(less), np.abs(more)) / fewest + (far / fewest) ** 2 + abs(shift))
    open_range = n - dn < 1
    bottom = np.where(open_range, 0.0, np.clip(bottom + shift - slack, 0.0, most))
    top = np.where(open_range, most, np.clip(top + shift + slack, 0.0, most))
    # Three roundings at most, of the square of the unit, of what is possible and of the product: each 2**-53.
    scale = float(unit**2)
    least, greatest = np.minimum(bottom, value) * (1 - 2.0**-50), np.maximum(top, value) * (1 + 2.0**-50)
    return Estimate(scale * value, scale * least, scale * greatest)


def _spread(total: Floats, squares: Floats, size: Floats) -> Floats:
    return np.asarray(squares / size - (total / size) ** 2)


def root_estimate(variance: Estimate) -> Estimate:
    """The standard deviation: the root of the variance and of the ends of its interval; exactly 0 where that is."""
    low, value, high = (np.sqrt(part) for part in (variance.low, variance.value, variance.high))
    return Estimate(value, np.nextafter(low, 0.0), np.where(high > 0, np.nextafter(high, np.inf), 0.0))
