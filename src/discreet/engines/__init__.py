"""The only code that sees rows: one exact GROUP BY over public codes, and nothing else.

`reference` defines the meaning of a plan in plain Python, and `conformance` compares an engine with it. Each engine is a
folder, and is loaded when a source needs it.

* `absent`: A source that is elsewhere: a plan can be quoted against its schema, and nothing can be read
* `base`: The definition of an engine: it scans a header, notices changes of its source, and answers one GROUP BY over
  public codes
* `codes`: The code of a number as an SQL expression: values within the bounds are rounded, and the few others are
  moved to them
* `combinations`: A source whose columns are read together: combinations that a public list names, on top of any engine
* `dialect`: The expressions in which SQL engines differ, which `sql` leaves to the engine that will run the statement
* `duckdb`: The default engine, and every source that DuckDB reads
* `files`: Files as sources: what can be checked for changes while it is read, each file under one name
* `inspection`: Counts of what becomes of the cells of a source, for its curator: exact numbers, which are outside every
  guarantee
* `joined`: A table of rows and tables of persons beside it: which source a reading needs, and one snapshot of all of them
* `joined_parts`: The parts of persons of a table of rows, with the codes of tables of persons beside them, as one SQL
  statement
* `keys`: The keys of a cube as columns of 64-bit integers, the way an engine groups by them
* `kind`: The description of an engine: the sources that it reads, how it opens each of them, and what it demands of a
  schema
* `missing`: Missing codes of numbers and dates: which cells are null because the declaration says so, in Python and in
  SQL
* `own`: An engine of one's own, handed over as the source
* `person_codes`: A reading of a table of persons as SQL statements: the least and the greatest code of each person, and
  where both agree
* `person_rows`: A scan that makes one row of all rows of each person, as two SQL statements: the parts of each person, and
  the rows
* `person_scans`: The readings of persons, and their statements: of parts of persons first, then of whole ones
* `persons`: A scan of a table of persons as two SQL statements: the rows of each person in each cell, and weighted totals
  of these
* `progress`: An engine that reports which stage of its work begins, in constant words. Nothing of the rows shows but
  the time they take
* `reference_joins`: The meaning of tables of persons beside a table of rows: plain Python, one row after the other
* `reference_keys`: The meaning of a column of texts that nobody listed: plain Python over rows
* `reference_persons`: The meaning of a scan of a table of persons: plain Python, one row after the other
* `registry`: All engines, in one tuple, and which of them reads a source
* `resources`: The resources that the driver may use: memory, threads, and a folder for spilled data
* `rowwise`: The columns that a row-wise query gives: their types over a source, and their meaning for one row
* `sources`: A source, whatever it is: what a text in a plan file or a program means, and the engine that the registry has
  for it
* `spark`: The engine of Spark DataFrames, tables and paths
* `spellings`: Unicode normalisation for engines that have none: replacements of text that decide which category a
  text is
* `spill`: The folder for data that does not fit into memory, which nobody else can enter
* `sql`: A layout as one SQL statement: every value becomes a code in the engine, and one GROUP BY counts
* `sqlite`: The engine of tables of SQLite database files
* `surveys`: The engine of files of statistical packages: SPSS, Stata and SAS
* `texts`: Texts of a column that an engine keeps, so that groups can be looked for in them
* `urls`: Sources that are named by a URL: what they are, and passwords, which no plan and no message holds
* `workbooks`: The engine of Excel workbooks
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.domain.reading import CsvFiles
from discreet.domain.schema import Schema
from discreet.engines.absent import AbsentSource
from discreet.engines.base import CodeList, Engine, Header, Labelled, check_header, check_person
from discreet.engines.combinations import combining
from discreet.engines.joined import JoinedEngine
from discreet.engines.progress import Progress, Telling
from discreet.engines.resources import NO_LIMITS, Limits
from discreet.engines.sources import Opened, open_known, source_in, source_text
from discreet.engines.texts import check_text_column
from discreet.errors import ArgumentError, InternalError, SourceError, printed
from discreet.exact.on_demand import turn_to_load

if TYPE_CHECKING:
    from discreet.engines.duckdb.streams import DatabaseTable

__all__ = [
    "NO_LIMITS",
    "DatabaseTable",
    "Engine",
    "Header",
    "Limits",
    "Progress",
    "header_faults",
    "header_of",
    "open_source",
    "open_sources",
    "outline_of",
    "source_in",
    "source_text",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """`DatabaseTable`, loaded with its driver when it is first used."""
        if name == "DatabaseTable":
            return turn_to_load("discreet.engines.duckdb.streams").DatabaseTable
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def open_source(source: Any, schema: Schema, limits: Limits = NO_LIMITS, progress: Progress | None = None) -> Engine:
    """The engine for a source whose header fits the schema. Reads names and types, never rows.

    Args:
        source: a path or glob of Parquet, CSV, SPSS, Stata or SAS files, a folder of Parquet files, "FILE::TABLE" for a
            table of a DuckDB or SQLite file or a sheet of an Excel workbook, an Arrow table, a Polars or pandas frame, a
            DuckDB relation, a `DatabaseTable`, a function that gives a new Arrow stream each time it is called, a Spark
            DataFrame, "spark:TABLE" or "spark:/path/to/parquet", or your own engine that has passed `conformance`.
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
    engine = combining(_open(source, schema, limits).engine, schema)
    return engine if progress is None else Telling(engine, progress)


