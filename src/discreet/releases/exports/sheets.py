"""The frames of a release in words: groups with their labels, numbers with their classes. What every format writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.domain.about import About
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.figures import name
from discreet.exact.numbers import decimal_text, exact
from discreet.releases.exports.digits import RAW, Shown, show_numbers
from discreet.releases.frames import further_frames
from discreet.releases.labelled import number_title, title_of, unit_of, value_label
from discreet.releases.possible import show_bounds
from discreet.releases.quality import Numbers, Quality, numbers_of, quality_in

__all__ = ["MAIN", "Groups", "Measure", "Sheet", "find_sheet", "sheets_of"]

Columns = Sequence[Mapping[str, Any]]

MAIN = "table"
"""The name of the main frame."""

MOST_ROWS = 250_000
"""A release with more rows has them in Parquet files, which spreadsheets cannot hold either."""


@dataclass(frozen=True, slots=True)
class Groups:
    """A column that says which group a row is.

    Args:
        column: its name.
        title: its words.
        values: the group of each row: a category, the text of a bin, or None where the column is not known.
        known: the groups that there are, in their order, each with its label.
        ends: the least and the greatest value of each bin, as texts; empty for categories.
    """

    column: str
    title: str
    values: Sequence[Any]
    known: Mapping[Any, str]
    ends: Mapping[Any, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of numbers.

    Args:
        column: its name.
        title: its words.
        unit: of its numbers, empty where none is given.
        statistic: the word of what it is, such as "mean".
        cells: what is written of each number.
        classes: the class of each.
        suppressed: which of them the rule of the release leaves out; nothing is known of others without a value.
    """

    column: str
    title: str
    unit: str
    statistic: str
    cells: Sequence[Shown]
    classes: Sequence[str]
    suppressed: Sequence[bool]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A frame: it has a row for each of its groups and measures.

    `name` is "table" for the main one; `note` says what derived numbers are made of.
    """

    name: str
    title: str
    groups: Sequence[Groups]
    measures: Sequence[Measure]
    rows: int
    note: str = ""


def sheets_of(document: Mapping[str, Any], about: About, digits: str) -> list[Sheet]:
    """All frames of a release that have numbers with intervals, the main one first.

    Raises:
        ArgumentError: the release is large, or has no such frame.
    """
    if "table" in document:
        raise ArgumentError(
            f"export: the release has more than {MOST_ROWS} rows, in Parquet files; take what you need from release.scan()"
        )
    seen = document if digits == RAW else show_bounds(document)
    frames = zip(_frames(document), _frames(seen), strict=True)
    found = [_sheet(document, about, digits, frame, (own, shown_columns)) for (frame, own), (_, shown_columns) in frames]
    return [sheet for sheet in found if sheet.measures]


def find_sheet(document: Mapping[str, Any], about: About, digits: str, frame: str | None) -> Sheet:
    """The frame of that name, or the first.

    Raises:
        ArgumentError: the cases of `sheets_of`, or no such frame.
    """
    found = {sheet.name: sheet for sheet in sheets_of(document, about, digits)}
    if frame is None and found:
        return next(iter(found.values()))
    if frame not in found:
        raise ArgumentError(f"frame={printed(frame)}: the release has no such table{did_you_mean(frame, found)}")
    return found[frame]


def _frames(document: Mapping[str, Any]) -> list[tuple[str, Columns]]:
    return [(MAIN, document["columns"]), *((one["name"], one["columns"]) for one in further_frames(document))]


def _sheet(document: Mapping[str, Any], about: About, digits: str, frame: str, pair: tuple[Columns, Columns]) -> Sheet:
    """A frame from its columns as they are, which give the classes, and as views show them, which are written."""
    columns, seen = pair
    rule = quality_in(document)
    numbers = list(numbers_of(document, columns, "" if frame == MAIN else frame))
    values = {column["name"]: column["values"] for column in seen}
    ends = {f"{one.column}{end}" for one in numbers for end in ("", "_low", "_high", "_consistent")}
    labels = [column for column in columns if column["name"] not in ends]
    title = about.title if frame == MAIN else about.statistic(frame).label or name(frame)
    return Sheet(
        frame,
        title or name(document["name"]),
        [_groups(document["plan"], about, one) for one in labels],
        [_measure(about, frame, one, _cells(rule, digits, one, values), rule) for one in numbers],
        len(columns[0]["values"]) if columns else 0,
        next((_note(one) for one in document.get("derived", ()) if one["name"] == frame and "words" in one), ""),
    )


def _note(one: Mapping[str, Any]) -> str:
    """What derived numbers are, and how far their intervals hold."""
    level = decimal_text(100 * exact(one["confidence"], "confidence"), 4)
    return " ".join([f"{one['words']}; each interval holds with {level} %.", *one["notes"]])


def _groups(plan: Mapping[str, Any], about: About, column: Mapping[str, Any]) -> Groups:
    own, values = column["name"], column["values"]
    known = {value: value_label(about, own, value) for value in dict.fromkeys(values)}
    texts = {label for label in known if isinstance(label, str)}
    bins = [label for group in _group(plan) if group["column"] == own and "edges" in group for label in group["labels"]]
    ends = {label: _ends(label) for label in bins if label in texts}
    return Groups(own, title_of(about, own), values, known, ends)


def _group(plan: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    own = [group for one in plan["statistics"] for table in one.get("tables", ()) for group in table]
    return [*plan["group_by"], *plan["statistics"], *own]


def _ends(label: str) -> tuple[str, str]:
    """Both ends of a bin, from the text that `domain.groups` has made of them: "[16, 25)"."""
    low, _, high = label[1:-1].partition(", ")
    return low, high


def _cells(rule: Quality, digits: str, numbers: Numbers, seen: Mapping[str, Sequence[Any]]) -> list[Shown]:
    """The value that is written for each number: none where everything is possible, or where it is suppressed."""
    ends = [seen[f"{numbers.column}{end}"] for end in ("", "_low", "_high")]
    near = numbers.rounding
    rows = zip(*ends, numbers.classes, strict=True)
    return [
        Shown(None, low, high) if value is None or rule.suppresses(grade) else show_numbers(value, low, high, digits, near)
        for value, low, high, grade in rows
    ]


def _measure(about: About, frame: str, numbers: Numbers, cells: Sequence[Shown], rule: Quality) -> Measure:
    return Measure(
        numbers.column,
        number_title(about, numbers.column, "" if frame == MAIN or not numbers.statistic else frame),
        unit_of(about, numbers.column, numbers.statistic),
        str(numbers.statistic.get("statistic", "")),
        cells,
        numbers.classes,
        tuple(map(rule.suppresses, numbers.classes)),
    )
