"""The columns that a row-wise query gives: their types over a source, and their meaning for one row.

An engine that computes them is `Selecting`. It never sees the text of a query, only expressions whose types are known here.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Protocol, runtime_checkable

from discreet.domain.rowwise.operations import DAY, FLOAT, INTEGER, TEXT
from discreet.domain.rowwise.registry import find_operation
from discreet.domain.rowwise.tree import Name, Select, Value, names_in
from discreet.domain.rowwise.typed import Applied, Cell, Typed, infer_types, value_of
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType, Header
from discreet.engines.sql import PARTS, part_name
from discreet.errors import InternalError, PlanError, SourceError, did_you_mean, printed

__all__ = ["Rowwise", "Selecting", "cell_value", "columns_read", "derived_rows", "over_parts", "rowwise"]

_TYPES = {
    **{kind: kind for kind in ("integer", "float", "text", "boolean", "date")},
    "decimal": "float",
    "timestamp": "date",
}
"""The type of the language that a cell has in an expression, by the kind of its column."""


def _type_of(kind: ColumnType) -> str | None:
    """The type of a cell; where each cell has a kind of its own, the one that the declaration of its column names."""
    return _TYPES.get(kind.usual if kind.kind == "any" else kind.kind)


_GIVEN = {"integer": "BIGINT", "float": "DOUBLE", "text": "text", "boolean": "BOOLEAN", "date": "DATE"}


@dataclass(frozen=True, slots=True)
class Rowwise:
    """The columns of a query over a source: `taken` as they are, by their names there, and `computed`.

    Args:
        source: the columns of the source, by name, with their types.
        taken: for a column of the result the column of the source that it is.
        computed: for a column of the result its expression.
        header: the types of the result, as an engine has them for its source.
    """

    source: Header
    taken: Mapping[str, str] = field(default_factory=dict)
    computed: Mapping[str, Typed] = field(default_factory=dict)
    header: Header = field(default_factory=dict)

    def reads(self, names: Sequence[str]) -> list[str]:
        """The columns of the source that these columns of the result depend on, each once."""
        found = [self.taken[name] for name in names if name in self.taken]
        for name in names:
            found += [cell.name for cell in cells_of(self.computed[name])] if name in self.computed else []
        return list(dict.fromkeys(found))


@runtime_checkable
class Selecting(Protocol):
    """An engine that can compute the columns of a row-wise query, and then has these columns instead of its own."""

    @property
    def header(self) -> Header:
        """As of every engine."""

    def select(self, chosen: Rowwise) -> None:
        """From now on the columns are these. To be called once, before anything is read.

        Raises:
            SourceError: a column cannot be used in a query.
        """


def columns_read(schema: Schema) -> list[str]:
    """The columns of the source that the schema depends on, each once."""
    if schema.query is None:
        return list(schema.columns)
    expressions = [schema.query.expression(name) for name in schema.columns]
    return list(dict.fromkeys(cell.name for one in expressions if one is not None for cell in names_in(one)))


def rowwise(query: Select, names: Sequence[str], source: Header, shown: str) -> Rowwise:
    """The columns of these names, over a source that messages call `shown`.

    Raises:
        SourceError: a column is not in the source or has a type without values in the language, two differ only in case, or
            an operation does not take its arguments.
    """
    found = {name: expression for name in names if (expression := query.expression(name)) is not None}
    if query.star:
        _check_twice(query, source)
    read = list(dict.fromkeys(cell.name for one in found.values() for cell in names_in(one)))
    folded = {name.casefold(): name for name in read}
    other = next((name for name in read if folded[name.casefold()] != name), None)
    if other is not None:
        raise SourceError(f"query: the columns '{other}' and '{folded[other.casefold()]}' differ only in case; rename one")
    for name in read:
        if name not in source:
            raise SourceError(
                f"query: column '{name}' is not in {shown}, where names are compared exactly{did_you_mean(name, source)}"
            )
    taken = {name: one.name for name, one in found.items() if isinstance(one, Name)}
    computed = {name: _typed(name, one, source) for name, one in found.items() if not isinstance(one, Name)}
    header = {name: source[place] for name, place in taken.items()}
    header |= {name: ColumnType(one.type, _GIVEN[one.type]) for name, one in computed.items()}
    return Rowwise(source, taken, computed, {name: header[name] for name in found})


def _check_twice(query: Select, source: Header) -> None:
    """Checks that no column of the query has the name of one that the star gives already."""
    there = {name.casefold() for name in source}
    for item in query.items:
        if item.name.casefold() in there:
            raise SourceError(
                f"query: the column '{item.name}' is in the source already, and * gives it; choose another name, or name "
                "the columns one by one"
            )


def _typed(name: str, expression: Any, source: Header) -> Typed:
    types = {cell.name: _type_of(source[cell.name]) for cell in names_in(expression)}
    for cell in names_in(expression):
        if types[cell.name] is None:
            raise SourceError(
                f"query: {cell.at}: column '{cell.name}' holds {source[cell.name].shown}, which has no operations; take it "
                "as it is, or give the column another type in the source"
            )
    try:
        return infer_types(expression, {name: type_ for name, type_ in types.items() if type_ is not None})
    except PlanError as wrong:
        raise SourceError(f"{wrong} (column {printed(name)})") from None


def cells_of(expression: Typed) -> Iterator[Cell]:
    """The cells of the source that an expression looks at."""
    if isinstance(expression, Cell):
        yield expression
    if isinstance(expression, Applied):
        for argument in expression.arguments:
            yield from cells_of(argument)


# The meaning ------------------------------------------------------------------------------------------------------------


def derived_rows(chosen: Rowwise, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The result of a query, one row after the other: the meaning that every engine must equal."""
    return [_derive_row(chosen, row) for row in rows]


