"""The expressions in which SQL engines differ: what `sql` leaves to the engine that will run the statement.

A dialect is text in, text out. It sees names, types and paths, which are public, and is held to the same rule as the
generator: no expression may fail on any value.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.cube.value_paths import CategoryPath, NumberPath
from discreet.engines.base import ColumnType

__all__ = ["Dialect"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The expressions of one engine that the generator needs. All texts are expressions unless stated otherwise.

    Args:
        quoted: a name as an identifier.
        trimmed: a text without blanks (U+0020) at its ends.
        matches: true where a text matches a regular expression from end to end; no match for null.
        is_finite: true where a double is neither NaN nor infinite.
        is_whole: true where a finite double is an integer.
        nearest: the integer nearest to a double, ties to even, in a type that holds it.
        single: the engine's name for a column of single floats, FLOAT in its expressions.
        reach: the least and the greatest integer of a type of columns; None where it is not known.
        small: the type for codes up to this one that are only added up.
        null_first: a first branch of a CASE over an expression that is compared with literals, where null needs one.
        divided: the operator of division that rounds towards zero.
        searched: how many of these ascending cuts are at most a code that is not null; anything for null.
        wide: an integer in a type in which products and sums below 2**126 are exact.
        summed: the exact sum of integers of 64 bits, or of wide ones, that is below 2**126.
        decimal: the decimal of this type that is this integer without its point, as a literal.
        unscaled: a decimal column without its point, an integer; any value beyond the digits of its type.
        whole: a decimal column as BIGINT, null where it is not a 64-bit integer.
        text: a text column, such that it is equal to a word of `lookup` exactly when its NFC form is that category.
        listed: of the i-th of some keys, a text column, an expression that distinguishes the spellings of its categories,
            null for every other text; and the target by the column c of this number. None where a lookup serves better.
        spanned: of an integer expression, an expression that distinguishes its categories and has few other values; and the
            target by the column c of this number, null or the target of null for what is not a category. None as above.
        lookup: the join, as text after a FROM, that gives target t of column c of this number.
        is_day: true where a column of dates, timestamps or texts of this type has a certain day; it may be null elsewhere.
        date_code: the code of a date within the bounds of the path, null for null.
        sums: the select list of the exact sum of (value - low) over column v of this number.
        counted: the number of rows in which an expression is not null; of all rows for a star.
        identity: an integer, text or date column of this type, such that it is equal to another one exactly where both are
            the same integer, the same day, or texts of the same bytes; null for null.
        carried: further columns of the source that `counted` and `sums` use.
        grouped: the GROUP BY, as text; empty without keys. The keys are given as expressions in which null is null; the
            select list names null. Several groups of one key are one cell in parts.
    """

    quoted: Callable[[str], str]
    trimmed: Callable[[str], str]
    matches: Callable[[str, str], str]
    is_finite: Callable[[str], str]
    is_whole: Callable[[str], str]
    nearest: Callable[[str, str], str]
    single: str
    reach: Callable[[ColumnType], tuple[int, int] | None]
    small: Callable[[int], str]
    null_first: Callable[[str], str]
    divided: str
    searched: Callable[[str, Sequence[int]], str]
    wide: Callable[[str], str]
    summed: Callable[[str], str]
    decimal: Callable[[int, ColumnType], str]
    unscaled: Callable[[str, ColumnType], str]
    whole: Callable[[str, ColumnType], str]
    text: Callable[[CategoryPath], str]
    listed: Callable[[CategoryPath, int, int], tuple[str, str] | None]
    spanned: Callable[[str, CategoryPath, int], tuple[str, str] | None]
    lookup: Callable[[CategoryPath, int], str]
    is_day: Callable[[str, ColumnType, dt.date], str]
    date_code: Callable[[NumberPath, ColumnType], str]
    sums: Callable[[NumberPath, int], list[str]]
    counted: Callable[[str], str]
    identity: Callable[[str, ColumnType], str]
    carried: tuple[str, ...]
    grouped: Callable[[Sequence[str]], str]
