"""What the tests of ledgers and releases under fire share; tests that raise from a trace function run in their own thread.

An exception that is raised between two lines of an `except` block can leave it as the one being handled, for the rest of the
thread: whatever is raised in later tests would then have it as its context.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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


@pytest.fixture(scope="module")
def tally(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """Counts what was done to what the module names; what must not happen would fail the test that counts."""
    counts: Counter[str] = Counter(faults=0, kills=0, races=0)
    yield counts
    listed = ", ".join(f"{number:,} {what}" for what, number in counts.items())
    with request.config.pluginmanager.get_plugin("capturemanager").global_and_fixture_disabled():
        print(f"\n{request.module.TALLIED}: {listed}; an overspend or a lost charge would have failed its test")


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in memory where the system has one: what is tested here does not need the disk's own time."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of its own is made there
    if not (memory.is_dir() and os.access(memory, os.W_OK)):
        yield tmp_path_factory.mktemp("fire")
        return
    made = Path(tempfile.mkdtemp(dir=memory))
    yield made
    shutil.rmtree(made)