def _open(source: Any, schema: Schema, limits: Limits) -> Opened:
    read = schema.as_read()
    found = open_known(source, _columns_read(read), limits)
    try:
        _select(found, read, [*read.columns])
        _check(found, read)
    except SourceError:
        found.engine.close()
        raise
    return found


def open_sources(
    source: Any,
    schema: Schema,
    beside: Mapping[str, tuple[Any, Schema]],
    limits: Limits = NO_LIMITS,
    progress: Progress | None = None,
    *,
    counted: str = "",
) -> Engine:
    """The engine for a source and for tables of persons beside it. Reads names and types, never rows.

    Args:
        source: of the table of rows, whose schema has one identifier.
        schema: its declared columns.
        beside: for each table of persons its source and its schema, which has one identifier too.
        limits: the resources that each driver may use.
        progress: receives the name of each stage when it begins.
        counted: the table of persons whose number of rows is public; empty where that is the table of rows, or none.

    Raises:
        SourceError: as `open_source`; identifiers of different types, or sources that cannot be put together.
        ArgumentError: as `open_source`.
    """
    if not beside:
        return open_source(source, schema, limits, progress)
    opened: list[Opened] = []
    try:
        for one, own in [(source, schema), *beside.values()]:
            opened.append(_open(one, own, limits))
        engine = _put_together(opened, schema, beside, limits, counted)
    except (SourceError, ArgumentError):
        for found in opened:
            found.engine.close()
        raise
    return engine if progress is None else Telling(engine, progress)


def _put_together(
    opened: Sequence[Opened], schema: Schema, beside: Mapping[str, tuple[Any, Schema]], limits: Limits, counted: str
) -> Engine:
    first, others = opened[0], dict(zip(beside, opened[1:], strict=True))
    for name, found in others.items():
        _check_identifiers(first, next(iter(schema.identifiers)), name, found, next(iter(beside[name][1].identifiers)))
        if first.kind.join(first.engine, {name: found.engine}, limits) is None:
            raise SourceError(
                f"beside['{name}']: {found.shown} and {first.shown} cannot be put together by persons; write both as "
                "Parquet or CSV files, or pass both as frames"
            )
    engines = {name: found.engine for name, found in others.items()}
    joiner = first.kind.join(first.engine, engines, limits)
    if joiner is None:
        raise InternalError("each source can be put beside the first one, and not all of them")
    return JoinedEngine(first.engine, engines, joiner, counted)


