"""The numbers of rows in the areas of every level of a tree, in tables that add up from level to level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.cube.queries import AreaEffects, EffectCounts, Query, RowCount
from discreet.domain.groups import Bins, CategoryGroup, Group, group_labels, is_complete
from discreet.domain.origins import root_of
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError, PlanError, printed
from discreet.exact.numbers import Amount, float_up
from discreet.mechanisms import Sensitivity, law_of_cell
from discreet.mechanisms.effects import Axes, Effects, effects_of
from discreet.noise.single.laws import RoundedGaussian
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
    Written,
    groupings_of,
)
from discreet.statistics.common import NoColumn, check_weight, title
from discreet.statistics.count_tables import cells_of_tables, group_facts, refuse_grouped, refuse_twice
from discreet.statistics.counted import ADD_UP, APART, PUBLISHED
from discreet.statistics.estimate import Estimate
from discreet.statistics.levels import Declared, areas_there, check_chain, groups_there, levels_of, tree_of
from discreet.statistics.possible import Possible, count_value
from discreet.statistics.printed_cells import decimals_of, ends_of
from discreet.statistics.recipe import Answers, Counted, CountTable, GroupSize, Noises, Statements
from discreet.statistics.tree_cells import (
    AreaTable,
    MeasuredArea,
    MeasuredAreas,
    TreeTables,
    cells_of_areas,
    errors_of_areas,
)
from discreet.statistics.tree_shares import Wanted, best_shares_in_tree
from discreet.statistics.trees import Tree
from discreet.statistics.ways import written_groupings

__all__ = ["AgreeingAreas", "AreasRecipe", "agreeing_areas", "ends_of_areas"]


def agreeing_areas(*levels: str, by: Sequence[Sequence[str | Bins]] = ((),), weight: Amount = 1) -> Statistic:
    """The numbers of rows in the areas of every level, by further columns if some are named, in tables that add up.

    For all areas together and for each level there is a table by each of `by`, a frame of its own. Each level is measured,
    with a share of the spend that gives all tables of all levels the same relative importance. Every cell gets the unbiased
    least-squares estimate from everything that was measured, and an interval of its own. The areas inside an area add up to
    it, tables of one level agree, and both are equal to exact totals that are published alongside. The estimates are no
    whole numbers; the measured integers are in the release too.

    Args:
        levels: a hierarchy, for all of its levels; or the columns of levels, the widest areas first, each of which is
            determined by the next one.
        by: the groupings of the tables, each a list of columns or bins that cover their column; [] for the rows alone.
        weight: its share of the spend relative to the other statistics of the request.

    Raises:
        PlanError: no level, or a grouping that is not a list of columns or is given twice.
    """
    if not levels or not all(isinstance(one, str) and one for one in levels):
        raise PlanError(
            'agreeing_areas(): must name a hierarchy or the columns of its levels, such as agreeing_areas("area")'
        )
    return Statistic(AgreeingAreas(levels, _given(by), ()), None, "areas", check_weight(weight))


def _given(by: object) -> tuple[tuple[str | Bins, ...], ...]:
    said = f'agreeing_areas(by={printed(by)}): must be lists of columns or bins, such as by=[[], ["sex"], ["sex", "age"]]'
    if not isinstance(by, list | tuple) or not by:
        raise PlanError(said)
    found = tuple(tuple(one) if isinstance(one, list | tuple) else (None,) for one in by)
    if not all(isinstance(column, str | Bins) for one in found for column in one):
        raise PlanError(said)
    return found


@dataclass(frozen=True, slots=True)
class LevelTables:
    """A count for each cell of each table of each level, in frames of their own."""

    one_number: bool = False

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        found = _kind_of(one).tables
        if not found:
            raise InternalError(f"statistic '{one.name}' has groups that were not checked")
        return found

    def prepare(
        self, one: Statistic, check: Callable[[str | Bins | Group], Group], facts: TableFacts, *, grouped: bool
    ) -> Statistic:
        if grouped:
            refuse_grouped(one)
        kind = _kind_of(one)
        levels = levels_of(kind.levels, facts)
        areas = [check(level) for level in levels]
        check_chain(levels, facts)
        by = tuple(tuple(check(column) for column in grouping) for grouping in kind.by)
        for groups in by:
            refuse_twice(one, groups)
            _check_complete(groups, facts)
        if len(set(by)) < len(by):
            raise PlanError("agreeing_areas(): by must name different lists of columns; one of them is given twice")
        tables = tuple((*area, *groups) for groups in by for area in ((), *((one,) for one in areas)))
        found = AgreeingAreas(tuple(levels), by, tables)
        return replace(one, kind=found)

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def to_json(self, one: Statistic) -> dict[str, object]:
        kind = _kind_of(one)
        by = [[group_facts(group) for group in grouping] for grouping in kind.by]
        tables = [[group_facts(group) for group in grouping] for grouping in kind.tables]
        return {"levels": list(kind.levels), "by": by, "tables": tables}

    def places(self, one: Statistic, facts: TableFacts) -> int:
        return cells_of_tables(self.groupings(one), facts)

    def advice(self, one: Statistic, room: Room) -> str:
        return f"take fewer levels or groups, at most {room.most} in all its tables"


def _check_complete(groups: Sequence[Group], facts: TableFacts) -> None:
    for group in groups:
        if not is_complete(group, facts):
            raise PlanError(
                f"agreeing_areas(): bins('{group.column}') leave values out, and areas can only add up over all rows; let "
                "the bins cover the column, clamp it to them, or ask for tables(…)"
            )


def _kind_of(one: Statistic) -> AgreeingAreas:
    if not isinstance(one.kind, AgreeingAreas):
        raise InternalError(f"statistic '{one.name}' has no areas")
    return one.kind


def _written_levels(value: Written) -> Sequence[Any]:
    """The levels in a plan file."""
    return [item.string() for item in value.items()]


@dataclass(frozen=True, slots=True)
class AgreeingAreas:
    """The numbers of rows in the areas of every level, in tables that add up; `tables` once a table has checked them."""

    levels: tuple[str, ...]
    by: tuple[tuple[str | Bins | Group, ...], ...]
    tables: tuple[tuple[Group, ...], ...]

    word: ClassVar = "agreeing_areas"
    noun: ClassVar = "Agreeing areas"
    keys: ClassVar = Keys(
        _written_levels, {}, {"by": written_groupings}, lacks='needs a list of levels: write { agreeing_areas = ["area"] }'
    )
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(count_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = NoColumn()
    shape: ClassVar[Shape] = LevelTables()
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return agreeing_areas(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part or AgreeingAreas.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        # In units of an effect: ‖E e_x‖₁ ≤ 2^d, and ‖E(e_x - e_y)‖² ≤ 2, within one area or between two.
        most = 1 << max(map(len, self.by))
        return free.of_moves((2 * most, 2), (2 * most, 2), (most, 1))

    def recipe(self, one: Statistic, asked: Asked) -> AreasRecipe:
        groupings_of(one)
        return _recipe(self, asked)


def _recipe(kind: AgreeingAreas, asked: Asked) -> AreasRecipe:
    """The effects of every level: those that follow from what is public, and the others, which get noise."""
    by = tuple(tuple(group for group in grouping if not isinstance(group, str | Bins)) for grouping in kind.by)
    axes = tuple(dict.fromkeys(group for grouping in by for group in grouping))
    sizes = {group: len(group_labels(group, asked.facts)) for group in axes}
    alive = tuple(groups_there(group, sizes[group], asked) for group in axes)
    tables = tuple(tuple(map(axes.index, grouping)) for grouping in by)
    effects = effects_of([len(one) for one in alive], tables)
    there = areas_there(kind.levels, asked)
    areas = tuple(len(group_labels(CategoryGroup(level), asked.facts)) for level in kind.levels)
    parts: dict[tuple[int, Axes], AreaEffects] = {}
    known: dict[tuple[int, Axes], Counted] = {}
    for level in range(len(kind.levels) + 1):
        for part in effects.parts:
            own = tuple(axes[axis] for axis in part)
            effect = EffectCounts(own, tuple(sizes[group] for group in own), tuple(alive[axis] for axis in part))
            query = parts[level, part] = AreaEffects(kind.levels, areas, there, level, effect)
            found = asked.known(query.table if query.sizes else RowCount())
            if found is not None:
                known[level, part] = found
    tree = tree_of(kind.levels, there, asked.facts)
    wanted = Wanted(tree, effects, tables, frozenset(known))
    columns = tuple(group.column for group in axes)
    totals = tuple(_told_apart(listed, kind.levels, columns, asked) for listed in asked.totals)
    return AreasRecipe(
        kind.levels, axes, tuple(sizes[one] for one in axes), alive, areas, there, wanted, parts, known, totals
    )


def _told_apart(
    listed: frozenset[str], levels: Sequence[str], columns: Sequence[str], asked: Asked
) -> frozenset[str] | None:
    """The columns of totals; None where one of them is another function of an area or of a group."""
    own = {*levels, *columns}
    roots = {root_of(name, Declared(asked.facts)) for name in own}
    others = (root_of(name, Declared(asked.facts)) for name in listed - own if name in asked.facts.columns)
    return None if any(root in roots for root in others) else listed


def _tables(wanted: Wanted) -> list[AreaTable]:
    """The tables, those of all levels by one grouping after the other: as `AgreeingAreas.tables` has them."""
    return [AreaTable(level, table) for table in wanted.tables for level in range(len(wanted.tree.parents) + 1)]


@dataclass(frozen=True, eq=False)
class AreasRecipe:
    """Tables of every level of a tree.

    Args:
        levels: the columns of the levels, the widest areas first.
        groups: the further groups of the tables, the axes of their effects.
        sizes: how many groups each has.
        alive: for each the positions of those that can have rows.
        areas: for each level the number of areas.
        there: for each level the positions of those that can have rows.
        wanted: the tree of these, and the tables of each of its levels.
        parts: the query of each effect of each level.
        known: the counts behind those that follow from what is public; the others get noise.
        totals: the columns of each table of exact totals; None for one that says other things of areas or groups.
    """

    whole: ClassVar = False
    levels: tuple[str, ...]
    groups: tuple[Group, ...]
    sizes: tuple[int, ...]
    alive: tuple[tuple[int, ...], ...]
    areas: tuple[int, ...]
    there: tuple[tuple[int, ...], ...]
    wanted: Wanted
    parts: Mapping[tuple[int, Axes], AreaEffects]
    known: Mapping[tuple[int, Axes], Counted]
    totals: tuple[frozenset[str] | None, ...]

    @property
    def tree(self) -> Tree:
        return self.wanted.tree

    @property
    def effects(self) -> Effects:
        return self.wanted.effects

    @cached_property
    def asked(self) -> tuple[AreaTable, ...]:
        """The tables, in the order of their frames."""
        return tuple(_tables(self.wanted))

    def groups_of(self, table: AreaTable) -> tuple[Group, ...]:
        """The groups of a table, its areas first."""
        area = (CategoryGroup(self.levels[table.level - 1]),) if table.level else ()
        return (*area, *(self.groups[axis] for axis in table.axes))

    @cached_property
    def noisy(self) -> dict[tuple[int, Axes], AreaEffects]:
        """The effects that get noise."""
        return {part: query for part, query in self.parts.items() if part not in self.known}

    @cached_property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        """Each effect of each level with its share of the statistic, which weighs as much as its tables."""
        shares = best_shares_in_tree(self.wanted)
        return tuple((query, len(self.asked) * shares[part]) for part, query in self.noisy.items())

    def error(self, noises: Noises, rows: int) -> float:
        return float_up(max((max(one) for one in self._errors(noises).values()), default=Fraction(0)))

    def _errors(self, noises: Noises) -> dict[AreaTable, tuple[Fraction, ...]]:
        """For each table and each of its areas a half-width of the noise in every cell that can have rows."""
        tables = TreeTables(self.tree, self.effects)
        return errors_of_areas(tables, self.asked, self.noise_behind(noises), noises.level)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return " in the area and table with the widest interval; all areas add up"

    def statements(self, noises: Noises) -> Statements:
        # Each cell of each area has a sum of noises of its own.
        cells = (
            self.tree.sizes[table.level] * prod(self.effects.sizes[axis] for axis in table.axes) for table in self.asked
        )
        return Statements({}, sum(cells), 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return ()

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        cells = cells_of_areas(TreeTables(self.tree, self.effects), self.asked, self.measured(answers))
        halves = self._errors(answers.noises)
        found = []
        for table in self.asked:
            sizes = (*self.areas[table.level - 1 : table.level], *(self.sizes[axis] for axis in table.axes))
            axes = (*self.there[table.level - 1 : table.level], *(self.alive[axis] for axis in table.axes))
            numbers = [np.zeros(sizes) for _ in range(3)]
            for whole, one in zip(numbers, ends_of_areas(*cells[table], halves[table]), strict=True):
                whole[np.ix_(*axes)] = one.reshape(tuple(map(len, axes)))
            counts = Estimate(*(one.ravel() for one in numbers))
            found.append(CountTable(self.groups_of(table), counts, None, self._words(table)))
        return tuple(found)

    def _words(self, table: AreaTable) -> Mapping[str, str]:
        """What is said of a table beside exact totals: it has them where all its effects of their columns are public."""
        tables = TreeTables(self.tree, self.effects)
        if all((table.level, part) in self.known for part in tables.parts_of(table.axes)):
            return PUBLISHED
        for columns in self.totals:
            if columns is None:
                return APART
            level = max((place for place, name in enumerate(self.levels, start=1) if name in columns), default=0)
            listed = tuple(axis for axis in table.axes if self.groups[axis].column in columns)
            if not all((min(level, table.level), part) in self.known for part in tables.parts_of(listed)):
                return APART
        return {"totals": ADD_UP}

    def measured(self, answers: Answers) -> MeasuredAreas:
        """The public answers of all effects of all levels, with noise or without."""
        found = self.noise_behind(answers.noises)
        for part, query in self.noisy.items():
            found[part] = replace(found[part], values=answers.values[query].reshape(query.count, *query.effect.levels))
        for part, counted in self.known.items():
            query = self.parts[part]
            counts, _ = counted.counts(Answers(answers.noises, answers.values, slice(0, prod(query.sizes))))
            found[part] = replace(found[part], values=query.of_counts(np.asarray(counts).reshape(query.sizes)))
        return found

    def noise_behind(self, noises: Noises) -> MeasuredAreas:
        """The noise behind each effect of each level."""
        return {part: _noise(noises, self.noisy.get(part)) for part in self.parts}

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def _noise(noises: Noises, query: AreaEffects | None) -> MeasuredArea:
    """The noise behind one effect; none where it is public."""
    if query is None:
        return MeasuredArea(None, 1, None)
    shape, law = noises.choose_shape(query), law_of_cell(noises.law(query))
    if not isinstance(shape, AreaEffects) or not isinstance(law, RoundedGaussian):
        raise InternalError("areas are measured with rounded Gaussian noise")
    return MeasuredArea(None, shape.effect.times, law)


def ends_of_areas(
    values: Integers, denominators: Integers, halves: Sequence[Fraction]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The nearest doubles of the cells of a table, area by area, and the ends of their intervals, outwards."""
    decimals = decimals_of(min((half for half in halves if half), default=Fraction(0)))
    flat = values.reshape(len(values), -1)
    ends = [ends_of(*one, decimals) for one in zip(flat, denominators.tolist(), halves, strict=True)]
    near, low, high = (np.concatenate(one) for one in zip(*ends, strict=True))
    return near, low, high
