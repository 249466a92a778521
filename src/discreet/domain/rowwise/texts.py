"""Operations on texts, whose results are bounded in length: no result is longer than its arguments together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from discreet.domain.rowwise.operations import BOOLEAN, INTEGER, TEXT, Operation, strict
from discreet.domain.rowwise.tree import Value

__all__ = ["LOWER", "MOST_CHARACTERS", "TEXTS", "UPPER"]

MOST_CHARACTERS = 10_000
"""A text that is joined from others and would be longer is null, so that no expression multiplies what a cell holds."""
_MOST_PLACE = 2**31 - 1
_CASED = range(0x530)


def _letters(method: str) -> Mapping[str, str]:
    """The Latin, Greek and Cyrillic letters that have exactly one letter of the other case, below U+0530."""
    pairs = {chr(code): getattr(chr(code), method)() for code in _CASED}
    return {letter: other for letter, other in pairs.items() if letter != other and len(other) == 1 and ord(other) in _CASED}


LOWER, UPPER = _letters("lower"), _letters("upper")
"""The capital of each small letter; every other character stays. In these blocks no version of Unicode changes a pair."""
_LOWER, _UPPER = str.maketrans(dict(LOWER)), str.maketrans(dict(UPPER))


def _join(a: str, b: str) -> str | None:
    return a + b if len(a) + len(b) <= MOST_CHARACTERS else None


def _like(value: str, pattern: str) -> bool:
    parts = {"%": ".*", "_": "."}
    return re.fullmatch("".join(parts.get(char, re.escape(char)) for char in pattern), value, re.DOTALL) is not None


def _from_right(value: str, count: int) -> str:
    return value[len(value) - min(count, len(value)) :]


def _is_count(values: Sequence[Value]) -> str:
    sound = all(isinstance(value, int) and 0 <= value <= _MOST_PLACE for value in values)
    return "" if sound else "be a whole number from 0 on"


def _is_place(values: Sequence[Value]) -> str:
    first = values[0]
    sound = isinstance(first, int) and 1 <= first <= _MOST_PLACE
    return _is_count(values[1:]) if sound else "be a whole number from 1 on, the place of the first character"


def _is_shorter(values: Sequence[Value]) -> str:
    old, new = values
    sound = isinstance(old, str) and isinstance(new, str) and old and len(new) <= len(old)
    return "" if sound else "be texts, the second not longer than the first, which has at least one character"


def _is_pattern(values: Sequence[Value]) -> str:
    (pattern,) = values
    return "" if isinstance(pattern, str) and "\\" not in pattern else "be a text without a backslash"


TEXTS = (
    Operation("||", (TEXT, TEXT), TEXT, strict(_join)),
    Operation("lower", (TEXT,), TEXT, strict(lambda value: value.translate(_LOWER))),
    Operation("upper", (TEXT,), TEXT, strict(lambda value: value.translate(_UPPER))),
    Operation("trim", (TEXT,), TEXT, strict(lambda value: value.strip(" "))),
    Operation("ltrim", (TEXT,), TEXT, strict(lambda value: value.lstrip(" "))),
    Operation("rtrim", (TEXT,), TEXT, strict(lambda value: value.rstrip(" "))),
    Operation("length", (TEXT,), INTEGER, strict(len)),
    Operation("substr", (TEXT, INTEGER), TEXT, strict(lambda value, at: value[at - 1 :]), 0, (1,), _is_place),
    Operation(
        "substr",
        (TEXT, INTEGER, INTEGER),
        TEXT,
        strict(lambda value, at, count: value[at - 1 : at - 1 + count]),
        0,
        (1, 2),
        _is_place,
    ),
    Operation("left", (TEXT, INTEGER), TEXT, strict(lambda value, count: value[:count]), 0, (1,), _is_count),
    Operation("right", (TEXT, INTEGER), TEXT, strict(_from_right), 0, (1,), _is_count),
    Operation("replace", (TEXT, TEXT, TEXT), TEXT, strict(str.replace), 0, (1, 2), _is_shorter),
    Operation("like", (TEXT, TEXT), BOOLEAN, strict(_like), 0, (1,), _is_pattern),
)
