"""A sheet in, its rows out, in a separate process: `python -P _sheet.py FILE SHEET BYTES`. Only this file loads the reader.

The reader prints a line of its own where a moment is beyond its calendar, and takes memory as a workbook wishes: here nobody
reads the one, and BYTES bounds the other. The file imports nothing of discreet, so that the process begins quickly.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

__all__ = ["END", "TOO_LARGE", "cell_json", "rows"]

END = "end"
"""The last line, without which the rows before it are not all."""
TOO_LARGE = 75
"""The exit code of a process that had to take more memory than it may."""

_ENDS = (KeyboardInterrupt, SystemExit, MemoryError)
"""The reading ends, whichever row it has reached."""
_WHOLE = 1e16
"""Whole numbers below are written without a point, as Excel shows them."""
_ERROR = re.compile(
    rb"""(<(?P<of>[^\s<>/:]+:)?c\s(?:[^<>]*?\s)?t=["']e["'](?:[^<>]*[^<>/])?>(?:(?!</?(?P=of)?c[\s>/]).)*?<(?P=of)?v>)[^<]+""",
    re.DOTALL,
)
"""A cell with an error, to the text of the error. The reader has a list of errors; at any other one it gives up."""


def main(path: str, sheet: str, most: int) -> None:
    """Writes a line of JSON for each row: the texts of its cells (`cell_json`), or null where the row cannot be read."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # where it aborts it leaves no file behind
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        for row in rows(Path(path), sheet):
            sys.stdout.write(json.dumps(None if row is None else [cell_json(cell) for cell in row]) + "\n")
        sys.stdout.write(json.dumps(END) + "\n")
        sys.stdout.flush()
    except MemoryError:
        sys.exit(TOO_LARGE)


def rows(path: Path, sheet: str) -> Iterator[list[Any] | None]:
    """The rows of the area of a sheet; None for one that cannot be read."""
    page = _page(path, sheet)
    found = iter(page.iter_rows())
    for _ in range(page.total_height + 1):  # to its last row; an error that comes back for ever ends there
        try:
            row = next(found)
        except StopIteration:
            return
        except _ENDS:
            raise
        except BaseException:  # noqa: BLE001 (a moment beyond the reader's calendar; its panic is not an Exception)
            row = None
        yield row


def _page(path: Path, sheet: str) -> Any:
    """The sheet. Where the reader gives up, as at an error that it does not know, all errors are taken for one."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with CalamineWorkbook.from_path(path) as book:
            return book.get_sheet_by_name(sheet)
    except CalamineError:
        with CalamineWorkbook.from_filelike(_with_known_errors(path)) as book:
            return book.get_sheet_by_name(sheet)


def _with_known_errors(path: Path) -> BinaryIO:
    """The cells of a workbook; every error in a cell is the same one."""
    copy = io.BytesIO()
    with ZipFile(path) as book, ZipFile(copy, "w") as known:
        for part in book.namelist():
            if part.lower().endswith((".xml", ".rels")):
                known.writestr(part, _ERROR.sub(rb"\1#N/A", book.read(part)))
    copy.seek(0)
    return copy


def cell_json(cell: object) -> str | bool | None:
    """The text that a cell stands for; None where it is empty, False for an error or a time without a day. Never raises."""
    if isinstance(cell, str):
        return cell or None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if abs(cell) < _WHOLE and cell.is_integer() else float.__repr__(cell)
    if isinstance(cell, int):
        return str(cell)
    if isinstance(cell, dt.datetime):
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, dt.date) else False


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
