"""Intervals for numbers of a population: noise of known laws and an error of the draw that is taken to be normal.

The noise of an answer is Laplace or normal, the error of the draw normal with an estimated variance. P(|sum| > x) has a
closed form, and an interval is the set of all values for which what was found is not too unlikely (W10 of
docs/proofs/samples.md). Everything is a function of noisy numbers and public laws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Noise
from discreet.noise.single.laws import DiscreteLaplace
from discreet.statistics.recipe import LEVEL

__all__ = ["UPWARDS", "Part", "beyond", "deviation_of", "part_of", "quotients_within", "sums_within"]

Floats = NDArray[np.float64]

UPWARDS = 1.64
"""A noisy variance is moved up by so many of its own deviations, so that it is too small in 5 % of all cases at most."""

_BLOCKS = 256
_HALVINGS = 40
_UP = 1 + 1e-6  # the closed form below has a relative error of 1.2e-7
_APART = 1.02
_TINY = 1e-12
_POWERS = (
    *(0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807),
    *(-0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223),
)
"""Of the rational form of the normal tail, the highest first."""


@dataclass(frozen=True, slots=True)
class Part:
    """One noise of S − tN, times |c + m·t|.

    Args:
        deviation: of a normal noise; 0 for another one.
        scale: of a Laplace noise; 0 for another one.
        factor: c and m.
    """

    deviation: float
    scale: float
    factor: tuple[float, float]

    def size(self, t: Floats) -> Floats:
        """|c + m·t|."""
        return np.asarray(np.abs(self.factor[0] + self.factor[1] * t))


def part_of(noise: Noise, factor: tuple[float, float], times: float = 1.0) -> Part:
    """The noise of an answer, or a Laplace noise of as large a variance as the sum of `times`² of them."""
    if isinstance(noise.independent, DiscreteLaplace):
        return Part(0.0, float(noise.independent.scale) * times, factor)
    return Part(deviation_of(noise) * times, 0.0, factor)


def deviation_of(noise: Noise) -> float:
    """The standard deviation of a noise, or more: of cells that depend on each other their 95 % half-width."""
    if noise.independent is None:
        return float(np.max(noise.half_widths(LEVEL), initial=0))
    return sqrt(noise.independent.variance())


# The tail ----------------------------------------------------------------------------------------------------------------


def beyond(distance: Floats, variance: Floats, scales: Sequence[Floats]) -> Floats:
    """P(|X + Σ Y| > distance) for a normal X of this variance and Laplace Y of these scales, all independent; at most two Y.

    The density of a sum of two Laplace variables of scales b > c is (b²·f_b − c²·f_c)/(b² − c²).
    """
    distance = np.maximum(distance, 0.0)
    largest = np.maximum.reduce([np.zeros_like(distance), *scales])
    deviation = np.sqrt(np.maximum(variance, _TINY * largest**2 + 1e-300))
    if not scales:
        return np.minimum(1.0, _of_laplace(distance, deviation, np.zeros_like(distance)) * _UP)
    one, *rest = scales
    if not rest:
        return np.minimum(1.0, _of_laplace(distance, deviation, one) * _UP)
    small, large = np.minimum(one, rest[0]), np.maximum(one, rest[0])
    large = np.maximum(large, _APART * small + 1e-300)  # moved up, which makes the tail larger
    share = 1 / (1 - (small / large) ** 2)
    tail = share * _of_laplace(distance, deviation, large) - (share - 1) * _of_laplace(distance, deviation, small)
    return np.clip(tail * _UP, 0.0, 1.0)


def _of_laplace(distance: Floats, deviation: Floats, scale: Floats) -> Floats:
    """P(|X + Y| > distance) for one Laplace variable Y; for scale 0 the normal tail."""
    a = distance / deviation
    normal = np.exp(-(a**2) / 2)
    own = _tail(a) * normal
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        c = np.where(scale > 0, deviation / np.maximum(scale, 1e-300), np.inf)
        near = np.where(a < c, _tail(np.maximum(c - a, 0.0)) * normal / 2, 0.0)
        far = np.where(a < c, 0.0, np.exp(np.minimum(c * c / 2 - a * c, 0.0)) - _tail(np.maximum(a - c, 0.0)) * normal / 2)
    added = np.where(a < c, near, far) - _tail(a + c) * normal / 2
    return np.asarray(own + np.where(scale > 0, added, 0.0))


def _tail(x: Floats) -> Floats:
    """e^(x²/2)·P(|X| > x) of a standard normal X, for x ≥ 0: the rational form of Chebyshev, within 1.2e-7 relatively."""
    t = 1 / (1 + x / sqrt(8))
    found = np.zeros_like(t)
    for one in _POWERS:
        found = found * t + one
    return np.asarray(t * np.exp(found))


# Intervals ---------------------------------------------------------------------------------------------------------------


def sums_within(variance: Floats, part: Part, failing: float) -> Floats:
    """The half-widths h with P(|noise + error of the draw| > h) ≤ failing."""
    everything = np.asarray(variance + part.deviation**2, dtype=np.float64)
    scales = [np.full_like(everything, part.scale)] if part.scale else []
    low, high = np.zeros_like(everything), np.sqrt(everything) + part.scale
    while np.any(outside := beyond(high, everything, scales) > failing):
        high = np.where(outside, 2 * high, high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        outside = beyond(middle, everything, scales) > failing
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return np.asarray(high + bool(part.scale or part.deviation))  # a noise of whole numbers is within 1 of a continuous one


def quotients_within(
    sums: Floats,
    counts: Floats,
    parts: Sequence[Part],
    variance: Callable[[Floats], Floats],
    *,
    ends: tuple[float, float],
    failing: float,
) -> tuple[Floats, Floats]:
    """The least and the greatest t within `ends` for which |S − tN| is not too unlikely; all that is possible for none.

    Args:
        sums: S of each cell.
        counts: N of each cell.
        parts: the noises of S − tN.
        variance: the variance of the draw in S − tN, for a t of each cell.
        ends: what is possible.
        failing: how likely something as far from 0 has to be at least.
    """

    def inside(t: Floats) -> NDArray[np.bool_]:
        distance = np.abs(sums - t * counts)
        spread = np.maximum(variance(t), 0.0)
        for one in parts:
            distance, spread = distance - one.size(t), spread + (one.deviation * one.size(t)) ** 2
        scales = [one.scale * one.size(t) for one in parts if one.scale]
        return np.asarray(beyond(distance, spread, scales) > failing)

    middle = np.clip(sums / np.maximum(counts, 1.0), *ends)
    some = inside(middle)
    low, high = np.where(some, middle, np.inf), np.where(some, middle, -np.inf)
    for edge in np.linspace(*ends, _BLOCKS + 1):
        t = np.full_like(sums, edge)
        found = inside(t)
        low, high = np.where(found, np.minimum(low, t), low), np.where(found, np.maximum(high, t), high)
    nothing = low > high
    low, high = np.where(nothing, ends[0], low), np.where(nothing, ends[1], high)
    step = (ends[1] - ends[0]) / _BLOCKS
    return _edge(inside, low, np.maximum(low - step, ends[0])), _edge(inside, high, np.minimum(high + step, ends[1]))


def _edge(inside: Callable[[Floats], NDArray[np.bool_]], within: Floats, without: Floats) -> Floats:
    """The end of the set between a value in it and one that is not, or that is the end of what is possible."""
    for _ in range(_HALVINGS):
        middle = (within + without) / 2
        found = inside(middle)
        within, without = np.where(found, middle, within), np.where(found, without, middle)
    return without
