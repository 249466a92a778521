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
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from discreet.domain.categories import Value, check_text, checked_categories, missing_category, read_categories
from discreet.domain.missing import missing_codes
from discreet.domain.reading import CsvFormat
from discreet.errors import SchemaError, did_you_mean, printed, unreachable
from discreet.exact.numbers import Amount, exact, text

if TYPE_CHECKING:
    from discreet.domain.rowwise.tree import Select

__all__ = ["Category", "Column", "Date", "Number", "Schema", "Value", "is_numeric"]

_MAX_CODES = 2**52  # they must be exact as doubles: a floating column is put on the grid in IEEE arithmetic
_MAX_SIZE = 10**60  # of numerators and denominators: every sum of the column, with its noise, is a finite double
_MAX_CODE = 10**400  # some programs take the largest double for null
_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True, slots=True, init=False)
class Category:
    """A column whose value is one of `values`; everything else in the data is null.

    `values` are distinct texts, integers or booleans, all of one type, or the path of a UTF-8 text file with one category
    per line. Texts are normalised to NFC, here and when the data are read. The empty text is refused: in CSV it is null.
    `missing` are codes of the same type that stand for "not known"; they are null, as is everything that is not a category.

    Raises:
        SchemaError: no values, values of several types, duplicates, empty or unprintable text, unreadable file, a missing
            code that is a category or of another type.
    """

    values: tuple[Value, ...]
    missing: tuple[Value, ...]
    required: bool

    def __init__(
        self, values: Iterable[Value] | str | Path, *, missing: Iterable[Value] = (), required: bool = False
    ) -> None:
        if isinstance(values, bytes) or not isinstance(values, str | Path | Iterable):
            raise SchemaError(f"categories={printed(values)}: must be a list of categories or the path of a text file")
        listed: list[Value] = [*(read_categories(Path(values)) if isinstance(values, str | Path) else values)]
        object.__setattr__(self, "values", checked_categories(listed))
        object.__setattr__(self, "missing", missing_codes(missing, partial(missing_category, self.values)))
        object.__setattr__(self, "required", _flag(required))

    def __setstate__(self, state: Sequence[object]) -> None:
        _restore(self, state)

    def __eq__(self, other: object) -> bool:
        """True if the categories are the same and of the same type: 0 and 1 are not False and True."""
        if not isinstance(other, Category):
            return NotImplemented
        same = type(self.values[0]) is type(other.values[0])
        declared = (self.values, self.missing, self.required)
        return same and declared == (other.values, other.missing, other.required)

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
        return {"type": "category", "categories": list(self.values), **_nulls_json(self.missing, required=self.required)}


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
    required: bool

    def __init__(
        self, lower: Amount, upper: Amount, step: Amount = 1, *, missing: Iterable[Amount] = (), required: bool = False
    ) -> None:
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
        object.__setattr__(self, "required", _flag(required))

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
        return {"type": "number", **bounds, **_nulls_json([text(code) for code in self.missing], required=self.required)}


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
    required: bool

    def __init__(
        self, first: dt.date | str, last: dt.date | str, *, missing: Iterable[dt.date | str] = (), required: bool = False
    ) -> None:
        start, end = _schema_date(first, "first"), _schema_date(last, "last")
        if not start <= end:
            raise SchemaError(f"first={start} must not be after last={end}; exchange the two")
        object.__setattr__(self, "first", start)
        object.__setattr__(self, "last", end)
        object.__setattr__(self, "missing", missing_codes(missing, _schema_date))
        object.__setattr__(self, "required", _flag(required))

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
        return {"type": "date", **ends, **_nulls_json([day.isoformat() for day in self.missing], required=self.required)}


Column = Category | Number | Date


def is_numeric(column: Column) -> bool:
    """True if its cells are numbers, where they are text: numbers, and categories that are integers."""
    match column:
        case Category():
            return type(column.values[0]) is int
        case Number() | Date():
            return isinstance(column, Number)
    raise unreachable(column)


