"""The rounded Gaussian of integer vectors and tables whose sums are 0: a Gaussian of their span, moved to an integer vector.

The Gaussian is rounded along orthogonal coordinates of the lattice, one after the other (Babai's nearest plane). A vector of
the lattice that is added before comes out added, so the whole is post-processing of the Gaussian mechanism, and with the
published sums exactly μ-GDP for μ = Δ₂/σ. Proof: docs/proofs/lattice-rounded.md.

The Gaussian itself is a fine grid of rounded normal numbers: white noise of all cells, `scale` steps to a whole number. A
half is rounded up or down by a fair coin, so that the result is symmetric. Everything is an integer.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact.lattices import eliminate_with, narrow
from discreet.noise._parameters import MOST_SIGMA2, positive
from discreet.noise.bits import Bits
from discreet.noise.lattice._tree import stages
from discreet.noise.lattice.klein import Lattice
from discreet.noise.single.scalar import rounded_gaussian

__all__ = [
    "COMB",
    "Rounding",
    "correlated_margins",
    "correlated_places",
    "is_within_limits",
    "move_table",
    "move_to_lattice",
    "rounded_lattice",
    "rounded_margins",
    "rounded_sum_zero",
    "scale_of",
]

COMB = 32
"""Below this many cells they are taken off one at a time, which rounds least; more are halved, which takes fewer steps."""

_FINE = 1 << 60
_ROOM = 1 << 61

Integers = NDArray[Any]  # int64, or Python integers where those could overflow

Rounding = Callable[[Integers, int], Integers]
"""From numerators and a denominator to integers; where the quotients grow by integers, so do the results, in law."""


def scale_of(sigma2: Fraction) -> int:
    """The steps of the fine grid to a whole number: the least power of two with sigma2 · scale² ≥ 2^60."""
    scale = 1
    while sigma2 * scale**2 < _FINE:
        scale *= 2
    return scale


def rounded_margins(sigma2: Fraction, shape: tuple[int, ...], bits: Bits, *, depth: int, blocks: int) -> Integers:
    """Independent tables whose one-way margins over the axes of `shape` are 0: a Gaussian of their span, rounded.

    Args:
        sigma2: the variance of the Gaussian in each direction of the span, an exact rational in (0, 10^34 / cells].
        shape: the numbers of levels, at least one axis, each at least 1. With the shape (1,) the cells add up to 0.
        bits: the source of random bits.
        depth: cells for each place of `shape`, which no margin distinguishes.
        blocks: how many tables.

    Returns:
        Integers of shape (blocks, *shape, depth).
    """
    fine, scale = _fine_noise(sigma2, (blocks, *shape, depth), bits)
    return move_table(fine, scale, partial(_nearest, bits=bits))


def move_table(fine: Integers, scale: int, to: Rounding) -> Integers:
    """The tables of `fine`, in steps of 1/scale, moved to tables of integers whose one-way margins are 0.

    Only the part of `fine` in the span of those counts. Its shape is (blocks, *shape, depth), and no sum of it overflows.
    """
    whole = _round_places(fine, scale, to)
    cells = fine.reshape(whole.size, fine.shape[-1])
    return _split_cells(whole, cells, scale, to).reshape(fine.shape)


def correlated_margins(
    within: Fraction, between: Fraction, shape: tuple[int, ...], bits: Bits, *, depth: int, blocks: int
) -> Integers:
    """The same of a Gaussian with two variances: `within` the cells of a place, `between` in directions alike in them.

    The sums of the places have white noise of variance `between · depth`, and of white noise of the cells only differences
    within a place are used. A whole number is a multiple of `depth` steps, so that the mean of a place moves by whole steps
    (docs/proofs/effects.md, "Measuring through the table").
    """
    scale, to = _scale_between(within, between, depth), partial(_nearest, bits=bits)
    places = _white(positive(between, "between", most=MOST_SIGMA2) * depth, scale, (blocks, *shape, 1), bits)
    whole = _round_places(places, scale, to)
    cells = _white(positive(within, "within", most=MOST_SIGMA2), scale, (blocks * prod(shape), depth), bits)
    return _split_cells(whole, cells, scale, to).reshape(blocks, *shape, depth)


def correlated_places(
    lattice: Lattice, within: Fraction, between: Fraction, depth: int, bits: Bits, *, blocks: int
) -> Integers:
    """The same where the sums of places are in a general lattice: shape (blocks, places, depth)."""
    scale, to = _scale_between(within, between, depth), partial(_nearest, bits=bits)
    shape = blocks, lattice.dimension
    places = _white(positive(between, "between", most=MOST_SIGMA2) * depth, scale, shape, bits)
    move = move_to_lattice if blocks == 1 else _move_many
    whole = move(lattice, places.ravel() if blocks == 1 else places, scale, to)
    cells = _white(positive(within, "within", most=MOST_SIGMA2), scale, (prod(shape), depth), bits)
    return _split_cells(whole.ravel(), cells, scale, to).reshape(*shape, depth)


def is_within_limits(within: Fraction, between: Fraction, depth: int) -> bool:
    """True if `correlated_margins` takes these variances: on its fine grid, too, they are below the limit."""
    return max(within, between * depth) * _scale_between(within, between, depth) ** 2 <= MOST_SIGMA2


def _scale_between(within: Fraction, between: Fraction, depth: int) -> int:
    """The steps of its fine grid to a whole number: `depth` times the least power of two that serves both variances."""
    return depth * scale_of(min(within, between * depth))


def rounded_sum_zero(sigma2: Fraction, sizes: NDArray[np.int64], bits: Bits) -> Integers:
    """For every block `sizes[g]` integers that sum to 0, concatenated; blocks are independent."""
    out: Integers = np.zeros(int(sizes.sum()), dtype=np.int64)
    ends = np.cumsum(sizes)
    for size in np.unique(sizes).tolist():
        starts = (ends - sizes)[sizes == size]
        drawn = rounded_margins(sigma2, (1,), bits, depth=size, blocks=len(starts))
        out = out.astype(object) if drawn.dtype == object else out
        out[(starts[:, None] + np.arange(size)).ravel()] = drawn.ravel()
    return out


def rounded_lattice(lattice: Lattice, sigma2: Fraction, bits: Bits) -> Integers:
    """One vector of the lattice: a Gaussian of its span, rounded along the Gram-Schmidt vectors of its basis."""
    fine, scale = _fine_noise(sigma2, (lattice.dimension,), bits)
    return move_to_lattice(lattice, fine, scale, partial(_nearest, bits=bits))


def move_to_lattice(lattice: Lattice, fine: Integers, scale: int, to: Rounding) -> Integers:
    """`fine`, in steps of 1/scale, moved to a vector of the lattice along the Gram-Schmidt vectors of its basis.

    With u the fraction-free elimination of the Gram matrix, and t the same of the products of the basis with `fine`,
    coordinate i is t_i/u_ii, and the later coefficients z move it by Σ z_j u_ij/u_ii.
    """
    noise = [int(one) for one in fine]
    products = [sum(entry * one for entry, one in zip(row, noise, strict=True)) for row in lattice.basis]
    rows = eliminate_with(lattice.basis, products)
    chosen = [0] * lattice.rank
    for i in reversed(range(lattice.rank)):
        moved = sum(rows[i][j] * chosen[j] for j in range(i + 1, lattice.rank))
        numerator = np.array([rows[i][-1] - scale * moved], dtype=object)
        chosen[i] = int(to(numerator, scale * rows[i][i])[0])
    cells = (sum(z * row[place] for z, row in zip(chosen, lattice.basis, strict=True)) for place in range(lattice.dimension))
    return narrow(np.array([*cells], dtype=object))


def _move_many(lattice: Lattice, fine: Integers, scale: int, to: Rounding) -> Integers:
    """`move_to_lattice` of every row: the elimination is linear in the products, so it is done for unit vectors once."""
    rank, basis = lattice.rank, np.array(lattice.basis, dtype=object)
    units = np.eye(rank, dtype=int).tolist()
    eliminated = [eliminate_with(lattice.basis, unit) for unit in units]
    rows = eliminated[0]
    forms = np.array([[one[i][-1] for one in eliminated] for i in range(rank)], dtype=object)
    coordinates = forms @ (basis @ fine.astype(object).T)
    chosen = np.zeros((rank, len(fine)), dtype=object)
    for i in reversed(range(rank)):
        moved = sum((rows[i][j] * chosen[j] for j in range(i + 1, rank)), np.zeros(len(fine), dtype=object))
        chosen[i] = to(coordinates[i] - scale * moved, scale * rows[i][i])
    return narrow(chosen.T @ basis)


def _fine_noise(sigma2: Fraction, shape: tuple[int, ...], bits: Bits) -> tuple[Integers, int]:
    """White Gaussian noise on the fine grid, in arrays whose sums cannot overflow, and its scale."""
    variance = positive(sigma2, "sigma2", most=MOST_SIGMA2)
    scale = scale_of(variance)
    return _white(variance, scale, shape, bits), scale


def _white(variance: Fraction, scale: int, shape: tuple[int, ...], bits: Bits) -> Integers:
    """Independent roundings of Gaussians, `scale` steps to a whole number; Python integers where sums could overflow."""
    drawn: Integers = rounded_gaussian(variance * scale**2, prod(shape), bits)
    if drawn.dtype != object and int(np.abs(drawn).max(initial=0)) * prod(shape[1:]) >= _ROOM:
        drawn = drawn.astype(object)
    return drawn.reshape(shape)


def _round_places(fine: Integers, scale: int, to: Rounding) -> Integers:
    """The sums of all places, whose margins are 0, one after the other: `fine` has one axis for blocks and one for cells."""
    blocks, *shape, depth = fine.shape
    whole: Integers = np.zeros((blocks, shape[-1]), dtype=np.int64)
    for axis in range(len(shape) - 2, -1, -1):
        outer = fine.reshape(blocks, prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]), depth)
        whole = _split_slices(whole, _summed(outer), scale, to).reshape(blocks, -1)
    return whole.reshape(-1)


def _summed(outer: Integers) -> Integers:
    """The sums over the axes before and after the two of a slice."""
    return np.asarray(outer.sum(axis=(1, 4)))


def _split_cells(wholes: Integers, fine: Integers, scale: int, to: Rounding) -> Integers:
    """Splits every whole into as many integers as `fine` has columns: B wholes, a (B, n) array."""
    out = np.zeros(fine.shape, dtype=np.result_type(wholes, fine))
    out[:, 0] = wholes
    upto = _prefix(fine, axis=1)
    for stage in stages(np.array([fine.shape[1]]), COMB):
        start, h, n = stage.start, stage.left, stage.left + int(stage.right[0])
        total = out[:, start]
        left, every = upto[:, start + h] - upto[:, start], upto[:, start + n] - upto[:, start]
        # The centre is total·h/n, the coordinate of the Gaussian left - every·h/n.
        drawn = _rounded_sum([(scale * h, total), (n, left), (-h, every)], scale * n, to)
        out = out.astype(object) if drawn.dtype == object else out
        out[:, start] = drawn
        out[:, start + h] = total - drawn
    return out


def _split_slices(wholes: Integers, fine: Integers, scale: int, to: Rounding) -> Integers:
    """Splits every row of `wholes` (B × D), of sum 0, into the slices of `fine` (B × n × D), each of sum 0."""
    out = np.zeros(fine.shape, dtype=np.result_type(wholes, fine))
    out[:, 0] = wholes
    upto = _prefix(fine, axis=1)
    for stage in stages(np.array([fine.shape[1]]), COMB):
        start, h, n = stage.start, stage.left, stage.left + int(stage.right[0])
        parents, cells = out[:, start], fine.shape[2]
        left, every = upto[:, start + h] - upto[:, start], upto[:, start + n] - upto[:, start]
        three = [part.reshape(-1, cells) for part in (parents, left, every)]
        drawn = _split_rows(three, (h, n), scale, to).reshape(parents.shape)
        out = out.astype(object) if drawn.dtype == object else out
        out[:, start] = drawn
        out[:, start + h] = parents - drawn
    return out


def _split_rows(three: list[Integers], rows: tuple[int, int], scale: int, to: Rounding) -> Integers:
    """For parents of n slices the sum of their h left ones, a row of sum 0; with the Gaussian of the left and of all."""
    h, n = rows
    cells = three[0].shape[1]
    out = np.zeros(three[0].shape, dtype=np.result_type(*three))
    parents, left, every = (_prefix(part, axis=1) for part in three)
    for stage in stages(np.array([cells]), COMB):
        start, k, m = stage.start, stage.left, stage.left + int(stage.right[0])
        p, q = parents[:, start + k] - parents[:, start], parents[:, start + m] - parents[:, start]
        t, all_t = left[:, start + k] - left[:, start], left[:, start + m] - left[:, start]
        e, all_e = every[:, start + k] - every[:, start], every[:, start + m] - every[:, start]
        total = out[:, start]
        # The centre is p·h/n + (total - q·h/n)·k/m, the coordinate of the Gaussian t - e·h/n - (all_t - all_e·h/n)·k/m.
        centre = [(scale * h * m, p), (scale * n * k, total), (-scale * h * k, q)]
        drawn = _rounded_sum([*centre, (n * m, t), (-h * m, e), (-n * k, all_t), (h * k, all_e)], scale * n * m, to)
        out = out.astype(object) if drawn.dtype == object else out
        out[:, start] = drawn
        out[:, start + k] = total - drawn
    return out


def _prefix(values: Integers, axis: int) -> Integers:
    """The sums of the first 0, 1, … of an axis."""
    first = np.zeros_like(np.take(values, [0], axis=axis))
    return np.concatenate([first, np.cumsum(values, axis=axis)], axis=axis)


def _rounded_sum(terms: list[tuple[int, Integers]], denominator: int, to: Rounding) -> Integers:
    """(Σ factor · values)/denominator, rounded."""
    largest = sum(abs(factor) * (int(np.abs(values).max(initial=0)) + 1) for factor, values in terms)
    if 4 * (largest + denominator) >= _ROOM:
        terms = [(factor, values.astype(object)) for factor, values in terms]
    numerators = terms[0][0] * terms[0][1]
    for factor, values in terms[1:]:
        numerators = numerators + factor * values
    return narrow(to(numerators.ravel(), denominator).reshape(numerators.shape))


def _nearest(numerators: Integers, denominator: int, bits: Bits) -> Integers:
    """The nearest integers to numerators/denominator > 0; of two equally near ones either, by a fair coin.

    Half to even would not do: it rounds 1/2 down and 3/2 up, though they differ by a whole number.
    """
    whole = (2 * numerators + denominator) // (2 * denominator)
    ties = np.flatnonzero(2 * numerators + denominator == whole * (2 * denominator))
    if ties.size:
        coins = (bits.words(ties.size) & np.uint64(1)).astype(np.int64)
        whole[ties] = whole[ties] - coins
    return np.asarray(whole)
