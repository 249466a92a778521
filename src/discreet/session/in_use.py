"""Things that several threads use and one of them closes: the last user closes them."""

from __future__ import annotations

import threading
from typing import Protocol

__all__ = ["InUse"]


class _Closed(Protocol):
    def close(self) -> object: ...


class InUse:
    """A context for each use of some things. `end` closes the things in their order, or the last use after `end` does."""

    def __init__(self, *things: _Closed) -> None:
        self._things, self._lock = things, threading.Lock()
        self._users, self._ended = 0, False

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            last = self._ended and self._users == 0
        if last:
            self._close()

    def _close(self) -> None:
        for thing in self._things:
            thing.close()

    def end(self) -> None:
        """The things are closed, or the last user will close them."""
        with self._lock:
            self._ended = True
            unused = self._users == 0
        if unused:
            self._close()
