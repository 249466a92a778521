"""Windows of a calendar: every day is in exactly one of them, at the ends of months, quarters, years and weeks too."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.exact.windows import Calendar, calendar_kinds

DAYS = st.dates(dt.date(1899, 1, 1), dt.date(2102, 12, 31))


@given(each=st.sampled_from(calendar_kinds()), first=DAYS, length=st.integers(0, 900), place=st.integers(0, 900))
def test_every_day_is_in_one_window(each: str, first: dt.date, length: int, place: int) -> None:
    last = first + dt.timedelta(days=length)
    day = first + dt.timedelta(days=min(place, length))
    calendar = Calendar(each, first, last)
    starts = calendar.starts()
    found = [name for name, start in calendar.by_name().items() if start <= day < calendar.end(start)]
    assert found == [calendar.name_of(day)]
    assert starts[0] <= first < calendar.end(starts[0])
    assert [calendar.end(start) for start in starts[:-1]] == [*starts[1:]]
    assert starts[-1] <= last < calendar.end(starts[-1])
    assert sorted(calendar.names()) == [*calendar.names()]  # names are in the order of time
    assert len(set(calendar.names())) == len(starts)


@pytest.mark.parametrize(
    ("each", "day", "name", "start", "end"),
    [
        ("day", "2024-02-29", "2024-02-29", "2024-02-29", "2024-03-01"),
        ("week", "2027-01-03", "2026-W53", "2026-12-28", "2027-01-04"),
        ("week", "2027-01-04", "2027-W01", "2027-01-04", "2027-01-11"),
        ("month", "2024-02-29", "2024-02", "2024-02-01", "2024-03-01"),
        ("month", "2025-12-31", "2025-12", "2025-12-01", "2026-01-01"),
        ("quarter", "2025-03-31", "2025-Q1", "2025-01-01", "2025-04-01"),
        ("quarter", "2025-04-01", "2025-Q2", "2025-04-01", "2025-07-01"),
        ("quarter", "2025-12-31", "2025-Q4", "2025-10-01", "2026-01-01"),
        ("year", "2025-12-31", "2025", "2025-01-01", "2026-01-01"),
    ],
)
def test_the_ends_of_windows(each: str, day: str, name: str, start: str, end: str) -> None:
    calendar = Calendar(each, *[dt.date.fromisoformat(day)] * 2)
    assert calendar.by_name() == {name: dt.date.fromisoformat(start)}
    assert calendar.end(dt.date.fromisoformat(start)) == dt.date.fromisoformat(end)


@pytest.mark.parametrize(
    ("each", "first", "last", "said"),
    [
        ("fortnight", "2025-01-01", "2025-12-31", "must be one of day, week"),
        (7, "2025-01-01", "2025-12-31", "must be one of"),
        ("month", "2025-02-01", "2025-01-01", "the first not after the last"),
        ("day", "2000-01-01", "2025-12-31", "more than 4000"),
        ("year", "2025-01-01", "9999-12-31", "years 2 to 9998"),
        ("week", "0001-01-01", "0003-01-01", "years 2 to 9998"),
    ],
)
def test_other_windows_are_refused(each: object, first: str, last: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        Calendar(each, dt.date.fromisoformat(first), dt.date.fromisoformat(last))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        Calendar("month", dt.datetime(2025, 1, 1), dt.date(2025, 1, 2))  # noqa: DTZ001
