"""Where rows are met: one exact GROUP BY over public codes, and nothing else.

`reference` is the meaning of a plan in plain Python, `duckdb` the default engine, `conformance` the suite that compares
an engine with the reference. A Spark engine will read `"spark:…"` sources through the same SQL generator.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.engines.base import Engine, check_header
from discreet.engines.duckdb import is_relation, open_files, open_frame, open_relation
from discreet.engines.sql import check_grids
from discreet.errors import SourceError, printed
from discreet.schema import Schema

__all__ = ["Engine", "open_source"]


def open_source(source: Any, schema: Schema) -> Engine:
    """The engine for a source whose header fits the schema. Reads names and types, never rows.

    Args:
        source: a path or glob of Parquet or CSV files, an Arrow table, a Polars or pandas frame, or a DuckDB relation.
        schema: the declared columns.

    Raises:
        SourceError: the source cannot be opened, or a declared column is missing or of a type that cannot hold it.
    """
    columns = tuple(schema.columns)
    if isinstance(source, str | Path):
        if "\0" in str(source):
            raise SourceError(f"source {printed(str(source))}: is no usable path; check its spelling")
        if str(source).startswith("spark:"):
            raise SourceError(f"source '{source}': this version of discreet has no Spark engine; export to Parquet first")
        engine, shown = open_files(str(source)), f"source '{source}'"
    elif is_relation(source):
        engine, shown = open_relation(source, columns), "the relation"
    else:
        engine, shown = open_frame(source, columns), "the frame"
    try:
        check_header(engine.header, schema, shown)
        check_grids(engine.header, schema)
    except SourceError:
        engine.close()
        raise
    return engine
