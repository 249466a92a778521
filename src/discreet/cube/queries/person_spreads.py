"""What persons count for in bins of a column and in nodes of a tree, each person divided among them by her rows (U5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Codes, Integers
from discreet.cube.cube import Cube
from discreet.cube.person_numbers import share_unit
from discreet.cube.persons import column_of
from discreet.cube.queries.base import Changed, Row
from discreet.cube.queries.persons import Weighed, spread_over
from discreet.cube.scans import Scan
from discreet.cube.trees import Tree, level_counts, tree_for
from discreet.cube.weights import norms_of
from discreet.domain.groups import BinGroup
from discreet.domain.steps import TableFacts
from discreet.exact.figures import number, plural

__all__ = ["Divided", "PersonBins", "PersonLevels"]


@dataclass(frozen=True, slots=True)
class Divided:
    """A person who is divided among bins, by her rows in each of them.

    Args:
        place: of the bins among those of the scan.
        most: R, how many rows of a person in a group count.
        weighed: what a person weighs.
    """

    place: int
    most: int
    weighed: Weighed

    @property
    def part(self) -> int:
        """The part of the cube that has the totals: after that of the numbers."""
        return 1 + self.place

    @property
    def unit(self) -> int:
        """The number of units of an answer that are one row."""
        return self.weighed.unit * share_unit(self.most)

    def words(self, counted: str) -> str:
        """What is counted so, in words."""
        rows = f"{number(self.most)} {plural('row', self.most)} of a person in a group, divided by all of them"
        return f"{self.weighed.words(f'{counted}, up to {rows}')}; in parts of 1/{number(share_unit(self.most))} of a row"

    def change(self, row: Row[Changed], levels: int) -> Changed:
        """The change by a person who is divided so once in each of some levels."""
        weighed = self.weighed
        most = share_unit(self.most) * self.most
        alone = norms_of(weighed.weighting, weighed.groups, weighed.cells, most)
        norms = levels * alone.l1, levels * alone.l2_squared
        # Two states have different bins, and nothing is below 0: ‖y − y′‖² ≤ ‖y‖² + ‖y′‖².
        return row.is_person(norms, lambda: (2 * norms[0], 2 * norms[1]))

    def totals(self, cube: Cube, size: int) -> Integers:
        """The totals in all bins of all cells."""
        return spread_over(cube.sums[:, column_of(0, self.weighed.weighting)], size, cube.keys[:, 0])


@dataclass(frozen=True, slots=True)
class PersonBins:
    """In each bin of a column what the persons of a cell count for there.

    Args:
        by: the bins.
        places: how many they are, that of null included.
        divided: how a person is divided.
    """

    by: BinGroup
    places: int
    divided: Divided

    @property
    def groups(self) -> tuple[BinGroup]:
        """The bins."""
        return (self.by,)

    @property
    def part(self) -> int:
        return self.divided.part

    @property
    def unit(self) -> int:
        return self.divided.unit

    def words(self) -> str:
        return self.divided.words(f"rows by bins of {self.by.column}")

    def contribution(self) -> str:
        most = self.divided.weighed.unit * share_unit(self.divided.most) * self.divided.most
        return (
            f"each person adds whole numbers to the bins of each group, together at most {most} in a group, the fewer the "
            "more groups this person is in"
        )

    def columns(self) -> tuple[str, ...]:
        return (self.by.column,)

    def widths(self) -> tuple[int, ...]:
        return (self.places,)

    def nullable(self, facts: TableFacts) -> bool:
        return False

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return self.divided.change(row, 1)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> PersonBins:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return False

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        return self.divided.totals(cube, brought.cells * self.places)


@dataclass(frozen=True, slots=True)
class PersonLevels:
    """In each node of each level of a tree over the codes of a column what the persons of a cell count for there.

    Rows in which the column is null are left out.
    """

    column: str
    tree: Tree
    divided: Divided

    @property
    def part(self) -> int:
        return self.divided.part

    @property
    def unit(self) -> int:
        return self.divided.unit

    def words(self) -> str:
        return self.divided.words(f"rows in {self.tree.depth} {plural('level', self.tree.depth)} of {self.column}")

    def contribution(self) -> str:
        most = self.divided.weighed.unit * share_unit(self.divided.most) * self.divided.most
        return (
            f"each person adds whole numbers to the nodes of each group, in each of {len(self.widths())} levels of a tree "
            f"together at most {most} in a group, the fewer the more groups this person is in"
        )

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def widths(self) -> tuple[int, ...]:
        return self.tree.level_sizes

    def nullable(self, facts: TableFacts) -> bool:
        return facts[self.column].nullable

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return self.divided.change(row, self.tree.depth)

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> PersonLevels:
        """The tree with the least expected error; both norms of a tree grow with the number of its levels."""
        return replace(self, tree=tree_for(self.tree.size, variance, rows))

    def is_answered_by(self, part: Scan) -> bool:
        return False

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        codes = self.divided.totals(cube, brought.cells * self.tree.size).reshape(brought.cells, -1)
        levels = level_counts(self.tree, _leaves(codes, self.tree))
        return np.concatenate([level.ravel() for level in levels])


def _leaves(codes: NDArray[Any], tree: Tree) -> NDArray[Any]:
    """The sums of the codes of each leaf."""
    whole = np.zeros((len(codes), tree.bins * tree.width), dtype=codes.dtype)
    whole[:, : tree.size] = codes
    return np.asarray(whole.reshape(len(codes), tree.bins, tree.width).sum(axis=2))
