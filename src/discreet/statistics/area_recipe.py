"""How the tables of all levels of a tree are measured and put together: what a statistic of areas asks and answers.

Proof: docs/proofs/areas.md, K4.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.cube.queries import AreaEffects, AreaLevels, EffectCounts, Query, RowCount, TableCounts
from discreet.domain.groups import CategoryGroup, Group, group_labels
from discreet.domain.origins import covers, says_more
from discreet.errors import InternalError, PlanError
from discreet.exact.cached import cached_property
from discreet.mechanisms import law_of_cell
from discreet.mechanisms.effects import Axes, Effects, effects_of
from discreet.noise.single.laws import RoundedGaussian
from discreet.statistics.base import Asked
from discreet.statistics.counted import ADD_UP, APART, PUBLISHED
from discreet.statistics.emptied import Empty, can_move, cells_without_rows
from discreet.statistics.estimate import Estimate
from discreet.statistics.levels import Declared, area_levels, groups_there, tree_of
from discreet.statistics.printed_cells import decimals_of, ends_of_rows
from discreet.statistics.recipe import Answers, Counted, CountTable, GroupSize, Noises, Statements
from discreet.statistics.tree_cells import (
    AreaTable,
    MeasuredArea,
    MeasuredAreas,
    TreeTables,
    cells_of_areas,
    clear_ends,
    errors_of_areas,
)
from discreet.statistics.tree_given import LevelShares, shares_of_effects
from discreet.statistics.tree_shares import Wanted, best_shares_in_tree
from discreet.statistics.trees import Floats, Tree

__all__ = ["AreasRecipe", "decimals_of_areas", "ends_of_areas", "recipe_of"]

_MOST_CELLS = 1 << 22
"""Of a table whose cells are looked at one by one."""


def recipe_of(
    named: Sequence[str], by: Sequence[tuple[Group, ...]], shares: Sequence[LevelShares], asked: Asked
) -> AreasRecipe:
    """The effects of every level: those that follow from what is public, and the others, which get noise.

    Args:
        named: the columns of the levels.
        by: the further groups of each table.
        shares: those that are stated for levels and tables; none where they are to be chosen.
        asked: the request.

    Raises:
        PlanError: a table has no share above 0 at the last level, and none of those that it is part of.
    """
    axes = tuple(dict.fromkeys(group for grouping in by for group in grouping))
    sizes = {group: len(group_labels(group, asked.facts)) for group in axes}
    alive = tuple(groups_there(group, sizes[group], asked) for group in axes)
    tables = tuple(tuple(map(axes.index, grouping)) for grouping in by)
    effects = effects_of([len(one) for one in alive], tables)
    levels = area_levels(named, asked)
    parts: dict[tuple[int, Axes], AreaEffects] = {}
    known: dict[tuple[int, Axes], Counted] = {}
    for level in range(len(named) + 1):
        for part in effects.parts:
            own = tuple(axes[axis] for axis in part)
            effect = EffectCounts(own, tuple(sizes[group] for group in own), tuple(alive[axis] for axis in part))
            query = parts[level, part] = AreaEffects(levels, level, effect)
            found = asked.known(query.table if query.sizes else RowCount())
            if found is not None:
                known[level, part] = found
    wanted = Wanted(tree_of(levels), effects, tables, frozenset(known))
    given = shares_of_effects(shares, named, effects, tables) if shares else None
    if given is not None:
        _check_last(given, known, effects, axes, len(named))
        parts = {key: query for key, query in parts.items() if key in given or key in known}
    columns = Declared(asked.facts)
    totals = tuple(listed.columns & asked.facts.columns.keys() for listed in asked.totals)
    many = tuple(sizes[one] for one in axes)
    recipe = AreasRecipe(levels, axes, many, alive, wanted, given, parts, known, totals, asked.held, columns, ())
    return replace(recipe, nobody=can_move(effects.sizes, tables, recipe.empty_groups))


def _check_last(
    given: Container[tuple[int, Axes]],
    known: Container[tuple[int, Axes]],
    effects: Effects,
    axes: Sequence[Group],
    last: int,
) -> None:
    """Checks that everything is measured or known in the areas of the last level; what is not, nothing tells.

    Raises:
        PlanError: it is not.
    """
    lacking = next((part for part in effects.parts if (last, part) not in given and (last, part) not in known), None)
    if lacking is not None:
        by = ", ".join(axes[axis].column for axis in lacking)
        raise PlanError(
            f"agreeing_areas(shares=…): the last level has no share above 0 for a table by {by or 'its areas'}; give one to "
            "this table there, or to one with more columns"
        )


def _tables(wanted: Wanted) -> list[AreaTable]:
    """The tables, those of all levels by one grouping after the other: as `AgreeingAreas.tables` has them."""
    return [AreaTable(level, table) for table in wanted.tables for level in range(len(wanted.tree.parents) + 1)]


@dataclass(frozen=True, eq=False)
class AreasRecipe:
    """Tables of every level of a tree.

    Args:
        levels: the levels of the tree.
        groups: the further groups of the tables, the axes of their effects.
        sizes: how many groups each has.
        alive: for each the positions of those that can have rows.
        wanted: the tree of these, and the tables of each of its levels.
        given: the shares of effects that follow from stated ones; None where they are to be chosen.
        parts: the query of each effect of each level that is known or measured.
        known: the counts behind those that follow from what is public; the others get noise.
        totals: the columns of each table of exact totals.
        held: the positions of the cells of a table that can have rows, as far as is known; None where nothing is.
        columns: the declared columns.
        nobody: the cells of groups in which nobody can be in any area, which are made 0.
    """

    whole: ClassVar = False
    levels: AreaLevels
    groups: tuple[Group, ...]
    sizes: tuple[int, ...]
    alive: tuple[tuple[int, ...], ...]
    wanted: Wanted
    given: Mapping[tuple[int, Axes], Fraction] | None
    parts: Mapping[tuple[int, Axes], AreaEffects]
    known: Mapping[tuple[int, Axes], Counted]
    totals: tuple[frozenset[str], ...]
    held: Callable[[TableCounts], Collection[int] | None]
    columns: Declared
    nobody: Empty

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
        area = (CategoryGroup(self.levels.columns[table.level - 1]),) if table.level else ()
        return (*area, *(self.groups[axis] for axis in table.axes))

    @cached_property
    def noisy(self) -> dict[tuple[int, Axes], AreaEffects]:
        """The effects that get noise."""
        return {part: query for part, query in self.parts.items() if part not in self.known}

    @cached_property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        """Each effect of each level with its share of the statistic, which weighs as much as its tables."""
        shares = best_shares_in_tree(self.wanted) if self.given is None else self.given
        every = sum(shares[part] for part in self.noisy)
        return tuple((query, len(self.asked) * shares[part] / every) for part, query in self.noisy.items())

    def error(self, noises: Noises, rows: int) -> float:
        return max((float(one.max()) for one in self._errors(noises).values()), default=0.0)

    def _errors(self, noises: Noises) -> dict[AreaTable, Floats]:
        """For each table and each shape of its areas a half-width of the noise in every cell that can have rows."""
        return errors_of_areas(self.tables_of(self.tree), self.asked, self.noise_behind(noises), noises.level)

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
        tables = self.tables_of(self.tree)
        cells, halves = cells_of_areas(tables, self.asked, self.measured(answers)), self._errors(answers.noises)
        of = self.tree.shapes.of
        ends = (ends_of_areas(*cells[table], halves[table][of[table.level]]) for table in self.asked)
        each = zip(self.asked, ends, strict=True)
        return tuple(self.count_table(table, clear_ends(tables, table.axes, own)) for table, own in each)

    def tables_of(self, tree: Tree) -> TreeTables:
        """The effects and the cells in which nobody can be, in the areas of a tree, in whatever order these are."""
        return TreeTables(tree, self.effects, self.nobody)

    def count_table(self, table: AreaTable, ends: Sequence[Floats]) -> CountTable:
        """The table over all labels, 0 where nobody can be.

        Args:
            table: which one.
            ends: counts, low and high ends of its cells that can have rows, shape (areas, cells).
        """
        sizes = (*self.levels.sizes[table.level - 1 : table.level], *(self.sizes[axis] for axis in table.axes))
        axes = (*self.levels.there[table.level - 1 : table.level], *(self.alive[axis] for axis in table.axes))
        numbers = [np.zeros(sizes) for _ in range(3)]
        for whole, one in zip(numbers, ends, strict=True):
            whole[np.ix_(*axes)] = one.reshape(tuple(map(len, axes)))
        return CountTable(self.groups_of(table), Estimate(*(one.ravel() for one in numbers)), self.words_of(table))

    def words_of(self, table: AreaTable) -> Mapping[str, str]:
        """What is said of a table beside exact totals: it has them where all its effects of their columns are public."""
        tables = self.tables_of(self.tree)
        if all((table.level, part) in self.known for part in tables.parts_of(table.axes)):
            return PUBLISHED
        own = [*self.levels.columns, *(self.groups[axis].column for axis in table.axes)]
        for listed in self.totals:
            axes = tuple(axis for axis in table.axes if covers(listed, (self.groups[axis].column,), self.columns))
            level = min(self._level_of(listed), table.level)
            known = all((level, part) in self.known for part in tables.parts_of(axes))
            if not known or says_more(listed, own, self.columns):
                return APART
        return APART if self._has_noise_where_nobody_is(table) else {"totals": ADD_UP}

    def _level_of(self, listed: Collection[str]) -> int:
        """The finest level whose areas are known from the listed columns; 0 where none are."""
        levels = enumerate(self.levels.columns, start=1)
        return max((place for place, name in levels if covers(listed, (name,), self.columns)), default=0)

    def _has_noise_where_nobody_is(self, table: AreaTable) -> bool:
        """True if a known sum has other cells in which nobody can be than all those of margins that are known to be 0.

        The sum of its other cells, which exact totals say, is then not that of the estimates. Margins that are known to be 0
        are parts of the sum only if they are by the groups of the sum, and of its areas.
        """
        areas, empty = self._empty(table)
        left = empty & ~cells_without_rows(self.effects.sizes, self.nobody, table.axes)
        names_areas = any(self._level_of(listed) for listed in self.totals)
        without = {}
        for level in {table.level} if names_areas else {table.level, 0}:
            for part in self._known_margins(level, table.axes):
                over = [areas + place for place, axis in enumerate(table.axes) if axis not in part]
                every = tuple(over if level == table.level else [*range(areas), *over])
                without[level, part] = nobody = empty.all(axis=every, keepdims=True)
                left &= ~(nobody & (left.sum(axis=every, keepdims=True) == 1))  # the others of a sum of 0 are 0
        sums = {(level, part) for level in range(table.level + 1) for part in self._known_margins(level, table.axes)}
        for level, part in {(0, ()), *sums}:
            alone = left.copy()
            for (own, groups), nobody in without.items():
                if level <= own and {*part} <= {*groups}:
                    alone &= ~nobody
            if alone.any():
                return True
        return False

    @property
    def empty_groups(self) -> Empty:
        """Of all sets of two groups or more the cells in which nobody can be, whatever the area; the fewest groups first."""
        sets = sorted((part for part in self.effects.parts if len(part) > 1), key=len)
        found = ((part, np.flatnonzero(self._empty(AreaTable(0, part))[1])) for part in sets)
        return tuple((part, tuple(cells.tolist())) for part, cells in found if len(cells))

    def _empty(self, table: AreaTable) -> tuple[int, NDArray[np.bool_]]:
        """The cells of a table in which nobody can be, and how many axes are of areas: 1, or 0.

        Of tables of very many cells the groups alone are looked at.
        """
        areas = min(table.level, 1)
        sizes = [*self.levels.sizes[table.level - 1 : table.level], *(self.sizes[axis] for axis in table.axes)]
        alive = [*self.levels.there[table.level - 1 : table.level], *(self.alive[axis] for axis in table.axes)]
        if areas and prod(sizes) > _MOST_CELLS:
            return self._empty(AreaTable(0, table.axes))
        held = self.held(TableCounts(self.groups_of(table), tuple(sizes))) if prod(sizes) <= _MOST_CELLS else None
        there = np.full(sizes, held is None)
        there.ravel()[[] if held is None else [*held]] = True
        return areas, np.asarray(~there[np.ix_(*alive)] if alive else ~there)

    def _known_margins(self, level: int, axes: Axes) -> Iterator[Axes]:
        """The margins of a table in each area of a level that follow from what is public."""
        tables = self.tables_of(self.tree)
        for part in tables.parts_of(axes):
            if all((level, one) in self.known for one in tables.parts_of(part)):
                yield part

    def measured(self, answers: Answers) -> MeasuredAreas:
        """The public answers of all effects of all levels, with noise or without."""
        found = self.noise_behind(answers.noises)
        for part, query in self.noisy.items():
            found[part] = replace(found[part], values=answers.values[query].reshape(query.count, *query.effect.levels))
        for part, numbers in self.known_numbers(answers).items():
            found[part] = replace(found[part], values=numbers)
        return found

    def known_numbers(self, answers: Answers) -> dict[tuple[int, Axes], Integers]:
        """The numbers of the effects that follow from what is public, shape (areas, levels of its axes)."""
        found = {}
        for part, counted in self.known.items():
            query = self.parts[part]
            counts, _ = counted.counts(Answers(answers.noises, answers.values, slice(0, prod(query.sizes))))
            found[part] = query.of_counts(np.asarray(counts).reshape(query.sizes))
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


def ends_of_areas(values: Integers, denominator: int, halves: Floats) -> tuple[Floats, Floats, Floats]:
    """The nearest doubles of the cells of a table, shape (areas, cells), and the ends of their intervals, outwards.

    Args:
        values: numerators, an area after the other.
        denominator: of all of them.
        halves: for each area the half-width of its intervals.
    """
    return ends_of_rows(values.reshape(len(values), -1), denominator, halves, decimals_of_areas(halves))


def decimals_of_areas(halves: Floats) -> int | None:
    """The decimals of the ends of intervals with these half-widths, of areas or of their shapes; None without noise."""
    noisy = halves[halves > 0]
    return decimals_of(Fraction(float(noisy.min())) if len(noisy) else Fraction(0))
