"""The exact law of one cell of a block of noise that sums to 0: masses, tails, intervals and variance, certified.

A block of m = p + 1 cells has P(v) proportional to q^|v|₁ on the integers of sum 0, q = exp(-1/scale). With x = q² and
y = x/(1 - x), the cell v₁ has (docs/proofs/lattice-knorm.md, Theorem L2.2)

    P(v₁ ≥ k) = U(k)/(U(0) + U(1)) for k ≥ 0,    U(k) = x^k Σ_{j<p} C(p + j, j) C(p + k - 1, k + j) y^j.

All terms are positive and their ratios fall in j; about √p of them matter, whatever the scale. So intervals are as exact
for a hundred thousand cells as for two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import expm1, sqrt

from discreet.errors import ArgumentError
from discreet.exact.balls import Ball, around, ball, enclosure, negligible, sign
from discreet.exact.numbers import Amount
from discreet.exact.precision import with_precision, working_bits
from discreet.noise._parameters import MOST_SCALE, check_size, positive
from discreet.noise.single.laws import DiscreteLaplace, cdf, check_coverage, check_probability, smallest, tail

__all__ = ["SumZeroLaplaceCell"]

_UNCHECKED = 16  # terms added between two looks at whether the sum is good enough


@dataclass(frozen=True, slots=True)
class SumZeroLaplaceCell:
    """One cell of a block of `sum_zero_laplace`: symmetric about 0, and always 0 if it is the only cell.

    |v₁| is stochastically smaller than for `DiscreteLaplace(scale)`, to which the law converges as cells are added.

    Attributes:
        scale: an exact rational in (0, 10^17].
        cells: the cells of the whole block, at least 1.
    """

    scale: Fraction
    cells: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale", most=MOST_SCALE))
        object.__setattr__(self, "cells", check_size(self.cells, "cells"))
        if not self.cells >= 1:
            raise ArgumentError(f"cells={self.cells}: must be at least 1")

    tail, cdf = tail, cdf

    def pmf(self, k: int) -> tuple[float, float]:
        """Doubles around P(v₁ = k)."""
        size = abs(k)
        return enclosure(lambda: _at_least(self, size) - _at_least(self, size + 1), at_most=1.0)

    def tail_ball(self, k: int) -> Ball:
        """P(|v₁| > k) as a ball of the working precision, for k ≥ 0."""
        return 2 * _at_least(self, k + 1)

    def quantile(self, probability: Amount) -> int:
        """The smallest k with P(v₁ ≤ k) ≥ probability, for 0 < probability < 1."""
        p = check_probability(probability)
        # From 1/2 on, the first k with P(v₁ ≥ k + 1) ≤ 1 - p; below, by symmetry, minus the last j with P(v₁ ≥ j) ≥ p.
        return _first(self, 1 - p) - 1 if p >= Fraction(1, 2) else 1 - _first(self, p)

    def half_width(self, coverage: Amount) -> int:
        """The smallest w with P(|v₁| ≤ w) ≥ coverage, for 0 ≤ coverage < 1."""
        return _first(self, (1 - check_coverage(coverage)) / 2) - 1

    def variance(self) -> float:
        """The variance of v₁, rounded up."""
        return enclosure(lambda: _variance(self))[1]


def _variance(law: SumZeroLaplaceCell) -> Ball:
    """2p/((p + 1)(p + 2)) · (p P(v₁ ≥ 1)(1 + 2y) + (3p + 2)y + (4p + 2)y²)."""
    p, y = law.cells - 1, _log_odds(law.scale).exp()
    inner = p * _at_least(law, 1) * (1 + 2 * y) + (3 * p + 2) * y + (4 * p + 2) * y * y
    return ball(Fraction(2 * p, (p + 1) * (p + 2))) * inner


@lru_cache(maxsize=4096)
def _first(law: SumZeroLaplaceCell, beyond: Fraction) -> int:
    """The smallest k ≥ 1 with P(v₁ ≥ k) ≤ beyond, 0 < beyond ≤ 1.

    P(v₁ ≥ k), a rational function of x that is not constant, is transcendental; so enough bits decide every comparison.
    Should 20,000 not, it counts as "too large": intervals are then wider, never narrower.
    """

    def enough(k: int) -> bool:
        return sign(lambda: ball(beyond) - _at_least(law, k + 1)) > 0

    if 2 * beyond >= 1 or law.cells == 1:
        return 1  # P(v₁ ≥ 1) < 1/2
    near = DiscreteLaplace(law.scale).half_width(1 - 2 * beyond)  # at least what is looked for, by a share of about 1/cells
    return 1 + smallest(enough, near if near < law.cells else _descend(law, beyond, near))


def _descend(law: SumZeroLaplaceCell, beyond: Fraction, k: int) -> int:
    """A k near the first with P(v₁ > k) ≤ beyond: Newton's method on the logarithm, which is concave, from the right."""

    def step() -> int:
        here, further = (_at_least(law, k + i).log() for i in (1, 2))
        length = (ball(beyond).log() - here) / (here - further)
        return int(length.mid().floor().unique_fmpz()) if length.is_finite() else 0

    for _ in range(60):
        whole = with_precision(256, step)
        if not 0 < whole <= k:
            break
        k -= whole
    return k


