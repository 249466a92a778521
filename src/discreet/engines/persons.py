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
from discreet.cube.person_numbers import (
    Here,
    KnownUpTo,
    PersonNumber,
    RowsUpTo,
    SquaresUpTo,
    Total,
    TotalSquared,
    ValuesUpTo,
)
from discreet.cube.persons import NOWHERE, InFull, PersonKey, PersonScan, PersonSpread, PersonValue
from discreet.cube.weights import WEIGHTINGS
from discreet.domain.bounds import MOST_GROUPS
from discreet.engines.base import Header
from discreet.engines.dialect import Dialect
from discreet.engines.sql import labels_sql, number_code
from discreet.errors import unreachable

__all__ = [
    "added_names",
    "bin_sql",
    "inside_sql",
    "key_rows_sql",
    "part_names",
    "person_cube",
    "person_rows_sql",
    "person_totals_sql",
    "place_sql",
    "square_sql",
    "summed_sql",
    "sums_sql",
]

Answer = Mapping[str, NDArray[Any]]

LIMB = 2**50
"""Totals leave an engine as two limbs, total = high·2**50 + low: they are below 2**100 (MOST_STEPS)."""


# The rows of each person --------------------------------------------------------------------------------------------------


def person_rows_sql(dialect: Dialect, source: str, header: Header, scan: PersonScan) -> str:
    """One statement that gives, for each person and each cell that this person is in, how many rows that count there are.

    Its columns are p, cell, and b0, b1, … for the bins of spreads; then n, and for each value its known rows, the sum of its
    codes and, where they are needed, that of squares: n0, s0, r0, n1, … Rows that are null in the identifier, fail a
    condition or are in no group are left out.

    Args:
        dialect: of the engine that will run it.
        source: an SQL table expression.
        header: the types of its columns.
        scan: the scan.
    """
    codes, sums = _weighed_sql(dialect, header, scan)
    labels = labels_sql(dialect, source, header, scan.axes, [_person_sql(dialect, header, scan), *codes])
    return _grouped(scan, {"p": "p", "cell": _cell_sql(scan)}, sums, labels)


def key_rows_sql(dialect: Dialect, source: str, header: Header, scan: KeyScan) -> str:
    """The same with a column `word`: the bytes of the key of the rows, or null where they have none."""
    rest, text = scan.rest, f"nfc_normalize(CAST({dialect.quoted(scan.column)} AS VARCHAR))"
    codes, sums = _weighed_sql(dialect, header, rest)
    read = [_person_sql(dialect, header, rest), *codes, f"{text} AS spelled"]
    short = f"length(spelled) BETWEEN 1 AND {scan.max_length}"
    word = f"CASE WHEN {short} AND NOT regexp_matches(spelled, '{_NO_KEY}') THEN encode(spelled) END"
    keys = {"p": "p", "word": word, "cell": _cell_sql(rest)}
    return _grouped(rest, keys, sums, labels_sql(dialect, source, header, rest.axes, read))


def _grouped(scan: PersonScan, keys: Mapping[str, str], sums: str, labels: str) -> str:
    """The sums by these keys and the bins of spreads, over the labels of rows."""
    first = len(scan.keys) + len(scan.tests)
    keys = {**keys, **{f"b{i}": bin_sql(one, f"k{first + i}") for i, one in enumerate(scan.spreads)}}
    named = ", ".join(f"{key} AS {name}" for name, key in keys.items())
    kept, by = " AND ".join(_kept(scan)), ", ".join(keys.values())
    return f"SELECT {named}, {sums} FROM ({labels}) AS labelled WHERE {kept} GROUP BY {by}"


def part_names(scan: PersonScan) -> list[str]:
    """The columns, after the person, that tell the parts of a person apart."""
    return ["cell", *(f"b{i}" for i in range(len(scan.spreads)))]


def added_names(values: Sequence[PersonValue]) -> tuple[list[str], list[str]]:
    """The columns of numbers of rows, and those of sums that may be wider than 64 bits."""
    rows, sums = ["n", *(f"n{j}" for j in range(len(values)))], [f"s{j}" for j in range(len(values))]
    return rows, [*sums, *(f"r{j}" for j, one in enumerate(values) if one.squared)]


