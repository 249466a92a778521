"""Noisy counts made a table of non-negative integers that has the published totals exactly.

A function of public numbers only: noisy integers and totals that are published with them. It is a view for readers who
need a table without negative counts and with the right sums. It is biased (zeros cannot be balanced by negative noise), so
the unbiased noisy table is kept next to it.

Totals are given as constraints, each a label per cell and a total per label. Disjoint and nested groups are solved exactly
in integers by sorting; groups that cross go to a solver. Whatever the way, the sums are checked in integers at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import ROW_LIMIT
from discreet.errors import ArgumentError, InternalError

__all__ = ["ConsistentTable", "Constraint", "consistent_counts", "consistent_within"]

Constraint = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Labels, shape (cells,): the group of each cell, or -1 for none; and totals, shape (groups,)."""

_MOST_NOISY = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class ConsistentTable:
    """Non-negative integers with the totals, shape (cells,), and the largest absolute change of any cell."""

    values: NDArray[np.int64]
    moved: int


def consistent_counts(
    noisy: NDArray[np.int64], constraints: Sequence[Constraint] = (), *, fixed_zero: NDArray[np.bool_] | None = None
) -> ConsistentTable:
    """Non-negative integers near `noisy` whose sums over the groups of every constraint equal its totals exactly.

    Cells without a constraint become max(noisy, 0). If for any two constraints that share cells the groups of one are within
    the groups of the other, the result has the least sum of squared changes of all such tables. Otherwise it is a controlled
    rounding of the least-squares solution over the non-negative reals: each cell is rounded down or up or, if no such table
    is found, moved a little further. A table that meets the constraints already is returned unchanged.

    Args:
        noisy: int64, shape (cells,), at most 2**62 in size.
        constraints: pairs (labels, totals). Labels are int64, shape (cells,), from -1 (no group) to groups - 1; totals are
            int64, shape (groups,), from 0 to below 2**40, and times the number of cells below 2**62.
        fixed_zero: shape (cells,): cells that are 0 for a public reason, such as a structural zero.

    Raises:
        ArgumentError: a shape, type or range is wrong; the totals contradict each other or the zeros; or a solver found no
            table, which can happen with many overlapping totals.
        InternalError: the result does not have the totals (never returned).

    Source: the projection onto a simplex follows Held, Wolfe and Crowder (Math. Program. 6, 1974, 62-88); for the others
    see `_solvers`.
    """
    _check_integers("noisy", noisy, -_MOST_NOISY, _MOST_NOISY)
    for place, (labels, totals) in enumerate(constraints):
        _check_constraint(place, labels, totals, noisy.size)
    apart = _untangle(constraints)
    zero = _zeros(noisy.size, apart, fixed_zero)
    values = np.where(zero, 0, np.maximum(noisy, 0))
    memberships = np.zeros(noisy.size, np.int64)
    for labels, _ in apart:
        memberships += (labels >= 0) & ~zero
    if memberships.max(initial=0) > 1:
        free = np.flatnonzero(memberships)
        values[free] = _fit_overlapping(noisy[free], [(labels[free], totals) for labels, totals in apart])
    else:
        for labels, totals in apart:
            free = np.flatnonzero((labels >= 0) & ~zero)
            values[free] = _partition(noisy[free], labels[free], totals)
    _verify(values, constraints, zero)
    return ConsistentTable(values, int(np.abs(values - noisy).max(initial=0)))


def consistent_within(
    noisy: NDArray[np.int64], exact: Sequence[Constraint], most: Sequence[Constraint]
) -> NDArray[np.int64]:
    """As `consistent_counts`, and no sum over a group of `most` is above its total.

    Groups whose sum is above their total get it exactly, the finer groups first, until there is none. Where groups are
    disjoint, that is the table with the least sum of squared changes. Totals of groups that share cells may not be met all
    at once: then each gets what is near to what it had room for.

    Raises:
        As `consistent_counts`.
    """
    finest = sorted(most, key=lambda one: -one[1].size)
    held = [np.zeros(totals.size, np.bool_) for _, totals in finest]
    values = consistent_counts(noisy, exact).values
    while (first := _first_above(values, finest)) is not None:
        place, above = first
        held[place] |= above
        try:
            values = consistent_counts(noisy, [*exact, *map(_only, finest, held)]).values
        except ArgumentError:
            return _with_room(noisy, values, exact, finest)
    return values


