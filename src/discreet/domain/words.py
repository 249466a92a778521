"""Plans, quotes and releases in a few words, for a terminal and for a notebook. Nothing is read for them.

Text of others is shown as text: invisible characters are removed from names, and HTML escapes everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from discreet.domain.declared_words import column_words, step_words
from discreet.domain.groups import Group
from discreet.domain.neighbours import Neighbours, is_of_persons
from discreet.domain.schema import Schema
from discreet.domain.steps import Step, step_json
from discreet.exact.figures import decimals_for, interval, name, number, plural

__all__ = [
    "Facts",
    "card",
    "column_facts",
    "declared_facts",
    "neighbours_text",
    "number_rows",
    "one_line",
    "release_card",
    "request_text",
    "step_facts",
]

Facts = Sequence[tuple[str, str]]
"""Pairs of a word and its description."""

_MOST_ROWS = 20
_CELL = "text-align: left; vertical-align: top; padding: 0.1em 0.8em 0.1em 0"


def one_line(what: str, *parts: str) -> str:
    """An object in one line: "<Quote of ρ = 0.1: …>"."""
    return f"<{' '.join([what, *(name(part) for part in parts if part)])}>"


def card(title: str, facts: Facts, *tables: Sequence[Sequence[str]]) -> str:
    """A piece of HTML for a notebook: title, facts, and tables whose first rows are headings. No script, all escaped."""
    told = "".join(f'<tr><th scope="row" style="{_CELL}">{_escape(key)}</th>{_cell(value)}</tr>' for key, value in facts)
    shown = "".join(f"<table>{_head(rows[0])}{''.join(map(_row, rows[1:]))}</table>" for rows in tables if rows)
    return f"<div><p><strong>{_escape(title)}</strong></p><table>{told}</table>{shown}</div>"


def _head(cells: Sequence[str]) -> str:
    headings = "".join(f'<th scope="col" style="{_CELL}">{_escape(cell)}</th>' for cell in cells)
    return f"<tr>{headings}</tr>"


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(map(_cell, cells))}</tr>"


def _cell(value: str) -> str:
    return f'<td style="{_CELL}">{_escape(value)}</td>'


def _escape(value: str) -> str:
    return escape(name(value), quote=True)


def declared_facts(schema: Schema, neighbours: Neighbours, steps: Sequence[Step]) -> Facts:
    """The declarations of a table, and the steps on it."""
    return [("neighbours", neighbours_text(neighbours)), *column_facts(schema), *step_facts(schema, steps)]


def column_facts(schema: Schema) -> Facts:
    """Each column with its declared domain."""
    return [(str(column["name"]), column_words(column)) for column in schema.to_json()]


def step_facts(schema: Schema, steps: Sequence[Step]) -> Facts:
    """Each step with its sentence."""
    written = [step_json(step, schema) for step in steps]
    return [(str(step["step"]), step_words(step)) for step in written]


def request_text(groups: Sequence[Group], statistics: Sequence[str]) -> str:
    """The requested statistics and groups: "count, mean_wage by state"."""
    by = f" by {', '.join(name for group in groups for name in group.names)}" if groups else ""
    return f"{', '.join(statistics)}{by}"


def number_rows(columns: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The first rows of a frame of a release, headings first; a number and its interval share a cell."""
    values = {column["name"]: column["values"][:_MOST_ROWS] for column in columns}
    shown: dict[str, list[str]] = {}
    for column, own in values.items():
        if column.endswith(("_low", "_high")) and column.rpartition("_")[0] in shown:
            continue
        lows, highs = values.get(f"{column}_low"), values.get(f"{column}_high")
        if lows is None or highs is None:
            shown[column] = [name(value) for value in own]
        else:
            shown[column] = _with_interval(own, lows, highs)
    rows = [list(row) for row in zip(*shown.values(), strict=True)]
    return [list(shown), *rows]


def _with_interval(values: Sequence[Any], lows: Sequence[Any], highs: Sequence[Any]) -> list[str]:
    whole = all(value is None or isinstance(value, int) for ends in (values, lows, highs) for value in ends)
    decimals = 0 if whole else decimals_for([(high - low) / 2 for low, high in zip(lows, highs, strict=True)])
    ends = zip(values, lows, highs, strict=True)
    return [f"{number(value, decimals)} ({interval(low, high, decimals)})" for value, low, high in ends]


def release_card(document: Mapping[str, Any]) -> str:
    """A release for a notebook: its guarantee and its first rows."""
    size = document["table"]["rows"] if "table" in document else len(document["columns"][0]["values"])
    more = f", of which the first {_MOST_ROWS} are shown" if size > _MOST_ROWS else ""
    facts = [
        ("data set", document["dataset"]),
        ("guarantee", document["guarantee"]["words"]),
        ("rows", f"{number(size)}{more}"),
    ]
    frames = (*document.get("frames", ()), *document.get("derived", ()))
    further = ", ".join(name(frame["name"]) for frame in frames)
    told = [*facts, ("further tables", further)] if further else facts
    return card(f"Release “{document['name']}”", told, number_rows(document["columns"]))


def neighbours_text(neighbours: Neighbours) -> str:
    """The neighbouring relation and the number of rows per person."""
    if is_of_persons(neighbours.word):
        return neighbours.text()
    person = f"{neighbours.rows_per_person} {plural('row', neighbours.rows_per_person)} a person"
    return f"{neighbours.text()}; {person}"
