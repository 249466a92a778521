"""Persons added up by DuckDB: in one statement over rows that it reads at once, or part by part where rows come in parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import uuid4

from discreet.cube.cube import Cube
from discreet.cube.persons import PersonScan
from discreet.engines.base import ColumnType, Header
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.frames import ArrowOnly
from discreet.engines.persons import person_cube, person_rows_sql, person_totals_sql

__all__ = ["LINES", "add_persons_of_frames", "add_persons_sql"]

_PARTS = "discreet_parts"
_UNKNOWN = "\ufffd"


def _identity_of_lines(column: str, kind: ColumnType) -> str:
    """Null for an empty cell, and for one with the character that bytes of another encoding are read as."""
    same = DUCKDB.identity(column, kind)
    return f"CASE WHEN {column} <> '' AND NOT contains({column}, '{_UNKNOWN}') THEN {same} END"


LINES = replace(DUCKDB, identity=_identity_of_lines)
"""Over the cells of text files, which are texts. Two persons whose ids cannot be told apart must not become one."""


def add_persons_sql(dialect: Dialect, source: str, header: Header, scan: PersonScan) -> str:
    """One statement that gives what `person_totals_sql` gives, from the rows of a table expression."""
    parts = person_rows_sql(dialect, source, header, scan)
    totals = person_totals_sql(dialect, _PARTS, scan)
    return f"WITH {_PARTS} AS MATERIALIZED ({parts}) SELECT * FROM ({totals}) AS totals"


def add_persons_of_frames(cursor: Any, statement: str, staged: str, frames: Iterable[Any], scan: PersonScan) -> Cube:
    """The totals over the rows of several frames, in each of which a person may have rows.

    The rows of each person and cell are counted frame by frame, into a table of the private database that is gone
    afterwards; what a person weighs is found when all are there.

    Args:
        cursor: a connection with tables of its own.
        statement: of `person_rows_sql`, over the table `staged`.
        staged: the name under which the statement finds a frame.
        frames: the rows.
        scan: the scan.
    """
    table = f"discreet_{uuid4().hex}"
    try:
        _collect(cursor, statement, staged, frames, (table, len(scan.values)))
        counts = ["n", *(f"n{j}" for j in range(len(scan.values)))]
        added = [f"CAST(sum({name}) AS BIGINT) AS {name}" for name in counts]
        added += [f"{LINES.wide(f'sum(s{j})')} AS s{j}" for j in range(len(scan.values))]
        whole = f"SELECT p, cell, {', '.join(added)} FROM {table} GROUP BY p, cell"
        totals = person_totals_sql(LINES, _PARTS, scan)
        answer = f"WITH {_PARTS} AS MATERIALIZED ({whole}) SELECT * FROM ({totals}) AS totals"
        return person_cube(cursor.execute(answer).fetchnumpy(), scan)
    finally:
        cursor.execute(f"DROP TABLE IF EXISTS {table}")


def _collect(cursor: Any, statement: str, staged: str, frames: Iterable[Any], into: tuple[str, int]) -> None:
    """The rows of each person and cell, in the parts in which they come, go into a table for so many values."""
    (table, values), made = into, False
    for frame in frames:
        cursor.register(staged, ArrowOnly(frame))
        cursor.execute(f"INSERT INTO {table} {statement}" if made else f"CREATE TEMP TABLE {table} AS {statement}")
        cursor.unregister(staged)
        made = True
    if not made:
        sums = "".join(f", n{j} BIGINT, s{j} BIGINT" for j in range(values))
        cursor.execute(f"CREATE TEMP TABLE {table} (p BIGINT, cell BIGINT, n BIGINT{sums})")
