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
from discreet.paths import CategoryPath, KeyAxis, Moment, NumberPath
from discreet.schema import Date, Number, Value

__all__ = ["LIMB", "aggregate_sql", "quoted"]

LIMB = 2**32
"""Sums leave the engine as two 64-bit limbs, sum = high·2**32 + low, because drivers turn 128-bit integers into doubles."""

_NUMBER = " *[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]{1,3})? *"
_INTEGER = " *[+-]?[0-9]{1,19}([.]0*)? *"
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"


def quoted(name: str) -> str:
    """`name` as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


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
    inner = [f"{_target(axis.path, header[axis.name])} AS c{i}" for i, axis in enumerate(axes)]
    inner += [f"{_number_code(moment.path, header[moment.name])} AS v{j}" for j, moment in enumerate(moments)]
    keys = [f"{_labelled(axis, f'c{i}')} AS k{i}" for i, axis in enumerate(axes)]
    columns = [*keys, "count(*) AS n"]
    for j, moment in enumerate(moments):
        total = f"coalesce(sum(v{j} - {moment.path.low}), 0)"
        columns += [
            f"count(v{j}) AS n{j}",
            f"CAST({total} // {LIMB} AS BIGINT) AS h{j}",
            f"CAST({total} % {LIMB} AS BIGINT) AS l{j}",
        ]
    body = f"SELECT {', '.join(inner) or '1'} FROM {source}"
    grouped = f" GROUP BY {', '.join(f'k{i}' for i in range(len(axes)))}" if axes else ""
    return f"SELECT {', '.join(columns)} FROM ({body}){grouped}"


def _labelled(axis: KeyAxis, code: str) -> str:
    if axis.cuts is None:
        return f"CAST({code} AS BIGINT)"
    # Negative targets lie below every cut and have to be kept apart from the codes below the first cut.
    count = " + ".join(f"CAST({code} >= {cut} AS BIGINT)" for cut in axis.cuts) or "0"
    return f"CASE WHEN {code} < 0 THEN CAST({code} AS BIGINT) ELSE {count} END"


def _target(path: NumberPath | CategoryPath, kind: ColumnType) -> str:
    if isinstance(path, CategoryPath):
        keys = ", ".join(_literal(value) for value in path.column.values)
        targets = ", ".join(str(target) for target in path.targets)
        lookup = f"map([{keys}], [{targets}])[{_category_value(path, kind)}]"
        return f"coalesce(CAST({lookup} AS BIGINT), {path.null_target})"
    return f"coalesce({_number_code(path, kind)}, {path.null_target})"


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"CAST({value} AS BIGINT)"
    return "'" + value.replace("'", "''") + "'"


def _category_value(path: CategoryPath, kind: ColumnType) -> str:
    """The value as the type of the categories, null when it cannot be one of them."""
    column, first = quoted(path.name), path.column.values[0]
    if isinstance(first, str):
        return f"nfc_normalize({column})"
    if isinstance(first, bool):
        if kind.kind == "boolean":
            return column
        return f"CASE lower({column}) WHEN 'true' THEN true WHEN 'false' THEN false END"
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
    if kind.width + kind.scale < 38:
        return f"CAST({quoted(name)} * {10**kind.scale} AS HUGEINT)"
    # Wider decimals would overflow the product; their text without the point is the same integer.
    return f"CAST(replace(CAST({quoted(name)} AS VARCHAR), '.', '') AS HUGEINT)"


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
            f"column '{path.name}': its step {text(column.step)} is too fine for exact arithmetic on this column's type; "
            "choose a coarser step"
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
    day = name
    if kind.kind == "timestamp":
        day = f"(CASE WHEN isfinite({name}) THEN CAST({name} AS DATE) END)"
    if kind.kind == "text":
        # Python has no year 0; the reference refuses it, so it is null here too.
        day = f"(CASE WHEN regexp_full_match({name}, '{_DATE}') AND {name} >= '0001' THEN TRY_CAST({name} AS DATE) END)"
    low, high = (f"DATE '{column.value(code).isoformat()}'" for code in (path.low, path.high))
    return (
        f"(CASE WHEN NOT isfinite({day}) THEN NULL WHEN {day} <= {low} THEN {path.low} WHEN {day} >= {high} "
        f"THEN {path.high} ELSE CAST({day} - DATE '{column.first.isoformat()}' AS BIGINT) END)"
    )


def _double(value: float) -> str:
    """A literal that is this double, bit for bit: 17 significant digits, and a cast because bare literals are decimals."""
    return f"CAST('{value!r}' AS DOUBLE)"
