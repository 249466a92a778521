"""Effects of tables of counts within each area of one level of a tree (docs/proofs/areas.md, K4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from discreet.cube.cells import Codes, Integers
from discreet.cube.cube import Cube
from discreet.cube.queries.base import Changed, Row
from discreet.cube.queries.counts import TableCounts
from discreet.cube.queries.effects import EffectCounts
from discreet.cube.queries.vector_norms import Norms
from discreet.cube.scans import Scan
from discreet.domain.groups import CategoryGroup
from discreet.domain.steps import TableFacts
from discreet.exact.cached import cached_property

__all__ = ["AreaEffects", "AreaLevels"]


@dataclass(frozen=True)
class AreaLevels:
    """The levels of a tree of areas: their columns, and which area lies in which.

    Args:
        columns: those of the levels, the widest areas first; an area has one parent.
        sizes: for each level the number of areas, those that no row can be in among them.
        there: for each level the positions of the areas that rows can be in.
        parents: for each level but the first, for each of its areas the position of its parent in the level before.
    """

    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    there: tuple[tuple[int, ...], ...]
    parents: tuple[tuple[int, ...], ...]

    def __hash__(self) -> int:
        return self._hash  # every query has one, of perhaps a million areas

    @cached_property
    def _hash(self) -> int:
        return hash((self.columns, self.sizes, self.there, self.parents))

    def above(self, level: int) -> Codes:
        """For each area of the last level its place among the areas of this level that rows can be in, or -1."""
        found = np.arange(self.sizes[-1])
        if not level:
            return np.zeros_like(found)
        for parents in reversed(self.parents[level - 1 :]):
            found = np.array(parents, dtype=np.int64)[found]
        place = np.full(self.sizes[level - 1], -1)
        place[list(self.there[level - 1])] = np.arange(len(self.there[level - 1]))
        return np.asarray(place[found])


@dataclass(frozen=True, slots=True)
class AreaEffects:
    """The effect of some groups in each area of one level: the vectors of an `EffectCounts`, one area after the other.

    The rows are counted by the areas of the last level, and these counts are added up.

    Args:
        tree: the levels of areas.
        level: which of them; 0 for all areas together, 1 for the first column.
        effect: the effect in one area; its groups are of other columns.
    """

    tree: AreaLevels
    level: int
    effect: EffectCounts

    def words(self) -> str:
        by = ", ".join(group.column for group in self.effect.groups)
        where = f"by {self.tree.columns[self.level - 1]}" if self.level else "of all areas"
        return f"effect of {by} {where}" if by else f"rows {where}"

    def contribution(self) -> str:
        return f"in one area {self.effect.contribution()}"

    def columns(self) -> tuple[str, ...]:
        return (*self.tree.columns[self.level - 1 : self.level], *self.effect.columns())

    def widths(self) -> tuple[int, ...]:
        return (self.count * prod(self.effect.levels),)

    @property
    def count(self) -> int:
        """The number of areas of the level that rows can be in."""
        return len(self.tree.there[self.level - 1]) if self.level else 1

    @property
    def unit(self) -> int:
        """The answer is so many times the projection of the tables on the effect."""
        return self.effect.unit

    @property
    def table(self) -> TableCounts:
        """The counts by the areas of the level and the groups."""
        area = (CategoryGroup(self.tree.columns[self.level - 1]),) if self.level else ()
        return TableCounts((*area, *self.effect.groups), self.sizes)

    @property
    def finest(self) -> TableCounts:
        """The counts by the areas of the last level and the groups."""
        sizes = (self.tree.sizes[-1], *self.effect.sizes)
        return TableCounts((CategoryGroup(self.tree.columns[-1]), *self.effect.groups), sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of these counts."""
        return (*self.tree.sizes[self.level - 1 : self.level], *self.effect.sizes)

    def reach(self) -> tuple[int, int]:
        """The least and the greatest integer that a row adds."""
        return self.effect.reach()

    def nullable(self, facts: TableFacts) -> bool:
        return self.table.nullable(facts)

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return row.spreads(self._alone, self._apart, parts=self.widths()[0], nullable=self.nullable(facts))

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> AreaEffects:
        """With so many times the answer that its noise is wide beside the rounding."""
        return replace(self, effect=self.effect.choose_shape(variance, rows))

    def is_answered_by(self, part: Scan) -> bool:
        return self.finest.is_answered_by(part)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        finest = self.finest
        counts, above = finest.answer(cube, brought, cells, facts).reshape(-1, *finest.sizes), self.tree.above(self.level)
        found = np.zeros((len(counts), self.count, *self.effect.sizes), dtype=np.int64)
        for own, one in zip(found, counts, strict=True):
            np.add.at(own, above[above >= 0], one[above >= 0])
        return np.concatenate([self._of_areas(one).ravel() for one in found])

    def of_counts(self, counts: Integers) -> Integers:
        """The answer for counts of the shape of `sizes`; of the shape (areas that rows can be in, levels of the groups)."""
        return self._of_areas(counts[list(self.tree.there[self.level - 1])] if self.level else counts[np.newaxis])

    def _of_areas(self, counts: Integers) -> Integers:
        return np.stack([self.effect.of_counts(one) for one in counts])

    @property
    def _alone(self) -> Norms:
        """The norms of what a row adds: those of the effect, in its own area."""
        return self.effect.own_norms

    def _apart(self, kept: frozenset[str]) -> Norms:
        """The norms of the difference of two rows that agree in some columns.

        In one area it is that of the effect. In two areas both rows add their vectors side by side.
        """
        l1, l2_squared = self.effect.norms_apart(kept)
        if not self.level or not kept.isdisjoint(self.tree.columns[self.level - 1 :]):
            return l1, l2_squared
        alone = self._alone
        return max(l1, 2 * alone[0]), max(l2_squared, 2 * alone[1])
