"""Public look-up tables: the columns of a CSV or Parquet file, or of a mapping, with the line of every row for messages."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import SchemaError, did_you_mean, printed
from discreet.exact.given_paths import content_of

__all__ = ["Cell", "Lookup", "read_lookup", "whole_number"]

Cell = str | int | bool | None
"""A value of a look-up table; an empty cell of a CSV file is None."""

_MOST_ROWS = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """A table of equally long columns.

    Args:
        shown: what messages call it.
        columns: the values of each column, texts in NFC.
        first: the line of the first row in the file, for messages.
    """

    shown: str
    columns: Mapping[str, Sequence[Cell]]
    first: int

    def column(self, name: str) -> Sequence[Cell]:
        """The values of a column.

        Raises:
            SchemaError: the table has no such column.
        """
        if name not in self.columns:
            raise SchemaError(f"{self.shown}: has no column {printed(name)}{did_you_mean(name, self.columns)}")
        return self.columns[name]

    def at(self, row: int) -> str:
        """The place of a row, in words."""
        return f"{self.shown}, line {self.first + row}"


def read_lookup(table: object) -> Lookup:
    """The table: the path of a CSV file in UTF-8 with a header or of a Parquet file, or a mapping of names to columns.

    Raises:
        SchemaError: it is none of these, cannot be read, is empty, has columns of different lengths or two of one name.
    """
    if isinstance(table, Mapping):
        return _checked("the table", {name: list(values) for name, values in table.items()}, 1)
    if not isinstance(table, str | Path) or not str(table):
        raise SchemaError(f"table={printed(table)}: must be the path of a CSV or Parquet file, or map names to columns")
    path = Path(table)
    try:
        content = content_of(path)
        if content[:4] == b"PAR1":
            return _checked(f"'{path.name}'", _of_parquet(content), 1)
        return _of_csv(f"'{path.name}'", content.decode("utf-8-sig"))
    except (OSError, ValueError) as wrong:
        if isinstance(wrong, SchemaError):
            raise
        there = "" if not isinstance(wrong, FileNotFoundError) else "there is no such file; a table "
        raise SchemaError(
            f"table={printed(str(path))}: {there}must be a readable Parquet file, or a CSV file in UTF-8"
        ) from None


def _of_parquet(content: bytes) -> dict[str, list[Cell]]:
    import polars as pl

    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except pl.exceptions.PolarsError:
        raise ValueError from None
    return frame.to_dict(as_series=False)


def _of_csv(shown: str, text: str) -> Lookup:
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        raise SchemaError(f"{shown}: is not CSV; a quotation mark is left open, or stands in the middle of a cell") from None
    if not rows:
        raise SchemaError(f"{shown}: is empty; its first line must name its columns")
    header = rows[0]
    if len(set(header)) < len(header):
        raise SchemaError(f"{shown}: names column {printed(max(header, key=header.count))} twice")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise SchemaError(f"{shown}, line {number}: has {len(row)} cells, and the first line has {len(header)}")
    columns = {name: [row[place] or None for row in rows[1:]] for place, name in enumerate(header)}
    return _checked(shown, columns, 2)


def _checked(shown: str, columns: Mapping[Any, Sequence[Any]], first: int) -> Lookup:
    found: dict[str, Sequence[Cell]] = {}
    for name, values in columns.items():
        if not isinstance(name, str):
            raise SchemaError(f"{shown}: {printed(name)} must be the name of a column")
        found[name] = [_cell(shown, name, value) for value in values]
    lengths = {len(values) for values in found.values()}
    if len(lengths) != 1 or not max(lengths):
        raise SchemaError(f"{shown}: must have at least one row, and equally long columns")
    if max(lengths) > _MOST_ROWS:
        raise SchemaError(f"{shown}: has {max(lengths)} rows, more than {_MOST_ROWS}")
    return Lookup(shown, found, first)


def _cell(shown: str, name: str, value: object) -> Cell:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value) or None
    if value is None or isinstance(value, bool | int):
        return value
    return None if value != value else _refuse(shown, name, value)  # noqa: PLR0124 (not a number: a missing cell of pandas)


def _refuse(shown: str, name: str, value: object) -> Cell:
    raise SchemaError(f"{shown}: column {printed(name)} has {printed(value)}; a code is a text or a whole number")


def whole_number(cell: Cell, where: str) -> Cell:
    """A cell of text as a whole number.

    Raises:
        SchemaError: it is none, or is written with zeros in front, which a number does not keep.
    """
    if not isinstance(cell, str):
        return cell
    if not re.fullmatch(r"0|-?[1-9][0-9]{0,18}", cell):
        said = (
            "has a zero in front, which a number loses; read the codes as text"
            if cell.startswith("0")
            else "is not a whole number of at most 19 digits"
        )
        raise SchemaError(f"{where}: {printed(cell)} {said}")
    return int(cell)
