"""Survey weights: a column that says for how many persons of a population a row stands.

A weight is a number of the row, bounded in public. The guarantee is for files with these weights as they are: that the data
of one person do not change the weights of others is declared, not checked (docs/proofs/samples.md, W8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Any

from discreet.cube.queries import Factor, PairSum, ProductSum, WeightedSum
from discreet.domain.steps import TableFacts
from discreet.errors import ArgumentError, PlanError, printed
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount, exact, rational_gcd, text
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import Free, Keys, Kind, Need, Statistic, Written
from discreet.statistics.common import (
    OneNumber,
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
from discreet.statistics.designs import Design, read_design
from discreet.statistics.totals import Total, sums_apart, total_of, values_apart

__all__ = [
    "DESIGN_KEYS",
    "SHARE_KEYS",
    "WEIGHTED_NUMBER",
    "WEIGHT_KEYS",
    "RatioColumns",
    "Weight",
    "WeightColumn",
    "WeightedColumn",
    "design_in",
    "for_population",
    "option_number",
    "product_sum",
    "read_weighted",
    "spans_of",
    "spans_of_ratio",
    "spans_of_weights",
    "triple_sum",
    "weight_of",
    "weighted",
    "weighted_title",
    "weights_less",
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


def option_number(value: Written) -> Amount:
    """A number, in a plan file."""
    return value.number()


DESIGN_KEYS: Mapping[str, Callable[[Written], Any]] = MappingProxyType(
    {"design": option_string, "rows": option_number, "of": option_number, "effect": option_number}
)
"""How the rows were drawn, in a plan file."""

WEIGHT_KEYS = Keys(
    one_column,
    {"by": option_string, "most": option_number},
    {"nulls": option_string, **DESIGN_KEYS},
    lacks="needs a column and its weight: write { … = 'column', by = 'weight', most = 10 }",
)
"""The form of a weighted statistic of a column in a plan file."""

SHARE_KEYS = Keys(
    one_column,
    {"most": option_number},
    {"nulls": option_string, **DESIGN_KEYS},
    lacks="needs a weight: write { … = 'weight', most = 10 }",
)
"""The form of a statistic of the weights alone."""


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
    others = {name: value for name, value in options.items() if name not in {"by", "most", *DESIGN_KEYS}}
    return make(columns[0], Weight(options["by"], options["most"]), design=design_in(options), **others)


def design_in(options: Mapping[str, Any]) -> Design | None:
    """The design that a plan file names by `DESIGN_KEYS`."""
    return read_design({name: options[name] for name in DESIGN_KEYS if name in options})


def weighted_title(noun: str, shown: Mapping[str, Any], part: str) -> str:
    """The title of a statistic that has a weight: the weight comes last, and then the population."""
    return for_population(f"{title(noun, shown)}, by {shown_name(shown['by'])}", part)


def for_population(said: str, part: str) -> str:
    """The title of a weighted number, of the file or of the population."""
    return f"{said}, {part}" if part else said


def numbers_named(one: Statistic) -> tuple[str, ...]:
    """The columns of a weighted statistic: its number, and the same with the interval for the population."""
    design = _design(one)
    return (one.name,) if design is None else (one.name, f"{one.name}_population_{design.word}")


WEIGHTED_NUMBER = OneNumber(named=numbers_named)
"""A number of the weighted file, and of the population where a design is declared."""


def _design(one: Statistic) -> Design | None:
    kind: Any = one.kind
    design: Design | None = kind.design
    return design


def _by(one: Statistic) -> Weight:
    kind: Any = one.kind
    weight: Weight = kind.by
    return weight


def _check_range(one: Statistic, column: str, facts: TableFacts) -> None:
    """The column has more than one number. Raises PlanError."""
    known, _ = number_of(facts, column)
    if known.low == known.high:
        raise PlanError(f"{one.kind.word}('{column}'): the column has a single value; widen its bounds")


def _check_weights(one: Statistic, facts: TableFacts) -> None:
    """The weights are numbers within their bounds; nulls always count as 0. Raises PlanError."""
    weight = _by(one)
    check_number(replace(one, skip_nulls=True), weight.column, facts)
    weight.check(facts)


def _weight_json(one: Statistic) -> dict[str, object]:
    weight, design = _by(one), _design(one)
    drawn = {} if design is None else {"design": design.to_json()}
    return {"by": weight.column, "most": text(weight.most), "nulls": "skip" if one.skip_nulls else "refuse", **drawn}


def _refuse_recorded(one: Statistic) -> Statistic:
    raise PlanError(f"original(): '{one.name}' is weighted, and weights have no table as recorded; ask for it by itself")


@dataclass(frozen=True, slots=True)
class WeightColumn:
    """The weights alone, of which the cube brings the sums, or all codes where they are squared."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return (_by(one).column,)

    def check(self, one: Statistic, facts: TableFacts) -> None:
        check_number(one, _by(one).column, facts)
        _check_weights(one, facts)

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return (Need("sums" if _design(one) is None else "codes", self.columns(one)),)

    def to_json(self, one: Statistic) -> dict[str, object]:
        return _weight_json(one)

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        return _refuse_recorded(one)


