"""Bounds of the norm of a random matrix Σ Z_p A_p with public matrices A_p and the noises Z_p of one vector.

Three bounds hold, each by itself, and the least is taken, which is a public choice: entry by entry; by the Frobenius norm, a
quadratic form of sub-Gaussian numbers; and by the exponential moments of the matrix. docs/proofs/vectors.md (V5).
"""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import CellLaw
from discreet.noise.lattice.vector_laplace_laws import VectorLaplaceCell
from discreet.noise.single.laws import RoundedGaussian

__all__ = ["bound_norm"]

Floats = NDArray[np.float64]

_OUTWARD = 1 + 1e-9


def bound_norm(law: CellLaw, matrices: Floats, failing: Fraction) -> float:
    """A number that ‖Σ Z_p A_p‖₂ exceeds with at most this probability.

    Args:
        law: the noise of every part.
        matrices: shape (parts, rows, columns).
        failing: the probability.
    """
    parts = len(matrices)
    if not parts:
        return 0.0
    wide = float(law.half_width(1 - failing / parts))
    found = [wide * float(np.linalg.norm(np.abs(matrices).sum(axis=0), 2))]
    deviation = _deviation(law, failing / 2)
    if deviation is not None:
        # A noise is at most 1/2 away from its sub-Gaussian number.
        off = float(np.sqrt((matrices**2).sum(axis=(1, 2))).sum()) / 2
        found += [deviation * _frobenius(matrices, failing / 2) + off, deviation * _moments(matrices, failing / 2) + off]
    return min(found) * _OUTWARD


def _deviation(law: CellLaw, failing: Fraction) -> float | None:
    """A σ with E exp(tZ) ≤ exp(σ²t²/2) for the numbers that noises are rounded from; None where there is none.

    Noise of vectors has one given its radius, which is larger than that of this σ with at most this probability.
    """
    if isinstance(law, RoundedGaussian):
        return sqrt(law.sigma2) * _OUTWARD
    if isinstance(law, VectorLaplaceCell):
        return law.largest(failing) / sqrt(3) * _OUTWARD
    return None


def _frobenius(matrices: Floats, failing: Fraction) -> float:
    """‖Σ Z_p A_p‖_F for σ = 1: Hsu, Kakade and Zhang (2012) for quadratic forms of sub-Gaussian vectors."""
    flat = matrices.reshape(len(matrices), -1)
    sizes = np.maximum(np.linalg.eigvalsh(flat @ flat.T), 0.0)
    t = log(1 / failing)
    return sqrt(float(sizes.sum()) + 2 * sqrt(float((sizes**2).sum()) * t) + 2 * float(sizes[-1]) * t)


def _moments(matrices: Floats, failing: Fraction) -> float:
    """For σ = 1 Tropp's bound (2012): P(‖Σ Z_p A_p‖ ≥ t) ≤ (rows + columns) exp(-t²/(2v))."""
    rows, columns = matrices.shape[1:]
    left = np.linalg.norm(np.einsum("pij,pkj->ik", matrices, matrices), 2)
    right = np.linalg.norm(np.einsum("pij,pik->jk", matrices, matrices), 2)
    return sqrt(2 * float(max(left, right)) * log((rows + columns) / failing))
