"""A ledger in a file, and one in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.ledger import Ledger


@pytest.fixture(params=["file", "memory"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path):
    with Ledger.open(tmp_path / "budget.db" if request.param == "file" else ":memory:") as opened:
        yield opened
