"""Independence where margins are noisy: the p-values of all margins that the noise leaves possible, and their largest.

For each cell against the rest the statistic is its count less what its row and column let expect, in a form whose law
hardly depends on the margins: theorem T4 of docs/proofs/tests.md. Several cells share the level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.releases.hypotheses.masses import MISSING, Spread, Tails, Term, hypergeometric, hypergeometrics, spread
from discreet.releases.hypotheses.search import Box

__all__ = ["Association", "Part", "tail_probabilities", "variance_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_Shares = tuple[tuple[float, float], tuple[float, float]]

_AXIS = {1: 256, 2: 16, 3: 6}  # centres on each side of a box, by the number of its sides that are not points
_ROUGH = 0.6  # of the distance that a normal law would have: farther off, a box is cut without a look


@dataclass(frozen=True, slots=True)
class Part:
    """The sum of cells: what is published of it, and the laws of their noises; no laws where it is exact.

    Each noise is within `off` of one of its law.
    """

    published: int
    laws: tuple[Tails, ...]
    off: float = 0.0

    def half_width(self, failing: float) -> int:
        """A w that the noise exceeds with at most this probability."""
        if not self.laws:
            return 0
        return _width(self.laws, failing) + ceil(self.off * len(self.laws))

    def terms(self, factor: float) -> list[Term]:
        """Its noises, each with this factor."""
        return [Term(factor, law, 1, self.off) for law in self.laws]


@lru_cache(maxsize=1024)
def _width(laws: tuple[Tails, ...], failing: float) -> int:
    """The smaller of two half-widths that are known before anything is drawn: of the law on a grid, and Boole's."""
    each = 1 - Fraction(failing) / len(laws)
    boole = sum(law.half_width(each) for law in laws)
    return min(boole, ceil(spread([Term(1.0, one) for one in laws]).half_width(failing)))


@dataclass(frozen=True, eq=False)
class Association:
    """One cell against the rest of a table.

    Args:
        cell: the noisy count of the cell.
        row: of its row.
        column: of its column.
        whole: of the table.
        inside: for each cell of the table its law, whether it is in the row, and whether it is in the column; where row and
            whole are exact, of the cells of the column alone. Each noise is as far off its law as the noise of the cell.
        alternative: "two-sided", "greater" or "less".
    """

    cell: Part
    row: Part
    column: Part
    whole: Part
    inside: Sequence[tuple[Tails, bool, bool]]
    alternative: str

    def box(self, failing: float) -> Box | None:
        """The numbers of rows, of the row and of the column that the noise leaves possible; None where there may be none."""
        ends = []
        for part in (self.whole, self.row, self.column):
            width = part.half_width(failing / 3)
            ends.append((max(0, part.published - width), part.published + width))
        (low, high), *others = ends
        if low < 1 or any(least > high or most < 0 for least, most in others):
            return None
        return Box((low, *(least for least, _ in others)), (high, *(min(most, high) for _, most in others)))

    def estimate(self) -> float:
        """The statistic at the published margins, in standard deviations."""
        rows = max(1, self.whole.published)
        r, c = (min(max(part.published / rows, 0.0), 1.0) for part in (self.row, self.column))
        return self._signed(self._statistic(r, c)) / self._deviation(rows, r, c)

    def at(self, parameters: tuple[int, ...]) -> float:
        """The p-value at these numbers, but for rounding."""
        rows, first, second = _possible(parameters)
        r, c = first / rows, second / rows
        count = hypergeometric(rows, first, second)
        law = spread(self._terms(r, c))
        edge = np.array([self._signed(self._statistic(r, c))])
        centred = count.values - first * second / rows
        return float(tail_probabilities(centred[None], count.masses[None], law, edge, self.alternative)[0]) * 0.99

    def above(self, box: Box, apart: float, needed: float) -> float:
        """No p-value of the box is above this number by more than `apart`."""
        shares = _ends(box, 1), _ends(box, 2)
        rows, first, second = _possible(box.centre)
        r, c = first / rows, second / rows
        seen = self._least(shares) - self._moved_noise((r, c), shares, apart / 2)
        if seen < _ROUGH * _normal_edge(needed) * self._deviation(rows, r, c):
            return 1.0
        points, moved = _grid(box, shares, apart / 2)
        low, masses = hypergeometrics(*points)
        centred = low[:, None] + np.arange(masses.shape[1]) - (points[1] * (points[2] / points[0]))[:, None]
        edges = np.full(low.size, seen - moved)
        return float(tail_probabilities(centred, masses, spread(self._terms(r, c)), edges, self.alternative).max())

    def _statistic(self, r: float, c: float) -> float:
        """The cell, less c of its row and r of its column, and rc of the whole: of mean 0 at the true shares."""
        return self.cell.published - c * self.row.published - r * self.column.published + r * c * self.whole.published

    def _signed(self, value: float) -> float:
        return {"two-sided": abs(value), "greater": value, "less": -value}[self.alternative]

    def _terms(self, r: float, c: float) -> list[Term]:
        """The noise of the statistic: each noisy cell with its factor, alike ones together."""
        row, column, whole = (bool(part.laws) for part in (self.row, self.column, self.whole))
        together: dict[tuple[float, Tails], int] = {}
        for law, in_row, in_column in self.inside:
            factor = (in_row and in_column) - c * (row and in_row) - r * (column and in_column) + r * c * whole
            together[abs(factor), law] = together.get((abs(factor), law), 0) + 1
        return [Term(factor, law, times, self.cell.off) for (factor, law), times in together.items()]

    def _least(self, shares: _Shares) -> float:
        """The least statistic over the shares: bilinear, so that its ends are at corners, or 0 between two signs."""
        corners = [self._statistic(r, c) for r in shares[0] for c in shares[1]]
        if self.alternative == "two-sided":
            found = 0.0 if min(corners) <= 0 <= max(corners) else min(map(abs, corners))
        else:
            found = min(self._signed(one) for one in corners)
        return found - 1e-9 * max(map(abs, corners))

    def _moved_noise(self, at: tuple[float, float], shares: _Shares, apart: float) -> float:
        """How far the noise of the statistic is from the noise at the centre, but for the probability `apart`."""
        (r, c), (rows, columns) = at, shares
        steps = (
            max(abs(end - c) for end in columns),
            max(abs(end - r) for end in rows),
            max(abs(one * other - r * c) for one in rows for other in columns),
        )
        widths = (part.half_width(apart / 3) for part in (self.row, self.column, self.whole))
        return sum(step * width for step, width in zip(steps, widths, strict=True))

    def _deviation(self, rows: int, r: float, c: float) -> float:
        return max(1e-9, sqrt(rows * r * (1 - r) * c * (1 - c) + variance_of(self._terms(r, c))))


