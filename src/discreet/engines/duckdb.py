"""The default engine: DuckDB. The only file that imports the driver.

A source becomes a table expression and a connection; one statement answers. CSV files are staged line by line through
`csv_lines`, because no CSV reader keeps rows apart on every input. Frames enter through the Arrow C interface alone.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from glob import glob
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from discreet.cube import Cube, compact, empty_cube, joined, sum_dtype
from discreet.engines.base import ColumnType, Engine, Header
from discreet.engines.csv_lines import csv_header, row_batches
from discreet.engines.sql import LIMB, aggregate_sql, quoted
from discreet.errors import InternalError, SourceError, did_you_mean
from discreet.paths import KeyAxis, Moment

__all__ = ["open_files", "open_frame", "open_relation"]

Answer = Mapping[str, NDArray[Any]]
_TABLE = "discreet_source"
_TEXT = ColumnType("text", "text")
_UNREAD = ColumnType("other", "an undeclared column")
# Not UHUGEINT, whose comparison with a negative bound fails on values from 2**127 on.
_INTEGERS = {"HUGEINT", *(f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT"))}
_PYTHON_VALUES = {"object", "category", "string", "str"}
_KINDS = {
    **dict.fromkeys(_INTEGERS, "integer"),
    **dict.fromkeys(["FLOAT", "DOUBLE"], "float"),
    **dict.fromkeys(["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"], "timestamp"),
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
}


class _TableEngine:
    """One table expression behind one function that runs a statement.

    Like `_CsvEngine` it holds no connection between calls: the driver prints on stderr when one outlives the interpreter.
    """

    def __init__(self, run: Callable[[str], Answer], table: str, header: Header, snapshot: Callable[[], str]) -> None:
        self._run, self._table, self._header, self._snapshot = run, table, header, snapshot

    @property
    def header(self) -> Header:
        return self._header

    def snapshot(self) -> str:
        return self._snapshot()

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        return _cube(self._run(aggregate_sql(self._table, self._header, axes, moments)), axes, moments)

    def close(self) -> None:
        """Nothing stays open between calls."""


class _CsvEngine:
    """CSV files, one batch of lines after the other; memory stays flat."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._names = [csv_header(path) for path in paths]
        for path, names in zip(paths, self._names, strict=True):
            missing = [name for name in self._names[0] if name not in names]
            if missing:
                raise SourceError(f"source '{path}': has no column '{missing[0]}', unlike '{paths[0]}'")

    @property
    def header(self) -> Header:
        return dict.fromkeys(self._names[0], _TEXT)

    def snapshot(self) -> str:
        return _file_snapshot(self._paths)

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        wanted = list(dict.fromkeys([axis.name for axis in axes] + [moment.name for moment in moments]))
        statement = aggregate_sql(_TABLE, self.header, axes, moments)
        total = empty_cube(len(axes), [moment.path.high - moment.path.low for moment in moments])
        with _connection() as connection:
            for path, names in zip(self._paths, self._names, strict=True):
                for frame in _frames(path, names, wanted):
                    connection.register(_TABLE, _ArrowOnly(frame))
                    answer = _answer(connection, statement)
                    connection.unregister(_TABLE)
                    total = joined([total, _cube(answer, axes, moments)])
        return total

    def close(self) -> None:
        """Nothing stays open between calls."""


def open_files(source: str) -> Engine:
    """An engine over a Parquet or CSV file, or all files that a glob matches.

    Raises:
        SourceError: nothing there, no regular file, several formats, unreadable, or a header that is no header.
    """
    paths = [Path(source)]
    if re.search(r"[*?\[]", source) and not paths[0].exists():
        found = [Path(name) for name in sorted(glob(source, recursive=True))]  # noqa: PTH207 (absolute and ** patterns)
        paths = [path for path in found if not path.is_dir()]
    if not paths:
        raise SourceError(f"source '{source}': matches no file")
    for path in paths:
        _check_regular(path)
    endings = {path.suffix.lower() for path in paths}
    if endings == {".csv"}:
        return _CsvEngine(paths)
    if endings == {".parquet"}:
        return _open_parquet(paths)
    raise SourceError(
        f"source '{source}': must be .parquet or .csv files, all of one format"
        f"{did_you_mean(min(endings), ('.parquet', '.csv'))}"
    )


def open_frame(frame: Any, columns: Sequence[str]) -> Engine:
    """An engine over an Arrow table, a Polars or a pandas frame (or anything with the Arrow C stream interface).

    Raises:
        SourceError: the frame cannot be read as a table.
    """
    frame, others = _declared(frame, columns)

    def run(statement: str) -> Answer:
        with _connection() as connection:
            connection.register(_TABLE, frame)
            return _answer(connection, statement)

    try:
        with _connection() as connection:
            connection.register(_TABLE, frame)
            header = _header(connection.execute(f"DESCRIBE {_TABLE}").fetchall())
    except duckdb.Error:
        raise SourceError("source: the frame cannot be read as a table") from None
    header = {**dict.fromkeys(others, _UNREAD), **header}
    return _TableEngine(run, _TABLE, header, lambda: _content_snapshot(run, header, columns))


