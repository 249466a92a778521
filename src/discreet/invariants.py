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
from discreet.errors import ArgumentError, SchemaError, printed
from discreet.exact.on_demand import on_demand
from discreet.totals.description import Description
from discreet.totals.magnitude_cells import coefficients_of
from discreet.totals.reading import read_cells, read_coefficients, read_columns, read_count, read_list, read_rule
from discreet.totals.rules import Bands, Rounding, Rule, Suppression
from discreet.totals.statements import (
    FloorStatement,
    ImpossibleStatement,
    LinearStatement,
    OccupiedStatement,
    RangesStatement,
    TotalsStatement,
)

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
    "AtLeast",
    "Impossible",
    "Invariants",
    "LinearInvariant",
    "Margins",
    "Occupied",
    "PublishedTotals",
    "Rounded",
    "SemiAdjacency",
    "SizeClasses",
    "Sums",
    "Suppressed",
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


def Rounded(  # noqa: N802
    *columns: str, base: int, to: str = "nearest", only: Iterable[object] | None = None
) -> Invariants:
    """The rows of every joint cell, null included, rounded to a multiple of `base`; with `only`, of the listed cells.

    `to` is "nearest" (of two nearest multiples the larger), "down" or "up". The rule is public, so the published number says
    in which range the count lies, and nothing more. Random rounding is a release with noise, not a fact.

    Raises:
        SchemaError: as `Totals`.
        ArgumentError: `base` is not a whole number from 2 on, or `to` is another word.
    """
    least = read_count(base, "Rounded", "base", 2)
    rule = Rounding(least, read_rule(to, "Rounded", "to", ("nearest", "down", "up")))
    return _ranges("Rounded", columns, rule, only)


def Suppressed(  # noqa: N802
    *columns: str, below: int, zeros: str = "hidden", only: Iterable[object] | None = None
) -> Invariants:
    """The number of rows of every joint cell, null included, except that small counts are published as "fewer than `below`".

    With zeros="shown" a cell without rows is published as 0, and 1 to `below` - 1 are not told apart. Which cells are
    suppressed is public as well; complementary suppression is not done, and what follows by subtraction is a disclosure.

    Raises:
        SchemaError: as `Totals`.
        ArgumentError: `below` is not a whole number from 2 on (3 where zeros are shown), or `zeros` is another word.
    """
    shown = read_rule(zeros, "Suppressed", "zeros", ("hidden", "shown"))
    least = read_count(below, "Suppressed", "below", 3 if shown == "shown" else 2)
    return _ranges("Suppressed", columns, Suppression(least, shown), only)


def SizeClasses(  # noqa: N802
    *columns: str, starts: Sequence[int], only: Iterable[object] | None = None
) -> Invariants:
    """The class of size of every joint cell, null included: with starts=[10, 50] "0 to 9", "10 to 49" or "50 or more".

    Raises:
        SchemaError: as `Totals`.
        ArgumentError: `starts` are not whole numbers from 1 on in ascending order.
    """
    if not isinstance(starts, list | tuple) or not starts:
        raise ArgumentError(f"SizeClasses: starts={printed(starts)} must be a list of counts, such as [10, 50, 250]")
    counts = [read_count(start, "SizeClasses", "starts", 1) for start in starts]
    if sorted(set(counts)) != counts:
        raise ArgumentError(f"SizeClasses: starts={printed(starts)} must be in ascending order, each once")
    return _ranges("SizeClasses", columns, Bands((0, *counts)), only)


def _ranges(noun: str, columns: tuple[str, ...], rule: Rule, only: Iterable[object] | None) -> Invariants:
    names = read_columns(columns, noun)
    return Invariants((RangesStatement(names, None if only is None else read_cells(only, names, noun, "only"), rule),))


def AtLeast(*columns: str, rows: int, only: Iterable[object] | None = None) -> Invariants:  # noqa: N802
    """Every joint cell without a null has at least `rows` rows; with `only`, each listed cell: a rule that everyone knows.

    Nothing is published. A source that breaks the rule is refused, as with `Impossible`.

    Raises:
        SchemaError: as `Totals`.
        ArgumentError: `rows` is not a whole number from 1 on.
    """
    names = read_columns(columns, "AtLeast")
    least = read_count(rows, "AtLeast", "rows", 1)
    return Invariants((FloorStatement(names, None if only is None else read_cells(only, names, "AtLeast", "only"), least),))


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