def _derive_row(chosen: Rowwise, row: Mapping[str, Any]) -> dict[str, Any]:
    usable = {name: kind for name, kind in chosen.source.items() if _type_of(kind) is not None}
    cells = {name: cell_value(kind, row[name]) for name, kind in usable.items()}
    computed = {name: value_of(expression, cells) for name, expression in chosen.computed.items()}
    return {name: computed[name] if name in computed else row[chosen.taken[name]] for name in chosen.header}


def cell_value(kind: ColumnType, value: Any) -> Value:
    """The value that a cell of a column of this type has in an expression; null where the language has none. Never raises.

    Integers beyond 64 bits, NaN and infinities, texts that are not UTF-8 (here with surrogates), and days outside of the
    years 1 to 9999 are null. A decimal is the nearest double, a timestamp its day. Where each cell has a kind of its own, a
    cell of another kind than its column declares is null, but an integer among doubles is a double.
    """
    if value is None:
        return None
    if kind.kind == "any":
        return _usual_value(kind.usual, value)
    if kind.kind == "integer":
        return value if -(2**63) <= value < 2**63 else None
    if kind.kind in {"float", "decimal"}:
        number = float(value) if not isinstance(value, Decimal) or value.is_finite() else math.nan
        return number if math.isfinite(number) else None
    if kind.kind == "text":
        return None if any("\ud800" <= character <= "\udfff" for character in value) else str(value)
    if kind.kind == "timestamp":
        return value.date() if isinstance(value, dt.datetime) else value
    found: Value = value
    return found


def _usual_value(usual: str, value: Any) -> Value:
    parts = {part: value if type(value) is kind else None for part, kind in _KINDS_OF_PARTS.items()}
    cells = {part_name("", part): cell_value(kind, parts[part]) for part, kind in PARTS.items()}
    return value_of(_OF_PARTS[usual](""), cells)


# Columns in parts -------------------------------------------------------------------------------------------------------

_KINDS_OF_PARTS = {"integer": int, "float": float, "text": str}


def over_parts(chosen: Rowwise) -> Rowwise:
    """The same query over a source in which each column, of kind "any", is its parts (`sql.part_name`).

    A column that is taken as it is has parts again; one that is computed has not.
    """
    source = {part_name(name, part): kind for name in chosen.source for part, kind in PARTS.items()}
    taken = {part_name(name, part): part_name(place, part) for name, place in chosen.taken.items() for part in PARTS}
    computed = {name: _over_parts(expression, chosen.source) for name, expression in chosen.computed.items()}
    header = {name: source[place] for name, place in taken.items()}
    return Rowwise(source, taken, computed, header | {name: chosen.header[name] for name in computed})


def _over_parts(expression: Typed, source: Header) -> Typed:
    if isinstance(expression, Cell):
        return _OF_PARTS[source[expression.name].usual](expression.name)
    if isinstance(expression, Applied):
        return replace(expression, arguments=tuple(_over_parts(argument, source) for argument in expression.arguments))
    return expression


def _part(name: str, type_: str) -> Cell:
    return Cell(part_name(name, type_), type_)


def _apply(operation: str, *arguments: Typed) -> Typed:
    found = find_operation(operation, [argument.type for argument in arguments])
    if found is None:
        raise InternalError(f"there is no operation {operation}")
    return Applied(found, arguments)


def _double(name: str) -> Typed:
    return _apply("coalesce", _part(name, FLOAT), _apply("cast float", _part(name, INTEGER)))


_OF_PARTS: Mapping[str, Callable[[str], Typed]] = {
    "integer": lambda name: _part(name, INTEGER),
    "float": _double,
    "text": lambda name: _part(name, TEXT),
    "date": lambda name: _apply(f"cast {DAY}", _part(name, TEXT)),
}
"""The value of a cell, from the parts of its column, by what the declaration of the column leads one to expect."""
