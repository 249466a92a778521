"""A scan of a table of persons as two SQL statements: the rows of each person in each cell, and weighted totals of these.

The first may run on one part of the rows after the other; the second sees whole persons (U2 of docs/proofs/persons.md).
Every number in them is whole, and no statement depends on an order. Names are quoted identifiers, all else is integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube
from discreet.cube.persons import PersonKey, PersonScan
from discreet.cube.weights import WEIGHTINGS
from discreet.engines.base import Header
from discreet.engines.dialect import Dialect
from discreet.engines.sql import labels_sql

__all__ = ["person_cube", "person_rows_sql", "person_totals_sql"]

Answer = Mapping[str, NDArray[Any]]


def person_rows_sql(dialect: Dialect, source: str, header: Header, scan: PersonScan) -> str:
    """One statement that gives, for each person and each cell that this person is in, how many rows that count there are.

    Its columns are p, cell and n. Rows that are null in the identifier, fail a condition or are in no group are left out.

    Args:
        dialect: of the engine that will run it.
        source: an SQL table expression.
        header: the types of its columns.
        scan: the scan.
    """
    person = dialect.identity(dialect.quoted(scan.person), header[scan.person])
    labels = labels_sql(dialect, source, header, scan.axes, [f"{person} AS p"])
    kept = ["p IS NOT NULL"]
    for i, key in enumerate(scan.keys):
        inside = f"k{i} BETWEEN {key.first} AND {key.first + key.places - 1}"
        kept.append(inside if key.null is None else f"({inside} OR k{i} = {key.axis.path.null_target})")
    kept += [f"k{len(scan.keys) + i} = 1" for i in range(len(scan.tests))]
    cell = f"CAST({_cell(scan)} AS INTEGER)"  # at most 250,000 cells
    return (
        f"SELECT p, {cell} AS cell, count(*) AS n FROM ({labels}) AS labelled WHERE {' AND '.join(kept)} GROUP BY p, {cell}"
    )


def _cell(scan: PersonScan) -> str:
    """The cell of a row that is in one, the last group fastest."""
    cell = "CAST(0 AS BIGINT)"
    for i, (key, size) in enumerate(zip(scan.keys, scan.sizes, strict=True)):
        cell = f"({cell} * {size} + {_place(key, f'k{i}')})"
    return cell


def _place(key: PersonKey, label: str) -> str:
    place = f"({label} - {key.first})" if key.first else label
    return place if key.null is None else f"CASE WHEN {label} = {key.axis.path.null_target} THEN {key.null} ELSE {place} END"


def person_totals_sql(parts: str, scan: PersonScan) -> str:
    """One statement that gives, per cell, how many persons are in it, and the totals in the order of the cube's sums.

    Args:
        parts: a table with what `person_rows_sql` gives, in which each person and cell is there once.
        scan: the scan.
    """
    rows = f"sum(CAST(CASE WHEN n > {scan.rows} THEN {scan.rows} ELSE n END AS INTEGER))"
    if scan.groups >= scan.cells:  # everybody counts fully
        ones = ["1" for _ in WEIGHTINGS]
        return _totals(f"(SELECT cell, count(*) AS a, {rows} AS r FROM {parts} GROUP BY cell) AS each", ones)
    # Persons of a cell who are in as many cells have one weight: these are few, and the weights are looked up for them.
    counts = f"SELECT p, CAST(count(*) AS INTEGER) AS c FROM {parts} GROUP BY p"
    larger = f"CASE WHEN c > {scan.groups} THEN c ELSE {scan.groups} END"
    each = (
        f"SELECT cell, {larger} AS g, count(*) AS a, {rows} AS r FROM {parts} JOIN counts ON {parts}.p = counts.p "
        f"GROUP BY cell, {larger}"
    )
    names = [f"w{i}" for i in range(len(WEIGHTINGS))]
    table = ", ".join(f"({', '.join(map(str, row))})" for row in scan.weights)
    weights = f"(VALUES {table}) AS weights(c, {', '.join(names)})"
    kept = f"each LEFT JOIN {weights} ON g = weights.c"
    return f"WITH counts AS ({counts}), each AS ({each}) {_totals(kept, [f'coalesce({name}, 0)' for name in names])}"


def _totals(kept: str, weights: Sequence[str]) -> str:
    """The totals of each cell over parts of it: a persons with r rows and one weight each."""
    persons = [f"CAST(sum({weight} * a) AS BIGINT) AS s{i}" for i, weight in enumerate(weights)]
    rows = [f"CAST(sum({weight} * r) AS BIGINT) AS s{len(weights) + i}" for i, weight in enumerate(weights)]
    return f"SELECT cell, CAST(sum(a) AS BIGINT) AS n, {', '.join([*persons, *rows])} FROM {kept} GROUP BY cell"


def person_cube(answer: Answer) -> Cube:
    """The cube in what a statement of `person_totals_sql` answered, in the order of its cells."""
    columns = {name: np.asarray(values, dtype=np.int64) for name, values in answer.items()}
    order = np.argsort(columns["cell"], kind="stable")
    rows = columns["n"][order]
    sums = np.stack([columns[f"s{i}"][order] for i in range(2 * len(WEIGHTINGS))], axis=1)
    return Cube(columns["cell"][order].reshape(-1, 1), rows, np.zeros((len(rows), 0), dtype=np.int64), sums)
