"""The dialect of Spark 4. Its meaning does not depend on the settings of a session.

Literals of text are bytes in hexadecimal, because quotes and backslashes are read as a setting says. Every conversion
that could fail is tried; decimal types are written out, because the result type of an operator is a setting too. Texts
are joined by their bytes, so that no collation counts. Sums are of 64-bit limbs: 128-bit integers do not exist.
"""

from __future__ import annotations

import datetime as dt
import sys
import unicodedata
from collections.abc import Sequence

from discreet.cube.cube import fits_int64
from discreet.cube.value_paths import CategoryPath, NumberPath
from discreet.domain.columns import Category, Date
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType
from discreet.engines.dialect import Dialect
from discreet.engines.spellings import spelled_targets, spellings
from discreet.errors import InternalError, SourceError

__all__ = ["LIMB_BITS", "SPARK", "TIMESTAMP_NTZ", "check_spellings", "few_spellings", "limbs", "quote_name"]

LIMB_BITS = 22
"""The bits of one limb of a code; sums of 2**40 such limbs stay below 2**62."""

TIMESTAMP_NTZ = "timestamp_ntz"
_MOST_LISTED = 255
"""The driver finds a text in a list by its hash; more categories are looked up by a join, whose statement stays short."""
_DATE = "(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}"  # Python has no year 0
_DAY = 86_400 * 10**6
_LARGEST = repr(sys.float_info.max)
_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
# The values that DuckDB writes for the infinities, which are null in every source: the ends of the range, in days and
# microseconds.
_LAST_DAY, _LAST_TICK = 2**31 - 1, 2**63 - 1
_INFINITE_NTZ = ("+294247-01-10 04:00:54.775807", "-290308-12-21 19:59:05.224193")


def quote_name(name: str) -> str:
    """`name` as an SQL identifier."""
    return "`" + name.replace("`", "``") + "`"


def check_spellings(schema: Schema) -> None:
    """Checks that the texts of every category can be normalised.

    Raises:
        SourceError: the categories of a column carry too many marks.
    """
    for name, column in schema.columns.items():
        if isinstance(column, Category) and isinstance(column.values[0], str):
            try:
                spellings([str(value) for value in column.values])
            except SourceError as wrong:
                raise SourceError(f"column '{name}', {wrong}") from None


