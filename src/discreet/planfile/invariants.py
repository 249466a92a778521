"""The `[invariants]` section of a plan file: the exact totals and the other exact statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet.domain.columns import Category
from discreet.domain.neighbours import Neighbours
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError
from discreet.invariants import (
    AtLeast,
    Impossible,
    Invariants,
    LinearInvariant,
    Occupied,
    Rounded,
    SizeClasses,
    Sums,
    Suppressed,
    Totals,
)
from discreet.planfile.tree import Node
from discreet.totals.checking import check_invariants

__all__ = ["invariants_of"]

_LISTS: Mapping[str, Callable[..., Invariants]] = {"totals": Totals, "occupied": Occupied}

# For each key what makes its part, which keys it must have besides the columns, and which it may have besides `only`.
_RANGES: Mapping[str, tuple[Callable[..., Invariants], tuple[str, ...], tuple[str, ...]]] = {
    "rounded": (Rounded, ("base",), ("to",)),
    "suppressed": (Suppressed, ("below",), ("zeros",)),
    "size_classes": (SizeClasses, ("starts",), ()),
    "at_least": (AtLeast, ("rows",), ()),
}


def invariants_of(node: Node, schema: Schema, neighbours: Neighbours) -> Invariants:
    """The invariants of the section, checked against schema and neighbours.

    Raises:
        PlanError: the section or an invariant is wrong; `place` names the mistake.
    """
    parts = node.table((), (*_LISTS, "impossible", "linear", "sums", *_RANGES))
    joined = Invariants(())
    for word, make in _LISTS.items():
        for item in parts[word].items() if word in parts else ():
            joined += _read_list(item, schema, make)
    for item in parts["impossible"].items() if "impossible" in parts else ():
        keys = item.table(("columns", "cells"))
        with item.locate_errors():
            joined += Impossible(*_read_columns(keys["columns"]), cells=_read_cells(keys["cells"], schema, keys["columns"]))
    for item in parts["linear"].items() if "linear" in parts else ():
        joined += _read_linear(item)
    for item in parts["sums"].items() if "sums" in parts else ():
        joined += _read_sums(item, schema)
    for word, (make_ranges, needed, optional) in _RANGES.items():
        for item in parts[word].items() if word in parts else ():
            joined += _read_ranges(item, schema, make_ranges, (needed, optional))
    if not joined.parts:
        raise node.wrong('is empty; write totals = [["state"]] or leave the section out')
    try:
        check_invariants(joined, schema, neighbours)
    except ArgumentError as wrong:
        raise node.wrong(str(wrong).removeprefix("invariants: ")) from None
    return joined


def _read_list(node: Node, schema: Schema, make: Callable[..., Invariants]) -> Invariants:
    """`["state"]`, or `{ columns = ["state"], only = ["Alabama"] }`."""
    if not isinstance(node.value, dict):
        names = _read_columns(node)
        with node.locate_errors():
            return make(*names)
    keys = node.table(("columns",), ("only",))
    names = _read_columns(keys["columns"])
    with node.locate_errors():
        return make(*names, only=_read_cells(keys["only"], schema, keys["columns"]) if "only" in keys else None)


def _read_linear(node: Node) -> Invariants:
    """`{ columns = ["rooms"], coefficients = { rooms = [[1, 1], [2, 2]] } }`: each cell with its coefficient last."""
    keys = node.table(("columns", "coefficients"))
    names = _read_columns(keys["columns"])
    rows: dict[str, dict[Any, int]] = {}
    for name, listed in keys["coefficients"].mapping().items():
        rows[name] = {}
        for item in listed.items():
            values = [one.value for one in item.items()]
            if len(values) != len(names) + 1 or any(isinstance(value, list | dict) for value in values):
                raise item.wrong(f"must hold a value for each of {', '.join(names)} and then the coefficient")
            if tuple(values[:-1]) in rows[name]:
                raise item.wrong("gives a cell a second coefficient; keep one of the two")
            rows[name][tuple(values[:-1])] = values[-1]
    with node.locate_errors():
        return LinearInvariant(names, rows)


def _read_sums(node: Node, schema: Schema) -> Invariants:
    """`"age"`, or `{ column = "age", by = ["sex"] }`."""
    if not isinstance(node.value, dict):
        column, by = node.string(), []
    else:
        keys = node.table(("column",), ("by",))
        column, by = keys["column"].string(), _read_columns(keys["by"]) if "by" in keys else []
    with node.locate_errors():
        return Sums(column, schema, by)


def _read_ranges(
    node: Node, schema: Schema, make: Callable[..., Invariants], known: tuple[tuple[str, ...], tuple[str, ...]]
) -> Invariants:
    """`{ columns = ["county"], below = 10 }`, with `only` for some cells."""
    needed, optional = known
    keys = node.table(("columns", *needed), ("only", *optional))
    names = _read_columns(keys["columns"])
    said = {word: keys[word].value for word in (*needed, *optional) if word in keys}
    with node.locate_errors():
        return make(*names, **said, only=_read_cells(keys["only"], schema, keys["columns"]) if "only" in keys else None)


def _read_columns(node: Node) -> list[str]:
    return [item.string() for item in node.items()]


def _read_cells(node: Node, schema: Schema, columns: Node) -> list[Any]:
    """Cells, written as values or as lists with a value for each column."""
    cells: list[Any] = []
    for item in node.items():
        values = item.scalars() if isinstance(item.value, list) else [item.scalars()]
        if len(values) != len(columns.items()):
            raise item.wrong(f"must name a value for each of {', '.join(_read_columns(columns))}")
        for value, name in zip(values, _read_columns(columns), strict=True):
            if isinstance(schema.columns.get(name), Category) and not isinstance(value, str | int):
                raise item.wrong("is not a category; write a text in quotes")
        cells.append(tuple(values))
    return cells
