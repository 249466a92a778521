"""One frame as CSV for people: labels, ends of bins, rounded numbers, classes of quality.

A row for each group. For every group column its value as in the data, its label where the release has words for it, and
for a bin its two ends; for every number the value (empty where it is suppressed), both ends of its interval, and its class.
Texts are quoted, numbers are not, as RFC 4180 has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.domain.about import About, key_of
from discreet.exact.figures import name
from discreet.releases.exports.base import ENCODINGS, Format, Wishes
from discreet.releases.exports.digits import Digits, plain
from discreet.releases.exports.ids import unique
from discreet.releases.exports.sheets import Groups, Measure, Sheet, find_sheet
from discreet.releases.frames import escape

__all__ = ["CSV", "CsvColumn", "columns_of", "csv_bytes"]


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A column of the file: its heading, words for it, what it holds ("text" or "number"), its cells, and its unit."""

    heading: str
    title: str
    holds: str
    cells: Sequence[str | Digits | None]
    unit: str = ""


def columns_of(sheet: Sheet) -> list[CsvColumn]:
    """The columns of a frame, in the order of the file, no two of one heading: those of the release keep their names."""
    ends = [f"{one.column}{end}" for one in sheet.measures for end in ("", "_low", "_high")]
    taken = [*(one.column for one in sheet.groups), *ends]

    def free(wanted: str) -> str:
        taken.extend(unique([wanted], taken))
        return taken[-1]

    groups = [column for one in sheet.groups for column in _of_groups(one, free)]
    return groups + [column for one in sheet.measures for column in _of_measure(one, free)]


def _of_groups(one: Groups, free: Callable[[str], str]) -> list[CsvColumn]:
    found = [CsvColumn(one.column, one.title, "text", [None if value is None else key_of(value) for value in one.values])]
    if any(label != name(value) for value, label in one.known.items()):
        labels = [one.known[value] for value in one.values]
        found.append(CsvColumn(free(f"{one.column}_label"), one.title, "text", labels))
    for place, end in enumerate(("lower", "upper")) if one.ends else ():
        cells = [one.ends[value][place] if value in one.ends else None for value in one.values]
        found.append(CsvColumn(free(f"{one.column}_{end}"), f"{one.title} ({end} end)", "text", cells))
    return found


def _of_measure(one: Measure, free: Callable[[str], str]) -> list[CsvColumn]:
    def ends(which: str) -> list[Digits | None]:
        return [None if cell.value is None else getattr(cell, which) for cell in one.cells]

    return [
        CsvColumn(one.column, one.title, "number", [cell.value for cell in one.cells], one.unit),
        CsvColumn(f"{one.column}_low", f"{one.title} (lower end)", "number", ends("low"), one.unit),
        CsvColumn(f"{one.column}_high", f"{one.title} (upper end)", "number", ends("high"), one.unit),
        CsvColumn(free(f"{one.column}_quality"), f"{one.title} (quality)", "text", one.classes),
    ]


def csv_bytes(columns: Sequence[CsvColumn], wishes: Wishes) -> bytes:
    """The file: a line of headings, then a line for each row."""
    lines = [",".join(_quote(one.heading, wishes) for one in columns)]
    lines += [",".join(_cell(cell, wishes) for cell in row) for row in zip(*(one.cells for one in columns), strict=True)]
    return "".join(f"{line}\r\n" for line in lines).encode(ENCODINGS[wishes.encoding])


def _cell(cell: str | Digits | None, wishes: Wishes) -> str:
    if cell is None:
        return ""
    return _quote(cell, wishes) if isinstance(cell, str) else plain(cell)


def _quote(text: str, wishes: Wishes) -> str:
    return '"{}"'.format(escape(text, wishes.formulas).replace('"', '""'))


def _files(document: Mapping[str, Any], about: About, wishes: Wishes, _: str) -> Mapping[str, bytes]:
    return {"": csv_bytes(columns_of(find_sheet(document, about, wishes.digits, wishes.frame)), wishes)}


CSV = Format("csv", ".csv", _files)
