"""The covariance of two columns, over the rows in which both are known: never NaN and always within what is possible.

With a and b the integers of the two columns, taken from the midpoints of their ranges, the covariance is
unit·(P/N - (A/N)·(B/N)), where P is a noisy sum of a·b, A of a and B of b, and N a noisy or public count, all over the same
rows. Half-widths hold together with the stated probability; the interval is the range of the expression over that box, cut
by what is possible (B2 in docs/proofs/pairs.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Factor, PairSum, Query
from discreet.domain.steps import TableFacts
from discreet.errors import PlanError
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount, float_up
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Need, Reads, Shape, Statistic, Written
from discreet.statistics.common import (
    OneNumber,
    check_column_name,
    check_number,
    check_weight,
    largest_of,
    number_of,
    option_string,
    skips_nulls,
)
from discreet.statistics.counted import NoisyCount, find_count
from discreet.statistics.estimate import Estimate
from discreet.statistics.possible import Possible, pair_spread
from discreet.statistics.recipe import (
    Answers,
    Counted,
    CountTable,
    GroupSize,
    Noises,
    Noisy,
    Statements,
    add_errors,
    in_a_group,
    noise_statements,
)
from discreet.statistics.totals import Total, sums_apart, total_of, values_apart
from discreet.statistics.widest import product_width, quotient_width

__all__ = [
    "Covariance",
    "CovarianceRecipe",
    "TwoColumns",
    "alone",
    "covariance",
    "covariance_estimate",
    "pair_keys",
    "pair_of",
    "pair_title",
    "sum_of_powers",
    "two_columns",
]

_SLACK = 1e-12

Floats = NDArray[np.float64]


def covariance(x: str, y: str, *, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The covariance of two numeric columns in each group (divided by the number of rows, not by one less).

    Args:
        x: a column.
        y: another column.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip" leaves out the rows in which one of the columns is null, or both.

    Raises:
        PlanError: not the names of two different columns.
    """
    pair = two_columns("covariance", x, y)
    return Statistic(Covariance(pair), None, f"covariance_{x}_{y}", check_weight(weight), skips_nulls(nulls))


# Shared by statistics of two columns ------------------------------------------------------------------------------------


def two_columns(word: str, *columns: Any) -> tuple[str, str]:
    """The names of two different columns. Raises PlanError."""
    if len(columns) != 2 or check_column_name(columns[0]) == check_column_name(columns[1]):
        raise PlanError(f"{word}: must name two different columns, such as {word}('age', 'income')")
    return columns


def _names(value: Written) -> Sequence[Any]:
    return [item.string() for item in value.items()]


def pair_keys(word: str) -> Keys:
    """The form of a statistic of two columns in a plan file."""
    return Keys(_names, {}, {"nulls": option_string}, lacks=f'needs two columns: write {{ {word} = ["x", "y"] }}')


def pair_title(noun: str, shown: Mapping[str, Any]) -> str:
    """The noun and the columns in words for pages, such as: Covariance of age and income."""
    skipped = ", where both are known" if shown.get("nulls") == "skip" else ""
    return f"{noun} of {' and '.join(map(shown_name, shown['columns']))}{skipped}"


def pair_of(one: Statistic) -> tuple[str, str]:
    """The two columns that the statistic is about."""
    kind: Any = one.kind
    pair: tuple[str, str] = kind.pair
    return pair


def alone(one: Statistic) -> tuple[Statistic, Statistic]:
    """The statistic as if it were about each of its columns by itself."""
    x, y = pair_of(one)
    return replace(one, column=x), replace(one, column=y)