def summed_sql(dialect: Dialect, values: Sequence[PersonValue]) -> str:
    """The sums of these columns over several parts, each under its own name."""
    rows, sums = added_names(values)
    whole = [f"CAST(sum({name}) AS BIGINT) AS {name}" for name in rows]
    return ", ".join([*whole, *(f"{dialect.wide(dialect.summed(name))} AS {name}" for name in sums)])


_NO_KEY = r"[\p{Cc}\p{Zl}\p{Zp}\x{FFFD}]"
"""What `cube.keys.is_key` refuses; a text of the driver has no lone surrogates."""


def _person_sql(dialect: Dialect, header: Header, scan: PersonScan) -> str:
    return f"{dialect.identity(dialect.quoted(scan.person), header[scan.person])} AS p"


def _cell_sql(scan: PersonScan) -> str:
    return f"CAST({_cell(scan)} AS INTEGER)"  # at most 250,000 cells


def _kept(scan: PersonScan) -> list[str]:
    """The conditions under which a row counts, over its labels."""
    kept = ["p IS NOT NULL"]
    kept += [inside_sql(key, f"k{i}") for i, key in enumerate(scan.keys)]
    kept += [f"k{len(scan.keys) + i} = 1" for i in range(len(scan.tests))]
    return kept if scan.weight is None else [*kept, "w > 0"]


def _weighed_sql(dialect: Dialect, header: Header, scan: PersonScan) -> tuple[list[str], str]:
    """The codes v0, v1, … of the values, and w where rows have weights; and n, n0, s0, r0, n1, … over these."""
    codes, sums = sums_sql(dialect, header, scan.values)
    if scan.weight is None:
        return codes, f"count(*) AS n{sums}"
    weight = f"{number_code(dialect, scan.weight, header[scan.weight.name], 'BIGINT')} AS w"
    found = ["CAST(sum(w) AS BIGINT) AS n"]  # below 2**60: MOST_WEIGHT
    for j, one in enumerate(scan.values):
        found.append(f"CAST(coalesce(sum(CASE WHEN v{j} IS NOT NULL THEN w END), 0) AS BIGINT) AS n{j}")
        powers = {"s": dialect.wide(f"v{j}"), **({"r": square_sql(dialect, one, j)} if one.squared else {})}
        for name, power in powers.items():
            product = f"{dialect.wide('w')} * {power}"
            found.append(f"{dialect.wide(f'coalesce(sum({product}), 0)')} AS {name}{j}")
    return [weight, *codes], ", ".join(found)


def sums_sql(dialect: Dialect, header: Header, values: Sequence[PersonValue]) -> tuple[list[str], str]:
    """The codes v0, v1, … of the values over the source, and their known rows and sums n0, s0, r0, … over these."""
    codes = [f"{number_code(dialect, one.path, header[one.path.name], None)} AS v{j}" for j, one in enumerate(values)]
    sums = [f", count(v{j}) AS n{j}, {_sum_of_codes(dialect, one, j)} AS s{j}" for j, one in enumerate(values)]
    squared = ((j, square_sql(dialect, one, j)) for j, one in enumerate(values) if one.squared)
    return codes, "".join([*sums, *(f", {dialect.wide(f'coalesce(sum({square}), 0)')} AS r{j}" for j, square in squared)])


def _sum_of_codes(dialect: Dialect, value: PersonValue, j: int) -> str:
    """The exact sum, in 64 bits where it fits; 0 for none."""
    if fits_int64(value.path.high):
        return f"CAST(coalesce(sum(v{j}), 0) AS BIGINT)"
    return dialect.wide(f"coalesce(sum({dialect.wide(f'v{j}')}), 0)")  # the sum of an engine may be as wide as what it adds


def square_sql(dialect: Dialect, value: PersonValue, j: int) -> str:
    """The square of twice the distance of a code from the middle."""
    distance = f"({dialect.wide(f'v{j}')} * 2 - {value.path.low + value.path.high})"
    return f"{distance} * {distance}"


def bin_sql(spread: PersonSpread, label: str) -> str:
    """The place of a row, as `PersonSpread.place` has it."""
    null = NOWHERE if spread.null is None else spread.null
    place = f"{label} - {spread.first}" if spread.first else label
    return (
        f"CAST(CASE WHEN {label} = {spread.axis.path.null_target} THEN {null} WHEN {label} BETWEEN {spread.first} AND "
        f"{spread.first + spread.inside - 1} THEN {place} ELSE {spread.bins if spread.outside else NOWHERE} END AS INTEGER)"
    )


