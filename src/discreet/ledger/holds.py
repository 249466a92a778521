"""Who is at work on a reservation, and whether that process still lives: a lock that the system drops when it ends.

An attempt holds the lock of a hidden folder next to the ledger from before its first entry until it has ended. The name of
the folder is random and in the entry, so that no later process can be taken for its holder. Nothing about privacy depends
on the lock (docs/proofs/attempts.md): it only tells a process that died from one that is still at work.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.exact.files import discard, draft_in, is_held, swept

__all__ = ["Holds"]


class Holds:
    """The locks of the attempts of one ledger: of a file in its `folder`, of a ledger in memory in its process."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._names: set[str] = set()

    @contextmanager
    def held(self) -> Iterator[str]:
        """The name of a lock that this process has until the block ends, however it ends.

        Raises:
            OSError: the folder of the ledger cannot be written.
        """
        if self._folder is None:
            name = secrets.token_hex(8)
            self._names.add(name)
            try:
                yield name
            finally:
                self._names.discard(name)
            return
        swept(self._folder)
        draft = draft_in(self._folder)
        try:
            yield draft.path.name
        finally:
            with suppress(OSError):  # whatever is left is removed by the next process, and says no more
                discard(draft)

    def alive(self, name: str) -> bool | None:
        """True if the process that took this lock still has it; None where the system has no such locks.

        An empty name is nobody's: the name of an attempt of discreet 0.1.0, which took no locks.
        """
        if not name or name != Path(name).name:
            return False
        return name in self._names if self._folder is None else is_held(self._folder / name)