def _check_identifiers(first: Opened, person: str, table: str, other: Opened, own: str) -> None:
    """Checks that ids of both tables are compared exactly: no number is a text, and no day is.

    Raises:
        SourceError: they have different types.
    """
    kinds = first.engine.header[person].kind, other.engine.header[own].kind
    if kinds[0] != kinds[1]:
        here, there = first.engine.header[person].shown, other.engine.header[own].shown
        raise SourceError(
            f"beside['{table}']: its identifier '{own}' holds {there} in {other.shown}, and '{person}' holds {here} in "
            f"{first.shown}; ids are equal only where both are integers, texts or days: cast one of the columns"
        )


def _columns_read(schema: Schema) -> list[str]:
    """The columns of the source that the schema depends on. What computes columns is loaded where there is a query."""
    if schema.query is None:
        return [*schema.columns, *schema.identifiers, *schema.texts]
    from discreet.engines.rowwise import columns_read

    return columns_read(schema)


def _select(found: Opened, schema: Schema, names: Sequence[str]) -> None:
    """The engine has these columns of the query of a schema, if the schema has one."""
    if schema.query is None or isinstance(found.engine, AbsentSource):
        return
    from discreet.engines.rowwise import Selecting, columns_read, rowwise

    if not isinstance(found.engine, Selecting):
        raise SourceError(f"query: {found.shown} is not read by an engine that computes queries; copy it to Parquet or CSV")
    if not columns_read(schema):
        raise SourceError("query: takes no column of the source; every table has at least one that does")
    found.engine.select(rowwise(schema.query, names, found.engine.header, found.shown))


def _sound(found: Opened, schema: Schema) -> tuple[list[str], list[str]]:
    """The columns that a query gives from this source, and what is wrong with the others, each thing once."""
    if schema.query is None:
        return [*schema.columns], []
    from discreet.engines.rowwise import rowwise

    sound: list[str] = []
    faults: dict[str, None] = {}
    for name in schema.columns:
        try:
            rowwise(schema.query, [name], found.engine.header, found.shown)
            sound.append(name)
        except SourceError as fault:
            faults[str(fault)] = None
    return sound, [*faults]


def _check(found: Opened, schema: Schema) -> None:
    from discreet.engines.missing import check_missing
    from discreet.engines.sql import check_grids

    check_header(found.engine.header, schema, found.shown)
    check_missing(found.engine.header, schema)
    check_grids(found.engine.header, schema)
    found.kind.check_schema(schema)
    for person in schema.identifiers:
        check_person(found.engine, person, found.shown)
    for name in schema.texts:
        check_text_column(found.engine, name, found.shown)


def header_faults(source: Any, schema: Schema) -> list[str]:
    """The fault of each declared column of a source that has a name, and does not fit it; empty where all do.

    Raises:
        SourceError: the source cannot be opened.
    """
    schema = schema.as_read()
    found = open_known(source, _columns_read(schema), NO_LIMITS)
    try:
        names, faults = _sound(found, schema)
        _select(found, schema, names)
        for name in names:
            try:
                _check(found, Schema({name: schema[name]}))
            except SourceError as fault:
                faults.append(str(fault))
    finally:
        found.engine.close()
    return faults


def header_of(source: str | Path) -> Header:
    """Names and types of the columns of a source that has a name: what `open_source` looks at, no rows.

    Raises:
        SourceError: the source cannot be opened.
    """
    return outline_of(source)[0]


def outline_of(source: str | Path | CsvFiles) -> tuple[Header, Mapping[str, CodeList]]:
    """The header of a source that has a name, and what it says of the codes of its columns. No rows are read.

    Raises:
        SourceError: the source cannot be opened.
    """
    engine = open_known(source, (), NO_LIMITS).engine
    try:
        return engine.header, engine.code_lists if isinstance(engine, Labelled) else {}
    finally:
        engine.close()
