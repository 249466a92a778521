"""The windows of a calendar: half-open ranges of days with names, in the order of time.

A day here is a calendar day as the schema reads it. There is neither a clock nor a time zone in it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from discreet.errors import ArgumentError, did_you_mean, printed

__all__ = ["Calendar", "calendar_kinds"]

_DAY = dt.timedelta(days=1)
_MOST_WINDOWS = 4000  # ten years of days; each of them can be named in an entry


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a day finds the first day of its window, the first day of the next one, and the name of the window."""

    start: Callable[[dt.date], dt.date]
    following: Callable[[dt.date], dt.date]
    name: Callable[[dt.date], str]


def _later(day: dt.date, months: int) -> dt.date:
    """The first day of the month that is so many months after the month of a day."""
    whole = day.year * 12 + day.month - 1 + months
    return dt.date(whole // 12, whole % 12 + 1, 1)


def _week_name(day: dt.date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04d}-W{week:02d}"


_KINDS: Mapping[str, _Kind] = {
    "day": _Kind(lambda day: day, lambda day: day + _DAY, dt.date.isoformat),
    "week": _Kind(lambda day: day - day.weekday() * _DAY, lambda day: day + 7 * _DAY, _week_name),
    "month": _Kind(lambda day: day.replace(day=1), lambda day: _later(day, 1), lambda day: day.isoformat()[:7]),
    "quarter": _Kind(
        lambda day: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
        lambda day: _later(day, 3),
        lambda day: f"{day.year:04d}-Q{(day.month + 2) // 3}",
    ),
    "year": _Kind(
        lambda day: day.replace(month=1, day=1), lambda day: dt.date(day.year + 1, 1, 1), lambda day: f"{day.year:04d}"
    ),
}


def calendar_kinds() -> tuple[str, ...]:
    """The words for the lengths of windows, the shortest first. A week begins on Monday (ISO 8601)."""
    return tuple(_KINDS)


@dataclass(frozen=True, slots=True)
class Calendar:
    """The windows that have a day from `first` to `last`, both included, one after the other and without gaps.

    A window has its first day and every day before the first day of the next one. The windows are whole: `first` and `last`
    need not be at the ends of theirs.

    Args:
        each: "day", "week", "month", "quarter" or "year".
        first: the first day.
        last: the last day.

    Raises:
        ArgumentError: another word, `first` after `last`, windows outside the years 1 to 9999, or more than 4,000 of them.
    """

    each: str
    first: dt.date
    last: dt.date

    def __post_init__(self) -> None:
        if not isinstance(self.each, str) or self.each not in _KINDS:
            known = did_you_mean(self.each, _KINDS) if isinstance(self.each, str) else ""
            raise ArgumentError(f"each={printed(self.each)}: must be one of {', '.join(_KINDS)}{known}")
        if type(self.first) is not dt.date or type(self.last) is not dt.date or self.first > self.last:
            raise ArgumentError("windows: need a first and a last day, the first not after the last")
        if self.last.year >= dt.MAXYEAR or self.first.year <= dt.MINYEAR:
            raise ArgumentError("windows: the days of the column must lie in the years 2 to 9998")
        if len(self.starts()) > _MOST_WINDOWS:
            raise ArgumentError(
                f"each={self.each}: makes more than {_MOST_WINDOWS} windows of the column's days; choose longer windows, or "
                "narrower bounds of the column"
            )

    def starts(self) -> tuple[dt.date, ...]:
        """The first day of each window, in order. The last window ends before the `end` of it."""
        kind, found = _KINDS[self.each], list[dt.date]()
        start = kind.start(self.first)
        while start <= self.last and len(found) <= _MOST_WINDOWS:
            found.append(start)
            start = kind.following(start)
        return tuple(found)

    def names(self) -> tuple[str, ...]:
        """The names of the windows, in order: "2026-03-05", "2026-W10", "2026-03", "2026-Q1" or "2026"."""
        return tuple(map(_KINDS[self.each].name, self.starts()))

    def by_name(self) -> dict[str, dt.date]:
        """The first day of each window, by the name of the window, in order."""
        return dict(zip(self.names(), self.starts(), strict=True))

    def end(self, start: dt.date) -> dt.date:
        """The first day after the window that begins at `start`."""
        return _KINDS[self.each].following(start)

    def name_of(self, day: dt.date) -> str:
        """The name of the window that has a day; it need not be one between `first` and `last`."""
        kind = _KINDS[self.each]
        return kind.name(kind.start(day))
