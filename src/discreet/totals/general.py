"""Bounds on a(t) for one component whose sums do not settle every class: overlapping margins, zeros inside tables, weights.

Four bounds, each proved in docs/proofs/semi-adjacency.md: blocks that are full tables (A4), decomposable margins (A5), two
crossing partitions (A6), the longest exchange of the Graver basis (A7).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.domain.origins import covers, families
from discreet.domain.schema import Schema
from discreet.errors import PlanError
from discreet.exact import lattices
from discreet.totals.classes import Classes
from discreet.totals.components import Component, Split
from discreet.totals.graver import MOST_CELLS, graver_basis
from discreet.totals.laminar import Fact, atoms_of_facts
from discreet.totals.statements import ExactStatement, statements_by_kind

__all__ = ["FEW_CLASSES", "crossing_bound", "decomposable", "graver_bound", "product_bound", "ranged_graver_bound", "rank"]

_MOST_RANKED = 1000
FEW_CLASSES = 16
"""Up to so many classes a Graver basis costs nothing and may be sharper than the bound for two partitions."""

_Ints = NDArray[np.int64]


def decomposable(component: Component, schema: Schema) -> bool:
    """True if the component is whole tables of totals whose columns have the running intersection property.

    Structural zeros are allowed within the columns of one table: they are totals of 0 there. A table of counties is one of
    states as well, and the combinations of a family that cannot occur are zeros of all its columns.
    """
    parts = statements_by_kind(component.parts)
    named = dict.fromkeys(name for part in component.parts for name in part.columns)

    def told(part: ExactStatement) -> set[str]:
        return {name for name in named if covers(part.columns, (name,), schema)}

    tables = [told(part) for part in parts.totals if part.only is None]
    if len(tables) + len(parts.impossible) < len(component.parts):
        return False
    zeros = [told(part) for part in parts.impossible]
    zeros += [set(own) for own in families(named, schema).values() if len(own) > 1]
    if not all(any(zero <= one for one in tables) for zero in zeros):
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


def product_bound(splits: Sequence[Split], classes: Classes) -> int | None:
    """1 + the most partitions that cross in one block, at least 2; None where a block is not a full table (A4).

    Blocks are what remains connected when classes with a common label hang together. In a full table every label of one
    partition meets every label of the others.
    """
    if any(split.weights for split in splits):
        return None
    block = _connect(splits, classes)
    most = 1
    for number in np.unique(block):
        here = block == number
        sides = [len(np.unique(labels[here])) for labels in classes.blocks]
        if prod(sides) != int(here.sum()):
            return None
        most = max(most, sum(side > 1 for side in sides))
    return 1 + most


def crossing_bound(splits: Sequence[Split], classes: Classes) -> int | None:
    """1 + the most rows that two crossing partitions make one exchange move, at least 2; None for other sums (A6).

    Classes are the edges of a bipartite graph between the labels of the two splits. Exchanges are its simple cycles, and a
    cycle of 2m edges needs m labels on either side.
    """
    if len(splits) != 2 or any(split.weights for split in splits):
        return None
    block = _connect(splits, classes)
    longest = 1
    for number in np.unique(block):
        here = block == number
        sides = [len(np.unique(labels[here])) for labels in classes.blocks]
        if int(here.sum()) >= sum(sides):  # else it is a tree, which has no cycle
            longest = max(longest, min(sides))
    return 1 + longest


def _connect(splits: Sequence[Split], classes: Classes) -> _Ints:
    """For each class the smallest class to which it is connected by sums that both are part of, n among the sums.

    A partition says n itself: then only classes of one label hang together, and those to which a sum gives a weight.
    """
    block = np.arange(classes.size, dtype=np.int64)
    if all(split.weights for split in splits):
        return np.zeros_like(block)
    shared = [
        labels if not split.weights else _mark_weights(split, labels)
        for split, labels in zip(splits, classes.blocks, strict=True)
    ]
    while True:
        lower = block.copy()
        for labels in shared:
            least = np.full(int(labels.max()) + 1, classes.size, dtype=np.int64)
            np.minimum.at(least, labels, lower)
            lower = np.minimum(lower, least[labels])
        if (lower == block).all():
            return block
        block = lower


def _mark_weights(split: Split, labels: _Ints) -> _Ints:
    """0 for every class with a weight, a number of its own for every other."""
    weights = np.array(split.weights, dtype=np.int64)[labels]
    return np.where(weights != 0, 0, 1 + np.arange(len(labels), dtype=np.int64))


def graver_bound(component: Component, splits: Sequence[Split], classes: Classes) -> int:
    """max(2, 1 + half of the largest ℓ₁ norm in the Graver basis of the sums and n (A7).

    Raises:
        PlanError: the domain is too large for a complete Graver basis.
    """
    crossing = crossing_bound(splits, classes)
    if crossing is not None and classes.size > FEW_CLASSES:
        return crossing
    block = _connect(splits, classes)
    sizes = np.bincount(block)
    if sizes.max() > MOST_CELLS:
        raise _too_large(component, classes, int(sizes.max()))
    longest = 0
    done: set[bytes] = set()
    for number in np.flatnonzero(sizes):
        matrix = _matrix(splits, [labels[block == number] for labels in classes.blocks])
        name = f"{matrix.shape}".encode() + matrix.tobytes()
        if name in done:
            continue
        done.add(name)
        basis = graver_basis(matrix.tolist())
        if basis is None:
            raise _too_large(component, classes, matrix.shape[1])
        longest = max(longest, int(np.abs(basis).sum(axis=1).max(initial=0)))
    return max(2, 1 + longest // 2)


def ranged_graver_bound(component: Component, splits: Sequence[Split], facts: Sequence[Fact], cells: int) -> int:
    """max(2, 1 + half of the largest ℓ₁ norm on cells in the Graver basis of the facts, a coordinate for each set (A15).

    Raises:
        PlanError: the domain is too large for a complete Graver basis.
    """
    owner = atoms_of_facts(facts, cells)
    member = np.zeros(int(owner.max()) + 1, dtype=np.int64)
    member[owner] = np.arange(cells)
    whole = np.ones((1, len(member)), dtype=np.int64)
    sums = np.concatenate([whole, *(_sets(split.labels[member]) for split in splits)])
    held = [_sets(fact.labels[member]) for fact in facts[len(splits) :]]
    wide = np.concatenate([sets[sets.sum(axis=1) > 1] for sets in held])  # the range of an atom is kept by itself
    matrix = np.block([[sums, np.zeros((len(sums), len(wide)))], [wide, -np.eye(len(wide))]]).astype(np.int64)
    basis = graver_basis(matrix.tolist()) if matrix.shape[1] <= MOST_CELLS else None
    if basis is None:
        raise PlanError(
            f"invariants: the ranges of counts of {', '.join(component.columns)} belong to groups that cross, and are too "
            f"large for the general case, which takes {MOST_CELLS} cells and groups: they have {matrix.shape[1]}; publish "
            "ranges of nested or disjoint groups, or of fewer levels"
        )
    longest = int(np.abs(basis[:, : len(member)]).sum(axis=1).max(initial=0))
    return max(2, 1 + longest // 2)


def _sets(labels: _Ints) -> _Ints:
    """The members of each set, one row of 0 and 1 a set."""
    return np.asarray(labels == np.arange(int(labels.max(initial=-1)) + 1)[:, None], dtype=np.int64)


def _too_large(component: Component, classes: Classes, connected: int) -> PlanError:
    sums = " the rows of each group beside sums by group," if statements_by_kind(component.parts).linear else ""
    columns = ", ".join(component.columns)
    return PlanError(
        f"invariants: the totals of {columns} overlap in a way that has no closed form, and are too large for the general "
        f"case, which takes {MOST_CELLS} connected cells and a small basis: they distinguish {classes.size} cells, of which "
        f"{connected} are connected; publish nested or disjoint totals,{sums} totals that form a chain such as (a, b), "
        "(b, c), or fewer levels"
    )


def rank(splits: Sequence[Split], classes: Classes) -> int:
    """The rank of the sums and n as functions of the rows of the classes; 0, which is not a bound, above 1000 classes."""
    return 0 if classes.size > _MOST_RANKED else lattices.rank(_matrix(splits, classes.blocks).tolist())


def _matrix(splits: Sequence[Split], blocks: Sequence[_Ints]) -> _Ints:
    """The sums as rows of coefficients on classes with these labels, without rows that are 0.

    The number of rows is a sum of its own unless a partition says it.
    """
    rows: list[_Ints] = []
    for split, labels in zip(splits, blocks, strict=True):
        if split.weights is not None:
            rows.append(np.array(split.weights, dtype=np.int64)[labels])
        else:
            rows.extend((labels == number).astype(np.int64) for number in np.unique(labels))
    if all(split.weights is not None for split in splits):
        rows.append(np.ones(len(blocks[0]), dtype=np.int64))
    return np.stack([row for row in rows if row.any()])