def _cell(scan: PersonScan) -> str:
    """The cell of a row that is in one."""
    return " + ".join(
        ["CAST(0 AS BIGINT)", *(f"{key.stride} * {place_sql(key, f'k{i}')}" for i, key in enumerate(scan.keys))]
    )


def place_sql(key: PersonKey, label: str) -> str:
    """The place of a label that is in a group."""
    place = f"({label} - {key.first})" if key.first else label
    if key.null is None:
        return place
    return f"(CASE WHEN {label} = {key.axis.path.null_target} THEN {key.null} ELSE {place} END)"


def inside_sql(key: PersonKey, label: str) -> str:
    """The condition that a label is in a group."""
    inside = f"{label} BETWEEN {key.first} AND {key.first + key.places - 1}"
    return inside if key.null is None else f"({inside} OR {label} = {key.axis.path.null_target})"


# What persons come to -----------------------------------------------------------------------------------------------------


def person_totals_sql(dialect: Dialect, parts: str, scan: PersonScan) -> str:
    """One statement that gives the cells of each part of the cube: how many persons are in it, and the totals.

    Its columns are part, cell, n and the totals in the order of the cube's sums, in two limbs where they are wide.

    Args:
        dialect: of the engine that will run it.
        parts: a table with what `person_rows_sql` gives, in which each person, cell and bins are there once.
        scan: the scan.
    """
    whole, tables = parts, {}
    if scan.spreads:
        summed = ", ".join([summed_sql(dialect, scan.values), *(_rows_in_bins_sql(i) for i in range(len(scan.spreads)))])
        whole, tables["whole"] = "whole", f"SELECT p, cell, {summed} FROM {parts} GROUP BY p, cell"
    if scan.groups < scan.cells:  # else everybody counts fully
        tables["counts"] = f"SELECT p, CAST(count(*) AS INTEGER) AS c FROM {whole} GROUP BY p"
    answers = []
    if scan.numbers:
        added = [_added_sql(dialect, scan, one) for one in scan.numbers]
        answers.append(_totals_sql(dialect, scan, 0, _each_sql(scan, whole, added)))
    for i in range(len(scan.spreads)):
        tables |= _divided_sql(parts, scan, i)
        answers.append(_totals_sql(dialect, scan, 1 + i, _each_sql(scan, f"divided{i}", [_share_sql(dialect, scan)])))
    if scan.in_full is not None:
        tables["persons"] = _persons_sql(dialect, scan, scan.in_full, whole)
        answers.append(_in_full_sql(scan, 1 + len(scan.spreads)))
    given = ", ".join(f"{name} AS ({table})" for name, table in tables.items())
    return f"{f'WITH {given} ' if given else ''}{' UNION ALL '.join(answers)}"


def _rows_in_bins_sql(i: int) -> str:
    """The rows of a person in a cell that are in some bin of a spread, or outside of all, but not nowhere."""
    return f"CAST(sum(CASE WHEN b{i} = {NOWHERE} THEN 0 ELSE n END) AS BIGINT) AS m{i}"


def _divided_sql(parts: str, scan: PersonScan, i: int) -> dict[str, str]:
    """The rows of each person in each bin of each cell, with m, the rows in all bins of the cell where these are too many.

    Few persons have too many. Where they do not, m is null, and nothing of theirs is divided.
    """
    bins = scan.spreads[i].bins
    kept = f"FROM {parts} WHERE b{i} <> {NOWHERE} AND b{i} <> {bins}"
    if len(scan.spreads) == 1:
        kept = f"SELECT p, cell, b{i} AS b, n {kept}"
    else:
        kept = f"SELECT p, cell, b{i} AS b, CAST(sum(n) AS BIGINT) AS n {kept} GROUP BY p, cell, b{i}"
    many = f"SELECT p, cell, m{i} AS m FROM whole WHERE m{i} > {scan.rows}"
    divided = (
        f"SELECT own{i}.p, own{i}.cell * {bins} + b AS cell, n, m FROM own{i} LEFT JOIN many{i} "
        f"ON own{i}.p = many{i}.p AND own{i}.cell = many{i}.cell"
    )
    return {f"own{i}": kept, f"many{i}": many, f"divided{i}": divided}


