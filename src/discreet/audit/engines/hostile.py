"""The hostile tables: public, made-up tables of everything that has broken counting code before.

Each table is a header and rows of Python values: None, bool, int, float, Decimal, str, date and datetime. `conformance`
counts them with an engine and with the reference; tests of other parts may use them too.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from discreet.domain.columns import Category, Column, Date, Number
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType, Header
from discreet.exact.numbers import Amount

__all__ = ["HostileTable", "hostile_tables", "ties"]


@dataclass(frozen=True, slots=True)
class HostileTable:
    """A made-up table.

    Args:
        name: the reason why it is hostile.
        schema: the declared columns; every one of them reads the same values, on another grid or with other categories.
        header: the type of the source's columns.
        rows: Python values, in the order of the header.
    """

    name: str
    schema: Schema
    header: Header
    rows: tuple[tuple[object, ...], ...]


# Spellings of the pattern in the contract, and near misses that the casts of some engine accept.
_NUMBERS = """
0 7 +7 -7 007 7. 7.0 7.50 .5 -0 -0.0 +0.5 1e0 1E1 1e+1 1e-1 7.e1 7.5e-1 1e2 1e02 1e002 1e0002 1e999 -1e999 1e-999
4e-324 2e-324 1e308 1.7976931348623157e308 1.7976931348623159e308 100.5 99.5 0.5 1.5 2.5 0.05 0.15 0.25 0.35
9223372036854775807 -9223372036854775808 9223372036854775808 18446744073709551616 4503599627370495.5 9007199254740993
99999999999999999999999999999999999999
1_000 1,000 0x1F 0x1p3 0b1 0o7 1e 1e+ e1 1e1.5 1.2.3 --7 +-7 + - . 7f 7d 7L $7 7% 1/2 １２ ٣ ७ 7² ½ −7 true 2020-01-01
NaN nan NAN inf -inf +inf Infinity infinity null NULL NA None
"""
_LONG_NUMBERS = ("0" * 400 + "7", "1" * 400, "1." + "1" * 800, "7." + "0" * 300)
_BLANKS = ("", " ", "  7  ", " 7", "7 ", "7 7", "+ 7", "7 e1", "\u00a07", "7\u00a0", "\u20037", "\ufeff7", "7\u200b")
_CONTROLS = ("7\0", "\0", "a\0b", "7\n", "\n7", "7\t", "\t7", "a\rb", "a\r\nb", "a\u2028b", "\x1b[31ma", "F\0", "true\n")
_DAYS = """
0000-00-00 0000-01-01 0001-01-01 1899-12-31 1900-01-01 1900-02-29 1970-01-01 1969-12-31 2000-02-29 2001-02-29 2020-02-30
2020-13-01 2020-00-10 2020-01-00 2020-01-31 2020-1-31 20200131 2020/01/31 31.01.2020 2020-01-31T00:00:00 2020-W01-1
9999-12-31 10000-01-01 +2020-01-31 -2020-01-31 infinity -infinity epoch today now 2020-01-31BC ２０２０-01-31 2020-٠1-31
"""
_BOOLEANS = (
    "true",
    "TRUE",
    "True",
    "tRuE",
    "false",
    "FALSE",
    "t",
    "f",
    "yes",
    "1",
    "0",
    "",
    " true",
    "true ",
    "falſe",
    "ＴＲＵＥ",
)
# Categories, and other spellings of some of them: case, blanks, and forms that are equal only after normalisation.
_CATEGORIES = (
    *("F", "f", "F ", " F", "FF", " ", "é", "É", "ß", "ss", "ẞ", "ﬁ", "fi", "Å", "が", "🏳️\u200d🌈", "\u202eabc", "\ufffd"),
    *(
        "=1+1",
        "@cmd",
        "-2",
        "+3",
        "'",
        "''",
        '"',
        '""',
        "';",
        "'; DROP TABLE discreet_source; --",
        '"; --',
        "a'b",
        "\\",
        "\\'",
    ),
    *("%", "_", "?", "$1", "{}", "{0}", "null", "NULL", "None", "nan", "true", "1", "a,b", "a;b"),
)
_OTHER_WORDS = ("", "e\u0301", "A\u030a", "\u212b", "か\u3099", "Ｆ", "F\u200b", "e", "\u0301", "unknown", "F\u0301")
_DECIMALS = ((4, 1), (9, 2), (18, 0), (18, 3), (18, 18), (30, 8), (38, 2), (38, 20))
_NAMES = (
    *("select", "k0", "v0", "c0", "w0", "t0", "n", "rowid", "discreet_source", "row"),
    *("a b", 'a"b', "a'b", 'x"; --', "é", "a,b", "%s"),
)


def ties(column: Number) -> list[float]:
    """Doubles halfway between grid values of the column, on its bounds and beyond, and their neighbours one ulp away."""
    codes = {0, 1, 2, 3, column.size // 2, column.size - 2, column.size - 1}
    points = [column.value(code) for code in codes] + [column.value(code) + column.step / 2 for code in codes]
    points += [column.lower - column.step / 2, column.lower - column.step, column.upper + column.step]
    middle = [float(point) for point in points]
    return [near for x in middle for near in (x, math.nextafter(x, -math.inf), math.nextafter(x, math.inf), -x)]


_GRIDS = (
    Number(0, 100),
    Number(-100, 100, "1/3"),
    Number("-0.5", "97.5", 7),
    Number("-0.3", "0.3", "0.1"),
    Number(-1, 1, "1e-9"),
    Number(5, 5),
    Number(-(2**51), 2**51 - 2),
)
_EXTREME_FLOATS = [math.nan, -math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308]
_EXTREME_FLOATS += [1e308, -1e308, 1.7976931348623157e308, 2.0**52 + 0.5, 2.0**53, 2.0**63, -(2.0**63), 2.0**64, 1e19]
_EXTREME_INTEGERS = [0, 1, -1, 7] + [
    sign * (2**k + d) for k in (7, 8, 15, 16, 31, 32, 52, 53, 62) for d in (-1, 0, 1) for sign in (1, -1)
]


def hostile_tables() -> tuple[HostileTable, ...]:
    """The whole catalogue. Names are stable, so that an engine can list the tables that its types cannot hold."""
    return (*_texts(), *_numbers(), *_dates(), *_names(), *_missing())


def _table(name: str, kind: ColumnType, values: Sequence[object], columns: Sequence[Column]) -> HostileTable:
    named = {f"x{i}": column for i, column in enumerate(columns)}
    distinct = {repr(value): value for value in [*values, None]}
    rows = tuple((value,) * len(columns) for value in distinct.values())
    return HostileTable(name, Schema(named), dict.fromkeys(named, kind), rows)


def _texts() -> list[HostileTable]:
    kind = ColumnType("text", "VARCHAR")
    integers = Category([0, 7, -7, 1, 2**63 - 1, -(2**63)])
    readable = Category(["F", "é", "が", "Å", "7", "true", "fi"])
    halfway = [repr(x) for grid in _GRIDS for x in ties(grid)[::3]]
    many = Category([f"c{i}" for i in range(300)])
    return [
        _table("numbers as text", kind, [*_NUMBERS.split(), *_LONG_NUMBERS, *_BLANKS], [*_GRIDS, integers]),
        _table("ties as text", kind, halfway, _GRIDS),
        _table("control characters in text", kind, _CONTROLS, [_GRIDS[0], integers, readable, Category([True])]),
        _table("words", kind, [*_CATEGORIES, *_OTHER_WORDS], [Category(_CATEGORIES), readable, Category(["f", "F"])]),
        _table("booleans as text", kind, _BOOLEANS, [Category([True, False]), Category([False])]),
        _table("many categories", kind, [f"c{i}" for i in range(0, 400, 7)], [many]),
    ]


def _numbers() -> list[HostileTable]:
    categories = Category([0, 1, -1, 7, 2**52, 2**53, 2**63 - 1, -(2**63)])
    floats = [x for grid in _GRIDS for x in ties(grid)] + _EXTREME_FLOATS
    singles = [0.0, -0.0, 0.5, 1.5, 2.5, 0.10000000149011612, 0.15000000596046448, 3e38, 2.0**-149, *_EXTREME_FLOATS[:4]]
    long = [*_EXTREME_INTEGERS, 2**63 - 1, -(2**63), 2**63 - 2, -(2**63) + 1]
    huge = [*long, 2**63, 2**64 - 1, 2**64, -(2**64), 2**100, 2**127 - 1, -(2**127)]
    far = [Number(2**63, 2**63 + 10), Number(-(2**64), -(2**64) + 100, 10), Number(2**100, 2**100 + 16, 4)]
    unsigned = [0, 1, 7, 2**63, 2**64 - 1]
    return [
        _table("doubles", ColumnType("float", "DOUBLE"), floats, [*_GRIDS, categories]),
        _table("single floats", ColumnType("float", "FLOAT"), singles, [*_GRIDS, categories]),
        _table("small integers", ColumnType("integer", "TINYINT"), [-128, -1, 0, 1, 7, 127], [*_GRIDS, categories]),
        _table("64-bit integers", ColumnType("integer", "BIGINT"), long, [*_GRIDS, *far[:2], categories]),
        _table("unsigned integers", ColumnType("integer", "UBIGINT"), unsigned, [*_GRIDS, *far[:2], categories]),
        _table("128-bit integers", ColumnType("integer", "HUGEINT"), huge, [*_GRIDS, *far, categories]),
        _table("booleans", ColumnType("boolean", "BOOLEAN"), [True, False], [Category([True, False]), Category([False])]),
        *(_decimal_table(width, scale, [*_GRIDS, categories]) for width, scale in _DECIMALS),
    ]


def _decimal_table(width: int, scale: int, columns: Sequence[Column]) -> HostileTable:
    kind = ColumnType("decimal", f"DECIMAL({width},{scale})", width, scale)
    return _table(f"decimals of {width} digits, {scale} after the point", kind, _decimals(width, scale), columns)


def _decimals(width: int, scale: int) -> list[Decimal]:
    """Extremes of the type, and its nearest values to ties and bounds of the grids."""
    last = 10**width - 1
    near = [round(Fraction(x) * 10**scale) + d for grid in _GRIDS[:5] for x in ties(grid)[::8] for d in (-1, 0, 1)]
    unscaled = {0, 1, -1, last, -last, last // 2, 7 * 10**scale, *near}
    kept = sorted(n for n in unscaled if abs(n) <= last)
    return [Decimal((n < 0, tuple(map(int, str(abs(n)))), -scale)) for n in kept]


def _dates() -> list[HostileTable]:
    columns = [Date("1900-01-01", "2100-12-31"), Date("0001-01-01", "9999-12-31"), Date("2020-01-31", "2020-01-31")]
    days = [dt.date.min, dt.date.max, dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2000, 2, 29), dt.date(2020, 1, 31)]
    # Days of the calendar have no time zone.
    stamps = [dt.datetime(day.year, day.month, day.day, hour) for day in days for hour in (0, 12)]  # noqa: DTZ001
    ticks = [stamp + sign * dt.timedelta(microseconds=1) for stamp in stamps[4:] for sign in (-1, 1)]
    stamps += [*ticks, stamps[3] + dt.timedelta(hours=12, microseconds=-1)]
    return [
        _table("dates as text", ColumnType("text", "VARCHAR"), _DAYS.split(), columns),
        _table("dates", ColumnType("date", "DATE"), days, columns),
        _table("timestamps", ColumnType("timestamp", "TIMESTAMP"), stamps, columns),
    ]


def _missing() -> list[HostileTable]:
    """Missing codes of every type: extremes, zeros of both signs, and codes on the bounds, within them and off the grid."""
    whole = [0, 1, -1, 7, 99, -99, 127, -128]
    long = [*whole, 999, 2**52, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
    unsigned = [0, 1, 7, 99, 2**63, 2**64 - 2, 2**64 - 1]
    fine = [Decimal(n).scaleb(-2) for n in (0, 1, -1, 700, 705, 9950, 9999, -9999)]
    doubles = [*map(float, whole), 0.1, 0.5, 1.5, 99.9, -0.0, 1e308, -1e308, 5e-324, 2.0**53, math.nan, math.inf, -math.inf]
    singles = [0.0, -0.0, 0.10000000149011612, 99.9000015258789, 7.5, -99.0, math.nan, math.inf]
    texts = [repr(x) for x in doubles] + ["7", "+7", " 7.0 ", "7e0", "-0", "99.90", "n/a", "", "9007199254740993"]
    days = [dt.date.min, dt.date.max, dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(2020, 1, 31)]
    # Days of the calendar have no time zone.
    hours = [(0, 0), (12, 0), (23, 999_999)]
    stamps = [dt.datetime(d.year, d.month, d.day, h, microsecond=us) for d in days for h, us in hours]  # noqa: DTZ001
    of_long: list[list[Amount]] = [[0, 7, 2**53 + 1], [2**63 - 1, -(2**63), 99]]
    of_doubles: list[list[Amount]] = [[0, 7, "0.1"], [99.9, 1e308, "1.5", 5e-324]]
    huge = [*long, 2**64, 2**127 - 1]
    of_days = [[days[0], days[2]], [days[1], days[3]]]
    kinds: list[tuple[str, ColumnType, Sequence[object], list[Column]]] = [
        ("small integers", ColumnType("integer", "TINYINT"), whole, _numbers_without([[0, 7], [-128, 127, 99]])),
        ("64-bit integers", ColumnType("integer", "BIGINT"), long, _numbers_without(of_long)),
        ("unsigned integers", ColumnType("integer", "UBIGINT"), unsigned, _numbers_without([[0, 7], [2**64 - 1, 99]])),
        (
            "128-bit integers",
            ColumnType("integer", "HUGEINT"),
            huge,
            _numbers_without([[7, 2**127 - 1]]),
        ),
        ("decimals", ColumnType("decimal", "DECIMAL(4,2)", 4, 2), fine, _numbers_without([["7.05", 0], ["99.99", "-0.01"]])),
        ("doubles", ColumnType("float", "DOUBLE"), doubles, _numbers_without(of_doubles)),
        ("single floats", ColumnType("float", "FLOAT"), singles, _numbers_without([[0, "0.1"], ["99.9", -99]])),
        ("text", ColumnType("text", "VARCHAR"), texts, _numbers_without(of_doubles)),
        ("dates as text", ColumnType("text", "VARCHAR"), _DAYS.split(), _dates_without(of_days)),
        ("dates", ColumnType("date", "DATE"), days, _dates_without(of_days)),
        ("timestamps", ColumnType("timestamp", "TIMESTAMP"), stamps, _dates_without(of_days)),
    ]
    return [_table(f"missing codes in {name}", kind, values, columns) for name, kind, values, columns in kinds]


def _numbers_without(listed: Sequence[Sequence[Amount]]) -> list[Column]:
    return [Number(lower, 100, "0.5", missing=codes) for codes in listed for lower in (0, 7, -100)]


def _dates_without(listed: Sequence[Sequence[dt.date]]) -> list[Column]:
    ends = [("0001-01-01", "9999-12-31"), ("1970-01-01", "2020-01-31")]
    return [Date(first, last, missing=codes) for codes in listed for first, last in ends]


def _names() -> list[HostileTable]:
    """Column names that an engine may take for its own, for code, or for another column."""
    schema = Schema({name: Number(0, 9) if i % 2 else Category(["a", "b"]) for i, name in enumerate(_NAMES)})
    text = ColumnType("text", "VARCHAR")
    rows = tuple(tuple(str((i + j) % 12) if j % 2 else "abc"[(i * j) % 3] for j in range(len(_NAMES))) for i in range(12))
    return [HostileTable("column names", schema, dict.fromkeys(_NAMES, text), rows)]
