"""A layout as one SQL statement: every value becomes a code in the engine, and one GROUP BY counts.

The generator is small on purpose. It knows the closed set of paths and column types, and writes literals itself: names
are quoted identifiers, categories are quoted texts, numbers are integers or hexadecimal-exact doubles. Nothing else of a
plan reaches the text. No expression may fail on any value: conversions are tried, tested before, or bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, gcd

from discreet.engines.base import ColumnType, Header
from discreet.errors import SourceError
from discreet.exact import text
from discreet.paths import NULL, CategoryPath, KeyAxis, Moment, NumberPath
from discreet.schema import Date, Number, Schema

__all__ = ["LIMB", "aggregate_sql", "check_grids", "quoted"]

LIMB = 2**32
"""Sums leave the engine as two 64-bit limbs, sum = high·2**32 + low, because drivers turn 128-bit integers into doubles."""

_NUMBER = " *[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]{1,3})? *"
_INTEGER = " *[+-]?[0-9]{1,19}([.]0*)? *"
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
# Spelled out: lower() fails on text that is not UTF-8, and case-insensitive patterns also match a long s.
_TRUE, _FALSE = "[tT][rR][uU][eE]", "[fF][aA][lL][sS][eE]"
_DAY = 86_400 * 10**9


def quoted(name: str) -> str:
    """`name` as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def check_grids(header: Header, schema: Schema) -> None:
    """Nothing, when every declared number of an integer or decimal column can be put on its grid in 128-bit integers.

    Steps only narrow the range of codes, so no plan fails later for this reason.

    Raises:
        SourceError: the type and the step need more bits together.
    """
    for name, column in schema.columns.items():
        if isinstance(column, Number):
            _number_code(NumberPath(name, column, 0, column.size - 1, NULL, ()), header[name])


