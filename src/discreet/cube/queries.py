"""Primitive integer queries: what noise is added to. Each is linear in the cube, one integer for every cell of the release.

A record contributes one integer f to one cell, or nothing (outside the groups, filtered out, or null); `reach` states the
range of f, from which the sensitivity follows without looking at any row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube, blocks, fits_int64
from discreet.cube.paths import KeyAxis
from discreet.cube.places import group_places, passes
from discreet.cube.scans import Part, Prepared
from discreet.cube.trees import Tree, level_counts
from discreet.domain.codes import NULL
from discreet.domain.groups import BinGroup, Group
from discreet.domain.steps import TableFacts, conditions_of
from discreet.errors import InternalError, unreachable

__all__ = [
    "Dispersion",
    "LevelCounts",
    "NonNullCount",
    "QuantileCodes",
    "Query",
    "RowCount",
    "Squares",
    "TableCounts",
    "WeightedSum",
    "answer",
    "answer_codes",
    "answer_parts",
    "cells_of",
    "columns_of",
    "part_of",
    "reach",
    "shown",
    "widths",
]


@dataclass(frozen=True, slots=True)
class RowCount:
    """1 for every row."""


@dataclass(frozen=True, slots=True)
class NonNullCount:
    """1 for every row whose `column` is not null."""

    column: str


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """first + slope·(code - low) for every row whose `column` is not null, with codes from low to low + width."""

    column: str
    first: int
    slope: int
    width: int


@dataclass(frozen=True, slots=True)
class Squares:
    """(first + slope·(code - low))² - shift for every row whose `column` is not null, with codes from low to low + width."""

    column: str
    first: int
    slope: int
    width: int
    shift: int


@dataclass(frozen=True, slots=True)
class Dispersion:
    """(rows · Σ code² - (Σ code)²) // `coarse` over all rows: rows² times the variance of the codes, which span `width`."""

    column: str
    width: int
    rows: int

    @property
    def coarse(self) -> int:
        """A power of 2 that leaves 40 bits of what one row can change, so that its noise is not beyond all integers."""
        return 1 << max(0, (self.width**2 * self.rows).bit_length() - 40)

    @property
    def most(self) -> int:
        """By how much one replaced row can change the answer.

        It is the sum of (x - y)² over all pairs of rows, of which one row is in rows - 1; rounding down adds less than 1.
        """
        return -(-(self.width**2) * (self.rows - 1) // self.coarse)


@dataclass(frozen=True, slots=True)
class TableCounts:
    """1 for every row, in its cell of a table over further groups: the bins of a histogram, or a margin.

    `sizes` are the numbers of groups, the null group included where there is one.
    """

    groups: tuple[Group, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LevelCounts:
    """1 for every row whose `column` is not null, in its node of every level of the tree over the codes from `low`."""

    column: str
    low: int
    tree: Tree


@dataclass(frozen=True, slots=True)
class QuantileCodes:
    """The codes of the q-quantiles of `column` for each q of `at`, ascending: chosen, not counted."""

    column: str
    low: int
    size: int
    at: tuple[Fraction, ...]


Query = RowCount | NonNullCount | WeightedSum | Squares | TableCounts | LevelCounts | QuantileCodes | Dispersion


def reach(query: Query) -> tuple[int, int]:
    """The least and the greatest integer that a contributing record can contribute.

    Raises:
        InternalError: the answer is not a sum of what the records contribute.
    """
    match query:
        case RowCount() | NonNullCount() | TableCounts() | LevelCounts():
            return 1, 1
        case WeightedSum():
            return _ends(query)
        case Squares():
            # A square is largest at an end, and least at the code nearest to 0 (at an end where all have one sign).
            low, high = _ends(query)
            nearest = 0 if low <= 0 <= high else min(abs(low), abs(high))
            return nearest**2 - query.shift, max(low**2, high**2) - query.shift
        case Dispersion() | QuantileCodes():
            raise InternalError(f"'{shown(query)}' is not a sum over records; its change has a rule of its own")
    raise unreachable(query)


def _ends(query: WeightedSum | Squares) -> tuple[int, int]:
    """The least and the greatest integer before it is squared, whichever way the slope goes."""
    ends = query.first, query.first + query.slope * query.width
    return min(ends), max(ends)


def widths(query: Query) -> tuple[int, ...]:
    """How many integers a cell has in each level of the answer; a record counts in one of them in every level."""
    match query:
        case TableCounts():
            return (prod(query.sizes),)
        case LevelCounts():
            return query.tree.level_sizes
        case QuantileCodes():
            return (len(query.at),)
        case RowCount() | NonNullCount() | WeightedSum() | Squares() | Dispersion():
            return (1,)
    raise unreachable(query)


def columns_of(query: Query) -> tuple[str, ...]:
    """The columns whose values the query reads, beside those of the groups of the request."""
    match query:
        case RowCount():
            return ()
        case TableCounts():
            return tuple(group.column for group in query.groups)
        case NonNullCount() | WeightedSum() | Squares() | Dispersion() | LevelCounts() | QuantileCodes():
            return (query.column,)
    raise unreachable(query)


def shown(query: Query) -> str:
    """The query in a few words, for quotes and releases."""
    match query:
        case RowCount():
            return "rows"
        case NonNullCount():
            return f"non-null {query.column}"
        case WeightedSum():
            return f"sum of {query.column}"
        case Squares():
            return f"sum of squares of {query.column}"
        case TableCounts():
            return f"rows by {', '.join(group.column for group in query.groups)}"
        case LevelCounts():
            return f"rows in {query.tree.depth} levels of {query.column}"
        case QuantileCodes():
            return f"quantiles of {query.column}"
        case Dispersion():
            return f"squared distances of {query.column} from its mean"
    raise unreachable(query)


def part_of(query: Query, parts: Sequence[Part]) -> int:
    """The position of the first part from which the query can be answered.

    An imputed column is in one part only, and what is read of any other column is the same in every part (Q2).

    Raises:
        InternalError: there is none.
    """
    found = next((position for position, part in enumerate(parts) if _is_answered(query, part)), None)
    if found is None:
        raise InternalError(f"no cube answers '{shown(query)}'")
    return found


def _is_answered(query: Query, part: Part) -> bool:
    axes = {axis.name: axis for axis in part.axes}
    sums = {moment.name for moment in part.moments}
    match query:
        case RowCount():
            return True
        case NonNullCount():
            return query.column in axes or query.column in sums
        case TableCounts():
            return all(group.column in axes and _tells(axes[group.column], group) for group in query.groups)
        case WeightedSum() if query.column in sums:
            return True
        case WeightedSum() | Squares() | Dispersion() | LevelCounts() | QuantileCodes():
            return query.column in axes and axes[query.column].cuts is None
    raise unreachable(query)


def _tells(axis: KeyAxis, group: Group) -> bool:
    """Whether the labels of the axis tell the groups apart."""
    return axis.cuts is None or (isinstance(group, BinGroup) and {*group.edges} <= {*axis.cuts})


def answer(query: Query, cube: Cube, brought: Part, cells: NDArray[np.int64]) -> NDArray[Any]:
    """The exact value of the query in every cell of the release; int64 where it cannot overflow, else Python integers.

    Args:
        query: what is asked.
        cube: the table that is asked, without marks.
        brought: the part of the layout that the cube was brought for.
        cells: for every cell of the cube, the cell of the release it belongs to, or -1, as `cells_of` gives it.
    """
    if isinstance(query, TableCounts | LevelCounts | QuantileCodes):
        raise InternalError("a query with several integers for a cell is answered by `answer_parts`")
    if isinstance(query, Dispersion):
        return _dispersion(query, cube, brought, cells)
    values = np.zeros(brought.cells, dtype=_contributions(query, _some(cube, slice(0)), brought).dtype)
    for some in blocks(len(cells)):
        inside = cells[some] >= 0
        np.add.at(values, cells[some][inside], _contributions(query, _some(cube, some), brought)[inside])
    return values


def _dispersion(query: Dispersion, cube: Cube, brought: Part, cells: NDArray[np.int64]) -> NDArray[Any]:
    """In Python integers, which cannot overflow."""
    inside = cells >= 0
    codes = _codes(brought, cube, query.column)[inside].astype(np.object_)
    rows = cube.rows[inside].astype(np.object_)
    spread = query.rows * int((rows * codes * codes).sum()) - int((rows * codes).sum()) ** 2
    return np.array([spread // query.coarse], dtype=np.object_)


def answer_parts(
    query: TableCounts | LevelCounts, cube: Cube, brought: Part, cells: NDArray[np.int64], facts: TableFacts
) -> NDArray[np.int64]:
    """The exact counts of all further cells, or of all nodes level by level, in every cell of the release."""
    if isinstance(query, TableCounts):
        place, (width,) = _table_places(query, cube, brought, facts), widths(query)
    else:
        codes = _codes(brought, cube, query.column)
        place, width = np.where(codes == NULL, -1, (codes - query.low) // query.tree.width), query.tree.bins
    counts = np.zeros((brought.cells, width), dtype=np.int64)
    inside = (cells >= 0) & (place >= 0)
    np.add.at(counts, (cells[inside], place[inside]), cube.rows[inside])
    if isinstance(query, TableCounts):
        return counts.ravel()
    return np.concatenate([level.ravel() for level in level_counts(query.tree, counts)])


def answer_codes(query: QuantileCodes, cube: Cube, brought: Part, cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """The cells of the release, the codes in them less the lowest, and their counts: int64, shape (n, 3), sorted."""
    codes = _codes(brought, cube, query.column)
    inside = (cells >= 0) & (codes != NULL) & (cube.rows > 0)
    pairs = np.stack([cells[inside], codes[inside] - query.low], axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, rows = pairs[order], cube.rows[inside][order]
    new = np.ones(len(pairs), dtype=bool)
    new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    counts = np.add.reduceat(rows, np.flatnonzero(new)) if len(rows) else rows
    return np.column_stack([pairs[new], counts])


def _table_places(query: TableCounts, cube: Cube, brought: Part, facts: TableFacts) -> NDArray[np.int64]:
    """For every cell of the cube its place in the table of the further groups, or -1 where it is in none."""
    place = np.zeros(len(cube.rows), dtype=np.int64)
    inside = np.ones(len(cube.rows), dtype=bool)
    for group, size in zip(query.groups, query.sizes, strict=True):
        own = group_places(group, facts, _codes(brought, cube, group.column), size)
        inside &= own >= 0
        place = place * size + np.maximum(own, 0)
    return np.where(inside, place, -1)


Scalar = RowCount | NonNullCount | WeightedSum | Squares


def _contributions(query: Scalar, cube: Cube, brought: Part) -> NDArray[Any]:
    if isinstance(query, RowCount):
        return cube.rows
    moment = next((j for j, one in enumerate(brought.moments) if one.name == query.column), None)
    position = brought.axis(query.column)
    if position is not None and not (isinstance(query, WeightedSum) and moment is not None):
        keys = cube.keys[:, position]
        present = np.where(keys == NULL, 0, cube.rows)
        if isinstance(query, NonNullCount):
            return present
        kind = _integers(query)
        low = getattr(brought.axes[position].path, "low", 0)
        offsets: NDArray[Any] = (keys - low).astype(kind)
        each: NDArray[Any] = query.first + query.slope * offsets
        if isinstance(query, Squares):
            each = each * each - query.shift
        product: NDArray[Any] = np.multiply(present.astype(kind), each)
        return product
    if isinstance(query, Squares):
        raise InternalError(f"the cube does not tell the values of '{query.column}' apart")
    if moment is None:
        raise InternalError(f"the cube has no column '{query.column}'")
    if isinstance(query, NonNullCount):
        return cube.nonnull[:, moment]
    kind = _integers(query)
    count: NDArray[Any] = cube.nonnull[:, moment].astype(kind)
    total: NDArray[Any] = cube.sums[:, moment].astype(kind)
    added: NDArray[Any] = np.add(query.first * count, query.slope * total)
    return added


def _integers(query: WeightedSum | Squares) -> type[np.int64] | type[np.object_]:
    """64-bit integers where even the sum of absolute parts stays below 2**62, else Python's."""
    largest = abs(query.first) + abs(query.slope) * query.width
    return np.int64 if fits_int64(largest if isinstance(query, WeightedSum) else 2 * largest**2) else np.object_


def cells_of(plan: Prepared, cube: Cube, brought: Part) -> NDArray[np.int64]:
    """For every cell of the cube, the position of its cell in the release, or -1 when its rows contribute nothing."""
    cells = np.empty(len(cube.rows), dtype=np.int64)
    for some in blocks(len(cells)):
        cells[some] = _cells_of(plan, _some(cube, some), brought)
    return cells


def _some(cube: Cube, some: slice) -> Cube:
    """Some cells of a cube, in the same memory."""
    return Cube(cube.keys[some], cube.rows[some], cube.nonnull[some], cube.sums[some])


def _cells_of(plan: Prepared, cube: Cube, brought: Part) -> NDArray[np.int64]:
    cells = np.zeros(len(cube.rows), dtype=np.int64)
    inside = np.ones(len(cube.rows), dtype=bool)
    for group, labels in zip(plan.group_by, brought.labels, strict=True):
        place = group_places(group, plan.facts, _codes(brought, cube, group.column), len(labels))
        inside &= place >= 0
        cells = cells * len(labels) + np.maximum(place, 0)
    for step in conditions_of(plan.steps):
        inside &= passes(step, _codes(brought, cube, step.column))
    return np.where(inside, cells, -1)


def _codes(brought: Part, cube: Cube, column: str) -> NDArray[np.int64]:
    """One final code that stands for each key: itself, or the first code of its interval between cuts; null stays null."""
    position = brought.axis(column)
    if position is None:
        raise InternalError(f"column '{column}' is no key of the cube")
    axis, keys = brought.axes[position], cube.keys[:, position]
    if axis.cuts is None:
        return keys
    # Everything below the first cut is outside every bin and range; any code below it that is not null will do.
    below = min(axis.cuts, default=0) - 1
    representatives = np.array([below, *axis.cuts], dtype=np.int64)
    return np.where(keys == NULL, NULL, np.where(keys > 0, representatives[np.maximum(keys, 0)], below))
