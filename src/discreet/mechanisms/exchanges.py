"""What exchanges of rows that keep all margins can move: within places, and between them.

A table has public one-way margins over k axes, and `depth` cells at each place that no margin distinguishes. Semi-adjacent
tables differ by P - N, two multisets of a cells with equal margins. Let m and n count P and N by place: the sums of the
places move by |m - n|², and the cells by |m|² + |n|² at most, which P and N attain in different cells of each place.
Both depend only on which rows of P and N agree on which axes. Proof: docs/proofs/effects.md, "Exchanges".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from discreet.totals.enumerate import pair_lengths

__all__ = ["Moves", "moves_of_margins", "moves_of_sums"]

_MOST_PATTERNS = 300_000
_MOST_ROWS = 6

Ints = NDArray[np.int64]
Pattern = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Moves:
    """How far an answer can move.

    Args:
        energies: the squared lengths of the part within places and of the part between them, for every change, or more.
        listed: whether some change moves each of these parts so far; else they are a bound.
    """

    energies: tuple[tuple[Fraction, Fraction], ...]
    listed: bool


def moves_of_margins(shape: tuple[int, ...], depth: int, a: int) -> Moves:
    """The changes of a rows with equal margins in a table of `shape` places with `depth` cells each.

    Args:
        shape: the numbers of levels of the axes with margins; at least two axes have two levels.
        depth: cells at each place, at least 2.
        a: how many rows may differ.
    """
    reduced = tuple(sorted(min(levels, a) for levels in shape if levels > 1))  # a rows have at most a levels
    pairs = _listed(reduced, a)
    return Moves(_split(_bounded(len(reduced), a) if pairs is None else pairs, depth), pairs is not None)


def moves_of_sums(equations: Ints, depth: int, a: int) -> Moves | None:
    """The same where the sums of places fulfil any linear equations; None for too many changes to list without a bound.

    Args:
        equations: int64, shape (equations, places).
        depth: cells at each place, at least 2.
        a: how many rows may differ.
    """
    found = _listed_of_sums(equations.shape[0], np.ascontiguousarray(equations).tobytes(), a)
    if found is not None:
        return Moves(_split(found, depth), listed=True)
    lists = _whole_lists(equations)
    return Moves(_split(_bounded(lists, a), depth), listed=False) if lists > 1 else None


def _whole_lists(equations: Ints) -> int:
    """How many whole lists of totals are among the equations, which together tell all places apart; 0 where they do not.

    A whole list is a run of equations of which each place is in exactly one. Every other equation leaves fewer changes.
    """
    numbers: list[Ints] = []
    sums, own = np.zeros(equations.shape[1], dtype=np.int64), np.zeros(equations.shape[1], dtype=np.int64)
    for number, row in enumerate(equations):
        if not np.isin(row, (0, 1)).all() or (sums + row > 1).any():
            sums, own = np.zeros_like(sums), np.zeros_like(own)
        if np.isin(row, (0, 1)).all():
            sums, own = sums + row, own + number * row
        if (sums == 1).all():
            numbers += [own] if own.min() < own.max() else []
            sums, own = np.zeros_like(sums), np.zeros_like(own)
    if not numbers or len(np.unique(np.stack(numbers), axis=1).T) < equations.shape[1]:
        return 0
    return len(numbers)


@lru_cache(maxsize=64)
def _listed_of_sums(rows: int, equations: bytes, a: int) -> tuple[tuple[int, int], ...] | None:
    found = pair_lengths(np.frombuffer(equations, dtype=np.int64).reshape(rows, -1), a)
    return None if found is None else tuple((cells, between) for between, cells in sorted(found.items()))


def _split(pairs: Iterable[tuple[int, int]], depth: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """The parts within places and between them, from |m|² + |n|² and |m - n|²."""
    return tuple((cells - Fraction(between, depth), Fraction(between, depth)) for cells, between in pairs)


@lru_cache(maxsize=256)
def _listed(shape: tuple[int, ...], a: int) -> tuple[tuple[int, int], ...] | None:
    """For each |m - n|² that occurs the largest |m|² + |n|². None for too many patterns."""
    if a > _MOST_ROWS:
        return None
    # The rows of P, and those of N, may be listed in any order: on the first axis they agree one by one.
    patterns = np.array([(equal := _pairs(first, first), equal, equal) for first in _ordered(shape[0], a)], dtype=np.int64)
    for levels in shape[1:]:
        axis = np.array(_axis(levels, a), dtype=np.int64)
        if len(patterns) * len(axis) > _MOST_PATTERNS:
            return None
        patterns = np.unique((patterns[:, None] & axis[None]).reshape(-1, 3), axis=0)
    of_p, of_n, across = _bits(patterns).T
    found: dict[int, int] = {}
    for between, cells in zip((of_p + of_n - 2 * across).tolist(), (of_p + of_n).tolist(), strict=True):
        found[between] = max(found.get(between, 0), cells)
    return tuple((cells, between) for between, cells in sorted(found.items()))


def _bounded(axes: int, a: int) -> tuple[tuple[int, int], ...]:
    """Pairs that no change exceeds in Σ k/s, whatever the variances s: for margins, and for lists that tell places apart.

    Let b rows of P be at places where N has none of its own, a - b at common ones. By B4 of docs/proofs/semi-dp.md no place
    has more than u = b(k - 1)/k of the b. So |m - n|² is between 2b and 2(q u² + r²), and |m|² + |n|² is largest where all
    common rows are at one of the fullest places.
    """
    found = [(2 * a * a, 0)]
    for b in range(2, a + 1):
        u = b * (axes - 1) // axes
        times, rest = divmod(b, u)
        squares = times * u * u + rest * rest
        cells = 2 * (squares - u * u + (a - b + u) ** 2)
        found += [(cells, 2 * b), (cells, 2 * squares)]
    return tuple(found)


@lru_cache(maxsize=64)
def _axis(levels: int, a: int) -> tuple[Pattern, ...]:
    """Every way in which a rows of P and a rows of N with equal margins can agree on one axis.

    Three sets of pairs of rows, as bits: within P, within N, and between a row of P and a row of N.
    """
    found: set[Pattern] = set()
    for first in _partitions(a, levels):
        for second in set(permutations(first)):
            found.add((_pairs(first, first), _pairs(second, second), _pairs(first, second)))
    return tuple(found)


def _ordered(levels: int, a: int) -> list[tuple[int, ...]]:
    """The levels of a rows whose order does not matter, by how many rows have each."""
    return [one for one in _partitions(a, levels) if list(one) == sorted(one)]


def _partitions(a: int, most: int, begun: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The levels of a rows, numbered as they first occur, at most so many."""
    if len(begun) == a:
        yield begun
        return
    for level in range(min(max(begun, default=-1) + 2, most)):
        yield from _partitions(a, most, (*begun, level))


def _pairs(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    """The pairs of rows that agree, as bits."""
    return sum(1 << place for place, same in enumerate(one == other for one in first for other in second) if same)


def _bits(numbers: Ints) -> Ints:
    """How many bits of each number are 1."""
    found, left = np.zeros_like(numbers), numbers.copy()
    while left.any():
        found += left & 1
        left >>= 1
    return found
