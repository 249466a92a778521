"""The same CSV with metadata in JSON, as CSV on the Web describes it (W3C, Metadata Vocabulary for Tabular Data).

The metadata are in a file next to the table, under the name at which programs look for them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from discreet.domain.about import About
from discreet.releases.exports.base import Format, Wishes
from discreet.releases.exports.csv_table import CsvColumn, columns_of, csv_bytes
from discreet.releases.exports.sheets import Sheet, find_sheet
from discreet.releases.quality import CLASSES

__all__ = ["CSVW"]


def _files(document: Mapping[str, Any], about: About, wishes: Wishes, file: str) -> Mapping[str, bytes]:
    sheet = find_sheet(document, about, wishes.digits, wishes.frame)
    columns = columns_of(sheet)
    metadata = _metadata(document, about, sheet, columns, file)
    text = json.dumps(metadata, ensure_ascii=False, indent=2, sort_keys=True)
    return {"": csv_bytes(columns, wishes), "-metadata.json": text.encode("utf-8")}


def _metadata(
    document: Mapping[str, Any], about: About, sheet: Sheet, columns: list[CsvColumn], file: str
) -> dict[str, Any]:
    said = {
        "dc:title": sheet.title,
        "dc:description": about.description,
        "dc:publisher": about.publisher,
        "dc:license": about.licence,
        "dc:temporal": about.period,
        "dc:coverage": about.universe,
        "dc:created": document.get("time", ""),
        "dc:identifier": f"sha256:{document['digest']}",
        "schema:email": about.contact,
    }
    notes = [*about.notes, *filter(None, [sheet.note]), document["guarantee"]["words"], _quality_note()]
    return {
        "@context": ["http://www.w3.org/ns/csvw", {"@language": about.language}],
        "url": _url(file),
        **{key: value for key, value in said.items() if value},
        "rdfs:comment": notes,
        "dialect": {"header": True, "delimiter": ",", "quoteChar": '"', "encoding": "utf-8"},
        "tableSchema": {"columns": _columns(columns)},
    }


def _url(file: str) -> str:
    """The name of the table as a relative address: no part of it may be taken for something else."""
    from urllib.parse import quote

    return quote(file)


def _quality_note() -> str:
    return "Quality: " + ", ".join(f"{letter} {words}" for letter, words in CLASSES.items())


def _columns(columns: list[CsvColumn]) -> list[dict[str, Any]]:
    """The description of each column; its name has letters that an address can have, and is unique."""
    found = []
    for place, one in enumerate(columns):
        plain = "".join(char if char.isascii() and char.isalnum() else "_" for char in one.heading).lstrip("_")
        kind = "number" if one.holds == "number" else "string"  # a decimal has no exponent: 1e-12
        titles = list(dict.fromkeys([one.heading, one.title]))
        shown: dict[str, Any] = {"name": f"{plain or 'c'}_{place + 1}", "titles": titles, "datatype": kind}
        found.append({**shown, **({"schema:unitText": one.unit} if one.unit else {})})
    return found


CSVW = Format("csvw", ".csv", _files)
