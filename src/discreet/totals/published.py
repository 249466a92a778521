"""The published values of the invariants: private counts in, public numbers out, and their canonical JSON form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain.codes import NULL
from discreet.domain.origins import covers, joint_columns
from discreet.domain.schema import Schema
from discreet.errors import InternalError, PlanError
from discreet.exact.axes import margin_of
from discreet.exact.canonical import canonical
from discreet.totals.cells import Cell, cell_at, cell_indices, domain_size, levels_within, positions, shape_of
from discreet.totals.description import Description
from discreet.totals.rules import NO_LIMIT
from discreet.totals.statements import (
    ExactStatement,
    FloorStatement,
    ImpossibleStatement,
    LinearStatement,
    OccupiedStatement,
    RangesStatement,
    TotalsStatement,
    statement_json,
)

_RULES = (ImpossibleStatement, FloorStatement)
"""What everybody knows before: nothing is published of it, and a source that breaks it is refused."""

__all__ = ["PublishedTotals", "cell_numbers", "totals_from_json", "totals_of_counts"]


@dataclass(frozen=True, slots=True)
class PublishedTotals:
    """The exact totals, number by number. Everything in it is public and unprotected.

    Args:
        invariants: what the numbers mean.
        rows: n, the number of rows; None where nothing that is published says it.
        values: for each part of `invariants` its numbers. Totals: the counts of its cells, in the order of `only` or in that
            of the joint domain, empty cells included. Occupied: 1 or 0 for each of these cells. Linear: the sums of its
            names. Ranges: the least count of the range of each cell. Impossible cells and lower bounds: none.
    """

    invariants: Description
    rows: int | None
    values: tuple[tuple[int, ...], ...]

    def value(self, part: ExactStatement) -> tuple[int, ...]:
        """The numbers of that part."""
        return self.values[self.invariants.parts.index(part)]

    def counts(self, part: TotalsStatement | OccupiedStatement, schema: Schema) -> NDArray[np.int64]:
        """The counts (or 0 and 1) of all cells of the part's joint domain, 0 where `only` leaves a cell out.

        Gives:
            int64, shape (domain_size(part.columns),).
        """
        counts = np.zeros(domain_size(part.columns, schema), dtype=np.int64)
        counts[cell_numbers(part, schema)] = self.value(part)
        return counts

    def ranges(self, part: RangesStatement) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The least and the largest number of rows of each published cell of the part; `NO_LIMIT` for no largest."""
        least = np.array(self.value(part), dtype=np.int64)
        return least, part.rule.most(least)

    def is_exact(self, part: RangesStatement, cell: Cell, schema: Schema) -> bool:
        """True if the range of that cell is published and holds one count only."""
        found = np.flatnonzero(cell_numbers(part, schema) == cell_indices([cell], part.columns, schema))
        least, most = self.ranges(part)
        return bool((least[found] == most[found]).any())

    def table(self, columns: Sequence[str], schema: Schema) -> NDArray[np.int64] | None:
        """The counts of the joint cells of `columns`, as far as a table of totals says all of them, else None.

        Gives:
            int64, one axis a column, null last.
        """
        for part in self.invariants.parts:
            if not isinstance(part, TotalsStatement) or part.only is not None:
                continue
            if covers(part.columns, columns, schema) and not set(columns) <= set(part.columns):
                found = np.zeros(domain_size(columns, schema), dtype=np.int64)
                np.add.at(found, positions(columns, part.columns, schema), self.counts(part, schema))
                return found.reshape(shape_of(columns, schema))
            if set(columns) <= set(part.columns):
                whole = self.counts(part, schema).reshape(shape_of(part.columns, schema))
                return margin_of(whole, part.columns, columns)
        return None

    def cells(self, part: TotalsStatement | OccupiedStatement, schema: Schema) -> dict[Cell, int]:
        """The numbers of the part by cell; every published cell is there, empty ones and null included."""
        if part.only is not None:
            return dict(zip(part.only, self.value(part), strict=True))
        return {cell_at(index, part.columns, schema): count for index, count in enumerate(self.value(part))}

    def to_json(self, schema: Schema) -> dict[str, object]:
        """The numbers as canonical JSON values, each part with its description; cells of 0 rows are left out."""
        parts = [self._part_json(part, schema) for part in self.invariants.parts if not isinstance(part, _RULES)]
        return {"rows": self.rows, "parts": sorted(parts, key=canonical)}

    def _part_json(self, part: ExactStatement, schema: Schema) -> dict[str, object]:
        described = statement_json(part)
        if isinstance(part, LinearStatement):
            return {**described, "values": dict(zip(part.names, self.value(part), strict=True))}
        if isinstance(part, _RULES):
            return described
        if isinstance(part, RangesStatement):
            return {**described, "cells": self._ranges_json(part, schema)}
        order = sorted(range(len(part.columns)), key=lambda position: part.columns[position])
        numbers = cell_numbers(part, schema)
        cells = []
        for index, count in zip(numbers.tolist(), self.value(part), strict=True):
            if count:
                cell = cell_at(index, part.columns, schema)
                cells.append([*(cell[position] for position in order), count])
        return {**described, "cells": sorted(cells, key=canonical)}

    def _ranges_json(self, part: RangesStatement, schema: Schema) -> list[list[object]]:
        """Each cell with its range in words, its least and its largest count, without cells that are known to be empty."""
        order = sorted(range(len(part.columns)), key=lambda position: part.columns[position])
        cells: list[list[object]] = []
        for index, least, most in zip(cell_numbers(part, schema), *self.ranges(part), strict=True):
            if most:
                cell = cell_at(int(index), part.columns, schema)
                limit = None if most == NO_LIMIT else int(most)
                cells.append([*(cell[position] for position in order), part.rule.words(int(least)), int(least), limit])
        return sorted(cells, key=canonical)


