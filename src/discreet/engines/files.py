"""Files as sources: what can be read twice and checked for changes in between."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from discreet.errors import SourceError

__all__ = ["Listing", "check_regular", "database_snapshot", "file_snapshot", "listed_snapshot"]

Listing = Callable[[], Sequence[Path]]
"""Looks for the files of a source: one file, what a glob matches, or what is in a folder."""


def check_regular(path: Path) -> None:
    """Nothing, when the path is a regular file that can be read.

    Raises:
        SourceError: it is not, or no longer.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        raise SourceError(f"source '{path}': cannot be opened; check the path and the permissions") from None
    if stat.S_ISDIR(mode):
        raise SourceError(f"source '{path}': is a directory; name it alone, or its files, such as '{path}/*.parquet'")
    if not stat.S_ISREG(mode):
        raise SourceError(f"source '{path}': must be a regular file, which can be checked for changes and read twice")
    if not os.access(path, os.R_OK):
        raise SourceError(f"source '{path}': cannot be read; check the permissions")


def file_snapshot(paths: Sequence[Path]) -> str:
    """Sizes, times and places of the files.

    Raises:
        SourceError: a file is no longer there, or can no longer be read. Asked before a spend is reserved, nothing is spent.
    """
    facts = []
    for path in paths:
        check_regular(path)
        try:
            facts.append((str(path.resolve()), path.stat()))
        except (OSError, RuntimeError):
            raise SourceError(f"source '{path}': cannot be opened; check the path and the permissions") from None
    return repr([(name, fact.st_size, fact.st_mtime_ns, fact.st_ino) for name, fact in facts])


def listed_snapshot(paths: Sequence[Path], listing: Listing) -> str:
    """As `file_snapshot`, of files that are still all that the listing finds.

    Raises:
        SourceError: as `file_snapshot`, or other files are there than when the source was opened.
    """
    found = file_snapshot(paths)
    if [*listing()] != [*paths]:
        raise SourceError("source: files came or went since it was opened; open it again")
    return found


def database_snapshot(path: Path, beside: Sequence[str]) -> str:
    """As `file_snapshot`, of a database and of the logs beside it, whose names end so; an empty log is none.

    Raises:
        SourceError: as `file_snapshot`.
    """
    logs = [log for log in (Path(f"{path}{ending}") for ending in beside) if log.exists() and log.stat().st_size]
    return file_snapshot([path, *logs])
