"""The levels of the columns of an invariant, and the cells of their joint domain.

Null is a level like any other (a column of an invariant is never imputed): a column of `size` codes has the levels
0, …, size, and the last one is null. Cells are numbered in row-major order, the first column slowest.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import cast

import numpy as np
from numpy.typing import NDArray

from discreet.domain.categories import Value
from discreet.domain.columns import Category, Column, Number
from discreet.domain.origins import between
from discreet.domain.schema import Schema
from discreet.errors import InternalError
from discreet.exact.numbers import Amount, text

__all__ = [
    "Cell",
    "cell_at",
    "cell_index",
    "cell_indices",
    "domain_size",
    "label_of",
    "level_of",
    "levels",
    "levels_within",
    "positions",
    "shape_of",
]

Cell = tuple[Value | None, ...]
"""One label for each column: a category, a whole number, the text of another number or of a date, or None for null."""


def levels(column: Column) -> tuple[Value | None, ...]:
    """The labels of all levels of a column in the order of their codes; the last one is None, for null."""
    return tuple(label_of(column, code) for code in range(column.size + 1))


def label_of(column: Column, code: int) -> Value | None:
    """The name of the level `code` in 0, …, column.size."""
    if code == column.size:
        return None
    if isinstance(column, Category):
        return column.values[code]
    value = column.value(code)
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else text(value)
    return value.isoformat()


def level_of(column: Column, value: object, name: str) -> int:
    """The code of a level: of a category, of a number or day on the grid, or of null, which is None.

    Raises:
        SchemaError: `value` is not a level of the column; `name` is used in the message.
    """
    if value is None:
        return column.size
    if isinstance(column, Category):
        return column.code(value, name)
    if isinstance(column, Number):
        return column.code(cast("Amount", value), name)
    return column.code(cast("dt.date | str", value), name)


def shape_of(columns: Sequence[str], schema: Schema) -> tuple[int, ...]:
    """The number of levels of each column, null included."""
    return tuple(schema[name].size + 1 for name in columns)


def domain_size(columns: Sequence[str], schema: Schema) -> int:
    """The number of cells in the joint domain of the columns, null levels included; 1 for no columns."""
    return prod(shape_of(columns, schema))


def cell_index(cell: Sequence[object], columns: Sequence[str], schema: Schema) -> int:
    """The number of a cell, which has one value for each column.

    Raises:
        SchemaError: a value is not a level of its column.
    """
    index = 0
    for value, name in zip(cell, columns, strict=True):
        column = schema[name]
        index = index * (column.size + 1) + level_of(column, value, name)
    return index


def cell_indices(cells: Sequence[Sequence[object]], columns: Sequence[str], schema: Schema) -> NDArray[np.int64]:
    """The numbers of many cells, as `cell_index` gives them one by one.

    Raises:
        SchemaError: a value is not a level of its column.
    """
    numbers = np.zeros(len(cells), dtype=np.int64)
    for position, name in enumerate(columns):
        column = schema[name]
        # The type is part of the key: 1 and True are equal, but not the same category.
        known: dict[object, int] = {(type(label), label): code for code, label in enumerate(levels(column))}
        values = [cell[position] for cell in cells]
        codes = [known[key] if (key := (type(v), v)) in known else level_of(column, v, name) for v in values]
        numbers = numbers * (column.size + 1) + np.array(codes, dtype=np.int64)
    return numbers


def cell_at(index: int, columns: Sequence[str], schema: Schema) -> Cell:
    """The labels of the cell of that number: `cell_index(cell_at(i, …), …) == i`."""
    labels: list[Value | None] = []
    for name in reversed(columns):
        column = schema[name]
        index, code = divmod(index, column.size + 1)
        labels.append(label_of(column, code))
    return tuple(reversed(labels))


def levels_within(name: str, within: Sequence[str], schema: Schema) -> tuple[int, NDArray[np.int64]]:
    """The place of the column among others from which it follows, and for each level of that one its own level.

    Raises:
        InternalError: it follows from none of them.
    """
    if name in within:
        return within.index(name), np.arange(schema[name].size + 1, dtype=np.int64)
    for axis, fine in enumerate(within):
        levels = between(fine, name, schema)
        if levels is not None:
            return axis, levels
    raise InternalError(f"column '{name}' does not follow from {', '.join(within)}")


def positions(columns: Sequence[str], within: Sequence[str], schema: Schema) -> NDArray[np.int64]:
    """For each cell of the joint domain of `within`, the number of its cell in the joint domain of `columns`.

    Needs:
        each of `columns`, in any order, is one of `within` or follows from one of them by a public map.

    Gives:
        int64, shape (domain_size(within),).
    """
    shape = shape_of(within, schema)
    found = np.zeros((1,) * len(shape), dtype=np.int64)
    stride = 1
    for name in reversed(columns):
        axis, levels = levels_within(name, within, schema)
        codes = levels * stride
        found = found + codes.reshape([-1 if position == axis else 1 for position in range(len(shape))])
        stride *= schema[name].size + 1
    return np.ascontiguousarray(np.broadcast_to(found, shape)).reshape(-1)
