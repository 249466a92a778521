"""The default engine: DuckDB. The only file that imports the driver.

A source becomes a table expression and a connection; one statement answers. CSV files are staged line by line through
`csv_lines`, because no CSV reader keeps rows apart on every input. Frames enter through the Arrow C interface alone.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
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
_INTEGERS = {f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")}
_KINDS = {
    **dict.fromkeys(_INTEGERS, "integer"),
    **dict.fromkeys(["FLOAT", "DOUBLE"], "float"),
    **dict.fromkeys(["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"], "timestamp"),
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
}


class _TableEngine:
    """One table expression behind one function that runs a statement. `columns` are the declared ones."""

    def __init__(
        self,
        run: Callable[[str], Answer],
        table: str,
        header: Header,
        snapshot: Callable[[], str],
        close: Callable[[], None],
    ) -> None:
        self._run, self._table, self._header = run, table, header
        self._snapshot, self._close = snapshot, close

    @property
    def header(self) -> Header:
        return self._header

    def snapshot(self) -> str:
        return self._snapshot()

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        return _cube(self._run(aggregate_sql(self._table, self._header, axes, moments)), axes, moments)

    def close(self) -> None:
        self._close()


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
        connection = _connect()
        try:
            for path, names in zip(self._paths, self._names, strict=True):
                for frame in _frames(path, names, wanted):
                    connection.register(_TABLE, _ArrowOnly(frame))
                    answer = connection.execute(statement).fetchnumpy()
                    connection.unregister(_TABLE)
                    total = joined([total, _cube(answer, axes, moments)])
        finally:
            connection.close()
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
    frame = _as_arrow(frame, columns)
    connection = _connect()
    try:
        connection.register(_TABLE, _ArrowOnly(frame))
        header = _header(connection.execute(f"DESCRIBE {_TABLE}").fetchall())
    except duckdb.Error:
        connection.close()
        raise SourceError("source: the frame cannot be read as a table") from None

    def run(statement: str) -> Answer:
        return connection.execute(statement).fetchnumpy()

    return _TableEngine(run, _TABLE, header, lambda: _content_snapshot(run, header, columns), connection.close)


def open_relation(relation: duckdb.DuckDBPyRelation, columns: Sequence[str]) -> Engine:
    """An engine over a DuckDB relation, on the connection it belongs to, which stays open."""
    kinds = [(name, str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True)]
    header = _header(kinds)

    def run(statement: str) -> Answer:
        answer = relation.query(_TABLE, statement)
        if answer is None:
            raise InternalError("a query gave no result")
        return answer.fetchnumpy()

    return _TableEngine(run, _TABLE, header, lambda: _content_snapshot(run, header, columns), lambda: None)


def is_relation(source: object) -> bool:
    """Whether a source is a DuckDB relation."""
    return isinstance(source, duckdb.DuckDBPyRelation)


def _open_parquet(paths: Sequence[Path]) -> Engine:
    connection = _connect()
    headers = []
    for path in paths:
        try:
            described = connection.execute(f"DESCRIBE SELECT * FROM read_parquet([{_file(path)}])").fetchall()
        except duckdb.Error:
            connection.close()
            raise SourceError(f"source '{path}': is no readable Parquet file") from None
        headers.append(_header(described))
        if headers[-1] != headers[0]:
            connection.close()
            raise SourceError(f"source '{path}': its columns and types differ from those of '{paths[0]}'")
    table = f"read_parquet([{', '.join(_file(path) for path in paths)}])"

    def run(statement: str) -> Answer:
        return connection.execute(statement).fetchnumpy()

    return _TableEngine(run, table, headers[0], lambda: _file_snapshot(paths), connection.close)


def _connect() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
    connection.execute("SET enable_progress_bar = false")
    return connection


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


def _as_arrow(frame: Any, columns: Sequence[str]) -> Any:
    if type(frame).__module__.split(".")[0] == "pandas":
        return _from_pandas(frame, columns)
    if not hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "read_next_batch"):
        raise SourceError(
            f"source: {type(frame).__name__} is no table that can be read twice; "
            "pass a path, an Arrow table, a Polars or pandas frame, or a DuckDB relation"
        )
    return frame


def _from_pandas(frame: Any, columns: Sequence[str]) -> Any:
    """The declared columns as a Polars frame. Object columns become text, value by value, so that no type is guessed."""
    import polars as pl

    known = [name for name in columns if name in frame.columns]
    if frame.columns.has_duplicates:
        raise SourceError("source: the frame has two columns of one name")
    series = []
    for name in known:
        if frame[name].dtype == object:
            series.append(pl.Series(name, [_as_text(value) for value in frame[name]], dtype=pl.String))
        else:
            series.append(pl.Series(name, pl.from_pandas(frame[[name]])[name]))
    return pl.DataFrame(series)


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float) and value == value:  # noqa: PLR0124 (NaN is null)
        return str(value)
    isoformat = getattr(value, "isoformat", None)
    return str(isoformat()) if isoformat is not None else None


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

    columns = [one.alias(name) for one, name in zip(series, names, strict=True)]
    # A request without columns still counts rows.
    return pl.DataFrame([*columns, pl.Series("discreet row", [True]).new_from_index(0, height)])


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
