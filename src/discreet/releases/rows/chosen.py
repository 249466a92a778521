"""Lists that nobody stated, but facts demand: near what the tables say, within ranges, with exact sums, inside exact lists.

Once they are chosen, rows keep them like any other list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, InternalError
from discreet.exact.axes import in_order, margin_of
from discreet.mechanisms.effects import Axes
from discreet.releases.rows.division import Classes, divide, divide_in, is_finer, shift, sums_of
from discreet.releases.rows.facts import Wanted
from discreet.releases.rows.model import PARTS, Integers, Listed, Root, Targets

__all__ = [
    "Shifted",
    "chain_of",
    "choose",
    "classes_in",
    "empty_cells",
    "estimate_of",
    "lists_in",
    "move_rows",
    "refused",
    "whole_levels",
]


def choose(targets: Targets, wanted: Wanted) -> Listed:
    """Numbers of rows for the cells of a fact.

    Raises:
        ArgumentError: none were found that agree with the lists; the message names them.
    """
    shape = targets.shape(wanted.axes)
    low, high = wanted.low.ravel(), np.where(empty_cells(targets, wanted.axes), 0, wanted.high).ravel()
    chain = chain_of(targets, wanted.axes, [], wanted.named)
    found = divide_in(chain, estimate_of(targets, wanted.axes).ravel(), low, high)
    if found is None:
        raise refused(wanted.named, chain)
    for place, (coefficients, total) in enumerate(wanted.sums):
        others = [one.ravel().astype(np.int64) for at, (one, _) in enumerate(wanted.sums) if at != place]
        alike = np.unique(np.stack([chain[-2].labels, *others], axis=1), axis=0, return_inverse=True)[1].ravel()
        missing = total - int((coefficients.ravel() * found).sum())
        if move_rows(Shifted(found, low, high), coefficients.ravel(), alike, missing):
            raise refused(wanted.named, chain)
    return Listed(wanted.axes, found.reshape(shape), wanted.named)


def classes_in(targets: Targets, axes: Axes, named: str) -> Classes | None:
    """The finest classes of the cells of some axes of which lists say the number of rows; all rows where none does.

    None where there are two lists of which neither is finer.
    """
    lists = lists_in(targets, axes)
    if not all(is_finer(fine, wide) for wide, fine in pairwise(lists)):
        return None
    return chain_of(targets, axes, [], named)[-2]


def refused(named: str, chain: Sequence[Classes]) -> ArgumentError:
    """The error that no numbers of rows were found inside the lists of a chain."""
    beside = " and ".join(one.named for one in chain if one.named)
    return ArgumentError(
        f"release: no numbers of rows were found for {named}{f' inside {beside}' if beside else ''}; to find some is "
        "NP-hard in general"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Shifted:
    """Numbers of rows, which change, and the ends of their ranges."""

    counts: Integers
    low: Integers
    high: Integers


def move_rows(cells: Shifted, coefficients: NDArray[np.object_], alike: Integers, missing: int) -> int:
    """Moves rows between cells that are alike in everything else until a sum has grown by what is missing; what is left.

    Cells of one coefficient are one class, whose rows are divided anew where it has other ones.
    """
    for label in range(int(alike.max()) + 1):
        mine = np.flatnonzero(alike == label)
        values, of = np.unique(coefficients[mine].astype(np.int64), return_inverse=True)
        classes = Classes(of.ravel(), None)
        counts, low, high = (sums_of(classes, one[mine]) for one in (cells.counts, cells.low, cells.high))
        before = counts.copy()
        missing = shift(counts, low, high, values.astype(np.object_), missing) if missing else 0
        for value in np.flatnonzero(counts != before).tolist():
            some = mine[classes.labels == value]
            found = divide(PARTS * cells.counts[some], int(counts[value]), cells.low[some], cells.high[some])
            if found is None:
                raise InternalError("rows that were moved between cells are not in them")
            cells.counts[some] = found
    return missing


def whole_levels(targets: Targets, root: Root) -> Listed:
    """Whole numbers of rows for all levels of a root: areas inside areas, from the widest ones on.

    Raises:
        ArgumentError: exact lists that cross each other.
    """
    own = root.axes[:1]
    coarser = [Classes(root.codes[:, place], None) for place in range(1, len(root.axes))]
    named = f"the levels of {root.name}"
    chain = chain_of(targets, own, coarser, named)
    none = np.zeros(root.levels, dtype=np.int64)
    found = divide_in(chain, root.alone, none, np.where(empty_cells(targets, own), 0, targets.rows))
    if found is None:
        raise refused(named, chain)
    return Listed(own, found, named)


def empty_cells(targets: Targets, axes: Axes) -> NDArray[np.bool_]:
    """The cells in which no row can be, by what is said of these axes, or of them and others in one place."""
    found = _empty_alone(targets, axes)
    for one in targets.voids:
        own = tuple(axis for axis in axes if axis in one.axes)
        if own and len(own) < len(one.axes):
            others = tuple(place for place, axis in enumerate(one.axes) if axis not in axes)
            without = np.asarray(_empty_alone(targets, one.axes).all(axis=others))
            found |= _along(without, [*filter(own.__contains__, one.axes)], axes)
    return found


def _empty_alone(targets: Targets, axes: Axes) -> NDArray[np.bool_]:
    """The cells that no level of a column is in, as a town in another county, and those that are empty by name."""
    found = np.zeros(targets.shape(axes), dtype=bool)
    for root in targets.roots:
        own = [axis for axis in axes if axis in root.axes]
        if own:
            empty = np.ones(targets.shape(own), dtype=bool)
            empty[tuple(root.codes[:, root.axes.index(axis)] for axis in own)] = False
            found |= _along(empty, own, axes)
    for one in targets.voids:
        if set(one.axes) <= set(axes):
            found |= _along(one.empty, one.axes, axes)
    return found


def _along(empty: NDArray[np.bool_], own: Sequence[int], axes: Axes) -> NDArray[np.bool_]:
    """The cells of some axes, side by side with those of all axes."""
    turned = in_order(empty, own, [axis for axis in axes if axis in own])
    sizes = iter(turned.shape)
    return turned.reshape([next(sizes) if axis in own else 1 for axis in axes])


def chain_of(targets: Targets, axes: Axes, further: Sequence[Classes], named: str) -> list[Classes]:
    """The classes that the cells of some axes lie in, the widest first, the cells last.

    Raises:
        ArgumentError: two lists of which neither is finer.
    """
    cells = Classes(np.arange(prod(targets.shape(axes))), None)
    every = Classes(np.zeros(cells.many, dtype=np.int64), np.array([targets.rows]))
    chain = [every]
    for one in lists_in(targets, axes):
        if not is_finer(one, chain[-1]):
            both = " and ".join(filter(None, [chain[-1].named, one.named]))
            raise ArgumentError(f"release: {both} cross each other, and rows with {named} inside both are not looked for")
        chain.append(one)
    for one in sorted(further, key=lambda one: one.many):
        place = next((place for place, other in enumerate(chain) if not is_finer(one, other)), len(chain))
        if all(is_finer(other, one) for other in chain[place:]):
            chain.insert(place, one)
    return [*chain, cells]


def lists_in(targets: Targets, axes: Axes) -> list[Classes]:
    """What lists say of the cells of some axes, those with the fewest classes first."""
    found = (_margin(targets, one, axes) for one in targets.lists)
    return sorted((one for one in found if one is not None), key=lambda one: one.many)


def _margin(targets: Targets, one: Listed, axes: Axes) -> Classes | None:
    """What a list says of the cells of some axes; None where it has none of their roots."""
    labels = np.zeros((1,) * len(axes), dtype=np.int64)
    inside = []
    for place, axis in enumerate(one.axes):
        root = targets.root_of(axis)
        known = next((at for at, other in enumerate(axes) if other in root.axes), None)
        codes = None if known is None else _within(root, axes[known], axis, targets.sizes[axes[known]])
        if known is not None and codes is not None:
            labels = labels * targets.sizes[axis] + codes.reshape([-1 if at == known else 1 for at in range(len(axes))])
            inside.append(place)
    if not inside:
        return None
    counts = one.counts.sum(axis=tuple(place for place in range(len(one.axes)) if place not in inside))
    flat = np.broadcast_to(labels, targets.shape(axes)).ravel()
    there, labels = np.unique(flat, return_inverse=True)
    return Classes(labels.ravel(), counts.ravel()[there], one.named)


def _within(root: Root, fine: int, coarse: int, levels: int) -> Integers | None:
    """For each level of one axis of a root that of another one, where it follows."""
    both = np.unique(root.codes[:, [root.axes.index(fine), root.axes.index(coarse)]], axis=0)
    if len(np.unique(both[:, 0])) < len(both):
        return None
    found = np.zeros(levels, dtype=np.int64)
    found[both[:, 0]] = both[:, 1]
    return found


def estimate_of(targets: Targets, axes: Axes) -> Integers:
    """What a table says that has all of some axes, times `PARTS`; without one what tables say of each axis, independent."""
    for table in targets.tables:
        if set(axes) <= set(table.axes):
            return margin_of(table.counts, table.axes, axes)
    found = np.full((1,) * len(axes), PARTS * targets.rows, dtype=np.object_)
    for place, axis in enumerate(axes):
        root = targets.root_of(axis)
        alone = np.zeros(targets.sizes[axis], dtype=np.int64)
        np.add.at(alone, root.codes[:, root.axes.index(axis)], np.maximum(root.alone, 0))
        found = found * alone.reshape([-1 if at == place else 1 for at in range(len(axes))]) // max(1, int(alone.sum()))
    return np.broadcast_to(found, targets.shape(axes)).astype(np.int64)
