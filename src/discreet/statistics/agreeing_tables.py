"""The numbers of rows in several tables that agree: unbiased counts from noisy effects, each cell with its own interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar

import numpy as np

from discreet.cube.queries import EffectCounts, Query, RowCount, TableCounts
from discreet.domain.groups import Bins, Group, group_labels, is_complete
from discreet.domain.steps import TableFacts
from discreet.errors import PlanError
from discreet.exact.numbers import Amount, exact, float_up, text
from discreet.mechanisms import Sensitivity, law_of_cell
from discreet.mechanisms.effects import Axes, Effects, effects_of
from discreet.statistics.base import (
    UNBIASED,
    Asked,
    Completed,
    Extended,
    Free,
    Keys,
    Reads,
    Room,
    Shape,
    Statistic,
    groupings_of,
)
from discreet.statistics.common import FilledGroups, check_weight, title
from discreet.statistics.count_tables import OwnTables, given_groupings
from discreet.statistics.counted import ADD_UP, APART, PUBLISHED, PublicCells
from discreet.statistics.effects import Halves, MeasuredEffect, cells_of, gain_of, halves_of, parts_of
from discreet.statistics.estimate import Estimate
from discreet.statistics.filled import Fills, Reading, mean_gains, readings_of, widest_of
from discreet.statistics.possible import Possible, count_value
from discreet.statistics.printed_cells import decimals_of_parts, ends_of_parts
from discreet.statistics.recipe import Answers, Counted, CountTable, GroupSize, Noises, Statements
from discreet.statistics.ways import written_groupings

__all__ = ["AgreeingRecipe", "AgreeingTables", "agreeing_tables"]

_MOST_EACH = 10**9
_PARTS = 1 << 24  # parts of the weight are whole multiples of 1 over this, for short fractions


def agreeing_tables(
    *groupings: Sequence[str | Bins],
    weights: Sequence[Amount] | None = None,
    errors: Sequence[Amount] | None = None,
    weight: Amount = 1,
) -> Statistic:
    """The numbers of rows by each of the groupings, in tables that agree in everything that two of them say.

    Every table is a frame of its own. What is measured are the *effects*, the interactions of each set of columns, each once
    for all tables, with shares that give the least sum of the variances of all cells. Each cell gets the unbiased estimate
    from them and an interval of its own; sums of cells that mean the same are equal in all tables, and equal to exact totals
    that are published alongside. The estimates are no whole numbers; the measured integers are in the release too.

    Every row has to be in one group of each grouping: bins must cover their column. `ways` makes all tables of two columns.

    Args:
        groupings: the columns or bins of each table.
        weights: how much the variances of each table count in the sum that is the least; 1 without.
        errors: instead, the half-width that the intervals of each table should have. The spend is divided so that the
            largest quotient of a half-width and its error is the least. This quotient is the error of the statistic: so
            `quote(…, error={"tables": 1})` finds the least spend that meets all of them.
        weight: the share of the spend relative to other statistics of the request.

    Raises:
        PlanError: no grouping, an empty one, or one that is given twice; weights or errors that are not positive, or not one
            for each table; both.
    """
    given = given_groupings("agreeing_tables", groupings)
    if weights is not None and errors is not None:
        raise PlanError("agreeing_tables(): give weights or errors for the tables, not both")
    kind = AgreeingTables(given, _each("weights", weights, len(given)), _each("errors", errors, len(given)))
    return Statistic(kind, None, "tables", check_weight(weight))


def _each(named: str, values: Sequence[Amount] | None, tables: int) -> tuple[Fraction, ...]:
    """One positive number for each table; none where none are given."""
    if values is None:
        return ()
    if not isinstance(values, list | tuple) or len(values) != tables:
        raise PlanError(f"agreeing_tables(): {named}: must be a list with one number for each of the {tables} tables")
    found = tuple(exact(value, f"{named}[{place}]") for place, value in enumerate(values))
    wrong = next((place for place, one in enumerate(found) if not 0 < one < _MOST_EACH or one * _MOST_EACH < 1), None)
    if wrong is not None:
        raise PlanError(f"agreeing_tables(): {named}[{wrong}]={text(found[wrong])}: must be greater than 1e-9 and below 1e9")
    return found


@dataclass(frozen=True, slots=True)
class CompleteTables:
    """Tables in each of which every row is in one group: bins that leave values out are refused."""

    own: OwnTables
    one_number: bool = False

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        return self.own.groupings(one)

    def prepare(
        self, one: Statistic, check: Callable[[str | Bins | Group], Group], facts: TableFacts, *, grouped: bool
    ) -> Statistic:
        found = self.own.prepare(one, check, facts, grouped=grouped)
        for groups in self.groupings(found):
            for group in groups:
                if not is_complete(group, facts):
                    raise PlanError(
                        f"agreeing_tables(): bins('{group.column}') leave values out, and tables can only agree about all "
                        "rows; let the bins cover the column, clamp it to them, or ask for tables(…)"
                    )
        return found

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def to_json(self, one: Statistic) -> dict[str, object]:
        kind: Any = one.kind
        given = {"weights": list(map(text, kind.weights)), "errors": list(map(text, kind.errors))}
        return {**self.own.to_json(one), **{named: values for named, values in given.items() if values}}

    def places(self, one: Statistic, facts: TableFacts) -> int:
        return self.own.places(one, facts)

    def advice(self, one: Statistic, room: Room) -> str:
        return self.own.advice(one, room)


@dataclass(frozen=True, slots=True)
class AgreeingTables:
    """The numbers of rows in several tables that agree, each a frame of its own, with weights or errors or neither."""

    tables: tuple[tuple[str | Bins | Group, ...], ...]
    weights: tuple[Fraction, ...]
    errors: tuple[Fraction, ...]

    word: ClassVar = "agreeing_tables"
    noun: ClassVar = "Agreeing tables"
    keys: ClassVar = Keys(
        written_groupings,
        {},
        {"weights": lambda value: list(value.scalars()), "errors": lambda value: list(value.scalars())},
        lacks='needs lists of columns: write { agreeing_tables = [["a", "b"], ["a", "c"]] }',
    )
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(count_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = FilledGroups()
    shape: ClassVar[Shape] = CompleteTables(OwnTables())
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return agreeing_tables(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part or AgreeingTables.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        # In units of an effect: ‖E e_x‖₁ ≤ 2^d, and ‖E(e_x - e_y)‖² ≤ 2.
        most = 1 << max(map(len, groupings_of(one)))
        return free.of_moves((2 * most, 2), (2 * most, 2), (most, 1))

    def recipe(self, one: Statistic, asked: Asked) -> AgreeingRecipe:
        groupings = groupings_of(one)
        weights = tuple(map(float, self.weights)) or (1.0,) * len(groupings)
        return recipe_of(groupings, weights, self.errors, asked)


def recipe_of(
    groupings: Sequence[tuple[Group, ...]], weights: tuple[float, ...], wanted: tuple[Fraction, ...], asked: Asked
) -> AgreeingRecipe:
    """The effects of the tables: those that follow from what is public, and the others, which get noise."""
    printed = tuple(dict.fromkeys(group for by in groupings for group in by))
    axes = tuple(_with_nulls(group, asked) for group in printed)
    fills = {axis: asked.filled[one.column].law(one) for axis, one in enumerate(printed) if one.column in asked.filled}
    sizes = {group: len(group_labels(group, asked.facts)) for group in axes}
    alive = tuple(_alive(group, sizes[group], asked) for group in axes)
    tables = tuple(tuple(map(printed.index, by)) for by in groupings)
    effects = effects_of([len(one) for one in alive], tables)
    every: dict[Axes, EffectCounts] = {}
    known: dict[Axes, Counted] = {}
    for part in effects.parts:
        by = tuple(axes[axis] for axis in part)
        every[part] = EffectCounts(by, tuple(sizes[group] for group in by), tuple(alive[axis] for axis in part))
        found = asked.known(every[part].table if part else RowCount())
        if found is not None:
            known[part] = found
    counts = tuple(TableCounts(by, tuple(len(group_labels(group, asked.facts)) for group in by)) for by in groupings)
    told = tuple(_told(by, table, effects, known, asked) for by, table in zip(groupings, tables, strict=True))
    return AgreeingRecipe(counts, tables, told, effects, alive, fills, every, known, weights, wanted)


def _with_nulls(group: Group, asked: Asked) -> Group:
    """The group as queries call it: where nulls are filled, that of the column with its nulls."""
    filling = asked.filled.get(group.column)
    return group if filling is None else replace(group, column=filling.called)


def _told(
    by: Sequence[Group], table: Axes, effects: Effects, known: Mapping[Axes, Counted], asked: Asked
) -> Mapping[str, str]:
    """The words for a table beside exact totals: it has them where all its effects of their columns are public."""
    if all(part in known for part in parts_of(effects, table)):
        return PUBLISHED
    named = dict(zip(table, by, strict=True))
    listed = [tuple(axis for axis in table if named[axis].column in columns) for columns in asked.totals]
    return {"totals": ADD_UP} if all(part in known for one in listed for part in parts_of(effects, one)) else APART


def _alive(group: Group, size: int, asked: Asked) -> tuple[int, ...]:
    """The groups that can have rows, as far as published totals of this one column say; all of them where none do."""
    found = asked.known(TableCounts((group,), (size,)))
    counts = found.structure.counts() if isinstance(found, PublicCells) else None
    there = tuple(np.flatnonzero(counts).tolist()) if counts is not None else ()
    return there or tuple(range(size))


@dataclass(frozen=True, eq=False)
class AgreeingRecipe:
    """Tables from effects.

    Args:
        asked: the tables.
        axes: for each the axes of `effects`, in the order of its groups.
        words: for each what a document says of its counts beside exact totals.
        effects: the effects of all tables, over the levels that can have rows.
        alive: for each axis the positions of these levels.
        fills: for each axis whose nulls are measured and then filled, the chances of its other levels.
        parts: the query of each effect.
        known: the counts behind those that follow from what is public; the others get noise.
        weights: for each table how much its variances count.
        wanted: for each the half-width that its intervals should have; empty where the variances count.
    """

    whole: ClassVar = False
    asked: tuple[TableCounts, ...]
    axes: tuple[Axes, ...]
    words: tuple[Mapping[str, str], ...]
    effects: Effects
    alive: tuple[tuple[int, ...], ...]
    fills: Fills
    parts: Mapping[Axes, EffectCounts]
    known: Mapping[Axes, Counted]
    weights: tuple[float, ...]
    wanted: tuple[Fraction, ...]

    @cached_property
    def _cells(self) -> tuple[int, ...]:
        return tuple(prod(len(self.shown(axis)) for axis in table) for table in self.axes)

    def shown(self, axis: int) -> tuple[int, ...]:
        """The positions of the levels that are printed and can have rows."""
        return self.alive[axis][:-1] if axis in self.fills else self.alive[axis]

    def group(self, axis: int) -> Group:
        """The group of an axis."""
        found = zip(self.asked, self.axes, strict=True)
        return next(query.groups[axes.index(axis)] for query, axes in found if axis in axes)

    @cached_property
    def noisy(self) -> dict[Axes, EffectCounts]:
        """The effects that get noise."""
        return {part: query for part, query in self.parts.items() if part not in self.known}

    @cached_property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        """Each effect with √(v p): p its energy, v what its variance adds to the sum of those of all cells."""
        wanted = dict.fromkeys(self.noisy, 0.0)
        tables = zip(self.axes, self._importance(), strict=True)
        for table, weight in tables:
            for part in parts_of(self.effects, table):
                if part in wanted:
                    wanted[part] += weight * prod(self._mean_gains[axis][axis not in part] for axis in table)
        sizes = {part: (float(self.effects.energy(part)) * one) ** 0.5 for part, one in wanted.items()}
        total = sum(sizes.values())
        short = {part: max(1, round(one / total * _PARTS)) for part, one in sizes.items()}
        every = sum(short.values())
        return tuple((query, Fraction(len(self.asked) * short[part], every)) for part, query in self.noisy.items())

    @cached_property
    def _readings(self) -> tuple[tuple[Reading, ...], ...]:
        return tuple(readings_of(size, self.fills.get(axis)) for axis, size in enumerate(self.effects.sizes))

    @cached_property
    def _mean_gains(self) -> tuple[tuple[float, float], ...]:
        return tuple(mean_gains(readings, size) for readings, size in zip(self._readings, self.effects.sizes, strict=True))

    def _importance(self) -> list[float]:
        """The weight of the variance of a cell of each table. For errors it is a first guess, which noise of ε keeps."""
        if self.wanted:
            return [1 / float(one) ** 2 for one in self.wanted]
        return [weight * cells for weight, cells in zip(self.weights, self._cells, strict=True)]

    @cached_property
    def limits(self) -> tuple[tuple[tuple[tuple[EffectCounts, float], ...], float], ...]:
        """For each table with an error, and each kind of its cells whose noise may be the widest, what it demands.

        These are its noisy effects, with what a unit of their variance adds to the variance of a cell, and its error.
        """
        found = []
        for table, wanted in zip(self.axes, self.wanted, strict=True):
            parts = [part for part in parts_of(self.effects, table) if part in self.noisy]
            outside = [prod(self.effects.sizes[axis] for axis in table if axis not in part) for part in parts]
            for readings in product(*(widest_of(self._readings[axis]) for axis in table)):
                gains = [float(gain_of(table, part, readings)) / size**2 for part, size in zip(parts, outside, strict=True)]
                adds = tuple((self.noisy[part], gain) for part, gain in zip(parts, gains, strict=True))
                found.append((adds, float(wanted)))
        return tuple((adds, wanted) for adds, wanted in found if adds)

    def error(self, noises: Noises, rows: int) -> float:
        halves = self.errors(noises)
        if self.wanted:
            halves = [half / most for half, most in zip(halves, self.wanted, strict=True)]
        return float_up(max(halves, default=Fraction(0)))

    def errors(self, noises: Noises) -> list[Fraction]:
        """For each table a half-width of the noise in every cell that can have rows."""
        return [max(half for _, half in one) for one in self.halves(noises)]

    def halves(self, noises: Noises) -> list[Halves]:
        """For each table its cells in parts, each with a half-width of the noise in every cell."""
        return halves_of(self.effects, self.axes, self.noise_behind(noises), self.fills, noises.level)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return "times the error that its table should have" if self.wanted else ""

    def accuracy(self, noises: Noises) -> str:
        filled = f"; {self._imputed}" if self.fills else ""
        if self.wanted:
            return f" times the error that its table should have, at most; all tables agree{filled}"
        return (" in the table with the widest intervals; all tables agree" if len(self.asked) > 1 else "") + filled

    @property
    def _imputed(self) -> str:
        """The words for nulls that nobody drew a value for."""
        names = ", ".join(dict.fromkeys(self.group(axis).column for axis in self.fills))
        return f"the nulls of {names} are in the counts by the law that imputes them, and none was drawn"

    def statements(self, noises: Noises) -> Statements:
        # Each cell of each table has a sum of noises of its own.
        return Statements({}, sum(self._cells), 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return ()

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        cells = cells_of(self.effects, self.axes, self.measured(answers), self.fills)
        halves = self.halves(answers.noises)
        found = []
        for query, table, told, (values, denominator), half in zip(
            self.asked, self.axes, self.words, cells, halves, strict=True
        ):
            there = np.ix_(*(self.shown(axis) for axis in table))
            numbers = [np.zeros(query.sizes) for _ in range(3)]
            ends = ends_of_parts(values, denominator, half, decimals_of_parts(half))
            for whole, one in zip(numbers, ends, strict=True):
                whole[there] = one
            found.append(CountTable(query.groups, Estimate(*(one.ravel() for one in numbers)), None, told))
        return tuple(found)

    def measured(self, answers: Answers) -> dict[Axes, MeasuredEffect]:
        """The public answers of all effects, with noise or without."""
        found = self.noise_behind(answers.noises)
        for part, query in self.noisy.items():
            found[part] = replace(found[part], values=answers.values[query].reshape(query.levels))
        for part, counted in self.known.items():
            query = self.parts[part]
            counts, _ = counted.counts(Answers(answers.noises, answers.values, slice(0, prod(query.sizes))))
            found[part] = MeasuredEffect(query.of_counts(np.asarray(counts).reshape(query.sizes)), 1, None)
        return found

    def noise_behind(self, noises: Noises) -> dict[Axes, MeasuredEffect]:
        """The noise behind each effect."""
        found = {part: MeasuredEffect(None, 1, None) for part in self.known}
        for part, query in self.noisy.items():
            shape = noises.choose_shape(query)
            times = shape.times if isinstance(shape, EffectCounts) else 1
            found[part] = MeasuredEffect(None, times, law_of_cell(noises.law(query)))
        return found

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {"imputed": self._imputed} if self.fills else {}
