"""The default engine, DuckDB: its statements, and the meaning of its answers; `database` opens it.

A source becomes a table expression and a connection; one statement answers. Frames enter through the Arrow C interface
alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube, compact, empty_cube, join, order_of, row_count, sum_dtype
from discreet.cube.keys import KeyScan
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.engines.base import (
    ColumnType,
    CountedCells,
    CubeRequest,
    Engine,
    Header,
    PersonReading,
    columns_of,
    unreadable,
)
from discreet.engines.duckdb.chosen import read_by, table_of
from discreet.engines.duckdb.database import Database
from discreet.engines.duckdb.dialect import DUCKDB, LIMB, quote_name
from discreet.engines.duckdb.frames import ArrowOnly, is_lazy, keep_declared, lazy
from discreet.engines.duckdb.keys import keys_of_statement
from discreet.engines.duckdb.persons import add_persons_sql
from discreet.engines.keys import unpack, words_of
from discreet.engines.person_scans import PartReading, answer_cube, parts_sql
from discreet.engines.persons import key_rows_sql
from discreet.engines.resources import Limits
from discreet.engines.sql import aggregate_sql
from discreet.engines.texts import KeyTable
from discreet.errors import SourceError
from discreet.exact.processes import check_polars

if TYPE_CHECKING:
    from discreet.engines.rowwise import Rowwise

__all__ = [
    "STAGED",
    "TEXT",
    "UNREAD",
    "Answer",
    "cells_of",
    "cells_of_parts",
    "count_frames",
    "count_parts",
    "count_scans",
    "cube_of",
    "file_literal",
    "open_frame",
    "read_header",
]

Answer = Mapping[str, NDArray[Any]]
Frames = Callable[[Sequence[str]], Iterable[Any]]
"""The rows of a source as frames of these of its columns, one part after the other."""

STAGED = "discreet_source"
TEXT = ColumnType("text", "text")
UNREAD = ColumnType("other", "an undeclared column")
# Not UHUGEINT, whose comparison with a negative bound fails on values from 2**127 on.
_INTEGERS = {"HUGEINT", *(f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT"))}
_KINDS = {
    **dict.fromkeys(_INTEGERS, "integer"),
    **dict.fromkeys(["FLOAT", "DOUBLE"], "float"),
    **dict.fromkeys(["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"], "timestamp"),
    "VARCHAR": "text",
    '"NULL"': "text",  # nothing but nulls
    "BOOLEAN": "boolean",
    "DATE": "date",
}


def count_frames(
    database: Database, statement: str, frames: Iterable[Any], axes: Sequence[KeyAxis], moments: Sequence[Moment]
) -> Cube:
    """The cube of all rows of the frames, each of which the statement finds as the table `STAGED`."""
    return count_scans(database, [statement], frames, [(axes, moments)])[0]


def count_scans(
    database: Database, statements: Sequence[str], frames: Iterable[Any], scans: Sequence[CubeRequest]
) -> list[Cube]:
    """As `count_frames`, a cube for each statement; the frames are read once."""
    cubes = [empty_cube(len(axes), [moment.path.high - moment.path.low for moment in moments]) for axes, moments in scans]
    with database.cursor() as cursor:
        for frame in frames:
            cursor.register(STAGED, ArrowOnly(frame))
            for place, (statement, scan) in enumerate(zip(statements, scans, strict=True)):
                cubes[place] = join([cubes[place], cube_of(cursor.execute(statement).fetchnumpy(), *scan)])
            cursor.unregister(STAGED)
    return cubes


_FETCHED = 50_000


def cells_of(cursor: Any, table: str, header: Header, names: Iterable[str]) -> Iterator[CountedCells]:
    """The cells of these columns of a table expression; a date or the day of a timestamp as text, whatever its year."""
    for name in names:
        cell = quote_name(name)
        if header[name].kind in {"date", "timestamp"}:
            cell = f"CAST(CAST({cell} AS DATE) AS VARCHAR)"
        answer = cursor.execute(f"SELECT {cell}, count(*) FROM {table} GROUP BY 1")
        while some := answer.fetchmany(_FETCHED):
            yield name, some


def cells_of_frames(
    database: Database, table: str, header: Header, frames: Iterable[Any], names: Sequence[str]
) -> Iterator[CountedCells]:
    """`cells_of` a table expression over `STAGED`, one frame after the other."""
    with database.cursor() as cursor:
        for frame in frames:
            cursor.register(STAGED, ArrowOnly(frame))
            yield from cells_of(cursor, table, header, names)
            cursor.unregister(STAGED)


def count_parts(database: Database, chosen: Rowwise | None, header: Header, frames: Frames, scan: CubeRequest) -> Cube:
    """The cube of the columns of `header`, which `chosen` computes from the frames where it is given."""
    names = columns_of([scan])
    statement = aggregate_sql(DUCKDB, table_of(chosen, names, STAGED), header, *scan)
    return count_frames(database, statement, frames(read_by(chosen, names)), *scan)


def cells_of_parts(
    database: Database, chosen: Rowwise | None, header: Header, frames: Frames, names: Sequence[str]
) -> Iterator[CountedCells]:
    """The cells of these columns of `header`, which `chosen` computes from the frames where it is given."""
    return cells_of_frames(database, table_of(chosen, names, STAGED), header, frames(read_by(chosen, names)), names)


class _FrameEngine:
    """A frame in memory. Nobody alters its rows: Arrow and Polars do not, and `keep_declared` copies the rows of pandas.

    A LazyFrame computes its rows anew whenever it is read, and anything else with an Arrow stream may.
    """

    def __init__(self, frame: Any, columns: Sequence[str], limits: Limits) -> None:
        check_polars()
        self._is_kept = type(frame).__module__.split(".")[0] in {"pandas", "polars", "pyarrow"} and not is_lazy(frame)
        if is_lazy(frame):
            self._frame, described_by, others = lazy(frame, columns)
        else:
            self._frame, others = keep_declared(frame, columns)
            described_by = self._frame
        self._rows = len(frame) if self._is_kept else None
        self._chosen: Rowwise | None = None
        self._database = Database(limits)
        try:
            with self._database.cursor() as cursor:
                cursor.register(STAGED, described_by)
                known = read_header(cursor.execute(f"DESCRIBE {STAGED}").fetchall())
        except SourceError:
            raise SourceError("source: the frame cannot be read as a table") from None
        self._header = {**dict.fromkeys(others, UNREAD), **known}

    @property
    def header(self) -> Header:
        return self._header if self._chosen is None else self._chosen.header

    def select(self, chosen: Rowwise) -> None:
        self._chosen = chosen

    def snapshot(self) -> str:
        # Rows that nobody alters are the same whenever they are read.
        return "" if self._rows is None else "in memory"

    def check_ready(self) -> None:
        check_polars()

    def count_rows(self) -> int:
        return row_count(self.aggregate((), ())) if self._rows is None else self._rows

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        return self._count(self._frame, axes, moments)

    def can_add_persons(self) -> bool:
        return True

    def add_persons(self, scan: PersonReading) -> Cube:
        statement = add_persons_sql(DUCKDB, STAGED, self.header, scan)
        with _hiding_errors(), self._database.cursor() as cursor:
            cursor.register(STAGED, self._frame)
            return answer_cube(cursor.execute(statement).fetchnumpy(), scan)

    def can_collect(self) -> bool:
        return True

    def collect(self, cursor: Any, table: str, scan: PartReading) -> None:
        cursor.register(STAGED, self._frame)
        cursor.execute(f"CREATE TEMP TABLE {table} AS {parts_sql(DUCKDB, STAGED, self.header, scan)}")
        cursor.unregister(STAGED)

    def can_keep_keys(self) -> bool:
        return True

    @contextmanager
    def open_keys(self, scan: KeyScan) -> Iterator[KeyTable]:
        statement = key_rows_sql(DUCKDB, STAGED, self.header, scan)
        with _hiding_errors(), self._database.cursor() as cursor:
            cursor.register(STAGED, self._frame)
            with keys_of_statement(cursor, statement, scan) as table:
                yield table

    def aggregate_all(self, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        """A source that may give other rows each time it is read is read once, into memory."""
        rows = self._frame if self._is_kept else _keep(self._frame)
        yield from (self._count(rows, axes, moments) for axes, moments in scans)

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        table = table_of(self._chosen, names, STAGED)
        return cells_of_frames(self._database, table, self.header, [self._frame], names)

    def _count(self, rows: ArrowOnly, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        table = table_of(self._chosen, columns_of([(axes, moments)]), STAGED)
        statement = aggregate_sql(DUCKDB, table, self.header, axes, moments)
        with _hiding_errors(), self._database.cursor() as cursor:
            cursor.register(STAGED, rows)
            return cube_of(cursor.execute(statement).fetchnumpy(), axes, moments)

    def close(self) -> None:
        self._database.close()


@contextmanager
def _hiding_errors() -> Iterator[None]:
    """Whatever computes the rows of a frame while they are read may quote values: its errors become the constant one."""
    try:
        yield
    except SourceError:
        raise
    except Exception:  # noqa: BLE001
        raise unreadable() from None


def _keep(frame: ArrowOnly) -> ArrowOnly:
    import polars as pl

    try:
        return ArrowOnly(pl.DataFrame(frame))
    except (Exception, SystemExit):  # noqa: BLE001 (of whatever computes the rows)
        raise unreadable() from None


def open_frame(frame: Any, columns: Sequence[str], limits: Limits) -> Engine:
    """An engine over an Arrow table, a Polars or a pandas frame (or anything with the Arrow C stream interface).

    Raises:
        SourceError: the frame cannot be read as a table.
    """
    return _FrameEngine(frame, columns, limits)


def file_literal(path: Path) -> str:
    """The path as an SQL text that names this file alone."""
    # Brackets and stars in a real file name must not be read as a glob.
    escaped = re.sub(r"([*?\[])", r"[\1]", str(path))
    return "'" + escaped.replace("'", "''") + "'"


def read_header(columns: Iterable[Sequence[Any]]) -> Header:
    """The header that a DESCRIBE gives: names and types first."""
    return {str(row[0]): _column_type(str(row[1])) for row in columns}


def _column_type(shown: str) -> ColumnType:
    decimal = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", shown)
    if decimal:
        return ColumnType("decimal", shown, int(decimal.group(1)), int(decimal.group(2)))
    if shown.startswith("ENUM("):
        return ColumnType("text", "ENUM")
    return ColumnType(_KINDS.get(shown, "other"), shown)


def cube_of(answer: Answer, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
    """The cube in what an `aggregate_sql` statement answered."""
    columns = dict(answer)
    del answer  # columns are given up one by one, for there may be millions of cells
    words = words_of(axes)
    order = order_of([np.asarray(columns[f"k{i}"], dtype=np.int64) for i in range(len(words))], len(columns["n"]))
    rows = np.asarray(columns.pop("n"), dtype=np.int64)[order]
    keys = unpack(words, (columns.pop(f"k{i}")[order] for i in range(len(words))), len(rows))
    nonnull = np.empty((len(rows), len(moments)), dtype=np.int64, order="F")
    sums = np.empty(nonnull.shape, dtype=sum_dtype([moment.path.high - moment.path.low for moment in moments]), order="F")
    for j in range(len(moments)):
        nonnull[:, j] = columns.pop(f"n{j}")[order]
        sums[:, j] = _add_limbs(columns, j, order, sums.dtype)
    return compact(Cube(keys, rows, nonnull, sums))


def _add_limbs(columns: dict[str, NDArray[Any]], j: int, order: NDArray[np.intp], kind: np.dtype[Any]) -> NDArray[Any]:
    if f"s{j}" in columns:
        whole: NDArray[Any] = columns.pop(f"s{j}")[order]
        return whole
    sums: NDArray[Any] = columns.pop(f"h{j}")[order].astype(kind) * LIMB + columns.pop(f"l{j}")[order].astype(kind)
    return sums
