"""The engine of tables of SQLite database files.

* `driver`: A table or view of an SQLite database file, read through a cursor
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from discreet.domain.schema import Schema
from discreet.engines.base import Engine
from discreet.engines.joined import Joiner
from discreet.engines.kind import EngineKind, Tables
from discreet.engines.resources import Limits

__all__ = ["ENGINE"]


def _begins(start: bytes) -> bool:
    return start == b"SQLite format 3\0"


def _open_table(path: Path, table: str, limits: Limits) -> Engine:
    from discreet.engines.sqlite.driver import open_sqlite_table

    return open_sqlite_table(path, table, limits)


def _is_view(path: Path, table: str) -> bool:
    from discreet.engines.sqlite.driver import is_sqlite_view

    return is_sqlite_view(path, table)


def _join(engine: Engine, others: Mapping[str, Engine], limits: Limits) -> Joiner | None:
    from discreet.engines.duckdb.joined import join_sources

    return join_sources(engine, others, limits)


def _check_schema(schema: Schema) -> None:
    """Whatever a schema declares can be read."""


ENGINE = EngineKind(
    name="sqlite",
    check_schema=_check_schema,
    join=_join,
    tables=(Tables("an SQLite database", _begins, _open_table, is_view=_is_view),),
)
