"""Things that several threads use and one of them closes: the last user closes them."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

from discreet.exact.processes import this_process

__all__ = ["InUse"]


class _Closed(Protocol):
    def close(self) -> object: ...


class InUse:
    """A context for each use of some things. `end` closes the things in their order, or the last use after `end` does.

    The process of each use is written down: those of a parent's threads never end in a child. There is no lock, which such
    a thread might hold for ever there; two that end at once may both close the things, and closing twice is fine.
    """

    def __init__(self, *things: _Closed) -> None:
        self._things, self._ended = things, False
        self._users: list[tuple[bytes, int]] = []

    def __enter__(self) -> None:
        self._users.append(this_process())

    def __exit__(self, *_: object) -> None:
        with suppress(ValueError):  # of a child that was forked in the middle of a use
            self._users.remove(this_process())
        if self._ended:
            self._close_unused()

    def end(self) -> None:
        """The things are closed, or the last user will close them."""
        self._ended = True
        self._close_unused()

    def _close_unused(self) -> None:
        if this_process() not in self._users:
            for thing in self._things:
                thing.close()