def tail_probabilities(centred: Floats, masses: Floats, law: Spread, edges: Floats, alternative: str) -> Floats:
    """Upper bounds of the probability that a centred count plus noise is at least an edge, or its size is."""
    edge = (edges - 1e-9 * (np.abs(edges) + 1))[:, None]
    beyond = np.zeros_like(masses)
    if alternative != "less":
        beyond += law.at_least(edge - centred)
    if alternative != "greater":
        beyond += law.at_least(edge + centred)
    found = (masses * np.minimum(beyond, 1.0)).sum(axis=1) * (1 + 1e-9) + MISSING
    if alternative == "two-sided":
        found = np.where(edges <= 0, 1.0, found)
    capped: Floats = np.minimum(found, 1.0)
    return capped


def _possible(parameters: tuple[int, ...]) -> tuple[int, int, int]:
    rows, first, second = parameters
    return rows, min(first, rows), min(second, rows)


def _ends(box: Box, axis: int) -> tuple[float, float]:
    """The least and the greatest share of a margin in the box."""
    return box.lows[axis] / box.highs[0], min(1.0, box.highs[axis] / max(1, box.lows[0]))


def _grid(box: Box, shares: _Shares, apart: float) -> tuple[tuple[Ints, Ints, Ints], float]:
    """Points such that each of the box is near one of them, and how far counts at both are apart, but for a probability."""
    sides = [high - low for low, high in zip(box.lows, box.highs, strict=True)]
    most = _AXIS[max(1, sum(side > 0 for side in sides))]
    strides = [side // most + 1 for side in sides]
    axes = [
        np.minimum(np.arange(low, high + 1, stride) + stride // 2, high)
        for low, high, stride in zip(box.lows, box.highs, strides, strict=True)
    ]
    rows, first, second = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
    (r_low, r_high), (c_low, c_high) = shares
    both = r_low * c_low, r_high * c_high
    apart_in = [stride // 2 for stride in strides]
    if max(box.highs[1:]) > box.lows[0]:  # a group cut to all rows may have to follow their number
        apart_in = [apart_in[0], *(max(apart_in[0], one) for one in apart_in[1:])]
    each = zip(apart_in, (both, shares[1], shares[0]), strict=True)
    moved = sum(moved_count(steps, share, apart / 3) for steps, share in each)
    return (rows, np.minimum(first, rows), np.minimum(second, rows)), moved


def moved_count(steps: int, share: tuple[float, float], failing: float) -> float:
    """How far a centred count moves at most with so many rows more, but for a probability; drawn together.

    Each row adds 0 or 1 with a probability between the two shares. The whole is as a sum of independent ones in the order
    of convex functions, so that Bernstein's inequality holds (T4, "Counts drawn together").
    """
    low, high = share
    certain = steps * max(high, 1 - low)
    variance = steps * (0.25 if low <= 0.5 <= high else max(low * (1 - low), high * (1 - high)))
    far = -log(failing / 2)
    likely = far / 3 + sqrt(far**2 / 9 + 2 * variance * far)
    return min(certain, likely * (1 + 1e-9))


def variance_of(terms: Sequence[Term]) -> float:
    """The variance of the sum of all terms."""
    return sum(one.times * one.factor**2 * one.law.variance() for one in terms)


def _normal_edge(probability: float) -> float:
    """About where a two-sided normal tail has this probability."""
    return NormalDist().inv_cdf(1 - min(probability, 0.99) / 2)
