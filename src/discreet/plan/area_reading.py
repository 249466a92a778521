"""The reading of areas that are too many for one cube: level by level, and some areas of a level at a time.

A statistic of areas whose tables have more numbers than a document holds is read in *slices*: for each level the rows are
counted by the further groups in some of its areas, one slice after the other, in an order in which the areas in one area
follow each other. Every slice is one GROUP BY of all rows, in which those of other areas are one more label, so that each
cube counts all rows and is small. What is read is a function of plan and schema alone
(docs/proofs/areas.md, K4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from discreet.cube.cells import Codes
from discreet.cube.membership import group_places
from discreet.cube.scans import Scan
from discreet.cube.value_paths import CategoryPath, KeyAxis, Path, axis_size
from discreet.domain.groups import CategoryGroup
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError, PlanError
from discreet.exact.cached import cached_property
from discreet.statistics.base import Statistic
from discreet.statistics.levels import declared_levels, depth_first

__all__ = ["MOST_IN_AN_AREA", "AreaReading", "AreaSlice", "reading_of"]

MOST_IN_AN_AREA = 2**20
"""The most cells of one area, over all further groups of its tables together: some of them are in memory at once."""

_SLICE = 2**23
"""The most cells of one slice: some hundred MB, if every one of them has rows."""


@dataclass(frozen=True, slots=True)
class AreaSlice:
    """The areas `first`, …, `last` - 1 of a level in depth-first order; of level 0 the one of all areas together."""

    level: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class AreaReading:
    """The slices in which the areas of all levels are read.

    Args:
        name: of the statistic.
        columns: those of the levels, the widest areas first.
        paths: of each of them.
        others: the axes of further groups and of conditions.
        facts: of the prepared table.
    """

    name: str
    columns: tuple[str, ...]
    paths: tuple[CategoryPath, ...]
    others: tuple[KeyAxis, ...]
    facts: TableFacts

    @cached_property
    def order(self) -> tuple[Codes, ...]:
        """For each level the positions of all its areas in depth-first order."""
        return depth_first(declared_levels(self.columns, self.facts))

    @property
    def cells(self) -> int:
        """The cells of one area in a cube."""
        return prod(map(axis_size, self.others))

    @cached_property
    def slices(self) -> tuple[AreaSlice, ...]:
        """All slices, the last level first."""
        most, found = max(1, _SLICE // self.cells), []
        for level in range(len(self.columns), 0, -1):
            size = len(self.order[level - 1])
            found += [AreaSlice(level, first, min(first + most, size)) for first in range(0, size, most)]
        return (*found, AreaSlice(0, 0, 1))

    def scan(self, one: AreaSlice) -> Scan:
        """The cube of a slice: its first axis is the place of the area among those of the slice, or their number beyond."""
        if not one.level:
            return Scan(self.others, (), (), self.cells)
        path, group = self.paths[one.level - 1], CategoryGroup(self.columns[one.level - 1])
        order = self.order[one.level - 1]
        rank = np.empty(len(order) + 1, dtype=np.int64)
        rank[order] = np.arange(len(order))
        rank[-1] = -1  # of a row that is in no area
        codes = np.array([*path.targets, path.null_target], dtype=np.int64)
        placed = rank[group_places(group, self.facts, codes, len(order))]
        beyond = one.last - one.first
        inside = (placed >= one.first) & (placed < one.last)
        known = list(range(beyond + 1))  # each number is one object, whichever areas have it
        *targets, null = (known[place] for place in np.where(inside, placed - one.first, beyond).tolist())
        axis = KeyAxis(replace(path, targets=tuple(targets), null_target=null))
        return Scan((axis, *self.others), (), (), (beyond + 1) * self.cells)


def reading_of(one: Statistic, columns: Sequence[str], base: Scan, paths: Sequence[Path], facts: TableFacts) -> AreaReading:
    """The reading of a statistic of areas.

    Args:
        one: the statistic.
        columns: those of its levels.
        base: one cube of all its tables at the last level, with the conditions of the request.
        paths: of the columns.
        facts: of the prepared table.

    Raises:
        PlanError: values are drawn, which would be other ones in each slice; or one area has too many cells.
    """
    levels = [path for path in paths if isinstance(path, CategoryPath)]
    if len(levels) < len(columns):
        raise InternalError("a level of areas has categories")
    drawn = sorted({path.name for path in [*levels, *(axis.path for axis in base.axes)] if path.drawn})
    if drawn:
        raise PlanError(
            f"statistic '{one.name}': is read area by area, and '{drawn[0]}' is imputed by a draw, which each part would "
            "make anew; impute one value, which needs no draw, or take fewer levels or groups"
        )
    others = tuple(axis for axis in base.axes if axis.called != columns[-1])
    found = AreaReading(one.name, tuple(columns), tuple(levels), others, facts)
    if found.cells > MOST_IN_AN_AREA:
        raise PlanError(
            f"statistic '{one.name}': its groups and conditions have {found.cells} cells in one area together, more than "
            f"{MOST_IN_AN_AREA}; take fewer of them, or ask for them in another request"
        )
    return found
