"""The facts that are published exactly, as a program declares them: totals, cells that exist or never occur, sums.

An `Invariants` is made by one of the nouns below, or by several joined with `+`. Whatever it says is *unprotected*: it is
true of the confidential table, exactly. What it means is worked out in `totals`, and what that costs in `quotes`; both are
loaded when they are first asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.domain.schema import Schema
from discreet.errors import SchemaError, printed
from discreet.exact.on_demand import on_demand
from discreet.totals.description import Description
from discreet.totals.magnitude_cells import coefficients_of
from discreet.totals.reading import read_cells, read_coefficients, read_columns, read_list
from discreet.totals.statements import ImpossibleStatement, LinearStatement, OccupiedStatement, TotalsStatement

if TYPE_CHECKING:
    from discreet.totals.adjacency import SemiAdjacency, semi_adjacency
    from discreet.totals.disclosure import disclosures, is_vacuous
    from discreet.totals.published import PublishedTotals
else:
    __getattr__ = on_demand(
        "discreet.totals",
        {
            "adjacency": ["SemiAdjacency", "semi_adjacency"],
            "disclosure": ["disclosures", "is_vacuous"],
            "published": ["PublishedTotals"],
        },
    )

__all__ = [
    "Impossible",
    "Invariants",
    "LinearInvariant",
    "Margins",
    "Occupied",
    "PublishedTotals",
    "SemiAdjacency",
    "Sums",
    "Totals",
    "disclosures",
    "is_vacuous",
    "semi_adjacency",
]


@dataclass(frozen=True, slots=True)
class Invariants(Description):
    """The exact totals of one table, fixed for the life of the data set."""

    def semi_adjacency(
        self, schema: Schema, totals: PublishedTotals | Mapping[object, object] | None = None
    ) -> SemiAdjacency:
        """The semi-adjacency parameter a(t): how many rows may have to change for one row to take any feasible value.

        An integer, with `exact` and `reason`: whether it is attained, and the argument that proves it. Otherwise it is an
        upper bound over all data with these totals; without totals, over all totals. At least 1, because a column that no
        invariant names can always change alone. No private row is looked at.

        Raises:
            SchemaError, ArgumentError: as `check`.
            PlanError: contradictory totals, or no closed form and a domain too large for the general case.
        """
        from discreet.totals.adjacency import semi_adjacency
        from discreet.totals.given import read_totals

        self.check(schema)
        published = None if totals is None else read_totals(self, schema, totals)
        return semi_adjacency(self, schema, published)

    def sensitivity(
        self,
        schema: Schema,
        query: object,
        norm: int | str = 2,
        totals: PublishedTotals | Mapping[object, object] | None = None,
    ) -> float:
        """The largest change of an answer between semi-adjacent tables; see `discreet.quotes.space.sensitivity`."""
        from discreet.quotes.space import sensitivity

        return sensitivity(self, schema, query, norm, totals)


def Totals(*columns: str, only: Iterable[object] | None = None) -> Invariants:  # noqa: N802 (a noun of the interface)
    """The number of rows of every joint cell of the columns, null included; with `only`, of the listed cells.

    A cell is a value where there is one column, else a tuple with one value for each; None is null.

    Raises:
        SchemaError: no column, a column twice, a cell of another length or twice.
    """
    names = read_columns(columns, "Totals")
    return Invariants((TotalsStatement(names, None if only is None else read_cells(only, names, "Totals", "only")),))


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
    """The joint cells of the columns that hold at least one row; with `only`, the listed cells that do.

    Raises:
        SchemaError: as `Totals`.
    """
    names = read_columns(columns, "Occupied")
    return Invariants((OccupiedStatement(names, None if only is None else read_cells(only, names, "Occupied", "only")),))


def Impossible(*columns: str, cells: Iterable[object]) -> Invariants:  # noqa: N802
    """No row ever lies in these cells: a rule of the world that everyone knows, such as "no widowed infants".

    Raises:
        SchemaError: as `Totals`.
    """
    names = read_columns(columns, "Impossible")
    return Invariants((ImpossibleStatement(names, read_cells(cells, names, "Impossible", "cells")),))


def LinearInvariant(  # noqa: N802
    columns: Sequence[str] | str, coefficients: Mapping[str, Mapping[object, int]]
) -> Invariants:
    """For each name, the sum over all rows of an integer coefficient of the row's cell. For small domains.

    `coefficients` maps a name to {cell: coefficient}; a cell is a value where there is one column. Cells that are not
    named have coefficient 0.

    Raises:
        SchemaError: no column or name, a cell of another length or twice, only zero coefficients.
        ArgumentError: a coefficient that is not an integer below 10**9 in size.
    """
    names = read_columns(read_list(columns, "LinearInvariant"), "LinearInvariant")
    if not isinstance(coefficients, Mapping) or not coefficients:
        raise SchemaError("LinearInvariant: coefficients must map at least one name to {cell: integer}")
    for name in coefficients:
        if not isinstance(name, str) or not name or not name.isprintable():
            raise SchemaError(f"LinearInvariant: name {printed(name)} must be printable text")
    rows = tuple(read_coefficients(row, names, name) for name, row in coefficients.items())
    return Invariants((LinearStatement(names, tuple(coefficients), rows),))


def Sums(column: str, schema: Schema, by: Sequence[str] | str = ()) -> Invariants:  # noqa: N802
    """The sum of a number over all rows; with `by`, over the rows of each group. A row without the number adds nothing.

    It is the `LinearInvariant` whose coefficients are the values of the column. Alongside `by` publish how many rows each
    group has: `Totals("sex") + Sums("age", schema, by="sex")`.

    Raises:
        SchemaError: a column that is not declared, or named twice; no schema.
        ArgumentError: not a number column, more than 10,000 values or 1,000,000 cells, values without a common unit.
    """
    names = read_columns((*read_list(by, "Sums"), column), "Sums")
    if not isinstance(schema, Schema):
        raise SchemaError(f"Sums: schema={printed(schema)} must be the Schema that declares '{column}'")
    return LinearInvariant(names, coefficients_of(names, schema))
