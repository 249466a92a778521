"""CSV as lines: a row is a line, whatever its cells contain.

A quote that is never closed may not swallow the rows after it: one person's cell would erase other people's rows
(soundness 4). So line ends always end a row, quotes work within a line, and a line that is not well-formed is a row of
nulls. Files whose cells contain line breaks are therefore not in this format; that a file is well-formed is declared.
"""

from __future__ import annotations

import csv
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from discreet.domain.reading import CsvFormat
from discreet.engines.duckdb.csv_bytes import PACKED, utf8_blocks
from discreet.errors import SourceError

__all__ = ["MAX_LINE", "CsvRows", "count_rows", "csv_header", "format_of", "row_blocks", "split_line"]

MAX_LINE = 2**20
"""Bytes. A longer line is a row of nulls, read in constant memory; so is a quoted cell beyond the 128 Ki of `csv`."""

_BLOCK = 2**18
_TOGETHER = 64  # blocks that are handed on as one
_END = b"\n"[0]
_MARK = b"\xef\xbb\xbf"
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
PLAIN = CsvFormat()
"""UTF-8, commas, double quotes."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_NOT_TEXT = (b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"BZh", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ")


def csv_header(path: Path, form: CsvFormat = PLAIN) -> list[str]:
    """The column names in the first line. Nothing after that line has a part in the answer.

    Raises:
        SourceError: no UTF-8 text, compressed, no header, no commas, or a name that is there twice. The message shows no
            content but column names.
    """
    try:
        start = b""
        for block in utf8_blocks(path, form.encoding, _BLOCK):
            start += block
            if len(start) > MAX_LINE or b"\n" in start or b"\r" in start:
                break
    except SourceError as wrong:
        if path.suffix.lower() == ".zst" and "zstandard" in str(wrong):
            raise
        kind = f", as its ending {path.suffix} says" if path.suffix.lower() in PACKED else ""
        raise SourceError(f"source '{path}': cannot be read{kind}; check the file and the permissions") from None
    line = start.removeprefix(_MARK).replace(b"\r", b"\n").split(b"\n", 1)[0]
    if start.startswith(_UTF_16):
        raise SourceError(f"source '{path}': is UTF-16; {_write('encoding', 'utf-16')}")
    if start.startswith(_NOT_TEXT) or b"\0" in line:
        raise SourceError(f"source '{path}': is not UTF-8 CSV text; unpack or convert it to CSV or Parquet first")
    if len(line) > MAX_LINE:
        raise SourceError(f"source '{path}': its first line is longer than {MAX_LINE} bytes; it must hold the column names")
    return _names(line, path, form)


def _names(line: bytes, path: Path, form: CsvFormat) -> list[str]:
    try:
        names = split_line(line.decode("utf-8"), None, form)
    except UnicodeDecodeError:
        usual = _write("encoding", "windows-1252")
        raise SourceError(f"source '{path}': its header is not UTF-8; if its encoding is Windows-1252, {usual}") from None
    if not names or names == [""]:
        raise SourceError(f"source '{path}': has no header line with column names; an empty file has no columns")
    others = [mark for mark in _SEPARATORS if mark in names[0] and mark != _separator(form)]
    if len(names) == 1 and not (form.quote and form.quote.encode() in line) and others:
        own = _SEPARATORS.get(_separator(form), repr(_separator(form)))
        raise SourceError(
            f"source '{path}': its header is one column, separated by {_SEPARATORS[others[0]]} instead of {own}; "
            f"{_write('separator', others[0])}"
        )
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise SourceError(f"source '{path}': column '{twice}' is in the header twice; rename one of the two")
    return names


def _write(key: str, value: str) -> str:
    """The advice to say what a file is like, in each place where that can be said."""
    option = f"{key}={value}".replace("\t", "\\t")
    return (
        f"write csv = {{ {key} = {json.dumps(value)} }} in a plan file, CsvFiles(…, {key}={value!r}) in a program, "
        f"--csv {shlex.quote(option)} in discreet init"
    )


def format_of(path: Path, form: CsvFormat) -> CsvFormat:
    """The format with the separator that the name of the file stands for, where none is given."""
    if form.separator:
        return form
    return replace(form, separator="\t" if ".tsv" in [ending.lower() for ending in path.suffixes[-2:]] else ",")


def _separator(form: CsvFormat) -> str:
    return form.separator or ","


def _reader(lines: Iterable[str], form: CsvFormat) -> Iterator[list[str]]:
    if not form.quote:
        return csv.reader(lines, strict=True, delimiter=_separator(form), quoting=csv.QUOTE_NONE)
    return csv.reader(lines, strict=True, delimiter=_separator(form), quotechar=form.quote)


def split_line(line: str, fields: int | None, form: CsvFormat = PLAIN) -> list[str] | None:
    """The cells of one line, None when it is not well-formed or has not exactly `fields` cells."""
    if "\0" in line:
        return None
    try:
        cells = next(_reader([line], form), [""])
    except csv.Error:
        return None
    return cells if fields is None or len(cells) == fields else None


@dataclass(frozen=True, slots=True)
class CsvRows:
    """Some rows of a CSV file. Their order has no meaning.

    Args:
        text: UTF-8; each row ends with a line feed, and NUL separates its cells. There are no quotes around cells.
        count: the number of rows in `text`.
        nulls: the number of further rows that are null in every column.
    """

    text: bytes
    count: int
    nulls: int


def row_blocks(path: Path, fields: int, form: CsvFormat = PLAIN) -> Iterator[CsvRows]:
    """The rows after the header. A line is one row; an empty line is not, except as an empty cell in a table of one column.

    Only `split_line` decides what a line means.
    """
    some: list[CsvRows] = []
    for block in _line_blocks(path, form.encoding):
        some.append(_rows(block, fields, form))
        if len(some) == _TOGETHER:
            yield _join(some)
            some = []
    if some:
        yield _join(some)


def count_rows(path: Path, fields: int, form: CsvFormat = PLAIN) -> int:
    """The number of rows that `row_blocks` gives, from the ends of lines alone.

    An empty line is a row in a table of one column, whose cell it is, and in no other.
    """
    blocks = _line_blocks(path, form.encoding)
    return sum(block.count(b"\n") - (_empty_lines(block) if fields > 1 else 0) for block in blocks)


def _empty_lines(block: bytes) -> int:
    """The number of empty lines in a block of whole lines."""
    if not block.startswith(b"\n") and b"\n\n" not in block:
        return 0
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == _END)
    return int((np.diff(ends, prepend=-1) == 1).sum())


def _join(some: list[CsvRows]) -> CsvRows:
    return CsvRows(b"".join(one.text for one in some), sum(one.count for one in some), sum(one.nulls for one in some))


def _rows(block: bytes, fields: int, form: CsvFormat = PLAIN) -> CsvRows:
    """The rows of a block of whole lines: by `csv` of those with quotes, all others at once."""
    quote = form.quote.encode()
    if not quote or quote not in block:
        return _plain_rows(block, fields, form)
    lines = _text(block[:-1]).split("\n")
    if block.count(quote) >= len(lines):  # most lines have some
        return _quoted_rows(lines, fields, form)
    plain = "\n".join([*(line for line in lines if form.quote not in line), ""])
    quoted = [line for line in lines if form.quote in line]
    return _join([_plain_rows(plain.encode(), fields, form), _quoted_rows(quoted, fields, form)])


def _quoted_rows(lines: list[str], fields: int, form: CsvFormat) -> CsvRows:
    """The rows of lines of which most have quotes."""
    rows = _read_together(lines, fields, form)
    if len(rows) != len(lines):  # a line is not well-formed, or a quote was open at the end of it
        rows = [_read_alone(line, fields, form) for line in lines]
    good = [row for row in rows if row is not None]
    nulls = sum(row is None and line != "" for row, line in zip(rows, lines, strict=True)) if None in rows else 0
    return CsvRows("\n".join([*good, ""]).encode(), len(good), nulls)


def _read_together(lines: list[str], fields: int, form: CsvFormat) -> list[str | None]:
    """The rows of all lines, None for one that has not `fields` cells; fewer or none where `csv` has to see each line alone.

    A row of a reader is one line or several: as many rows as lines show that each is one.
    """
    if "\0" in "".join(lines):
        return []
    try:
        return ["\0".join(cells) if len(cells or [""]) == fields else None for cells in _reader(lines, form)]
    except csv.Error:
        return []


def _read_alone(line: str, fields: int, form: CsvFormat) -> str | None:
    """The row of a line, None where it is not well-formed or has not `fields` cells."""
    if "\0" in line:
        return None
    cells = split_line(line, fields, form) if form.quote in line else line.split(_separator(form))
    return "\0".join(cells) if cells is not None and len(cells) == fields else None


def _plain_rows(block: bytes, fields: int, form: CsvFormat) -> CsvRows:
    """The rows of lines without quotes, all at once: each separator separates."""
    data = np.frombuffer(block, dtype=np.uint8)
    commas = data == ord(_separator(form))
    stops = np.flatnonzero(commas | (data == _END))
    last = np.flatnonzero(~commas[stops])
    ends = stops[last]
    lengths = np.diff(ends, prepend=-1)  # with the line ends
    good = np.diff(last, prepend=-1) == fields
    good[np.searchsorted(ends, np.flatnonzero(data == 0))] = False
    text = data * ~commas  # NUL for each of them
    kept = text if good.all() else text[np.repeat(good, lengths)]
    return CsvRows(_text(kept.tobytes()).encode(), int(good.sum()), int((~good & (lengths != 1)).sum()))


def _text(content: bytes) -> str:
    """The text with bytes that are not UTF-8 replaced, as in each cell: line feeds and NUL are parts of nothing else."""
    return content.decode("utf-8", errors="replace")


def _line_blocks(path: Path, encoding: str = PLAIN.encoding) -> Iterator[bytes]:
    """Blocks of whole lines after the header, each with its line feed. A line that is too long has a NUL instead."""
    rest, header = b"", True
    for block in _unix_blocks(utf8_blocks(path, encoding, _BLOCK)):
        cut = block.rfind(b"\n") + 1
        if not cut:
            rest += block
        else:
            lines, rest = rest + block[:cut], block[cut:]
            lines, header = (lines.partition(b"\n")[2], False) if header else (lines, False)
            if lines:
                yield lines if len(lines) <= MAX_LINE else _shorten(lines)
        if len(rest) > MAX_LINE:
            rest = b"\0"  # and every longer continuation up to the line end
    if rest and not header:
        yield rest + b"\n"


def _shorten(lines: bytes) -> bytes:
    return b"\n".join(line if len(line) <= MAX_LINE else b"\0" for line in lines.split(b"\n"))


def _unix_blocks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The file with every line end as a line feed. A carriage return at the end of a block waits for what follows it."""
    waiting = b""
    for new in blocks:
        block = waiting + new
        waiting = b"\r" if block.endswith(b"\r") else b""
        block = block.removesuffix(waiting)
        yield block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block
    yield waiting.replace(b"\r", b"\n")
