"""The invariants taken apart: components that share no column, their possible cells, and what their sums tell apart.

Whether a row may take a value depends on each component alone, so a(t) is put together from theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.domain.origins import covers, families, joint_columns, root_of
from discreet.domain.schema import Schema
from discreet.errors import PlanError, unreachable
from discreet.totals.cells import cell_indices, domain_size, positions
from discreet.totals.description import Description
from discreet.totals.published import PublishedTotals, cell_numbers
from discreet.totals.statements import (
    ExactStatement,
    FloorStatement,
    ImpossibleStatement,
    LinearStatement,
    OccupiedStatement,
    RangesStatement,
    TotalsStatement,
    statements_by_kind,
)

__all__ = ["Component", "Split", "components_of", "exists", "possible_cells", "splits_of"]


@dataclass(frozen=True, slots=True)
class Component:
    """Parts that hang together by their columns, without those that follow from a whole table of totals."""

    columns: tuple[str, ...]
    parts: tuple[ExactStatement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """One published sum or table: every possible cell has a label, and rows in cells of one label count alike.

    Args:
        labels: int64, shape (possible cells,), numbers 0, …, blocks - 1.
        blocks: how many labels there are.
        counts: int64, the published rows of each label; None where they are not known yet.
        weights: for a sum with three or more distinct coefficients: the coefficient of each label. Such a sum does not
            say the count of a label.
        value: such a sum, None where it is not known yet.
        rest: the label of the cells that no part names; their rows follow from n and the others. None where there is none.
    """

    labels: NDArray[np.int64]
    blocks: int
    counts: NDArray[np.int64] | None
    weights: tuple[int, ...] | None = None
    value: int | None = None
    rest: int | None = None


def components_of(invariants: Description, schema: Schema) -> tuple[Component, ...]:
    """The components, in the order of their first columns; columns of one family hang together (K3)."""
    groups: list[set[str]] = []
    for part in invariants.parts:
        roots = {root_of(name, schema) for name in part.columns}
        touched = [group for group in groups if group & roots]
        groups = [group for group in groups if group not in touched] + [roots.union(*touched)]
    found = []
    for group in groups:
        parts = [part for part in invariants.parts if root_of(part.columns[0], schema) in group]
        named = (name for name in invariants.columns if root_of(name, schema) in group)
        kept = tuple(part for part in parts if not _is_implied(part, parts, schema))
        found.append(Component(joint_columns(named, schema), kept))
    order = [*families(invariants.columns, schema)]
    return tuple(sorted(found, key=lambda component: order.index(root_of(component.columns[0], schema))))


def _is_implied(part: ExactStatement, parts: list[ExactStatement], schema: Schema) -> bool:
    """True if a whole table of totals, of these columns and more or of finer ones, determines what the part states."""
    if isinstance(part, ImpossibleStatement):
        return False
    for other in parts:
        if isinstance(other, TotalsStatement) and other.only is None and other is not part:
            follows = covers(other.columns, part.columns, schema)
            same = follows and covers(part.columns, other.columns, schema)
            wider = follows and not same
            whole = isinstance(part, TotalsStatement) and part.only is None
            # Of two whole tables with the same columns in another order the first one stays.
            if wider or (same and (not whole or parts.index(other) < parts.index(part))):
                return True
    return False


def possible_cells(
    component: Component, invariants: Description, schema: Schema, totals: PublishedTotals | None
) -> NDArray[np.bool_]:
    """The cells of the component's joint domain that hold a row in some table, as far as single published numbers say.

    Structural zeros, cells with a total of 0, cells that are not occupied, and cells that a sum of 0 excludes are not.

    Raises:
        PlanError: no cell is left.
    """
    possible = np.ones(domain_size(component.columns, schema), dtype=bool)
    for part in invariants.parts:
        if covers(component.columns, part.columns, schema):
            possible &= ~_empty(part, schema, totals)[positions(part.columns, component.columns, schema)]
    if not possible.any():
        raise PlanError(
            f"invariants: no cell of {', '.join(component.columns)} is possible; leave out some impossible cells"
        )
    return possible


def _empty(part: ExactStatement, schema: Schema, totals: PublishedTotals | None) -> NDArray[np.bool_]:
    """The cells of the part's joint domain that are known to be empty."""
    empty = np.zeros(domain_size(part.columns, schema), dtype=bool)
    match part:
        case ImpossibleStatement(columns=columns, cells=cells):
            empty[cell_indices(cells, columns, schema)] = True
        case TotalsStatement() | OccupiedStatement() if totals is not None:
            numbers = cell_numbers(part, schema)
            empty[numbers] = np.array(totals.value(part), dtype=np.int64) == 0
        case LinearStatement(columns=columns, rows=rows) if totals is not None:
            for row, value in zip(rows, totals.value(part), strict=True):
                signs = {coefficient > 0 for _, coefficient in row}
                if value == 0 and len(signs) == 1:
                    empty[cell_indices([cell for cell, _ in row], columns, schema)] = True
        case RangesStatement() if totals is not None:
            _, most = totals.ranges(part)
            empty[cell_numbers(part, schema)] = most == 0
        case TotalsStatement() | OccupiedStatement() | LinearStatement() | RangesStatement():
            pass  # not published yet
        case FloorStatement():
            pass  # says that a cell has rows, never that it has none
        case _:
            raise unreachable(part)
    return empty


