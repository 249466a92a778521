"""Counts of what becomes of the cells of a source, for its curator: exact numbers, which are outside every guarantee.

Only `discreet inspect` asks for them. What a cell means is the meaning that `reference` gives it; what the declaration does
to it has one of the words below.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf

from discreet.domain.columns import Category, Column, Date, Number, is_numeric
from discreet.domain.reading import CsvFormat, with_point
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType, Engine, Inspectable
from discreet.engines.missing import is_missing, nearest_float
from discreet.engines.reference import category_value, day_of, number_code, number_of
from discreet.errors import SourceError, unreachable

__all__ = ["Tally", "check_inspectable", "inspect_source"]

_KEPT = 100_000
"""The different values of one kind that are counted exactly; of more, those that occur least are forgotten."""

_DAYS = {"date", "timestamp"}
_AFTER = re.compile(r"[+]?[0-9]{5,}-[0-9]{2}-[0-9]{2}")
_BEFORE = re.compile(r"-[0-9]{4,}-[0-9]{2}-[0-9]{2}|0000-[0-9]{2}-[0-9]{2}|[0-9]{4,}-[0-9]{2}-[0-9]{2} [(]BC[)]")


@dataclass(slots=True)
class Tally:
    """The cells of a column to which the declaration does the same: how many, and which values they have.

    `exact` is False where there were too many different values to keep count of each; then a count is at least what it says.
    """

    rows: int = 0
    values: Counter[str] = field(default_factory=Counter)
    exact: bool = True

    def add(self, shown: str, rows: int) -> None:
        """So many more cells have a value."""
        self.rows += rows
        self.values[shown] += rows
        if len(self.values) > _KEPT:
            self.values, self.exact = Counter(dict(self.values.most_common(_KEPT // 2))), False


def check_inspectable(engine: Engine) -> Inspectable:
    """The engine, which can show its cells.

    Raises:
        SourceError: it cannot.
    """
    if isinstance(engine, Inspectable):
        return engine
    raise SourceError("source: its cells cannot be inspected; convert it to Parquet or CSV, and inspect that")


def inspect_source(engine: Inspectable, schema: Schema) -> dict[str, dict[str, Tally]]:
    """For each column the tallies of its cells, by the word for what the declaration does to them.

    Raises:
        SourceError: the source cannot be read to its end.
    """
    header = engine.header
    asked = {name: _read_as(schema.reading, column, header[name]) for name, column in schema.columns.items()}
    found: dict[str, dict[str, Tally]] = {name: {} for name in asked}
    for name, cells in engine.cells([*asked]):
        for value, rows in cells:
            found[name].setdefault(asked[name](value), Tally()).add(_show(value), rows)
    return found


def _show(value: object) -> str:
    return f"{len(value)} bytes" if isinstance(value, bytes) else str(value)


def _read_as(reading: CsvFormat | None, column: Column, kind: ColumnType) -> Callable[[object], str]:
    """The word for a cell of a column, whose numbers may have another decimal mark."""
    word = _word_of(column, kind)
    if reading is None or reading.decimal == "." or not is_numeric(column):
        return word
    return lambda value: word(with_point(value))


def _word_of(column: Column, kind: ColumnType) -> Callable[[object], str]:
    match column:
        case Category():
            return partial(_category_word, column, {*column.values})
        case Number():
            ends = [nearest_float(end, kind) for end in (column.lower, column.upper)]
            return partial(_number_word, column, kind, (_or_infinite(ends[0], -inf), _or_infinite(ends[1], inf)))
        case Date():
            return partial(_date_word, column, kind)
    raise unreachable(column)


def _or_infinite(number: float | None, infinite: float) -> float:
    return infinite if number is None else number


def _category_word(column: Category, known: set[object], value: object) -> str:
    meant = category_value(column, value)
    if value is None or value == "":
        return "null"
    if meant in column.missing:
        return "missing code"
    return "as declared" if meant is not None and meant in known else "not a declared category"


def _number_word(column: Number, kind: ColumnType, ends: tuple[float, float], value: object) -> str:
    if value is None or value == "":
        return "null"
    number = number_of(value)
    if number_code(column, number) is None:
        return "not a number"
    if is_missing(column, number, kind):
        return "missing code"
    if isinstance(number, float):
        # The declared bounds as this column can hold them, to which exact ones would be unequal.
        below, above = number < ends[0], number > ends[1]
    else:
        below, above = _exact(number) < column.lower, _exact(number) > column.upper
    if below or above:
        return "moved to the lower bound" if below else "moved to the upper bound"
    return "as declared" if _is_on_grid(column, kind, number) else "moved to the grid"


def _exact(number: object) -> Fraction:
    return Fraction(number) if isinstance(number, int | Decimal) else Fraction(0)


def _is_on_grid(column: Number, kind: ColumnType, number: object) -> bool:
    if isinstance(number, float):
        code = number_code(column, number)
        return code is not None and number == nearest_float(column.value(code), kind)
    return ((_exact(number) - column.lower) / column.step).denominator == 1


def _date_word(column: Date, kind: ColumnType, value: object) -> str:
    if value is None or value == "":
        return "null"
    day = day_of(value)
    if day is None:
        return _beyond_years(str(value)) if kind.kind in _DAYS else "not a day"
    if is_missing(column, day, kind):
        return "missing code"
    if column.first <= day <= column.last:
        return "as declared"
    return "moved to the first day" if day < column.first else "moved to the last day"


def _beyond_years(written: str) -> str:
    """The word for a day that is not in the years 1 to 9999; the infinite ones are null to every engine."""
    if _AFTER.fullmatch(written):
        return "moved to the last day"
    return "moved to the first day" if _BEFORE.fullmatch(written) else "null"
