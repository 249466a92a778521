"""The engine of Spark DataFrames, tables and paths.

* `dialect`: The dialect of Spark 4
* `driver`: The distributed engine: Spark 4
* `files`: The files behind a Spark source, and their metadata in the file system: an identity that costs no scan
* `joined`: A table of rows and tables of persons beside it, put together by the executors of one Spark session
* `persons`: Persons added up by Spark, in two statements: the parts of persons over one reading of the rows, and what they
  add up to
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.domain.schema import Schema
from discreet.engines.base import Engine
from discreet.engines.joined import Joiner
from discreet.engines.kind import EngineKind, Given, Named
from discreet.engines.resources import Limits

__all__ = ["ENGINE", "PREFIX"]

PREFIX = "spark:"
"""The beginning of a text that names a Spark source."""


def _is_frame(source: object) -> bool:
    """By name, because the frames of local and of remote sessions have no class in common."""
    kind = type(source)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame"


def _open_frame(frame: Any, columns: Sequence[str], limits: Limits) -> Engine:  # noqa: ARG001
    from discreet.engines.spark.driver import open_spark_frame

    return open_spark_frame(frame, columns)


def _open_text(source: Any, columns: Sequence[str], limits: Limits) -> Engine:  # noqa: ARG001
    from discreet.engines.spark.driver import open_spark_text

    return open_spark_text(source, columns)


def _join(engine: Engine, others: Mapping[str, Engine], limits: Limits) -> Joiner | None:  # noqa: ARG001
    from discreet.engines.spark.joined import join_frames

    return join_frames(engine, others)


def _check_schema(schema: Schema) -> None:
    from discreet.engines.spark.dialect import check_spellings

    check_spellings(schema)


_SETTINGS = "follows the settings of its session"

ENGINE = EngineKind(
    name="spark",
    check_schema=_check_schema,
    join=_join,
    given=(Given("a Spark DataFrame", "the DataFrame", _is_frame, _open_frame, f"a DataFrame {_SETTINGS}"),),
    named=(Named(PREFIX, _open_text, f"Spark {_SETTINGS}"),),
)
