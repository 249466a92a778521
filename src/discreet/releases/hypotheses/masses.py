"""Probabilities of counts and of weighted sums of noises in double precision, each with a bound of what it leaves out.

Numbers here are post-processing: what a probability is rounded by is added to it, so that no p-value is below the truth
(docs/proofs/tests.md, "Arithmetic").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.exact.cached import cached_property
from discreet.exact.numbers import Amount

__all__ = ["MISSING", "Counts", "Spread", "Tails", "Term", "binomial", "hypergeometric", "hypergeometrics", "spread"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MISSING = 1e-14
"""What one law of a count leaves out: its tails beyond 9 standard deviations and 36 (Bernstein's inequality)."""

_BEYOND = 1e-11  # of one noise, left out
_ERROR = 1e-11  # of the transforms and of the masses
_FINE = 32  # steps of the grid in a standard deviation
_MOST = 1 << 18
_FAR = 2.0**62  # no noise is farther out


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """The masses of a count, at `first`, `first` + 1, …: they add up to 1, and are too large by a share below MISSING."""

    first: int
    masses: Floats

    @property
    def values(self) -> Floats:
        """The counts themselves."""
        return self.first + np.arange(self.masses.size, dtype=np.float64)


def hypergeometric(rows: int, first: int, second: int) -> Counts:
    """How many of `rows` are in both of two groups of `first` and `second` rows, where every such pair is equally likely."""
    low, masses = hypergeometrics(*(np.array([one], dtype=np.int64) for one in (rows, first, second)))
    return Counts(int(low[0]), masses[0])


@lru_cache(maxsize=4096)
def binomial(rows: int, rate: float) -> Counts:
    """How many of `rows` independent rows have something that each has with probability `rate`, 0 < rate < 1."""
    if not rows:
        return Counts(0, np.ones(1))
    low, high = _window(rows * rate, ceil(9 * sqrt(rows * rate * (1 - rate)) + 36), 0, rows)
    h = np.arange(low, high, dtype=np.float64)
    return Counts(low, _from_ratios((rows - h) / (h + 1) * (rate / (1 - rate))))


def hypergeometrics(rows: Ints, first: Ints, second: Ints) -> tuple[Ints, Floats]:
    """The same for many triples: the first counts, and a line of masses for each, 0 beyond the last count."""
    whole = np.maximum(rows, 1).astype(np.float64)
    half = _half_windows(whole, first.astype(np.float64), second.astype(np.float64))
    mean = np.floor(first * (second / whole)).astype(np.int64)
    low = np.maximum(np.maximum(0, first + second - rows), mean - half)
    high = np.minimum(np.minimum(first, second), mean + 1 + half)
    places = np.arange(int((high - low).max(initial=0)))
    h = (low[:, None] + places).astype(np.float64)
    n, r, c = (one[:, None].astype(np.float64) for one in (rows, first, second))
    inside = h < high[:, None]
    ratios = np.where(inside, (r - h) * (c - h), 1.0) / np.where(inside, (h + 1) * (n - r - c + h + 1), 1.0)
    logs = np.zeros((rows.size, places.size + 1))
    np.cumsum(np.log(ratios), axis=1, out=logs[:, 1:])
    logs[:, 1:][~inside] = -np.inf
    masses = np.exp(logs - logs.max(axis=1, keepdims=True))
    return low, masses / masses.sum(axis=1, keepdims=True)


def _half_windows(rows: Floats, first: Floats, second: Floats) -> Ints:
    """How far from its expectation a hypergeometric count is, but for a probability below MISSING.

    It is a sum of as many draws without replacement as the smaller part of either group, so no farther out than one with
    replacement (Hoeffding 1963), whose variance counts.
    """
    r, c = first / rows, second / rows
    variance = np.minimum(np.minimum(first, rows - first) * c * (1 - c), np.minimum(second, rows - second) * r * (1 - r))
    half: Ints = np.ceil(9 * np.sqrt(np.maximum(variance, 0)) + 36).astype(np.int64)
    return half


def _window(mean: float, half: int, least: int, most: int) -> tuple[int, int]:
    return max(least, floor(mean) - half), min(most, ceil(mean) + half)


def _from_ratios(ratios: Floats) -> Floats:
    """Masses from the ratio of each to the one before."""
    with np.errstate(divide="ignore"):
        logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    masses: Floats = np.exp(logs - logs.max())
    masses /= masses.sum()
    return masses


# Noise --------------------------------------------------------------------------------------------------------------------


class Tails(Protocol):
    """What a test needs of the law of a noise Y: integer, symmetric about 0, its mass falling on both sides."""

    def half_width(self, coverage: Amount) -> int:
        """A w with P(|Y| ≤ w) ≥ coverage."""

    def rough_tails(self, k: Ints) -> Floats:
        """P(|Y| > k) in double precision, for k ≥ 0."""

    def variance(self) -> float:
        """The variance of Y, or a little more."""


@dataclass(frozen=True, slots=True)
class Term:
    """`times` independent noises, each with the factor `factor` and within `off` of a noise of the law."""

    factor: float
    law: Tails
    times: int = 1
    off: float = 0.0


@dataclass(frozen=True, eq=False)
class Spread:
    """W = Σ factor · noise, symmetric about 0, put on multiples of `step`: W is within `slack` of its place.

    Args:
        step: the distance of two places; 0 where there is no noise.
        masses: at -k, …, k times the step.
        slack: how far W may be from its place.
        missing: the probability that is left out, and the error of all sums of masses.
    """

    step: float
    masses: Floats
    slack: float
    missing: float

    @cached_property
    def _tails(self) -> Floats:
        """P(place ≥ i) for i = -k, …, k, and 0 beyond."""
        tails = np.cumsum(self.masses[::-1])[::-1]
        return np.append(np.minimum(tails, 1.0), 0.0)

    def at_least(self, x: Floats) -> Floats:
        """Upper bounds of P(W ≥ x)."""
        if not self.step:
            return (x <= 0).astype(np.float64)
        middle = self.masses.size // 2
        places = np.ceil((x - self.slack) / self.step - 1e-6) + middle  # the rounding of a quotient is far less
        inside = np.clip(places, 0, self.masses.size).astype(np.int64)
        found: Floats = np.minimum(self._tails[inside] + self.missing, 1.0)
        return found

    def half_width(self, failing: float) -> float:
        """A w with P(|W| > w) ≤ failing."""
        if not self.step:
            return 0.0
        beyond = 2 * self._tails[self.masses.size // 2 + 1 :] + self.missing  # P(|place| ≥ 1), ≥ 2, …
        enough = np.flatnonzero(beyond <= failing)
        return (float(enough[0]) if enough.size else float(beyond.size)) * self.step + self.slack


def spread(terms: Sequence[Term]) -> Spread:
    """The law of the sum of all terms.

    The grid has `_FINE` steps for a standard deviation and noise, or as many as the longest transform allows.
    """
    used = [one for one in terms if abs(one.factor) > 0 and one.times]
    if not used:
        return Spread(0.0, np.ones(1), 0.0, 0.0)
    number = sum(one.times for one in used)
    deviation = sqrt(sum(one.times * one.factor**2 * max(one.law.variance(), 1e-300) for one in used))
    reaches = [abs(one.factor) * (_reach(one.law) + 1) for one in used]  # type: ignore[arg-type]
    reach = sum(one.times * far for one, far in zip(used, reaches, strict=True))
    step = max(deviation / (_FINE * number), 2 * reach / _MOST, 1e-12)
    half = ceil(reach / step) + number + 1
    length = 1 << (2 * half + 1).bit_length()
    product = np.ones(length // 2 + 1)
    for one in used:
        product = product * _transform(abs(one.factor) / step, one.law, length) ** one.times
    row = np.fft.irfft(product, length)
    masses = np.maximum(np.concatenate([row[-half:], row[: half + 1]]), 0.0)
    off = sum(one.times * abs(one.factor) * one.off for one in used)
    return Spread(step, masses, (step * number / 2 + off) * (1 + 1e-9), number * _BEYOND + _ERROR)


@lru_cache(maxsize=256)
def _reach(law: Any) -> int:
    """A w with P(|Y| > w) ≤ _BEYOND. A law is frozen, hence hashable, which its protocol does not say."""
    found: int = law.half_width(1 - Fraction(_BEYOND))
    return found


def _transform(scale: float, law: Tails, length: int) -> Floats:
    """The transform of the masses of `scale` · Y, rounded to integers; it is real because Y is symmetric."""
    half = min(ceil(scale * (_reach(law) + 1)) + 1, length // 2 - 1)  # type: ignore[arg-type]
    far = np.minimum((np.arange(half + 1) + 0.5) / scale, _FAR)
    edges = np.floor(far).astype(np.int64)  # |Y| up to here is at most at this place
    inside = 1 - law.rough_tails(edges)
    both = np.maximum(np.diff(inside, prepend=0.0), 0.0)
    row = np.zeros(length)
    row[0] = both[0]
    row[1 : half + 1] = both[1:] / 2
    row[length - half :] = row[half:0:-1]
    transform: Floats = np.fft.rfft(row).real
    return transform