def totals_from_json(invariants: Description, schema: Schema, shown: Mapping[str, Any]) -> PublishedTotals:
    """The totals that `to_json` has written: `totals_from_json(t.invariants, schema, t.to_json(schema)) == t`.

    Raises:
        PlanError: the text describes other invariants.
    """
    entries = {canonical(_description(entry)): entry for entry in shown["parts"]}
    values: list[tuple[int, ...]] = []
    for part in invariants.parts:
        entry = entries.get(canonical(statement_json(part)))
        if isinstance(part, _RULES):
            values.append(())
        elif entry is None:
            raise PlanError(
                f"totals: the published totals of {', '.join(part.columns)} are missing; the text describes other invariants"
            )
        elif isinstance(part, LinearStatement):
            values.append(tuple(entry["values"][name] for name in part.names))
        else:
            values.append(_cells_from_json(part, schema, entry))
    return PublishedTotals(invariants, shown["rows"], tuple(values))


def _description(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in {"cells", "values"}}


def _cells_from_json(
    part: TotalsStatement | OccupiedStatement | RangesStatement, schema: Schema, entry: Mapping[str, Any]
) -> tuple[int, ...]:
    counts = np.zeros(domain_size(part.columns, schema), dtype=np.int64)
    back = [sorted(part.columns).index(name) for name in part.columns]
    cells = [[entered[position] for position in back] for entered in entry["cells"]]
    number = -2 if isinstance(part, RangesStatement) else -1  # of a range its least count, before the largest
    counts[cell_indices(cells, part.columns, schema)] = [entered[number] for entered in entry["cells"]]
    return tuple(counts[cell_numbers(part, schema)].tolist())


