"""The dialect of DuckDB. Integers have 128 bits, sums of codes cannot overflow, texts are joined by their bytes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from discreet.cube.cube import fits_int64
from discreet.cube.value_paths import CategoryPath, NumberPath
from discreet.domain.categories import Value
from discreet.domain.columns import Date
from discreet.engines.base import ColumnType
from discreet.engines.dialect import Dialect
from discreet.engines.spellings import spelled_targets
from discreet.errors import InternalError

__all__ = ["COPIES", "COUNTED", "DUCKDB", "LIMB", "PARQUET", "quote_name", "write_decimal"]

LIMB = 2**32
"""Sums beyond 64 bits leave the engine as two limbs, sum = high·2**32 + low: drivers turn 128-bit integers into doubles."""

COPIES = "discreet_copies"
"""The column that says how many rows a row stands for."""

_COPIES = f'"{COPIES}"'
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_DAY = 86_400 * 10**9
_LAST = 2**63 - 1
_FEW_WORDS = 8
"""This many comparisons take as long as a join, where texts are stored without a dictionary; 16 take longer."""
_MOST_MEMBERS = 255
"""The largest size of an enumeration whose members are numbers of one byte."""
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}


def quote_name(name: str) -> str:
    """`name` as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _matches(text: str, pattern: str) -> str:
    return f"regexp_full_match({text}, '{pattern}')"