def _at_least(law: SumZeroLaplaceCell, k: int) -> Ball:
    """P(v₁ ≥ k) as a ball of the working precision, for k ≥ 0."""
    if law.cells == 1:
        return ball(int(k == 0))
    return _weight_from(law, k) / _whole_weight(law, working_bits())


@lru_cache(maxsize=64)
def _whole_weight(law: SumZeroLaplaceCell, precision: int) -> Ball:
    """U(0) + U(1) at that precision, which the cache remembers with it."""
    return with_precision(precision, lambda: _weight_from(law, 0) + _weight_from(law, 1))


def _weight_from(law: SumZeroLaplaceCell, k: int) -> Ball:
    """U(k), summed from about its largest term, the j-th, in both directions."""
    p, log_y = law.cells - 1, _log_odds(law.scale)
    j = _largest_term(law, k)
    log_term = _log_choose(p + j, j) + _log_choose(p + k - 1, k + j) + j * log_y - 2 * k / ball(law.scale)
    term = log_term.exp()
    upwards = (((p + 1 + i) * (p - 1 - i), (i + 1) * (k + 1 + i)) for i in range(j, p - 1))
    downwards = ((i * (k + i), (p + i) * (p - i)) for i in range(j, 0, -1))
    return term + _sum_rest(term, log_y.exp(), upwards) + _sum_rest(term, (-log_y).exp(), downwards)


def _sum_rest(term: Ball, factor: Ball, ratios: Iterable[tuple[int, int]]) -> Ball:
    """Σ of the terms after `term`, each of them top/bottom · factor times the one before, where these ratios fall."""
    small, total = negligible(), ball(0)
    for count, (top, bottom) in enumerate(ratios, start=1):
        ratio = factor * top / bottom
        term = term * ratio
        total += term
        # A geometric series bounds what is left out. A term that is not even known to differ from 0 is as good as small.
        if count % _UNCHECKED == 0 and ratio < 1 and not term >= small * total * (1 - ratio):
            return total + around(0, (term / (1 - ratio)).upper())
    return total


def _largest_term(law: SumZeroLaplaceCell, k: int) -> int:
    """About the j of the largest term of U(k), where (p² - (j + 1)²) y = (j + 1)(k + 1 + j). Any j would be right."""
    p, y, distance = law.cells - 1, 1 / expm1(min(2 / law.scale, Fraction(700))), float(min(k, 1 << 500))
    root = 2 * p * p * y / (distance + sqrt(distance * distance + 4 * (1 + y) * p * p * y))
    return min(int(root), p - 1)


def _log_odds(scale: Fraction) -> Ball:
    """The logarithm of y = x/(1 - x)."""
    log_x = ball(-2 / scale)
    return log_x - (-log_x.expm1()).log()


def _log_choose(n: int, k: int) -> Ball:
    return ball(n + 1).lgamma() - ball(k + 1).lgamma() - ball(n - k + 1).lgamma()