@dataclass(frozen=True, slots=True)
class TwoColumns:
    """Two columns of numbers, of which the cube brings all pairs of codes."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return pair_of(one)

    def check(self, one: Statistic, facts: TableFacts) -> None:
        where = f"{one.kind.word}{pair_of(one)}"
        for column in pair_of(one):
            check_number(replace(one, skip_nulls=True), column, facts)
            known, _ = number_of(facts, column)
            if known.nullable and not one.skip_nulls:
                raise PlanError(
                    f"{where}: '{column}' can be null; impute it first, or ask for {where[:-1]}, nulls=\"skip\")"
                )
            if known.low == known.high:
                raise PlanError(f"{where}: '{column}' has a single value, so that nothing varies with it; widen its bounds")

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return (Need("codes", pair_of(one)),)

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {"columns": list(pair_of(one)), "nulls": "skip" if one.skip_nulls else "refuse"}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        kind: Any = one.kind
        pair = tuple(names.get(column, column) for column in pair_of(one))
        return replace(one, kind=replace(kind, pair=pair), skip_nulls=True)


def sum_of_powers(facts: TableFacts, totals: tuple[Total, Total], powers: tuple[int, int], shift: int = 0) -> PairSum:
    """The query for the product of powers of the integers of two columns, less `shift`, over rows where both are known."""

    def factor(total: Total, power: int) -> Factor:
        (one,) = total.queries
        return Factor(one.column, number_of(facts, one.column)[0].low, one.first, one.slope, one.width, power)

    return PairSum(factor(totals[0], powers[0]), factor(totals[1], powers[1]), shift)


# The covariance ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Covariance:
    """The mean product of the distances from the two means (divided by the number of rows, not by one less)."""

    pair: tuple[str, str]

    word: ClassVar = "covariance"
    noun: ClassVar = "Covariance"
    keys: ClassVar = pair_keys("covariance")
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(pair_spread)
    counts: ClassVar = False
    reads: ClassVar[Reads] = TwoColumns()
    shape: ClassVar[Shape] = OneNumber()
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return covariance(*two_columns("covariance", *columns), **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return pair_title(part or Covariance.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        x, y = alone(one)
        corners = [a * b for a, b in product(values_apart(x, facts), values_apart(y, facts))]
        products = free.of_values(min(corners), max(corners), may_skip=True)
        return largest_of(sums_apart(x, facts, free), sums_apart(y, facts, free), products)

    def recipe(self, one: Statistic, asked: Asked) -> CovarianceRecipe:
        facts, (x, y) = asked.facts, self.pair
        totals = total_of(facts, x, centred=True), total_of(facts, y, centred=True)
        nullable = facts[x].nullable, facts[y].nullable
        count: Counted = find_count(asked, x if nullable[0] else y)
        if all(nullable):
            count = NoisyCount(sum_of_powers(facts, totals, (0, 0)))
        # Where the other column is always known, a mean needs the same sum, and it is asked once.
        sums = (
            sum_of_powers(facts, totals, (1, 0)) if nullable[1] else totals[0].queries[0],
            sum_of_powers(facts, totals, (0, 1)) if nullable[0] else totals[1].queries[0],
        )
        return CovarianceRecipe(totals, count, sums, sum_of_powers(facts, totals, (1, 1)))


@dataclass(frozen=True, slots=True, eq=False)
class CovarianceRecipe:
    """unit·(products/count - (sum/count)·(other sum/count)), over the rows in which both columns are known.

    Args:
        totals: the integers of the two columns: where they are taken from, and what a step of them is worth.
        count: the number of rows.
        sums: the queries for the sums of the integers.
        products: the query for the sum of their products.
    """

    whole: ClassVar = False
    totals: tuple[Total, Total]
    count: Counted
    sums: tuple[Query, Query]
    products: PairSum

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return tuple((query, Fraction(1)) for query in (*self.count.queries, *self.sums, self.products))

    @property
    def unit_of_products(self) -> Fraction:
        """The size of one step of a product."""
        return self.totals[0].unit * self.totals[1].unit

    @property
    def reaches(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The least and the greatest integer of each column."""
        return self.totals[0].reach, self.totals[1].reach

    def error(self, noises: Noises, rows: int) -> float:
        """The error of the mean product, and the error of each mean times the other mean (at most half of its range)."""
        each = self.unit_of_products / rows
        x, y = (max(map(abs, reach)) for reach in self.reaches)
        return add_errors(noises, ((self.products,), each), (self.sums[:1], y * each), (self.sums[1:], x * each))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        most = Fraction((self.reaches[0][1] - self.reaches[0][0]) * (self.reaches[1][1] - self.reaches[1][0]), 4)
        first, second = (max(map(abs, reach)) for reach in self.reaches)
        asked = (*zip(self.sums, (first, second), strict=True), (self.products, first * second))
        x, y, product = (quotient_width(noises, one, self.count, size.rows) for one in asked)
        if x is not None and y is not None and product is not None:
            most = min(most, product + product_width((x, first), (y, second)))
        return float_up(most * abs(self.unit_of_products))

    def unit(self, rows: int) -> str:
        return in_a_group(rows)

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        return noise_statements(noises, (*self.sums, *self.count.queries, self.products))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return (self.in_units(answers, self.unit_of_products),)

    def in_units(self, answers: Answers, unit: Fraction) -> Estimate:
        """The covariance, with so much for one step of a product."""
        sums = answers.of(self.sums[0]), answers.of(self.sums[1])
        products, counts = answers.of(self.products), self.count.counts(answers)
        return covariance_estimate(sums, products, counts, unit=unit, reaches=self.reaches)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def covariance_estimate(
    sums: tuple[Noisy, Noisy],
    products: Noisy,
    counts: Noisy,
    *,
    unit: Fraction,
    reaches: tuple[tuple[int, int], tuple[int, int]],
) -> Estimate:
    """The covariance, clipped to a quarter of the product of both ranges on either side of 0.

    Where the count may be below 1, the interval is everything that is possible.

    Args:
        sums: the noisy sums of the integers of each column, with the half-widths of their noise.
        products: the noisy sums of their products, with the half-widths of their noise.
        counts: the counts, noisy or public, with the half-widths of their noise.
        unit: what a step of a product is worth.
        reaches: the least and the greatest integer of each column.
    """
    (low_x, high_x), (low_y, high_y) = reaches
    most = float(Fraction((high_x - low_x) * (high_y - low_y), 4))
    (s, ds), (t, dt), (p, dp), (n, dn) = ([part.astype(np.float64) for part in pair] for pair in (*sums, products, counts))
    value = np.clip(_mix(p, s * t, np.maximum(n, 1.0)), -most, most)
    fewest, largest = np.maximum(n - dn, 1.0), np.maximum(n + dn, 1.0)
    # A product of two ranges is least and greatest at a corner.
    corners = [(s + one * ds) * (t + other * dt) for one, other in product((-1, 1), repeat=2)]
    top = _greatest(p + dp, np.minimum.reduce(corners), fewest, largest)
    bottom = -_greatest(dp - p, -np.maximum.reduce(corners), fewest, largest)
    # A relative 1e-12 of the parts covers the few roundings, cancellation included.
    slack = _SLACK * ((np.abs(p) + dp) / fewest + (np.abs(s) + ds) / fewest * ((np.abs(t) + dt) / fewest))
    open_range = n - dn < 1
    bottom = np.where(open_range, -most, np.clip(bottom - slack, -most, most))
    top = np.where(open_range, most, np.clip(top + slack, -most, most))
    # Three roundings at most, of the unit, of what is possible and of the product: each 2**-53.
    scale = float(unit)
    ends = scale * np.minimum(bottom, value), scale * np.maximum(top, value)
    return Estimate(scale * value, ends[0] - 2.0**-50 * np.abs(ends[0]), ends[1] + 2.0**-50 * np.abs(ends[1]))


def _mix(products: Floats, both: Floats, size: Floats) -> Floats:
    return np.asarray(products / size - both / size / size)


def _greatest(products: Floats, both: Floats, fewest: Floats, largest: Floats) -> Floats:
    """The greatest products/N - both/N² for N in [fewest, largest]: at an end, or at N = 2·both/products."""
    turn = np.clip(2 * both / np.where(products == 0, 1.0, products), fewest, largest)
    return np.asarray(np.maximum.reduce([_mix(products, both, size) for size in (fewest, turn, largest)]))
