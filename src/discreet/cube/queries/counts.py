"""Counts: of rows, of rows that are not null or are null, and of rows by further groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.cube.cells import Codes, Integers, codes_of
from discreet.cube.cube import Cube
from discreet.cube.membership import group_places
from discreet.cube.queries.base import Changed, Row, add_up, change_of_sum, numbers_added
from discreet.cube.scans import Scan
from discreet.cube.value_paths import KeyAxis
from discreet.domain.codes import NULL
from discreet.domain.groups import BinGroup, Group, is_complete
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError

__all__ = ["CountedRows", "NonNullCount", "NullCount", "RowCount", "RowCounts", "TableCounts", "counts_in_places"]


@dataclass(frozen=True, slots=True)
class CountedRows:
    """The rows that a query counts, each once, in the cells of a request or in finer ones.

    Args:
        by: the groups that divide each cell further, the last one fastest.
        known: the columns in which a row must not be null to be counted.
    """

    by: tuple[Group, ...]
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowCount:
    """1 for every row."""

    @property
    def rows(self) -> CountedRows:
        """Every row of a cell."""
        return CountedRows((), ())

    def words(self) -> str:
        return "rows"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one place"

    def columns(self) -> tuple[str, ...]:
        return ()

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def reach(self) -> tuple[int, int]:
        return 1, 1

    def nullable(self, facts: TableFacts) -> bool:
        return False

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return change_of_sum(self, row, facts)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> RowCount:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return True

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        return add_up(lambda some: some.rows, cube, brought, cells)


@dataclass(frozen=True, slots=True)
class NonNullCount:
    """1 for every row whose `column` is not null."""

    column: str

    @property
    def rows(self) -> CountedRows:
        """The rows of a cell that are not null in the column."""
        return CountedRows((), (self.column,))

    def words(self) -> str:
        return f"non-null {self.column}"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one place"

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def reach(self) -> tuple[int, int]:
        return 1, 1

    def nullable(self, facts: TableFacts) -> bool:
        return facts[self.column].nullable

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return change_of_sum(self, row, facts)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> NonNullCount:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return part.axis(self.column) is not None or part.moment(self.column) is not None

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        position, moment = brought.axis(self.column), brought.moment(self.column)

        def present(some: Cube) -> Integers:
            if position is not None:
                return np.where(some.keys[:, position] == NULL, 0, some.rows)
            if moment is None:
                raise InternalError(f"the cube has no column '{self.column}'")
            return some.nonnull[:, moment]

        return add_up(present, cube, brought, cells)


@dataclass(frozen=True, slots=True)
class NullCount:
    """1 for every row whose `column` is null."""

    column: str

    def words(self) -> str:
        return f"null {self.column}"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one place, or nothing where the column is known"

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def reach(self) -> tuple[int, int]:
        return 1, 1

    def nullable(self, facts: TableFacts) -> bool:
        return True

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        least, most = self.reach() if facts[self.column].nullable else (0, 0)
        return row.adds(least, most, at_once=1, parts=1, nullable=True)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> NullCount:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return NonNullCount(self.column).is_answered_by(part)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        every = RowCount().answer(cube, brought, cells, facts)
        return np.asarray(np.subtract(every, NonNullCount(self.column).answer(cube, brought, cells, facts)))


@dataclass(frozen=True, slots=True)
class TableCounts:
    """1 for every row, in its cell of a table over further groups: the bins of a histogram, or a margin.

    `sizes` are the numbers of groups, the null group included where there is one.
    """

    groups: tuple[Group, ...]
    sizes: tuple[int, ...]

    @property
    def rows(self) -> CountedRows:
        """Every row of a cell, by the further groups."""
        return CountedRows(self.groups, ())

    def words(self) -> str:
        return f"rows by {', '.join(self.columns())}"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one place"

    def columns(self) -> tuple[str, ...]:
        return tuple(group.column for group in self.groups)

    def widths(self) -> tuple[int, ...]:
        return (prod(self.sizes),)

    def reach(self) -> tuple[int, int]:
        return 1, 1

    def nullable(self, facts: TableFacts) -> bool:
        return not all(is_complete(group, facts) for group in self.groups)

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return change_of_sum(self, row, facts)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> TableCounts:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        axes = {axis.called: axis for axis in part.axes}
        return all(group.column in axes and _tells_apart(axes[group.column], group) for group in self.groups)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        (width,) = self.widths()
        return counts_in_places(self._places(cube, brought, facts), width, cube, brought, cells).ravel()

    def _places(self, cube: Cube, brought: Scan, facts: TableFacts) -> Codes:
        """For every cell of the cube its place in the table of the further groups, or -1 where it is in none."""
        place = np.zeros(len(cube.rows), dtype=np.int64)
        inside = np.ones(len(cube.rows), dtype=bool)
        for group, size in zip(self.groups, self.sizes, strict=True):
            own = group_places(group, facts, codes_of(brought, cube, group.column), size)
            inside &= own >= 0
            place = place * size + np.maximum(own, 0)
        return np.where(inside, place, -1)


RowCounts = RowCount | NonNullCount | TableCounts
"""The queries that count rows, which exact totals can determine in part."""


def _tells_apart(axis: KeyAxis, group: Group) -> bool:
    """True if the labels of the axis distinguish the groups."""
    return axis.cuts is None or (isinstance(group, BinGroup) and {*group.edges} <= {*axis.cuts})


def counts_in_places(place: Codes, width: int, cube: Cube, brought: Scan, cells: Codes) -> Codes:
    """The rows of every cell of the release by their place: int64, shape (cells, width); rows of place -1 are in none."""
    counts = np.zeros(brought.cells * width, dtype=np.int64)
    inside = (cells >= 0) & (place >= 0)
    np.add.at(counts, cells[inside] * width + place[inside], cube.rows[inside])  # one index costs much less than two
    return counts.reshape(brought.cells, width)