@dataclass(frozen=True, slots=True)
class WeightedColumn:
    """A column of numbers and its weights, of which the cube brings all pairs of codes."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return str(one.column), _by(one).column

    def check(self, one: Statistic, facts: TableFacts) -> None:
        column = str(one.column)
        if column == _by(one).column:
            raise PlanError(f"{one.kind.word}('{column}'): the column is its own weight; name two different columns")
        check_number(one, column, facts)
        _check_weights(one, facts)
        _check_range(one, column, facts)

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return (Need("codes", self.columns(one)),)

    def to_json(self, one: Statistic) -> dict[str, object]:
        return _weight_json(one)

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        return _refuse_recorded(one)


@dataclass(frozen=True, slots=True)
class RatioColumns:
    """Two columns of numbers and their weights, of which the cube brings all triples of codes."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return str(one.column), _over(one), _by(one).column

    def check(self, one: Statistic, facts: TableFacts) -> None:
        columns = self.columns(one)
        if len(set(columns)) < len(columns):
            raise PlanError(f"{one.kind.word}('{columns[0]}', '{columns[1]}'): must name three different columns")
        check_number(one, columns[0], facts)
        check_number(one, columns[1], facts)
        _check_weights(one, facts)
        _check_range(one, columns[0], facts)
        _check_range(one, columns[1], facts)
        known, grid = number_of(facts, columns[1])
        least = grid.value(known.low)
        if least <= 0:
            raise PlanError(
                f"{one.kind.word}('{columns[0]}', '{columns[1]}'): '{columns[1]}' goes from {text(least)}, and a "
                "denominator has to be above 0; clamp it, or release two weighted sums and divide them with dp.ratio"
            )

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return (Need("codes", self.columns(one)),)

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {"over": _over(one), **_weight_json(one)}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        return _refuse_recorded(one)


def _over(one: Statistic) -> str:
    kind: Any = one.kind
    return str(kind.over)


# Its queries ------------------------------------------------------------------------------------------------------------


def product_sum(facts: TableFacts, values: Total, weights: Total, power: int, square: int = 1) -> PairSum:
    """The query for Σ weight ** square · value ** power where both are known, in whole steps of both columns."""
    return PairSum(_factor(facts, values, power), _factor(facts, weights, square), 0)


def triple_sum(facts: TableFacts, totals: Sequence[Total], powers: Sequence[int]) -> ProductSum:
    """The query for Σ of the product of these powers over the rows where all columns are known, in whole steps."""
    return ProductSum(tuple(_factor(facts, one, power) for one, power in zip(totals, powers, strict=True)))


def _factor(facts: TableFacts, total: Total, power: int) -> Factor:
    (query,) = total.queries
    low = number_of(facts, query.column)[0].low
    return Factor(query.column, low, query.first, query.slope, query.width, power)


def whole_weights(facts: TableFacts, by: Weight) -> Total:
    """The weights in whole steps from 0."""
    return total_of(facts, by.column, centred=False)


def weights_less(facts: TableFacts, by: Weight, less: Fraction) -> Total:
    """The weights less a number, in whole steps from 0, for the squares behind the variance of a draw."""
    known, grid = number_of(facts, by.column)
    low = grid.value(known.low) - less
    unit = rational_gcd(low, grid.step)
    query = WeightedSum(by.column, int(low / unit), int(grid.step / unit), known.high - known.low)
    return Total((query,), unit, less, (grid.value(known.low), grid.value(known.high)))


def spans_of_weights(one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
    """The sensitivity of the sum of the weights, and of their squares, with exact totals, in steps of their grid."""
    weight = replace(one, column=_by(one).column)
    return largest_of(sums_apart(weight, facts, free), *_spans_of_squares(one, facts, free, ()))


def spans_of_ratio(one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
    """The sensitivity of both weighted sums with exact totals, in steps of the grids of a column and of the weights."""
    names = one.column, _over(one)
    products = [_span_of_product(replace(one, column=name), facts, free) for name in names]
    return largest_of(*products, *_spans_of_squares(one, facts, free, names))


def _spans_of_squares(
    one: Statistic, facts: TableFacts, free: Free, columns: Sequence[str | None]
) -> tuple[Sensitivity, ...]:
    """The sensitivity of squared weights alone, and times a square or a product of columns; none without a design."""
    if _design(one) is None:
        return ()
    largest = [max(map(abs, values_apart(replace(one, column=name), facts))) for name in (_by(one).column, *columns)]
    most = largest[0] ** 2 * max(1, *(size**2 for size in largest[1:]), 1)
    return (free.of_values(-most, most, may_skip=True),)


def _span_of_product(one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
    corners = [
        a * b
        for a, b in product(*(values_apart(replace(one, column=name), facts) for name in (one.column, _by(one).column)))
    ]
    return free.of_values(min(corners), max(corners), may_skip=True)


def spans_of(one: Statistic, facts: TableFacts, free: Free, powers: Sequence[int]) -> Sensitivity:
    """The sensitivity of these sums with exact totals, in steps of both grids."""
    found = [spans_of_weights(one, facts, free)] if 0 in powers else []
    found += [_span_of_product(one, facts, free)] if 1 in powers else []
    return largest_of(*found, *_spans_of_squares(one, facts, free, (one.column,)))
