"""The parts of a description of exact statistics: frozen values, and their canonical JSON form."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.invariants.levels import Cell
from discreet.plan import canonical

__all__ = [
    "ImpossiblePart",
    "LinearPart",
    "OccupiedPart",
    "Part",
    "TotalsPart",
    "cells_of",
    "part_json",
    "well_formed",
]


@dataclass(frozen=True, slots=True)
class TotalsPart:
    """The number of rows of every cell of `columns`, or of the cells in `only`."""

    columns: tuple[str, ...]
    only: tuple[Cell, ...] | None


@dataclass(frozen=True, slots=True)
class OccupiedPart:
    """For every cell of `columns`, or for the cells in `only`, whether any row lies in it."""

    columns: tuple[str, ...]
    only: tuple[Cell, ...] | None


@dataclass(frozen=True, slots=True)
class ImpossiblePart:
    """No row can lie in these cells of `columns`, by public knowledge (structural zeros)."""

    columns: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class LinearPart:
    """For each name the sum over all rows of an integer coefficient of the row's cell.

    `rows[k]` holds the (cell, coefficient) pairs of `names[k]` with coefficient ≠ 0; other cells have coefficient 0.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[tuple[tuple[Cell, int], ...], ...]


Part = TotalsPart | OccupiedPart | ImpossiblePart | LinearPart


def cells_of(part: Part) -> tuple[Cell, ...]:
    """The cells that a part names."""
    if isinstance(part, LinearPart):
        return tuple(cell for row in part.rows for cell, _ in row)
    return part.cells if isinstance(part, ImpossiblePart) else part.only or ()


def well_formed(part: Part) -> bool:
    """Whether every cell that the part names is a tuple with one label for each column."""
    return all(isinstance(cell, tuple) and len(cell) == len(part.columns) for cell in cells_of(part))


def part_json(part: Part) -> dict[str, object]:
    """The part as canonical JSON values: columns and cells are sorted, because their order says nothing."""
    order = sorted(range(len(part.columns)), key=lambda position: part.columns[position])

    def shown(cell: Cell) -> list[object]:
        return [cell[position] for position in order]

    def cells(listed: tuple[Cell, ...]) -> list[object]:
        return sorted(map(shown, listed), key=canonical)

    columns = [part.columns[position] for position in order]
    match part:
        case TotalsPart(only=only):
            return {"part": "totals", "columns": columns, "only": None if only is None else cells(only)}
        case OccupiedPart(only=only):
            return {"part": "occupied", "columns": columns, "only": None if only is None else cells(only)}
        case ImpossiblePart():
            return {"part": "impossible", "columns": columns, "cells": cells(part.cells)}
        case LinearPart():
            rows = {
                name: sorted(([*shown(cell), value] for cell, value in row), key=canonical)
                for name, row in zip(part.names, part.rows, strict=True)
            }
            return {"part": "linear", "columns": columns, "coefficients": rows}
