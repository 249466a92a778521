"""The bytes of a CSV file as UTF-8: unpacked where its name says that it is packed, decoded where it has another encoding.

Decoding is by the character, and no character of a cell can take a line end with it: in the encodings that are read every
byte is a character, or every two bytes are a unit of UTF-16, whatever stands before them.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.engines.base import unreadable
from discreet.errors import SourceError

__all__ = ["PACKED", "utf8_blocks"]

PACKED = (".gz", ".zst")
"""The endings of files that are unpacked while they are read."""

_WINDOW = 2**27
"""Bytes. A file that needs more memory than this to be unpacked is refused, before or while it is read."""


def utf8_blocks(path: Path, encoding: str, size: int) -> Iterator[bytes]:
    """The file in blocks of about `size` bytes.

    Raises:
        SourceError: the file is not packed as its name says, is cut, or cannot be read any more.
    """
    faults: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error, *_zstd_errors())
    decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)(errors="replace")
    try:
        with _unpack(path) as file:
            while block := file.read(size):
                yield block if decoder is None else decoder.decode(block).encode()
    except faults:
        raise unreadable() from None
    if decoder is not None:
        yield decoder.decode(b"", final=True).encode()


@contextmanager
def _unpack(path: Path) -> Iterator[Any]:
    if path.suffix.lower() == ".gz":
        with gzip.open(path, "rb") as file:
            yield file
    elif path.suffix.lower() == ".zst":
        try:
            import zstandard
        except ImportError:
            raise SourceError("source: .zst files need the package 'zstandard'; pip install 'discreet[zstd]'") from None
        with (
            path.open("rb") as packed,
            zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(packed, read_across_frames=True) as file,
        ):
            yield file
    else:
        with path.open("rb") as file:
            yield file


def _zstd_errors() -> tuple[type[Exception], ...]:
    try:
        import zstandard
    except ImportError:
        return ()
    return (zstandard.ZstdError,)
