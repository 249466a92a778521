"""The parts of a description of exact statistics: frozen values, and their canonical JSON form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.errors import unreachable
from discreet.exact.canonical import canonical
from discreet.totals.cells import Cell

__all__ = [
    "ImpossiblePart",
    "LinearPart",
    "OccupiedPart",
    "Part",
    "Parted",
    "TotalsPart",
    "cells_of",
    "part_json",
    "parted",
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


@dataclass(frozen=True, slots=True)
class Parted:
    """Parts by their kind, each in the order in which they were given."""

    totals: tuple[TotalsPart, ...]
    occupied: tuple[OccupiedPart, ...]
    impossible: tuple[ImpossiblePart, ...]
    linear: tuple[LinearPart, ...]


def parted(parts: Iterable[Part]) -> Parted:
    """Every part under its kind: what is published and met by no rule about kinds would protect nobody."""
    totals, occupied = list[TotalsPart](), list[OccupiedPart]()
    impossible, linear = list[ImpossiblePart](), list[LinearPart]()
    for part in parts:
        match part:
            case TotalsPart():
                totals.append(part)
            case OccupiedPart():
                occupied.append(part)
            case ImpossiblePart():
                impossible.append(part)
            case LinearPart():
                linear.append(part)
            case _:
                raise unreachable(part)
    return Parted(tuple(totals), tuple(occupied), tuple(impossible), tuple(linear))


def cells_of(part: Part) -> tuple[Cell, ...]:
    """The cells that a part names."""
    match part:
        case LinearPart():
            return tuple(cell for row in part.rows for cell, _ in row)
        case ImpossiblePart():
            return part.cells
        case TotalsPart() | OccupiedPart():
            return part.only or ()
    raise unreachable(part)


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
    raise unreachable(part)