def _persons_sql(dialect: Dialect, scan: PersonScan, full: InFull, table: str) -> str:
    """Each person once: the number of cells, and 1 where something of hers does not count in one of them, else 0."""
    at = {one.column: j for j, one in enumerate(scan.values)}
    cut = [] if full.rows is None else [f"n > {full.rows}"]
    for one in full.totals:
        summed, j = _summed_sql(dialect, one, at[one.column]), at[one.column]
        cut.append(f"(n{j} > 0 AND ({summed} < {one.low} OR {summed} > {one.high}))")
    beyond = f"max(CASE WHEN {' OR '.join(cut)} THEN 1 ELSE 0 END)" if cut else "0"
    return f"SELECT p, count(*) AS c, {beyond} AS cut FROM {table} GROUP BY p"


def _in_full_sql(scan: PersonScan, part: int) -> str:
    """The numbers of persons who count with all that they have, and of the others, in the first two cells of a part."""
    groups = MOST_GROUPS if scan.in_full is None else scan.in_full.groups
    names = ["h", "l"] if scan.is_wide else ["s"]
    places = range(len(WEIGHTINGS) * max(len(scan.numbers), 1))
    nothing = (f"CAST(0 AS BIGINT) AS {name}{place}" for place in places for name in names)
    cell = f"CASE WHEN c <= {groups} AND cut = 0 THEN 0 ELSE 1 END"
    found = ", ".join([f"{part} AS part", f"{cell} AS cell", "CAST(count(*) AS BIGINT) AS n", *nothing])
    return f"SELECT {found} FROM persons GROUP BY {cell}"


def _each_sql(scan: PersonScan, table: str, added: Sequence[str]) -> str:
    """The sums a0, a1, … in the cells of a table of persons, and with weights for persons who are in as many cells.

    These are few groups, and have one weight each, so that weights are looked up for them and not for persons.
    """
    sums = ", ".join(["count(*) AS a", *(f"{sql} AS a{i}" for i, sql in enumerate(added))])
    if scan.groups >= scan.cells:
        return f"SELECT cell, {sums} FROM {table} GROUP BY cell"
    larger = f"CASE WHEN c > {scan.groups} THEN c ELSE {scan.groups} END"
    return f"SELECT cell, {larger} AS g, {sums} FROM {table} JOIN counts ON {table}.p = counts.p GROUP BY cell, {larger}"


def _totals_sql(dialect: Dialect, scan: PersonScan, part: int, each: str) -> str:
    """The totals of each cell of a part of the cube; 0 where a part has fewer numbers than another one."""
    kept, weights = f"({each}) AS each{part}", ["1" for _ in WEIGHTINGS]
    if scan.groups < scan.cells:
        names = [f"w{i}" for i in range(len(WEIGHTINGS))]
        listed = ", ".join(f"({', '.join(map(str, row))})" for row in scan.weights)
        kept += f" LEFT JOIN (VALUES {listed}) AS weights(c, {', '.join(names)}) ON g = weights.c"
        weights = [f"coalesce({name}, 0)" for name in names]
    own = 1 if part else len(scan.numbers)
    found = [f"{part} AS part", "cell", "CAST(sum(a) AS BIGINT) AS n"]
    for i in range(max(len(scan.numbers), 1)):
        for k, weight in enumerate(weights):
            found += _total_sql(dialect, scan, i * len(weights) + k, (weight, f"a{i}") if i < own else ("0", "a"))
    return f"SELECT {', '.join(found)} FROM {kept} GROUP BY cell"


def _total_sql(dialect: Dialect, scan: PersonScan, place: int, product: tuple[str, str]) -> list[str]:
    """The total at a place of the sums, in one column or in two limbs."""
    if not scan.is_wide:
        return [f"CAST(sum({product[0]} * {product[1]}) AS BIGINT) AS s{place}"]
    total = f"sum({dialect.wide(product[0])} * {dialect.wide(product[1])})"
    return [
        f"CAST({total} {dialect.divided} {LIMB} AS BIGINT) AS h{place}",
        f"CAST({total} % {LIMB} AS BIGINT) AS l{place}",
    ]


