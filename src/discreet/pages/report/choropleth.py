"""Maps of the numbers: areas in five classes, with a legend, drawn as SVG inside the page.

The shapes are those that the texts of the release have (`domain.maps`); they stand once in the page, and every map uses
them. The table next to a map has all of its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.domain.about import About, key_of
from discreet.domain.maps import Map
from discreet.exact.figures import name
from discreet.pages.report.about import label_in
from discreet.pages.report.sheets import Sheet
from discreet.pages.report.tables import Row
from discreet.pages.words import Words

__all__ = ["Area", "Choropleth", "Panel", "maps_of"]

CLASSES = 5
MOST_PANELS = 6
_MOST_NAMES = 12


@dataclass(frozen=True, slots=True)
class Area:
    """A shape in its colour: its number among the shapes, the class of its style, and what it says when pointed at."""

    shape: int
    style: str
    words: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A map for one combination of the other groups, whose labels are its title; empty where there are no others."""

    title: str
    areas: tuple[Area, ...]


@dataclass(frozen=True, slots=True)
class Choropleth:
    """The maps of one number: they share their classes.

    Args:
        words: what they are, for readers who cannot see them.
        panels: the maps.
        legend: the styles that they use, each with its words.
        notes: sentences on what they do not show.
    """

    words: str
    panels: tuple[Panel, ...]
    legend: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def maps_of(
    sheets: Sequence[Sheet], document: Mapping[str, Any], about: About, words: Words
) -> tuple[Map | None, Mapping[str, Choropleth]]:
    """The shapes, and the maps by the places of their tables; none where no table that is short enough has these groups.

    Args:
        sheets: the tables of the page.
        document: of the release, with the categories as they are and not their labels.
        about: its texts.
        words: of the language of the page.
    """
    shapes, by = about.map, tuple(group["column"] for group in document["plan"]["group_by"])
    if shapes is None or shapes.column not in by or "table" in document:
        return None, {}
    keys = next([*map(_key, one["values"])] for one in document["columns"] if one["name"] == shapes.column)
    found = {
        sheet.anchor: _draw_areas(sheet, shapes, keys, by.index(shapes.column), (about, words))
        for sheet in sheets
        if sheet.few and sheet.table.by == by and sheet.table.values
    }
    return (shapes if found else None), found


def _key(value: object) -> str | None:
    return None if value is None else key_of(value)


def _draw_areas(sheet: Sheet, shapes: Map, keys: Sequence[str | None], place: int, told: tuple[About, Words]) -> Choropleth:
    about, words = told
    there = {one.key for one in shapes.shapes}
    values = [value if key in there else None for key, value in zip(keys, sheet.table.values, strict=True)]
    numbers = [*zip(sheet.few, values, strict=True)]
    styles = _styles(numbers)
    panels: dict[str, dict[str, tuple[Row, str]]] = {}
    for row, key, style in zip(sheet.few, keys, styles, strict=True):
        others = " · ".join((*row.labels[:place], *row.labels[place + 1 :]))
        if key is not None:
            panels.setdefault(others, {})[key] = (row, style)
    shown = dict([*panels.items()][:MOST_PANELS])
    drawn = tuple(Panel(title, _areas(shapes, rows, place, told)) for title, rows in shown.items())
    lacking = [*dict.fromkeys(key for key in keys if key is not None and key not in there)]
    used = {area.style for panel in drawn for area in panel.areas}
    return Choropleth(
        words("report.map.words", title=sheet.table.title, column=sheet.table.groups[place]),
        drawn,
        tuple((style, said) for style, said in _legend(numbers, styles, words).items() if style in used),
        tuple(_notes([label_in(about, shapes.column, key, words) for key in lacking], len(shown), len(panels), words)),
    )


def _styles(rows: Sequence[tuple[Row, float | None]]) -> list[str]:
    """The class of each row, from 1 to 5: each class has about as many rows, and equal values have one class."""
    known = sorted(value for row, value in rows if value is not None and _counts(row, value))
    first: dict[float | None, int] = {}
    for place, value in enumerate(known):
        first.setdefault(value, place)
    return [f"step-{1 + CLASSES * first[value] // len(known)}" if _counts(row, value) else "hatched" for row, value in rows]


def _counts(row: Row, value: float | None) -> bool:
    """True if the number has a colour: it is there, and may be published."""
    return value is not None and row.flag != "c"


def _areas(shapes: Map, rows: Mapping[str, tuple[Row, str]], place: int, told: tuple[About, Words]) -> tuple[Area, ...]:
    about, words = told
    found = []
    for number, shape in enumerate(shapes.shapes):
        if shape.key in rows:
            row, style = rows[shape.key]
            found.append(Area(number, style, _describe_row(row, place, words)))
        else:
            label = about.column(shapes.column).categories.get(shape.key) or name(shape.key)
            found.append(Area(number, "outside", words("report.map.area", label=label, value=words("report.map.outside"))))
    return tuple(found)


def _describe_row(row: Row, place: int, words: Words) -> str:
    """The label, the value, the interval and the class of quality of a row."""
    value = row.value if row.interval == "–" else f"{row.value} ({row.interval})"
    said = words("report.map.area", label=row.labels[place], value=value)
    return f"{said}, {words('report.map.quality', letter=row.flag)}" if row.flag else said


def _legend(numbers: Sequence[tuple[Row, Any]], styles: Sequence[str], words: Words) -> dict[str, str]:
    """The words for each style: the least and the greatest number of a class as they are written."""
    found = {}
    for step in range(1, CLASSES + 1):
        own = [number for number, style in zip(numbers, styles, strict=True) if style == f"step-{step}"]
        if own:
            low, high = (end(own, key=lambda number: number[1])[0].value for end in (min, max))
            found[f"step-{step}"] = low if low == high else words("report.map.range", low=low, high=high)
    return {**found, "hatched": words("report.map.hatched"), "outside": words("report.map.outside")}


def _notes(lacking: Sequence[str], shown: int, every: int, words: Words) -> list[str]:
    notes = []
    if lacking:
        more = [words.many("form.more", len(lacking) - _MOST_NAMES)] if len(lacking) > _MOST_NAMES else []
        notes.append(words("report.map.lacking", names=" ".join([", ".join(lacking[:_MOST_NAMES]), *more])))
    if shown < every:
        notes.append(words("report.map.panels", n=words.number(shown), every=words.number(every)))
    return notes
