"""What all tests share: one hypothesis profile, the data beside the checkout where they are there, a process that draws.

And which cases of a test that is marked `one_in(n)` are slow.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from tests.databases import lent_databases

if TYPE_CHECKING:
    from discreet.pages.report.drawing import Artist, Chart

settings.register_profile(
    "discreet", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("discreet")

_MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of its own there
_ENOUGH = 4 * 2**30
if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _ENOUGH:
    # The folders of tests are in memory: the ledgers of thousands of tests need not wait for the disk.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

_SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is slow
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Of the cases of a test marked `one_in(n)` all but every n-th are slow.

    Choose n without a common divisor with the lengths of the axes: then every value of each of them stays.
    """
    seen: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("one_in")
        if mark is None or item.get_closest_marker("exhaustive"):
            continue
        name = item.nodeid.partition("[")[0]
        if seen[name] % mark.args[0]:
            item.add_marker("slow")
        seen[name] += 1


def pytest_collection_finish() -> None:
    """What was collected stays: a collector that walks through seventeen thousand tests again and again costs a tenth."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """What drivers hold is given back at the end, before they say that it was not."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of golden vectors and real data beside the checkout."""
    if not _SHARED.is_dir():
        pytest.skip("the folder ../shared is not there")
    return _SHARED


class _Remembering:
    """An artist that draws each chart once: most pages of the tests show the same guarantee."""

    def __init__(self, artist: Artist) -> None:
        self._artist, self._drawn = artist, {}

    def sources(self, charts: Sequence[Chart]) -> list[str]:
        texts = [json.dumps(chart) for chart in charts]
        fresh = {text: chart for text, chart in zip(texts, charts, strict=True) if text not in self._drawn}
        drawn = self._artist.sources(list(fresh.values()))
        if len(drawn) < len(fresh):  # nothing could be drawn
            return drawn
        self._drawn |= zip(fresh, drawn, strict=True)
        return [self._drawn[text] for text in texts]


@pytest.fixture(scope="session")
def artist() -> Iterator[_Remembering]:
    """A process that draws, begun once."""
    from discreet.pages.report.drawing import begin_drawing

    with begin_drawing() as begun:
        yield _Remembering(begun)


@pytest.fixture
def one_artist(artist: _Remembering, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pictures come from one process: to begin another for each page takes most of the time of a test of pages.

    Tests of how pictures are drawn, and of what happens when they cannot be, do without.
    """
    from discreet.pages.report import drawing, pictures

    for module in (drawing, pictures):
        monkeypatch.setattr(module, "begin_drawing", lambda: nullcontext(artist))


_WITH_DATABASES_OF_THEIR_OWN = {"engines", "hostile", "spark", "meta", "browser"}


@pytest.fixture(scope="module", autouse=True)
def _databases(request: pytest.FixtureRequest) -> Iterator[None]:
    """Sessions lend one another their DuckDB databases, but for tests in which the database is the matter."""
    with nullcontext() if _WITH_DATABASES_OF_THEIR_OWN & {*request.path.parts} else lent_databases():
        yield