def totals_of_counts(
    invariants: Description,
    schema: Schema,
    counts: NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.int64]],
    columns: tuple[str, ...] | None = None,
) -> PublishedTotals:
    """The exact totals of a table: the one step that makes private counts public.

    Needs:
        `counts` over the joint domain of `columns`, those of `joint_columns` where none are given, with null levels, flat or
        with one axis a column; or sparse, as (keys, rows) with keys of shape (cells, columns): codes, where null is NULL or
        the last level.

    Raises:
        InternalError: a row lies in an impossible cell, or outside the domain; the message has no number.
    """
    joint = joint_columns(invariants.columns, schema) if columns is None else columns
    keys, rows = _sparse(joint, schema, counts)
    by_part = [_counts_by_cell(part, joint, schema, keys, rows) for part in invariants.parts]
    values = tuple(_value(part, schema, table) for part, table in zip(invariants.parts, by_part, strict=True))
    return PublishedTotals(invariants, int(rows.sum()), values)


def _sparse(
    columns: tuple[str, ...],
    schema: Schema,
    counts: NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.int64]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells with rows as levels, null as the last one."""
    shape = shape_of(columns, schema)
    if isinstance(counts, tuple):
        keys, rows = counts
        keys = np.where(keys == NULL, np.array(shape, dtype=np.int64) - 1, keys)
    else:
        dense = counts.reshape(shape)
        keys = np.argwhere(dense != 0).astype(np.int64)
        rows = dense[dense != 0]
    if ((keys < 0) | (keys >= np.array(shape, dtype=np.int64))).any() or (rows < 0).any():
        raise InternalError("a row lies outside the joint domain of the totals")
    return keys, rows.astype(np.int64)


def _counts_by_cell(
    part: ExactStatement, columns: tuple[str, ...], schema: Schema, keys: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The number of rows in each cell of the part's joint domain."""
    numbers = np.zeros(len(keys), dtype=np.int64)
    for name, levels in zip(part.columns, shape_of(part.columns, schema), strict=True):
        axis, own = levels_within(name, columns, schema)
        numbers = numbers * levels + own[keys[:, axis]]
    table = np.zeros(domain_size(part.columns, schema), dtype=np.int64)
    np.add.at(table, numbers, rows)
    return table


def _value(part: ExactStatement, schema: Schema, table: NDArray[np.int64]) -> tuple[int, ...]:
    match part:
        case TotalsStatement():
            return tuple(table[cell_numbers(part, schema)].tolist())
        case OccupiedStatement():
            return tuple((table[cell_numbers(part, schema)] > 0).astype(np.int64).tolist())
        case LinearStatement():
            return tuple(
                _weighted_sum(row, table[cell_indices([c for c, _ in row], part.columns, schema)]) for row in part.rows
            )
        case RangesStatement(rule=rule):
            return tuple(rule.least(table[cell_numbers(part, schema)]).tolist())
        case FloorStatement(rows=rows):
            if (table[cell_numbers(part, schema)] < rows).any():
                raise InternalError("a cell has fewer rows than was declared that it has at least")
            return ()
        case ImpossibleStatement():
            if table[cell_indices(part.cells, part.columns, schema)].any():
                raise InternalError("a row lies in a cell that was declared impossible")
            return ()


def _weighted_sum(row: Sequence[tuple[Cell, int]], counts: NDArray[np.int64]) -> int:
    # Python integers: a sum of 2**40 coefficients of 10**9 does not fit into 64 bits.
    return sum(value * count for (_, value), count in zip(row, counts.tolist(), strict=True))


def cell_numbers(
    part: TotalsStatement | OccupiedStatement | RangesStatement | FloorStatement, schema: Schema
) -> NDArray[np.int64]:
    """The numbers of the cells that a part is about in its joint domain, in the order of its values.

    A lower bound without a list is about the cells without a null: those who have no facility are not in one.
    """
    if part.only is None and isinstance(part, FloorStatement):
        known = np.indices([levels - 1 for levels in shape_of(part.columns, schema)], dtype=np.int64)
        return np.asarray(np.ravel_multi_index(tuple(known), shape_of(part.columns, schema)), dtype=np.int64).reshape(-1)
    if part.only is None:
        return np.arange(domain_size(part.columns, schema), dtype=np.int64)
    return cell_indices(part.only, part.columns, schema)