def _first_above(values: NDArray[np.int64], most: Sequence[Constraint]) -> tuple[int, NDArray[np.bool_]] | None:
    """The first of the constraints with groups whose sum is above their total, and these groups; None if there is none."""
    for place, (labels, totals) in enumerate(most):
        above = _sums(labels, values, totals.size) > totals
        if above.any():
            return place, above
    return None


def _with_room(
    noisy: NDArray[np.int64], near: NDArray[np.int64], exact: Sequence[Constraint], most: Sequence[Constraint]
) -> NDArray[np.int64]:
    """The table with a further cell for each group of `most`: the room that is left, near to what `near` leaves."""
    rooms = [np.maximum(totals - _sums(labels, near, totals.size), 0) for labels, totals in most]
    table = np.concatenate([noisy, *rooms])
    starts = np.cumsum([noisy.size, *(room.size for room in rooms)])
    constraints = [(_widen(labels, table.size), totals) for labels, totals in exact]
    for start, (labels, totals) in zip(starts, most, strict=False):
        wide = _widen(labels, table.size)
        wide[start : start + totals.size] = np.arange(totals.size)
        constraints.append((wide, totals))
    return consistent_counts(table, constraints).values[: noisy.size]


def _widen(labels: NDArray[np.int64], cells: int) -> NDArray[np.int64]:
    """The labels of more cells, the further ones in no group."""
    return np.append(labels, np.full(cells - labels.size, -1, np.int64))


def _only(constraint: Constraint, groups: NDArray[np.bool_]) -> Constraint:
    """The constraint for some of its groups."""
    labels, totals = constraint
    number = np.append(np.where(groups, np.cumsum(groups) - 1, -1), [-1])  # the label -1 reads the last one
    return number[labels], totals[groups]


def _check_integers(name: str, array: NDArray[Any], low: int, high: int) -> None:
    if not (isinstance(array, np.ndarray) and array.dtype == np.int64 and array.ndim == 1):
        raise ArgumentError(f"{name}: must be an int64 array of one axis; convert it")
    if array.size and not (low <= int(array.min()) and int(array.max()) <= high):
        raise ArgumentError(f"{name}: must be from {low} to {high}")


