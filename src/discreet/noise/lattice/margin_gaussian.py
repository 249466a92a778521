"""The Gaussian of integer vectors and tables whose sums are 0: noise that leaves exact totals exact.

P(v) is exactly proportional to exp(-|v|²/(2 sigma2)) on the lattice of all integer vectors with the given sums 0. Added to a
statistic that moves by at most Δ₂, inside the lattice, it gives ρ-zCDP with the published sums, where ρ = Δ₂²/(2 sigma2)
(Theorem L1). Vectors are drawn by trees (Theorem L3): docs/proofs/lattice-gaussian.md.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log, prod
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, decimal_up
from discreet.noise._parameters import MOST_SIGMA2, check_size, positive
from discreet.noise.bits import Bits
from discreet.noise.lattice._tree import Proposal, integers, integers_loss, tables, tables_loss
from discreet.noise.single._acceptance import accept
from discreet.noise.single.scalar import discrete_gaussian

__all__ = ["margins_gaussian", "sum_zero_gaussian"]

_MOST_CELLS = 1 << 30
_COMBS = (2, 8, 32)
_GOOD_LOSS = log(2)  # half of the vectors accepted: no other tree is worth its steps
_MOST_LOSS = log(1 << 10)

Attempt = Callable[[NDArray[np.int64]], tuple[NDArray[Any], NDArray[np.bool_]]]


def sum_zero_gaussian(sigma2: Amount, sizes: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
    """For every block `sizes[g]` integers that sum to 0, P(v) proportional to exp(-|v|²/(2 sigma2)); blocks independent.

    Args:
        sigma2: an exact rational in (0, 10^34 / largest size].
        sizes: one-dimensional, every size at least 1, at most 2^30 cells together.
        bits: the source of random bits.

    Returns:
        The blocks, concatenated.

    Raises:
        ArgumentError: for other sizes and other sigma2.
    """
    blocks = _check_sizes(sizes)
    variance = positive(sigma2, "sigma2", most=MOST_SIGMA2 // int(blocks.max(initial=1)))
    losses = integers_loss(variance, blocks)
    by_tree = losses <= _GOOD_LOSS
    out = np.zeros(int(blocks.sum()), dtype=np.int64)
    for chosen, attempt in (
        (by_tree, _tree_attempt(variance, blocks[by_tree], losses[by_tree], bits)),
        (~by_tree, _independent_attempt(variance, blocks[~by_tree], bits)),
    ):
        drawn = _draw_until_accepted(blocks[chosen], attempt)
        out = out.astype(drawn.dtype, copy=False) if drawn.dtype == object else out
        out[np.repeat(chosen, blocks)] = drawn
    return _narrow(out)


def margins_gaussian(
    sigma2: Amount, shape: tuple[int, ...], bits: Bits, *, depth: SupportsIndex = 1, blocks: SupportsIndex = 1
) -> NDArray[np.int64]:
    """Independent tables whose one-way margins are all 0, P(v) proportional to exp(-|v|²/(2 sigma2)) on all of these.

    The sum over the other axes and `depth` is 0 for every level of every axis of `shape`. An axis of one level fixes the
    grand total alone; with fewer than two axes of more than one level and depth 1 the table is 0.

    Args:
        sigma2: an exact rational, at most 10^34 / cells of a table; from about 2.5 for 10^5 cells, less for fewer.
        shape: the numbers of levels, at least one axis, each at least 1.
        bits: the source of random bits.
        depth: cells for each place of `shape`, which no margin distinguishes.
        blocks: how many tables; all of them together at most 2^30 cells.

    Returns:
        An array of shape (blocks, *shape, depth).

    Raises:
        ArgumentError: for other arguments, and for a sigma2 so small that fewer than 2^-10 of the proposed tables are
            certain to be accepted.
    """
    levels, deep, count = _check_shape(shape, depth, blocks)
    cells = prod(levels) * deep
    variance = positive(sigma2, "sigma2", most=MOST_SIGMA2 // cells)
    comb, loss = _best_comb(variance, levels, deep)
    if loss > _MOST_LOSS:
        raise ArgumentError(
            f"sigma2={decimal_up(variance)}: too small for an exact table of shape {(*levels, deep)} with all margins 0; it "
            f"must be at least {decimal_up(_least_sigma2(variance, levels, deep), 3)}: spend less, or drop the margins"
        )

    def attempt(pending: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        proposal = Proposal(variance, bits)
        values = tables(levels, deep, pending.size, comb, proposal)
        return values.ravel(), accept(variance, proposal.nodes, np.full(pending.size, loss), bits)

    return _narrow(_draw_until_accepted(np.full(count, cells), attempt)).reshape(count, *levels, deep)


def _draw_until_accepted(sizes: NDArray[np.int64], attempt: Attempt) -> NDArray[Any]:
    """One accepted vector for every block: rejection sampling, independently for each."""
    out: NDArray[Any] = np.zeros(int(sizes.sum()), dtype=np.int64)
    pending, places = np.arange(sizes.size), np.arange(out.size)
    while pending.size:
        values, good = attempt(pending)
        kept = np.repeat(good, sizes[pending])
        out = out.astype(object) if values.dtype == object else out
        out[places[kept]] = values[kept]
        pending, places = pending[~good], places[~kept]
    return out


def _tree_attempt(variance: Fraction, sizes: NDArray[np.int64], losses: NDArray[np.float64], bits: Bits) -> Attempt:
    """Klein's sampler with its acceptance."""

    def attempt(pending: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        proposal = Proposal(variance, bits)
        zeros = np.zeros(pending.size, dtype=np.int64)
        values = integers(zeros, sizes[pending], np.arange(pending.size), proposal)
        return values, accept(variance, proposal.nodes, losses[pending], bits)

    return attempt


def _independent_attempt(variance: Fraction, sizes: NDArray[np.int64], bits: Bits) -> Attempt:
    """Independent discrete Gaussians, accepted when they sum to 0: one in about √(2π·size·sigma2), however small sigma2."""

    def attempt(pending: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        ends = np.cumsum(sizes[pending])
        values = discrete_gaussian(variance, int(ends[-1]), bits)
        return values, np.add.reduceat(values, ends - sizes[pending]) == 0

    return attempt


def _best_comb(variance: Fraction, shape: tuple[int, ...], depth: int) -> tuple[int, float]:
    """The first comb with few rejections, otherwise the one with the fewest; and -log of its acceptance, rounded up."""
    losses = {}
    for comb in _COMBS:
        losses[comb] = tables_loss(variance, shape, depth, comb)
        if losses[comb] <= _GOOD_LOSS:
            return comb, losses[comb]
    return min(losses.items(), key=lambda item: item[1])


def _least_sigma2(variance: Fraction, shape: tuple[int, ...], depth: int) -> Fraction:
    """A sigma2 that is enough, for the message."""
    enough = max(variance, Fraction(1, 64))
    while _best_comb(enough, shape, depth)[1] > _MOST_LOSS:
        enough *= Fraction(17, 16)
    return enough


def _narrow(values: NDArray[Any]) -> NDArray[np.int64]:
    """As int64 where that holds all of them, as it does but for a probability below 10^-35."""
    return values.astype(np.int64, copy=False) if int(np.abs(values).max(initial=0)) < 1 << 63 else values


def _check_sizes(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    array = np.asarray(sizes)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ArgumentError("sizes: must be a one-dimensional array of integers")
    if array.size and not (int(array.min()) >= 1 and int(array.max()) <= _MOST_CELLS and array.size <= _MOST_CELLS):
        raise ArgumentError(f"sizes: every block must have between 1 and {_MOST_CELLS} cells; leave empty blocks out")
    array = array.astype(np.int64)
    if not int(array.sum()) <= _MOST_CELLS:
        raise ArgumentError(f"sizes: at most {_MOST_CELLS} cells together; draw the blocks in several calls")
    return array


def _check_shape(shape: tuple[int, ...], depth: SupportsIndex, blocks: SupportsIndex) -> tuple[tuple[int, ...], int, int]:
    levels = tuple(check_size(level, "shape") for level in shape)
    deep, count = check_size(depth, "depth"), check_size(blocks, "blocks")
    if not levels or min(levels) < 1 or deep < 1:
        raise ArgumentError(f"shape={levels}, depth={deep}: at least one axis, and every number at least 1")
    if not prod(levels) * deep * max(count, 1) <= _MOST_CELLS:
        raise ArgumentError(f"shape={levels}, depth={deep}, blocks={count}: at most {_MOST_CELLS} cells; draw several times")
    return levels, deep, count
