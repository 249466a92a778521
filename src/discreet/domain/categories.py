"""Categories as values: texts in NFC, integers or booleans, listed by the caller or in a file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from discreet.errors import SchemaError, printed
from discreet.exact.given_paths import content_of

__all__ = ["Value", "check_categories", "check_text", "missing_category", "read_categories", "whole_categories"]

Value = str | int | bool
"""A category value."""

_MAX_CATEGORIES = 1_000_000


def read_categories(path: Path) -> list[str]:
    """The lines of a UTF-8 text file.

    Raises:
        SchemaError: unreadable file.
    """
    try:
        return content_of(path).decode("utf-8-sig").splitlines()
    except (OSError, ValueError):  # a ValueError means text that is not UTF-8, or an impossible path
        shown = printed(str(path))
        raise SchemaError(f"categories={shown}: must be a readable UTF-8 file with one category per line") from None


def whole_categories(path: Path) -> list[Value]:
    """The whole numbers that a UTF-8 text file lists, one per line.

    Raises:
        SchemaError: unreadable file, or a line that is not a whole number.
    """
    lines = read_categories(path)
    for number, line in enumerate(lines, 1):
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", line):
            raise SchemaError(f"categories={printed(str(path))}: line {number} must be a whole number, not {printed(line)}")
    return [int(line) for line in lines]


def check_categories(listed: list[Value]) -> tuple[Value, ...]:
    """The categories of a column, distinct, of one type and in NFC.

    Raises:
        SchemaError: none or too many, several types, duplicates, empty or unprintable text.
    """
    if not listed:
        raise SchemaError("categories: the list is empty; a column needs at least one category")
    if len(listed) > _MAX_CATEGORIES:
        raise SchemaError(f"categories: {len(listed)} are more than {_MAX_CATEGORIES}; group them")
    kinds = {type(value) for value in listed}
    if len(kinds) > 1 or not kinds <= {str, int, bool}:
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise SchemaError(f"categories: must all be texts, all integers or all booleans, not {found}")
    values = tuple(unicodedata.normalize("NFC", value) if isinstance(value, str) else value for value in listed)
    seen: set[Value] = set()
    for value in values:
        if isinstance(value, str):
            check_text(value, "category")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise SchemaError(f"category {printed(value)}: must fit into 64 bits")
        if value in seen:
            raise SchemaError(f"category {value!r}: is listed twice (texts are compared after Unicode NFC normalisation)")
        seen.add(value)
    return values


def check_text(value: str, what: str) -> None:
    """Checks that a text can be seen.

    Raises:
        SchemaError: it is empty or has control characters or line breaks.
    """
    if not value:
        raise SchemaError(f"{what}: the empty text is not allowed; an empty cell is null")
    if any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in value):
        raise SchemaError(f"{what} {value!r}: must not contain control characters or line breaks")


def missing_category(categories: Sequence[Value], value: object, name: str) -> Value:
    """A missing code of a column of these categories, in the form in which it is compared.

    Raises:
        SchemaError: it is of another type than the categories, one of them, or not a text that can be seen.
    """
    kind = type(categories[0])
    code = unicodedata.normalize("NFC", value) if isinstance(value, str) else value
    if type(code) is not kind:
        shown = {str: "a text", int: "a whole number", bool: "true or false"}[kind]
        raise SchemaError(f"{name}={printed(value)}: must be {shown}, as the categories of the column are")
    if code in categories:
        raise SchemaError(f"{name}={printed(value)}: is listed as a category; leave it out there or here")
    if isinstance(code, str):
        check_text(code, name)
    elif isinstance(code, int) and not -(2**63) <= code < 2**63:
        raise SchemaError(f"{name}={printed(value)}: must fit into 64 bits")
    return code
