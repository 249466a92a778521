"""One frame as a data cube of JSON-stat 2.0: a dimension for each group column, and one for the numbers.

The dimension INDICATOR has three categories for each number: the value, and both ends of its interval. A cell of the cube
for which the release has no row, whose value is suppressed, or whose interval is everything possible, is null; `status`
has the class of every other cell, and "n", "q" and "o" for these three. Lists are in row-major order: the last dimension
changes first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import prod
from typing import Any

from discreet.domain.about import About
from discreet.errors import ArgumentError
from discreet.releases.exports.base import Format, Wishes
from discreet.releases.exports.digits import Digits
from discreet.releases.exports.ids import code_ids, concept_id, unique
from discreet.releases.exports.sheets import MOST_ROWS, Groups, Measure, Sheet, find_sheet
from discreet.releases.quality import CLASSES

__all__ = ["JSON_STAT"]

_INDICATOR = "INDICATOR"
_ENDS = {"value": "", "low": "_low", "high": "_high"}
_ABSENT, _SUPPRESSED, _OPEN = "n", "q", "o"


def _files(document: Mapping[str, Any], about: About, wishes: Wishes, _: str) -> Mapping[str, bytes]:
    sheet = find_sheet(document, about, wishes.digits, wishes.frame)
    cube = _cube(document, about, sheet)
    return {"": json.dumps(cube, ensure_ascii=False, indent=1, allow_nan=False).encode("utf-8")}


def _cube(document: Mapping[str, Any], about: About, sheet: Sheet) -> dict[str, Any]:
    ids = unique([concept_id(one.column) for one in sheet.groups], [_INDICATOR])
    size = [len(one.known) for one in sheet.groups] + [3 * len(sheet.measures)]
    if prod(size) > 12 * MOST_ROWS:
        raise ArgumentError(f"export: the cube has {prod(size)} cells, most of them empty; write it as csv or sdmx")
    values, status = _cells(sheet, size)
    dimensions = {key: _dimension(one) for key, one in zip(ids, sheet.groups, strict=True)}
    return {
        "version": "2.0",
        "class": "dataset",
        "label": sheet.title,
        **({"source": about.publisher} if about.publisher else {}),
        **({"updated": document["time"]} if document.get("time") else {}),
        "note": [*filter(None, (about.description, *about.notes, sheet.note)), document["guarantee"]["words"]],
        "id": [*ids, _INDICATOR],
        "size": size,
        "role": {"metric": [_INDICATOR]},
        "dimension": {**dimensions, _INDICATOR: _indicators(sheet.measures)},
        "value": values,
        "status": status,
        "extension": _extension(document, about),
    }


def _extension(document: Mapping[str, Any], about: About) -> dict[str, Any]:
    texts = {key: getattr(about, key) for key in ("universe", "period", "contact", "licence")}
    words = {**CLASSES, _ABSENT: "not in the release", _SUPPRESSED: "suppressed", _OPEN: "nothing is known"}
    return {"language": about.language, **texts, "digest": document["digest"], "status": words}


def _dimension(one: Groups) -> dict[str, Any]:
    codes = code_ids(one.known)
    labels = {code: one.known[value] for value, code in codes.items()}
    return {"label": one.title, "category": {"index": list(codes.values()), "label": labels}}


def _indicators(measures: Sequence[Measure]) -> dict[str, Any]:
    ends = {"value": "", "low": " (lower end)", "high": " (upper end)"}
    keys = {f"{one.column}{end}": (one, which) for one in measures for which, end in _ENDS.items()}
    units = {key: _unit(one) for key, (one, _) in keys.items()}
    labels = {key: f"{one.title}{ends[which]}" for key, (one, which) in keys.items()}
    return {"label": "Indicator", "category": {"index": list(keys), "label": labels, "unit": units}}


def _unit(one: Measure) -> dict[str, Any]:
    return {"decimals": _decimals(one), **({"label": one.unit} if one.unit else {})}


def _decimals(one: Measure) -> int:
    """The most decimals of any of its numbers that are written."""
    found = [0]
    for cell in (cell for cell in one.cells if cell.value is not None):
        for number in (cell.value, cell.low, cell.high):
            exponent = Decimal(repr(number) if isinstance(number, float) else number or 0).as_tuple().exponent
            found.append(-exponent if isinstance(exponent, int) else 0)
    return max(found)


def _cells(sheet: Sheet, size: Sequence[int]) -> tuple[list[int | float | None], dict[str, str]]:
    """The values of the cube, and the state of each."""
    places = [{value: place for place, value in enumerate(one.known)} for one in sheet.groups]
    values: list[int | float | None] = [None] * prod(size)
    status = {str(place): _ABSENT for place in range(prod(size))}
    for row in range(sheet.rows):
        start = 0
        for known, one, many in zip(places, sheet.groups, size, strict=False):
            start = start * many + known[one.values[row]]
        start *= size[-1]
        for number, measure in enumerate(sheet.measures):
            cell = measure.cells[row]
            for end, which in enumerate(_ENDS):
                place = start + 3 * number + end
                values[place] = None if cell.value is None else _number(getattr(cell, which))
                status[str(place)] = _state(measure, row)
    return values, status


def _state(one: Measure, row: int) -> str:
    if one.suppressed[row]:
        return _SUPPRESSED
    return _OPEN if one.cells[row].value is None else one.classes[row]


def _number(shown: Digits) -> int | float:
    if isinstance(shown, Decimal):
        return int(shown) if shown == shown.to_integral_value() else float(shown)
    return shown


JSON_STAT = Format("json-stat", ".json", _files)