def _nulls_json(missing: Sequence[Value], *, required: bool) -> dict[str, object]:
    """The declaration of nulls: nothing by default, so that a plan keeps the digest that ledgers know it by."""
    codes: dict[str, object] = {"missing": list(missing)} if missing else {}
    return {**codes, "required": True} if required else codes


def _flag(required: object) -> bool:
    if not isinstance(required, bool):
        raise SchemaError(f"required={printed(required)}: must be True or False")
    return required


def _restore(column: Column, state: Sequence[object]) -> None:
    """The column of a pickle; pickles of version 0.1.0 say nothing of nulls."""
    names = [field.name for field in fields(column)]
    said = [*state, *[(), False][len(state) - len(names) :]] if len(state) < len(names) else state
    for name, value in zip(names, said, strict=True):
        object.__setattr__(column, name, value)


@dataclass(frozen=True, slots=True, init=False)
class Schema:
    """The declared columns, in order. Columns of the source that are not declared are never read.

    Raises:
        SchemaError: no columns; a name that is empty, unprintable or declared twice, whatever its case; no `Column`.
    """

    columns: Mapping[str, Column]
    reading: CsvFormat | None
    query: Select | None

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
        object.__setattr__(self, "reading", None)
        object.__setattr__(self, "query", None)

    def read_as(self, reading: CsvFormat | None) -> Schema:
        """The same columns, read from CSV files of this format: it decides what their cells mean, and so is part of them."""
        return _read_again(dict(self.columns), reading if reading is not None and reading.to_json() else None, self.query)

    def select(self, query: str | Select | None) -> Schema:
        """The same columns, computed from those of the source by a row-wise query, whose expressions are part of them.

        Raises:
            PlanError: the query is not row-wise, or has no column of a name that the schema declares.
        """
        if query is None:
            return self
        from discreet.domain.rowwise.parsing import parsed

        found = parsed(query)
        for name in self.columns:
            found.require(name)
        return _read_again(dict(self.columns), self.reading, found)

    def derived(self) -> Mapping[str, str]:
        """The canonical text of each column that a query computes, or takes from a column of another name."""
        texts = ((name, None if self.query is None else self.query.derived(name)) for name in self.columns)
        return {name: text for name, text in texts if text is not None}

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
        mine, others = ((tuple(one.columns.items()), one.reading, one.derived()) for one in (self, other))
        return mine == others

    def __hash__(self) -> int:
        return hash(tuple(self.columns.items()))

    def __reduce__(self) -> tuple[object, ...]:
        said = [self.reading, self.query][: 2 if self.query is not None else 1 if self.reading is not None else 0]
        return (_read_again if said else Schema, (dict(self.columns), *said))

    def to_json(self) -> list[dict[str, object]]:
        """The schema as canonical JSON values: a list, because the order of columns is part of it."""
        how: dict[str, object] = {} if self.reading is None else {"csv": self.reading.to_json()}
        derived = {name: {"query": text} for name, text in self.derived().items()}
        return [{"name": name, **column.to_json(), **how, **derived.get(name, {})} for name, column in self.columns.items()]


def _read_again(columns: Mapping[str, Column], reading: CsvFormat | None, query: Select | None = None) -> Schema:
    """A schema with what is said of all its columns."""
    found = Schema(columns)
    object.__setattr__(found, "reading", reading)
    object.__setattr__(found, "query", query)
    return found


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


def _check_columns(columns: Mapping[str, Column]) -> None:
    if not columns:
        raise SchemaError("schema: declares no columns; name at least one")
    folded: dict[str, str] = {}
    for name, column in columns.items():
        if not isinstance(name, str):
            raise SchemaError(f"column {printed(name)}: a name must be text")
        check_text(name, "column name")
        if not isinstance(column, Category | Number | Date):
            raise SchemaError(f"column '{name}': must be a Category, Number or Date, not {type(column).__name__}")
        twin = folded.setdefault(name.casefold(), name)
        if twin != name:
            raise SchemaError(f"column '{name}': differs from column '{twin}' only in upper and lower case")
