"""What is published exactly: totals, which cells exist, which cells never occur, sums of integer coefficients.

Descriptions only, made without data and without a schema; `check` holds them against a schema. An `Invariants` is a list
of parts, joined by `+`. Whatever its parts say is *unprotected*: it is true of the confidential table, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.domain.schema import Category, Schema
from discreet.errors import ArgumentError, SchemaError, printed
from discreet.exact.canonical import canonical
from discreet.totals.cells import Cell, cell_indices, domain_size
from discreet.totals.reading import read_cells, read_coefficients, read_columns, read_list
from discreet.totals.statements import (
    ImpossiblePart,
    LinearPart,
    OccupiedPart,
    Part,
    TotalsPart,
    cells_of,
    part_json,
    well_formed,
)

if TYPE_CHECKING:
    from discreet.totals.published import PublishedTotals

__all__ = ["Impossible", "Invariants", "LinearInvariant", "Margins", "Occupied", "Totals"]

_MAX_LEVELS = 10_000
_MAX_CELLS = 1_000_000


@dataclass(frozen=True, slots=True)
class Invariants:
    """What is published exactly about one table, fixed for the life of the data set."""

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        parts = self.parts if isinstance(self.parts, tuple) else (self.parts,)
        if not all(isinstance(part, Part) and part.columns and well_formed(part) for part in parts):
            raise SchemaError("Invariants: make them with Totals, Margins, Occupied, Impossible or LinearInvariant, and +")

    def __add__(self, other: Invariants) -> Invariants:
        """Both together; a part that says the same as an earlier one is left out."""
        if not isinstance(other, Invariants):
            return NotImplemented
        distinct: dict[str, Part] = {}
        for part in self.parts + other.parts:
            distinct.setdefault(canonical(part_json(part)), part)
        return Invariants(tuple(distinct.values()))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in the order in which they are first mentioned."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.columns))

    def to_json(self) -> list[dict[str, object]]:
        """The parts as canonical JSON values: neither the order of parts nor that of columns or cells matters."""
        return sorted((part_json(part) for part in self.parts), key=canonical)

    def check(self, schema: Schema) -> None:
        """The invariants fit the schema.

        Raises:
            SchemaError: a column that is not declared, a value that is no level of its column.
            ArgumentError: a column with more than 10,000 levels, a joint domain of more than 1,000,000 cells, a name of
                a linear invariant that is a column or used twice.
        """
        for part in self.parts:
            _check_part(part, schema)
        sizes = {name: schema[name].size + 1 for name in self.columns}
        cells = domain_size(self.columns, schema)
        if cells > _MAX_CELLS:
            widest = max(sizes, key=lambda name: sizes[name])
            raise ArgumentError(
                f"invariants: the joint domain of {', '.join(self.columns)} has {cells} cells, more than {_MAX_CELLS}; "
                f"publish fewer columns, or coarsen '{widest}', which has {sizes[widest]} levels with null"
            )
        _check_names(self, schema)

    def semi_adjacency(self, schema: Schema, totals: PublishedTotals | Mapping[object, object] | None = None) -> int:
        """The semi-adjacency parameter a(t): how many rows may have to change for one row to take any feasible value.

        An upper bound over all data with these totals; without totals, over all totals. At least 1, because a column
        beside the invariants can always change alone. No private row is looked at.

        Raises:
            SchemaError, ArgumentError: as `check`.
            PlanError: contradictory totals, or no closed form and a domain too large for the general case.
        """
        from discreet.totals.adjacency import semi_adjacency
        from discreet.totals.given import read_totals

        self.check(schema)
        published = None if totals is None else read_totals(self, schema, totals)
        return semi_adjacency(self, schema, published).a

    def sensitivity(
        self,
        schema: Schema,
        query: object,
        norm: int | str = 2,
        totals: PublishedTotals | Mapping[object, object] | None = None,
    ) -> float:
        """How far the answer to a query moves between semi-adjacent tables; see `discreet.quotes.space.sensitivity`."""
        from discreet.quotes.space import sensitivity

        return sensitivity(self, schema, query, norm, totals)


def Totals(*columns: str, only: Iterable[object] | None = None) -> Invariants:  # noqa: N802 (a noun of the interface)
    """The number of rows of every joint cell of the columns, null included; with `only`, of the listed cells.

    A cell is a value where there is one column, else a tuple with one value for each; None is null.

    Raises:
        SchemaError: no column, a column twice, a cell of another length or twice.
    """
    names = read_columns(columns, "Totals")
    return Invariants((TotalsPart(names, None if only is None else read_cells(only, names, "Totals", "only")),))


def Margins(*column_lists: Sequence[str] | str) -> Invariants:  # noqa: N802
    """The totals of each of the lists of columns: `Margins(["a"], ["b"])` is `Totals("a") + Totals("b")`.

    Raises:
        SchemaError: no list, or as `Totals`.
    """
    if not column_lists:
        raise SchemaError('Margins(): names no columns; write Margins(["a"], ["b"])')
    joined = Invariants(())
    for columns in column_lists:
        joined += Totals(*read_list(columns, "Margins"))
    return joined


def Occupied(*columns: str, only: Iterable[object] | None = None) -> Invariants:  # noqa: N802
    """Which joint cells of the columns hold at least one row; with `only`, which of the listed cells do.

    Raises:
        SchemaError: as `Totals`.
    """
    names = read_columns(columns, "Occupied")
    return Invariants((OccupiedPart(names, None if only is None else read_cells(only, names, "Occupied", "only")),))


def Impossible(*columns: str, cells: Iterable[object]) -> Invariants:  # noqa: N802
    """No row ever lies in these cells: a rule of the world that everyone knows, such as "no widowed infants".

    Raises:
        SchemaError: as `Totals`.
    """
    names = read_columns(columns, "Impossible")
    return Invariants((ImpossiblePart(names, read_cells(cells, names, "Impossible", "cells")),))


def LinearInvariant(  # noqa: N802
    columns: Sequence[str] | str, coefficients: Mapping[str, Mapping[object, int]]
) -> Invariants:
    """For each name, the sum over all rows of an integer coefficient of the row's cell. For small domains.

    `coefficients` maps a name to {cell: coefficient}; a cell is a value where there is one column. Cells that are not
    named have coefficient 0.

    Raises:
        SchemaError: no column or name, a cell of another length or twice, only zero coefficients.
        ArgumentError: a coefficient that is no integer below 10**9 in size.
    """
    names = read_columns(read_list(columns, "LinearInvariant"), "LinearInvariant")
    if not isinstance(coefficients, Mapping) or not coefficients:
        raise SchemaError("LinearInvariant: coefficients must map at least one name to {cell: integer}")
    for name in coefficients:
        if not isinstance(name, str) or not name or not name.isprintable():
            raise SchemaError(f"LinearInvariant: name {printed(name)} must be printable text")
    rows = tuple(read_coefficients(row, names, name) for name, row in coefficients.items())
    return Invariants((LinearPart(names, tuple(coefficients), rows),))


def _check_part(part: Part, schema: Schema) -> None:
    for name in part.columns:
        column = schema[name]
        if not isinstance(column, Category) and column.size > _MAX_LEVELS:
            raise ArgumentError(
                f"invariants: column '{name}' has {column.size} values, more than {_MAX_LEVELS}; "
                "declare a coarser step, or publish totals of a categorical column"
            )
    cells = domain_size(part.columns, schema)
    if cells > _MAX_CELLS:
        raise ArgumentError(
            f"invariants: the totals of {', '.join(part.columns)} have {cells} cells, more than {_MAX_CELLS}; "
            "publish the totals of fewer columns together"
        )
    if isinstance(part, LinearPart):
        for row in part.rows:
            _check_distinct([cell for cell, _ in row], part.columns, schema)
    else:
        _check_distinct(cells_of(part), part.columns, schema)


def _check_distinct(cells: Sequence[Cell], columns: tuple[str, ...], schema: Schema) -> None:
    """Every cell is in the domain, and no two ways of writing one cell stand side by side."""
    seen: set[int] = set()
    for cell, index in zip(cells, cell_indices(cells, columns, schema).tolist(), strict=True):
        if index in seen:
            raise SchemaError(f"invariants: cell {canonical(list(cell))} of {', '.join(columns)} is listed twice")
        seen.add(index)


def _check_names(invariants: Invariants, schema: Schema) -> None:
    names = [name for part in invariants.parts if isinstance(part, LinearPart) for name in part.names]
    for name in names:
        if name in schema.columns:
            raise ArgumentError(f"LinearInvariant '{name}': is the name of a column; choose another")
        if names.count(name) > 1:
            raise ArgumentError(f"LinearInvariant '{name}': the name is used twice; choose another")
