"""Tables of counts of which several agree once noise is in them: rows by all levels of their groups, in fine units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from discreet.cube.cells import Codes, Integers
from discreet.cube.cube import ROW_LIMIT, Cube
from discreet.cube.queries.base import Changed, Row, change_of_sum, numbers_added, wide_times
from discreet.cube.queries.counts import TableCounts
from discreet.cube.scans import Scan
from discreet.domain.groups import Group
from discreet.domain.steps import TableFacts

__all__ = ["WholeTable"]


@dataclass(frozen=True, slots=True)
class WholeTable:
    """Times the rows by the groups, in noise that is independent from cell to cell.

    Args:
        groups: of different columns or bins; every row is in one of each.
        sizes: how many groups each has, the null group included where there is one.
        alive: for each the positions of those that can have rows, whatever the table.
        fine: the variance that the noise has in units of the answer, at least, where times can grow so far; 0 for any.
        times: a power of two.
    """

    groups: tuple[Group, ...]
    sizes: tuple[int, ...]
    alive: tuple[tuple[int, ...], ...]
    fine: int
    times: int = 1

    def words(self) -> str:
        named = ", ".join(self.columns())
        return f"table by {named}" if named else "rows of all tables"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one place"

    def columns(self) -> tuple[str, ...]:
        return tuple(group.column for group in self.groups)

    def widths(self) -> tuple[int, ...]:
        return (prod(self.levels),)

    @property
    def levels(self) -> tuple[int, ...]:
        """How many groups each has that can have rows."""
        return tuple(map(len, self.alive))

    @property
    def table(self) -> TableCounts:
        """The counts by the groups."""
        return TableCounts(self.groups, self.sizes)

    def reach(self) -> tuple[int, int]:
        return self.times, self.times

    def nullable(self, facts: TableFacts) -> bool:
        return self.table.nullable(facts)

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return change_of_sum(self, row, facts)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> WholeTable:
        """With so many times the answer that its noise is wide beside the rounding of a normal number."""
        return replace(self, times=wide_times(variance, self.fine, self.times)) if self.fine else self

    def is_answered_by(self, part: Scan) -> bool:
        return self.table.is_answered_by(part)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        counts = self.table.answer(cube, brought, cells, facts).reshape(-1, *self.sizes)
        return np.concatenate([self.of_counts(one).ravel() for one in counts])

    def of_counts(self, counts: Integers) -> Integers:
        """The answer for counts by the groups, of the shape of `sizes`; of the shape `levels`."""
        there = np.asarray(counts[np.ix_(*self.alive)] if self.groups else counts)  # without groups it is one number
        wide = ROW_LIMIT * self.times >= 1 << 62
        return np.asarray(self.times * (there.astype(np.object_) if wide else there))
