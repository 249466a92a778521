"""The tables of noisy numbers, for each number of a statistic and for further frames, with intervals and bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, repeat
from math import inf
from typing import Any

from discreet.domain.about import About
from discreet.exact.figures import NO_NUMBER, decimals_for, name, outwards
from discreet.pages.report.derived import derived_words
from discreet.pages.report.words import drawn_words, kept_words, title_words
from discreet.pages.words import Words
from discreet.releases.frames import POPULATION, further_frames, value_columns
from discreet.releases.labelled import apply_words, title_of, unit_of
from discreet.releases.worded import CONSISTENT, QUALITY
from discreet.statistics.agreeing_areas import AgreeingAreas
from discreet.statistics.count_tables import Tables
from discreet.statistics.other_words import EARLIER
from discreet.statistics.registry import by_word

__all__ = ["MOST_BARS", "MOST_ROWS", "Bar", "NumberTable", "Row", "tables_of"]

MOST_ROWS = 10_000
"""A table shows at most this many rows; the files next to the page have all of them."""

_SEVERAL = (Tables.word, AgreeingAreas.word, *EARLIER)
"""The statistics with a frame for each of several tables, of numbers of rows."""

MOST_BARS = 1_000
"""Beyond this many rows nobody looks at bars, and they would make the page slow."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A value and its interval on the scale of its table, in thousandths of the width."""

    left: int
    width: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Row:
    """One group: its labels, the value, the interval, perhaps a bar, and perhaps the class of its quality."""

    labels: tuple[str, ...]
    value: str
    interval: str
    bar: Bar | None
    flag: str = ""


@dataclass(frozen=True, slots=True)
class NumberTable:
    """One number for every group.

    Args:
        title: the statistic in words.
        column: the name of its column in the files.
        view: what kind of number it is, such as "unbiased".
        groups: the headings of the labels.
        rows: the groups; can be read once.
        size: the number of groups.
        omitted: the number of groups that are not shown, if any.
        scale: the ends of the bars, if there are any.
        kept: whether counts add up to the exact totals, if there are any.
        flagged: whether the rows have classes of quality.
        by: the columns of the groups.
        count: `size` as a number.
        values: the numbers of the rows; None where there is none.
        family: what subtotals must have in common with it: "rows" for counts of rows, the name of the statistic for the
            tables of one; empty where nothing adds up.
    """

    title: str
    column: str
    view: str
    groups: tuple[str, ...]
    rows: Iterator[Row]
    size: str
    omitted: str
    scale: tuple[str, str] | None
    kept: str
    flagged: bool = False
    by: tuple[str, ...] = ()
    family: str = ""
    count: int = 0
    values: tuple[float | None, ...] = ()


def tables_of(document: Mapping[str, Any], about: About, words: Words) -> Iterator[NumberTable]:
    """The tables of the statistics in their order, then the tables of the frames.

    Raises:
        KeyError: a statistic of a known kind has no numbers.
    """
    columns = {column["name"]: column["values"] for column in document["columns"]}
    labels = [group["column"] for group in document["plan"]["group_by"]]
    frames = further_frames(document)
    for statistic in document["statistics"]:
        for column, part in _parts_of(statistic, columns, {frame["name"] for frame in frames}).items():
            own = about.statistic(column).label or title_words(apply_words(statistic, about), part)
            table = _table(own, column, columns, labels, (statistic, about, words))
            if part == POPULATION:
                table = replace(table, kept=drawn_words(statistic, words))
            every = len(columns[column]) if "table" not in document else document["table"]["rows"]
            yield table if "table" not in document else _draw_beginning(table, every, len(columns[column]), words)
    for frame in frames:
        yield from _frame_tables(frame, document, about, words)


def _draw_beginning(table: NumberTable, every: int, shown: int, words: Words) -> NumberTable:
    """The table of a release whose document has only the first rows."""
    size = words.many("report.numbers.groups", every)
    return replace(table, size=size, count=every, omitted=words.number(every - shown) if every > shown else "")


