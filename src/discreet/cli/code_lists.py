"""Categories and missing codes of `discreet init`: typed, from a file of codes and labels, or from the header of a file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from discreet.cli.drafting import Entry, render_list
from discreet.domain.areas import Hierarchy
from discreet.engines.base import CodeList, ColumnType
from discreet.errors import ArgumentError, SchemaError
from discreet.exact.figures import name as shown_name
from discreet.exact.given_paths import content_of
from discreet.planfile.write import toml_key, toml_visible

__all__ = [
    "area_table",
    "code_list",
    "convert_as",
    "join_values",
    "label_comment",
    "label_values",
    "missing_entries",
    "note_unlisted",
    "read_whole",
    "split_values",
]

_MOST_BYTES = 10_000_000
_MOST_MISSING = 100
"""Codes that are written one by one where a header has a first and a last one."""


def split_values(answer: str) -> list[str]:
    """The values between the commas; one that has a comma is in double quotes."""
    try:
        cells = next(csv.reader([answer], skipinitialspace=True, strict=True), [])
    except csv.Error:
        raise ArgumentError(f"{shown_name(answer)}: put a value with a comma in double quotes") from None
    return [cell.strip() for cell in cells]


def join_values(values: Iterable[str]) -> str:
    """The values with commas between them, so that `split_values` gives them back."""
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(values)
    return written.getvalue()


def convert_as(kind: ColumnType, values: Sequence[str]) -> list[str | int]:
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


def area_table(path: Path, *, whole: bool) -> tuple[Entry, ...]:
    """The entries of a hierarchy beside its file, where that is a table of areas; nothing for other files.

    Its first line names the levels, the widest first. `county_name` has the names of the areas of `county`.
    """
    if path.suffix.lower() != ".csv":
        return ()
    try:
        first = content_of(path, _MOST_BYTES).decode("utf-8-sig").partition("\n")[0]
        named = split_values(first.strip())
        labels = {level: f"{level}_name" for level in named if f"{level}_name" in named}
        levels = [one for one in named if one not in labels.values()]
        if len(levels) < 2:
            return ()
        Hierarchy(path, levels=levels, labels=labels, codes="integer" if whole else "text")
    except (OSError, ValueError, ArgumentError, SchemaError):
        return ()
    told = [Entry("levels", render_list(levels), "the widest areas first")]
    if labels:
        pairs = ", ".join(f"{toml_key(level)} = {toml_visible(name)}" for level, name in labels.items())
        told.append(Entry("labels", f"{{ {pairs} }}"))
    return (*told, *((Entry("categories_type", toml_visible("integer")),) if whole else ()))


def read_whole(answer: str) -> int:
    """The whole number of 64 bits that is written.

    Raises:
        ArgumentError: it is something else.
    """
    if not re.fullmatch(r"-?[0-9]{1,18}", answer):
        raise ArgumentError(f"'{answer}': must be a whole number, of digits alone")
    return int(answer)


def label_comment(labels: Mapping[str, str]) -> str:
    """The meaning of codes, as a comment."""
    return ", ".join(f"{shown_name(code)} {shown_name(label)}" for code, label in labels.items())


def label_values(kind: ColumnType, codes: CodeList) -> dict[str, str]:
    """The labels of the codes that a header does not call missing; none where a code cannot be a category."""
    known = {code: label for code, label in codes.labels.items() if not _is_missing(code, codes)}
    whole = all(isinstance(code, str) == (kind.kind == "text") and not isinstance(code, float) for code in known)
    return {str(code): label for code, label in known.items()} if whole else {}


def missing_entries(kind: ColumnType, codes: CodeList) -> tuple[Entry, ...]:
    """The codes that a header calls missing, as an entry of a column of numbers or categories; none where it names none."""
    missing = _list_missing(codes)
    if not missing or kind.kind == "date":
        return ()
    listed = {str(code): codes.labels[code] for code in missing if code in codes.labels}
    return (Entry("missing", render_list(missing), label_comment(listed)),)


def note_unlisted(codes: CodeList) -> tuple[str, ...]:
    """A note for each range of missing codes that is too long to be listed."""
    return tuple(
        f"The file calls all codes from {low} to {high} missing: add those that occur to `missing`."
        for low, high in codes.ranges
        if not _is_short(low, high)
    )


def _list_missing(codes: CodeList) -> list[int | float | str]:
    """Each missing code once: named codes, all codes of short ranges, and the labelled codes of long ranges."""
    ranges = [code for low, high in codes.ranges if _is_short(low, high) for code in range(int(low), int(high) + 1)]
    return list(dict.fromkeys([*codes.missing, *ranges, *(code for code in codes.labels if _is_missing(code, codes))]))


def _is_short(low: int | float | str, high: int | float | str) -> bool:
    return isinstance(low, int) and isinstance(high, int) and high - low < _MOST_MISSING


def _is_missing(code: int | float | str, codes: CodeList) -> bool:
    return code in codes.missing or any(
        not isinstance(code, str) and not isinstance(low, str) and not isinstance(high, str) and low <= code <= high
        for low, high in codes.ranges
    )
