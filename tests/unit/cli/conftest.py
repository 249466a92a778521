"""A folder with a plan in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.builders import plan_text

PLAN = plan_text("hours")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that commands run in, with the plan."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def _drawn(one_artist: None) -> None:
    """Commands in this process draw their pictures with the one process of all tests."""
