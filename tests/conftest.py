"""What all tests share: one hypothesis profile, the data beside the checkout where they are there, a process that draws."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from discreet.pages.report.drawing import Artist, Chart

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
