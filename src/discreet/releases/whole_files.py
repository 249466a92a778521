"""Whole numbers of a release of areas in files, in files of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import ArgumentError
from discreet.exact.files import make_folder
from discreet.exact.given_paths import reason, require_path
from discreet.releases.areas.whole import write_files
from discreet.releases.document import Release
from discreet.releases.files import TABLE

if TYPE_CHECKING:
    import polars as pl

__all__ = ["write_whole"]


def write_whole(release: Release, to: str | Path) -> pl.DataFrame:
    """The folder `to` has the whole numbers of all tables of a release of areas in files; how far they are from the counts.

    They are not negative and add up: each area to the one that it lies in, each table to those whose columns are among its
    own, everything to the exact totals. A biased view, as `consistent` makes it of smaller releases, and without intervals.
    The files `whole-K-00000.parquet`, … have the labels and the numbers, `count_consistent`, of the frame number K of the
    document, area by area.

    Args:
        release: of `agreeing_areas` in files, with its folder.
        to: a folder that holds no such files yet.

    Returns:
        For each table, and the counts of each size beside their half-widths, the number of cells, the mean of whole number
        less count, and the mean of its size.

    Raises:
        ArgumentError: another release; a folder that cannot be written or holds something else; or exact totals that cross
            the tables, of which no whole numbers were found.
    """
    folder = require_path(to, "to")
    if not isinstance(release, Release) or not release.in_files or release.folder is None:
        raise ArgumentError("write_whole(): takes a release of areas in files, as Release.load(folder) gives it")
    try:
        if folder.exists() and any(folder.iterdir()):
            raise ArgumentError(f"to='{folder}': is not empty; choose another folder")
        make_folder(folder)
        return write_files(release.document, release.folder / TABLE, folder)
    except OSError as wrong:
        raise ArgumentError(f"to='{folder}': cannot be written ({reason(wrong)}); choose another folder") from None
