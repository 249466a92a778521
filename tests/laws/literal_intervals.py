"""The choice of an interval, written down record by record from docs/proofs/intervals.md: what the code is held against."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import ceil, exp, log

Table = tuple[int, ...]
Pair = tuple[Fraction, Fraction]
Chances = dict[tuple[int, int], float]

_MOST = 3


def intervals(size: int, centre: int) -> list[tuple[int, int]]:
    """From the centre alone to everything, each d the next code or 7/5 of the one before."""
    found, d = [], 0
    while True:
        found.append((max(0, centre - d), min(size - 1, centre + d)))
        if found[-1] == (0, size - 1):
            return found
        d = min(size - 1, max(d + 1, 7 * d // 5))


def quantile(table: Table, q: Fraction) -> int:
    """The smallest value with at least max(qN, 1) records up to it."""
    return sorted(table)[max(ceil(q * len(table)), 1) - 1]


def margin(table: Table, size: int, interval: tuple[int, int], q: Fraction) -> Fraction | None:
    """How many records it reaches beyond the quantile; None for everything."""
    low, high = interval
    wanted = q * len(table) if q else Fraction(1)
    sides = []
    if high < size - 1:
        sides.append(sum(x <= high for x in table) - wanted + Fraction(1, q.denominator))
    if low > 0:
        sides.append(wanted - sum(x < low for x in table))
    return min(sides, default=None)


def wanted_margin(q: Fraction, reach: Fraction, level: Fraction) -> Fraction:
    """t, a multiple of 1/(denominator of q)."""
    needed = max(level / (1 - level) / Fraction(3, 2), Fraction(38, 15))
    t = log(needed) * float(2 * max(q, 1 - q) / reach)
    return Fraction(max(1, ceil(t * q.denominator)), q.denominator)


def law_of_interval(  # noqa: PLR0917 (a literal definition)
    table: Table, size: int, centre: int, q: Fraction, reach: Fraction, level: Fraction
) -> Chances:
    """The probability of every interval."""
    t, rate = wanted_margin(q, reach, level), reach / (2 * max(q, 1 - q))
    nested = intervals(size, centre)
    margins = [margin(table, size, one, q) for one in nested]
    weights, prior = [], 1
    for k, own in enumerate(margins):
        terms = ([margins[k - 1] - t] if k else []) + ([t - own] if own is not None else [])
        weights.append(prior * exp(-float(rate * max(terms))))
        prior = ceil(Fraction(8, 5) * prior)
    return {one: weight / sum(weights) for one, weight in zip(nested, weights, strict=True)}


MARGINS = (Fraction(0), Fraction(1), Fraction(5))
"""The t with which losses are compared: it is public, and the losses may change by no more whatever it is."""


def losses(table: Table, size: int, centre: int, q: Fraction, t: Fraction) -> list[Fraction]:
    """Of the intervals from the smallest to everything."""
    margins = [margin(table, size, one, q) for one in intervals(size, centre)]
    found = []
    for k, own in enumerate(margins):
        before = margins[k - 1] if k else None
        found.append(max(([] if before is None else [before - t]) + ([] if own is None else [t - own])))
    return found


@cache
def largest_factor(size: int, q: Fraction, pairs: tuple[tuple[Table, Table], ...]) -> Fraction:
    """The largest range of one choice in these pairs, relative to the range of the law."""
    worst = Fraction(0)
    for (one, other), centre, t in product(pairs, range(size), MARGINS):
        both = (losses(table, size, centre, q, t) for table in (one, other))
        moved = [first - second for first, second in zip(*both, strict=True)]
        worst = max(worst, (max(moved) - min(moved)) / (2 * max(q, 1 - q)))
    return worst


@cache
def intervals_changed(size: int, at: tuple[Fraction, ...]) -> tuple[Pair, Pair]:
    """The largest Σ factors and Σ squared factors on tables of a few records: one appears, and one is replaced."""
    if size < 2:
        return (Fraction(0), Fraction(0)), (Fraction(0), Fraction(0))
    tables = [table for n in range(_MOST + 1) for table in combinations_with_replacement(range(size), n)]
    left_out = [(table, i, (*table[:i], *table[i + 1 :])) for table in tables for i in range(len(table))]
    removed = tuple((table, rest) for table, _, rest in left_out)
    swapped = tuple((table, (*rest, code)) for table, _, rest in left_out for code in range(size))
    found = []
    for pairs in (removed, swapped):
        factors = [largest_factor(size, q, pairs) for q in at]
        found.append((sum(factors, Fraction(0)), sum((one**2 for one in factors), Fraction(0))))
    return found[0], found[1]
