"""What all tests share: one hypothesis profile, and the data beside the checkout where they are there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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
