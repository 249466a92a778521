"""Quantiles of a column, and the median: values chosen by their rank; intervals chosen too, or from noisy counts of a tree.

A part of the spend goes into the choice, the rest, a twentieth, into the tree; `ranks` has the mathematics of the tree, and
`quantile_intervals` the intervals that are chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.cube.queries import LevelCounts, QuantileCodes, QuantileIntervals
from discreet.cube.trees import Tree
from discreet.domain.groups import Bins, Group
from discreet.domain.neighbours import person_of
from discreet.domain.steps import TableFacts
from discreet.errors import ArgumentError, InternalError, PlanError
from discreet.exact.numbers import Amount, exact, text
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Reads, Room, Shape, Statistic, Written
from discreet.statistics.common import (
    NumberColumn,
    check_column_name,
    check_weight,
    largest_of,
    number_of,
    one_column,
    option_string,
    skips_nulls,
    title,
)
from discreet.statistics.completed_quantiles import CompletedQuantileRecipe
from discreet.statistics.completions import find_missing
from discreet.statistics.extended_quantiles import extend_quantiles
from discreet.statistics.possible import Possible, column_value
from discreet.statistics.quantile_intervals import (
    Chosen,
    ChosenRecipe,
    Codes,
    Interval,
    interval_json,
    interval_of,
    share_of,
)
from discreet.statistics.quantile_trees import QuantileRecipe

__all__ = ["Median", "QuantileRecipe", "Quantiles", "median", "orders_of", "quantiles"]

_MAX_DENOMINATOR = 10**30
_MAX_QUANTILES = 1000
_MOST_CHOSEN = 63
_MOST_CODES = 2**22
"""The most codes among which quantiles are chosen, to save memory; more codes get a tree."""
_INTERVAL = Fraction(1, 20)


def median(column: str, *, interval: Amount | None = None, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The median of a numeric column in each group: the lower one of two middle values, a value of the grid.

    `interval` is as in `quantiles`.
    """
    kind = Median(_interval(interval, 1))
    return Statistic(kind, column, f"median_{check_column_name(column)}", check_weight(weight), skips_nulls(nulls))


def quantiles(
    column: str,
    at: Sequence[Amount],
    *,
    interval: Amount | None = None,
    weight: Amount = 1,
    nulls: str | None = None,
) -> Statistic:
    """The quantiles of a numeric column in each group, for each q of `at`.

    Columns of the release are called `<column>_p25` for q = 0.25, or `<alias>_p25`.

    Args:
        column: which column.
        at: the q, each in [0, 1].
        interval: "chosen" for the narrowest intervals: a third of the spend goes into a choice of the interval of each
            quantile, and values are off by up to 1.5 times as much. Or which part of the spend goes into a tree of counts
            that all intervals are read from, from 0 to 1; a twentieth if it is left out. The values are chosen by their
            rank with the rest. With 0 intervals are the whole range of the column; with 1 values and
            intervals are read from the same noisy counts, which is better for very many quantiles: done for more than 63.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip" leaves out rows that are null in the column.

    Raises:
        ArgumentError: a q outside [0, 1] or twice, or none, or an interval outside [0, 1].
    """
    if isinstance(at, str | bytes) or not isinstance(at, Sequence):
        at = [at]  # type: ignore[list-item]
    levels = tuple(exact(q, f"at[{position}]") for position, q in enumerate(at))
    for q in levels:
        if not 0 <= q <= 1:
            raise ArgumentError(f"quantiles('{column}'): at={text(q)} must lie in [0, 1]; the median is '0.5'")
        if q.denominator > _MAX_DENOMINATOR:
            raise ArgumentError(f"quantiles('{column}'): at must have at most 30 digits; round it")
    if not levels or len(set(levels)) < len(levels) or len(levels) > _MAX_QUANTILES:
        raise ArgumentError(f"quantiles('{column}'): at must hold 1 to {_MAX_QUANTILES} different numbers")
    kind = Quantiles(tuple(sorted(levels)), _interval(interval, len(levels)))
    return Statistic(kind, check_column_name(column), column, check_weight(weight), skips_nulls(nulls))


def _interval(interval: Amount | None, quantiles: int) -> Interval:
    """The source of intervals; errors of choices in more than six levels add up to more than a tree."""
    if interval is None:
        return _INTERVAL if quantiles <= _MOST_CHOSEN else Fraction(1)
    return interval_of(interval)


def _number(value: Written) -> Amount:
    return value.number()


def _list(value: Written) -> Any:
    value.items()
    return value.scalars()


@dataclass(frozen=True, slots=True)
class Ranks:
    """One number for each of the quantiles, or the median alone."""

    one_number: bool = False

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        return ()

    def prepare(
        self, one: Statistic, check: Callable[[str | Bins | Group], Group], facts: TableFacts, *, grouped: bool
    ) -> Statistic:
        asked = _of(one)
        if person_of(facts.neighbours) is None or isinstance(asked.interval, Chosen):
            return one
        # No choice by rank has a bound for all rows of a person: values and intervals are those of the tree (U5).
        return replace(one, kind=replace(asked, interval=Fraction(1)))

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        asked = _of(one)
        return (one.name,) if isinstance(asked, Median) else tuple(f"{one.name}_p{text(100 * q)}" for q in asked.at)

    def to_json(self, one: Statistic) -> dict[str, object]:
        asked = _of(one)
        at = {} if isinstance(asked, Median) else {"at": [text(q) for q in asked.at]}
        return {**at, "interval": interval_json(asked.interval)}

    def places(self, one: Statistic, facts: TableFacts) -> int:
        known, _ = number_of(facts, one.column)
        return known.high - known.low + 1

    def advice(self, one: Statistic, room: Room) -> str:
        coarser = room.coarser(str(one.column), room.fit)
        return f"clamp to tighter bounds with at most {room.fit} values{coarser}"


