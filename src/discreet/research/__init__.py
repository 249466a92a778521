"""Mechanisms over the reals as they stand in papers, for study and comparison. Never for publication.

No session, plan or ledger reaches this package, and nothing of it is certified: noise in floating point leaks through
its last bits (Mironov 2012). What may be published comes from `discreet.Session` and has exact integer noise.

* `continuous`: Two semi-private mechanisms over the reals (Cho and Awan 2024, Algorithms 2 and 3)
"""

from __future__ import annotations

from discreet.research.continuous import continuous_k_norm, projected_gaussian

__all__ = ["continuous_k_norm", "projected_gaussian"]
