"""A sheet of a workbook, read through python-calamine in a process of its own.

Each cell has a type of its own, so that a column has none. Every cell is read as the text that it stands for, as in a CSV
file, and what the text means is for the declaration to say. Nothing is guessed from other cells.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from discreet.cube.cube import Cube
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.engines.base import CountedCells, Engine, Header, unreadable
from discreet.engines.duckdb.database import Database
from discreet.engines.duckdb.driver import TEXT, cells_of_parts, count_parts
from discreet.engines.files import file_snapshot
from discreet.engines.resources import Limits
from discreet.engines.rowwise import Rowwise
from discreet.engines.workbooks._sheet import END, TOO_LARGE
from discreet.engines.workbooks.package import check_package, not_readable, too_large
from discreet.errors import SourceError
from discreet.exact.processes import check_polars

__all__ = ["open_sheet"]

_ROWS, _BYTES = 20_000, 2**26
"""The most rows, and the most bytes of rows, that are counted together."""
_MEMORY = 2**32
"""The memory of the process that reads; an area of the most cells that are read takes half of it."""
_LEAST_COLUMNS = 2

Row = list[str | bool | None] | None
"""The texts of the cells of a row, as `_sheet.cell_json` gives them; None for a row that cannot be read."""


def open_sheet(path: Path, sheet: str, limits: Limits) -> Engine:
    """An engine over a sheet of an .xlsx file, whose first row has the names of the columns.

    Raises:
        SourceError: the extra is missing, the file is damaged or too large, there is no such sheet, or its first row does
            not name the columns.
    """
    return _SheetEngine(path, sheet, limits)


class _SheetEngine:
    """One sheet, loaded as a whole whenever it is read."""

    def __init__(self, path: Path, sheet: str, limits: Limits) -> None:
        self._path, self._sheet, self._database = path, sheet, Database(limits)
        self._chosen: Rowwise | None = None
        self._checked = self.snapshot()
        check_package(path, sheet)
        with closing(_rows(path, sheet)) as rows:
            first = next(rows, None) or []
        self._places = _places(first, f"{path}::{sheet}")

    @property
    def header(self) -> Header:
        return dict.fromkeys(self._places, TEXT) if self._chosen is None else self._chosen.header

    def select(self, chosen: Rowwise) -> None:
        self._chosen = chosen

    def snapshot(self) -> str:
        return file_snapshot([self._path])

    def check_ready(self) -> None:
        check_polars()

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        return count_parts(self._database, self._chosen, self.header, self._frames, (axes, moments))

    def count_rows(self) -> int:
        return sum(frame.height for frame in self._frames(()))

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        return cells_of_parts(self._database, self._chosen, self.header, self._frames, names)

    def _frames(self, wanted: Sequence[str]) -> Iterator[Any]:
        try:
            yield from self._read(wanted)
        except Exception:  # noqa: BLE001 (whatever it is, its text may quote a value)
            raise unreadable() from None

    def _read(self, wanted: Sequence[str]) -> Iterator[Any]:
        found = self.snapshot()
        if found != self._checked:  # written anew since, which may be fine, or too large
            check_package(self._path, self._sheet)
            self._checked = found
        with closing(_rows(self._path, self._sheet)) as rows:
            first: Row = next(rows, None)
            if _places(first or [], "") != self._places:
                raise unreadable()
            for some in _some(row for row in rows if self._has_content(row)):
                yield _frame(some, {name: self._places[name] for name in wanted})

    def _has_content(self, row: Row) -> bool:
        """A row without content is not a row of the table, wherever it stands; one that cannot be read has content."""
        return row is None or any(row[place] is not None for place in self._places.values())

    def close(self) -> None:
        self._database.close()


def _rows(path: Path, sheet: str) -> Generator[Row, None, None]:
    """The rows of the area of a sheet.

    Raises:
        SourceError: the extra is missing, or the file is damaged or too large.
    """
    if find_spec("python_calamine") is None:
        raise SourceError("source: Excel workbooks need the package 'python-calamine'; pip install 'discreet[excel]'")
    process = _begin(path, sheet)
    try:
        for line in process.stdout or ():
            row = json.loads(line)
            if row == END:
                return
            yield row
        raise too_large(path) if process.wait() in {TOO_LARGE, *_KILLED} else not_readable(path)
    finally:
        process.kill()
        with suppress(OSError), process:
            pass  # its pipe is closed, and it is waited for


_KILLED = (-6, -9, -11)
"""By its own abort, which is what the reader does where it gets no memory, by the system, or for a broken stack."""


def _begin(path: Path, sheet: str) -> subprocess.Popen[bytes]:
    script = str(Path(__file__).with_name("_sheet.py"))
    command = [sys.executable or "", "-P", script, str(path.absolute()), sheet, str(_MEMORY)]
    try:
        return subprocess.Popen(  # noqa: S603 (a constant command; names are arguments of it)
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        raise SourceError(f"source '{path}': the process that reads workbooks cannot be started") from None


def _some(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """The rows, some together, so that neither many rows nor long texts take much memory."""
    some: list[Row] = []
    size = 0
    for row in rows:
        some.append(row)
        size += sum(len(cell) for cell in row or () if isinstance(cell, str))
        if len(some) >= _ROWS or size >= _BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _places(first: Sequence[Any], shown: str) -> dict[str, int]:
    """The columns that the first row names, with their places; a column without a name is never read."""
    names = [cell if isinstance(cell, str) else None for cell in first]
    places = {name: place for place, name in enumerate(names) if name is not None}
    if len(places) < sum(name is not None for name in names):
        raise SourceError(f"source '{shown}': has two columns of one name; rename one of the two")
    if len(places) < _LEAST_COLUMNS:
        raise SourceError(
            f"source '{shown}': its first row must name at least two columns: delete what stands above the names, and add a "
            "column with a number for each row where there is only one, so that an empty cell is still a row"
        )
    return places


def _frame(rows: Sequence[Row], places: Mapping[str, int]) -> Any:
    import polars as pl

    if not places:  # a request without columns still counts rows
        return pl.DataFrame({"row": pl.Series([True]).new_from_index(0, len(rows))})
    return pl.DataFrame([
        pl.Series(name, [None if row is None else row[place] or None for row in rows], dtype=pl.String)
        for name, place in places.items()
    ])  # fmt: skip
