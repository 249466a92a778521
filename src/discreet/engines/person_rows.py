"""A scan that makes one row of all rows of each person, as two SQL statements: the parts of each person, and the rows.

The first may run on one part of the rows after the other; the second sees whole persons (U6 of docs/proofs/persons.md).
Every number in them is whole, no statement depends on an order, and what leaves the engine has no id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube, compact
from discreet.cube.person_rows import PersonColumn, PersonRows
from discreet.domain.codes import NULL
from discreet.engines.base import Header
from discreet.engines.dialect import Dialect
from discreet.engines.persons import sums_sql
from discreet.engines.sql import labels_sql
from discreet.errors import unreachable

__all__ = ["made_rows_cube", "made_rows_sql", "row_parts_sql"]


def row_parts_sql(dialect: Dialect, source: str, header: Header, scan: PersonRows) -> str:
    """One statement that gives, for each person and each combination of labels, the rows with it and the sums of codes.

    Its columns are p, k0, k1, …, n, n0, s0, … Rows that are null in the identifier or fail a condition are left out.
    """
    person = dialect.identity(dialect.quoted(scan.person), header[scan.person])
    codes, sums = sums_sql(dialect, header, scan.values)
    labels = labels_sql(dialect, source, header, [*scan.axes, *scan.tests], [f"{person} AS p", *codes])
    kept = ["p IS NOT NULL", *(f"k{len(scan.axes) + i} = 1" for i in range(len(scan.tests)))]
    keys = ", ".join(["p", *(f"k{i}" for i in range(len(scan.axes)))])
    return f"SELECT {keys}, count(*) AS n{sums} FROM ({labels}) AS labelled WHERE {' AND '.join(kept)} GROUP BY {keys}"


def made_rows_sql(dialect: Dialect, parts: str, scan: PersonRows) -> str:
    """One statement that gives each combination c0, c1, … of codes of persons with the number n of persons that have it.

    Args:
        dialect: of the engine that will run it.
        parts: a table with what `row_parts_sql` gives; where each row of a table of persons counts, with `times` beside it,
            which is for how many persons a part without an id stands.
        scan: the scan.
    """
    numbers = [f"{_number(dialect, scan, one)} AS x{i}" for i, one in enumerate(scan.made)]
    codes = [f"{_code(f'x{i}', one)} AS c{i}" for i, one in enumerate(scan.made)]
    kept = " WHERE p IS NOT NULL" if scan.everybody else ""
    each = f"SELECT {', '.join([*numbers, '1 AS times'])} FROM {parts}{kept} GROUP BY p"
    if scan.everybody:
        labels = [f"k{i}" for i in range(len(scan.axes))]
        apart = f"GROUP BY {', '.join(labels)}" if labels else "HAVING count(*) > 0"
        each += f" UNION ALL SELECT {', '.join([*numbers, 'sum(times) AS times'])} FROM {parts} WHERE p IS NULL {apart}"
    made = f"SELECT {', '.join([*codes, 'times'])} FROM ({each}) AS each"
    names = [f"c{i}" for i in range(len(scan.made))]
    grouped = f"GROUP BY {', '.join(names)}" if names else "HAVING count(*) > 0"
    return f"SELECT {', '.join([*names, 'CAST(sum(times) AS BIGINT) AS n'])} FROM ({made}) AS made {grouped}"


def _number(dialect: Dialect, scan: PersonRows, one: PersonColumn) -> str:
    """What is made of the parts of a person; null for nothing."""
    known = f"CASE WHEN k{one.place} <> {NULL} THEN k{one.place} END"
    match one.how:
        case "rows":
            return "sum(n)"
        case "total":
            total, j = scan.totals[one.place], one.place
            terms = (f"s{j}", total.step), (f"n{j}", total.origin)
            added = [f"{dialect.wide(dialect.summed(name))} * {by}" for name, by in terms]
            return f"CASE WHEN sum(n{j}) > 0 THEN {' + '.join(added)} END"
        case "distinct":
            return f"count(DISTINCT {known})"
        case "latest":
            return f"max({known})"
        case "earliest":
            return f"min({known})"
        case "only":
            return f"CASE WHEN min({known}) = max({known}) THEN min({known}) END"
    raise unreachable(one.how)


def _code(number: str, one: PersonColumn) -> str:
    """The code of a number between the bounds; a comparison with null is not true, and what is left is null."""
    moved = f"CASE WHEN {number} < {one.low} THEN {one.low} WHEN {number} > {one.high} THEN {one.high} ELSE {number} END"
    return f"CAST(coalesce({moved} - {one.low}, {NULL}) AS BIGINT)"


def made_rows_cube(answer: Mapping[str, NDArray[Any]], scan: PersonRows) -> Cube:
    """The cube in what a statement of `made_rows_sql` answered."""
    rows = np.asarray(answer["n"], dtype=np.int64)
    keys = np.empty((len(rows), len(scan.made)), dtype=np.int64)
    for i in range(len(scan.made)):
        keys[:, i] = answer[f"c{i}"]
    nothing = np.zeros((len(rows), 0), dtype=np.int64)
    return compact(Cube(keys, rows, nothing, nothing))