def orders_of(one: Statistic) -> tuple[Fraction, ...]:
    """The q of a statistic of quantiles; none of another one."""
    return _of(one).at if _asks_ranks(one) else ()


def _asks_ranks(one: Statistic) -> bool:
    return isinstance(one.kind.shape, Ranks)


def _of(one: Statistic) -> Quantiles | Median:
    kind: Any = one.kind
    if not isinstance(kind, Quantiles | Median):
        raise InternalError(f"statistic '{one.name}' asks for no quantiles")
    return kind


def _complete(one: Statistic, asked: Asked) -> CompletedQuantileRecipe:
    """Intervals of the tree, for any answer of those who gave none. Raises PlanError where intervals are chosen."""
    recorded = _recipe(_of(one), one, asked)
    if isinstance(recorded, ChosenRecipe) or not recorded.trees:
        raise PlanError(
            f"original('anywhere'): '{one.name}' has no tree of counts, which its interval needs; leave out interval=, or "
            "give it as a part of the spend"
        )
    return CompletedQuantileRecipe(recorded, find_missing(asked, one.column))


@dataclass(frozen=True, slots=True)
class Quantiles:
    """The q-quantile of the column for each q of `at`: the smallest value that at least q of the rows do not exceed."""

    at: tuple[Fraction, ...]
    interval: Interval

    word: ClassVar = "quantiles"
    noun: ClassVar = "Quantiles"
    keys: ClassVar = Keys(one_column, {"at": _list}, {"nulls": option_string, "interval": _number})
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(column_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = NumberColumn("codes")
    shape: ClassVar[Shape] = Ranks()
    completed: ClassVar[tuple[Completed, ...]] = (_complete,)
    extended: ClassVar[tuple[Extended, ...]] = (extend_quantiles,)

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return quantiles(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part or Quantiles.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return _apart(self, one, facts, free)

    def recipe(self, one: Statistic, asked: Asked) -> QuantileRecipe | ChosenRecipe:
        return _recipe(self, one, asked)


@dataclass(frozen=True, slots=True)
class Median:
    """The 1/2-quantile of the column."""

    interval: Interval

    word: ClassVar = "median"
    noun: ClassVar = "Median"
    keys: ClassVar = Keys(
        one_column, {}, {"nulls": option_string, "interval": _number}, interview=True, advised={"interval": Chosen.word}
    )
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(column_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = NumberColumn("codes")
    shape: ClassVar[Shape] = Ranks()
    completed: ClassVar[tuple[Completed, ...]] = (_complete,)
    extended: ClassVar[tuple[Extended, ...]] = (extend_quantiles,)

    @property
    def at(self) -> tuple[Fraction, ...]:
        """The one q."""
        return (Fraction(1, 2),)

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return median(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part or Median.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return _apart(self, one, facts, free)

    def recipe(self, one: Statistic, asked: Asked) -> QuantileRecipe | ChosenRecipe:
        return _recipe(self, one, asked)


def _apart(kind: Quantiles | Median, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
    """The integers of the choices by rank, and of the deepest possible tree: its depth depends on the spend."""
    known, _ = number_of(facts, one.column)
    chosen, depth = len(kind.at).bit_length(), max(1, (known.high - known.low).bit_length())
    if isinstance(kind.interval, Chosen):
        chosen = max(chosen, len(kind.at))
    choices = free.of_moves((2 * chosen, 4 * chosen), (2 * chosen, 2 * chosen), (chosen, chosen))
    return largest_of(choices, free.of_moves((2 * depth, 2 * depth), (2 * depth, 2 * depth), (depth, depth)))


def _recipe(kind: Quantiles | Median, one: Statistic, asked: Asked) -> QuantileRecipe | ChosenRecipe:
    known, grid = number_of(asked.facts, one.column)
    size, interval = known.high - known.low + 1, share_of(kind.interval)
    chosen = _choose_codes(one, asked, known.low, size) if interval < 1 else ()
    if chosen and isinstance(kind.interval, Chosen):
        return ChosenRecipe(kind.at, chosen[0], _choose_intervals(one, asked, chosen[0]), Codes(grid, known.low, size))
    # One level over the grid of the column; its shape depends on the noise that it will get.
    tree = LevelCounts(str(one.column), known.low, Tree(size, max(size, 2), 1))
    return QuantileRecipe(
        at=kind.at,
        choices=chosen,
        trees=(tree,) if interval or not chosen else (),
        interval=interval if chosen else Fraction(1),
        known=asked.public(one.column),
        grid=Codes(grid, known.low, size),
    )


def _choose_codes(one: Statistic, asked: Asked, low: int, size: int) -> tuple[QuantileCodes, ...]:
    """The choice of all quantiles of the column that are chosen by their rank; none for one code, or for too many."""
    if not 1 < size <= _MOST_CODES:
        return ()
    at = {q for kind in _kinds(one, asked) if share_of(kind.interval) < 1 for q in kind.at}
    return (QuantileCodes(str(one.column), low, size, tuple(sorted(at))),)


def _choose_intervals(one: Statistic, asked: Asked, centres: QuantileCodes) -> QuantileIntervals:
    """The choice of all chosen intervals of the column."""
    at = {q for kind in _kinds(one, asked) if isinstance(kind.interval, Chosen) for q in kind.at}
    return QuantileIntervals(centres, tuple(sorted(at)))


def _kinds(one: Statistic, asked: Asked) -> list[Quantiles | Median]:
    """All requests of quantiles of the column."""
    return [_of(other) for other in asked.statistics if other.column == one.column and _asks_ranks(other)]
