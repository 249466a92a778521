"""Missing codes of numbers and dates: which cells are null because the declaration says so, in Python and in SQL.

A code means a value of the column's type: itself among integers, decimals and days; the double that is written like it among
doubles and numbers in text, and the single float among single floats. Cells are compared with it exactly. A number that is
only near to a float is not a code: 1e-390 would make every 0 null, and 2**53 + 1 its neighbour. A missing code of a category
needs nothing here: it is not a category, and so null already.
"""

from __future__ import annotations

import datetime as dt
import math
import struct
from decimal import Decimal
from fractions import Fraction

from discreet.cube.value_paths import NumberPath
from discreet.domain.columns import Date, Number
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType, Header
from discreet.engines.codes import double_literal
from discreet.engines.dialect import Dialect
from discreet.errors import SourceError, printed
from discreet.exact.numbers import text

__all__ = ["check_missing", "is_missing", "nearest_float", "without_missing"]

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_BITS |= {"byte": 8, "short": 16, "integer": 32, "long": 64}
"""The integer types, as DuckDB and Spark call them; a type of DuckDB with U before its name has no negative numbers."""

_SINGLE = {"FLOAT", "float"}
_SHOWN = 60
_EPOCH = dt.date(1970, 1, 1).toordinal()
_NANOSECONDS = 2**63 // (86_400 * 10**9)
"""The most days between a timestamp in nanoseconds and 1970."""


def check_missing(header: Header, schema: Schema) -> None:
    """Checks that every missing code can occur in the column of the source.

    Raises:
        SourceError: a code is beyond the type of the column, between two of its values, or only near to a float.
    """
    for name, column in schema.columns.items():
        kind = header[name]
        for code in column.missing:
            if not isinstance(code, str | bool) and not _can_occur(code, kind):
                shown = printed(code) if not isinstance(code, Fraction) or len(text(code)) > _SHOWN else text(code)
                raise SourceError(
                    f"column '{name}': the missing code {shown} cannot occur in a column of {kind.shown}"
                    f"{_nearest(code, kind)}; correct the code, or leave it out"
                )


def _nearest(code: int | Fraction | dt.date, kind: ColumnType) -> str:
    """The other value that a code would take for null, where numbers are floats."""
    if isinstance(code, dt.date) or kind.kind in {"integer", "decimal"}:
        return ""
    number = nearest_float(Fraction(code), kind)
    return "" if number is None else f", whose nearest value is {_write_decimal(number, kind)}"


def _can_occur(code: int | Fraction | dt.date, kind: ColumnType) -> bool:
    if isinstance(code, dt.date):
        return kind.shown != "TIMESTAMP_NS" or abs(code.toordinal() - _EPOCH) <= _NANOSECONDS
    number = Fraction(code)
    if kind.kind == "integer":
        return _whole(number, kind) is not None
    if kind.kind == "decimal":
        return _unscale(number, kind) is not None
    near = nearest_float(number, kind)
    return near is not None and number in {Fraction(near), Fraction(_write_decimal(near, kind))}


def _write_decimal(number: float, kind: ColumnType) -> str:
    """The shortest decimal form of a float, with which the text of it is read as this float again."""
    if not _is_single(kind):
        return repr(number)
    return next(shown for digits in range(1, 10) if nearest_float(Fraction(shown := f"{number:.{digits}g}"), kind) == number)


def _whole(code: Fraction, kind: ColumnType) -> int | None:
    """The code as an integer of this type, if it is one."""
    bits = _BITS[kind.shown.removeprefix("U")]
    least, end = (0, 2**bits) if kind.shown.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return int(code) if code.denominator == 1 and least <= code < end else None


def _unscale(code: Fraction, kind: ColumnType) -> int | None:
    """The code as a decimal of this type without its point, if it is one."""
    number = code * 10**kind.scale
    return int(number) if number.denominator == 1 and abs(number) < 10**kind.width else None


def nearest_float(code: Fraction, kind: ColumnType) -> float | None:
    """The double nearest to the number, or the single float nearest to that; None beyond the largest."""
    try:
        double = code.numerator / code.denominator
        number = struct.unpack("<f", struct.pack("<f", double))[0] if _is_single(kind) else double
    except OverflowError:
        return None
    return float(number) if math.isfinite(number) else None


def _is_single(kind: ColumnType) -> bool:
    return kind.kind == "float" and kind.shown in _SINGLE


def is_missing(column: Number | Date, value: object, kind: ColumnType) -> bool:
    """True if a cell of a column of this type, as `reference` reads it, is a missing code."""
    if isinstance(value, dt.date):
        return (value.date() if isinstance(value, dt.datetime) else value) in column.missing
    if isinstance(value, float):
        return any(value == nearest_float(code, kind) for code in column.missing if isinstance(code, Fraction))
    if isinstance(value, int | Decimal) and math.isfinite(value):
        return Fraction(value) in column.missing
    return False


def without_missing(dialect: Dialect, path: NumberPath, kind: ColumnType, number: str, code: str) -> str:
    """The code of a number or date, with null in its place where the cell is a missing code.

    Args:
        dialect: of the engine.
        path: of the column.
        kind: its type.
        number: the cell as a number, an expression; a date is compared by its day.
        code: the code, an expression, which has a value for missing codes too.
    """
    tests = _day_tests(dialect, path, kind) if isinstance(path.column, Date) else _tests(dialect, path, kind, number)
    if not tests:
        return code
    whens = " ".join(f"WHEN {one} THEN NULL" for one in tests)
    return f"(CASE {dialect.null_first(number)}{whens} ELSE {code} END)"


def _day_tests(dialect: Dialect, path: NumberPath, kind: ColumnType) -> list[str]:
    return [dialect.is_day(path.name, kind, day) for day in path.column.missing if isinstance(day, dt.date)]


def _tests(dialect: Dialect, path: NumberPath, kind: ColumnType, number: str) -> list[str]:
    """A comparison for each code that can occur in a column, or part of a column, of this type."""
    literals = [_literal(dialect, code, kind) for code in path.column.missing if isinstance(code, Fraction)]
    return [f"{number} = {literal}" for literal in literals if literal is not None]


def _literal(dialect: Dialect, code: Fraction, kind: ColumnType) -> str | None:
    if kind.kind == "integer":
        whole = _whole(code, kind)
        return None if whole is None else str(whole)
    if kind.kind == "decimal":
        unscaled = _unscale(code, kind)
        return None if unscaled is None else dialect.decimal(unscaled, kind)
    number = nearest_float(code, kind)
    if number is None:
        return None
    return double_literal(number).replace("DOUBLE", "FLOAT" if _is_single(kind) else "DOUBLE")
