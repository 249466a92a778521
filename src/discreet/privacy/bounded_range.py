"""What a mechanism of bounded range costs: one whose log-ratios of probabilities neighbours change by at most `reach`.

Let the privacy loss between two neighbours lie in an interval of length r. Then it is r-DP, r²/8-zCDP (Cesar and Rogers
2021, Lemma 3.2, from Dong, Durfee and Rogers 2020), and μ-GDP with μ = 2·Φ⁻¹(1/(1 + e^(-r/2))): docs/proofs/selection.md.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InternalError
from discreet.exact.balls import ball, enclose, lower_rational
from discreet.privacy.base import NoiseMeasure

__all__ = ["range_of", "range_of_mu"]


def range_of(guarantee: NoiseMeasure, l1: int, l2_squared: int) -> Fraction:
    """The largest range, rounded down, with which a sequence of such mechanisms gives `guarantee`.

    Args:
        guarantee: of all of them together, for the tables that are compared.
        l1: the sum over the mechanisms of the factors by which that changes their range.
        l2_squared: the sum of the squares of these factors.

    Raises:
        InternalError: a guarantee of 0.
    """
    if not all(value > 0 for value in guarantee.coordinates):
        raise InternalError("a guarantee of 0 would leave nothing to choose by")
    return guarantee.choice_range(l1, l2_squared)


def range_of_mu(mu: Fraction) -> Fraction:
    """2·ln(Φ(μ/2)/Φ(-μ/2)), rounded down."""
    if mu > 70:
        # Φ(-μ/2) ≤ e^(-μ²/8)/2, so the range is more than μ²/4 there.
        return mu**2 / 4

    def reach() -> object:
        root = ball(mu) / (2 * ball(2).sqrt())
        return 2 * ((-root).erfc() / root.erfc()).log()

    return lower_rational(enclose(reach))
