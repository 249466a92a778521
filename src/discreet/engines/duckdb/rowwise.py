"""The columns of a row-wise query in the SQL of DuckDB, written from typed expressions and never from a user's text.

Each operation is a column of its own: operations on cells in the first SELECT, operations on these in the one around it, and
so on. So no expression is written twice, however deep a query is. No expression can fail on any value; the law that compares
each operation with its meaning shows it (tests/laws/test_rowwise.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from discreet.domain.rowwise.casts import CASTS
from discreet.domain.rowwise.operations import Operation
from discreet.domain.rowwise.registry import OPERATIONS
from discreet.domain.rowwise.texts import LOWER, MOST_CHARACTERS, UPPER
from discreet.domain.rowwise.tree import TYPE_WORDS, Value
from discreet.domain.rowwise.typed import Applied, Cell, Constant, Typed
from discreet.engines.base import ColumnType
from discreet.engines.codes import double_literal
from discreet.engines.duckdb.dialect import quote_name, write_decimal
from discreet.engines.rowwise import Rowwise

__all__ = ["SQL", "cell_sql", "computed_table", "constant_sql"]

_NUMBER = " *([+-]?[0-9]+(?:[.][0-9]*)?(?:[eE][+-]?[0-9]{1,3})?) *"
_WHOLE = " *([+-]?[0-9]{1,19})(?:[.]0*)? *"
_DAY = "((?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-[0-9]{2}-[0-9]{2})"
_TRUTH = "([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])"
_INTEGER = re.compile(r"CAST\('(-?[0-9]+)' AS BIGINT\)")
"""A literal, as `constant_sql` writes it."""
_FIRST, _EPOCH, _LAST = "CAST('0001-01-01' AS DATE)", "CAST('1970-01-01' AS DATE)", "CAST('9999-12-31' AS DATE)"
_FIRST_DAY, _LAST_DAY, _MOST_DAYS = -719_162, 2_932_896, 4_000_000
_NANOSECONDS = 86_400 * 10**9

Written = Callable[[Sequence[str]], str]
"""An expression over the names of the columns that hold the arguments, or over literals."""


def computed_table(chosen: Rowwise, names: Sequence[str], table: str) -> str:
    """A table expression with these columns of a query, over a table expression with the columns that they read."""
    wanted = [name for name in names if name in chosen.header]
    roots = [chosen.computed[name] for name in wanted if name in chosen.computed]
    places: dict[Typed, str] = {}
    raw = {chosen.taken[name]: f"p{i}" for i, name in enumerate(wanted) if name in chosen.taken}
    first = [f"{quote_name(source)} AS {place}" for source, place in raw.items()]
    for cell in dict.fromkeys(node for root in roots for node in _nodes(root) if isinstance(node, Cell)):
        places[cell] = f"c{len(places)}"
        first.append(f"{cell_sql(chosen.source[cell.name], quote_name(cell.name))} AS {places[cell]}")
    body = f"(SELECT {', '.join(first) or '1 AS p'} FROM {table})"
    for level in _levels(roots):
        columns = []
        for node in level:
            written = SQL[_key(node.operation)]([_place(argument, places) for argument in node.arguments])
            places[node] = f"n{len(places)}"
            columns.append(f"{written} AS {places[node]}")
        body = f"(SELECT *, {', '.join(columns)} FROM {body})"
    given = [
        f"{raw[chosen.taken[name]] if name in chosen.taken else _place(chosen.computed[name], places)} AS {quote_name(name)}"
        for name in wanted
    ]
    return f"(SELECT {', '.join(given) or '1 AS p'} FROM {body})"


def _place(node: Typed, places: Mapping[Typed, str]) -> str:
    return constant_sql(node.value, node.type) if isinstance(node, Constant) else places[node]


def _nodes(node: Typed) -> Iterator[Typed]:
    if isinstance(node, Applied):
        for argument in node.arguments:
            yield from _nodes(argument)
    yield node


def _levels(roots: Sequence[Typed]) -> list[list[Applied]]:
    """All operations, each once, below those that need them."""
    heights: dict[Applied, int] = {}
    for node in (node for root in roots for node in _nodes(root) if isinstance(node, Applied)):
        below = (heights[argument] for argument in node.arguments if isinstance(argument, Applied))
        heights[node] = 1 + max(below, default=0)
    levels: list[list[Applied]] = [[] for _ in range(max(heights.values(), default=0))]
    for node, height in heights.items():
        levels[height - 1].append(node)
    return levels


def constant_sql(value: Value, type_: str) -> str:
    """A literal of a type of the language."""
    if value is None:
        return f"CAST(NULL AS {TYPE_WORDS[type_]})"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"CAST('{value}' AS BIGINT)"
    if isinstance(value, float):
        return double_literal(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"CAST('{value.isoformat()}' AS DATE)"


def cell_sql(kind: ColumnType, column: str) -> str:
    """The value that a cell has in an expression, as `cell_value` says."""
    if kind.kind == "integer":
        return f"TRY_CAST({column} AS BIGINT)"
    if kind.kind == "float":
        return _finite(f"CAST({column} AS DOUBLE)")
    if kind.kind == "text":
        # In memory a text may be no UTF-8, on which functions of the driver fail; it decodes what it encoded only if it is.
        return f"TRY(decode(encode(CAST({column} AS VARCHAR))))"
    if kind.kind == "decimal":
        # Casting a value beyond the digits of its type could raise, so it is moved before. Its text is rounded once.
        least, most = (write_decimal(end, kind) for end in (1 - 10**kind.width, 10**kind.width - 1))
        moved = f"least(greatest({column}, {least}), {most})"  # of null it would be one of the ends
        return f"CASE WHEN {column} IS NOT NULL THEN TRY_CAST(CAST({moved} AS VARCHAR) AS DOUBLE) END"
    if kind.kind == "date":
        return f"CASE WHEN {column} BETWEEN {_FIRST} AND {_LAST} THEN {column} END"
    if kind.shown == "TIMESTAMP_NS":
        count = f"epoch_ns({column})"  # casts from nanoseconds round, and the infinities are null here
        days = f"({count} // {_NANOSECONDS} - CASE WHEN {count} % {_NANOSECONDS} < 0 THEN 1 ELSE 0 END)"
        return f"({_EPOCH} + CAST({days} AS INTEGER))"
    if kind.kind == "timestamp":
        day = f"TRY_CAST({column} AS DATE)"
        return f"CASE WHEN {day} BETWEEN {_FIRST} AND {_LAST} THEN {day} END"
    return f"CAST({column} AS {TYPE_WORDS[kind.kind]})"


# The operations ---------------------------------------------------------------------------------------------------------


def _key(operation: Operation) -> str:
    return f"{operation.name}({', '.join(operation.takes)})"


def _finite(number: str) -> str:
    return f"CASE WHEN isfinite({number}) THEN {number} END"


def _wide(sign: str) -> Written:
    """Integers in 128 bits, in which no sum or product of two of them overflows, and null beyond 64."""
    return lambda given: f"TRY_CAST({f' {sign} '.join(f'CAST({one} AS HUGEINT)' for one in given)} AS BIGINT)"


def _divide(sign: str) -> Written:
    """A quotient or remainder, in 128 bits; in 64 bits, at a quarter of the time, where no dividend can make it fail."""

    def written(given: Sequence[str]) -> str:
        divisor = _INTEGER.fullmatch(given[1])
        if divisor is not None and int(divisor[1]) not in {0, -1}:
            return f"({given[0]} {sign} {given[1]})"
        wide, by = (f"CAST({one} AS HUGEINT)" for one in given)
        return f"TRY_CAST({wide} {sign} nullif({by}, CAST(0 AS HUGEINT)) AS BIGINT)"

    return written


def _infix(sign: str) -> Written:
    return lambda given: f"({f' {sign} '.join(given)})"


def _function(name: str) -> Written:
    return lambda given: f"{name}({', '.join(given)})"


def _without_blanks(name: str) -> Written:
    return lambda given: f"{name}({given[0]}, ' ')"


def _double(sign: str) -> Written:
    return _once(lambda a, b: _finite(f"({a} {sign} {b})"))


def _once(body: Callable[..., str]) -> Written:
    """An expression that needs an argument more than once, but mentions it once.

    Below a join the driver may put an expression in place of each mention of its column: with two mentions the time would
    double with each level of a query. So the arguments become one value, which the body takes apart.
    """

    def written(given: Sequence[str]) -> str:
        if len(given) == 1:
            return f"list_transform([{given[0]}], lambda v: {body('v')})[1]"
        parts = ", ".join(f"'a{i}': {one}" for i, one in enumerate(given))
        return f"list_transform([{{{parts}}}], lambda v: {body(*(f'v.a{i}' for i in range(len(given))))})[1]"

    return written


def _in(given: Sequence[str]) -> str:
    """By a list, which stays where it is: of a long IN the driver makes a join."""
    wanted, *listed = given
    unknown = "NULL" if any(one.startswith("CAST(NULL") for one in listed) else "false"
    for one in listed:
        unknown = f"CASE WHEN {one} IS NOT NULL THEN {unknown} END" if one[0] in "cn" and one[1:].isdigit() else unknown
    found = f"list_contains([{', '.join(listed)}], v)"
    return f"list_transform([{wanted}], lambda v: CASE WHEN {found} THEN true WHEN v IS NOT NULL THEN {unknown} END)[1]"


def _case(given: Sequence[str]) -> str:
    pairs = zip(given[:-1:2], given[1:-1:2], strict=True)
    return f"CASE {' '.join(f'WHEN {when} THEN {then}' for when, then in pairs)} ELSE {given[-1]} END"


def _translate(name: str, letters: Mapping[str, str]) -> Written:
    """By the driver's own function where all characters have one byte; the other one takes long for each text."""
    listed = f"'{''.join(letters)}', '{''.join(letters.values())}'"
    return _once(lambda a: f"CASE WHEN strlen({a}) = length({a}) THEN {name}({a}) ELSE translate({a}, {listed}) END")


