"""What all tests share: one hypothesis profile, the data beside the checkout where they are there, a process that draws."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from discreet.pages.report.drawing import Artist

settings.register_profile(
    "discreet", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("discreet")

_SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of golden vectors and real data beside the checkout."""
    if not _SHARED.is_dir():
        pytest.skip("the folder ../shared is not there")
    return _SHARED


@pytest.fixture(scope="session")
def artist() -> Iterator[Artist]:
    """A process that draws, begun once."""
    from discreet.pages.report.drawing import begin_drawing

    with begin_drawing() as begun:
        yield begun


@pytest.fixture
def one_artist(artist: Artist, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pictures come from one process: to begin another for each page takes most of the time of a test of pages.

    Tests of how pictures are drawn, and of what happens when they cannot be, do without.
    """
    from discreet.pages.report import drawing, pictures

    for module in (drawing, pictures):
        monkeypatch.setattr(module, "begin_drawing", lambda: nullcontext(artist))
