"""Half-widths of weighted sums against exact convolutions and against draws."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from discreet.exact.numbers import float_down
from discreet.noise.bits import system_bits
from discreet.noise.single import weighted as room
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.noise.single.sums import SumOfNoises
from discreet.noise.single.weighted import (
    Alone,
    Bounded,
    factors_of_rounded,
    half_width_of_laplace,
    half_width_of_rounded,
    half_width_within,
)

LEVELS = [Fraction(9, 10), Fraction(95, 100), 1 - Fraction(1, 10**6)]
WEIGHTS = ((1, 3), (2, 2), (5, 1))
SQUARES = Fraction(sum(size**2 * many for size, many in WEIGHTS))
SCALES = [Fraction(1, 2), Fraction(4), Fraction(300)]


def exact_of(level, *parts):
    """The least integer half-width of Σ c Y, from pairs of a law and its weights."""
    noises = [(size, law) for law, weights in parts for size, many in weights for _ in range(many)]
    return SumOfNoises(tuple(noises)).half_width(level)


# Rounded Gaussians --------------------------------------------------------------------------------------------------------


def rounded(law, level):
    return half_width_of_rounded(law.sigma2 * SQUARES, SQUARES, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("sigma2", [Fraction(1, 4), Fraction(9), Fraction(10**6)])
def test_a_normal_half_width_is_enough_and_hardly_more_than_the_normal_one(sigma2, level):
    law = RoundedGaussian(sigma2)
    exact = exact_of(level, (law, WEIGHTS))
    # The exact one is the least integer: it may be above by the rest of a step.
    assert rounded(law, level) >= exact - 1
    if sigma2 == 10**6:
        assert rounded(law, level) <= exact * Fraction(1002, 1000)


def test_a_half_width_without_what_rounding_adds_is_too_small():
    """Of weights that add up, narrow noise is far from normal: the mutant leaves the second term out."""
    law, level = RoundedGaussian(Fraction(1, 4)), Fraction(999999, 10**6)
    normal = float(factors_of_rounded(level)[0]) * float(law.sigma2 * SQUARES) ** 0.5
    assert normal < exact_of(level, (law, WEIGHTS)) - 1 < rounded(law, level)


# Discrete Laplace ---------------------------------------------------------------------------------------------------------


def parts_of(law, weights=WEIGHTS):
    return [Bounded(law, float(size), float(size**2 * many)) for size, many in weights]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", SCALES)
def test_a_laplace_half_width_is_enough_and_near(scale, level):
    law = DiscreteLaplace(scale)
    exact = exact_of(level, (law, WEIGHTS))
    each = half_width_of_laplace(parts_of(law), None, level)
    together = half_width_of_laplace([Bounded(law, 5.0, float(SQUARES))], None, level)
    within = half_width_within([(law, 5.0)], float(2 * scale**2 * SQUARES), None, level)
    assert exact - 1 <= min(each, together, within)
    assert each <= together * (1 + 1e-6)
    assert together <= within * 1.05
    assert within <= 2.1 * exact + (2 if scale > 1 else 4)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", SCALES)
def test_one_noise_with_its_own_tail_makes_it_nearer_and_it_is_still_enough(scale, level):
    law, other = DiscreteLaplace(scale), DiscreteLaplace(scale / 4)
    rest = WEIGHTS[:2]
    exact = exact_of(level, (law, ((5, 1),)), (other, rest))
    alone = Alone(law, 5.0, 5.0)
    found = half_width_of_laplace(parts_of(other, rest), alone, level)
    variance = float(2 * other.scale**2 * sum(size**2 * many for size, many in rest))
    within = half_width_within([(other, 2.0)], variance, alone, level)
    assert exact - 1 <= found <= within * 1.05
    assert found < half_width_of_laplace([*parts_of(law, ((5, 1),)), *parts_of(other, rest)], None, level)
    if scale > 1:
        assert found <= 1.15 * exact + 1


@pytest.mark.parametrize("scale", SCALES)
def test_a_noise_by_itself_has_its_own_half_width(scale, monkeypatch):
    """Levels at which the exact half-width has just reached a step; the mutant takes the tail to be that of real numbers."""
    law = DiscreteLaplace(scale)
    q = exp(-1 / float(scale))
    for steps in (1, 3, 40):
        level = 1 - Fraction(2 * q**steps / (1 + q)) * (1 - Fraction(1, 10**6))
        if float_down(1 - level) < 1e-30:
            continue
        alone = Alone(law, 1.0, 1.0)
        found = half_width_of_laplace([], alone, level)
        assert exact_of(level, (law, ((1, 1),))) == steps <= found <= steps + 0.01 * float(scale) + 1e-3
        with monkeypatch.context() as changed:
            changed.setattr(room, "_tails", lambda alone, t: np.zeros(len(t)))
            assert half_width_of_laplace([], alone, level) < steps


def test_weights_of_a_noise_that_is_alone_may_lie_in_between():
    law = DiscreteLaplace(Fraction(7))
    wide = half_width_of_laplace([], Alone(law, 1.0, 3.0), Fraction(95, 100))
    for weight in (1, 2, 3):
        assert wide >= half_width_of_laplace([], Alone(law, weight, weight), Fraction(95, 100))


def test_a_bound_of_the_moments_by_the_mean_variance_is_too_small(monkeypatch):
    """The mutant takes noise for normal: with one weight that is far larger than the others its tail is longer."""
    law, level = DiscreteLaplace(Fraction(4)), 1 - Fraction(1, 10**6)
    exact = exact_of(level, (law, WEIGHTS))
    monkeypatch.setattr(
        room, "_log_moments", lambda variances, largest, t: variances[:, None] * (largest[:, None] * t) ** 2 / 2
    )
    assert half_width_of_laplace(parts_of(law), None, level) < exact - 1


def test_draws_are_within_half_widths_of_weights_that_are_no_integers():
    law, other = DiscreteLaplace(Fraction(9)), DiscreteLaplace(Fraction(2))
    weights = np.array([0.25, 0.5, 0.1])
    alone = Alone(other, 1.75, 1.75)
    half = float(half_width_of_laplace([Bounded(law, 0.5, float((weights**2).sum()))], alone, Fraction(95, 100)))
    bits, draws = system_bits(), 4000
    sums = 1.75 * other.sample(draws, bits) + sum(one * law.sample(draws, bits) for one in weights)
    # Six deviations of the number of misses, were they as many as 5 %.
    assert (np.abs(sums) > half).mean() <= 0.05 + 6 * (0.05 * 0.95 / draws) ** 0.5
    assert half < 6 * float(sums.std())


def test_no_noise_has_no_width():
    assert half_width_of_laplace([], None, Fraction(95, 100)) == 0
    assert half_width_of_laplace([Bounded(DiscreteLaplace(Fraction(3)), 0.0, 0.0)], None, Fraction(95, 100)) == 0
    assert half_width_of_rounded(Fraction(0), Fraction(0), Fraction(95, 100)) == 0
