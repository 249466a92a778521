"""Choices with probability proportional to many · e^(-rate · loss), drawn exactly: what the exponential mechanism draws.

For each choice one uniform U picks the first candidate whose cumulative weight exceeds U times the sum of all weights. The
weights are taken in double precision; where U lies so close to an end that their rounding could matter, the comparison is
made again with the same U, extended by as many bits as it takes, against enclosures of the weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact.balls import Ball, ball
from discreet.exact.precision import with_precision, working_bits
from discreet.noise._lazy import LazyUniform
from discreet.noise.bits import Bits

__all__ = ["Candidates", "below_each", "choose"]

_THOUSAND = Fraction(1000)
_CHUNK = 1 << 20  # how many weights are looked at together
_WEIGHT_ERROR = 2.0**-39
"""More than the relative error of a weight: e^-x for x ≤ 745 has three roundings of x and one of the result, together at
most 745 · 2^-51 + 2^-50 < 2^-41, and a weight that underflows is below 2^-1000 of one that does not."""
_SUM_ERROR = 2.0**-51
"""More than the relative rounding error that one addition, and the 53 bits of U, bring to a sum."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The candidates of several choices, one choice after the other; candidates of equal loss form a run.

    Args:
        loss: integers, shape (runs,): int64, or Python integers where they may be larger.
        many: int64, shape (runs,): the number of candidates in the run, at least 1.
        ends: int64, shape (choices,): the end of the runs of a choice; every choice has at least one run.
    """

    loss: NDArray[Any]
    many: NDArray[np.int64]
    ends: NDArray[np.int64]


def choose(candidates: Candidates, rate: Fraction, bits: Bits) -> NDArray[np.int64]:
    """For every choice independently a run, with probability in proportion to many · e^(-rate · loss): int64, its position.

    Args:
        candidates: what is chosen from.
        rate: positive; what one unit of loss costs.
        bits: independent uniform bits; one word for a choice, more with a probability of at most about runs · 2^-38.
    """
    starts = np.concatenate([np.zeros(1, dtype=np.int64), candidates.ends[:-1]])
    lengths = candidates.ends - starts
    least = np.minimum.reduceat(candidates.loss, starts) if len(starts) else candidates.loss[:0]
    above = candidates.loss - np.repeat(least, lengths)
    weights = candidates.many.astype(np.float64) * np.exp(-_exponents(above, rate))
    drawn = bits.words(len(starts))
    found = np.empty(len(starts), dtype=np.int64)
    for rows, width in _rectangles(lengths):
        place, sure = _place(weights, starts[rows], lengths[rows], width, drawn[rows])
        for row in np.flatnonzero(~sure):
            one = int(rows[row])
            run = slice(int(starts[one]), int(starts[one] + lengths[one]))
            place[row] = _certify(above[run], candidates.many[run], rate, int(drawn[one]), bits)
        found[rows] = starts[rows] + place
    return found


def _exponents(above: NDArray[Any], rate: Fraction) -> NDArray[np.float64]:
    """The exponents as doubles; where they may be beyond all doubles, 1000 at most: such a weight is next to nothing."""
    if above.dtype != np.object_:
        return np.asarray(float(rate) * above.astype(np.float64))
    return np.array([float(min(rate * int(loss), _THOUSAND)) for loss in above], dtype=np.float64)


def _rectangles(lengths: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.intp], int]]:
    """The choices in heaps of similar length, each with the width that holds them."""
    powers = np.ceil(np.log2(np.maximum(lengths, 1))).astype(np.int64)
    for power in np.unique(powers):
        rows = np.flatnonzero(powers == power)
        once = max(1, _CHUNK >> int(power))
        for start in range(0, len(rows), once):
            part = rows[start : start + once]
            yield part, int(lengths[part].max())


def _place(
    weights: NDArray[np.float64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    width: int,
    drawn: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The place of U among the cumulative weights of each choice, and whether no rounding can have moved it."""
    columns = np.arange(width)
    inside = columns < lengths[:, None]
    sums = np.cumsum(np.where(inside, weights[np.minimum(starts[:, None] + columns, len(weights) - 1)], 0.0), axis=1)
    total = sums[:, -1]
    at = (drawn >> np.uint64(11)).astype(np.float64) * 2.0**-53 * total
    place = np.minimum((sums <= at[:, None]).sum(axis=1), lengths - 1)
    margin = total * (_WEIGHT_ERROR + width * _SUM_ERROR)
    rows = np.arange(len(starts))
    before = np.where(place > 0, sums[rows, np.maximum(place - 1, 0)] + margin, 0.0)
    return place, (before <= at) & (at < sums[rows, place] - margin)


def _certify(above: NDArray[Any], many: NDArray[np.int64], rate: Fraction, drawn: int, bits: Bits) -> int:
    """The first run whose certain cumulative weight exceeds U times the sum of all, U beginning with the bits drawn."""
    uniform, sums = LazyUniform(bits, value=drawn, known=64), dict[int, list[Ball]]()

    def part(upto: int) -> Ball:
        precision = working_bits()
        if precision not in sums:
            sums[precision] = with_precision(precision, lambda: _sums(above, many, rate))
        return sums[precision][upto] / sums[precision][-1]

    low, high = 0, len(many) - 1
    while low < high:
        middle = (low + high) // 2
        if uniform.below(partial(part, middle + 1)):
            high = middle
        else:
            low = middle + 1
    return low


def _sums(above: NDArray[Any], many: NDArray[np.int64], rate: Fraction) -> list[Ball]:
    """The sums of the first 0, 1, … weights, as balls of the working precision; each weight is worked out once."""
    weights = {loss: (-ball(rate * int(loss))).exp() for loss in set(above.tolist())}
    total = ball(0)
    sums = [total]
    for loss, times in zip(above.tolist(), many.tolist(), strict=True):
        total += times * weights[loss]
        sums.append(total)
    return sums


def below_each(bounds: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
    """Independent uniform integers in [0, bounds[i]), exactly, for 1 ≤ bounds[i] < 2**63."""
    sizes = bounds.astype(np.uint64)
    # The largest multiple of the size below 2**64, less one: (2**64 - size) mod size is 2**64 mod size.
    beyond = np.uint64(2**64 - 1) - (np.uint64(2**64 - 1) - sizes + np.uint64(1)) % sizes
    drawn = bits.words(len(sizes))
    wrong = np.flatnonzero(drawn > beyond)
    while wrong.size:
        drawn[wrong] = bits.words(wrong.size)
        wrong = wrong[drawn[wrong] > beyond[wrong]]
    return np.asarray((drawn % sizes).astype(np.int64))
