"""Quantiles of a column, and the median: values chosen by their rank; intervals chosen too, or from noisy counts of a tree.

A part of the spend goes into the choice, the rest, a twentieth, into the tree; `ranks` has the mathematics of the tree, and
`quantile_intervals` the intervals that are chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.cube.queries import LevelCounts, QuantileCodes, QuantileIntervals, Query
from discreet.cube.trees import Tree
from discreet.domain.groups import Bins, Group
from discreet.domain.steps import TableFacts
from discreet.errors import ArgumentError, InternalError
from discreet.exact.numbers import Amount, exact, text
from discreet.mechanisms import Sensitivity, law_of_cell
from discreet.statistics.base import CLIPPED, Asked, Free, Keys, Reads, Room, Shape, Statistic, Written
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
from discreet.statistics.estimate import Estimate
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
from discreet.statistics.ranks import quantile_estimates, rank_half_width
from discreet.statistics.recipe import LEVEL, RANKS, Answers, Counted, CountTable, GroupSize, Noises, Statements

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

    def prepare(self, one: Statistic, check: Callable[[str | Bins | Group], Group], *, grouped: bool) -> Statistic:
        return one

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


@dataclass(frozen=True, slots=True, eq=False)
class QuantileRecipe:
    """Codes that are chosen, with the intervals of a tree, widened to hold them; all from the tree where none are chosen.

    Args:
        at: the requested q.
        choices: the choice by rank of all quantiles of the column, if they are chosen.
        trees: the tree, if something is spent on it.
        interval: the part of the weight that the tree gets.
        known: the numbers of rows, where they are public.
        grid: the values of the codes.
    """

    whole: ClassVar = False
    at: tuple[Fraction, ...]
    choices: tuple[QuantileCodes, ...]
    trees: tuple[LevelCounts, ...]
    interval: Fraction
    known: Counted | None
    grid: Codes

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        choices = [(query, 1 - self.interval) for query in self.choices]
        return (*choices, *((query, self.interval) for query in self.trees))

    def error(self, noises: Noises, rows: int) -> float:
        """The error of the rank, in rows: of a chosen value, which is closer than its interval; else of the interval."""
        for query in self.choices:
            error = noises.law(query).rank_error(LEVEL)
            if error is not None:
                return error
        return self.interval_ranks(noises)

    def interval_ranks(self, noises: Noises) -> float:
        """The largest half-width, in rows of rank, that the intervals invert; infinite if nothing is spent on them."""
        if not self.trees:
            return float("inf")
        tree, law = self._tree(noises), law_of_cell(noises.law(self.trees[0]))
        return max(rank_half_width(tree, law, q, level=noises.level) for q in self.at)

    def _tree(self, noises: Noises) -> Tree:
        shaped = noises.choose_shape(self.trees[0])
        if not isinstance(shaped, LevelCounts):
            raise InternalError("quantiles need a tree")
        return shaped.tree

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return RANKS

    def accuracy(self, noises: Noises) -> str:
        if not self.choices:
            return f" {RANKS}"
        ranks = self.interval_ranks(noises)
        certain = f"its interval reaches ±{ranks:.6g} rows" if ranks < float("inf") else "its interval is the whole range"
        return f" {RANKS}; {certain}"

    def statements(self, noises: Noises) -> Statements:
        # The two tests of an interval fail with half of the probability each; without a tree it is the whole range.
        return Statements({}, noises.cells * len(self.at) * len(self.trees), 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        shown = self.grid.values
        codes = self._codes(answers)
        return tuple(Estimate(shown(one.value), shown(one.low), shown(one.high)) for one in codes)

    def _codes(self, answers: Answers) -> list[Estimate]:
        if not self.choices:
            return self._of_tree(answers)
        (query,) = self.choices
        chosen = answers.values[query].reshape(answers.noises.cells, len(query.at))[answers.cells].T
        values = [chosen[query.at.index(q)] for q in self.at]
        if not self.trees:
            return [Estimate(value, np.zeros_like(value), np.full_like(value, self.grid.size - 1)) for value in values]
        return [
            Estimate(value, np.minimum(one.low, value), np.maximum(one.high, value))
            for value, one in zip(values, self._of_tree(answers), strict=True)
        ]

    def _of_tree(self, answers: Answers) -> list[Estimate]:
        noises, (query,) = answers.noises, self.trees
        tree, law = self._tree(noises), law_of_cell(noises.law(query))
        sizes = np.cumsum([noises.cells * width for width in tree.level_sizes])
        levels = np.split(answers.values[query], sizes[:-1])
        noisy = [part.reshape(noises.cells, -1)[answers.cells] for part in levels]
        totals = None if self.known is None else self.known.counts(answers)[0]
        return quantile_estimates(tree, noisy, law, self.at, level=noises.level, totals=totals)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}
