"""Exact laws: masses, tails, variances and half-widths against direct summation at 50 digits."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.noise import DiscreteGaussian, DiscreteLaplace, Geometric, RoundedGaussian
from discreet.noise.bits import system_bits

LAWS = [DiscreteLaplace, DiscreteGaussian, RoundedGaussian]
PARAMETERS = ["1e-6", "0.01", "0.2", "0.999", "1", "1.001", "7/3", "30", "99.9", "100", "100.1", "400"]


def direct_pmf(law, parameter, k):
    """The unnormalised (or, for the rounded Gaussian, exact) mass by its definition."""
    p = mpmath.mpf(parameter.numerator) / parameter.denominator
    if law is DiscreteLaplace:
        return mpmath.exp(-abs(k) / p)
    if law is DiscreteGaussian:
        return mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * p))
    edges = [mpmath.erfc((abs(k) + half) / mpmath.sqrt(2 * p)) for half in (mpmath.mpf(-1) / 2, mpmath.mpf(1) / 2)]
    return (edges[0] - edges[1]) / 2


@pytest.mark.one_in(3)
@pytest.mark.parametrize("parameter", PARAMETERS)
@pytest.mark.parametrize("law", LAWS)
def test_masses_tails_and_variance_enclose_the_definition(law, parameter) -> None:
    exact = Fraction(parameter)
    spread = exact if law is DiscreteLaplace else Fraction(float(exact) ** 0.5)
    last = int(120 * spread if law is DiscreteLaplace else 14 * spread) + 3
    with mpmath.workdps(60):
        masses = [direct_pmf(law, exact, k) for k in range(last + 1)]
        total = masses[0] + 2 * mpmath.fsum(masses[1:])
        for k in sorted({0, 1, 2, int(spread), int(3 * spread)}):
            low, high = law(exact).pmf(k)
            assert low <= masses[k] / total * (1 + mpmath.mpf("1e-25"))
            assert masses[k] / total <= high * (1 + mpmath.mpf("1e-25")) + mpmath.mpf("1e-320")
            assert high <= low * (1 + 1e-15) + 1e-323
            assert law(exact).pmf(-k) == (low, high)
            beyond = 2 * mpmath.fsum(masses[k + 1 :]) / total
            low, high = law(exact).tail(k)
            assert low <= beyond * (1 + mpmath.mpf("1e-25")) + mpmath.mpf("1e-320")
            assert beyond <= high * (1 + mpmath.mpf("1e-25")) + mpmath.mpf("1e-320")
            assert high <= low * (1 + 1e-15) + 1e-323
        variance = 2 * mpmath.fsum(k * k * m for k, m in enumerate(masses)) / total
        claimed = law(exact).variance()
        assert variance * (1 - mpmath.mpf("1e-25")) <= claimed <= variance * (1 + 1e-15) + 1e-323


@given(
    law=st.sampled_from(LAWS),
    parameter=st.fractions(min_value=Fraction("1e-6"), max_value=Fraction(10**12), max_denominator=10**6),
    coverage=st.fractions(min_value=0, max_value=Fraction(999_999, 1_000_000), max_denominator=10**6),
)
@example(law=DiscreteGaussian, parameter=Fraction(10**24), coverage=Fraction(19, 20))
@example(law=RoundedGaussian, parameter=Fraction(10**24), coverage=Fraction(39, 40))
@example(law=DiscreteLaplace, parameter=Fraction(10**12), coverage=Fraction(39, 40))
@example(law=DiscreteLaplace, parameter=Fraction(1, 10**6), coverage=Fraction(0))
@example(law=DiscreteGaussian, parameter=Fraction(100), coverage=1 - Fraction(1, 10**30))
@example(law=RoundedGaussian, parameter=Fraction(10**34), coverage=1 - Fraction(1, 10**300))
def test_the_half_width_is_the_smallest_with_its_coverage(law, parameter, coverage) -> None:
    exact = law(parameter)
    w = exact.half_width(coverage)
    beyond = 1 - coverage
    assert Fraction(exact.tail(w)[0]) <= beyond  # P(|Y| ≤ w) ≥ coverage, as far as doubles can say
    if w:
        assert Fraction(exact.tail(w - 1)[1]) > beyond


@pytest.mark.parametrize(
    ("law", "parameter", "coverage", "expected"),
    [
        (DiscreteGaussian, "1e6", "0.95", 1960),  # tail(1959) = 0.05003.., tail(1960) = 0.04993..
        (RoundedGaussian, "1e6", "0.95", 1960),
        (DiscreteLaplace, "10", "0.95", 30),
        (DiscreteGaussian, "1", "0.95", 2),
        (RoundedGaussian, "1e-6", "0.95", 0),
    ],
)
def test_known_half_widths(law, parameter, coverage, expected) -> None:
    assert law(parameter).half_width(coverage) == expected


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("bad", [0, -1, "0", float("nan"), float("inf"), True, "x", None, 10**40])
def test_bad_parameters_are_refused(law, bad) -> None:
    with pytest.raises(ArgumentError, match=r"scale|sigma2"):
        law(bad)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("bad", [1, "1.5", -0.1, float("nan")])
def test_impossible_coverages_are_refused(law, bad) -> None:
    with pytest.raises(ArgumentError, match="coverage"):
        law(2).half_width(bad)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("parameter", ["1e-300", "1e-900"])
def test_a_law_without_spread_is_0(law, parameter) -> None:
    exact = law(parameter)
    assert exact.rough_tails(np.arange(3)).tolist() == [0.0, 0.0, 0.0]
    assert exact.half_width("0.999") == 0
    assert exact.pmf(0)[1] == 1.0
    assert exact.pmf(1) == exact.tail(0) == (0.0, 5e-324)
    assert exact.variance() == 5e-324


@pytest.mark.parametrize("law", LAWS)
def test_a_law_is_a_value(law) -> None:
    assert law("0.5") == law(0.5) == law(Fraction(1, 2))
    assert hash(law("0.5")) == hash(law(0.5))
    with pytest.raises(ArgumentError, match="k=-1"):
        law(1).tail(-1)


@pytest.mark.parametrize("parameter", ["1e-6", "0.2", "7/3", "100.1", "1e6", "1e24"])
@pytest.mark.parametrize("law", [*LAWS, Geometric])
def test_quantiles_are_the_smallest_with_their_probability(law, parameter) -> None:
    exact = law(min(Fraction(parameter), 10**12) if law in {DiscreteLaplace, Geometric} else parameter)
    for p in ("1e-9", "0.025", "0.3", "0.5", "0.7", "0.975", "0.999999999"):
        k = exact.quantile(p)
        assert Fraction(exact.cdf(k)[1]) >= Fraction(p)
        assert Fraction(exact.cdf(k - 1)[0]) < Fraction(p)
        if law is not Geometric:
            # By symmetry P(Y ≤ -k - 1) < 1 - p as soon as P(Y ≤ k) > p.
            assert exact.quantile(1 - Fraction(p)) == -k


@pytest.mark.parametrize("law", LAWS)
def test_distribution_functions_meet_at_0(law) -> None:
    exact = law("7/3")
    low, high = exact.cdf(0)
    at_zero = exact.pmf(0)
    assert low - 1e-15 <= 0.5 + at_zero[0] / 2 <= high + 1e-15
    assert exact.cdf(-1)[1] + at_zero[1] >= low
    assert exact.cdf(10**6) == (pytest.approx(1.0), 1.0)


def test_the_geometric_law() -> None:
    exact = Geometric("7/3")
    q = mpmath.exp(mpmath.mpf(-3) / 7)
    for k in (0, 1, 10):
        low, high = exact.pmf(k)
        assert low <= (1 - q) * q**k * (1 + 1e-14)
        assert (1 - q) * q**k <= high * (1 + 1e-14)
    assert exact.pmf(-1) == exact.cdf(-1) == (0.0, 0.0)
    assert exact.variance() == pytest.approx(float(q / (1 - q) ** 2), rel=1e-12)
    assert exact.sample(10, system_bits()).shape == (10,)


@pytest.mark.parametrize("law", [*LAWS, Geometric])
@pytest.mark.parametrize("bad", [0, 1, "-0.1", float("nan")])
def test_impossible_probabilities_are_refused(law, bad) -> None:
    with pytest.raises(ArgumentError, match="probability"):
        law(2).quantile(bad)
