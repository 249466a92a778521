"""The one domain that all tables of a statistic are margins of: its axes, their levels that can have rows, its effects.

Every row is in one level of each axis. Bins that leave values out have further levels for these, and a column whose nulls a
law fills has one for null: such levels are measured and not printed. So all tables are margins of one table, and agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.cube.queries import EffectCounts, RowCount, TableCounts
from discreet.domain.groups import BinGroup, Group, covering, group_labels
from discreet.domain.origins import says_more
from discreet.domain.steps import NumberFacts, TableFacts
from discreet.exact.cached import cached_property
from discreet.mechanisms.effects import Axes, Effects, effects_of
from discreet.statistics.base import Asked
from discreet.statistics.conditions import TableConditions
from discreet.statistics.counted import ADD_UP, APART, PUBLISHED, PublicCells
from discreet.statistics.effects import parts_of
from discreet.statistics.filled import Fills, mean_gains, readings_of
from discreet.statistics.implied_cells import implied_cells
from discreet.statistics.levels import Declared
from discreet.statistics.public_totals import ListedTotals, PublicSum
from discreet.statistics.recipe import Counted

__all__ = ["Domain", "TableAxis", "domain_of"]

Floats = NDArray[np.float64]

_MOST_EFFECTS = 1 << 15
_MOST_INTEGERS = 1 << 22
"""More effects, or integers of all of them, would fill documents with numbers that bring little: tables of many columns."""


@dataclass(frozen=True, slots=True)
class TableAxis:
    """A column or bins of some tables.

    Args:
        printed: the groups that are asked for.
        whole: the same with those that hold what these leave out, as their labels are written.
        group: the same as queries call it: of the column with its nulls where these are filled. None where these are filled
            by the only level that there is: then every row is in it.
        size: how many groups `group` has.
        many: how many `printed` has.
        alive: the positions in `group` of those that can have rows.
        chances: where the last of these is null and filled, those of the other ones, as integers; else none.
    """

    printed: Group
    whole: Group
    group: Group | None
    size: int
    many: int
    alive: tuple[int, ...]
    chances: tuple[int, ...]

    @property
    def is_filled(self) -> bool:
        """True if the nulls of the column are counted by a law."""
        return bool(self.chances) or self.group is None

    @property
    def levels(self) -> tuple[int, ...]:
        """The positions in `whole` of the levels that a table has once nulls are filled."""
        return self.alive[:-1] if self.chances else self.alive

    @property
    def shown(self) -> tuple[tuple[int, int], ...]:
        """Of each level that is printed its position among the levels, and among the printed groups."""
        places = map(self._place, self.levels)
        return tuple((level, place) for level, place in enumerate(places) if place is not None)

    def _place(self, level: int) -> int | None:
        if not isinstance(self.printed, BinGroup) or not isinstance(self.whole, BinGroup):
            return level
        if level == len(self.whole.labels):  # null is the last one
            return len(self.printed.labels)
        place = level - self.whole.edges.index(self.printed.edges[0])
        return place if 0 <= place < len(self.printed.labels) else None


@dataclass(frozen=True, eq=False)
class Domain:
    """The axes of the tables of a statistic, and what is public about their effects.

    Args:
        axes: the axes.
        tables: for each table the positions of its axes, in the order of its groups.
        effects: of all tables, over the levels that can have rows.
        parts: the query of each effect.
        known: the counts behind those that follow from what is public.
        sums: what is public about the cells of a table by all levels, beside these effects.
        columns: the declared columns.
    """

    axes: tuple[TableAxis, ...]
    tables: tuple[Axes, ...]
    effects: Effects
    parts: Mapping[Axes, EffectCounts]
    known: Mapping[Axes, Counted]
    sums: Callable[[TableCounts], Sequence[PublicSum]]
    columns: Declared

    @cached_property
    def _public_sums(self) -> dict[Axes, Sequence[PublicSum]]:
        """What is public about the cells of each table that is not public itself."""
        return {table: self.sums(self.whole_table(table)) for table in self.tables if not self.is_public(table)}

    @cached_property
    def conditions(self) -> tuple[TableConditions, ...]:
        """The public sums of cells of the tables, over their levels that can have rows; none of tables that are public."""
        sums = {table: self._among_alive(table, own) for table, own in self._public_sums.items()}
        if any(sums.values()):
            further = implied_cells(self.effects.sizes, sums, self._margins)
            sums = {table: (*own, *further[table]) for table, own in sums.items()}
        return tuple(TableConditions(table, own) for table, own in sums.items() if own)

    @cached_property
    def _margins(self) -> dict[Axes, Integers]:
        """The counts of the tables all of whose effects are public, over their levels that can have rows."""
        found = {}
        for part, counted in self.known.items():
            below = (one for many in range(len(part)) for one in combinations(part, many))
            counts = _public_numbers(counted)
            if counts is not None and all(one in self.known for one in below):
                every = counts.reshape(self.parts[part].sizes)
                found[part] = every[np.ix_(*(self.axes[axis].alive for axis in part))] if part else every
        return found

    def _among_alive(self, table: Axes, sums: Sequence[PublicSum]) -> tuple[PublicSum, ...]:
        """The sums, each once, by the positions of cells among those that can have rows; the others are 0."""
        if not sums:
            return ()
        own = [self.axes[axis] for axis in table]
        place = np.full([axis.size for axis in own], -1, dtype=np.int64)
        place[np.ix_(*(axis.alive for axis in own))] = np.arange(prod(len(axis.alive) for axis in own)).reshape(
            [len(axis.alive) for axis in own]
        )
        flat = place.ravel()
        found: dict[tuple[bytes, bytes], PublicSum] = {}
        for one in sums:
            cells = flat[one.cells]
            there, factors = cells[cells >= 0], None if one.factors is None else one.factors[cells >= 0]
            if len(there):
                key = there.tobytes(), b"" if factors is None else factors.tobytes()
                found.setdefault(key, PublicSum(there, factors, one.total))
        return tuple(found.values())

    @cached_property
    def fills(self) -> Fills:
        """For each axis whose nulls are filled the chances of its other levels."""
        return {place: axis.chances for place, axis in enumerate(self.axes) if axis.chances}

    @property
    def has_few_effects(self) -> bool:
        """True if all effects can be measured: their number grows like 2^d with the columns of a table."""
        return len(self.parts) <= _MOST_EFFECTS and sum(map(self.effects.scale, self.parts)) <= _MOST_INTEGERS

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """For each table how many of its cells are printed and can have rows."""
        return tuple(prod(len(self.axes[axis].shown) for axis in table) for table in self.tables)

    def worth(self, importance: Sequence[float]) -> dict[Axes, float]:
        """For each effect that gets noise what a unit of its variance adds to the sum of those of all cells.

        The cells of each table count as much as its importance says, together.
        """
        found = {part: 0.0 for part in self.parts if part not in self.known}
        for table, weight in zip(self.tables, importance, strict=True):
            for part, one in self.worth_of(table, weight).items():
                found[part] += one
        return found

    def worth_of(self, table: Axes, weight: float) -> dict[Axes, float]:
        """For each effect of a table that gets noise what a unit of its variance adds to the mean one of a cell."""
        noisy = (part for part in parts_of(self.effects, table) if part not in self.known)
        return {part: weight * prod(self._gains[axis][axis not in part] for axis in table) for part in noisy}

    @cached_property
    def _gains(self) -> tuple[tuple[float, float], ...]:
        each = enumerate(self.effects.sizes)
        return tuple(mean_gains(readings_of(size, self.fills.get(axis)), size) for axis, size in each)

    def groups(self, table: Axes) -> tuple[Group, ...]:
        """The groups of a table as they are printed."""
        return tuple(self.axes[axis].printed for axis in table)

    def whole_table(self, table: Axes) -> TableCounts:
        """The counts of a table by all levels."""
        own = [(axis.group, axis.size) for axis in map(self.axes.__getitem__, table) if axis.group is not None]
        return TableCounts(tuple(group for group, _ in own), tuple(size for _, size in own))

    def alive(self, table: Axes) -> tuple[tuple[int, ...], ...]:
        """For each group of this table the positions of those that can have rows."""
        return tuple(self.axes[axis].alive for axis in table if self.axes[axis].group is not None)

    def printed(self, table: Axes, levels: Floats) -> Floats:
        """Numbers of all printed cells of a table, the last group fastest: from those of its levels, else 0."""
        found = np.zeros([self.axes[axis].many for axis in table])
        shown = [self.axes[axis].shown for axis in table]
        if all(shown):
            found[np.ix_(*([place for _, place in one] for one in shown))] = levels[
                np.ix_(*([level for level, _ in one] for one in shown))
            ]
        return found.ravel()

    def is_public(self, table: Axes) -> bool:
        """True if all counts of a table, by all levels, follow from what is public."""
        return all(part in self.known for part in parts_of(self.effects, table))

    @property
    def noisy(self) -> list[bool]:
        """Of each table whether any cell that is printed can have noise."""
        each = zip(self.tables, self.cells, strict=True)
        return [bool(cells) and not self.is_public(table) for table, cells in each]

    @property
    def filled_words(self) -> str:
        """The words for nulls that nobody drew a value for; empty where none is filled."""
        names = ", ".join(dict.fromkeys(axis.printed.column for axis in self.axes if axis.is_filled))
        return f"the nulls of {names} are in the counts by the law that imputes them, and none was drawn" if names else ""

    def words(self, totals: Sequence[ListedTotals]) -> tuple[Mapping[str, str], ...]:
        """For each table what a document says of it beside these lists of exact totals.

        It has them where all its effects of their columns are public, and has those of some groups as public sums.
        """
        return tuple(self._words(table, totals) for table in self.tables)

    def _words(self, table: Axes, totals: Sequence[ListedTotals]) -> Mapping[str, str]:
        if self.is_public(table):
            return PUBLISHED
        return {"totals": ADD_UP} if all(self._has(table, listed) for listed in totals) else APART

    def _has(self, table: Axes, listed: ListedTotals) -> bool:
        own = {self.axes[axis].printed.column: axis for axis in table}
        found = sum(one.listed == listed.columns for one in self._public_sums[table])
        if listed.some is None:
            axes = tuple(axis for axis in table if self.axes[axis].printed.column in listed.columns)
            known = all(part in self.known for part in parts_of(self.effects, axes))
            return known and (found > 0 or not says_more(listed.columns, own, self.columns))
        return found >= listed.some if listed.columns <= own.keys() else True  # no sum of cells is one of these totals


def domain_of(groupings: Sequence[tuple[Group, ...]], asked: Asked) -> Domain:
    """The domain of these tables."""
    printed = tuple(dict.fromkeys(group for by in groupings for group in by))
    axes = tuple(_axis(group, asked) for group in printed)
    tables = tuple(tuple(map(printed.index, by)) for by in groupings)
    effects = effects_of([len(axis.alive) for axis in axes], tables)
    parts: dict[Axes, EffectCounts] = {}
    known: dict[Axes, Counted] = {}
    for part in effects.parts:
        own = [axes[axis] for axis in part]
        groups, sizes = tuple(axis.group for axis in own if axis.group is not None), tuple(axis.size for axis in own)
        parts[part] = EffectCounts(groups, sizes, tuple(axis.alive for axis in own))
        found = asked.known(parts[part].table if part else RowCount())
        if found is not None:
            known[part] = found
    return Domain(axes, tables, effects, parts, known, asked.sums, Declared(asked.facts))


def _public_numbers(counted: Counted) -> Integers | None:
    """The numbers of public counts; None before the totals are published."""
    if isinstance(counted, PublicCells):
        return np.asarray(counted.values()) if counted.published else None
    return None if counted.rows is None else np.array(counted.rows)


def _axis(printed: Group, asked: Asked) -> TableAxis:
    whole, many = covering(printed, asked.facts), len(group_labels(printed, asked.facts))
    filling = asked.filled.get(printed.column)
    if filling is not None and len(filling.law(whole)) == 1:
        return TableAxis(printed, whole, None, 1, many, (0,), ())
    if filling is not None:
        group = replace(whole, column=filling.called)
        size = len(group_labels(group, asked.facts))
        return TableAxis(printed, whole, group, size, many, tuple(range(size)), filling.law(whole))
    size = len(group_labels(whole, asked.facts))
    return TableAxis(printed, whole, whole, size, many, _alive(whole, size, asked), ())


def _alive(group: Group, size: int, asked: Asked) -> tuple[int, ...]:
    """The positions of the groups that can have rows, as far as clamps, conditions and totals say; all where none can."""
    held = asked.held(TableCounts((group,), (size,)))
    there = set(range(size)) if held is None else set(map(int, held))
    return tuple(sorted(there & _reached(group, size, asked.facts))) or tuple(range(size))


def _reached(group: Group, size: int, facts: TableFacts) -> set[int]:
    """The positions of the groups that have values within the clamps of the column."""
    known = facts[group.column]
    if not isinstance(group, BinGroup) or not isinstance(known, NumberFacts):
        return set(range(size))
    bins = {place for place, (start, stop) in enumerate(pairwise(group.edges)) if start <= known.high and stop > known.low}
    return bins.union(range(len(group.labels), size))
