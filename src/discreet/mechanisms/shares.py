"""The variances of independent Gaussian noises that together have one guarantee with the least weighted sum of variances.

Each noise hides one part of an answer. A change moves part a by the energy k_a ≥ 0, its squared length there; with the
variances s the whole has μ² = max over all changes of Σ k_a/s_a. Least is Σ w_a s_a under μ² ≤ 1: convex in 1/s, and the
dual of it certifies how near a solution is. Floats choose; exact fractions say what they guarantee.
Proof: docs/proofs/effects.md, "Shares".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError

__all__ = ["Shares", "best_shares", "mu_squared", "solve"]

_STEPS = 20_000
_GAP = 1e-9  # between a solution and its dual bound, where no more steps are taken
_SIMPLE = 1000  # variances are fractions with denominators up to this

Energies = Sequence[tuple[Fraction, ...]]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shares:
    """The variances of the parts for μ² = 1.

    Args:
        variances: exact; the largest Σ k_a/s_a over the changes is exactly 1.
        least: no variances have a smaller weighted sum than this, but for rounding.
    """

    variances: tuple[Fraction, ...]
    least: float


def mu_squared(energies: Energies, variances: Sequence[Fraction]) -> Fraction:
    """The largest Σ k_a/s_a over the changes, exactly."""
    sums = (sum((k / s for k, s in zip(one, variances, strict=True)), Fraction(0)) for one in energies)
    return max(sums, default=Fraction(0))


def best_shares(energies: Energies, weights: Sequence[int]) -> Shares:
    """The variances with the least Σ w_a s_a whose largest Σ k_a/s_a is 1.

    Args:
        energies: of each change the squared length of each part; every part is moved by some change.
        weights: of each part, positive: the number of its dimensions for the least sum of variances of all cells.

    Raises:
        InternalError: a part that no change moves; it needs no noise.
    """
    rows = np.array([[float(k) for k in one] for one in dict.fromkeys(energies)])
    if not rows.size or not (rows.max(axis=0) > 0).all():
        raise InternalError("a part that no change moves needs no noise")
    precisions, least = solve(rows, np.array(weights, dtype=np.float64))
    chosen = [Fraction(float(1 / one)).limit_denominator(_SIMPLE) or Fraction(1, _SIMPLE) for one in precisions]
    size = mu_squared(energies, chosen)
    return Shares(tuple(one * size for one in chosen), least)


def solve(rows: Floats, weights: Floats) -> tuple[Floats, float]:
    """Precisions t = 1/s within the limits, and the largest dual bound found.

    With multipliers π of the changes, adding up to 1, v = Σ π_d k_d: Σ w/t ≥ (Σ √(w v))² whenever all Σ k_a t_a ≤ 1, with
    equality for the best π at t ∝ √(w/v). Each step multiplies π by Σ k_a t_a, which is at most 1 where π is best.
    """
    share = np.full(len(rows), 1 / len(rows))
    best, least, found = np.inf, 0.0, np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        moved = np.maximum(share @ rows, 1e-300)
        used = rows @ np.sqrt(weights / moved)
        precisions = np.sqrt(weights / moved) / used.max()
        cost = float((weights / precisions).sum())
        least = max(least, float(np.sqrt(weights * moved).sum()) ** 2)
        if cost < best:
            best, found = cost, precisions
        if best <= least * (1 + _GAP):
            break
        share = share * used
        share /= share.sum()
    return found, least
