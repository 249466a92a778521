"""Survey weights: a column that says for how many persons of a population a row stands.

A weight is a number of the row, bounded in public. The guarantee is for files with these weights as they are: that the data
of one person do not change the weights of others is declared, not checked (docs/proofs/samples.md, W8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from discreet.cube.queries import Factor, PairSum
from discreet.domain.steps import TableFacts
from discreet.errors import ArgumentError, PlanError, printed
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount, exact, text
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import Free, Keys, Kind, Need, Statistic
from discreet.statistics.common import (
    check_column_name,
    check_number,
    check_weight,
    largest_of,
    number_of,
    one_column,
    option_string,
    skips_nulls,
    title,
)
from discreet.statistics.totals import Total, sums_apart, total_of, values_apart

__all__ = [
    "WEIGHT_KEYS",
    "Weight",
    "WeightedColumn",
    "product_sum",
    "read_weighted",
    "spans_of",
    "weight_of",
    "weighted",
    "weighted_title",
    "whole_weights",
]


@dataclass(frozen=True, slots=True)
class Weight:
    """A column of weights, of which none is negative or greater than `most`; a row without a weight has the weight 0.

    Args:
        column: a column of numbers of the schema; clamp it first where the schema allows for more than `most`.
        most: the greatest weight. The noise is in proportion to it.
    """

    column: str
    most: Fraction

    def __init__(self, column: str, most: Amount) -> None:
        if not isinstance(column, str):
            raise ArgumentError(f"Weight({printed(column)}): must be the name of a column of the schema")
        greatest = exact(most, "most")
        if not greatest > 0:
            raise ArgumentError(f"Weight('{column}', most={text(greatest)}): must be greater than 0")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "most", greatest)

    def check(self, facts: TableFacts) -> None:
        """Checks that the column has no other values.

        Raises:
            PlanError: not a column of numbers, negative weights, or weights greater than `most`.
        """
        known, grid = number_of(facts, self.column)
        low, high = grid.value(known.low), grid.value(known.high)
        if low < 0 or high > self.most:
            bounds = f"({text(max(low, Fraction(0)))}, {text(self.most)})"
            raise PlanError(
                f"Weight('{self.column}', most={text(self.most)}): goes from {text(low)} to {text(high)}; clamp it first, "
                f"clamp({{'{self.column}': {bounds}}})"
            )
        if known.low == known.high:
            raise PlanError(f"Weight('{self.column}'): all weights are equal; ask for the sum or the mean without a weight")


WEIGHT_KEYS = Keys(
    one_column,
    {"by": option_string, "most": lambda value: value.number()},
    {"nulls": option_string},
    lacks="needs a column and its weight: write { … = 'column', by = 'weight', most = 10 }",
)
"""The form of a weighted statistic in a plan file."""


def weight_of(by: object) -> Weight:
    """The weight. Raises PlanError for another value."""
    if not isinstance(by, Weight):
        raise PlanError(f"by={printed(by)}: must be a weight, such as Weight('w', most=10)")
    return by


def weighted(kind: Kind, column: str, weight: Amount, nulls: str | None) -> Statistic:
    """The statistic of this kind, which has a weight, of a column."""
    return Statistic(kind, check_column_name(column), f"{kind.word}_{column}", check_weight(weight), skips_nulls(nulls))


def read_weighted(make: Callable[..., Statistic], columns: Sequence[Any], options: Mapping[str, Any]) -> Statistic:
    """The statistic that a plan file asks for by `WEIGHT_KEYS`."""
    others = {name: value for name, value in options.items() if name not in {"by", "most"}}
    return make(columns[0], Weight(options["by"], options["most"]), **others)


def weighted_title(noun: str, shown: Mapping[str, Any], part: str) -> str:
    """The title of a statistic that has a weight: the weight comes last."""
    return f"{title(part or noun, shown)}, by {shown_name(shown['by'])}"


def _by(one: Statistic) -> Weight:
    kind: Any = one.kind
    weight: Weight = kind.by
    return weight


@dataclass(frozen=True, slots=True)
class WeightedColumn:
    """A column of numbers and its weights, of which the cube brings all pairs of codes."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return str(one.column), _by(one).column

    def check(self, one: Statistic, facts: TableFacts) -> None:
        weight, column = _by(one), str(one.column)
        if column == weight.column:
            raise PlanError(f"{one.kind.word}('{column}'): the column is its own weight; name two different columns")
        check_number(one, column, facts)
        check_number(replace(one, skip_nulls=True), weight.column, facts)
        weight.check(facts)
        known, _ = number_of(facts, column)
        if known.low == known.high:
            raise PlanError(f"{one.kind.word}('{column}'): the column has a single value; widen its bounds")

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return (Need("codes", self.columns(one)),)

    def to_json(self, one: Statistic) -> dict[str, object]:
        weight = _by(one)
        return {"by": weight.column, "most": text(weight.most), "nulls": "skip" if one.skip_nulls else "refuse"}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        raise PlanError(f"original(): '{one.name}' is weighted, and weights have no table as recorded; ask for it by itself")


# Its queries ------------------------------------------------------------------------------------------------------------


def product_sum(facts: TableFacts, values: Total, weights: Total, power: int) -> PairSum:
    """The query for Σ weight · value ** power over the rows where both are known, in whole steps of both columns."""
    (value,), (weight,) = values.queries, weights.queries

    def factor(query: Any, exponent: int) -> Factor:
        low = number_of(facts, query.column)[0].low
        return Factor(query.column, low, query.first, query.slope, query.width, exponent)

    return PairSum(factor(value, power), factor(weight, 1), 0)


def whole_weights(facts: TableFacts, by: Weight) -> Total:
    """The weights in whole steps from 0."""
    return total_of(facts, by.column, centred=False)


def spans_of(one: Statistic, facts: TableFacts, free: Free, powers: Sequence[int]) -> Sensitivity:
    """The sensitivity of these sums with exact totals, in steps of both grids."""
    weight = replace(one, column=_by(one).column)
    ends = values_apart(one, facts), values_apart(weight, facts)
    found = [sums_apart(weight, facts, free)] if 0 in powers else []
    if 1 in powers:
        corners = [a * b for a, b in product(*ends)]
        found.append(free.of_values(min(corners), max(corners), may_skip=True))
    return largest_of(*found)
