"""Ranges that say more than they show: a suppressed count that follows from the other published numbers by subtraction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.domain.schema import Schema
from discreet.totals.cells import Cell, cell_at, positions
from discreet.totals.components import Component, components_of, possible_cells, splits_of
from discreet.totals.description import Description
from discreet.totals.laminar import Fact, atoms_of_facts
from discreet.totals.published import PublishedTotals
from discreet.totals.ranges import Ranged, facts_of, laminar_of
from discreet.totals.rules import NO_LIMIT
from discreet.totals.statements import RangesStatement, has_ranges, statements_by_kind

__all__ = ["MOST_SEARCHED", "NarrowedCell", "narrowed_cells", "tree_of", "unsearched_columns"]

MOST_SEARCHED = 300
"""Where groups cross, each range is the question of two linear programmes."""

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NarrowedCell:
    """A cell whose range the published numbers together make narrower than it was published.

    Args:
        columns: of which columns.
        cell: its labels.
        published: the range in words, as published.
        least: the least number of rows that a table with all the published numbers has in the cell.
        most: the largest one; equal to `least` where the count follows exactly.
    """

    columns: tuple[str, ...]
    cell: Cell
    published: str
    least: int
    most: int


def narrowed_cells(invariants: Description, schema: Schema, totals: PublishedTotals) -> Iterator[NarrowedCell]:
    """The cells of published ranges whose counts follow more closely, in the order of the parts.

    Nested and disjoint groups are searched completely. Where groups cross, up to 300 ranges are, by linear programmes that
    may miss what only whole numbers exclude; `unsearched_columns` names the others.
    """
    for component, facts, cells in _ranged_components(invariants, schema, totals):
        found = _searched(component, facts, len(cells), totals.rows)
        if found is None:
            continue
        parts = statements_by_kind(component.parts).ranges
        ranged = [number for number, fact in enumerate(facts) if fact.ranged]
        for number, part in zip(ranged, parts, strict=True):
            low, high = found[number]
            yield from _narrowed(part, component, schema, (facts[number], cells), (low, high, totals.rows))


def unsearched_columns(invariants: Description, schema: Schema, totals: PublishedTotals) -> Iterator[str]:
    """The columns of crossing groups with too many ranges to search."""
    for component, facts, cells in _ranged_components(invariants, schema, totals):
        if _searched(component, facts, len(cells), totals.rows) is None:
            yield ", ".join(component.columns)


def tree_of(
    component: Component, invariants: Description, schema: Schema, totals: PublishedTotals | None, rows: int | None
) -> tuple[Ranged, _Ints] | None:
    """The facts of a component with ranges as a tree, and its possible cells; None where there is no such tree."""
    if not has_ranges(component.parts):
        return None
    possible = possible_cells(component, invariants, schema, totals)
    facts = facts_of(component, possible, splits_of(component, possible, schema, totals, rows), schema, totals)
    tree = laminar_of(component, facts, int(possible.sum()), rows)
    return None if tree is None else (tree, np.flatnonzero(possible))


def _ranged_components(
    invariants: Description, schema: Schema, totals: PublishedTotals
) -> Iterator[tuple[Component, tuple[Fact, ...], _Ints]]:
    """The components with published ranges, what is said of them, and their possible cells."""
    for component in components_of(invariants, schema):
        if statements_by_kind(component.parts).ranges:
            possible = possible_cells(component, invariants, schema, totals)
            splits = splits_of(component, possible, schema, totals, totals.rows)
            facts = facts_of(component, possible, [one for one in splits if not one.weights], schema, totals)
            yield component, facts or (), np.flatnonzero(possible)


def _searched(
    component: Component, facts: tuple[Fact, ...], cells: int, rows: int | None
) -> list[tuple[_Ints, _Ints]] | None:
    """For each fact the least and the largest count of its sets; None where this was not searched."""
    tree = laminar_of(component, facts, cells, rows)
    if tree is not None and tree.bounds is not None:
        ends = zip(tree.family.starts, facts, strict=True)
        spans = [slice(start, start + int(fact.labels.max(initial=-1)) + 1) for start, fact in ends]
        return [(tree.bounds.low[span], tree.bounds.high[span]) for span in spans]
    sets = sum(int(fact.labels.max(initial=-1)) + 1 for fact in facts if fact.ranged)
    if rows is None or sets > MOST_SEARCHED:
        return None
    return _programmes(facts, cells, rows)


def _programmes(facts: tuple[Fact, ...], cells: int, rows: int) -> list[tuple[_Ints, _Ints]]:
    """The least and the largest count of each ranged set over all real tables with the facts."""
    from scipy.optimize import linprog

    owner = atoms_of_facts(facts, cells)
    member = np.zeros(int(owner.max()) + 1, dtype=np.int64)
    member[owner] = np.arange(cells)
    sets = [fact.labels[member] == np.arange(int(fact.labels.max(initial=-1)) + 1)[:, None] for fact in facts]
    low = np.concatenate([fact.low for fact in facts if fact.low is not None])
    high = np.concatenate([np.minimum(fact.high, rows) for fact in facts if fact.high is not None])
    matrix = np.concatenate(sets).astype(np.float64)
    above, right = np.concatenate([matrix, -matrix]), np.concatenate([high, -low])
    whole, n = np.ones((1, len(member))), np.array([float(rows)])

    def end(one: NDArray[np.bool_], sign: int) -> int:
        found = linprog(sign * one.astype(np.float64), above, right, whole, n)
        value = sign * found.fun if found.status == 0 else 0 if sign > 0 else rows
        return int(np.ceil(value - 1e-6)) if sign > 0 else int(np.floor(value + 1e-6))

    found = []
    for fact, own in zip(facts, sets, strict=True):
        wanted = own if fact.ranged else own[:0]
        ends = [(end(one, 1), end(one, -1)) for one in wanted]
        found.append(tuple(np.array([pair[side] for pair in ends], dtype=np.int64) for side in (0, 1)))
    return [(one[0], one[1]) for one in found]


def _narrowed(
    part: RangesStatement,
    component: Component,
    schema: Schema,
    of: tuple[Fact, _Ints],
    ends: tuple[_Ints, _Ints, int | None],
) -> Iterator[NarrowedCell]:
    (fact, cells), (low, high, rows) = of, ends
    if fact.low is None or fact.high is None:
        return
    place = positions(part.columns, component.columns, schema)[cells]
    limit = NO_LIMIT if rows is None else rows
    for number in np.flatnonzero((low > fact.low) | (high < np.minimum(fact.high, limit))).tolist():
        index = int(place[np.flatnonzero(fact.labels == number)[0]])
        words = part.rule.words(int(fact.low[number]))
        yield NarrowedCell(part.columns, cell_at(index, part.columns, schema), words, int(low[number]), int(high[number]))
