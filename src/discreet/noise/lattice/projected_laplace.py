"""Laplace noise that is moved to a lattice: independent in every cell, projected on the span, rounded at random.

The noise of all cells together has the guarantee. What comes after it is a map of the noisy counts: the nearest-plane map of
`nearest_plane`, with coordinates that are rounded up with a chance equal to what they are above an integer. So no coordinate
moves in the mean, and the counts stay unbiased. Proof: docs/proofs/lattice-l1.md. Everything is an integer.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise._parameters import MOST_SCALE, positive
from discreet.noise.bits import Bits
from discreet.noise.lattice.klein import Lattice
from discreet.noise.lattice.nearest_plane import move_table, move_to_lattice
from discreet.noise.single.scalar import discrete_laplace

__all__ = ["projected_lattice", "projected_margins"]

_ROOM = 1 << 61
_MOST_BOUND = 1 << 63

Integers = NDArray[Any]  # int64, or Python integers where those could overflow


def projected_margins(scale: Fraction, shape: tuple[int, ...], bits: Bits, *, depth: int, blocks: int) -> Integers:
    """Independent tables whose one-way margins over the axes of `shape` are 0, moved there from white Laplace noise.

    Args:
        scale: that of the noise of a cell, an exact rational in (0, 10^17].
        shape: the numbers of levels, at least one axis, each at least 1.
        bits: the source of random bits.
        depth: cells for each place of `shape`, which no margin distinguishes.
        blocks: how many tables.

    Returns:
        Integers of shape (blocks, *shape, depth).
    """
    return move_table(_white(scale, (blocks, *shape, depth), bits), 1, partial(_round_at_random, bits=bits))


def projected_lattice(lattice: Lattice, scale: Fraction, bits: Bits) -> Integers:
    """One vector of the lattice, moved there from white Laplace noise."""
    return move_to_lattice(lattice, _white(scale, (lattice.dimension,), bits), 1, partial(_round_at_random, bits=bits))


def _white(scale: Fraction, shape: tuple[int, ...], bits: Bits) -> Integers:
    """Independent Laplace noise, in arrays whose sums cannot overflow."""
    drawn: Integers = discrete_laplace(positive(scale, "scale", most=MOST_SCALE), prod(shape), bits)
    if drawn.dtype != object and int(np.abs(drawn).max(initial=0)) * prod(shape[1:]) >= _ROOM:
        drawn = drawn.astype(object)
    return drawn.reshape(shape)


def _round_at_random(numerators: Integers, denominator: int, bits: Bits) -> Integers:
    """The integers below the quotients, or those above with the chance of the excess over the integer below."""
    whole = numerators // denominator
    rest = numerators - whole * denominator
    some = np.flatnonzero(rest)
    if denominator <= _MOST_BOUND:
        up = np.asarray(bits.below_array(denominator, some.size) < rest[some], dtype=np.int64)
    else:
        up = np.array([int(bits.below(denominator) < one) for one in rest[some].tolist()], dtype=np.int64)
    whole[some] = whole[some] + up
    return np.asarray(whole)
