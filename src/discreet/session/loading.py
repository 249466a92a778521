"""What a session works with, imported before another thread can fork in the middle of it."""

from __future__ import annotations

from discreet.exact.processes import load

__all__ = ["load_rooms"]

_ROOMS = ("noise", "mechanisms", "privacy", "totals", "statistics", "engines", "quotes", "releases", "ledger", "session")


def load_rooms() -> None:
    """Where other threads run, everything is imported that a release may need."""
    load(*(f"discreet.{room}" for room in _ROOMS), "flint", "polars")
