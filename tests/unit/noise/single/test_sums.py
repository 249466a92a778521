"""Intervals of sums of noises: exact against direct convolution, never too narrow where they are approximate."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import ArgumentError
from discreet.noise import DiscreteGaussian, DiscreteLaplace, RoundedGaussian, SumOfNoises
from discreet.noise.bits import system_bits

SMALL = [
    ((1, RoundedGaussian(10)), (1, RoundedGaussian(10))),
    ((3, DiscreteLaplace(2)), (-2, DiscreteGaussian("7/2"))),
    ((1, DiscreteGaussian("1/3")), (1, DiscreteLaplace("1/2")), (-5, RoundedGaussian("0.4"))),
]


def by_convolution(terms) -> dict[int, float]:
    """P(S = s), from the enclosed masses of every term."""
    total = {0: 1.0}
    for factor, law in terms:
        reach = law.half_width(1 - Fraction(1, 10**13))
        masses = {factor * k: law.pmf(k)[0] for k in range(-reach, reach + 1)}
        result: dict[int, float] = {}
        for (s, p), (k, q) in product(total.items(), masses.items()):
            result[s + k] = result.get(s + k, 0.0) + p * q
        total = result
    return total


@pytest.mark.parametrize("terms", SMALL)
def test_small_sums_have_the_smallest_half_width(terms) -> None:
    law = by_convolution(terms)
    sums = SumOfNoises(terms)
    for coverage in ("0.5", "0.95", "0.975", "0.999"):
        w = sums.half_width(coverage)
        inside = sum(p for s, p in law.items() if abs(s) <= w)
        narrower = sum(p for s, p in law.items() if abs(s) <= w - 1)
        assert inside >= float(coverage)
        assert narrower < float(coverage)
    for k in (0, 1, 7):
        low, high = sums.tail(k)
        beyond = sum(p for s, p in law.items() if abs(s) > k)
        assert low - 1e-11 <= beyond <= high + 1e-11
        assert high - low < 1e-9


@pytest.mark.parametrize(
    "terms",
    [
        ((1, DiscreteGaussian(10**10)), (1, RoundedGaussian(10**10))),
        ((1, DiscreteLaplace(10**6)),) * 5,
        ((1, RoundedGaussian(10**24)), (7, DiscreteLaplace(10**9)), (-1, DiscreteGaussian(10**24))),
        ((1000, RoundedGaussian(4)), (1, DiscreteLaplace(10**7))),
    ],
)
def test_wide_sums_are_covered_and_only_a_little_too_wide(terms) -> None:
    sums, bits, size = SumOfNoises(terms), system_bits(), 400_000
    total = sum(factor * law.sample(size, bits).astype(float) for factor, law in terms)
    w = sums.half_width("0.95")
    assert sums.tail(w)[0] <= 0.05
    outside = float(np.mean(np.abs(total) > w))
    # 7 standard errors are 0.0024; the width may exceed the smallest by len(terms)/2500 standard deviations.
    assert 0.05 - 0.0024 - 0.0002 * len(terms) < outside < 0.05 + 0.0024
    spread = float(sums.variance()) ** 0.5
    assert sums.tail(int(w - spread * len(terms) / 2500))[1] > 0.05
    assert abs(total.var() / sums.variance() - 1) < 0.03


def test_one_gaussian_is_the_same_on_the_grid() -> None:
    # Two terms of which one is always 0 go through the grid and must agree with the exact single law.
    for law in (
        RoundedGaussian(50),
        DiscreteGaussian(50),
        DiscreteLaplace(9),
        DiscreteGaussian(10**8),
        RoundedGaussian(10**7),
    ):
        padded = SumOfNoises(((1, law), (1, DiscreteLaplace("1e-3"))))
        for coverage in ("0.9", "0.95", "0.99"):
            assert padded.half_width(coverage) == law.half_width(coverage)
            assert SumOfNoises(((-3, law),)).half_width(coverage) == 3 * law.half_width(coverage)


def test_near_certainty_falls_back_to_the_union_bound() -> None:
    coverage = 1 - Fraction(1, 10**12)
    law = RoundedGaussian(100)
    each = law.half_width(1 - Fraction(1, 2 * 10**12))
    assert SumOfNoises(((1, law), (1, law))).half_width(coverage) == 2 * each


@pytest.mark.parametrize("terms", [(), ((0, DiscreteLaplace(1)),), ((1.5, DiscreteLaplace(1)),)])
def test_bad_terms_are_refused(terms) -> None:
    with pytest.raises(ArgumentError, match="terms"):
        SumOfNoises(terms)


@pytest.mark.parametrize("law", [DiscreteLaplace, DiscreteGaussian, RoundedGaussian])
@pytest.mark.parametrize("parameter", ["0.01", "1", "99", "1e4", "1e7", "1e12"])
def test_rough_tails_are_within_their_stated_error(law, parameter) -> None:
    exact = law(parameter)
    last = exact.half_width(1 - Fraction(1, 10**15))
    places = np.unique(np.linspace(0, last, 12).astype(np.int64))
    for k, rough in zip(places.tolist(), exact.rough_tails(places).tolist(), strict=True):
        low, high = exact.tail(k)
        assert low * (1 - 2**-44) - 2**-60 <= rough <= high * (1 + 2**-44) + 2**-60
