"""Exact integer samplers for the cells of a cube: binomial, multinomial and hypergeometric numbers of records.

Everything reduces to records that succeed independently with one rational probability (`discreet.noise.single._coins`),
and to uniform subsets. Nothing is rounded; time is proportional to the number of records, about 0.2 ns each.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount
from discreet.noise._parameters import check_size, rate_between
from discreet.noise.bits import Bits
from discreet.noise.single._coins import successes, successes_each

__all__ = [
    "binomial",
    "categorical",
    "hypergeometric",
    "multinomial_rows",
    "multivariate_hypergeometric",
]

_MOST_RECORDS = 1 << 50  # of one call: more would take days, and every sum below stays far inside int64
_FEW, _SPARSE = 4096, 4096  # at most this many records, or one in this many: drawn one by one
_MANY_ROWS = 1024
_MOST_WEIGHT = 1 << 62


def binomial(n: NDArray[np.int64], rate: Amount, bits: Bits) -> NDArray[np.int64]:
    """Independent numbers of successes: element i is exactly Binomial(n[i], rate).

    Args:
        n: non-negative integers of any shape, in total at most 2**50.
        rate: an exact rational in [0, 1].
        bits: the source of random bits.
    """
    trials = _check_counts(n, "n")
    p = rate_between(rate, "rate")
    drawn: NDArray[np.int64] = successes(trials.ravel(), p.numerator, p.denominator, bits).reshape(trials.shape)
    return drawn


def hypergeometric(good: SupportsIndex, bad: SupportsIndex, drawn: SupportsIndex, bits: Bits) -> int:
    """The number of good records among `drawn`, taken without replacement from `good` + `bad`."""
    cells = np.array([check_size(good, "good"), check_size(bad, "bad")], dtype=np.int64)
    return int(multivariate_hypergeometric(cells, drawn, bits)[0])


def multinomial_rows(n: NDArray[np.int64], weights: Sequence[int], bits: Bits) -> NDArray[np.int64]:
    """Independent multinomial rows, shape (len(n), len(weights)): row i distributes n[i] records over the cells.

    The cells are halved again and again; the number of records in the first half is binomial.

    Args:
        n: one-dimensional, non-negative, in total at most 2**50.
        weights: non-negative integers, not all 0.
        bits: the source of random bits.
    """
    totals = _check_counts(n, "n")
    if totals.ndim != 1:
        raise ArgumentError(f"n: must have one dimension, not {totals.ndim}")
    cumulative = _cumulative(_check_weights(weights))
    cells = len(cumulative) - 1
    width = 1 << (cells - 1).bit_length()
    level = totals[:, None]
    while width > 1:
        starts = range(0, cells, width)
        whole = [cumulative[min(start + width, cells)] - cumulative[start] for start in starts]
        first = [cumulative[min(start + width // 2, cells)] - cumulative[start] for start in starts]
        left = _binomial_columns(level, first, whole, bits)
        width //= 2
        level = np.stack([left, level - left], axis=2).reshape(len(totals), -1)[:, : -(-cells // width)]
    return np.ascontiguousarray(level)


def categorical(size: SupportsIndex, weights: Sequence[int], bits: Bits) -> NDArray[np.int64]:
    """The cells of `size` independent records, cell j having probability weights[j] / sum(weights).

    How many of them are in each cell is `multinomial_rows`, at a cost of the records instead of the cells. By inversion:
    of the integers below the sum of the weights, weights[j] belong to cell j, and each record draws one of them uniformly.

    Args:
        size: at most 2**50.
        weights: non-negative integers, not all 0, in total at most 2**62.
        bits: the source of random bits.
    """
    cumulative = _cumulative(_check_weights(weights))
    if cumulative[-1] > _MOST_WEIGHT:
        raise ArgumentError("weights: must add up to at most 2**62")
    drawn = bits.below_array(cumulative[-1], _check_total(size, "size"))
    # The first cell whose cumulative weight is greater than the number; cells of weight 0 have none of their own.
    return np.searchsorted(np.array(cumulative[1:], dtype=np.int64), drawn, side="right").astype(np.int64, copy=False)


def multivariate_hypergeometric(counts: NDArray[np.int64], m: SupportsIndex, bits: Bits) -> NDArray[np.int64]:
    """The number of records from each cell among `m` drawn without replacement; cell i holds counts[i] records.

    A sample that keeps every record with the same probability is, given its size, a uniform subset of that size. So a
    binomial number per cell comes within about the square root of m, and a uniform subset of the rest (or of the kept)
    makes up the difference.

    Args:
        counts: non-negative integers of any shape, in total at most 2**50.
        m: an integer with 0 ≤ m ≤ counts.sum().
        bits: the source of random bits.
    """
    cells = _check_counts(counts, "counts")
    sample = _check_total(m, "m")
    total = int(cells.sum())
    if sample > total:
        raise ArgumentError(f"m={sample}: must be at most the number of records in `counts`")
    return _subset(cells.ravel(), total, sample, bits).reshape(cells.shape)


def _subset(cells: NDArray[np.int64], total: int, sample: int, bits: Bits) -> NDArray[np.int64]:
    if 2 * sample > total:
        return cells - _subset(cells, total, total - sample, bits)
    if sample <= _FEW or sample * _SPARSE <= total:
        return _sparse_subset(cells, total, sample, bits)
    # Any dyadic rate is exact; one near sample/total with an error below 1/sqrt(total) leaves little to make up.
    digits = total.bit_length() // 2 + 2
    kept = successes(cells, round(Fraction(sample << digits, total)), 1 << digits, bits)
    missing = sample - int(kept.sum())
    if missing >= 0:
        return kept + _subset(cells - kept, total - sample + missing, missing, bits)
    return kept - _subset(kept, sample - missing, -missing, bits)


def _sparse_subset(cells: NDArray[np.int64], total: int, sample: int, bits: Bits) -> NDArray[np.int64]:
    """The first `sample` distinct values of a sequence of uniform positions are a uniform subset of the records."""
    chosen = np.empty(0, dtype=np.int64)
    while chosen.size < sample:  # a batch never overshoots, so where it stops depends on nothing but distinctness
        chosen = np.concatenate([chosen, bits.below_array(total, sample - chosen.size)])
        chosen.sort()
        chosen = chosen[np.flatnonzero(np.diff(chosen, prepend=-1))]
    ends = np.searchsorted(chosen, np.cumsum(cells), side="left")
    return np.diff(ends, prepend=0).astype(np.int64, copy=False)


def _binomial_columns(n: NDArray[np.int64], first: Sequence[int], whole: Sequence[int], bits: Bits) -> NDArray[np.int64]:
    """Binomial(n[i, j], first[j]/whole[j]); a column of total weight 0 holds no records and gives 0."""
    divisors = [max(1, w) for w in whole]
    if n.shape[0] >= _MANY_ROWS:
        columns = (np.ascontiguousarray(column) for column in n.T)
        pairs = zip(columns, first, divisors, strict=True)
        return np.stack([successes(column, top, bottom, bits) for column, top, bottom in pairs], axis=1)
    dtype: Any = np.int64 if max(divisors) < 1 << 62 else object
    numerators = np.broadcast_to(np.array(first, dtype=dtype), n.shape).ravel()
    denominators = np.broadcast_to(np.array(divisors, dtype=dtype), n.shape).ravel()
    return successes_each(np.ascontiguousarray(n).ravel(), numerators, denominators, bits).reshape(n.shape)


def _check_counts(counts: NDArray[np.int64], name: str) -> NDArray[np.int64]:
    """`counts` as int64, proven non-negative and of a sum that stays far inside int64. The message shows no count."""
    array = np.asarray(counts)
    if array.dtype.kind not in "iu" and array.size:
        raise ArgumentError(f"{name}: must be an array of integers, not of {array.dtype}")
    if array.size and int(array.min()) < 0:
        raise ArgumentError(f"{name}: must not be negative")
    high, low = int((array >> 32).sum()), int((array & 0xFFFF_FFFF).sum())  # neither sum overflows
    if (high << 32) + low > _MOST_RECORDS:
        raise ArgumentError(f"{name}: must hold at most 2**50 records in total")
    return array.astype(np.int64, copy=False)


def _check_total(value: SupportsIndex, name: str) -> int:
    return int(_check_counts(np.array([_as_int(value, name)]), name)[0])


def _as_int(value: SupportsIndex, name: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool) or not 0 <= number <= _MOST_RECORDS:
        raise ArgumentError(f"{name}: must be an integer in [0, 2**50]")
    return number


def _check_weights(weights: Sequence[int]) -> list[int]:
    given = list(weights)
    checked = list(map(int, given))  # whole lists at a time: a resize checks some ten thousand weights
    if checked != given or bool in set(map(type, given)):
        raise ArgumentError("weights: must be integers")
    if min(checked, default=0) < 0 or sum(checked) <= 0:
        raise ArgumentError("weights: must be non-negative integers, not all 0")
    return checked


def _cumulative(weights: list[int]) -> list[int]:
    return list(accumulate(weights, initial=0))
