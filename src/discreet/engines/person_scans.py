"""The two readings of a table of persons, and their statements: of parts of persons first, then of whole ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from discreet.cube.cube import Cube
from discreet.cube.person_rows import PersonRows
from discreet.cube.persons import PersonScan
from discreet.engines.base import Header, PersonReading
from discreet.engines.dialect import Dialect
from discreet.engines.person_rows import made_rows_cube, made_rows_sql, row_parts_sql
from discreet.engines.persons import (
    added_names,
    part_names,
    person_cube,
    person_rows_sql,
    person_totals_sql,
    summed_sql,
)
from discreet.errors import unreachable

__all__ = ["added_parts_sql", "answer_cube", "answer_sql", "empty_parts_sql", "parts_sql"]


def parts_sql(dialect: Dialect, source: str, header: Header, scan: PersonReading) -> str:
    """The statement that gives parts of persons, over some or all rows."""
    match scan:
        case PersonScan():
            return person_rows_sql(dialect, source, header, scan)
        case PersonRows():
            return row_parts_sql(dialect, source, header, scan)
    raise unreachable(scan)


def answer_sql(dialect: Dialect, parts: str, scan: PersonReading) -> str:
    """The statement that gives the answer, over a table with all parts of all persons."""
    match scan:
        case PersonScan():
            return person_totals_sql(dialect, parts, scan)
        case PersonRows():
            return made_rows_sql(dialect, parts, scan)
    raise unreachable(scan)


def answer_cube(answer: Mapping[str, NDArray[Any]], scan: PersonReading) -> Cube:
    """The cube in the answer."""
    match scan:
        case PersonScan():
            return person_cube(answer, scan)
        case PersonRows():
            return made_rows_cube(answer, scan)
    raise unreachable(scan)


def added_parts_sql(dialect: Dialect, table: str, scan: PersonReading) -> str:
    """The statement that gives each part once, over a table in which parts of several readings stand below each other."""
    keys = ", ".join(["p", *_keys(scan)])
    return f"SELECT {keys}, {summed_sql(dialect, scan.values)} FROM {table} GROUP BY {keys}"


def empty_parts_sql(table: str, scan: PersonReading) -> str:
    """The statement that creates a table for parts where there are none."""
    rows, sums = added_names(scan.values)
    return f"CREATE TEMP TABLE {table} ({', '.join(f'{name} BIGINT' for name in ['p', *_keys(scan), *rows, *sums])})"


def _keys(scan: PersonReading) -> list[str]:
    """The columns that tell the parts of a person apart."""
    match scan:
        case PersonScan():
            return part_names(scan)
        case PersonRows():
            return [f"k{i}" for i in range(len(scan.axes))]
    raise unreachable(scan)
