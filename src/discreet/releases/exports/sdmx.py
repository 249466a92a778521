"""One frame as SDMX-CSV 2.0, with the status of each observation.

Dimensions are the groups and INDICATOR, which says which number it is. Identifiers are followed by their labels where there
are any, "1: male", as the option `labels=both` of the standard has it. Attributes: the ends of the interval, the class of
quality, OBS_STATUS (A normal, U of low reliability, Q suppressed, O missing as nothing is known of it), CONF_STATUS (F free,
N not for publication, of what is suppressed), unit and period.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.domain.about import About
from discreet.releases.exports.base import ENCODINGS, Format, Wishes
from discreet.releases.exports.digits import Digits, Shown, plain
from discreet.releases.exports.ids import code_ids, concept_id, unique
from discreet.releases.exports.sheets import Measure, Sheet, find_sheet
from discreet.releases.frames import escape
from discreet.releases.quality import GOOD

__all__ = ["SDMX"]

_FIXED = ("STRUCTURE", "STRUCTURE_ID", "ACTION")
_INDICATOR = "INDICATOR"
_ATTRIBUTES = ("LOWER_BOUND", "UPPER_BOUND", "QUALITY", "OBS_STATUS", "CONF_STATUS", "UNIT_MEASURE", "TIME_PERIOD")


def _files(document: Mapping[str, Any], about: About, wishes: Wishes, _: str) -> Mapping[str, bytes]:
    sheet = find_sheet(document, about, wishes.digits, wishes.frame)
    lines = [_write_heading(sheet), *_rows(document, about, sheet)]
    text = "".join(",".join(_quote(cell, wishes) for cell in line) + "\r\n" for line in lines)
    return {"": text.encode(ENCODINGS[wishes.encoding])}


def _quote(text: str, wishes: Wishes) -> str:
    shown = escape(text, wishes.formulas)
    return '"{}"'.format(shown.replace('"', '""')) if any(char in shown for char in '",\r\n') else shown


def _write_heading(sheet: Sheet) -> list[str]:
    taken = (*_FIXED, _INDICATOR, "OBS_VALUE", *_ATTRIBUTES)
    ids = unique([concept_id(one.column) for one in sheet.groups], taken)
    groups = [_both(code, one.title, one.column) for code, one in zip(ids, sheet.groups, strict=True)]
    return [*_FIXED, *groups, _INDICATOR, "OBS_VALUE", *_ATTRIBUTES]


def _both(code: str, label: str, plain_name: str = "") -> str:
    """Identifier and label, or the identifier alone where the label says nothing more."""
    return code if label in {code, plain_name, ""} else f"{code}: {label}"


def _rows(document: Mapping[str, Any], about: About, sheet: Sheet) -> list[list[str]]:
    flow = f"{concept_id(about.publisher or 'discreet')}:{concept_id(document['name'])}(1.0)"
    codes = [_codes(one.known) for one in sheet.groups]
    indicators = unique([concept_id(one.column) for one in sheet.measures])
    rows: list[list[str]] = []
    for row in range(sheet.rows):
        groups = [known[one.values[row]] for known, one in zip(codes, sheet.groups, strict=True)]
        for code, one in zip(indicators, sheet.measures, strict=True):
            head = ["dataflow", flow, "I", *groups, _both(code, one.title, one.column)]
            rows.append([*head, *_observation(one, row), one.unit, about.period])
    return rows


def _codes(known: Mapping[Any, str]) -> dict[Any, str]:
    return {value: _both(code, known[value]) for value, code in code_ids(known).items()}


def _observation(one: Measure, row: int) -> Sequence[str]:
    """Value, ends, class, and both states."""
    cell, grade = one.cells[row], one.classes[row]
    if cell.value is None:
        return ("", "", "", grade, *(("Q", "N") if one.suppressed[row] else ("O", "F")))
    return (*_numbers(cell), grade, "A" if grade == GOOD else "U", "F")


def _numbers(cell: Shown) -> tuple[str, str, str]:
    def text(number: Digits | None) -> str:
        return "" if number is None else plain(number)

    return text(cell.value), text(cell.low), text(cell.high)


SDMX = Format("sdmx", ".csv", _files)
