"""The form that a SAS transport file must have, so that no row decides about another.

Such a file has records of 80 bytes, and rows stand one after the other in them, filled with blanks to the end of a record.
Version 5 does not say how many rows there are, and version 8 not where it states 0: blank rows at the end are taken for
filling, unless a row with content follows. And only the header record of another data set says where the rows of the one
before it end, which the reader does not look for.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from discreet.engines.base import ColumnType
from discreet.errors import SourceError

__all__ = ["check_transport"]

_RECORD = 80
_BLOCK = _RECORD * 2**14
_VERSION_5 = b"HEADER RECORD*******LIBRARY "
_ROWS = re.compile(rb"HEADER RECORD[*]{7}OBSV8   HEADER RECORD!{7} *([0-9]+)")
"""The record before the rows in version 8, with their number; 0 where the program that wrote it did not know it."""
_MEMBERS = (b"HEADER RECORD*******MEMBER  HEADER RECORD!!!!!!!", b"HEADER RECORD*******MEMBV8  HEADER RECORD!!!!!!!")
"""The beginning of the record with which a data set begins, in versions 5 and 8."""


def check_transport(path: Path, columns: Collection[ColumnType]) -> None:
    """The end of the rows is the same whatever they hold: one data set, and a column of numbers where none are counted.

    A missing number begins with a point, a letter or `_`, and one number alone, 3.7e-40, is stored as blanks. Rows are
    searched for the header of a second data set, as every reader must: a text that is such a record, at its
    place, would end the rows by the format itself. That the file is well-formed is declared public.

    Raises:
        SourceError: the file has a second data set, or columns of text only and no number of rows.
    """
    with path.open("rb") as file:
        blocks = iter(lambda: file.read(_BLOCK), b"")
        first = next(blocks, b"")
        members = _members(first) + sum(map(_members, blocks))
    if members > 1:
        raise SourceError(f"source '{path}': has more than one data set; write each into a file of its own")
    if not _counts_rows(first) and all(kind.kind == "text" for kind in columns):
        shown = "of version 5" if first.startswith(_VERSION_5) else "that states no number of rows,"
        raise SourceError(
            f"source '{path}': is a SAS transport file {shown} with columns of text only, which does not say how many "
            "empty rows it ends with; write it as version 8 or as Parquet"
        )


def _counts_rows(first: bytes) -> bool:
    """True if the beginning of a file states its number of rows, or is the whole file and has no rows."""
    found = None if first.startswith(_VERSION_5) else _ROWS.search(first)
    return found is not None and (int(found[1]) > 0 or len(first) <= found.start() + _RECORD)


def _members(block: bytes) -> int:
    """The number of records of a block, which begins with one, that begin a data set."""
    return sum(_beginnings(block, mark) for mark in _MEMBERS)


def _beginnings(block: bytes, mark: bytes) -> int:
    found, place = 0, block.find(mark)
    while place >= 0:
        found += place % _RECORD == 0
        place = block.find(mark, place + 1)
    return found
