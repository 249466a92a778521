"""The same rows through every door: openers that give an engine for a header and rows of Python values."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from discreet.engines.base import ColumnType, Engine, Header
from discreet.engines.duckdb.dialect import quote_name
from discreet.engines.duckdb.driver import open_frame
from discreet.engines.duckdb.relations import open_relation
from discreet.engines.resources import NO_LIMITS
from discreet.engines.sources import open_known

Rows = Sequence[Sequence[object]]
Opener = Callable[[Header, Rows], Engine]

_ARROW = {
    "VARCHAR": pa.string(),
    "TINYINT": pa.int8(),
    "BIGINT": pa.int64(),
    "UBIGINT": pa.uint64(),
    "DOUBLE": pa.float64(),
    "FLOAT": pa.float32(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
}


def arrow_table(header: Header, rows: Rows) -> pa.Table:
    columns = []
    for place, kind in enumerate(header.values()):
        type_ = pa.decimal128(kind.width, kind.scale) if kind.kind == "decimal" else _ARROW[kind.shown]
        columns.append(pa.array([row[place] for row in rows], type=type_))
    return pa.Table.from_arrays(columns, names=list(header))


def csv_text(header: Header, rows: Rows) -> str:
    """Cells as text; null is an empty cell. Only for values without line breaks."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow(["" if value is None else value for value in row])
    return text.getvalue()


@pytest.fixture(scope="session")
def openers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Opener]:
    """One opener for each kind of source. CSV wants text columns; Arrow has no 128-bit integers."""
    folder, numbers = tmp_path_factory.mktemp("sources"), count()

    def relation(header: Header, rows: Rows) -> Engine:
        # Written as text and cast by DuckDB, because its own parameters lose 128-bit integers and NaN.
        connection = duckdb.connect()
        columns = ", ".join(f"{quote_name(name)} {kind.shown}" for name, kind in header.items())
        connection.execute(f"CREATE TABLE hostile ({columns})")
        if rows:
            texts = {n: ColumnType("text", "VARCHAR") for n in header}
            connection.register("texts", arrow_table(texts, [[_shown(value) for value in row] for row in rows]))
            connection.execute("INSERT INTO hostile SELECT * FROM texts")
            connection.unregister("texts")
        return open_relation(connection.table("hostile"))

    def parquet(header: Header, rows: Rows) -> Engine:
        import pyarrow.parquet as pq

        path = folder / f"{next(numbers)}.parquet"
        pq.write_table(arrow_table(header, rows), path)
        return open_known(path, (), NO_LIMITS).engine

    def comma_separated(header: Header, rows: Rows) -> Engine:
        path = folder / f"{next(numbers)}.csv"
        path.write_text(csv_text(header, rows), encoding="utf-8", newline="")
        return open_known(path, (), NO_LIMITS).engine

    def polars(header: Header, rows: Rows) -> Engine:
        return open_frame(pl.DataFrame(arrow_table(header, rows)), tuple(header), NO_LIMITS)

    def arrow(header: Header, rows: Rows) -> Engine:
        return open_frame(arrow_table(header, rows), tuple(header), NO_LIMITS)

    def pandas(header: Header, rows: Rows) -> Engine:
        import pandas as pd

        return open_frame(arrow_table(header, rows).to_pandas(types_mapper=pd.ArrowDtype), tuple(header), NO_LIMITS)

    sources: list[Opener] = [relation, parquet, comma_separated, polars, arrow, pandas]
    return {opener.__name__: opener for opener in sources}


def _shown(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return f"{value:f}" if hasattr(value, "as_tuple") else repr(value) if isinstance(value, float) else str(value)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes, str], str]:
    """Bytes as a file; the path as text."""

    def writing(content: bytes, name: str = "data.csv") -> str:
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return writing