def aggregate_sql(source: str, header: Header, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> str:
    """One statement that gives, per cell: its keys, its rows, and for each moment non-null rows and the sum in two limbs.

    Args:
        source: an SQL table expression.
        header: the types of its columns.
        axes: the keys, columns k0, k1, …
        moments: the value columns, v0, v1, …

    Raises:
        SourceError: a decimal column too wide for exact 128-bit arithmetic on the declared grid.
    """
    inner = [f"{_value(axis.path, header[axis.name])} AS c{i}" for i, axis in enumerate(axes)]
    inner += [f"{_number_code(moment.path, header[moment.name])} AS v{j}" for j, moment in enumerate(moments)]
    lookups = "".join(_lookup(axis.path, i) for i, axis in enumerate(axes) if isinstance(axis.path, CategoryPath))
    columns = [f"{_key(axis, i)} AS k{i}" for i, axis in enumerate(axes)] + ["count(*) AS n"]
    for j, moment in enumerate(moments):
        offset = f" - {moment.path.low}" if moment.path.low else ""
        total = f"coalesce(sum(v{j}{offset}), 0)"
        columns += [
            f"count(v{j}) AS n{j}",
            f"CAST({total} // {LIMB} AS BIGINT) AS h{j}",
            f"CAST({total} % {LIMB} AS BIGINT) AS l{j}",
        ]
    body = f"SELECT {', '.join(inner) or '1'} FROM {source}"
    grouped = f" GROUP BY {', '.join(f'k{i}' for i in range(len(axes)))}" if axes else ""
    return f"SELECT {', '.join(columns)} FROM ({body}){lookups}{grouped}"


def _value(path: NumberPath | CategoryPath, kind: ColumnType) -> str:
    if isinstance(path, CategoryPath):
        return _category_value(path, kind)
    return f"coalesce({_number_code(path, kind)}, {path.null_target})"


def _key(axis: KeyAxis, i: int) -> str:
    if isinstance(axis.path, CategoryPath):
        return f"coalesce(t{i}, {axis.path.null_target})"
    if axis.cuts is None:
        return f"CAST(c{i} AS BIGINT)"
    # Negative targets lie below every cut and have to be kept apart from the codes below the first cut.
    count = " + ".join(f"CAST(c{i} >= {cut} AS BIGINT)" for cut in axis.cuts) or "0"
    return f"CASE WHEN c{i} < 0 THEN CAST(c{i} AS BIGINT) ELSE {count} END"


def _lookup(path: CategoryPath, i: int) -> str:
    """The join that sends categories to targets.

    A hash join takes as long for the last category, or for none, as for the first; a map or a CASE is searched from the
    front. Every category is there once, so no row is doubled. Texts are joined by their bytes: a connection of the
    caller may have a collation under which two categories are equal. The list is two literals, because a million
    expressions take half a minute to parse; no category contains a line break.
    """
    type_ = {str: "VARCHAR", int: "BIGINT", bool: "BOOLEAN"}[type(path.column.values[0])]
    words = _text_literal("\n".join(str(value) for value in path.column.values))
    targets = _text_literal("\n".join(str(target) for target in path.targets))
    pairs = f"unnest(CAST(string_split({words}, '\n') AS {type_}[])) AS w{i}, "
    pairs += f"unnest(CAST(string_split({targets}, '\n') AS BIGINT[])) AS t{i}"
    same = f"c{i} COLLATE C = w{i}" if type_ == "VARCHAR" else f"c{i} = w{i}"
    return f" LEFT JOIN (SELECT {pairs}) ON {same}"


def _text_literal(words: str) -> str:
    return "'" + words.replace("'", "''") + "'"


def _category_value(path: CategoryPath, kind: ColumnType) -> str:
    """The value as the type of the categories, null when it cannot be one of them."""
    column, first = quoted(path.name), path.column.values[0]
    if isinstance(first, str):
        return f"nfc_normalize({column})"
    if isinstance(first, bool):
        if kind.kind == "boolean":
            return column
        true, false = (f"regexp_full_match({column}, '{pattern}')" for pattern in (_TRUE, _FALSE))
        return f"CASE WHEN {true} THEN true WHEN {false} THEN false END"
    if kind.kind == "integer":
        return f"TRY_CAST({column} AS BIGINT)"
    if kind.kind == "text":
        digits = f"TRY_CAST(split_part(trim({column}, ' '), '.', 1) AS BIGINT)"
        return f"CASE WHEN regexp_full_match({column}, '{_INTEGER}') THEN {digits} END"
    if kind.kind == "decimal":
        whole = f"({_unscaled(path.name, kind)})"
        return f"CASE WHEN {whole} % {10**kind.scale} = 0 THEN TRY_CAST({whole} // {10**kind.scale} AS BIGINT) END"
    number = f"CAST({column} AS DOUBLE)"
    return f"CASE WHEN abs({number}) <= {_double(2.0**53)} AND trunc({number}) = {number} THEN CAST({number} AS BIGINT) END"


def _number_code(path: NumberPath, kind: ColumnType) -> str:
    """The code within [low, high], null for null."""
    if isinstance(path.column, Date):
        return _date_code(path, kind)
    if kind.kind == "integer":
        return _exact_code(path, path.column, f"CAST({quoted(path.name)} AS HUGEINT)", 0, quoted(path.name))
    if kind.kind == "decimal":
        unscaled = f"({_unscaled(path.name, kind)})"
        return _exact_code(path, path.column, unscaled, kind.scale, unscaled)
    number = f"CAST({quoted(path.name)} AS DOUBLE)"
    if kind.kind == "text":
        number = f"(CASE WHEN regexp_full_match({quoted(path.name)}, '{_NUMBER}') "
        number += f"THEN TRY_CAST(trim({quoted(path.name)}, ' ') AS DOUBLE) END)"
    return _float_code(path, path.column, number)


def _unscaled(name: str, kind: ColumnType) -> str:
    """The decimal without its point, in HUGEINT; null beyond the digits of its type, which a source may hold all the same.

    Multiplying or casting such a value could raise, so it is null before, and not only where the result is picked.
    """
    last = "9" * kind.width
    bound = f"{last[: kind.width - kind.scale] or '0'}.{last[: kind.scale]}".removesuffix(".")
    least, most = (f"CAST('{sign}{bound}' AS DECIMAL({kind.width},{kind.scale}))" for sign in ("-", ""))
    value = f"(CASE WHEN {quoted(name)} BETWEEN {least} AND {most} THEN {quoted(name)} END)"
    # The product of two decimals of together at most 18 digits cannot overflow, whatever type the engine gives it.
    if kind.width + kind.scale + 1 <= 18:
        return f"CAST({value} * {10**kind.scale} AS HUGEINT)"
    # The text of a wider decimal without the point is the same integer, and faster than a wider product.
    return f"CAST(replace(CAST({value} AS VARCHAR), '.', '') AS HUGEINT)"


def _exact_code(path: NumberPath, column: Number, value: str, scale: int, bare: str) -> str:
    """rint((x - lower)/step), ties to even, in integers: x = X/10**scale and code = rint((a·X - b)/d)."""
    unit = Fraction(10) ** scale
    factor, offset = 1 / (column.step * unit), column.lower / column.step
    d = factor.denominator * offset.denominator // gcd(factor.denominator, offset.denominator)
    a, b = int(factor * d), int(offset * d)
    # Bounds of X at which the code is low or high in any case; between them nothing can overflow.
    least, most = floor(column.value(path.low) * unit), ceil(column.value(path.high) * unit)
    biggest = 4 * (max(abs(least), abs(most)) * a + abs(b) + d)
    if biggest >= 2**126:
        raise SourceError(
            f"column '{path.name}': its type and the step {text(column.step)} need more than 128 bits together; "
            "round the column to fewer decimals, or choose a coarser step"
        )
    if biggest < 2**62 and scale == 0:
        value = f"TRY_CAST({bare} AS BIGINT)"
    top = f"({value} * {a} - {b})" if (a, b) != (1, 0) else value
    code = top
    if d > 1:
        shifted = f"(2 * {top} + {d})"
        half = f"({shifted} // {2 * d})"
        code = f"({half} - CASE WHEN {shifted} % {2 * d} = 0 AND {half} % 2 = 1 THEN 1 ELSE 0 END)"
    return (
        f"(CASE WHEN {bare} <= {least} THEN {path.low} WHEN {bare} >= {most} THEN {path.high} "
        f"ELSE CAST({code} AS BIGINT) END)"
    )


def _float_code(path: NumberPath, column: Number, number: str) -> str:
    """The IEEE expression of the reference, clamped before rounding; NaN and the infinities are null."""
    steps = f"(({number} - {_double(float(column.lower))}) / {_double(float(column.step))})"
    rounded = f"CAST(round_even({steps}, 0) AS BIGINT)"
    return (
        f"(CASE WHEN NOT isfinite({number}) THEN NULL WHEN {steps} <= {_double(float(path.low))} THEN {path.low} "
        f"WHEN {steps} >= {_double(float(path.high))} THEN {path.high} ELSE {rounded} END)"
    )


def _date_code(path: NumberPath, kind: ColumnType) -> str:
    column, name = path.column, quoted(path.name)
    if not isinstance(column, Date):
        raise SourceError(f"column '{path.name}': is no date")
    if kind.shown == "TIMESTAMP_NS":
        return _nanosecond_code(path, column, name)
    day, type_ = name, "DATE"
    if kind.kind == "timestamp":
        type_ = kind.shown
    if kind.kind == "text":
        # Python has no year 0; the reference refuses it, so it is null here too.
        day = f"(CASE WHEN regexp_full_match({name}, '{_DATE}') AND {name} >= '0001' THEN TRY_CAST({name} AS DATE) END)"
    # All comparisons are made in the column's own type: converting a far timestamp fails.
    low, high = (f"CAST('{column.value(code).isoformat()}' AS {type_})" for code in (path.low, path.high))
    infinite = f"{day} = CAST('infinity' AS {type_}) OR {day} = CAST('-infinity' AS {type_})"
    return (
        f"(CASE WHEN {infinite} THEN NULL WHEN {day} <= {low} THEN {path.low} WHEN {day} >= {high} "
        f"THEN {path.high} ELSE CAST(CAST({day} AS DATE) - DATE '{column.first.isoformat()}' AS BIGINT) END)"
    )


def _nanosecond_code(path: NumberPath, column: Date, name: str) -> str:
    """Days by flooring integers: casts from nanoseconds round, and bounds may lie beyond what nanoseconds reach."""
    count = f"epoch_ns({name})"  # null for the infinities
    code = f"({count} // {_DAY} - CASE WHEN {count} % {_DAY} < 0 THEN 1 ELSE 0 END - {column.first_day})"
    return f"(CASE WHEN {code} <= {path.low} THEN {path.low} WHEN {code} >= {path.high} THEN {path.high} ELSE {code} END)"


def _double(value: float) -> str:
    """A literal that is this double, bit for bit: 17 significant digits, and a cast because bare literals are decimals."""
    return f"CAST('{value!r}' AS DOUBLE)"
