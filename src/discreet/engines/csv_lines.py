"""CSV as lines: a row is a line, whatever stands in its cells.

A quote that is never closed may not swallow the rows after it: one person's cell would erase other people's rows
(soundness 4). So line ends always end a row, quotes work within a line, and a line that is not well-formed is a row of
nulls. Files whose cells contain line breaks are therefore not in this format; that a file is well-formed is declared.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from discreet.errors import SourceError

__all__ = ["MAX_LINE", "csv_header", "row_batches", "split_line"]

MAX_LINE = 2**20
"""Bytes. A longer line is a row of nulls, read in constant memory; so is a quoted cell beyond the 128 Ki of `csv`."""

_BLOCK = 2**24
_MARK = b"\xef\xbb\xbf"
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_NOT_TEXT = (b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"BZh", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"\xff\xfe", b"\xfe\xff")


def csv_header(path: Path) -> list[str]:
    """The column names in the first line. Nothing after that line has a part in the answer.

    Raises:
        SourceError: no UTF-8 text, compressed, no header, no commas, or a name that is there twice. The message shows no
            content but column names.
    """
    try:
        with path.open("rb") as file:
            start = file.read(MAX_LINE + 1)
    except OSError:
        raise SourceError(f"source '{path}': cannot be read; check the path and the permissions") from None
    line = start.removeprefix(_MARK).replace(b"\r", b"\n").split(b"\n", 1)[0]
    if start.startswith(_NOT_TEXT) or b"\0" in line:
        raise SourceError(f"source '{path}': is no UTF-8 CSV text; unpack or convert it to CSV or Parquet first")
    if len(line) > MAX_LINE:
        raise SourceError(f"source '{path}': its first line is longer than {MAX_LINE} bytes; it must hold the column names")
    return _names(line, path)


def _names(line: bytes, path: Path) -> list[str]:
    try:
        names = split_line(line.decode("utf-8"), None)
    except UnicodeDecodeError:
        names = None
    if not names or names == [""]:
        raise SourceError(f"source '{path}': has no header line with column names; an empty file has no columns")
    if len(names) == 1 and b'"' not in line and (found := [mark for mark in _SEPARATORS if mark in names[0]]):
        raise SourceError(
            f"source '{path}': its header is one column, separated by {_SEPARATORS[found[0]]} instead of commas; "
            "convert it to comma-separated CSV or Parquet first"
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise SourceError(f"source '{path}': column '{twice[0]}' is in the header twice; rename one of the two")
    return names


def split_line(line: str, fields: int | None) -> list[str] | None:
    """The cells of one line, None when it is not well-formed or has not exactly `fields` cells."""
    if "\0" in line:
        return None
    try:
        cells = next(csv.reader([line], strict=True), [""])
    except csv.Error:
        return None
    return cells if fields is None or len(cells) == fields else None


def row_batches(path: Path, fields: int) -> Iterator[tuple[list[str], list[list[str]], int]]:
    """The rows after the header, in batches: plain lines without quotes, cells of quoted lines, and the number of null rows.

    Every line is in exactly one of the three. Empty lines are no rows, except in a table of one column, where they are a
    null. The order of rows within and across the three has no meaning.
    """
    for lines in _line_blocks(path):
        plain: list[str] = []
        odd: list[list[str]] = []
        nulls = 0
        for line in lines:
            if '"' not in line and "\0" not in line and line.count(",") == fields - 1:
                plain.append(line)
            elif not line:
                nulls += fields == 1
            elif (cells := split_line(line, fields)) is not None:
                odd.append(cells)
            else:
                nulls += 1
        yield plain, odd, nulls


def _line_blocks(path: Path) -> Iterator[list[str]]:
    """Blocks of decoded lines after the header. Invalid UTF-8 is replaced; an overlong line is a single NUL."""
    with path.open("rb") as file:
        rest, header = b"", True
        for block in _unix_blocks(file):
            *lines, rest = (rest + block).split(b"\n")
            if len(rest) > MAX_LINE:
                rest = b"\0"  # and every longer continuation up to the line end
            if header and lines:
                lines, header = lines[1:], False
            if lines:
                yield _decoded(lines)
        if rest and not header:
            yield _decoded([rest])


def _unix_blocks(file: BinaryIO) -> Iterator[bytes]:
    """The file with every line end as a line feed. A carriage return at the end of a block waits for what follows it."""
    waiting = b""
    while block := file.read(_BLOCK):
        block = waiting + block
        waiting = b"\r" if block.endswith(b"\r") else b""
        block = block.removesuffix(waiting)
        yield block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block
    yield waiting.replace(b"\r", b"\n")


def _decoded(lines: list[bytes]) -> list[str]:
    if max(map(len, lines)) > MAX_LINE:
        lines = [line if len(line) <= MAX_LINE else b"\0" for line in lines]
    return b"\n".join(lines).decode("utf-8", errors="replace").split("\n")
