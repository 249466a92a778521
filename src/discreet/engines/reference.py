"""The reference engine: plain Python, one row after the other. It is the meaning of a plan; every engine must equal it."""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.cube.combinations import Combinations, parts_of_list
from discreet.cube.cube import Cube, compact, empty_cube, sum_dtype
from discreet.cube.keys import KeyScan
from discreet.cube.persons import PersonScan
from discreet.cube.value_paths import CategoryPath, KeyAxis, Moment, NumberPath, paths_read
from discreet.domain.columns import Category, Date, Number
from discreet.engines.base import ColumnType, CountedCells, Engine, Header, PersonReading
from discreet.engines.joined import Joiner
from discreet.engines.missing import is_missing
from discreet.engines.reference_joins import ReferenceJoiner
from discreet.engines.reference_keys import ReferenceKeys
from discreet.engines.reference_persons import add_persons, make_rows
from discreet.engines.texts import KeyTable

__all__ = [
    "ReferenceEngine",
    "category_code",
    "category_value",
    "date_code",
    "day_of",
    "label",
    "number_code",
    "number_of",
    "number_target",
]

# A number in text; everything else is null. Tested before any conversion, because conversions accept more than this.
NUMBER_TEXT = re.compile(r" *[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]{1,3})? *")
# An integer category in text: "7", "+7" and "7.0" are the category 7.
INTEGER_TEXT = re.compile(r" *([+-]?[0-9]{1,19})([.]0*)? *")
DATE_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class ReferenceEngine:
    """An engine over rows of Python values: None, bool, int, float, Decimal, str, date and datetime.

    Args:
        header: names and types of the columns.
        rows: one sequence of values per row, in the order of the header.
    """

    def __init__(self, header: Header, rows: Iterable[Sequence[object]]) -> None:
        self._header = dict(header)
        self._rows = [tuple(row) for row in rows]

    @property
    def header(self) -> Header:
        """Names and types of the columns, as given."""
        return self._header

    def snapshot(self) -> str:
        """Empty: the rows were copied, and nobody alters them."""
        return ""

    def close(self) -> None:
        """Does nothing: the engine has not opened anything."""

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        """The cells of these columns; a day as text."""
        for name in names:
            place = list(self._header).index(name)
            values = (row[place] for row in self._rows)
            if self._header[name].kind in {"date", "timestamp"}:
                values = (None if (day := day_of(value)) is None else day.isoformat() for value in values)
            counted = Counter((type(value), value) for value in values)
            yield name, [(value, rows) for (_, value), rows in counted.items()]

    def can_add_persons(self) -> bool:
        """True."""
        return True

    def add_persons(self, scan: PersonReading) -> Cube:
        """The totals over persons, row by row."""
        read: Any = add_persons if isinstance(scan, PersonScan) else make_rows
        found: Cube = read(scan, self.named_rows(), self.label, self.code)
        return found

    def can_keep_keys(self) -> bool:
        """True."""
        return True

    def open_keys(self, scan: KeyScan) -> AbstractContextManager[KeyTable]:
        """The texts of the rows, row by row."""
        return nullcontext(ReferenceKeys(scan, self.named_rows(), self.label, self.code))

    def joiner(self, others: Mapping[str, Engine]) -> Joiner | None:
        """What puts tables of persons beside these rows, if they are rows of Python values too."""
        own = {name: one for name, one in others.items() if isinstance(one, ReferenceEngine)}
        return ReferenceJoiner(self, own) if len(own) == len(others) else None

    def named_rows(self) -> Iterator[Mapping[str, object]]:
        """The rows, each a value by the name of its column."""
        return (dict(zip(self._header, row, strict=True)) for row in self._rows)

    def label(self, axis: KeyAxis, row: Mapping[str, object]) -> int:
        """The label of one of these rows."""
        if parts_of_list(axis) is None:
            return label(axis, row[axis.name], self._header[axis.name])
        return Combinations.of(axis).label([self.label(KeyAxis(path), row) for path in paths_read(axis.path)])

    def code(self, path: NumberPath, value: object) -> int | None:
        """The code of a number or date of these rows; None for null."""
        return number_target(path, value, self._header[path.name])

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        """The cube of all rows, counted one by one."""
        place = {name: position for position, name in enumerate(self._header)}
        rows: Counter[tuple[int, ...]] = Counter()
        nonnull: Counter[tuple[tuple[int, ...], int]] = Counter()
        sums: Counter[tuple[tuple[int, ...], int]] = Counter()
        for row in self._rows:
            cell = tuple(label(axis, row[place[axis.name]], self._header[axis.name]) for axis in axes)
            rows[cell] += 1
            for position, moment in enumerate(moments):
                code = number_target(moment.path, row[place[moment.name]], self._header[moment.name])
                if code is not None:
                    nonnull[cell, position] += 1
                    sums[cell, position] += code - moment.path.low
        widths = [moment.path.high - moment.path.low for moment in moments]
        if not rows:
            return empty_cube(len(axes), widths)
        cells = list(rows)
        shape = (len(cells), len(moments))
        counted = [[nonnull[cell, j] for j in range(len(moments))] for cell in cells]
        added = [[sums[cell, j] for j in range(len(moments))] for cell in cells]
        cube = Cube(
            np.array(cells, dtype=np.int64).reshape(len(cells), len(axes)),
            np.array([rows[cell] for cell in cells], dtype=np.int64),
            np.array(counted, dtype=np.int64).reshape(shape),
            np.array(added, dtype=sum_dtype(widths)).reshape(shape),
        )
        return compact(cube)


