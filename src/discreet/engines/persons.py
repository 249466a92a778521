"""A scan of a table of persons as two SQL statements: the rows of each person in each cell, and weighted totals of these.

The first may run on one part of the rows after the other; the second sees whole persons (U2 of docs/proofs/persons.md).
Every number in them is whole, and no statement depends on an order. Names are quoted identifiers, all else is integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube, fits_int64
from discreet.cube.keys import KeyScan
from discreet.cube.persons import PersonKey, PersonScan, PersonValue
from discreet.cube.weights import WEIGHTINGS
from discreet.engines.base import Header
from discreet.engines.dialect import Dialect
from discreet.engines.sql import labels_sql, number_code

__all__ = ["key_rows_sql", "person_cube", "person_rows_sql", "person_totals_sql", "sums_sql"]

Answer = Mapping[str, NDArray[Any]]

LIMB = 2**50
"""Totals leave an engine as two limbs, total = high·2**50 + low: they are below 2**100 (MOST_STEPS)."""


def person_rows_sql(dialect: Dialect, source: str, header: Header, scan: PersonScan) -> str:
    """One statement that gives, for each person and each cell that this person is in, how many rows that count there are.

    Its columns are p, cell and n, and for each value its known rows and the sum of its codes: n0, s0, n1, s1, … Rows
    that are null in the identifier, fail a condition or are in no group are left out.

    Args:
        dialect: of the engine that will run it.
        source: an SQL table expression.
        header: the types of its columns.
        scan: the scan.
    """
    codes, sums = _weighed_sql(dialect, header, scan)
    person, cell = _person_sql(dialect, header, scan), _cell_sql(scan)
    labels = labels_sql(dialect, source, header, scan.axes, [person, *codes])
    return (
        f"SELECT p, {cell} AS cell, {sums} FROM ({labels}) AS labelled WHERE {' AND '.join(_kept(scan))} GROUP BY p, {cell}"
    )


def key_rows_sql(dialect: Dialect, source: str, header: Header, scan: KeyScan) -> str:
    """The same with a column `word`: the bytes of the key of the rows, or null where they have none."""
    rest, text = scan.rest, f"nfc_normalize(CAST({dialect.quoted(scan.column)} AS VARCHAR))"
    codes, sums = _weighed_sql(dialect, header, rest)
    read = [_person_sql(dialect, header, rest), *codes, f"{text} AS spelled"]
    labels = labels_sql(dialect, source, header, rest.axes, read)
    short = f"length(spelled) BETWEEN 1 AND {scan.max_length}"
    word = f"CASE WHEN {short} AND NOT regexp_matches(spelled, '{_NO_KEY}') THEN encode(spelled) END"
    cell = _cell_sql(rest)
    return (
        f"SELECT p, {word} AS word, {cell} AS cell, {sums} FROM ({labels}) AS labelled "
        f"WHERE {' AND '.join(_kept(rest))} GROUP BY p, {word}, {cell}"
    )


_NO_KEY = r"[\p{Cc}\p{Zl}\p{Zp}\x{FFFD}]"
"""What `cube.keys.is_key` refuses; a text of the driver has no lone surrogates."""


def _person_sql(dialect: Dialect, header: Header, scan: PersonScan) -> str:
    return f"{dialect.identity(dialect.quoted(scan.person), header[scan.person])} AS p"


def _cell_sql(scan: PersonScan) -> str:
    return f"CAST({_cell(scan)} AS INTEGER)"  # at most 250,000 cells


def _kept(scan: PersonScan) -> list[str]:
    """The conditions under which a row counts, over its labels."""
    kept = ["p IS NOT NULL"]
    for i, key in enumerate(scan.keys):
        inside = f"k{i} BETWEEN {key.first} AND {key.first + key.places - 1}"
        kept.append(inside if key.null is None else f"({inside} OR k{i} = {key.axis.path.null_target})")
    kept += [f"k{len(scan.keys) + i} = 1" for i in range(len(scan.tests))]
    return kept if scan.weight is None else [*kept, "w > 0"]


def _weighed_sql(dialect: Dialect, header: Header, scan: PersonScan) -> tuple[list[str], str]:
    """The codes v0, v1, … of the values, and w where rows have weights; and n, n0, s0, n1, s1, … over these."""
    codes, sums = sums_sql(dialect, header, scan.values)
    if scan.weight is None:
        return codes, f"count(*) AS n{sums}"
    weight = f"{number_code(dialect, scan.weight, header[scan.weight.name], 'BIGINT')} AS w"
    found = ["CAST(sum(w) AS BIGINT) AS n"]  # below 2**60: MOST_WEIGHT
    for j in range(len(scan.values)):
        known = f"CAST(coalesce(sum(CASE WHEN v{j} IS NOT NULL THEN w END), 0) AS BIGINT) AS n{j}"
        product = f"{dialect.wide('w')} * {dialect.wide(f'v{j}')}"
        found += [known, f"{dialect.wide(f'coalesce(sum({product}), 0)')} AS s{j}"]
    return [weight, *codes], ", ".join(found)


def sums_sql(dialect: Dialect, header: Header, values: Sequence[PersonValue]) -> tuple[list[str], str]:
    """The codes v0, v1, … of the values over the source, and their known rows and sums n0, s0, … over these."""
    codes = [f"{number_code(dialect, one.path, header[one.path.name], None)} AS v{j}" for j, one in enumerate(values)]
    sums = (f", count(v{j}) AS n{j}, {_sum_of_codes(dialect, one, j)} AS s{j}" for j, one in enumerate(values))
    return codes, "".join(sums)


def _sum_of_codes(dialect: Dialect, value: PersonValue, j: int) -> str:
    """The exact sum, in 64 bits where it fits; 0 for none."""
    if fits_int64(value.path.high):
        return f"CAST(coalesce(sum(v{j}), 0) AS BIGINT)"
    return dialect.wide(f"coalesce(sum({dialect.wide(f'v{j}')}), 0)")  # the sum of an engine may be as wide as what it adds


def _cell(scan: PersonScan) -> str:
    """The cell of a row that is in one, the last group fastest."""
    cell = "CAST(0 AS BIGINT)"
    for i, (key, size) in enumerate(zip(scan.keys, scan.sizes, strict=True)):
        cell = f"({cell} * {size} + {_place(key, f'k{i}')})"
    return cell


def _place(key: PersonKey, label: str) -> str:
    place = f"({label} - {key.first})" if key.first else label
    return place if key.null is None else f"CASE WHEN {label} = {key.axis.path.null_target} THEN {key.null} ELSE {place} END"


def person_totals_sql(dialect: Dialect, parts: str, scan: PersonScan) -> str:
    """One statement that gives, per cell, how many persons are in it, and the totals in the order of the cube's sums.

    Args:
        dialect: of the engine that will run it.
        parts: a table with what `person_rows_sql` gives, in which each person and cell is there once.
        scan: the scan.
    """
    added = ["count(*) AS a0", f"sum(CAST(CASE WHEN n > {scan.rows} THEN {scan.rows} ELSE n END AS INTEGER)) AS a1"]
    for j, value in enumerate(scan.values):
        added += [f"count(CASE WHEN n{j} > 0 THEN 1 END) AS a{2 * j + 2}", f"{_clamped(dialect, value, j)} AS a{2 * j + 3}"]
    sums = ", ".join(added)
    if scan.groups >= scan.cells:  # everybody counts fully
        ones = ["1" for _ in WEIGHTINGS]
        return _totals(dialect, f"(SELECT cell, {sums} FROM {parts} GROUP BY cell) AS each", ones, scan)
    # Persons of a cell who are in as many cells have one weight: these are few, and the weights are looked up for them.
    counts = f"SELECT p, CAST(count(*) AS INTEGER) AS c FROM {parts} GROUP BY p"
    larger = f"CASE WHEN c > {scan.groups} THEN c ELSE {scan.groups} END"
    each = f"SELECT cell, {larger} AS g, {sums} FROM {parts} JOIN counts ON {parts}.p = counts.p GROUP BY cell, {larger}"
    names = [f"w{i}" for i in range(len(WEIGHTINGS))]
    table = ", ".join(f"({', '.join(map(str, row))})" for row in scan.weights)
    weights = f"(VALUES {table}) AS weights(c, {', '.join(names)})"
    kept, known = f"each LEFT JOIN {weights} ON g = weights.c", [f"coalesce({name}, 0)" for name in names]
    return f"WITH counts AS ({counts}), each AS ({each}) {_totals(dialect, kept, known, scan)}"


def _clamped(dialect: Dialect, value: PersonValue, j: int) -> str:
    """The sum over persons of their clamped totals; a person without a value adds 0."""
    total = f"({dialect.wide(f's{j}')} * {value.step} + {dialect.wide(f'n{j}')} * {value.origin})"
    low, high = value.low, value.high
    clamped = f"CASE WHEN n{j} = 0 THEN 0 WHEN {total} < {low} THEN {low} WHEN {total} > {high} THEN {high} ELSE {total} END"
    return f"sum(CAST({clamped} AS BIGINT))"


def _totals(dialect: Dialect, kept: str, weights: Sequence[str], scan: PersonScan) -> str:
    """The totals of each cell over parts of it, in each of which all persons have one weight."""
    found = ["CAST(sum(a0) AS BIGINT) AS n"]
    for i in range(2 * (1 + len(scan.values))):
        for k, weight in enumerate(weights):
            place = i * len(weights) + k
            if i % 2 and (i > 1 or scan.weight is not None):  # totals are as large as their bounds, rows as the weights
                total = f"sum({dialect.wide(weight)} * {dialect.wide(f'a{i}')})"
                found += [
                    f"CAST({total} {dialect.divided} {LIMB} AS BIGINT) AS h{place}",
                    f"CAST({total} % {LIMB} AS BIGINT) AS l{place}",
                ]
            else:
                found.append(f"CAST(sum({weight} * a{i}) AS BIGINT) AS s{place}")
    return f"SELECT cell, {', '.join(found)} FROM {kept} GROUP BY cell"


def person_cube(answer: Answer, scan: PersonScan) -> Cube:
    """The cube in what a statement of `person_totals_sql` answered, in the order of its cells."""
    columns = {name: np.asarray(values, dtype=np.int64) for name, values in answer.items()}
    order = np.argsort(columns["cell"], kind="stable")
    rows = columns["n"][order]
    kind = np.object_ if scan.is_wide else np.int64
    places = range(len(WEIGHTINGS) * 2 * (1 + len(scan.values)))
    sums = np.stack([_sum_at(columns, place)[order].astype(kind) for place in places], axis=1)
    return Cube(columns["cell"][order].reshape(-1, 1), rows, np.zeros((len(rows), 0), dtype=np.int64), sums)


def _sum_at(columns: Answer, place: int) -> NDArray[Any]:
    """The sums of this place, put together where they come in two limbs."""
    if f"s{place}" in columns:
        return columns[f"s{place}"]
    found: NDArray[Any] = columns[f"h{place}"].astype(np.object_) * LIMB + columns[f"l{place}"].astype(np.object_)
    return found
