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

__all__ = ["AreaEffects"]


@dataclass(frozen=True, slots=True)
class AreaEffects:
    """The effect of some groups in each area of one level: the vectors of an `EffectCounts`, one area after the other.

    Args:
        levels: the columns of the levels of the tree, the widest areas first; an area has one parent.
        areas: for each level the number of areas, those that no row can be in among them.
        there: for each level the positions of the areas that rows can be in.
        level: which of them; 0 for all areas together, 1 for the first column.
        effect: the effect in one area; its groups are of other columns.
    """

    levels: tuple[str, ...]
    areas: tuple[int, ...]
    there: tuple[tuple[int, ...], ...]
    level: int
    effect: EffectCounts

    def words(self) -> str:
        by = ", ".join(group.column for group in self.effect.groups)
        where = f"by {self.levels[self.level - 1]}" if self.level else "of all areas"
        return f"effect of {by} {where}" if by else f"rows {where}"

    def contribution(self) -> str:
        return f"in one area {self.effect.contribution()}"

    def columns(self) -> tuple[str, ...]:
        return (*self.levels[self.level - 1 : self.level], *self.effect.columns())

    def widths(self) -> tuple[int, ...]:
        return (self.count * prod(self.effect.levels),)

    @property
    def count(self) -> int:
        """The number of areas of the level that rows can be in."""
        return len(self.there[self.level - 1]) if self.level else 1

    @property
    def unit(self) -> int:
        """The answer is so many times the projection of the tables on the effect."""
        return self.effect.unit

    @property
    def table(self) -> TableCounts:
        """The counts by the areas of the level and the groups."""
        area = (CategoryGroup(self.levels[self.level - 1]),) if self.level else ()
        return TableCounts((*area, *self.effect.groups), self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of these counts."""
        return (*self.areas[self.level - 1 : self.level], *self.effect.sizes)

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
        return self.table.is_answered_by(part)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        counts = self.table.answer(cube, brought, cells, facts).reshape(-1, *self.sizes)
        return np.concatenate([self.of_counts(one).ravel() for one in counts])

    def of_counts(self, counts: Integers) -> Integers:
        """The answer for counts of the shape of `sizes`; of the shape (areas that rows can be in, levels of the groups)."""
        areas = counts[list(self.there[self.level - 1])] if self.level else counts[np.newaxis]
        return np.stack([self.effect.of_counts(one) for one in areas])

    @property
    def _alone(self) -> Norms:
        """The norms of what a row adds: those of the effect, in its own area."""
        return self.effect.own_norms

    def _apart(self, kept: frozenset[str]) -> Norms:
        """The norms of the difference of two rows that agree in some columns.

        In one area it is that of the effect. In two areas both rows add their vectors side by side.
        """
        l1, l2_squared = self.effect.norms_apart(kept)
        if not self.level or not kept.isdisjoint(self.levels[self.level - 1 :]):
            return l1, l2_squared
        alone = self._alone
        return max(l1, 2 * alone[0]), max(l2_squared, 2 * alone[1])