def limbs(width: int) -> int:
    """The number of limbs that carry a code of at most `width`."""
    return 1 if fits_int64(width) else -(-width.bit_length() // LIMB_BITS)


def _literal(text: str) -> str:
    return f"CAST(X'{text.encode().hex()}' AS STRING)"


def _decimal(value: str, width: int, scale: int) -> str:
    return f"CAST('{value}' AS DECIMAL({width},{scale}))"


def _matches(text: str, pattern: str) -> str:
    # Not $, which also matches before a line break at the end.
    whole = rf"\A(?:{pattern})\z"
    return f"({text} RLIKE {_literal(whole)})"


def _reach(kind: ColumnType) -> tuple[int, int] | None:
    bits = _BITS.get(kind.shown)
    return None if bits is None else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _write_decimal(unscaled: int, kind: ColumnType) -> str:
    """The decimal of this type that is `unscaled` without its point, as a literal."""
    digits = f"{abs(unscaled):0{kind.scale + 1}d}"
    point = len(digits) - kind.scale
    sign = "-" if unscaled < 0 else ""
    return _decimal(f"{sign}{digits[:point]}.{digits[point:]}".removesuffix("."), kind.width, kind.scale)


def _keep_within(name: str, kind: ColumnType) -> str:
    """A decimal column; null beyond the digits of its type, which a file may hold all the same."""
    least, most = (_write_decimal(end, kind) for end in (1 - 10**kind.width, 10**kind.width - 1))
    return f"(CASE WHEN {quote_name(name)} BETWEEN {least} AND {most} THEN {quote_name(name)} END)"


def _unscale(name: str, kind: ColumnType) -> str:
    value, type_ = _keep_within(name, kind), "BIGINT" if kind.width <= 18 else "DECIMAL(38,0)"
    # A product of at most 38 digits has the same exact type under every setting.
    if kind.width + kind.scale + 2 <= 38:
        return f"CAST({value} * {_decimal(str(10**kind.scale), kind.scale + 1, 0)} AS {type_})"
    # CAST to STRING writes 0E-20 or 0.000… as a setting says; format_number does not know the setting.
    return f"CAST(replace(replace(format_number({value}, {kind.scale}), ',', ''), '.', '') AS {type_})"


def _whole(name: str, kind: ColumnType) -> str:
    value = _keep_within(name, kind)
    return f"CASE WHEN {value} % {_decimal('1', 1, 0)} = 0 THEN TRY_CAST({value} AS BIGINT) END"


def _text(path: CategoryPath) -> str:
    """The bytes of the NFD form where the text can be a category, in ASCII at no cost but one pass over its bytes."""
    column, known = quote_name(path.name), spellings([str(value) for value in path.column.values])
    if not known.replacements:
        return f"CAST({column} AS BINARY)"
    old, new = (_words(words) for words in zip(*known.replacements, strict=True))
    made = f"aggregate(arrays_zip({old}, {new}), {column}, (r, p) -> replace(r, p.`0`, p.`1`))"
    return (
        f"CASE WHEN octet_length({column}) = char_length({column}) THEN CAST({column} AS BINARY) "
        f"WHEN char_length({column}) <= {known.longest} THEN CAST({made} AS BINARY) END"
    )


def _words(words: Sequence[str]) -> str:
    return f"split({_literal(chr(10).join(words))}, {_literal(chr(10))})"


def _list_words(path: CategoryPath, i: int, _keys: int) -> tuple[str, str] | None:
    """The text itself where it is as short as some spelling, null for any longer text.

    Rows are grouped by the text, as in a plain query, and only the groups look for their targets: to look in each row took
    as long as to group it. The driver's statement adds up the groups of other short texts before they leave the executors.
    Texts are compared by their bytes: they have left their collation behind.
    """
    pairs = few_spellings(path)
    if pairs is None:
        return None
    column, longest = quote_name(path.name), max(len(word.encode()) for word, _ in pairs)
    value = f"CASE WHEN octet_length({column}) <= {longest} THEN {column} END"
    place = f"array_position({_words([word for word, _ in pairs])}, c{i})"
    return value, f"get(CAST({_words([str(target) for _, target in pairs])} AS ARRAY<BIGINT>), CAST({place} AS INT) - 1)"


def few_spellings(path: CategoryPath) -> list[tuple[str, int]] | None:
    """The spellings of few categories with their targets, which are looked up after grouping; None where a join does it."""
    pairs = spelled_targets(path)
    return None if pairs is None or len(pairs) > _MOST_LISTED else pairs


def _lookup(path: CategoryPath, i: int) -> str:
    """The join that sends categories to targets, on a table that every executor holds: it moves no rows."""
    first = path.column.values[0]
    type_ = {str: "BINARY", int: "BIGINT", bool: "BOOLEAN"}[type(first)]
    words = [str(value) for value in path.column.values]
    if isinstance(first, str):
        words = [unicodedata.normalize("NFD", word) for word in words]
    pairs = f"arrays_zip(CAST({_words(words)} AS ARRAY<{type_}>), "
    pairs += f"CAST({_words([str(target) for target in path.targets])} AS ARRAY<BIGINT>))"
    table = f"SELECT /*+ BROADCAST */ w{i}, t{i} FROM (SELECT inline({pairs}) AS (w{i}, t{i}))"
    return f" LEFT JOIN ({table}) AS d{i} ON c{i} = w{i}"


def _search(code: str, cuts: Sequence[int]) -> str:
    """By halving, a step for each power of two. Behind the end of the array is null, which no code has passed."""
    steps = ", ".join(str(2**place) for place in reversed(range(len(cuts).bit_length())))
    listed = f"CAST({_words([str(cut) for cut in cuts])} AS ARRAY<BIGINT>)"
    passed = f"CASE WHEN get({listed}, p + s - 1) <= {code} THEN p + s ELSE p END"
    return f"CAST(aggregate(array({steps}), 0, (p, s) -> {passed}) AS BIGINT)"


def _date_code(path: NumberPath, kind: ColumnType) -> str:
    column, name = path.column, quote_name(path.name)
    if not isinstance(column, Date):
        raise InternalError(f"column '{path.name}': is not a date")
    infinite = "false"
    if kind.kind == "date":
        infinite = f"unix_date({name}) IN ({_LAST_DAY}, -{_LAST_DAY})"
    elif kind.shown == TIMESTAMP_NTZ:
        ends = ", ".join(f"CAST('{end}' AS TIMESTAMP_NTZ)" for end in _INFINITE_NTZ)
        infinite = f"{name} IN ({ends})"
    elif kind.kind == "timestamp":
        infinite = f"unix_micros({name}) IN ({_LAST_TICK}, -{_LAST_TICK})"
    code = f"(CAST({_day(name, kind)} AS BIGINT) - {column.first_day})"
    return (
        f"(CASE WHEN {code} IS NULL OR {infinite} THEN NULL WHEN {code} <= {path.low} THEN {path.low} "
        f"WHEN {code} >= {path.high} THEN {path.high} ELSE {code} END)"
    )


def _day(name: str, kind: ColumnType) -> str:
    """The days from 1970-01-01 to the day of a finite cell."""
    if kind.kind == "text":
        return f"unix_date(CASE WHEN {_matches(name, _DATE)} THEN TRY_CAST({name} AS DATE) END)"
    if kind.kind == "date":
        return f"unix_date({name})"
    if kind.shown == TIMESTAMP_NTZ:
        return f"unix_date(CAST({name} AS DATE))"
    # An instant: its day in UTC, whatever the time zone of the session.
    ticks = f"unix_micros({name})"
    return f"({ticks} div {_DAY} - CASE WHEN {ticks} % {_DAY} < 0 THEN 1 ELSE 0 END)"


def _is_day(name: str, kind: ColumnType, day: dt.date) -> str:
    return f"{_day(quote_name(name), kind)} = {(day - dt.date(1970, 1, 1)).days}"


def _sums(path: NumberPath, j: int) -> list[str]:
    width, value = path.high - path.low, f"(v{j} - {path.low})"
    parts = [f"shiftrightunsigned({value}, {LIMB_BITS * i}) & {2**LIMB_BITS - 1}" for i in range(limbs(width))]
    if len(parts) == 1:
        parts = [value]
    return [f"coalesce(sum({part}), 0) AS s{j}_{i}" for i, part in enumerate(parts)]


SPARK = Dialect(
    # A column may have a collation under which two texts are equal; bytes have none.
    identity=lambda column, kind: f"CAST({column} AS BINARY)" if kind.kind == "text" else column,
    quoted=quote_name,
    trimmed=lambda text: f"trim(BOTH ' ' FROM {text})",
    matches=_matches,
    # NaN is greater than every number here.
    is_finite=lambda number: f"({number} BETWEEN CAST('-{_LARGEST}' AS DOUBLE) AND CAST('{_LARGEST}' AS DOUBLE))",
    is_whole=lambda number: f"rint({number}) = {number}",
    nearest=lambda number, _: f"CAST(rint({number}) AS BIGINT)",
    single="float",
    reach=_reach,
    small=lambda _: "BIGINT",
    # Spark 4.3 takes x >= y for true, also where x is null, when y is below all values of the type of x.
    null_first=lambda value: f"WHEN {value} IS NULL THEN NULL ",
    divided="div",
    searched=_search,
    wide=lambda integer: f"CAST({integer} AS DECIMAL(38,0))",
    summed=lambda integer: f"sum(CAST({integer} AS DECIMAL(38,0)))",
    decimal=_write_decimal,
    unscaled=_unscale,
    whole=_whole,
    text=_text,
    listed=_list_words,
    spanned=lambda _value, _path, _i: None,
    lookup=_lookup,
    is_day=_is_day,
    date_code=_date_code,
    sums=_sums,
    counted=lambda what: f"count({what})",
    carried=(),
    # Not GROUP BY ALL: under a setting ALL is a reserved word. Neither aliases nor positions, which are settings too.
    grouped=lambda keys: f" GROUP BY {', '.join(keys)}" if keys else "",
)
