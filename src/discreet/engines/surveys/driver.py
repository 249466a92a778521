"""Files of one package as a source, read some rows after the others.

Numbers, days and texts are made row by row, by what the header says of their column; nothing is guessed from cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.cube.cube import Cube
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.engines.base import CodeList, CountedCells, Engine, Header, check_same
from discreet.engines.duckdb.database import Database
from discreet.engines.duckdb.driver import cells_of_parts, count_parts
from discreet.engines.files import Listing, listed_snapshot
from discreet.engines.resources import Limits
from discreet.engines.rowwise import Rowwise
from discreet.engines.surveys.formats import Days
from discreet.engines.surveys.outline import StoredColumn, SurveyFile, code_lists_of, read_rows, survey_file
from discreet.errors import SourceError
from discreet.exact.processes import check_polars

__all__ = ["open_survey"]

_CELLS = 4_000_000
"""Cells that are read at once: some 300 MB as Python values. The reader passes all rows before a part once more."""
_LEAST_ROWS = 20_000


def open_survey(paths: Sequence[Path], listing: Listing, limits: Limits) -> Engine:
    """An engine over files of SPSS, Stata or SAS.

    Raises:
        SourceError: as `survey_file`, or a file differs from the first in columns or types.
    """
    return _SurveyEngine(paths, listing, limits)


class _SurveyEngine:
    """Files of one package, one part after the other; memory stays flat."""

    def __init__(self, paths: Sequence[Path], listing: Listing, limits: Limits) -> None:
        self._paths, self._listing, self._database = paths, listing, Database(limits)
        self._chosen: Rowwise | None = None
        self._opened_as = self.snapshot()
        self._files = self._headers()

    @property
    def header(self) -> Header:
        return self._files[0].header if self._chosen is None else self._chosen.header

    def select(self, chosen: Rowwise) -> None:
        self._chosen = chosen

    @property
    def code_lists(self) -> Mapping[str, CodeList]:
        """As the first file has them, or the catalogue beside it."""
        return code_lists_of(self._files[0])

    def snapshot(self) -> str:
        return listed_snapshot(self._paths, self._listing)

    def check_ready(self) -> None:
        check_polars()
        now = self.snapshot()
        if now != self._opened_as:
            self._check_rewritten()
            self._opened_as = now

    def _headers(self) -> list[SurveyFile]:
        files = [survey_file(path) for path in self._paths]
        for file in files[1:]:
            check_same(file.path, file.header, self._paths[0], files[0].header)
        return files

    def _check_rewritten(self) -> None:
        """The files that were written again have the headers by which cells are read, and rows that stand by themselves."""
        for known, file in zip(self._files, self._headers(), strict=True):
            if (file.columns, file.encoding) != (known.columns, known.encoding):
                raise SourceError(
                    f"source '{file.path}': was written again with other columns, types or encoding since it was opened; "
                    "open it again"
                )

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        return count_parts(self._database, self._chosen, self.header, self._frames, (axes, moments))

    def count_rows(self) -> int:
        return sum(frame.height for frame in self._frames(()))

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        return cells_of_parts(self._database, self._chosen, self.header, self._frames, names)

    def _frames(self, wanted: Sequence[str]) -> Iterator[Any]:
        """These columns of all rows, or any one where rows alone count."""
        names = [*wanted] or [*self._files[0].header][:1]
        for file in self._files:
            yield from _frames(file, names)

    def close(self) -> None:
        self._database.close()


def _frames(file: SurveyFile, names: Sequence[str]) -> Iterator[Any]:
    import polars as pl

    first, most = 0, max(_LEAST_ROWS, _CELLS // max(1, len(names)))
    while names:
        cells = read_rows(file, names, first, most)
        rows = len(cells[names[0]])
        if rows:
            yield pl.DataFrame([_series(file, name, cells.pop(name)) for name in names])
        if rows < most:
            return
        first += rows


def _series(file: SurveyFile, name: str, cells: Sequence[object]) -> Any:
    """A column as its type says. A cell of another type is null, which the reader never gives."""
    import polars as pl

    column = file.columns[name]
    if column.kind.kind == "text":
        return pl.Series(name, [_decode(cell, file.encoding) for cell in cells], dtype=pl.String)
    if column.days is not None:
        return _days(pl.Series(name, [_number(cell) for cell in cells], dtype=pl.Float64), column.days)
    return _numbers(name, cells, column)


def _decode(cell: object, encoding: str) -> str | None:
    return cell.encode("latin-1", errors="replace").decode(encoding, errors="replace") if isinstance(cell, str) else None


def _number(cell: object) -> float | None:
    return float(cell) if isinstance(cell, int | float) else None


def _numbers(name: str, cells: Sequence[object], column: StoredColumn) -> Any:
    import polars as pl

    types = {"TINYINT": pl.Int8, "SMALLINT": pl.Int16, "INTEGER": pl.Int32, "FLOAT": pl.Float32}
    numbers = pl.Series(name, [_number(cell) for cell in cells], dtype=pl.Float64)
    return numbers.cast(types.get(column.kind.shown, pl.Float64), strict=False)


_MOST_DAYS = 100_000_000
"""Days beyond the years that can be declared, and within those that can be stored: later ones are as good as the last."""


def _days(numbers: Any, days: Days) -> Any:
    """The day of each moment; null where there is none."""
    import datetime as dt

    import polars as pl

    whole = (numbers / days.units).floor() + (days.first - dt.date(1970, 1, 1)).days
    finite = whole.is_finite().fill_null(value=False)
    return whole.clip(-_MOST_DAYS, _MOST_DAYS).set(~finite, None).cast(pl.Int32).cast(pl.Date)
