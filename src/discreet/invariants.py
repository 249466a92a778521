"""Exact totals as a program declares them: the public face of `totals`."""

from discreet.totals import (
    Impossible,
    Invariants,
    LinearInvariant,
    Margins,
    Occupied,
    PublishedTotals,
    SemiAdjacency,
    Totals,
    disclosures,
    is_vacuous,
    semi_adjacency,
)

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
