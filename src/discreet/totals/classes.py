"""Classes of cells: what the published sums do not tell apart, and what they settle.

Cells with equal labels in every split form a class. Where the sums settle the number of rows of every class, they are the
totals of one partition, however they were described: nested totals, totals of some groups, a region and its complement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import PlanError
from discreet.totals.components import Split

__all__ = ["Classes", "Existence", "are_within_classes", "classes_of", "disjoint_sets", "existence_of"]

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The classes of the possible cells of a component.

    Args:
        owner: int64, the class of each possible cell, 0, …, size - 1.
        size: how many classes there are.
        blocks: for each split the label of each class.
        settled: whether the sums settle the rows of every class.
        totals: int64, the rows of each class where they are settled and published, else None.
    """

    owner: _Ints
    size: int
    blocks: tuple[_Ints, ...]
    settled: bool
    totals: _Ints | None


def classes_of(splits: Sequence[Split], cells: int, rows: int | None) -> Classes:
    """The classes of `cells` possible cells under the splits; `rows` is n.

    Raises:
        PlanError: published totals from which a class would have less than no rows.
    """
    owner = np.zeros(cells, dtype=np.int64)
    for split in splits:
        _, owner = np.unique(owner * split.blocks + split.labels, return_inverse=True)
    owner = owner.reshape(-1).astype(np.int64)
    size = int(owner.max()) + 1
    member = np.zeros(size, dtype=np.int64)
    member[owner] = np.arange(cells)
    blocks = tuple(split.labels[member] for split in splits)
    sums = [(split.blocks, labels, split.counts) for split, labels in zip(splits, blocks, strict=True) if not split.weights]
    whole = None if rows is None else np.array([rows], dtype=np.int64)
    settled, totals = _settle([*sums, (1, np.zeros(size, dtype=np.int64), whole)], size)
    return Classes(owner, size, blocks, settled, totals)


def _settle(sums: Sequence[tuple[int, _Ints, _Ints | None]], size: int) -> tuple[bool, _Ints | None]:
    """True if every class is the only unsettled one in a published sum at some time; if so, and all is known, their rows.

    This settles the smallest sets first and what remains of the larger ones after them, as in a laminar family.
    """
    known = np.zeros(size, dtype=bool)
    rows = np.zeros(size, dtype=np.int64)
    numbers_known = True
    while not known.all():
        before = int(known.sum())
        for blocks, labels, counts in sums:
            single = np.bincount(labels[~known], minlength=blocks) == 1
            fresh = ~known & single[labels]
            if not fresh.any():
                continue
            if counts is None:
                numbers_known = False
            else:
                left = counts.copy()
                np.subtract.at(left, labels[known], rows[known])
                rows[fresh] = left[labels[fresh]]
            known |= fresh
        if int(known.sum()) == before:
            return False, None
    if numbers_known and (rows < 0).any():
        raise PlanError("totals: contradict each other; some cells have more rows than a group that contains them")
    return True, rows if numbers_known else None


@dataclass(frozen=True, slots=True)
class Existence:
    """Published facts about single sets of cells, each within one class, pairwise disjoint.

    Args:
        sets: of how many sets it is published whether a row lies in them, without sets that are known to be empty.
        rest: whether a row can lie outside all of them.
    """

    sets: int
    rest: bool


def existence_of(lists: Sequence[_Ints], owner: _Ints) -> Existence | None:
    """The facts that the lists of occupied cells add to the totals of the classes; None where their sets overlap otherwise.

    A set that is a union of classes, or of sets that are published too, says nothing new.
    """
    held = disjoint_sets(lists, owner)
    if held is None or not _within(held, owner):
        return None
    return Existence(len(np.unique(held[held >= 0])), bool((held < 0).any()))


def are_within_classes(lists: Sequence[_Ints], owner: _Ints) -> bool:
    """True if the sets are pairwise disjoint, each within one class; the rows of the classes need not be settled."""
    nothing = np.full(len(owner), -1, dtype=np.int64)  # then a class that is occupied does say something new
    held = disjoint_sets(lists, nothing)
    return held is not None and _within(held, owner)


def disjoint_sets(lists: Sequence[_Ints], known: _Ints) -> _Ints | None:
    """For each cell the number of the set of the lists that holds it, -1 for none; None where they overlap.

    Sets that say nothing new do not count: unions of classes whose rows are `known`, by their numbers, or of other sets.
    """
    held = np.full(len(known), -1, dtype=np.int64)
    for numbers in lists:
        told = _unions_of(numbers, known) | _unions_of(numbers, np.where(held < 0, -1, held))
        fresh = np.where(told, -1, numbers)
        there = fresh >= 0
        if (held[there] >= 0).any():
            return None
        held = np.where(there, fresh + int(held.max()) + 1, held)
    return held


def _unions_of(sets: _Ints, parts: _Ints) -> NDArray[np.bool_]:
    """For each cell whether its set is a union of whole parts; parts and sets of the number -1 do not count."""
    pairs = np.unique(np.stack([parts, sets]), axis=1)
    split_parts = pairs[0][:-1][pairs[0][1:] == pairs[0][:-1]]
    broken = np.unique(pairs[1][np.isin(pairs[0], split_parts) | (pairs[0] < 0)])
    return (sets >= 0) & ~np.isin(sets, broken)


def _within(sets: _Ints, owner: _Ints) -> bool:
    """True if every set is within one class."""
    there = sets >= 0
    pairs = np.unique(np.stack([sets[there], owner[there]]), axis=1)
    return bool(len(np.unique(pairs[0])) == pairs.shape[1])
