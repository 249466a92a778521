"""Exact totals beside private statistics (semi-differential privacy): what is published exactly, and who is compared.

`description` says which totals are exact, `totals` holds their published values, `adjacency` computes the semi-adjacency
parameter a(t) from schema and published totals alone. Statements and proofs: docs/proofs/semi-adjacency.md.
"""

from discreet.invariants.adjacency import SemiAdjacency, disclosures, is_vacuous, semi_adjacency
from discreet.invariants.description import Impossible, Invariants, LinearInvariant, Margins, Occupied, Totals
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
