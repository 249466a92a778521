"""Operations on days of the years 1 to 9999."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

from discreet.domain.rowwise.operations import DAY, INTEGER, TEXT, Operation, strict
from discreet.domain.rowwise.tree import Value

__all__ = ["DAYS", "PARTS"]

PARTS = ("year", "quarter", "month", "day", "isodow")
"""The parts of a day that a query can ask for; the days of a week are numbered from Monday, 1, to Sunday, 7."""
_UNITS = ("year", "quarter", "month")


def _quarter(day: dt.date) -> int:
    return (day.month + 2) // 3


def _began(unit: str, day: dt.date) -> dt.date:
    """The first day of the year, quarter or month."""
    months = {"year": 1, "quarter": 3 * _quarter(day) - 2, "month": day.month}
    return dt.date(day.year, months[unit], 1)


def _later(day: dt.date, days: int) -> dt.date | None:
    number = day.toordinal() + days
    return dt.date.fromordinal(number) if 1 <= number <= dt.date.max.toordinal() else None


def _is_unit(values: Sequence[Value]) -> str:
    return "" if values[0] in _UNITS else f"be one of {', '.join(repr(unit) for unit in _UNITS)}"


def _part(name: str, function: Callable[[dt.date], int]) -> Operation:
    return Operation(name, (DAY,), INTEGER, strict(function))


DAYS = (
    _part("year", lambda day: day.year),
    _part("quarter", _quarter),
    _part("month", lambda day: day.month),
    _part("day", lambda day: day.day),
    _part("isodow", lambda day: day.isoweekday()),
    Operation("date_trunc", (TEXT, DAY), DAY, strict(_began), 0, (0,), _is_unit),
    Operation("-", (DAY, DAY), INTEGER, strict(lambda a, b: (a - b).days)),
    Operation("+", (DAY, INTEGER), DAY, strict(_later)),
    Operation("-", (DAY, INTEGER), DAY, strict(lambda day, days: _later(day, -days))),
)
