"""Files and folders that are complete or do not exist, durably, and the drafts in which they are made.

Everything is first made in a draft: a hidden folder next to its final place, which the process that made it keeps locked.
The lock is a system lock on the folder itself. It ends with its process, however the process ends, and a later process with
the same number does not hold it. So a draft without a lock belongs to a dead process, and the next process that writes there
removes it. If folders cannot be locked, no draft is known to be dead, and none is removed.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

if sys.platform != "win32":
    import fcntl

__all__ = [
    "PREFIX",
    "Draft",
    "create_file",
    "discard",
    "draft_in",
    "find_abandoned",
    "in_draft",
    "is_held",
    "replace_file",
    "swept",
    "sync_folder",
    "try_writing",
]

PREFIX = ".discreet-"
"""The beginning of the names of drafts."""

_SUFFIX = ".draft"  # those that discreet 0.1.0 left have none, and no lock that would tell whether they are needed
_TRIED = "x" * 80 + ".parquet"  # in its draft as long a path as any that will be written
_DEVICES = Path("/dev")
_UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS}
_LOOKS, _PAUSE = 20, 0.01  # for as long as it takes somebody else to look whether a draft is held, or to remove it


class _Held:
    """A lock on a draft: the draft stays locked while this object is held."""


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A folder for what is not finished, locked until `let_go` is called or nobody has the draft any more."""

    path: Path
    let_go: Callable[[], object]
    held: _Held


# Drafts -------------------------------------------------------------------------------------------------------------------


def draft_in(folder: Path, prefix: str = PREFIX) -> Draft:
    """A new, empty folder of mode 0700 inside `folder`, locked by this process.

    Raises:
        OSError: `folder` is missing or cannot be written.
    """
    import tempfile

    while True:
        path = Path(tempfile.mkdtemp(_SUFFIX, prefix, folder))
        try:
            descriptor = _lock(path)
        except (BlockingIOError, FileNotFoundError):
            continue  # it was taken for an abandoned one in the instant in which it was not locked yet
        except BaseException:
            with suppress(OSError):
                path.rmdir()
            raise
        return _keep(path, descriptor)


def _keep(path: Path, descriptor: int | None) -> Draft:
    held = _Held()
    finalizer = (os.close, descriptor) if descriptor is not None else (int,)
    return Draft(path, weakref.finalize(held, *finalizer), held)  # which closes once, whoever asks first


def _lock(path: Path) -> int | None:
    """A descriptor that holds the lock of the folder `path`; None where folders cannot be locked.

    Raises:
        BlockingIOError: another has locked it.
        FileNotFoundError: it is gone.
    """
    if sys.platform == "win32":
        return None
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.lstat(path)  # names are random: if it is there, it is this one
    except (BlockingIOError, FileNotFoundError):
        os.close(descriptor)
        raise
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def discard(draft: Draft | None) -> None:
    """The draft is gone, if there is one and it can be removed, and its lock in any case."""
    if draft is not None:
        shutil.rmtree(draft.path, ignore_errors=True)
        draft.let_go()


@contextmanager
def in_draft(folder: Path) -> Iterator[Path]:
    """A folder inside `folder` for what is moved out of it when it is finished; it is gone afterwards.

    Raises:
        OSError: as `draft_in`.
    """
    swept(folder)
    draft = draft_in(folder)
    try:
        yield draft.path
    finally:
        discard(draft)


def find_abandoned(folder: Path, prefix: str = PREFIX) -> Iterator[Draft]:
    """The drafts in `folder` whose process has died, each locked while it is looked at; to be discarded or let go.

    None where `folder` cannot be read. What bears such a name without being a folder is not looked at.
    """
    name = re.compile(re.escape(prefix) + "[a-z0-9_]{8}" + re.escape(_SUFFIX))
    try:
        found = sorted(path for path in folder.iterdir() if name.fullmatch(path.name))
    except OSError:
        return
    for path in found:
        try:
            descriptor = _lock(path)
        except OSError:
            continue
        if descriptor is not None:
            draft = _keep(path, descriptor)
            try:
                yield draft
            finally:
                draft.let_go()


def is_held(path: Path) -> bool | None:
    """True if a process that lives holds the draft at `path`; None where folders cannot be locked, so that nobody knows.

    A draft that is gone is held by nobody: its process removes it only when it has finished.
    """
    for _ in range(_LOOKS):
        try:
            descriptor = _lock(path)
        except BlockingIOError:
            time.sleep(_PAUSE)  # another process may only be looking, too
        except OSError:
            return False if not os.path.lexists(path) else None
        else:
            if descriptor is None:
                return None
            os.close(descriptor)
            return False
    return True


def swept(folder: Path, prefix: str = PREFIX) -> None:
    """The drafts of dead processes in `folder` are gone, as far as they can be removed."""
    for draft in find_abandoned(folder, prefix):
        discard(draft)


# What is made in them -----------------------------------------------------------------------------------------------------


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """The file that `write` makes is at `path`, durably, in one step. A link at `path` is replaced, never followed.

    Raises:
        OSError: the folder cannot be written, or a folder or a device stands at `path`.
    """
    _require_no_device(path)
    with in_draft(path.parent) as draft:
        _write(draft / "whole", write).replace(path)
    sync_folder(path.parent)


def create_file(path: Path, write: Callable[[Path], object]) -> None:
    """As `replace_file`, where nothing stands yet.

    Raises:
        FileExistsError: something does, be it a link that leads nowhere.
        OSError: the folder cannot be written.
    """
    _require_no_device(path)
    with in_draft(path.parent) as draft:
        whole = _write(draft / "whole", write)
        try:
            os.link(whole, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            if os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
            whole.rename(path)
    sync_folder(path.parent)


def _require_no_device(path: Path) -> None:
    """A device is not a file that a new one may replace, and neither is a name among the devices, such as /dev/stdout."""
    try:
        device = stat.S_IFMT(os.lstat(path).st_mode) in {stat.S_IFCHR, stat.S_IFBLK}
    except FileNotFoundError:
        device = False
    if device or path.parent.resolve() == _DEVICES:
        raise OSError(errno.EINVAL, "is a device, or where the system has its devices", str(path))


def _write(path: Path, write: Callable[[Path], object]) -> Path:
    write(path)  # in a folder that is private; its mode is the one that the umask of the process leaves to new files
    with path.open("r+b") as file:
        os.fsync(file.fileno())
    return path


def make_folder(folder: Path) -> list[Path]:
    """The folder is there, with those above it; gives the ones that were made, the innermost first.

    Raises:
        OSError: one cannot be made, and none was.
    """
    missing = [place for place in (folder, *folder.parents) if not os.path.lexists(place)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        _remove(missing)
        raise
    return missing


def _remove(folders: list[Path]) -> None:
    for place in folders:
        with suppress(OSError):
            place.rmdir()


def try_writing(folder: Path) -> None:
    """Files can be written into `folder`: one was, and is gone again, with all the folders that were made for it.

    Raises:
        OSError: they cannot.
    """
    fresh = make_folder(folder)
    try:
        with in_draft(folder) as draft:
            _write(draft / _TRIED, lambda path: path.write_bytes(b"\0" * 4096))
    finally:
        _remove(fresh)


def sync_folder(folder: Path) -> None:
    """The names in `folder` are on disk; a system that cannot open or sync folders does this by itself."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)