def _parts_of(statistic: Mapping[str, Any], columns: Mapping[str, Any], frames: set[str]) -> dict[str, str]:
    """The columns with the numbers of a statistic, each with the words that distinguish it; none where a frame has them."""
    own = statistic["name"]
    expected = value_columns(statistic)
    if all(column in columns for column in expected):
        return expected
    if statistic["statistic"] in by_word() and not any(frame == own or frame.startswith(f"{own}_") for frame in frames):
        raise KeyError(own)
    return {column: "" for column in columns if column.startswith(f"{own}_") and f"{column}_low" in columns}


def _frame_tables(
    frame: Mapping[str, Any], document: Mapping[str, Any], about: About, words: Words
) -> Iterator[NumberTable]:
    """A table for each number of a frame. Numbers are the columns with intervals, or the last one; the others are labels."""
    if "derived" in frame:
        yield from _derived_tables(frame, document, about, words)
        return
    statistics = document["statistics"]
    columns = {column["name"]: column["values"] for column in frame["columns"]}
    numbers = [column for column in columns if f"{column}_low" in columns and f"{column}_high" in columns]
    numbers = numbers or list(columns)[-1:]
    ends = {f"{column}{end}" for column in numbers for end in ("", "_low", "_high", QUALITY)}
    labels = [column for column in columns if column not in ends]
    asked = next((one for one in statistics if one["name"] == frame["name"]), None)
    if asked is None or asked["statistic"] in _SEVERAL:
        asked = _tables_of_frame(frame, statistics)
    title = name(frame["name"]) if asked is None else title_words(apply_words(asked, about))
    if asked is not None and "tables" in asked:
        ways = " × ".join(title_of(about, label) for label in labels if not label.endswith(CONSISTENT))
        title = words("report.numbers.by", title=words.said(title), ways=ways) if ways else title
    title = about.statistic(frame["name"]).label or title
    told = {key: frame[key] for key in ("view", "totals") if key in frame}
    for column in numbers:
        yield _table(title, column, columns, labels, ({**(asked or {}), **told}, about, words))


def _derived_tables(
    frame: Mapping[str, Any], document: Mapping[str, Any], about: About, words: Words
) -> Iterator[NumberTable]:
    """A table for each number of what is derived, with a sentence on what it is made of."""
    columns = {column["name"]: column["values"] for column in frame["columns"]}
    numbers = [column for column in columns if f"{column}_low" in columns and f"{column}_high" in columns]
    ends = {f"{column}{end}" for column in numbers for end in ("", "_low", "_high", QUALITY)}
    labels = [column for column in columns if column not in ends]
    for place, column in enumerate(numbers):
        title = about.statistic(column).label or name(column)
        table = _table(title, column, columns, labels, ({}, about, words))
        yield replace(table, view=words("report.derived.view"), kept=derived_words(frame, place, (document, about, words)))


