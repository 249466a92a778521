"""What a process that was forked can still read with: found out before anything is charged.

A fork copies memory but not threads. A library that hands work to threads of its own waits for ever in the child for those
that stayed behind in the parent.
"""

from __future__ import annotations

import os
import sys
import threading

from discreet.errors import SourceError

__all__ = ["check_polars", "check_process"]

_IMPORTED = os.getpid()  # the process that loaded this module; a forked child has another number
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
    return os.getpid() != _IMPORTED or (started is not None and started.parent_process() is not None)


def _ask_polars(answered: threading.Event) -> None:
    import polars as pl

    pl.DataFrame({"a": [1]}).write_csv()
    answered.set()


def check_process(process: int, what: str) -> None:
    """This is the process that opened the source.

    Raises:
        SourceError: it is a child of it; nothing was spent.
    """
    if process != os.getpid():
        raise SourceError(f"source: {what} belongs to the process that opened it; open a session in each process")
