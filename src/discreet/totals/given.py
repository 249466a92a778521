"""Totals as a caller writes them: {"state": {"Alabama": 12, ...}, ("state", "county"): {("Alabama", "Autauga"): 3, ...}}.

Cells that are not named hold 0 rows, null among them. Ranges are written as they are published: {"Autauga": "fewer than 10",
"Baldwin": 15}. Occupied cells are given as a list of cells under their columns, the
sum of a linear invariant under its name.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from typing import SupportsIndex, cast

import numpy as np
from numpy.typing import NDArray

from discreet.domain.neighbours import whole_number
from discreet.domain.origins import covers
from discreet.domain.schema import Schema
from discreet.errors import PlanError, did_you_mean, printed
from discreet.exact.canonical import canonical
from discreet.totals.cells import cell_indices, domain_size
from discreet.totals.contradictions import refuse_contradictions
from discreet.totals.description import Description
from discreet.totals.published import PublishedTotals, cell_numbers
from discreet.totals.reading import read_cell
from discreet.totals.rules import rule_from_words
from discreet.totals.statements import (
    ExactStatement,
    FloorStatement,
    ImpossibleStatement,
    LinearStatement,
    OccupiedStatement,
    RangesStatement,
    TotalsStatement,
)

__all__ = ["read_totals", "totals_from_user"]

_Table = TotalsStatement | OccupiedStatement | RangesStatement
_LARGEST = 10**30


def totals_from_user(
    invariants: Description, schema: Schema, given: Mapping[object, object], rows: int | None = None
) -> PublishedTotals:
    """The totals that a mapping says; `rows` is n where it is known.

    What follows from a given table need not be given: coarser totals, totals of some cells, which cells are occupied.

    Raises:
        SchemaError: a value that is not a level of its column.
        ArgumentError: a count that is not a whole number.
        PlanError: totals that are missing, that the invariants do not have, or that contradict each other or n.
    """
    if not isinstance(given, Mapping):
        raise PlanError(f"totals={printed(given)}: must map columns to {{cell: rows}}")
    names = [name for part in invariants.parts if isinstance(part, LinearStatement) for name in part.names]
    tables: dict[_Table, NDArray[np.int64]] = {}
    for key, value in given.items():
        if key not in names:
            part, columns = _part_of(key, value, invariants, names)
            if part in tables:
                raise PlanError(f"totals: the totals of {', '.join(columns)} are given twice")
            tables[part] = _table(part, columns, value, schema)
    sums = {name: _sum(name, given[name]) for name in names if name in given}
    values = tuple(_value(part, schema, tables, sums) for part in invariants.parts)
    known = [int(table.sum()) for part, table in tables.items() if isinstance(part, TotalsStatement) and part.only is None]
    published = PublishedTotals(invariants, rows if rows is not None else next(iter(known), None), values)
    refuse_contradictions(published, schema)
    return published


def _part_of(key: object, value: object, invariants: Description, names: Sequence[str]) -> tuple[_Table, tuple[str, ...]]:
    """The part that the key means, and its columns in the order of the key."""
    columns = key if isinstance(key, tuple) else (key,)
    known = [part for part in invariants.parts if isinstance(part, _Table)]
    same = [part for part in known if sorted(part.columns) == sorted(map(str, columns))]
    kinds = (TotalsStatement, RangesStatement) if isinstance(value, Mapping) else (OccupiedStatement,)
    meant = next((found for kind in kinds if (found := [part for part in same if isinstance(part, kind)])), [])
    if not meant:
        word = ", ".join(map(str, columns))
        form = "{cell: rows}" if isinstance(value, Mapping) else "a list of occupied cells"
        hint = did_you_mean(word, [*names, *(", ".join(part.columns) for part in known)])
        raise PlanError(f"totals: '{word}' with {form} is not among the invariants{hint}")
    # A whole table says everything that a table of some cells does.
    return min(meant, key=lambda part: part.only is not None), columns


def _table(part: _Table, columns: tuple[str, ...], value: object, schema: Schema) -> NDArray[np.int64]:
    """The counts of all cells of the part's joint domain (1 for an occupied cell); cells that are not named hold 0."""
    where = f"totals of {', '.join(columns)}"
    if not isinstance(value, Collection) or isinstance(value, str | bytes):
        raise PlanError(f"{where}: {printed(value)} must be {{cell: rows}}, or a list of occupied cells")
    counts = np.zeros(domain_size(part.columns, schema), dtype=np.int64)
    if isinstance(part, RangesStatement):
        counts = part.rule.least(counts)
    published = set(cell_numbers(part, schema).tolist())
    order = [columns.index(name) for name in part.columns]
    seen: set[int] = set()
    cells = [read_cell(written, columns, where) for written in value]
    numbers = cell_indices([[cell[position] for position in order] for cell in cells], part.columns, schema)
    for written, cell, index in zip(value, cells, numbers.tolist(), strict=True):
        if index in seen or index not in published:
            reason = "is given twice" if index in seen else "is not among the published cells"
            raise PlanError(f"{where}: cell {canonical(list(cell))} {reason}")
        seen.add(index)
        counts[index] = _entry(part, value[written], where) if isinstance(value, Mapping) else 1
    return counts


