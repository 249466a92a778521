"""Effects of tables of counts: the interactions of exactly these groups, as whole numbers (docs/proofs/effects.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Codes, Integers
from discreet.cube.cube import ROW_LIMIT, Cube
from discreet.cube.queries.base import FINE, Changed, Row, wide_times
from discreet.cube.queries.counts import TableCounts
from discreet.cube.queries.vector_norms import Norms
from discreet.cube.scans import Scan
from discreet.domain.groups import Group
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError

__all__ = ["EffectCounts", "centred"]


@dataclass(frozen=True, slots=True)
class EffectCounts:
    """times · ⊗(n_i I - J) of the rows by the groups: one integer for each combination of their levels.

    That is times · Π n_i times the part of the table by these groups that no table by fewer of them has; without groups,
    the number of rows.

    Args:
        groups: of different columns or bins; every row is in one of each.
        sizes: how many groups each has, the null group included where there is one.
        alive: for each the positions of those that can have rows, whatever the table: n_i of them, at least two.
        times: a power of two, so that rounding matters little beside the noise.
    """

    groups: tuple[Group, ...]
    sizes: tuple[int, ...]
    alive: tuple[tuple[int, ...], ...]
    times: int = 1

    def words(self) -> str:
        named = ", ".join(group.column for group in self.groups)
        return f"effect of {named}" if named else "rows of all tables"

    def contribution(self) -> str:
        alone = self.own_norms
        return f"each row adds a vector of {self.widths()[0]} whole numbers, whose sizes add up to at most {alone[0]}"

    def columns(self) -> tuple[str, ...]:
        return tuple(group.column for group in self.groups)

    def widths(self) -> tuple[int, ...]:
        return (prod(self.levels),)

    @property
    def levels(self) -> tuple[int, ...]:
        """n_i for each group."""
        return tuple(map(len, self.alive))

    @property
    def unit(self) -> int:
        """The answer is so many times the projection of the table on the effect."""
        return self.times * prod(self.levels)

    @property
    def table(self) -> TableCounts:
        """The counts by the groups."""
        return TableCounts(self.groups, self.sizes)

    def reach(self) -> tuple[int, int]:
        """The least and the greatest integer that a row adds: -1 or n_i - 1 for each group, multiplied."""
        ends = (1, 1)
        for size in self.levels:
            corners = [end * other for end in ends for other in (-1, size - 1)]
            ends = min(corners), max(corners)
        return self.times * ends[0], self.times * ends[1]

    def nullable(self, facts: TableFacts) -> bool:
        return self.table.nullable(facts)

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return row.spreads(self.own_norms, self.norms_apart, parts=self.widths()[0], nullable=self.nullable(facts))

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> EffectCounts:
        """With so many times the answer that its noise is wide beside the rounding."""
        return replace(self, times=wide_times(variance, FINE, self.times))

    def is_answered_by(self, part: Scan) -> bool:
        return self.table.is_answered_by(part)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        counts = self.table.answer(cube, brought, cells, facts).reshape(-1, *self.sizes)
        return np.concatenate([self.of_counts(one).ravel() for one in counts])

    def of_counts(self, counts: Integers) -> Integers:
        """The answer for counts by the groups, of the shape of `sizes`; of the shape `levels`."""
        there = np.asarray(counts[np.ix_(*self.alive)] if self.groups else counts)  # without groups it is one number
        found = centred(there if self.is_narrow else there.astype(np.object_), self.levels)
        return np.asarray(self.times * found, dtype=found.dtype)

    @property
    def is_narrow(self) -> bool:
        """True if the answers are integers of 64 bits, whatever the rows are.

        A number is at most rows · Π(n_i - 1), and no sum on the way is larger than rows · Π 2 n_i.
        """
        return ROW_LIMIT * self.times * prod(2 * size for size in self.levels) < 1 << 62

    @property
    def own_norms(self) -> Norms:
        """The norms of what a row adds: along one group it is n - 1 once, and -1 in n - 1 places."""
        l1 = prod(2 * (size - 1) for size in self.levels)
        return self.times * l1, self.times**2 * prod(size * (size - 1) for size in self.levels)

    def norms_apart(self, kept: frozenset[str]) -> Norms:
        """The norms of the difference of two rows that agree in the groups of some columns.

        ‖·‖² is 2 Π n_i(n_i - 1) · (1 - Π -1/(n_i - 1)) over the groups in which they differ: most where that is the smallest
        one alone. ‖·‖₁ is tried for each set of groups in which they may differ.
        """
        groups = tuple(zip(self.groups, self.levels, strict=True))
        free = [size for group, size in groups if group.column not in kept]
        if not free:
            return 0, 0
        same = prod(2 * (size - 1) for group, size in groups if group.column in kept)
        return self.times * same * _most_apart(tuple(sorted(free))), 2 * self.own_norms[1] // (min(free) - 1) * min(free)


@lru_cache(maxsize=4096)
def _most_apart(sizes: tuple[int, ...]) -> int:
    """The largest ‖⊗u - ⊗v‖₁ of two rows that may differ in groups of these sizes."""
    return max(_l1_apart(some, sizes) for some in product((False, True), repeat=len(sizes)))


def _l1_apart(differ: Sequence[bool], sizes: Sequence[int]) -> int:
    """‖⊗u - ⊗v‖₁, u and v what two rows add along groups of these sizes, where they differ in some of them.

    Along a group in which they differ one adds n - 1 where the other adds -1, once each, and both add -1 in n - 2 places.
    """
    alike = prod(2 * (size - 1) for one, size in zip(differ, sizes, strict=True) if not one)
    cases = [
        ((size - 1, -1, 1), (-1, size - 1, 1), (-1, -1, size - 2)) for one, size in zip(differ, sizes, strict=True) if one
    ]
    found = 0
    for case in product(*cases):
        first, second, places = (prod(one[part] for one in case) for part in range(3))
        found += places * abs(first - second)
    return alike * found


def centred(values: NDArray[Any], sizes: Sequence[int]) -> NDArray[Any]:
    """n_i·I - J along each axis: N times the projection on the effect of all axes.

    Raises:
        InternalError: another shape.
    """
    if values.shape != tuple(sizes):
        raise InternalError("an effect is measured on all levels of its columns")
    found = values
    for axis, size in enumerate(sizes):
        found = size * found - found.sum(axis=axis, keepdims=True)
    return np.asarray(found)
