"""Rows that have exact lists: one list after the other, matched at random where they overlap.

Lists whose overlaps are like the branches of a tree are always met. Others may not be: in general it is NP-hard to find rows
with given totals that overlap in a circle.
"""

from __future__ import annotations

import numpy as np

from discreet.errors import ArgumentError
from discreet.releases.rows.model import Integers, Listed, Root, Targets
from discreet.releases.rows.words import Words

__all__ = ["Joined", "join_lists"]

Joined = dict[int, Integers]
"""For each axis that lists have, or that follows from these, the level of every row."""


def join_lists(targets: Targets, words: Words) -> tuple[Joined, tuple[Listed, ...]]:
    """Rows with the lists, as far as they can be matched one after the other, and the lists that they do not have yet.

    Raises:
        ArgumentError: a list of more or fewer rows.
    """
    found: Joined = {}
    left = [*targets.lists]
    apart: list[Listed] = []
    while left:
        one = max(left, key=lambda some: (_shared(targets, some, found), some.counts.size, -targets.lists.index(some)))
        left.remove(one)
        if int(one.counts.sum()) != targets.rows:
            raise ArgumentError(f"release: {one.named} are of other rows than its tables; discreet did not write it")
        if not _match(targets, one, found, words):
            apart.append(one)
    return found, tuple(apart)


def _shared(targets: Targets, one: Listed, found: Joined) -> int:
    """On how many axes of a list something is known of rows."""
    return sum(bool(found.keys() & set(targets.root_of(axis).axes)) for axis in one.axes)


def _match(targets: Targets, one: Listed, found: Joined, words: Words) -> bool:
    """Gives every row a cell of the list with what is known of the row; False if the list has other numbers of these."""
    many = targets.rows
    theirs, mine = np.repeat(np.arange(one.counts.size), one.counts.ravel()), words.shuffle(many)
    levels = np.unravel_index(theirs[mine], one.counts.shape)
    theirs, mine = np.zeros(many, dtype=np.int64), np.zeros(many, dtype=np.int64)
    for place, axis in enumerate(one.axes):
        overlap = _overlap(targets.root_of(axis), axis, found)
        if overlap is None:
            return False
        for other, codes in overlap:
            size = targets.sizes[other]
            theirs, mine = _together(theirs * size + codes[levels[place]], mine * size + found[other])
    order = words.shuffle(many)
    order = order[np.argsort(mine[order], kind="stable")]
    turned = np.argsort(theirs, kind="stable")
    if (mine[order] != theirs[turned]).any():
        return False
    for place, axis in enumerate(one.axes):
        if axis not in found:
            found[axis] = np.zeros(many, dtype=np.int64)
            found[axis][order] = levels[place][turned]
    for root in dict.fromkeys(targets.root_of(axis) for axis in one.axes):
        _close(root, found)
    return True


def _together(first: Integers, second: Integers) -> tuple[Integers, Integers]:
    """The same numbers as small ones."""
    both = np.unique(np.concatenate([first, second]), return_inverse=True)[1].ravel()
    return both[: len(first)], both[len(first) :]


def _overlap(root: Root, axis: int, found: Joined) -> list[tuple[int, Integers]] | None:
    """The known axes of the root, each with its level at every level of an axis; this one alone if it is known.

    None where one of them does not follow from the axis: some of their levels together are those of no row.
    """
    codes = {other: root.codes[:, place] for place, other in enumerate(root.axes)}
    known = []
    for other in [axis] if axis in found else sorted(found.keys() & set(root.axes)):
        level = np.zeros(int(codes[axis].max()) + 1, dtype=np.int64)
        level[codes[axis]] = codes[other]
        if (level[codes[axis]] != codes[other]).any():
            return None
        known.append((other, level))
    return known


def _close(root: Root, found: Joined) -> None:
    """Rows get the levels of all axes of a root that follow from those that they have."""
    known = [place for place, axis in enumerate(root.axes) if axis in found]
    known = known[:1] if known[0] == 0 else known  # its own level says the others
    sizes = [int(root.codes[:, place].max()) + 1 for place in known]
    classes = np.ravel_multi_index(tuple(root.codes[:, place] for place in known), sizes)
    of, classes = np.unique(classes, return_inverse=True)
    mine = np.searchsorted(of, np.ravel_multi_index(tuple(found[root.axes[place]] for place in known), sizes))
    for place, axis in enumerate(root.axes):
        level = np.zeros(len(of), dtype=np.int64)
        level[classes.ravel()] = root.codes[:, place]
        if axis not in found and (level[classes.ravel()] == root.codes[:, place]).all():
            found[axis] = level[mine]
