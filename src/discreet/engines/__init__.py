"""Where rows are met: one exact GROUP BY over public codes, and nothing else.

`reference` is the meaning of a plan in plain Python, `duckdb` the default engine, `conformance` the suite that compares
an engine with the reference. `spark` is loaded when a source is a Spark DataFrame or begins with `spark:`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.engines.base import Engine, Header, check_header
from discreet.engines.duckdb import is_relation, open_files, open_frame, open_relation
from discreet.engines.spark import PREFIX, SparkEngine, is_spark_frame, open_spark_frame, open_spark_text
from discreet.engines.spark_sql import check_spellings
from discreet.engines.sql import check_grids
from discreet.errors import SourceError, printed
from discreet.schema import Schema

__all__ = ["Engine", "Header", "header_of", "open_source"]


def open_source(source: Any, schema: Schema) -> Engine:
    """The engine for a source whose header fits the schema. Reads names and types, never rows.

    Args:
        source: a path or glob of Parquet or CSV files, an Arrow table, a Polars or pandas frame, a DuckDB relation, a Spark
            DataFrame, `"spark:db.table"` or `"spark:/path/to/parquet"`.
        schema: the declared columns.

    Raises:
        SourceError: the source cannot be opened, or a declared column is missing or of a type that cannot hold it.
    """
    engine, shown = _opened(source, tuple(schema.columns))
    try:
        check_header(engine.header, schema, shown)
        check_grids(engine.header, schema)
        if isinstance(engine, SparkEngine):
            check_spellings(schema)
    except SourceError:
        engine.close()
        raise
    return engine


def header_of(source: str | Path) -> Header:
    """Names and types of the columns of a path or glob of Parquet or CSV files: what `open_source` looks at, no rows.

    Raises:
        SourceError: the source cannot be opened.
    """
    engine, _ = _opened(source, ())
    try:
        return engine.header
    finally:
        engine.close()


def _opened(source: Any, columns: tuple[str, ...]) -> tuple[Engine, str]:
    """The engine of a source, and what messages call it."""
    if isinstance(source, str | Path):
        if "\0" in str(source):
            raise SourceError(f"source {printed(str(source))}: is no usable path; check its spelling")
        if str(source).startswith(PREFIX):
            return open_spark_text(str(source), columns), f"source '{source}'"
        return open_files(str(source)), f"source '{source}'"
    if is_spark_frame(source):
        return open_spark_frame(source, columns), "the DataFrame"
    if is_relation(source):
        return open_relation(source, columns), "the relation"
    return open_frame(source, columns), "the frame"
