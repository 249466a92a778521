"""Numbers that are linear in integer noises, and certified half-widths of what is linear in them.

A published count or sum is its true value plus Σ factor · Y over integer noises Y of known laws. Sums, differences and
multiples of such numbers have the same form, and a noise that occurs in several of them occurs once in the result.
docs/proofs/derived.md, "Linear numbers".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, gcd, lcm, log
from typing import Protocol

from discreet.noise.single.laws import Law
from discreet.noise.single.sums import SumOfNoises

__all__ = ["LEVEL", "Cell", "Linear", "LogConcave", "Tied", "constant", "half_width"]

LEVEL = Fraction(95, 100)
"""The level at which a document states intervals."""

_UP = 1 + 1e-12  # covers the rounding of two logarithms and three operations


class Tied(Protocol):
    """The law of one noise that depends on others."""

    def half_width(self, coverage: Fraction) -> int:
        """A w with P(|Y| ≤ w) ≥ coverage."""

    def variance(self) -> float:
        """An upper bound of its variance."""


@dataclass(frozen=True, slots=True)
class LogConcave:
    """A symmetric integer noise with a log-concave law, of which P(|Y| ≤ width) ≥ 95 % is known and nothing else."""

    width: int

    def half_width(self, coverage: Fraction) -> int:
        """A w with P(|Y| ≤ w) ≥ coverage: P(|Y| > k)^(1/(k + 1)) does not increase (Lemma D2)."""
        if coverage <= LEVEL:
            return self.width
        factor = log(1 - coverage) / log(1 - LEVEL)
        return ceil((self.width + 1) * factor * _UP) - 1

    def variance(self) -> float:
        """An upper bound of the variance: Σ (2k + 1) P(|Y| > k) with the geometric bound of the tails beyond `width`."""
        size = self.width + 1
        rate = float(float(1 - LEVEL) ** (1 / size))
        return _UP * (size**2 + (1 - float(LEVEL)) * (2 * size + 2) / (1 - rate) ** 2)


@dataclass(frozen=True, slots=True)
class Cell:
    """The noise of one integer of an answer.

    Args:
        draw: which draw it is; equal ones are the same random numbers.
        query: the answer.
        place: the cell.
        law: its law.
        tied: whether it depends on the noise of other cells of the same answer.
    """

    draw: str
    query: str
    place: int
    law: Law | Tied
    tied: bool


@dataclass(frozen=True, slots=True)
class Linear:
    """A published number: the true one plus Σ factor · noise, over noises that differ."""

    value: Fraction
    terms: tuple[tuple[Fraction, Cell], ...] = ()

    def plus(self, factor: Fraction, other: Linear) -> Linear:
        """Self + factor · other, with the factors of noises that are in both added up."""
        added: dict[Cell, Fraction] = {cell: size for size, cell in self.terms}
        for size, cell in other.terms:
            added[cell] = added.get(cell, Fraction(0)) + factor * size
        terms = tuple((size, cell) for cell, size in added.items() if size)
        return Linear(self.value + factor * other.value, terms)

    def times(self, factor: Fraction) -> Linear:
        """Factor · self."""
        return Linear(Fraction(0)).plus(factor, self)

    def half_width(self, coverage: Fraction) -> Fraction:
        """A w with P(|published - true| ≤ w) ≥ coverage."""
        return half_width(self.terms, coverage)

    def variance(self) -> Fraction:
        """An upper bound of the variance of its noise."""
        apart = sum((size**2 * Fraction(cell.law.variance()) for size, cell in self.terms if not cell.tied), Fraction(0))
        deviations = (abs(size) * _root_up(cell.law.variance()) for size, cell in self.terms if cell.tied)
        return apart + sum(deviations, Fraction(0)) ** 2


def constant(value: Fraction) -> Linear:
    """A number that is public without noise."""
    return Linear(value)


def half_width(terms: tuple[tuple[Fraction, Cell], ...], coverage: Fraction) -> Fraction:
    """A w with P(|Σ factor · noise| ≤ w) ≥ coverage.

    The law of the sum where the noises are independent. Each tied noise has a statement of its own, and those that are
    independent share one: each fails with probability at most (1 - coverage) over their number (Boole's inequality).
    """
    tied = [(size, cell) for size, cell in terms if cell.tied]
    free = [(size, cell) for size, cell in terms if not cell.tied]
    each = 1 - (1 - coverage) / max(1, len(tied) + bool(free))
    wide = sum((abs(size) * cell.law.half_width(each) for size, cell in tied), Fraction(0))
    return wide + _of_independent(free, each)


def _of_independent(terms: list[tuple[Fraction, Cell]], coverage: Fraction) -> Fraction:
    if not terms:
        return Fraction(0)
    scale = lcm(*(size.denominator for size, _ in terms))
    factors = [abs(int(size * scale)) for size, _ in terms]
    common = gcd(*factors)
    pairs = sorted(((factor // common, cell.law) for factor, (_, cell) in zip(factors, terms, strict=True)), key=repr)
    return Fraction(_width(tuple(pairs), coverage) * common, scale)


@lru_cache(maxsize=8192)
def _width(pairs: tuple[tuple[int, Law], ...], coverage: Fraction) -> int:
    """The smaller of two widths that are both known before anything is drawn: the law of the sum, and the union bound."""
    found = SumOfNoises(pairs).half_width(coverage)
    if len(pairs) > 2:
        return found
    apart = 1 - (1 - coverage) / len(pairs)
    return min(found, sum(factor * law.half_width(apart) for factor, law in pairs))


def _root_up(variance: float) -> Fraction:
    return Fraction(variance**0.5 * _UP)
