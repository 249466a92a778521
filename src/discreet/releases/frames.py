"""The frames that a release document holds, and what their files are called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any

from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import exact, text
from discreet.exact.processes import check_polars

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "ESCAPE",
    "FORMULAS",
    "all_frames",
    "check_formulas",
    "column_json",
    "escape",
    "for_csv",
    "frame_of",
    "further_frames",
    "name_files",
    "value_columns",
]

ESCAPE = "escape"
FORMULAS = (ESCAPE, "keep")
"""The ways to treat labels in CSV files that spreadsheets take for formulas: a single quote in front, or no change."""

# How a formula begins for some spreadsheet, also in the wide forms of East Asia, but not where the whole is a number. A
# quote that is there already is looked through, so that taking one away gives every label back.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"'*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


POPULATION = "for the population"
"""What tells the interval for the population from the interval for the weighted file, in titles."""


def value_columns(statistic: Mapping[str, Any]) -> dict[str, str]:
    """The columns that a statistic of a document has in the main table, if it has any there, each with what tells it apart.

    That is the order of a quantile in words, the population, or a coefficient. A statistic that has none of these has one
    column. Names are whole: the name of one statistic may begin the name of another.
    """
    if "parts" in statistic:
        return {f"{statistic['name']}_{part}": part for part in statistic["parts"]}
    name, orders = statistic["name"], [text(100 * exact(order, "at")) for order in statistic.get("at", ())]
    found = {f"{name}_p{order}": f"{order} % quantile" for order in orders} or {name: ""}
    design = statistic.get("design")
    return found if design is None else {**found, f"{name}_population_{design['design']}": POPULATION}


def further_frames(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The frames next to the main table: those of its statistics, then what is derived, as far as it could be computed.

    Frames that are in files are not among them.
    """
    held = [one for one in document.get("frames", ()) if "table" not in one]
    return [*held, *(one for one in document.get("derived", ()) if one["columns"])]


def all_frames(document: Mapping[str, Any], table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """All frames of the document by name, the main one, which is given, first."""
    frames = {"table": table}
    frames |= {frame["name"]: frame_of(frame["columns"]) for frame in further_frames(document)}
    schema = document["plan"]["schema"]
    for part in (document["invariants"] or {"totals": {"parts": []}})["totals"]["parts"]:
        name = "_".join([part["part"], *(_file_name(column) for column in part["columns"])])
        times = sum(other == name or other.startswith(f"{name}.") for other in frames)
        frames[f"{name}.{times + 1}" if times else name] = _totals_frame(part, schema)
    if not all(isinstance(name, str) for name in frames):
        raise TypeError
    return frames


def check_formulas(formulas: object) -> str:
    """One of `FORMULAS`.

    Raises:
        ArgumentError: anything else.
    """
    if not isinstance(formulas, str) or formulas not in FORMULAS:
        raise ArgumentError(f"formulas={printed(formulas)}: must be {' or '.join(map(repr, FORMULAS))}")
    return formulas


def for_csv(frame: pl.DataFrame, formulas: str) -> pl.DataFrame:
    """The frame as it is written to a CSV file: no name or text in it is a formula, unless they are kept."""
    import polars as pl

    if check_formulas(formulas) != ESCAPE:
        return frame
    # No expressions: their evaluation needs threads, which a forked process has not.
    written = [
        pl.Series(_escape(one.name), map(_escape_or_null, one.to_list()), dtype=one.dtype)
        if one.dtype == pl.String
        else one.alias(_escape(one.name))
        for one in frame
    ]
    return pl.DataFrame(written)


def escape(text: str, formulas: str) -> str:
    """A text as it is written to a CSV file: a single quote before a formula, unless formulas are kept."""
    return _escape(text) if check_formulas(formulas) == ESCAPE else text


def _escape(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _escape_or_null(text: str | None) -> str | None:
    return text and _escape(text)


def frame_of(columns: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Columns of the document as a frame."""
    import polars as pl

    types = {"text": pl.String, "integer": pl.Int64, "boolean": pl.Boolean, "real": pl.Float64}
    return pl.DataFrame([pl.Series(one["name"], one["values"], dtype=types[one["kind"]]) for one in columns])


def column_json(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """A column as the document holds it; its kind follows from the values, null for None.

    Raises:
        ArgumentError: values of several kinds.
    """
    kinds = {_kind(found) for found in set(map(type, values)) if found is not NoneType}
    if len(kinds) > 1:
        raise ArgumentError(f"column '{name}': has values of several kinds: {', '.join(sorted(kinds))}")
    return {"name": name, "kind": min(kinds, default="text"), "values": list(values)}


def _kind(found: type) -> str:
    for kind, types in (("boolean", bool), ("integer", int), ("real", float), ("text", str)):
        if issubclass(found, types):
            return kind
    raise ArgumentError(f"a {found.__name__} cannot be published")


def _totals_frame(part: Mapping[str, Any], schema: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The frame of one part of the exact totals, of types that follow from the schema."""
    import polars as pl

    if part["part"] == "linear":
        return pl.DataFrame({"name": list(part["values"]), "value": list(part["values"].values())})
    values = {"totals": ("count",), "ranges": ("published", "least", "most")}.get(part["part"], ("occupied",))
    texts = {one["name"] for one in schema if one["type"] == "number" and not _is_whole(one)}
    cells = list(zip(*part["cells"], strict=True)) or [()] * (len(part["columns"]) + len(values))
    columns = []
    for name, labels in zip(part["columns"], cells, strict=False):
        shown = [None if one is None else str(one) for one in labels] if name in texts else list(labels)
        columns.append(pl.Series(name, shown))
    for value, numbers in zip(values, cells[-len(values) :], strict=True):
        name = value
        while name in part["columns"]:
            name += "_exact"
        columns.append(pl.Series(name, list(numbers), dtype=pl.String if value == "published" else pl.Int64))
    return pl.DataFrame(columns)


def _is_whole(column: Mapping[str, Any]) -> bool:
    """True if a numeric column holds whole numbers only, which totals show as such; other grids show texts."""
    return all(exact(column[end], end).denominator == 1 for end in ("lower", "step"))


def name_files(frames: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The frames by the names of their files, which stay in their folder whatever a frame is called.

    Raises:
        SourceError: this process is a forked child in which no file can be written.
    """
    check_polars()  # which is to write them, and would wait for ever in some children
    files: dict[str, pl.DataFrame] = {}
    for name, frame in frames.items():
        short, times = _file_name(name), 1
        while (short if times == 1 else f"{short}_{times}").casefold() in map(str.casefold, files):
            times += 1
        files[short if times == 1 else f"{short}_{times}"] = frame
    return files


def _file_name(column: str) -> str:
    """The name of a column where it can stand in the name of a file."""
    return "".join(char if char.isalnum() or char in "-_" else "_" for char in column)[:60]
