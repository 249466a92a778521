"""Exact totals beside private statistics (semi-differential privacy): what is published exactly, and who is compared.

`description` says which totals are exact, `totals` holds their published values, `adjacency` computes the semi-adjacency
parameter a(t) from schema and published totals alone. Statements and proofs: docs/proofs/semi-adjacency.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.invariants.description import Impossible, Invariants, LinearInvariant, Margins, Occupied, Totals

if TYPE_CHECKING:
    from discreet.invariants.adjacency import SemiAdjacency, disclosures, is_vacuous, semi_adjacency
    from discreet.invariants.totals import PublishedTotals

__all__ = [
    "Impossible",
    "Invariants",
    "LinearInvariant",
    "Margins",
    "Occupied",
    "PublishedTotals",
    "SemiAdjacency",
    "Totals",
    "disclosures",
    "is_vacuous",
    "semi_adjacency",
]

# What only plans with exact totals need is loaded when it is first used.
_HOME = {
    "PublishedTotals": "totals",
    "SemiAdjacency": "adjacency",
    "disclosures": "adjacency",
    "is_vacuous": "adjacency",
    "semi_adjacency": "adjacency",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
