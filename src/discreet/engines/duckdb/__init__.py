"""The default engine, and every source that DuckDB reads.

* `chosen`: The columns of a request over a table: those of the source, or those that a row-wise query computes
* `csv_bytes`: The bytes of a CSV file as UTF-8: unpacked where its name says that it is packed, decoded where it has
  another encoding
* `csv_files`: CSV files as a source, staged line by line through `csv_lines`, because no CSV reader keeps rows apart
  on every input
* `csv_lines`: CSV as lines: a row is a line, whatever its cells contain
* `database`: A private DuckDB database: opened when it is needed, used by several threads, left behind by forked
  children
* `database_files`: A table or view of a DuckDB database file, which is opened for reading, anew for each statement and under
  a separate name
* `dialect`: The dialect of DuckDB. Integers have 128 bits, sums of codes cannot overflow, texts are joined by their
  bytes
* `driver`: The default engine, DuckDB: its statements, and the meaning of its answers; `database` opens it
* `folders`: A folder of Parquet files as a source: the files in it, and the values of rows that the names of its
  sub-folders give
* `joined`: A table of rows and tables of persons beside it, put together by persons in one private database
* `frames`: Frames in memory as Arrow streams of the declared columns
* `keys`: Texts of a column that are kept in a table of the private database, and what is counted of them
* `parquet`: Parquet files as a source: one file, the files that a glob matches, or a folder whose sub-folders name
  partitions
* `parquet_days`: The days of timestamps that a Parquet file holds in milliseconds, read so that no value can raise
* `partitions`: The values that folders give to rows, added to a cube that was counted file by file
* `persons`: Persons added up by DuckDB: in one statement over rows that it reads at once, or part by part where rows
  come in parts
* `postgresql`: Tables of a PostgreSQL server: where few different rows are declared, the server counts equal ones, else
  rows are streamed
* `relations`: A DuckDB relation as a source, on the connection that it belongs to, which stays open and keeps its
  settings
* `rowwise`: The columns of a row-wise query in the SQL of DuckDB, written from typed expressions and never from a user's
  text
* `streams`: Rows that arrive as Arrow streams: the table of a database, through ADBC, or any stream that a function
  opens anew
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.domain.reading import CsvFormat
from discreet.domain.schema import Schema
from discreet.engines.base import Engine
from discreet.engines.files import Listing
from discreet.engines.joined import Joiner
from discreet.engines.kind import EngineKind, Files, Given, Named, Tables, is_loaded_instance
from discreet.engines.resources import Limits

__all__ = ["ENGINE"]


def _is_relation(source: object) -> bool:
    return is_loaded_instance(source, "duckdb", "DuckDBPyRelation")


def _open_relation(relation: Any, columns: Sequence[str], limits: Limits) -> Engine:  # noqa: ARG001
    from discreet.engines.duckdb.relations import open_relation

    return open_relation(relation)


def _is_frame(source: object) -> bool:
    """Rows that can be read twice, unlike the rows of a reader of batches."""
    return hasattr(source, "__arrow_c_stream__") and not hasattr(source, "read_next_batch")


def _is_lazy(source: object) -> bool:
    return is_loaded_instance(source, "polars", "LazyFrame")


def _open_frame(frame: Any, columns: Sequence[str], limits: Limits) -> Engine:
    from discreet.engines.duckdb.driver import open_frame

    return open_frame(frame, columns, limits)


def _is_table(source: object) -> bool:
    return is_loaded_instance(source, "discreet.engines.duckdb.streams", "DatabaseTable")


def _is_function(source: object) -> bool:
    return callable(source) and not hasattr(source, "__arrow_c_stream__")


def _open_stream(source: Any, columns: Sequence[str], limits: Limits) -> Engine:
    from discreet.engines.duckdb.streams import open_streamed

    return open_streamed(source, columns, limits)


def _open_url(url: str, columns: Sequence[str], limits: Limits) -> Engine:
    from discreet.engines.duckdb.postgresql import open_url

    return open_url(url, columns, limits)


def _is_server_view(url: str) -> bool:
    from discreet.engines.duckdb.postgresql import is_server_view

    return is_server_view(url)


def _open_csv(paths: Sequence[Path], listing: Listing, limits: Limits, form: CsvFormat) -> Engine:
    from discreet.engines.duckdb.csv_files import open_csv

    return open_csv(paths, listing, limits, form)


def _open_parquet(paths: Sequence[Path], listing: Listing, limits: Limits, form: CsvFormat) -> Engine:  # noqa: ARG001
    from discreet.engines.duckdb.folders import NO_PARTITIONS
    from discreet.engines.duckdb.parquet import open_parquet

    return open_parquet(paths, listing, NO_PARTITIONS, limits)


def _open_folder(path: Path, limits: Limits) -> Engine:
    from discreet.engines.duckdb.parquet import open_folder

    return open_folder(path, limits)


def _join(engine: Engine, others: Mapping[str, Engine], limits: Limits) -> Joiner | None:
    from discreet.engines.duckdb.joined import join_sources

    return join_sources(engine, others, limits)


def _begins(start: bytes) -> bool:
    return start[8:12] == b"DUCK"


def _open_table(path: Path, table: str, limits: Limits) -> Engine:
    from discreet.engines.duckdb.database_files import open_duckdb_table

    return open_duckdb_table(path, table, limits)


def _is_view(path: Path, table: str) -> bool:
    from discreet.engines.duckdb.database_files import is_duckdb_view

    return is_duckdb_view(path, table)


def _check_schema(schema: Schema) -> None:
    """Whatever a schema declares can be read."""


_PACKED = (".gz", ".zst")
_SETTINGS = "a relation follows the settings of its connection"

ENGINE = EngineKind(
    name="duckdb",
    check_schema=_check_schema,
    join=_join,
    given=(
        # A relation has the Arrow interface as well: it comes first.
        Given("a DuckDB relation", "the relation", _is_relation, _open_relation, _SETTINGS),
        Given("an Arrow table, a Polars or pandas frame", "the frame", _is_frame, _open_frame),
        Given("", "the frame", _is_lazy, _open_frame),
        Given("a DatabaseTable", "the stream", _is_table, _open_stream),
        Given("a function that opens a new Arrow stream each time it is called", "the stream", _is_function, _open_stream),
    ),
    named=tuple(
        Named(f"{scheme}://", _open_url, words="PostgreSQL", is_view=_is_server_view)
        for scheme in ("postgresql", "postgres")
    ),
    files=(
        Files(".parquet", _open_parquet, _open_folder),
        *(Files(ending, _open_csv, text=True, packed=_PACKED) for ending in (".csv", ".tsv", ".txt")),
    ),
    tables=(Tables("a DuckDB database", _begins, _open_table, is_view=_is_view),),
)
