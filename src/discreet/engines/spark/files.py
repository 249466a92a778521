"""The files behind a Spark source, and their metadata in the file system: an identity that costs no scan.

Only for a frame that is nothing but files, listed once when it was made: then the files that exist now, with their
lengths, times and tags, determine whether the driver still reads the same. If this is not certain, the source has no such
identity: views, filters, copies in memory, tables with a log or with partitions in a catalogue, sessions of Spark Connect,
file systems that do not record when a file was written, files of other machines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from discreet.engines.files import check_distinct
from discreet.errors import SourceError

__all__ = ["FileFacts", "FrameFiles", "check_names", "facts_of", "files_of_path", "files_of_table"]

_RELATION = "org.apache.spark.sql.execution.datasources.LogicalRelation"
_FILES = "org.apache.spark.sql.execution.datasources.HadoopFsRelation"
_INDEX = "org.apache.spark.sql.execution.datasources.InMemoryFileIndex"
_NAMED = "org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias"
_SKIPPING = ("ignoreCorruptFiles", "ignoreMissingFiles")  # under which a scan leaves out what it cannot read
_LOCAL = "file:"
_BETWEEN = "\0"  # in no name of a file
# The text of a status of Hadoop; a status of an object store adds a tag of the content.
_STATUS = re.compile(r"path=(.*?); isDirectory=false; length=(\d+); .*?modification_time=(\d+);", re.DOTALL)
_TAG = re.compile(r"etag='([^']*)'", re.IGNORECASE)

FileFacts = tuple[str, int, int, tuple[str, ...], tuple[int, int]]
"""One file: its name, its length, when it was written, its tags, and for a local file its finer clock and its place."""


def check_names(frame: Any) -> None:
    """No two of the names that a frame reads are of one file of this machine.

    Raises:
        SourceError: two are.
    """
    try:
        names = frame.inputFiles()
    except Exception:  # noqa: BLE001 (an error of the driver, which does not tell which files it reads)
        return
    places = [Path(unquote(urlsplit(name).path)) for name in names if name.startswith(_LOCAL)]
    found = []
    for place in places:
        with suppress(OSError):  # a file of another machine, whose links cannot be seen from here
            found.append((place, place.stat()))
    check_distinct(found)


@dataclass(frozen=True, slots=True)
class FrameFiles:
    """The files that a frame reads, as they were when it was made, and a look at those that are there now."""

    known: tuple[FileFacts, ...]
    look: Callable[[], tuple[FileFacts, ...] | None]

    def snapshot(self) -> str:
        """The metadata of the files in the file system; they are still the files that the frame reads.

        Raises:
            SourceError: they cannot be listed, or a file came, went or changed. If this is before a reservation, nothing

                           is spent.
        """
        try:
            found = self.look()
        except Exception:  # noqa: BLE001 (of the driver, of its gateway, of a file system)
            raise SourceError("source: its files can no longer be listed; check the path and the permissions") from None
        if found != self.known:
            raise SourceError("source: files came, went or changed since it was opened; open it again")
        return repr(self.known)


def files_of_path(session: Any, frame: Any, path: str) -> FrameFiles | None:
    """The files of a frame that was read from a path or pattern, with all folders below it; None when that is not sure."""
    reader = session.read.format("binaryFile").option("recursiveFileLookup", "true")
    return _files_of(session, frame, lambda _: reader.load(path))


def files_of_table(session: Any, frame: Any) -> FrameFiles | None:
    """The files of a table that is nothing else, and of which the driver's listing is up to date; None when not sure."""
    try:
        settings = [session.conf.get(f"spark.sql.files.{name}") for name in _SKIPPING]
        options = _relation(frame).options().mkString(_BETWEEN).lower()
    except Exception:  # noqa: BLE001 (Spark Connect has no gateway, another version may have other plans)
        return None
    if settings != ["false", "false"] or any(name.lower() in options for name in _SKIPPING):
        return None
    reader = session.read.format("binaryFile")
    return _files_of(session, frame, lambda index: reader.load(index.rootPaths().mkString(_BETWEEN).split(_BETWEEN)))


def _files_of(session: Any, frame: Any, listed: Callable[[Any], Any]) -> FrameFiles | None:
    """`listed` makes a frame of a format without a schema: a new listing by the driver's rules, and nothing else."""
    try:
        if _kind(frame._jdf.queryExecution().optimizedPlan()) != _RELATION:  # noqa: SLF001 (rules may add rows' filters)
            return None
        index, at_hand = _relation(frame).location(), session.sparkContext.master.startswith("local")

        def look() -> tuple[FileFacts, ...] | None:
            return _facts_in(_analyze(listed(index)).relation().location(), at_hand=at_hand)

        known = look()
        # The driver goes by its own listing: it would look for the end of a file where it was then.
        if known is None or known != _facts_in(index, at_hand=at_hand):
            return None
    except Exception:  # noqa: BLE001 (as above)
        return None
    return FrameFiles(known, look)


def _relation(frame: Any) -> Any:
    """The files that are all of a frame's plan, listed once.

    Raises:
        TypeError: the plan is another one.
    """
    plan = _analyze(frame)
    while _kind(plan) == _NAMED:
        plan = plan.child()
    if _kind(plan) != _RELATION or _kind(plan.relation()) != _FILES or _kind(plan.relation().location()) != _INDEX:
        raise TypeError
    return plan.relation()


def _analyze(frame: Any) -> Any:
    return frame._jdf.queryExecution().analyzed()  # noqa: SLF001 (the driver's public API does not show plans)


def _kind(thing: Any) -> str:
    return str(thing.getClass().getName())


def _facts_in(index: Any, *, at_hand: bool) -> tuple[FileFacts, ...] | None:
    return facts_of(index.allFiles().mkString(_BETWEEN), at_hand=at_hand)


def facts_of(statuses: str, *, at_hand: bool) -> tuple[FileFacts, ...] | None:
    """The metadata of files by name, from statuses with a zero byte between them; None when a status is incomplete.

    Args:
        statuses: as Hadoop writes them.
        at_hand: True if local files are files of this machine and of no other.

    Raises:
        OSError: a local file is not there.
    """
    facts = []
    for status in statuses.split(_BETWEEN) if statuses else ():
        said = _STATUS.search(status)
        if said is None or not int(said[3]):
            return None
        name, local = said[1], (0, 0)
        if name.startswith(_LOCAL):
            if not at_hand:
                return None  # another machine of the cluster may have another file of this name
            seen = Path(name.removeprefix(_LOCAL)).stat()
            local = seen.st_mtime_ns, seen.st_ino
        facts.append((name, int(said[2]), int(said[3]), tuple(_TAG.findall(status)), local))
    return tuple(sorted(facts))
