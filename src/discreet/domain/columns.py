"""A column and its public domain: categories, numbers on a grid, or days.

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

from discreet.domain.categories import Value, check_categories, missing_category, read_categories
from discreet.domain.missing import missing_codes
from discreet.domain.origins import Origin, Parts
from discreet.errors import SchemaError, did_you_mean, printed, unreachable
from discreet.exact.numbers import Amount, exact, text

__all__ = ["Category", "Column", "Date", "Number", "derived_category", "is_numeric", "listed_category"]

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
    `origin` says what a column is derived from (`Derived`, `Hierarchy`), and `parts` which columns of the source are read
    together (`Keys`); None for a column of the source.

    Raises:
        SchemaError: no values, values of several types, duplicates, empty or unprintable text, unreadable file, a missing
            code that is a category or of another type.
    """

    values: tuple[Value, ...]
    missing: tuple[Value, ...]
    required: bool
    origin: Origin | None
    parts: Parts | None

    def __init__(
        self, values: Iterable[Value] | str | Path, *, missing: Iterable[Value] = (), required: bool = False
    ) -> None:
        if isinstance(values, bytes) or not isinstance(values, str | Path | Iterable):
            raise SchemaError(f"categories={printed(values)}: must be a list of categories or the path of a text file")
        listed: list[Value] = [*(read_categories(Path(values)) if isinstance(values, str | Path) else values)]
        object.__setattr__(self, "values", check_categories(listed))
        object.__setattr__(self, "missing", missing_codes(missing, partial(missing_category, self.values)))
        object.__setattr__(self, "required", _flag(required))
        object.__setattr__(self, "origin", None)
        object.__setattr__(self, "parts", None)

    def __setstate__(self, state: Sequence[object]) -> None:
        _restore(self, state)

    def __eq__(self, other: object) -> bool:
        """True if the categories are the same and of the same type: 0 and 1 are not False and True."""
        if not isinstance(other, Category):
            return NotImplemented
        same = type(self.values[0]) is type(other.values[0])
        declared = (self.values, self.missing, self.required, self.origin, self.parts)
        return same and declared == (other.values, other.missing, other.required, other.origin, other.parts)

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
        come = {} if self.origin is None else self.origin.to_json()
        come |= {} if self.parts is None else self.parts.to_json()
        nulls = _nulls_json(self.missing, required=self.required)
        return {"type": "category", "categories": list(self.values), **nulls, **come}


def derived_category(values: Iterable[Value], origin: Origin, *, required: bool = False) -> Category:
    """The column of these categories whose values are a public function of another column's.

    Raises:
        SchemaError: as for a `Category`.
    """
    made = Category(values, required=required)
    object.__setattr__(made, "origin", origin)
    return made


def listed_category(values: Iterable[Value], parts: Parts, *, required: bool = False) -> Category:
    """The column of these categories whose values are combinations of several columns of the source.

    Raises:
        SchemaError: as for a `Category`.
    """
    made = Category(values, required=required)
    object.__setattr__(made, "parts", parts)
    return made


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
        # In integers: a request with many statistics asks for the size of every column many times.
        (low, of_low), (high, of_high) = self.lower.as_integer_ratio(), self.upper.as_integer_ratio()
        width, of_width = self.step.as_integer_ratio()
        return (high * of_low - low * of_high) * of_width // (of_high * of_low * width) + 1

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
    """The column of a pickle; pickles of version 0.1.0 say nothing of nulls, later ones nothing of an origin or parts."""
    names = [field.name for field in fields(column)]
    said = [*state, *(_LATER[name] for name in names[len(state) :])]
    for name, value in zip(names, said, strict=True):
        object.__setattr__(column, name, value)


_LATER: Mapping[str, object] = {"missing": (), "required": False, "origin": None, "parts": None}
"""The fields that columns of earlier versions do not have, with what they stand for."""


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
