"""Exact noise for blocks of cells whose total is published: integers of sum 0, P(v) proportional to exp(-|v|₁/scale).

With q = exp(-1/scale), v = G - G' for independent uniform weak compositions G, G' of r in d parts, where r has a mass
proportional to (C(r + d - 1, d - 1) q^r)² (docs/proofs/lattice-knorm.md, Theorem L2). Neither r nor a composition is ever
drawn. The d - 1 bars that separate the parts of G, and the d - 1 bars of G', are among 0, …, r; merged, they are a word of
bars of either kind, with gaps in between. The gaps are independent geometrics of ratio q². The word has a probability
proportional to q^(2j), where j counts its rises, the places where a bar of G follows directly on one of G' (Theorem L2.1).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.balls import Ball, ball, enclosure, sign
from discreet.exact.numbers import Amount
from discreet.noise._lazy import below_each
from discreet.noise._parameters import MOST_SCALE, check_size, positive
from discreet.noise.bits import Bits
from discreet.noise.single import scalar
from discreet.noise.single.laws import smallest

__all__ = ["sum_zero_laplace"]

_INSIDE = 2.0**62  # gaps of this sum keep int64, rises included


def sum_zero_laplace(scale: Amount, sizes: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
    """For every block g, laid end to end, sizes[g] integers v of sum 0 with P(v) exactly proportional to exp(-|v|₁/scale).

    Blocks are independent; a block of one cell is 0. An array of Python integers should a value not fit into int64.

    Args:
        scale: an exact rational in (0, 10^17].
        sizes: one-dimensional, the number of cells of every block, at least 1 each.
        bits: the source of random bits.

    Raises:
        ArgumentError: for a scale out of range, for sizes that are not integers of at least 1, and for more cells than
            memory holds.
    """
    t = positive(scale, "scale", most=MOST_SCALE)
    cells = _check_sizes(sizes)
    word = _words(t, cells - 1, bits)
    gaps: NDArray[Any] = scalar.geometric(t / 2, word.size, bits)
    if float(gaps.sum(dtype=np.float64)) >= _INSIDE:
        gaps = gaps.astype(object)
    return _narrow(_noise(cells, word, gaps))


def _check_sizes(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    array = np.asarray(sizes)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ArgumentError("sizes: must be a one-dimensional array of integers, the number of cells of every block")
    if array.size and not int(array.min()) >= 1:
        raise ArgumentError(f"sizes: holds {int(array.min())}; every block has at least one cell, so leave empty ones out")
    check_size(int(array.sum(dtype=np.float64)), "sizes")  # a double neither overflows nor errs below 2^53
    return array.astype(np.int64, copy=False)


def _noise(cells: NDArray[np.int64], word: NDArray[np.bool_], gaps: NDArray[Any]) -> NDArray[Any]:
    """The blocks v = G - G' that words and gaps give; `gaps`, one before each bar, is overwritten.

    The bars of G are true in `word`. With D = (place of the i-th bar of G) - (place of the i-th bar of G'), and D = 0 at
    both ends of a block, the cells of v are the steps of D. Only differences of places within a block count, so places
    run on from one block into the next, and it does not matter that a rise may seem to lie between two blocks.
    """
    gaps[1:] += word[1:] & ~word[:-1]
    places = np.cumsum(gaps)
    inner = np.ones(int(cells.sum()), dtype=bool)
    inner[np.cumsum(cells) - 1] = False
    difference = np.zeros(inner.size, dtype=places.dtype)
    difference[inner] = places[word] - places[~word]
    return np.diff(difference, prepend=0)


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """As int64 where all values fit."""
    if values.dtype == object and max(map(abs, values.tolist()), default=0) < 1 << 63:
        return values.astype(np.int64)
    return values


def _words(scale: Fraction, bars: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
    """Per block a word of bars[g] bars of G (true) and as many of G' (false), P(w) proportional to q^(2 rises of w)."""
    upper = _upper_ends(scale, bars, bits)
    return _join_rises(bars, upper, _uniform_subsets(bars, _per_block(upper, bars), bits))


def _join_rises(bars: NDArray[np.int64], upper: NDArray[np.bool_], lower: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The word whose rises go from the bars of G' in `lower` to the bars of G in `upper`, equally many in each block.

    Any two such subsets belong to exactly one word: a bar of G comes after exactly the bars of G' that are not after the
    lower end of the last rise up to it.
    """
    starts = np.repeat(np.cumsum(bars) - bars, bars)
    ends_of_lower = np.append(0, np.flatnonzero(lower) + 1)  # over all blocks, as the count of rises is
    others_before = np.maximum(
        starts, ends_of_lower[np.cumsum(upper)]
    )  # a rise of an earlier block ends at `starts`, or before
    word = np.zeros(2 * starts.size, dtype=bool)
    word[np.arange(starts.size) + others_before] = True
    return word


def _upper_ends(scale: Fraction, bars: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
    """Per block a subset X of its p bars with P(X) proportional to C(p, |X|) q^(2|X|).

    Bars that are chosen independently with probability q/(1 + q), the probability that a geometric is odd, are a subset X
    with a probability proportional to q^|X|. It is kept with a probability proportional to C(p, |X|) q^|X|; otherwise it is
    drawn again.
    """
    chosen = (scalar.geometric(scale, int(bars.sum()), bits) & 1).astype(bool)
    rejected = ~_keep(scale, bars, _per_block(chosen, bars), bits)
    if rejected.any():  # each with a probability of at most 1/2
        chosen[np.repeat(rejected, bars)] = _upper_ends(scale, bars[rejected], bits)
    return chosen


def _keep(scale: Fraction, bars: NDArray[np.int64], chosen: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
    """Independently true with probability f(j)/max f, f(j) = C(p, j) q^j, for p = bars[g] and j = chosen[g]."""
    sizes, of_size = np.unique(bars, return_inverse=True)
    width = int(chosen.max(initial=0)) + 1
    pairs, of_pair = np.unique(of_size * width + chosen, return_inverse=True)
    cases = [(int(sizes[pair // width]), pair % width) for pair in pairs.tolist()]
    bounds = np.array([_keeping_bounds(scale, p, j) for p, j in cases]).reshape(-1, 2)[of_pair]
    return below_each(bounds, lambda i: _keeping(scale, *cases[of_pair[i]]), bits)


@lru_cache(maxsize=1 << 14)
def _keeping_bounds(scale: Fraction, p: int, j: int) -> tuple[float, float]:
    return enclosure(partial(_keeping, scale, p, j), at_most=1.0)


def _keeping(scale: Fraction, p: int, j: int) -> Ball:
    """f(j)/max f as a ball of the working precision. It is 1 at the mode and irrational elsewhere."""
    mode = _mode(scale, p)
    ways = _log_factorial(mode) + _log_factorial(p - mode) - _log_factorial(j) - _log_factorial(p - j)
    return (ways + ball((mode - j) / scale)).exp()


@lru_cache(maxsize=1 << 12)
def _mode(scale: Fraction, p: int) -> int:
    """The j with the largest f(j) = C(p, j) q^j: the first j with f(j + 1) < f(j), that is (p - j) q < j + 1."""

    def falls(j: int) -> bool:
        return sign(lambda: j + 1 - (p - j) * (-1 / ball(scale)).exp()) > 0

    return smallest(falls, int((p + 1) / (1 + exp(min(1 / scale, Fraction(100))))))


def _log_factorial(n: int) -> Ball:
    return ball(n + 1).lgamma()


def _uniform_subsets(sizes: NDArray[np.int64], chosen: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
    """Per block of sizes[g] places a uniform subset of chosen[g] of them: the places of the smallest random keys.

    Equal keys may give a block too many. Whether they do depends on what the keys are and not on which place has which, so
    that such blocks can be drawn again: subsets of the right size remain as likely as one another.
    """
    ends, owner = np.cumsum(sizes), np.repeat(np.arange(1, sizes.size + 1, dtype=np.uint64), sizes)
    digits = np.uint64(64 - sizes.size.bit_length())  # the owner above, random digits below: blocks keep their order
    keys = (owner << digits) | (bits.words(owner.size) >> (np.uint64(64) - digits))
    last = np.append(np.uint64(0), np.sort(keys))[ends - sizes + chosen]  # a key of an earlier block, if none is chosen
    subset: NDArray[np.bool_] = keys <= np.repeat(last, sizes)
    tied = _per_block(subset, sizes) != chosen
    if tied.any():
        subset[np.repeat(tied, sizes)] = _uniform_subsets(sizes[tied], chosen[tied], bits)
    return subset


def _per_block(flags: NDArray[np.bool_], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of true flags of every block."""
    ends, until = np.cumsum(sizes), np.append(0, np.cumsum(flags, dtype=np.int64))
    found: NDArray[np.int64] = until[ends] - until[ends - sizes]
    return found
