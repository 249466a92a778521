"""Tests that raise from a trace function run in a thread of their own.

An exception that is raised between two lines of an `except` block can leave it as the one being handled, for the rest of the
thread: whatever is raised in later tests would then have it as its context.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

TRACED = {"line", "call"}


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    callspec = getattr(pyfuncitem, "callspec", None)
    if callspec is None or not TRACED & {value for value in callspec.params.values() if isinstance(value, str)}:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    with ThreadPoolExecutor(1) as alone:
        alone.submit(pyfuncitem.obj, **{name: pyfuncitem.funcargs[name] for name in names}).result()
    return True
