"""The half-width of a sum of very many noises is never too small, and not much too large."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest

from discreet.noise.single.laws import DiscreteGaussian, DiscreteLaplace, Law, RoundedGaussian
from discreet.noise.single.many import _chebyshev, _chernoff, half_width_of_sum
from discreet.noise.single.sums import SumOfNoises

LAWS = [DiscreteLaplace(Fraction(1, 3)), DiscreteLaplace(Fraction(4)), RoundedGaussian(Fraction(1, 9)), RoundedGaussian(9)]
COVERAGES = [Fraction(19, 20), Fraction(39, 40), Fraction(999, 1000)]


@pytest.mark.parametrize("coverage", COVERAGES, ids=str)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_bounds_from_moments_cover_as_the_convolution_says(law: Law, coverage: Fraction) -> None:
    """And they are not far off: a quarter of them would not cover."""
    count, beyond = 500, float(1 - coverage)
    summed = SumOfNoises(((1, law),) * count)
    for bound in (_chebyshev(law, count, beyond), _chernoff(law, count, beyond)):
        assert summed.tail(int(bound))[1] <= beyond
    assert summed.tail(int(_chernoff(law, count, beyond) / 4))[0] > beyond


@pytest.mark.parametrize("law", [LAWS[1], LAWS[3]], ids=str)
def test_the_interval_of_twenty_million_noises_is_within_a_half_of_the_normal_one(law: Law) -> None:
    count = 20_000_000
    normal = 2.2414 * sqrt(count * law.variance())
    assert normal < half_width_of_sum(law, count, Fraction(39, 40)) < 1.6 * normal


def test_few_noises_are_convolved_and_of_some_the_smaller_bound_is_taken() -> None:
    law, level = DiscreteLaplace(Fraction(1, 2)), Fraction(39, 40)
    assert half_width_of_sum(law, 300, level) == SumOfNoises(((1, law),) * 300).half_width(level)
    wide = DiscreteLaplace(Fraction(50))
    found = half_width_of_sum(wide, 5000, level)
    assert found < SumOfNoises(((1, wide),) * 5000).half_width(level)
    assert found == -int(-_chernoff(wide, 5000, 0.025) // 1)


def test_a_law_without_known_moments_has_the_bound_of_its_variance() -> None:
    law = DiscreteGaussian(Fraction(4))
    assert half_width_of_sum(law, 10**6, Fraction(19, 20)) == -int(-_chebyshev(law, 10**6, 0.05) // 1)


def test_a_coverage_too_near_to_1_for_a_double_takes_the_union_bound() -> None:
    law, coverage = RoundedGaussian(Fraction(4)), 1 - Fraction(1, 10**400)
    assert half_width_of_sum(law, 10**5, coverage) == 10**5 * law.half_width(1 - Fraction(1, 10**405))