def label(axis: KeyAxis, value: object, kind: ColumnType) -> int:
    """The label of any value on an axis, read from a column of this type. Never raises."""
    path = axis.path
    if isinstance(path, CategoryPath):
        code = category_code(path.column, value)
        return path.null_target if code is None else path.targets[code]
    target = number_target(path, value, kind)
    if target is None:
        return path.null_target
    return target if axis.cuts is None else sum(cut <= target for cut in axis.cuts)


def number_target(path: NumberPath, value: object, kind: ColumnType) -> int | None:
    """The code of any value of a number or date, read from a column of this type, or None for null. Never raises."""
    column = path.column
    value = day_of(value) if isinstance(column, Date) else number_of(value)
    if is_missing(column, value, kind):
        return None
    code = date_code(column, value) if isinstance(column, Date) else number_code(column, value)
    return None if code is None else min(max(code, path.low), path.high)


def number_code(column: Number, value: object) -> int | None:
    """The code of any value in a numeric column; None is null. Never raises."""
    last, value = column.size - 1, number_of(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        # The IEEE expression, bit for bit; clamping before rounding gives the same code and cannot overflow.
        steps = (value - float(column.lower)) / float(column.step)
        return round(min(max(steps, 0.0), float(last)))
    if isinstance(value, Decimal) and not value.is_finite():
        return None
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return min(max(round((Fraction(value) - column.lower) / column.step), 0), last)
    return None


def date_code(column: Date, value: object) -> int | None:
    """The code of any value in a date column; None is null. Never raises."""
    day = day_of(value)
    return None if day is None else min(max((day - column.first).days, 0), column.size - 1)


def number_of(value: object) -> object:
    """A text as the double that it is read as, None where it is not a number; any other value as it is."""
    if not isinstance(value, str):
        return value
    return float(value) if NUMBER_TEXT.fullmatch(value) else None


def day_of(value: object) -> dt.date | None:
    """The day of a date, a timestamp or a text; None for any other value."""
    if isinstance(value, str):
        try:
            return dt.date.fromisoformat(value) if DATE_TEXT.fullmatch(value) else None
        except ValueError:
            return None
    if isinstance(value, dt.datetime):
        return value.date()
    return value if isinstance(value, dt.date) else None


def category_code(column: Category, value: object) -> int | None:
    """The code of any value in a categorical column; None is null. Never raises."""
    wanted = category_value(column, value)
    if wanted is None:
        return None
    return next((code for code, known in enumerate(column.values) if known == wanted), None)


def category_value(column: Category, value: object) -> str | int | bool | None:
    """The value as the type of the categories, which may be none of them; None where it cannot be one. Never raises."""
    first = column.values[0]
    if isinstance(first, str):
        return unicodedata.normalize("NFC", value) if isinstance(value, str) else None
    if isinstance(first, bool):
        if isinstance(value, str):
            return {"true": True, "false": False}.get(value.lower()) if value.isascii() else None
        return value if isinstance(value, bool) else None
    if isinstance(value, str):
        match = INTEGER_TEXT.fullmatch(value)
        return int(match.group(1)) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if isinstance(value, float) and not abs(value) <= 2**53:
        return None
    if isinstance(value, Decimal) and not (value.is_finite() and value.adjusted() < 20):
        return None
    return int(value) if value == int(value) else None
