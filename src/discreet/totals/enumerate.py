"""The differences of tables with equal sums, one by one, for small domains.

S(a) = {P - N : P and N multisets of a cells with equal sums}, as integer vectors over the cells. It holds the difference of
the counts of any two tables with equal totals that differ in at most a rows, and every member is such a difference
for totals that are large enough (docs/proofs/semi-adjacency.md, A9).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

__all__ = ["differences", "forms_of_differences", "largest_norms", "pair_lengths"]

_MOST_MULTISETS = 100_000
_MOST_PAIRS = 4_000_000
_MOST_AT_ONCE = 100_000
_MOST_ALIKE = 2_000
_MOST_COUNTS = 1_000_000
_INSIDE = 1 << 62

_Ints = NDArray[np.int64]


def differences(equations: _Ints, a: int) -> _Ints | None:
    """All members of S(a), in lexicographic order; None where there are too many multisets or pairs of them.

    Args:
        equations: int64, shape (sums, cells), the coefficients of the published sums.
        a: how many rows may differ.

    Gives:
        int64, shape (members, cells), with 0 and with the negative of each member.
    """
    batches = _batches(equations, a)
    if batches is None:
        return None
    found = [np.zeros((1, equations.shape[1]), dtype=np.int64)]
    for batch in batches:
        found.append(np.unique(batch, axis=0))
    joined = np.unique(np.concatenate(found), axis=0)
    return np.unique(np.concatenate([joined, -joined]), axis=0)


def forms_of_differences(equations: _Ints, a: int, forms: Sequence[_Ints]) -> _Ints | None:
    """The values vᵀQv of some forms for the members v of S(a) but 0, each combination once, in lexicographic order.

    They come from the products of P and N alone, so that no member is made.

    Args:
        equations: as for `differences`.
        a: how many rows may differ.
        forms: Q, symmetric and nowhere negative, as int64 of shape (cells, cells).

    Gives:
        int64, shape (combinations, forms); None where there are too many multisets or pairs of them.
    """
    groups = _groups(equations, a)
    if groups is None:
        return None
    found = [np.zeros((0, len(forms)), dtype=np.int64)]
    for group in groups:
        beside = [form @ group.T for form in forms]
        own = [(group.T * one).sum(axis=0) for one in beside]
        step = max(1, _MOST_AT_ONCE // len(group))
        for start in range(0, len(group) - 1, step):
            some = slice(start, start + step)
            later = np.arange(len(group)) > np.arange(len(group))[some, None]
            each = zip(own, beside, strict=True)
            found.append(_different([(mine[some, None] + mine - 2 * group[some] @ one)[later] for mine, one in each]))
    return _different(list(np.concatenate(found).T))


def _different(columns: Sequence[_Ints]) -> _Ints:
    """The rows of these columns, each once, in lexicographic order; numbers that are not negative."""
    sizes = [int(one.max(initial=0)) + 1 for one in columns]
    if prod(sizes) >= _INSIDE:
        return np.unique(np.stack(columns, axis=1), axis=0)
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for one, size in zip(columns, sizes, strict=True):
        key = key * size + one
    _, first = np.unique(key, return_index=True)
    return np.stack([one[first] for one in columns], axis=1)


def largest_norms(equations: _Ints, a: int) -> tuple[int, int] | None:
    """The largest ‖v‖₁ and ‖v‖₂² over S(a), exactly; None where it is too large to enumerate.

    Where two cells have equal coefficients a rows can move from one to the other, and nothing moves the counts further.
    """
    if len(np.unique(equations, axis=1).T) < equations.shape[1]:
        return 2 * a, 2 * a * a
    batches = _batches(equations, a)
    if batches is None:
        return None
    l1 = l2_squared = 0
    for batch in batches:
        l1 = max(l1, int(np.abs(batch).sum(axis=1).max()))
        l2_squared = max(l2_squared, int((batch**2).sum(axis=1).max()))
    return l1, l2_squared


def pair_lengths(equations: _Ints, a: int) -> dict[int, int] | None:
    """For each ‖P - N‖₂² that occurs in S(a) the largest ‖P‖₂² + ‖N‖₂²; None where it is too large to enumerate."""
    cells = equations.shape[1]
    if comb(cells + a - 1, a) * cells > _MOST_COUNTS:
        return None
    groups = _alike(equations, a)
    if max(map(len, groups), default=0) > _MOST_ALIKE or sum(len(group) ** 2 for group in groups) > 2 * _MOST_PAIRS:
        return None
    found = {0: 2 * a * a}
    for group in groups:
        products = group @ group.T
        lengths = np.diagonal(products)
        both = lengths[:, None] + lengths
        moved = both - 2 * products
        for length in np.unique(moved).tolist():
            found[length] = max(found.get(length, 0), int(both[moved == length].max()))
    return found


def _batches(equations: _Ints, a: int) -> Iterator[_Ints] | None:
    """One of each pair ±v of the members other than 0, in batches and perhaps several times; None for too many."""
    groups = _groups(equations, a)
    return None if groups is None else (batch for group in groups for batch in _pairs(group))


def _groups(equations: _Ints, a: int) -> list[_Ints] | None:
    """The multisets of a cells in groups with equal sums; None where they, or their pairs, are too many."""
    cells = equations.shape[1]
    if comb(cells + a - 1, a) > _MOST_MULTISETS:
        return None
    groups = _alike(equations, a)  # fewer changed rows are there too: P and N may share cells
    return groups if sum(comb(len(group), 2) for group in groups) <= _MOST_PAIRS else None


def _alike(equations: _Ints, size: int) -> list[_Ints]:
    """The multisets of `size` cells as counts, in groups of two or more that have equal sums."""
    cells = equations.shape[1]
    chosen = np.array(list(combinations_with_replacement(range(cells), size)), dtype=np.int64)
    counts = np.zeros((len(chosen), cells), dtype=np.int64)
    for column in chosen.T:
        counts[np.arange(len(chosen)), column] += 1
    _, group = np.unique(counts @ equations.T, axis=0, return_inverse=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(group.reshape(-1)))
    return [counts[members] for members in np.split(order, ends[:-1]) if len(members) > 1]


def _pairs(group: _Ints) -> Iterator[_Ints]:
    """The differences of all pairs of rows, a bounded number at a time."""
    first, second = np.triu_indices(len(group), k=1)
    for start in range(0, len(first), _MOST_AT_ONCE):
        here = slice(start, start + _MOST_AT_ONCE)
        yield group[first[here]] - group[second[here]]
