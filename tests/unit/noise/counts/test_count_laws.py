"""The laws of counts against sums of rationals, and the samplers against the laws."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.noise import Binomial, Hypergeometric
from discreet.noise.bits import system_bits
from discreet.noise.counts import counts

binomials = st.builds(Binomial, st.integers(0, 40), st.fractions("1/50", "49/50", max_denominator=50))
hypergeometrics = st.integers(0, 25).flatmap(
    lambda good: st.integers(0, 25).flatmap(
        lambda bad: st.builds(Hypergeometric, st.just(good), st.just(bad), st.integers(0, good + bad))
    )
)


@given(st.one_of(binomials, hypergeometrics), st.fractions("1/1000", "999/1000", max_denominator=1000))
@example(Binomial(1, Fraction(1, 2)), Fraction(1, 2))  # the quantile where both sides are equal
@example(Binomial(2, Fraction(1, 2)), Fraction(3, 4))
@example(Hypergeometric(1, 1, 1), Fraction(1, 2))
@example(Hypergeometric(0, 0, 0), Fraction(1, 2))
@example(Binomial(0, Fraction(1, 3)), Fraction(1, 2))
def test_masses_distribution_functions_and_quantiles_are_those_of_rationals(law, p) -> None:
    first, last = law.support
    below = Fraction(0)
    quantile = None
    for k in range(first, last + 1):
        below += law.mass(k)
        low, high = law.pmf(k)
        assert Fraction(low) <= law.mass(k) <= Fraction(high)
        assert high <= low * (1 + 1e-15)
        low, high = law.cdf(k)
        assert Fraction(low) <= below <= Fraction(high)
        if quantile is None and below >= p:
            quantile = k
    assert below == 1
    assert law.quantile(p) == quantile
    assert law.pmf(first - 1) == law.cdf(first - 1) == law.pmf(last + 1) == (0.0, 0.0)
    assert law.mean() == sum(k * law.mass(k) for k in range(first, last + 1))
    assert law.variance() == sum((k - law.mean()) ** 2 * law.mass(k) for k in range(first, last + 1))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("law", [Binomial(10**6, Fraction(1, 3)), Hypergeometric(10**6, 3 * 10**6, 10**5)])
def test_large_counts_have_certified_quantiles_and_draws_fall_where_they_should(law) -> None:
    low, high = law.quantile("1e-10"), law.quantile(1 - Fraction(1, 10**10))
    spread = float(law.variance()) ** 0.5
    assert low < law.mean() - 5 * spread < law.mean() + 5 * spread < high
    assert Fraction(law.cdf(low)[1]) >= Fraction(1, 10**10) > Fraction(law.cdf(low - 1)[0])
    bits = system_bits()
    if isinstance(law, Binomial):
        drawn = counts.binomial(np.full(200, law.trials), law.rate, bits)
    else:
        drawn = np.array([counts.hypergeometric(law.good, law.bad, law.drawn, bits) for _ in range(50)])
    assert drawn.min() >= low
    assert drawn.max() <= high
    assert abs(drawn.mean() - float(law.mean())) < 7 * spread / drawn.size**0.5


@pytest.mark.parametrize("bad", [(-1, "1/2"), (3, 0), (3, 1), (3, "1.5")])
def test_bad_binomials_are_refused(bad) -> None:
    with pytest.raises(ArgumentError):
        Binomial(*bad)


@pytest.mark.parametrize("bad", [(-1, 2, 1), (1, -2, 0), (1, 2, 4), (1, 2, -1)])
def test_bad_hypergeometrics_are_refused(bad) -> None:
    with pytest.raises(ArgumentError):
        Hypergeometric(*bad)
