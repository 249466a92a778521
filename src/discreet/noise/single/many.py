"""The sum of very many noises of one law: a half-width from their moments, where their masses are too many to convolve.

For t > 0 and independent noises Y of one symmetric law, P(|ΣY| ≥ w) ≤ 2 M(t)^m e^(-tw) with M(t) = E e^(tY) (Chernoff), so
that w = (m log M(t) + log(2/β))/t is enough for β, whatever t is: a poor t costs width, never coverage. Proofs:
docs/proofs/noise.md, "Sums of noises".
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf, isfinite, log, log1p, sinh, sqrt

from discreet.exact.numbers import float_down
from discreet.noise.single.laws import DiscreteLaplace, Law, RoundedGaussian
from discreet.noise.single.sums import SumOfNoises

__all__ = ["half_width_of_sum"]

_FEW = 1 << 12
"""At most this many are convolved, and nothing else is looked at."""

_SOME = 1 << 16
"""Up to this many both bounds are computed; beyond, the grid of the convolution is too coarse."""

_UP = 1 + 1e-9  # covers the rounding of some twenty operations, none of which cancels


def half_width_of_sum(law: Law, count: int, coverage: Fraction) -> int:
    """A w with P(|sum of `count` independent noises of `law`| ≤ w) ≥ coverage, the smaller one of two that are at hand."""
    if count <= _FEW:
        return SumOfNoises(((1, law),) * count).half_width(coverage)
    beyond = float_down(1 - coverage)
    bounds = [_chebyshev(law, count, beyond), _chernoff(law, count, beyond)]
    if count <= _SOME:
        bounds.append(SumOfNoises(((1, law),) * count).half_width(coverage))
    least = min(bounds)
    if not isfinite(least):
        return count * law.half_width(1 - (1 - coverage) / count)
    return ceil(least)


def _chebyshev(law: Law, count: int, beyond: float) -> float:
    return _UP * sqrt(count * law.variance() / beyond) if beyond > 0 else inf


def _chernoff(law: Law, count: int, beyond: float) -> float:
    """The bound for the laws whose moments are known here; infinite for others."""
    if not beyond > 0:
        return inf
    wanted = _UP * (log(2) - log(beyond))
    if isinstance(law, RoundedGaussian):
        # A Gaussian plus what rounding adds, at most 1/2 and symmetric: M(t) ≤ exp(t²(σ + 1/2)²/2), by Hölder's inequality.
        return _UP * (sqrt(float(law.sigma2) * _UP) + 0.5) * sqrt(2 * count * wanted)
    if isinstance(law, DiscreteLaplace):
        variance = _UP * law.variance()
        t = min(sqrt(2 * wanted / (count * variance)), 1 / (2 * float(law.scale)))
        # M(t) = 1/(1 - variance·(cosh t - 1)), and cosh t - 1 = 2 sinh²(t/2).
        spread = _UP * variance * 2 * sinh(t / 2) ** 2
        return _UP * (count * -log1p(-spread) + wanted) / t if spread < 1 else inf
    return inf