def open_relation(relation: duckdb.DuckDBPyRelation, columns: Sequence[str]) -> Engine:
    """An engine over a DuckDB relation, on the connection it belongs to, which stays open."""
    kinds = [(name, str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True)]
    header = _header(kinds)

    def run(statement: str) -> Answer:
        with _without_data():
            answer = relation.query(_TABLE, statement)
            if answer is None:
                raise InternalError("a query gave no result")
            return answer.fetchnumpy()

    return _TableEngine(run, _TABLE, header, lambda: _content_snapshot(run, header, columns))


def is_relation(source: object) -> bool:
    """Whether a source is a DuckDB relation."""
    return isinstance(source, duckdb.DuckDBPyRelation)


def _open_parquet(paths: Sequence[Path]) -> Engine:
    headers = []
    with _connection() as connection:
        for path in paths:
            headers.append(_parquet_header(connection, path))
            if headers[-1] != headers[0]:
                raise SourceError(f"source '{path}': its columns and types differ from those of '{paths[0]}'")

    def run(statement: str) -> Answer:
        with _connection() as connection:
            return _answer(connection, statement)

    return _TableEngine(run, _parquet(paths), headers[0], lambda: _file_snapshot(paths))


def _parquet(paths: Sequence[Path]) -> str:
    # A folder name such as age=3 must not become a column, or replace one.
    return f"read_parquet([{', '.join(_file(path) for path in paths)}], hive_partitioning = false)"


def _parquet_header(connection: duckdb.DuckDBPyConnection, path: Path) -> Header:
    try:
        header = _header(connection.execute(f"DESCRIBE SELECT * FROM {_parquet([path])}").fetchall())
        names = {row[0] for row in connection.execute(f"SELECT name FROM parquet_schema({_file(path)})").fetchall()}
    except duckdb.Error:
        raise SourceError(f"source '{path}': is no readable Parquet file") from None
    renamed = [name for name in header if name not in names]
    if renamed:
        # The driver ignores case and renames the second of two equal names; reading on could take one for another.
        raise SourceError(f"source '{path}': has two columns whose names differ only in case; rename one of the two")
    return header


@contextmanager
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of its own, closed afterwards."""
    connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
    try:
        connection.execute("SET enable_progress_bar = false")
        # The rows of a frame are not known beforehand; without this they, not the categories, may fill the hash table.
        connection.execute("SET disabled_optimizers = 'build_side_probe_side'")
        yield connection
    finally:
        connection.close()


def _answer(connection: duckdb.DuckDBPyConnection, statement: str) -> Answer:
    with _without_data():
        return connection.execute(statement).fetchnumpy()


@contextmanager
def _without_data() -> Iterator[None]:
    """Errors of the driver, which quote values, become one that says nothing of the data."""
    try:
        yield
    except duckdb.Error:
        raise SourceError("the source could not be read to its end; check that it is complete and unchanged") from None


def _file(path: Path) -> str:
    # Brackets and stars in a real file name must not be read as a glob.
    escaped = re.sub(r"([*?\[])", r"[\1]", str(path))
    return "'" + escaped.replace("'", "''") + "'"


def _header(described: Sequence[Sequence[Any]]) -> Header:
    return {str(row[0]): _column_type(str(row[1])) for row in described}


def _column_type(shown: str) -> ColumnType:
    decimal = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", shown)
    if decimal:
        return ColumnType("decimal", shown, int(decimal.group(1)), int(decimal.group(2)))
    if shown.startswith("ENUM("):
        return ColumnType("text", "ENUM")
    return ColumnType(_KINDS.get(shown, "other"), shown)


def _cube(answer: Answer, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
    rows = np.asarray(answer["n"], dtype=np.int64)
    shape = (len(rows), len(moments))
    keys = np.empty((len(rows), len(axes)), dtype=np.int64)
    nonnull = np.empty(shape, dtype=np.int64)
    kind = sum_dtype([moment.path.high - moment.path.low for moment in moments])
    sums = np.empty(shape, dtype=kind)
    for i in range(len(axes)):
        keys[:, i] = answer[f"k{i}"]
    for j in range(len(moments)):
        nonnull[:, j] = answer[f"n{j}"]
        sums[:, j] = answer[f"h{j}"].astype(kind) * LIMB + answer[f"l{j}"].astype(kind)
    return compact(Cube(keys, rows, nonnull, sums))


class _ArrowOnly:
    """A frame reduced to the Arrow C stream, so that the driver neither needs nor finds another way in."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def _declared(frame: Any, columns: Sequence[str]) -> tuple[_ArrowOnly, list[str]]:
    """The declared columns of a frame, and the names of the others, which are never read.

    They are picked by their exact names here, because the driver ignores case and renames the second of two equal names.
    """
    if not hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "read_next_batch"):
        raise SourceError(
            f"source: {type(frame).__name__} is no table that can be read twice; "
            "pass a path, an Arrow table, a Polars or pandas frame, or a DuckDB relation"
        )
    names = list(getattr(frame, "column_names", getattr(frame, "columns", ())))
    known = [name for name in columns if name in names]
    twice = [name for name in known if names.count(name) > 1]
    if twice:
        raise SourceError(f"column '{twice[0]}': the frame has two columns of this name")
    others = [str(name) for name in names if name not in known]
    if type(frame).__module__.split(".")[0] == "pandas":
        return _ArrowOnly(_from_pandas(frame, known)), others
    return _ArrowOnly(frame.select(known) if known and hasattr(frame, "select") else frame), others


