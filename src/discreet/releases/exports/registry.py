"""All formats, by the words that the command line has for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.domain.about import About
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.releases.exports.base import Format, Wishes, write_files
from discreet.releases.exports.csv_table import CSV
from discreet.releases.exports.csvw import CSVW
from discreet.releases.exports.json_stat import JSON_STAT
from discreet.releases.exports.sdmx import SDMX
from discreet.releases.exports.xlsx import XLSX

__all__ = ["FORMATS", "export"]

FORMATS: tuple[Format, ...] = (CSV, XLSX, SDMX, CSVW, JSON_STAT)
"""The tests go through this tuple."""


def export(document: Mapping[str, Any], about: About, to: str, path: Path, wishes: Wishes) -> tuple[Path, ...]:
    """The release stands in a file of that format, and in those that belong to it.

    Raises:
        ArgumentError: no such format or frame, the release is large, or a file cannot be written.
    """
    known = {one.word: one for one in FORMATS}
    if to not in known:
        raise ArgumentError(f"to={printed(to)}: is not a format{did_you_mean(to, known)}")
    contents = known[to].files(document, about, wishes, path.name)
    return write_files(contents, path)
