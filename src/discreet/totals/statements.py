"""The parts of a description of exact statistics: frozen values, and their canonical JSON form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.errors import unreachable
from discreet.exact.canonical import canonical
from discreet.totals.cells import Cell
from discreet.totals.rules import Rule

__all__ = [
    "ExactStatement",
    "FloorStatement",
    "ImpossibleStatement",
    "LinearStatement",
    "OccupiedStatement",
    "RangesStatement",
    "StatementsByKind",
    "TotalsStatement",
    "cells_of",
    "has_ranges",
    "is_well_formed",
    "statement_json",
    "statements_by_kind",
]


@dataclass(frozen=True, slots=True)
class TotalsStatement:
    """The number of rows of every cell of `columns`, or of the cells in `only`."""

    columns: tuple[str, ...]
    only: tuple[Cell, ...] | None


@dataclass(frozen=True, slots=True)
class OccupiedStatement:
    """For every cell of `columns`, or for the cells in `only`, whether any row lies in it."""

    columns: tuple[str, ...]
    only: tuple[Cell, ...] | None


@dataclass(frozen=True, slots=True)
class ImpossibleStatement:
    """No row can lie in these cells of `columns`, by public knowledge (structural zeros)."""

    columns: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class LinearStatement:
    """For each name the sum over all rows of an integer coefficient of the row's cell.

    `rows[k]` holds the (cell, coefficient) pairs of `names[k]` with coefficient ≠ 0; other cells have coefficient 0.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[tuple[tuple[Cell, int], ...], ...]


@dataclass(frozen=True, slots=True)
class RangesStatement:
    """For every cell of `columns`, or for the cells in `only`, the range of the rule in which its number of rows lies."""

    columns: tuple[str, ...]
    only: tuple[Cell, ...] | None
    rule: Rule


@dataclass(frozen=True, slots=True)
class FloorStatement:
    """Every cell of `columns` without a null, or each cell in `only`, has at least `rows` rows, by public knowledge."""

    columns: tuple[str, ...]
    only: tuple[Cell, ...] | None
    rows: int


ExactStatement = (
    TotalsStatement | OccupiedStatement | ImpossibleStatement | LinearStatement | RangesStatement | FloorStatement
)


@dataclass(frozen=True, slots=True)
class StatementsByKind:
    """Parts by their kind, each in the order in which they were given."""

    totals: tuple[TotalsStatement, ...]
    occupied: tuple[OccupiedStatement, ...]
    impossible: tuple[ImpossibleStatement, ...]
    linear: tuple[LinearStatement, ...]
    ranges: tuple[RangesStatement, ...]
    floors: tuple[FloorStatement, ...]


def statements_by_kind(parts: Iterable[ExactStatement]) -> StatementsByKind:
    """Every part under its kind: what is published and met by no rule about kinds would protect nobody."""
    totals, occupied = list[TotalsStatement](), list[OccupiedStatement]()
    impossible, linear = list[ImpossibleStatement](), list[LinearStatement]()
    ranges, floors = list[RangesStatement](), list[FloorStatement]()
    for part in parts:
        match part:
            case TotalsStatement():
                totals.append(part)
            case OccupiedStatement():
                occupied.append(part)
            case ImpossibleStatement():
                impossible.append(part)
            case LinearStatement():
                linear.append(part)
            case RangesStatement():
                ranges.append(part)
            case FloorStatement():
                floors.append(part)
            case _:
                raise unreachable(part)
    return StatementsByKind(tuple(totals), tuple(occupied), tuple(impossible), tuple(linear), tuple(ranges), tuple(floors))


def has_ranges(parts: Iterable[ExactStatement]) -> bool:
    """True if the range of some count is published or known, and not the count."""
    return any(isinstance(part, RangesStatement | FloorStatement) for part in parts)


def cells_of(part: ExactStatement) -> tuple[Cell, ...]:
    """The cells that a part names."""
    match part:
        case LinearStatement():
            return tuple(cell for row in part.rows for cell, _ in row)
        case ImpossibleStatement():
            return part.cells
        case TotalsStatement() | OccupiedStatement() | RangesStatement() | FloorStatement():
            return part.only or ()
    raise unreachable(part)


def is_well_formed(part: ExactStatement) -> bool:
    """True if every cell that the part names is a tuple with one label for each column."""
    return all(isinstance(cell, tuple) and len(cell) == len(part.columns) for cell in cells_of(part))


def statement_json(part: ExactStatement) -> dict[str, object]:
    """The part as canonical JSON values: columns and cells are sorted, because their order says nothing."""
    order = sorted(range(len(part.columns)), key=lambda position: part.columns[position])

    def shown(cell: Cell) -> list[object]:
        return [cell[position] for position in order]

    def cells(listed: tuple[Cell, ...]) -> list[object]:
        return sorted(map(shown, listed), key=canonical)

    columns = [part.columns[position] for position in order]
    match part:
        case TotalsStatement(only=only):
            return {"part": "totals", "columns": columns, "only": None if only is None else cells(only)}
        case OccupiedStatement(only=only):
            return {"part": "occupied", "columns": columns, "only": None if only is None else cells(only)}
        case RangesStatement(only=only, rule=rule):
            listed = None if only is None else cells(only)
            return {"part": "ranges", "columns": columns, "only": listed, "rule": rule.to_json()}
        case FloorStatement(only=only, rows=least):
            listed = None if only is None else cells(only)
            return {"part": "at least", "columns": columns, "only": listed, "rows": least}
        case ImpossibleStatement():
            return {"part": "impossible", "columns": columns, "cells": cells(part.cells)}
        case LinearStatement():
            rows = {
                name: sorted(([*shown(cell), value] for cell, value in row), key=canonical)
                for name, row in zip(part.names, part.rows, strict=True)
            }
            return {"part": "linear", "columns": columns, "coefficients": rows}
    raise unreachable(part)
