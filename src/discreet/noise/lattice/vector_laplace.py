"""Vectors of integers with P(v) ∝ exp(-max|v_i|/scale): drawn exactly, as points of a cube of random size.

With q = exp(-1/scale), a radius K of mass ∝ (2K + 1)^m q^K and m independent uniform integers from -K to K, the vector v has
the mass Σ q^K over K ≥ max|v_i|, which is ∝ q^max|v_i|. The sum of m + 1 geometric numbers of ratio q has the mass
∝ C(K + m, m) q^K; it is taken with probability Π (2K + 1)/(2K + 2j), j = 1 … m. docs/proofs/vectors.md (V7).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import Bits
from discreet.noise.single.exponential import below_each
from discreet.noise.single.scalar import geometric

__all__ = ["vector_laplace"]

Integers = NDArray[Any]

_WIDE = 2**60
"""Sums of integers below this, and twice such a sum, fit int64."""


def vector_laplace(scale: Fraction, parts: int, size: int, bits: Bits) -> Integers:
    """`size` independent vectors of `parts` integers with P(v) exactly proportional to exp(-max|v_i|/scale).

    Returns:
        shape (size, parts), int64, or Python integers where those could overflow.
    """
    radii = _draw_radii(scale, parts, size, bits)
    spread = np.repeat(radii, parts)
    return np.asarray(_below(2 * spread + 1, bits) - spread).reshape(size, parts)


def _draw_radii(scale: Fraction, parts: int, size: int, bits: Bits) -> Integers:
    """`size` independent K with P(K) ∝ (2K + 1)^parts q^K."""
    found: Integers = np.zeros(size, dtype=np.int64)
    left = np.arange(size)
    while left.size:
        tried = _add_up(geometric(scale, (parts + 1) * left.size, bits), parts + 1)
        taken = _accept(tried, parts, bits)
        if tried.dtype == object:
            found = found.astype(np.object_)
        found[left[taken]] = tried[taken]
        left = left[~taken]
    return found


def _add_up(drawn: Integers, terms: int) -> Integers:
    """Sums of so many neighbours, in Python integers where they could overflow."""
    if drawn.dtype != object and int(drawn.max(initial=0)) >= _WIDE // terms:
        drawn = drawn.astype(np.object_)
    return np.asarray(drawn.reshape(-1, terms).sum(axis=1))


def _accept(radii: Integers, parts: int, bits: Bits) -> NDArray[np.bool_]:
    """True with probability Π (2K + 1)/(2K + 2j) for each K."""
    open_ = np.arange(len(radii))
    for place in range(1, parts + 1):
        own = radii[open_]
        open_ = open_[np.asarray(_below(2 * own + 2 * place, bits) < 2 * own + 1, dtype=bool)]
    taken = np.zeros(len(radii), dtype=bool)
    taken[open_] = True
    return taken


def _below(bounds: Integers, bits: Bits) -> Integers:
    """Uniform integers in [0, bound), one for each bound."""
    if bounds.dtype != object:
        return below_each(bounds, bits)
    found: Integers = np.empty(len(bounds), dtype=np.object_)
    found[:] = [bits.below(int(bound)) for bound in bounds]
    return found
