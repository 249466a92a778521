"""A condition that somebody wrote as text, "age >= 15", and the nearest way to say it: the bounds that it leaves."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from discreet.domain.columns import Category, Date, Number
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError
from discreet.exact.numbers import exact, text

__all__ = ["Condition", "nearest_condition"]

_FORM = re.compile(r"\s*(?P<column>.+?)\s*(?P<sign>>=|<=|==|=|>|<)\s*(?P<value>[^<>=]+?)\s*")
_LONGEST = 200
_SIGNS: Mapping[str, Callable[[int, int, Fraction], tuple[int, int]]] = {
    ">=": lambda _low, high, at: (ceil(at), high),
    ">": lambda _low, high, at: (floor(at) + 1, high),
    "<=": lambda low, _high, at: (low, floor(at)),
    "<": lambda low, _high, at: (low, ceil(at) - 1),
    "=": lambda _low, _high, at: (ceil(at), floor(at)),
    "==": lambda _low, _high, at: (ceil(at), floor(at)),
}
"""The lowest and the highest code that a comparison leaves, from the codes of the column and the place of its value."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one column, as a program and as a plan file write it."""

    column: str
    python: str
    toml: str


def nearest_condition(written: str, schema: Schema) -> Condition | None:
    """The meaning of a text such as "age >= 15" for a column of the schema; None where that is not certain."""
    found = _FORM.fullmatch(written) if len(written) <= _LONGEST else None
    if found is None or found["column"] not in schema.columns:
        return None
    name, column, value = found["column"], schema.columns[found["column"]], found["value"].strip("'\"")
    if isinstance(column, Category):
        category = next((one for one in column.values if str(one) == value), None)
        if category is None or found["sign"] not in {"=", "=="}:
            return None
        return Condition(name, f"[{category!r}]", f"[{json.dumps(category, ensure_ascii=False)}]")
    place = _place(column, value)
    if place is None:
        return None
    low, high = _SIGNS[found["sign"]](0, column.size - 1, place)
    if not 0 <= low <= high < column.size:
        return None
    ends = [_show_code(column, code) for code in (low, high)]
    return Condition(name, f"({', '.join(ends)})", f"[{', '.join(ends)}]")


def _place(column: Number | Date, value: str) -> Fraction | None:
    """The place of a value on the grid of a column, in steps."""
    try:
        if isinstance(column, Date):
            return Fraction((dt.date.fromisoformat(value) - column.first).days)
        return (exact(value, "value") - column.lower) / column.step
    except (ArgumentError, ValueError, ZeroDivisionError):
        return None


def _show_code(column: Number | Date, code: int) -> str:
    value = column.value(code)
    if not isinstance(value, Fraction):
        return f'"{value}"'
    shown = text(value)
    return f'"{shown}"' if "/" in shown else shown