def _added_sql(dialect: Dialect, scan: PersonScan, number: PersonNumber) -> str:
    """The sum over some persons of what they count for."""
    at = {one.column: j for j, one in enumerate(scan.values)}
    match number:
        case Here():
            return "count(*)"
        case RowsUpTo(most):
            return f"sum({_at_most('n', most)})"
        case KnownUpTo(column, most):
            return f"sum({_at_most(f'n{at[column]}', most)})"
        case Total(column):
            return dialect.summed(f"CAST({_clamped_sql(dialect, number, at[column])} AS BIGINT)")
        case TotalSquared(total, coarse):
            distance = f"(({_clamped_sql(dialect, total, at[total.column])}) * 2 - {total.low + total.high})"
            square = f"{dialect.wide(distance)} * {dialect.wide(distance)} {dialect.divided} {coarse}"
            return dialect.summed(f"CASE WHEN n{at[total.column]} = 0 THEN 0 ELSE CAST({square} AS BIGINT) END")
        case ValuesUpTo(column, low, _, most, fine):
            j = at[column]
            above = f"({dialect.wide(f's{j}')} - {dialect.wide(f'n{j}')} * {low})"
            return _of_rows_sql(dialect, above, f"n{j}", most, (fine, 1))
        case SquaresUpTo(column, _, most, fine, coarse):
            j = at[column]
            return _of_rows_sql(dialect, f"r{j}", f"n{j}", most, (fine, coarse))
    raise unreachable(number)


def _at_most(rows: str, most: int) -> str:
    return f"CAST(CASE WHEN {rows} > {most} THEN {most} ELSE {rows} END AS INTEGER)"


def _clamped_sql(dialect: Dialect, total: Total, j: int) -> str:
    """The total of a person, 0 without a value."""
    summed, low, high = _summed_sql(dialect, total, j), total.low, total.high
    return f"CASE WHEN n{j} = 0 THEN 0 WHEN {summed} < {low} THEN {low} WHEN {summed} > {high} THEN {high} ELSE {summed} END"


def _summed_sql(dialect: Dialect, total: Total, j: int) -> str:
    """The total of a person with a value, before it is moved to its bounds."""
    return f"({dialect.wide(f's{j}')} * {total.step} + {dialect.wide(f'n{j}')} * {total.origin})"


def _of_rows_sql(dialect: Dialect, total: str, known: str, most: int, scale: tuple[int, int]) -> str:
    """The sum over persons of ⌊fine·total·min(known, most)/(known·coarse)⌋; no product needs more than 126 bits."""
    fine, coarse = scale
    by, n = dialect.divided, dialect.wide(known)
    less = f"({fine * most} * ({total} {by} {n}) + {fine * most} * ({total} % {n}) {by} {n})"
    all_rows = f"{dialect.wide(total)} * {fine}"
    share = f"CASE WHEN {known} = 0 THEN 0 WHEN {known} <= {most} THEN {all_rows} ELSE {dialect.wide(less)} END"
    return dialect.summed(f"CAST(({share}) {by} {coarse} AS BIGINT)")


def _share_sql(dialect: Dialect, scan: PersonScan) -> str:
    """The sum over persons of what the rows of a bin count for, of all that they have in the cell."""
    rows = "n" if scan.weight is None else dialect.wide("n")
    less = f"{rows} * {scan.unit * scan.rows} {dialect.divided} m"
    return dialect.summed(f"CASE WHEN m IS NULL THEN n * {scan.unit} ELSE CAST({less} AS BIGINT) END")


def person_cube(answer: Answer, scan: PersonScan) -> Cube:
    """The cube in what a statement of `person_totals_sql` answered: its keys are cells and parts, in their order."""
    columns = {name: np.asarray(values, dtype=np.int64) for name, values in answer.items()}
    order = np.lexsort((columns["cell"], columns["part"]))
    rows = columns["n"][order]
    keys = np.column_stack([columns["cell"][order], columns["part"][order]])
    kind = np.object_ if scan.is_wide else np.int64
    places = range(len(WEIGHTINGS) * max(len(scan.numbers), 1))
    sums = np.stack([_sum_at(columns, place)[order].astype(kind) for place in places], axis=1)
    return Cube(keys, rows, np.zeros((len(rows), 0), dtype=np.int64), sums)


def _sum_at(columns: Answer, place: int) -> NDArray[Any]:
    """The sums of this place, put together where they come in two limbs."""
    if f"s{place}" in columns:
        return columns[f"s{place}"]
    found: NDArray[Any] = columns[f"h{place}"].astype(np.object_) * LIMB + columns[f"l{place}"].astype(np.object_)
    return found
