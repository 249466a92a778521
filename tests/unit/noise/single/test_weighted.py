"""Half-widths of weighted sums against exact convolutions and against draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.noise.bits import system_bits
from discreet.noise.single import weighted as room
from discreet.noise.single.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.noise.single.sums import SumOfNoises
from discreet.noise.single.weighted import Weighted, half_width_of_weighted, variance_of_weighted

LEVELS = [Fraction(9, 10), Fraction(95, 100), 1 - Fraction(1, 10**6)]
WEIGHTS = ((Fraction(1), 3), (Fraction(2), 2), (Fraction(5), 1))


def exact_of(law, level):
    return SumOfNoises(tuple((int(size), law) for size, many in WEIGHTS for _ in range(many))).half_width(level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "law", [RoundedGaussian(Fraction(1, 4)), RoundedGaussian(Fraction(9)), RoundedGaussian(Fraction(10**6))]
)
def test_a_normal_half_width_is_enough_and_hardly_more_than_the_normal_one(law, level):
    half = half_width_of_weighted([Weighted(law, WEIGHTS)], level)
    # The exact one is the least integer: it may be above by the rest of a step.
    assert half >= exact_of(law, level) - 1
    if law.sigma2 == 10**6:
        assert half <= exact_of(law, level) * Fraction(1002, 1000)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(4), Fraction(300)])
def test_a_laplace_half_width_is_enough_and_near(scale, level):
    law = DiscreteLaplace(scale)
    half, exact = half_width_of_weighted([Weighted(law, WEIGHTS)], level), exact_of(law, level)
    assert exact - 1 <= half <= 2 * exact + 1


def test_a_half_width_without_what_rounding_adds_is_too_small():
    """Of weights that add up, narrow noise is far from normal: the mutant leaves the second term out."""
    law, level = RoundedGaussian(Fraction(1, 4)), Fraction(999999, 10**6)
    normal = float(room._normal_quantile(1 - level)) * variance_of_sizes(law) ** 0.5
    assert normal < exact_of(law, level) - 1 < half_width_of_weighted([Weighted(law, WEIGHTS)], level)


def variance_of_sizes(law):
    return float(law.sigma2 * Weighted(law, WEIGHTS).squares)


def test_both_laws_together_and_neither():
    parts = [Weighted(RoundedGaussian(Fraction(50)), WEIGHTS), Weighted(DiscreteLaplace(Fraction(6)), WEIGHTS)]
    half = float(half_width_of_weighted(parts, Fraction(95, 100)))
    bits, draws = system_bits(), 4000
    sums = np.zeros(draws)
    for part in parts:
        for size, many in part.weights:
            for _ in range(many):
                sums += float(size) * part.law.sample(draws, bits)
    # Six deviations of the number of misses, were they as many as 5 %.
    assert (np.abs(sums) > half).mean() <= 0.05 + 6 * (0.05 * 0.95 / draws) ** 0.5
    assert variance_of_weighted(parts) == pytest.approx(sum(one.law.variance() * float(one.squares) for one in parts))
    assert half_width_of_weighted([], Fraction(95, 100)) == 0
    with pytest.raises(InternalError, match="rounded Gaussian or discrete Laplace"):
        half_width_of_weighted([Weighted(DiscreteGaussian(Fraction(2)), WEIGHTS)], Fraction(1, 2))
