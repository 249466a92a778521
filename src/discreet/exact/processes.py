"""Which process this is, whatever ids the system gives out again, and what a forked child cannot use.

A process id is not enough, because a system uses it again. So the process also carries a random mark in a page of memory
of its own. Linux (4.14 and later) clears that page in every child, however the child was forked; elsewhere Python
clears it after `os.fork`. A process that finds its page cleared draws a new mark. A copy of a whole machine or of a
stopped process (a snapshot that is started twice) has the same mark, and nothing in it can notice.

A fork copies memory but not threads. A library that hands work to its own threads waits for ever in the child, because the
threads stayed behind in the parent. So such libraries are checked before anything is charged.
"""

from __future__ import annotations

import mmap
import os
import pkgutil
import sys
import threading
from contextlib import suppress
from functools import cache

from discreet.errors import SourceError
from discreet.exact.on_demand import turn_to_load

__all__ = ["check_polars", "check_process", "load", "this_process"]

_MARK_BYTES = 24
_SET = b"\1"  # before the mark: a cleared page is told from one whose mark happens to be zero
_WIPE_ON_FORK = 18  # MADV_WIPEONFORK of Linux; Python has no name for it


def this_process() -> tuple[bytes, int]:
    """The mark of this process and its id: equal while nothing was forked, different in every child.

    Raises:
        OSError: if the operating system gives no random bytes for a new mark.
    """
    if _PAGE[:1] != _SET:
        _draw_mark()
    return _PAGE[1 : 1 + _MARK_BYTES], os.getpid()


def _draw_mark() -> None:
    """The page has a mark. If several threads ask at once, the first one draws it."""
    turn = _TURN.lock
    alone = turn.acquire(timeout=_TURN_SECONDS)  # in a child that C code forked, nobody might ever give it back
    try:
        if _PAGE[:1] == _SET:
            return
        mark = os.urandom(_MARK_BYTES)
        if len(mark) != _MARK_BYTES:
            raise OSError("the operating system's source of random bits gave too few bytes")
        _PAGE[: 1 + _MARK_BYTES] = _SET + mark
    finally:
        if alone:
            turn.release()


def _private_page() -> mmap.mmap:
    """A cleared page that is not shared with children and that the kernel clears in them, where it can."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, mmap.PAGESIZE)  # a system without fork
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError, AttributeError):  # an old kernel, or one that is not Linux: `_forget` stays
        page.madvise(_WIPE_ON_FORK)
    return page


def _forget() -> None:
    _TURN.lock = threading.Lock()
    _PAGE[:1] = b"\0"


class _Turn:
    """The thread that draws the mark."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


_TURN = _Turn()
_TURN_SECONDS = 1.0
# The one thing here that lasts: memory of this process, which its children must not inherit.
_PAGE = _private_page()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

_IMPORTED = this_process()  # the one that loaded this module; its forked children are others
_PATIENCE = 10.0  # seconds; the answer takes less than a millisecond where the threads are there


def check_polars() -> None:
    """The threads of Polars answer in this process.

    Only children are asked: in any other process the question itself would start the threads, which no child has then.

    Raises:
        SourceError: they do not; nothing was spent.
    """
    if "polars" not in sys.modules or not _is_child():
        return
    answered = threading.Event()
    threading.Thread(target=_ask_polars, args=(answered,), daemon=True).start()
    if not answered.wait(_PATIENCE):
        raise SourceError(
            "source: Polars does not answer in this process, which was forked after its threads had been started; start "
            "processes with multiprocessing.get_context('spawn')"
        )


def _is_child() -> bool:
    started = sys.modules.get("multiprocessing")
    return this_process() != _IMPORTED or (started is not None and started.parent_process() is not None)


def _ask_polars(answered: threading.Event) -> None:
    import polars as pl

    pl.DataFrame({"a": [1]}).write_csv()
    answered.set()


def check_process(process: tuple[bytes, int], what: str) -> None:
    """This is the process, as `this_process` named it, that opened the source.

    Raises:
        SourceError: it is a child of it; nothing was spent.
    """
    if process != this_process():
        raise SourceError(f"source: {what} belongs to the process that opened it; open a session in each process")


class _Loading:
    """The process of each thread that is importing: what it imports stays locked for ever in a child."""

    def __init__(self) -> None:
        self.processes: list[tuple[bytes, int]] = []  # which threads change in one step, unlike a number


_LOADING = _Loading()


def load(*packages: str) -> None:
    """The packages and all modules in them are imported, if other threads run, so that later forks find them there.

    Raises:
        SourceError: this process was forked while its parent did so; nothing was spent.
    """
    process = this_process()
    if any(other != process for other in [*_LOADING.processes]):
        raise SourceError(
            "source: this process was forked while a thread of its parent was loading what a release needs; make a release "
            "before threads and processes are started, or start processes with multiprocessing.get_context('spawn')"
        )
    if threading.active_count() > 1:
        _LOADING.processes.append(process)
        try:
            for package in packages:
                _load(package)
        finally:
            _LOADING.processes.remove(process)


@cache
def _load(package: str) -> None:
    found = turn_to_load(package)
    if package.startswith("discreet."):
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            turn_to_load(module.name)