def _from_pandas(frame: Any, names: Sequence[str]) -> Any:
    """These columns as a Polars frame. Object columns become text, value by value, so that no type is guessed."""
    import polars as pl

    series = []
    for name in names:
        column, kind = frame[name], frame[name].dtype
        if kind.name in _PYTHON_VALUES and getattr(kind, "storage", "") != "pyarrow":
            series.append(pl.Series(name, [_as_text(value) for value in column], dtype=pl.String))
            continue
        try:
            series.append(pl.Series(name, pl.from_pandas(column)))
        except (ValueError, TypeError, NotImplementedError):
            raise SourceError(f"column '{name}': its pandas type {kind} cannot be read; convert the column") from None
    return pl.DataFrame(series)


def _as_text(value: Any) -> str | None:
    """The text that a value of an object column stands for. Never raises, whatever the value is."""
    if isinstance(value, np.bool_ | np.integer | np.floating):
        value = value.item()
    if isinstance(value, str):
        return str.encode(value, "utf-8", errors="replace").decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # Longer integers are beyond the doubles, that is null, and cannot always be printed.
        return int.__repr__(value) if value.bit_length() <= 1024 else None
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, Decimal):
        return Decimal.__str__(value)
    if isinstance(value, dt.date) and value == value:  # noqa: PLR0124 (pandas' missing date is a date unequal to itself)
        return dt.date(value.year, value.month, value.day).isoformat()
    return None


def _frames(path: Path, names: Sequence[str], wanted: Sequence[str]) -> Iterator[Any]:
    import polars as pl

    places = [names.index(name) for name in wanted]
    for plain, odd, nulls in row_batches(path, len(names)):
        if plain:
            cells = pl.Series(plain, dtype=pl.String).str.split_exact(",", len(names) - 1).struct
            yield _framed([cells.field(f"field_{place}") for place in places], wanted, len(plain))
        if odd:
            yield _framed([pl.Series([row[place] for row in odd], dtype=pl.String) for place in places], wanted, len(odd))
        if nulls:
            yield _framed([pl.Series([None], dtype=pl.String).new_from_index(0, nulls)] * len(places), wanted, nulls)


def _framed(series: Sequence[Any], names: Sequence[str], height: int) -> Any:
    import polars as pl

    if not series:  # a request without columns still counts rows
        return pl.DataFrame({"row": pl.Series([True]).new_from_index(0, height)})
    return pl.DataFrame([one.alias(name) for one, name in zip(series, names, strict=True)])


def _check_regular(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError:
        raise SourceError(f"source '{path}': cannot be opened; check the path and the permissions") from None
    if stat.S_ISDIR(mode):
        raise SourceError(f"source '{path}': is a directory; name its files, such as '{path}/*.parquet'")
    if not stat.S_ISREG(mode):
        raise SourceError(f"source '{path}': must be a regular file, which can be checked for changes and read twice")
    if not os.access(path, os.R_OK):
        raise SourceError(f"source '{path}': cannot be read; check the permissions")


def _file_snapshot(paths: Sequence[Path]) -> str:
    facts = [(str(path.resolve()), path.stat()) for path in paths]
    return repr([(name, fact.st_size, fact.st_mtime_ns, fact.st_ino) for name, fact in facts])


def _content_snapshot(run: Callable[[str], Answer], header: Header, columns: Sequence[str]) -> str:
    """A fingerprint of the declared columns' contents: rows and order-free hash sums, in the engine."""
    hashed = f"hash({', '.join(quoted(name) for name in columns if name in header)})"
    answer = run(
        f"SELECT count(*) AS n, CAST(bit_xor({hashed}) AS VARCHAR) AS x, CAST(sum({hashed}) AS VARCHAR) AS s FROM {_TABLE}"
    )
    return repr([str(answer[name][0]) for name in ("n", "x", "s")])
