"""Privacy guarantees: exact values, their composition, conversion, amplification and calibration.

Every number that leaves this package is on the safe side of the truth: δ and ε upper bounds, ρ, μ and what may be spent
lower bounds. The theorems are proved in docs/proofs/privacy.md.
"""

from discreet.privacy import amplify, calibrate, compose, convert, profile
from discreet.privacy.coordinates import Budget, coordinates, from_coordinates, from_json, kind_name, scale, to_json
from discreet.privacy.measures import GDP, RDP, ZCDP, ApproxDP, Measure, PureDP

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
