"""Independent tables with given margins under independence, drawn from the random bits of the system.

Cell by cell, each given what is left of its row and column: a hypergeometric count, by inversion in double precision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import Bits
from discreet.releases.hypotheses.masses import hypergeometrics

__all__ = ["EXACT_ROWS", "NOT_EXACT", "hypergeometric_tables"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NOT_EXACT = 1e-12
"""How far in total variation the law of one drawn cell may be from the hypergeometric law, up to `EXACT_ROWS` rows."""

EXACT_ROWS = 1e6
"""Beyond, by as many times more as there are rows: each mass and each sum of masses is rounded, and √rows of them count."""

_AT_ONCE = 2_000_000  # masses held at a time


def hypergeometric_tables(rows: Ints, columns: Ints, times: int, bits: Bits) -> Ints:
    """`times` tables with these sums, in which every assignment of rows to columns is equally likely.

    Args:
        rows: the sums of the rows.
        columns: the sums of the columns, with the same total.
        times: how many tables.
        bits: the source of random bits.

    Returns:
        Integers of shape (times, rows, columns).
    """
    left = np.broadcast_to(columns, (times, columns.size)).copy()
    found = np.zeros((times, rows.size, columns.size), dtype=np.int64)
    for place, total in enumerate(rows[:-1]):
        need, rest = np.full(times, total, dtype=np.int64), left.sum(axis=1)
        for column in range(columns.size - 1):
            got = _counts(rest, need, left[:, column], bits)
            found[:, place, column] = got
            rest, need = rest - left[:, column], need - got
        found[:, place, -1] = need
        left -= found[:, place]
    found[:, -1] = left
    return found


def _counts(rows: Ints, first: Ints, second: Ints, bits: Bits) -> Ints:
    """A hypergeometric count for each triple of a number of rows and the sizes of two groups of them."""
    uniform = (bits.words(rows.size) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    step = max(1, _AT_ONCE // (2 * int(_widest(rows, first, second)) + 80))
    parts = [slice(start, start + step) for start in range(0, rows.size, step)]
    return np.concatenate([_inverted(rows[p], first[p], second[p], uniform[p]) for p in parts])


def _widest(rows: Ints, first: Ints, second: Ints) -> float:
    """At least half the number of counts that a law of these holds, but for a constant."""
    return 9 * float(np.sqrt(np.minimum(np.minimum(first, second), rows)).max(initial=0)) / 2


def _inverted(rows: Ints, first: Ints, second: Ints, uniform: Floats) -> Ints:
    """The smallest count whose distribution function is above the uniform number."""
    low, masses = hypergeometrics(rows, first, second)
    cumulative = np.cumsum(masses, axis=1)
    places: Ints = (cumulative <= uniform[:, None] * cumulative[:, -1:]).sum(axis=1)
    found: Ints = low + np.minimum(places, masses.shape[1] - 1)
    return found