def _check_constraint(place: int, labels: NDArray[np.int64], totals: NDArray[np.int64], cells: int) -> None:
    name = f"constraints[{place}]"
    _check_integers(f"{name}, totals", totals, 0, min(ROW_LIMIT, 2**62 // max(1, cells)) - 1)
    _check_integers(f"{name}, labels", labels, -1, totals.size - 1)
    if labels.size != cells:
        raise ArgumentError(f"{name}, labels: {labels.size} labels for {cells} cells; give each cell one, -1 for no group")


def _untangle(constraints: Sequence[Constraint]) -> list[Constraint]:
    """Equivalent constraints, in their places, none of which has groups that lie within the groups of another.

    Counties within states: the state's total less the totals of its counties is the total of the cells outside all counties.

    Raises:
        ArgumentError: the parts of a group add up to more than its total.
    """
    apart = list(constraints)
    for place, (labels, totals) in enumerate(constraints):
        rest_labels, rest = labels, totals
        for other, (finer, parts) in enumerate(apart):
            within = None if other == place else _find_containers(finer, rest_labels, parts.size)
            if within is not None:
                rest_labels = np.where(finer >= 0, -1, rest_labels)
                rest = rest - _sums(within, parts, rest.size)
        if np.any(rest < 0):
            raise ArgumentError(
                f"constraints[{place}]: a total is less than the totals of the groups within it; correct one of them"
            )
        apart[place] = (rest_labels, rest)
    return apart


def _find_containers(finer: NDArray[np.int64], labels: NDArray[np.int64], parts: int) -> NDArray[np.int64] | None:
    """For each group of `finer` the group of `labels` that contains it, or -1; None if a group of `finer` is cut."""
    cells = np.flatnonzero(finer >= 0)
    container = np.full(parts, -1, np.int64)
    container[finer[cells]] = labels[cells]  # of several cells the last one counts: then all must agree with it
    return container if np.array_equal(container[finer[cells]], labels[cells]) else None


def _zeros(cells: int, constraints: Sequence[Constraint], fixed_zero: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """The cells that must be 0: the fixed cells, and the cells of groups whose total is 0.

    Raises:
        ArgumentError: a group with a positive total has no other cells.
    """
    zero = np.zeros(cells, np.bool_) if fixed_zero is None else fixed_zero
    if not (isinstance(zero, np.ndarray) and zero.dtype == np.bool_ and zero.shape == (cells,)):
        raise ArgumentError(f"fixed_zero: must be a boolean array of shape ({cells},), one for each cell")
    zero = zero.copy()
    for labels, totals in constraints:
        zero |= np.append(totals == 0, [False])[labels]  # the label -1 reads the last one
    for place, (labels, totals) in enumerate(constraints):
        open_cells = np.bincount(labels[(labels >= 0) & ~zero], minlength=totals.size)
        stuck = np.flatnonzero((open_cells == 0) & (totals > 0))
        if stuck.size:
            raise ArgumentError(
                f"constraints[{place}]: group {stuck[0]} has a positive total, or rest outside the groups within it, but no "
                "cell that may be above 0 (groups of total 0 and fixed cells are out); correct the totals or the zeros"
            )
    return zero


def _partition(noisy: NDArray[np.int64], labels: NDArray[np.int64], totals: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integers ≥ 0 with the totals and the least Σ(y - noisy)²; every cell has a label, a total of 0 no cell.

    In a group of total T let v_1 ≥ v_2 ≥ …. The nearest reals are max(v - τ, 0), τ = (v_1 + … + v_k - T)/k, where k is the
    largest number with v_k > τ. All positive reals have one fractional part, so the integers are v - ⌈τ⌉ and the rest,
    less than k, goes in ones to the first cells. This is optimal: a further 1 costs 2(y - v) + 1, which is 1 - 2⌈τ⌉ in each
    of the k cells, at least as much in those left at 0, and 2 more where it was given already.
    """
    order = np.lexsort((-noisy, labels))
    group, sorted_noisy = labels[order], noisy[order]
    sizes = np.bincount(group, minlength=totals.size)
    starts = np.cumsum(sizes) - sizes
    first = starts[group]
    # Only differences matter. τ ≥ v_1 - T, so a cell that is T or more below the first stays 0: cut there, the numbers lie
    # in [-T, 0], and no sum reaches cells · T < 2**62.
    below = np.maximum(sorted_noisy - sorted_noisy[first], -totals[group])
    partial = np.cumsum(below)
    partial -= partial[first]  # below[first] is 0
    rank = np.arange(group.size) - first + 1
    positive = rank * below > partial - totals[group]
    k = np.bincount(group[positive], minlength=totals.size)
    filled = k > 0  # all groups that have cells: there the first cell is positive, as T > 0
    excess = np.zeros(totals.size, np.int64)
    excess[filled] = partial[(starts + k - 1)[filled]] - totals[filled]
    tau_up = -(-excess // np.maximum(k, 1))
    rest = tau_up * k - excess
    result = np.empty_like(noisy)
    result[order] = np.where(positive, below - tau_up[group] + (rank <= rest[group]), 0)
    return result


def _fit_overlapping(noisy: NDArray[np.int64], constraints: Sequence[Constraint]) -> NDArray[np.int64]:
    """Integers ≥ 0 with all totals, near the least-squares solution. Every cell is in a group; totals of 0 have no cell."""
    from scipy.sparse import csr_array, vstack

    from discreet.releases._solvers import least_squares, near_integers

    blocks, rights = [], []
    for labels, totals in constraints:
        cells = np.flatnonzero(labels >= 0)
        members = csr_array((np.ones(cells.size, np.int64), (labels[cells], cells)), shape=(totals.size, noisy.size))
        blocks.append(members[totals > 0])
        rights.append(totals[totals > 0])
    groups, right = vstack(blocks, format="csr"), np.concatenate(rights)
    return near_integers(noisy, least_squares(noisy, groups, right), groups, right)


def _sums(labels: NDArray[np.int64], values: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """The exact sum of the values of each group; those with the label -1 are left out."""
    sums = np.zeros(groups, np.int64)
    np.add.at(sums, labels[labels >= 0], values[labels >= 0])
    return sums


def _verify(values: NDArray[np.int64], constraints: Sequence[Constraint], zero: NDArray[np.bool_]) -> None:
    if np.any(values < 0) or np.any(values[zero] != 0):
        raise InternalError("consistent_counts: a cell is negative, or not 0 where it must be")
    for place, (labels, totals) in enumerate(constraints):
        if not np.array_equal(_sums(labels, values, totals.size), totals):
            raise InternalError(f"consistent_counts: the sums differ from the totals of constraints[{place}]")
