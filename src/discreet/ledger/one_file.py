"""The rules for the file of a ledger: one regular file with one name, its journal next to it, for its owner alone.

SQLite looks for the journal of an interrupted transaction next to the *name* by which a file is opened. Under another name
the journal is not found, and half-written pages are read as if they were complete: an acknowledged charge may be lost.
Symbolic links are resolved before a ledger is opened; a second hard link, and a file mounted alone, are refused.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from discreet.exact.files import PREFIX

__all__ = ["JOURNAL", "RESTORE", "journal_stands", "mount_problem", "name_problem", "rights_problem"]

JOURNAL = "-journal"
RESTORE = "restore the newest copy, and compare its head with your last release"
"""The next step after any damage: nothing is repaired."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_MOUNTS = "/proc/self/mountinfo"


def name_problem(path: Path) -> str:
    """The fault of a ledger file, or of the journal next to it, before it is opened; empty when there is none.

    Raises:
        OSError: one of them cannot be looked at.
    """
    seen = os.lstat(path)
    if not stat.S_ISREG(seen.st_mode):
        return "is not a file; give the path of a ledger file"
    if seen.st_size == 0:
        return "is empty, and a ledger never is: restore the newest copy, or give another path if it never was one"
    if seen.st_nlink > 1 and _names(path, seen) > 1:
        return (
            f"has {seen.st_nlink} names (hard links), and after a crash its journal is next to only one of them, so that a "
            "charge could be lost: keep the name that was always used, and remove the others, which "
            f"`find / -xdev -inum {seen.st_ino}` lists; nothing was written"
        )
    return _journal_problem(path)


def _names(path: Path, seen: os.stat_result) -> int:
    """The number of names of the file. One that a process left when it died while it created the ledger is removed."""
    for one in _left_names(path):
        with suppress(OSError):
            if os.path.samestat(one.lstat(), seen):
                one.unlink()
    return os.lstat(path).st_nlink


def _left_names(path: Path) -> Iterator[Path]:
    """Where processes make ledgers before these have their names: what is in drafts, and what discreet 0.1.0 put beside."""
    if not set(path.name) & set("*?["):
        yield from path.parent.glob(f".{path.name}." + "[0-9a-f]" * 16 + ".new")
    for draft in path.parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # no folder, or its process has finished and removed it since it was listed
            yield from draft.iterdir()


def _journal_problem(path: Path) -> str:
    journal = path.with_name(path.name + JOURNAL)
    try:
        seen = os.lstat(journal)
    except FileNotFoundError:
        return ""
    if not stat.S_ISREG(seen.st_mode) or seen.st_nlink > 1:
        return f"has a journal '{journal.name}' that is a link or no file: only SQLite may write there; restore both"
    return ""


def journal_stands(path: Path) -> bool:
    """True if there is anything where the journal of a ledger is, or would be.

    Raises:
        OSError: that cannot be determined, or there can be none, because its name is too long.
    """
    try:
        os.lstat(path.with_name(path.name + JOURNAL))
    except FileNotFoundError:
        return False
    return True


def rights_problem(path: Path) -> str:
    """The fault of the rights to a ledger file, which holds the key of the hashes of its sources."""
    if os.name == "nt" or not path.stat().st_mode & _OTHERS:
        return ""
    remedy = f"chmod 600 {shlex.quote(str(path))}"
    return f"can be read or written by others than its owner: run `{remedy}`, then try again; nothing was written"


def mount_problem(path: Path) -> str:
    """The fault of a file that is itself a mount, as containers mount single files; its journal is not next to it."""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        mounts = Path(_MOUNTS).read_bytes().splitlines()
    except OSError:
        return ""
    if _escape_mount(path) not in {fields[4] for fields in map(bytes.split, mounts) if len(fields) > 4}:
        return ""
    return "is mounted as a single file, so that its journal would not be next to it: mount its folder instead"


def _escape_mount(path: Path) -> bytes:
    """The path as the kernel lists it."""
    place = os.fsencode(path)
    for char in b"\\ \t\n":
        place = place.replace(bytes([char]), b"\\%03o" % char)
    return place