def _entry(part: _Table, value: object, where: str) -> int:
    """The count of a cell, or the least count of its range."""
    if isinstance(part, RangesStatement):
        return rule_from_words(part.rule, value, where)
    return whole_number(value, where, least=0)


def _sum(name: str, value: object) -> int:
    try:
        number = operator.index(cast("SupportsIndex", value))
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not abs(number) <= _LARGEST:
        raise PlanError(f"totals: '{name}' is {printed(value)}; it must be a whole number")
    return number


def _value(
    part: ExactStatement, schema: Schema, tables: Mapping[_Table, NDArray[np.int64]], sums: Mapping[str, int]
) -> tuple[int, ...]:
    """The numbers of a part: as given, or as a given whole table implies them."""
    if isinstance(part, ImpossibleStatement | FloorStatement):
        return ()
    if isinstance(part, LinearStatement):
        missing = [name for name in part.names if name not in sums]
        if missing:
            raise PlanError(f"totals: the sum '{missing[0]}' is missing")
        return tuple(sums[name] for name in part.names)
    table = tables.get(part)
    if table is None:
        table = _derive(part, schema, tables)
    counts = table[cell_numbers(part, schema)]
    return tuple((np.minimum(counts, 1) if isinstance(part, OccupiedStatement) else counts).tolist())


def _derive(part: _Table, schema: Schema, tables: Mapping[_Table, NDArray[np.int64]]) -> NDArray[np.int64]:
    """The table of a part that is not given, from a given whole table of the same columns or more."""
    for other, table in tables.items():
        whole = isinstance(other, TotalsStatement) and other.only is None
        if whole and covers(other.columns, part.columns, schema):
            source = PublishedTotals(Description((other,)), None, (tuple(table.tolist()),))
            found = source.table(part.columns, schema)
            if found is not None:
                counts = found.reshape(-1)
                return part.rule.least(counts) if isinstance(part, RangesStatement) else counts
    kind = {TotalsStatement: "totals", OccupiedStatement: "occupied cells", RangesStatement: "ranges"}[type(part)]
    raise PlanError(f"totals: the {kind} of {', '.join(part.columns)} are missing")


def read_totals(
    invariants: Description, schema: Schema, totals: PublishedTotals | Mapping[object, object], rows: int | None = None
) -> PublishedTotals:
    """The totals, if they belong to the invariants: published ones as they are, others read by `totals_from_user`.

    Raises:
        SchemaError, ArgumentError, PlanError: as `totals_from_user`, or published totals of other invariants.
    """
    if not isinstance(totals, PublishedTotals):
        return totals_from_user(invariants, schema, totals, rows)
    if totals.invariants != invariants:
        raise PlanError("totals: belong to other invariants; give the totals of these invariants")
    return totals
