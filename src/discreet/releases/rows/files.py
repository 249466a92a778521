"""Rows as a file with the words for its columns: in the metadata of a Parquet file, or next to a CSV file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from discreet.domain.about import About
from discreet.errors import ArgumentError
from discreet.exact.files import replace_file
from discreet.releases.frames import check_formulas, for_csv
from discreet.releases.labelled import title_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_suffix", "files_of", "write_rows"]

_SUFFIXES = (".parquet", ".csv")
_KEY = "discreet"
"""The key of the metadata in a Parquet file."""

_TYPES = {"Int64": "integer", "Float64": "double", "Boolean": "boolean", "Date": "date"}


def check_suffix(path: Path) -> None:
    """Raises ArgumentError for another suffix than .parquet and .csv."""
    if path.suffix not in _SUFFIXES:
        raise ArgumentError(f"rows '{path}': must end in .parquet or .csv")


def files_of(place: Path) -> tuple[Path, ...]:
    """The files that rows at this path are written into: of a CSV file also the one that describes it."""
    return (place, place.with_name(f"{place.name}-metadata.json")) if place.suffix == ".csv" else (place,)


def write_rows(frame: pl.DataFrame, about: About, told: Mapping[str, Any], place: Path, formulas: str) -> tuple[Path, ...]:
    """The file, complete or not at all, and of a CSV file the one that describes it.

    Args:
        frame: the rows.
        about: the words for its columns and their categories.
        told: what they are, and which release they are made from.
        place: where; ending in .parquet or .csv.
        formulas: whether a CSV file has a quote before what spreadsheets take for formulas, "escape" or "keep".

    Raises:
        ArgumentError: another suffix, or a path that cannot be written.
    """
    check_suffix(place)
    check_formulas(formulas)
    try:
        if place.suffix == ".parquet":
            metadata = {_KEY: _json({**told, "about": about.to_json()})}
            replace_file(place, lambda draft: frame.write_parquet(draft, metadata=metadata))
            return files_of(place)
        described = _json(_described(frame, about, told, place.name)).encode("utf-8")
        replace_file(place, lambda draft: for_csv(frame, formulas).write_csv(draft))
        replace_file(files_of(place)[-1], lambda draft: draft.write_bytes(described))
    except OSError as wrong:
        raise ArgumentError(f"rows '{place}': cannot be written ({wrong.strerror})") from None
    return files_of(place)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)


def _described(frame: pl.DataFrame, about: About, told: Mapping[str, Any], file: str) -> dict[str, Any]:
    """The description of a CSV file, as CSV on the Web has it."""
    return {
        "@context": ["http://www.w3.org/ns/csvw", {"@language": about.language}],
        "url": quote(file),
        "dc:source": f"sha256:{told['digest']}",
        "rdfs:comment": [f"{key}: {value}" for key, value in told.items()],
        "dialect": {"header": True, "delimiter": ",", "quoteChar": '"', "encoding": "utf-8"},
        "tableSchema": {"columns": [_column(one, about) for one in frame]},
    }


def _column(column: pl.Series, about: About) -> dict[str, Any]:
    words = about.column(column.name)
    titles = list(dict.fromkeys([column.name, title_of(about, column.name)]))
    found: dict[str, Any] = {"titles": titles, "datatype": _TYPES.get(str(column.dtype), "string")}
    labels = [{"schema:value": value, "schema:name": label} for value, label in words.categories.items()]
    more = {"schema:unitText": words.unit, "schema:valueReference": labels}
    return {**found, **{key: value for key, value in more.items() if value}}
