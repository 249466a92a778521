"""Divergences between the laws of noisy integers: two mixtures of shifted noises, on every point that matters.

Laplace noise in rationals: with q = t^m for a rational t every probability is rational, and beyond the hull of the exact
answers the ratio of two tables no longer changes, so that the hull is everything. Otherwise doubles: every mass is a ball
rounded to the nearest double, everything after it is a sum of products of non-negative numbers, whose relative error is
below `SLACK`; that and the mass outside the box are added to the divergence, against the claim.

A pair of tables is compared in the coordinates in which its answers can differ at all: the others have the same noise
around the same integer, independent of the rest, and cancel. Noise does not depend on where it is added, so that pairs
that are moved copies of each other are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import exp, lcm, sqrt

import numpy as np
from flint import arb, ctx, fmpq

from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian

from .literal_rows import AnswerLaw

SLACK = 1e-12
"""Thousands of roundings of 2^-53 each are below it."""


def fraction(value: Fraction | int) -> arb:
    exactly = Fraction(value)
    return arb(fmpq(exactly.numerator, exactly.denominator))


# Noise that can be asked ------------------------------------------------------------------------------------------------
# Another noise needs a case in `masses` and in `far`. A mechanism that adds no noise, such as a choice among values, needs
# a `Noisy` of its own: for each of the two laws Σ chance · P(outcome | answer) over the answers, for every outcome; all
# divergences work on that.


@cache
def masses(law: object, reach: int) -> np.ndarray:
    """P(Y = k) for |k| ≤ reach, rounded to nearest."""
    with ctx.workprec(200):
        match law:
            case DiscreteLaplace(scale=scale):
                rate = 1 / fraction(scale)
                half = [(rate / 2).tanh() * (-k * rate).exp() for k in range(reach + 1)]
            case RoundedGaussian(sigma2=sigma2):
                deviation = fraction(8 * sigma2).sqrt()
                edges = [((2 * k - 1) / deviation).erfc() / 2 for k in range(reach + 2)]
                half = [edges[k] - edges[k + 1] for k in range(reach + 1)]
            case _:
                raise AssertionError(law)
        assert all(mass.rel_accuracy_bits() > 60 for mass in half)
        found = np.array([float(mass.mid()) for mass in half])
    return np.concatenate([found[:0:-1], found])


@cache
def far(law: object, beyond: float) -> int:
    """A w with P(|Y| > w) ≤ beyond."""
    if isinstance(law, DiscreteLaplace):
        return 0  # the hull is everything
    width = 0
    while float(((2 * width + 1) / fraction(8 * law.sigma2).sqrt()).erfc().upper()) > beyond:
        width += 1
    return width


# Pairs of tables ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """Two laws of exact answers in the coordinates in which they differ, moved so that the least answer is 0."""

    coordinates: tuple[int, ...]
    first: frozenset[tuple[tuple[int, ...], Fraction]]
    second: frozenset[tuple[tuple[int, ...], Fraction]]

    @property
    def hull(self) -> np.ndarray:
        """The greatest answer in each coordinate."""
        return np.array([answer for answer, _ in self.first | self.second]).max(axis=0)


def distinct(laws: Sequence[AnswerLaw], pairs: np.ndarray) -> Counter[Pair]:
    """The pairs up to order and place, and how often each occurs."""
    answers = [np.array(list(law)) for law in laws]
    low = np.array([one.min(axis=0) for one in answers])
    high = np.array([one.max(axis=0) for one in answers])
    kept: dict[tuple[int, bytes, bytes], frozenset] = {}

    def part(table: int, origin: np.ndarray, moving: np.ndarray) -> frozenset:
        key = table, origin[moving].tobytes(), moving.tobytes()
        if key not in kept:
            moved = (answers[table][:, moving] - origin[moving]).tolist()
            total: Counter[tuple[int, ...]] = Counter()
            for answer, chance in zip(moved, laws[table].values(), strict=True):
                total[tuple(answer)] += chance
            kept[key] = frozenset(total.items())
        return kept[key]

    found: Counter[Pair] = Counter()
    for first, second in pairs[pairs[:, 0] < pairs[:, 1]].tolist():
        origin = np.minimum(low[first], low[second])
        moving = np.flatnonzero(origin < np.maximum(high[first], high[second]))
        if len(moving):
            found[Pair(tuple(moving.tolist()), part(first, origin, moving), part(second, origin, moving))] += 2
    return found


def spread(pair: Pair, kernels: Sequence[np.ndarray], tensor: np.ndarray) -> np.ndarray:
    """The two laws with noise, shape (2, points); a kernel has the noise around each answer of its coordinate."""
    for number, law in enumerate((pair.first, pair.second)):
        for answer, chance in law:
            tensor[(number, *answer)] = chance
    for axis, kernel in enumerate(kernels, start=1):
        tensor = np.moveaxis(np.tensordot(tensor, kernel, axes=(axis, 0)), -1, axis)
    return tensor.reshape(2, -1)


@dataclass(frozen=True, eq=False)
class Noisy:
    """The two laws of the noisy answers of a pair on one box, shape (2, points), and what either has outside of it.

    A point on the rim of Laplace noise stands for itself and all behind it, whose ratio is the same.
    """

    values: np.ndarray
    missed: float


def noisy(pair: Pair, noises: Sequence[object], beyond: float) -> Noisy:
    """The pair with independent noise, one law for each coordinate of the answers."""
    own = [noises[coordinate] for coordinate in pair.coordinates]
    sizes = pair.hull + 1
    kernels = [kernel_of(law, int(size), far(law, beyond)) for law, size in zip(own, sizes, strict=True)]
    missed = beyond * sum(not isinstance(law, DiscreteLaplace) for law in own)
    return Noisy(spread(pair, kernels, np.zeros((2, *sizes))), missed)


@cache
def kernel_of(law: object, size: int, wide: int) -> np.ndarray:
    around = masses(law, size - 1 + wide)
    kernel = around[np.arange(-wide, size + wide)[None] - np.arange(size)[:, None] + size - 1 + wide]
    if isinstance(law, DiscreteLaplace):
        assert size > 1
        kernel[:, [0, -1]] /= -np.expm1(-1 / float(law.scale))
    return kernel


def hockey_stick(found: Noisy, epsilon: float) -> float:
    """An upper bound of δ(ε), in both directions."""
    first, second = found.values
    factor = exp(epsilon)
    worst = max(np.maximum(first - factor * second, 0).sum(), np.maximum(second - factor * first, 0).sum())
    return float(worst) + (1 + factor) * SLACK + found.missed


def greatest_ratio(found: Noisy) -> float:
    """The greatest log-ratio, where the box is everything."""
    assert not found.missed
    first, second = found.values
    ratios = first / second
    return float(np.log(max(ratios.max(), 1 / ratios.min())))


def renyi(pair: Pair, noises: Sequence[RoundedGaussian], order: int, shifts: Sequence[int]) -> float:
    """An upper bound of D_order in both directions, for mixtures whose parts can be paired within `shifts`.

    P^α Q^(1-α) is jointly convex, so that what is outside the box may be bounded part by part; rounding does not make it
    larger (Hölder), and of N(0, σ²) and N(s, σ²) it is e^{α(α-1)s²/(2σ²)} times the density around (1-α)s.
    """
    beyond = 1e-60
    found = noisy(pair, noises, beyond)
    assert found.values.min() > 1e-290  # so that nothing has lost its digits
    outside, factor = 0.0, 1.0
    for coordinate in pair.coordinates:
        law, shift = noises[coordinate], shifts[coordinate]
        deviation = sqrt(law.sigma2)
        factor *= exp(order * (order - 1) * shift**2 / (2 * deviation**2))
        distance = (far(law, beyond) - (order - 1) * shift) / deviation
        assert distance > 0
        outside += float((arb(distance) / arb(2).sqrt()).erfc().upper())
    first, second = found.values
    worst = max((first * (first / second) ** (order - 1)).sum(), (second * (second / first) ** (order - 1)).sum())
    return float(np.log(worst * (1 + 4 * order * SLACK) + outside * factor) / (order - 1)) + SLACK


# Laplace noise in rationals ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExactNoise:
    """Laplace noise q_j = t^{m_j} for each coordinate, with t = top/bottom: what a quote gives where e^{-ε/parts} = t."""

    powers: tuple[int, ...]
    parts: int
    top: int
    bottom: int

    def factor(self, times: int) -> Fraction:
        """e^{times·ε}."""
        return Fraction(self.bottom, self.top) ** (self.parts * times)


def exact_noise(scales: Sequence[Fraction], epsilon: Fraction) -> ExactNoise:
    """The noise of the scales that were made for ε, with an ε a little above 1 that makes all probabilities rational."""
    rates = [1 / (scale * epsilon) for scale in scales]
    parts = lcm(*(rate.denominator for rate in rates))
    return ExactNoise(tuple(int(rate * parts) for rate in rates), parts, parts, parts + 1)


def exact_values(pair: Pair, noise: ExactNoise) -> np.ndarray:
    """For every point of the hull the two probabilities, as Python integers, times the same constant; shape (2, points)."""
    whole = lcm(*(chance.denominator for _, chance in pair.first | pair.second))
    kernels = []
    for coordinate, last in zip(pair.coordinates, pair.hull.tolist(), strict=True):
        power = noise.powers[coordinate]
        steps = [noise.top ** (power * k) * noise.bottom ** (power * (last - k)) for k in range(last + 1)]
        kernels.append(np.array(steps, dtype=object)[abs(np.subtract.outer(range(last + 1), range(last + 1)))])
    scaled = Pair(pair.coordinates, *(frozenset((a, int(c * whole)) for a, c in law) for law in (pair.first, pair.second)))
    return spread(scaled, kernels, np.zeros((2, *(pair.hull + 1)), dtype=object))


def within(values: np.ndarray, most: Fraction) -> bool:
    """Whether no point has a ratio above `most`, in either direction; decided in integers."""
    first, second = values
    top, bottom = most.numerator, most.denominator
    return bool((first * bottom <= second * top).all() and (second * bottom <= first * top).all())
