"""The trace functions of these tests raise only where a program that is not traced could be interrupted."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType

import pytest

from .tracing import is_open_to_faults


def locks(lock: threading.RLock) -> None:  # type: ignore[valid-type]
    with lock:  # type: ignore[attr-defined]
        threading.get_ident()
        try:
            threading.get_ident()
        finally:
            threading.get_ident()


def stays_locked(may_raise: Callable[[FrameType], bool]) -> bool:
    """Whether an exception at some line of `locks` leaves its lock locked: every line that is visited fails in turn."""
    for nth in range(8):
        lock, visited = threading.RLock(), 0

        def trace(frame: FrameType, event: str, _: object, nth: int = nth) -> object:
            nonlocal visited
            if frame.f_code is not locks.__code__:
                return None
            if event == "line" and may_raise(frame):
                visited += 1
                if visited > nth:
                    raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            locks(lock)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        if lock._is_owned():  # type: ignore[attr-defined]
            return True
    return False


def test_no_lock_stays_locked_by_a_fault() -> None:
    assert not stays_locked(is_open_to_faults)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the line of a `with` is known to be visited twice up to 3.13")
def test_a_fault_on_any_line_would_leave_a_lock_locked() -> None:
    assert stays_locked(lambda _: True)
