"""Files as sources: what can be checked for changes while it is read, each file under one name."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from discreet.errors import SourceError

__all__ = [
    "Listing",
    "check_distinct",
    "check_regular",
    "database_snapshot",
    "file_snapshot",
    "has_content",
    "listed_snapshot",
]

Listing = Callable[[], Sequence[Path]]
"""Looks for the files of a source: one file, what a glob matches, or what is in a folder."""


def check_regular(path: Path) -> None:
    """Checks that the path is a regular file that can be read.

    Raises:
        SourceError: it is not a regular file that can be read, or no longer one.
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


def check_distinct(files: Iterable[tuple[Path, os.stat_result]]) -> None:
    """No two names are of one file: its rows would be counted twice, and every person would weigh double.

    Raises:
        SourceError: two are, by a symbolic or hard link, by a linked folder, or by a pattern that finds a name twice.
    """
    known: dict[tuple[int, int], Path] = {}
    for path, facts in files:
        first = known.setdefault((facts.st_dev, facts.st_ino), path)
        if first is not path:
            raise SourceError(
                f"source '{path}': is the same file as '{first}', and would be counted twice; remove the link, or name the "
                "files so that each is meant once"
            )


def file_snapshot(paths: Sequence[Path]) -> str:
    """Places, sizes and times of the files.

    Raises:
        SourceError: a file no longer exists, can no longer be read, or has two of the names. Before the reservation,
            nothing is spent.
    """
    facts = [fact for _, fact in _facts(paths)]
    return repr([
        [(fact.st_dev, fact.st_ino, fact.st_size, fact.st_mtime_ns, fact.st_ctime_ns) for fact in facts],
        _links_to(paths),
    ])  # fmt: skip


def _links_to(paths: Sequence[Path]) -> list[tuple[str, int, int]]:
    """The symbolic links on the way to the files: one that leads elsewhere for a moment is another one afterwards."""
    files = {path.absolute() for path in paths}
    folders = {path.parent for path in files}
    places = sorted(files | {place for folder in folders for place in (folder, *folder.parents)})
    found = [(str(place), _facts_of(place, os.lstat)) for place in places]
    return [(place, facts.st_ino, facts.st_ctime_ns) for place, facts in found if facts and stat.S_ISLNK(facts.st_mode)]


def has_content(path: Path) -> bool:
    """True if a file is there and has something in it: one look, as its owner may remove it at any moment."""
    facts = _facts_of(path, os.stat)
    return facts is not None and facts.st_size > 0


def _facts_of(path: Path, look: Callable[[Path], os.stat_result]) -> os.stat_result | None:
    try:
        return look(path)
    except OSError:
        return None


def _facts(paths: Sequence[Path]) -> list[tuple[Path, os.stat_result]]:
    found = []
    for path in paths:
        check_regular(path)
        try:
            found.append((path, path.stat()))
        except OSError:
            raise SourceError(f"source '{path}': cannot be opened; check the path and the permissions") from None
    check_distinct(found)
    return found


def listed_snapshot(paths: Sequence[Path], listing: Listing) -> str:
    """As `file_snapshot`, of files that are still all that the listing finds.

    Raises:
        SourceError: as `file_snapshot`, or other files are there than when the source was opened.
    """
    found = file_snapshot(paths)
    if [*listing()] != [*paths]:
        raise SourceError("source: files came or went since it was opened; open it again")
    return found


def database_snapshot(path: Path, endings: Sequence[str]) -> str:
    """As `file_snapshot`, of a database and of the logs next to it, whose names have these endings; empty logs are ignored.

    The time when the metadata of a file changed is left out: reading a log may set its owner.

    Raises:
        SourceError: as `file_snapshot`.
    """
    logs = [log for log in (Path(f"{path}{ending}") for ending in endings) if has_content(log)]
    facts = [fact for _, fact in _facts([path, *logs])]
    return repr([(fact.st_dev, fact.st_ino, fact.st_size, fact.st_mtime_ns) for fact in facts])
