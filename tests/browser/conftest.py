"""Chromium without a window, through playwright; where either is missing, these tests are skipped visibly."""

from __future__ import annotations

import shutil

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium():
    """The browser, started once."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra `browser`)")
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("there is no Chromium on the PATH")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()