def _later(sign: str) -> Written:
    """A day that is a number of days later. What is computed is moved into the calendar, in which no value fails."""

    def body(day: str, count: str) -> str:
        days = f"({day} - {_EPOCH}) {sign} least(greatest({count}, {-_MOST_DAYS}), {_MOST_DAYS})"
        moved = f"{_EPOCH} + CAST(least(greatest({days}, {_FIRST_DAY}), {_LAST_DAY}) AS INTEGER)"
        return f"CASE WHEN {count} IS NOT NULL AND {days} BETWEEN {_FIRST_DAY} AND {_LAST_DAY} THEN {moved} END"

    return _once(body)


def _within(text: str, pattern: str) -> str:
    """The part of a whole text that the group of a pattern matches; the empty text where it does not match.

    The driver computes this and the cast around it once for each word of a dictionary, and a CASE for each row.
    """
    return f"regexp_extract({text}, '^{pattern}$', 1)"


def _cast_of(pattern: str, type_: str) -> Written:
    """No type has the empty text."""
    return lambda given: f"TRY_CAST({_within(given[0], pattern)} AS {type_})"


def _double_of(given: Sequence[str]) -> str:
    return _once(_finite)([_cast_of(_NUMBER, "DOUBLE")(given)])


def _join(a: str, b: str) -> str:
    return f"CASE WHEN length({a}) + length({b}) <= {MOST_CHARACTERS} THEN {a} || {b} END"


