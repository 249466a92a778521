"""Where bins of one width begin: steps of a grid, numbers of days, and months, quarters and years of the calendar."""

from __future__ import annotations

import datetime as dt

from discreet.domain.columns import Date, Number
from discreet.errors import ArgumentError, PlanError, did_you_mean, printed
from discreet.exact.numbers import Amount, exact, text

__all__ = ["step_codes"]

_MOST = 1_000_000
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def step_codes(column: Number | Date, step: Amount, ends: tuple[int, int], where: str) -> list[int]:
    """The codes at which the bins of one step begin, from the lower of `ends`; none is above the other.

    Args:
        column: the column that is cut.
        step: an amount, or a word for a date.
        ends: the lowest and the highest code that the column can have.
        where: how errors begin.

    Raises:
        PlanError: a step that is not a multiple of the grid, not positive, a word that is unknown, or too many bins.
    """
    if isinstance(step, str) and (step in _MONTHS or step[:1].isalpha()):
        return _calendar(column, step, ends, where)
    try:
        width = exact(step, "step") / (column.step if isinstance(column, Number) else 1)
    except ArgumentError as wrong:
        raise PlanError(f"{where}: {wrong}") from None
    if width <= 0 or width.denominator != 1:
        grid = f"multiple of the column's step {text(column.step)}" if isinstance(column, Number) else "whole number of days"
        words = "" if isinstance(column, Number) else ', or "month", "quarter" or "year"'
        raise PlanError(f"{where}: step={printed(step)} must be a positive {grid}{words}")
    if (ends[1] - ends[0]) // width >= _MOST:
        raise PlanError(f"{where}: step={printed(step)} makes more than {_MOST} bins; take a wider step")
    return list(range(ends[0], ends[1] + 1, int(width)))


def _calendar(column: Number | Date, word: str, ends: tuple[int, int], where: str) -> list[int]:
    """The lowest day, and the first day of each month, quarter or year after it."""
    if word not in _MONTHS:
        raise PlanError(f"{where}: step={printed(word)} is unknown{did_you_mean(word, _MONTHS)}")
    if not isinstance(column, Date):
        raise PlanError(f"{where}: step={printed(word)} is for dates; give a number")
    last, months = column.value(ends[1]), _MONTHS[word]
    first = column.value(ends[0])
    number = (first.year * 12 + first.month - 1) // months * months + months
    codes = [ends[0]]
    while number // 12 <= last.year and (start := dt.date(number // 12, number % 12 + 1, 1)) <= last:
        codes.append((start - column.first).days)
        number += months
    return codes
