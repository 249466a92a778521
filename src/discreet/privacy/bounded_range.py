"""The cost of a mechanism of bounded range: neighbours change its log-ratios of probabilities by at most `reach`.

Let the privacy loss between two neighbours lie in an interval of length r. Then it is r-DP, r²/8-zCDP (Cesar and Rogers
2021, Lemma 3.2, from Dong, Durfee and Rogers 2020), and μ-GDP with μ = 2·Φ⁻¹(1/(1 + e^(-r/2))): docs/proofs/selection.md.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.exact.balls import ball, enclose, lower_rational

__all__ = ["range_of_mu"]


def range_of_mu(mu: Fraction) -> Fraction:
    """2·ln(Φ(μ/2)/Φ(-μ/2)), rounded down."""
    if mu > 70:
        # Φ(-μ/2) ≤ e^(-μ²/8)/2, so the range is more than μ²/4 there.
        return mu**2 / 4

    def reach() -> object:
        root = ball(mu) / (2 * ball(2).sqrt())
        return 2 * ((-root).erfc() / root.erfc()).log()

    return lower_rational(enclose(reach))
