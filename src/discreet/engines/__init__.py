"""The only code that sees rows: one exact GROUP BY over public codes, and nothing else.

`reference` defines the meaning of a plan in plain Python. `duckdb` is the default engine, `spark` the engine of data on many
machines, `conformance` the suite that compares an engine with the reference. An engine is loaded when a source needs it.

* `base`: The definition of an engine: it scans a header, notices changes of its source, and answers one GROUP BY over
  public codes
* `codes`: The code of a number as an SQL expression: values within the bounds are rounded, and the few others are
  moved to them
* `dialect`: The expressions in which SQL engines differ, which `sql` leaves to the engine that will run the statement
* `keys`: The keys of a cube as columns of 64-bit integers, the way an engine groups by them
* `missing`: Missing codes of numbers and dates: which cells are null because the declaration says so, in Python and in
  SQL
* `progress`: An engine that reports which stage of its work begins, in constant words. Nothing of the rows shows but
  the time they take
* `resources`: The resources that the driver may use: memory, threads, and a folder for spilled data
* `sources`: A source that is named by a text: the files it means, their format, and the engine that reads them
* `spellings`: Unicode normalisation for engines that have none: replacements of text that decide which category a
  text is
* `sql`: A layout as one SQL statement: every value becomes a code in the engine, and one GROUP BY counts
* `sqlite`: A table of an SQLite database file, read through a cursor
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.domain.schema import Schema
from discreet.engines.base import Engine, Header, check_header
from discreet.engines.progress import Progress, Telling
from discreet.engines.resources import NO_LIMITS, Limits
from discreet.engines.spark import PREFIX
from discreet.errors import ArgumentError, SourceError, printed
from discreet.exact.given_paths import reason, shown_path

if TYPE_CHECKING:
    from discreet.engines.duckdb.streams import DatabaseTable

__all__ = ["NO_LIMITS", "DatabaseTable", "Engine", "Header", "Limits", "Progress", "header_of", "open_source"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """`DatabaseTable`, loaded with its driver when it is first used."""
        if name == "DatabaseTable":
            return import_module("discreet.engines.duckdb.streams").DatabaseTable
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def open_source(source: Any, schema: Schema, limits: Limits = NO_LIMITS, progress: Progress | None = None) -> Engine:
    """The engine for a source whose header fits the schema. Reads names and types, never rows.

    Args:
        source: a path or glob of Parquet or CSV files, a folder of Parquet files, "FILE::TABLE" for a table of a DuckDB or
            SQLite file, an Arrow table, a Polars or pandas frame, a DuckDB relation, a `DatabaseTable`, a function that
            gives a new Arrow stream each time it is called, a Spark DataFrame, "spark:TABLE" or "spark:/path/to/parquet",
            or your own engine that has passed `conformance`.
        schema: the declared columns.
        limits: the resources that the driver may use.
        progress: receives the name of each stage when it begins.

    Raises:
        SourceError: the source cannot be opened, or a declared column is missing or of a type that cannot hold it.
        ArgumentError: limits for a source that follows its own, or no limits at all.
    """
    if not isinstance(limits, Limits):
        raise ArgumentError(f"limits={printed(limits)}: must be Limits(…)")
    if progress is not None and not callable(progress):
        raise ArgumentError(f"progress={printed(progress)}: must be a function of the name of a stage")
    engine, shown = _opened(source, tuple(schema.columns), limits)
    try:
        _check(engine, schema, shown)
    except SourceError:
        engine.close()
        raise
    return engine if progress is None else Telling(engine, progress)


def _check(engine: Engine, schema: Schema, shown: str) -> None:
    from discreet.engines.missing import check_missing
    from discreet.engines.sql import check_grids

    check_header(engine.header, schema, shown)
    check_missing(engine.header, schema)
    check_grids(engine.header, schema)
    spark = sys.modules.get("discreet.engines.spark.driver")  # no engine is Spark's where this is not loaded
    if spark is not None and isinstance(engine, spark.SparkEngine):
        from discreet.engines.spark.dialect import check_spellings

        check_spellings(schema)


def header_of(source: str | Path) -> Header:
    """Names and types of the columns of a path or glob of Parquet or CSV files: what `open_source` looks at, no rows.

    Raises:
        SourceError: the source cannot be opened.
    """
    engine, _ = _opened(source, (), NO_LIMITS)
    try:
        return engine.header
    finally:
        engine.close()


def _opened(source: Any, columns: tuple[str, ...], limits: Limits) -> tuple[Engine, str]:
    """The engine of a source, and what messages call it."""
    if isinstance(source, str | Path):
        return _named(source, columns, limits), f"source '{source}'"
    from discreet.engines.spark.driver import is_spark_frame, open_spark_frame

    if is_spark_frame(source):
        _check_no_limits(limits, "a DataFrame follows the settings of its session")
        return open_spark_frame(source, columns), "the DataFrame"
    return _given(source, columns, limits)


def _named(source: str | Path, columns: tuple[str, ...], limits: Limits) -> Engine:
    if "\0" in str(source):
        raise SourceError(f"source {printed(str(source))}: is not a usable path; check its spelling")
    if str(source).startswith(PREFIX):
        from discreet.engines.spark.driver import open_spark_text

        _check_no_limits(limits, "Spark follows the settings of its session")
        return open_spark_text(str(source), columns)
    from discreet.engines.sources import open_path

    try:
        return open_path(str(source), limits)
    except (OSError, UnicodeError) as wrong:  # a name that is too long, a folder that cannot be entered
        raise SourceError(f"source {shown_path(source)}: cannot be opened ({reason(wrong)}); check the path") from None


def _given(source: Any, columns: tuple[str, ...], limits: Limits) -> tuple[Engine, str]:
    from discreet.engines.duckdb.driver import open_frame
    from discreet.engines.duckdb.relations import is_relation, open_relation
    from discreet.engines.duckdb.streams import is_streamed, open_streamed

    if is_relation(source):
        _check_no_limits(limits, "a relation follows the settings of its connection")
        return open_relation(source), "the relation"
    if isinstance(source, Engine):
        _check_no_limits(limits, "an engine of one's own follows its own settings")
        return source, "the engine"
    if is_streamed(source):
        return open_streamed(source, columns, limits), "the stream"
    return open_frame(source, columns, limits), "the frame"


def _check_no_limits(limits: Limits, reason: str) -> None:
    if limits != NO_LIMITS:
        raise ArgumentError(f"limits: {reason}; set them there")
