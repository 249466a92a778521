"""Independent uniform random bits: the only source of randomness in discreet.

The bits are an AES-256-CTR keystream whose key comes from the operating system and is replaced from its own output
after every MiB, so a key recovered from memory reveals nothing about what was drawn before. That the keystream is
indistinguishable from true randomness is the one computational assumption under every guarantee of this library.

Nothing is shared: every `system_bits()` is a fresh stream. A stream may be used by several threads; a forked child
draws from a new key, however it was forked; a stream cannot be pickled or copied, because a copy would repeat the
original's bits.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, InternalError
from discreet.exact.processes import this_process

__all__ = ["Bits", "no_bits", "system_bits"]

_KEY_BYTES = 32
_COUNTER_BYTES = 16
_BLOCK = 1 << 20  # bytes drawn under one key
_ZEROS = memoryview(bytes(_BLOCK))


class Bits:
    """A stream of independent uniform bits, read from `read(count) -> bytes`.

    Only tests build one from another source; everything else calls `system_bits()`. A source that can write into
    memory of the caller gives that as `fill` too.
    """

    __slots__ = ("_fill", "_read")

    def __init__(self, read: Callable[[int], bytes], fill: Callable[[memoryview], None] | None = None) -> None:
        self._read = read
        self._fill = fill

    def read(self, count: int) -> bytes:
        """The next `count` bytes.

        Raises:
            OSError: if the source gives fewer bytes than asked for; nothing is made up.
        """
        block = self._read(count)
        if len(block) != count:
            raise OSError(f"the source of random bits gave {len(block)} bytes instead of {count}")
        return block

    def fill(self, array: NDArray[Any]) -> None:
        """Overwrites every bit of a contiguous integer array with a uniform one."""
        view = array.data.cast("B")
        if self._fill is not None:
            self._fill(view)
        else:
            view[:] = self.read(len(view))

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` independent uniform 64-bit words."""
        drawn = np.empty(count, dtype=np.uint64)
        if count:
            self.fill(drawn)
        return drawn

    def getrandbits(self, count: int) -> int:
        """A uniform integer in [0, 2**count)."""
        size = (count + 7) // 8
        return int.from_bytes(self.read(size), "little") >> (8 * size - count)

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound), exactly, for a Python integer `bound` ≥ 1 of any size."""
        if bound < 1:
            raise ArgumentError(f"bound={bound}: must be at least 1")
        length = (bound - 1).bit_length()
        while True:
            drawn = self.getrandbits(length)
            if drawn < bound:  # otherwise redraw: at most one redraw on average
                return drawn

    def below_array(self, bound: int, size: int) -> NDArray[np.int64]:
        """`size` independent uniform integers in [0, bound), exactly, for 1 ≤ bound ≤ 2**63."""
        if not 1 <= bound <= 1 << 63:
            raise ArgumentError(f"bound={bound}: must lie in [1, 2**63]")
        if bound == 1:
            return np.zeros(size, dtype=np.int64)
        shift = np.uint64(64 - (bound - 1).bit_length())
        drawn = self.words(size) >> shift
        wrong = np.flatnonzero(drawn >= np.uint64(bound))
        while wrong.size:
            again = self.words(wrong.size) >> shift
            drawn[wrong] = again
            wrong = wrong[again >= np.uint64(bound)]
        return drawn.view(np.int64)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("random bits cannot be pickled or copied: a copy would repeat them; call system_bits() there")


def no_bits() -> Bits:
    """The stream of what may not be random: whoever reads from it has a fault."""

    def refuse(_: int) -> bytes:
        raise InternalError("random bits were asked for where nothing is random")

    return Bits(refuse)


def system_bits() -> Bits:
    """A fresh stream keyed from the operating system.

    Raises:
        OSError: if the operating system gives no random bytes, before any bit of the stream was handed out.
    """
    stream = _Keystream()
    return Bits(stream.read, stream.fill)


class _Keystream:
    """AES-256-CTR, keyed from os.urandom now and again in every forked child, from its own output after every block.

    All state lives in one `_Keyed` that is replaced as a whole. A child of a fork therefore never waits for a lock that
    a thread of its parent held, and two of its threads that notice the fork at once hold two unrelated keys.
    """

    __slots__ = ("_keyed",)

    def __init__(self) -> None:
        self._keyed = _Keyed()

    def read(self, count: int) -> bytes:
        out = bytearray(count)
        self.fill(memoryview(out))
        return bytes(out)

    def fill(self, view: memoryview) -> None:
        while True:
            keyed = self._keyed
            if keyed.process != _process():
                keyed = self._keyed = _Keyed()
            keyed.fill(view)
            if keyed.process == _process():
                return  # otherwise a fork while the view was being filled made this the child: nothing of it is used


class _Keyed:
    """One process's cipher, with the lock of its threads."""

    __slots__ = ("_left", "_lock", "_stream", "process")

    def __init__(self) -> None:
        self.process = _process()  # before the key is drawn: a child of a fork in between does not use it
        self._lock = threading.Lock()
        seed = os.urandom(_KEY_BYTES + _COUNTER_BYTES)
        if len(seed) != _KEY_BYTES + _COUNTER_BYTES:
            raise OSError("the operating system's source of random bits gave too few bytes")
        self._rekey(seed)

    def _rekey(self, seed: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        cipher = Cipher(algorithms.AES256(seed[:_KEY_BYTES]), modes.CTR(seed[_KEY_BYTES:]))
        self._stream = cipher.encryptor()
        self._left = _BLOCK

    def fill(self, view: memoryview) -> None:
        with self._lock:
            done = 0
            while done < len(view):
                if not self._left:
                    self._rekey(self._stream.update(_ZEROS[: _KEY_BYTES + _COUNTER_BYTES]))
                part = min(len(view) - done, self._left)
                self._left -= part
                self._write(view[done : done + part])
                done += part

    def _write(self, view: memoryview) -> None:
        """The next len(view) bytes. Some versions of the cipher want 15 bytes of room behind what they write."""
        direct = len(view) - _COUNTER_BYTES
        if direct > 0:
            self._stream.update_into(_ZEROS[:direct], view)
        direct = max(direct, 0)
        view[direct:] = self._stream.update(_ZEROS[: len(view) - direct])


def _process() -> tuple[tuple[bytes, int], int]:
    """The process that draws. The parent's id serves if no mark can be cleared: a fork outside Python, on an old kernel."""
    return this_process(), os.getppid()
