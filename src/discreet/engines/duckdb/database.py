"""A private DuckDB database: opened when it is needed, used by several threads, left behind by forked children."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from weakref import finalize

import duckdb

from discreet.engines.base import unreadable
from discreet.engines.resources import Limits
from discreet.engines.spill import SpillFolder, new_spill_folder, remove_spill_folder
from discreet.exact.processes import this_process

__all__ = ["Database"]

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    # The rows of a frame are not known beforehand; otherwise they, not the categories, may fill the hash table.
    "disabled_optimizers": "build_side_probe_side",
    "perfect_ht_threshold": 16,  # bits of the keys up to which groups are counted in an array: some MB for each thread
}


@dataclass(slots=True)
class _Opened:
    """A connection, the folder to which it may spill, and how many cursors are in use; `retired` when no new one may be."""

    connection: duckdb.DuckDBPyConnection
    folder: SpillFolder
    users: int = 0
    retired: bool = False


@dataclass(slots=True)
class _Held:
    """The state of a database in one process: at most one open connection, changed under the lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    opened: list[_Opened] = field(default_factory=list)


class Database:
    """A private database in memory, opened when it is needed; every statement has a separate cursor.

    Threads share it. A forked child opens another one: the threads of the driver stay behind in the parent. It is gone
    with `close`, with this object, or before the interpreter ends, whichever comes first, and with it what it spilled: the
    driver prints on stderr when a connection outlives the interpreter, as it does in a daemon thread or behind a registered
    frame.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held = {this_process(): _Held()}
        finalize(self, _close, self._held)

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A new cursor; every error that the driver raises inside becomes the constant `unreadable`.

        Some errors make a database unusable: after such an error the next cursor belongs to a new database, and this one is
        gone when the threads that still use it are done.
        """
        held = self._of_this_process()
        with held.lock:
            if not held.opened:
                held.opened.append(_open_database(self._limits))
            opened = held.opened[-1]
            opened.users += 1
        try:
            with opened.connection.cursor() as cursor:
                cursor.execute("SET enable_progress_bar = false")
                yield cursor
        except duckdb.Error:
            _retire(held, opened)
            raise unreadable() from None
        finally:
            _give_back(held, opened)

    def retire(self) -> None:
        """The next cursor belongs to a new database; this one is gone when nobody uses it any more."""
        held = self._of_this_process()
        for opened in [*held.opened]:
            _retire(held, opened)

    def close(self) -> None:
        """The database is gone, with whatever it spilled, as soon as no other thread uses it."""
        self.retire()

    def _of_this_process(self) -> _Held:
        process = this_process()
        if process not in self._held:
            for held in [*self._held.values()]:
                _leave_behind(held)
        return self._held.setdefault(process, _Held())  # in one step: all threads of a new child get the same


def _open_database(limits: Limits) -> _Opened:
    folder = new_spill_folder(limits.spill)
    config = {**_CONFIG, "temp_directory": folder.path}
    if limits.memory is not None:
        config["memory_limit"] = limits.memory
    if limits.threads is not None:
        config["threads"] = limits.threads
    try:
        return _Opened(duckdb.connect(":memory:", config=config), folder)
    except BaseException:
        remove_spill_folder(folder)
        raise


def _retire(held: _Held, opened: _Opened) -> None:
    with held.lock:
        opened.retired = True
        if opened in held.opened:
            held.opened.remove(opened)
        unused = opened.users == 0
    if unused:
        _end(opened)


def _give_back(held: _Held, opened: _Opened) -> None:
    with held.lock:
        opened.users -= 1
        unused = opened.retired and opened.users == 0
    if unused:
        _end(opened)


def _end(opened: _Opened) -> None:
    opened.connection.close()
    remove_spill_folder(opened.folder)


def _close(holders: dict[tuple[bytes, int], _Held]) -> None:
    for process, held in [*holders.items()]:
        if process != this_process():
            _leave_behind(held)
        for opened in [*held.opened]:
            _retire(held, opened)


def _leave_behind(held: _Held) -> None:
    """The connections of a parent are never freed here: to free one is to wait for threads that this process has not."""
    for opened in held.opened:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(opened.connection))
    held.opened.clear()
