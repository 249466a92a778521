"""The semi-adjacency of exact sums of a magnitude: the total of age, over all rows or within the groups of a partition.

A row that takes another value needs rows that give back the difference. How many is a closed form where the values are
0, 1, …, M steps above the least one; elsewhere M + 1 is a bound (docs/proofs/semi-adjacency.md, A10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import PlanError
from discreet.totals.classes import Classes, classes_of
from discreet.totals.components import Split

__all__ = ["Magnitude", "rows_of_sums", "sums_within_groups"]


@dataclass(frozen=True, slots=True)
class Magnitude:
    """A group of rows whose size is public, and whose values add up to a public sum.

    Args:
        span: the largest value, where the least one is 0 and steps are 1; 0 where all rows count alike.
        full: whether every value 0, 1, …, span can occur.
        rows: the rows of the group; None before they are published.
        total: the sum of their values; None before it is published.
    """

    span: int
    full: bool
    rows: int | None
    total: int | None

    @property
    def fixed(self) -> bool:
        """True if every row is known to have the least value, or every row the largest one."""
        known = self.rows is not None and self.total is not None
        return not self.span or (known and self.total in {0, (self.rows or 0) * self.span})


def sums_within_groups(splits: Sequence[Split], cells: int, rows: int | None) -> tuple[Magnitude, ...] | None:
    """Each group that can hold a row with the sum of its values; None where the facts are not of this kind.

    They are if the tables settle how many rows each group has, and at most one sum tells the cells of a group apart, which
    tells those of no other group apart.

    Raises:
        PlanError: a sum that no rows of a group give.
    """
    sums = [split for split in splits if split.weights is not None]
    if not sums:
        return None
    groups = classes_of([split for split in splits if split.weights is None], cells, rows)
    if not groups.settled:
        return None
    of_group = np.full(groups.size, -1, dtype=np.int64)
    for number, split in enumerate(sums):
        varying = _varying(split, groups)
        if len(varying) != 1 or of_group[varying[0]] >= 0:
            return None
        of_group[varying[0]] = number
    found = [_magnitude(group, sums[number] if number >= 0 else None, groups) for group, number in enumerate(of_group)]
    return tuple(one for one in found if one.rows != 0)


def _weights(split: Split) -> NDArray[np.int64]:
    """The coefficient of each cell."""
    return np.array(split.weights, dtype=np.int64)[split.labels]


def _varying(split: Split, groups: Classes) -> list[int]:
    """The groups in which the sum has several coefficients."""
    weights = _weights(split)
    least = np.full(groups.size, np.iinfo(np.int64).max)
    most = np.full(groups.size, np.iinfo(np.int64).min)
    np.minimum.at(least, groups.owner, weights)
    np.maximum.at(most, groups.owner, weights)
    return np.flatnonzero(least < most).tolist()


def _magnitude(group: int, split: Split | None, groups: Classes) -> Magnitude:
    rows = None if groups.totals is None else int(groups.totals[group])
    if split is None:
        return Magnitude(0, full=True, rows=rows, total=0)
    weights = _weights(split)
    values = np.unique(weights[groups.owner == group])
    step = int(np.gcd.reduce(np.diff(values)))
    span = int(values[-1] - values[0]) // step
    total = None
    if split.value is not None and groups.totals is not None:
        _, member = np.unique(groups.owner, return_index=True)
        elsewhere = zip(weights[member].tolist(), groups.totals.tolist(), strict=True)
        outside = sum(weight * count for number, (weight, count) in enumerate(elsewhere) if number != group)
        total, rest = divmod(split.value - outside - int(values[0]) * (rows or 0), step)
        if rest or not 0 <= total <= (rows or 0) * span:
            raise PlanError("totals: a sum over the rows of a group is one that so many rows of its values cannot give")
    return Magnitude(span, full=len(values) == span + 1, rows=rows, total=total)


def rows_of_sums(groups: Sequence[Magnitude]) -> tuple[int, bool]:
    """a(t) of rows in these groups, and whether it is attained; a bound over all sums where they are not known (A10)."""
    free = [group for group in groups if not group.fixed]
    exact = all(group.full and (group.total is not None or group.rows is None or group.rows > group.span) for group in free)
    if len(groups) > 1:
        return 1 + max([1, *(_to_hold(group) for group in free)]), exact
    return max([1, *(_to_move(group) for group in free)]), exact


def _to_hold(group: Magnitude) -> int:
    """How many rows of the group must change at most, so that one of them takes a value that none has."""
    if not group.full or group.rows is None or group.total is None:
        return group.span
    room = group.rows * group.span - group.total
    return max(_most_needed(group.rows, total, group.span) for total in (group.total, room))


def _most_needed(rows: int, total: int, span: int) -> int:
    """How many of the largest of `rows` equal parts of `total` it takes to reach the largest value that a row can have."""
    quotient, remainder = divmod(total, rows)
    return int(_fewest(np.array([min(span, total)]), np.array([quotient]), np.array([remainder]))[0])


def _to_move(group: Magnitude) -> int:
    """How many rows must change at most, so that a row of the only group takes another value."""
    if not group.full or group.rows is None or group.total is None:
        return 1 + group.span
    if group.rows == 1:
        return 1
    room = group.rows * group.span - group.total
    return 1 + max(_most_for_one(group.rows, total, group.span) for total in (group.total, room))


def _most_for_one(rows: int, total: int, span: int) -> int:
    """The most rows that must give something up, so that some row takes the largest value that it can have."""
    top = min(span, total)
    own = np.arange(max(0, total - (rows - 1) * span), top + 1, dtype=np.int64)
    quotient, remainder = np.divmod(total - own, rows - 1)
    return int(_fewest(top - own, quotient, remainder).max())


def _fewest(needed: NDArray[np.int64], quotient: NDArray[np.int64], remainder: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least k with k·quotient + min(k, remainder) ≥ needed: parts are quotient + 1, `remainder` times, then quotient."""
    large = -(-needed // (quotient + 1))
    rest = needed - remainder * (quotient + 1)
    return np.where(rest <= 0, large, remainder - (-rest // np.maximum(quotient, 1)))
