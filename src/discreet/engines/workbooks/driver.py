"""A sheet of a workbook, read through python-calamine.

Each cell has a type of its own, so that a column has none. Every cell is read as the text that it stands for, as in a CSV
file, and what the text means is for the declaration to say. Nothing is guessed from other cells.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
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
from discreet.engines.workbooks.package import check_package, not_readable
from discreet.errors import SourceError
from discreet.exact.processes import check_polars

__all__ = ["cell_text", "open_sheet"]

_ROWS = 20_000
_ENDS = (KeyboardInterrupt, SystemExit, MemoryError)
"""What ends a reading, whichever row it is at."""
_LEAST_COLUMNS = 2


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
        try:
            first = next(_rows(path, sheet), None) or []
        except (SourceError, *_ENDS):
            raise
        except BaseException:  # noqa: BLE001 (whatever the reader raises; a panic is not an Exception)
            raise not_readable(path) from None
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
        except Exception:  # noqa: BLE001 (as above; its text may quote a value)
            raise unreadable() from None

    def _read(self, wanted: Sequence[str]) -> Iterator[Any]:
        found = self.snapshot()
        if found != self._checked:  # written anew since, which may be fine, or too large
            check_package(self._path, self._sheet)
            self._checked = found
        rows = _rows(self._path, self._sheet)
        first = next(rows, None)
        if _places(first or [], "") != self._places:
            raise unreadable()
        # A row without content is not a row of the table, wherever it stands; one that cannot be read has content.
        kept = (row for row in rows if row is None or any(row[place] != "" for place in self._places.values()))
        while some := [*islice(kept, _ROWS)]:
            yield _frame(some, {name: self._places[name] for name in wanted})

    def close(self) -> None:
        self._database.close()


def _rows(path: Path, sheet: str) -> Iterator[list[Any] | None]:
    """The rows of the area of a sheet; None for one that cannot be read."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise SourceError(
            "source: Excel workbooks need the package 'python-calamine'; pip install 'discreet[excel]'"
        ) from None
    with CalamineWorkbook.from_path(path) as book:
        page = book.get_sheet_by_name(sheet)
        rows = iter(page.iter_rows())
        for _ in range(page.total_height + 1):  # to its last row; an error that comes back for ever ends there
            try:
                row = next(rows)
            except StopIteration:
                return
            except _ENDS:
                raise
            except BaseException:  # noqa: BLE001 (a moment beyond the reader's calendar; its panic is not an Exception)
                row = None
            yield row


def _places(first: Sequence[Any], shown: str) -> dict[str, int]:
    """The columns that the first row names, with their places; a column without a name is never read."""
    names = [cell_text(cell) for cell in first]
    places = {name: place for place, name in enumerate(names) if name is not None}
    if len(places) < sum(name is not None for name in names):
        raise SourceError(f"source '{shown}': has two columns of one name; rename one of the two")
    if len(places) < _LEAST_COLUMNS:
        raise SourceError(
            f"source '{shown}': its first row must name at least two columns: delete what stands above the names, and add a "
            "column with a number for each row where there is only one, so that an empty cell is still a row"
        )
    return places


def _frame(rows: Sequence[Sequence[Any] | None], places: Mapping[str, int]) -> Any:
    import polars as pl

    if not places:  # a request without columns still counts rows
        return pl.DataFrame({"row": pl.Series([True]).new_from_index(0, len(rows))})
    return pl.DataFrame([
        pl.Series(name, [None if row is None else cell_text(row[place]) for row in rows], dtype=pl.String)
        for name, place in places.items()
    ])  # fmt: skip


_WHOLE = 1e16
"""Whole numbers below are written without a point, as Excel shows them."""


def cell_text(cell: object) -> str | None:
    """The text that a cell stands for; None where it is empty, an error or a time without a day. Never raises."""
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
    return cell.isoformat() if isinstance(cell, dt.date) else None