_BY_NAME: Mapping[str, Written] = {
    **{sign: _infix(sign.upper()) for sign in ("=", "<>", "<", "<=", ">", ">=", "like", "and", "or")},
    **{name: _function(name) for name in ("coalesce", "length", "substr", "left", "right", "replace", "abs")},
    **{name: _function(name) for name in ("year", "quarter", "month", "day", "isodow", "round", "floor", "ceil")},
    **{name: _without_blanks(name) for name in ("trim", "ltrim", "rtrim")},
    "between": lambda given: f"({given[0]} BETWEEN {given[1]} AND {given[2]})",
    "in": _in,
    "is null": lambda given: f"({given[0]} IS NULL)",
    "not": lambda given: f"(NOT {given[0]})",
    "case": _case,
    "nullif": _once(lambda a, b: f"CASE WHEN {a} = {b} THEN NULL ELSE {a} END"),
    "||": _once(_join),
    "lower": _translate("lower", LOWER),
    "upper": _translate("upper", UPPER),
    "date_trunc": lambda given: f"CAST(date_trunc({given[0]}, {given[1]}) AS DATE)",
    "//": _divide("//"),
    "%": _divide("%"),
    "/": _once(lambda a, b: _finite(f"({a} / nullif({b}, 0))")),
}

_BY_KEY: Mapping[str, Written] = {
    **{f"{sign}(integer, integer)": _wide(sign) for sign in ("+", "-", "*")},
    **{f"{sign}(float, float)": _double(sign) for sign in ("+", "-", "*")},
    "negative(integer)": lambda given: f"TRY_CAST(-CAST({given[0]} AS HUGEINT) AS BIGINT)",
    "negative(float)": lambda given: f"(-{given[0]})",
    "abs(integer)": lambda given: f"TRY_CAST(abs(CAST({given[0]} AS HUGEINT)) AS BIGINT)",
    "-(date, date)": lambda given: f"CAST({given[0]} - {given[1]} AS BIGINT)",
    "+(date, integer)": _later("+"),
    "-(date, integer)": _later("-"),
    "cast integer(text)": _cast_of(_WHOLE, "BIGINT"),
    "cast float(text)": _double_of,
    "cast date(text)": _cast_of(_DAY, "DATE"),
    "cast boolean(text)": _cast_of(_TRUTH, "BOOLEAN"),
    # To the nearest integer, ties to even; null beyond 64 bits.
    "cast integer(float)": lambda given: f"TRY_CAST({given[0]} AS BIGINT)",
}


def _write(operation: Operation) -> Written:
    special = _BY_KEY.get(_key(operation)) or _BY_NAME.get(operation.name)
    if special is None and operation in CASTS:
        return lambda given: f"CAST({given[0]} AS {TYPE_WORDS[operation.gives]})"
    if special is None:
        raise NotImplementedError(_key(operation))
    return special


SQL: Mapping[str, Written] = {_key(operation): _write(operation) for operation in OPERATIONS}
"""Each operation of the registry."""
