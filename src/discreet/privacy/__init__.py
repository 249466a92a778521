"""Privacy guarantees: exact values, their composition, conversion, amplification and calibration.

Every number that leaves this package is on the safe side of the truth: δ and ε upper bounds, ρ, μ and what may be spent
lower bounds. The theorems are proved in docs/proofs/privacy.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.privacy.coordinates import Budget, coordinates, from_coordinates, from_json, kind_name, scale, to_json
from discreet.privacy.measures import GDP, RDP, ZCDP, ApproxDP, Measure, PureDP

if TYPE_CHECKING:
    from discreet.privacy import amplify, calibrate, compose, convert, profile

__all__ = [
    "GDP",
    "RDP",
    "ZCDP",
    "ApproxDP",
    "Budget",
    "Measure",
    "PureDP",
    "amplify",
    "calibrate",
    "compose",
    "convert",
    "coordinates",
    "from_coordinates",
    "from_json",
    "kind_name",
    "profile",
    "scale",
    "to_json",
]

_ON_DEMAND = {"amplify", "calibrate", "compose", "convert", "profile"}


def __getattr__(name: str) -> Any:
    """The calculus is loaded when it is first used: `import discreet` stays light."""
    if name in _ON_DEMAND:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
