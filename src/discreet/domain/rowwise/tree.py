"""The tree of a query, and its one canonical text.

The canonical text is what plans, ledgers and approvals hold. It has no spaces, comments or spellings to choose, and reads
back as the same tree.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from discreet.errors import PlanError, did_you_mean, printed

__all__ = ["TYPE_WORDS", "Call", "Expression", "Item", "Literal", "Name", "Select", "Value", "names_in", "write_expression"]

Value = bool | int | float | str | dt.date | None
"""A value of the language: integers have 64 bits, doubles are finite, days have the years 1 to 9999."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that the query states; `at` is its place in the text."""

    value: Value
    type: str
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A column of the source, by its exact name."""

    name: str
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """An operation on expressions, by the name that the registry has for it."""

    operation: str
    arguments: tuple[Expression, ...]
    at: str = field(default="", compare=False)


Expression = Literal | Name | Call


@dataclass(frozen=True, slots=True)
class Item:
    """A column of the result."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Select:
    """A row-wise SELECT: named expressions, and with `star` all columns of the source besides.

    Every row of the source gives one row, which depends on nothing else.
    """

    items: tuple[Item, ...]
    star: bool = False

    def expression(self, name: str) -> Expression | None:
        """The expression of the column of this name; None where the query does not give it."""
        found = next((item.expression for item in self.items if item.name == name), None)
        return Name(name) if found is None and self.star else found

    def require(self, name: str) -> None:
        """Checks that the query gives a column of this name, which a schema declares.

        Raises:
            PlanError: it does not.
        """
        if self.expression(name) is None:
            known = did_you_mean(name, [item.name for item in self.items])
            raise PlanError(f"query: has no column {printed(name)}, which the schema declares{known}")

    def derived(self, name: str) -> str | None:
        """The canonical text of a column; None for one that is a column of the source under its own name."""
        found = self.expression(name)
        return None if found is None or found == Name(name) else write_expression(found)

    def __str__(self) -> str:
        items = [f"{write_expression(item.expression)} AS {_quote(item.name)}" for item in self.items]
        return f"SELECT {', '.join([*(['*'] if self.star else []), *items])} FROM source"


def names_in(expression: Expression) -> Iterator[Name]:
    """The columns of the source that an expression looks at, in their order."""
    if isinstance(expression, Name):
        yield expression
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from names_in(argument)


# The canonical text ---------------------------------------------------------------------------------------------------

TYPE_WORDS = {"integer": "BIGINT", "float": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN", "date": "DATE"}
"""The types of the language as queries write them."""

_INFIX = {"+", "-", "*", "/", "//", "%", "=", "<>", "<", "<=", ">", ">=", "||", "like", "and", "or"}


def write_expression(expression: Expression) -> str:
    """The canonical text of an expression."""
    if isinstance(expression, Literal):
        return _literal(expression.value)
    if isinstance(expression, Name):
        return _quote(expression.name)
    return _call(expression.operation, [write_expression(argument) for argument in expression.arguments])


def _literal(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return "NULL" if value is None else str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"DATE '{value.isoformat()}'" if isinstance(value, dt.date) else repr(value)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _call(operation: str, parts: Sequence[str]) -> str:
    if operation in _INFIX:
        return f"({f' {operation.upper()} '.join(parts)})"
    if operation == "negative":
        return f"(- ({parts[0]}))"  # without parentheses a number would have the sign
    if operation == "not":
        return f"(NOT {parts[0]})"
    if operation == "case":
        *branches, last = parts
        pairs = zip(branches[::2], branches[1::2], strict=True)
        return f"CASE {' '.join(f'WHEN {when} THEN {then}' for when, then in pairs)} ELSE {last} END"
    if operation == "in":
        return f"({parts[0]} IN ({', '.join(parts[1:])}))"
    if operation == "between":
        return f"({parts[0]} BETWEEN {parts[1]} AND {parts[2]})"
    if operation == "is null":
        return f"({parts[0]} IS NULL)"
    if operation.startswith("cast "):
        return f"CAST({parts[0]} AS {TYPE_WORDS[operation.removeprefix('cast ')]})"
    return f"{operation}({', '.join(parts)})"