def _reach(kind: ColumnType) -> tuple[int, int] | None:
    unsigned = kind.shown.startswith("U")
    bits = _BITS.get(kind.shown.removeprefix("U"))
    if bits is None:
        return None
    return (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _unscale(name: str, kind: ColumnType) -> str:
    """The text without the point is the same integer, and faster than a product of 128 bits.

    Casting a value beyond the digits of its type could raise, so it is moved before. A CASE would not do: the driver casts
    all words of a dictionary, whichever rows are requested.
    """
    least, most = (write_decimal(end, kind) for end in (1 - 10**kind.width, 10**kind.width - 1))
    value = f"least(greatest({quote_name(name)}, {least}), {most})"
    return f"CAST(replace(CAST({value} AS VARCHAR), '.', '') AS HUGEINT)"


def write_decimal(unscaled: int, kind: ColumnType) -> str:
    """The decimal of this type that is `unscaled` without its point, as a literal."""
    digits = f"{abs(unscaled):0{kind.scale + 1}d}"
    point = len(digits) - kind.scale
    sign = "-" if unscaled < 0 else ""
    return f"CAST('{sign}{digits[:point]}.{digits[point:]}' AS DECIMAL({kind.width},{kind.scale}))".replace(".'", "'")


def _whole(name: str, kind: ColumnType) -> str:
    first, last = write_decimal(1 - 10**kind.width, kind), write_decimal(10**kind.width - 1, kind)
    value = f"(CASE WHEN {quote_name(name)} BETWEEN {first} AND {last} THEN {quote_name(name)} END)"
    return f"CASE WHEN {value} = trunc({value}) THEN TRY_CAST({value} AS BIGINT) END"


def _text(path: CategoryPath) -> str:
    """The text itself where the lookup has every spelling of the categories, which saves a pass over all texts."""
    column = quote_name(path.name)
    return f"nfc_normalize({column})" if spelled_targets(path) is None else f"CAST({column} AS VARCHAR)"


def _list_words(path: CategoryPath, i: int, keys: int) -> tuple[str, str] | None:
    """The place of the only key in a list of few words, in which the driver searches once for each word of a dictionary."""
    pairs = spelled_targets(path)
    if pairs is None or len(pairs) > _FEW_WORDS or keys > 1:
        return None
    words = _text_literal("\n".join(str(word) for word, _ in pairs))
    place = f"list_position(CAST(string_split({words}, '\n') AS VARCHAR[]), CAST({quote_name(path.name)} AS VARCHAR))"
    picked = " ".join(f"WHEN {place} THEN CAST({target} AS BIGINT)" for place, (_, target) in enumerate(pairs, 1))
    return place, f"CASE c{i} {picked} END"


def _enumerate_words(path: CategoryPath, i: int, keys: int) -> tuple[str, str] | None:
    """The text as a member of an enumeration of the spellings, which are compared by their bytes; null for any other text.

    The driver finds the words of a dictionary once and groups by numbers of one byte, where a join writes two columns for
    every row. A text is one member at most, so groups do not grow with texts that are not categories.
    """
    pairs = spelled_targets(path)
    if pairs is None or len(pairs) > _MOST_MEMBERS:
        return _list_words(path, i, keys)
    members = ", ".join(_text_literal(str(word)) for word, _ in pairs)
    targets = "\n".join(str(target) for _, target in pairs)
    value = f"TRY_CAST(CAST({quote_name(path.name)} AS VARCHAR) AS ENUM({members}))"
    return value, f"CAST(string_split('{targets}', '\n') AS BIGINT[])[CAST(enum_code(c{i}) AS BIGINT) + 1]"


def _span_integers(integer: str, path: CategoryPath, i: int) -> tuple[str, str] | None:
    """The integer moved into the span of the categories and one place beyond each end, where null is put too.

    This takes a fifth of the time of a join. The driver counts at most about twice as many groups as there are categories.
    """
    targets = {int(value): target for value, target in zip(path.column.values, path.targets, strict=True)}
    least, most = min(targets) - 1, max(targets) + 1
    if most - least > 2 * len(targets) + 1 or max(-least, most) > _LAST // 2:
        return None
    placed = "\n".join(str(targets.get(place, path.null_target)) for place in range(least, most + 1))
    target = f"CAST(string_split('{placed}', '\n') AS BIGINT[])[c{i} - {least - 1}]"
    return f"least(greatest({integer}, {least}), {most})", target


def _lookup(path: CategoryPath, i: int) -> str:
    """The join that sends categories to targets.

    A hash join takes as long for the last category, or for none, as for the first; a map or a CASE is searched from the
    front. Every category is there once, so no row is doubled. Texts are joined by their bytes: a connection of the
    caller may have a collation under which two categories are equal. The list is two literals, because a million
    expressions take half a minute to parse; no category contains a line break.
    """
    type_ = {str: "VARCHAR", int: "BIGINT", bool: "BOOLEAN"}[type(path.column.values[0])]
    pairs: Sequence[tuple[Value, int]] = spelled_targets(path) or list(zip(path.column.values, path.targets, strict=True))
    words = _text_literal("\n".join(str(word) for word, _ in pairs))
    targets = _text_literal("\n".join(str(target) for _, target in pairs))
    columns = f"unnest(CAST(string_split({words}, '\n') AS {type_}[])) AS w{i}, "
    columns += f"unnest(CAST(string_split({targets}, '\n') AS BIGINT[])) AS u{i}"
    same = f"c{i} COLLATE C = w{i}" if type_ == "VARCHAR" else f"c{i} = w{i}"
    target = _within(f"u{i}", min(path.targets), max(path.targets))
    table = f"(SELECT w{i}, {target} AS t{i} FROM (SELECT {columns}))"
    return f" LEFT JOIN {table} ON {same}"


def _within(integer: str, low: int, high: int) -> str:
    """The same integer, put together from its bits, whose sum the optimiser knows to be between low and about high.

    Where it knows this of all keys, and few groups are possible, it counts in an array instead of a hash table.
    """
    above = f"({integer} - {low})" if low else integer
    bits = [2**place for place in range((high - low).bit_length())]  # in few words: parsing them is what takes the time
    parts = [f"CASE {above} & {bit} WHEN 0 THEN 0 ELSE {bit} END" for bit in bits]
    return " + ".join([f"CAST({low} AS BIGINT)", *parts])


def _text_literal(words: str) -> str:
    return "'" + words.replace("'", "''") + "'"


def _search(code: str, cuts: Sequence[int]) -> str:
    """By halving, a step for each power of two. Behind the end of the list is null, which no code has passed."""
    steps = ", ".join(["0", *(str(2**place) for place in reversed(range(len(cuts).bit_length())))])
    listed = f"CAST(string_split('{chr(10).join(map(str, cuts))}', '\n') AS BIGINT[])"
    passed = f"CASE WHEN {listed}[p + s] <= {code} THEN p + s ELSE p END"
    return f"list_reduce(CAST([{steps}] AS BIGINT[]), lambda p, s: {passed})"


def _date_code(path: NumberPath, kind: ColumnType) -> str:
    column, name = path.column, quote_name(path.name)
    if not isinstance(column, Date):
        raise InternalError(f"column '{path.name}': is not a date")
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
    least, most = (f"CAST('{sign}infinity' AS {type_})" for sign in ("-", ""))
    return (
        f"(CASE WHEN {day} BETWEEN {low} AND {high} THEN CAST({day} AS DATE) - DATE '{column.first.isoformat()}' "
        f"WHEN {day} < {low} AND {day} <> {least} THEN {path.low} "
        f"WHEN {day} > {high} AND {day} <> {most} THEN {path.high} END)"
    )


def _is_day(name: str, kind: ColumnType, day: dt.date) -> str:
    """A text or date equal to the day, or a timestamp from the beginning of the day to the beginning of the next."""
    column, shown = quote_name(name), f"'{day.isoformat()}'"
    if kind.kind == "text":
        return f"CAST({column} AS VARCHAR) COLLATE C = {shown}"
    if kind.kind == "date":
        return f"{column} = CAST({shown} AS DATE)"
    if kind.shown == "TIMESTAMP_NS":
        start = (day.toordinal() - dt.date(1970, 1, 1).toordinal()) * _DAY
        return f"epoch_ns({column}) BETWEEN {max(start, -_LAST)} AND {min(start + _DAY - 1, _LAST)}"
    after = "10000-01-01" if day == dt.date.max else (day + dt.timedelta(days=1)).isoformat()
    return f"({column} >= CAST({shown} AS {kind.shown}) AND {column} < CAST('{after}' AS {kind.shown}))"


def _date_code_of_files(path: NumberPath, kind: ColumnType) -> str:
    """The same of a column of files, whose days come in dictionaries: there one test and two functions are fastest."""
    column = path.column
    if kind.shown != "DATE" or not isinstance(column, Date):
        return _date_code(path, kind)
    low, high = (f"DATE '{column.value(code).isoformat()}'" for code in (path.low, path.high))
    day = f"least(greatest({quote_name(path.name)}, {low}), {high})"
    return f"(CASE WHEN isfinite({quote_name(path.name)}) THEN {day} - DATE '{column.first.isoformat()}' END)"


def _nanosecond_code(path: NumberPath, column: Date, name: str) -> str:
    """Days by flooring integers: casts from nanoseconds round, and bounds may be beyond the range of nanoseconds."""
    count = f"epoch_ns({name})"  # null for the infinities
    low, high = column.first_day + path.low, column.first_day + path.high
    first, last = low * _DAY, (high + 1) * _DAY - 1
    day = f"{count} // {_DAY}"
    if low < 0:  # the driver rounds towards zero
        day += f" - CASE WHEN {count} % {_DAY} < 0 THEN 1 ELSE 0 END"
    return (
        f"(CASE WHEN {count} < {first} THEN {path.low} WHEN {count} > {last} THEN {path.high} "
        f"ELSE {day} - {column.first_day} END)"
    )


def _count(what: str) -> str:
    return f"count({what})"


def _count_copies(what: str) -> str:
    rows = "" if what == "*" else f" FILTER ({what} IS NOT NULL)"
    return f"CAST(coalesce(sum({_COPIES}){rows}, 0) AS BIGINT)"


def _sums(path: NumberPath, j: int) -> list[str]:
    return _sums_of(path, j, f"sum(v{j})", _count(f"v{j}"))


def _sum_copies(path: NumberPath, j: int) -> list[str]:
    """Codes are below 2**53 and copies below 2**63: their products have 116 bits, and the sums of all rows no more."""
    return _sums_of(path, j, f"sum(CAST(v{j} AS HUGEINT) * {_COPIES})", _count_copies(f"v{j}"))


def _sums_of(path: NumberPath, j: int, total: str, count: str) -> list[str]:
    total = f"coalesce({total}, 0)"
    if path.low:
        total = f"({total} - CAST({path.low} AS HUGEINT) * {count})"
    if fits_int64(path.high - path.low):
        return [f"CAST({total} AS BIGINT) AS s{j}"]
    return [f"CAST({total} // {LIMB} AS BIGINT) AS h{j}", f"CAST({total} % {LIMB} AS BIGINT) AS l{j}"]


def _identity(column: str, kind: ColumnType) -> str:
    return f"encode(CAST({column} AS VARCHAR))" if kind.kind == "text" else column


def _identity_of_files(column: str, kind: ColumnType) -> str:
    """Null for a text with a question mark: bytes that are not UTF-8 are read as one, and would make two persons equal."""
    same = _identity(column, kind)
    return f"CASE WHEN NOT contains({column}, '?') THEN {same} END" if kind.kind == "text" else same


def _group_by(keys: Sequence[str]) -> str:
    return f" GROUP BY {', '.join(keys)}" if keys else ""


DUCKDB = Dialect(
    quoted=quote_name,
    trimmed=lambda text: f"trim({text}, ' ')",
    matches=_matches,
    is_finite=lambda number: f"isfinite({number})",
    is_whole=lambda number: f"trunc({number}) = {number}",
    # The conversion rounds to even, and a value that is not a number is null.
    nearest=lambda number, type_: f"TRY_CAST({number} AS {type_})",
    single="FLOAT",
    reach=_reach,
    small=lambda high: "INTEGER" if high < 2**31 - 1 else "BIGINT",
    null_first=lambda _: "",
    divided="//",
    searched=_search,
    wide=lambda integer: f"CAST({integer} AS HUGEINT)",
    summed=lambda integer: f"sum({integer})",
    decimal=write_decimal,
    unscaled=_unscale,
    whole=_whole,
    text=_text,
    listed=_list_words,
    spanned=_span_integers,
    lookup=_lookup,
    is_day=_is_day,
    date_code=_date_code,
    sums=_sums,
    counted=_count,
    # A column may have a collation under which two texts are equal; bytes have none.
    identity=_identity,
    carried=(),
    grouped=_group_by,
)

PARQUET = replace(DUCKDB, listed=_enumerate_words, date_code=_date_code_of_files, identity=_identity_of_files)
"""Over Parquet files, whose texts come in dictionaries. Texts that come one by one are found faster by a join."""

COUNTED = replace(DUCKDB, sums=_sum_copies, counted=_count_copies, carried=(_COPIES,))
"""Over rows that stand for as many equal ones as their column `COPIES` says."""
