"""The description of a format, what can be asked of it, and files that are written whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from glob import escape
from pathlib import Path
from typing import Any

from discreet.domain.about import About
from discreet.errors import ArgumentError, printed
from discreet.exact.files import replace_file
from discreet.exact.given_paths import reason
from discreet.releases.exports.digits import NOISE, check_digits
from discreet.releases.files import DOCUMENT
from discreet.releases.frames import ESCAPE, check_formulas

__all__ = ["ENCODINGS", "Format", "Wishes", "write_files"]

ENCODINGS: Mapping[str, str] = {"utf-8": "utf-8", "utf-8-bom": "utf-8-sig"}
"""The encodings of text files: some spreadsheets know UTF-8 by its mark (BOM) only."""

_BESIDE = frozenset({"table", "table.csv", "table.parquet", "report.html", "consistent.csv"})
"""The other names in the folder of a release, next to the document."""

_FRAME = frozenset({".csv", ".parquet"})
"""The endings of the two files of each frame."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The wishes of somebody who exports.

    Args:
        frame: the name of a frame of `Release.tables`; None is the first. A workbook has all.
        digits: "noise" for as many as the noise allows, "raw" for all.
        encoding: of a CSV file, "utf-8" or "utf-8-bom".
        formulas: "escape" puts a single quote before labels in CSV files that spreadsheets take for formulas; or "keep".

    Raises:
        ArgumentError: another word.
    """

    frame: str | None = None
    digits: str = NOISE
    encoding: str = "utf-8"
    formulas: str = ESCAPE

    def __post_init__(self) -> None:
        check_digits(self.digits)
        check_formulas(self.formulas)
        if self.encoding not in ENCODINGS:
            raise ArgumentError(f"encoding={printed(self.encoding)}: must be {' or '.join(map(repr, ENCODINGS))}")


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files.

    Args:
        word: its name on the command line.
        suffix: how its files are called.
        files: the contents of its files, by what is put after the path that was asked for: "" for the file itself.
    """

    word: str
    suffix: str
    files: Callable[[Mapping[str, Any], About, Wishes, str], Mapping[str, bytes]]


def write_files(contents: Mapping[str, bytes], path: Path) -> tuple[Path, ...]:
    """The files, each complete or not at all.

    Raises:
        ArgumentError: one has the name of a file of a release, or cannot be written.
    """
    for end in contents:
        _check_name(path.parent / f"{path.name}{end}")
    places = []
    try:
        for end, content in contents.items():
            places.append(path.with_name(f"{path.name}{end}"))
            replace_file(places[-1], partial(_put, content))
    except (OSError, ValueError) as wrong:
        raise ArgumentError(f"export '{path}': cannot be written ({reason(wrong)}); choose another path") from None
    return tuple(places)


def _check_name(place: Path) -> None:
    """No export takes the place of a release, of its page, or of the two files of one of its frames.

    Raises:
        ArgumentError: it would.
    """
    if place.name.casefold() == DOCUMENT or _is_beside(place):
        raise ArgumentError(
            f"export '{place}': has the name of a file of a release, which it would replace; choose another name, "
            f"such as '{place.stem}-export{place.suffix}'"
        )


def _is_beside(place: Path) -> bool:
    """True if a release is in the folder and this is the name of one of its files; a frame has two files of one stem."""
    with suppress(OSError, ValueError):  # then it cannot be written either
        if (place.parent / DOCUMENT).exists():
            ends = {one.suffix for one in place.parent.glob(f"{escape(place.stem)}.*")}
            return place.name.casefold() in _BESIDE or (place.suffix in _FRAME and ends >= _FRAME)
    return False


def _put(content: bytes, place: Path) -> None:
    place.write_bytes(content)
