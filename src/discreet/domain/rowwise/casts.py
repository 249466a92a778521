"""Conversions from one type to another, null where a value has no counterpart.

A text is read as the cells of a CSV file are: by the same rules for numbers, whole numbers, days and truth values.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from discreet.domain.rowwise.arithmetic import finite, nearest_whole, whole
from discreet.domain.rowwise.operations import BOOLEAN, DAY, FLOAT, INTEGER, TEXT, TYPES, Operation, strict
from discreet.domain.rowwise.tree import Value

__all__ = ["CASTS"]

_NUMBER = re.compile(r" *[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]{1,3})? *")
_WHOLE = re.compile(r" *([+-]?[0-9]{1,19})([.]0*)? *")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _whole_of(written: str) -> int | None:
    found = _WHOLE.fullmatch(written)
    return whole(int(found[1])) if found else None


def _number_of(written: str) -> float | None:
    return finite(float(written)) if _NUMBER.fullmatch(written) else None


def _day_of(written: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(written) if _DAY.fullmatch(written) else None
    except ValueError:
        return None


def _truth_of(written: str) -> bool | None:
    return {"true": True, "false": False}.get(written.lower()) if written.isascii() else None


def _cast(given: str, wanted: str, function: Callable[..., Value]) -> Operation:
    return Operation(f"cast {wanted}", (given,), wanted, strict(function))


CASTS = (
    *(_cast(type_, type_, lambda value: value) for type_ in TYPES),
    _cast(INTEGER, FLOAT, float),
    _cast(FLOAT, INTEGER, nearest_whole),
    _cast(BOOLEAN, INTEGER, int),
    _cast(TEXT, INTEGER, _whole_of),
    _cast(TEXT, FLOAT, _number_of),
    _cast(TEXT, DAY, _day_of),
    _cast(TEXT, BOOLEAN, _truth_of),
    _cast(INTEGER, TEXT, str),
    _cast(BOOLEAN, TEXT, lambda value: str(value).lower()),
    _cast(DAY, TEXT, dt.date.isoformat),
)
"""A double has no one text in all systems, and so is not converted to one."""
