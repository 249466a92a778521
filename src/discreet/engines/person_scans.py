"""The readings of persons, and their statements: of parts of persons first, then of whole ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from discreet.cube.cube import Cube
from discreet.cube.joins import JoinedScan, rest_of
from discreet.cube.keys import KeyScan
from discreet.cube.person_rows import PersonRows
from discreet.cube.persons import PersonScan
from discreet.cube.tables import PersonCodes
from discreet.engines.base import Header, PersonReading
from discreet.engines.dialect import Dialect
from discreet.engines.person_codes import added_codes_sql, code_names, code_parts_sql
from discreet.engines.person_rows import made_rows_cube, made_rows_sql, row_parts_sql
from discreet.engines.persons import (
    added_names,
    key_rows_sql,
    part_names,
    person_cube,
    person_rows_sql,
    person_totals_sql,
    summed_sql,
)
from discreet.errors import unreachable

__all__ = ["PartReading", "added_parts_sql", "answer_cube", "answer_sql", "empty_parts_sql", "parts_sql"]

PartReading = JoinedScan | PersonCodes
"""The readings that begin with parts of persons."""


def parts_sql(dialect: Dialect, source: str, header: Header, scan: PartReading) -> str:
    """The statement that gives parts of persons, over some or all rows."""
    match scan:
        case PersonScan():
            return person_rows_sql(dialect, source, header, scan)
        case PersonRows():
            return row_parts_sql(dialect, source, header, scan)
        case KeyScan():
            return key_rows_sql(dialect, source, header, scan)
        case PersonCodes():
            return code_parts_sql(dialect, source, header, scan)
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


def added_parts_sql(dialect: Dialect, table: str, scan: PartReading) -> str:
    """The statement that gives each part once, over a table in which parts of several readings stand below each other."""
    if isinstance(scan, PersonCodes):
        return added_codes_sql(table, scan)
    keys = ", ".join(["p", *_keys(scan)])
    return f"SELECT {keys}, {summed_sql(dialect, rest_of(scan).values)} FROM {table} GROUP BY {keys}"


def empty_parts_sql(table: str, scan: PartReading) -> str:
    """The statement that creates a table for parts where there are none."""
    if isinstance(scan, PersonCodes):
        names = ["p", *code_names(scan)]
    else:
        rows, sums = added_names(rest_of(scan).values)
        names = ["p", *_keys(scan), *rows, *sums]
    return f"CREATE TEMP TABLE {table} ({', '.join(f'{name} {_TEXTS.get(name, _NUMBERS)}' for name in names)})"


_NUMBERS, _TEXTS = "BIGINT", {"p": "BLOB", "word": "BLOB"}
"""The types of columns of a table for parts where there are none: rows come in parts from engines whose ids are texts."""


def _keys(scan: JoinedScan) -> list[str]:
    """The columns that tell the parts of a person apart."""
    match scan:
        case PersonScan():
            return part_names(scan)
        case PersonRows():
            return [f"k{i}" for i in range(len(scan.axes))]
        case KeyScan():
            return ["word", *part_names(scan.rest)]
    raise unreachable(scan)
