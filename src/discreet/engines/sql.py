"""A layout as one SQL statement: every value becomes a code in the engine, and one GROUP BY counts.

The generator is small on purpose. It knows the closed set of paths and column types, and writes literals itself: names
are quoted identifiers, categories are quoted texts, numbers are integers or hexadecimal-exact doubles. Nothing else of a
plan reaches the text. No expression may fail on any value: conversions are tried, tested before, or bounded. What engines
write differently is their `Dialect`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from discreet.cube.combinations import Combinations, parts_of_list
from discreet.cube.value_paths import CategoryPath, KeyAxis, Moment, NumberPath, paths_read
from discreet.domain.codes import NULL
from discreet.domain.columns import Category, Date, Number
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType, Header
from discreet.engines.codes import decimal_code, double_literal, exact_grid, float_code, integer_code
from discreet.engines.dialect import Dialect
from discreet.engines.keys import word_sql, words_of
from discreet.engines.missing import without_missing

__all__ = ["PARTS", "aggregate_sql", "answer_names", "check_grids", "labels_sql", "number_code", "part_name", "parts_of"]

_NUMBER = " *[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]{1,3})? *"
_INTEGER = " *[+-]?[0-9]{1,19}([.]0*)? *"
# Spelled out: lower() fails on text that is not UTF-8, and case-insensitive patterns also match a long s.
_TRUE, _FALSE = "[tT][rR][uU][eE]", "[fF][aA][lL][sS][eE]"


def check_grids(header: Header, schema: Schema) -> None:
    """Checks that every declared number of an integer or decimal column can be put on its grid in 128-bit integers.

    Steps only narrow the range of codes, so no plan fails later for this reason.

    Raises:
        SourceError: the type and the step need more bits together.
    """
    for name, column in schema.columns.items():
        if isinstance(column, Number) and header[name].kind in {"integer", "decimal", "any"}:
            exact_grid(NumberPath(name, column, 0, column.size - 1, NULL, ()), header[name].scale)


def part_name(name: str, kind: str) -> str:
    """The column of integers, doubles or texts (`kind`) in a column of kind "any"; in each row at most one is not null.

    No column of a schema has this name, for it has a control character.
    """
    return f"{name}\x1f{kind}"


def parts_of(path: NumberPath | CategoryPath) -> tuple[str, ...]:
    """The kinds of cells that can have a code in this column; every other cell is null, as it is to the reference."""
    words = isinstance(path, CategoryPath) and type(path.column.values[0]) is not int
    return ("text",) if words or isinstance(path.column, Date) else ("integer", "float", "text")


PARTS = {kind: ColumnType(kind, shown) for kind, shown in (("integer", "BIGINT"), ("float", "DOUBLE"), ("text", "VARCHAR"))}
"""The types of the parts."""


def _of_any(path: NumberPath | CategoryPath, written: Callable[[Any, ColumnType], str]) -> str:
    """The code, or value, of whichever part has one."""
    kinds = [PARTS[kind] for kind in parts_of(path)]
    parts = [written(replace(path, name=part_name(path.name, kind.kind)), kind) for kind in kinds]
    return f"coalesce({', '.join(parts)})"


_COMPARED_CUTS = 4
"""A comparison takes about a fifth of the time of a division of 64-bit integers."""
_FEW_CUTS, _MANY_CODES = 32, 2**16
"""More cuts than these few are looked up, where there are at most this many codes: a join takes as long for any number."""
_MANY_CUTS = 200
"""More cuts than these are searched in a list: an expression of 20,000 took 1.4 GB and 13 s, and one driver gave up."""


def aggregate_sql(dialect: Dialect, source: str, header: Header, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> str:
    """One statement that gives, per cell: its keys, its rows, and for each moment non-null rows and the sum in limbs.

    Args:
        dialect: of the engine that will run it.
        source: an SQL table expression.
        header: the types of its columns.
        axes: the keys, whose words are the columns k0, k1, …
        moments: the value columns, v0, v1, …

    Raises:
        SourceError: a decimal column too wide for exact 128-bit arithmetic on the declared grid.
    """
    apart = [len(word.sizes) == 1 for word in words_of(axes) for _ in word.sizes]
    keys = [_key(dialect, axes, i, header[axis.name], apart=apart[i]) for i, axis in enumerate(axes)]
    inner = [f"{key.value} AS c{i}" for i, key in enumerate(keys)]
    inner += [f"{number_code(dialect, moment.path, header[moment.name], None)} AS v{j}" for j, moment in enumerate(moments)]
    inner += dialect.carried
    lookups = "".join(dialect.lookup(key.joined, i) for i, key in enumerate(keys) if key.joined is not None)
    grouped, named = _words(axes, keys)
    columns = [f"{text} AS k{i}" for i, text in enumerate(named)] + [f"{dialect.counted('*')} AS n"]
    for j, moment in enumerate(moments):
        columns += [f"{dialect.counted(f'v{j}')} AS n{j}", *dialect.sums(moment.path, j)]
    body = f"SELECT {', '.join(inner) or '1'} FROM {source}"
    return f"SELECT {', '.join(columns)} FROM ({body}){lookups}{dialect.grouped(grouped)}"


def labels_sql(dialect: Dialect, source: str, header: Header, axes: Sequence[KeyAxis], further: Sequence[str]) -> str:
    """One statement that gives, for each row, the label of each axis as k0, k1, …, and further columns of the source.

    Args:
        dialect: of the engine that will run it.
        source: an SQL table expression.
        header: the types of its columns.
        axes: what is labelled.
        further: expressions over the source, each with a name that is neither k, c nor t with a number.
    """
    if any(parts_of_list(axis) for axis in axes):
        return _combined_sql(dialect, source, header, axes, further)
    keys = [_key(dialect, axes, i, header[axis.name], apart=False) for i, axis in enumerate(axes)]
    inner = [f"{key.value} AS c{i}" for i, key in enumerate(keys)]
    lookups = "".join(dialect.lookup(key.joined, i) for i, key in enumerate(keys) if key.joined is not None)
    labels = [
        f"coalesce({key.label}, {axis.path.null_target}) AS k{i}"
        for i, (axis, key) in enumerate(zip(axes, keys, strict=True))
    ]
    named = [one.rpartition(" AS ")[2] for one in further]
    body = f"SELECT {', '.join([*further, *inner])} FROM {source}"
    return f"SELECT {', '.join([*named, *labels])} FROM ({body}) AS coded{lookups}"


def _combined_sql(dialect: Dialect, source: str, header: Header, axes: Sequence[KeyAxis], further: Sequence[str]) -> str:
    """The same where lists of combinations are among the axes: their columns are labelled first, and then looked up."""
    read: list[KeyAxis] = []
    places: list[range] = []
    for axis in axes:
        parts = [axis] if parts_of_list(axis) is None else [KeyAxis(path) for path in paths_read(axis.path)]
        places.append(range(len(read), len(read) + len(parts)))
        read += parts
    named = [one.rpartition(" AS ")[2] for one in further]
    inner, labels, lookups = [*named], [*named], []
    for i, (axis, own) in enumerate(zip(axes, places, strict=True)):
        if parts_of_list(axis) is None:
            inner.append(f"k{own[0]} AS d{i}")
            labels.append(f"d{i} AS k{i}")
            continue
        known = Combinations.of(axis)
        path = CategoryPath(axis.name, Category(known.numbers), known.targets, known.others, ())
        inner.append(f"{_number_sql(known, [f'k{place}' for place in own])} AS c{i}")
        labels.append(f"coalesce(t{i}, {known.others}) AS k{i}")
        lookups.append(dialect.lookup(path, i))
    body = f"SELECT {', '.join(inner)} FROM ({labels_sql(dialect, source, header, read, further)}) AS parted"
    return f"SELECT {', '.join(labels)} FROM ({body}) AS numbered{''.join(lookups)}"


def _number_sql(known: Combinations, codes: Sequence[str]) -> str:
    """The number of a combination of codes, as `cube.combinations` numbers them."""
    number = "CAST(0 AS BIGINT)"
    for code, size in zip(codes, known.sizes, strict=True):
        number = f"({number} * {size} + CASE WHEN {code} = {NULL} THEN {size - 1} ELSE {code} END)"
    return number


def answer_names(dialect: Dialect, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> list[str]:
    """The names of the columns that `aggregate_sql` asks for."""
    names = [f"k{i}" for i in range(len(words_of(axes)))] + ["n"]
    for j, moment in enumerate(moments):
        names += [f"n{j}", *(column.rpartition(" AS ")[2] for column in dialect.sums(moment.path, j))]
    return names


@dataclass(frozen=True, slots=True)
class _Key:
    """An axis in SQL.

    Args:
        value: an expression over the source, which becomes the column c of this number.
        group: an expression over the columns c and t of this number that distinguishes its labels; null for null.
        label: the label, an expression over `group`; null for null.
        joined: the lookup for the column t.
    """

    value: str
    group: str
    label: str
    joined: CategoryPath | None = None


def _key(dialect: Dialect, axes: Sequence[KeyAxis], i: int, kind: ColumnType, *, apart: bool) -> _Key:
    """The i-th axis; where it is a word by itself, it is named after grouping."""
    axis = axes[i]
    path, joined = axis.path, _lookup_of(axis)
    if not isinstance(path, CategoryPath):
        value = number_code(dialect, path, kind, "BIGINT")  # a word is a product of codes
        label = _label(dialect, axis, i) if joined is None else f"t{i}"
        few = apart and joined is None and path.high - path.low < 2 * len(axis.cuts or ())
        return _Key(value, f"c{i}" if few else label, label, joined)
    if isinstance(path.column.values[0], bool):
        pairs = zip(path.column.values, path.targets, strict=True)
        cases = " ".join(f"WHEN {str(value).lower()} THEN CAST({target} AS BIGINT)" for value, target in pairs)
        label = f"CASE c{i} {cases} END"
        return _Key(_category_value(dialect, path, kind), f"c{i}" if apart else label, label)
    value, listed = _category_value(dialect, path, kind), None
    if apart and isinstance(path.column.values[0], int):
        listed = dialect.spanned(value, path, i)
    elif apart and kind.kind == "text":
        listed = dialect.listed(path, i, len(axes))
    if listed is not None:
        return _Key(listed[0], f"c{i}", listed[1])
    return _Key(value, f"t{i}", f"t{i}", path)


def _words(axes: Sequence[KeyAxis], keys: Sequence[_Key]) -> tuple[list[str], list[str]]:
    """The expressions by which rows are grouped, and the words of the groups.

    On an axis by itself null is a separate group, and groups are named afterwards: naming every row took as long as
    grouping.
    """
    known = [f"coalesce({key.label}, {axis.path.null_target})" for axis, key in zip(axes, keys, strict=True)]
    grouped, named, first = [], [], 0
    for word in words_of(axes):
        last = first + len(word.sizes)
        named.append(word_sql(word, known[first:last]))
        grouped.append(keys[first].group if last == first + 1 else named[-1])
        first = last
    return grouped, named


def _lookup_of(axis: KeyAxis) -> CategoryPath | None:
    """The table for values that are looked up: categories, and codes among many cuts at unequal distances; or None."""
    path = axis.path
    if isinstance(path, CategoryPath):
        return path
    cuts = _inner(axis)
    if len(cuts) <= _FEW_CUTS or path.high - path.low + 1 > _MANY_CODES or len(_distances(cuts)) == 1:
        return None
    codes = range(path.low, path.high + 1)
    labels = tuple(bisect_right(axis.cuts or (), code) for code in codes)
    return CategoryPath(path.name, Category(codes), labels, path.null_target, ())


def _inner(axis: KeyAxis) -> tuple[int, ...]:
    """The cuts that distinguish codes: every code is at least the lowest and at most the highest."""
    cuts, path = axis.cuts or (), axis.path
    if isinstance(path, CategoryPath):
        return ()
    return cuts[bisect_right(cuts, path.low) : bisect_right(cuts, path.high)]


def _distances(cuts: Sequence[int]) -> set[int]:
    return {after - before for before, after in pairwise(cuts)}


def _label(dialect: Dialect, axis: KeyAxis, i: int) -> str:
    """The label of a number, null for null."""
    if axis.cuts is None or isinstance(axis.path, CategoryPath):
        return f"c{i}"
    return _count_passed(
        dialect, f"c{i}", _inner(axis), bisect_right(axis.cuts, axis.path.low), (axis.path.low, axis.path.high)
    )


def _count_passed(dialect: Dialect, code: str, cuts: Sequence[int], below: int, ends: tuple[int, int]) -> str:
    """The number of these ascending cuts that are at most a code between the two ends, plus `below`; null for null.

    A few cuts are compared one by one, which costs less than a division. Of more, cuts at equal distances are divided by;
    others are looked for by halving, since engines bound the depth of a sum: in an expression, which grows with their
    number, or in a list where there are many. No branch is a bare null: an engine that knows the range of the result
    groups by it in an array.
    """
    if not cuts:
        return f"CASE WHEN {code} IS NOT NULL THEN CAST({below} AS BIGINT) END"
    distances = _distances(cuts)
    if len(distances) == 1:
        (distance,) = distances
        start = cuts[0] - (below + 1) * distance
        counted = code if (start, distance) == (0, 1) else f"({code} - {start})"
        counted += "" if distance == 1 else f" {dialect.divided} {distance}"
        # The quotient is right between these, and so for every code if the ends are between them.
        first, last = cuts[0] - distance, cuts[-1] + distance - 1
        if first <= ends[0] and ends[1] <= last:
            return counted
    if len(cuts) <= _COMPARED_CUTS:
        numbered = " ".join(f"WHEN {code} < {cut} THEN CAST({below + place} AS BIGINT)" for place, cut in enumerate(cuts))
        return f"CASE {numbered} ELSE {_passed_all(dialect, code, cuts, below, ends[1])} END"
    if len(distances) == 1:
        return (
            f"CASE WHEN {code} < {cuts[0]} THEN CAST({below} AS BIGINT) "
            f"WHEN {code} >= {cuts[-1]} THEN {below + len(cuts)} ELSE {counted} END"
        )
    if len(cuts) > _MANY_CUTS:
        return f"CASE WHEN {code} IS NOT NULL THEN {below} + {dialect.searched(code, cuts)} END"

    def among(first: int, last: int) -> str:
        if first == last:
            return f"CAST({below + first} AS BIGINT)"
        middle = (first + last) // 2
        return f"CASE WHEN {code} < {cuts[middle]} THEN {among(first, middle)} ELSE {among(middle + 1, last)} END"

    most = _passed_all(dialect, code, cuts, below, ends[1])
    return f"CASE WHEN {code} < {cuts[-1]} THEN {among(0, len(cuts) - 1)} ELSE {most} END"


def _passed_all(dialect: Dialect, code: str, cuts: Sequence[int], below: int, high: int) -> str:
    """The number of all cuts plus `below` for a code from the last cut to `high`, null for null: the quotient is 0 there."""
    return f"{below + len(cuts)} + ({code} - {cuts[-1]}) {dialect.divided} {max(1, high - cuts[-1] + 1)}"


def _category_value(dialect: Dialect, path: CategoryPath, kind: ColumnType) -> str:
    """The value as the type of the categories, null when it cannot be one of them."""
    column, first = dialect.quoted(path.name), path.column.values[0]
    if kind.kind == "any":
        return _of_any(path, partial(_category_value, dialect))
    if isinstance(first, str):
        return dialect.text(path)
    if isinstance(first, bool):
        if kind.kind == "boolean":
            return column
        true, false = (dialect.matches(column, pattern) for pattern in (_TRUE, _FALSE))
        return f"CASE WHEN {true} THEN true WHEN {false} THEN false END"
    if kind.kind == "integer":
        return f"TRY_CAST({column} AS BIGINT)"
    if kind.kind == "text":
        digits = f"TRY_CAST(split_part({dialect.trimmed(column)}, '.', 1) AS BIGINT)"
        return f"CASE WHEN {dialect.matches(column, _INTEGER)} THEN {digits} END"
    if kind.kind == "decimal":
        return dialect.whole(path.name, kind)
    number = f"CAST({column} AS DOUBLE)"
    small = f"abs({number}) <= {double_literal(2.0**53)}"
    return f"CASE WHEN {small} AND {dialect.is_whole(number)} THEN TRY_CAST({number} AS BIGINT) END"


def number_code(dialect: Dialect, path: NumberPath, kind: ColumnType, type_: str | None) -> str:
    """The code within [low, high], null for null, in this type; in any where it is None."""
    if kind.kind == "any":
        return _of_any(path, partial(number_code, dialect, type_=type_))
    number = dialect.quoted(path.name)
    if isinstance(path.column, Date):
        return without_missing(dialect, path, kind, number, dialect.date_code(path, kind))
    if kind.kind == "text":
        digits = f"TRY_CAST({dialect.trimmed(number)} AS DOUBLE)"
        number = f"(CASE WHEN {dialect.matches(number, _NUMBER)} THEN {digits} END)"
    if kind.kind == "integer":
        code = integer_code(dialect, path, kind, type_)
    elif kind.kind == "decimal":
        code = decimal_code(dialect, path, kind, type_)
    else:
        code = float_code(dialect, path, number, kind, type_)
    return without_missing(dialect, path, kind, number, code)