def splits_of(
    component: Component, possible: NDArray[np.bool_], schema: Schema, totals: PublishedTotals | None, rows: int | None
) -> tuple[Split, ...]:
    """Every published table and sum of the component as a split of its possible cells.

    Where only some totals are published the other cells share a label, because n is public; a sum with two coefficients
    says by n how many rows have either. Sums and tables that tell nothing apart are left out.

    Raises:
        PlanError: a sum that no number of rows gives, rows in cells that are not possible.
    """
    found: list[Split] = []
    for part in component.parts:
        numbers = positions(part.columns, component.columns, schema)[possible]
        match part:
            case TotalsStatement():
                found.append(_table_split(part, numbers, schema, totals, rows))
            case LinearStatement():
                found += _sum_splits(part, numbers, schema, totals, rows)
            case OccupiedStatement() | ImpossibleStatement() | RangesStatement() | FloorStatement():
                pass  # not a sum of rows: see `exists`, `possible_cells` and `facts_of`
            case _:
                raise unreachable(part)
    return tuple(split for split in found if split.blocks > 1)


def _table_split(
    part: TotalsStatement, numbers: NDArray[np.int64], schema: Schema, totals: PublishedTotals | None, rows: int | None
) -> Split:
    counts = None if totals is None else np.append(totals.counts(part, schema), 0)
    labels = numbers
    if part.only is not None:
        listed = cell_numbers(part, schema)
        rest = domain_size(part.columns, schema)
        labels = np.where(np.isin(numbers, listed), numbers, rest)
        if counts is not None and rows is not None:
            counts[rest] = rows - counts.sum()
        elif rest in labels:
            counts = None
    kept, labels = np.unique(labels, return_inverse=True)
    if counts is not None and np.delete(counts, kept).any():
        raise PlanError(
            f"totals: the totals of {', '.join(part.columns)} have rows in cells that other totals or rules exclude"
        )
    last = len(kept) - 1 if part.only is not None and kept[-1] == domain_size(part.columns, schema) else None
    known = None if counts is None else counts[kept]
    return Split(labels.reshape(-1).astype(np.int64), len(kept), known, rest=last)


def _sum_split(name: str, coefficients: NDArray[np.int64], value: int | None, rows: int | None) -> Split:
    found, labels = np.unique(coefficients, return_inverse=True)
    distinct = found.tolist()
    labels = labels.reshape(-1).astype(np.int64)
    if len(distinct) > 2:
        return Split(labels, len(distinct), None, tuple(distinct), value)
    if len(distinct) == 1 or value is None or rows is None:
        return Split(labels, len(distinct), None, rest=distinct.index(0) if 0 in distinct else None)
    low, high = distinct
    more, rest = divmod(value - low * rows, high - low)
    if rest or not 0 <= more <= rows:
        raise PlanError(f"totals: '{name}' is {value}, which {rows} rows with coefficients {low} and {high} cannot give")
    counts = np.array([rows - more, more], dtype=np.int64)
    return Split(labels, 2, counts, rest=distinct.index(0) if 0 in distinct else None)


def _sum_splits(
    part: LinearStatement, numbers: NDArray[np.int64], schema: Schema, totals: PublishedTotals | None, rows: int | None
) -> Iterator[Split]:
    values = (None,) * len(part.names) if totals is None else totals.value(part)
    for name, row, value in zip(part.names, part.rows, values, strict=True):
        coefficients = np.zeros(domain_size(part.columns, schema), dtype=np.int64)
        coefficients[cell_indices([cell for cell, _ in row], part.columns, schema)] = [weight for _, weight in row]
        yield _sum_split(name, coefficients[numbers], value, rows)


def exists(component: Component, possible: NDArray[np.bool_], schema: Schema) -> tuple[NDArray[np.int64], ...]:
    """For each published list of occupied cells, the finest first, the number of its cell for each possible cell.

    Cells about which nothing is published have the number -1.
    """
    found = []
    named = [name for part in component.parts for name in part.columns]

    def told(part: OccupiedStatement) -> int:
        return sum(covers(part.columns, (name,), schema) for name in dict.fromkeys(named))

    for part in sorted(statements_by_kind(component.parts).occupied, key=lambda part: -told(part)):
        numbers = positions(part.columns, component.columns, schema)[possible]
        found.append(np.where(np.isin(numbers, cell_numbers(part, schema)), numbers, -1))
    return tuple(found)
