"""The semi-adjacency of ranges of counts: rounded and suppressed totals, classes of size, public lower bounds.

With the totals and occupied cells of their component they are ranges for the rows of sets of cells. Laminar sets need two
rows at most (A13). Ranges within single classes of crossing sums need no more than the sums alone, and others in small
domains what the Graver basis with one more coordinate for each set says (A15).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.domain.schema import Schema
from discreet.errors import PlanError
from discreet.totals.cells import domain_size, positions
from discreet.totals.classes import Classes
from discreet.totals.components import Component, Split, exists
from discreet.totals.general import graver_bound, ranged_graver_bound
from discreet.totals.laminar import Bounds, Fact, Family, atoms_of_facts, bounds_of, family_of, is_attained
from discreet.totals.published import PublishedTotals, cell_numbers
from discreet.totals.rules import NO_LIMIT
from discreet.totals.statements import FloorStatement, RangesStatement, statements_by_kind

__all__ = ["Ranged", "facts_of", "laminar_of", "rows_of_ranges"]


@dataclass(frozen=True, slots=True, eq=False)
class Ranged:
    """The facts of a component as a tree of laminar sets.

    Args:
        owner: int64, the atom of each possible cell.
        facts: the facts, in the order of the tree.
        family: the tree.
        bounds: what each set can hold; None where n, or one of the facts, is not known yet.
    """

    owner: NDArray[np.int64]
    facts: tuple[Fact, ...]
    family: Family
    bounds: Bounds | None


def facts_of(
    component: Component,
    possible: NDArray[np.bool_],
    splits: Sequence[Split],
    schema: Schema,
    totals: PublishedTotals | None,
) -> tuple[Fact, ...] | None:
    """All that is said of the component, each as ranges for sets of its possible cells; None for sums with weights.

    Raises:
        PlanError: rows in a cell that other facts exclude.
    """
    if any(split.weights for split in splits):
        return None
    found = [_total(split) for split in splits]
    for numbers in exists(component, possible, schema):
        kept, labels = np.unique(numbers, return_inverse=True)
        sets = int((kept >= 0).sum())
        low = None if totals is None else np.ones(sets, dtype=np.int64)
        high = None if totals is None else np.full(sets, NO_LIMIT, dtype=np.int64)
        found.append(Fact(labels.reshape(-1) - (len(kept) - sets), low, high, ranged=False))
    parts = statements_by_kind(component.parts)
    said: tuple[RangesStatement | FloorStatement, ...] = (*parts.ranges, *parts.floors)
    return (*found, *(_fact(part, component, possible, schema, totals) for part in said))


def _total(split: Split) -> Fact:
    """A published table or sum; what it leaves over follows from n, and could cross sets that the named cells do not."""
    if split.rest is None:
        return Fact(split.labels, split.counts, split.counts, ranged=False)
    named = split.labels - (split.labels > split.rest)
    counts = None if split.counts is None else np.delete(split.counts, split.rest)
    return Fact(np.where(split.labels == split.rest, -1, named), counts, counts, ranged=False)


def _fact(
    part: RangesStatement | FloorStatement,
    component: Component,
    possible: NDArray[np.bool_],
    schema: Schema,
    totals: PublishedTotals | None,
) -> Fact:
    published = cell_numbers(part, schema)
    low, high = _ends(part, len(published), totals)
    number = np.full(domain_size(part.columns, schema), -1, dtype=np.int64)
    number[published] = np.arange(len(published))
    labels = number[positions(part.columns, component.columns, schema)[possible]]
    there = np.unique(labels[labels >= 0])
    if low is not None and np.delete(low, there).any():
        raise PlanError(
            f"invariants: a cell of {', '.join(part.columns)} has {int(np.delete(low, there).max())} rows or more, but "
            "other totals or rules exclude rows in it; correct one of them"
        )
    kept = np.where(labels < 0, -1, np.searchsorted(there, labels))
    ranged = isinstance(part, RangesStatement)
    return Fact(kept, None if low is None else low[there], None if high is None else high[there], ranged)


def _ends(
    part: RangesStatement | FloorStatement, cells: int, totals: PublishedTotals | None
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """The least and the largest number of rows of each cell of the part; None where they are not published yet."""
    if isinstance(part, FloorStatement):
        return np.full(cells, part.rows, dtype=np.int64), np.full(cells, NO_LIMIT, dtype=np.int64)
    return (None, None) if totals is None else totals.ranges(part)


def laminar_of(component: Component, facts: Sequence[Fact] | None, cells: int, rows: int | None) -> Ranged | None:
    """The facts as a tree, with what its sets can hold; None where sets cross.

    Raises:
        PlanError: no table of `rows` rows has these facts.
    """
    if facts is None:
        return None
    owner = atoms_of_facts(facts, cells)
    family = family_of(facts, owner)
    if family is None:
        return None
    known = rows is not None and all(fact.low is not None for fact in facts)
    bounds = None if rows is None else bounds_of(family, facts, rows)
    if bounds is not None and bounds.contradiction:
        least, most = bounds.contradiction
        raise PlanError(
            f"invariants: the ranges and totals of {', '.join(component.columns)} contradict each other or the {rows} rows "
            f"of the table: some cells would have {least} rows or more, and {most} or fewer"
        )
    return Ranged(owner, tuple(facts), family, bounds if known else None)


def rows_of_ranges(
    component: Component, facts: Sequence[Fact] | None, splits: Sequence[Split], classes: Classes, rows: int | None
) -> tuple[int, bool, str]:
    """a(t) or a bound, whether it is attained, and the reason.

    Raises:
        PlanError: sets that cross in a domain too large for the general case, or facts that no table has.
    """
    tree = laminar_of(component, facts, len(classes.owner), rows)
    if tree is not None:
        return _rows_of_tree(tree, rows)
    ranged = () if facts is None else facts[len(splits) :]
    if facts is not None and _are_atoms(ranged, classes):
        return graver_bound(component, splits, classes), False, "ranges within the classes of crossing totals"
    if facts is None:
        raise PlanError(
            f"invariants: the sums with weights and the ranges of counts of {', '.join(component.columns)} have no known "
            "semi-adjacency together; publish one of the two, or totals in place of the sums"
        )
    return ranged_graver_bound(component, splits, facts, len(classes.owner)), False, "ranges of sets that cross"


def _rows_of_tree(tree: Ranged, rows: int | None) -> tuple[int, bool, str]:
    if tree.bounds is None or rows is None:
        return 2, False, "ranges of counts of nested or disjoint groups"
    if is_attained(tree.family, tree.facts, tree.bounds, rows):
        return 2, True, "ranges of counts of nested or disjoint groups"
    return 1, True, "no range of counts is full or at its least"


def _are_atoms(ranged: Sequence[Fact], classes: Classes) -> bool:
    """True if the sets are pairwise disjoint, each within one class of the sums."""
    held = np.full(len(classes.owner), -1, dtype=np.int64)
    for fact in ranged:
        there = fact.labels >= 0
        if (held[there] >= 0).any():
            return False
        held[there] = fact.labels[there] + int(held.max(initial=-1)) + 1
    pairs = np.unique(np.stack([held[held >= 0], classes.owner[held >= 0]]), axis=1)
    return bool(len(np.unique(pairs[0])) == pairs.shape[1])
