"""An expression whose types are known, and its value for one row: the meaning that every engine must equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.domain.rowwise.operations import FLOAT, INTEGER, NULL, TEXT, Operation
from discreet.domain.rowwise.registry import OPERATIONS, find_operation
from discreet.domain.rowwise.tokens import wrong
from discreet.domain.rowwise.tree import TYPE_WORDS, Call, Expression, Literal, Name, Value
from discreet.errors import PlanError

__all__ = ["Applied", "Cell", "Constant", "Typed", "infer_types", "value_of"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A value of a type."""

    value: Value
    type: str


@dataclass(frozen=True, slots=True)
class Cell:
    """The cell of a column of the source, as a value of a type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Applied:
    """An operation on values of exactly the types that it takes."""

    operation: Operation
    arguments: tuple[Typed, ...]

    @property
    def type(self) -> str:
        """The type of the value."""
        return self.operation.gives


Typed = Constant | Cell | Applied


def infer_types(expression: Expression, columns: Mapping[str, str]) -> Typed:
    """The expression over a source whose columns have these types of the language.

    Raises:
        PlanError: an operation does not take the types of its arguments; the message names its place.
    """
    found = _infer_type(expression, columns)
    return _as(found, TEXT) if found.type == NULL else found


def value_of(expression: Typed, row: Mapping[str, Value]) -> Value:
    """The value for a row, given as the values of its cells. Never raises."""
    match expression:
        case Constant():
            return expression.value
        case Cell():
            return row[expression.name]
        case Applied():
            return expression.operation.meaning(*(value_of(argument, row) for argument in expression.arguments))


def _infer_type(expression: Expression, columns: Mapping[str, str]) -> Typed:
    if isinstance(expression, Literal):
        return Constant(expression.value, expression.type)
    if isinstance(expression, Name):
        return Cell(expression.name, columns[expression.name])
    given = [_infer_type(argument, columns) for argument in expression.arguments]
    found = find_operation(expression.operation, [argument.type for argument in given])
    if found is None:
        raise _mistaken(expression, [argument.type for argument in given])
    _check_literals(expression, found)
    takes = found.takes_for(len(given)) or ()
    return Applied(found, tuple(_as(argument, type_) for argument, type_ in zip(given, takes, strict=True)))


def _as(argument: Typed, type_: str) -> Typed:
    """The argument as a value of a type that it may have: NULL becomes any, an integer a double."""
    if argument.type == NULL and isinstance(argument, Constant):
        return replace(argument, type=type_)
    if (argument.type, type_) != (INTEGER, FLOAT):
        return argument
    if isinstance(argument, Constant):
        value: Any = argument.value
        return Constant(float(value), FLOAT)
    return Applied(next(one for one in OPERATIONS if (one.name, one.takes) == ("cast float", (INTEGER,))), (argument,))


def _check_literals(call: Call, operation: Operation) -> None:
    given = [call.arguments[place] for place in operation.literals]
    values = [one.value for one in given if isinstance(one, Literal)]
    rule = operation.allows(values) if len(values) == len(given) else "be literals, so that every row has the same"
    if rule:
        places = " and ".join(str(place + 1) for place in operation.literals)
        word = "argument" if len(operation.literals) == 1 else "arguments"
        raise wrong(call.at, f"{call.operation}: {word} {places} must {rule}")


def _mistaken(call: Call, given: Sequence[str]) -> PlanError:
    shown = ", ".join(_word(type_) for type_ in given)
    takes = [", ".join(map(_word, one.takes)) for one in OPERATIONS if one.name == call.operation]
    name = call.operation.upper().replace("CAST ", "CAST … AS ")
    return wrong(call.at, f"{name} does not take ({shown}); it takes ({') or ('.join(takes)}); convert with CAST(… AS type)")


def _word(type_: str) -> str:
    return TYPE_WORDS.get(type_, "NULL")
