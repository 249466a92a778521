"""Persons added up by DuckDB: in one statement over rows that it reads at once, or part by part where rows come in parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import uuid4

from discreet.cube.cube import Cube
from discreet.engines.base import ColumnType, Header, PersonReading
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.frames import ArrowOnly
from discreet.engines.person_scans import (
    PartReading,
    added_parts_sql,
    answer_cube,
    answer_sql,
    empty_parts_sql,
    parts_sql,
)

__all__ = ["LINES", "add_persons_of_frames", "add_persons_sql", "collect_frames"]

_PARTS = "discreet_parts"
_UNKNOWN = "\ufffd"


def _identity_of_lines(column: str, kind: ColumnType) -> str:
    """Null for an empty cell, and for one with the character that bytes of another encoding are read as."""
    same = DUCKDB.identity(column, kind)
    return f"CASE WHEN {column} <> '' AND NOT contains({column}, '{_UNKNOWN}') THEN {same} END"


LINES = replace(DUCKDB, identity=_identity_of_lines)
"""Over the cells of text files, which are texts. Two persons whose ids cannot be told apart must not become one."""


def add_persons_sql(dialect: Dialect, source: str, header: Header, scan: PersonReading) -> str:
    """One statement that gives what `answer_sql` gives, from the rows of a table expression."""
    parts, totals = parts_sql(dialect, source, header, scan), answer_sql(dialect, _PARTS, scan)
    return f"WITH {_PARTS} AS MATERIALIZED ({parts}) SELECT * FROM ({totals}) AS totals"


def add_persons_of_frames(cursor: Any, statement: str, staged: str, frames: Iterable[Any], scan: PersonReading) -> Cube:
    """The totals over the rows of several frames, in each of which a person may have rows.

    The rows of each person and cell are counted frame by frame, into a table of the private database that is gone
    afterwards; what a person weighs is found when all are there.

    Args:
        cursor: a connection with tables of its own.
        statement: of `parts_sql`, over the table `staged`.
        staged: the name under which the statement finds a frame.
        frames: the rows.
        scan: the scan.
    """
    table = f"discreet_{uuid4().hex}"
    try:
        _collect(cursor, statement, staged, frames, (table, scan))
        whole, totals = added_parts_sql(LINES, table, scan), answer_sql(LINES, _PARTS, scan)
        answer = f"WITH {_PARTS} AS MATERIALIZED ({whole}) SELECT * FROM ({totals}) AS totals"
        return answer_cube(cursor.execute(answer).fetchnumpy(), scan)
    finally:
        cursor.execute(f"DROP TABLE IF EXISTS {table}")


def collect_frames(cursor: Any, statement: str, staged: str, frames: Iterable[Any], into: tuple[str, PartReading]) -> None:
    """A new temporary table of the given name has the parts of persons of all frames, each once, for the given reading."""
    table, scan = into
    some = f"{table}_some"
    _collect(cursor, statement, staged, frames, (some, scan))
    cursor.execute(f"CREATE TEMP TABLE {table} AS {added_parts_sql(LINES, some, scan)}")
    cursor.execute(f"DROP TABLE {some}")


def _collect(cursor: Any, statement: str, staged: str, frames: Iterable[Any], into: tuple[str, PartReading]) -> None:
    """The rows of each person and cell, in the parts in which they come, go into a table."""
    (table, scan), made = into, False
    for frame in frames:
        cursor.register(staged, ArrowOnly(frame))
        cursor.execute(f"INSERT INTO {table} {statement}" if made else f"CREATE TEMP TABLE {table} AS {statement}")
        cursor.unregister(staged)
        made = True
    if not made:
        cursor.execute(empty_parts_sql(table, scan))
