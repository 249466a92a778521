"""The releases of a folder and of its sub-folders, and a sentence for each document that is none.

A folder may hold anything: documents that were cut or changed, JSON of others, links, pipes. Nothing but regular files
called release.json is read, links are not followed, and one bad document hides no good one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import ArgumentError, DiscreetError
from discreet.exact.given_paths import reason, stands
from discreet.releases.document import Release
from discreet.releases.files import DOCUMENT

__all__ = ["MADE_UP", "MOST_RELEASES", "Found", "LeftOut", "Shelf", "shelf_of"]

MOST_RELEASES = 10_000
"""A page of more releases would be of no use to anybody, and takes minutes to make."""

MADE_UP = (
    DiscreetError, KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, StopIteration, RuntimeError,
)  # fmt: skip
"""The errors that a document may raise whose digest fits but that discreet has not written."""

_MOST_BYTES = 2**28
_MOST_DEPTH = 12
_FILES = frozenset({".csv", ".html", ".json", ".parquet", ".xlsx", ".yaml"})
_MOST_FILES = 24


@dataclass(frozen=True, slots=True)
class Found:
    """A release with the place of its files.

    Args:
        release: the release.
        place: its folder, relative to the folder of the page, with "/" between names; empty for that folder itself.
        files: the names of the files next to its document that somebody may want, sorted; its report first.
        copies: the places of further copies of the same document.
    """

    release: Release
    place: str
    files: tuple[str, ...]
    copies: tuple[str, ...] = ()

    @property
    def report(self) -> str | None:
        """The name of its page, if it has one."""
        return "report.html" if "report.html" in self.files else None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A document that is not shown.

    Args:
        place: its path, relative to the folder.
        why: the reason: "link", "not a file", "too large", "too many", or what the error says.
    """

    place: str
    why: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """The content of a folder: its releases, in the order of their folders, and the documents that are not shown."""

    releases: tuple[Found, ...]
    left_out: tuple[LeftOut, ...]


def shelf_of(folder: Path) -> Shelf:
    """The releases of the folder and of its sub-folders.

    Raises:
        ArgumentError: it is not a folder, cannot be read, or has no release in it.
    """
    if not stands(folder, "programme") or not folder.is_dir():
        raise ArgumentError(f"programme '{folder}': is not a folder; give the folder with the results of `discreet release`")
    found: dict[str, Found] = {}
    left_out: list[LeftOut] = []
    for place in _documents(folder):
        shown = place.relative_to(folder).as_posix()
        try:
            one = _read_release(place, folder) if len(found) < MOST_RELEASES else LeftOut(shown, "too many")
        except OSError as wrong:
            one = LeftOut(shown, reason(wrong))
        if isinstance(one, LeftOut):
            left_out.append(one)
        else:
            first = found.setdefault(one.release.digest, one)
            if first is not one:
                found[one.release.digest] = Found(first.release, first.place, first.files, (*first.copies, one.place))
    if not found:
        more = f"; '{left_out[0].place}' is not shown ({left_out[0].why})" if left_out else ""
        raise ArgumentError(
            f"programme '{folder}': no release.json there{more}; give the folder with the results of `discreet release`"
        )
    return Shelf(tuple(found.values()), tuple(left_out))


def _documents(folder: Path) -> Iterator[Path]:
    """Everything called release.json, folders in the order of their names; linked folders are not entered."""
    for where, folders, files in os.walk(folder, followlinks=False):
        place = Path(where)
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        if len(place.relative_to(folder).parts) >= _MOST_DEPTH:
            folders.clear()
        if DOCUMENT in files or DOCUMENT in folders:
            yield place / DOCUMENT


def _read_release(place: Path, folder: Path) -> Found | LeftOut:
    """The release of a document, or why there is none. Raises OSError."""
    shown, found = place.relative_to(folder).as_posix(), os.lstat(place)
    why = "link" if stat.S_ISLNK(found.st_mode) else "" if stat.S_ISREG(found.st_mode) else "not a file"
    why = why or ("too large" if found.st_size > _MOST_BYTES else "")
    if why:
        return LeftOut(shown, why)
    try:
        release = Release.load(place)
        release.shown(0)  # a document with a digest that fits may lack what every release has
        where = place.parent.relative_to(folder).as_posix()
        return Found(release, "" if where == "." else where, _list_files(place))
    except DiscreetError as wrong:
        return LeftOut(shown, str(wrong))


def _list_files(place: Path) -> tuple[str, ...]:
    """The regular files next to a document that are results, the page first, then tables by name; no links."""
    with os.scandir(place.parent) as entries:
        names = [one.name for one in entries if one.is_file(follow_symlinks=False) and Path(one.name).suffix in _FILES]
    known = sorted(names, key=lambda name: (name != "report.html", name != "table.csv", name))
    return tuple(known[:_MOST_FILES])
