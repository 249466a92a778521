"""Paths as people give them: text that can be a path, files that can be read at once, folders that can be written.

A fault of a path is found when it is given, before anything is spent, and reported in one sentence.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from discreet.errors import ArgumentError, printed, without_secrets
from discreet.exact.files import try_writing

__all__ = ["content_of", "quote_path", "reason", "require_path", "require_writable", "same_place", "stands"]

_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


def require_path(path: object, argument: str) -> Path:
    """The path that was given as `argument`.

    Raises:
        ArgumentError: it is not a text, is empty, or could not be written down as the name of a file anywhere else: it
            contains a null character, or is not UTF-8.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise ArgumentError(f"{argument}={printed(path)}: must be the path of a file or folder")
    if without_secrets(str(path)) != str(path):
        raise ArgumentError(f"{argument}={quote_path(path)}: must be the path of a file or folder, not a URL")
    try:
        usable = "\0" not in str(path) and bool(str(path).encode("utf-8"))
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise ArgumentError(f"{argument}={quote_path(path)}: must be the path of a file or folder, in UTF-8 and without \\0")
    return Path(path)


def stands(path: Path, argument: str) -> bool:
    """True if there is anything at the path.

    Raises:
        ArgumentError: that cannot be determined, because it is too long or a folder above it cannot be entered.
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as wrong:
        raise ArgumentError(f"{argument}={quote_path(path)}: cannot be used ({reason(wrong)}); check the path") from None
    return True


def same_place(one: Path, other: Path) -> bool:
    """True if both paths name one place in one folder: what is moved to the second replaces what was moved to the first."""
    return one.parent.resolve() / one.name == other.parent.resolve() / other.name


def content_of(path: Path, most: int = -1) -> bytes:
    """The first `most` bytes of a regular file, or all of them. Anything but a regular file is refused at once.

    Raises:
        OSError, ValueError: there is no such file, or it cannot be read.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # before it is opened, which alone may do something to a device
        raise OSError(errno.EINVAL, "is not a regular file")
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file")
        return file.read(most)


def require_writable(folder: Path, argument: str) -> None:
    """Files can be written into the folder, which is made for that when it is missing: it was tried, and nothing is left.

    Raises:
        ArgumentError: they cannot.
    """
    try:
        try_writing(folder)
    except (OSError, ValueError) as wrong:
        raise ArgumentError(
            f"{argument}={quote_path(folder)}: cannot be written ({reason(wrong)}); choose another folder"
        ) from None


def quote_path(path: str | Path) -> str:
    """The path in quotes, as it can be printed anywhere."""
    return "'" + without_secrets(str(path)).encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0") + "'"


def reason(error: OSError | ValueError) -> str:
    """The fault that the system reports, without the path."""
    return getattr(error, "strerror", None) or "no usable path"
