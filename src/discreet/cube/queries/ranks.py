"""The queries of quantiles: a tree of counts over the grid of a column; codes and intervals that are chosen by rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.cube.cells import Codes, Integers, codes_of
from discreet.cube.cube import Cube
from discreet.cube.queries.base import Changed, Query, Row, change_of_sum, numbers_added
from discreet.cube.queries.counts import counts_in_places
from discreet.cube.scans import Scan
from discreet.cube.trees import Tree, level_counts, tree_for
from discreet.domain.codes import NULL
from discreet.domain.steps import TableFacts

__all__ = ["LevelCounts", "QuantileCodes", "QuantileIntervals", "around", "join_public"]


@dataclass(frozen=True, slots=True)
class LevelCounts:
    """1 for every row whose `column` is not null, in its node of every level of the tree over the codes from `low`."""

    column: str
    low: int
    tree: Tree

    def words(self) -> str:
        return f"rows in {self.tree.depth} levels of {self.column}"

    def contribution(self) -> str:
        return f"each row adds {numbers_added(self)} to one node in each of {len(self.widths())} levels of a tree"

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def widths(self) -> tuple[int, ...]:
        return self.tree.level_sizes

    def reach(self) -> tuple[int, int]:
        return 1, 1

    def nullable(self, facts: TableFacts) -> bool:
        return facts[self.column].nullable

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return change_of_sum(self, row, facts)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> LevelCounts:
        """The tree with the least expected error; both norms of a tree grow with the number of its levels."""
        return replace(self, tree=tree_for(self.tree.size, variance, rows))

    def is_answered_by(self, part: Scan) -> bool:
        return part.has_codes(self.column)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        codes = codes_of(brought, cube, self.column)
        place = np.where(codes == NULL, -1, (codes - self.low) // self.tree.width)
        counts = counts_in_places(place, self.tree.bins, cube, brought, cells)
        return np.concatenate([level.ravel() for level in level_counts(self.tree, counts)])


@dataclass(frozen=True, slots=True)
class QuantileCodes:
    """The codes of the q-quantiles of `column` for each q of `at`, ascending: chosen, not counted."""

    column: str
    low: int
    size: int
    at: tuple[Fraction, ...]

    def words(self) -> str:
        return f"quantiles of {self.column}"

    def contribution(self) -> str:
        return "values are chosen, not counted; a row is in one part of each level of choices, and the Δ count choices"

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def widths(self) -> tuple[int, ...]:
        return (len(self.at),)

    def nullable(self, facts: TableFacts) -> bool:
        return facts[self.column].nullable

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return row.chooses(self.size, self.at, nullable=self.nullable(facts))

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> QuantileCodes:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return part.has_codes(self.column)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        """The records to choose from: the cells of the release, the codes in them less the lowest, and their counts.

        int64, shape (n, 3), sorted.
        """
        codes = codes_of(brought, cube, self.column)
        inside = (cells >= 0) & (codes != NULL) & (cube.rows > 0)
        pairs = np.stack([cells[inside], codes[inside] - self.low], axis=1)
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        pairs, rows = pairs[order], cube.rows[inside][order]
        new = np.ones(len(pairs), dtype=bool)
        new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
        counts = np.add.reduceat(rows, np.flatnonzero(new)) if len(rows) else rows
        return np.column_stack([pairs[new], counts])


@dataclass(frozen=True, slots=True)
class QuantileIntervals:
    """Intervals of the q-quantiles of a column for each q of `at`, ascending, around the codes that `centres` gave."""

    centres: QuantileCodes
    at: tuple[Fraction, ...]

    def words(self) -> str:
        return f"intervals of quantiles of {self.centres.column}"

    def contribution(self) -> str:
        return (
            "intervals are chosen around public values; a row counts in the choice of each of them, and the Δ count choices"
        )

    def columns(self) -> tuple[str, ...]:
        return self.centres.columns()

    def widths(self) -> tuple[int, ...]:
        return (2 * len(self.at),)

    def nullable(self, facts: TableFacts) -> bool:
        return self.centres.nullable(facts)

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return row.surrounds(self.centres.size, self.at, nullable=self.nullable(facts))

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> QuantileIntervals:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return self.centres.is_answered_by(part)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        """The records, as the choice of the centres has them."""
        return self.centres.answer(cube, brought, cells, facts)


def join_public(query: Query, values: Integers, public: Mapping[Query, Integers]) -> Integers:
    """The exact values that noise meets, with the public answers before it that it is chosen around."""
    if not isinstance(query, QuantileIntervals):
        return values
    chosen = public[query.centres].reshape(-1, len(query.centres.at))
    return around(chosen[:, [query.centres.at.index(q) for q in query.at]], values)


def around(chosen: Integers, records: Integers) -> Integers:
    """The candidates that intervals are chosen from: the centres, rows of a cell, a code and 0 records, before the records.

    Args:
        chosen: int64, shape (cells, quantiles): the centres, which are public.
        records: int64, shape (n, 3), sorted: a cell, a code from 0 and how many records of the cell have it, at least 1.
    """
    cells = np.repeat(np.arange(len(chosen)), chosen.shape[1])
    return np.concatenate([np.column_stack([cells, chosen.ravel(), np.zeros_like(cells)]), records])
