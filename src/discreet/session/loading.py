"""The modules of a session, imported before another thread can fork in the middle of an import."""

from __future__ import annotations

from discreet.exact.processes import load

__all__ = ["load_rooms"]

_ROOMS = ("noise", "mechanisms", "privacy", "totals", "statistics", "engines", "quotes", "releases", "ledger", "session")


def load_rooms() -> None:
    """If other threads run, everything that a release may need is imported."""
    load(*(f"discreet.{room}" for room in _ROOMS), "flint", "polars")
