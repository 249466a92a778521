"""Conditions in the three-valued logic of SQL, and choices between values. Texts are compared by their code points."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from discreet.domain.rowwise.operations import BOOLEAN, ORDERED, TYPES, Operation, strict
from discreet.domain.rowwise.tree import Value

__all__ = ["CONDITIONS"]

_EQUAL = {"=": operator.eq, "<>": operator.ne}
_BEFORE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _and(*values: Value) -> bool | None:
    if any(value is False for value in values):
        return False
    return None if any(value is None for value in values) else True


def _or(*values: Value) -> bool | None:
    if any(value is True for value in values):
        return True
    return None if any(value is None for value in values) else False


def _in(*values: Value) -> bool | None:
    """True if the first of the values is one of the others."""
    wanted, *listed = values
    return _or(*(None if wanted is None or one is None else one == wanted for one in listed))


def _between(value: Any, low: Any, high: Any) -> bool | None:
    above = None if value is None or low is None else low <= value
    return _and(above, None if value is None or high is None else value <= high)


def _case(*values: Value) -> Value:
    """The value behind the first condition that is true; otherwise the last one."""
    pairs = zip(values[:-1:2], values[1:-1:2], strict=True)
    return next((then for when, then in pairs if when is True), values[-1])


def _coalesce(*values: Value) -> Value:
    return next((value for value in values if value is not None), None)


def _nullif(value: Value, other: Value) -> Value:
    return None if value is not None and value == other else value


def _compare_by(name: str, type_: str, function: Callable[[Any, Any], bool]) -> Operation:
    return Operation(name, (type_, type_), BOOLEAN, strict(function))


CONDITIONS = (
    *(_compare_by(name, type_, function) for name, function in _EQUAL.items() for type_ in TYPES),
    *(_compare_by(name, type_, function) for name, function in _BEFORE.items() for type_ in ORDERED),
    *(Operation("between", (type_, type_, type_), BOOLEAN, _between) for type_ in ORDERED),
    *(Operation("in", (type_, type_), BOOLEAN, _in, repeats=1) for type_ in TYPES),
    *(Operation("is null", (type_,), BOOLEAN, lambda value: value is None) for type_ in TYPES),
    Operation("and", (BOOLEAN, BOOLEAN), BOOLEAN, _and, repeats=1),
    Operation("or", (BOOLEAN, BOOLEAN), BOOLEAN, _or, repeats=1),
    Operation("not", (BOOLEAN,), BOOLEAN, strict(operator.not_)),
    *(Operation("case", (BOOLEAN, type_, type_), type_, _case, repeats=2) for type_ in TYPES),
    *(Operation("coalesce", (type_, type_), type_, _coalesce, repeats=1) for type_ in TYPES),
    *(Operation("nullif", (type_, type_), type_, _nullif) for type_ in TYPES),
)
