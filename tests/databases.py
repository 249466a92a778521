"""DuckDB databases that tests lend one another: to open one takes longer than most of what a test asks of it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from discreet.engines.duckdb.database import _Opened
    from discreet.engines.resources import Limits

__all__ = ["lent_databases"]

_OPENED: list[_Opened] = []
"""Databases of this process that nobody uses."""
_ATTACHED = "SELECT count(*) FROM duckdb_databases()"
_OWN = 3  # its own three: memory, system and temporary


def _forget() -> None:
    """A forked child leaves them to its parent: to free one is to wait for threads that it has not."""
    for opened in _OPENED:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(opened.connection))
    _OPENED.clear()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def lent_databases() -> Iterator[None]:
    """A database that a session gives back serves the next session with usual limits, if nothing is attached to it.

    Each statement has a cursor of its own, whose views and tables end with it. Tests of engines and of failures do without:
    there the database itself matters.
    """
    from discreet.engines.duckdb import database
    from discreet.engines.resources import NO_LIMITS

    really_open, really_end, lent = database._open_database, database._end, set[int]()

    def open_or_lend(limits: Limits) -> _Opened:
        opened = _OPENED.pop() if limits == NO_LIMITS and _OPENED else really_open(limits)
        if limits == NO_LIMITS:
            lent.add(id(opened))
        return opened

    def take_back(opened: _Opened) -> None:
        if id(opened) in lent and _is_clean(opened):
            opened.retired = False
            _OPENED.append(opened)
        else:
            really_end(opened)
        lent.discard(id(opened))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "_open_database", open_or_lend)
        patch.setattr(database, "_end", take_back)
        yield
    while _OPENED:
        really_end(_OPENED.pop())


def _is_clean(opened: _Opened) -> bool:
    import duckdb

    try:
        return opened.connection.execute(_ATTACHED).fetchall() == [(_OWN,)]
    except duckdb.Error:
        return False
