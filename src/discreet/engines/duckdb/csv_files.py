"""CSV files as a source, staged line by line through `csv_lines`, because no CSV reader keeps rows apart on every input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cube.cube import Cube
from discreet.cube.keys import KeyScan
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.cube.value_paths import Path as ValuePath
from discreet.domain.columns import is_numeric
from discreet.domain.reading import CsvFormat
from discreet.engines.base import CountedCells, Engine, Header, PersonReading
from discreet.engines.duckdb.chosen import read_by, table_of
from discreet.engines.duckdb.csv_lines import count_rows, csv_header, format_of, row_blocks
from discreet.engines.duckdb.database import Database
from discreet.engines.duckdb.dialect import DUCKDB, quote_name
from discreet.engines.duckdb.driver import STAGED, TEXT, cells_of_parts, count_frames
from discreet.engines.duckdb.keys import keys_of_frames
from discreet.engines.duckdb.persons import LINES, add_persons_of_frames, collect_frames
from discreet.engines.files import Listing, listed_snapshot
from discreet.engines.person_scans import PartReading, parts_sql
from discreet.engines.persons import key_rows_sql
from discreet.engines.resources import Limits
from discreet.engines.sql import aggregate_sql
from discreet.engines.texts import KeyTable
from discreet.errors import InternalError, SourceError
from discreet.exact.processes import check_polars

if TYPE_CHECKING:
    from discreet.engines.rowwise import Rowwise

__all__ = ["open_csv"]


def open_csv(paths: Sequence[Path], listing: Listing, limits: Limits, form: CsvFormat) -> Engine:
    """An engine over CSV files of this format.

    Raises:
        SourceError: a header is not valid, or differs from the header of the first file.
    """
    return _CsvEngine(paths, listing, limits, form)


class _CsvEngine:
    """CSV files, one batch of lines after the other; memory stays flat."""

    def __init__(self, paths: Sequence[Path], listing: Listing, limits: Limits, form: CsvFormat) -> None:
        self._paths, self._listing, self._database = paths, listing, Database(limits)
        self._chosen: Rowwise | None = None
        self._formats = [format_of(path, form) for path in paths]
        self._names = [csv_header(path, form) for path, form in zip(paths, self._formats, strict=True)]
        for path, names in zip(paths, self._names, strict=True):
            there = set(names)  # a file may have a hundred thousand columns
            missing = [name for name in self._names[0] if name not in there]
            if missing:
                raise SourceError(
                    f"source '{path}': has no column '{missing[0]}', unlike '{paths[0]}'; add it, or leave the file out"
                )

    @property
    def header(self) -> Header:
        return dict.fromkeys(self._names[0], TEXT) if self._chosen is None else self._chosen.header

    def select(self, chosen: Rowwise) -> None:
        self._chosen = chosen

    def snapshot(self) -> str:
        return listed_snapshot(self._paths, self._listing)

    def check_ready(self) -> None:
        check_polars()

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        wanted = list(dict.fromkeys([axis.name for axis in axes] + [moment.name for moment in moments]))
        paths = [*(axis.path for axis in axes), *(moment.path for moment in moments)]
        given = table_of(self._chosen, wanted, STAGED)
        table = _with_points(given, paths, self.header, self._formats[0].decimal)
        statement = aggregate_sql(DUCKDB, table, self.header, axes, moments)
        return count_frames(self._database, statement, self._frames(read_by(self._chosen, wanted)), axes, moments)

    def can_add_persons(self) -> bool:
        return True

    def add_persons(self, scan: PersonReading) -> Cube:
        columns = list(scan.columns)
        table = _with_points(STAGED, scan.read, self.header, self._formats[0].decimal, scan.person)
        statement = parts_sql(LINES, table, self.header, scan)
        with self._database.cursor() as cursor:
            return add_persons_of_frames(cursor, statement, STAGED, self._frames(columns), scan)

    def can_collect(self) -> bool:
        return True

    def collect(self, cursor: Any, table: str, scan: PartReading) -> None:
        named = (scan.rest.person, scan.column) if isinstance(scan, KeyScan) else (scan.person,)
        paths = scan.rest.read if isinstance(scan, KeyScan) else scan.read
        given = _with_points(STAGED, paths, self.header, self._formats[0].decimal, *named)
        statement = parts_sql(LINES, given, self.header, scan)
        collect_frames(cursor, statement, STAGED, self._frames(list(scan.columns)), (table, scan))

    def can_keep_keys(self) -> bool:
        return True

    @contextmanager
    def open_keys(self, scan: KeyScan) -> Iterator[KeyTable]:
        named = (scan.rest.person, scan.column)
        table = _with_points(STAGED, scan.rest.read, self.header, self._formats[0].decimal, *named)
        statement = key_rows_sql(LINES, table, self.header, scan)
        with (
            self._database.cursor() as cursor,
            keys_of_frames(cursor, statement, STAGED, self._frames(scan.columns), scan) as kept,
        ):
            yield kept

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        return cells_of_parts(self._database, self._chosen, self.header, self._frames, names)

    def _frames(self, wanted: Sequence[str]) -> Iterator[Any]:
        for path, names, form in zip(self._paths, self._names, self._formats, strict=True):
            yield from _frames(path, names, wanted, form)

    def count_rows(self) -> int:
        files = zip(self._paths, self._names, self._formats, strict=True)
        return sum(count_rows(path, len(names), form) for path, names, form in files)

    def close(self) -> None:
        self._database.close()


def _with_points(table: str, paths: Sequence[ValuePath], header: Header, decimal: str, *further: str) -> str:
    """The table with a point as the decimal mark: in the texts of columns of numbers a cell with a point is not a number."""
    if decimal == ".":
        return table
    numeric = {path.name for path in paths if is_numeric(path.column) and header[path.name].kind == "text"}
    cells = {name: quote_name(name) for name in (*further, *(path.name for path in paths))}
    cells |= {
        name: f"CASE WHEN NOT contains({cells[name]}, '.') THEN replace({cells[name]}, ',', '.') END" for name in numeric
    }
    columns = ", ".join(f"{cell} AS {quote_name(name)}" for name, cell in cells.items())
    return f"(SELECT {columns or '1'} FROM {table})"


def _frames(path: Path, names: Sequence[str], wanted: Sequence[str], form: CsvFormat) -> Iterator[Any]:
    import polars as pl

    places = [names.index(name) for name in wanted]
    header = "\0".join(map(str, range(len(names)))).encode() + b"\n"
    for rows in row_blocks(path, len(names), form):
        if rows.count:
            yield _frame(_cells(header + rows.text, places, rows.count), wanted, rows.count)
        if rows.nulls:
            nothing = pl.Series([None], dtype=pl.String).new_from_index(0, rows.nulls)
            yield _frame([nothing] * len(places), wanted, rows.nulls)


def _cells(text: bytes, places: Sequence[int], count: int) -> list[Any]:
    """Some columns of rows that `row_blocks` wrote. Nothing is guessed; the header keeps a byte-order mark in its cell."""
    import polars as pl

    if not places:
        return []
    chosen = [str(place) for place in sorted(set(places))]
    read = pl.read_csv(text, separator="\0", quote_char=None, infer_schema=False, empty_string_is_null=False, columns=chosen)
    if read.height != count:
        raise InternalError("rows of a CSV file were read otherwise than they were written")
    return [read[str(place)] for place in places]


def _frame(series: Sequence[Any], names: Sequence[str], height: int) -> Any:
    import polars as pl

    if not series:  # a request without columns still counts rows
        return pl.DataFrame({"row": pl.Series([True]).new_from_index(0, height)})
    return pl.DataFrame([one.alias(name) for one, name in zip(series, names, strict=True)])
