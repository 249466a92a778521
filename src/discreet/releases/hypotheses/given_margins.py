"""Independence beside exact margins: under the hypothesis the law of the published table is known completely.

Given its margins the confidential table is hypergeometric, whatever the population is, and the noise has a public law. So
a p-value is exact for two rows and two columns, and exact in its level for larger tables by public draws: theorems T1 to
T3 of docs/proofs/tests.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import Bits
from discreet.releases.hypotheses.masses import MISSING, Tails, hypergeometric
from discreet.releases.hypotheses.tables import EXACT_ROWS, NOT_EXACT

__all__ = ["Corner", "Drawn", "at_least", "drawn_p_value", "largest_association"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_UP = 1e-9  # relative: far more than the rounding of the sums below
_AT_ONCE = 1_000_000  # numbers held at a time


# Two rows and two columns -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Corner:
    """The first cell of a table of two rows and two columns with exact margins, from which all others follow.

    Args:
        rows: of the whole table.
        first: the exact total of the first row.
        second: the exact total of the first column.
        law: of the noise of the cell.
    """

    rows: int
    first: int
    second: int
    law: Tails

    @property
    def expected(self) -> Fraction:
        """The count that is expected under the hypothesis."""
        return Fraction(self.first * self.second, self.rows)

    def p_value(self, published: int, alternative: str) -> float:
        """An upper bound of the probability of a noisy count at least as far from its expectation, or on its side."""
        count = hypergeometric(self.rows, self.first, self.second)
        h = count.values.astype(np.int64)
        apart = abs(published - self.expected)
        found = 0.0
        if alternative != "less":
            least = published if alternative == "greater" else ceil(self.expected + apart)
            found += float(count.masses @ at_least(self.law, least - h))
        if alternative != "greater":
            most = published if alternative == "less" else floor(self.expected - apart)
            found += float(count.masses @ at_least(self.law, h - most))
        return min(1.0, found * (1 + _UP) + MISSING)


def at_least(law: Tails, k: Ints) -> Floats:
    """P(Y ≥ k), by symmetry."""
    above = law.rough_tails(np.maximum(k - 1, 0)) / 2
    below = law.rough_tails(np.maximum(-k, 0)) / 2
    found: Floats = np.where(k >= 1, above, 1 - below)
    return found + 2.0**-58


# Larger tables ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Drawn:
    """The statistic of the published table, and in how many of so many drawn tables it is at least as large.

    Args:
        statistic: of the published table.
        as_large: how many drawn tables have one at least as large.
        draws: how many were drawn.
        inexact: how far in total variation the law of a drawn table may be from the law that is meant.
    """

    statistic: float
    as_large: int
    draws: int
    inexact: float

    @property
    def p_value(self) -> Fraction:
        """(1 + as_large) / (1 + draws): with the published table all are exchangeable, but for the rounding of draws."""
        return Fraction(1 + self.as_large, 1 + self.draws) + self.draws * Fraction(self.inexact)


def largest_association(rows: Ints, columns: Ints, variance: float) -> Callable[[Ints], Floats]:
    """The squared length of a table less its expectation, each direction weighed by the variance that it has.

    A direction u ⊗ w has the variance n²/(n-1) · α · β from the hypothesis, α and β eigenvalues of diag(p) - pp′ for the
    shares p of rows and of columns, plus the variance of the noise. Without noise it is Pearson's χ² times (n-1)/n.
    """
    whole = int(rows.sum())
    expected = np.outer(rows, columns) / whole
    (alpha, left), (beta, right) = _directions(rows / whole), _directions(columns / whole)
    weights = 1 / (whole**2 / max(whole - 1, 1) * np.outer(alpha, beta) + variance)

    def statistic(tables: Ints) -> Floats:
        seen = left.T @ (tables - expected) @ right
        found: Floats = (seen**2 * weights).sum(axis=(-2, -1))
        return found

    return statistic


def _directions(shares: Floats) -> tuple[Floats, Floats]:
    """The eigenvalues above 0 of diag(p) - pp′ and their vectors, which add up to 0."""
    size = shares.size
    centring = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(centring @ (np.diag(shares) - np.outer(shares, shares)) @ centring)
    # diag(p) - pp′ has the null vector 1, so that centring changes nothing but the rounding.
    order = np.argsort(values)[1:]
    return np.maximum(values[order], 0.0), vectors[:, order]


def drawn_p_value(
    published: Ints, statistic: Callable[[Ints], Floats], null: Callable[[int, Bits], Ints], draws: int, bits: Bits
) -> Drawn:
    """The p-value by tables that are drawn under the hypothesis, with the noise of the release.

    Args:
        published: the noisy table.
        statistic: of each of several tables.
        null: draws so many noisy tables under the hypothesis.
        draws: how many.
        bits: the source of random bits.
    """
    seen = float(statistic(published[None])[0])
    edge = seen - _UP * abs(seen) - 1e-300  # a table that is as large but for rounding counts as as large
    as_large, left = 0, draws
    while left:
        now = min(left, max(1, _AT_ONCE // published.size))
        as_large += int((statistic(null(now, bits)) >= edge).sum())
        left -= now
    rows = int(published.sum())  # which the totals keep
    return Drawn(seen, as_large, draws, published.size * NOT_EXACT * max(1.0, rows / EXACT_ROWS))
