"""The exact laws of counts: binomial and hypergeometric masses, distribution functions and quantiles, certified.

Both laws have rational ratios p(k + 1)/p(k) that fall in k. So the mass beyond k is summed from k outwards, term by term,
and what is left out is below a geometric series of the last ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from statistics import NormalDist
from typing import Protocol

from discreet.errors import ArgumentError
from discreet.exact.balls import Ball, around, ball, enclosure, negligible, sign
from discreet.exact.numbers import Amount
from discreet.noise._parameters import rate_between
from discreet.noise.single.laws import check_probability, smallest

__all__ = ["Binomial", "Hypergeometric"]

_SMALL = 2000  # up to this many records a comparison that balls do not decide is made in rationals


class CountLaw(Protocol):
    """A law of counts whose ratios of masses fall."""

    @property
    def support(self) -> tuple[int, int]:
        """The smallest and the largest value."""

    def mean(self) -> Fraction:
        """The mean, exactly."""

    def variance(self) -> Fraction:
        """The variance, exactly."""

    def mass(self, k: int) -> Fraction:
        """P(Y = k) as a rational."""

    def mass_ball(self, k: int) -> Ball:
        """P(Y = k) as a ball of the working precision."""

    def ratio(self, k: int) -> Fraction:
        """P(Y = k + 1)/P(Y = k)."""


def _log_choose(n: int, k: int) -> Ball:
    return ball(n + 1).lgamma() - ball(k + 1).lgamma() - ball(n - k + 1).lgamma()


def pmf(self: CountLaw, k: int) -> tuple[float, float]:
    """Doubles around P(Y = k)."""
    first, last = self.support
    if not first <= k <= last:
        return 0.0, 0.0
    return enclosure(lambda: self.mass_ball(k), at_most=1.0)


def cdf(self: CountLaw, k: int) -> tuple[float, float]:
    """Doubles around P(Y ≤ k)."""
    first, last = self.support
    if not first <= k < last:
        return (0.0, 0.0) if k < first else (1.0, 1.0)
    return enclosure(lambda: _cdf_ball(self, k), at_most=1.0)


def _cdf_ball(law: CountLaw, k: int) -> Ball:
    """P(Y ≤ k) for k inside the support, from the side on which the terms fall from k on."""
    if k < law.mean():
        return _sum_outwards(law, k, -1)
    return 1 - _sum_outwards(law, k + 1, 1)


def _sum_outwards(law: CountLaw, start: int, step: int) -> Ball:
    """Σ of the masses at start, start + step, … to the end of the support."""
    first, last = law.support
    end, small = (last if step > 0 else first), negligible()
    term, total, k = law.mass_ball(start), ball(0), start
    while True:
        total += term
        if k == end:
            return total
        ratio = law.ratio(k) if step > 0 else 1 / law.ratio(k - 1)
        term, k = term * ball(ratio), k + step
        # Ratios fall outwards: all that is left is below term/(1 - ratio).
        if ratio < 1 and not term >= small * total * ball(1 - ratio):
            return total + around(0, (term / ball(1 - ratio)).upper())


def quantile(self: CountLaw, probability: Amount) -> int:
    """The smallest k with P(Y ≤ k) ≥ probability, for 0 < probability < 1."""
    p = check_probability(probability)
    first, last = self.support
    near = NormalDist().inv_cdf(min(max(float(p), 1e-15), 1 - 1e-15)) * float(self.variance()) ** 0.5
    guess = min(max(0, int(self.mean() + Fraction(near)) - first), last - first)
    return first + smallest(lambda k: first + k >= last or _enough(self, first + k, p), guess)


def _enough(law: CountLaw, k: int, p: Fraction) -> bool:
    """True if P(Y ≤ k) ≥ p. Both may be equal rationals; for many records that counts as "no"."""
    first, last = law.support
    decided = sign(lambda: _cdf_ball(law, k) - ball(p), most=2000)
    if decided == 0 and last - first <= _SMALL:
        return sum(map(law.mass, range(first, k + 1)), Fraction(0)) >= p
    return decided > 0


@dataclass(frozen=True, slots=True)
class Binomial:
    """The number of successes of `trials` independent records, each with probability `rate`, 0 < rate < 1."""

    trials: int
    rate: Fraction

    def __post_init__(self) -> None:
        rate = rate_between(self.rate, "rate")
        if self.trials < 0 or rate in {0, 1}:
            raise ArgumentError("a binomial law wants trials ≥ 0 and a rate strictly between 0 and 1; others are certain")
        object.__setattr__(self, "rate", rate)

    pmf, cdf, quantile = pmf, cdf, quantile

    @property
    def support(self) -> tuple[int, int]:
        """The smallest and the largest value."""
        return 0, self.trials

    def mean(self) -> Fraction:
        """The mean, exactly."""
        return self.trials * self.rate

    def variance(self) -> Fraction:
        """The variance, exactly."""
        return self.trials * self.rate * (1 - self.rate)

    def mass(self, k: int) -> Fraction:
        """P(Y = k) as a rational; slow for many trials."""
        return comb(self.trials, k) * self.rate**k * (1 - self.rate) ** (self.trials - k)

    def mass_ball(self, k: int) -> Ball:
        """P(Y = k) as a ball of the working precision."""
        log = ball(self.rate).log() * k + ball(1 - self.rate).log() * (self.trials - k)
        return (_log_choose(self.trials, k) + log).exp()

    def ratio(self, k: int) -> Fraction:
        """P(Y = k + 1)/P(Y = k)."""
        return Fraction(self.trials - k, k + 1) * self.rate / (1 - self.rate)


@dataclass(frozen=True, slots=True)
class Hypergeometric:
    """The number of good records among `drawn` taken without replacement from `good` + `bad`."""

    good: int
    bad: int
    drawn: int

    def __post_init__(self) -> None:
        if min(self.good, self.bad, self.drawn) < 0 or self.drawn > self.good + self.bad:
            raise ArgumentError("a hypergeometric law wants good, bad ≥ 0 and 0 ≤ drawn ≤ good + bad")

    pmf, cdf, quantile = pmf, cdf, quantile

    @property
    def support(self) -> tuple[int, int]:
        """The smallest and the largest value."""
        return max(0, self.drawn - self.bad), min(self.drawn, self.good)

    def mean(self) -> Fraction:
        """The mean, exactly."""
        return Fraction(self.drawn * self.good, max(1, self.good + self.bad))

    def variance(self) -> Fraction:
        """The variance, exactly."""
        total = self.good + self.bad
        left = self.drawn * self.good * self.bad * (total - self.drawn)
        return Fraction(left, max(1, total * total * (total - 1)))

    def mass(self, k: int) -> Fraction:
        """P(Y = k) as a rational; slow for many records."""
        ways = comb(self.good, k) * comb(self.bad, self.drawn - k)
        return Fraction(ways, comb(self.good + self.bad, self.drawn))

    def mass_ball(self, k: int) -> Ball:
        """P(Y = k) as a ball of the working precision."""
        log = _log_choose(self.good, k) + _log_choose(self.bad, self.drawn - k)
        return (log - _log_choose(self.good + self.bad, self.drawn)).exp()

    def ratio(self, k: int) -> Fraction:
        """P(Y = k + 1)/P(Y = k)."""
        return Fraction((self.good - k) * (self.drawn - k), (k + 1) * (self.bad - self.drawn + k + 1))
