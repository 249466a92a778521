"""The interval of a quotient of a noisy sum and a noisy count, from one statement about the noise of both.

The tilted set of S/N is {t : |S − tN| ≤ h(t)}, where h(t) is a half-width of the noise of S − tN: at the true quotient the
statistic is noise alone, so that one statement about one noise is enough (O1 of docs/proofs/original.md). It is narrower
than the range over the box of both half-widths, which is what plans without `original` have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import float_down, float_up
from discreet.mechanisms import Noise
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian

__all__ = [
    "Part",
    "Scaled",
    "Weighed",
    "gaussian_reach",
    "laplace_reach",
    "least_completed",
    "reach_of",
    "reach_of_scaled",
    "tilted_range",
]

Floats = NDArray[np.float64]
Weighed = Sequence[tuple[Noise, int]]
"""Noises that are independent of each other, each with its whole factor."""
Scaled = Sequence[tuple[Noise, Floats]]
"""The same with factors that need not be whole, several sets of them: one for each place."""
Reach = Callable[[Sequence[tuple["Part", Floats]], float], Floats]

_BLOCKS = 256
_UP = 1 + 1e-9
"""More than every rounding of the closed forms, relatively."""
_SLACK = 1e-12
_FEW = 6
"""The most Laplace noises for which the closed form is used: its terms grow with their number, and cancel."""
_APART = 1.02
"""Scales of Laplace noises are moved up until they are this far apart: the closed form divides by their differences."""


@dataclass(frozen=True, slots=True)
class Part:
    """One noise of a sum, times its factor.

    Args:
        scale: the deviation of a normal number, or the scale of a Laplace one, rounded up.
        rounding: by how much the noise, which is of whole numbers, is away from that at most.
    """

    scale: float
    rounding: float


# The half-width of the noise of S − tN ----------------------------------------------------------------------------------


def gaussian_reach(parts: Sequence[tuple[Part, Floats]], failing: float) -> Floats:
    """For each place an h with P(|Σ factor·noise| > h) ≤ `failing`, for rounded normal noises; it grows with each factor."""
    point = -NormalDist().inv_cdf(failing / 2)
    variance = sum((at * one.scale) ** 2 for one, at in parts)
    return np.asarray((point * np.sqrt(variance) + _rounding_of(parts)) * _UP)


def laplace_reach(parts: Sequence[tuple[Part, Floats]], failing: float) -> Floats:
    """The same for discrete Laplace noises, from the tail of the sum of continuous ones by bisection.

    Many noises have Chernoff's bound: P(|X| > x) ≤ 2 e^{−sx} Π 1/(1 − s²b²) for each s below the least 1/b.
    """
    if len(parts) > _FEW:
        return np.asarray((_chernoff([at * one.scale for one, at in parts], failing) + _rounding_of(parts)) * _UP)
    scales = _apart([at * one.scale for one, at in parts])
    low, high = np.zeros_like(scales[-1]), scales[-1] * (log(1 / failing) + 4) * len(scales)
    for _ in range(60):
        middle = (low + high) / 2
        beyond = _tail_of_laplaces(scales, middle) * _UP > failing
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.asarray((high + _rounding_of(parts)) * _UP)


def _rounding_of(parts: Sequence[tuple[Part, Floats]]) -> Floats:
    return np.asarray(sum(at * one.rounding for one, at in parts))


def _chernoff(scales: Sequence[Floats], failing: float) -> Floats:
    """The least x over some s with 2 e^{−sx} Π 1/(1 − s²b²) ≤ failing."""
    largest = np.maximum(np.max(np.stack(scales), axis=0), 1e-100)
    found = np.full(largest.shape, np.inf)
    for part in np.linspace(0.02, 0.98, 97):
        # s = part/largest, so that every s·b is at most part.
        logs = sum(-np.log1p(-((part * one / largest) ** 2)) for one in scales)
        found = np.minimum(found, largest * (log(2 / failing) + logs) / part)
    return found


def _apart(scales: Sequence[Floats]) -> list[Floats]:
    """The scales in ascending order, each at least 2 % above the one before: moved up, which only makes tails larger."""
    ordered = np.sort(np.stack(scales), axis=0)
    found = [ordered[0]]
    for one in ordered[1:]:
        found.append(np.maximum(one, found[-1] * _APART))
    return found


def _tail_of_laplaces(scales: Sequence[Floats], x: Floats) -> Floats:
    """P(|X| > x) for a sum of independent Laplace variables of different scales b: Σ e^{−x/b} Π b²/(b² − c²) over c ≠ b."""
    tail = np.zeros_like(x)
    for one in scales:
        positive = np.maximum(one, 1e-100)
        part = np.exp(-x / positive)
        for other in scales:
            if other is not one:
                part = part / (1 - (other / positive) ** 2)
        tail = tail + np.where(one > 0, part, 0.0)
    return tail


def _deviation(law: RoundedGaussian, factor: int) -> Part:
    return Part(float_up(law.sigma2) ** 0.5 * factor * _UP, factor / 2)


def _scale(law: DiscreteLaplace, factor: int) -> Part:
    return Part(float_up(law.scale) * factor, float(factor))


_LAWS: Mapping[type, tuple[Callable[..., Part], Reach]] = {
    RoundedGaussian: (_deviation, gaussian_reach),
    DiscreteLaplace: (_scale, laplace_reach),
}
"""For each law with a closed form: a noise of a sum, and the half-width. A rounded normal number is within 1/2 of the normal
one; a discrete Laplace number is within 1 of a continuous one, for P(X ≥ k) ≤ P(Y ≥ k) ≤ P(X ≥ k − 1)."""


def reach_of(sums: Weighed, counts: Weighed, level: Fraction) -> Callable[[Floats], Floats] | None:
    """For each t ≥ 0 an h with P(|noise of S − tN| ≤ h) ≥ level; None where the noises have no closed form together."""
    kind = _common_law([law for law, _ in (*sums, *counts)])
    if kind is None:
        return None
    part, reach = _LAWS[kind]
    of_sums, of_counts = ([part(law.independent, abs(factor)) for law, factor in one] for one in (sums, counts))
    failing = float_down(1 - level)
    return lambda at: reach([*((one, np.ones_like(at)) for one in of_sums), *((one, at) for one in of_counts)], failing)


def reach_of_scaled(scaled: Scaled, level: Fraction) -> Floats | None:
    """For each place an h with P(|Σ factor·noise| ≤ h) ≥ level; None where the noises have no closed form together."""
    kind = _common_law([law for law, _ in scaled])
    if kind is None:
        return None
    part, reach = _LAWS[kind]
    return reach([(part(law.independent, 1), np.abs(factors)) for law, factors in scaled], float_down(1 - level))


def _common_law(noises: Sequence[Noise]) -> type | None:
    """The law of all of them, if that has a closed form."""
    kinds = {type(law.independent) for law in noises}
    return kinds.pop() if len(kinds) == 1 and kinds <= _LAWS.keys() else None


# The set of quotients -----------------------------------------------------------------------------------------------------


def tilted_range(
    sums: Floats, counts: Floats, reach: Callable[[Floats], Floats], ends: tuple[float, float]
) -> tuple[Floats, Floats]:
    """The least and the greatest t within `ends` with |S − tN| ≤ h(t) for every cell; `ends` themselves where there is none.

    The range is cut into blocks, in each of which h is taken at the end farther from 0, so that it is never too small.
    """
    edges = np.linspace(*ends, _BLOCKS + 1)
    edges[0], edges[-1] = ends
    far = np.maximum(np.abs(edges[:-1]), np.abs(edges[1:]))
    least, greatest = np.full(sums.shape, np.inf), np.full(sums.shape, -np.inf)
    for start, stop, size, half in zip(edges[:-1], edges[1:], far, reach(far), strict=True):
        low, high = _solve(sums, counts, half * (1 + _SLACK) + _SLACK * (np.abs(sums) + size * np.abs(counts)))
        low, high = np.maximum(low, start), np.minimum(high, stop)
        inside = low <= high
        least = np.where(inside, np.minimum(least, low), least)
        greatest = np.where(inside, np.maximum(greatest, high), greatest)
    nothing = least > greatest
    return np.where(nothing, ends[0], least), np.where(nothing, ends[1], greatest)


def _solve(sums: Floats, counts: Floats, half: Floats) -> tuple[Floats, Floats]:
    """The ends of {t : |S − tN| ≤ half}; the first is above the second where there is no such t."""
    divisor = np.where(counts == 0, 1.0, counts)
    one, other = (sums - half) / divisor, (sums + half) / divisor
    every = np.where(np.abs(sums) <= half, np.inf, -np.inf)
    return np.where(counts == 0, -every, np.minimum(one, other)), np.where(counts == 0, every, np.maximum(one, other))


def least_completed(
    sums: Floats, missing: Floats, every: Floats, reach: Callable[[Floats, Floats], Floats], most: float
) -> Floats:
    """The least t in [−most, most] with S − most·K − tT ≤ h(t) for every cell; −most where there is none.

    It is the lower end of the mean where K rows have no value: all of these at the least one (O10). `reach` gives for blocks
    [start, stop] a number that h does not exceed there.

    Args:
        sums: the noisy sums S of the known values.
        missing: the noisy numbers K of rows without one.
        every: those of all rows, T.
        reach: the half-widths.
        most: the most by which a value is away from 0.
    """
    edges = np.linspace(-most, most, _BLOCKS + 1)
    edges[0], edges[-1] = -most, most
    lowered = sums - most * missing
    least = np.full(sums.shape, np.inf)
    for start, stop, half in zip(edges[:-1], edges[1:], reach(edges[:-1], edges[1:]), strict=True):
        size = _SLACK * (np.abs(sums) + most * (np.abs(missing) + np.abs(every)))
        within = lowered - start * every - (half * (1 + _SLACK) + size)  # at most 0 at the start: the whole block may be in
        crossing = start + within / np.where(every > 0, every, 1.0)
        found = np.where(within <= 0, start, np.where(every > 0, crossing, np.inf))
        # With T ≤ 0 the left side does not fall, so that nothing after the start is in the set.
        least = np.where(found <= stop, np.minimum(least, found), least)
    return np.where(np.isinf(least), -most, np.maximum(least - _SLACK * most, -most))
