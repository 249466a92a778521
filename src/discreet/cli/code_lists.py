"""The categories that somebody types in `discreet init`, or names in a file of codes and labels."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from discreet.engines.base import ColumnType
from discreet.errors import ArgumentError
from discreet.exact.figures import name as shown_name
from discreet.exact.given_paths import content_of

__all__ = ["code_list", "read_whole", "split_values", "typed_as"]

_MOST_BYTES = 10_000_000


def split_values(answer: str) -> list[str]:
    """The values between the commas; one that has a comma is in double quotes."""
    try:
        cells = next(csv.reader([answer], skipinitialspace=True, strict=True), [])
    except csv.Error:
        raise ArgumentError(f"{shown_name(answer)}: put a value with a comma in double quotes") from None
    return [cell.strip() for cell in cells]


def typed_as(kind: ColumnType, values: Sequence[str]) -> list[str | int]:
    """The categories as texts or whole numbers, as the column has them."""
    texts = kind.kind == "text" or (kind.kind == "any" and not all(re.fullmatch(r"[+-]?[0-9]+", one) for one in values))
    return list(values) if texts else [read_whole(one) for one in values]


def code_list(path: Path) -> dict[str, str]:
    """The labels by their codes, where every line of the file is a code, a semicolon and a label; otherwise nothing."""
    try:
        lines = content_of(path, _MOST_BYTES).decode("utf-8-sig").splitlines()
    except (OSError, ValueError):
        return {}
    pairs = [line.partition(";") for line in lines if line.strip()]
    if pairs and (pairs[0][0].strip().lower(), pairs[0][2].strip().lower()) == ("code", "label"):
        del pairs[0]
    if not all(mark and code.strip() and label.strip() for code, mark, label in pairs):
        return {}
    codes = [code.strip().strip('"') for code, _, _ in pairs]
    if len({*codes}) < len(codes):
        raise ArgumentError(f"'{path.name}': lists a code twice; each code has one line")
    return {code: label.strip().strip('"') for code, (_, _, label) in zip(codes, pairs, strict=True)}


def read_whole(answer: str) -> int:
    """The whole number of 64 bits that is written.

    Raises:
        ArgumentError: it is something else.
    """
    if not re.fullmatch(r"-?[0-9]{1,18}", answer):
        raise ArgumentError(f"'{answer}': must be a whole number, of digits alone")
    return int(answer)
