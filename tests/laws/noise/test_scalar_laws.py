"""Laws that hold at every parameter: range, spread and symmetry of what is drawn. A failure has a probability below 1e-9."""

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.noise import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.noise.bits import system_bits
from discreet.noise.single import scalar

SIZE = 4000
SURE = 1 - Fraction(1, 10**18)
laws = st.sampled_from([DiscreteLaplace, DiscreteGaussian, RoundedGaussian])
digits = st.integers(1, 10**6)
parameters = st.builds(
    lambda top, bottom, power: Fraction(top, bottom) * Fraction(10) ** power, digits, digits, st.integers(-6, 10)
)


@given(laws, parameters)
@example(DiscreteLaplace, Fraction(10**17))
@example(DiscreteGaussian, Fraction(10**34))
@example(RoundedGaussian, Fraction(10**34))
@example(RoundedGaussian, Fraction(64))
@example(RoundedGaussian, Fraction(64) - Fraction(1, 10**30))
@example(DiscreteGaussian, Fraction(1, 10**6))
@example(DiscreteGaussian, Fraction(48**2 * 2**20))  # σ/48 is a power of two: the block's width steps here
@example(DiscreteGaussian, Fraction(48**2 * 2**20) - 1)
@example(DiscreteLaplace, Fraction(32 * 2**16))
@example(DiscreteLaplace, Fraction(32 * 2**17) - 1)
@example(DiscreteLaplace, Fraction(32 * 2**33))
@example(DiscreteGaussian, Fraction(48**2 * 4**33))
def test_noise_stays_within_its_law(law, parameter) -> None:
    exact = law(parameter)
    drawn = exact.sample(SIZE, system_bits())
    assert drawn.dtype == np.int64
    assert int(np.abs(drawn).max()) <= exact.half_width(SURE)
    variance = exact.variance()
    if variance > 1:
        # The squares have kurtosis at most 6: twelve standard errors are below 0.5.
        assert abs(drawn.astype(float).var() / variance - 1) < 0.5
        assert abs(drawn.astype(float).mean()) < 7 * (variance / SIZE) ** 0.5


@given(parameters, st.integers(-(2**40), 2**40), st.integers(1, 2**40))
@example(Fraction(4), 1, 2)
@example(Fraction(4), -1, 2)
@example(Fraction(10**30), 2**40 - 1, 3)
@example(Fraction(1, 10**5), 1, 2)
def test_noise_about_a_centre_stays_there(sigma2, numerator, denominator) -> None:
    size = SIZE if sigma2 > Fraction(1, 64) else 50
    drawn = scalar.discrete_gaussian_around(sigma2, np.full(size, numerator), denominator, system_bits())
    centre = Fraction(numerator, denominator)
    far = max(abs(int(drawn.max()) - centre), abs(int(drawn.min()) - centre))
    assert far <= RoundedGaussian(sigma2 + 1).half_width(SURE) + 1
    if sigma2 > 1:
        distance = drawn.astype(float) - float(centre)
        assert abs(distance.var() / float(sigma2) - 1) < 0.5
        assert abs(distance.mean()) < 7 * (float(sigma2) / SIZE) ** 0.5 + 1e-3
