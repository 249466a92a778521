"""Numbers of successes among n independent records of one probability, from fair bits counted 64 at a time.

Let U be uniform on [0, 1) and the rate p have binary digits 0.d₁d₂…; a record is a success when U < p. Two ways to
compare, both exact for every rational p, the second with about 2 bits a record, the first with few passes over the cells:

* `_compare`: 64 records in a word. Where all digits so far were equal, U's next digit 0 against d = 1 means U < p, and
  1 against 0 means U > p. Words stay until none of their records is undecided.
* `_halve`: of n undecided records Binomial(n, 1/2) have next digit 0. Against d = 1 they succeed and the others stay
  undecided; against d = 0 the others fail and they stay undecided. Only the numbers are kept.

Where the remaining digits of p are all 0, the undecided records fail: U ≥ p.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count as count_from
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import Bits

__all__ = ["successes", "successes_each"]

_SMALL_CELLS = 64  # records per cell, on average, below which records are compared one by one
_CHUNK_WORDS = 1 << 17
_CHUNK_WORDS_SMALL = 1 << 13  # small cells: many cells belong to a chunk and should stay in the cache


def successes(n: NDArray[np.int64], numerator: int, denominator: int, bits: Bits) -> NDArray[np.int64]:
    """Binomial(n[i], numerator/denominator), one rate in [0, 1] for all."""
    if numerator == 0:
        return np.zeros_like(n)
    if numerator == denominator:
        return n.copy()
    if int(n.sum()) < _SMALL_CELLS * n.size:
        return _ones(n, lambda words: _compare(words, numerator, denominator, bits), _CHUNK_WORDS_SMALL)
    return _halve(n, numerator, denominator, bits)


def successes_each(
    n: NDArray[np.int64], numerators: NDArray[Any], denominators: NDArray[Any], bits: Bits
) -> NDArray[np.int64]:
    """Binomial(n[i], numerators[i]/denominators[i]): `_halve` with a rate in [0, 1] per cell."""
    certain = numerators == denominators
    found: NDArray[np.int64] = np.where(certain, n, 0)
    where = np.flatnonzero((n > 0) & ~certain & (numerators > 0))
    undecided, rest, divisor = n[where], numerators[where], denominators[where]
    while where.size:
        rest = rest * 2
        digit = rest >= divisor
        rest = rest - divisor * digit
        zeros = fair(undecided, bits)
        found[where] += np.where(digit, zeros, 0)
        undecided = np.where(digit, undecided - zeros, zeros)
        active = np.flatnonzero((undecided > 0) & (rest > 0))
        if active.size < where.size:
            where, undecided, rest, divisor = where[active], undecided[active], rest[active], divisor[active]
    return found


def fair(n: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
    """Binomial(n[i], 1/2): the number of ones in stretches of n[i] fair bits laid end to end."""
    return _ones(n, bits.fill, _CHUNK_WORDS)


def _halve(n: NDArray[np.int64], numerator: int, denominator: int, bits: Bits) -> NDArray[np.int64]:
    found = np.zeros_like(n)
    undecided, where = n, np.arange(n.size)
    while numerator:
        numerator *= 2
        digit = numerator >= denominator
        numerator -= denominator * digit
        zeros = fair(undecided, bits)
        if digit:
            found[where] += zeros
            undecided = undecided - zeros
        else:
            undecided = zeros
        active = np.flatnonzero(undecided)
        if not active.size:
            break
        if active.size < where.size:
            undecided, where = undecided[active], where[active]
    return found


def _compare(words: NDArray[np.uint64], numerator: int, denominator: int, bits: Bits) -> None:
    """Writes words in which every bit is 1 with probability numerator/denominator, independently."""
    below = np.zeros(words.size, dtype=np.uint64)
    equal, where = np.full(words.size, np.uint64(2**64 - 1)), np.arange(words.size)
    for level in count_from(1):
        numerator *= 2
        digit = numerator >= denominator
        numerator -= denominator * digit
        drawn = bits.words(where.size)
        if digit:
            np.invert(drawn, out=drawn)
            drawn &= equal  # equal so far, and now U has 0 against 1
            below |= drawn
            equal ^= drawn
        else:
            drawn &= equal
            equal ^= drawn
        if numerator == 0:
            break
        if level % 4 == 0:  # the decided words leave; every other time would cost more than it saves
            active = np.flatnonzero(equal)
            words[where] = below
            if not active.size:
                break
            equal, below, where = equal[active], below[active], where[active]
    words[where] = below


def _ones(n: NDArray[np.int64], fill: Callable[[NDArray[np.uint64]], None], chunk: int) -> NDArray[np.int64]:
    """The number of ones in stretches of n[i] bits laid end to end in the words that `fill` writes."""
    ends = np.cumsum(n)
    total = int(ends[-1]) if ends.size else 0
    before = np.zeros(n.size + 1, dtype=np.int64)  # the ones before the start of every stretch, and before the end
    room = min(chunk, -(-total // 64))
    words, ones = np.zeros(room + 1, dtype=np.uint64), np.zeros(room + 1, dtype=np.int64)
    seen, done = 0, 0
    for start in range(0, total, 64 * chunk):
        stop = min(start + 64 * chunk, total)
        used = -(-(stop - start) // 64)
        fill(words[:used])
        words[used] = 0  # a stretch may end where the last word does
        upto = int(np.searchsorted(ends, stop, side="left")) if stop < total else n.size
        ones[0] = 0
        np.cumsum(np.bitwise_count(words[:used]), dtype=np.int64, out=ones[1 : used + 1])
        position = ends[done:upto] - start
        word = position >> 6
        position &= 63
        partial = words.take(word) & ((np.uint64(1) << position.view(np.uint64)) - np.uint64(1))
        before[done + 1 : upto + 1] = seen + ones.take(word) + np.bitwise_count(partial)
        seen, done = seen + int(ones[used]), upto
    return np.diff(before)
