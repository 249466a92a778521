"""The clock, for people: nothing depends on what it says."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["utc_now"]


def utc_now() -> str:
    """The date and time in UTC to the second, as ISO 8601 writes it; "unknown" from a clock outside the years 1 to 9999."""
    try:
        return datetime.now(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return "unknown"
