"""The parts of a workbook, looked at before they are unpacked: sizes, and the area of a sheet.

The reader holds the whole area of a sheet in memory, from the first cell to the last row and the last column that any cell
has. One cell far off would make it end the process; so the places of cells are read first, in constant memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import join, normpath
from xml.etree import ElementTree as ET
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

from discreet.errors import SourceError

__all__ = ["check_package", "not_readable", "too_large"]

_MOST_BYTES = 2**30
"""The most bytes of a part when it is unpacked."""
_MOST_DIRECTORY = 10**7
"""The most bytes of the parts that list the sheets."""
_MOST_CELLS = 50_000_000
"""The most cells of an area: some 2 GB in memory."""
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384

_BOOK = "xl/workbook.xml"
_TEXTS = "xl/sharedstrings.xml"
"""The list of the texts of all sheets, in lower case: the reader knows it by this name."""
_BLOCK = 2**20
_TAG = 1_000  # bytes, no fewer than the beginning of a cell has
_CELL = re.compile(rb'<(?:[^\s<>/:]+:)?c(?=[\s/>])(?:\s+(?:[^<>]*?\s)?r="([A-Z]{1,3})([0-9]{1,7})")?')
"""The beginning of a cell, with its column and row where it says them."""


def not_readable(path: Path) -> SourceError:
    """The error for a workbook that cannot be opened."""
    return SourceError(f"source '{path}': is not a readable .xlsx workbook; restore it from a copy, or save it again")


def too_large(path: Path) -> SourceError:
    """The error for a workbook whose cells take more memory than they may."""
    return SourceError(
        f"source '{path}': has more cells, or larger ones, than can be read; delete what stands far from the table, or save "
        "the table as CSV"
    )


def check_package(path: Path, sheet: str) -> None:
    """Checks that the sheet of this name can be unpacked and held in memory.

    Raises:
        SourceError: it cannot, there is no such sheet, or the file is damaged.
    """
    try:
        with ZipFile(path) as package:
            _check_format(package, path)
            sheets = _sheets(package)
            if sheet in sheets:
                _check_area(package, sheets[sheet], path)
                _check_parts(package, {*sheets.values()})
    except _LargeError:
        raise too_large(path) from None
    except SourceError:
        raise
    except Exception:  # noqa: BLE001 (whatever a damaged part makes of what unpacks it; its text may quote the part)
        raise not_readable(path) from None
    if sheet not in sheets:
        known = ", ".join(f"'{name}'" for name in [*sheets][:8])
        raise SourceError(f"source '{path}::{sheet}': there is no such sheet; names are compared exactly; it has {known}")


def _check_format(package: ZipFile, path: Path) -> None:
    if _BOOK not in package.namelist():
        raise SourceError(
            f"source '{path}': is packed, and is not an .xlsx workbook; save it as .xlsx (.ods and .xlsb are not read), or "
            "unpack it"
        )


class _LargeError(Exception):
    """A part is larger than what can be read."""


def _sheets(package: ZipFile) -> dict[str, str]:
    """The parts of the sheets by their names."""
    parts = [name.lower() for name in package.namelist()]
    if len({*parts}) < len(parts):
        raise BadZipFile
    book = _directory(package, _BOOK)
    targets = {one.get("Id", ""): one.get("Target", "") for one in _directory(package, "xl/_rels/workbook.xml.rels")}
    found = {}
    for one in book.iter():
        if one.tag.rpartition("}")[2] == "sheet":
            key = next((value for name, value in one.attrib.items() if name.endswith("}id")), "")
            found[one.get("name", "")] = normpath(join("xl", targets.get(key, ""))).lstrip("/")
    return found


def _check_parts(package: ZipFile, sheets: set[str]) -> None:
    """Checks the parts that are read with any sheet, such as texts and styles."""
    for part in package.namelist():
        if part not in sheets and part.lower().endswith((".xml", ".rels")):
            blocks = _blocks(package, part, _MOST_BYTES)
            if part.lower() == _TEXTS:
                _check_counts(blocks)
            for _ in blocks:
                pass


def _check_counts(blocks: Iterator[bytes]) -> None:
    """Checks the number of texts that the beginning of the list states: the reader makes room for them."""
    roots: list[dict[str, str]] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda _, attributes: roots.append(attributes)
    while not roots and (block := next(blocks, b"")):
        parser.Parse(block)
    if roots and max(int(roots[0].get(name, "0")) for name in ("count", "uniqueCount")) > _MOST_CELLS:
        raise _LargeError


def _directory(package: ZipFile, part: str) -> ET.Element:
    return ET.fromstring(b"".join(_blocks(package, part, _MOST_DIRECTORY)))  # noqa: S314 (entities that grow are refused by expat)


def _blocks(package: ZipFile, part: str, most: int) -> Iterator[bytes]:
    """The content of a part, whatever its directory says of its size."""
    read = 0
    with package.open(part) as file:
        while block := file.read(_BLOCK):
            read += len(block)
            if read > most:
                raise _LargeError
            yield block


def _check_area(package: ZipFile, part: str, path: Path) -> None:
    rows = columns = 0
    rest = b""
    for block in _blocks(package, part, _MOST_BYTES):
        text = rest + block
        end = max(text.rfind(b"<"), len(text) - _TAG)
        text, rest = text[:end], text[end:]
        rows, columns = _furthest(text, rows, columns, path)
    rows, columns = _furthest(rest, rows, columns, path)
    if rows > _MOST_ROWS or columns > _MOST_COLUMNS or rows * columns > _MOST_CELLS:
        raise _LargeError


def _furthest(text: bytes, rows: int, columns: int, path: Path) -> tuple[int, int]:
    """The last row and column of cells, each of which says where it is."""
    places = _CELL.findall(text)
    if not places:
        return rows, columns
    names, numbers = {name for name, _ in places}, {number for _, number in places}
    if b"" in names:
        raise SourceError(f"source '{path}': has cells that do not say where they are; save it again with Excel")
    return max(rows, *map(int, numbers)), max(columns, *map(_column, names))


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
