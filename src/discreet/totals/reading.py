"""Reads columns, cells and coefficients as a caller writes them, before any schema is known."""

from __future__ import annotations

import datetime as dt
import operator
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from discreet.domain.categories import Value
from discreet.errors import ArgumentError, SchemaError, printed
from discreet.exact.canonical import canonical
from discreet.exact.numbers import exact, text
from discreet.totals.cells import Cell

__all__ = ["read_cell", "read_cells", "read_coefficients", "read_columns", "read_count", "read_list", "read_rule"]

_MAX_COEFFICIENT = 10**9


def read_list(columns: Sequence[str] | str, where: str) -> tuple[str, ...]:
    """One name of a column, or a list of them, as a tuple; the names themselves are not read yet."""
    if isinstance(columns, str):
        return (columns,)
    if not isinstance(columns, list | tuple):
        raise SchemaError(f"{where}: columns={printed(columns)} must be a list of names of columns")
    return tuple(columns)


def read_columns(columns: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The same names: at least one, all text, all distinct.

    Raises:
        SchemaError: they are not.
    """
    if not columns:
        raise SchemaError(f"{where}(): names no column")
    for name in columns:
        if not isinstance(name, str):
            raise SchemaError(f"{where}: column {printed(name)} must be the name of a column")
    for name in columns:
        if columns.count(name) > 1:
            raise SchemaError(f"{where}: column '{name}' is named twice")
    return columns


def read_cells(cells: Iterable[object], columns: tuple[str, ...], where: str, argument: str) -> tuple[Cell, ...]:
    """The cells as labels: at least one, all distinct, each with one value for each column.

    Raises:
        SchemaError: they are not.
    """
    if isinstance(cells, str | bytes) or not isinstance(cells, Iterable):
        raise SchemaError(f"{where}: {argument}={printed(cells)} must be a list of cells")
    labels = tuple(read_cell(cell, columns, where) for cell in cells)
    if not labels:
        raise SchemaError(f"{where}: {argument}=[] names no cell; leave the part out instead")
    _refuse_twice(labels, where)
    return labels


def _refuse_twice(cells: Sequence[Cell], where: str) -> None:
    seen: set[str] = set()
    for cell in cells:
        shown = canonical(list(cell))
        if shown in seen:
            raise SchemaError(f"{where}: cell {shown} is listed twice")
        seen.add(shown)


def read_cell(cell: object, columns: tuple[str, ...], where: str) -> Cell:
    """A cell as labels; where there is one column, its value alone is a cell too.

    Raises:
        SchemaError: another number of values than columns, or something that is not a value.
    """
    values = tuple(cell) if isinstance(cell, list | tuple) else (cell,)
    if len(values) != len(columns):
        raise SchemaError(f"{where}: a cell of {', '.join(columns)} must have {len(columns)} values, not {len(values)}")
    return tuple(_label(value, where) for value in values)


def _label(value: object, where: str) -> Value | None:
    """A value as a label: text in NFC, whole numbers as int, other numbers and days as text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, int | float | Decimal | Fraction):
        number = exact(value, where)
        return int(number) if number.denominator == 1 else text(number)
    raise SchemaError(f"{where}: {printed(value)} is not a value of a cell; write a category, a number, a date or None")


def read_count(value: object, where: str, argument: str, least: int) -> int:
    """A whole number of rows from `least` to 10**9.

    Raises:
        ArgumentError: it is something else.
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not least <= number <= _MAX_COEFFICIENT:
        exact = "; for exact counts publish Totals" if least > 1 else ""
        raise ArgumentError(
            f"{where}: {argument}={printed(value)} must be a whole number from {least} to {_MAX_COEFFICIENT}{exact}"
        )
    return number


def read_rule(value: object, where: str, argument: str, words: tuple[str, ...]) -> str:
    """One of the words, each of which means a public function of the count.

    Raises:
        ArgumentError: it is something else.
    """
    if not isinstance(value, str) or value not in words:
        listed = ", ".join(f'"{word}"' for word in words)
        raise ArgumentError(
            f"{where}: {argument}={printed(value)} must be one of {listed}; a rule that draws at random is a release with "
            "noise, not an exact fact"
        )
    return value


def read_coefficients(row: object, columns: tuple[str, ...], name: str) -> tuple[tuple[Cell, int], ...]:
    """The cells with a coefficient other than 0, with it.

    Raises:
        SchemaError: no mapping, cells as in `read_cells`, or no such coefficient.
        ArgumentError: a coefficient that is not an integer of at most 10**9 in size.
    """
    where = f"LinearInvariant '{name}'"
    if not isinstance(row, Mapping):
        raise SchemaError(f"{where}: {printed(row)} must map cells to integers")
    pairs = [(read_cell(cell, columns, where), _integer(value, where)) for cell, value in row.items()]
    _refuse_twice([cell for cell, _ in pairs], where)
    kept = tuple((cell, value) for cell, value in pairs if value)
    if not kept:
        raise SchemaError(f"{where}: has no coefficient other than 0")
    return kept


def _integer(value: object, where: str) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not abs(number) <= _MAX_COEFFICIENT:
        raise ArgumentError(
            f"{where}: coefficient {printed(value)} must be an integer of at most {_MAX_COEFFICIENT} in size"
        )
    return number
