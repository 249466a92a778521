"""The facts that are published exactly: totals, which cells exist, which cells never occur, sums of integer coefficients.

A description is a list of parts, made without data and without a schema; `check` holds it against a schema. Programs make
it with the nouns of `discreet.invariants`, whose `Invariants` also answers what a description means and costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from discreet.domain.columns import Category, Date, Number
from discreet.domain.origins import joint_columns
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError, SchemaError, unreachable
from discreet.exact.canonical import canonical
from discreet.exact.numbers import text
from discreet.totals.cells import Cell, cell_indices, domain_size
from discreet.totals.statements import (
    ExactStatement,
    FloorStatement,
    ImpossibleStatement,
    LinearStatement,
    OccupiedStatement,
    RangesStatement,
    TotalsStatement,
    cells_of,
    is_well_formed,
    statement_json,
)

__all__ = ["Description"]

_MAX_LEVELS = 10_000
_MAX_CELLS = 1_000_000
_MAX_NESTED = 5_000_000
"""The most cells of one list of totals from which all others follow: nothing has to be looked for beside it."""


@dataclass(frozen=True, slots=True)
class Description:
    """The numbers that are published exactly about one table."""

    parts: tuple[ExactStatement, ...]

    def __post_init__(self) -> None:
        parts = self.parts if isinstance(self.parts, tuple) else (self.parts,)
        if not all(isinstance(part, ExactStatement) and part.columns and is_well_formed(part) for part in parts):
            raise SchemaError("Invariants: make them with Totals, Margins, Occupied, Rounded and so on, and +")

    def __add__(self, other: Self) -> Self:
        """Both together; a part that says the same as an earlier one is left out."""
        if not isinstance(other, Description):
            return NotImplemented
        distinct: dict[str, ExactStatement] = {}
        for part in self.parts + other.parts:
            distinct.setdefault(canonical(statement_json(part)), part)
        return replace(self, parts=tuple(distinct.values()))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in the order in which they are first mentioned."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.columns))

    def to_json(self) -> list[dict[str, object]]:
        """The parts as canonical JSON values: the order of parts, columns and cells does not matter."""
        return sorted((statement_json(part) for part in self.parts), key=canonical)

    def check(self, schema: Schema) -> None:
        """Checks that the invariants fit the schema.

        Raises:
            SchemaError: a column that is not declared, a value that is not a level of its column.
            ArgumentError: a column with more than 10,000 levels, a joint domain of more than 1,000,000 cells, or of
                5,000,000 where the totals of all of them are published; a name of a linear invariant that is a column or
                used twice.
        """
        for part in self.parts:
            _check_part(part, schema)
        joint = joint_columns(self.columns, schema)
        sizes = {name: schema[name].size + 1 for name in joint}
        cells = domain_size(joint, schema)
        told = any(_tells(part, joint, schema) for part in self.parts)
        if cells > (most := _MAX_NESTED if told else _MAX_CELLS):
            widest = max(sizes, key=lambda name: sizes[name])
            raise ArgumentError(
                f"invariants: the joint domain of {', '.join(joint)} has {cells} cells, more than {most}; "
                f"publish fewer columns, or coarsen '{widest}', which has {sizes[widest]} levels with null"
            )
        _check_names(self, schema)


def _check_part(part: ExactStatement, schema: Schema) -> None:
    for name in part.columns:
        column = schema[name]
        if not isinstance(column, Category) and column.size > _MAX_LEVELS and _names_all_cells(part):
            raise ArgumentError(
                f"invariants: column '{name}' has {column.size} values, more than {_MAX_LEVELS}; {_fewer_values(column)}"
                f"{'' if isinstance(part, LinearStatement) else ', or list the values to publish in only=[…]'}"
            )
    cells = domain_size(part.columns, schema)
    if cells > (most := _MAX_NESTED if _tells(part, part.columns, schema) else _MAX_CELLS):
        raise ArgumentError(
            f"invariants: the totals of {', '.join(part.columns)} have {cells} cells, more than {most}; "
            "publish the totals of fewer columns together"
        )
    if isinstance(part, LinearStatement):
        for row in part.rows:
            _check_distinct([cell for cell, _ in row], part.columns, schema)
    else:
        _check_distinct(cells_of(part), part.columns, schema)


def _tells(part: ExactStatement, columns: Sequence[str], schema: Schema) -> bool:
    """True if the totals of all cells of these columns are published, from which all coarser totals follow."""
    whole = isinstance(part, TotalsStatement) and part.only is None
    return whole and {*joint_columns(part.columns, schema)} == {*joint_columns(columns, schema)}


def _names_all_cells(part: ExactStatement) -> bool:
    """True if every value of its columns has its part in what is published, listed or not."""
    match part:
        case TotalsStatement(only=only) | OccupiedStatement(only=only):
            return only is None
        case RangesStatement(only=only) | FloorStatement(only=only):
            return only is None
        case ImpossibleStatement():
            return False
        case LinearStatement():
            return True
    raise unreachable(part)


def _fewer_values(column: Number | Date) -> str:
    """The declaration of the column that has few enough values, in words."""
    closer = f"declare closer bounds, so that at most {_MAX_LEVELS} values are left"
    if isinstance(column, Date):
        return closer
    steps = column.size - 1
    least = steps // _MAX_LEVELS + 1
    times = next((times for times in range(least, least + 1000) if _few(steps, times)), None)
    return closer if times is None else f"declare a coarser step, such as step={text(times * column.step)}, or {closer[8:]}"


def _few(steps: int, times: int) -> bool:
    """True if a step so many times as wide divides the range and leaves few enough values."""
    return steps % times == 0 and steps // times < _MAX_LEVELS


def _check_distinct(cells: Sequence[Cell], columns: tuple[str, ...], schema: Schema) -> None:
    """Every cell is in the domain, and no two ways of writing one cell stand side by side."""
    seen: set[int] = set()
    for cell, index in zip(cells, cell_indices(cells, columns, schema).tolist(), strict=True):
        if index in seen:
            raise SchemaError(f"invariants: cell {canonical(list(cell))} of {', '.join(columns)} is listed twice")
        seen.add(index)


def _check_names(description: Description, schema: Schema) -> None:
    names = [name for part in description.parts if isinstance(part, LinearStatement) for name in part.names]
    for name in names:
        if name in schema.columns:
            raise ArgumentError(f"LinearInvariant '{name}': is the name of a column; choose another")
        if names.count(name) > 1:
            raise ArgumentError(f"LinearInvariant '{name}': the name is used twice; choose another")
