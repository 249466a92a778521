"""Bounds on a(t) for one component whose sums do not settle every class: overlapping margins, zeros inside tables, weights.

Three bounds, each proved in docs/proofs/semi-adjacency.md: decomposable margins (A4), two crossing partitions (A5), the
longest exchange of the Graver basis (A6).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import PlanError
from discreet.invariants.classes import Classes
from discreet.invariants.components import Component, Split
from discreet.invariants.graver import MOST_CELLS, graver_basis
from discreet.invariants.parts import ImpossiblePart, TotalsPart

__all__ = ["crossing_bound", "decomposable", "graver_bound", "rank"]

_MOST_RANKED = 1000
_SMALL = 16  # up to so many classes a Graver basis costs nothing and may be sharper than the bound for two partitions

_Ints = NDArray[np.int64]


def decomposable(component: Component) -> bool:
    """Whether the component is whole tables of totals whose columns have the running intersection property.

    Structural zeros are allowed within the columns of one table: they are totals of 0 there.
    """
    tables = [set(part.columns) for part in component.parts if isinstance(part, TotalsPart) and part.only is None]
    zeros = [set(part.columns) for part in component.parts if isinstance(part, ImpossiblePart)]
    if len(tables) + len(zeros) < len(component.parts) or not all(any(zero <= one for one in tables) for zero in zeros):
        return False
    # Graham's reduction: a table can be taken away when what it shares with the others lies in one of them.
    while len(tables) > 1:
        for table in tables:
            others = [other for other in tables if other is not table]
            if any(table & set().union(*others) <= other for other in others):
                tables = others
                break
        else:
            return False
    return bool(tables)


def crossing_bound(splits: Sequence[Split], classes: Classes) -> int | None:
    """1 + the most rows that two crossing partitions make one exchange move, at least 2; None for other sums (A5).

    Classes are the edges of a bipartite graph between the labels of the two splits. Exchanges are its simple cycles, and a
    cycle of 2m edges needs m labels on either side.
    """
    if len(splits) != 2 or any(split.weights for split in splits):
        return None
    left, right = classes.blocks
    part = _connected(left, right, splits[0].blocks)
    longest = 1
    for number in np.unique(part):
        here = part[left] == number
        sides = len(np.unique(left[here])), len(np.unique(right[here]))
        if int(here.sum()) >= sum(sides):  # else it is a tree, which has no cycle
            longest = max(longest, *(min(sides),))
    return 1 + longest


def _connected(left: _Ints, right: _Ints, size: int) -> _Ints:
    """The connected part of each label on the left, named after its smallest label there."""
    part = np.arange(size, dtype=np.int64)
    while True:
        least = np.full(int(right.max()) + 1, size, dtype=np.int64)
        np.minimum.at(least, right, part[left])
        lower = part.copy()
        np.minimum.at(lower, left, least[right])
        if (lower == part).all():
            return part
        part = lower


def graver_bound(component: Component, splits: Sequence[Split], classes: Classes) -> int:
    """max(2, 1 + half of the largest ℓ₁ norm in the Graver basis of the sums and n (A6).

    Raises:
        PlanError: the domain is too large for a complete Graver basis.
    """
    crossing = crossing_bound(splits, classes)
    if crossing is not None and classes.size > _SMALL:
        return crossing
    longest = 0
    done: set[bytes] = set()
    for matrix in _blocks(splits, classes):
        if matrix.tobytes() + str(matrix.shape).encode() in done:
            continue
        done.add(matrix.tobytes() + str(matrix.shape).encode())
        basis = graver_basis(matrix.tolist()) if matrix.shape[1] <= MOST_CELLS else None
        if basis is None:
            raise _too_large(component, classes, matrix)
        longest = max(longest, int(np.abs(basis).sum(axis=1).max(initial=0)))
    return max(2, 1 + longest // 2)


def _too_large(component: Component, classes: Classes, matrix: _Ints) -> PlanError:
    columns = ", ".join(component.columns)
    return PlanError(
        f"invariants: the totals of {columns} overlap in a way that has no closed form, and are too large for the general "
        f"case, which takes {MOST_CELLS} connected cells and a small basis: they tell {classes.size} cells apart, of which "
        f"{matrix.shape[1]} are connected by {matrix.shape[0]} sums; publish nested or disjoint totals, totals that form a "
        "chain such as (a, b), (b, c), or fewer levels"
    )


def _matrix(splits: Sequence[Split], classes: Classes) -> _Ints:
    """The sums as rows of coefficients on the classes.

    The number of rows is a sum of its own unless a partition says it.
    """
    rows: list[_Ints] = []
    for split, labels in zip(splits, classes.blocks, strict=True):
        if split.weights is not None:
            rows.append(np.array(split.weights, dtype=np.int64)[labels])
        else:
            rows.extend((labels == number).astype(np.int64) for number in range(split.blocks))
    if all(split.weights is not None for split in splits):
        rows.append(np.ones(classes.size, dtype=np.int64))
    return np.stack(rows)


def rank(splits: Sequence[Split], classes: Classes) -> int:
    """The rank of the sums and n as functions of the rows of the classes; 0, which is no bound, above 1000 classes."""
    from flint import fmpz_mat

    return 0 if classes.size > _MOST_RANKED else int(fmpz_mat(_matrix(splits, classes).tolist()).rank())


def _blocks(splits: Sequence[Split], classes: Classes) -> list[_Ints]:
    """The matrix of the sums on the classes, taken apart into blocks that share no sum."""
    matrix = _matrix(splits, classes)
    part = np.arange(classes.size, dtype=np.int64)
    changed = True
    while changed:
        changed = False
        for row in matrix:
            touched = row != 0
            least = part[touched].min()
            changed = changed or bool((part[touched] != least).any())
            part[touched] = least
    return [_without_empty(matrix[:, part == number]) for number in np.unique(part)]


def _without_empty(block: _Ints) -> _Ints:
    return np.ascontiguousarray(block[(block != 0).any(axis=1)])
