"""A workbook with notes, cross tables and all numbers (extra `xlsx`). The only file that imports XlsxWriter.

The first sheet has title, notes, guarantee and the meaning of the flags. Each number has a cross table: the last group
column goes across, the others down, and each value has its flag next to it. The last sheets have every number with its
interval, in a row for each group. No text is a formula, and no cell is computed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from discreet.domain.about import About
from discreet.errors import ArgumentError
from discreet.releases.exports.base import Format, Wishes
from discreet.releases.exports.csv_table import columns_of
from discreet.releases.exports.digits import Digits
from discreet.releases.exports.sheets import Measure, Sheet, find_sheet, sheets_of
from discreet.releases.quality import CLASSES, GOOD, SUPPRESSED, quality_in

__all__ = ["XLSX"]

_MOST_ACROSS = 100
"""More groups than this go down: nobody reads a wider table."""

_MOST_NAME = 31


def _files(document: Mapping[str, Any], about: About, wishes: Wishes, _: str) -> Mapping[str, bytes]:
    sheets = sheets_of(document, about, wishes.digits)
    if wishes.frame is not None:
        sheets = [find_sheet(document, about, wishes.digits, wishes.frame)]
    held = io.BytesIO()
    book = _Book(_workbook(held, document))
    book.page("Notes", _notes(document, about, sheets))
    for sheet in sheets:
        for measure in sheet.measures:
            book.page(measure.title, _cross(sheet, measure))
    for sheet in sheets:
        book.page(f"Data {sheet.name}", _long(sheet))
    book.workbook.close()
    return {"": held.getvalue()}


def _workbook(held: io.BytesIO, document: Mapping[str, Any]) -> Any:
    try:
        import xlsxwriter
    except ImportError:
        raise ArgumentError(
            "export: xlsx needs XlsxWriter, which is not installed; install it with the extra: pip install 'discreet[xlsx]'"
        ) from None
    found = xlsxwriter.Workbook(held, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    found.set_properties({"created": _read_date(document), "comments": f"sha256 of release.json: {document['digest']}"})
    return found


def _read_date(document: Mapping[str, Any]) -> datetime:
    """The date of the release, so that equal releases have equal workbooks; the least that Excel knows where it has none."""
    try:
        return datetime.fromisoformat(document["time"]).replace(tzinfo=None)
    except (KeyError, ValueError, TypeError):
        return datetime(1900, 1, 1)  # noqa: DTZ001 (without a zone, as the format has it)


@dataclass(frozen=True, slots=True)
class _Text:
    """A cell of text; `style` is the name of its form."""

    text: str
    style: str = ""


Row = Sequence[_Text | Digits | None]

_STYLES: Mapping[str, Mapping[str, object]] = {
    "": {"valign": "top"},
    "title": {"bold": True, "font_size": 14},
    "head": {"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"},
    "wrap": {"text_wrap": True, "valign": "top"},
    "flag": {"font_color": "#6a6a6a", "align": "left"},
    "gone": {"align": "right", "font_color": "#6a6a6a"},
}


@dataclass(slots=True)
class _Book:
    """A workbook on its way, and the names that its sheets have."""

    workbook: Any
    taken: set[str] = field(default_factory=set)
    forms: dict[str, Any] = field(default_factory=dict)

    def page(self, title: str, rows: Iterable[Row]) -> None:
        """One more sheet."""
        sheet = self.workbook.add_worksheet(self._name(title))
        for place, row in enumerate(rows):
            for column, cell in enumerate(row):
                self._write(sheet, place, column, cell)
        sheet.set_column(0, 0, 28)
        sheet.set_column(1, 200, 14)

    def _write(self, sheet: Any, row: int, column: int, cell: _Text | Digits | None) -> None:
        if isinstance(cell, _Text):
            sheet.write_string(row, column, cell.text[:32_767], self._form(cell.style))
        elif cell is not None:
            sheet.write_number(row, column, _float(cell), self._form(_number_form(cell)))

    def _form(self, style: str) -> Any:
        if style not in self.forms:
            self.forms[style] = self.workbook.add_format(_STYLES.get(style) or {"num_format": style})
        return self.forms[style]

    def _name(self, title: str) -> str:
        """The title as the name of a sheet: no sign that Excel forbids, not too long, and no two alike."""
        plain = re.sub(r"[\[\]:*?/\\']", " ", title).strip()[:_MOST_NAME].strip() or "Sheet"
        name, times = plain, 1
        while name.casefold() in self.taken or name.casefold() == "history":
            times += 1
            name = f"{plain[: _MOST_NAME - 4]} {times}"
        self.taken.add(name.casefold())
        return name


def _float(cell: Digits) -> float:
    return int(cell) if isinstance(cell, Decimal) and cell == cell.to_integral_value() else float(cell)


def _number_form(cell: Digits) -> str:
    """As many decimals as the number is written with."""
    exponent = cell.as_tuple().exponent if isinstance(cell, Decimal) else 0
    decimals = max(0, -exponent) if isinstance(exponent, int) else 0
    if isinstance(cell, float):
        return "General"
    return f"#,##0.{'0' * decimals}" if decimals else "#,##0"


# The sheets ---------------------------------------------------------------------------------------------------------------


def _notes(document: Mapping[str, Any], about: About, sheets: Sequence[Sheet]) -> list[Row]:
    rule = quality_in(document)
    bounds = (f"up to {float(rule.good):.1%}", f"up to {float(rule.caution):.1%}", "beyond")
    said = [
        *((word, getattr(about, key)) for key, word in _ABOUT.items()),
        *(("Note", note) for note in about.notes),
        ("Guarantee", document["guarantee"]["words"]),
        ("Intervals", f"{float(document['interval']['level']):.0%}: {document['interval']['covers']}"),
        *((sheet.title, sheet.note) for sheet in sheets),
        *((f"Quality {letter}", f"{words} ({end})") for (letter, words), end in zip(CLASSES.items(), bounds, strict=True)),
        (f"Quality {SUPPRESSED}", "not publishable, and left out" if rule.suppress else ""),
        ("Release", document["name"]),
        ("Data set", document["dataset"]),
        ("Made", document.get("time", "")),
        ("With", document["library"]),
        ("SHA-256", document["digest"]),
    ]
    title: Row = [_Text(about.title or document["name"], "title")]
    return [title, [], *([_Text(word, "head"), _Text(text, "wrap")] for word, text in said if text)]


_ABOUT = {
    "description": "Description",
    "universe": "Universe",
    "period": "Reference period",
    "publisher": "Publisher",
    "contact": "Contact",
    "licence": "Licence",
}


def _cross(sheet: Sheet, measure: Measure) -> list[Row]:
    """The values of one number, with a flag next to each that is not good."""
    unit = f" ({measure.unit})" if measure.unit else ""
    across = sheet.groups[-1] if sheet.groups and len(sheet.groups[-1].known) <= _MOST_ACROSS else None
    down = list(sheet.groups[:-1] if across is not None else sheet.groups)
    if len(sheet.groups) == 1:
        across, down = None, list(sheet.groups)
    known = [(None, "")] if across is None else list(across.known.items())
    head: list[_Text | Digits | None] = [_Text(one.title, "head") for one in down] or [_Text("", "head")]
    for _, label in known:
        head += [_Text(label or measure.title, "head"), _Text("flag", "head")]
    lines: dict[tuple[Any, ...], dict[Any, int]] = {}
    for row in range(sheet.rows):
        own = None if across is None else across.values[row]
        lines.setdefault(tuple(one.values[row] for one in down), {})[own] = row
    rows: list[Row] = [[_Text(f"{measure.title}{unit}", "title")], [], head]
    for key, cells in lines.items():
        labels: list[_Text | Digits | None] = [_Text(one.known[value]) for one, value in zip(down, key, strict=True)]
        rows.append((labels or [_Text("all")]) + [part for own, _ in known for part in _pair(measure, cells.get(own))])
    return rows


def _pair(measure: Measure, row: int | None) -> tuple[_Text | Digits | None, _Text | None]:
    """A value and its flag; nothing where the release has no such group."""
    if row is None:
        return None, None
    cell, grade = measure.cells[row], measure.classes[row]
    flag = None if grade == GOOD else _Text(grade, "flag")
    return (_Text(SUPPRESSED, "gone") if cell.value is None else cell.value), flag


def _long(sheet: Sheet) -> list[Row]:
    columns = columns_of(sheet)
    head: Row = [_Text(one.heading, "head") for one in columns]
    rows = zip(*(one.cells for one in columns), strict=True)
    return [head, *([_Text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)]


XLSX = Format("xlsx", ".xlsx", _files)