def _tables_of_frame(frame: Mapping[str, Any], statistics: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The statistic with several frames to which this one belongs, with the title of each: a number of rows."""
    for one in statistics:
        if one["statistic"] in _SEVERAL and f"{frame['name']}_".startswith(f"{one['name']}_"):
            return {**one, "statistic": "count", "column": None}
    return None


def _table(
    title: str,
    column: str,
    columns: Mapping[str, Any],
    labels: Sequence[str],
    told: tuple[Mapping[str, Any], About, Words],
) -> NumberTable:
    statistic, about, words = told
    by = tuple(label for label in labels if label != f"{column}{CONSISTENT}")
    values, flags = columns[column], columns.get(f"{column}{QUALITY}")
    ends = values, columns.get(f"{column}_low", ()), columns.get(f"{column}_high", ())
    size, known = len(values), _is_known(*ends)
    scale = _scale(*ends) if known and size <= MOST_BARS else None
    decimals = _decimals(*ends) if known else 0
    shown = words.said(title)
    ends_of = ("", "") if scale is None else outwards(*scale, decimals)
    parts = [_cells(columns, label) for label in labels]
    groups = zip(*parts, strict=True) if labels else repeat((words("report.numbers.all"),), size)
    return NumberTable(
        title=f"{shown} ({unit})" if (unit := unit_of(about, column, statistic)) else shown,
        column=name(column),
        view=words.said(name(statistic.get("view", ""))),
        kept=kept_words(statistic, words),
        groups=tuple(title_of(about, label) for label in labels) or (words("report.numbers.group"),),
        rows=_rows(groups, ends, (decimals, scale), flags, words) if known else _plain_rows(groups, values, words),
        flagged=flags is not None,
        by=by,
        family=_family(statistic),
        count=size,
        values=tuple(values) if known and size <= MOST_ROWS else (),
        size=words.many("report.numbers.groups", size),
        omitted=words.number(size - MOST_ROWS) if size > MOST_ROWS else "",
        scale=None if scale is None else (words.figures(ends_of[0]), words.figures(ends_of[1])),
    )


def _cells(columns: Mapping[str, Any], label: str) -> Sequence[Any]:
    """The labels of a column; of counts that agree with other tables, "–" for one that is left out."""
    if not label.endswith(CONSISTENT):
        return list(columns[label])
    return [NO_NUMBER if value is None else value for value in columns[label]]


def _family(statistic: Mapping[str, Any]) -> str:
    """The facts that subtotals of its numbers share with them."""
    if "tables" in statistic:
        return str(statistic["name"])
    return "rows" if statistic.get("statistic") == "count" and statistic.get("column") is None else ""


def _is_known(values: Sequence[Any], lows: Sequence[Any], highs: Sequence[Any]) -> bool:
    """True if these are numbers, or none, with intervals; a statistic that is not known here may have other columns."""
    numeric = all(value is None or type(value) in {int, float} for value in values)
    ends = [(value, end) for column in (lows, highs) for value, end in zip(values, column, strict=False)]
    numeric = numeric and all(type(end) in {int, float} or (value is None and end is None) for value, end in ends)
    return numeric and len(values) == len(lows) == len(highs)


def _decimals(values: Sequence[float | None], lows: Sequence[float | None], highs: Sequence[float | None]) -> int:
    """No decimals for whole numbers, else as many as the intervals justify."""
    if all(value is None or isinstance(value, int) for column in (values, lows, highs) for value in column):
        return 0
    ends = zip(lows, highs, strict=True)
    return decimals_for([(high - low) / 2 for low, high in ends if low is not None and high is not None])


def _scale(
    values: Sequence[float | None], lows: Sequence[float | None], highs: Sequence[float | None]
) -> tuple[float, float] | None:
    """The ends of the bars, which enclose zero and the interval of every value. None when there is nothing to draw.

    An interval without a value has no bar: where everything is possible, it would make all others a line.
    """
    drawn = [(low, high) for value, low, high in zip(values, lows, highs, strict=True) if value is not None]
    low = min([0, *(low for low, _ in drawn if low is not None)])
    high = max([0, *(high for _, high in drawn if high is not None)])
    return (low, high) if low < high < low + 1e300 else None


def _rows(
    groups: Iterator[tuple[Any, ...]],
    ends: tuple[Sequence[float | None], Sequence[float | None], Sequence[float | None]],
    form: tuple[int, tuple[float, float] | None],
    flags: Sequence[str] | None,
    words: Words,
) -> Iterator[Row]:
    decimals, scale = form  # an interval is left out with the value because of its class: its middle would be the value
    numbers = zip(groups, *ends, repeat("") if flags is None else flags, strict=False)
    for own, value, least, greatest, flag in islice(numbers, MOST_ROWS):
        low, high = -inf if least is None else least, inf if greatest is None else greatest
        bar = None if scale is None or value is None else _bar(value, low, high, scale)
        yield Row(
            tuple(map(words.name, own)),
            words.number(value, decimals),
            "–" if value is None and flag else words.interval(low, high, decimals),
            bar,
            flag,
        )


def _plain_rows(groups: Iterator[tuple[Any, ...]], values: Sequence[Any], words: Words) -> Iterator[Row]:
    """Values as they are, without intervals."""
    for own, value in islice(zip(groups, values, strict=True), MOST_ROWS):
        yield Row(tuple(map(words.name, own)), _plain(value, words), "–", None)


def _plain(value: Any, words: Words) -> str:
    if value is None:
        return "–"
    return words.number(value) if type(value) is int else words.name(value)


def _bar(value: float, low: float, high: float, scale: tuple[float, float]) -> Bar:
    def place(x: float) -> int:
        return round(1000 * (x - scale[0]) / (scale[1] - scale[0]))

    start, end = sorted((place(0), place(value)))
    return Bar(start, end - start, place(low), place(high))
