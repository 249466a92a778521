"""What one record changes in the choices of quantiles, from the definition of their losses alone (docs/proofs/selection.md).

Of one choice every candidate c has a loss. Between two tables the logarithm of the ratio of any two candidates' weights
changes by at most (the largest less the smallest difference of losses)/(2·max(q, 1 - q)), in units of the range that the
noise is chosen for. For every course that the choices can take these numbers are added up over all choices, and their
squares: no table and no course may exceed the declared Δ₁ and Δ₂².
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

PIECES = 3  # into so many parts the records at a code are cut where a choice parts the records
MOST = 3  # records of a cell
STARTS = (Fraction(1, 2), Fraction(3, 2))  # how many records are kept away from an end of the data, where q is 0 or 1
HALF = (Fraction(1, 2),)
Table = tuple[int, ...]
Pair = tuple[Fraction, Fraction]


def target_of(n: int, q: Fraction, start: Fraction) -> Fraction:
    """How many of n records are to come before the quantile."""
    inwards = min(start, Fraction(n, 2))
    if q == 0:
        return inwards
    return n - inwards if q == 1 else q * n


def candidates(table: Table, low: int, high: int, target: Fraction, *, last: bool) -> Iterator[tuple[Fraction, int]]:
    """Of every candidate the loss, and how many records go below."""
    for code in range(low, high + 1):
        before, at = sum(one < code for one in table), table.count(code)
        if last:
            yield max(before - target, target - before - at), before
            continue
        for piece in range(PIECES):
            start, end = before + piece * at // PIECES, before + (piece + 1) * at // PIECES
            yield max(start - target, target - end), before + ((2 * piece + 1) * at + PIECES) // (2 * PIECES)


@cache
def changed(  # noqa: PLR0917 (so that it is cached)
    one: Table,
    other: Table,
    low: int,
    high: int,
    at: tuple[Fraction, ...],
    start: Fraction,
    span: Pair = (Fraction(0), Fraction(1)),
) -> frozenset[Pair]:
    """The sums, over all choices of a course, of the factors and of their squares: those that no other course exceeds."""
    if not at or one == other:
        return frozenset({(Fraction(0), Fraction(0))})
    middle = len(at) // 2
    q = (at[middle] - span[0]) / (span[1] - span[0])
    both = [list(candidates(table, low, high, target_of(len(table), q, start), last=len(at) == 1)) for table in (one, other)]
    moved = [first - second for (first, _), (second, _) in zip(*both, strict=True)]
    factor = (max(moved) - min(moved)) / (2 * max(q, 1 - q))
    found: set[Pair] = set()
    per_code = len(moved) // (high - low + 1)
    for place, ((_, below), (_, below_other)) in enumerate(zip(*both, strict=True)):
        code = low + place // per_code
        left = changed(one[:below], other[:below_other], low, code, at[:middle], start, (span[0], at[middle]))
        right = changed(one[below:], other[below_other:], code, high, at[middle + 1 :], start, (at[middle], span[1]))
        found |= {(factor + a + c, factor**2 + b + d) for a, b in left for c, d in right}
    return frozenset(found)


def _largest(pairs: list[tuple[Table, Table]], size: int, at: tuple[Fraction, ...]) -> tuple[Fraction, Fraction]:
    sums = [pair for one, other in pairs for start in STARTS for pair in changed(one, other, 0, size - 1, at, start)]
    return max(total for total, _ in sums), max(squares for _, squares in sums)


@cache
def choices_changed(size: int, at: tuple[Fraction, ...]) -> tuple[Pair, Pair]:
    """The largest Σ factors and Σ squared factors on tables of a few records: one appears, and one is replaced."""
    tables = [table for n in range(MOST + 1) for table in combinations_with_replacement(range(size), n)]
    removed = [(table, table[:i] + table[i + 1 :]) for table in tables for i in range(len(table))]
    swapped = [
        (table, tuple(sorted((*table[:i], code, *table[i + 1 :]))))
        for table in tables
        for i in range(len(table))
        for code in range(size)
    ]
    return _largest(removed, size, at), _largest(swapped, size, at)
