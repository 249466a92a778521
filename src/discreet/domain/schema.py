"""Columns and their public domains. Everything in a schema is public knowledge, written down before the data are seen.

Every value of a column has an integer *code* on a public grid: the position of a category, or the number of steps from the
lower bound to a number. Codes run from 0 to `size - 1`; null has no code on the grid.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from discreet.domain.missing import missing_codes
from discreet.errors import SchemaError, did_you_mean, printed
from discreet.exact.given_paths import content_of
from discreet.exact.numbers import Amount, exact, text

__all__ = ["Category", "Column", "Date", "Number", "Schema", "Value", "whole_categories"]

Value = str | int | bool
"""A category value."""

# Codes must be exact as doubles, because a floating column is put on the grid in IEEE arithmetic.
_MAX_CODES = 2**52
# The largest numerator and denominator of bounds and step: every sum of the column, with its noise, is a finite double.
_MAX_SIZE = 10**60
_MAX_CODE = 10**400  # some programs take the largest double for null
_MAX_CATEGORIES = 1_000_000
_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True, slots=True, init=False)
class Category:
    """A column whose value is one of `values`; everything else in the data is null.

    `values` are distinct texts, integers or booleans, all of one type, or the path of a UTF-8 text file with one category
    per line. Texts are normalised to NFC, here and when the data are read. The empty text is refused, because an empty cell
    of a CSV file is null.
    `missing` are codes of the same type that stand for "not known"; they are null, as is everything that is not a category.

    Raises:
        SchemaError: no values, values of several types, duplicates, empty or unprintable text, unreadable file, a missing
            code that is a category or of another type.
    """

    values: tuple[Value, ...]
    missing: tuple[Value, ...]

    def __init__(self, values: Iterable[Value] | str | Path, *, missing: Iterable[Value] = ()) -> None:
        if isinstance(values, bytes) or not isinstance(values, str | Path | Iterable):
            raise SchemaError(f"categories={printed(values)}: must be a list of categories or the path of a text file")
        listed: list[Value] = [*(_read_categories(Path(values)) if isinstance(values, str | Path) else values)]
        object.__setattr__(self, "values", _checked_categories(listed))
        object.__setattr__(self, "missing", missing_codes(missing, self._missing_code))

    def __setstate__(self, state: Sequence[object]) -> None:
        _restore(self, state)

    def _missing_code(self, value: object, name: str) -> Value:
        """A missing code in the form in which it is compared."""
        kind = type(self.values[0])
        code = unicodedata.normalize("NFC", value) if isinstance(value, str) else value
        if type(code) is not kind:
            shown = {str: "a text", int: "a whole number", bool: "true or false"}[kind]
            raise SchemaError(f"{name}={printed(value)}: must be {shown}, as the categories of the column are")
        if code in self.values:
            raise SchemaError(f"{name}={printed(value)}: is listed as a category; leave it out there or here")
        if isinstance(code, str):
            _check_text(code, name)
        elif isinstance(code, int) and not -(2**63) <= code < 2**63:
            raise SchemaError(f"{name}={printed(value)}: must fit into 64 bits")
        return code

    def __eq__(self, other: object) -> bool:
        """True if the categories are the same and of the same type: 0 and 1 are not False and True."""
        if not isinstance(other, Category):
            return NotImplemented
        same = type(self.values[0]) is type(other.values[0])
        return same and (self.values, self.missing) == (other.values, other.missing)

    def __hash__(self) -> int:
        return hash(self.values)

    @property
    def size(self) -> int:
        """The number of codes of the column."""
        return len(self.values)

    def code(self, value: object, name: str) -> int:
        """The code of a category.

        Raises:
            SchemaError: `value` is not a category of this column.
        """
        wanted = unicodedata.normalize("NFC", value) if isinstance(value, str) else value
        if type(wanted) is type(self.values[0]) and wanted in self.values:
            return self.values.index(wanted)
        raise SchemaError(f"{name}={printed(value)}: is not a category of this column{did_you_mean(value, self.values)}")

    def to_json(self) -> dict[str, object]:
        """The column as canonical JSON values."""
        return {"type": "category", "categories": list(self.values), **_missing_json(self.missing)}


@dataclass(frozen=True, slots=True, init=False)
class Number:
    """A number on the public grid lower, lower + step, …, upper; numbers outside are moved to the nearest bound.

    The first three arguments are exact rationals (a float means its shortest decimal form); `step` > 0 divides
    `upper - lower`. Numbers in `missing` stand for "not known": such a cell is null, within the bounds or not.

    Raises:
        SchemaError: reversed bounds, a step that is not positive, bounds off the grid, more than 2**52 grid values, numbers
            of more than 60 digits, missing codes that are not numbers.
    """

    lower: Fraction
    upper: Fraction
    step: Fraction
    missing: tuple[Fraction, ...]

    def __init__(self, lower: Amount, upper: Amount, step: Amount = 1, *, missing: Iterable[Amount] = ()) -> None:
        low, high, width = (_schema_number(v, n) for v, n in ((lower, "lower"), (upper, "upper"), (step, "step")))
        for name, number in (("lower", low), ("upper", high), ("step", width)):
            if max(abs(number.numerator), number.denominator) > _MAX_SIZE:
                raise SchemaError(f"{name}: has more than 60 digits; round it, or declare the column in other units")
        if not width > 0:
            raise SchemaError(f"step={text(width)}: must be greater than 0")
        if not low <= high:
            raise SchemaError(f"lower={text(low)} must not be greater than upper={text(high)}; exchange the two")
        steps = (high - low) / width
        if steps.denominator != 1:
            near = low + width * (steps.numerator // steps.denominator)
            raise SchemaError(
                f"upper={text(high)}: must lie on the grid lower + k·step; "
                f"the nearest grid values are {text(near)} and {text(near + width)}"
            )
        if steps >= _MAX_CODES:
            raise SchemaError(f"step={text(width)}: makes more than 2**52 grid values; take a coarser step")
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        object.__setattr__(self, "step", width)
        object.__setattr__(self, "missing", missing_codes(missing, _missing_number))

    def __setstate__(self, state: Sequence[object]) -> None:
        _restore(self, state)

    @property
    def size(self) -> int:
        """The number of codes of the column."""
        return int((self.upper - self.lower) / self.step) + 1

    def value(self, code: int) -> Fraction:
        """The number with this code."""
        return self.lower + code * self.step

    def code(self, value: Amount, name: str) -> int:
        """The code of a number on the grid.

        Raises:
            SchemaError: `value` is outside the bounds or between two grid values.
        """
        number = _schema_number(value, name)
        if not self.lower <= number <= self.upper:
            raise SchemaError(f"{name}={text(number)}: must lie within [{text(self.lower)}, {text(self.upper)}]")
        steps = (number - self.lower) / self.step
        if steps.denominator != 1:
            near = self.value(steps.numerator // steps.denominator)
            raise SchemaError(
                f"{name}={text(number)}: must lie on the grid of step {text(self.step)}; "
                f"the nearest grid values are {text(near)} and {text(near + self.step)}"
            )
        return int(steps)

    def to_json(self) -> dict[str, object]:
        """The column as canonical JSON values."""
        bounds = {"lower": text(self.lower), "upper": text(self.upper), "step": text(self.step)}
        return {"type": "number", **bounds, **_missing_json([text(code) for code in self.missing])}


@dataclass(frozen=True, slots=True, init=False)
class Date:
    """A calendar day from `first` to `last`, both included; days outside are moved to the nearest bound.

    Days are `datetime.date` or ISO text ("2025-12-31"). A date is a Number of days. Days in `missing` stand for "not known":
    a cell that is one of them, at any time of the day, is null.

    Raises:
        SchemaError: an argument is not a date, or `first` is after `last`.
    """

    first: dt.date
    last: dt.date
    missing: tuple[dt.date, ...]

    def __init__(self, first: dt.date | str, last: dt.date | str, *, missing: Iterable[dt.date | str] = ()) -> None:
        start, end = _schema_date(first, "first"), _schema_date(last, "last")
        if not start <= end:
            raise SchemaError(f"first={start} must not be after last={end}; exchange the two")
        object.__setattr__(self, "first", start)
        object.__setattr__(self, "last", end)
        object.__setattr__(self, "missing", missing_codes(missing, _schema_date))

    def __setstate__(self, state: Sequence[object]) -> None:
        _restore(self, state)

    @property
    def size(self) -> int:
        """The number of codes of the column."""
        return (self.last - self.first).days + 1

    @property
    def first_day(self) -> int:
        """`first` as days since 1970-01-01."""
        return (self.first - _EPOCH).days

    def value(self, code: int) -> dt.date:
        """The day with this code."""
        return self.first + dt.timedelta(days=code)

    def code(self, value: dt.date | str, name: str) -> int:
        """The code of a day.

        Raises:
            SchemaError: `value` is not a date, or is outside [first, last].
        """
        day = _schema_date(value, name)
        if not self.first <= day <= self.last:
            raise SchemaError(f"{name}={day}: must lie within [{self.first}, {self.last}]")
        return (day - self.first).days

    def to_json(self) -> dict[str, object]:
        """The column as canonical JSON values."""
        ends = {"first": self.first.isoformat(), "last": self.last.isoformat()}
        return {"type": "date", **ends, **_missing_json([day.isoformat() for day in self.missing])}


Column = Category | Number | Date


def _missing_json(codes: Sequence[Value]) -> dict[str, object]:
    """Nothing where no code is missing, so that a plan keeps the digest that ledgers know it by."""
    return {"missing": list(codes)} if codes else {}


def _restore(column: Column, state: Sequence[object]) -> None:
    """The column of a pickle; pickles of version 0.1.0 have no missing codes."""
    names = [field.name for field in fields(column)]
    for name, value in zip(names, [*state, ()][: len(names)], strict=True):
        object.__setattr__(column, name, value)


@dataclass(frozen=True, slots=True, init=False)
class Schema:
    """The declared columns, in order. Columns of the source that are not declared are never read.

    Raises:
        SchemaError: no columns; a name that is empty, unprintable or declared twice (case is ignored); a value that is not a
            column.
    """

    columns: Mapping[str, Column]

    def __init__(self, columns: Mapping[str, Column] | None = None, /, **named: Column) -> None:
        if columns is not None and not isinstance(columns, Mapping):
            raise SchemaError(f"schema={printed(columns)}: must map names to columns, such as {{'age': Number(0, 110)}}")
        joined = dict(columns or {})
        for name, column in named.items():
            if name in joined:
                raise SchemaError(f"column '{name}': is declared twice")
            joined[name] = column
        _check_columns(joined)
        object.__setattr__(self, "columns", MappingProxyType(joined))

    def __getitem__(self, name: str) -> Column:
        """The column with this name.

        Raises:
            SchemaError: the column is not declared; the message names the nearest declared column.
        """
        if not isinstance(name, str) or name not in self.columns:
            raise SchemaError(f"column {printed(name)}: is not declared in the schema{did_you_mean(name, self.columns)}")
        return self.columns[name]

    def __eq__(self, other: object) -> bool:
        """True if the columns are the same and in the same order: the order is part of a schema."""
        if not isinstance(other, Schema):
            return NotImplemented
        return tuple(self.columns.items()) == tuple(other.columns.items())

    def __hash__(self) -> int:
        return hash(tuple(self.columns.items()))

    def __reduce__(self) -> tuple[type[Schema], tuple[dict[str, Column]]]:
        return Schema, (dict(self.columns),)

    def to_json(self) -> list[dict[str, object]]:
        """The schema as canonical JSON values: a list, because the order of columns is part of it."""
        return [{"name": name, **column.to_json()} for name, column in self.columns.items()]


def _schema_number(value: Amount, name: str) -> Fraction:
    try:
        return exact(value, name)
    except ValueError as wrong:
        raise SchemaError(str(wrong)) from None


def _missing_number(value: Amount, name: str) -> Fraction:
    number = _schema_number(value, name)
    if max(abs(number.numerator), number.denominator) > _MAX_CODE:
        raise SchemaError(f"{name}: a code has more than 400 digits, which no type can hold")
    return number


def _schema_date(value: dt.date | str, name: str) -> dt.date:
    if isinstance(value, dt.datetime):
        raise SchemaError(f"{name}={value}: must be a day, without a time")
    if isinstance(value, dt.date):
        return value
    if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            pass
    raise SchemaError(f"{name}={printed(value)}: must be a date such as '2025-12-31'")


def _read_categories(path: Path) -> list[str]:
    try:
        return content_of(path).decode("utf-8-sig").splitlines()
    except (OSError, ValueError):  # a ValueError means text that is not UTF-8, or an impossible path
        shown = printed(str(path))
        raise SchemaError(f"categories={shown}: must be a readable UTF-8 file with one category per line") from None


def whole_categories(path: Path) -> list[Value]:
    """The whole numbers that a UTF-8 text file lists, one per line.

    Raises:
        SchemaError: unreadable file, or a line that is not a whole number.
    """
    lines = _read_categories(path)
    for number, line in enumerate(lines, 1):
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", line):
            raise SchemaError(f"categories={printed(str(path))}: line {number} must be a whole number, not {printed(line)}")
    return [int(line) for line in lines]


def _checked_categories(listed: list[Value]) -> tuple[Value, ...]:
    if not listed:
        raise SchemaError("categories: the list is empty; a column needs at least one category")
    if len(listed) > _MAX_CATEGORIES:
        raise SchemaError(f"categories: {len(listed)} are more than {_MAX_CATEGORIES}; group them")
    kinds = {type(value) for value in listed}
    if len(kinds) > 1 or not kinds <= {str, int, bool}:
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise SchemaError(f"categories: must all be texts, all integers or all booleans, not {found}")
    values = tuple(unicodedata.normalize("NFC", value) if isinstance(value, str) else value for value in listed)
    seen: set[Value] = set()
    for value in values:
        if isinstance(value, str):
            _check_text(value, "category")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise SchemaError(f"category {printed(value)}: must fit into 64 bits")
        if value in seen:
            raise SchemaError(f"category {value!r}: is listed twice (texts are compared after Unicode NFC normalisation)")
        seen.add(value)
    return values


def _check_text(value: str, what: str) -> None:
    if not value:
        raise SchemaError(f"{what}: the empty text is not allowed; an empty cell is null")
    if any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in value):
        raise SchemaError(f"{what} {value!r}: must not contain control characters or line breaks")


def _check_columns(columns: Mapping[str, Column]) -> None:
    if not columns:
        raise SchemaError("schema: declares no columns; name at least one")
    folded: dict[str, str] = {}
    for name, column in columns.items():
        if not isinstance(name, str):
            raise SchemaError(f"column {printed(name)}: a name must be text")
        _check_text(name, "column name")
        if not isinstance(column, Category | Number | Date):
            raise SchemaError(f"column '{name}': must be a Category, Number or Date, not {type(column).__name__}")
        twin = folded.setdefault(name.casefold(), name)
        if twin != name:
            raise SchemaError(f"column '{name}': differs from column '{twin}' only in upper and lower case")
