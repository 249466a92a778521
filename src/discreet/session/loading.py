"""The modules of a session, imported before another thread can fork in the middle of an import."""

from __future__ import annotations

from discreet.exact.processes import load

__all__ = ["load_rooms"]

_LIBRARIES = ("flint", "polars", "numpy.fft", "numpy.ma", "cryptography.hazmat.primitives.ciphers")
_ROOMS = (
    *("exact", "domain", "noise", "privacy", "cube", "totals", "mechanisms", "engines", "ledger"),
    *("statistics", "plan", "quotes", "releases", "session"),
)


def load_rooms() -> None:
    """If other threads run, everything that a release may need is imported."""
    load(*(f"discreet.{room}" for room in _ROOMS), *_LIBRARIES)
